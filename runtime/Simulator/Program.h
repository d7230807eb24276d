//===- Program.h - Kernels decoded for the interpreter --------------------------===//
#pragma once

#include "runtime/Simulator/Forms.h"
#include "runtime/Simulator/Memory.h"
#include "runtime/Simulator/Module.h"

#include <functional>
#include <memory>

namespace weft::simulator {

struct Warp;
struct Instruction;
using Handler = void (*)(Warp &, const Instruction &);

/// What may follow an instruction that ends a straight piece of code.
enum class Ending : uint8_t {
  None,
  FallThrough, ///< A plain instruction before a label.
  Branch,
  BranchIndexed,
  Call,
  Return,
  Exit,
  Trap,
  Barrier, ///< All threads of the block (or a named number of them).
  WarpSync ///< All lanes of a member mask; then `execute` runs.
};

enum InstructionFlags : uint16_t {
  GuardNegated = 1,
  NegateA = 2,
  NegateB = 4,
  NegateC = 8,
  Atomic = 16, ///< Volatile, relaxed or stronger: not part of a data race.
  Acquire = 32,
  Release = 64,
  BlockScope = 128, ///< .cta scope of an atomic or fence
  HasE = 256,       ///< Operand e is there (second destination, or an optional source).
  AlignedBarrier = 512,
  ConstantMask = 1024, ///< WarpSync: the member mask is the number in `immediate2`.
  Asynchronous = 2048
};

/// A decoded instruction. Operands are byte offsets into the frame of the warp's registers: 32 lanes of 2, 4, 8 or
/// (two planes of 8) 16 bytes; a predicate is one 32-bit mask.
struct Instruction {
  static constexpr uint32_t none = UINT32_MAX;
  Handler execute = nullptr;
  uint32_t d = none, a = none, b = none, c = none, e = none, f = none;
  int64_t immediate = 0; ///< Address offset, a literal operand, or what the form needs.
  uint32_t immediate2 = 0;
  uint32_t guard = none;
  uint32_t target = 0; ///< Branch target, call or pool index.
  uint32_t line = 0;
  uint16_t flags = 0;
  Ending ending = Ending::None;
  Space space = Space::Generic;
  uint8_t bytes = 0;   ///< What one lane reads or writes in memory.
  uint32_t length = 0; ///< Where `ending` is set: instructions in this straight piece.
};

enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NwarpId,
  SmId,
  NsmId,
  GridId,
  LanemaskEq,
  LanemaskLe,
  LanemaskLt,
  LanemaskGe,
  LanemaskGt,
  Clock,
  ClockHi,
  Clock64,
  GlobalTimer,
  GlobalTimerLo,
  GlobalTimerHi,
  DynamicSharedSize,
  TotalSharedSize,
  GridWorkspaceHigh, ///< %envreg1: upper half of the address that cooperative groups keep their barrier at,
  GridWorkspaceLow,  ///< %envreg2: lower half.
  Zero,
  One,
  None
};

struct CompiledKernel;

/// What a call passes: offsets of parameter blocks in the caller's frame, in the order of the callee's parameters.
struct CallSite {
  uint32_t callee = UINT32_MAX; ///< Index into CompiledKernel::functions, or one of the built-in functions below.
  enum class Builtin : uint8_t { None, Vprintf, AssertFail, Malloc, Free } builtin = Builtin::None;
  struct Block {
    uint32_t offset, size;
    bool isRegister;
  };
  std::vector<Block> arguments;
  std::vector<Block> results;
};

struct CompiledFunction {
  const Function *source = nullptr;
  std::vector<Instruction> code;
  uint32_t frameBytes = 0;
  struct Constant {
    uint32_t offset, width; ///< Width 0: a predicate mask.
    uint64_t bits;
    bool isLocal; ///< An address of a .local variable: moves with the frame's local memory.
  };
  std::vector<Constant> constants;
  struct SpecialSlot {
    uint32_t offset;
    Special special;
    bool wide;
  };
  std::vector<SpecialSlot> specials;
  std::vector<CallSite::Block> parameters, results; ///< Formal ones, in the own frame.
  uint32_t localBytes = 0;                          ///< Of .local variables, per thread.
  std::vector<uint32_t> pool;                       ///< Operand lists of vector and matrix instructions; branch tables.
  std::vector<CallSite> calls;
  uint32_t zeroFrom = 0; ///< Start of the part of the frame that a call clears (registers).
  uint32_t zeroTo = 0;
};

struct SharedVariable {
  std::string name;
  uint32_t offset, size;
};

/// A kernel with all functions it can reach; functions[0] is the kernel.
struct CompiledKernel {
  std::string name;
  const Module *module = nullptr;
  std::vector<CompiledFunction> functions;
  std::vector<SharedVariable> shared; ///< Sorted by offset; red zones lie between.
  uint32_t sharedBytes = 0;           ///< Extent of the static part with its red zones.
  uint32_t sharedDeclared = 0;        ///< Sum of the variables' sizes: what the hardware would need.
  uint32_t dynamicSharedOffset = 0;   ///< Where the dynamic part starts.
  bool usesDynamicShared = false;
  uint32_t parameterBytes = 0;
  std::vector<std::pair<uint32_t, uint32_t>> parameterLayout; ///< Offset and size of each.
  std::vector<bool> parameterIsPointer;
  LaunchBounds bounds;
  uint32_t virtualRegisters = 0; ///< 32-bit registers live at once, at most (an estimate of what the assembler needs).
};

/// A module whose variables have addresses on one device.
struct LoadedModule {
  std::unique_ptr<Module> module;
  std::unordered_map<std::string, Allocation *> variables;
  std::unordered_map<std::string, std::unique_ptr<CompiledKernel>> kernels;
};

/// Parses, verifies and decodes `text`, and places its variables on `device`. Throws PtxError. `label` goes into
/// reports ("module #2").
std::unique_ptr<LoadedModule> loadModule(std::string text, AddressSpace &memory, int device, const std::string &label);

/// Parses and verifies only: unknown forms, operand counts and register widths, labels, calls. Throws PtxError.
void verifyModule(const std::string &text);

/// Addresses of windows in the generic address space.
constexpr uint64_t sharedWindow = uint64_t(2) << 32;
constexpr uint64_t localWindow = uint64_t(3) << 32;
constexpr uint64_t parameterWindow = uint64_t(4) << 32;
constexpr uint64_t windowBytes = uint64_t(1) << 32;

} // namespace weft::simulator
