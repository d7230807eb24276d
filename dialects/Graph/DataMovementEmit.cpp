//===- DataMovementEmit.cpp - Scalar emission of the ops that move elements ---------------------------===//

#include "dialects/Graph/DataMovement.h"
#include "dialects/Graph/Emission.h"

using namespace mlir;

namespace weft::graph {

namespace {

bool isOne(const Dim &dim) { return dim.isConstant() && dim.getConstant() == 1; }

} // namespace

FailureOr<Value> BroadcastInDimOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  SmallVector<Value> source;
  for (auto [dimension, target] : llvm::enumerate(getBroadcastDimensions()))
    source.push_back(isOne(getDim(getOperand().getType(), dimension)) ? scalars.index(0) : Value(indices[target]));
  return elements.get(0, source);
}

FailureOr<Value> ReshapeOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  SmallVector<Dim> from = getDims(getOperand().getType()), to = getDims(getType());
  SmallVector<Value> source(from.size());
  for (const ReshapeGroup &group : matchReshape(from, to)) {
    if (group.isIdentity()) {
      source[group.operandDimensions[0]] = indices[group.resultDimensions[0]];
      continue;
    }
    SmallVector<Value> values, resultSizes, operandSizes;
    for (int64_t dimension : group.resultDimensions) {
      values.push_back(indices[dimension]);
      resultSizes.push_back(elements.size(to[dimension]));
    }
    for (int64_t dimension : group.operandDimensions)
      operandSizes.push_back(elements.size(from[dimension]));
    SmallVector<Value> split = scalars.delinearize(scalars.linearize(values, resultSizes), operandSizes);
    for (auto [dimension, value] : llvm::zip(group.operandDimensions, split))
      source[dimension] = value;
  }
  for (Value &value : source)
    if (!value)
      value = scalars.index(0);
  return elements.get(0, source);
}

FailureOr<Value> TransposeOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  SmallVector<Value> source(indices.size());
  for (auto [dimension, from] : llvm::enumerate(getPermutation()))
    source[from] = indices[dimension];
  return elements.get(0, source);
}

FailureOr<Value> SliceOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  SmallVector<Value> source;
  for (auto [dimension, value] : llvm::enumerate(indices)) {
    int64_t start = getStartIndices()[dimension];
    Value first = start < 0 ? scalars.addIndex(elements.size(getOperand(), dimension), scalars.index(start))
                            : scalars.index(start);
    source.push_back(scalars.addIndex(first, scalars.mulIndex(value, scalars.index(getStrides()[dimension]))));
  }
  return elements.get(0, source);
}

FailureOr<Value> PadOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  OpBuilder &builder = elements.builder;
  SmallVector<Value> source;
  Value inside;
  for (auto [dimension, value] : llvm::enumerate(indices)) {
    int64_t low = getEdgePaddingLow()[dimension], high = getEdgePaddingHigh()[dimension];
    int64_t interior = getInteriorPadding()[dimension];
    if (low == 0 && high == 0 && interior == 0) {
      source.push_back(value);
      continue;
    }
    Value position = scalars.subIndex(value, scalars.index(low));
    if (low > 0)
      inside = scalars.both(inside, arith::CmpIOp::create(builder, elements.location, arith::CmpIPredicate::sge,
                                                          position, scalars.index(0)));
    if (interior > 0) {
      // A negative position is caught by the test above; as an unsigned number it only has to stay defined.
      Value step = scalars.index(interior + 1);
      Value rest = scalars.remIndex(position, step);
      inside = scalars.both(
          inside, arith::CmpIOp::create(builder, elements.location, arith::CmpIPredicate::eq, rest, scalars.index(0)));
      position = scalars.divIndex(position, step);
    }
    inside = scalars.both(inside, scalars.lessThan(position, elements.size(getOperand(), dimension)));
    source.push_back(position);
  }
  if (!inside)
    return elements.get(0, source);
  return emitIf(
      builder, elements.location, scalarType(elementType(getResult())), inside, [&] { return elements.get(0, source); },
      [&] { return elements.get(1, {}); });
}

FailureOr<Value> ConcatenateOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  uint64_t dimension = getDimension();
  Type type = scalarType(elementType(getResult()));
  unsigned last = getInputs().size() - 1;
  // Where the element stands within each input, from the sizes of those before it.
  std::function<Value(unsigned, Value)> pick = [&](unsigned input, Value position) -> Value {
    SmallVector<Value> source(indices);
    source[dimension] = position;
    if (input == last)
      return elements.get(input, source);
    Value size = elements.size(getInputs()[input], dimension);
    return emitIf(
        elements.builder, elements.location, type, scalars.lessThan(position, size),
        [&] { return elements.get(input, source); }, [&] { return pick(input + 1, scalars.subIndex(position, size)); });
  };
  return pick(0, indices[dimension]);
}

FailureOr<Value> AssumeShapeOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return elements.get(0, indices);
}

FailureOr<Value> ReverseOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  SmallVector<Value> source(indices);
  for (int64_t dimension : getDimensions()) {
    Value last = scalars.subIndex(elements.size(getOperand(), dimension), scalars.index(1));
    source[dimension] = scalars.subIndex(last, source[dimension]);
  }
  return elements.get(0, source);
}

namespace {

/// A start index as `index`, clamped to [0, size - extent]. An unsigned one too large for i64 counts as the largest.
Value clampedStart(ElementSource &elements, Value start, Type type, Value size, Value extent) {
  ScalarBuilder scalars = elements.scalars();
  OpBuilder &builder = elements.builder;
  Type i64 = builder.getI64Type();
  Value wide = scalars.convert(start, type, i64);
  Value position = arith::IndexCastOp::create(builder, elements.location, builder.getIndexType(), wide);
  Value last = scalars.maxIndex(scalars.subIndex(size, extent), scalars.index(0));
  if (isUnsignedElement(type))
    return arith::MinUIOp::create(builder, elements.location, position, last);
  return scalars.minIndex(scalars.maxIndex(position, scalars.index(0)), last);
}

} // namespace

FailureOr<Value> DynamicSliceOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  SmallVector<Value> source;
  for (auto [dimension, value] : llvm::enumerate(indices)) {
    Dim size = getDim(getOperand().getType(), dimension), extent = getDim(getType(), dimension);
    if (size == extent) {
      source.push_back(value);
      continue;
    }
    Value start = clampedStart(elements, elements.get(1 + dimension, {}), elementType(getStartIndices()[dimension]),
                               elements.size(size), elements.size(extent));
    source.push_back(scalars.addIndex(start, value));
  }
  return elements.get(0, source);
}

FailureOr<Value> DynamicUpdateSliceOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  OpBuilder &builder = elements.builder;
  SmallVector<Value> source;
  Value inside;
  for (auto [dimension, value] : llvm::enumerate(indices)) {
    Dim size = getDim(getOperand().getType(), dimension), extent = getDim(getUpdate().getType(), dimension);
    if (size == extent) {
      source.push_back(value);
      continue;
    }
    Value bound = elements.size(extent);
    Value start = clampedStart(elements, elements.get(2 + dimension, {}), elementType(getStartIndices()[dimension]),
                               elements.size(size), bound);
    Value position = scalars.subIndex(value, start);
    inside = scalars.both(inside, arith::CmpIOp::create(builder, elements.location, arith::CmpIPredicate::sge, position,
                                                        scalars.index(0)));
    inside = scalars.both(inside, scalars.lessThan(position, bound));
    source.push_back(position);
  }
  if (!inside)
    return elements.get(1, source);
  return emitIf(
      builder, elements.location, scalarType(elementType(getResult())), inside, [&] { return elements.get(1, source); },
      [&] { return elements.get(0, indices); });
}

FailureOr<Value> GatherOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  int64_t rank = tensorType(getOperand()).getRank(), indexRank = tensorType(getStartIndices()).getRank();
  int64_t vectorDimension = getIndexVectorDim();
  // The indices of the result: those of the batch dimensions, and those within the slice.
  SmallVector<Value> batch, offsets;
  for (auto [dimension, value] : llvm::enumerate(indices)) {
    bool isOffset = llvm::is_contained(getOffsetDims(), static_cast<int64_t>(dimension));
    (isOffset ? offsets : batch).push_back(value);
  }
  SmallVector<Value> position(indexRank);
  for (int64_t i = 0, next = 0; i < indexRank; ++i)
    position[i] = i == vectorDimension ? Value() : batch[next++];
  SmallVector<Value> source(rank);
  size_t nextOffset = 0;
  for (int64_t i = 0; i < rank; ++i) {
    bool collapsed = llvm::is_contained(getCollapsedSliceDims(), i);
    const auto *batching = llvm::find(getOperandBatchingDims(), i);
    if (batching != getOperandBatchingDims().end())
      source[i] = position[getStartIndicesBatchingDims()[batching - getOperandBatchingDims().begin()]];
    else
      source[i] = collapsed ? scalars.index(0) : offsets[nextOffset++];
  }
  for (auto [component, dimension] : llvm::enumerate(getStartIndexMap())) {
    Dim size = getDim(getOperand().getType(), dimension);
    int64_t extent = getSliceSizes()[dimension];
    if (size.isConstant() && size.getConstant() == extent)
      continue;
    if (vectorDimension < indexRank)
      position[vectorDimension] = scalars.index(component);
    Value start = clampedStart(elements, elements.get(1, position), elementType(getStartIndices()), elements.size(size),
                               scalars.index(extent));
    source[dimension] = scalars.addIndex(start, source[dimension]);
  }
  return elements.get(0, source);
}

FailureOr<Value> ScatterOp::emitElement(ElementSource &, unsigned, ValueRange) {
  return emitOpError("has no scalar emission; it cannot stand inside a kernel with other ops");
}

} // namespace weft::graph
