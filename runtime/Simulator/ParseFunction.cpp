//===- ParseFunction.cpp - Function bodies of PTX text -----------------------------===//
#include "runtime/Simulator/Parser.h"

namespace weft::simulator {

uint32_t Parser::findRegister(std::string_view name) const {
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
    --digits;
  uint64_t number = 0;
  bool ranged = digits < name.size() && name.size() - digits <= 9 && (name[digits] != '0' || digits + 1 == name.size());
  if (ranged)
    for (char c : name.substr(digits))
      number = number * 10 + unsigned(c - '0');
  for (size_t level = scopes.size(); level-- > 0;) {
    const Scope &scope = scopes[level];
    if (ranged && !scope.ranges.empty()) {
      auto range = scope.ranges.find(name.substr(0, digits));
      if (range != scope.ranges.end() && number < range->second.count)
        return range->second.first + uint32_t(number);
    }
    if (!scope.registers.empty()) {
      auto found = scope.registers.find(name);
      if (found != scope.registers.end())
        return found->second;
    }
  }
  return Operand::none;
}

std::string_view Parser::renamed(std::string_view name) const {
  for (size_t level = scopes.size(); level-- > 0;) {
    auto found = scopes[level].renamed.find(name);
    if (found != scopes[level].renamed.end())
      return found->second;
  }
  return name;
}

void Parser::registerDeclaration(Function &function) {
  Type type = Type::None;
  uint32_t width = 1;
  while (token.kind == TokenKind::Word && token.text[0] == '.') {
    if (isWord(".v2") || isWord(".v4"))
      fail("vector registers ('" + std::string(token.text) + "') are not supported");
    type = typeFromSuffix(token.text.substr(1));
    if (type == Type::None)
      fail("unknown register type '" + std::string(token.text) + "'");
    advance();
  }
  if (type == Type::None)
    fail("expected a type after .reg, got " + shown());
  (void)width;
  do {
    std::string_view name = expectName("a register's name");
    uint64_t count = 1;
    bool range = accept('<');
    if (range) {
      count = expectInteger("a number of registers");
      expect('>', "after the number of registers");
      if (count > (1u << 20))
        fail(std::to_string(count) + " registers in one declaration; at most 1048576 are supported");
    }
    if (function.registers.size() + count > (1u << 20))
      fail("function '" + function.name + "' declares more than 1048576 registers");
    uint32_t first = uint32_t(function.registers.size());
    if (range) {
      if (!scopes.back().ranges.emplace(name, Scope::Range{first, uint32_t(count)}).second)
        fail("registers '" + std::string(name) + "<>' are declared twice in this scope");
      function.registers.resize(first + count);
      for (uint64_t i = 0; i < count; ++i) {
        function.registers[first + i].name = std::string(name) + std::to_string(i);
        function.registers[first + i].type = type;
      }
    } else {
      if (!scopes.back().registers.emplace(name, first).second)
        fail("register '" + std::string(name) + "' is declared twice in this scope");
      function.registers.push_back({std::string(name), type});
    }
  } while (accept(','));
  expect(';', "after a register declaration");
}

void Parser::localVariable(Function &function, Space space) {
  unsigned line = token.line;
  Variable made = variable(space);
  made.line = line;
  expect(';', "after a variable's declaration");
  if (space == Space::Global || space == Space::Const) {
    // Scoped by name only: one instance a module, as NVRTC uses it for static variables.
    module->variables.push_back(std::move(made));
    return;
  }
  module->madeNames.push_back(std::make_unique<std::string>(made.name));
  std::string_view written = *module->madeNames.back();
  std::string_view unique = written;
  if (!localNames.insert(unique).second) {
    module->madeNames.push_back(
        std::make_unique<std::string>(made.name + "#" + std::to_string(function.locals.size())));
    unique = *module->madeNames.back();
    localNames.insert(unique);
  }
  if (!scopes.back().renamed.emplace(written, unique).second)
    throw PtxError(line, "variable '" + made.name + "' is declared twice in this scope");
  made.name = std::string(unique);
  function.locals.push_back(std::move(made));
}

void Parser::branchTargets(Function &function, std::string_view label) {
  std::vector<std::string_view> targets;
  do
    targets.push_back(expectName("a label"));
  while (accept(','));
  expect(';', "after branch targets");
  function.branchTargets[label] = std::move(targets);
}

void Parser::body(Function &function) {
  expect('{', "before a function's body");
  function.hasBody = true;
  localNames.clear();
  scopes.clear();
  scopes.emplace_back();
  for (Variable *list : {function.results.data(), function.parameters.data()}) {
    size_t count = list == function.results.data() ? function.results.size() : function.parameters.size();
    if (!list)
      continue;
    for (size_t i = 0; i < count; ++i) {
      if (list[i].space != Space::Register)
        continue;
      module->madeNames.push_back(std::make_unique<std::string>(list[i].name));
      scopes.back().registers.emplace(*module->madeNames.back(), uint32_t(function.registers.size()));
      function.registers.push_back({list[i].name, list[i].type});
    }
    if (list == function.parameters.data())
      break;
  }
  while (!scopes.empty())
    statement(function);
}

void Parser::statement(Function &function) {
  if (token.kind == TokenKind::End)
    fail("function '" + function.name + "' is not closed; expected '}'");
  if (accept('{')) {
    if (scopes.size() > 64)
      fail("blocks are nested more than 64 deep");
    scopes.emplace_back();
    return;
  }
  if (accept('}')) {
    scopes.pop_back();
    return;
  }
  if (accept(';'))
    return;
  Space space;
  if (token.kind == TokenKind::Word && token.text[0] == '.') {
    if (acceptWord(".reg"))
      return registerDeclaration(function);
    if (isWord(".loc") || isWord(".pragma") || isWord(".file")) {
      if (isWord(".pragma"))
        return skipToSemicolon();
      // .loc has no terminator: it ends with its line.
      unsigned line = token.line;
      while (token.line == line && token.kind != TokenKind::End)
        advance();
      return;
    }
    bool isVisible = false, isExternal = false;
    linkage(isVisible, isExternal);
    if (spaceFromDirective(token.text, space)) {
      advance();
      return localVariable(function, space);
    }
    fail("unknown directive '" + std::string(token.text) + "' in a function");
  }
  instruction(function);
}

void Parser::instruction(Function &function) {
  Statement made;
  made.line = token.line;
  if (accept('@')) {
    made.guardNegated = accept('!');
    std::string_view name = expectName("a predicate register after '@'");
    made.guard = findRegister(name);
    if (made.guard == Operand::none || function.registers[made.guard].type != Type::Pred)
      fail("'" + std::string(name) + "' is not a predicate register");
  }
  if (token.kind != TokenKind::Word)
    fail("expected an instruction, got " + shown());
  std::string_view word = token.text;
  advance();
  if (made.guard == Operand::none && accept(':')) {
    if (acceptWord(".branchtargets"))
      return branchTargets(function, word);
    if (isWord(".callprototype"))
      return skipToSemicolon();
    if (!function.labels.emplace(word, uint32_t(function.statements.size())).second)
      throw PtxError(made.line, "label '" + std::string(word) + "' is defined twice");
    return;
  }
  made.opcode = word;
  if (!isPunctuation(';')) {
    do
      made.operands.push_back(operand(function));
    while (accept(','));
  }
  expect(';', ("after instruction '" + std::string(word) + "'").c_str());
  function.statements.push_back(std::move(made));
}

Operand Parser::plainOperand(Function &function) {
  Operand out;
  if (accept('!'))
    out.negated = true;
  bool minus = !out.negated && accept('-');
  switch (token.kind) {
  case TokenKind::Integer:
    out.kind = Operand::Kind::Integer;
    out.bits = minus ? 0 - token.bits : token.bits;
    advance();
    return out;
  case TokenKind::Float32:
    out.kind = Operand::Kind::Float32;
    out.bits = minus ? token.bits ^ 0x80000000u : token.bits;
    advance();
    return out;
  case TokenKind::Float64:
    out.kind = Operand::Kind::Float64;
    out.bits = minus ? token.bits ^ (uint64_t(1) << 63) : token.bits;
    advance();
    return out;
  case TokenKind::Word:
    break;
  default:
    fail("expected an operand, got " + shown());
  }
  if (token.text == "WARP_SZ") { // PTX's one named number
    out.kind = Operand::Kind::Integer;
    out.bits = minus ? 0 - uint64_t(32) : 32;
    advance();
    return out;
  }
  if (minus)
    fail("expected a number after '-', got " + shown());
  std::string_view name = token.text;
  if (name == "_") {
    out.kind = Operand::Kind::Sink;
    advance();
    if (accept('|')) {
      std::string_view second = expectName("a predicate register after '|'");
      out.second = findRegister(second);
      if (out.second == Operand::none)
        fail("'" + std::string(second) + "' is not a register");
    }
    return out;
  }
  advance();
  out.id = findRegister(name);
  if (out.id != Operand::none) {
    out.kind = Operand::Kind::Register;
    if (accept('|')) {
      std::string_view second = expectName("a register after '|'");
      if (second == "_") {
        out.secondIsSink = true;
      } else {
        out.second = findRegister(second);
        if (out.second == Operand::none)
          fail("'" + std::string(second) + "' is not a register");
      }
    }
    return out;
  }
  out.kind = Operand::Kind::Name;
  out.name = renamed(name);
  if (accept('+')) {
    bool negative = accept('-');
    uint64_t value = expectInteger("an offset");
    out.offset = int64_t(negative ? 0 - value : value);
  }
  return out;
}

Operand Parser::operand(Function &function) {
  if (accept('[')) {
    Operand out;
    out.kind = Operand::Kind::Address;
    if (token.kind == TokenKind::Integer) {
      out.offset = int64_t(token.bits);
      advance();
    } else {
      std::string_view name = expectName("a register, a variable or a number inside '[]'");
      out.id = findRegister(name);
      if (out.id == Operand::none)
        out.name = renamed(name);
    }
    while (isPunctuation('+') || isPunctuation('-')) {
      bool negative = isPunctuation('-');
      advance();
      if (accept('-'))
        negative = !negative;
      uint64_t value = expectInteger("an offset");
      out.offset = int64_t(uint64_t(out.offset) + (negative ? 0 - value : value));
    }
    if (isPunctuation(','))
      fail("texture, surface and tensor coordinates are not supported");
    expect(']', "after an address");
    return out;
  }
  if (isPunctuation('{') || isPunctuation('(')) {
    Operand out;
    bool braces = isPunctuation('{');
    out.kind = braces ? Operand::Kind::Vector : Operand::Kind::List;
    char close = braces ? '}' : ')';
    advance();
    if (accept(close))
      return out;
    do {
      if (out.elements.size() == 256)
        fail("more than 256 elements in one operand");
      out.elements.push_back(plainOperand(function));
    } while (accept(','));
    expect(close, "after the elements of an operand");
    return out;
  }
  return plainOperand(function);
}

} // namespace weft::simulator
