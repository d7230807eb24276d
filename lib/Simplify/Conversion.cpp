//===- Conversion.cpp - Chains of element type conversions that lose nothing on the way --------------------===//

#include "dialects/Graph/Elementwise.h"
#include "lib/Simplify/Patterns.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::simplify {

namespace {

/// Whether every value of `from`, infinities and NaN too, is a value of `to`.
bool isLossless(Type from, Type to) {
  if (from == to)
    return true;
  if (isa<Float8E8M0FNUType>(to)) // It has no zero.
    return false;
  if (isBoolElement(from))
    return true;
  if (isBoolElement(to))
    return false;
  unsigned fromBits = from.getIntOrFloatBitWidth(), toBits = to.getIntOrFloatBitWidth();
  if (isFloatElement(from))
    // The 8-bit formats differ in having infinities; all wider ones have them.
    return isFloatElement(to) && toBits > 8 &&
           APFloat::isRepresentableBy(cast<FloatType>(from).getFloatSemantics(),
                                      cast<FloatType>(to).getFloatSemantics());
  unsigned valueBits = isUnsignedElement(from) ? fromBits : fromBits - 1;
  if (isFloatElement(to)) {
    const llvm::fltSemantics &semantics = cast<FloatType>(to).getFloatSemantics();
    return valueBits <= APFloat::semanticsPrecision(semantics) &&
           static_cast<int>(fromBits) <= APFloat::semanticsMaxExponent(semantics);
  }
  if (isUnsignedElement(to))
    return isUnsignedElement(from) && fromBits <= toBits;
  return valueBits <= toBits - 1;
}

/// convert(convert(x)) is one conversion where the first loses nothing, or where both only cut off high bits.
struct MergeConversions : OpRewritePattern<ConvertOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvertOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<ConvertOp>();
    if (!inner)
      return failure();
    Type from = elementType(inner.getOperand()), middle = elementType(inner.getResult()),
         to = elementType(op.getResult());
    bool cutsBits = isIntegerElement(from) && isIntegerElement(middle) && isIntegerElement(to) &&
                    to.getIntOrFloatBitWidth() <= middle.getIntOrFloatBitWidth();
    if (!isLossless(from, middle) && !cutsBits)
      return failure();
    Location location = rewriter.getFusedLoc({inner.getLoc(), op.getLoc()});
    rewriter.replaceOp(op, ConvertOp::create(rewriter, location, op.getType(), inner.getOperand()));
    return success();
  }
};

struct MergeBitcasts : OpRewritePattern<BitcastConvertOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BitcastConvertOp op, PatternRewriter &rewriter) const override {
    if (op.getOperand().getType() == op.getType()) {
      rewriter.replaceOp(op, op.getOperand());
      return success();
    }
    auto inner = op.getOperand().getDefiningOp<BitcastConvertOp>();
    if (!inner)
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.setOperand(inner.getOperand()); });
    return success();
  }
};

} // namespace

void populateConversionPatterns(RewritePatternSet &patterns) {
  patterns.add<MergeConversions, MergeBitcasts>(patterns.getContext());
}

} // namespace weft::simplify
