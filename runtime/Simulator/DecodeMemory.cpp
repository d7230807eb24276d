//===- DecodeMemory.cpp - Loads, stores, atomics, barriers, calls and matrices -----===//
#include "runtime/Simulator/Decode.h"
#include "runtime/Simulator/Diagnostic.h"

namespace weft::simulator {

Space FunctionDecoder::spaceOf(const Form &form) const {
  for (std::string_view modifier : form.modifiers) {
    if (modifier == "global")
      return Space::Global;
    if (modifier == "shared" || modifier == "shared::cta")
      return Space::Shared;
    if (modifier == "local")
      return Space::Local;
    if (modifier == "const")
      return Space::Const;
    if (modifier == "param" || modifier == "param::entry" || modifier == "param::func")
      return Space::Param;
  }
  return Space::Generic;
}

void FunctionDecoder::orderFlags(const Form &form, Instruction &instruction) const {
  if (form.has("volatile") || form.has("relaxed") || form.has("acquire") || form.has("release") || form.has("acq_rel"))
    instruction.flags |= Atomic;
  if (form.has("acquire") || form.has("acq_rel"))
    instruction.flags |= Acquire;
  if (form.has("release") || form.has("acq_rel"))
    instruction.flags |= Release;
  if (form.has("cta"))
    instruction.flags |= BlockScope;
}

const Variable *FunctionDecoder::parameterArea(std::string_view name, uint32_t &offset, uint32_t &stride) const {
  auto found = areas.find(name);
  if (found == areas.end())
    return nullptr;
  offset = found->second.offset;
  stride = found->second.stride;
  return found->second.variable;
}

namespace {
unsigned vectorWidth(const Form &form) { return form.has("v2") ? 2 : form.has("v4") ? 4 : form.has("v8") ? 8 : 1; }
} // namespace

/// How many operands there are; with a cache hint one more than `without`: the policy, which changes no value.
size_t FunctionDecoder::checkCachePolicy(const Form &form, size_t without) {
  if (!form.has("L2::cache_hint"))
    return without;
  if (statement->operands.size() == without + 1)
    source(statement->operands[without], Type::B64);
  return without + 1;
}

void FunctionDecoder::load(const Form &form) {
  const auto &operands = statement->operands;
  if (operands.size() != checkCachePolicy(form, 2))
    fail("'" + form.name + "' takes a destination and an address, got " + std::to_string(operands.size()) +
         " operands");
  AccessShape shape;
  Type type = form.type(0);
  shape.memoryBytes = typeSize(type);
  shape.isSigned = isSignedType(type);
  shape.vector = vectorWidth(form);
  std::vector<const Operand *> targets;
  if (operands[0].kind == Operand::Kind::Vector)
    for (const Operand &element : operands[0].elements)
      targets.push_back(&element);
  else
    targets.push_back(&operands[0]);
  if (targets.size() != shape.vector)
    fail("'" + form.name + "' has " + std::to_string(shape.vector) + " destinations, got " +
         std::to_string(targets.size()));
  for (const Operand *target : targets) {
    if (target->kind == Operand::Kind::Sink)
      continue;
    if (target->kind != Operand::Kind::Register)
      fail("the destination of '" + form.name + "' must be a register");
    unsigned bytes = registerBytes(target->id);
    if (shape.registerBytes && bytes != shape.registerBytes)
      fail("the destinations of '" + form.name + "' must have the same width");
    shape.registerBytes = bytes;
  }
  if (!shape.registerBytes)
    shape.registerBytes = registerBytesOf(type);
  if (shape.registerBytes < shape.memoryBytes)
    fail("destination registers of " + std::to_string(shape.registerBytes * 8) + " bits are narrower than '" +
         form.name + "'");
  Instruction made = make();
  made.bytes = uint8_t(shape.memoryBytes * shape.vector);
  made.space = spaceOf(form);
  orderFlags(form, made);
  std::vector<uint32_t> slots;
  for (const Operand *target : targets)
    slots.push_back(target->kind == Operand::Kind::Sink ? sinkSlot() : registerSlot(target->id));
  made.d = slots[0];
  if (shape.vector > 1) {
    made.target = uint32_t(out.pool.size());
    out.pool.insert(out.pool.end(), slots.begin(), slots.end());
  }
  const Operand &from = operands[1];
  if (from.kind != Operand::Kind::Address)
    fail("'" + form.name + "' wants an address in brackets");
  if (made.space == Space::Param && !from.name.empty()) {
    uint32_t offset, stride;
    if (const Variable *variable = parameterArea(from.name, offset, stride)) {
      if (from.offset < 0 || uint64_t(from.offset) + made.bytes > variable->size)
        fail("'" + form.name + "' reads past parameter '" + std::string(from.name) + "' of " +
             std::to_string(variable->size) + " bytes");
      made.a = offset;
      made.b = stride;
      made.immediate = from.offset;
      made.execute = table.frameLoad(shape);
      emit(made);
      return;
    }
    uint64_t base;
    Space space;
    if (!symbolAddress(from.name, base, space) || space != Space::Param)
      fail("'" + std::string(from.name) + "' is not a parameter");
    made.immediate = int64_t(base) + from.offset;
    if (made.immediate < 0 || uint64_t(made.immediate) + made.bytes > kernel.parameterBytes)
      fail("'" + form.name + "' reads past the kernel's " + std::to_string(kernel.parameterBytes) +
           " bytes of parameters");
    if (made.immediate % made.bytes)
      fail("'" + form.name + "' reads parameter bytes at offset " + std::to_string(made.immediate) +
           ", which is not a multiple of " + std::to_string(made.bytes));
    made.execute = table.parameterLoad(shape);
    emit(made);
    return;
  }
  address(from, made.a, made.immediate, made.immediate2, made.space);
  made.execute = table.load(form, shape);
  emit(made);
}

void FunctionDecoder::store(const Form &form) {
  const auto &operands = statement->operands;
  if (operands.size() != checkCachePolicy(form, 2))
    fail("'" + form.name + "' takes an address and a value, got " + std::to_string(operands.size()) + " operands");
  AccessShape shape;
  Type type = form.type(0);
  shape.memoryBytes = typeSize(type);
  shape.vector = vectorWidth(form);
  std::vector<const Operand *> values;
  if (operands[1].kind == Operand::Kind::Vector)
    for (const Operand &element : operands[1].elements)
      values.push_back(&element);
  else
    values.push_back(&operands[1]);
  if (values.size() != shape.vector)
    fail("'" + form.name + "' stores " + std::to_string(shape.vector) + " values, got " +
         std::to_string(values.size()));
  // All values in registers of one width: the widest named.
  shape.registerBytes = registerBytesOf(type);
  for (const Operand *value : values)
    if (value->kind == Operand::Kind::Register)
      shape.registerBytes = std::max(shape.registerBytes, registerBytes(value->id));
  Instruction made = make();
  made.bytes = uint8_t(shape.memoryBytes * shape.vector);
  made.space = spaceOf(form);
  orderFlags(form, made);
  static const Type widths[] = {Type::None, Type::None, Type::B16,  Type::None, Type::B32,
                                Type::None, Type::None, Type::None, Type::B64};
  std::vector<uint32_t> slots;
  for (const Operand *value : values) {
    bool literalFloat = value->kind == Operand::Kind::Float32 || value->kind == Operand::Kind::Float64;
    slots.push_back(literalFloat ? source(*value, type) : source(*value, widths[shape.registerBytes]));
  }
  made.b = slots[0];
  if (shape.vector > 1) {
    made.target = uint32_t(out.pool.size());
    out.pool.insert(out.pool.end(), slots.begin(), slots.end());
  }
  const Operand &to = operands[0];
  if (made.space == Space::Param) {
    uint32_t offset, stride;
    const Variable *variable = to.kind == Operand::Kind::Address ? parameterArea(to.name, offset, stride) : nullptr;
    if (!variable)
      fail("'" + form.name + "' stores to something that is not a parameter of a call");
    if (to.offset < 0 || uint64_t(to.offset) + made.bytes > variable->size)
      fail("'" + form.name + "' writes past parameter '" + std::string(to.name) + "' of " +
           std::to_string(variable->size) + " bytes");
    made.a = offset;
    made.c = stride;
    made.immediate = to.offset;
    made.execute = table.frameStore(shape);
    emit(made);
    return;
  }
  if (made.space == Space::Const)
    fail("constant memory cannot be stored to");
  address(to, made.a, made.immediate, made.immediate2, made.space);
  made.execute = table.store(form, shape);
  emit(made);
}

void FunctionDecoder::atomic(const Form &form) {
  const auto &operands = statement->operands;
  bool hasResult = form.opcode() == "atom";
  bool compareAndSwap = form.has("cas");
  size_t wanted = (hasResult ? 1 : 0) + (compareAndSwap ? 3u : 2u);
  if (operands.size() != wanted)
    fail("'" + form.name + "' takes " + std::to_string(wanted) + " operands, got " + std::to_string(operands.size()));
  Instruction made = make();
  Type type = form.type(0);
  made.bytes = uint8_t(typeSize(type));
  made.space = spaceOf(form);
  orderFlags(form, made);
  made.flags |= Atomic;
  size_t at = 0;
  made.d = hasResult ? destination(operands[at++], type) : sinkSlot();
  if (hasResult)
    made.flags |= HasE;
  address(operands[at++], made.a, made.immediate, made.immediate2, made.space);
  made.b = source(operands[at++], type);
  if (compareAndSwap)
    made.c = source(operands[at++], type);
  made.execute = table.atomic(form);
  if (!made.execute)
    fail("'" + form.name + "' is listed but has no implementation; this is a bug of the simulator");
  emit(made);
}

void FunctionDecoder::asyncCopy(const Form &form) {
  const auto &operands = statement->operands;
  Instruction made = make();
  made.execute = table.asyncCopy(form);
  if (form.has("commit_group") || form.has("wait_all")) {
    if (!operands.empty())
      fail("'" + form.name + "' takes no operands");
  } else if (form.has("wait_group")) {
    if (operands.size() != 1)
      fail("'" + form.name + "' takes the number of groups that may stay pending");
    made.immediate = int64_t(literal(operands[0], "the number of groups"));
  } else {
    if (operands.size() < 3 || operands.size() > 4)
      fail("'" + form.name + "' takes 3 or 4 operands, got " + std::to_string(operands.size()));
    uint64_t bytes = literal(operands[2], "the number of bytes");
    if (bytes != 16 && (form.has("cg") || (bytes != 4 && bytes != 8)))
      fail("'" + form.name + "' copies " + (form.has("cg") ? "16" : "4, 8 or 16") + " bytes, got " +
           std::to_string(bytes));
    made.bytes = uint8_t(bytes);
    uint32_t baseBytes;
    int64_t fromOffset;
    address(operands[0], made.a, made.immediate, made.immediate2, Space::Shared);
    address(operands[1], made.b, fromOffset, baseBytes, Space::Global);
    if (fromOffset < INT32_MIN || fromOffset > INT32_MAX)
      fail("address offset " + std::to_string(fromOffset) + " does not fit 32 bits");
    made.target = uint32_t(int32_t(fromOffset));
    if (operands.size() == 4) {
      made.c = source(operands[3], Type::U32);
      made.flags |= HasE;
    }
  }
  emit(made);
}

void FunctionDecoder::barrier(const Form &form) {
  const auto &operands = statement->operands;
  Instruction made = make();
  if (form.has("warp")) {
    if (operands.size() != 1)
      fail("'" + form.name + "' takes a member mask");
    made.a = source(operands[0], Type::B32);
    made.ending = Ending::WarpSync;
    made.target = made.a;
    made.flags |= Release; // unlike shuffles and votes, it orders memory
    made.execute = table.nothing();
    emit(made);
    return;
  }
  made.ending = Ending::Barrier;
  if (form.opcode() == "bar" || form.has("aligned"))
    made.flags |= AlignedBarrier;
  bool reduces = form.has("red"), arrives = form.has("arrive");
  size_t at = 0;
  made.immediate = arrives ? 1 : form.has("popc") ? 2 : form.has("and") ? 3 : form.has("or") ? 4 : 0;
  size_t least = reduces ? 3 : arrives ? 2 : 1, most = reduces ? 4 : 2;
  if (operands.size() < least || operands.size() > most)
    fail("'" + form.name + "' takes " + std::to_string(least) + " to " + std::to_string(most) + " operands, got " +
         std::to_string(operands.size()));
  if (reduces)
    made.d = form.has("popc") ? destination(operands[at++], Type::U32) : predicateDestination(operands[at++]);
  made.a = source(operands[at++], Type::U32);
  if (at + (reduces ? 1 : 0) < operands.size())
    made.b = source(operands[at++], Type::U32);
  if (reduces) {
    bool negated;
    made.c = predicateSource(operands[at++], negated);
    if (negated)
      made.flags |= NegateC;
  }
  emit(made);
}

void FunctionDecoder::control(const Form &form) {
  const auto &operands = statement->operands;
  std::string_view opcode = form.opcode();
  Instruction made = make();
  auto labelOf = [&](std::string_view name) {
    auto found = function.labels.find(name);
    if (found == function.labels.end())
      fail("label '" + std::string(name) + "' is not defined in function '" + function.name + "'");
    return found->second;
  };
  if (opcode == "call")
    return call(form);
  if (opcode == "bra") {
    if (operands.size() != 1 || operands[0].kind != Operand::Kind::Name)
      fail("'" + form.name + "' takes a label");
    made.ending = Ending::Branch;
    made.target = labelOf(operands[0].name);
  } else if (opcode == "brx") {
    if (operands.size() != 2 || operands[1].kind != Operand::Kind::Name)
      fail("'" + form.name + "' takes an index and the label of a .branchtargets list");
    auto targets = function.branchTargets.find(operands[1].name);
    if (targets == function.branchTargets.end())
      fail("'" + std::string(operands[1].name) + "' is not the label of a .branchtargets list");
    made.ending = Ending::BranchIndexed;
    made.a = source(operands[0], Type::U32);
    made.target = uint32_t(out.pool.size());
    out.pool.push_back(uint32_t(targets->second.size()));
    for (std::string_view name : targets->second)
      out.pool.push_back(labelOf(name));
  } else {
    if (!operands.empty())
      fail("'" + form.name + "' takes no operands");
    made.ending = opcode == "ret"    ? (function.isEntry ? Ending::Exit : Ending::Return)
                  : opcode == "exit" ? Ending::Exit
                                     : Ending::Trap;
  }
  emit(made);
}

void FunctionDecoder::call(const Form &form) {
  const auto &operands = statement->operands;
  size_t at = 0;
  CallSite site;
  const Operand *results = nullptr, *arguments = nullptr;
  if (at < operands.size() && operands[at].kind == Operand::Kind::List)
    results = &operands[at++];
  if (at >= operands.size())
    fail("'call' names no function");
  const Operand &callee = operands[at++];
  if (callee.kind != Operand::Kind::Name)
    fail("a call through a register is not supported");
  if (at < operands.size() && operands[at].kind == Operand::Kind::List)
    arguments = &operands[at++];
  if (at != operands.size())
    fail("unexpected operands after the arguments of 'call'");
  auto blocks = [&](const Operand *list, std::vector<CallSite::Block> &into, bool isResult) {
    if (!list)
      return;
    for (const Operand &element : list->elements) {
      uint32_t offset, stride;
      if (element.kind == Operand::Kind::Name && parameterArea(element.name, offset, stride))
        into.push_back({offset, stride, false});
      else if (element.kind == Operand::Kind::Register)
        into.push_back({registerSlot(element.id), registerBytes(element.id) * 32, true});
      else if (!isResult && element.kind == Operand::Kind::Integer)
        into.push_back({constant(4, element.bits), 128, true});
      else
        fail("an argument of 'call' must be a parameter block or a register");
    }
  };
  blocks(results, site.results, true);
  blocks(arguments, site.arguments, false);
  struct BuiltinRow {
    const char *name;
    CallSite::Builtin builtin;
    size_t arguments;
  };
  static const BuiltinRow builtins[] = {{"vprintf", CallSite::Builtin::Vprintf, 2},
                                        {"__assertfail", CallSite::Builtin::AssertFail, 5},
                                        {"malloc", CallSite::Builtin::Malloc, 1},
                                        {"free", CallSite::Builtin::Free, 1}};
  auto found = context.module.functionIndex.find(callee.name);
  bool hasBody = found != context.module.functionIndex.end() && context.module.functions[found->second]->hasBody;
  for (const auto &row : builtins) {
    if (hasBody || callee.name != row.name)
      continue;
    site.builtin = row.builtin;
    if (site.arguments.size() != row.arguments)
      fail(std::string("built-in function '") + row.name + "' takes " + std::to_string(row.arguments) +
           " arguments, got " + std::to_string(site.arguments.size()));
    if (row.builtin == CallSite::Builtin::Malloc || row.builtin == CallSite::Builtin::Free)
      fail("device-side malloc and free are not supported");
  }
  if (site.builtin == CallSite::Builtin::None) {
    site.callee = calleeIndex(callee.name, statement->line);
    const Function &target = *context.module.functions[context.module.functionIndex.at(callee.name)];
    if (target.parameters.size() != site.arguments.size() || target.results.size() != site.results.size())
      fail("'" + target.name + "' takes " + std::to_string(target.parameters.size()) + " arguments and has " +
           std::to_string(target.results.size()) + " results; the call passes " +
           std::to_string(site.arguments.size()) + " and " + std::to_string(site.results.size()));
    auto same = [&](const std::vector<Variable> &formal, const std::vector<CallSite::Block> &actual) {
      for (size_t i = 0; i < formal.size(); ++i) {
        bool isRegister = formal[i].space == Space::Register;
        uint32_t size = isRegister ? registerBytesOf(formal[i].type) * 32
                                   : uint32_t(std::max<uint64_t>(8, (formal[i].size + 7) / 8 * 8));
        if (isRegister != actual[i].isRegister || size != actual[i].size)
          fail("argument or result " + std::to_string(i) + " of the call to '" + target.name +
               "' has another size than declared");
      }
    };
    same(target.parameters, site.arguments);
    same(target.results, site.results);
  }
  Instruction made = make();
  made.ending = Ending::Call;
  made.target = uint32_t(out.calls.size());
  out.calls.push_back(std::move(site));
  emit(made);
}

void FunctionDecoder::matrix(const Form &form) {
  const auto &operands = statement->operands;
  Instruction made = make();
  made.ending = Ending::WarpSync;
  made.target = constant(4, 0xffffffff);
  made.execute = table.matrix(form);
  if (!made.execute)
    fail("'" + form.name + "' is listed but has no implementation; this is a bug of the simulator");
  auto list = [&](const Operand &operand, size_t count, Type type, bool isDestination) {
    const std::vector<Operand> single{operand};
    const std::vector<Operand> &elements = operand.kind == Operand::Kind::Vector ? operand.elements : single;
    if (elements.size() != count)
      fail("'" + form.name + "' wants " + std::to_string(count) + " registers here, got " +
           std::to_string(elements.size()));
    std::vector<uint32_t> slots;
    for (const Operand &element : elements)
      slots.push_back(isDestination ? destination(element, type) : source(element, type));
    out.pool.insert(out.pool.end(), slots.begin(), slots.end());
  };
  made.immediate2 = uint32_t(out.pool.size());
  if (form.opcode() == "mma") {
    if (operands.size() != 4)
      fail("'" + form.name + "' takes 4 operands, got " + std::to_string(operands.size()));
    Type d = form.type(0), a = form.type(1), c = form.type(3);
    unsigned k = 0;
    for (std::string_view modifier : form.modifiers)
      if (modifier.substr(0, 5) == "m16n8" || modifier.substr(0, 4) == "m8n8")
        for (char digit : modifier.substr(modifier.rfind('k') + 1))
          k = k * 10 + unsigned(digit - '0');
    bool isDouble = d == Type::F64;
    unsigned rows = isDouble ? 8 : 16;
    unsigned elementBytes = typeSize(a);
    auto accumulators = [&](Type type) { return isDouble ? 2u : type == Type::F16 ? 2u : 4u; };
    auto registerType = [&](Type type) { return isDouble ? Type::F64 : type == Type::F16 ? Type::B32 : Type::B32; };
    Type inputRegister = isDouble ? Type::F64 : Type::B32;
    unsigned inputBytes = isDouble ? 8 : 4;
    list(operands[0], accumulators(d), registerType(d), true);
    list(operands[1], rows * k * elementBytes / 32 / inputBytes, inputRegister, false);
    list(operands[2], 8 * k * elementBytes / 32 / inputBytes, inputRegister, false);
    list(operands[3], accumulators(c), registerType(c), false);
  } else if (form.opcode() == "movmatrix") {
    if (operands.size() != 2)
      fail("'" + form.name + "' takes 2 operands");
    list(operands[0], 1, Type::B32, true);
    list(operands[1], 1, Type::B32, false);
  } else {
    bool isStore = form.opcode() == "stmatrix";
    if (operands.size() != 2)
      fail("'" + form.name + "' takes 2 operands");
    unsigned count = form.has("x4") ? 4 : form.has("x2") ? 2 : 1;
    made.space = spaceOf(form);
    uint32_t baseBytes;
    address(operands[isStore ? 0 : 1], made.a, made.immediate, baseBytes, made.space);
    made.e = baseBytes;
    list(operands[isStore ? 1 : 0], count, Type::B32, !isStore);
    made.bytes = 16;
  }
  emit(made);
}

} // namespace weft::simulator
