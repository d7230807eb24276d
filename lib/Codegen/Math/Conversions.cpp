//===- Conversions.cpp - Conversions from and to floats of at most 16 bits in integer arithmetic ---------===//
//
// f32 holds every value of these types, so that widening is exact. Narrowing rounds to nearest, ties to even; f64 goes
// through f32 rounded to odd, which leaves the second rounding right.

#include "lib/Codegen/Math/Conversions.h"
#include "lib/Codegen/Math/FloatBuilder.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace weft::codegen {

namespace {

/// The layout of a float of at most 16 bits.
struct NarrowFormat {
  unsigned width, mantissaBits;
  int bias;
  bool hasInfinity;    // else what overflows is NaN
  bool isUnsignedZero; // no -0: its bits are the NaN
  bool hasNan = true;  // else what overflows is the largest number, and a NaN zero
};

std::optional<NarrowFormat> describe(Type type) {
  if (type.isBF16())
    return NarrowFormat{16, 7, 127, true, false};
  if (isa<Float8E5M2Type>(type))
    return NarrowFormat{8, 2, 15, true, false};
  if (isa<Float8E4M3FNType>(type))
    return NarrowFormat{8, 3, 7, false, false};
  if (isa<Float8E5M2FNUZType>(type))
    return NarrowFormat{8, 2, 16, false, true};
  if (isa<Float8E4M3FNUZType>(type))
    return NarrowFormat{8, 3, 8, false, true};
  if (isa<Float4E2M1FNType>(type))
    return NarrowFormat{4, 1, 1, false, false, /*hasNan=*/false};
  return std::nullopt;
}

/// f64 to f32: what is not exact gets an odd last bit.
Value roundToOdd(OpBuilder &builder, Location location, Value value) {
  FloatBuilder wide(builder, location, builder.getF64Type()), f(builder, location, builder.getF32Type());
  Value nearest = arith::TruncFOp::create(builder, location, f.type, value);
  Value back = arith::ExtFOp::create(builder, location, wide.type, nearest);
  Value isLarger = wide.less(wide.abs(value), wide.abs(back));
  Value isInexact = wide.compare(arith::CmpFPredicate::ONE, back, value);
  Value bits = f.bits(nearest);
  Value toZero = f.select(isLarger, f.subBits(bits, f.constantBits(1)), bits);
  return f.fromBits(f.select(isInexact, f.orBits(toZero, f.constantBits(1)), bits));
}

/// The bits of a narrow float as f32.
Value widen(FloatBuilder &f, Value narrow, const NarrowFormat &format) {
  Value bits = arith::ExtUIOp::create(f.builder, f.location, f.integer, narrow);
  if (format.bias == 127) // bf16 is the upper half of f32
    return f.fromBits(f.shiftLeft(bits, f.constantBits(16)));
  int64_t magnitudeMask = (1 << (format.width - 1)) - 1;
  Value magnitude = f.andBits(bits, f.constantBits(magnitudeMask));
  Value sign = f.shiftLeft(f.andBits(bits, f.constantBits(1 << (format.width - 1))), f.constantBits(32 - format.width));
  // With the exponent taken for one of f32, a factor makes up for the bias, for subnormal numbers too.
  Value shifted = f.fromBits(f.shiftLeft(magnitude, f.constantBits(23 - format.mantissaBits)));
  Value value = f.mul(shifted, std::ldexp(1.0, 127 - format.bias));
  auto isAbove = [&](int64_t limit) {
    return f.compareBits(arith::CmpIPredicate::ugt, magnitude, f.constantBits(limit));
  };
  if (format.hasInfinity) {
    int64_t infinity = magnitudeMask & ~((1 << format.mantissaBits) - 1);
    value = f.select(f.compareBits(arith::CmpIPredicate::eq, magnitude, f.constantBits(infinity)), f.infinity(), value);
    value = f.select(isAbove(infinity), f.nan(), value);
  } else if (!format.isUnsignedZero && format.hasNan) {
    value = f.select(isAbove(magnitudeMask - 1), f.nan(), value);
  }
  value = f.fromBits(f.orBits(f.bits(value), sign));
  if (format.isUnsignedZero)
    value = f.select(f.compareBits(arith::CmpIPredicate::eq, bits, f.constantBits(1 << (format.width - 1))), f.nan(),
                     value);
  return value;
}

/// The bits of an f32 rounded to a narrow float.
Value narrow(FloatBuilder &f, Value value, const NarrowFormat &format) {
  Type narrowInteger = f.builder.getIntegerType(format.width);
  Value bits = f.bits(value);
  Value sign = f.shiftRight(f.signBit(value), f.constantBits(32 - format.width));
  Value magnitude = f.andBits(bits, f.constantBits(INT32_MAX));
  int drop = 23 - format.mantissaBits;
  // Normal numbers: the exponent's bias changed, then rounded to nearest even, which may carry into the exponent.
  Value rebased = f.subBits(magnitude, f.constantBits(int64_t(127 - format.bias) << 23));
  Value lastBit = f.andBits(f.shiftRight(rebased, f.constantBits(drop)), f.constantBits(1));
  Value half = f.addBits(lastBit, f.constantBits((int64_t(1) << (drop - 1)) - 1));
  Value result = f.shiftRight(f.addBits(rebased, half), f.constantBits(drop));
  if (format.bias != 127) {
    // Subnormal numbers: adding a power of two whose last bit is theirs lets the addition round.
    double step = std::ldexp(1.0, 1 - format.bias - static_cast<int>(format.mantissaBits) + 23);
    Value shifted = f.bits(f.add(f.abs(value), step));
    Value subnormal = f.subBits(shifted, f.bits(f.constant(step)));
    int64_t smallestNormal = int64_t(128 - format.bias) << 23;
    Value isSubnormal = f.compareBits(arith::CmpIPredicate::ult, magnitude, f.constantBits(smallestNormal));
    result = f.select(isSubnormal, subnormal, result);
  }
  int64_t magnitudeMask = (1 << (format.width - 1)) - 1;
  int64_t infinity = magnitudeMask & ~((1 << format.mantissaBits) - 1);
  int64_t largest = format.hasInfinity                        ? infinity - 1
                    : format.isUnsignedZero || !format.hasNan ? magnitudeMask
                                                              : magnitudeMask - 1;
  int64_t overflow = format.hasInfinity ? infinity : magnitudeMask;
  int64_t nan = format.hasInfinity ? infinity | (1 << (format.mantissaBits - 1)) : magnitudeMask;
  Value isNan = f.compareBits(arith::CmpIPredicate::ugt, magnitude, f.constantBits(0x7f800000));
  if (format.isUnsignedZero) {
    // One NaN, in the place of -0; zero has no sign.
    Value isTooLarge = f.orBits(f.compareBits(arith::CmpIPredicate::sgt, result, f.constantBits(largest)),
                                f.compareBits(arith::CmpIPredicate::uge, magnitude, f.constantBits(0x7f800000)));
    Value isZero = f.compareBits(arith::CmpIPredicate::eq, result, f.constantBits(0));
    result = f.select(isZero, result, f.orBits(result, sign));
    result = f.select(f.orBits(isTooLarge, isNan), f.constantBits(1 << (format.width - 1)), result);
  } else {
    Value isTooLarge = f.orBits(f.compareBits(arith::CmpIPredicate::sgt, result, f.constantBits(largest)),
                                f.compareBits(arith::CmpIPredicate::eq, magnitude, f.constantBits(0x7f800000)));
    result = f.select(isTooLarge, f.constantBits(overflow), result);
    result = f.select(isNan, f.constantBits(format.hasNan ? nan : 0), result);
    result = f.orBits(result, format.hasNan ? sign : f.select(isNan, f.constantBits(0), sign));
  }
  return arith::TruncIOp::create(f.builder, f.location, narrowInteger, result);
}

/// f8E8M0FNU holds the exponent of an f32 alone, all ones being the NaN: 2^-127 is a subnormal f32.
Value widenExponent(FloatBuilder &f, Value narrow) {
  Value bits = arith::ExtUIOp::create(f.builder, f.location, f.integer, narrow);
  Value value = f.fromBits(f.shiftLeft(bits, f.constantBits(23)));
  auto is = [&](int64_t code) { return f.compareBits(arith::CmpIPredicate::eq, bits, f.constantBits(code)); };
  value = f.select(is(0), f.fromBits(f.constantBits(0x400000)), value);
  return f.select(is(0xff), f.nan(), value);
}

Value narrowToExponent(FloatBuilder &f, Value value) {
  Value exponent = f.andBits(f.shiftRight(f.bits(value), f.constantBits(23)), f.constantBits(0xff));
  return arith::TruncIOp::create(f.builder, f.location, f.builder.getIntegerType(8), exponent);
}

/// A widened value in the type that is asked for, which holds it exactly.
Value convertExactly(OpBuilder &builder, Location location, Value value, Type type) {
  if (type.isF32())
    return value;
  if (type.getIntOrFloatBitWidth() > 32)
    return arith::ExtFOp::create(builder, location, type, value);
  return arith::TruncFOp::create(builder, location, type, value);
}

struct ExpandExtension : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    Type from = op.getIn().getType();
    std::optional<NarrowFormat> format = describe(from);
    if (!format && !isa<Float8E8M0FNUType>(from))
      return failure();
    FloatBuilder f(rewriter, op.getLoc(), rewriter.getF32Type());
    Type integer = rewriter.getIntegerType(from.getIntOrFloatBitWidth());
    Value bits = arith::BitcastOp::create(rewriter, op.getLoc(), integer, op.getIn());
    Value value = format ? widen(f, bits, *format) : widenExponent(f, bits);
    rewriter.replaceOp(op, convertExactly(rewriter, op.getLoc(), value, op.getType()));
    return success();
  }
};

struct ExpandTruncation : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    std::optional<NarrowFormat> format = describe(op.getType());
    Type from = op.getIn().getType();
    Value value = op.getIn();
    bool isExponent = isa<Float8E8M0FNUType>(op.getType());
    if (!format && !isExponent) {
      if (!from.isF64() || !op.getType().isF16())
        return failure();
      value = roundToOdd(rewriter, op.getLoc(), value);
      rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), value);
      return success();
    }
    if (from.isF64())
      value = roundToOdd(rewriter, op.getLoc(), value);
    else if (!from.isF32())
      value = arith::ExtFOp::create(rewriter, op.getLoc(), rewriter.getF32Type(), value);
    FloatBuilder f(rewriter, op.getLoc(), rewriter.getF32Type());
    Value bits = isExponent ? narrowToExponent(f, value) : narrow(f, value, *format);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), bits);
    return success();
  }
};

} // namespace

void populateConversionPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandExtension, ExpandTruncation>(patterns.getContext());
}

} // namespace weft::codegen
