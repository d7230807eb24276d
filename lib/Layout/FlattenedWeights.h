//===- FlattenedWeights.h - Flattenings whose order of elements the weights behind them can take over ---------===//

#ifndef WEFT_LIB_LAYOUT_FLATTENEDWEIGHTS_H
#define WEFT_LIB_LAYOUT_FLATTENEDWEIGHTS_H

#include "dialects/Graph/DataMovement.h"
#include "lib/Layout/Frozen.h"

namespace weft::layout {

/// For each dimension of a flattened tensor, the dimensions of the unflattened one that are merged in it.
using MergedDimensions = llvm::SmallVector<llvm::SmallVector<int64_t>>;

/// Whether a transpose by `permutation` right before `flatten` can be taken over by frozen weights: the reshape only
/// merges neighbouring dimensions, its one use is a dot_general with frozen weights, and the transpose changes the
/// order only inside what is contracted. Gives the merged dimensions then.
std::optional<MergedDimensions>
matchReorderableFlattening(graph::ReshapeOp flatten, llvm::ArrayRef<int64_t> permutation, const FrozenValues &frozen);

} // namespace weft::layout

#endif
