//===- SymbolBindings.cpp - Values of the symbolic sizes, from the shapes of arguments --------------===//

#include "lib/Interpreter/SymbolBindings.h"
#include "dialects/Graph/GraphInterfaces.h"
#include "dialects/Graph/Structure.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using weft::graph::Dim;

namespace weft {

std::optional<int64_t> SymbolBindings::lookup(StringRef symbol) const {
  auto found = values.find(symbol);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

std::optional<int64_t> SymbolBindings::evaluate(const Dim &dim) const {
  return dim.evaluate([&](StringRef name) { return lookup(name); });
}

namespace {

/// Whether the expression is a sum of products of constants with at most one symbol: no division, no product of
/// symbols.
bool isLinear(AffineExpr expression) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return true;
  if (binary.getKind() == AffineExprKind::Mul && !isa<AffineConstantExpr>(binary.getLHS()) &&
      !isa<AffineConstantExpr>(binary.getRHS()))
    return false;
  return (binary.getKind() == AffineExprKind::Add || binary.getKind() == AffineExprKind::Mul) &&
         isLinear(binary.getLHS()) && isLinear(binary.getRHS());
}

/// The expression with every symbol of `bindings` replaced by its value.
Dim substitute(const Dim &dim, const SymbolBindings &bindings) {
  SmallVector<AffineExpr> replacements;
  for (auto [position, name] : llvm::enumerate(dim.getSymbols())) {
    std::optional<int64_t> value = bindings.lookup(name.getValue());
    replacements.push_back(value ? getAffineConstantExpr(*value, dim.getContext())
                                 : getAffineSymbolExpr(position, dim.getContext()));
  }
  return Dim(dim.getExpression().replaceSymbols(replacements), dim.getSymbols());
}

/// The value of the one symbol of a linear expression for which it is `given`, where there is one.
std::optional<int64_t> solveForSymbol(const Dim &dim, int64_t given) {
  if (dim.getSymbols().size() != 1 || !isLinear(dim.getExpression()))
    return std::nullopt;
  std::optional<int64_t> atZero = dim.evaluate([](StringRef) { return std::optional<int64_t>(0); });
  std::optional<int64_t> atOne = dim.evaluate([](StringRef) { return std::optional<int64_t>(1); });
  int64_t slope, rise;
  if (!atZero || !atOne || llvm::SubOverflow(*atOne, *atZero, slope) || llvm::SubOverflow(given, *atZero, rise) ||
      slope == 0 || rise % slope != 0)
    return std::nullopt;
  return rise / slope;
}

} // namespace

LogicalResult SymbolBindings::solve(ArrayRef<Equation> equations, ModuleOp module, Location location) {
  for (bool progress = true; progress;) {
    progress = false;
    for (const Equation &equation : equations) {
      Dim rest = substitute(equation.expected, *this);
      if (std::optional<int64_t> value = solveForSymbol(rest, equation.given)) {
        values[rest.getSymbols()[0].getValue()] = *value;
        progress = true;
      }
    }
  }
  for (const Equation &equation : equations) {
    Dim rest = substitute(equation.expected, *this);
    if (!rest.isConstant() && rest.getSymbols().size() == 1 && isLinear(rest.getExpression()))
      return emitError(location) << equation.argument << ": dimension " << equation.dimension << ": expected "
                                 << equation.expected << ", got " << equation.given << ": no integer '"
                                 << rest.getSymbols()[0].getValue() << "' gives this size";
    if (!rest.isConstant()) {
      InFlightDiagnostic diagnostic = emitError(location)
                                      << equation.argument << ": dimension " << equation.dimension << ": expected "
                                      << equation.expected << ", got " << equation.given << ": the argument shapes do "
                                      << "not determine";
      for (StringAttr name : rest.getSymbols())
        diagnostic << " '" << name.getValue() << "'";
      return diagnostic;
    }
    std::optional<int64_t> size = evaluate(equation.expected);
    if (!size || *size != equation.given) {
      InFlightDiagnostic diagnostic = emitError(location) << equation.argument << ": dimension " << equation.dimension
                                                          << ": expected " << equation.expected;
      for (StringAttr name : equation.expected.getSymbols())
        diagnostic << ", with " << name.getValue() << " = " << *lookup(name.getValue());
      if (!equation.expected.isConstant() && size)
        diagnostic << " that is " << *size;
      return diagnostic << ", got " << equation.given;
    }
    for (StringAttr name : equation.expected.getSymbols()) {
      std::optional<graph::SymbolBounds> bounds = graph::getSymbolBounds(name.getValue(), module);
      int64_t value = *lookup(name.getValue());
      if (bounds && (value < bounds->min || value > bounds->max))
        return emitError(location) << equation.argument << ": dimension " << equation.dimension << ": '"
                                   << name.getValue() << "' is " << value << ", outside its bounds [" << bounds->min
                                   << ", " << bounds->max << "]";
      if (value < 0)
        return emitError(location) << equation.argument << ": dimension " << equation.dimension << ": '"
                                   << name.getValue() << "' would be " << value << ", less than zero";
    }
  }
  for (graph::RequireOp require : module.getOps<graph::RequireOp>()) {
    // Not every function has every symbol: @prepare takes parameters only.
    if (llvm::any_of(require.getSizes().getSymbols(), [&](StringAttr name) { return !lookup(name.getValue()); }))
      continue;
    std::optional<int64_t> left = evaluate(require.getLeft()), right = evaluate(require.getRight());
    if (!left || !right || *left != *right)
      return emitError(location) << require.getReason() << ": " << require.getLeft() << " and " << require.getRight()
                                 << " must be equal, got " << (left ? std::to_string(*left) : "no size") << " and "
                                 << (right ? std::to_string(*right) : "no size");
  }
  return success();
}

} // namespace weft
