//===- Parser.cpp - The module level of PTX text --------------------------------------===//
#include "runtime/Simulator/Parser.h"

#include <algorithm>
#include <cstring>

namespace weft::simulator {

const char *spaceName(Space space) {
  static const char *const names[] = {"generic", "global", "shared", "local", "const", "param", "reg"};
  return names[size_t(space)];
}

bool spaceFromDirective(std::string_view text, Space &space) {
  if (text == ".global")
    space = Space::Global;
  else if (text == ".const")
    space = Space::Const;
  else if (text == ".shared")
    space = Space::Shared;
  else if (text == ".local")
    space = Space::Local;
  else if (text == ".param")
    space = Space::Param;
  else
    return false;
  return true;
}

void Parser::version() {
  advance();
  if (token.kind != TokenKind::Float64)
    fail("expected a version such as 8.7 after .version, got " + shown());
  size_t dot = token.text.find('.');
  unsigned major = 0, minor = 0;
  for (char c : token.text.substr(0, dot))
    major = major * 10 + unsigned(c - '0') % 10;
  for (char c : token.text.substr(dot + 1))
    minor = minor * 10 + unsigned(c - '0') % 10;
  module->version = major * 10 + minor;
  if (module->version < 60 || module->version > 99)
    fail("PTX version " + std::string(token.text) + " is not supported; expected 6.0 to 9.x");
  advance();
}

void Parser::target() {
  advance();
  do {
    std::string_view name = expectName("a target such as sm_90");
    if (name.substr(0, 3) == "sm_") {
      module->target = std::string(name);
      unsigned number = 0;
      for (char c : name.substr(3)) {
        if (c < '0' || c > '9')
          break;
        number = number * 10 + unsigned(c - '0');
        if (number > 9999)
          break;
      }
      module->architecture = number;
      if (number < 50 || number > 130)
        throw PtxError(token.line, "target '" + std::string(name) + "' is not supported; expected sm_50 to sm_130");
    } else if (name != "debug" && name != "texmode_independent" && name != "texmode_unified") {
      throw PtxError(token.line, "unknown target '" + std::string(name) + "'");
    }
  } while (accept(','));
}

void Parser::skipSection() {
  advance();
  while (token.kind == TokenKind::Word)
    advance();
  if (!accept('{'))
    return;
  unsigned depth = 1;
  while (depth) {
    if (token.kind == TokenKind::End)
      fail("section is not closed; expected '}'");
    if (isPunctuation('{'))
      ++depth;
    if (isPunctuation('}'))
      --depth;
    advance();
  }
}

bool Parser::linkage(bool &isVisible, bool &isExternal) {
  if (acceptWord(".visible") || acceptWord(".weak") || acceptWord(".common")) {
    isVisible = true;
    return true;
  }
  if (acceptWord(".extern")) {
    isExternal = true;
    return true;
  }
  return false;
}

/// After the space: [.align N] [.attribute(...)] [.vK] .type name [dims] [= initialiser]
Variable Parser::variable(Space space) {
  Variable out;
  out.space = space;
  out.line = token.line;
  for (;;) {
    if (acceptWord(".align")) {
      uint64_t alignment = expectInteger("an alignment");
      if (alignment == 0 || alignment > 4096 || (alignment & (alignment - 1)))
        fail("alignment " + std::to_string(alignment) + " is not a power of two up to 4096");
      out.alignment = uint32_t(alignment);
    } else if (acceptWord(".attribute")) {
      expect('(', "after .attribute");
      while (!accept(')')) {
        if (token.kind == TokenKind::End)
          fail(".attribute is not closed; expected ')'");
        advance();
      }
    } else if (isWord(".v2") || isWord(".v4") || isWord(".v8")) {
      out.vectorWidth = uint32_t(token.text[2] - '0');
      advance();
    } else if (acceptWord(".ptr")) {
      out.isPointer = true;
      if (isWord(".global") || isWord(".shared") || isWord(".const") || isWord(".local"))
        advance();
      if (acceptWord(".align"))
        expectInteger("an alignment"); // that of what is pointed to
    } else if (token.kind == TokenKind::Word && token.text[0] == '.' && out.type == Type::None) {
      out.type = typeFromSuffix(token.text.substr(1));
      if (out.type == Type::None)
        fail("unknown type '" + std::string(token.text) + "' in a declaration");
      advance();
    } else {
      break;
    }
  }
  if (out.type == Type::None)
    fail("expected a type in the declaration, got " + shown());
  if (out.type == Type::Pred && space != Space::Register)
    fail("a predicate cannot be a variable in memory");
  out.name = std::string(expectName("a variable's name"));
  uint64_t count = 1;
  bool unsized = false;
  while (accept('[')) {
    if (accept(']')) {
      unsized = true;
      continue;
    }
    uint64_t extent = expectInteger("an array extent");
    expect(']', "after an array extent");
    if (extent && count > (uint64_t(1) << 40) / extent)
      fail("array '" + out.name + "' is larger than 2^40 elements");
    count *= extent;
  }
  out.size = unsized ? 0 : count * out.vectorWidth * typeSize(out.type);
  if (!out.alignment)
    out.alignment = std::max(1u, typeSize(out.type) * out.vectorWidth);
  if (accept('='))
    initialiser(out);
  if (unsized && !out.initial.empty())
    out.size = out.initial.size() * typeSize(out.type);
  return out;
}

void Parser::initialiser(Variable &variable) {
  if (variable.space != Space::Global && variable.space != Space::Const)
    fail("only .global and .const variables can have an initialiser");
  initialElements(variable, 0);
  if (variable.size && variable.initial.size() * typeSize(variable.type) > variable.size)
    fail("initialiser of '" + variable.name + "' has " + std::to_string(variable.initial.size()) +
         " elements; the variable holds " + std::to_string(variable.size / typeSize(variable.type)));
}

void Parser::initialElements(Variable &variable, unsigned depth) {
  if (depth > 16)
    fail("initialiser is nested more than 16 deep");
  if (accept('{')) {
    if (accept('}'))
      return;
    do
      initialElements(variable, depth + 1);
    while (accept(','));
    expect('}', "after an initialiser");
    return;
  }
  InitialValue value;
  bool negative = accept('-');
  if (token.kind == TokenKind::Integer) {
    value.bits = negative ? 0 - token.bits : token.bits;
    advance();
  } else if (token.kind == TokenKind::Float32 || token.kind == TokenKind::Float64) {
    value.isFloat = true;
    value.bits = token.bits;
    bool single = token.kind == TokenKind::Float32;
    if (single && variable.type == Type::F64) {
      float narrow;
      uint32_t narrowBits = uint32_t(token.bits);
      std::memcpy(&narrow, &narrowBits, 4);
      double wide = narrow;
      std::memcpy(&value.bits, &wide, 8);
    } else if (!single && typeSize(variable.type) == 4) {
      double wide;
      std::memcpy(&wide, &value.bits, 8);
      float narrow = float(wide);
      uint32_t narrowBits;
      std::memcpy(&narrowBits, &narrow, 4);
      value.bits = narrowBits;
    }
    if (negative)
      value.bits ^= uint64_t(1) << (typeSize(variable.type) * 8 - 1);
    advance();
  } else if (token.kind == TokenKind::Word && token.text[0] != '.') {
    value.symbol = token.text;
    advance();
    if (value.symbol == "generic") {
      value.generic = true;
      expect('(', "after generic");
      value.symbol = expectName("a variable's name");
      expect(')', "after the variable of generic");
    }
    if (accept('+'))
      value.bits = expectInteger("an offset");
    else if (accept('-'))
      value.bits = 0 - expectInteger("an offset");
    if (typeSize(variable.type) != 8)
      fail("the address of '" + std::string(value.symbol) + "' needs an element of 8 bytes, not ." +
           typeName(variable.type));
  } else {
    fail("expected an initial value, got " + shown());
  }
  variable.initial.push_back(value);
}

Variable Parser::parameter() {
  Space space = Space::Param;
  if (acceptWord(".reg"))
    space = Space::Register;
  else if (!acceptWord(".param"))
    fail("expected .param or .reg, got " + shown());
  return variable(space);
}

std::vector<Variable> Parser::parameterList() {
  std::vector<Variable> out;
  expect('(', "before parameters");
  if (accept(')'))
    return out;
  do
    out.push_back(parameter());
  while (accept(','));
  expect(')', "after parameters");
  return out;
}

void Parser::dimensions(uint32_t (&out)[3]) {
  advance();
  out[0] = out[1] = out[2] = 1;
  unsigned index = 0;
  do {
    if (index == 3)
      fail("expected at most three extents");
    uint64_t value = expectInteger("an extent");
    if (value == 0 || value > 65535)
      fail("extent " + std::to_string(value) + " is not between 1 and 65535");
    out[index++] = uint32_t(value);
  } while (accept(','));
}

bool Parser::performanceDirective(Function &function) {
  if (isWord(".maxntid"))
    dimensions(function.bounds.maxThreads);
  else if (isWord(".reqntid"))
    dimensions(function.bounds.requiredThreads);
  else if (isWord(".reqnctapercluster"))
    dimensions(function.bounds.cluster);
  else if (acceptWord(".minnctapersm"))
    function.bounds.minimumBlocks = uint32_t(expectInteger("a number of blocks"));
  else if (acceptWord(".maxnctapersm") || acceptWord(".maxclusterrank"))
    expectInteger("a number of blocks");
  else if (acceptWord(".maxnreg"))
    function.bounds.maxRegisters = uint32_t(expectInteger("a number of registers"));
  else if (acceptWord(".noreturn"))
    function.noReturn = true;
  else if (acceptWord(".explicitcluster") || acceptWord(".blocksareclusters"))
    return true;
  else if (isWord(".pragma"))
    skipToSemicolon();
  else if (acceptWord(".abi_preserve") || acceptWord(".abi_preserve_control"))
    expectInteger("a number of registers");
  else if (acceptWord(".attribute")) {
    expect('(', "after .attribute");
    while (!accept(')')) {
      if (token.kind == TokenKind::End)
        fail(".attribute is not closed; expected ')'");
      advance();
    }
  } else
    return false;
  return true;
}

void Parser::skipToSemicolon() {
  while (!isPunctuation(';')) {
    if (token.kind == TokenKind::End)
      fail("expected ';' before the end of the text");
    advance();
  }
  advance();
}

void Parser::function(bool isEntry, bool isVisible, bool isExternal) {
  auto made = std::make_unique<Function>();
  made->line = token.line;
  made->isEntry = isEntry;
  made->isVisible = isVisible;
  if (!isEntry) {
    while (performanceDirective(*made)) {
    }
    if (isPunctuation('('))
      made->results = parameterList();
    if (made->results.size() > 1)
      fail("a function has at most one return parameter, got " + std::to_string(made->results.size()));
  }
  made->name = std::string(expectName("a function's name"));
  if (isPunctuation('('))
    made->parameters = parameterList();
  while (performanceDirective(*made)) {
  }
  if (!accept(';')) {
    if (isExternal)
      fail("an .extern function has no body; expected ';', got " + shown());
    body(*made);
  }
  auto found = module->functionIndex.find(made->name);
  if (found != module->functionIndex.end()) {
    Function &earlier = *module->functions[found->second];
    if (earlier.hasBody && made->hasBody)
      throw PtxError(made->line,
                     "function '" + made->name + "' was already defined at line " + std::to_string(earlier.line));
    if (earlier.isEntry != made->isEntry || earlier.parameters.size() != made->parameters.size())
      throw PtxError(made->line, "function '" + made->name + "' differs from its declaration at line " +
                                     std::to_string(earlier.line));
    if (!made->hasBody)
      return;
    uint32_t index = found->second;
    module->functionIndex.erase(found); // its key points into the declaration that goes
    module->functions[index] = std::move(made);
    module->functionIndex.emplace(module->functions[index]->name, index);
    return;
  }
  module->functions.push_back(std::move(made));
  module->functionIndex.emplace(module->functions.back()->name, uint32_t(module->functions.size() - 1));
}

std::unique_ptr<Module> Parser::run() {
  if (!isWord(".version"))
    fail("expected .version at the start of a PTX module, got " + shown());
  version();
  while (token.kind != TokenKind::End) {
    bool isVisible = false, isExternal = false;
    if (isWord(".target")) {
      target();
    } else if (acceptWord(".address_size")) {
      if (expectInteger("64") != 64)
        fail("only modules with .address_size 64 are supported");
    } else if (isWord(".version")) {
      version();
    } else if (isWord(".file")) {
      unsigned line = token.line;
      while (token.line == line && token.kind != TokenKind::End)
        advance();
    } else if (isWord(".section")) {
      skipSection();
    } else if (isWord(".pragma") || isWord(".alias")) {
      if (isWord(".alias"))
        fail("'.alias' is not supported; call the function by its own name");
      skipToSemicolon();
    } else {
      while (linkage(isVisible, isExternal)) {
      }
      Space space;
      if (acceptWord(".entry")) {
        function(true, isVisible, isExternal);
      } else if (acceptWord(".func")) {
        function(false, isVisible, isExternal);
      } else if (token.kind == TokenKind::Word && spaceFromDirective(token.text, space) && space != Space::Param) {
        advance();
        Variable made = variable(space);
        made.isVisible = isVisible;
        made.isExternal = isExternal;
        expect(';', "after a variable's declaration");
        module->variables.push_back(std::move(made));
      } else if (token.kind == TokenKind::Word && token.text[0] == '.') {
        fail("unknown directive '" + std::string(token.text) + "'");
      } else {
        fail("expected a directive, got " + shown());
      }
    }
  }
  if (module->target.empty())
    throw PtxError(0, "the module has no .target");
  for (uint32_t i = 0; i < module->variables.size(); ++i) {
    const Variable &variable = module->variables[i];
    if (!module->variableIndex.emplace(variable.name, i).second)
      throw PtxError(variable.line, "variable '" + variable.name + "' is declared twice");
  }
  std::string_view rest = module->text;
  while (!rest.empty()) {
    size_t end = rest.find('\n');
    module->lines.push_back(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return std::move(module);
}

std::unique_ptr<Module> parseModule(std::string text) { return Parser(std::move(text)).run(); }

} // namespace weft::simulator
