//===- Decode.cpp - Plain instructions, and a function as a whole ------------------------===//
#include "runtime/Simulator/Decode.h"
#include "runtime/Simulator/Diagnostic.h"
#include "runtime/Simulator/Interpreter/FormBits.h"

#include <algorithm>

namespace weft::simulator {

unsigned registerBytesOf(Type type) {
  unsigned size = typeSize(type);
  return size == 1 ? 2 : size;
}

const Form &DecodeContext::form(std::string_view opcode, unsigned line) {
  auto found = forms.find(opcode);
  if (found == forms.end()) {
    auto made = std::make_unique<Form>();
    makeForm(opcode, *made);
    if (made->patterns.empty())
      throw PtxError(line, "unknown instruction form '" + std::string(opcode) + "': the simulator does not execute it");
    found = forms.emplace(opcode, std::move(made)).first;
  }
  return *found->second;
}

Instruction FunctionDecoder::make() const {
  Instruction made;
  made.line = statement->line;
  if (statement->guard != Operand::none) {
    made.guard = registerSlot(statement->guard);
    if (statement->guardNegated)
      made.flags |= GuardNegated;
  }
  return made;
}

void FunctionDecoder::emit(Instruction instruction) { out.code.push_back(instruction); }

/// Cuts the signature that fits the number of operands into destinations (returned) and sources.
std::vector<std::string_view> FunctionDecoder::signature(const Form &form, std::vector<std::string_view> &sources) {
  std::string wanted;
  for (const FormPattern *pattern : form.patterns) {
    std::string_view text = pattern->signature;
    size_t equals = text.find('=');
    std::vector<std::string_view> sides[2];
    for (int side = 0; side < 2; ++side) {
      std::string_view part = side == 0 ? text.substr(0, equals) : text.substr(equals + 1);
      while (!part.empty()) {
        size_t comma = part.find(',');
        sides[side].push_back(part.substr(0, comma));
        part = comma == std::string_view::npos ? std::string_view() : part.substr(comma + 1);
      }
    }
    size_t most = sides[0].size() + sides[1].size(), least = most;
    for (std::string_view token : sides[1])
      least -= token[0] == '?';
    if (statement->operands.size() >= least && statement->operands.size() <= most) {
      sources = sides[1];
      return sides[0];
    }
    wanted = std::to_string(least) + (most != least ? " to " + std::to_string(most) : std::string());
  }
  fail("'" + form.name + "' takes " + wanted + " operands, got " + std::to_string(statement->operands.size()));
}

/// Operands by the signature alone: destinations to d and e, sources to a, b, c, f.
void FunctionDecoder::generic(const Form &form, Handler handler) {
  if (!handler)
    fail("'" + form.name + "' is listed but has no implementation; this is a bug of the simulator");
  std::vector<std::string_view> sources;
  std::vector<std::string_view> destinations = signature(form, sources);
  Instruction made = make();
  made.execute = handler;
  if (form.family() == Family::Compare)
    made.immediate = formBits(form);
  size_t at = 0;
  auto typeOf = [&](std::string_view token) {
    if (token[0] == '?')
      token.remove_prefix(1);
    if (token == "T")
      return form.type(0);
    if (token == "U")
      return form.type(1);
    if (token == "W") {
      switch (form.type(0)) {
      case Type::U16:
        return Type::U32;
      case Type::S16:
        return Type::S32;
      case Type::U32:
        return Type::U64;
      case Type::S32:
        return Type::S64;
      default:
        return Type::None;
      }
    }
    return typeFromSuffix(token);
  };
  for (std::string_view token : destinations) {
    const Operand &operand = statement->operands[at++];
    if (token == "P" || token == "p") {
      made.d = predicateDestination(operand);
      if (operand.second != Operand::none) {
        if (token == "p" || registerType(operand.second) != Type::Pred)
          fail("'" + form.name + "' has one predicate as its result");
        made.e = registerSlot(operand.second);
        made.flags |= HasE;
      }
    } else if (token == "D|p") {
      made.d = operand.kind == Operand::Kind::Sink ? sinkSlot() : destination(operand, Type::B32);
      if (operand.second != Operand::none) {
        if (registerType(operand.second) != Type::Pred)
          fail("the second result of '" + form.name + "' is a predicate");
        made.e = registerSlot(operand.second);
        made.flags |= HasE;
      }
    } else {
      if (operand.second != Operand::none || operand.secondIsSink)
        fail("'" + form.name + "' has one result, not a pair");
      made.d = destination(operand, typeOf(token));
    }
  }
  uint32_t *slots[] = {&made.a, &made.b, &made.c, &made.f};
  const uint16_t negations[] = {NegateA, NegateB, NegateC, 0};
  unsigned slot = 0;
  for (std::string_view token : sources) {
    if (at == statement->operands.size())
      break;
    const Operand &operand = statement->operands[at++];
    if (token == "M") {
      made.immediate = int64_t(literal(operand, "its last operand"));
      continue;
    }
    if (token == "p") {
      bool negated;
      *slots[slot] = predicateSource(operand, negated);
      if (negated)
        made.flags |= negations[slot];
    } else {
      *slots[slot] = source(operand, typeOf(token));
    }
    ++slot;
  }
  switch (form.family()) {
  case Family::Shuffle:
  case Family::Vote:
    made.ending = Ending::WarpSync;
    made.target = *slots[slot - 1];
    break;
  default:
    break;
  }
  emit(made);
}

void FunctionDecoder::convert(const Form &form) {
  Handler handler = table.convert(form);
  if (!handler)
    fail("'" + form.name + "' is listed but has no implementation; this is a bug of the simulator");
  std::vector<std::string_view> sources;
  signature(form, sources);
  Type to = form.type(0), from = form.type(1);
  // Two sources of the packed forms; integers may sit in wider registers.
  uint32_t a = sourceOfWidth(statement->operands[1], registerBytesOf(from), isSignedType(from));
  uint32_t b = sources.size() == 2 ? source(statement->operands[2], from) : Instruction::none;
  const Operand &target = statement->operands[0];
  if (target.kind != Operand::Kind::Register)
    fail("the destination of '" + form.name + "' must be a register");
  Instruction made = make();
  made.execute = handler;
  made.immediate = formBits(form);
  made.a = a;
  made.b = b;
  unsigned have = registerBytes(target.id), natural = registerBytesOf(to);
  if (have < natural || !have)
    fail("register '" + function.registers[target.id].name + "' is narrower than ." + typeName(to));
  made.d = have == natural ? registerSlot(target.id) : temporary(natural);
  emit(made);
  if (have != natural) {
    Instruction copy = make();
    copy.execute = table.copy(natural, have, isSignedType(to));
    copy.a = made.d;
    copy.d = registerSlot(target.id);
    emit(copy);
  }
}

void FunctionDecoder::movePacked(unsigned bytes) {
  const Operand &to = statement->operands[0], &from = statement->operands[1];
  bool pack = from.kind == Operand::Kind::Vector;
  const Operand &vector = pack ? from : to;
  size_t count = vector.elements.size();
  if ((count != 2 && count != 4 && count != 8) || bytes % count || (pack && to.kind == Operand::Kind::Vector))
    fail("'" + std::string(statement->opcode) + "' packs or unpacks 2, 4 or 8 elements of equal width, got " +
         std::to_string(count));
  unsigned elementBytes = bytes / unsigned(count);
  Instruction made = make();
  made.target = uint32_t(out.pool.size());
  std::vector<uint32_t> slots;
  static const Type elementTypes[] = {Type::None, Type::B8,   Type::B16,  Type::None, Type::B32,
                                      Type::None, Type::None, Type::None, Type::B64};
  for (const Operand &element : vector.elements)
    slots.push_back(pack ? source(element, elementTypes[elementBytes])
                         : destination(element, elementTypes[elementBytes]));
  out.pool.insert(out.pool.end(), slots.begin(), slots.end());
  Type whole = bytes == 16 ? Type::B128 : elementTypes[bytes];
  if (pack)
    made.d = destination(to, whole);
  else
    made.a = source(from, whole);
  made.execute = pack ? table.pack(unsigned(count), elementBytes) : table.unpack(unsigned(count), elementBytes);
  if (!made.execute)
    fail("'" + std::string(statement->opcode) + "' with " + std::to_string(count) + " elements is not supported");
  emit(made);
}

void FunctionDecoder::move(const Form &form) {
  if (form.opcode() == "cvta") {
    Space space = spaceOf(form);
    return generic(form, table.convertAddress(space, form.has("to")));
  }
  if (form.opcode() == "isspacep")
    return generic(form, table.isSpace(spaceOf(form)));
  if (form.opcode() == "activemask")
    return generic(form, table.activeMask());
  if (form.opcode() == "createpolicy") {
    // What a policy says changes no value; it is one number for all.
    std::vector<std::string_view> sources;
    signature(form, sources);
    Instruction made = make();
    made.d = destination(statement->operands[0], Type::B64);
    made.a = constant(8, 1);
    made.execute = table.copy(8, 8, false);
    return emit(made);
  }
  if (form.opcode() == "nanosleep")
    return generic(form, table.nothing());
  if (statement->operands.size() != 2)
    fail("'" + form.name + "' takes 2 operands, got " + std::to_string(statement->operands.size()));
  Type type = form.type(0);
  unsigned bytes = typeSize(type);
  const Operand &to = statement->operands[0], &from = statement->operands[1];
  if (to.kind == Operand::Kind::Vector || from.kind == Operand::Kind::Vector)
    return movePacked(bytes);
  Instruction made = make();
  Special which;
  bool wide;
  made.d = destination(to, type);
  if (from.kind == Operand::Kind::Name && specialRegister(from.name, which, wide) && which >= Special::Clock &&
      which <= Special::GlobalTimerHi) {
    made.execute = table.readSpecial(which, bytes);
    emit(made);
    return;
  }
  made.a = source(from, type);
  made.execute = table.copy(bytes, bytes, false);
  emit(made);
}

void FunctionDecoder::decode(const Statement &s) {
  statement = &s;
  nextTemporary = 0;
  const Form &form = context.form(s.opcode, s.line);
  switch (form.family()) {
  case Family::Integer:
    return generic(form, table.integer(form));
  case Family::Predicate:
    return generic(form, table.predicate(form));
  case Family::Compare:
    return generic(form, table.compare(form));
  case Family::Float:
    return generic(form, table.floating(form));
  case Family::Half:
    return generic(form, table.half(form));
  case Family::Shuffle:
  case Family::Vote:
    return generic(form, table.warpwide(form));
  case Family::Convert:
    return convert(form);
  case Family::Move:
    return move(form);
  case Family::Load:
    return load(form);
  case Family::Store:
    return store(form);
  case Family::Atomic:
    return atomic(form);
  case Family::AsyncCopy:
    return asyncCopy(form);
  case Family::Fence: {
    Instruction made = make();
    made.execute = table.fence(form);
    if (!s.operands.empty())
      fail("'" + form.name + "' takes no operands");
    emit(made);
    return;
  }
  case Family::Hint: {
    std::vector<std::string_view> sources;
    signature(form, sources);
    Instruction made = make();
    made.execute = table.nothing();
    emit(made);
    return;
  }
  case Family::Barrier:
    return barrier(form);
  case Family::Control:
    return control(form);
  case Family::Matrix:
    return matrix(form);
  }
}

void FunctionDecoder::run() {
  out.source = &function;
  for (const Variable &variable : function.locals) {
    if (variable.space == Space::Local) {
      // Worst legal alignment, as for shared variables: aligned as declared and not more.
      uint32_t alignment = variable.alignment;
      uint32_t offset = (out.localBytes + 2 * alignment - 1) / (2 * alignment) * (2 * alignment) + alignment;
      localOffsets.emplace(variable.name, offset);
      if (variable.size > (1u << 24))
        fail("local variable '" + variable.name + "' is larger than 16 MiB");
      out.localBytes = offset + uint32_t(variable.size) + 16;
    }
  }
  auto area = [&](const Variable &variable) {
    if (variable.size > 65536)
      throw PtxError(variable.line, "parameter '" + variable.name + "' is larger than 64 KiB");
    uint32_t stride = uint32_t(std::max<uint64_t>(8, (variable.size + 7) / 8 * 8));
    uint32_t offset = allocate(stride * 32);
    areas.emplace(variable.name, Area{&variable, offset, stride});
    return CallSite::Block{offset, stride, false};
  };
  for (const Variable &variable : function.locals)
    if (variable.space == Space::Param)
      area(variable);
  registerOffsets.resize(function.registers.size());
  out.zeroFrom = frameEnd;
  // A slot for registers that some statement names; the declared ranges are often larger.
  std::vector<bool> used(function.registers.size(), false);
  std::function<void(const Operand &)> mark = [&](const Operand &operand) {
    if (operand.id != Operand::none)
      used[operand.id] = true;
    if (operand.second != Operand::none)
      used[operand.second] = true;
    for (const Operand &element : operand.elements)
      mark(element);
  };
  for (const Statement &s : function.statements) {
    if (s.guard != Operand::none)
      used[s.guard] = true;
    for (const Operand &operand : s.operands)
      mark(operand);
  }
  uint32_t registerParameters = 0;
  for (const auto *list : {&function.results, &function.parameters})
    for (const Variable &variable : *list)
      registerParameters += variable.space == Space::Register;
  for (uint32_t i = 0; i < function.registers.size(); ++i)
    if (used[i] || i < registerParameters)
      registerOffsets[i] = allocate(registerType(i) == Type::Pred ? 4 : registerBytes(i) * 32);
  out.zeroTo = frameEnd;
  uint32_t registerIndex = 0;
  if (!function.isEntry) {
    for (auto [list, blocks] :
         {std::make_pair(&function.results, &out.results), std::make_pair(&function.parameters, &out.parameters)}) {
      for (const Variable &variable : *list) {
        if (variable.space == Space::Register) {
          uint32_t id = registerIndex++;
          blocks->push_back({registerOffsets[id], registerBytes(id) * 32, true});
        } else {
          blocks->push_back(area(variable));
        }
      }
    }
  }
  for (const Statement &s : function.statements) {
    statementPc.push_back(uint32_t(out.code.size()));
    decode(s);
  }
  statementPc.push_back(uint32_t(out.code.size()));
  finish();
}

/// Resolves branch targets from statements to instructions and marks where straight pieces end.
void FunctionDecoder::finish() {
  Instruction last;
  last.line = function.statements.empty() ? function.line : function.statements.back().line;
  last.ending = function.isEntry ? Ending::Exit : Ending::Return;
  out.code.push_back(last);
  std::vector<bool> isLeader(out.code.size() + 1, false);
  for (const auto &label : function.labels)
    isLeader[statementPc[label.second]] = true;
  for (Instruction &instruction : out.code) {
    if (instruction.ending == Ending::Branch) {
      instruction.target = statementPc[instruction.target];
    } else if (instruction.ending == Ending::BranchIndexed) {
      uint32_t count = out.pool[instruction.target];
      for (uint32_t i = 1; i <= count; ++i)
        out.pool[instruction.target + i] = statementPc[out.pool[instruction.target + i]];
    }
  }
  for (uint32_t pc = 0; pc + 1 < out.code.size(); ++pc)
    if (isLeader[pc + 1] && out.code[pc].ending == Ending::None)
      out.code[pc].ending = Ending::FallThrough;
  out.frameBytes = frameEnd;
}

} // namespace weft::simulator
