//===- Lexer.h - Words, numbers and punctuation of PTX text -----------------===//
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::simulator {

enum class TokenKind : uint8_t {
  End,
  Word,    ///< An identifier, a directive (".reg"), an opcode with its modifiers ("ld.global.v2.f32") or "%tid.x".
  Integer, ///< Decimal, 0x, 0b or octal, an optional U suffix.
  Float32, ///< 0fHHHHHHHH: the bits.
  Float64, ///< 0dHHHHHHHHHHHHHHHH or a decimal with a point: the bits of a double.
  String,  ///< Without its quotes.
  Punctuation
};

struct Token {
  TokenKind kind = TokenKind::End;
  char punctuation = 0;
  unsigned line = 1;
  std::string_view text;
  uint64_t bits = 0;
};

/// Cuts a text into tokens on demand. The text must outlive the tokens. Throws PtxError on a character or a number
/// that PTX does not have.
class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}
  Token next();

private:
  void skipBlanks();
  Token number();
  std::string_view text;
  size_t position = 0;
  unsigned line = 1;
};

} // namespace weft::simulator
