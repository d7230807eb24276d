//===- Elementwise.cpp - Exact algebra of elementwise ops ------------------------------------------------===//

#include "dialects/Graph/Elementwise.h"
#include "dialects/Graph/Creation.h"
#include "dialects/Graph/NarrowFloat.h"
#include "lib/Simplify/Patterns.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::simplify {

namespace {

Attribute zeroOf(Type elementType) {
  OpBuilder builder(elementType.getContext());
  return builder.getZeroAttr(elementType);
}

/// Whether all elements of the constant are the integer or, exactly, the float `value`.
bool isSplatOf(DenseElementsAttr splat, double value) {
  if (!splat)
    return false;
  Type type = splat.getElementType();
  if (isFloatElement(type))
    return llvm::bit_cast<uint64_t>(toDouble(splat.getSplatValue<APFloat>())) == llvm::bit_cast<uint64_t>(value);
  if (isBoolElement(type))
    return splat.getSplatValue<APInt>().getZExtValue() == value;
  const APInt element = splat.getSplatValue<APInt>();
  return element == APInt(element.getBitWidth(), static_cast<uint64_t>(static_cast<int64_t>(value)), true, true);
}

/// x * 1, x + -0.0 and the other identities where the constant is seen through broadcasts.
struct IdentityElement : RewritePattern {
  IdentityElement(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isElementwise(op) || op->getNumOperands() != 2 || isa<CompareOp>(op))
      return failure();
    DenseElementsAttr right = matchSplat(op->getOperand(1));
    if (!right) {
      // The constant goes right, where folds look for it. (Of two constants the fold of commutative ops decides.)
      if (!op->hasTrait<OpTrait::IsCommutative>() || !matchSplat(op->getOperand(0)) ||
          matchPattern(op->getOperand(1), m_Constant()))
        return failure();
      Value left = op->getOperand(0);
      rewriter.modifyOpInPlace(op, [&] {
        op->setOperand(0, op->getOperand(1));
        op->setOperand(1, left);
      });
      return success();
    }
    OpFoldResult folded = foldIdentityElement(op, right);
    Value value = folded.dyn_cast<Value>();
    if (!value || value.getType() != op->getResult(0).getType())
      return failure();
    rewriter.replaceOp(op, value);
    return success();
  }
};

/// Ops that undo themselves: -(-x), not(not x).
template <typename Op> struct Involution : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().template getDefiningOp<Op>();
    if (!inner)
      return failure();
    rewriter.replaceOp(op, inner.getOperand());
    return success();
  }
};

/// Ops that change nothing the second time: abs(abs x), floor(floor x).
template <typename Op> struct Idempotent : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!op.getOperand().template getDefiningOp<Op>())
      return failure();
    rewriter.replaceOp(op, op.getOperand());
    return success();
  }
};

/// |-x| is |x|. (Of unsigned integers -x is another positive number.)
struct AbsOfNegate : OpRewritePattern<AbsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AbsOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<NegateOp>();
    if (!inner || isUnsignedElement(elementType(op.getResult())))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.setOperand(inner.getOperand()); });
    return success();
  }
};

/// x op x is x, and (x op y) op y is x op y, for maximum, minimum, and, or.
template <typename Op> struct IdempotentPair : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Value left = op.getLhs(), right = op.getRhs();
    auto absorbs = [](Value whole, Value part) {
      auto inner = whole.getDefiningOp<Op>();
      return whole == part || (inner && (inner.getLhs() == part || inner.getRhs() == part));
    };
    if (!absorbs(left, right) && !absorbs(right, left))
      return failure();
    rewriter.replaceOp(op, absorbs(left, right) ? left : right);
    return success();
  }
};

/// maximum(x, -inf) and minimum(x, +inf) are x; for integers the type's limits.
template <typename Op, bool isMaximum> struct LimitOfType : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    DenseElementsAttr splat = matchSplat(op.getRhs());
    if (!splat)
      return failure();
    Type type = splat.getElementType();
    bool limit;
    if (isFloatElement(type)) {
      APFloat element = splat.getSplatValue<APFloat>();
      limit = element.isInfinity() && element.isNegative() == isMaximum;
    } else {
      APInt element = splat.getSplatValue<APInt>();
      bool isUnsigned = isUnsignedElement(type) || isBoolElement(type);
      limit = isMaximum ? (isUnsigned ? element.isZero() : element.isMinSignedValue())
                        : (isUnsigned ? element.isAllOnes() : element.isMaxSignedValue());
    }
    if (!limit)
      return failure();
    rewriter.replaceOp(op, op.getLhs());
    return success();
  }
};

/// a + -b is a - b, -a + b is b - a, a - -b is a + b: floats are so defined, integers wrap around.
struct AddOfNegate : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const override {
    auto right = op.getRhs().getDefiningOp<NegateOp>(), left = op.getLhs().getDefiningOp<NegateOp>();
    if (right)
      rewriter.replaceOpWithNewOp<SubtractOp>(op, op.getLhs(), right.getOperand());
    else if (left)
      rewriter.replaceOpWithNewOp<SubtractOp>(op, op.getRhs(), left.getOperand());
    return success(left || right);
  }
};

struct SubtractOfNegate : OpRewritePattern<SubtractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SubtractOp op, PatternRewriter &rewriter) const override {
    auto right = op.getRhs().getDefiningOp<NegateOp>();
    if (!right)
      return failure();
    rewriter.replaceOpWithNewOp<AddOp>(op, op.getLhs(), right.getOperand());
    return success();
  }
};

/// -a * -b is a * b, -a / -b is a / b (floats only for the quotient: the most negative integer has no negation).
template <typename Op> struct NegatedPair : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto left = op.getLhs().template getDefiningOp<NegateOp>(), right = op.getRhs().template getDefiningOp<NegateOp>();
    if (!left || !right || !isFloatElement(elementType(op.getResult())))
      return failure();
    rewriter.replaceOpWithNewOp<Op>(op, left.getOperand(), right.getOperand());
    return success();
  }
};

/// x * -1 is -x; integer x * 0 and x & 0 are 0.
template <typename Op> struct ProductWithConstant : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type type = elementType(op.getResult());
    DenseElementsAttr splat = matchSplat(op.getRhs());
    if (!splat)
      return failure();
    if (!isFloatElement(type) && isSplatOf(splat, 0)) {
      rewriter.replaceOp(op, op.getRhs());
      return success();
    }
    if (std::is_same_v<Op, MultiplyOp> && !isBoolElement(type) && isSplatOf(splat, -1)) {
      rewriter.replaceOpWithNewOp<NegateOp>(op, op.getLhs());
      return success();
    }
    return failure();
  }
};

/// Integer x - x and x ^ x are 0. (A float x - x is NaN where x is not finite.)
template <typename Op> struct DifferenceWithItself : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type type = elementType(op.getResult());
    bool exact = isIntegerElement(type) || (isBoolElement(type) && std::is_same_v<Op, XorOp>);
    if (op.getLhs() != op.getRhs() || !exact)
      return failure();
    rewriter.replaceOp(op, makeSplat(rewriter, op.getLoc(), tensorType(op.getResult()), zeroOf(type)));
    return success();
  }
};

/// x / 2^k is x * 2^-k: both round the same number.
struct DivideByPowerOfTwo : OpRewritePattern<DivideOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DivideOp op, PatternRewriter &rewriter) const override {
    DenseElementsAttr splat = matchSplat(op.getRhs());
    if (!splat || !isFloatElement(splat.getElementType()))
      return failure();
    APFloat inverse(splat.getSplatValue<APFloat>().getSemantics());
    if (!splat.getSplatValue<APFloat>().getExactInverse(&inverse))
      return failure();
    Value factor =
        makeSplat(rewriter, op.getLoc(), tensorType(op.getResult()), FloatAttr::get(splat.getElementType(), inverse));
    rewriter.replaceOpWithNewOp<MultiplyOp>(op, op.getLhs(), factor);
    return success();
  }
};

/// x^2 is x * x: the exact square, rounded once. (Not for f64, whose `power` is only faithful.)
struct Square : OpRewritePattern<PowerOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PowerOp op, PatternRewriter &rewriter) const override {
    Type type = elementType(op.getResult());
    // In two bits there is no 2.
    if (type.isF64() || type.getIntOrFloatBitWidth() <= 2 || !isSplatOf(matchSplat(op.getRhs()), 2))
      return failure();
    rewriter.replaceOpWithNewOp<MultiplyOp>(op, op.getLhs(), op.getLhs());
    return success();
  }
};

/// select(not p, a, b) is select(p, b, a); a constant predicate behind a broadcast; select(p, true, false) is p.
struct SimplifySelect : OpRewritePattern<SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SelectOp op, PatternRewriter &rewriter) const override {
    if (auto negated = op.getPred().getDefiningOp<NotOp>()) {
      rewriter.replaceOpWithNewOp<SelectOp>(op, negated.getOperand(), op.getOnFalse(), op.getOnTrue());
      return success();
    }
    if (DenseElementsAttr pred = matchSplat(op.getPred())) {
      rewriter.replaceOp(op, pred.getSplatValue<bool>() ? op.getOnTrue() : op.getOnFalse());
      return success();
    }
    if (isBoolElement(elementType(op.getResult())) && isSplatOf(matchSplat(op.getOnTrue()), 1) &&
        isSplatOf(matchSplat(op.getOnFalse()), 0)) {
      rewriter.replaceOp(op, op.getPred());
      return success();
    }
    return failure();
  }
};

} // namespace

void populateElementwisePatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<IdentityElement, Involution<NegateOp>, Involution<NotOp>, Idempotent<AbsOp>, Idempotent<FloorOp>,
               Idempotent<CeilOp>, Idempotent<RoundNearestEvenOp>, Idempotent<RoundNearestAfzOp>, Idempotent<SignOp>,
               AbsOfNegate, IdempotentPair<MaximumOp>, IdempotentPair<MinimumOp>, IdempotentPair<AndOp>,
               IdempotentPair<OrOp>, LimitOfType<MaximumOp, true>, LimitOfType<MinimumOp, false>, AddOfNegate,
               SubtractOfNegate, NegatedPair<MultiplyOp>, NegatedPair<DivideOp>, ProductWithConstant<MultiplyOp>,
               ProductWithConstant<AndOp>, DifferenceWithItself<SubtractOp>, DifferenceWithItself<XorOp>,
               DivideByPowerOfTwo, Square, SimplifySelect>(context);
}

} // namespace weft::simplify
