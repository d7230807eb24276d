//===- Reference.h - What one lane of an instruction gives, computed another way ------------===//
#pragma once

#include "runtime/Simulator/Forms.h"

#include <cstdint>

namespace weft::simulator {

/// Operands as bits; predicates are 0 or 1.
struct ReferenceInput {
  uint64_t source[4] = {0, 0, 0, 0};
  bool carry = false;
  unsigned sources = 0; ///< How many are there.
};

struct ReferenceOutput {
  uint64_t bits[2] = {0, 0}; ///< Destination and second predicate.
  bool carry = false;
  bool anyNaN = false;      ///< Every NaN of the type is right.
  bool approximate = false; ///< `value` to within `relative` or `absolute`.
  double value = 0, relative = 0, absolute = 0;
};

/// False where there is no reference for the form.
bool reference(const Form &form, const ReferenceInput &input, ReferenceOutput &output);

} // namespace weft::simulator
