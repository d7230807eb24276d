//===- IterationSpace.h - Which dimensions of a kernel's iteration space are one loop ----------------===//

#ifndef WEFT_LIB_CODEGEN_ITERATIONSPACE_H
#define WEFT_LIB_CODEGEN_ITERATIONSPACE_H

#include "dialects/Graph/Types.h"
#include "mlir/IR/Region.h"

namespace weft::codegen {

/// The dimensions of an iteration space, gathered in groups of neighbours that every value of the region treats alike:
/// each group is one loop over the product of its sizes.
///
/// Within a group the element of a value at position p is the one at indices (0, ..., 0, p): the last index then runs
/// past its own size, which is sound because every value with these dimensions has them next to each other, at full
/// size, and no op between looks at them.
class IterationSpace {
public:
  /// The space of `dims`, walked from the values in `roots`, which but for dimensions of size 1 have these dimensions
  /// or the first of them. With `rowRank`, reductions inside run over the dimensions from there on, and no group goes
  /// across. Dimensions of size 1 are in no group.
  IterationSpace(llvm::ArrayRef<graph::Dim> dims, mlir::ValueRange roots,
                 std::optional<unsigned> rowRank = std::nullopt);

  llvm::ArrayRef<graph::Dim> getDims() const { return dims; }
  size_t getGroupCount() const { return groups.size(); }
  /// The number of positions of a group.
  graph::Dim getGroupSize(size_t group) const { return groupSizes[group]; }
  llvm::ArrayRef<int64_t> getGroup(size_t group) const { return groups[group]; }
  /// Groups of the first `rowRank` dimensions.
  size_t getRowGroupCount() const { return rowGroups; }
  /// The indices, one a dimension, at these positions of the groups; `zero` is index 0.
  llvm::SmallVector<mlir::Value> getIndices(mlir::ValueRange positions, mlir::Value zero) const;

private:
  llvm::SmallVector<graph::Dim> dims;
  llvm::SmallVector<llvm::SmallVector<int64_t>> groups;
  llvm::SmallVector<graph::Dim> groupSizes;
  size_t rowGroups = 0;
};

/// Whether the region computes the values from elements at one and the same row-major position: elementwise ops,
/// reshapes, scalars, splat constants.
bool isLinear(mlir::ValueRange roots);

} // namespace weft::codegen

#endif
