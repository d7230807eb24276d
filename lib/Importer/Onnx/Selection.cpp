//===- Selection.cpp - ONNX operators whose results' shapes depend on data -----------------------===//

#include "lib/Importer/Onnx/Selection.h"
#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Loops.h"
#include "lib/Importer/Onnx/Node.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

Value runningSum(Builder &b, Value x, int64_t dimension, bool exclusive) {
  if (!x)
    return {};
  return b.inferred<CumulativeOp>(x.getType(), ReductionKind::sum, x, dimension, exclusive, /*reverse=*/false);
}

namespace {

/// A vector of `length` zeros with `updates` at `places`; what lies outside is left out.
Value scatterInto(Builder &b, Value target, Value places, Value updates, ScatterKind kind) {
  if (!target || !places || !updates)
    return {};
  return b.inferred<ScatterOp>(target.getType(), target, b.expandDims(places, 1), updates, kind, ArrayRef<int64_t>(),
                               ArrayRef<int64_t>(0), ArrayRef<int64_t>(), ArrayRef<int64_t>(), ArrayRef<int64_t>(0),
                               int64_t(1));
}

Value zeros(Builder &b, const Dim &length) { return b.splat(b.i64(), 0, length); }
Value ascending(Builder &b, const Dim &length) { return b.iota(b.i64(), length, 0); }
int64_t mostOf(Builder &b, const Dim &length) {
  return std::clamp<int64_t>(b.facts.symbols.boundsOf(length).max, 0, int64_t(1) << 40);
}

} // namespace

Value takeFirst(Builder &b, Value x, int64_t dimension, Value count, StringRef name) {
  if (!x)
    return {};
  std::optional<Dim> size = b.runtimeSize(count, name, {0, mostOf(b, b.dim(x, dimension))});
  if (!size)
    return {};
  SmallVector<Dim> box = b.dims(x);
  box[dimension] = *size;
  SmallVector<Value> starts(b.rank(x), b.integerScalar(b.i64(), 0));
  return b.dynamicSlice(x, starts, box);
}

Value truePositions(Builder &b, Value mask, StringRef name) {
  if (!mask)
    return {};
  if (std::optional<TensorValue> known = b.contents(mask)) {
    SmallVector<int64_t> positions;
    for (int64_t i = 0; i < known->getElementCount(); ++i)
      if (known->getInteger(i))
        positions.push_back(i);
    return b.integers(positions);
  }
  // Each true element goes to the place that the number of true ones before it says, the others nowhere.
  Dim length = b.dim(mask, 0);
  Value ones = b.convert(mask, b.i64());
  Value places = b.select(mask, runningSum(b, ones, 0, /*exclusive=*/true), b.sizeValue(length, b.i64()));
  Value all = scatterInto(b, zeros(b, length), places, ascending(b, length), ScatterKind::set);
  return takeFirst(b, all, 0, b.sum(ones, {0}, false), name);
}

namespace {

Value isNotZero(Builder &b, Value x) {
  return b.isBool(x) ? x : b.compare(ComparisonDirection::NE, x, b.scalarLike(x, 0));
}

Value flatten(Builder &b, Value x) { return x ? b.reshape(x, getElementCount(x.getType())) : Value(); }

/// The multi-index of row-major positions, one row a dimension.
Value unravel(Builder &b, Value positions, ArrayRef<Dim> shape) {
  SmallVector<Value> rows(shape.size());
  Value rest = positions;
  for (size_t i = shape.size(); i-- > 0;) {
    Value size = b.sizeValue(shape[i], b.i64());
    rows[i] = b.expandDims(i == 0 ? rest : b.binary<RemainderOp>(rest, size), 0);
    rest = b.divide(rest, size);
  }
  return b.concatenate(rows, 0);
}

LogicalResult importNonZero(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  Value positions = truePositions(b, flatten(b, isNotZero(b, x)), node.sizeName(0, 1));
  if (!positions)
    return failure();
  // A scalar has no dimension to index.
  if (b.rank(x) == 0)
    return node.output(0, b.splat(b.i64(), 0, {b.size(0), b.dim(positions, 0)}));
  return node.output(0, unravel(b, positions, b.dims(x)));
}

LogicalResult importCompress(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0), condition = node.input(1);
  bool flat = !node.hasAttribute("axis");
  if (flat)
    x = flatten(b, x);
  int64_t axis = flat ? 0 : node.axis(node.integer("axis", 0), b.rank(x));
  if (node.failed() || !x || !node.expectRank(1, 1))
    return failure();
  if (!b.isBool(condition))
    return node.fail("expected truth values as the condition");
  Value positions = truePositions(b, condition, node.sizeName(0, axis));
  std::optional<TensorValue> known = b.contents(positions);
  if (known && known->getElementCount()) {
    if (!b.facts.symbols.requireAtLeast(b.dim(x, axis), known->getInteger(known->getElementCount() - 1) + 1))
      return node.fail("the condition is true beyond the end of the data");
  } else if (!known && !b.facts.symbols.isAtLeast(b.dim(x, axis) - b.dim(condition, 0), 0)) {
    node.error() << "expected at most as many conditions as axis " << axis << " has elements, got "
                 << b.dim(condition, 0) << " and " << b.dim(x, axis);
    return failure();
  }
  return node.output(0, b.take(x, positions, axis));
}

//===----------------------------------------------------------------------===//
// Unique
//===----------------------------------------------------------------------===//

/// Whether elements differ, where NaNs count as equal to each other.
Value differs(Builder &b, Value x, Value y) {
  Value different = b.compare(ComparisonDirection::NE, x, y);
  if (!b.isFloat(x))
    return different;
  return b.binary<AndOp>(
      different, b.binary<OrOp>(b.compare(ComparisonDirection::EQ, x, x), b.compare(ComparisonDirection::EQ, y, y)));
}

/// The order of the rows of [n, k] data: the stable one by their elements, the first of which counts most.
Value sortRows(Builder &b, Value rows) {
  Dim length = b.dim(rows, 0);
  Value order = ascending(b, length);
  auto sortBy = [&](Value column, Value order) -> Value {
    Value keys = b.take(column, order, 0);
    if (!keys || !order)
      return {};
    auto sort = SortOp::create(b.ops, b.location, TypeRange{keys.getType(), order.getType()}, ValueRange{keys, order},
                               /*dimension=*/0, /*descending=*/false);
    return sort.getResult(1);
  };
  // By the last column first: stable sorts keep what those before them did.
  Dim columns = b.dim(rows, 1);
  Value last = b.sizeValue(columns - 1, b.i64());
  FailureOr<SmallVector<Value>> sorted =
      buildCounted(b, columns, order, [&](ArrayRef<Value> arguments) -> FailureOr<SmallVector<Value>> {
        Value column = readRow(b, rows, b.subtract(last, arguments[0]), 1);
        return SmallVector<Value>{sortBy(column, arguments[1])};
      });
  return succeeded(sorted) ? (*sorted)[0] : Value();
}

LogicalResult importUnique(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  bool flat = !node.hasAttribute("axis"), isSorted = node.integer("sorted", 1) != 0;
  int64_t axis = flat ? 0 : node.axis(node.integer("axis", 0), b.rank(x));
  if (node.failed())
    return failure();
  if (flat)
    x = flatten(b, x);
  if (!x)
    return failure();
  Dim length = b.dim(x, axis);
  // One row an entry of the axis.
  SmallVector<int64_t> permutation{axis};
  Dim columns = b.size(1);
  for (int64_t i = 0; i < b.rank(x); ++i)
    if (i != axis) {
      permutation.push_back(i);
      columns = columns * b.dim(x, i);
    }
  Value rows = b.reshape(b.transpose(x, permutation), {length, columns});
  Value order = sortRows(b, rows);
  if (!order)
    return failure();
  // Where a group of equal rows begins in the order; the first of a group is the first in the data.
  Value sorted = b.take(rows, order, 0);
  SmallVector<int64_t> one{1, 0}, less{-1, 0};
  Value before = b.pad(sorted, b.scalarLike(sorted, 0), one, less);
  Value place = ascending(b, length);
  Value begins = b.reduce(ReductionKind::any, differs(b, sorted, before), {1}, false);
  begins = b.binary<OrOp>(begins, b.compare(ComparisonDirection::EQ, place, b.integerScalar(b.i64(), 0)));
  if (!begins)
    return failure();
  Value starts = b.convert(begins, b.i64());
  Value group = b.subtract(runningSum(b, starts, 0, false), b.integerScalar(b.i64(), 1)); // of a place in the order
  Value firsts = scatterInto(b, b.broadcast(b.sizeValue(length, b.i64()), length), group, order, ScatterKind::min);
  Value number = group; // the same as the result counts groups
  Value total = b.sum(starts, {0}, false);
  std::string name = node.sizeName(0, axis);
  std::optional<Dim> count = b.runtimeSize(total, name, {0, mostOf(b, length)});
  if (!count || !firsts)
    return failure();
  auto shorten = [&](Value vector) { return b.dynamicSlice(vector, b.integerScalar(b.i64(), 0), *count); };
  firsts = shorten(firsts);
  if (!isSorted) {
    // Groups in the order of their first rows: a row that begins one counts those before it.
    Value isFirst = scatterInto(b, zeros(b, length), order, starts, ScatterKind::set);
    Value rank = runningSum(b, isFirst, 0, /*exclusive=*/true); // of a row that begins a group
    number = b.take(b.take(rank, firsts, 0), group, 0);
    Value placed = b.splat(b.i64(), 0, *count);
    firsts = scatterInto(b, placed, b.take(rank, firsts, 0), firsts, ScatterKind::set);
  }
  if (failed(node.output(0, b.take(x, firsts, axis))) || failed(node.output(1, firsts)))
    return failure();
  if (node.wants(2) && failed(node.output(2, scatterInto(b, zeros(b, length), order, number, ScatterKind::set))))
    return failure();
  if (node.wants(3) && failed(node.output(3, scatterInto(b, b.splat(b.i64(), 0, *count), number,
                                                         b.splat(b.i64(), 1, length), ScatterKind::sum))))
    return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// NonMaxSuppression
//===----------------------------------------------------------------------===//

/// The lower and upper corners of boxes [..., 4] in each of two coordinates.
struct Corners {
  Value low[2], high[2], area;
};

Corners cornersOf(Builder &b, Value boxes, bool isCentered) {
  int64_t last = b.rank(boxes) - 1;
  Value parts[4];
  for (int64_t i = 0; i < 4; ++i)
    parts[i] = b.takeOne(boxes, last, i);
  Corners corners;
  for (int i = 0; i < 2; ++i) {
    Value x = parts[i], y = parts[i + 2];
    if (isCentered) {
      Value half = b.multiply(y, 0.5);
      corners.low[i] = b.subtract(x, half);
      corners.high[i] = b.add(x, half);
    } else {
      corners.low[i] = b.minimum(x, y);
      corners.high[i] = b.maximum(x, y);
    }
  }
  corners.area = b.multiply(b.subtract(corners.high[0], corners.low[0]), b.subtract(corners.high[1], corners.low[1]));
  return corners;
}

/// Whether boxes overlap by more than a threshold: intersection over union. Boxes without an area overlap nothing.
Value overlaps(Builder &b, const Corners &x, const Corners &y, Value threshold) {
  Value sides[2];
  for (int i = 0; i < 2; ++i)
    sides[i] = b.maximum(b.subtract(b.minimum(x.high[i], y.high[i]), b.maximum(x.low[i], y.low[i])), 0.0);
  Value intersection = b.multiply(sides[0], sides[1]);
  Value both = b.subtract(b.add(x.area, y.area), intersection);
  auto isPositive = [&](Value value) { return b.compare(ComparisonDirection::GT, value, 0.0); };
  Value counts = b.binary<AndOp>(b.binary<AndOp>(isPositive(x.area), isPositive(y.area)),
                                 b.binary<AndOp>(isPositive(intersection), isPositive(both)));
  return b.binary<AndOp>(counts, b.compare(ComparisonDirection::GT, b.divide(intersection, both), threshold));
}

LogicalResult importNonMaxSuppression(Node &node) {
  Builder &b = node.b;
  Value boxes = node.input(0), scores = node.input(1);
  bool isCentered = node.integer("center_point_box", 0) != 0;
  if (!node.expectRank(0, 3) || !node.expectRank(1, 3))
    return failure();
  Dim batches = b.dim(boxes, 0), count = b.dim(boxes, 1), classes = b.dim(scores, 1);
  if (b.dim(boxes, 2) != b.size(4) || b.dim(scores, 0) != batches || b.dim(scores, 2) != count)
    return node.fail("expected boxes of shape [batches, boxes, 4] and scores of shape [batches, classes, boxes]");
  for (int64_t i = 2; i < 5; ++i)
    if (node.has(i) && getElementCount(node.input(i).getType()) != b.size(1))
      return node.fail("expected one element as input " + std::to_string(i));
  auto scalarOf = [&](int64_t index, double fallback) {
    return node.has(index) ? b.reshape(node.input(index), {}) : b.scalar(b.f32(), fallback);
  };
  Value most = node.has(2) ? b.convert(b.reshape(node.input(2), {}), b.i64()) : b.integerScalar(b.i64(), 0);
  Value threshold = b.convert(scalarOf(3, 0), b.element(boxes));
  // One place for each box that a class may select.
  Dim places = count;
  if (std::optional<TensorValue> known = b.contents(most)) {
    int64_t limit = std::max<int64_t>(known->getInteger(0), 0);
    if (b.facts.symbols.isAtLeast(count, limit))
      places = b.size(limit);
  }
  if (places == b.size(0))
    return node.output(0, b.splat(b.i64(), 0, b.sizes({0, 3})));
  Value alive = b.splat(b.i1(), 1, {batches, classes, count});
  if (node.has(4))
    alive = b.compare(ComparisonDirection::GT, scores, b.convert(scalarOf(4, 0), b.element(scores)));
  if (!alive || !most || !threshold)
    return failure();
  Corners all = cornersOf(b, boxes, isCentered);
  // For each batch and class at once: the best box that is left is taken, and all that overlap it go.
  Value chosen = b.splat(b.i64(), 0, {batches, classes, places}),
        taken = b.splat(b.i1(), 0, {batches, classes, places});
  Value lowest = b.scalar(b.element(scores), -std::numeric_limits<double>::infinity());
  auto best = [&](Value left) {
    Value score = b.select(left, scores, lowest);
    Value top = b.reduce(ReductionKind::max, score, {2}, true);
    Value isTop = b.binary<OrOp>(b.compare(ComparisonDirection::EQ, score, top),
                                 b.compare(ComparisonDirection::NE, score, score));
    return b.binary<AndOp>(left, isTop);
  };
  SmallVector<Value> initial{b.integerScalar(b.i64(), 0), alive, chosen, taken};
  Value limit = b.minimum(most, b.sizeValue(places, b.i64()));
  FailureOr<SmallVector<Value>> results = buildWhile(
      b, initial,
      [&](ArrayRef<Value> state) -> FailureOr<SmallVector<Value>> {
        Value any = b.reduce(ReductionKind::any, state[1], {0, 1, 2}, false);
        return SmallVector<Value>{b.binary<AndOp>(any, b.compare(ComparisonDirection::LT, state[0], limit))};
      },
      [&](ArrayRef<Value> state) -> FailureOr<SmallVector<Value>> {
        Value left = state[1], candidates = best(left);
        if (!candidates)
          return failure();
        Value index = b.inferred<ArgReduceOp>(candidates.getType(), ReductionKind::max, b.convert(candidates, b.i64()),
                                              int64_t(2), false, b.i64());
        Value found = b.reduce(ReductionKind::any, left, {2}, false);
        // The box of each class, [batches, classes, 4], against all boxes of the batch.
        SmallVector<Dim> picked{batches, classes, b.size(4)};
        Value box = b.takeElements(boxes, b.broadcastInDim(index, picked, {0, 1}), 1);
        Corners one = cornersOf(b, box, isCentered);
        auto spread = [&](Corners corners, int64_t dimension) {
          for (Value *value : {&corners.low[0], &corners.low[1], &corners.high[0], &corners.high[1], &corners.area})
            *value = b.expandDims(*value, dimension);
          return corners;
        };
        Value over = overlaps(b, spread(one, 2), spread(all, 1), threshold);
        Value position = b.iota(b.i64(), {batches, classes, count}, 2);
        Value itself = b.compare(ComparisonDirection::EQ, position, b.expandDims(index, 2));
        Value stays = b.unary<NotOp>(b.binary<OrOp>(over, itself));
        return SmallVector<Value>{b.add(state[0], b.integerScalar(b.i64(), 1)), b.binary<AndOp>(left, stays),
                                  writeRow(b, state[2], index, state[0], 2), writeRow(b, state[3], found, state[0], 2)};
      });
  if (failed(results))
    return failure();
  Value positions = truePositions(b, flatten(b, (*results)[3]), node.sizeName(0, 0));
  Value rows = unravel(b, positions, {batches, classes, places});
  Value box = b.take(flatten(b, (*results)[2]), positions, 0);
  if (!rows || !box)
    return failure();
  Value indices = b.concatenate({b.slice(rows, 0, 0, 2), b.expandDims(box, 0)}, 0);
  return node.output(0, b.transpose(indices, {1, 0}));
}

} // namespace

void addSelectionHandlers(HandlerTable &table) {
  table.add("NonZero", importNonZero);
  table.add("Compress", importCompress);
  table.add("Unique", importUnique);
  table.add("NonMaxSuppression", importNonMaxSuppression);
}

} // namespace weft::importer
