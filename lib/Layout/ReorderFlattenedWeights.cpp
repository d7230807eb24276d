//===- ReorderFlattenedWeights.cpp - A transpose before a flattening goes into the frozen weights behind it ----===//

#include "dialects/Graph/Contraction.h"
#include "dialects/Graph/DataMovement.h"
#include "lib/Layout/FlattenedWeights.h"
#include "lib/Layout/Passes.h"
#include "lib/Layout/Permutation.h"

namespace weft {

#define GEN_PASS_DEF_REORDERFLATTENEDWEIGHTS
#include "lib/Layout/Passes.h.inc"

using namespace mlir;
using namespace weft::graph;
using namespace weft::layout;

namespace {

/// For a reshape that only merges neighbouring dimensions: for each dimension of the result, those of the operand that
/// are in it.
std::optional<MergedDimensions> findMergedDimensions(ReshapeOp op) {
  SmallVector<Dim> from = getDims(op.getOperand().getType()), to = getDims(op.getType());
  MergedDimensions groups;
  size_t next = 0;
  Dim one = Dim::constant(op.getContext(), 1);
  for (const Dim &size : to) {
    groups.emplace_back();
    Dim merged = one;
    while (merged != size) {
      if (next == from.size())
        return std::nullopt;
      merged = merged * from[next];
      groups.back().push_back(next++);
    }
  }
  // Dimensions of size 1 that are left over belong to the last group, if there is one.
  for (; next < from.size(); ++next) {
    if (from[next] != one || groups.empty())
      return std::nullopt;
    groups.back().push_back(next);
  }
  return groups;
}

} // namespace

std::optional<MergedDimensions> layout::matchReorderableFlattening(ReshapeOp flatten, ArrayRef<int64_t> permutation,
                                                                   const FrozenValues &frozen) {
  if (!flatten->hasOneUse() || frozen.contains(flatten.getResult()))
    return std::nullopt;
  OpOperand &use = *flatten->use_begin();
  auto op = dyn_cast<DotGeneralOp>(use.getOwner());
  if (!op || !frozen.contains(op->getOperand(1 - use.getOperandNumber())))
    return std::nullopt;
  std::optional<MergedDimensions> groups = findMergedDimensions(flatten);
  if (!groups)
    return std::nullopt;
  ArrayRef<int64_t> contracting =
      use.getOperandNumber() == 0 ? op.getLhsContractingDimensions() : op.getRhsContractingDimensions();
  // Each group must lie together, the groups in the same order as before, and only contracted ones may change inside.
  int64_t position = 0;
  for (auto [dimension, group] : llvm::enumerate(*groups)) {
    SmallVector<int64_t> sources;
    for (int64_t member : group)
      sources.push_back(permutation[member]);
    if (!llvm::is_sorted(sources) && !llvm::is_contained(contracting, static_cast<int64_t>(dimension)))
      return std::nullopt;
    llvm::sort(sources);
    for (int64_t source : sources)
      if (source != position++)
        return std::nullopt;
  }
  return groups;
}

namespace {

/// Reads the flattened tensor in the order in which it lies, with the weights' rows put in that order too.
void reorder(ReshapeOp flatten, TransposeOp transpose, const MergedDimensions &groups) {
  OpOperand &use = *flatten->use_begin();
  auto op = cast<DotGeneralOp>(use.getOwner());
  unsigned operand = use.getOperandNumber(), other = 1 - operand;
  ArrayRef<int64_t> contracting = operand == 0 ? op.getLhsContractingDimensions() : op.getRhsContractingDimensions();
  ArrayRef<int64_t> partners = operand == 0 ? op.getRhsContractingDimensions() : op.getLhsContractingDimensions();
  OpBuilder builder(op);
  Value weights = op->getOperand(other);
  for (auto [dimension, row] : llvm::zip(contracting, partners)) {
    ArrayRef<int64_t> group = groups[dimension];
    if (llvm::is_sorted(
            group, [&](int64_t a, int64_t b) { return transpose.getPermutation()[a] < transpose.getPermutation()[b]; }))
      continue;
    // Split the rows as the transposed tensor has them, put the parts in the order of the tensor itself, merge.
    SmallVector<Dim> split;
    Permutation order;
    for (auto [i, size] : llvm::enumerate(getDims(weights.getType()))) {
      if (static_cast<int64_t>(i) != row) {
        order.push_back(split.size());
        split.push_back(size);
        continue;
      }
      SmallVector<int64_t> members = llvm::to_vector(llvm::seq<int64_t>(0, group.size()));
      llvm::sort(members, [&](int64_t a, int64_t b) {
        return transpose.getPermutation()[group[a]] < transpose.getPermutation()[group[b]];
      });
      for (int64_t member : members)
        order.push_back(split.size() + member);
      for (int64_t member : group)
        split.push_back(getDim(transpose.getType(), member));
    }
    Type merged = weights.getType();
    Value parts = ReshapeOp::create(builder, op.getLoc(), makeTensorType(split, elementType(weights)), weights);
    Value ordered = createTranspose(builder, op.getLoc(), parts, order);
    weights = ReshapeOp::create(builder, op.getLoc(), merged, ordered);
  }
  Value flat = ReshapeOp::create(builder, flatten.getLoc(), flatten.getType(), transpose.getOperand());
  op->setOperand(operand, flat);
  op->setOperand(other, weights);
  flatten.erase();
  if (transpose->use_empty())
    transpose.erase();
}

struct ReorderFlattenedWeightsPass : impl::ReorderFlattenedWeightsBase<ReorderFlattenedWeightsPass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>(GraphDialect::kMainName);
    if (!main || main.isExternal())
      return;
    FrozenValues frozen(main);
    SmallVector<ReshapeOp> flattenings;
    main.walk([&](ReshapeOp op) { flattenings.push_back(op); });
    for (ReshapeOp flatten : flattenings)
      if (auto transpose = flatten.getOperand().getDefiningOp<TransposeOp>())
        if (std::optional<MergedDimensions> groups =
                matchReorderableFlattening(flatten, transpose.getPermutation(), frozen))
          reorder(flatten, transpose, *groups);
  }
};

} // namespace

} // namespace weft
