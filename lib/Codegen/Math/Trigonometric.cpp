//===- Trigonometric.cpp - Sine, cosine, tangent and their inverses --------------------------------------===//
//
// Arguments are reduced to |r| <= pi / 4 with the number of the quadrant: up to 2^28 by multiples of pi / 2 in parts,
// beyond by Payne and Hanek's method on the bits of 2 / pi, which is exact for every argument.

#include "lib/Codegen/Math/Functions.h"
#include "lib/Codegen/Math/Polynomials.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace weft::codegen {

using namespace polynomials;

namespace {

constexpr double kTwoOverPiValue = 0.63661977236758134308;
/// pi / 2 in three parts of 53 bits.
constexpr double kHalfPi = 1.5707963267948965580, kHalfPiRest = 6.1232339957367660359e-17,
                 kHalfPiRest2 = -1.4973849048591833e-33;

/// |x| = quadrant pi / 2 + r, the quadrant modulo 4 in the lowest bits of an integer of f's width.
struct ReducedAngle {
  Value r, quadrant;
};

/// One of `count` words by its number, a value of f's integer type.
Value pickWord(FloatBuilder &f, Value number, ArrayRef<uint64_t> words) {
  Value result = f.constantBits(static_cast<int64_t>(words[0]));
  for (size_t i = 1; i < words.size(); ++i) {
    Value isIt = f.compareBits(arith::CmpIPredicate::eq, number, f.constantBits(i));
    result = f.select(isIt, f.constantBits(static_cast<int64_t>(words[i])), result);
  }
  return result;
}

/// For a value of f32 >= 2^28 given in f64; 32-bit words in 64-bit integers, which vector units multiply.
ReducedAngle reduceHugeFloat(FloatBuilder &f, Value a) {
  Value bits = f.bits(a);
  // a = m 2^e with m of 24 bits; 5 <= e <= 104.
  Value exponent = f.subBits(f.shiftRight(bits, f.constantBits(52)), f.constantBits(1023 + 23));
  Value mantissa =
      f.shiftRight(f.orBits(f.andBits(bits, f.constantBits((int64_t(1) << 52) - 1)), f.constantBits(int64_t(1) << 52)),
                   f.constantBits(29));
  // The product's bits from 2^1 down: those of 2 / pi from place e - 2 on. Limited for arguments that do not come here.
  Value place = f.subBits(exponent, f.constantBits(2));
  place = arith::MinSIOp::create(f.builder, f.location,
                                 arith::MaxSIOp::create(f.builder, f.location, place, f.constantBits(0)),
                                 f.constantBits(103));
  Value word = f.shiftRight(place, f.constantBits(5)), shift = f.andBits(place, f.constantBits(31));
  SmallVector<Value> words;
  for (int i = 0; i < 4; ++i) {
    SmallVector<uint64_t> choices;
    for (int j = 0; j < 4; ++j)
      choices.push_back((kTwoOverPi[1 + (i + j) / 2] >> ((i + j) % 2 ? 0 : 32)) & 0xffffffff);
    words.push_back(pickWord(f, word, choices));
  }
  Value mask = f.constantBits(0xffffffff), width = f.constantBits(32);
  SmallVector<Value> window;
  for (int i = 0; i < 3; ++i) {
    Value pair = f.orBits(f.shiftLeft(words[i], width), words[i + 1]);
    window.push_back(f.andBits(f.shiftRight(pair, f.subBits(width, shift)), mask));
  }
  Value low = f.mulBits(mantissa, window[2]);
  Value middle = f.addBits(f.mulBits(mantissa, window[1]), f.shiftRight(low, width));
  Value high = f.addBits(f.mulBits(mantissa, window[0]), f.shiftRight(middle, width));
  Value product = f.orBits(f.shiftLeft(high, width), f.andBits(middle, mask));
  // The two highest bits are the quadrant; the rest, rounded to the nearest, is the angle in quadrants.
  Value quadrant = f.addBits(f.shiftRight(product, f.constantBits(62)),
                             f.andBits(f.shiftRight(product, f.constantBits(61)), f.constantBits(1)));
  Value fraction = f.shiftLeft(product, f.constantBits(2));
  Value upper = f.toFloat(f.shiftRightSigned(fraction, width));
  // The lower 32 bits, by putting them into the mantissa of 2^52.
  Value lower = f.sub(f.fromBits(f.orBits(f.andBits(fraction, mask), f.constantBits(0x4330000000000000))), 0x1p52);
  Value turns = f.fma(upper, 0x1p-32, f.mul(lower, 0x1p-64));
  return {f.mul(turns, kHalfPi), quadrant};
}

/// For any value of f64 >= 2^28.
ReducedAngle reduceHugeDouble(FloatBuilder &f, Value a) {
  Value bits = f.bits(a);
  // a = m 2^e with m of 53 bits; the table begins with 64 zeros, so that e - 2 + 64 is a place in it.
  Value exponent = f.subBits(f.shiftRight(bits, f.constantBits(52)), f.constantBits(1023 + 52));
  Value mantissa = f.orBits(f.andBits(bits, f.constantBits((int64_t(1) << 52) - 1)), f.constantBits(int64_t(1) << 52));
  Value place = f.addBits(exponent, f.constantBits(62));
  Value word = f.shiftRight(place, f.constantBits(6)), shift = f.andBits(place, f.constantBits(63));
  constexpr int kChoices = 17;
  static_assert(sizeof(kTwoOverPi) / sizeof(kTwoOverPi[0]) >= kChoices + 3, "the window stays in the table");
  SmallVector<Value> words;
  for (int i = 0; i < 4; ++i)
    words.push_back(pickWord(f, word, ArrayRef(kTwoOverPi).slice(i, kChoices)));
  SmallVector<Value> window;
  for (int i = 0; i < 3; ++i) {
    // Two shifts, so that a shift by 64 is none.
    Value next = f.shiftRight(f.shiftRight(words[i + 1], f.constantBits(1)), f.subBits(f.constantBits(63), shift));
    window.push_back(f.orBits(f.shiftLeft(words[i], shift), next));
  }
  auto highPart = [&](Value x, Value y) {
    return arith::MulUIExtendedOp::create(f.builder, f.location, x, y).getHigh();
  };
  Value lowest = highPart(mantissa, window[2]);
  Value middle = f.mulBits(mantissa, window[1]);
  Value sum = f.addBits(middle, lowest);
  Value carry =
      arith::ExtUIOp::create(f.builder, f.location, f.integer, f.compareBits(arith::CmpIPredicate::ult, sum, middle));
  Value high = f.addBits(f.addBits(f.mulBits(mantissa, window[0]), highPart(mantissa, window[1])), carry);
  Value quadrant = f.addBits(f.shiftRight(high, f.constantBits(62)),
                             f.andBits(f.shiftRight(high, f.constantBits(61)), f.constantBits(1)));
  // The fraction of 126 bits, signed.
  Value upper = f.orBits(f.shiftLeft(high, f.constantBits(2)), f.shiftRight(sum, f.constantBits(62)));
  Value lower = f.shiftLeft(sum, f.constantBits(2));
  // Without its lowest 11 bits the upper word is exact in a float.
  Value kept = f.andBits(upper, f.constantBits(~int64_t(0x7ff))), rest = f.andBits(upper, f.constantBits(0x7ff));
  Value upperFloat = arith::SIToFPOp::create(f.builder, f.location, f.type, kept);
  Value restFloat = f.add(arith::SIToFPOp::create(f.builder, f.location, f.type, rest),
                          f.mul(arith::UIToFPOp::create(f.builder, f.location, f.type, lower), 0x1p-64));
  // Times pi / 2 in two parts.
  Value r = f.mul(upperFloat, kHalfPi);
  Value error = f.fma(upperFloat, kHalfPi, f.negate(r));
  error = f.fma(upperFloat, kHalfPiRest, error);
  error = f.fma(restFloat, kHalfPi, error);
  return {f.mul(f.add(r, error), 0x1p-64), quadrant};
}

ReducedAngle reduceAngle(FloatBuilder &f, Value a, bool isFloat) {
  auto [whole, quadrant] = f.roundScaled(a, kTwoOverPiValue);
  Value r = f.fma(whole, -kHalfPi, a);
  r = f.fma(whole, -kHalfPiRest, r);
  if (isFloat) {
    ReducedAngle huge = reduceHugeFloat(f, a);
    Value isHuge = f.compare(arith::CmpFPredicate::OGE, a, f.constant(0x1p28));
    return {f.select(isHuge, huge.r, r), f.select(isHuge, huge.quadrant, quadrant)};
  }
  r = f.fma(whole, -kHalfPiRest2, r);
  Value isHuge = f.compare(arith::CmpFPredicate::OGE, a, f.constant(0x1p28));
  auto branch = scf::IfOp::create(f.builder, f.location, TypeRange{f.type, f.integer}, isHuge, true);
  {
    OpBuilder::InsertionGuard guard(f.builder);
    f.builder.setInsertionPointToStart(branch.thenBlock());
    ReducedAngle huge = reduceHugeDouble(f, a);
    scf::YieldOp::create(f.builder, f.location, ValueRange{huge.r, huge.quadrant});
    f.builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(f.builder, f.location, ValueRange{r, quadrant});
  }
  return {branch.getResult(0), branch.getResult(1)};
}

Value reducedSin(FloatBuilder &f, Value r, Value z) {
  Value p = f.isDouble() ? f.polynomial(z, kSin64) : f.polynomial(z, kSin32);
  return f.fma(f.mul(r, z), p, r);
}

Value reducedCos(FloatBuilder &f, Value z) {
  Value p = f.isDouble() ? f.polynomial(z, kCos64) : f.polynomial(z, kCos32);
  return f.fma(f.mul(z, z), p, f.fma(z, -0.5, f.constant(1)));
}

/// The sine of |x| + `quadrants` pi / 2, with NaN for what is not finite.
Value shiftedSin(FloatBuilder &f, Value x, int64_t quadrants) {
  Value a = f.abs(x);
  Value r, quadrant;
  if (f.isDouble()) {
    ReducedAngle reduced = reduceAngle(f, a, /*isFloat=*/false);
    r = reduced.r;
    quadrant = reduced.quadrant;
  } else {
    FloatBuilder wide(f.builder, f.location, f.builder.getF64Type());
    Value extended = arith::ExtFOp::create(f.builder, f.location, wide.type, a);
    ReducedAngle reduced = reduceAngle(wide, extended, /*isFloat=*/true);
    r = arith::TruncFOp::create(f.builder, f.location, f.type, reduced.r);
    quadrant = arith::TruncIOp::create(f.builder, f.location, f.integer, reduced.quadrant);
  }
  if (quadrants)
    quadrant = f.addBits(quadrant, f.constantBits(quadrants));
  Value z = f.mul(r, r);
  Value isCosine = f.isNonZeroBits(f.andBits(quadrant, f.constantBits(1)));
  Value value = f.select(isCosine, reducedCos(f, z), reducedSin(f, r, z));
  Value isNegative = f.isNonZeroBits(f.andBits(quadrant, f.constantBits(2)));
  value = f.select(isNegative, f.negate(value), value);
  return f.select(f.less(a, f.infinity()), value, f.nan());
}

} // namespace

Value expandSin(FloatBuilder &f, Value x) {
  Value value = shiftedSin(f, x, 0);
  return f.fromBits(f.xorBits(f.bits(value), f.signBit(x)));
}

Value expandCos(FloatBuilder &f, Value x) { return shiftedSin(f, x, 1); }

Value expandTan(FloatBuilder &f, Value x) {
  Value a = f.abs(x);
  ReducedAngle reduced = reduceAngle(f, a, /*isFloat=*/false);
  Value z = f.mul(reduced.r, reduced.r);
  Value sine = reducedSin(f, reduced.r, z), cosine = reducedCos(f, z);
  Value isOdd = f.isNonZeroBits(f.andBits(reduced.quadrant, f.constantBits(1)));
  Value value = f.div(f.select(isOdd, f.negate(cosine), sine), f.select(isOdd, sine, cosine));
  value = f.select(f.less(a, f.infinity()), value, f.nan());
  return f.fromBits(f.xorBits(f.bits(value), f.signBit(x)));
}

namespace {

/// atan(numerator / denominator) for a quotient in [0, 1].
Value atanOfQuotient(FloatBuilder &f, Value numerator, Value denominator) {
  // Past tan(pi / 8) the angle is pi / 4 plus that of (n - d) / (n + d).
  Value isSteep = f.compare(arith::CmpFPredicate::OGT, numerator, f.mul(denominator, 0.41421356237309504880));
  Value t = f.div(f.select(isSteep, f.sub(numerator, denominator), numerator),
                  f.select(isSteep, f.add(numerator, denominator), denominator));
  Value z = f.mul(t, t);
  Value rest = f.mul(f.mul(t, z), f.polynomial(z, kAtan64));
  Value quarter = f.select(isSteep, f.constant(kHalfPi / 2), f.constant(0));
  Value quarterRest = f.select(isSteep, f.constant(kHalfPiRest / 2), f.constant(0));
  return f.add(quarter, f.add(t, f.add(rest, quarterRest)));
}

} // namespace

Value expandAtan(FloatBuilder &f, Value x) {
  Value a = f.abs(x);
  Value isLarge = f.greater(a, 1);
  Value angle = atanOfQuotient(f, f.select(isLarge, f.constant(1), a), f.select(isLarge, a, f.constant(1)));
  Value complement = f.add(f.sub(f.constant(kHalfPi), angle), f.constant(kHalfPiRest));
  Value result = f.copySign(f.select(isLarge, complement, angle), x);
  // The smallest arguments are their own angles; the multiplications above would lose their bits.
  result = f.select(f.less(a, 0x1p-500), x, result);
  return f.select(f.isNan(x), x, result);
}

Value expandAtan2(FloatBuilder &f, Value y, Value x) {
  Value a = f.abs(y), b = f.abs(x), infinity = f.infinity();
  Value isSteep = f.less(b, a);
  Value numerator = f.select(isSteep, b, a), denominator = f.select(isSteep, a, b);
  // Both infinite is the diagonal, both zero the axis. Large ones are scaled so that sums stay finite, small ones so
  // that products keep their bits.
  Value isDiagonal = f.equal(numerator, infinity);
  numerator = f.select(isDiagonal, f.constant(1), numerator);
  denominator = f.select(isDiagonal, f.constant(1), denominator);
  Value isZero = f.equal(denominator, 0);
  denominator = f.select(isZero, f.constant(1), denominator);
  Value scale = f.select(f.greater(denominator, 0x1p1000), f.constant(0x1p-200),
                         f.select(f.less(denominator, 0x1p-700), f.constant(0x1p300), f.constant(1)));
  numerator = f.mul(numerator, scale);
  denominator = f.mul(denominator, scale);
  Value angle = atanOfQuotient(f, numerator, denominator);
  Value complement = f.add(f.sub(f.constant(kHalfPi), angle), f.constant(kHalfPiRest));
  angle = f.select(isSteep, complement, angle);
  Value isLeft = f.compareBits(arith::CmpIPredicate::slt, f.bits(x), f.constantBits(0));
  Value opposite = f.add(f.sub(f.constant(2 * kHalfPi), angle), f.constant(2 * kHalfPiRest));
  Value result = f.copySign(f.select(isLeft, opposite, angle), y);
  return f.select(f.orBits(f.isNan(x), f.isNan(y)), f.add(x, y), result);
}

namespace {

/// asin(t) - t for |t| <= 1/2.
Value asinRest(FloatBuilder &f, Value t, Value z) { return f.mul(f.mul(t, z), f.polynomial(z, kAsin64)); }

/// For 1/2 < a <= 1 the angle whose sine is a is pi / 2 - 2 asin(sqrt((1 - a) / 2)): that half angle's sine, its
/// square, and what the square root rounded away.
struct HalfAngle {
  Value sine, rest, square;
};

HalfAngle makeHalfAngle(FloatBuilder &f, Value a) {
  Value square = f.mul(f.sub(f.constant(1), a), 0.5);
  Value sine = f.sqrt(square);
  Value residue = f.fma(f.negate(sine), sine, square);
  Value rest = f.div(residue, f.mul(sine, 2));
  return {sine, f.select(f.greater(sine, 0), rest, f.constant(0)), square};
}

} // namespace

Value expandAsin(FloatBuilder &f, Value x) {
  Value a = f.abs(x);
  Value z = f.mul(a, a);
  Value small = f.add(a, asinRest(f, a, z));
  HalfAngle half = makeHalfAngle(f, a);
  Value rest = f.add(asinRest(f, half.sine, half.square), half.rest);
  Value low = f.sub(f.constant(kHalfPiRest), f.mul(rest, 2));
  Value large = f.add(f.sub(f.constant(kHalfPi), f.mul(half.sine, 2)), low);
  Value result = f.copySign(f.select(f.less(a, 0.5), small, large), x);
  result = f.select(f.less(a, 0x1p-300), x, result);
  return f.select(f.greater(a, 1), f.nan(), f.select(f.isNan(x), x, result));
}

Value expandAcos(FloatBuilder &f, Value x) {
  Value a = f.abs(x);
  Value z = f.mul(x, x);
  Value low = f.sub(f.constant(kHalfPiRest), asinRest(f, x, z));
  Value small = f.add(f.sub(f.constant(kHalfPi), x), low);
  HalfAngle half = makeHalfAngle(f, a);
  Value rest = f.add(asinRest(f, half.sine, half.square), half.rest);
  Value near = f.mul(f.add(half.sine, rest), 2);
  Value far =
      f.add(f.sub(f.constant(2 * kHalfPi), f.mul(half.sine, 2)), f.sub(f.constant(2 * kHalfPiRest), f.mul(rest, 2)));
  Value result = f.select(f.less(a, 0.5), small, f.select(f.less(x, 0), far, near));
  return f.select(f.greater(a, 1), f.nan(), f.select(f.isNan(x), x, result));
}

} // namespace weft::codegen
