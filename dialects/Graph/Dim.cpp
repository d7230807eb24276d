//===- Dim.cpp - The size of one dimension, an integer or an expression of symbols ---------------===//

#include "dialects/Graph/Dim.h"
#include "dialects/Graph/DimPolynomial.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <limits>

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

} // namespace

Dim::Dim(AffineExpr given, ArrayRef<StringAttr> names) {
  // Sort the names, simplify, and drop the names that do not occur.
  SmallVector<StringAttr> sorted = merge(names, {});
  AffineExpr simple = remap(given, names, sorted);
  if (std::optional<DimPolynomial> polynomial = DimPolynomial::from(simple))
    simple = polynomial->build(given.getContext());
  SmallVector<AffineExpr> replacements;
  for (auto [position, name] : llvm::enumerate(sorted)) {
    replacements.push_back(getAffineSymbolExpr(symbols.size(), given.getContext()));
    if (simple.isFunctionOfSymbol(position))
      symbols.push_back(name);
  }
  expression = simple.replaceSymbols(replacements);
  // Integers that overflow are kept as the most negative one, which no tensor has as a size.
  if (symbols.empty() && !isa<AffineConstantExpr>(expression))
    expression = getAffineConstantExpr(std::numeric_limits<int64_t>::min(), given.getContext());
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
  SmallVector<StringAttr> names = merge(symbols, divisor.symbols);
  std::optional<DimPolynomial> dividend = DimPolynomial::from(remap(expression, symbols, names));
  std::optional<DimPolynomial> by = DimPolynomial::from(remap(divisor.expression, divisor.symbols, names));
  std::optional<DimPolynomial> quotient = dividend && by ? dividend->divideExactly(*by) : std::nullopt;
  return quotient ? std::optional(Dim(quotient->build(getContext()), names)) : std::nullopt;
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

/// The term without its minus sign, where it is a negative integer or has one as its factor.
static std::optional<AffineExpr> negateTerm(AffineExpr term) {
  auto product = dyn_cast<AffineBinaryOpExpr>(term);
  bool isProduct = product && product.getKind() == AffineExprKind::Mul;
  auto factor = dyn_cast<AffineConstantExpr>(isProduct ? product.getRHS() : term);
  if (!factor || factor.getValue() >= 0 || factor.getValue() == std::numeric_limits<int64_t>::min())
    return std::nullopt;
  AffineExpr positive = getAffineConstantExpr(-factor.getValue(), term.getContext());
  return isProduct ? product.getLHS() * positive : positive;
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
    if (binary.getKind() == AffineExprKind::Add) {
      os << (precedence > 0 ? "(" : "");
      walk(binary.getLHS(), 0);
      std::optional<AffineExpr> negated = negateTerm(binary.getRHS());
      os << (negated ? " - " : " + ");
      walk(negated.value_or(binary.getRHS()), negated ? 1 : 0);
      os << (precedence > 0 ? ")" : "");
      return;
    }
    walk(binary.getLHS(), 1);
    switch (binary.getKind()) {
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
    // The right operand of a term is a factor: any compound one stands in parentheses.
    bool isCompound = isa<AffineBinaryOpExpr>(binary.getRHS());
    os << (isCompound ? "(" : "");
    walk(binary.getRHS(), isCompound ? 0 : 1);
    os << (isCompound ? ")" : "");
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
    // A sum is put in normal form at every step: a long one would take forever.
    if (++terms > 256)
      return parser.emitError(parser.getCurrentLocation(), "expression has too many terms");
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
    if (succeeded(parser.parseOptionalMinus())) {
      FailureOr<Dim> factor = parseFactor();
      if (failed(factor))
        return failure();
      return *factor * -1;
    }
    int64_t value;
    OptionalParseResult integer = parser.parseOptionalInteger(value);
    if (integer.has_value()) {
      if (failed(*integer))
        return failure();
      return Dim::constant(context, value);
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
  unsigned depth = 0, terms = 0;
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
