//===- CommonSubexpressions.cpp - Equal values are computed once, with the locations of all
//------------------------===//

#include "dialects/Graph/Graph.h"
#include "lib/Simplify/Passes.h"
#include "llvm/ADT/ScopedHashTable.h"
#include "llvm/Support/RecyclingAllocator.h"

namespace weft {

#define GEN_PASS_DEF_ELIMINATECOMMONSUBEXPRESSIONS
#include "lib/Simplify/Passes.h.inc"

using namespace mlir;

namespace {

/// Ops are equal by kind, operands, attributes, regions and result types; locations do not count.
struct EqualOps : llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *op) {
    return OperationEquivalence::computeHash(const_cast<Operation *>(op), OperationEquivalence::directHashValue,
                                             OperationEquivalence::ignoreHashValue,
                                             OperationEquivalence::IgnoreLocations);
  }
  static bool isEqual(const Operation *lhs, const Operation *rhs) {
    if (lhs == rhs)
      return true;
    if (lhs == getTombstoneKey() || lhs == getEmptyKey() || rhs == getTombstoneKey() || rhs == getEmptyKey())
      return false;
    return OperationEquivalence::isEquivalentTo(const_cast<Operation *>(lhs), const_cast<Operation *>(rhs),
                                                OperationEquivalence::IgnoreLocations);
  }
};

using Allocator = llvm::RecyclingAllocator<llvm::BumpPtrAllocator, llvm::ScopedHashTableVal<Operation *, Operation *>>;
using KnownOps = llvm::ScopedHashTable<Operation *, Operation *, EqualOps, Allocator>;

class Elimination {
public:
  void runOnBlock(Block &block, KnownOps &known) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      for (Region &region : op.getRegions())
        for (Block &inner : region) {
          if (op.hasTrait<OpTrait::IsIsolatedFromAbove>()) {
            KnownOps fresh;
            KnownOps::ScopeTy scope(fresh);
            runOnBlock(inner, fresh);
          } else {
            KnownOps::ScopeTy scope(known);
            runOnBlock(inner, known);
          }
        }
      if (op.hasTrait<OpTrait::IsTerminator>() || op.getNumResults() == 0 || !isMemoryEffectFree(&op))
        continue;
      if (Operation *earlier = known.lookup(&op)) {
        // A constant makes no kernel, and there may be thousands of equal ones.
        if (!earlier->hasTrait<OpTrait::ConstantLike>())
          earlier->setLoc(FusedLoc::get({earlier->getLoc(), op.getLoc()}, Attribute(), op.getContext()));
        op.replaceAllUsesWith(earlier->getResults());
        op.erase();
      } else {
        known.insert(&op, &op);
      }
    }
  }
};

struct EliminateCommonSubexpressionsPass : impl::EliminateCommonSubexpressionsBase<EliminateCommonSubexpressionsPass> {
  void runOnOperation() override {
    KnownOps known;
    KnownOps::ScopeTy scope(known);
    for (Region &region : getOperation()->getRegions())
      for (Block &block : region)
        Elimination().runOnBlock(block, known);
  }
};

} // namespace

} // namespace weft
