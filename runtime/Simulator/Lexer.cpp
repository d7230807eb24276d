//===- Lexer.cpp - Words, numbers and punctuation of PTX text ---------------===//
#include "runtime/Simulator/Lexer.h"
#include "runtime/Simulator/Diagnostic.h"

#include <cstdlib>
#include <cstring>
#include <string>

namespace weft::simulator {

namespace {
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
int hexValue(char c) {
  if (isDigit(c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}
} // namespace

void Lexer::skipBlanks() {
  while (position < text.size()) {
    char c = text[position];
    if (c == '\n') {
      ++line;
      ++position;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++position;
    } else if (text.compare(position, 2, "//") == 0) {
      while (position < text.size() && text[position] != '\n')
        ++position;
    } else if (text.compare(position, 2, "/*") == 0) {
      unsigned start = line;
      size_t end = text.find("*/", position + 2);
      if (end == std::string_view::npos)
        throw PtxError(start, "comment is not closed; expected '*/'");
      for (; position < end + 2; ++position)
        line += text[position] == '\n';
    } else {
      return;
    }
  }
}

Token Lexer::number() {
  Token token;
  token.line = line;
  size_t start = position;
  auto hexDigits = [&](unsigned wanted) {
    uint64_t value = 0;
    unsigned count = 0;
    while (position < text.size() && hexValue(text[position]) >= 0) {
      if (count == 16)
        throw PtxError(line,
                       "number '" + std::string(text.substr(start, position - start)) + "...' does not fit 64 bits");
      value = value * 16 + unsigned(hexValue(text[position]));
      ++position;
      ++count;
    }
    if (count == 0 || (wanted && count != wanted))
      throw PtxError(line, "malformed number '" + std::string(text.substr(start, position - start)) + "': expected " +
                               (wanted ? std::to_string(wanted) : "at least 1") + " hexadecimal digits");
    return value;
  };
  char second = position + 1 < text.size() ? text[position + 1] : 0;
  if (text[position] == '0' && (second == 'f' || second == 'F')) {
    position += 2;
    token.kind = TokenKind::Float32;
    token.bits = hexDigits(8);
  } else if (text[position] == '0' && (second == 'd' || second == 'D')) {
    position += 2;
    token.kind = TokenKind::Float64;
    token.bits = hexDigits(16);
  } else if (text[position] == '0' && (second == 'x' || second == 'X')) {
    position += 2;
    token.kind = TokenKind::Integer;
    token.bits = hexDigits(0);
  } else {
    bool binary = text[position] == '0' && (second == 'b' || second == 'B');
    if (binary)
      position += 2;
    size_t digits = position;
    while (position < text.size() && isDigit(text[position]))
      ++position;
    bool decimalPoint = position < text.size() && text[position] == '.' && !binary;
    if (decimalPoint) {
      ++position;
      while (position < text.size() && (isDigit(text[position]) || text[position] == 'e' || text[position] == 'E' ||
                                        ((text[position] == '-' || text[position] == '+') &&
                                         (text[position - 1] == 'e' || text[position - 1] == 'E'))))
        ++position;
      double value = std::strtod(std::string(text.substr(start, position - start)).c_str(), nullptr);
      token.kind = TokenKind::Float64;
      std::memcpy(&token.bits, &value, 8);
      token.text = text.substr(start, position - start);
      return token;
    }
    token.kind = TokenKind::Integer;
    unsigned base = binary ? 2 : (text[digits] == '0' && position - digits > 1 ? 8 : 10);
    for (size_t i = digits; i < position; ++i) {
      unsigned digit = unsigned(text[i] - '0');
      if (digit >= base)
        throw PtxError(line, "digit '" + std::string(1, text[i]) + "' is not one of base " + std::to_string(base));
      if (token.bits > (UINT64_MAX - digit) / base)
        throw PtxError(line, "number '" + std::string(text.substr(start, position - start)) + "' does not fit 64 bits");
      token.bits = token.bits * base + digit;
    }
    if (binary && digits == position)
      throw PtxError(line, "malformed number: expected binary digits after '0b'");
  }
  if (position < text.size() && text[position] == 'U')
    ++position;
  token.text = text.substr(start, position - start);
  if (position < text.size() && isLetter(text[position]))
    throw PtxError(line, "malformed number '" + std::string(token.text) + text[position] + "'");
  return token;
}

Token Lexer::next() {
  skipBlanks();
  Token token;
  token.line = line;
  if (position >= text.size())
    return token;
  char c = text[position];
  size_t start = position;
  bool directive = c == '.' && position + 1 < text.size() && isLetter(text[position + 1]);
  if (isLetter(c) || directive) {
    ++position;
    while (position < text.size()) {
      char d = text[position];
      if (isLetter(d) ? d != '%' : isDigit(d)) {
        ++position;
      } else if (d == '.' && !directive && position + 1 < text.size() &&
                 (isLetter(text[position + 1]) || isDigit(text[position + 1])) && text[position + 1] != '%') {
        ++position;
      } else if (d == ':' && text.compare(position, 2, "::") == 0) {
        position += 2;
      } else {
        break;
      }
    }
    token.kind = TokenKind::Word;
    token.text = text.substr(start, position - start);
    return token;
  }
  if (isDigit(c))
    return number();
  if (c == '"') {
    size_t end = position + 1;
    while (end < text.size() && text[end] != '"' && text[end] != '\n')
      end += text[end] == '\\' ? 2 : 1;
    if (end >= text.size() || text[end] != '"')
      throw PtxError(line, "string is not closed; expected '\"'");
    token.kind = TokenKind::String;
    token.text = text.substr(start + 1, end - start - 1);
    position = end + 1;
    return token;
  }
  if (std::strchr("{}[]()<>,;:=+-|!@~*?&^.", c) && c) {
    token.kind = TokenKind::Punctuation;
    token.punctuation = c;
    token.text = text.substr(start, 1);
    ++position;
    return token;
  }
  static const char digits[] = "0123456789abcdef";
  unsigned char byte = static_cast<unsigned char>(c);
  std::string shown =
      byte >= 0x20 && byte < 0x7f ? std::string(1, c) : std::string("\\x") + digits[byte >> 4] + digits[byte & 15];
  throw PtxError(line, "character '" + shown + "' has no meaning in PTX");
}

} // namespace weft::simulator
