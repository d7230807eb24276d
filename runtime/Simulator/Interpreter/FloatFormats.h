//===- FloatFormats.h - Rounding, flushing and the small float formats ----------------===//
#pragma once

#include "runtime/Simulator/Interpreter/Lanes.h"

#include <cfenv>
#include <cmath>
#include <limits>
#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace weft::simulator {
namespace WEFT_SIMULATOR_ISA {

constexpr uint32_t canonicalNaN = 0x7fffffff;

enum class Rounding { Nearest, Zero, Down, Up };

inline Rounding roundingOf(const Form &form) {
  if (form.has("rz") || form.has("rzi"))
    return Rounding::Zero;
  if (form.has("rm") || form.has("rmi"))
    return Rounding::Down;
  if (form.has("rp") || form.has("rpi"))
    return Rounding::Up;
  return Rounding::Nearest;
}

/// Denormals to zero of the same sign.
inline float flush(float x) {
  uint32_t bits = bitsOf<uint32_t>(x);
  return bitsOf<float>((bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits);
}
template <bool ftz> inline float flushIf(float x) { return ftz ? flush(x) : x; }
template <bool ftz> inline double flushIf(double x) { return x; }

/// On the bits: to the host's compiler all NaNs are alike, so it may drop a choice between them.
inline float canonical(float x) {
  uint32_t bits = bitsOf<uint32_t>(x);
  return bitsOf<float>((bits & 0x7fffffff) > 0x7f800000 ? canonicalNaN : bits);
}
inline double canonical(double x) { return x; }

/// .sat: to [0, 1], NaN to +0.
template <class T> inline T saturate(T x) { return x > T(0) ? (x < T(1) ? x : T(1)) : T(0); }

/// Sets the host's rounding mode while it lives.
class HostRounding {
public:
  explicit HostRounding(Rounding rounding) : before(std::fegetround()) {
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(modes[int(rounding)]);
  }
  ~HostRounding() { std::fesetround(before); }

private:
  int before;
};

/// Rounds to a binary format with `mantissa` explicit bits and exponents from `minimumExponent` (of the smallest
/// normal number). `x` must be exact or rounded to odd with at least two bits to spare. Overflow gives infinity or,
/// where the rounding points away from it, the largest finite number.
inline double roundToFormat(double x, int mantissa, int minimumExponent, double largest, Rounding rounding) {
  if (x == 0 || !(std::fabs(x) <= std::numeric_limits<double>::max()))
    return x;
  int exponent;
  std::frexp(x, &exponent); // |x| in [2^(exponent-1), 2^exponent)
  int quantumExponent = (exponent - 1 < minimumExponent ? minimumExponent : exponent - 1) - mantissa;
  double scaled = std::ldexp(x, -quantumExponent);
  double rounded;
  switch (rounding) {
  case Rounding::Nearest: {
    rounded = std::floor(scaled);
    double rest = scaled - rounded;
    if (rest > 0.5 || (rest == 0.5 && std::fmod(rounded, 2) != 0))
      rounded += 1;
    break;
  }
  case Rounding::Zero:
    rounded = std::trunc(scaled);
    break;
  case Rounding::Down:
    rounded = std::floor(scaled);
    break;
  default:
    rounded = std::ceil(scaled);
    break;
  }
  double result = std::copysign(std::ldexp(rounded, quantumExponent), x);
  if (std::fabs(result) > largest) {
    bool toLargest =
        rounding == Rounding::Zero || (rounding == Rounding::Down && x > 0) || (rounding == Rounding::Up && x < 0);
    return std::copysign(toLargest ? largest : std::numeric_limits<double>::infinity(), x);
  }
  return result;
}

/// Sum of two doubles rounded to odd: a further rounding to fewer bits is then right.
inline double addToOdd(double a, double b) {
  double sum = a + b;
  if (!(std::fabs(sum) <= std::numeric_limits<double>::max()))
    return sum;
  double bPart = sum - a, error = (a - (sum - bPart)) + (b - bPart);
  if (error != 0) {
    uint64_t bits = bitsOf<uint64_t>(sum);
    if ((bits & 1) == 0) {
      bool away = (error > 0) == (sum > 0);
      sum = bitsOf<double>(away ? bits + 1 : bits - 1);
    }
  }
  return sum;
}

struct Half {
  static constexpr uint16_t nan = 0x7fff;
  static float toFloat(uint16_t bits) {
#if defined(__F16C__)
    return _cvtsh_ss(bits);
#else
    uint32_t sign = uint32_t(bits & 0x8000) << 16, exponent = (bits >> 10) & 31, mantissa = bits & 1023;
    if (exponent == 31)
      return bitsOf<float>(sign | 0x7f800000 | mantissa << 13);
    if (exponent == 0)
      return bitsOf<float>(sign | bitsOf<uint32_t>(float(mantissa) * 0x1p-24f));
    return bitsOf<float>(sign | (exponent + 112) << 23 | mantissa << 13);
#endif
  }
  static uint16_t fromFloat(float x) {
    if (x != x)
      return nan;
#if defined(__F16C__)
    return uint16_t(_cvtss_sh(x, 0));
#else
    return fromDouble(x, Rounding::Nearest);
#endif
  }
  static uint16_t fromDouble(double x, Rounding rounding) {
    if (x != x)
      return nan;
    double r = roundToFormat(x, 10, -14, 65504, rounding);
    uint16_t sign = std::signbit(r) ? 0x8000 : 0;
    r = std::fabs(r);
    if (r == 0)
      return sign;
    if (r > 65504)
      return uint16_t(sign | 0x7c00);
    int exponent;
    double fraction = std::frexp(r, &exponent);
    if (exponent - 1 < -14)
      return uint16_t(sign | uint16_t(std::ldexp(r, 24)));
    return uint16_t(sign | (exponent - 1 + 15) << 10 | (uint16_t(std::ldexp(fraction, 11)) & 1023));
  }
  static bool isNaN(uint16_t x) { return (x & 0x7fff) > 0x7c00; }
  static uint16_t flush(uint16_t x) { return (x & 0x7c00) == 0 ? x & 0x8000 : x; }
};

struct BFloat {
  static constexpr uint16_t nan = 0x7fff;
  static float toFloat(uint16_t bits) { return bitsOf<float>(uint32_t(bits) << 16); }
  static uint16_t fromFloat(float x) {
    uint32_t bits = bitsOf<uint32_t>(x);
    uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return x != x ? nan : uint16_t(rounded);
  }
  static uint16_t fromDouble(double x, Rounding rounding) {
    if (x != x)
      return nan;
    // The result is a float with 16 low zero bits, so one exact conversion ends it.
    double r = roundToFormat(x, 7, -126, 0x1.fep127, rounding);
    return uint16_t(bitsOf<uint32_t>(float(r)) >> 16);
  }
  static bool isNaN(uint16_t x) { return (x & 0x7fff) > 0x7f80; }
  static uint16_t flush(uint16_t x) { return (x & 0x7f80) == 0 ? x & 0x8000 : x; }
};

/// The two 8-bit formats: e4m3 has no infinity and one NaN a sign, e5m2 is as IEEE.
template <bool e4m3> struct Float8 {
  static float toFloat(uint8_t bits) {
    constexpr int mantissaBits = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15;
    int exponent = (bits & 0x7f) >> mantissaBits, mantissa = bits & ((1 << mantissaBits) - 1);
    float value;
    if (e4m3 ? (bits & 0x7f) == 0x7f : exponent == 31)
      value = !e4m3 && mantissa == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    else if (exponent == 0)
      value = std::ldexp(float(mantissa), 1 - bias - mantissaBits);
    else
      value = std::ldexp(float(mantissa + (1 << mantissaBits)), exponent - bias - mantissaBits);
    return bits & 0x80 ? -value : value;
  }
  /// Round to nearest even, saturating to the largest finite number.
  static uint8_t fromFloat(float x) {
    constexpr int mantissaBits = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15;
    constexpr double largest = e4m3 ? 448 : 57344;
    if (x != x)
      return 0x7f;
    uint8_t sign = std::signbit(x) ? 0x80 : 0;
    double r = std::fabs(roundToFormat(x, mantissaBits, 1 - bias, largest, Rounding::Nearest));
    if (r > largest)
      r = largest;
    if (r == 0)
      return sign;
    int exponent;
    double fraction = std::frexp(r, &exponent);
    if (exponent - 1 < 1 - bias)
      return uint8_t(sign | uint8_t(std::ldexp(r, bias - 1 + mantissaBits)));
    return uint8_t(sign | (exponent - 1 + bias) << mantissaBits |
                   (uint8_t(std::ldexp(fraction, mantissaBits + 1)) & ((1 << mantissaBits) - 1)));
  }
};

} // namespace WEFT_SIMULATOR_ISA
} // namespace weft::simulator
