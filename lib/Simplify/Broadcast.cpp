//===- Broadcast.cpp - Broadcasts that are reshapes, and work moved to before a broadcast ---------------------===//

#include "dialects/Graph/Creation.h"
#include "dialects/Graph/DataMovement.h"
#include "lib/Simplify/Patterns.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::simplify {

namespace {

/// A broadcast that keeps the order and repeats nothing is a reshape.
struct BroadcastToReshape : OpRewritePattern<BroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastInDimOp op, PatternRewriter &rewriter) const override {
    Type from = op.getOperand().getType();
    if (getElementCount(from) != getElementCount(op.getType()) || !cast<RankedTensorType>(from).getRank())
      return failure();
    // Dimensions of more than one element must stay in order.
    int64_t last = -1;
    for (auto [dimension, target] : llvm::enumerate(op.getBroadcastDimensions())) {
      if (isOne(getDim(from, dimension)))
        continue;
      if (target < last)
        return failure();
      last = target;
    }
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getOperand());
    return success();
  }
};

/// broadcast(reshape(x)), where the reshape only puts in dimensions of size 1, is a broadcast of x.
struct BroadcastOfReshape : OpRewritePattern<BroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastInDimOp op, PatternRewriter &rewriter) const override {
    auto reshape = op.getOperand().getDefiningOp<ReshapeOp>();
    if (!reshape)
      return failure();
    SmallVector<Dim> from = getDims(reshape.getOperand().getType()), to = getDims(reshape.getType());
    SmallVector<int64_t> map;
    size_t next = 0;
    for (auto [dimension, size] : llvm::enumerate(to)) {
      if (next < from.size() && from[next] == size) {
        map.push_back(op.getBroadcastDimensions()[dimension]);
        ++next;
      } else if (!isOne(size)) {
        return failure();
      }
    }
    if (next != from.size())
      return failure();
    Location location = rewriter.getFusedLoc({reshape.getLoc(), op.getLoc()});
    rewriter.replaceOp(op, BroadcastInDimOp::create(rewriter, location, op.getType(), reshape.getOperand(), map));
    return success();
  }
};

/// An elementwise op on broadcasts of one shape along the same dimensions (and splats) computes before the broadcast.
struct ElementwiseOfBroadcasts : RewritePattern {
  ElementwiseOfBroadcasts(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isElementwise(op))
      return failure();
    // A splat takes any shape, so that the others decide.
    BroadcastInDimOp model, splatModel;
    for (Value operand : op->getOperands()) {
      BroadcastInDimOp &first = matchSplat(operand) ? splatModel : model;
      if (!first)
        first = operand.getDefiningOp<BroadcastInDimOp>();
    }
    if (!model && llvm::all_of(op->getOperands(), [](Value operand) { return matchSplat(operand) != nullptr; }))
      model = splatModel;
    if (!model || getElementCount(model.getOperand().getType()) == getElementCount(model.getType()))
      return failure();
    SmallVector<Dim> small = getDims(model.getOperand().getType());
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      auto broadcast = operand.getDefiningOp<BroadcastInDimOp>();
      bool fits = broadcast && broadcast.getBroadcastDimensions() == model.getBroadcastDimensions() &&
                  getDims(broadcast.getOperand().getType()) == small;
      if (!fits && !matchSplat(operand))
        return failure();
      operands.push_back(fits ? broadcast.getOperand() : Value());
    }
    for (auto [operand, before] : llvm::zip(operands, op->getOperands()))
      if (!operand) {
        DenseElementsAttr splat = matchSplat(before);
        operand = makeSplat(rewriter, before.getLoc(), makeTensorType(small, splat.getElementType()),
                            splat.getSplatValue<Attribute>());
      }
    Type element = elementType(op->getResult(0));
    Operation *computed = cloneWithOperands(rewriter, op, operands, makeTensorType(small, element));
    rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op->getResult(0).getType(), computed->getResult(0),
                                                  model.getBroadcastDimensions());
    return success();
  }
};

/// Moving the elements of a splat about gives a splat: one broadcast of its element.
template <typename Op> struct MovedSplat : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Value operand = op.getOperand();
    // Only behind a broadcast: constants fold.
    if (!operand.template getDefiningOp<BroadcastInDimOp>())
      return failure();
    DenseElementsAttr splat = matchSplat(operand);
    if (!splat)
      return failure();
    RankedTensorType scalar = RankedTensorType::get({}, splat.getElementType());
    Value element = ConstantOp::create(rewriter, op.getLoc(), splat.resizeSplat(scalar));
    rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op.getType(), element, ArrayRef<int64_t>());
    return success();
  }
};

} // namespace

void populateBroadcastPatterns(RewritePatternSet &patterns) {
  patterns.add<BroadcastToReshape, BroadcastOfReshape, ElementwiseOfBroadcasts, MovedSplat<ReshapeOp>,
               MovedSplat<TransposeOp>, MovedSplat<SliceOp>, MovedSplat<ReverseOp>, MovedSplat<AssumeShapeOp>>(
      patterns.getContext());
}

} // namespace weft::simplify
