//===- DataMovementEvaluate.cpp - Values of the movement ops, from their definitions ---------------===//

#include "dialects/Graph/DataMovement.h"
#include "dialects/Graph/Evaluation.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace mlir;

namespace weft::graph {

namespace {

/// A new tensor with addressable elements for a result of `type`, to be packed when it is done.
TensorValue makeUnpacked(Type type, ArrayRef<int64_t> shape) { return TensorValue(unpackedType(type), shape); }

Strided wholeOf(ArrayRef<int64_t> shape) { return {0, rowMajorStrides(shape)}; }

/// The box of `shape` that begins at `starts`.
Strided boxAt(ArrayRef<int64_t> shape, ArrayRef<int64_t> starts) {
  Strided box = wholeOf(shape);
  for (auto [start, stride] : llvm::zip_equal(starts, box.strides))
    box.offset += start * stride;
  return box;
}

/// A start index, clamped so that `size` elements fit into `whole`.
int64_t clampStart(int64_t start, int64_t whole, int64_t size) {
  return std::max<int64_t>(0, std::min(start, whole - size));
}

/// As `getInteger`, but of an unsigned index that does not fit the largest that does.
int64_t indexAt(const TensorValue &indices, int64_t position) {
  int64_t index = indices.getInteger(position);
  if (index < 0 && isUnsignedElement(indices.getElementType()))
    return std::numeric_limits<int64_t>::max();
  return index;
}

/// Fills with the one element of `scalar`. Both have addressable elements.
void fill(TensorValue &result, const TensorValue &scalar) {
  copyStrided(result, {0, {1}}, scalar, {0, {0}}, result.getElementCount());
}

} // namespace

LogicalResult BroadcastInDimOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                         EvaluationContext &context) {
  TensorValue operand = unpack(operands[0]);
  SmallVector<int64_t> shape = context.getShape(getType());
  TensorValue result = makeUnpacked(operand.getElementType(), shape);
  Strided from{0, SmallVector<int64_t>(shape.size(), 0)};
  SmallVector<int64_t> strides = rowMajorStrides(operand.getShape());
  for (auto [dimension, target] : llvm::enumerate(getBroadcastDimensions())) {
    int64_t size = operand.getShape()[dimension];
    if (size != 1 && size != shape[target])
      return emitOpError("operand dimension ")
             << dimension << " of size " << size << " cannot become size " << shape[target];
    if (size != 1)
      from.strides[target] = strides[dimension];
  }
  copyStrided(result, wholeOf(shape), operand, from, shape);
  results.push_back(pack(result, operands[0].getElementType()));
  return success();
}

LogicalResult ReshapeOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                  EvaluationContext &context) {
  results.push_back(operands[0].reshaped(context.getShape(getType())));
  return success();
}

LogicalResult AssumeShapeOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                      EvaluationContext &context) {
  for (auto [dimension, size] : llvm::enumerate(context.getShape(getType())))
    if (operands[0].getShape()[dimension] != size)
      return emitOpError("dimension ") << dimension << ": expected size " << size << ", got "
                                       << operands[0].getShape()[dimension];
  results.push_back(operands[0]);
  return success();
}

LogicalResult TransposeOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                    EvaluationContext &) {
  TensorValue operand = unpack(operands[0]);
  SmallVector<int64_t> strides = rowMajorStrides(operand.getShape()), shape;
  Strided from;
  for (int64_t dimension : getPermutation()) {
    shape.push_back(operand.getShape()[dimension]);
    from.strides.push_back(strides[dimension]);
  }
  TensorValue result = makeUnpacked(operand.getElementType(), shape);
  copyStrided(result, wholeOf(shape), operand, from, shape);
  results.push_back(pack(result, operands[0].getElementType()));
  return success();
}

LogicalResult SliceOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                EvaluationContext &) {
  TensorValue operand = unpack(operands[0]);
  SmallVector<int64_t> strides = rowMajorStrides(operand.getShape()), shape;
  Strided from;
  for (int64_t i = 0; i < operand.getRank(); ++i) {
    int64_t size = operand.getShape()[i];
    bool isSymbolic = tensorType(getOperand()).isDynamicDim(i);
    auto resolve = [&](int64_t position) {
      if (position == kEnd)
        return size;
      return isSymbolic && position < 0 ? size + position : position;
    };
    int64_t start = resolve(getStartIndices()[i]), limit = resolve(getLimitIndices()[i]), stride = getStrides()[i];
    if (start < 0 || start > limit || limit > size)
      return emitOpError("dimension ") << i << " of size " << size << " has no elements " << start << ":" << limit;
    from.offset += start * strides[i];
    from.strides.push_back(stride * strides[i]);
    shape.push_back((limit - start + stride - 1) / stride);
  }
  TensorValue result = makeUnpacked(operand.getElementType(), shape);
  copyStrided(result, wholeOf(shape), operand, from, shape);
  results.push_back(pack(result, operands[0].getElementType()));
  return success();
}

LogicalResult PadOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                              EvaluationContext &context) {
  TensorValue operand = unpack(operands[0]), value = unpack(operands[1]);
  SmallVector<int64_t> shape = context.getShape(getType());
  TensorValue result = makeUnpacked(operand.getElementType(), shape);
  fill(result, value);
  // The elements of the operand that are not cut off by negative padding: [first, last) of each dimension.
  SmallVector<int64_t> fromStrides = rowMajorStrides(operand.getShape()), toStrides = rowMajorStrides(shape), sizes;
  Strided from, to;
  for (int64_t i = 0; i < operand.getRank(); ++i) {
    int64_t step = getInteriorPadding()[i] + 1, low = getEdgePaddingLow()[i];
    int64_t first = low < 0 ? (-low + step - 1) / step : 0;
    int64_t last = std::min(operand.getShape()[i], shape[i] - low > 0 ? (shape[i] - low - 1) / step + 1 : 0);
    sizes.push_back(std::max<int64_t>(last - first, 0));
    from.offset += first * fromStrides[i];
    to.offset += (low + first * step) * toStrides[i];
    from.strides.push_back(fromStrides[i]);
    to.strides.push_back(step * toStrides[i]);
  }
  copyStrided(result, to, operand, from, sizes);
  results.push_back(pack(result, operands[0].getElementType()));
  return success();
}

LogicalResult ConcatenateOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                      EvaluationContext &) {
  SmallVector<int64_t> shape(operands[0].getShape());
  for (const TensorValue &operand : operands.drop_front())
    shape[getDimension()] += operand.getShape()[getDimension()];
  TensorValue result = makeUnpacked(operands[0].getElementType(), shape);
  SmallVector<int64_t> starts(shape.size(), 0);
  for (const TensorValue &operand : operands) {
    copyStrided(result, boxAt(shape, starts), unpack(operand), wholeOf(operand.getShape()), operand.getShape());
    starts[getDimension()] += operand.getShape()[getDimension()];
  }
  results.push_back(pack(result, operands[0].getElementType()));
  return success();
}

LogicalResult ReverseOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                  EvaluationContext &) {
  TensorValue operand = unpack(operands[0]);
  ArrayRef<int64_t> shape = operand.getShape();
  Strided from = wholeOf(shape);
  for (int64_t dimension : getDimensions()) {
    from.offset += (shape[dimension] - 1) * from.strides[dimension];
    from.strides[dimension] = -from.strides[dimension];
  }
  TensorValue result = makeUnpacked(operand.getElementType(), shape);
  copyStrided(result, wholeOf(shape), operand, from, shape);
  results.push_back(pack(result, operands[0].getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// Positions computed when run
//===----------------------------------------------------------------------===//

LogicalResult DynamicSliceOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                       EvaluationContext &context) {
  TensorValue operand = unpack(operands[0]);
  SmallVector<int64_t> shape = context.getShape(getType()), starts;
  for (int64_t i = 0; i < operand.getRank(); ++i) {
    if (shape[i] > operand.getShape()[i])
      return emitOpError("dimension ") << i << ": size " << shape[i] << " is larger than the operand's "
                                       << operand.getShape()[i];
    starts.push_back(clampStart(indexAt(operands[i + 1], 0), operand.getShape()[i], shape[i]));
  }
  TensorValue result = makeUnpacked(operand.getElementType(), shape);
  copyStrided(result, wholeOf(shape), operand, boxAt(operand.getShape(), starts), shape);
  results.push_back(pack(result, operands[0].getElementType()));
  return success();
}

LogicalResult DynamicUpdateSliceOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                             EvaluationContext &) {
  TensorValue operand = unpack(operands[0]), update = unpack(operands[1]);
  SmallVector<int64_t> starts;
  for (int64_t i = 0; i < operand.getRank(); ++i) {
    if (update.getShape()[i] > operand.getShape()[i])
      return emitOpError("dimension ") << i << ": size " << update.getShape()[i] << " of the update is larger than the "
                                       << "operand's " << operand.getShape()[i];
    starts.push_back(clampStart(indexAt(operands[i + 2], 0), operand.getShape()[i], update.getShape()[i]));
  }
  TensorValue result = makeUnpacked(operand.getElementType(), operand.getShape());
  Strided whole = wholeOf(operand.getShape());
  copyStrided(result, whole, operand, whole, operand.getShape());
  copyStrided(result, boxAt(operand.getShape(), starts), update, wholeOf(update.getShape()), update.getShape());
  results.push_back(pack(result, operands[0].getElementType()));
  return success();
}

namespace {

/// How gather and scatter read a start position out of their tensor of indices.
struct IndexVectors {
  IndexVectors(const TensorValue &indices, int64_t vectorDimension, ArrayRef<int64_t> startMap,
               ArrayRef<int64_t> operandBatching, ArrayRef<int64_t> indicesBatching)
      : indices(indices), startMap(startMap), operandBatching(operandBatching) {
    SmallVector<int64_t> strides = rowMajorStrides(indices.getShape());
    SmallVector<int64_t> position(indices.getRank(), -1); // of an indices dimension among the batch dimensions
    for (int64_t i = 0; i < indices.getRank(); ++i) {
      if (i == vectorDimension) {
        componentStride = strides[i];
        continue;
      }
      position[i] = static_cast<int64_t>(batchSizes.size());
      batchSizes.push_back(indices.getShape()[i]);
      batchStrides.push_back(strides[i]);
    }
    for (int64_t dimension : indicesBatching)
      batchingPositions.push_back(dimension == vectorDimension ? -1 : position[dimension]);
  }

  /// The start position in the operand, not clamped, for one index of the batch dimensions.
  void getStart(ArrayRef<int64_t> batch, MutableArrayRef<int64_t> start) const {
    llvm::fill(start, 0);
    int64_t offset = 0;
    for (auto [index, stride] : llvm::zip_equal(batch, batchStrides))
      offset += index * stride;
    for (auto [component, dimension] : llvm::enumerate(startMap))
      start[dimension] = indexAt(indices, offset + static_cast<int64_t>(component) * componentStride);
    for (auto [dimension, position] : llvm::zip_equal(operandBatching, batchingPositions))
      start[dimension] = position < 0 ? 0 : batch[position];
  }

  const TensorValue &indices;
  ArrayRef<int64_t> startMap, operandBatching;
  SmallVector<int64_t> batchSizes, batchStrides, batchingPositions;
  int64_t componentStride = 0;
};

/// The dimensions of `rank` that are not in `listed`.
SmallVector<int64_t> otherDimensions(int64_t rank, ArrayRef<int64_t> listed) {
  SmallVector<int64_t> others;
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(listed, i))
      others.push_back(i);
  return others;
}

SmallVector<int64_t> concat(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> both(a);
  llvm::append_range(both, b);
  return both;
}

template <typename T> SmallVector<T> pick(ArrayRef<T> from, ArrayRef<int64_t> positions) {
  SmallVector<T> picked;
  for (int64_t position : positions)
    picked.push_back(from[position]);
  return picked;
}

} // namespace

LogicalResult GatherOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                 EvaluationContext &context) {
  TensorValue operand = unpack(operands[0]);
  SmallVector<int64_t> shape = context.getShape(getType());
  TensorValue result = makeUnpacked(operand.getElementType(), shape);
  int64_t rank = operand.getRank();
  for (int64_t i = 0; i < rank; ++i)
    if (getSliceSizes()[i] > operand.getShape()[i])
      return emitOpError("slice size ") << getSliceSizes()[i] << " of dimension " << i
                                        << " is larger than the operand's " << operand.getShape()[i];
  SmallVector<int64_t> dropped = concat(getCollapsedSliceDims(), getOperandBatchingDims());
  for (int64_t dimension : dropped)
    if (result.getElementCount() && getSliceSizes()[dimension] == 0)
      return emitOpError("collapsed dimension ") << dimension << " has slices of size 0, which give no element";

  IndexVectors vectors(operands[1], getIndexVectorDim(), getStartIndexMap(), getOperandBatchingDims(),
                       getStartIndicesBatchingDims());
  SmallVector<int64_t> kept = otherDimensions(rank, dropped);
  SmallVector<int64_t> batchDimensions = otherDimensions(static_cast<int64_t>(shape.size()), getOffsetDims());
  SmallVector<int64_t> operandStrides = rowMajorStrides(operand.getShape()), resultStrides = rowMajorStrides(shape);
  SmallVector<int64_t> windowSizes = pick<int64_t>(getSliceSizes(), kept);
  Strided from{0, pick<int64_t>(operandStrides, kept)}, to{0, pick<int64_t>(resultStrides, getOffsetDims())};
  SmallVector<int64_t> start(rank);
  if (result.getElementCount())
    forEachIndex(vectors.batchSizes, [&](ArrayRef<int64_t> batch) {
      vectors.getStart(batch, start);
      from.offset = to.offset = 0;
      for (int64_t i = 0; i < rank; ++i)
        from.offset += clampStart(start[i], operand.getShape()[i], getSliceSizes()[i]) * operandStrides[i];
      for (auto [index, dimension] : llvm::zip_equal(batch, batchDimensions))
        to.offset += index * resultStrides[dimension];
      copyStrided(result, to, operand, from, windowSizes);
    });
  results.push_back(pack(result, operands[0].getElementType()));
  return success();
}

namespace {

/// One step of a scatter, rounded to the element type by the tensor.
void combineAt(TensorValue &result, int64_t at, const TensorValue &updates, int64_t from, ScatterKind kind) {
  Type type = result.getElementType();
  if (isFloatElement(type)) {
    double a = result.getFloat(at), b = updates.getFloat(from);
    switch (kind) {
    case ScatterKind::set:
      return result.setFloat(at, b);
    case ScatterKind::sum:
      return result.setFloat(at, a + b);
    case ScatterKind::product:
      return result.setFloat(at, a * b);
    case ScatterKind::max:
      return result.setFloat(at, maximumOf(a, b));
    case ScatterKind::min:
      return result.setFloat(at, minimumOf(a, b));
    }
  }
  int64_t a = result.getInteger(at), b = updates.getInteger(from);
  bool isLess = isUnsignedElement(type) ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
  switch (kind) {
  case ScatterKind::set:
    return result.setInteger(at, b);
  case ScatterKind::sum:
    return result.setInteger(at, static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)));
  case ScatterKind::product:
    return result.setInteger(at, static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)));
  case ScatterKind::max:
    return result.setInteger(at, isLess ? b : a);
  case ScatterKind::min:
    return result.setInteger(at, isLess ? a : b);
  }
}

} // namespace

LogicalResult ScatterOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                  EvaluationContext &) {
  const TensorValue &updates = operands[2];
  ArrayRef<int64_t> shape = operands[0].getShape();
  TensorValue result(operands[0].getElementType(), shape);
  if (size_t bytes = operands[0].getByteSize())
    std::memcpy(result.getMutableData(), operands[0].getData(), bytes);

  IndexVectors vectors(operands[1], getIndexVectorDim(), getScatterDimsToOperandDims(), getOperandBatchingDims(),
                       getScatterIndicesBatchingDims());
  int64_t rank = operands[0].getRank();
  SmallVector<int64_t> inserted = concat(getInsertedWindowDims(), getOperandBatchingDims());
  SmallVector<int64_t> windowDimensions = otherDimensions(rank, inserted);
  SmallVector<int64_t> batchDimensions = otherDimensions(updates.getRank(), getUpdateWindowDims());
  SmallVector<int64_t> windowSizes = pick<int64_t>(updates.getShape(), getUpdateWindowDims());
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  SmallVector<int64_t> batchSizes = pick<int64_t>(updates.getShape(), batchDimensions);
  if (batchSizes != vectors.batchSizes)
    return emitOpError("the updates do not have one window for each position in the indices");

  SmallVector<int64_t> start(rank), extent(rank, 1), batch(batchDimensions.size(), -1);
  for (auto [size, dimension] : llvm::zip_equal(windowSizes, windowDimensions))
    extent[dimension] = size;
  bool isInside = false;
  int64_t windowOffset = 0, source = 0;
  forEachIndex(updates.getShape(), [&](ArrayRef<int64_t> index) {
    bool isSameWindow = true;
    for (auto [position, dimension] : llvm::enumerate(batchDimensions)) {
      isSameWindow &= batch[position] == index[dimension];
      batch[position] = index[dimension];
    }
    if (!isSameWindow || source == 0) {
      vectors.getStart(batch, start);
      isInside = true;
      windowOffset = 0;
      for (int64_t i = 0; i < rank; ++i) {
        isInside &= start[i] >= 0 && start[i] <= shape[i] - extent[i];
        windowOffset += isInside ? start[i] * strides[i] : 0;
      }
    }
    int64_t target = windowOffset;
    for (auto [updateDimension, dimension] : llvm::zip_equal(getUpdateWindowDims(), windowDimensions))
      target += index[updateDimension] * strides[dimension];
    if (isInside)
      combineAt(result, target, updates, source, getKind());
    ++source;
  });
  results.push_back(result);
  return success();
}

} // namespace weft::graph
