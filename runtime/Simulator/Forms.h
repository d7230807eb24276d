//===- Forms.h - The opcode forms of PtxForms.def ------------------------------===//
#pragma once

#include "runtime/Simulator/Types.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft::simulator {

enum class Family : uint8_t {
  Integer,
  Predicate,
  Compare,
  Float,
  Half,
  Convert,
  Move,
  Load,
  Store,
  Atomic,
  AsyncCopy,
  Fence,
  Hint,
  Shuffle,
  Vote,
  Barrier,
  Control,
  Matrix
};

/// A line of PtxForms.def.
struct FormPattern {
  Family family;
  const char *familyName;
  const char *pattern;
  const char *signature;
};

/// An opcode with its modifiers taken apart.
struct Form {
  std::string name;                          ///< "add.rn.ftz.f32"
  std::vector<std::string_view> modifiers;   ///< Without dots, the opcode itself first; views into `name`.
  std::vector<Type> types;                   ///< Those among the modifiers that are types, in order.
  std::vector<const FormPattern *> patterns; ///< The lines that match: more than one where they differ in operands.

  Form() = default;
  Form(const Form &) = delete;
  Form &operator=(const Form &) = delete;

  std::string_view opcode() const { return modifiers[0]; }
  bool has(std::string_view modifier) const {
    for (std::string_view m : modifiers)
      if (m == modifier)
        return true;
    return false;
  }
  Type type(size_t index = 0) const { return index < types.size() ? types[index] : Type::None; }
  Family family() const { return patterns[0]->family; }
};

const std::vector<FormPattern> &formPatterns();

/// Whether `opcode` is one of what `pattern` stands for.
bool matchesPattern(std::string_view pattern, std::string_view opcode);

/// All opcodes that a pattern stands for.
std::vector<std::string> expandPattern(std::string_view pattern);

/// Takes an opcode apart, whatever the order of its modifiers where the assembler allows several; `patterns` stays
/// empty where no line of PtxForms.def matches.
void makeForm(std::string_view opcode, Form &form);

} // namespace weft::simulator
