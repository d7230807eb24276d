//===- InlineComposites.cpp - Replaces every composite by the plain ops of its region ---------------===//

#include "dialects/Graph/Graph.h"
#include "lib/Fusion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace weft::fusion {

#define GEN_PASS_DEF_INLINECOMPOSITES
#include "lib/Fusion/Passes.h.inc"

using namespace weft::graph;

namespace {

/// Appends the outermost composites in `op`; those inside them are found when they are inlined.
void collectComposites(Operation *op, SmallVectorImpl<CompositeOp> &composites) {
  op->walk<WalkOrder::PreOrder>([&](CompositeOp composite) {
    composites.push_back(composite);
    return WalkResult::skip();
  });
}

/// The op's location together with the composite's, without what is unknown.
Location combine(Location composite, Location op) {
  if (isa<UnknownLoc>(op))
    return composite;
  if (isa<UnknownLoc>(composite) || composite == op)
    return op;
  return FusedLoc::get(op.getContext(), {composite, op});
}

/// Puts the ops of the composite's region before it and erases it. The composites among them are appended to
/// `worklist`.
void inlineComposite(CompositeOp composite, SmallVectorImpl<CompositeOp> &worklist) {
  Block &body = composite.getBody().front();
  Operation *yield = body.getTerminator();
  for (auto [argument, operand] : llvm::zip(body.getArguments(), composite.getInputs()))
    argument.replaceAllUsesWith(operand);
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    op.moveBefore(composite);
    op.setLoc(combine(composite.getLoc(), op.getLoc()));
    collectComposites(&op, worklist);
  }
  composite->replaceAllUsesWith(yield->getOperands());
  composite->erase();
}

struct InlineCompositesPass : impl::InlineCompositesBase<InlineCompositesPass> {
  void runOnOperation() override {
    SmallVector<CompositeOp> worklist;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.getName() != GraphDialect::kPrepareName)
        collectComposites(function, worklist);
    while (!worklist.empty())
      inlineComposite(worklist.pop_back_val(), worklist);
  }
};

} // namespace

} // namespace weft::fusion
