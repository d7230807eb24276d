// The end of an epilogue that oneDNN would not compute as the artifact means it: our own pass over each tile, while the
// tile is in cache.
#pragma once

#include "runtime/Library/OneDnn/Tiled.h"

namespace weft::runtime::onednn {

// The first step that is not given to oneDNN: one that would turn a NaN into a number (oneDNN's relu and clip are
// maxps and minps, which drop it), or one of an algorithm that an earlier step has with other parameters (oneDNN 2.6.3
// then uses the earlier ones).
size_t tailBegin(const std::vector<PostOp> &epilogue);

// Whether the steps from `begin` on are among those that `applyTail` knows.
bool canApplyTail(const std::vector<PostOp> &epilogue, size_t begin);

// Applies the steps from `begin` on to the tile's output, in place. `operands` as for LibraryPlan::execute; all are
// f32.
void applyTail(const std::vector<PostOp> &epilogue, size_t begin, const KernelForm &form, const Tile &tile,
               const TensorReference *operands);

} // namespace weft::runtime::onednn
