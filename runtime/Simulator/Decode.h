//===- Decode.h - One function's statements to instructions -----------------------===//
#pragma once

#include "runtime/Simulator/Interpreter/Handlers.h"
#include "runtime/Simulator/Program.h"

#include <map>
#include <set>

namespace weft::simulator {

/// What the decoding of all functions of a module shares.
struct DecodeContext {
  const Module &module;
  /// Address of a .global or .const variable; false where there is none of that name.
  std::function<bool(std::string_view, uint64_t &)> variableAddress;
  std::unordered_map<std::string_view, std::unique_ptr<Form>> forms;

  /// Throws PtxError where PtxForms.def has no such form.
  const Form &form(std::string_view opcode, unsigned line);
};

class FunctionDecoder {
public:
  FunctionDecoder(DecodeContext &context, CompiledKernel &kernel, const Function &function, CompiledFunction &out,
                  std::function<uint32_t(std::string_view, unsigned)> calleeIndex);
  void run();

private:
  // Frame layout.
  uint32_t allocate(uint32_t bytes);
  uint32_t registerSlot(uint32_t id) const { return registerOffsets[id]; }
  uint32_t constant(unsigned width, uint64_t bits, bool isLocal = false);
  uint32_t special(Special which, bool wide);
  uint32_t sinkSlot();
  uint32_t temporary(unsigned bytes);

  // Operands.
  [[noreturn]] void fail(const std::string &message) const;
  unsigned registerBytes(uint32_t id) const;
  Type registerType(uint32_t id) const { return function.registers[id].type; }
  uint32_t source(const Operand &operand, Type type);
  uint32_t sourceOfWidth(const Operand &operand, unsigned bytes, bool isSigned);
  uint32_t destination(const Operand &operand, Type type);
  uint32_t predicateSource(const Operand &operand, bool &negated);
  uint32_t predicateDestination(const Operand &operand);
  uint64_t literal(const Operand &operand, const char *what) const;
  bool symbolAddress(std::string_view name, uint64_t &address, Space &space) const;
  bool specialRegister(std::string_view name, Special &which, bool &wide) const;
  void address(const Operand &operand, uint32_t &base, int64_t &offset, uint32_t &baseBytes, Space space);
  const Variable *parameterArea(std::string_view name, uint32_t &offset, uint32_t &stride) const;

  // Statements.
  void decode(const Statement &statement);
  void generic(const Form &form, Handler handler);
  void convert(const Form &form);
  void move(const Form &form);
  void movePacked(unsigned bytes);
  size_t checkCachePolicy(const Form &form, size_t without);
  void load(const Form &form);
  void store(const Form &form);
  void atomic(const Form &form);
  void asyncCopy(const Form &form);
  void barrier(const Form &form);
  void control(const Form &form);
  void call(const Form &form);
  void matrix(const Form &form);
  Space spaceOf(const Form &form) const;
  void orderFlags(const Form &form, Instruction &instruction) const;
  Instruction make() const;
  void emit(Instruction instruction);
  void finish();
  std::vector<std::string_view> signature(const Form &form, std::vector<std::string_view> &sources);

  DecodeContext &context;
  CompiledKernel &kernel;
  const Function &function;
  CompiledFunction &out;
  std::function<uint32_t(std::string_view, unsigned)> calleeIndex;
  const HandlerTable &table;
  const Statement *statement = nullptr;
  std::vector<uint32_t> registerOffsets;
  std::map<std::pair<unsigned, uint64_t>, uint32_t> constantSlots; ///< Local addresses count as 128 wider.
  std::map<std::pair<Special, bool>, uint32_t> specialSlots;
  struct Area {
    const Variable *variable;
    uint32_t offset, stride;
  };
  std::unordered_map<std::string_view, Area> areas;
  std::unordered_map<std::string_view, uint32_t> localOffsets;
  std::vector<uint32_t> statementPc;
  std::set<uint32_t> leaders;
  uint32_t frameEnd = 0, sink = UINT32_MAX;
  uint32_t temporaries[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
  unsigned nextTemporary = 0;
};

/// Bytes of a register of that type; predicates count as 0, .b8 as 2.
unsigned registerBytesOf(Type type);

} // namespace weft::simulator
