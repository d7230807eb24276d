//===- Reduction.cpp - ONNX operators that combine elements along axes ---------------------------===//

#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Node.h"
#include <limits>

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

/// The axes of a reduction, from the attribute or, from opset `inputSince` on, from the input; nothing after an error.
/// An empty list that means "no reduction" gives `isNoop`.
std::optional<SmallVector<int64_t>> reductionAxes(Node &node, int inputSince, bool &isNoop) {
  SmallVector<int64_t> given;
  if (node.opset() >= inputSince) {
    if (node.has(1)) {
      std::optional<SmallVector<int64_t>> values = node.integers(1, "the axes");
      if (!values)
        return std::nullopt;
      given = *values;
    }
    bool emptyIsNoop = node.integer("noop_with_empty_axes", 0) != 0;
    isNoop = given.empty() && emptyIsNoop;
  } else {
    given = node.integerList("axes");
    // Some exporters write this attribute in older opsets too, where the axes are always given.
    node.ignore("noop_with_empty_axes");
    isNoop = false;
  }
  int64_t rank = node.b.rank(node.input(0));
  SmallVector<int64_t> axes = node.axes(given, rank);
  if (node.failed())
    return std::nullopt;
  if (given.empty() && !isNoop)
    for (int64_t i = 0; i < rank; ++i)
      axes.push_back(i);
  return axes;
}

using Reducer = Value (*)(Builder &, Value, ArrayRef<int64_t>, bool);

template <Reducer build, int inputSince> LogicalResult importReduction(Node &node) {
  bool keepDims = node.integer("keepdims", 1) != 0, isNoop = false;
  std::optional<SmallVector<int64_t>> axes = reductionAxes(node, inputSince, isNoop);
  if (!axes)
    return failure();
  // Without axes ONNX's "no operation" still applies what the operator does to each element (a square, an absolute
  // value).
  return node.output(0, build(node.b, node.input(0), *axes, keepDims));
}

Value reduceSum(Builder &b, Value x, ArrayRef<int64_t> axes, bool keep) { return b.sum(x, axes, keep); }
Value reduceProd(Builder &b, Value x, ArrayRef<int64_t> axes, bool keep) {
  return b.reduce(ReductionKind::product, x, axes, keep);
}
Value reduceMean(Builder &b, Value x, ArrayRef<int64_t> axes, bool keep) {
  return axes.empty() ? x : b.mean(x, axes, keep);
}
Value reduceExtreme(Builder &b, Value x, ArrayRef<int64_t> axes, bool keep, bool largest) {
  if (b.isBool(x))
    return b.reduce(largest ? ReductionKind::any : ReductionKind::all, x, axes, keep);
  return b.reduce(largest ? ReductionKind::max : ReductionKind::min, x, axes, keep);
}
Value reduceMax(Builder &b, Value x, ArrayRef<int64_t> axes, bool keep) {
  return reduceExtreme(b, x, axes, keep, true);
}
Value reduceMin(Builder &b, Value x, ArrayRef<int64_t> axes, bool keep) {
  return reduceExtreme(b, x, axes, keep, false);
}
Value reduceL1(Builder &b, Value x, ArrayRef<int64_t> axes, bool keep) { return b.sum(b.abs(x), axes, keep); }
Value reduceSumSquare(Builder &b, Value x, ArrayRef<int64_t> axes, bool keep) {
  return b.sum(b.multiply(x, x), axes, keep);
}
/// A function of floats applied to integers: through double, and back.
Value throughFloat(Builder &b, Value x, llvm::function_ref<Value(Value)> apply) {
  if (!x || b.isFloat(x))
    return x ? apply(x) : Value();
  return b.convert(apply(b.convert(x, b.f64())), b.element(x));
}
Value reduceL2(Builder &b, Value x, ArrayRef<int64_t> axes, bool keep) {
  return throughFloat(b, x, [&](Value x) { return b.sqrt(reduceSumSquare(b, x, axes, keep)); });
}
Value reduceLogSum(Builder &b, Value x, ArrayRef<int64_t> axes, bool keep) {
  return throughFloat(b, x, [&](Value x) { return b.log(b.sum(x, axes, keep)); });
}
Value reduceLogSumExp(Builder &b, Value x, ArrayRef<int64_t> axes, bool keep) {
  return throughFloat(b, x, [&](Value x) -> Value {
    // Shifted by the maximum, so that nothing overflows; an infinite maximum must not be subtracted from itself.
    Value largest = b.reduce(ReductionKind::max, x, axes, /*keepDims=*/true);
    if (!largest)
      return {};
    Value shift = b.select(b.unary<IsFiniteOp>(largest), largest, b.scalarLike(x, 0));
    Value logarithm = b.log(b.sum(b.exponential(b.subtract(x, shift)), axes, /*keepDims=*/true));
    Value result = b.add(logarithm, shift);
    return keep || axes.empty() ? result : b.dropDims(result, axes);
  });
}

template <bool largest> LogicalResult importArgExtreme(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  bool keepDims = node.integer("keepdims", 1) != 0, last = node.integer("select_last_index", 0) != 0;
  int64_t axis = node.axis(node.integer("axis", 0), b.rank(x));
  if (node.failed())
    return failure();
  if (b.dim(x, axis) == b.size(0))
    return node.fail("the axis has no elements, so that there is no largest or smallest one");
  Value index =
      b.inferred<ArgReduceOp>(x.getType(), largest ? ReductionKind::max : ReductionKind::min, x, axis, last, b.i64());
  return node.output(0, keepDims ? b.expandDims(index, axis) : index);
}

template <ReductionKind kind> LogicalResult importCumulative(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  bool exclusive = node.integer("exclusive", 0) != 0, reverse = node.integer("reverse", 0) != 0;
  std::optional<SmallVector<int64_t>> given = node.integers(1, "the axis");
  if (!given)
    return failure();
  if (given->size() != 1)
    return node.fail("expected one axis");
  int64_t axis = node.axis((*given)[0], b.rank(x));
  if (node.failed())
    return failure();
  return node.output(0, b.inferred<CumulativeOp>(x.getType(), kind, x, axis, exclusive, reverse));
}

} // namespace

void addReductionHandlers(HandlerTable &table) {
  // The axes became an input in opset 18, those of ReduceSum in 13.
  table.add("ReduceSum", importReduction<reduceSum, 13>);
  table.add("ReduceProd", importReduction<reduceProd, 18>);
  table.add("ReduceMean", importReduction<reduceMean, 18>);
  table.add("ReduceMax", importReduction<reduceMax, 18>);
  table.add("ReduceMin", importReduction<reduceMin, 18>);
  table.add("ReduceL1", importReduction<reduceL1, 18>);
  table.add("ReduceL2", importReduction<reduceL2, 18>);
  table.add("ReduceSumSquare", importReduction<reduceSumSquare, 18>);
  table.add("ReduceLogSum", importReduction<reduceLogSum, 18>);
  table.add("ReduceLogSumExp", importReduction<reduceLogSumExp, 18>);
  table.add("ArgMax", importArgExtreme<true>);
  table.add("ArgMin", importArgExtreme<false>);
  table.add("CumSum", importCumulative<ReductionKind::sum>);
  table.add("CumProd", importCumulative<ReductionKind::product>);
}

} // namespace weft::importer
