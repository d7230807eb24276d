//===- WindowAttributes.h - The attributes that convolutions and poolings share ------------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_WINDOWATTRIBUTES_H
#define WEFT_LIB_IMPORTER_ONNX_WINDOWATTRIBUTES_H

#include "lib/Importer/Onnx/Node.h"

namespace weft::importer {

/// strides, dilations, pads and auto_pad, one entry a spatial dimension.
struct WindowAttributes {
  llvm::SmallVector<int64_t> kernel, strides, dilations, low, high;

  int64_t count() const { return static_cast<int64_t>(kernel.size()); }
  /// The extent of the dilated kernel along a dimension.
  int64_t extent(int64_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
};

/// Reads the attributes of a node for a kernel of these sizes; `x` is the input, whose spatial dimensions follow the
/// first two. auto_pad is resolved into `low` and `high` (on a symbolic size where the stride is 1). Nothing after an
/// error.
std::optional<WindowAttributes> readWindow(Node &node, mlir::Value x, llvm::ArrayRef<int64_t> kernel);

/// kernel_shape, which must agree with `expected` where that is given.
std::optional<llvm::SmallVector<int64_t>> readKernelShape(Node &node, llvm::ArrayRef<int64_t> expected, int64_t rank);

} // namespace weft::importer

#endif
