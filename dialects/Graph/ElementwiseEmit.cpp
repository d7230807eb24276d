//===- ElementwiseEmit.cpp - Scalar emission of the elementwise ops ----------------------------------===//

#include "dialects/Graph/Elementwise.h"
#include "dialects/Graph/Emission.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace weft::graph {

namespace {

/// A function of one float, computed in the accumulation type.
template <typename MathOp> Value emitUnary(Operation *op, ElementSource &elements, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  Type type = elementType(op->getOperand(0));
  Value operand = scalars.widen(elements.get(0, indices), type);
  return scalars.narrow(MathOp::create(elements.builder, elements.location, operand), type);
}

/// Both operands of a binary op, the left one first.
std::pair<Value, Value> getBoth(ElementSource &elements, ValueRange indices) {
  Value lhs = elements.get(0, indices);
  Value rhs = elements.get(1, indices);
  return {lhs, rhs};
}

} // namespace

//===----------------------------------------------------------------------===//
// Functions of one float
//===----------------------------------------------------------------------===//

FailureOr<Value> ExponentialOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::ExpOp>(*this, elements, indices);
}
FailureOr<Value> ExponentialMinusOneOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::ExpM1Op>(*this, elements, indices);
}
FailureOr<Value> LogOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::LogOp>(*this, elements, indices);
}
FailureOr<Value> LogPlusOneOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::Log1pOp>(*this, elements, indices);
}
FailureOr<Value> SqrtOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::SqrtOp>(*this, elements, indices);
}
FailureOr<Value> RsqrtOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::RsqrtOp>(*this, elements, indices);
}
FailureOr<Value> CbrtOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::CbrtOp>(*this, elements, indices);
}
FailureOr<Value> SineOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::SinOp>(*this, elements, indices);
}
FailureOr<Value> CosineOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::CosOp>(*this, elements, indices);
}
FailureOr<Value> TanOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::TanOp>(*this, elements, indices);
}
FailureOr<Value> AsinOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::AsinOp>(*this, elements, indices);
}
FailureOr<Value> AcosOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::AcosOp>(*this, elements, indices);
}
FailureOr<Value> AtanOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::AtanOp>(*this, elements, indices);
}
FailureOr<Value> SinhOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::SinhOp>(*this, elements, indices);
}
FailureOr<Value> CoshOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::CoshOp>(*this, elements, indices);
}
FailureOr<Value> TanhOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::TanhOp>(*this, elements, indices);
}
FailureOr<Value> AsinhOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::AsinhOp>(*this, elements, indices);
}
FailureOr<Value> AcoshOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::AcoshOp>(*this, elements, indices);
}
FailureOr<Value> AtanhOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::AtanhOp>(*this, elements, indices);
}
FailureOr<Value> ErfOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::ErfOp>(*this, elements, indices);
}
FailureOr<Value> FloorOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::FloorOp>(*this, elements, indices);
}
FailureOr<Value> CeilOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::CeilOp>(*this, elements, indices);
}
FailureOr<Value> RoundNearestEvenOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::RoundEvenOp>(*this, elements, indices);
}
FailureOr<Value> RoundNearestAfzOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return emitUnary<math::RoundOp>(*this, elements, indices);
}

FailureOr<Value> LogisticOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  OpBuilder &builder = elements.builder;
  Type type = elementType(getOperand()), wide = accumulationType(type);
  Value operand = scalars.widen(elements.get(0, indices), type);
  // With e = exp(-|x|), which cannot overflow, it is 1 / (1 + e) or e / (1 + e).
  Value magnitude = math::AbsFOp::create(builder, elements.location, operand);
  Value power =
      math::ExpOp::create(builder, elements.location, arith::NegFOp::create(builder, elements.location, magnitude));
  Value one = scalars.one(wide);
  Value isNegative = scalars.compare(ComparisonDirection::LT, wide, operand, scalars.zero(wide));
  Value numerator = scalars.select(isNegative, power, one);
  Value sum = arith::AddFOp::create(builder, elements.location, one, power);
  return scalars.narrow(arith::DivFOp::create(builder, elements.location, numerator, sum), type);
}

//===----------------------------------------------------------------------===//
// Numbers of every kind
//===----------------------------------------------------------------------===//

FailureOr<Value> AbsOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  Type type = elementType(getOperand());
  if (isFloatElement(type))
    return emitUnary<math::AbsFOp>(*this, elements, indices);
  Value operand = elements.get(0, indices);
  if (isUnsignedElement(type))
    return operand;
  Value zero = scalars.zero(type);
  Value negated = arith::SubIOp::create(elements.builder, elements.location, zero, operand);
  return scalars.select(scalars.compare(ComparisonDirection::LT, type, operand, zero), negated, operand);
}

FailureOr<Value> NegateOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  Type type = elementType(getOperand());
  if (isFloatElement(type))
    return emitUnary<arith::NegFOp>(*this, elements, indices);
  return scalars.subtract(type, scalars.zero(type), elements.get(0, indices));
}

FailureOr<Value> SignOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  Type type = elementType(getOperand());
  Value operand = elements.get(0, indices);
  if (isFloatElement(type)) {
    // A zero and a NaN stay as they are.
    Type wide = accumulationType(type);
    Value value = scalars.widen(operand, type);
    Value keep = arith::CmpFOp::create(elements.builder, elements.location, arith::CmpFPredicate::UEQ, value,
                                       scalars.zero(wide));
    Value sign = math::CopySignOp::create(elements.builder, elements.location, scalars.one(wide), value);
    return scalars.narrow(scalars.select(keep, value, sign), type);
  }
  Value zero = scalars.zero(type);
  Value positive =
      scalars.select(scalars.compare(ComparisonDirection::GT, type, operand, zero), scalars.one(type), zero);
  if (isUnsignedElement(type))
    return positive;
  return scalars.select(scalars.compare(ComparisonDirection::LT, type, operand, zero),
                        scalars.integerConstant(type, -1), positive);
}

FailureOr<Value> PopcntOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return math::CtPopOp::create(elements.builder, elements.location, elements.get(0, indices)).getResult();
}

FailureOr<Value> CountLeadingZerosOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return math::CountLeadingZerosOp::create(elements.builder, elements.location, elements.get(0, indices)).getResult();
}

FailureOr<Value> NotOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  Value ones = elements.scalars().integerConstant(elementType(getOperand()), -1);
  return arith::XOrIOp::create(elements.builder, elements.location, elements.get(0, indices), ones).getResult();
}

FailureOr<Value> AddOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  auto [lhs, rhs] = getBoth(elements, indices);
  return elements.scalars().add(elementType(getLhs()), lhs, rhs);
}

FailureOr<Value> SubtractOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  auto [lhs, rhs] = getBoth(elements, indices);
  return elements.scalars().subtract(elementType(getLhs()), lhs, rhs);
}

FailureOr<Value> MultiplyOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  auto [lhs, rhs] = getBoth(elements, indices);
  return elements.scalars().multiply(elementType(getLhs()), lhs, rhs);
}

FailureOr<Value> MaximumOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  auto [lhs, rhs] = getBoth(elements, indices);
  return elements.scalars().maximum(elementType(getLhs()), lhs, rhs);
}

FailureOr<Value> MinimumOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  auto [lhs, rhs] = getBoth(elements, indices);
  return elements.scalars().minimum(elementType(getLhs()), lhs, rhs);
}

namespace {

/// A divisor that the instruction takes, and whether the definition's own result holds instead: on a zero divisor and,
/// for signed types, on -1, whose quotient of the most negative integer overflows.
struct SafeDivisor {
  Value divisor, isZero, isMinusOne;
};

SafeDivisor makeSafeDivisor(ScalarBuilder &scalars, Type type, Value divisor) {
  SafeDivisor safe;
  safe.isZero = scalars.compare(ComparisonDirection::EQ, type, divisor, scalars.zero(type));
  Value replace = safe.isZero;
  if (!isUnsignedElement(type) && !isBoolElement(type)) {
    safe.isMinusOne = scalars.compare(ComparisonDirection::EQ, type, divisor, scalars.integerConstant(type, -1));
    replace = arith::OrIOp::create(scalars.builder, scalars.location, replace, safe.isMinusOne);
  }
  safe.divisor = scalars.select(replace, scalars.one(type), divisor);
  return safe;
}

} // namespace

FailureOr<Value> DivideOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  OpBuilder &builder = elements.builder;
  Location location = elements.location;
  Type type = elementType(getLhs());
  auto [lhs, rhs] = getBoth(elements, indices);
  if (isFloatElement(type))
    return scalars.narrow(arith::DivFOp::create(builder, location, scalars.widen(lhs, type), scalars.widen(rhs, type)),
                          type);
  SafeDivisor safe = makeSafeDivisor(scalars, type, rhs);
  Value quotient;
  if (!safe.isMinusOne) {
    quotient = arith::DivUIOp::create(builder, location, lhs, safe.divisor);
  } else {
    quotient = arith::DivSIOp::create(builder, location, lhs, safe.divisor);
    quotient = scalars.select(safe.isMinusOne, scalars.subtract(type, scalars.zero(type), lhs), quotient);
  }
  return scalars.select(safe.isZero, scalars.integerConstant(type, -1), quotient);
}

FailureOr<Value> RemainderOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  OpBuilder &builder = elements.builder;
  Location location = elements.location;
  Type type = elementType(getLhs());
  auto [lhs, rhs] = getBoth(elements, indices);
  if (isFloatElement(type))
    return scalars.narrow(arith::RemFOp::create(builder, location, scalars.widen(lhs, type), scalars.widen(rhs, type)),
                          type);
  // With the divisor -1 replaced by 1 the remainder is 0, as it should be.
  SafeDivisor safe = makeSafeDivisor(scalars, type, rhs);
  Value remainder = safe.isMinusOne ? arith::RemSIOp::create(builder, location, lhs, safe.divisor).getResult()
                                    : arith::RemUIOp::create(builder, location, lhs, safe.divisor).getResult();
  return scalars.select(safe.isZero, lhs, remainder);
}

namespace {

/// Repeated squaring over all bits of the exponent, so that the product wraps around as repeated multiplication would.
Value emitIntegerPower(ScalarBuilder &scalars, Type type, Value base, Value exponent) {
  OpBuilder &builder = scalars.builder;
  Location location = scalars.location;
  Value one = scalars.one(type), zero = scalars.zero(type);
  Value bits = scalars.index(type.getIntOrFloatBitWidth());
  SmallVector<Value> results = emitLoops(
      builder, location, bits, {one, base, exponent}, [&](ValueRange, ValueRange carried) -> SmallVector<Value> {
        Value product = arith::MulIOp::create(builder, location, carried[0], carried[1]);
        Value odd = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne,
                                          arith::AndIOp::create(builder, location, carried[2], one), zero);
        Value square = arith::MulIOp::create(builder, location, carried[1], carried[1]);
        Value rest = arith::ShRUIOp::create(builder, location, carried[2], one);
        return {scalars.select(odd, product, carried[0]), square, rest};
      });
  Value power = results[0];
  if (isUnsignedElement(type))
    return power;
  // A negative exponent: 1 and -1 have integer inverses, everything else gives 0.
  Value minusOne = scalars.integerConstant(type, -1);
  Value isOdd = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne,
                                      arith::AndIOp::create(builder, location, exponent, one), zero);
  Value ofMinusOne = scalars.select(isOdd, minusOne, one);
  Value inverse = scalars.select(scalars.compare(ComparisonDirection::EQ, type, base, one), one, zero);
  inverse = scalars.select(scalars.compare(ComparisonDirection::EQ, type, base, minusOne), ofMinusOne, inverse);
  return scalars.select(scalars.compare(ComparisonDirection::LT, type, exponent, zero), inverse, power);
}

} // namespace

FailureOr<Value> PowerOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  Type type = elementType(getLhs());
  auto [lhs, rhs] = getBoth(elements, indices);
  if (isFloatElement(type))
    return scalars.narrow(
        math::PowFOp::create(elements.builder, elements.location, scalars.widen(lhs, type), scalars.widen(rhs, type)),
        type);
  if (isBoolElement(type)) // x to the power false is true.
    return arith::OrIOp::create(elements.builder, elements.location, lhs,
                                arith::XOrIOp::create(elements.builder, elements.location, rhs, scalars.one(type)))
        .getResult();
  return emitIntegerPower(scalars, type, lhs, rhs);
}

FailureOr<Value> Atan2Op::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  Type type = elementType(getLhs());
  auto [lhs, rhs] = getBoth(elements, indices);
  return scalars.narrow(
      math::Atan2Op::create(elements.builder, elements.location, scalars.widen(lhs, type), scalars.widen(rhs, type)),
      type);
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

FailureOr<Value> AndOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  auto [lhs, rhs] = getBoth(elements, indices);
  return arith::AndIOp::create(elements.builder, elements.location, lhs, rhs).getResult();
}

FailureOr<Value> OrOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  auto [lhs, rhs] = getBoth(elements, indices);
  return arith::OrIOp::create(elements.builder, elements.location, lhs, rhs).getResult();
}

FailureOr<Value> XorOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  auto [lhs, rhs] = getBoth(elements, indices);
  return arith::XOrIOp::create(elements.builder, elements.location, lhs, rhs).getResult();
}

namespace {

/// The shift by an amount in range, and whether the amount is; as an unsigned number a negative one is out of range.
template <typename ShiftOp>
std::pair<Value, Value> emitShift(Operation *op, ElementSource &elements, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  Type type = elementType(op->getOperand(0));
  auto [lhs, rhs] = getBoth(elements, indices);
  unsigned width = type.getIntOrFloatBitWidth();
  // Within an i2 the width itself does not fit; its largest amount is then every value that is not negative.
  Value last = scalars.integerConstant(type, width - 1);
  Value inRange = arith::CmpIOp::create(elements.builder, elements.location, arith::CmpIPredicate::ule, rhs, last);
  Value amount = scalars.select(inRange, rhs, last);
  return {ShiftOp::create(elements.builder, elements.location, lhs, amount), inRange};
}

} // namespace

FailureOr<Value> ShiftLeftOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  auto [shifted, inRange] = emitShift<arith::ShLIOp>(*this, elements, indices);
  return scalars.select(inRange, shifted, scalars.zero(elementType(getLhs())));
}

FailureOr<Value> ShiftRightArithmeticOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  // The amount is limited to width - 1, which leaves sign bits only.
  return emitShift<arith::ShRSIOp>(*this, elements, indices).first;
}

FailureOr<Value> ShiftRightLogicalOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  auto [shifted, inRange] = emitShift<arith::ShRUIOp>(*this, elements, indices);
  return scalars.select(inRange, shifted, scalars.zero(elementType(getLhs())));
}

//===----------------------------------------------------------------------===//
// Comparison, selection, conversion
//===----------------------------------------------------------------------===//

FailureOr<Value> IsFiniteOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  Type type = elementType(getOperand()), wide = accumulationType(type);
  Value operand = scalars.widen(elements.get(0, indices), type);
  Value magnitude = math::AbsFOp::create(elements.builder, elements.location, operand);
  return scalars.compare(ComparisonDirection::LT, wide, magnitude, scalars.highest(wide));
}

FailureOr<Value> CompareOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  auto [lhs, rhs] = getBoth(elements, indices);
  return elements.scalars().compare(getDirection(), elementType(getLhs()), lhs, rhs);
}

FailureOr<Value> SelectOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  Value condition = elements.get(0, indices);
  Value onTrue = elements.get(1, indices);
  Value onFalse = elements.get(2, indices);
  return elements.scalars().select(condition, onTrue, onFalse);
}

FailureOr<Value> ClampOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  Type type = elementType(getOperand());
  Value low = elements.get(0, indices);
  Value operand = elements.get(1, indices);
  Value high = elements.get(2, indices);
  return scalars.minimum(type, scalars.maximum(type, operand, low), high);
}

FailureOr<Value> ConvertOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return elements.scalars().convert(elements.get(0, indices), elementType(getOperand()), elementType(getResult()));
}

FailureOr<Value> BitcastConvertOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  Value operand = elements.get(0, indices);
  Type type = scalarType(elementType(getResult()));
  if (operand.getType() == type)
    return operand;
  return arith::BitcastOp::create(elements.builder, elements.location, type, operand).getResult();
}

} // namespace weft::graph
