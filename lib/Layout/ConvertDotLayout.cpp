//===- ConvertDotLayout.cpp - Transposes go into dot_general's dimension numbers, frozen operands become row-major
//-===//

#include "dialects/Graph/Contraction.h"
#include "dialects/Graph/DataMovement.h"
#include "lib/Layout/Frozen.h"
#include "lib/Layout/Passes.h"
#include "lib/Layout/Permutation.h"

namespace weft {

#define GEN_PASS_DEF_CONVERTDOTLAYOUT
#include "lib/Layout/Passes.h.inc"

using namespace mlir;
using namespace weft::graph;
using namespace weft::layout;

namespace {

/// Reads what a transpose reads, where the result's dimensions stay in order.
void absorbTransposes(DotGeneralOp op) {
  for (unsigned operand : {0u, 1u})
    while (auto transpose = op->getOperand(operand).getDefiningOp<TransposeOp>()) {
      Permutation back = invert(transpose.getPermutation());
      if (getFlexibility(op, operand, back) != Flexibility::Absorbs)
        break;
      absorb(op, operand, transpose.getOperand(), back);
    }
}

/// Contracting pairs in the order of the left operand's dimensions, so that several of them are one run on both sides.
void sortContractingPairs(DotGeneralOp op) {
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  for (auto pair : llvm::zip(op.getLhsContractingDimensions(), op.getRhsContractingDimensions()))
    pairs.emplace_back(std::get<0>(pair), std::get<1>(pair));
  llvm::sort(pairs);
  SmallVector<int64_t> lhs, rhs;
  for (auto [left, right] : pairs) {
    lhs.push_back(left);
    rhs.push_back(right);
  }
  op.setLhsContractingDimensions(lhs);
  op.setRhsContractingDimensions(rhs);
}

/// Puts the frozen operand's dimensions in the order batching, contracting, free (right) or batching, free, contracting
/// (left).
void makeRowMajor(DotGeneralOp op, unsigned operand) {
  ArrayRef<int64_t> batching = operand == 0 ? op.getLhsBatchingDimensions() : op.getRhsBatchingDimensions();
  ArrayRef<int64_t> contracting = operand == 0 ? op.getLhsContractingDimensions() : op.getRhsContractingDimensions();
  Permutation order(batching), free;
  for (int64_t i = 0, rank = tensorType(op->getOperand(operand)).getRank(); i < rank; ++i)
    if (!llvm::is_contained(batching, i) && !llvm::is_contained(contracting, i))
      free.push_back(i);
  llvm::append_range(order, operand == 0 ? ArrayRef<int64_t>(free) : contracting);
  llvm::append_range(order, operand == 0 ? contracting : ArrayRef<int64_t>(free));
  if (isIdentity(order))
    return;
  OpBuilder builder(op);
  absorb(op, operand, createTranspose(builder, op.getLoc(), op->getOperand(operand), order), order);
}

struct ConvertDotLayoutPass : impl::ConvertDotLayoutBase<ConvertDotLayoutPass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>(GraphDialect::kMainName);
    if (!main || main.isExternal())
      return;
    FrozenValues frozen(main);
    SmallVector<DotGeneralOp> dots;
    main.walk([&](DotGeneralOp op) { dots.push_back(op); });
    for (DotGeneralOp op : dots) {
      absorbTransposes(op);
      sortContractingPairs(op);
      if (frozen.contains(op.getRhs()))
        makeRowMajor(op, 1);
      else if (frozen.contains(op.getLhs()))
        makeRowMajor(op, 0);
    }
  }
};

} // namespace

} // namespace weft
