//===- Contraction.h - Kernels around one dot_general or convolution: what is summed over what ------===//

#ifndef WEFT_LIB_CODEGEN_CONTRACTION_H
#define WEFT_LIB_CODEGEN_CONTRACTION_H

#include "dialects/Graph/Graph.h"
#include "lib/Codegen/RegionEmitter.h"

namespace weft::codegen {

/// A sum of products over `extents` for every element of the result.
struct Contraction {
  mlir::Operation *op = nullptr;
  llvm::SmallVector<graph::Dim> dims, extents;
  mlir::Type wide; // of the sum
  /// Which operands an output dimension matters to.
  llvm::SmallVector<bool> inLhs, inRhs;
  /// Whether the contracted dimension is the last of both operands and the columns are not the last of either.
  bool isDotProduct = false;
  /// Whether the last of `extents` is the innermost dimension of an operand.
  bool isLhsContractedInner = false, isRhsContractedInner = false;
  /// The features of a convolution in groups: a block of columns stays within one.
  int64_t groups = 1;
  int64_t featureDimension = -1;

  mlir::Value lhs() const { return op->getOperand(0); }
  mlir::Value rhs() const { return op->getOperand(1); }
  /// An operand's element for an element of the result, in the type of the sum or, with `isRaw`, in its own. Padding of
  /// a convolution is zero. `group` is the group of the feature where it is known.
  mlir::Value lhsElement(RegionEmitter &region, mlir::ValueRange indices, mlir::ValueRange contracted,
                         mlir::Value group = {}, bool isRaw = false) const;
  mlir::Value rhsElement(RegionEmitter &region, mlir::ValueRange indices, mlir::ValueRange contracted,
                         bool isRaw = false) const;
};

/// The only contraction of a region whose results have its shape.
std::optional<Contraction> findContraction(mlir::Block &body, mlir::ValueRange results);

} // namespace weft::codegen

#endif
