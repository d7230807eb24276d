//===- Exact.h - Exact binary numbers and their correct rounding, for references -----------===//
//
// A value is sign * magnitude * 2^exponent with a magnitude of any length, so sums and products are exact; quotients
// and roots carry enough bits and a sticky one. No floating-point instruction of the host takes part.
//===----------------------------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <vector>

namespace weft::simulator {

/// A binary format: bits of the fraction, bits of the exponent, and what its top codes mean.
struct FloatFormat {
  int fraction;
  int exponent;
  bool hasInfinity = true; ///< False for e4m3: only the top code is a NaN.
  int bias() const { return (1 << (exponent - 1)) - 1; }
  uint64_t signBit() const { return uint64_t(1) << (fraction + exponent); }
};
constexpr FloatFormat formatF16{10, 5}, formatBF16{7, 8}, formatTF32{10, 8}, formatF32{23, 8}, formatF64{52, 11},
    formatE4M3{3, 4, false}, formatE5M2{2, 5};

enum class Direction { NearestEven, NearestAway, Zero, Down, Up };

struct Exact {
  enum class Kind { Finite, Infinite, NaN } kind = Kind::Finite;
  bool negative = false;
  std::vector<uint32_t> magnitude; ///< Little-endian words; empty for zero.
  int exponent = 0;

  bool isZero() const { return kind == Kind::Finite && magnitude.empty(); }
  static Exact fromBits(uint64_t bits, const FloatFormat &format);
  static Exact fromInteger(uint64_t magnitude, bool negative);
  /// The bits of the nearest value in that direction; a NaN is `nan`.
  uint64_t round(const FloatFormat &format, Direction direction, uint64_t nan) const;
  /// To an integer, ties to even for NearestEven. Clamped to the limits.
  __int128 toInteger(Direction direction, __int128 low, __int128 high) const;
  /// An integer-valued Exact.
  Exact integral(Direction direction) const;
  double approximate() const;
};

/// IEEE rules for infinities, NaNs and signed zeros (`down`: x - x is -0).
Exact add(const Exact &a, const Exact &b, bool down);
Exact multiply(const Exact &a, const Exact &b);
Exact divide(const Exact &a, const Exact &b);
Exact squareRoot(const Exact &a);
Exact negate(Exact a);
/// -1, 0 or 1; neither is NaN.
int compare(const Exact &a, const Exact &b);

} // namespace weft::simulator
