//===- Pad.cpp - Paddings that merge with each other and with what reads them -----------------------------------===//

#include "dialects/Graph/Contraction.h"
#include "dialects/Graph/DataMovement.h"
#include "dialects/Graph/Reduction.h"
#include "lib/Simplify/Patterns.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::simplify {

namespace {

bool areZero(ArrayRef<int64_t> values) {
  return llvm::all_of(values, [](int64_t value) { return value == 0; });
}

bool isEmpty(Value value, unsigned dimension) { return tensorType(value).getDimSize(dimension) == 0; }

/// The same value, or constants with the same bits.
bool areEqualScalars(Value a, Value b) {
  if (a == b)
    return true;
  DenseElementsAttr left = matchSplat(a), right = matchSplat(b);
  return left && right && left.getSplatValue<Attribute>() == right.getSplatValue<Attribute>();
}

/// pad(pad(x)) with one padding value is one padding.
struct PadOfPad : OpRewritePattern<PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PadOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<PadOp>();
    if (!inner || !areEqualScalars(op.getPaddingValue(), inner.getPaddingValue()) || !areZero(op.getInteriorPadding()))
      return failure();
    auto addEdges = [](ArrayRef<int64_t> first, ArrayRef<int64_t> second, SmallVectorImpl<int64_t> &sums) {
      for (auto [a, b] : llvm::zip(first, second)) {
        // What the first removes, the second does not bring back.
        if (a < 0 && b > 0)
          return false;
        sums.push_back(a + b);
      }
      return true;
    };
    SmallVector<int64_t> low, high;
    if (!addEdges(inner.getEdgePaddingLow(), op.getEdgePaddingLow(), low) ||
        !addEdges(inner.getEdgePaddingHigh(), op.getEdgePaddingHigh(), high))
      return failure();
    Location location = rewriter.getFusedLoc({inner.getLoc(), op.getLoc()});
    rewriter.replaceOp(op, PadOp::create(rewriter, location, inner.getOperand(), op.getPaddingValue(), low, high,
                                         inner.getInteriorPadding()));
    return success();
  }
};

/// A padding that only removes is a slice.
struct NegativePad : OpRewritePattern<PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PadOp op, PatternRewriter &rewriter) const override {
    auto isNegative = [](int64_t value) { return value <= 0; };
    if (!areZero(op.getInteriorPadding()) || !llvm::all_of(op.getEdgePaddingLow(), isNegative) ||
        !llvm::all_of(op.getEdgePaddingHigh(), isNegative))
      return failure();
    SmallVector<int64_t> starts, limits;
    for (auto [i, size] : llvm::enumerate(getDims(op.getOperand().getType()))) {
      int64_t high = op.getEdgePaddingHigh()[i];
      starts.push_back(-op.getEdgePaddingLow()[i]);
      limits.push_back(size.isConstant() ? size.getConstant() + high : high < 0 ? high : SliceOp::kEnd);
    }
    SmallVector<int64_t> strides(starts.size(), 1);
    rewriter.replaceOpWithNewOp<SliceOp>(op, op.getOperand(), starts, limits, strides);
    return success();
  }
};

bool isZeroConstant(Value value) {
  DenseElementsAttr splat = matchSplat(value);
  if (!splat)
    return false;
  return isFloatElement(splat.getElementType()) ? splat.getSplatValue<APFloat>().isZero()
                                                : splat.getSplatValue<APInt>().isZero();
}

/// A convolution pads by itself with zeros.
struct ConvolutionOfPad : OpRewritePattern<ConvolutionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvolutionOp op, PatternRewriter &rewriter) const override {
    auto pad = op.getLhs().getDefiningOp<PadOp>();
    if (!pad || !isZeroConstant(pad.getPaddingValue()) || !areZero(pad.getInteriorPadding()))
      return failure();
    ConvolutionDimensionsAttr numbers = op.getDimensionNumbers();
    SmallVector<int64_t> low(op.getPaddingLow()), high(op.getPaddingHigh());
    for (int64_t dimension : {numbers.getInputBatchDimension(), numbers.getInputFeatureDimension()})
      if (pad.getEdgePaddingLow()[dimension] != 0 || pad.getEdgePaddingHigh()[dimension] != 0)
        return failure();
    for (auto [i, dimension] : llvm::enumerate(numbers.getInputSpatialDimensions())) {
      int64_t padLow = pad.getEdgePaddingLow()[dimension], padHigh = pad.getEdgePaddingHigh()[dimension];
      // Between padded elements a dilated input has holes, which the convolution's own padding has not; they are zeros
      // too, so that d padded elements are d * dilation positions.
      if (padLow < 0 || padHigh < 0 || low[i] < 0 || high[i] < 0 || isEmpty(pad.getOperand(), dimension))
        return failure();
      low[i] += padLow * op.getLhsDilation()[i];
      high[i] += padHigh * op.getLhsDilation()[i];
    }
    Location location = rewriter.getFusedLoc({pad.getLoc(), op.getLoc()});
    rewriter.replaceOp(op, ConvolutionOp::create(rewriter, location, op.getType(), pad.getOperand(), op.getRhs(),
                                                 numbers, op.getWindowStrides(), low, high, op.getLhsDilation(),
                                                 op.getRhsDilation(), op.getFeatureGroupCount()));
    return success();
  }
};

/// reduce_window pads with the identity: -inf for the maximum of floats, +inf for the minimum. (A sum's identity is
/// -0.0, which nobody pads with.)
struct WindowOfPad : OpRewritePattern<ReduceWindowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceWindowOp op, PatternRewriter &rewriter) const override {
    auto pad = op.getOperand().getDefiningOp<PadOp>();
    if (!pad || !areZero(pad.getInteriorPadding()) || !isFloatElement(elementType(op.getResult())))
      return failure();
    DenseElementsAttr splat = matchSplat(pad.getPaddingValue());
    bool isMaximum = op.getKind() == ReductionKind::max;
    if (!splat || (!isMaximum && op.getKind() != ReductionKind::min))
      return failure();
    APFloat value = splat.getSplatValue<APFloat>();
    if (!value.isInfinity() || value.isNegative() != isMaximum)
      return failure();
    SmallVector<int64_t> low, high;
    for (size_t i = 0, rank = op.getPaddingLow().size(); i < rank; ++i) {
      int64_t padLow = pad.getEdgePaddingLow()[i], padHigh = pad.getEdgePaddingHigh()[i];
      if (padLow < 0 || padHigh < 0 || op.getPaddingLow()[i] < 0 || op.getPaddingHigh()[i] < 0 ||
          isEmpty(pad.getOperand(), i))
        return failure();
      low.push_back(op.getPaddingLow()[i] + padLow * op.getBaseDilations()[i]);
      high.push_back(op.getPaddingHigh()[i] + padHigh * op.getBaseDilations()[i]);
    }
    Location location = rewriter.getFusedLoc({pad.getLoc(), op.getLoc()});
    rewriter.replaceOp(op, ReduceWindowOp::create(rewriter, location, op.getKind(), pad.getOperand(),
                                                  op.getWindowDimensions(), op.getWindowStrides(),
                                                  op.getBaseDilations(), op.getWindowDilations(), low, high));
    return success();
  }
};

} // namespace

void populatePadPatterns(RewritePatternSet &patterns) {
  patterns.add<PadOfPad, NegativePad, ConvolutionOfPad, WindowOfPad>(patterns.getContext());
}

} // namespace weft::simplify
