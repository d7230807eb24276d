//===- ElementwiseEvaluate.cpp - Values of the elementwise ops, from their definitions ------------===//
//
// Elements are widened to double or int64_t, computed there and rounded or wrapped once to their type. For +, -, *, /
// and sqrt of f32 and narrower floats this gives the bits of arithmetic in the type itself, as a double has more than
// twice their precision and two places. Transcendental functions are those of double, rounded.

#include "dialects/Graph/Elementwise.h"
#include "dialects/Graph/Evaluation.h"
#include "dialects/Graph/NarrowFloat.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;

namespace weft::graph {

namespace {

template <typename Value, typename Function, size_t... Operand>
TensorValue mapElements(ArrayRef<TensorValue> operands, Type resultElement, Function function,
                        std::index_sequence<Operand...>) {
  using Result = decltype(function((static_cast<void>(Operand), Value())...));
  TensorValue result(resultElement, operands[0].getShape());
  int64_t count = result.getElementCount();
  parallelFor((count + kBlock - 1) / kBlock, kParallelElements / kBlock, [&](int64_t begin, int64_t end) {
    Value values[sizeof...(Operand)][kBlock];
    Result computed[kBlock];
    for (int64_t at = begin * kBlock, last = std::min(end * kBlock, count); at < last; at += kBlock) {
      int64_t size = std::min(kBlock, last - at);
      (operands[Operand].read(at, MutableArrayRef<Value>(values[Operand], size)), ...);
      for (int64_t i = 0; i < size; ++i)
        computed[i] = function(values[Operand][i]...);
      result.write(at, ArrayRef<Result>(computed, size));
    }
  });
  return result;
}

using One = std::make_index_sequence<1>;
using Two = std::make_index_sequence<2>;
using Three = std::make_index_sequence<3>;

/// The result has the operands' type. `onFloats` takes doubles, `onIntegers` sign- or zero-extended int64_t.
template <typename Arity, typename Function>
LogicalResult mapFloats(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results, Function onFloats) {
  results.push_back(mapElements<double>(operands, operands[0].getElementType(), onFloats, Arity()));
  return success();
}

template <typename Arity, typename Function>
LogicalResult mapIntegers(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results, Function onIntegers) {
  results.push_back(mapElements<int64_t>(operands, operands[0].getElementType(), onIntegers, Arity()));
  return success();
}

template <typename Arity, typename FloatFunction, typename IntegerFunction>
LogicalResult mapNumbers(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results, FloatFunction onFloats,
                         IntegerFunction onIntegers) {
  if (isFloatElement(operands[0].getElementType()))
    return mapFloats<Arity>(operands, results, onFloats);
  return mapIntegers<Arity>(operands, results, onIntegers);
}

uint64_t bitsOf(int64_t value) { return static_cast<uint64_t>(value); }
/// The low `width` bits, so that a sign-extended value counts as its own width.
uint64_t bitsOf(int64_t value, unsigned width) { return bitsOf(value) & llvm::maskTrailingOnes<uint64_t>(width); }

/// Unsigned values and truth values compare as uint64_t, the others as int64_t.
bool comparesUnsigned(Type type) { return isUnsignedElement(type) || isBoolElement(type); }

int64_t integerPower(int64_t base, int64_t exponent, bool isUnsigned) {
  if (!isUnsigned && exponent < 0) {
    if (base == 1)
      return 1;
    return base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  }
  uint64_t result = 1, factor = bitsOf(base), remaining = bitsOf(exponent);
  for (; remaining; remaining >>= 1, factor *= factor)
    if (remaining & 1)
      result *= factor;
  return static_cast<int64_t>(result);
}

int64_t divideIntegers(int64_t a, int64_t b, bool isUnsigned) {
  if (b == 0)
    return -1;
  if (isUnsigned)
    return static_cast<int64_t>(bitsOf(a) / bitsOf(b));
  return b == -1 ? static_cast<int64_t>(0 - bitsOf(a)) : a / b;
}

int64_t remainderOfIntegers(int64_t a, int64_t b, bool isUnsigned) {
  if (b == 0)
    return a;
  if (isUnsigned)
    return static_cast<int64_t>(bitsOf(a) % bitsOf(b));
  return b == -1 ? 0 : a % b;
}

int64_t larger(int64_t a, int64_t b, bool isUnsigned) { return (isUnsigned ? bitsOf(a) > bitsOf(b) : a > b) ? a : b; }
int64_t smaller(int64_t a, int64_t b, bool isUnsigned) { return (isUnsigned ? bitsOf(a) < bitsOf(b) : a < b) ? a : b; }

template <typename Value> int64_t compareValues(ComparisonDirection direction, Value a, Value b) {
  switch (direction) {
  case ComparisonDirection::EQ:
    return a == b;
  case ComparisonDirection::NE:
    return a != b;
  case ComparisonDirection::LT:
    return a < b;
  case ComparisonDirection::LE:
    return a <= b;
  case ComparisonDirection::GT:
    return a > b;
  case ComparisonDirection::GE:
    return a >= b;
  }
  llvm_unreachable("unknown comparison direction");
}

/// Truncates; NaN is 0, values outside the range of the integer type are its nearest limit.
int64_t truncateTo(double value, unsigned width, bool isUnsigned) {
  if (std::isnan(value))
    return 0;
  double limit = std::ldexp(1.0, static_cast<int>(isUnsigned ? width : width - 1));
  if (value >= limit)
    return static_cast<int64_t>(isUnsigned ? llvm::maskTrailingOnes<uint64_t>(width) : llvm::maxIntN(width));
  if (isUnsigned)
    return value <= 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(value));
  return value < -limit ? llvm::minIntN(width) : static_cast<int64_t>(value);
}

} // namespace

//===----------------------------------------------------------------------===//
// Functions of one float
//===----------------------------------------------------------------------===//

LogicalResult ExponentialOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                      EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::exp(x); });
}

LogicalResult ExponentialMinusOneOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                              EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::expm1(x); });
}

LogicalResult LogOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                              EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::log(x); });
}

LogicalResult LogPlusOneOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                     EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::log1p(x); });
}

LogicalResult SqrtOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::sqrt(x); });
}

LogicalResult RsqrtOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return 1 / std::sqrt(x); });
}

LogicalResult CbrtOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::cbrt(x); });
}

LogicalResult SineOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::sin(x); });
}

LogicalResult CosineOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                 EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::cos(x); });
}

LogicalResult TanOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                              EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::tan(x); });
}

LogicalResult AsinOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::asin(x); });
}

LogicalResult AcosOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::acos(x); });
}

LogicalResult AtanOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::atan(x); });
}

LogicalResult SinhOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::sinh(x); });
}

LogicalResult CoshOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::cosh(x); });
}

LogicalResult TanhOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::tanh(x); });
}

LogicalResult AsinhOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::asinh(x); });
}

LogicalResult AcoshOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::acosh(x); });
}

LogicalResult AtanhOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::atanh(x); });
}

LogicalResult LogisticOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                   EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return 1 / (1 + std::exp(-x)); });
}

LogicalResult ErfOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                              EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::erf(x); });
}

LogicalResult FloorOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::floor(x); });
}

LogicalResult CeilOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::ceil(x); });
}

LogicalResult RoundNearestEvenOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                           EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::nearbyint(x); });
}

LogicalResult RoundNearestAfzOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                          EvaluationContext &) {
  return mapFloats<One>(operands, results, [](double x) { return std::round(x); });
}

//===----------------------------------------------------------------------===//
// Functions of one number
//===----------------------------------------------------------------------===//

LogicalResult AbsOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                              EvaluationContext &) {
  bool isUnsigned = isUnsignedElement(operands[0].getElementType());
  return mapNumbers<One>(
      operands, results, [](double x) { return std::fabs(x); },
      [=](int64_t x) { return isUnsigned || x >= 0 ? x : static_cast<int64_t>(0 - bitsOf(x)); });
}

LogicalResult NegateOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                 EvaluationContext &) {
  return mapNumbers<One>(
      operands, results, [](double x) { return -x; }, [](int64_t x) { return static_cast<int64_t>(0 - bitsOf(x)); });
}

LogicalResult SignOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &) {
  bool isUnsigned = isUnsignedElement(operands[0].getElementType());
  return mapNumbers<One>(
      operands, results, [](double x) { return x > 0   ? 1.0
                                               : x < 0 ? -1.0
                                                       : x; },
      [=](int64_t x) { return isUnsigned ? int64_t(x != 0) : int64_t(x > 0) - int64_t(x < 0); });
}

LogicalResult PopcntOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                 EvaluationContext &) {
  unsigned width = operands[0].getElementType().getIntOrFloatBitWidth();
  return mapIntegers<One>(operands, results, [=](int64_t x) { return int64_t(llvm::popcount(bitsOf(x, width))); });
}

LogicalResult CountLeadingZerosOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                            EvaluationContext &) {
  unsigned width = operands[0].getElementType().getIntOrFloatBitWidth();
  return mapIntegers<One>(
      operands, results, [=](int64_t x) { return int64_t(llvm::countl_zero(bitsOf(x, width))) - int64_t(64 - width); });
}

LogicalResult NotOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                              EvaluationContext &) {
  bool isBool = isBoolElement(operands[0].getElementType());
  return mapIntegers<One>(operands, results, [=](int64_t x) { return isBool ? x ^ 1 : ~x; });
}

LogicalResult IsFiniteOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                   EvaluationContext &) {
  Type result = IntegerType::get(getContext(), 1);
  results.push_back(mapElements<double>(operands, result, [](double x) { return int64_t(std::isfinite(x)); }, One()));
  return success();
}

//===----------------------------------------------------------------------===//
// Functions of two and three numbers
//===----------------------------------------------------------------------===//

LogicalResult AddOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                              EvaluationContext &) {
  return mapNumbers<Two>(
      operands, results, [](double a, double b) { return a + b; },
      [](int64_t a, int64_t b) { return static_cast<int64_t>(bitsOf(a) + bitsOf(b)); });
}

LogicalResult SubtractOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                   EvaluationContext &) {
  return mapNumbers<Two>(
      operands, results, [](double a, double b) { return a - b; },
      [](int64_t a, int64_t b) { return static_cast<int64_t>(bitsOf(a) - bitsOf(b)); });
}

LogicalResult MultiplyOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                   EvaluationContext &) {
  return mapNumbers<Two>(
      operands, results, [](double a, double b) { return a * b; },
      [](int64_t a, int64_t b) { return static_cast<int64_t>(bitsOf(a) * bitsOf(b)); });
}

LogicalResult DivideOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                 EvaluationContext &) {
  bool isUnsigned = isUnsignedElement(operands[0].getElementType());
  return mapNumbers<Two>(
      operands, results, [](double a, double b) { return a / b; },
      [=](int64_t a, int64_t b) { return divideIntegers(a, b, isUnsigned); });
}

LogicalResult RemainderOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                    EvaluationContext &) {
  bool isUnsigned = isUnsignedElement(operands[0].getElementType());
  return mapNumbers<Two>(
      operands, results, [](double a, double b) { return std::fmod(a, b); },
      [=](int64_t a, int64_t b) { return remainderOfIntegers(a, b, isUnsigned); });
}

LogicalResult PowerOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                EvaluationContext &) {
  bool isUnsigned = isUnsignedElement(operands[0].getElementType());
  return mapNumbers<Two>(
      operands, results, [](double a, double b) { return std::pow(a, b); },
      [=](int64_t a, int64_t b) { return integerPower(a, b, isUnsigned); });
}

LogicalResult MaximumOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                  EvaluationContext &) {
  bool isUnsigned = comparesUnsigned(operands[0].getElementType());
  return mapNumbers<Two>(operands, results, maximumOf, [=](int64_t a, int64_t b) { return larger(a, b, isUnsigned); });
}

LogicalResult MinimumOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                  EvaluationContext &) {
  bool isUnsigned = comparesUnsigned(operands[0].getElementType());
  return mapNumbers<Two>(operands, results, minimumOf, [=](int64_t a, int64_t b) { return smaller(a, b, isUnsigned); });
}

LogicalResult Atan2Op::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                EvaluationContext &) {
  return mapFloats<Two>(operands, results, [](double y, double x) { return std::atan2(y, x); });
}

LogicalResult AndOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                              EvaluationContext &) {
  return mapIntegers<Two>(operands, results, [](int64_t a, int64_t b) { return a & b; });
}

LogicalResult OrOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                             EvaluationContext &) {
  return mapIntegers<Two>(operands, results, [](int64_t a, int64_t b) { return a | b; });
}

LogicalResult XorOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                              EvaluationContext &) {
  return mapIntegers<Two>(operands, results, [](int64_t a, int64_t b) { return a ^ b; });
}

LogicalResult ShiftLeftOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                    EvaluationContext &) {
  uint64_t width = operands[0].getElementType().getIntOrFloatBitWidth();
  return mapIntegers<Two>(operands, results, [=](int64_t x, int64_t y) {
    return bitsOf(y) < width ? static_cast<int64_t>(bitsOf(x) << y) : 0;
  });
}

LogicalResult ShiftRightArithmeticOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                               EvaluationContext &) {
  unsigned width = operands[0].getElementType().getIntOrFloatBitWidth();
  return mapIntegers<Two>(operands, results, [=](int64_t x, int64_t y) {
    int64_t extended = llvm::SignExtend64(bitsOf(x, width), width); // an unsigned one's highest bit counts as its sign
    return extended >> (bitsOf(y) < width ? y : 63);
  });
}

LogicalResult ShiftRightLogicalOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                            EvaluationContext &) {
  unsigned width = operands[0].getElementType().getIntOrFloatBitWidth();
  return mapIntegers<Two>(operands, results, [=](int64_t x, int64_t y) {
    return bitsOf(y) < width ? static_cast<int64_t>(bitsOf(x, width) >> y) : 0;
  });
}

LogicalResult CompareOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                  EvaluationContext &) {
  Type result = IntegerType::get(getContext(), 1);
  ComparisonDirection direction = getDirection();
  if (isFloatElement(operands[0].getElementType())) {
    auto compare = [=](double a, double b) { return compareValues(direction, a, b); };
    results.push_back(mapElements<double>(operands, result, compare, Two()));
  } else if (comparesUnsigned(operands[0].getElementType())) {
    auto compare = [=](int64_t a, int64_t b) { return compareValues(direction, bitsOf(a), bitsOf(b)); };
    results.push_back(mapElements<int64_t>(operands, result, compare, Two()));
  } else {
    auto compare = [=](int64_t a, int64_t b) { return compareValues(direction, a, b); };
    results.push_back(mapElements<int64_t>(operands, result, compare, Two()));
  }
  return success();
}

LogicalResult ClampOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                EvaluationContext &) {
  bool isUnsigned = isUnsignedElement(operands[0].getElementType());
  return mapNumbers<Three>(
      operands, results, [](double low, double x, double high) { return minimumOf(maximumOf(x, low), high); },
      [=](int64_t low, int64_t x, int64_t high) { return smaller(larger(x, low, isUnsigned), high, isUnsigned); });
}

namespace {

/// A choice moves bits: nothing is converted, so that a NaN keeps its payload.
template <typename T>
void selectElements(const TensorValue &pred, const TensorValue &onTrue, const TensorValue &onFalse,
                    TensorValue &result) {
  const uint8_t *choose = pred.dataAs<uint8_t>();
  const T *ifTrue = onTrue.dataAs<T>(), *ifFalse = onFalse.dataAs<T>();
  T *target = result.mutableDataAs<T>();
  parallelFor(result.getElementCount(), kParallelElements, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      target[i] = choose[i] ? ifTrue[i] : ifFalse[i];
  });
}

} // namespace

LogicalResult SelectOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                 EvaluationContext &) {
  Type type = operands[1].getElementType();
  TensorValue onTrue = unpack(operands[1]), onFalse = unpack(operands[2]);
  TensorValue result(onTrue.getElementType(), onTrue.getShape());
  switch (storageBits(result.getElementType())) {
  case 64:
    selectElements<uint64_t>(operands[0], onTrue, onFalse, result);
    break;
  case 32:
    selectElements<uint32_t>(operands[0], onTrue, onFalse, result);
    break;
  case 16:
    selectElements<uint16_t>(operands[0], onTrue, onFalse, result);
    break;
  default:
    selectElements<uint8_t>(operands[0], onTrue, onFalse, result);
  }
  results.push_back(pack(result, type));
  return success();
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

LogicalResult ConvertOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                  EvaluationContext &) {
  Type from = operands[0].getElementType(), to = elementType(getResult());
  if (from == to) {
    results.push_back(operands[0]);
    return success();
  }
  if (isFloatElement(from) && isIntegerElement(to)) {
    unsigned width = to.getIntOrFloatBitWidth();
    bool isUnsigned = isUnsignedElement(to);
    auto convert = [=](double x) { return truncateTo(x, width, isUnsigned); };
    results.push_back(mapElements<double>(operands, to, convert, One()));
  } else if (isFloatElement(from)) { // to a float, or whether it is not zero
    results.push_back(mapElements<double>(operands, to, [](double x) { return x; }, One()));
  } else if (isFloatElement(to) && from.isUnsignedInteger(64)) {
    // Each conversion rounds once: an odd rounding to double is harmless to the one that follows.
    bool toFloat = to.isF32(), toDouble = to.isF64();
    auto convert = [=](int64_t x) {
      if (toDouble)
        return static_cast<double>(bitsOf(x));
      return toFloat ? static_cast<double>(static_cast<float>(bitsOf(x))) : roundToOdd(x, /*isUnsigned=*/true);
    };
    results.push_back(mapElements<int64_t>(operands, to, convert, One()));
  } else {
    results.push_back(mapElements<int64_t>(operands, to, [](int64_t x) { return x; }, One()));
  }
  return success();
}

LogicalResult BitcastConvertOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                         EvaluationContext &) {
  results.push_back(operands[0].bitcast(elementType(getResult())));
  return success();
}

} // namespace weft::graph
