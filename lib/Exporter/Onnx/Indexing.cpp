//===- Indexing.cpp - Operations at computed positions as ONNX nodes -----------------------------===//
//
// gather and scatter are written on the flattened tensor, with the positions computed from their dimension numbers: one
// form for all of them, and one that shares nothing with how they are imported.

#include "dialects/Graph/DataMovement.h"
#include "dialects/Graph/Ordering.h"
#include "lib/Exporter/Onnx/GraphBuilder.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::exporter {

namespace {

/// A start position as an int64 scalar in [0, size - box].
Name clampedStart(GraphBuilder &b, Value start, const Dim &size, const Dim &box) {
  Type i64 = IntegerType::get(start.getContext(), 64);
  Name position = b.cast(b.nameOf(start), i64);
  return b.node("Max", {b.node("Min", {position, b.size(size - box)}), b.integer(0)});
}

Name asVector(GraphBuilder &b, const Name &scalar) { return b.node("Reshape", {scalar, b.integers(1)}); }

Name dynamicSlice(GraphBuilder &b, DynamicSliceOp op) {
  RankedTensorType from = tensorType(op.getOperand()), to = op.getType();
  SmallVector<Name> starts, ends;
  SmallVector<int64_t> axes;
  for (auto [i, start] : llvm::enumerate(op.getStartIndices())) {
    if (getDim(from, i) == getDim(to, i))
      continue;
    axes.push_back(i);
    Name position = clampedStart(b, start, getDim(from, i), getDim(to, i));
    starts.push_back(asVector(b, position));
    ends.push_back(asVector(b, b.node("Add", {position, b.size(getDim(to, i))})));
  }
  Name x = b.nameOf(op.getOperand());
  if (axes.empty())
    return x;
  Attributes axis = Attributes().set("axis", int64_t(0));
  return b.node("Slice", {x, b.node("Concat", starts, axis), b.node("Concat", ends, axis), b.integers(axes)});
}

/// `update` in place of the box of `x` that begins at `starts`, one dimension after the other from `dimension` on: the
/// parts before and after the box, and between them the box with its own dimensions replaced.
Name replaceBox(GraphBuilder &b, const Name &x, const Name &update, ArrayRef<Name> starts, Type from, Type to,
                size_t dimension) {
  while (dimension < starts.size() && getDim(from, dimension) == getDim(to, dimension))
    ++dimension;
  if (dimension == starts.size())
    return update;
  Name start = asVector(b, starts[dimension]), axis = b.integers(static_cast<int64_t>(dimension));
  Name end = b.node("Add", {start, asVector(b, b.size(getDim(to, dimension)))});
  Name before = b.node("Slice", {x, b.integers(0), start, axis}), box = b.node("Slice", {x, start, end, axis});
  Name after = b.node("Slice", {x, end, b.integers(std::numeric_limits<int64_t>::max()), axis});
  Name inner = replaceBox(b, box, update, starts, from, to, dimension + 1);
  return b.node("Concat", {before, inner, after}, Attributes().set("axis", static_cast<int64_t>(dimension)));
}

/// Row-major strides of a shape, as sizes.
SmallVector<Dim> strides(ArrayRef<Dim> dims) {
  SmallVector<Dim> result(dims.size(), Dim::constant(dims.empty() ? nullptr : dims[0].getContext(), 1));
  for (size_t i = dims.size(); i-- > 1;)
    result[i - 1] = result[i] * dims[i];
  return result;
}

/// Component `which` of the index vectors, with the batch dimensions of the indices at `positions` of a tensor of
/// `rank` dimensions and ones elsewhere, as int64.
Name component(GraphBuilder &b, Value indices, int64_t vectorDimension, int64_t which, ArrayRef<int64_t> positions,
               int64_t rank) {
  RankedTensorType type = tensorType(indices);
  Name values = b.cast(b.nameOf(indices), IntegerType::get(type.getContext(), 64));
  if (vectorDimension < type.getRank())
    values = b.slice(values, which, which + 1, vectorDimension, 1);
  SmallVector<Dim> shape(rank, Dim::constant(type.getContext(), 1));
  int64_t batch = 0;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i != vectorDimension)
      shape[positions[batch++]] = getDim(type, i);
  return b.reshape(values, shape);
}

/// Which result (of gather) or update (of scatter) dimensions are batch dimensions: those that are no window
/// dimensions.
SmallVector<int64_t> batchPositions(ArrayRef<int64_t> windows, int64_t rank) {
  SmallVector<int64_t> positions;
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(windows, i))
      positions.push_back(i);
  return positions;
}

/// The number of the batch dimension (of those without the index vector's) that an indices dimension is.
int64_t batchNumber(int64_t dimension, int64_t vectorDimension) {
  return dimension > vectorDimension ? dimension - 1 : dimension;
}

LogicalResult gather(GraphBuilder &b, GatherOp op) {
  SmallVector<Dim> operandDims = getDims(op.getOperand().getType()), result = getDims(op.getType());
  int64_t resultRank = result.size(), vectorDimension = op.getIndexVectorDim();
  if (operandDims.empty())
    return cannotExport(op, "a gather from a scalar");
  SmallVector<int64_t> batch = batchPositions(op.getOffsetDims(), resultRank);
  SmallVector<Dim> step = strides(operandDims);
  Name linear = b.integer(0);
  size_t window = 0;
  for (auto [dimension, size] : llvm::enumerate(operandDims)) {
    int64_t d = dimension;
    auto add = [&](const Name &index) { linear = b.node("Add", {linear, b.node("Mul", {index, b.size(step[d])})}); };
    if (auto *place = llvm::find(op.getOperandBatchingDims(), d); place != op.getOperandBatchingDims().end()) {
      int64_t inIndices = op.getStartIndicesBatchingDims()[place - op.getOperandBatchingDims().begin()];
      add(b.ramp(result, batch[batchNumber(inIndices, vectorDimension)]));
      continue;
    }
    if (auto *place = llvm::find(op.getStartIndexMap(), d); place != op.getStartIndexMap().end()) {
      Name start =
          component(b, op.getStartIndices(), vectorDimension, place - op.getStartIndexMap().begin(), batch, resultRank);
      Name last = b.size(size - op.getSliceSizes()[d]);
      add(b.node("Max", {b.node("Min", {start, last}), b.integer(0)}));
    }
    if (!llvm::is_contained(op.getCollapsedSliceDims(), d))
      add(b.ramp(result, op.getOffsetDims()[window++]));
  }
  Name flat = b.node("Reshape", {b.nameOf(op.getOperand()), b.integers(-1)});
  b.bind(op.getResult(), b.node("Gather", {flat, b.expand(linear, result)}, Attributes().set("axis", int64_t(0))));
  return success();
}

StringRef reductionName(ScatterKind kind) {
  switch (kind) {
  case ScatterKind::set:
    return "none";
  case ScatterKind::sum:
    return "add";
  case ScatterKind::product:
    return "mul";
  case ScatterKind::max:
    return "max";
  case ScatterKind::min:
    return "min";
  }
  return "none";
}

LogicalResult scatter(GraphBuilder &b, ScatterOp op) {
  SmallVector<Dim> operandDims = getDims(op.getOperand().getType()), updates = getDims(op.getUpdates().getType());
  int64_t rank = updates.size(), vectorDimension = op.getIndexVectorDim();
  if (operandDims.empty())
    return cannotExport(op, "a scatter into a scalar");
  SmallVector<int64_t> batch = batchPositions(op.getUpdateWindowDims(), rank);
  SmallVector<Dim> step = strides(operandDims);
  Name linear = b.integer(0), inside;
  size_t window = 0;
  for (auto [dimension, size] : llvm::enumerate(operandDims)) {
    int64_t d = dimension;
    auto add = [&](const Name &index) { linear = b.node("Add", {linear, b.node("Mul", {index, b.size(step[d])})}); };
    if (auto *place = llvm::find(op.getOperandBatchingDims(), d); place != op.getOperandBatchingDims().end()) {
      int64_t inIndices = op.getScatterIndicesBatchingDims()[place - op.getOperandBatchingDims().begin()];
      add(b.ramp(updates, batch[batchNumber(inIndices, vectorDimension)]));
      continue;
    }
    bool isInserted = llvm::is_contained(op.getInsertedWindowDims(), d);
    Dim extent = isInserted ? Dim::constant(op.getContext(), 1) : updates[op.getUpdateWindowDims()[window]];
    if (auto *place = llvm::find(op.getScatterDimsToOperandDims(), d);
        place != op.getScatterDimsToOperandDims().end()) {
      Name start = component(b, op.getScatterIndices(), vectorDimension,
                             place - op.getScatterDimsToOperandDims().begin(), batch, rank);
      add(start);
      // A window that does not lie wholly inside is dropped.
      Name fits = b.node("And", {b.node("GreaterOrEqual", {start, b.integer(0)}),
                                 b.node("LessOrEqual", {start, b.size(size - extent)})});
      inside = inside.empty() ? fits : b.node("And", {inside, fits});
    }
    if (!isInserted)
      add(b.ramp(updates, op.getUpdateWindowDims()[window++]));
  }
  // What is dropped goes to one element behind the end.
  Dim total = product(operandDims, op.getContext());
  if (!inside.empty())
    linear = b.node("Where", {inside, linear, b.size(total)});
  Type element = elementType(op.getOperand());
  Name flat = b.node("Reshape", {b.nameOf(op.getOperand()), b.integers(-1)});
  Attributes first = Attributes().set("axis", int64_t(0));
  Name longer = b.node("Concat", {flat, asVector(b, b.scalar(element, 0))}, first);
  Name positions = b.node("Reshape", {b.expand(linear, updates), b.integers(-1)});
  Name values = b.node("Reshape", {b.nameOf(op.getUpdates()), b.integers(-1)});
  Attributes attributes = Attributes().set("axis", int64_t(0)).set("reduction", reductionName(op.getKind()));
  Name scattered = b.node("ScatterElements", {longer, positions, values}, attributes);
  b.bind(op.getResult(), b.reshape(b.slice(scattered, 0, -1, 0, 1), operandDims));
  return success();
}

Attributes topAttributes(int64_t axis, bool largest) {
  return Attributes().set("axis", axis).set("largest", int64_t(largest)).set("sorted", int64_t(1));
}

LogicalResult sort(GraphBuilder &b, SortOp op) {
  int64_t axis = op.getDimension();
  Name count = asVector(b, b.size(getDim(op.getInputs()[0].getType(), axis)));
  SmallVector<Name> top =
      b.nodes("TopK", {b.nameOf(op.getInputs()[0]), count}, 2, topAttributes(axis, op.getDescending()));
  b.bind(op.getOutputs()[0], top[0]);
  for (size_t i = 1; i < op.getInputs().size(); ++i)
    b.bind(op.getOutputs()[i],
           b.node("GatherElements", {b.nameOf(op.getInputs()[i]), top[1]}, Attributes().set("axis", axis)));
  return success();
}

LogicalResult topK(GraphBuilder &b, TopKOp op) {
  int64_t axis = op.getDimension();
  SmallVector<Name> top = b.nodes("TopK", {b.nameOf(op.getOperand()), b.integers(static_cast<int64_t>(op.getK()))}, 2,
                                  topAttributes(axis, op.getLargest()));
  b.bind(op.getValues(), top[0]);
  b.bind(op.getIndices(), b.cast(top[1], op.getIndexType()));
  return success();
}

} // namespace

std::optional<LogicalResult> exportIndexing(GraphBuilder &b, Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<LogicalResult>>(op)
      .Case<DynamicSliceOp>([&](DynamicSliceOp slice) {
        b.bind(slice.getResult(), dynamicSlice(b, slice));
        return success();
      })
      .Case<DynamicUpdateSliceOp>([&](DynamicUpdateSliceOp update) {
        Type from = update.getOperand().getType(), to = update.getUpdate().getType();
        SmallVector<Name> starts;
        for (auto [i, start] : llvm::enumerate(update.getStartIndices()))
          starts.push_back(clampedStart(b, start, getDim(from, i), getDim(to, i)));
        b.bind(update.getResult(),
               replaceBox(b, b.nameOf(update.getOperand()), b.nameOf(update.getUpdate()), starts, from, to, 0));
        return success();
      })
      .Case<GatherOp>([&](GatherOp op) { return gather(b, op); })
      .Case<ScatterOp>([&](ScatterOp op) { return scatter(b, op); })
      .Case<SortOp>([&](SortOp op) { return sort(b, op); })
      .Case<TopKOp>([&](TopKOp op) { return topK(b, op); })
      .Default([](auto) { return std::nullopt; });
}

} // namespace weft::exporter
