//===- Module.h - A parsed PTX module -----------------------------------------===//
#pragma once

#include "runtime/Simulator/Types.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weft::simulator {

/// One operand of an instruction, as written.
struct Operand {
  enum class Kind : uint8_t {
    None,
    Register, ///< `id` is an index into Function::registers; `second` the other one of a pair "%p1|%p2".
    Integer,  ///< `bits`
    Float32,  ///< `bits`: those of a float
    Float64,  ///< `bits`: those of a double
    Name,     ///< `name`, plus `offset`: a variable, a function, a label or a special register
    Address,  ///< "[base+offset]": `id` a register, or `name`, or neither (then `offset` is the address)
    Vector,   ///< "{a, b}": `elements`
    List,     ///< "(a, b)": `elements`
    Sink      ///< "_"
  };
  static constexpr uint32_t none = UINT32_MAX;

  Kind kind = Kind::None;
  bool negated = false; ///< "!%p1" or "-name"
  uint32_t id = none;
  uint32_t second = none;
  bool secondIsSink = false;
  uint64_t bits = 0;
  int64_t offset = 0;
  std::string_view name;
  std::vector<Operand> elements;
};

struct RegisterDeclaration {
  std::string name;
  Type type = Type::None;
};

/// An integer, a float or the address of a variable inside an initialiser.
struct InitialValue {
  uint64_t bits = 0;
  bool isFloat = false;
  std::string_view symbol; ///< Address of this variable plus `bits`, when not empty.
  bool generic = false;    ///< generic(symbol)
};

enum class Space : uint8_t { Generic, Global, Shared, Local, Const, Param, Register };
const char *spaceName(Space space);

struct Variable {
  std::string name;
  Space space = Space::Global;
  Type type = Type::None;
  unsigned line = 0;
  uint32_t alignment = 0; ///< In bytes; the declared one or the type's.
  uint64_t size = 0;      ///< In bytes; 0 for an array without an extent (dynamic shared memory).
  bool isExternal = false;
  bool isVisible = false;
  bool isPointer = false;            ///< A parameter with ".ptr".
  std::vector<InitialValue> initial; ///< Elements of `type` in order; the rest is zero.
  uint32_t vectorWidth = 1;
};

struct Statement {
  unsigned line = 0;
  uint32_t guard = Operand::none; ///< Index of the predicate register.
  bool guardNegated = false;
  std::string_view opcode; ///< With its modifiers: "add.rn.f32".
  std::vector<Operand> operands;
};

struct LaunchBounds {
  uint32_t maxThreads[3] = {0, 0, 0};      ///< .maxntid; 0 where not given.
  uint32_t requiredThreads[3] = {0, 0, 0}; ///< .reqntid
  uint32_t minimumBlocks = 0;
  uint32_t maxRegisters = 0;
  uint32_t cluster[3] = {0, 0, 0};
};

struct Function {
  std::string name;
  unsigned line = 0;
  bool isEntry = false;
  bool hasBody = false;
  bool isVisible = false;
  bool noReturn = false;
  LaunchBounds bounds;
  std::vector<Variable> results; ///< Return parameters of a .func, in Space::Param or Space::Register.
  std::vector<Variable> parameters;
  std::vector<RegisterDeclaration> registers;
  std::vector<Variable> locals; ///< .local, .shared and .param variables of the body; names are unique ("param0#3"
                                ///< where scopes repeat one).
  std::vector<Statement> statements;
  std::unordered_map<std::string_view, uint32_t> labels; ///< Index of the statement that follows.
  std::unordered_map<std::string_view, std::vector<std::string_view>> branchTargets;
};

struct Module {
  std::string text;          ///< The views below point into it.
  unsigned version = 0;      ///< 90 for 9.0
  std::string target;        ///< "sm_90a"
  unsigned architecture = 0; ///< 90
  std::vector<Variable> variables;
  std::vector<std::unique_ptr<Function>> functions;
  std::unordered_map<std::string_view, uint32_t> functionIndex;
  std::unordered_map<std::string_view, uint32_t> variableIndex;
  std::vector<std::string_view> lines; ///< For reports: line n is lines[n - 1].
  /// Names that the parser made (repeated locals); views into Statement operands point here.
  std::vector<std::unique_ptr<std::string>> madeNames;
};

/// Parses PTX text. Throws PtxError with the line of the first fault.
std::unique_ptr<Module> parseModule(std::string text);

} // namespace weft::simulator
