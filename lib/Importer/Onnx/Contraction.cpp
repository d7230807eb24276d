//===- Contraction.cpp - ONNX's matrix products --------------------------------------------------===//

#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Loops.h"
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

/// Determinants by Gaussian elimination, the largest element of a column as its pivot.
LogicalResult importDet(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  if (!node.expectRankAtLeast(0, 2))
    return failure();
  int64_t rank = b.rank(x);
  Dim size = b.dim(x, rank - 1);
  if (b.dim(x, rank - 2) != size) {
    node.error() << "expected square matrices, got the type " << x.getType();
    return failure();
  }
  SmallVector<Dim> batch(b.dims(x));
  batch.resize(rank - 2);
  Dim count = product(batch, b.context());
  Type real = b.element(x).isF64() ? b.f64() : b.f32();
  Value matrices = b.convert(b.reshape(x, {count, size, size}), real);
  if (!matrices)
    return failure();
  SmallVector<Dim> whole{count, size, size}, column{count, size}, row{count, b.size(1), size};
  FailureOr<SmallVector<Value>> results = buildCounted(
      b, size, {matrices, b.splat(real, 1, count)}, [&](ArrayRef<Value> arguments) -> FailureOr<SmallVector<Value>> {
        Value step = arguments[0], rest = arguments[1], determinant = arguments[2];
        Value place = b.iota(b.i64(), column, 1), values = readRow(b, rest, step, 2);
        Value magnitude = b.select(b.compare(ComparisonDirection::GE, place, step), b.abs(values), b.scalar(real, -1));
        Value pivot =
            b.inferred<ArgReduceOp>(magnitude.getType(), ReductionKind::max, magnitude, int64_t(1), false, b.i64());
        Value value = b.dropDims(b.takeElements(values, b.expandDims(pivot, 1), 1), 1);
        // Rows `step` and `pivot` change places.
        Value pivotRow = b.takeElements(rest, b.broadcastInDim(pivot, row, 0), 1);
        Value line = b.iota(b.i64(), whole, 1);
        Value isStep = b.compare(ComparisonDirection::EQ, line, step);
        Value isPivot = b.compare(ComparisonDirection::EQ, line, b.expandDims(pivot, {1, 2}));
        Value swapped = b.select(isStep, pivotRow, b.select(isPivot, b.expandDims(readRow(b, rest, step, 1), 1), rest));
        Value sign = b.select(b.compare(ComparisonDirection::EQ, pivot, step), b.scalar(real, 1), b.scalar(real, -1));
        // A column of zeros leaves nothing to eliminate, and the determinant is zero.
        Value below = b.binary<AndOp>(b.compare(ComparisonDirection::GT, place, step),
                                      b.expandDims(b.compare(ComparisonDirection::NE, value, 0.0), 1));
        Value factor =
            b.select(below, b.divide(readRow(b, swapped, step, 2), b.expandDims(value, 1)), b.scalar(real, 0));
        Value next = b.subtract(swapped, b.multiply(b.expandDims(factor, 2), pivotRow));
        return SmallVector<Value>{next, b.multiply(determinant, b.multiply(value, sign))};
      });
  return succeeded(results) ? node.output(0, b.convert(b.reshape((*results)[1], batch), b.element(x))) : failure();
}

} // namespace

void addContractionHandlers(HandlerTable &table) {
  table.add("MatMul", importMatMul);
  table.add("Gemm", importGemm);
  table.add("Det", importDet);
}

} // namespace weft::importer
