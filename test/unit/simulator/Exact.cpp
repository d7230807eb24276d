//===- Exact.cpp - Exact binary numbers and their correct rounding, for references ---------===//
#include "test/unit/simulator/Exact.h"

#include <algorithm>
#include <cmath>

namespace weft::simulator {

namespace {
using Words = std::vector<uint32_t>;

void trim(Words &w) {
  while (!w.empty() && !w.back())
    w.pop_back();
}
int bitLength(const Words &w) { return w.empty() ? 0 : int(w.size()) * 32 - __builtin_clz(w.back()); }
bool bitAt(const Words &w, int bit) {
  return bit >= 0 && size_t(bit / 32) < w.size() && (w[size_t(bit / 32)] >> (bit % 32)) & 1;
}

Words shiftLeft(const Words &w, int count) {
  Words out(w.size() + size_t(count / 32) + 1, 0);
  for (size_t i = 0; i < w.size(); ++i) {
    uint64_t wide = uint64_t(w[i]) << (count % 32);
    out[i + size_t(count / 32)] |= uint32_t(wide);
    out[i + size_t(count / 32) + 1] |= uint32_t(wide >> 32);
  }
  trim(out);
  return out;
}
Words shiftRight(const Words &w, int count) {
  if (size_t(count / 32) >= w.size())
    return {};
  Words out(w.begin() + count / 32, w.end());
  if (count % 32)
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = (out[i] >> (count % 32)) | (i + 1 < out.size() ? out[i + 1] << (32 - count % 32) : 0);
  trim(out);
  return out;
}
bool anyBelow(const Words &w, int bit) {
  for (int i = 0; i < bit && i < int(w.size()) * 32; ++i)
    if (bitAt(w, i))
      return true;
  return false;
}
int compareWords(const Words &a, const Words &b) {
  if (a.size() != b.size())
    return a.size() < b.size() ? -1 : 1;
  for (size_t i = a.size(); i-- > 0;)
    if (a[i] != b[i])
      return a[i] < b[i] ? -1 : 1;
  return 0;
}
Words sumOf(const Words &a, const Words &b) {
  Words out(std::max(a.size(), b.size()) + 1, 0);
  uint64_t carry = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    carry += (i < a.size() ? a[i] : 0) + uint64_t(i < b.size() ? b[i] : 0);
    out[i] = uint32_t(carry);
    carry >>= 32;
  }
  trim(out);
  return out;
}
Words differenceOf(const Words &a, const Words &b) { // a >= b
  Words out(a);
  int64_t borrow = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    int64_t value = int64_t(a[i]) - (i < b.size() ? b[i] : 0) - borrow;
    borrow = value < 0;
    out[i] = uint32_t(value + (borrow << 32));
  }
  trim(out);
  return out;
}
void increment(Words &w) {
  for (uint32_t &word : w)
    if (++word)
      return;
  w.push_back(1);
}

/// Divides by 2^count and rounds to an integer.
Words roundedShift(const Words &w, int count, bool negative, Direction direction) {
  if (count <= 0)
    return shiftLeft(w, -count);
  Words out = shiftRight(w, count);
  bool half = bitAt(w, count - 1), rest = anyBelow(w, count - 1);
  bool up = false;
  switch (direction) {
  case Direction::NearestEven:
    up = half && (rest || (!out.empty() && (out[0] & 1)));
    break;
  case Direction::NearestAway:
    up = half;
    break;
  case Direction::Zero:
    break;
  case Direction::Down:
    up = negative && (half || rest);
    break;
  case Direction::Up:
    up = !negative && (half || rest);
    break;
  }
  if (up)
    increment(out);
  return out;
}
uint64_t lowWords(const Words &w) { return (w.size() > 0 ? w[0] : 0) | uint64_t(w.size() > 1 ? w[1] : 0) << 32; }
Exact special(Exact::Kind kind, bool negative) {
  Exact out;
  out.kind = kind;
  out.negative = negative;
  return out;
}
} // namespace

Exact Exact::fromInteger(uint64_t value, bool isNegative) {
  Exact out;
  out.negative = isNegative;
  out.magnitude = {uint32_t(value), uint32_t(value >> 32)};
  trim(out.magnitude);
  return out;
}

Exact Exact::fromBits(uint64_t bits, const FloatFormat &format) {
  bool negative = bits & format.signBit();
  uint64_t fraction = bits & ((uint64_t(1) << format.fraction) - 1);
  int exponent = int(bits >> format.fraction) & ((1 << format.exponent) - 1), top = (1 << format.exponent) - 1;
  if (format.hasInfinity && exponent == top)
    return special(fraction ? Kind::NaN : Kind::Infinite, negative);
  if (!format.hasInfinity && exponent == top && fraction == (uint64_t(1) << format.fraction) - 1)
    return special(Kind::NaN, negative);
  Exact out = fromInteger(exponent ? fraction | uint64_t(1) << format.fraction : fraction, negative);
  out.exponent = (exponent ? exponent : 1) - format.bias() - format.fraction;
  return out;
}

uint64_t Exact::round(const FloatFormat &format, Direction direction, uint64_t nan) const {
  uint64_t sign = negative ? format.signBit() : 0;
  uint64_t top = ((uint64_t(1) << format.exponent) - 1) << format.fraction;
  uint64_t largest = format.hasInfinity ? top - 1 : top | ((uint64_t(1) << format.fraction) - 2);
  if (kind == Kind::NaN)
    return nan;
  if (kind == Kind::Infinite)
    return sign | (format.hasInfinity ? top : largest);
  if (magnitude.empty())
    return sign;
  int lowest = 1 - format.bias() - format.fraction; // exponent of the last place of denormals
  int quantum = std::max(exponent + bitLength(magnitude) - 1 - format.fraction, lowest);
  Words rounded = roundedShift(magnitude, quantum - exponent, negative, direction);
  uint64_t value = lowWords(rounded);
  if (value >> (format.fraction + 1)) {
    value >>= 1;
    ++quantum;
  }
  uint64_t code;
  if (value >> format.fraction)
    code = uint64_t(quantum - lowest + 1) << format.fraction | (value & ((uint64_t(1) << format.fraction) - 1));
  else
    code = value;
  if (code > largest) {
    bool stays = direction == Direction::Zero || (direction == Direction::Down && !negative) ||
                 (direction == Direction::Up && negative);
    return sign | (stays || !format.hasInfinity ? largest : top);
  }
  return sign | code;
}

Exact Exact::integral(Direction direction) const {
  if (kind != Kind::Finite)
    return *this;
  Exact out = *this;
  out.magnitude = roundedShift(magnitude, -exponent, negative, direction);
  out.exponent = 0;
  return out;
}

__int128 Exact::toInteger(Direction direction, __int128 low, __int128 high) const {
  if (kind == Kind::Infinite)
    return negative ? low : high;
  Exact whole = integral(direction);
  if (bitLength(whole.magnitude) > 100)
    return negative ? low : high;
  __int128 value = 0;
  for (size_t i = whole.magnitude.size(); i-- > 0;)
    value = value << 32 | whole.magnitude[i];
  if (negative)
    value = -value;
  return std::min(std::max(value, low), high);
}

double Exact::approximate() const {
  if (kind == Kind::NaN)
    return NAN;
  if (kind == Kind::Infinite)
    return negative ? -INFINITY : INFINITY;
  double out = 0;
  for (size_t i = magnitude.size(); i-- > 0;)
    out = out * 4294967296.0 + magnitude[i];
  out = std::ldexp(out, exponent);
  return negative ? -out : out;
}

Exact negate(Exact a) {
  a.negative = !a.negative;
  return a;
}

Exact add(const Exact &a, const Exact &b, bool down) {
  if (a.kind == Exact::Kind::NaN || b.kind == Exact::Kind::NaN)
    return special(Exact::Kind::NaN, false);
  if (a.kind == Exact::Kind::Infinite && b.kind == Exact::Kind::Infinite)
    return a.negative == b.negative ? a : special(Exact::Kind::NaN, false);
  if (a.kind == Exact::Kind::Infinite)
    return a;
  if (b.kind == Exact::Kind::Infinite)
    return b;
  Exact out;
  out.exponent = std::min(a.exponent, b.exponent);
  Words x = shiftLeft(a.magnitude, a.exponent - out.exponent), y = shiftLeft(b.magnitude, b.exponent - out.exponent);
  if (a.negative == b.negative) {
    out.magnitude = sumOf(x, y);
    out.negative = a.negative;
  } else {
    int order = compareWords(x, y);
    out.magnitude = order >= 0 ? differenceOf(x, y) : differenceOf(y, x);
    out.negative = order > 0 ? a.negative : order < 0 ? b.negative : down;
  }
  return out;
}

Exact multiply(const Exact &a, const Exact &b) {
  bool negative = a.negative != b.negative;
  if (a.kind == Exact::Kind::NaN || b.kind == Exact::Kind::NaN)
    return special(Exact::Kind::NaN, false);
  if (a.kind == Exact::Kind::Infinite || b.kind == Exact::Kind::Infinite)
    return a.isZero() || b.isZero() ? special(Exact::Kind::NaN, false) : special(Exact::Kind::Infinite, negative);
  Exact out;
  out.negative = negative;
  out.exponent = a.exponent + b.exponent;
  out.magnitude.assign(a.magnitude.size() + b.magnitude.size() + 1, 0);
  for (size_t i = 0; i < a.magnitude.size(); ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; j < b.magnitude.size() || carry; ++j) {
      carry += out.magnitude[i + j] + uint64_t(a.magnitude[i]) * (j < b.magnitude.size() ? b.magnitude[j] : 0);
      out.magnitude[i + j] = uint32_t(carry);
      carry >>= 32;
    }
  }
  trim(out.magnitude);
  return out;
}

Exact divide(const Exact &a, const Exact &b) {
  bool negative = a.negative != b.negative;
  if (a.kind == Exact::Kind::NaN || b.kind == Exact::Kind::NaN ||
      (a.kind == b.kind && a.kind == Exact::Kind::Infinite) || (a.isZero() && b.isZero()))
    return special(Exact::Kind::NaN, false);
  if (a.kind == Exact::Kind::Infinite || b.isZero())
    return special(Exact::Kind::Infinite, negative);
  Exact out;
  out.negative = negative;
  if (b.kind == Exact::Kind::Infinite || a.isZero())
    return out;
  Words numerator = shiftLeft(a.magnitude, 160);
  uint64_t divisor = lowWords(b.magnitude), rest = 0;
  Words quotient(numerator.size(), 0);
  for (size_t i = numerator.size(); i-- > 0;) {
    unsigned __int128 part = (unsigned __int128)(rest) << 32 | numerator[i];
    quotient[i] = uint32_t(part / divisor);
    rest = uint64_t(part % divisor);
  }
  trim(quotient);
  quotient = shiftLeft(quotient, 1);
  if (rest)
    quotient[0] |= 1;
  out.magnitude = quotient;
  out.exponent = a.exponent - b.exponent - 161;
  return out;
}

Exact squareRoot(const Exact &a) {
  if (a.kind == Exact::Kind::NaN || (a.negative && !a.isZero()))
    return special(Exact::Kind::NaN, false);
  if (a.kind == Exact::Kind::Infinite || a.isZero())
    return a;
  int shift = 126 - bitLength(a.magnitude);
  if ((a.exponent - shift) % 2)
    --shift;
  unsigned __int128 value = 0;
  Words shifted = shiftLeft(a.magnitude, shift);
  for (size_t i = shifted.size(); i-- > 0;)
    value = value << 32 | shifted[i];
  unsigned __int128 root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    unsigned __int128 candidate = root | (unsigned __int128)(1) << bit;
    if (candidate * candidate <= value)
      root = candidate;
  }
  Exact out = Exact::fromInteger(uint64_t(root), false);
  out.exponent = (a.exponent - shift) / 2;
  out.magnitude = shiftLeft(out.magnitude, 2);
  out.exponent -= 2;
  if (root * root != value)
    out.magnitude[0] |= 1;
  return out;
}

int compare(const Exact &a, const Exact &b) {
  if (a.isZero() && b.isZero())
    return 0;
  auto sign = [](const Exact &x) { return x.isZero() ? 0 : x.negative ? -1 : 1; };
  if (sign(a) != sign(b))
    return sign(a) < sign(b) ? -1 : 1;
  int order;
  if (a.kind == Exact::Kind::Infinite || b.kind == Exact::Kind::Infinite) {
    order = int(a.kind == Exact::Kind::Infinite) - int(b.kind == Exact::Kind::Infinite);
  } else {
    int exponent = std::min(a.exponent, b.exponent);
    order = compareWords(shiftLeft(a.magnitude, a.exponent - exponent), shiftLeft(b.magnitude, b.exponent - exponent));
  }
  return a.negative ? -order : order;
}

} // namespace weft::simulator
