//===- ControlFlow.cpp - Branches whose condition is known
//----------------------------------------------------------===//

#include "dialects/Graph/ControlFlow.h"
#include "lib/Simplify/Patterns.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::simplify {

namespace {

/// Puts the ops of a region before `op` and gives what the region yields.
SmallVector<Value> inlineRegion(Region &region, Operation *op, ValueRange arguments, PatternRewriter &rewriter) {
  Operation *yield = region.front().getTerminator();
  rewriter.inlineBlockBefore(&region.front(), op, arguments);
  SmallVector<Value> values(yield->getOperands());
  rewriter.eraseOp(yield);
  return values;
}

/// An if with a known predicate is the branch that it takes.
struct IfOfConstant : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IfOp op, PatternRewriter &rewriter) const override {
    DenseElementsAttr pred = matchSplat(op.getPred());
    if (!pred)
      return failure();
    Region &taken = pred.getSplatValue<bool>() ? op.getTrueBranch() : op.getFalseBranch();
    rewriter.replaceOp(op, inlineRegion(taken, op, {}, rewriter));
    return success();
  }
};

/// A loop whose condition is false at once gives what it was given.
struct WhileNever : OpRewritePattern<WhileOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WhileOp op, PatternRewriter &rewriter) const override {
    DenseElementsAttr condition = matchSplat(op.getCondition().front().getTerminator()->getOperand(0));
    if (!condition || condition.getSplatValue<bool>())
      return failure();
    rewriter.replaceOp(op, op.getOperands());
    return success();
  }
};

} // namespace

void populateControlFlowPatterns(RewritePatternSet &patterns) {
  patterns.add<IfOfConstant, WhileNever>(patterns.getContext());
}

} // namespace weft::simplify
