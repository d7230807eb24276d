//===- Remainder.cpp - The remainder of a division of floats, exactly, as C's fmod -----------------------===//

#include "lib/Codegen/Math/Functions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace weft::codegen {

namespace {

/// |v| = mantissa 2^(exponent - 1075), the mantissa with 53 bits (0 for 0).
struct Parts {
  Value mantissa, exponent;
};

Parts splitMagnitude(FloatBuilder &f, Value magnitude) {
  Value hidden = f.constantBits(int64_t(1) << 52);
  Value fraction = f.andBits(magnitude, f.constantBits((int64_t(1) << 52) - 1));
  Value exponent = f.shiftRight(magnitude, f.constantBits(52));
  Value isNormal = f.isNonZeroBits(exponent);
  // A subnormal number is shifted up to the hidden bit's place; zero is not, whatever its count says.
  Value zeros = math::CountLeadingZerosOp::create(f.builder, f.location, fraction);
  Value shift = f.andBits(f.subBits(zeros, f.constantBits(11)), f.constantBits(63));
  Value mantissa = f.select(isNormal, f.orBits(fraction, hidden), f.shiftLeft(fraction, shift));
  return {mantissa, f.select(isNormal, exponent, f.subBits(f.constantBits(1), shift))};
}

} // namespace

Value expandRemainder(FloatBuilder &f, Value x, Value y) {
  OpBuilder &builder = f.builder;
  Location location = f.location;
  Value magnitudeX = f.bits(f.abs(x)), magnitudeY = f.bits(f.abs(y));
  Parts a = splitMagnitude(f, magnitudeX), b = splitMagnitude(f, magnitudeY);
  auto subtract = [&](Value mantissa) {
    Value difference = f.subBits(mantissa, b.mantissa);
    return f.select(f.compareBits(arith::CmpIPredicate::slt, difference, f.constantBits(0)), mantissa, difference);
  };
  // Long division, one bit of the quotient a step.
  Value steps = f.subBits(a.exponent, b.exponent);
  Value count = arith::IndexCastOp::create(builder, location, builder.getIndexType(), steps);
  Value zero = arith::ConstantIndexOp::create(builder, location, 0);
  Value one = arith::ConstantIndexOp::create(builder, location, 1);
  auto loop = scf::ForOp::create(builder, location, zero, count, one, a.mantissa);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value next = f.shiftLeft(subtract(loop.getRegionIterArgs()[0]), f.constantBits(1));
    scf::YieldOp::create(builder, location, next);
  }
  Value rest = subtract(loop.getResult(0));
  // rest 2^(exponent of b - 1075), back in the format.
  Value zeros = math::CountLeadingZerosOp::create(builder, location, rest);
  Value shift = f.andBits(f.subBits(zeros, f.constantBits(11)), f.constantBits(63));
  Value exponent = f.subBits(b.exponent, shift);
  Value normalized = f.shiftLeft(rest, shift);
  Value normal =
      f.addBits(f.subBits(normalized, f.constantBits(int64_t(1) << 52)), f.shiftLeft(exponent, f.constantBits(52)));
  Value down = f.andBits(f.subBits(f.constantBits(1), exponent), f.constantBits(63));
  Value subnormal = f.shiftRight(normalized, down);
  Value isNormal = f.compareBits(arith::CmpIPredicate::sgt, exponent, f.constantBits(0));
  Value bits = f.select(isNormal, normal, subnormal);
  bits = f.select(f.isNonZeroBits(rest), bits, f.constantBits(0));
  Value isSmaller = f.compareBits(arith::CmpIPredicate::ult, magnitudeX, magnitudeY);
  Value result = f.copySign(f.fromBits(f.select(isSmaller, magnitudeX, bits)), x);
  // Of infinity or NaN, or by zero or NaN, there is none.
  Value isDefined = f.andBits(f.less(f.abs(x), f.infinity()), f.greater(f.abs(y), 0));
  return f.select(isDefined, result, f.nan());
}

} // namespace weft::codegen
