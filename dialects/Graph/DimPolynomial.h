//===- DimPolynomial.h - The normal form of symbolic sizes ------------------------------------------===//

#ifndef WEFT_DIALECTS_GRAPH_DIMPOLYNOMIAL_H
#define WEFT_DIALECTS_GRAPH_DIMPOLYNOMIAL_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace weft::graph {

/// A sum of terms, each an integer times a product of atoms. An atom is a symbol or a floor division of a polynomial by
/// a positive integer; `ceildiv` and `mod` are written with these. Two expressions that become the same polynomial are
/// equal for all values of the symbols.
class DimPolynomial {
public:
  struct Term {
    llvm::SmallVector<mlir::AffineExpr, 2> atoms; // sorted, with repetition
    int64_t coefficient;
  };

  /// Nothing where an integer overflows, where there would be more than a few hundred terms, or for a divisor that is
  /// no positive integer.
  static std::optional<DimPolynomial> from(mlir::AffineExpr expression);
  mlir::AffineExpr build(mlir::MLIRContext *context) const;

  /// The polynomial whose product with `divisor` this is, where there is one.
  std::optional<DimPolynomial> divideExactly(const DimPolynomial &divisor) const;

private:
  static std::optional<DimPolynomial> add(const DimPolynomial &a, const DimPolynomial &b);
  static std::optional<DimPolynomial> multiply(const DimPolynomial &a, const DimPolynomial &b);
  static std::optional<DimPolynomial> floorDiv(const DimPolynomial &a, int64_t divisor, mlir::MLIRContext *context);
  static DimPolynomial constant(int64_t value);

  llvm::SmallVector<Term, 2> terms; // no coefficient is zero; highest degree first, the constant last
};

} // namespace weft::graph

#endif
