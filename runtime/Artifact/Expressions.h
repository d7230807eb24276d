// Evaluation of size expressions: at given symbol values, and over ranges of them.
#pragma once

#include "runtime/Artifact/Program.h"

#include <string>

namespace weft::runtime {

inline constexpr size_t kMaximumExpressionSteps = 256;

// A closed interval.
struct Bounds {
  int64_t minimum = 0;
  int64_t maximum = 0;
};

// What is wrong with the expression's form, "" when nothing is: operand counts, symbol indices below symbolCount,
// length.
std::string checkExpressionForm(const Expression &expression, size_t symbolCount);

// The value at symbols[i]; false on overflow or a divisor that is not positive. The form must have been checked.
bool evaluate(const Expression &expression, const int64_t *symbols, int64_t &value);

// Bounds of the value while every symbol stays in its own bounds (they may be wider than the true range, where a symbol
// occurs twice); false when anything may overflow or a divisor may be below 1. The form must have been checked.
bool evaluateBounds(const Expression &expression, const Bounds *symbols, Bounds &bounds);

// As a person writes it: "2*N + 1".
std::string toString(const Expression &expression, const std::vector<Symbol> &symbols);

} // namespace weft::runtime
