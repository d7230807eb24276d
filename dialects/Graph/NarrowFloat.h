//===- NarrowFloat.h - Conversion of floats of at most 16 bits -----------------------------------===//

#ifndef WEFT_DIALECTS_GRAPH_NARROWFLOAT_H
#define WEFT_DIALECTS_GRAPH_NARROWFLOAT_H

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <cstdint>

namespace weft::graph {

/// The float next to `value` towards zero, with its last bit set where that is not exact. Rounding the outcome to a
/// format with at least two bits less gives what rounding `value` itself gives; rounding twice to nearest does not.
inline float roundToOdd(double value) {
  float nearest = static_cast<float>(value);
  double back = nearest;
  if (back == value || std::isnan(value))
    return nearest;
  uint32_t bits = llvm::bit_cast<uint32_t>(nearest);
  if (std::fabs(back) > std::fabs(value))
    --bits;
  return llvm::bit_cast<float>(bits | 1);
}

/// The same for an integer and double.
inline double roundToOdd(int64_t value, bool isUnsigned) {
  uint64_t magnitude = static_cast<uint64_t>(value);
  bool negative = !isUnsigned && value < 0;
  if (negative)
    magnitude = 0 - magnitude;
  int excess = 11 - static_cast<int>(llvm::countl_zero(magnitude)); // bits beyond the 53 of a double
  if (excess > 0) {
    uint64_t lost = magnitude & ((uint64_t(1) << excess) - 1);
    magnitude = (magnitude >> excess | (lost != 0)) << excess;
  }
  double result = static_cast<double>(magnitude);
  return negative ? -result : result;
}

inline float decodeBFloat16(uint16_t bits) { return llvm::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

inline uint16_t encodeBFloat16(double value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(roundToOdd(value));
  if (std::isnan(value))
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

inline float decodeFloat16(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, exponent = bits >> 10 & 31, mantissa = bits & 0x3ff;
  if (exponent == 0) { // subnormal
    float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  uint32_t wideExponent = exponent == 31 ? 255 : exponent + 112;
  return llvm::bit_cast<float>(sign | wideExponent << 23 | mantissa << 13);
}

inline uint16_t encodeFloat16(double value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(roundToOdd(value));
  uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  bits &= 0x7fffffff;
  if (bits > 0x7f800000) // NaN
    return sign | 0x7e00;
  if (bits >= 0x477ff000) // 65520, halfway to the first power of two that does not fit
    return sign | 0x7c00;
  if (bits < 0x38800000) { // Below 2^-14: the last place of a sum with 0.5 is that of a subnormal.
    float sum = llvm::bit_cast<float>(bits) + 0.5f;
    return sign | static_cast<uint16_t>(llvm::bit_cast<uint32_t>(sum) - 0x3f000000);
  }
  bits += 0xfff + (bits >> 13 & 1);
  return sign | static_cast<uint16_t>((bits - 0x38000000) >> 13);
}

/// The value, which double holds exactly.
inline double toDouble(llvm::APFloat value) {
  bool lost;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return value.convertToDouble();
}

/// For the formats of at most 8 bits: few elements are ever encoded, decoding goes through a table of the caller's.
inline double decodeWithSemantics(uint8_t bits, const llvm::fltSemantics &semantics) {
  return toDouble(llvm::APFloat(semantics, llvm::APInt(llvm::APFloat::getSizeInBits(semantics), bits)));
}

/// f4E2M1FN: ties to the even code; what is too large becomes the largest number, a NaN zero.
inline uint8_t encodeFloat4(double value) {
  constexpr double kLimits[] = {0.25, 0.75, 1.25, 1.75,
                                2.5,  3.5,  5}; // between the magnitudes 0, 0.5, 1, 1.5, 2, 3, 4, 6
  if (std::isnan(value))
    return 0;
  double magnitude = std::fabs(value);
  uint8_t code = 0;
  for (; code < 7; ++code)
    if (magnitude < kLimits[code] || (magnitude == kLimits[code] && code % 2 == 0))
      break;
  return static_cast<uint8_t>(code | (std::signbit(value) ? 8 : 0));
}

/// f8E8M0FNU: the exponent of the value, without its sign, as f32 has it. Infinity and NaN are the NaN.
inline uint8_t encodeExponent(double value) {
  return static_cast<uint8_t>(llvm::bit_cast<uint32_t>(roundToOdd(value)) >> 23 & 0xff);
}

inline uint8_t encodeWithSemantics(double value, const llvm::fltSemantics &semantics) {
  if (&semantics == &llvm::APFloat::Float4E2M1FN())
    return encodeFloat4(value);
  if (&semantics == &llvm::APFloat::Float8E8M0FNU())
    return encodeExponent(value);
  llvm::APFloat rounded(value);
  bool lost;
  rounded.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
  return static_cast<uint8_t>(rounded.bitcastToAPInt().getZExtValue());
}

/// The value rounded to a format, as the ops do it.
inline llvm::APFloat roundTo(double value, const llvm::fltSemantics &semantics) {
  unsigned bits = llvm::APFloat::getSizeInBits(semantics);
  if (bits <= 8)
    return llvm::APFloat(semantics, llvm::APInt(bits, encodeWithSemantics(value, semantics)));
  llvm::APFloat rounded(value);
  bool lost;
  rounded.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
  return rounded;
}

/// The value below or above all others: an infinity where the format has one.
inline llvm::APFloat extremeOf(const llvm::fltSemantics &semantics, bool negative) {
  if (&semantics == &llvm::APFloat::Float8E8M0FNU())
    return llvm::APFloat(semantics, llvm::APInt(8, negative ? 0 : 0xfe));
  return llvm::APFloat::semanticsHasInf(semantics) ? llvm::APFloat::getInf(semantics, negative)
                                                   : llvm::APFloat::getLargest(semantics, negative);
}

} // namespace weft::graph

#endif
