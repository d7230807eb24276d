//===- DecodeOperands.cpp - Frame slots, registers, constants and addresses ---------===//
#include "runtime/Simulator/Decode.h"
#include "runtime/Simulator/Diagnostic.h"

#include <cstring>

namespace weft::simulator {

FunctionDecoder::FunctionDecoder(DecodeContext &context, CompiledKernel &kernel, const Function &function,
                                 CompiledFunction &out, std::function<uint32_t(std::string_view, unsigned)> calleeIndex)
    : context(context), kernel(kernel), function(function), out(out), calleeIndex(std::move(calleeIndex)),
      table(handlers()) {}

void FunctionDecoder::fail(const std::string &message) const {
  throw PtxError(statement ? statement->line : function.line, message);
}

uint32_t FunctionDecoder::allocate(uint32_t bytes) {
  uint32_t offset = frameEnd;
  frameEnd += (bytes + 63) / 64 * 64;
  if (frameEnd > (1u << 30))
    fail("function '" + function.name + "' needs more than 1 GiB of registers a warp");
  return offset;
}

uint32_t FunctionDecoder::constant(unsigned width, uint64_t bits, bool isLocal) {
  if (width < 8 && width)
    bits &= (uint64_t(1) << width * 8) - 1;
  auto [it, isNew] = constantSlots.try_emplace({width + (isLocal ? 128 : 0), bits}, 0);
  if (isNew) {
    it->second = allocate(width ? width * 32 : 4);
    out.constants.push_back({it->second, width, bits, isLocal});
  }
  return it->second;
}

uint32_t FunctionDecoder::special(Special which, bool wide) {
  auto [it, isNew] = specialSlots.try_emplace({which, wide}, 0);
  if (isNew) {
    it->second = allocate(wide ? 256 : 128);
    out.specials.push_back({it->second, which, wide});
  }
  return it->second;
}

uint32_t FunctionDecoder::sinkSlot() {
  if (sink == UINT32_MAX)
    sink = allocate(512);
  return sink;
}

uint32_t FunctionDecoder::temporary(unsigned) {
  uint32_t &slot = temporaries[nextTemporary++ % 4];
  if (slot == UINT32_MAX)
    slot = allocate(512);
  return slot;
}

unsigned FunctionDecoder::registerBytes(uint32_t id) const { return registerBytesOf(registerType(id)); }

bool FunctionDecoder::specialRegister(std::string_view name, Special &which, bool &wide) const {
  static const struct {
    const char *name;
    Special special;
    bool wide;
  } rows[] = {
      {"%tid.x", Special::TidX, false},
      {"%tid.y", Special::TidY, false},
      {"%tid.z", Special::TidZ, false},
      {"%ntid.x", Special::NtidX, false},
      {"%ntid.y", Special::NtidY, false},
      {"%ntid.z", Special::NtidZ, false},
      {"%ctaid.x", Special::CtaidX, false},
      {"%ctaid.y", Special::CtaidY, false},
      {"%ctaid.z", Special::CtaidZ, false},
      {"%nctaid.x", Special::NctaidX, false},
      {"%nctaid.y", Special::NctaidY, false},
      {"%nctaid.z", Special::NctaidZ, false},
      {"%laneid", Special::LaneId, false},
      {"%warpid", Special::WarpId, false},
      {"%nwarpid", Special::NwarpId, false},
      {"%smid", Special::SmId, false},
      {"%nsmid", Special::NsmId, false},
      {"%gridid", Special::GridId, true},
      {"%lanemask_eq", Special::LanemaskEq, false},
      {"%lanemask_le", Special::LanemaskLe, false},
      {"%lanemask_lt", Special::LanemaskLt, false},
      {"%lanemask_ge", Special::LanemaskGe, false},
      {"%lanemask_gt", Special::LanemaskGt, false},
      {"%clock", Special::Clock, false},
      {"%clock_hi", Special::ClockHi, false},
      {"%clock64", Special::Clock64, true},
      {"%globaltimer", Special::GlobalTimer, true},
      {"%globaltimer_lo", Special::GlobalTimerLo, false},
      {"%globaltimer_hi", Special::GlobalTimerHi, false},
      {"%dynamic_smem_size", Special::DynamicSharedSize, false},
      {"%total_smem_size", Special::TotalSharedSize, false},
      {"%aggr_smem_size", Special::TotalSharedSize, false},
      {"%envreg1", Special::GridWorkspaceHigh, false},
      {"%envreg2", Special::GridWorkspaceLow, false},
      {"%current_graph_exec", Special::Zero, true},
      // Without clusters every block is a cluster of one.
      {"%clusterid.x", Special::CtaidX, false},
      {"%clusterid.y", Special::CtaidY, false},
      {"%clusterid.z", Special::CtaidZ, false},
      {"%nclusterid.x", Special::NctaidX, false},
      {"%nclusterid.y", Special::NctaidY, false},
      {"%nclusterid.z", Special::NctaidZ, false},
      {"%cluster_ctaid.x", Special::Zero, false},
      {"%cluster_ctaid.y", Special::Zero, false},
      {"%cluster_ctaid.z", Special::Zero, false},
      {"%cluster_nctaid.x", Special::One, false},
      {"%cluster_nctaid.y", Special::One, false},
      {"%cluster_nctaid.z", Special::One, false},
      {"%cluster_ctarank", Special::Zero, false},
      {"%cluster_nctarank", Special::One, false},
  };
  if (name.empty() || name[0] != '%')
    return false;
  for (const auto &row : rows) {
    if (name == row.name) {
      which = row.special;
      wide = row.wide;
      return true;
    }
  }
  return false;
}

bool FunctionDecoder::symbolAddress(std::string_view name, uint64_t &address, Space &space) const {
  auto local = localOffsets.find(name);
  if (local != localOffsets.end()) {
    address = local->second;
    space = Space::Local;
    return true;
  }
  for (const SharedVariable &variable : kernel.shared) {
    if (variable.name == name || variable.name == function.name + "::" + std::string(name)) {
      address = variable.offset;
      space = Space::Shared;
      return true;
    }
  }
  if (function.isEntry) {
    uint32_t index = 0;
    for (const Variable &parameter : function.parameters) {
      if (parameter.name == name) {
        address = kernel.parameterLayout[index].first;
        space = Space::Param;
        return true;
      }
      ++index;
    }
  }
  auto found = context.module.variableIndex.find(name);
  if (found != context.module.variableIndex.end()) {
    space = context.module.variables[found->second].space;
    if (space == Space::Shared)
      return false;
    return context.variableAddress(name, address);
  }
  return false;
}

uint64_t FunctionDecoder::literal(const Operand &operand, const char *what) const {
  if (operand.kind != Operand::Kind::Integer)
    fail(std::string("'") + std::string(statement->opcode) + "' wants a literal number as " + what);
  return operand.bits;
}

namespace {
uint64_t literalBits(const Operand &operand, Type type, bool &fits) {
  fits = true;
  if (operand.kind == Operand::Kind::Integer) {
    fits = type != Type::F32 && type != Type::F64 && type != Type::TF32;
    return operand.bits;
  }
  if (operand.kind == Operand::Kind::Float32) {
    if (typeSize(type) == 8 && isFloatType(type)) {
      float narrow;
      uint32_t bits = uint32_t(operand.bits);
      std::memcpy(&narrow, &bits, 4);
      double wide = narrow;
      uint64_t wideBits;
      std::memcpy(&wideBits, &wide, 8);
      return wideBits;
    }
    fits = typeSize(type) == 4;
    return operand.bits;
  }
  if (typeSize(type) == 4 && isFloatType(type)) {
    double wide;
    std::memcpy(&wide, &operand.bits, 8);
    float narrow = float(wide);
    uint32_t bits;
    std::memcpy(&bits, &narrow, 4);
    return bits;
  }
  fits = typeSize(type) == 8;
  return operand.bits;
}
} // namespace

uint32_t FunctionDecoder::source(const Operand &operand, Type type) {
  if (operand.negated)
    fail("'!' is allowed before predicates only");
  switch (operand.kind) {
  case Operand::Kind::Register:
    if (operand.second != Operand::none || operand.secondIsSink)
      fail("a source operand cannot be a pair");
    if (registerBytes(operand.id) != registerBytesOf(type))
      fail("register '" + function.registers[operand.id].name + "' is ." + typeName(registerType(operand.id)) +
           ", but '" + std::string(statement->opcode) + "' reads ." + typeName(type) + " here");
    return registerSlot(operand.id);
  case Operand::Kind::Integer:
  case Operand::Kind::Float32:
  case Operand::Kind::Float64: {
    bool fits;
    uint64_t bits = literalBits(operand, type, fits);
    if (!fits)
      fail(std::string("a literal of another type than .") + typeName(type) + " in '" + std::string(statement->opcode) +
           "'");
    return constant(registerBytesOf(type), bits);
  }
  case Operand::Kind::Name: {
    Special which;
    bool wide;
    if (specialRegister(operand.name, which, wide)) {
      unsigned bytes = registerBytesOf(type);
      if (bytes != 4 && bytes != 8)
        fail("special register '" + std::string(operand.name) + "' has 32 or 64 bits, not ." + typeName(type));
      return special(which, bytes == 8);
    }
    uint64_t address;
    Space space;
    if (symbolAddress(operand.name, address, space)) {
      if (registerBytesOf(type) != 8 && registerBytesOf(type) != 4)
        fail("the address of '" + std::string(operand.name) + "' does not fit ." + typeName(type));
      return constant(registerBytesOf(type), address + uint64_t(operand.offset), space == Space::Local);
    }
    fail("'" + std::string(operand.name) + "' is not declared");
  }
  default:
    fail("operand kind does not fit '" + std::string(statement->opcode) +
         "': expected a register or a number of type ." + typeName(type));
  }
}

/// A source that may sit in a register wider than `bytes`, as loads, stores and conversions allow.
uint32_t FunctionDecoder::sourceOfWidth(const Operand &operand, unsigned bytes, bool isSigned) {
  if (operand.kind == Operand::Kind::Register) {
    unsigned have = registerBytes(operand.id);
    if (have < bytes || !have)
      fail("register '" + function.registers[operand.id].name + "' is narrower than what '" +
           std::string(statement->opcode) + "' reads");
    if (have == bytes)
      return registerSlot(operand.id);
    Instruction copy = make();
    copy.execute = table.copy(have, bytes, false);
    copy.a = registerSlot(operand.id);
    copy.d = temporary(bytes);
    emit(copy);
    return copy.d;
  }
  static const Type types[] = {Type::None, Type::None, Type::B16,  Type::None, Type::B32,
                               Type::None, Type::None, Type::None, Type::B64};
  (void)isSigned;
  return source(operand, bytes == 16 ? Type::B128 : types[bytes]);
}

uint32_t FunctionDecoder::destination(const Operand &operand, Type type) {
  if (operand.kind == Operand::Kind::Sink)
    return sinkSlot();
  if (operand.kind != Operand::Kind::Register || operand.negated)
    fail("the destination of '" + std::string(statement->opcode) + "' must be a register");
  if (registerBytes(operand.id) != registerBytesOf(type))
    fail("register '" + function.registers[operand.id].name + "' is ." + typeName(registerType(operand.id)) +
         ", but '" + std::string(statement->opcode) + "' writes ." + typeName(type));
  return registerSlot(operand.id);
}

uint32_t FunctionDecoder::predicateSource(const Operand &operand, bool &negated) {
  negated = operand.negated;
  if (operand.kind == Operand::Kind::Integer)
    return constant(0, operand.bits ? ~uint64_t(0) : 0);
  if (operand.kind != Operand::Kind::Register || registerType(operand.id) != Type::Pred)
    fail("'" + std::string(statement->opcode) + "' wants a predicate here");
  return registerSlot(operand.id);
}

uint32_t FunctionDecoder::predicateDestination(const Operand &operand) {
  if (operand.kind == Operand::Kind::Sink)
    return sinkSlot();
  if (operand.kind != Operand::Kind::Register || registerType(operand.id) != Type::Pred)
    fail("'" + std::string(statement->opcode) + "' writes a predicate; expected a predicate register");
  return registerSlot(operand.id);
}

void FunctionDecoder::address(const Operand &operand, uint32_t &base, int64_t &offset, uint32_t &baseBytes,
                              Space space) {
  if (operand.kind != Operand::Kind::Address)
    fail("'" + std::string(statement->opcode) + "' wants an address in brackets");
  offset = operand.offset;
  baseBytes = 8;
  if (operand.id != Operand::none) {
    baseBytes = registerBytes(operand.id);
    bool narrowAllowed = space != Space::Global && space != Space::Generic;
    if (baseBytes != 8 && !(baseBytes == 4 && narrowAllowed))
      fail("address register '" + function.registers[operand.id].name + "' must have 64 bits for " + spaceName(space) +
           " memory");
    base = registerSlot(operand.id);
    return;
  }
  uint64_t value = 0;
  Space symbolSpace = Space::Generic;
  if (!operand.name.empty()) {
    if (!symbolAddress(operand.name, value, symbolSpace))
      fail("'" + std::string(operand.name) + "' is not a variable that is declared here");
    if (space == Space::Generic) {
      value += symbolSpace == Space::Shared  ? sharedWindow
               : symbolSpace == Space::Local ? localWindow
               : symbolSpace == Space::Param ? parameterWindow
                                             : 0;
    } else if (symbolSpace != space) {
      fail("'" + std::string(operand.name) + "' lies in " + spaceName(symbolSpace) + " memory, but '" +
           std::string(statement->opcode) + "' accesses " + spaceName(space) + " memory");
    }
  }
  base = constant(8, value, symbolSpace == Space::Local);
}

} // namespace weft::simulator
