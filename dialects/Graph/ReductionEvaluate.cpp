//===- ReductionEvaluate.cpp - Values of the reductions, from their definitions --------------------===//
//
// The order of float sums and products is that of the numerics contract (docs/Spec.md), bit for bit.

#include "dialects/Graph/Evaluation.h"
#include "dialects/Graph/NarrowFloat.h"
#include "dialects/Graph/Reduction.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;

namespace weft::graph {

namespace {

constexpr int64_t kLanes = 128, kChunk = 4096;

/// The value over no elements. An 8-bit float without infinities has its largest number instead.
double floatIdentity(ReductionKind kind, Type elementType) {
  if (kind == ReductionKind::sum)
    return 0;
  if (kind == ReductionKind::product)
    return 1;
  const llvm::fltSemantics &semantics = cast<FloatType>(elementType).getFloatSemantics();
  return toDouble(extremeOf(semantics, /*negative=*/kind == ReductionKind::max));
}

int64_t integerIdentity(ReductionKind kind, Type elementType) {
  unsigned width = elementType.getIntOrFloatBitWidth();
  bool isUnsigned = isUnsignedElement(elementType);
  switch (kind) {
  case ReductionKind::sum:
  case ReductionKind::any:
    return 0;
  case ReductionKind::product:
  case ReductionKind::all:
    return 1;
  case ReductionKind::max:
    return isUnsigned ? 0 : llvm::minIntN(width);
  case ReductionKind::min:
    return isUnsigned ? static_cast<int64_t>(llvm::maskTrailingOnes<uint64_t>(width)) : llvm::maxIntN(width);
  }
  llvm_unreachable("unknown reduction kind");
}

/// One combination in the accumulation type `Float`, which it is rounded to.
template <typename Float> Float combineFloats(ReductionKind kind, Float a, Float b) {
  switch (kind) {
  case ReductionKind::sum:
    return a + b;
  case ReductionKind::product:
    return a * b;
  case ReductionKind::max:
    return static_cast<Float>(maximumOf(a, b));
  default:
    return static_cast<Float>(minimumOf(a, b));
  }
}

int64_t combineIntegers(ReductionKind kind, bool isUnsigned, int64_t a, int64_t b) {
  uint64_t ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  switch (kind) {
  case ReductionKind::sum:
    return static_cast<int64_t>(ua + ub);
  case ReductionKind::product:
    return static_cast<int64_t>(ua * ub);
  case ReductionKind::max:
    return (isUnsigned ? ua < ub : a < b) ? b : a;
  case ReductionKind::min:
    return (isUnsigned ? ua < ub : a < b) ? a : b;
  case ReductionKind::all:
    return a & b;
  case ReductionKind::any:
    return a | b;
  }
  llvm_unreachable("unknown reduction kind");
}

/// The lanes and the tree of one chunk of at most kChunk elements, at least one.
template <typename Float> Float reduceChunk(ReductionKind kind, ArrayRef<double> elements) {
  int64_t count = static_cast<int64_t>(elements.size()), lanes = std::min(count, kLanes);
  Float lane[kLanes];
  for (int64_t j = 0; j < lanes; ++j)
    lane[j] = static_cast<Float>(elements[j]);
  for (int64_t row = kLanes; row < count; row += kLanes)
    for (int64_t j = 0, end = std::min(kLanes, count - row); j < end; ++j)
      lane[j] = combineFloats(kind, lane[j], static_cast<Float>(elements[row + j]));
  for (int64_t width = kLanes / 2; width >= 1; width /= 2)
    for (int64_t j = 0; j < width && j + width < lanes; ++j)
      lane[j] = combineFloats(kind, lane[j], lane[j + width]);
  return lane[0];
}

template <typename Float>
double reduceFloats(ReductionKind kind, const TensorValue &operand, int64_t begin, int64_t count, double identity) {
  if (count == 0)
    return identity;
  Float total = 0;
  double buffer[kChunk];
  for (int64_t at = 0; at < count; at += kChunk) {
    MutableArrayRef<double> elements(buffer, std::min(kChunk, count - at));
    operand.read(begin + at, elements);
    Float chunk = reduceChunk<Float>(kind, elements);
    total = at == 0 ? chunk : combineFloats(kind, total, chunk);
  }
  return total;
}

int64_t reduceIntegers(ReductionKind kind, const TensorValue &operand, int64_t begin, int64_t count, int64_t identity) {
  bool isUnsigned = isUnsignedElement(operand.getElementType());
  int64_t total = identity, buffer[kChunk];
  for (int64_t at = 0; at < count; at += kChunk) {
    MutableArrayRef<int64_t> elements(buffer, std::min(kChunk, count - at));
    operand.read(begin + at, elements);
    for (int64_t element : elements)
      total = combineIntegers(kind, isUnsigned, total, element);
  }
  return total;
}

/// The operand with `dimensions` last, in order, and elements that have addresses.
TensorValue moveToEnd(const TensorValue &value, ArrayRef<int64_t> dimensions) {
  TensorValue operand = unpack(value);
  int64_t rank = operand.getRank(), kept = rank - static_cast<int64_t>(dimensions.size());
  bool isTrailing = true;
  for (auto [index, dimension] : llvm::enumerate(dimensions))
    isTrailing &= dimension == kept + static_cast<int64_t>(index);
  if (isTrailing)
    return operand;
  SmallVector<int64_t> strides = rowMajorStrides(operand.getShape()), shape;
  Strided from;
  auto append = [&](int64_t dimension) {
    shape.push_back(operand.getShape()[dimension]);
    from.strides.push_back(strides[dimension]);
  };
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(dimensions, i))
      append(i);
  for (int64_t dimension : dimensions)
    append(dimension);
  TensorValue moved(operand.getElementType(), shape);
  copyStrided(moved, {0, rowMajorStrides(shape)}, operand, from, shape);
  return moved;
}

int64_t productOf(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

/// Calls `body(row)` for rows of `length` elements each, on several threads where that pays.
void forEachRow(int64_t rows, int64_t length, llvm::function_ref<void(int64_t)> body) {
  parallelFor(rows, std::max<int64_t>(kParallelElements / std::max<int64_t>(length, 1), 64),
              [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row)
                  body(row);
              });
}

} // namespace

LogicalResult ReduceOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                 EvaluationContext &) {
  TensorValue operand = moveToEnd(operands[0], getDimensions());
  Type type = operands[0].getElementType(), addressable = operand.getElementType();
  ArrayRef<int64_t> shape = operand.getShape();
  ArrayRef<int64_t> outer = shape.drop_back(getDimensions().size());
  int64_t count = productOf(shape.take_back(getDimensions().size()));
  TensorValue result(addressable, outer);
  ReductionKind kind = getKind();
  if (!isFloatElement(type)) {
    int64_t identity = integerIdentity(kind, type);
    forEachRow(result.getElementCount(), count, [&](int64_t row) {
      result.setInteger(row, reduceIntegers(kind, operand, row * count, count, identity));
    });
  } else {
    double identity = floatIdentity(kind, type);
    bool isDouble = type.isF64();
    forEachRow(result.getElementCount(), count, [&](int64_t row) {
      result.setFloat(row, isDouble ? reduceFloats<double>(kind, operand, row * count, count, identity)
                                    : reduceFloats<float>(kind, operand, row * count, count, identity));
    });
  }
  results.push_back(pack(result, type));
  return success();
}

LogicalResult ArgReduceOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                    EvaluationContext &) {
  TensorValue operand = moveToEnd(operands[0], static_cast<int64_t>(getDimension()));
  int64_t length = operand.getShape().back();
  if (length == 0)
    return emitOpError("dimension ") << getDimension() << " is empty: no element is the largest";
  bool wantMax = getKind() == ReductionKind::max, last = getSelectLastIndex();
  bool isFloat = isFloatElement(operand.getElementType());
  bool isUnsigned = isUnsignedElement(operand.getElementType()) || isBoolElement(operand.getElementType());
  // Whether a later element takes the place of the best so far.
  auto replaces = [&](int64_t candidate, int64_t best) {
    if (isFloat) {
      double a = operand.getFloat(candidate), b = operand.getFloat(best);
      if (std::isnan(a) || std::isnan(b))
        return std::isnan(a) && (last || !std::isnan(b));
      return a == b ? last : wantMax ? a > b : a < b;
    }
    int64_t a = operand.getInteger(candidate), b = operand.getInteger(best);
    if (a == b)
      return last;
    bool isLess = isUnsigned ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
    return isLess != wantMax;
  };
  TensorValue result(IntegerType::get(getContext(), 64), operand.getShape().drop_back());
  forEachRow(result.getElementCount(), length, [&](int64_t row) {
    int64_t best = row * length;
    for (int64_t i = best + 1; i < (row + 1) * length; ++i)
      if (replaces(i, best))
        best = i;
    result.setInteger(row, best - row * length);
  });
  results.push_back(pack(result, getIndexType()));
  return success();
}

namespace {

/// Along one dimension: for each position of the result the places of the operand under its window, in the window's
/// order, as offsets. What the window has outside the operand holds the identity and changes nothing.
struct WindowPlaces {
  WindowPlaces(int64_t size, int64_t results, int64_t stride, int64_t window, int64_t step, int64_t base,
               int64_t dilation, int64_t padding) {
    for (int64_t result = 0; result < results; ++result) {
      int64_t corner = result * step - padding;
      SmallVector<int64_t> &places = offsets.emplace_back();
      // The shorter of the two walks: over the window or over the operand.
      if (window <= size) {
        for (int64_t tap = 0; tap < window; ++tap)
          if (int64_t at = corner + tap * dilation; at >= 0 && at % base == 0 && at / base < size)
            places.push_back(at / base * stride);
      } else {
        for (int64_t element = 0; element < size; ++element)
          if (int64_t at = element * base - corner; at >= 0 && at % dilation == 0 && at / dilation < window)
            places.push_back(element * stride);
      }
    }
  }
  SmallVector<SmallVector<int64_t>, 0> offsets;
};

/// Calls `body(offset)` for the sums of one place of each dimension, the last dimension fastest.
template <typename Body>
void forEachPlace(ArrayRef<const SmallVector<int64_t> *> places, int64_t offset, const Body &body) {
  if (places.empty())
    return body(offset);
  for (int64_t place : *places.front())
    forEachPlace(places.drop_front(), offset + place, body);
}

} // namespace

LogicalResult ReduceWindowOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                       EvaluationContext &context) {
  TensorValue operand = unpack(operands[0]);
  Type type = operands[0].getElementType();
  SmallVector<int64_t> shape = context.getShape(getType());
  TensorValue result(operand.getElementType(), shape);
  int64_t rank = operand.getRank();
  SmallVector<int64_t> strides = rowMajorStrides(operand.getShape()), resultStrides = rowMajorStrides(shape);
  bool isFloat = isFloatElement(type), isDouble = type.isF64(), isUnsigned = isUnsignedElement(type);
  ReductionKind kind = getKind();
  double identity = isFloat ? floatIdentity(kind, type) : 0;
  int64_t integerStart = isFloat ? 0 : integerIdentity(kind, type);
  SmallVector<WindowPlaces> dimensions;
  int64_t work = 1;
  for (int64_t i = 0; i < rank; ++i) {
    dimensions.emplace_back(operand.getShape()[i], shape[i], strides[i], getWindowDimensions()[i],
                            getWindowStrides()[i], getBaseDilations()[i], getWindowDilations()[i], getPaddingLow()[i]);
    work *= std::min(getWindowDimensions()[i], operand.getShape()[i]);
  }

  auto reduceAt = [&](int64_t position) {
    SmallVector<const SmallVector<int64_t> *, 6> places;
    for (int64_t i = 0; i < rank; ++i)
      places.push_back(&dimensions[i].offsets[position / resultStrides[i] % shape[i]]);
    if (!isFloat) {
      int64_t total = integerStart;
      forEachPlace(places, 0, [&](int64_t offset) {
        total = combineIntegers(kind, isUnsigned, total, operand.getInteger(offset));
      });
      return result.setInteger(position, total);
    }
    double total = identity;
    forEachPlace(places, 0, [&](int64_t offset) {
      double element = operand.getFloat(offset);
      total = isDouble ? combineFloats(kind, total, element)
                       : combineFloats(kind, static_cast<float>(total), static_cast<float>(element));
    });
    result.setFloat(position, total);
  };
  forEachRow(result.getElementCount(), work * 8, reduceAt);
  results.push_back(pack(result, type));
  return success();
}

LogicalResult CumulativeOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                     EvaluationContext &) {
  TensorValue operand = unpack(operands[0]);
  Type type = operands[0].getElementType();
  TensorValue result(operand.getElementType(), operand.getShape());
  int64_t length = operand.getShape()[getDimension()], stride = rowMajorStrides(operand.getShape())[getDimension()];
  bool isFloat = isFloatElement(type), isDouble = type.isF64(), isUnsigned = isUnsignedElement(type);
  ReductionKind kind = getKind();
  double identity = isFloat ? floatIdentity(kind, type) : 0;
  int64_t integerStart = isFloat ? 0 : integerIdentity(kind, type);
  auto scan = [&](int64_t line) {
    int64_t base = line / stride * stride * length + line % stride;
    double total = identity;
    int64_t integerTotal = integerStart;
    for (int64_t n = 0; n < length; ++n) {
      int64_t at = base + (getReverse() ? length - 1 - n : n) * stride;
      if (getExclusive())
        isFloat ? result.setFloat(at, total) : result.setInteger(at, integerTotal);
      if (!isFloat)
        integerTotal = combineIntegers(kind, isUnsigned, integerTotal, operand.getInteger(at));
      else
        total = isDouble ? combineFloats(kind, total, operand.getFloat(at))
                         : combineFloats(kind, static_cast<float>(total), static_cast<float>(operand.getFloat(at)));
      if (!getExclusive())
        isFloat ? result.setFloat(at, total) : result.setInteger(at, integerTotal);
    }
  };
  if (length != 0)
    forEachRow(operand.getElementCount() / length, length, scan);
  results.push_back(pack(result, type));
  return success();
}

} // namespace weft::graph
