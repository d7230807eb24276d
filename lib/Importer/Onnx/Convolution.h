//===- Convolution.h - Building convolutions, for those operators that are one -------------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_CONVOLUTION_H
#define WEFT_LIB_IMPORTER_ONNX_CONVOLUTION_H

#include "lib/Importer/Onnx/WindowAttributes.h"

namespace weft::importer {

struct ConvolutionParameters {
  llvm::SmallVector<int64_t> strides, low, high, lhsDilation, rhsDilation;
  int64_t groups = 1;
};

/// The attributes of Conv and its quantized kin; nothing after an error.
std::optional<ConvolutionParameters> readConvolution(Node &node, mlir::Value x, mlir::Value kernel);
/// Input [b, f, spatial...], kernel [o, i, spatial...].
mlir::Value buildConvolution(Builder &b, mlir::Value x, mlir::Value kernel, const ConvolutionParameters &parameters,
                             mlir::Type resultElement = {});
/// Adds a vector along dimension 1; `x` itself where there is no bias.
mlir::Value addChannelBias(Builder &b, mlir::Value x, mlir::Value bias);

} // namespace weft::importer

#endif
