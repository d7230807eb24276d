// Random values for inputs: the same on every machine, for every tool, whatever the order they are made in.
#pragma once

#include "runtime/Core/ElementType.h"

#include <array>
#include <cstdint>

namespace weft::runtime {

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3; 2011).
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// Element i of stream s (an input's position in its entry's list) comes from word i % 4 of philox4x32 with counter
// {i / 4 low, i / 4 high, s low, s high} and key {seed low, seed high}; of that 32-bit word w:
//   floating point  (w >> 8) * 2^-23 - 1, in [-1, 1), exact in f32, then rounded to nearest even in narrower types
//   integers        w mod 8 (mod 4 for 2 unsigned bits, mod 2 for 2 signed ones): small and valid as most indices
//   booleans        w mod 2
void fillRandom(ElementType type, int64_t count, uint64_t seed, uint64_t stream, void *data);

} // namespace weft::runtime
