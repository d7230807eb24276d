//===- Dim.cpp - The size of one dimension, an integer or an expression of symbols ---------------===//

#include "dialects/Graph/Dim.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace weft::graph {

namespace {

/// Rewrites `expression` over the symbols `from` to be over `to`, which contains them.
AffineExpr remap(AffineExpr expression, ArrayRef<StringAttr> from, ArrayRef<StringAttr> to) {
  SmallVector<AffineExpr> replacements;
  for (StringAttr name : from)
    replacements.push_back(
        getAffineSymbolExpr(static_cast<unsigned>(llvm::find(to, name) - to.begin()), expression.getContext()));
  return expression.replaceSymbols(replacements);
}

SmallVector<StringAttr> merge(ArrayRef<StringAttr> lhs, ArrayRef<StringAttr> rhs) {
  SmallVector<StringAttr> all(lhs);
  llvm::append_range(all, rhs);
  llvm::sort(all, [](StringAttr a, StringAttr b) { return a.getValue() < b.getValue(); });
  all.erase(llvm::unique(all), all.end());
  return all;
}

template <typename Combine> Dim combine(const Dim &lhs, const Dim &rhs, Combine operation) {
  SmallVector<StringAttr> symbols = merge(lhs.getSymbols(), rhs.getSymbols());
  return Dim(operation(remap(lhs.getExpression(), lhs.getSymbols(), symbols),
                       remap(rhs.getExpression(), rhs.getSymbols(), symbols)),
             symbols);
}

/// The factors of a product, with the constant one apart.
void collectFactors(AffineExpr expression, int64_t &constant, SmallVectorImpl<AffineExpr> &factors) {
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expression); binary && binary.getKind() == AffineExprKind::Mul) {
    collectFactors(binary.getLHS(), constant, factors);
    collectFactors(binary.getRHS(), constant, factors);
    return;
  }
  if (auto value = dyn_cast<AffineConstantExpr>(expression))
    constant *= value.getValue();
  else
    factors.push_back(expression);
}

} // namespace

Dim::Dim(AffineExpr given, ArrayRef<StringAttr> names) {
  // Sort the names, simplify, and drop the names that do not occur.
  SmallVector<StringAttr> sorted = merge(names, {});
  AffineExpr simple = simplifyAffineExpr(remap(given, names, sorted), 0, sorted.size());
  SmallVector<AffineExpr> replacements;
  for (auto [position, name] : llvm::enumerate(sorted)) {
    replacements.push_back(getAffineSymbolExpr(symbols.size(), given.getContext()));
    if (simple.isFunctionOfSymbol(position))
      symbols.push_back(name);
  }
  expression = simple.replaceSymbols(replacements);
}

Dim Dim::constant(MLIRContext *context, int64_t value) { return Dim(getAffineConstantExpr(value, context), {}); }

Dim Dim::symbol(StringAttr name) { return Dim(getAffineSymbolExpr(0, name.getContext()), name); }

int64_t Dim::getConstant() const { return cast<AffineConstantExpr>(expression).getValue(); }

Dim Dim::operator+(const Dim &other) const {
  return combine(*this, other, [](AffineExpr a, AffineExpr b) { return a + b; });
}
Dim Dim::operator-(const Dim &other) const {
  return combine(*this, other, [](AffineExpr a, AffineExpr b) { return a - b; });
}
Dim Dim::operator*(const Dim &other) const {
  return combine(*this, other, [](AffineExpr a, AffineExpr b) { return a * b; });
}
Dim Dim::floorDiv(int64_t divisor) const { return Dim(expression.floorDiv(divisor), symbols); }
Dim Dim::ceilDiv(int64_t divisor) const { return Dim(expression.ceilDiv(divisor), symbols); }

std::optional<Dim> Dim::divideExactly(const Dim &divisor) const {
  if (*this == divisor)
    return constant(getContext(), 1);
  if (divisor.isConstant()) {
    int64_t value = divisor.getConstant();
    if (value == 0 || !expression.isMultipleOf(value))
      return std::nullopt;
    return floorDiv(value);
  }
  SmallVector<StringAttr> names = merge(symbols, divisor.symbols);
  int64_t numerator = 1, denominator = 1;
  SmallVector<AffineExpr> factors, divisors;
  collectFactors(remap(expression, symbols, names), numerator, factors);
  collectFactors(remap(divisor.expression, divisor.symbols, names), denominator, divisors);
  if (denominator == 0 || numerator % denominator != 0)
    return std::nullopt;
  for (AffineExpr factor : divisors) {
    auto *found = llvm::find(factors, factor);
    if (found == factors.end())
      return std::nullopt;
    factors.erase(found);
  }
  AffineExpr quotient = getAffineConstantExpr(numerator / denominator, getContext());
  for (AffineExpr factor : factors)
    quotient = quotient * factor;
  return Dim(quotient, names);
}

std::optional<int64_t> Dim::evaluate(llvm::function_ref<std::optional<int64_t>(StringRef)> valueOf) const {
  std::function<std::optional<int64_t>(AffineExpr)> walk = [&](AffineExpr node) -> std::optional<int64_t> {
    if (auto value = dyn_cast<AffineConstantExpr>(node))
      return value.getValue();
    if (auto symbol = dyn_cast<AffineSymbolExpr>(node))
      return valueOf(symbols[symbol.getPosition()].getValue());
    auto binary = cast<AffineBinaryOpExpr>(node);
    std::optional<int64_t> lhs = walk(binary.getLHS()), rhs = walk(binary.getRHS());
    if (!lhs || !rhs)
      return std::nullopt;
    int64_t result = 0;
    switch (binary.getKind()) {
    case AffineExprKind::Add:
      return llvm::AddOverflow(*lhs, *rhs, result) ? std::nullopt : std::optional(result);
    case AffineExprKind::Mul:
      return llvm::MulOverflow(*lhs, *rhs, result) ? std::nullopt : std::optional(result);
    case AffineExprKind::FloorDiv:
      return *rhs > 0 ? std::optional(llvm::divideFloorSigned(*lhs, *rhs)) : std::nullopt;
    case AffineExprKind::CeilDiv:
      return *rhs > 0 ? std::optional(llvm::divideCeilSigned(*lhs, *rhs)) : std::nullopt;
    case AffineExprKind::Mod:
      return *rhs > 0 ? std::optional(llvm::mod(*lhs, *rhs)) : std::nullopt;
    default:
      return std::nullopt;
    }
  };
  return walk(expression);
}

/// A name as the parser reads it back: in quotes where it is no identifier or is an operator.
static void printName(StringRef name, llvm::raw_ostream &os) {
  auto isPart = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; };
  bool isIdentifier = !name.empty() && (llvm::isAlpha(name[0]) || name[0] == '_') && llvm::all_of(name, isPart);
  if (isIdentifier && name != "floordiv" && name != "ceildiv" && name != "mod") {
    os << name;
    return;
  }
  os << '"';
  llvm::printEscapedString(name, os);
  os << '"';
}

void Dim::print(llvm::raw_ostream &os) const {
  // Precedence: 0 for a sum, 1 for a term.
  std::function<void(AffineExpr, int)> walk = [&](AffineExpr node, int precedence) {
    if (auto value = dyn_cast<AffineConstantExpr>(node)) {
      os << value.getValue();
      return;
    }
    if (auto symbol = dyn_cast<AffineSymbolExpr>(node)) {
      printName(symbols[symbol.getPosition()].getValue(), os);
      return;
    }
    auto binary = cast<AffineBinaryOpExpr>(node);
    bool isSum = binary.getKind() == AffineExprKind::Add;
    bool parentheses = isSum && precedence > 0;
    os << (parentheses ? "(" : "");
    // The right operand of a term is a factor: put any compound one in parentheses.
    bool rightIsCompound = !isSum && isa<AffineBinaryOpExpr>(binary.getRHS());
    walk(binary.getLHS(), isSum ? 0 : 1);
    switch (binary.getKind()) {
    case AffineExprKind::Add:
      os << " + ";
      break;
    case AffineExprKind::Mul:
      os << " * ";
      break;
    case AffineExprKind::FloorDiv:
      os << " floordiv ";
      break;
    case AffineExprKind::CeilDiv:
      os << " ceildiv ";
      break;
    default:
      os << " mod ";
      break;
    }
    os << (rightIsCompound ? "(" : "");
    walk(binary.getRHS(), isSum || rightIsCompound ? 0 : 1);
    os << (rightIsCompound ? ")" : "") << (parentheses ? ")" : "");
  };
  walk(expression, 0);
}

namespace {

/// sum := term (('+' | '-') term)*;  term := factor (('*' | 'floordiv' | 'ceildiv' | 'mod') factor)*;
/// factor := integer | '-' factor | name | '(' sum ')'
class DimParser {
public:
  explicit DimParser(AsmParser &parser) : parser(parser) {}

  FailureOr<Dim> parseSum() {
    FailureOr<Dim> sum = parseTerm();
    while (succeeded(sum)) {
      bool minus = false;
      if (failed(parser.parseOptionalPlus())) {
        if (failed(parser.parseOptionalMinus()))
          break;
        minus = true;
      }
      FailureOr<Dim> term = parseTerm();
      if (failed(term))
        return failure();
      sum = minus ? *sum - *term : *sum + *term;
    }
    return sum;
  }

private:
  FailureOr<Dim> parseTerm() {
    FailureOr<Dim> term = parseFactor();
    while (succeeded(term)) {
      SMLoc location = parser.getCurrentLocation();
      if (succeeded(parser.parseOptionalStar())) {
        FailureOr<Dim> factor = parseFactor();
        if (failed(factor))
          return failure();
        term = *term * *factor;
        continue;
      }
      StringRef keyword;
      if (failed(parser.parseOptionalKeyword(&keyword, {"floordiv", "ceildiv", "mod"})))
        break;
      FailureOr<Dim> divisor = parseFactor();
      if (failed(divisor))
        return failure();
      if (!divisor->isConstant() || divisor->getConstant() <= 0)
        return parser.emitError(location, "expected a positive integer after '") << keyword << "'";
      if (keyword == "floordiv")
        term = term->floorDiv(divisor->getConstant());
      else if (keyword == "ceildiv")
        term = term->ceilDiv(divisor->getConstant());
      else
        term = Dim(term->getExpression() % divisor->getConstant(), term->getSymbols());
    }
    return term;
  }

  FailureOr<Dim> parseFactor() {
    MLIRContext *context = parser.getContext();
    // Nesting is bounded, so that no text can exhaust the stack.
    if (++depth > 64)
      return parser.emitError(parser.getCurrentLocation(), "expression is nested too deeply");
    llvm::scope_exit leave([&] { --depth; });
    int64_t value;
    OptionalParseResult integer = parser.parseOptionalInteger(value);
    if (integer.has_value()) {
      if (failed(*integer))
        return failure();
      return Dim::constant(context, value);
    }
    if (succeeded(parser.parseOptionalMinus())) {
      FailureOr<Dim> factor = parseFactor();
      if (failed(factor))
        return failure();
      return *factor * -1;
    }
    if (succeeded(parser.parseOptionalLParen())) {
      FailureOr<Dim> sum = parseSum();
      if (failed(sum) || parser.parseRParen())
        return failure();
      return sum;
    }
    std::string name;
    if (failed(parser.parseOptionalString(&name))) {
      StringRef keyword;
      if (failed(parser.parseOptionalKeyword(&keyword)))
        return parser.emitError(parser.getCurrentLocation(), "expected a size: an integer or the name of a symbol");
      name = keyword.str();
    }
    return Dim::symbol(StringAttr::get(context, name));
  }

  AsmParser &parser;
  unsigned depth = 0;
};

} // namespace

FailureOr<Dim> Dim::parse(AsmParser &parser) { return DimParser(parser).parseSum(); }

Dim product(ArrayRef<Dim> dims, MLIRContext *context) {
  Dim result = Dim::constant(context, 1);
  for (const Dim &dim : dims)
    result = result * dim;
  return result;
}

} // namespace weft::graph
