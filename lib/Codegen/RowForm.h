//===- RowForm.h - Regions that reduce rows and use the results along them ---------------------------===//

#ifndef WEFT_LIB_CODEGEN_ROWFORM_H
#define WEFT_LIB_CODEGEN_ROWFORM_H

#include "dialects/Graph/Graph.h"
#include "llvm/ADT/SetVector.h"

namespace weft::codegen {

/// The rows of a kernel: `dims` of what is reduced, of which the first `rowRank` number the rows.
struct RowForm {
  llvm::SmallVector<graph::Dim> dims;
  size_t rowRank = 0;
  llvm::SmallVector<graph::ReduceOp> reductions; // in program order

  llvm::ArrayRef<graph::Dim> rowDims() const { return llvm::ArrayRef(dims).take_front(rowRank); }
  llvm::ArrayRef<graph::Dim> trailingDims() const { return llvm::ArrayRef(dims).drop_front(rowRank); }
  /// Whether a type has the sizes of the rows, or of all elements, but for ones.
  bool isRow(mlir::Type type) const;
  bool isFull(mlir::Type type) const;

  /// Reductions by the pass that can make them: one that depends on another comes in a later pass.
  llvm::SmallVector<llvm::SmallVector<graph::ReduceOp>> passes() const;
  /// The indices of an element of a value that has the dimensions of the space, or the first of them, but for ones.
  llvm::SmallVector<mlir::Value> indicesOf(mlir::Type type, llvm::ArrayRef<mlir::Value> full, mlir::Value zero) const;
};

/// The form of a region whose reductions all run over the trailing dimensions of one shape, and whose results are full
/// or one a row.
std::optional<RowForm> findRowForm(mlir::Block &body, mlir::ValueRange results);

/// All that `roots` are computed from without passing a reduction.
llvm::SetVector<mlir::Value> collectRowPass(llvm::ArrayRef<mlir::Value> roots);

} // namespace weft::codegen

#endif
