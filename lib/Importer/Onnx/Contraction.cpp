//===- Contraction.cpp - ONNX's matrix products --------------------------------------------------===//

#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Node.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

LogicalResult importMatMul(Node &node) { return node.output(0, node.b.matmul(node.input(0), node.input(1))); }

/// A factor as a scalar of the element type: integers are multiplied as integers.
Value scaled(Builder &b, Value x, double factor) {
  if (factor == 1 || !x)
    return x;
  if (b.isFloat(x))
    return b.multiply(x, factor);
  return b.convert(b.multiply(b.convert(x, b.f64()), factor), b.element(x));
}

LogicalResult importGemm(Node &node) {
  Builder &b = node.b;
  double alpha = node.real("alpha", 1), beta = node.real("beta", 1);
  bool transA = node.integer("transA", 0) != 0, transB = node.integer("transB", 0) != 0;
  node.ignore("broadcast"); // Before opset 7: whether C broadcasts, which it may do in any case.
  if (!node.expectRank(0, 2) || !node.expectRank(1, 2))
    return failure();
  Value product = b.dotGeneral(node.input(0), node.input(1), transA ? 0 : 1, transB ? 1 : 0);
  product = scaled(b, product, alpha);
  if (!node.has(2) || !product)
    return node.output(0, product);
  return node.output(0, b.add(product, b.broadcast(scaled(b, node.input(2), beta), b.dims(product))));
}

} // namespace

void addContractionHandlers(HandlerTable &table) {
  table.add("MatMul", importMatMul);
  table.add("Gemm", importGemm);
}

} // namespace weft::importer
