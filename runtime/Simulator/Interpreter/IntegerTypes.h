//===- IntegerTypes.h - Integer types that arithmetic is done in ------------------------===//
#pragma once

#include "runtime/Simulator/Interpreter/Lanes.h"

#include <limits>

namespace weft::simulator {
namespace WEFT_SIMULATOR_ISA {

template <class T> using Unsigned = std::make_unsigned_t<T>;
template <class T> struct WideOf;
template <> struct WideOf<uint16_t> {
  using type = uint32_t;
};
template <> struct WideOf<int16_t> {
  using type = int32_t;
};
template <> struct WideOf<uint32_t> {
  using type = uint64_t;
};
template <> struct WideOf<int32_t> {
  using type = int64_t;
};
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Unsigned128;
template <> struct WideOf<uint64_t> {
  using type = Unsigned128;
};
template <> struct WideOf<int64_t> {
  using type = Int128;
};
template <class T> using Wide = typename WideOf<T>::type;

// Arithmetic wraps, so it is done on unsigned values (of at least 32 bits, where promotion cannot make them signed).
template <class T> using Work = std::conditional_t<(sizeof(T) < 4), uint32_t, Unsigned<T>>;

/// Logic, shifts, bit fields, counts and permutations; null for other forms.
Handler selectBits(const Form &form);

} // namespace WEFT_SIMULATOR_ISA
} // namespace weft::simulator
