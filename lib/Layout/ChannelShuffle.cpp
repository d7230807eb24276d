//===- ChannelShuffle.cpp - Shuffles of channel groups, done where the channels are last -------------------------===//

#include "lib/Layout/ChannelShuffle.h"
#include "dialects/Graph/DataMovement.h"
#include "lib/Layout/Permutation.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::layout {

namespace {

/// [n, c, spatial...] to [n, spatial..., c].
Permutation channelsLast(int64_t rank) {
  Permutation permutation = {0};
  for (int64_t i = 2; i < rank; ++i)
    permutation.push_back(i);
  permutation.push_back(1);
  return permutation;
}

/// Whether the value is a channels-last one transposed, possibly with work between that does not mind its layout.
bool comesFromChannelsLast(Value value, ArrayRef<int64_t> permutation) {
  for (int step = 0; step < 16; ++step) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    if (auto transpose = dyn_cast<TransposeOp>(op))
      return transpose.getPermutation() == ArrayRef<int64_t>(invert(permutation));
    if (op->getNumOperands() == 0 || getFlexibility(op, 0, permutation) != Flexibility::Whole)
      return false;
    value = op->getOperand(0);
  }
  return false;
}

void moveShuffle(ReshapeOp merge) {
  auto swap = merge.getOperand().getDefiningOp<TransposeOp>();
  auto split = swap && swap->hasOneUse() ? swap.getOperand().getDefiningOp<ReshapeOp>() : ReshapeOp();
  if (!split || !split->hasOneUse() || split.getOperand().getDefiningOp<TransposeOp>() ||
      split.getOperand().getType() != merge.getType())
    return;
  Value image = split.getOperand();
  SmallVector<Dim> dims = getDims(image.getType()), parts = getDims(split.getType());
  int64_t rank = dims.size();
  if (rank < 3 || static_cast<int64_t>(parts.size()) != rank + 1)
    return;
  // [n, c, ...] as [n, a, b, ...], then [n, b, a, ...].
  Permutation swapped = llvm::to_vector(llvm::seq<int64_t>(0, rank + 1));
  std::swap(swapped[1], swapped[2]);
  bool isSplit = parts[0] == dims[0] && parts[1] * parts[2] == dims[1] &&
                 ArrayRef<Dim>(parts).drop_front(3) == ArrayRef<Dim>(dims).drop_front(2);
  Permutation last = channelsLast(rank);
  if (!isSplit || swap.getPermutation() != ArrayRef<int64_t>(swapped) || !comesFromChannelsLast(image, last))
    return;

  OpBuilder builder(merge);
  Value moved = createTranspose(builder, swap.getLoc(), image, last);
  SmallVector<Dim> movedDims = getDims(moved.getType()), groups(movedDims);
  groups.back() = parts[1];
  groups.push_back(parts[2]);
  Type element = elementType(image);
  Value grouped = ReshapeOp::create(builder, split.getLoc(), makeTensorType(groups, element), moved);
  Permutation swapLast = llvm::to_vector(llvm::seq<int64_t>(0, rank + 1));
  std::swap(swapLast[rank - 1], swapLast[rank]);
  Value shuffled = createTranspose(builder, swap.getLoc(), grouped, swapLast);
  Value merged = ReshapeOp::create(builder, merge.getLoc(), makeTensorType(movedDims, element), shuffled);
  merge.replaceAllUsesWith(createTranspose(builder, swap.getLoc(), merged, invert(last)));
  merge.erase();
  swap.erase();
  split.erase();
}

} // namespace

void moveChannelShuffles(Block &block) {
  // A shuffle is erased from its last op upwards, so only the reshapes behind a transpose are kept for later.
  SmallVector<ReshapeOp> merges;
  for (ReshapeOp op : block.getOps<ReshapeOp>())
    if (op.getOperand().getDefiningOp<TransposeOp>())
      merges.push_back(op);
  for (ReshapeOp op : merges)
    moveShuffle(op);
}

} // namespace weft::layout
