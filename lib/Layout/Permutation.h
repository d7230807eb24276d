//===- Permutation.h - Permutations of dimensions, and ops rewritten to work on permuted operands ---------===//

#ifndef WEFT_LIB_LAYOUT_PERMUTATION_H
#define WEFT_LIB_LAYOUT_PERMUTATION_H

#include "dialects/Graph/GraphDialect.h"
#include "mlir/IR/Builders.h"

namespace weft::layout {

// A permutation is as in weft.transpose: dimension d of the permuted tensor is dimension permutation[d] of the other.

using Permutation = llvm::SmallVector<int64_t>;

Permutation invert(llvm::ArrayRef<int64_t> permutation);
bool isIdentity(llvm::ArrayRef<int64_t> permutation);
mlir::RankedTensorType permuteType(mlir::Type type, llvm::ArrayRef<int64_t> permutation);
/// Whether only dimensions of size 1 change their place, so that the bytes stay as they are.
bool movesOnlyUnitDimensions(mlir::Type type, llvm::ArrayRef<int64_t> permutation);

/// The transposed value: a transpose, or less where less will do (nothing, a reshape, another constant, iota or
/// broadcast).
mlir::Value createTranspose(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value,
                            llvm::ArrayRef<int64_t> permutation);

/// Whether the value costs as much in any layout: a broadcast, an iota or a constant of one value.
bool isMadeInAnyLayout(mlir::Value value);

/// `[b, 0, 1, ..., f] x [0, 1, ..., i, o] -> [b, 0, 1, ..., f]`.
graph::ConvolutionDimensionsAttr getChannelsLastNumbers(mlir::MLIRContext *context, size_t spatialDimensions);

/// Whether an operand of dot_general lies as a library wants it: the batching dimensions first and in order, then the
/// free and the contracting ones, each in order, either of the two first.
bool isMatmulOperand(int64_t rank, llvm::ArrayRef<int64_t> batching, llvm::ArrayRef<int64_t> contracting);

/// How an op stands to a permutation of an operand.
enum class Flexibility {
  None,    // it wants the operand as it is
  Whole,   // all operands and results may be permuted together
  Absorbs, // it can read the operand permuted, and its results stay as they are
};

/// How `op` stands to operand number `operand` being permuted.
Flexibility getFlexibility(mlir::Operation *op, unsigned operand, llvm::ArrayRef<int64_t> permutation);

/// The operands that are permuted together where an op is `Whole`: not scalars such as a padding value or start
/// indices.
llvm::SmallVector<unsigned> getLayoutOperands(mlir::Operation *op);

/// Makes the op that computes the results of the `Whole` op `op` permuted, from its layout operands permuted.
/// `operands` holds all operands, the layout operands already permuted.
mlir::Operation *createPermuted(mlir::OpBuilder &builder, mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands,
                                llvm::ArrayRef<int64_t> permutation);

/// Changes the op that `Absorbs` so that it computes the same results from operand number `operand` permuted.
void absorb(mlir::Operation *op, unsigned operand, mlir::Value permuted, llvm::ArrayRef<int64_t> permutation);

} // namespace weft::layout

#endif
