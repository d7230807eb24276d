//===- DimPolynomial.cpp - The normal form of symbolic sizes ----------------------------------------===//

#include "dialects/Graph/DimPolynomial.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <numeric>

using namespace mlir;

namespace weft::graph {

namespace {

constexpr size_t kMaximumTerms = 256;

/// An order of expressions that is the same in every process: symbols first, by position.
int compare(AffineExpr a, AffineExpr b) {
  if (a == b)
    return 0;
  if (a.getKind() != b.getKind())
    return a.getKind() > b.getKind() ? -1 : 1;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(a))
    return symbol.getPosition() < cast<AffineSymbolExpr>(b).getPosition() ? -1 : 1;
  if (auto constant = dyn_cast<AffineConstantExpr>(a))
    return constant.getValue() < cast<AffineConstantExpr>(b).getValue() ? -1 : 1;
  auto left = cast<AffineBinaryOpExpr>(a), right = cast<AffineBinaryOpExpr>(b);
  int order = compare(left.getLHS(), right.getLHS());
  return order ? order : compare(left.getRHS(), right.getRHS());
}

/// By degree, then lexicographically: the order that polynomial division needs.
int compare(ArrayRef<AffineExpr> a, ArrayRef<AffineExpr> b) {
  if (a.size() != b.size())
    return a.size() > b.size() ? -1 : 1;
  for (auto [left, right] : llvm::zip(a, b))
    if (int order = compare(left, right))
      return order;
  return 0;
}

} // namespace

DimPolynomial DimPolynomial::constant(int64_t value) {
  DimPolynomial result;
  if (value != 0)
    result.terms.push_back({{}, value});
  return result;
}

std::optional<DimPolynomial> DimPolynomial::add(const DimPolynomial &a, const DimPolynomial &b) {
  DimPolynomial sum;
  const Term *left = a.terms.begin(), *right = b.terms.begin();
  while (left != a.terms.end() || right != b.terms.end()) {
    int order = left == a.terms.end()    ? 1
                : right == b.terms.end() ? -1
                                         : compare(ArrayRef(left->atoms), ArrayRef(right->atoms));
    if (order < 0) {
      sum.terms.push_back(*left++);
    } else if (order > 0) {
      sum.terms.push_back(*right++);
    } else {
      int64_t coefficient;
      if (llvm::AddOverflow(left->coefficient, right->coefficient, coefficient))
        return std::nullopt;
      if (coefficient != 0)
        sum.terms.push_back({left->atoms, coefficient});
      ++left, ++right;
    }
  }
  if (sum.terms.size() > kMaximumTerms)
    return std::nullopt;
  return sum;
}

std::optional<DimPolynomial> DimPolynomial::multiply(const DimPolynomial &a, const DimPolynomial &b) {
  DimPolynomial product;
  for (const Term &left : a.terms) {
    DimPolynomial row;
    for (const Term &right : b.terms) {
      Term term{left.atoms, 0};
      term.atoms.append(right.atoms.begin(), right.atoms.end());
      llvm::sort(term.atoms, [](AffineExpr x, AffineExpr y) { return compare(x, y) < 0; });
      if (llvm::MulOverflow(left.coefficient, right.coefficient, term.coefficient))
        return std::nullopt;
      row.terms.push_back(term); // the order of monomials is kept by multiplication
    }
    std::optional<DimPolynomial> sum = add(product, row);
    if (!sum)
      return std::nullopt;
    product = std::move(*sum);
  }
  return product;
}

std::optional<DimPolynomial> DimPolynomial::floorDiv(const DimPolynomial &a, int64_t divisor, MLIRContext *context) {
  if (divisor <= 0)
    return std::nullopt;
  // Multiples of the divisor go outside; of the constant the part that is one.
  DimPolynomial outside, inside;
  int64_t offset = 0, factor = divisor;
  for (const Term &term : a.terms) {
    if (term.atoms.empty()) {
      offset = llvm::mod(term.coefficient, divisor);
      if (int64_t whole = llvm::divideFloorSigned(term.coefficient, divisor))
        outside.terms.push_back({{}, whole});
    } else if (term.coefficient % divisor == 0) {
      outside.terms.push_back({term.atoms, term.coefficient / divisor});
    } else {
      inside.terms.push_back(term);
      factor = std::gcd(factor, term.coefficient);
    }
  }
  if (inside.terms.empty())
    return outside;
  // floor((g * x + k) / (g * d)) = floor((x + floor(k / g)) / d)
  for (Term &term : inside.terms)
    term.coefficient /= factor;
  divisor /= factor;
  offset /= factor;
  auto nested = dyn_cast<AffineBinaryOpExpr>(inside.terms.front().atoms.front());
  if (nested && inside.terms.size() == 1 && inside.terms.front().coefficient == 1 &&
      inside.terms.front().atoms.size() == 1) {
    // floor((floor(x / d) + k) / e) = floor((x + k * d) / (d * e))
    int64_t inner = cast<AffineConstantExpr>(nested.getRHS()).getValue(), both, shift;
    std::optional<DimPolynomial> dividend = from(nested.getLHS());
    if (!dividend || llvm::MulOverflow(inner, divisor, both) || llvm::MulOverflow(offset, inner, shift))
      return std::nullopt;
    dividend = add(*dividend, constant(shift));
    std::optional<DimPolynomial> quotient = dividend ? floorDiv(*dividend, both, context) : std::nullopt;
    return quotient ? add(outside, *quotient) : std::nullopt;
  }
  if (offset != 0)
    inside.terms.push_back({{}, offset});
  DimPolynomial quotient;
  AffineExpr atom =
      getAffineBinaryOpExpr(AffineExprKind::FloorDiv, inside.build(context), getAffineConstantExpr(divisor, context));
  if (atom.getKind() != AffineExprKind::FloorDiv) // MLIR knows a simpler form of this one
    return std::nullopt;
  quotient.terms.push_back({{atom}, 1});
  return add(outside, quotient);
}

std::optional<DimPolynomial> DimPolynomial::from(AffineExpr expression) {
  if (auto value = dyn_cast<AffineConstantExpr>(expression))
    return constant(value.getValue());
  if (isa<AffineSymbolExpr>(expression)) {
    DimPolynomial result;
    result.terms.push_back({{expression}, 1});
    return result;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  std::optional<DimPolynomial> lhs = binary ? from(binary.getLHS()) : std::nullopt;
  if (!lhs)
    return std::nullopt;
  MLIRContext *context = expression.getContext();
  if (binary.getKind() == AffineExprKind::Add || binary.getKind() == AffineExprKind::Mul) {
    std::optional<DimPolynomial> rhs = from(binary.getRHS());
    if (!rhs)
      return std::nullopt;
    return binary.getKind() == AffineExprKind::Add ? add(*lhs, *rhs) : multiply(*lhs, *rhs);
  }
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!divisor || divisor.getValue() <= 0)
    return std::nullopt;
  if (binary.getKind() == AffineExprKind::CeilDiv)
    lhs = add(*lhs, constant(divisor.getValue() - 1));
  std::optional<DimPolynomial> quotient = lhs ? floorDiv(*lhs, divisor.getValue(), context) : std::nullopt;
  if (!quotient || binary.getKind() != AffineExprKind::Mod)
    return quotient;
  std::optional<DimPolynomial> whole = multiply(*quotient, constant(-divisor.getValue()));
  return whole ? add(*lhs, *whole) : std::nullopt;
}

AffineExpr DimPolynomial::build(MLIRContext *context) const {
  AffineExpr sum = getAffineConstantExpr(0, context);
  for (const Term &term : terms) {
    AffineExpr product = getAffineConstantExpr(1, context);
    for (AffineExpr atom : term.atoms)
      product = product * atom;
    sum = sum + product * term.coefficient;
  }
  return sum;
}

std::optional<DimPolynomial> DimPolynomial::divideExactly(const DimPolynomial &divisor) const {
  if (divisor.terms.empty())
    return std::nullopt;
  // Long division: each step takes away the highest term of what is left.
  DimPolynomial rest = *this, quotient;
  const Term &leading = divisor.terms.front();
  for (size_t step = 0; !rest.terms.empty(); ++step) {
    Term term = rest.terms.front();
    if (step == kMaximumTerms || term.coefficient % leading.coefficient != 0 ||
        (leading.coefficient == -1 && term.coefficient == std::numeric_limits<int64_t>::min()))
      return std::nullopt;
    for (AffineExpr atom : leading.atoms) {
      auto *found = llvm::find(term.atoms, atom);
      if (found == term.atoms.end())
        return std::nullopt;
      term.atoms.erase(found);
    }
    term.coefficient /= leading.coefficient;
    DimPolynomial negative;
    negative.terms.push_back({term.atoms, 0});
    if (llvm::SubOverflow(int64_t(0), term.coefficient, negative.terms[0].coefficient))
      return std::nullopt;
    std::optional<DimPolynomial> taken = multiply(negative, divisor);
    std::optional<DimPolynomial> left = taken ? add(rest, *taken) : std::nullopt;
    if (!left)
      return std::nullopt;
    rest = std::move(*left);
    quotient.terms.push_back(term);
  }
  return quotient;
}

} // namespace weft::graph
