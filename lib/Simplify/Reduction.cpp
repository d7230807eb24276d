//===- Reduction.cpp - Reductions over nothing, over one element, and of each other ------------------------------===//

#include "dialects/Graph/Reduction.h"
#include "dialects/Graph/DataMovement.h"
#include "lib/Simplify/Patterns.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::simplify {

namespace {

/// Over dimensions of size 1 a reduction gives the element itself: they are reshaped away first.
struct ReduceUnitDimensions : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    if (op.getDimensions().empty()) {
      rewriter.replaceOp(op, op.getOperand());
      return success();
    }
    SmallVector<Dim> kept;
    SmallVector<int64_t> dimensions;
    for (auto [dimension, size] : llvm::enumerate(getDims(op.getOperand().getType()))) {
      bool reduced = llvm::is_contained(op.getDimensions(), static_cast<int64_t>(dimension));
      if (reduced && isOne(size))
        continue;
      if (reduced)
        dimensions.push_back(kept.size());
      kept.push_back(size);
    }
    if (dimensions.size() == op.getDimensions().size())
      return failure();
    RankedTensorType type = makeTensorType(kept, elementType(op.getOperand()));
    Value value = ReshapeOp::create(rewriter, op.getLoc(), type, op.getOperand());
    if (!dimensions.empty())
      value = ReduceOp::create(rewriter, op.getLoc(), op.getKind(), value, dimensions);
    rewriter.replaceOp(op, value);
    return success();
  }
};

/// A reduction of a reduction of the same kind, where the order of combination does not matter.
struct ReduceOfReduce : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<ReduceOp>();
    if (!inner || inner.getKind() != op.getKind() || dependsOnOrder(op.getKind(), elementType(op.getOperand())) ||
        !inner->hasOneUse())
      return failure();
    SmallVector<int64_t> dimensions(inner.getDimensions());
    int64_t position = 0;
    for (int64_t dimension = 0, rank = tensorType(inner.getOperand()).getRank(); dimension < rank; ++dimension) {
      if (llvm::is_contained(inner.getDimensions(), dimension))
        continue;
      if (llvm::is_contained(op.getDimensions(), position++))
        dimensions.push_back(dimension);
    }
    llvm::sort(dimensions);
    Location location = rewriter.getFusedLoc({inner.getLoc(), op.getLoc()});
    rewriter.replaceOp(op, ReduceOp::create(rewriter, location, op.getKind(), inner.getOperand(), dimensions));
    return success();
  }
};

/// A window of one element takes every stride-th element: a slice. (Not for a float sum: 0.0 + -0.0 is 0.0.)
struct WindowOfOneElement : OpRewritePattern<ReduceWindowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceWindowOp op, PatternRewriter &rewriter) const override {
    auto isOneElement = [](int64_t value) { return value == 1; };
    auto isZero = [](int64_t value) { return value == 0; };
    bool isFloatSum = op.getKind() == ReductionKind::sum && isFloatElement(elementType(op.getOperand()));
    if (isFloatSum || !llvm::all_of(op.getWindowDimensions(), isOneElement) ||
        !llvm::all_of(op.getBaseDilations(), isOneElement) || !llvm::all_of(op.getPaddingLow(), isZero) ||
        !llvm::all_of(op.getPaddingHigh(), isZero))
      return failure();
    SmallVector<int64_t> starts, limits;
    for (auto [size, stride] : llvm::zip(getDims(op.getOperand().getType()), op.getWindowStrides())) {
      // floor((n - 1) / s) + 1 and ceil(n / s) are one number, but not one expression of symbols.
      if (!size.isConstant() && stride > 1)
        return failure();
      starts.push_back(0);
      limits.push_back(size.isConstant() ? size.getConstant() : SliceOp::kEnd);
    }
    rewriter.replaceOpWithNewOp<SliceOp>(op, op.getOperand(), starts, limits, op.getWindowStrides());
    return success();
  }
};

/// A running combination along a dimension of size 1 is the element itself (not a float sum, which starts from 0.0); an
/// index along it is 0.
struct CumulativeOfOneElement : OpRewritePattern<CumulativeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CumulativeOp op, PatternRewriter &rewriter) const override {
    bool isFloatSum = op.getKind() == ReductionKind::sum && isFloatElement(elementType(op.getOperand()));
    if (isFloatSum || op.getExclusive() || !isOne(getDim(op.getType(), op.getDimension())))
      return failure();
    rewriter.replaceOp(op, op.getOperand());
    return success();
  }
};

struct ArgReduceOfOneElement : OpRewritePattern<ArgReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ArgReduceOp op, PatternRewriter &rewriter) const override {
    if (!isOne(getDim(op.getOperand().getType(), op.getDimension())))
      return failure();
    RankedTensorType type = tensorType(op.getResult());
    rewriter.replaceOp(op, makeSplat(rewriter, op.getLoc(), type, rewriter.getZeroAttr(type.getElementType())));
    return success();
  }
};

} // namespace

void populateReductionPatterns(RewritePatternSet &patterns) {
  patterns.add<ReduceUnitDimensions, ReduceOfReduce, WindowOfOneElement, CumulativeOfOneElement, ArgReduceOfOneElement>(
      patterns.getContext());
}

} // namespace weft::simplify
