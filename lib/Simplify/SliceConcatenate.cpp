//===- SliceConcatenate.cpp - Slices and concatenations of each other ------------------------------------------===//

#include "dialects/Graph/Creation.h"
#include "dialects/Graph/DataMovement.h"
#include "lib/Simplify/Patterns.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::simplify {

namespace {

/// One dimension of a slice.
struct Range {
  int64_t start, limit, stride;
};

Range getRange(SliceOp op, size_t dimension) {
  int64_t limit = op.getLimitIndices()[dimension];
  RankedTensorType type = tensorType(op.getOperand());
  if (limit == SliceOp::kEnd && !type.isDynamicDim(dimension))
    limit = type.getDimSize(dimension);
  return {op.getStartIndices()[dimension], limit, op.getStrides()[dimension]};
}

/// Whether the range takes a dimension of this size whole.
bool isWhole(const Range &range, const Dim &size) {
  return range.start == 0 && range.stride == 1 &&
         (range.limit == SliceOp::kEnd || (size.isConstant() && range.limit == size.getConstant()));
}

Value makeSlice(PatternRewriter &rewriter, Location location, Value operand, ArrayRef<Range> ranges) {
  SmallVector<int64_t> starts, limits, strides;
  for (const Range &range : ranges) {
    starts.push_back(range.start);
    limits.push_back(range.limit);
    strides.push_back(range.stride);
  }
  return SliceOp::create(rewriter, location, operand, starts, limits, strides);
}

/// The range of the source that `outer` takes of what `inner` takes; nothing where positions count from a symbolic end.
std::optional<Range> compose(const Range &inner, const Dim &sourceSize, const Range &outer, const Dim &middleSize) {
  if (isWhole(inner, sourceSize))
    return outer;
  if (isWhole(outer, middleSize))
    return inner;
  if (inner.start < 0 || outer.start < 0 || outer.limit < outer.start)
    return std::nullopt;
  if (outer.limit == outer.start)
    return Range{inner.start, inner.start, 1};
  // The last element that outer may take, as a position of the source.
  int64_t limit = inner.start + (outer.limit - 1) * inner.stride + 1;
  return Range{inner.start + outer.start * inner.stride, limit, inner.stride * outer.stride};
}

struct SliceOfSlice : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<SliceOp>();
    if (!inner)
      return failure();
    SmallVector<Range> ranges;
    for (size_t i = 0, rank = op.getStartIndices().size(); i < rank; ++i) {
      std::optional<Range> range = compose(getRange(inner, i), getDim(inner.getOperand().getType(), i), getRange(op, i),
                                           getDim(inner.getType(), i));
      if (!range)
        return failure();
      ranges.push_back(*range);
    }
    Location location = rewriter.getFusedLoc({inner.getLoc(), op.getLoc()});
    rewriter.replaceOp(op, makeSlice(rewriter, location, inner.getOperand(), ranges));
    return success();
  }
};

/// A slice of a concatenation reads only the operands that it touches.
struct SliceOfConcatenate : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto concatenate = op.getOperand().getDefiningOp<ConcatenateOp>();
    if (!concatenate)
      return failure();
    size_t dimension = concatenate.getDimension();
    Range range = getRange(op, dimension);
    if (range.start < 0 || range.limit <= range.start)
      return failure();
    // The operands from the first to the last that the range touches; their sizes must be known.
    SmallVector<Value> touched;
    int64_t begin = 0, shift = 0;
    bool covered = false;
    for (Value input : concatenate.getInputs()) {
      Dim size = getDim(input.getType(), dimension);
      if (!size.isConstant())
        break;
      int64_t end = begin + size.getConstant();
      if (end <= range.start)
        shift = end;
      else if (begin < range.limit)
        touched.push_back(input);
      begin = end;
      covered = end >= range.limit;
      if (covered)
        break;
    }
    if (!covered || touched.empty() || touched.size() == concatenate.getInputs().size())
      return failure();
    Value source = touched.front();
    if (touched.size() > 1)
      source = ConcatenateOp::create(rewriter, concatenate.getLoc(), touched, dimension);
    SmallVector<Range> ranges;
    for (size_t i = 0, rank = op.getStartIndices().size(); i < rank; ++i)
      ranges.push_back(getRange(op, i));
    ranges[dimension] = {range.start - shift, range.limit - shift, range.stride};
    rewriter.replaceOp(op, makeSlice(rewriter, op.getLoc(), source, ranges));
    return success();
  }
};

/// A slice that takes nothing of the padding is a slice of what was padded.
struct SliceOfPad : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto pad = op.getOperand().getDefiningOp<PadOp>();
    if (!pad)
      return failure();
    SmallVector<Range> ranges;
    for (size_t i = 0, rank = op.getStartIndices().size(); i < rank; ++i) {
      Range range = getRange(op, i);
      int64_t low = pad.getEdgePaddingLow()[i], high = pad.getEdgePaddingHigh()[i];
      bool untouched = low == 0 && high == 0 && pad.getInteriorPadding()[i] == 0;
      Dim size = getDim(pad.getOperand().getType(), i);
      if (!untouched) {
        bool inside = size.isConstant() && pad.getInteriorPadding()[i] == 0 && range.start >= low &&
                      range.limit >= range.start && range.limit <= low + size.getConstant();
        if (!inside)
          return failure();
        range.start -= low;
        range.limit -= low;
      }
      ranges.push_back(range);
    }
    rewriter.replaceOp(op, makeSlice(rewriter, op.getLoc(), pad.getOperand(), ranges));
    return success();
  }
};

/// Concatenations of concatenations along the same dimension are one; empty operands are dropped; neighbouring slices
/// of one value are one slice.
struct FlattenConcatenate : OpRewritePattern<ConcatenateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatenateOp op, PatternRewriter &rewriter) const override {
    size_t dimension = op.getDimension();
    SmallVector<Value> inputs;
    SmallVector<Location> locations = {op.getLoc()};
    bool changed = false;
    for (Value input : op.getInputs()) {
      auto inner = input.getDefiningOp<ConcatenateOp>();
      Dim size = getDim(input.getType(), dimension);
      bool empty = size.isConstant() && size.getConstant() == 0;
      if (inner && inner.getDimension() == op.getDimension() && inner->hasOneUse()) {
        llvm::append_range(inputs, inner.getInputs());
        locations.push_back(inner.getLoc());
        changed = true;
      } else if (empty && op.getInputs().size() > 1) {
        changed = true;
      } else {
        inputs.push_back(input);
      }
    }
    if (inputs.empty())
      inputs.push_back(op.getInputs()[0]);
    for (size_t i = 0; i + 1 < inputs.size();) {
      Value joined = joinSlices(inputs[i], inputs[i + 1], dimension, rewriter);
      if (!joined) {
        ++i;
        continue;
      }
      inputs[i] = joined;
      inputs.erase(inputs.begin() + i + 1);
      changed = true;
    }
    if (!changed)
      return failure();
    if (inputs.size() == 1)
      rewriter.replaceOp(op, inputs[0]);
    else
      rewriter.replaceOp(op, ConcatenateOp::create(rewriter, rewriter.getFusedLoc(locations), inputs, dimension));
    return success();
  }

  /// The slice that takes what two neighbouring slices of one value take, or null.
  static Value joinSlices(Value first, Value second, size_t dimension, PatternRewriter &rewriter) {
    auto left = first.getDefiningOp<SliceOp>(), right = second.getDefiningOp<SliceOp>();
    if (!left || !right || left.getOperand() != right.getOperand())
      return {};
    SmallVector<Range> ranges;
    for (size_t i = 0, rank = left.getStartIndices().size(); i < rank; ++i) {
      Range a = getRange(left, i), b = getRange(right, i);
      bool same = a.start == b.start && a.limit == b.limit && a.stride == b.stride;
      bool neighbours = a.stride == 1 && b.stride == 1 && a.start >= 0 && b.start >= 0 && a.limit == b.start;
      if (i == dimension ? !neighbours : !same)
        return {};
      ranges.push_back(i == dimension ? Range{a.start, b.limit, 1} : a);
    }
    Location location = rewriter.getFusedLoc({left.getLoc(), right.getLoc()});
    return makeSlice(rewriter, location, left.getOperand(), ranges);
  }
};

/// A dynamic slice at constant positions is a slice.
struct DynamicSliceAtConstant : OpRewritePattern<DynamicSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DynamicSliceOp op, PatternRewriter &rewriter) const override {
    RankedTensorType operand = tensorType(op.getOperand()), result = tensorType(op.getResult());
    SmallVector<Range> ranges;
    for (auto [i, index] : llvm::enumerate(op.getStartIndices())) {
      if (getDim(operand, i) == getDim(result, i)) {
        ranges.push_back({0, operand.isDynamicDim(i) ? SliceOp::kEnd : operand.getDimSize(i), 1});
        continue;
      }
      DenseElementsAttr position;
      if (operand.isDynamicDim(i) || result.isDynamicDim(i) || !matchPattern(index, m_Constant(&position)))
        return failure();
      APInt value = position.getSplatValue<APInt>();
      bool isUnsigned = isUnsignedElement(position.getElementType());
      int64_t last = operand.getDimSize(i) - result.getDimSize(i);
      int64_t start = isUnsigned ? static_cast<int64_t>(value.getLimitedValue(last))
                                 : std::clamp<int64_t>(value.getSExtValue(), 0, last);
      ranges.push_back({start, start + result.getDimSize(i), 1});
    }
    rewriter.replaceOp(op, makeSlice(rewriter, op.getLoc(), op.getOperand(), ranges));
    return success();
  }
};

} // namespace

void populateSliceConcatenatePatterns(RewritePatternSet &patterns) {
  patterns.add<SliceOfSlice, SliceOfConcatenate, SliceOfPad, FlattenConcatenate, DynamicSliceAtConstant>(
      patterns.getContext());
}

} // namespace weft::simplify
