//===- ReductionEvaluate.cpp - Values of the reductions, from their definitions --------------------===//
//
// The order of float sums and products is that of the numerics contract (docs/Spec.md), bit for bit.

#include "dialects/Graph/Evaluation.h"
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
  bool negative = kind == ReductionKind::max;
  if (llvm::APFloat::semanticsHasInf(semantics))
    return negative ? -HUGE_VAL : HUGE_VAL;
  llvm::APFloat largest = llvm::APFloat::getLargest(semantics, negative);
  bool lost;
  largest.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return largest.convertToDouble();
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
  ArrayRef<int64_t> window = getWindowDimensions(), dilation = getBaseDilations();
  int64_t windowSize = productOf(window);

  // Combines in row-major order of the window what lies inside the operand, and the identity for what does not.
  auto reduceAt = [&](int64_t position) {
    SmallVector<int64_t, 6> corner(rank), tap(rank, 0);
    for (int64_t i = 0; i < rank; ++i)
      corner[i] = position / resultStrides[i] % shape[i] * getWindowStrides()[i] - getPaddingLow()[i];
    double total = identity;
    int64_t integerTotal = integerStart;
    for (int64_t n = 0; n < windowSize; ++n) {
      int64_t offset = 0;
      bool inside = true;
      for (int64_t i = 0; i < rank && inside; ++i) {
        int64_t at = corner[i] + tap[i] * getWindowDilations()[i];
        inside = at >= 0 && at % dilation[i] == 0 && at / dilation[i] < operand.getShape()[i];
        offset += at / dilation[i] * strides[i];
      }
      if (!isFloat) {
        int64_t element = inside ? operand.getInteger(offset) : integerStart;
        integerTotal = combineIntegers(kind, isUnsigned, integerTotal, element);
      } else {
        double element = inside ? operand.getFloat(offset) : identity;
        total = isDouble ? combineFloats(kind, total, element)
                         : combineFloats(kind, static_cast<float>(total), static_cast<float>(element));
      }
      for (int64_t i = rank - 1; i >= 0 && ++tap[i] == window[i]; --i)
        tap[i] = 0;
    }
    isFloat ? result.setFloat(position, total) : result.setInteger(position, integerTotal);
  };
  forEachRow(result.getElementCount(), windowSize * 4, reduceAt);
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
      else if (n == 0)
        total = operand.getFloat(at);
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
