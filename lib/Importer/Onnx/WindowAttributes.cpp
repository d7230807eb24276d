//===- WindowAttributes.cpp - The attributes that convolutions and poolings share ----------------===//

#include "lib/Importer/Onnx/WindowAttributes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

/// No window of a model is larger; beyond it sums could overflow.
constexpr int64_t kLargest = int64_t(1) << 40;

/// A list with one entry a spatial dimension, each at least `least`.
std::optional<SmallVector<int64_t>> readList(Node &node, StringRef name, size_t count, int64_t fallback,
                                             int64_t least) {
  SmallVector<int64_t> values = node.integerList(name, SmallVector<int64_t>(count, fallback));
  if (values.size() != count) {
    node.error() << "attribute '" << name << "': expected " << count << " entries, got " << values.size();
    return std::nullopt;
  }
  for (int64_t value : values)
    if (value < least || value > kLargest) {
      node.error() << "attribute '" << name << "': expected entries of at least " << least << ", got " << value;
      return std::nullopt;
    }
  return values;
}

} // namespace

std::optional<SmallVector<int64_t>> readKernelShape(Node &node, ArrayRef<int64_t> expected, int64_t rank) {
  SmallVector<int64_t> shape = node.integerList("kernel_shape", expected);
  if (static_cast<int64_t>(shape.size()) != rank || (!expected.empty() && ArrayRef(shape) != expected)) {
    InFlightDiagnostic diagnostic = node.error() << "attribute 'kernel_shape': expected ";
    if (expected.empty())
      diagnostic << rank << " entries";
    else
      llvm::interleaveComma(expected, diagnostic);
    diagnostic << ", got ";
    if (shape.empty())
      diagnostic << "none";
    llvm::interleaveComma(shape, diagnostic);
    return std::nullopt;
  }
  for (int64_t size : shape)
    if (size < 1 || size > kLargest) {
      node.error() << "attribute 'kernel_shape': expected sizes of at least 1, got " << size;
      return std::nullopt;
    }
  return shape;
}

std::optional<WindowAttributes> readWindow(Node &node, Value x, ArrayRef<int64_t> kernel) {
  size_t count = kernel.size();
  WindowAttributes window;
  window.kernel.assign(kernel.begin(), kernel.end());
  std::optional<SmallVector<int64_t>> strides = readList(node, "strides", count, 1, 1),
                                      dilations = readList(node, "dilations", count, 1, 1),
                                      pads = readList(node, "pads", 2 * count, 0, -kLargest);
  if (!strides || !dilations || !pads)
    return std::nullopt;
  window.strides = *strides;
  window.dilations = *dilations;
  window.low.assign(pads->begin(), pads->begin() + count);
  window.high.assign(pads->begin() + count, pads->end());
  for (size_t i = 0; i < count; ++i) {
    int64_t extent;
    if (llvm::MulOverflow(kernel[i] - 1, window.dilations[i], extent) || extent > kLargest) {
      node.error() << "attribute 'dilations': the window is too large";
      return std::nullopt;
    }
  }
  std::string automatic = node.string("auto_pad", "NOTSET");
  if (automatic == "NOTSET" || automatic.empty())
    return window;
  if (automatic != "SAME_UPPER" && automatic != "SAME_LOWER" && automatic != "VALID") {
    node.error() << "attribute 'auto_pad': expected NOTSET, SAME_UPPER, SAME_LOWER or VALID, got '" << automatic << "'";
    return std::nullopt;
  }
  for (size_t i = 0; i < count; ++i) {
    window.low[i] = window.high[i] = 0;
    if (automatic == "VALID")
      continue;
    Dim size = node.b.dim(x, i + 2);
    int64_t stride = window.strides[i], total;
    if (stride == 1) {
      total = window.extent(i) - 1;
    } else if (size.isConstant()) {
      int64_t outputs = llvm::divideCeil(size.getConstant(), stride);
      total = std::max<int64_t>(0, (outputs - 1) * stride + window.extent(i) - size.getConstant());
    } else {
      node.error() << "attribute 'auto_pad': " << automatic << " with stride " << stride
                   << " needs a spatial size that is an integer, but it is " << size
                   << "; give the inputs a shape, or export with explicit pads";
      return std::nullopt;
    }
    int64_t smaller = total / 2, larger = total - smaller;
    window.low[i] = automatic == "SAME_UPPER" ? smaller : larger;
    window.high[i] = automatic == "SAME_UPPER" ? larger : smaller;
  }
  return window;
}

} // namespace weft::importer
