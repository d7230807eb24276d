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

/// Contracting pairs in the order of one side's dimensions, so that several of them are one run there.
void sortContractingPairs(DotGeneralOp op, bool byRight) {
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  for (auto [left, right] : llvm::zip(op.getLhsContractingDimensions(), op.getRhsContractingDimensions()))
    pairs.emplace_back(left, right);
  llvm::sort(pairs, [&](auto &a, auto &b) { return byRight ? a.second < b.second : a.first < b.first; });
  SmallVector<int64_t> lhs, rhs;
  for (auto [left, right] : pairs) {
    lhs.push_back(left);
    rhs.push_back(right);
  }
  op.setLhsContractingDimensions(lhs);
  op.setRhsContractingDimensions(rhs);
}

/// A transpose that puts the result's free dimensions of rhs before those of lhs is the product with the sides swapped.
DotGeneralOp absorbResultTranspose(DotGeneralOp op) {
  if (!op->hasOneUse())
    return op;
  auto transpose = dyn_cast<TransposeOp>(*op->user_begin());
  if (!transpose)
    return op;
  int64_t batch = op.getLhsBatchingDimensions().size(), contracted = op.getLhsContractingDimensions().size();
  int64_t left = tensorType(op.getLhs()).getRank() - batch - contracted,
          right = tensorType(op.getRhs()).getRank() - batch - contracted;
  Permutation swap = llvm::to_vector(llvm::seq<int64_t>(0, batch));
  llvm::append_range(swap, llvm::seq<int64_t>(batch + left, batch + left + right));
  llvm::append_range(swap, llvm::seq<int64_t>(batch, batch + left));
  if (transpose.getPermutation() != ArrayRef<int64_t>(swap))
    return op;
  OpBuilder builder(op);
  auto swapped =
      DotGeneralOp::create(builder, builder.getFusedLoc({op.getLoc(), transpose.getLoc()}), transpose.getType(),
                           op.getRhs(), op.getLhs(), op.getRhsContractingDimensions(), op.getLhsContractingDimensions(),
                           op.getRhsBatchingDimensions(), op.getLhsBatchingDimensions());
  swapped->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
  transpose.replaceAllUsesWith(swapped.getResult());
  transpose.erase();
  op.erase();
  return swapped;
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

bool isReadable(DotGeneralOp op, unsigned operand) {
  int64_t rank = tensorType(op->getOperand(operand)).getRank();
  return operand == 0 ? isMatmulOperand(rank, op.getLhsBatchingDimensions(), op.getLhsContractingDimensions())
                      : isMatmulOperand(rank, op.getRhsBatchingDimensions(), op.getRhsContractingDimensions());
}

/// Whether a weight is so large that a transposed copy of it should not be made: it would be in memory beside the
/// mapped file while compiling, and a library reads either order as well.
bool isLarge(Value weight) {
  constexpr int64_t kLargeBits = int64_t(32 << 20) * 8;
  RankedTensorType type = tensorType(weight);
  return type.hasStaticShape() &&
         type.getNumElements() > kLargeBits / std::max<int64_t>(1, type.getElementTypeBitWidth());
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
      op = absorbResultTranspose(op);
      absorbTransposes(op);
      bool frozenLeft = frozen.contains(op.getLhs()), frozenRight = frozen.contains(op.getRhs());
      sortContractingPairs(op, /*byRight=*/frozenLeft && !frozenRight);
      // A frozen operand costs nothing when run; another, or a large one, is transposed only where no library could
      // read it.
      if (frozenLeft != frozenRight && !isLarge(op->getOperand(frozenRight ? 1 : 0)))
        makeRowMajor(op, frozenRight ? 1 : 0);
      for (unsigned operand : {0u, 1u})
        if (!isReadable(op, operand))
          makeRowMajor(op, operand);
    }
  }
};

} // namespace

} // namespace weft
