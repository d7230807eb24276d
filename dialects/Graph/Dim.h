//===- Dim.h - The size of one dimension, an integer or an expression of symbols -----------------===//

#ifndef WEFT_DIALECTS_GRAPH_DIM_H
#define WEFT_DIALECTS_GRAPH_DIM_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>

namespace weft::graph {

/// The size of one dimension: an affine expression of named symbols. Values are canonical: the names are sorted and all
/// occur in the expression, so that equal sizes compare equal.
class Dim {
public:
  Dim() = default;
  Dim(mlir::AffineExpr expression, llvm::ArrayRef<mlir::StringAttr> symbols);

  static Dim constant(mlir::MLIRContext *context, int64_t value);
  static Dim symbol(mlir::StringAttr name);

  bool isConstant() const { return symbols.empty(); }
  /// The integer; only where `isConstant()`.
  int64_t getConstant() const;
  mlir::AffineExpr getExpression() const { return expression; }
  llvm::ArrayRef<mlir::StringAttr> getSymbols() const { return symbols; }
  mlir::MLIRContext *getContext() const { return expression.getContext(); }

  Dim operator+(const Dim &other) const;
  Dim operator-(const Dim &other) const;
  Dim operator*(const Dim &other) const;
  Dim operator+(int64_t value) const { return *this + constant(getContext(), value); }
  Dim operator-(int64_t value) const { return *this + -value; }
  Dim operator*(int64_t value) const { return *this * constant(getContext(), value); }
  Dim floorDiv(int64_t divisor) const;
  Dim ceilDiv(int64_t divisor) const;
  /// The exact quotient where it is again an expression of the symbols: `6*N / 2`, `N*T / T`.
  std::optional<Dim> divideExactly(const Dim &divisor) const;

  bool operator==(const Dim &other) const { return expression == other.expression && symbols == other.symbols; }
  bool operator!=(const Dim &other) const { return !(*this == other); }

  /// The size for given values of the symbols; nothing where a symbol has none, on overflow or on a division by zero.
  std::optional<int64_t> evaluate(llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> valueOf) const;

  void print(llvm::raw_ostream &os) const;
  static mlir::FailureOr<Dim> parse(mlir::AsmParser &parser);

private:
  mlir::AffineExpr expression;
  llvm::SmallVector<mlir::StringAttr, 2> symbols;
};

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Dim &dim) {
  dim.print(os);
  return os;
}

/// So that a size can stand in an error message.
inline mlir::Diagnostic &operator<<(mlir::Diagnostic &diagnostic, const Dim &dim) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  dim.print(stream);
  return diagnostic << text;
}

/// The product of sizes: the number of elements.
Dim product(llvm::ArrayRef<Dim> dims, mlir::MLIRContext *context);

} // namespace weft::graph

#endif
