//===- Parser.h - The parser's state, shared by its two halves --------------------===//
#pragma once

#include "runtime/Simulator/Diagnostic.h"
#include "runtime/Simulator/Lexer.h"
#include "runtime/Simulator/Module.h"

#include <set>

namespace weft::simulator {

/// One nesting level of braces in a function body: what was declared in it.
struct Scope {
  std::unordered_map<std::string_view, uint32_t> registers;
  struct Range {
    uint32_t first, count;
  };
  std::unordered_map<std::string_view, Range> ranges; ///< "%r" of "%r<100>"
  std::unordered_map<std::string_view, std::string_view>
      renamed; ///< A local variable's name as written -> its unique one.
};

class Parser {
public:
  explicit Parser(std::string text) : module(std::make_unique<Module>()) {
    module->text = std::move(text);
    lexer = std::make_unique<Lexer>(module->text);
    advance();
  }
  std::unique_ptr<Module> run();

private:
  // Tokens.
  void advance() { token = lexer->next(); }
  bool isWord(const char *word) const { return token.kind == TokenKind::Word && token.text == word; }
  bool isPunctuation(char c) const { return token.kind == TokenKind::Punctuation && token.punctuation == c; }
  bool accept(char c) {
    if (!isPunctuation(c))
      return false;
    advance();
    return true;
  }
  bool acceptWord(const char *word) {
    if (!isWord(word))
      return false;
    advance();
    return true;
  }
  void expect(char c, const char *where) {
    if (!accept(c))
      fail(std::string("expected '") + c + "' " + where + ", got " + shown());
  }
  std::string_view expectName(const char *what) {
    if (token.kind != TokenKind::Word || token.text[0] == '.')
      fail(std::string("expected ") + what + ", got " + shown());
    std::string_view name = token.text;
    advance();
    return name;
  }
  uint64_t expectInteger(const char *what) {
    if (token.kind != TokenKind::Integer)
      fail(std::string("expected ") + what + " (an integer), got " + shown());
    uint64_t value = token.bits;
    advance();
    return value;
  }
  std::string shown() const {
    if (token.kind == TokenKind::End)
      return "the end of the text";
    return "'" + std::string(token.text) + "'";
  }
  [[noreturn]] void fail(const std::string &message) const { throw PtxError(token.line, message); }

  // Module level.
  void version();
  void target();
  void skipSection();
  bool linkage(bool &isVisible, bool &isExternal);
  Variable variable(Space space);
  void initialiser(Variable &variable);
  void initialElements(Variable &variable, unsigned depth);
  Variable parameter();
  std::vector<Variable> parameterList();
  void function(bool isEntry, bool isVisible, bool isExternal);
  bool performanceDirective(Function &function);
  void dimensions(uint32_t (&out)[3]);

  // Function bodies.
  void body(Function &function);
  void statement(Function &function);
  void registerDeclaration(Function &function);
  void localVariable(Function &function, Space space);
  void instruction(Function &function);
  Operand operand(Function &function);
  Operand plainOperand(Function &function);
  uint32_t findRegister(std::string_view name) const;
  std::string_view renamed(std::string_view name) const;
  void branchTargets(Function &function, std::string_view label);
  void skipToSemicolon();

  std::unique_ptr<Module> module;
  std::unique_ptr<Lexer> lexer;
  Token token;
  std::vector<Scope> scopes;
  std::set<std::string_view> localNames; ///< Unique names given out in this function.
};

/// The space that ".global" and its like name; false for other directives.
bool spaceFromDirective(std::string_view text, Space &space);

} // namespace weft::simulator
