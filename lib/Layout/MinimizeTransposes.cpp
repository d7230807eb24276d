//===- MinimizeTransposes.cpp - The layout of every op between transposes, chosen for the fewest bytes ----------===//

#include "dialects/Graph/Contraction.h"
#include "lib/Layout/ChannelShuffle.h"
#include "lib/Layout/LayoutProblem.h"
#include "lib/Layout/Passes.h"

namespace weft {

#define GEN_PASS_DEF_MINIMIZETRANSPOSES
#include "lib/Layout/Passes.h.inc"

using namespace mlir;
using namespace weft::graph;
using namespace weft::layout;

namespace {

/// The permutations of the block's transposes, one of each pair of inverses; those into the layout of a convolution
/// first.
SmallVector<Permutation> collectPermutations(Block &block) {
  SmallVector<Permutation> permutations;
  auto add = [&](Permutation permutation) {
    if (!llvm::is_contained(permutations, permutation) && !llvm::is_contained(permutations, invert(permutation)))
      permutations.push_back(std::move(permutation));
  };
  for (TransposeOp op : block.getOps<TransposeOp>())
    if (llvm::any_of(op->getUsers(), [](Operation *user) { return isa<ConvolutionOp>(user); }))
      add(Permutation(op.getPermutation()));
  for (TransposeOp op : block.getOps<TransposeOp>())
    if (op.getOperand().getDefiningOp<ConvolutionOp>())
      add(invert(op.getPermutation()));
  for (TransposeOp op : block.getOps<TransposeOp>())
    add(Permutation(op.getPermutation()));
  return permutations;
}

void minimize(Block &block, FrozenValues &frozen) {
  // What one permutation leaves may be work for another. Every change removes bytes, so that this ends; the bound is
  // for graphs where it would take long.
  bool changed = true;
  for (int round = 0; changed && round < 16; ++round) {
    changed = false;
    for (const Permutation &permutation : collectPermutations(block))
      changed |= LayoutProblem(block, permutation, frozen).improve();
  }
}

/// Transposes that move only dimensions of size 1 are reshapes.
void removeUnitTransposes(func::FuncOp function) {
  function.walk([](TransposeOp op) {
    if (!movesOnlyUnitDimensions(op.getOperand().getType(), op.getPermutation()))
      return;
    OpBuilder builder(op);
    op.replaceAllUsesWith(ReshapeOp::create(builder, op.getLoc(), op.getType(), op.getOperand()).getResult());
    op.erase();
  });
}

struct MinimizeTransposesPass : impl::MinimizeTransposesBase<MinimizeTransposesPass> {
  void runOnOperation() override {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      FrozenValues frozen(function);
      SmallVector<Block *> blocks;
      function.walk<WalkOrder::PreOrder>([&](Operation *op) {
        // A composite stays as it is inside: its region is inlined later.
        if (op != function && op->hasTrait<OpTrait::IsIsolatedFromAbove>())
          return WalkResult::skip();
        for (Region &region : op->getRegions())
          for (Block &block : region)
            blocks.push_back(&block);
        return WalkResult::advance();
      });
      for (Block *block : blocks) {
        moveChannelShuffles(*block);
        minimize(*block, frozen);
      }
      removeUnitTransposes(function);
    }
  }
};

} // namespace

} // namespace weft
