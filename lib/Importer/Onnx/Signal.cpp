//===- Signal.cpp - ONNX's windows, crops and sampling -------------------------------------------===//

#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Node.h"
#include "lib/Support/Onnx/ElementTypes.h"
#include <cmath>

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

/// A window that is a sum of cosines: a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N).
Handler cosineWindow(double a0, double a1, double a2) {
  return [=](Node &node) -> LogicalResult {
    Builder &b = node.b;
    bool periodic = node.integer("periodic", 1) != 0;
    auto to = static_cast<OnnxType>(node.integer("output_datatype", 1));
    Type type = elementTypeOf(to, b.context());
    if (!type)
      return node.fail("attribute 'output_datatype': Weft has no tensors of type " + nameOf(to));
    std::optional<SmallVector<int64_t>> size = node.integers(0, "the size");
    if (!size)
      return failure();
    if (size->size() != 1 || (*size)[0] < 0 || (*size)[0] > (1 << 24))
      return node.fail("expected a size in [0, 2^24]");
    int64_t count = (*size)[0];
    double period = static_cast<double>(periodic ? count : count - 1);
    SmallVector<double> elements;
    for (int64_t n = 0; n < count; ++n) {
      double angle = period == 0 ? 0 : 2 * M_PI * static_cast<double>(n) / period;
      elements.push_back(a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle));
    }
    return node.output(0, b.convert(b.floats(elements, isFloatElement(type) ? type : b.f64()), type));
  };
}

LogicalResult importCenterCropPad(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  SmallVector<int64_t> axes;
  for (int64_t i = 0; i < b.rank(x); ++i)
    axes.push_back(i);
  if (node.hasAttribute("axes"))
    axes = node.axes(node.integerList("axes"), b.rank(x));
  std::optional<SmallVector<int64_t>> wanted = node.integers(1, "the wanted sizes");
  if (!wanted || node.failed())
    return failure();
  if (wanted->size() != axes.size())
    return node.fail("expected one size an axis");
  for (auto [axis, size] : llvm::zip(axes, *wanted)) {
    Dim have = b.dim(x, axis);
    if (!have.isConstant() || size < 0)
      return node.fail("expected sizes that are integers; give the inputs a shape");
    int64_t difference = size - have.getConstant();
    if (difference < 0) {
      int64_t start = -difference / 2;
      x = b.slice(x, axis, start, start + size);
    } else if (difference > 0) {
      SmallVector<int64_t> low(b.rank(x), 0), high(b.rank(x), 0);
      low[axis] = difference / 2;
      high[axis] = difference - low[axis];
      x = b.pad(x, b.scalarLike(x, 0), low, high);
    }
    if (!x)
      return failure();
  }
  return node.output(0, x);
}

} // namespace

void addSignalHandlers(HandlerTable &table) {
  table.add("HannWindow", cosineWindow(0.5, 0.5, 0));
  table.add("HammingWindow", cosineWindow(25.0 / 46, 21.0 / 46, 0));
  table.add("BlackmanWindow", cosineWindow(0.42, 0.5, 0.08));
  table.add("CenterCropPad", importCenterCropPad);
}

} // namespace weft::importer
