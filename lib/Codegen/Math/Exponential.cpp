//===- Exponential.cpp - Exponentials, logarithms, hyperbolic functions, powers, the error function ------===//

#include "lib/Codegen/Math/Functions.h"
#include "lib/Codegen/Math/Polynomials.h"

using namespace mlir;

namespace weft::codegen {

using namespace polynomials;

namespace {

constexpr double kLog2E = 1.4426950408889634074, kLn2 = 0.69314718055994530942;
/// ln(2) less kLn2, and ln(2) in two parts of which products of the first with exponents are exact.
constexpr double kLn2Rest = 2.3190468138462995584e-17;
constexpr double kLn2High64 = 0x1.62e42fee00000p-1, kLn2Low64 = 1.9082149292705877000e-10;
constexpr double kLn2High32 = 0.693359375, kLn2Low32 = -2.1219444005469058277e-4;

/// x = k ln(2) + r with |r| <= ln(2) / 2 (a little more after rounding).
struct ReducedExponent {
  Value k, r; // k as an integer
};

ReducedExponent reduceExponent(FloatBuilder &f, Value x) {
  auto [whole, k] = f.roundScaled(x, kLog2E);
  double high = f.isDouble() ? kLn2 : 0x1.62e43p-1; // rounded to the type
  double rest = f.isDouble() ? kLn2Rest : kLn2 - 0x1.62e43p-1;
  Value r = f.fma(whole, -high, x);
  return {k, f.fma(whole, -rest, r)};
}

/// exp(r) - 1 for a reduced r.
Value reducedExpM1(FloatBuilder &f, Value r) {
  Value p = f.isDouble() ? f.polynomial(r, kExp64) : f.polynomial(r, kExp32);
  return f.fma(f.mul(r, r), p, r);
}

} // namespace

Value expandExpOfSum(FloatBuilder &f, Value x, Value low) {
  x = f.isDouble() ? f.clamp(x, -746, 710) : f.clamp(x, -104, 89);
  ReducedExponent reduced = reduceExponent(f, x);
  Value r = low ? f.add(reduced.r, low) : reduced.r;
  Value power = f.add(reducedExpM1(f, r), 1);
  // In two steps, so that results below the normal numbers and infinity come out.
  Value half = f.shiftRightSigned(reduced.k, f.constantBits(1));
  power = f.mul(power, f.powerOfTwo(half));
  return f.mul(power, f.powerOfTwo(f.subBits(reduced.k, half)));
}

Value expandExp(FloatBuilder &f, Value x) { return expandExpOfSum(f, x, {}); }

namespace {

/// exp(x) - 1 but for the sign of a zero.
Value unsignedExpM1(FloatBuilder &f, Value x) {
  x = f.isDouble() ? f.clamp(x, -44, 710) : f.clamp(x, -20, 89);
  ReducedExponent reduced = reduceExponent(f, x);
  Value p = reducedExpM1(f, reduced.r);
  // 2^k p + (2^k - 1), all halved: 2^k itself may overflow where the result does not.
  Value scale = f.powerOfTwo(f.subBits(reduced.k, f.constantBits(1)));
  return f.mul(f.fma(scale, p, f.sub(scale, 0.5)), 2);
}

} // namespace

Value expandExpM1(FloatBuilder &f, Value x) { return f.select(f.equal(x, 0), x, unsignedExpM1(f, x)); }

namespace {

/// x = 2^k (1 + g) with 1 + g in [sqrt(1/2), sqrt(2)), for x > 0 and finite.
struct ReducedLogarithm {
  Value k, g; // k as a float
};

ReducedLogarithm reduceLogarithm(FloatBuilder &f, Value x) {
  double smallest = f.isDouble() ? 0x1p-1022 : 0x1p-126, scale = f.isDouble() ? 0x1p54 : 0x1p24;
  Value isSubnormal = f.less(x, smallest);
  Value scaled = f.select(isSubnormal, f.mul(x, scale), x);
  Value bits = f.bits(scaled);
  Value rootHalf = f.constantBits(f.isDouble() ? 0x3fe6a09e667f3bcd : 0x3f3504f3);
  Value k = f.shiftRightSigned(f.subBits(bits, rootHalf), f.constantBits(f.mantissaBits()));
  Value mantissa = f.fromBits(f.subBits(bits, f.shiftLeft(k, f.constantBits(f.mantissaBits()))));
  Value offset = f.select(isSubnormal, f.constantBits(f.isDouble() ? -54 : -24), f.constantBits(0));
  return {f.toFloat(f.addBits(k, offset)), f.sub(mantissa, 1)};
}

/// log(x) for x > 0 and finite.
Value positiveLog(FloatBuilder &f, Value x) {
  ReducedLogarithm reduced = reduceLogarithm(f, x);
  Value g = reduced.g;
  Value s = f.div(g, f.add(g, 2));
  Value z = f.mul(s, s);
  Value rest = f.mul(z, f.isDouble() ? f.polynomial(z, kLog64) : f.polynomial(z, kLog32));
  // log(1 + g) = g - g^2/2 + s (g^2/2 + rest): the large terms are exact or nearly so.
  Value halfSquare = f.mul(f.mul(g, g), 0.5);
  Value low = f.fma(reduced.k, f.isDouble() ? kLn2Low64 : kLn2Low32, f.mul(s, f.add(halfSquare, rest)));
  Value inner = f.sub(g, f.sub(halfSquare, low));
  return f.fma(reduced.k, f.isDouble() ? kLn2High64 : kLn2High32, inner);
}

/// The logarithm's value where its argument is not positive and finite.
Value finishLog(FloatBuilder &f, Value x, Value result) {
  result = f.select(f.less(x, f.infinity()), result, x); // infinity and NaN
  result = f.select(f.equal(x, 0), f.negate(f.infinity()), result);
  return f.select(f.less(x, 0), f.nan(), result);
}

} // namespace

Value expandLog(FloatBuilder &f, Value x) { return finishLog(f, x, positiveLog(f, x)); }

Value expandLog1p(FloatBuilder &f, Value x) {
  Value u = f.add(x, 1);
  // What the sum lost, and what it is worth in the logarithm.
  Value lost = f.select(f.greater(x, 1), f.sub(f.constant(1), f.sub(u, x)), f.sub(x, f.sub(u, 1)));
  Value isPlain = f.andBits(f.greater(u, 0), f.less(u, f.infinity()));
  Value correction = f.select(isPlain, f.div(lost, u), f.constant(0));
  Value result = finishLog(f, u, f.add(positiveLog(f, u), correction));
  return f.select(f.equal(x, 0), x, result);
}

Value expandTanh(FloatBuilder &f, Value x) {
  // With m = exp(-2|x|) - 1 it is -m / (m + 2), accurate for small and large arguments.
  Value m = unsignedExpM1(f, f.mul(f.abs(x), -2));
  Value result = f.div(m, f.add(m, 2));
  return f.copySign(result, x);
}

Value expandErf(FloatBuilder &f, Value x) {
  Value a = f.abs(x), z = f.mul(x, x);
  Value rest = f.isDouble() ? f.polynomial(z, kErfSmall64) : f.polynomial(z, kErfSmall32);
  Value small = f.fma(x, rest, x);
  // 1 - exp(-a^2) times a slow function of a. Past the limit the result rounds to 1.
  double limit = f.isDouble() ? 6 : 4;
  Value t = f.select(f.less(a, limit), a, f.constant(limit));
  Value u = f.div(f.sub(t, 2), f.add(t, 2));
  Value slow = f.isDouble() ? f.polynomial(u, kErfcLarge64) : f.polynomial(u, kErfcLarge32);
  Value square = f.mul(t, t);
  Value squareRest = f.fma(t, t, f.negate(square));
  Value power = expandExpOfSum(f, f.negate(square), f.negate(squareRest));
  Value tail = f.div(f.mul(power, slow), f.fma(t, 2, f.constant(1)));
  Value large = f.copySign(f.sub(f.constant(1), tail), x);
  Value result = f.select(f.less(a, 1), small, large);
  return f.select(f.isNan(x), x, result);
}

Value expandRsqrt(FloatBuilder &f, Value x) { return f.div(f.constant(1), f.sqrt(x)); }

Value expandSinh(FloatBuilder &f, Value x) {
  Value a = f.abs(x);
  Value m = unsignedExpM1(f, f.select(f.less(a, 40), a, f.constant(40)));
  Value small = f.mul(f.add(m, f.div(m, f.add(m, 1))), 0.5);
  // exp(a) / 2 as a product, which overflows only where the result does.
  Value root = expandExp(f, f.mul(a, 0.5));
  Value large = f.mul(f.mul(root, 0.5), root);
  Value result = f.select(f.less(a, 22), small, large);
  return f.copySign(result, x);
}

Value expandCosh(FloatBuilder &f, Value x) {
  Value a = f.abs(x);
  Value power = expandExp(f, f.select(f.less(a, 40), a, f.constant(40)));
  Value small = f.fma(power, 0.5, f.div(f.constant(0.5), power));
  Value root = expandExp(f, f.mul(a, 0.5));
  Value large = f.mul(f.mul(root, 0.5), root);
  return f.select(f.less(a, 22), small, large);
}

Value expandAsinh(FloatBuilder &f, Value x) {
  Value a = f.abs(x);
  Value isLarge = f.greater(a, 0x1p28);
  Value t = f.select(isLarge, f.constant(1), a);
  Value square = f.mul(t, t);
  Value argument = f.add(t, f.div(square, f.add(f.sqrt(f.add(square, 1)), 1)));
  Value small = expandLog1p(f, argument);
  Value large = f.add(expandLog(f, a), kLn2);
  Value result = f.select(isLarge, large, small);
  return f.select(f.isNan(x), x, f.copySign(result, x));
}

Value expandAcosh(FloatBuilder &f, Value x) {
  Value isLarge = f.greater(x, 0x1p28);
  Value t = f.sub(f.select(isLarge, f.constant(1), x), 1);
  Value argument = f.add(t, f.sqrt(f.fma(t, t, f.mul(t, 2))));
  Value result = f.select(isLarge, f.add(expandLog(f, x), kLn2), expandLog1p(f, argument));
  result = f.select(f.less(x, 1), f.nan(), result);
  return f.select(f.isNan(x), x, result);
}

Value expandAtanh(FloatBuilder &f, Value x) {
  Value a = f.abs(x);
  Value argument = f.div(f.mul(a, 2), f.sub(f.constant(1), a));
  Value result = f.mul(expandLog1p(f, argument), 0.5);
  return f.copySign(result, x);
}

Value expandCbrt(FloatBuilder &f, Value x) {
  Value a = f.abs(x);
  // Scaled by a cube where products would leave the range.
  Value isSubnormal = f.less(a, 0x1p-1022), isHuge = f.greater(a, 0x1p1000);
  Value scaled =
      f.mul(a, f.select(isSubnormal, f.constant(0x1p54), f.select(isHuge, f.constant(0x1p-300), f.constant(1))));
  // A third of the exponent, by dividing the upper half of the bits, is right to about 5 %.
  Type i32 = f.builder.getI32Type();
  Value upper = arith::TruncIOp::create(f.builder, f.location, i32, f.shiftRight(f.bits(scaled), f.constantBits(32)));
  Value three = arith::ConstantOp::create(f.builder, f.location, f.builder.getI32IntegerAttr(3));
  Value bias = arith::ConstantOp::create(f.builder, f.location, f.builder.getI32IntegerAttr(715094163));
  Value guess =
      arith::AddIOp::create(f.builder, f.location, arith::DivUIOp::create(f.builder, f.location, upper, three), bias);
  Value wide = arith::ExtUIOp::create(f.builder, f.location, f.integer, guess);
  Value t = f.fromBits(f.shiftLeft(wide, f.constantBits(32)));
  // Halley's iteration: the number of correct digits trebles.
  for (int i = 0; i < 3; ++i) {
    Value cube = f.mul(f.mul(t, t), t);
    Value factor = f.div(f.fma(scaled, 2, cube), f.fma(cube, 2, scaled));
    t = f.mul(t, factor);
  }
  // One more step for the rounding error alone.
  Value square = f.mul(t, t);
  Value squareRest = f.fma(t, t, f.negate(square));
  Value error = f.fma(square, t, f.negate(scaled));
  error = f.fma(squareRest, t, error);
  t = f.sub(t, f.div(error, f.mul(square, 3)));
  t = f.mul(t, f.select(isSubnormal, f.constant(0x1p-18), f.select(isHuge, f.constant(0x1p100), f.constant(1))));
  Value isPlain = f.andBits(f.greater(a, 0), f.less(a, f.infinity()));
  return f.select(isPlain, f.copySign(t, x), x);
}

namespace {

/// The logarithm of x > 0, finite, in two parts whose sum has about 68 correct bits.
std::pair<Value, Value> preciseLog(FloatBuilder &f, Value x) {
  ReducedLogarithm reduced = reduceLogarithm(f, x);
  Value g = reduced.g;
  auto twoSum = [&](Value a, Value b) -> std::pair<Value, Value> {
    Value sum = f.add(a, b), back = f.sub(sum, a);
    return {sum, f.add(f.sub(a, f.sub(sum, back)), f.sub(b, back))};
  };
  auto twoProduct = [&](Value a, Value b) -> std::pair<Value, Value> {
    Value product = f.mul(a, b);
    return {product, f.fma(a, b, f.negate(product))};
  };
  // s = g / (2 + g) in two parts.
  Value denominator = f.add(g, 2);
  Value denominatorRest = f.sub(g, f.sub(denominator, 2));
  Value s = f.div(g, denominator);
  Value residue = f.fma(f.negate(s), denominator, g);
  residue = f.fma(f.negate(s), denominatorRest, residue);
  Value sLow = f.div(residue, denominator);
  // s^3 (2/3) in two parts, the higher powers in one.
  auto [z, zLow] = twoProduct(s, s);
  zLow = f.fma(f.mul(s, 2), sLow, zLow);
  auto [cube, cubeLow] = twoProduct(s, z);
  cubeLow = f.add(f.fma(s, zLow, cubeLow), f.mul(sLow, z));
  constexpr double kTwoThirds = 2.0 / 3.0, kTwoThirdsRest = 3.7007434154171886e-17;
  auto [term, termLow] = twoProduct(cube, f.constant(kTwoThirds));
  termLow = f.add(f.fma(cubeLow, kTwoThirds, termLow), f.mul(cube, kTwoThirdsRest));
  Value higher = f.mul(f.mul(cube, z), f.polynomial(z, kLogTail64));
  // k ln(2) + 2 s + ...
  auto [scaled, scaledLow] = twoProduct(reduced.k, f.constant(kLn2));
  scaledLow = f.fma(reduced.k, kLn2Rest, scaledLow);
  auto [first, firstLow] = twoSum(scaled, f.mul(s, 2));
  auto [second, secondLow] = twoSum(first, term);
  Value low = f.add(f.add(scaledLow, f.mul(sLow, 2)), f.add(firstLow, secondLow));
  low = f.add(low, f.add(termLow, higher));
  Value high = f.add(second, low);
  return {high, f.add(f.sub(second, high), low)};
}

} // namespace

Value expandPow(FloatBuilder &f, Value x, Value y, bool isExact) {
  Value a = f.abs(x), infinity = f.infinity();
  Value isPlain = f.andBits(f.greater(a, 0), f.less(a, infinity));
  Value base = f.select(isPlain, a, f.constant(1));
  Value result;
  if (isExact) {
    auto [logHigh, logLow] = preciseLog(f, base);
    Value high = f.mul(y, logHigh);
    Value low = f.fma(y, logLow, f.fma(y, logHigh, f.negate(high)));
    // Where the product is out of all range its low part is not a number, and does not matter.
    Value inRange = f.less(f.abs(high), 800);
    result = expandExpOfSum(f, high, f.select(inRange, low, f.constant(0)));
  } else {
    result = expandExp(f, f.mul(y, positiveLog(f, base)));
  }
  // |x| = 0 or infinity: 0 or infinity by the sign of y.
  Value grows = f.xorBits(f.less(a, 1), f.greater(y, 0));
  result = f.select(isPlain, result, f.select(grows, infinity, f.constant(0)));
  // |x| = 1 to any power, also an infinite one.
  result = f.select(f.equal(a, 1), f.constant(1), result);
  // A negative x: the sign of an odd power, NaN for one that is not an integer.
  Value half = f.mul(y, 0.5);
  Value isInteger = f.equal(f.truncate(y), y);
  Value isOdd = f.andBits(isInteger, f.compare(arith::CmpFPredicate::UNE, f.truncate(half), half));
  Value isNegative = f.compareBits(arith::CmpIPredicate::slt, f.bits(x), f.constantBits(0));
  result = f.select(f.andBits(isNegative, isOdd), f.negate(result), result);
  Value yIsFinite = f.less(f.abs(y), infinity);
  Value invalid = f.andBits(f.andBits(f.less(x, 0), f.less(f.negate(infinity), x)),
                            f.andBits(yIsFinite, f.compare(arith::CmpFPredicate::UNE, f.truncate(y), y)));
  result = f.select(invalid, f.nan(), result);
  Value either = f.add(x, y);
  result = f.select(f.isNan(x), either, f.select(f.isNan(y), either, result));
  Value isOne = f.orBits(f.equal(x, 1), f.equal(y, 0));
  return f.select(isOne, f.constant(1), result);
}

} // namespace weft::codegen
