//===- MathExpansion.cpp - Mathematical functions as plain arithmetic ---------------------------------===//

#include "lib/Codegen/Math/MathExpansion.h"
#include "lib/Codegen/Math/Conversions.h"
#include "lib/Codegen/Math/Functions.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace weft::codegen {

namespace {

using Unary = Value (*)(FloatBuilder &, Value);
using Binary = Value (*)(FloatBuilder &, Value, Value);

Value expandPowDouble(FloatBuilder &f, Value x, Value y) { return expandPow(f, x, y, /*isExact=*/true); }
Value expandPowFloat(FloatBuilder &f, Value x, Value y) { return expandPow(f, x, y, /*isExact=*/false); }

/// `throughDouble`: f32 is computed in f64.
template <typename MathOp> struct ExpandUnary : OpRewritePattern<MathOp> {
  ExpandUnary(MLIRContext *context, Unary function, bool throughDouble)
      : OpRewritePattern<MathOp>(context), function(function), throughDouble(throughDouble) {}

  LogicalResult matchAndRewrite(MathOp op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!type.isF32() && !type.isF64())
      return failure();
    Value operand = op.getOperand();
    if (!throughDouble || type.isF64()) {
      FloatBuilder f(rewriter, op.getLoc(), cast<FloatType>(type));
      rewriter.replaceOp(op, function(f, operand));
      return success();
    }
    FloatBuilder f(rewriter, op.getLoc(), rewriter.getF64Type());
    Value wide = function(f, arith::ExtFOp::create(rewriter, op.getLoc(), f.type, operand));
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, wide);
    return success();
  }

  Unary function;
  bool throughDouble;
};

/// f32 is computed in f64.
template <typename MathOp> struct ExpandBinary : OpRewritePattern<MathOp> {
  ExpandBinary(MLIRContext *context, Binary onDouble, Binary onFloat)
      : OpRewritePattern<MathOp>(context), onDouble(onDouble), onFloat(onFloat) {}

  LogicalResult matchAndRewrite(MathOp op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!type.isF32() && !type.isF64())
      return failure();
    FloatBuilder f(rewriter, op.getLoc(), rewriter.getF64Type());
    Value lhs = op->getOperand(0), rhs = op->getOperand(1);
    if (type.isF64()) {
      rewriter.replaceOp(op, onDouble(f, lhs, rhs));
      return success();
    }
    lhs = arith::ExtFOp::create(rewriter, op.getLoc(), f.type, lhs);
    rhs = arith::ExtFOp::create(rewriter, op.getLoc(), f.type, rhs);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, onFloat(f, lhs, rhs));
    return success();
  }

  Binary onDouble, onFloat;
};

} // namespace

void populateMathExpansionPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandUnary<math::ExpOp>>(context, expandExp, false);
  patterns.add<ExpandUnary<math::ExpM1Op>>(context, expandExpM1, false);
  patterns.add<ExpandUnary<math::LogOp>>(context, expandLog, false);
  patterns.add<ExpandUnary<math::Log1pOp>>(context, expandLog1p, false);
  patterns.add<ExpandUnary<math::TanhOp>>(context, expandTanh, false);
  patterns.add<ExpandUnary<math::ErfOp>>(context, expandErf, false);
  patterns.add<ExpandUnary<math::RsqrtOp>>(context, expandRsqrt, false);
  patterns.add<ExpandUnary<math::SinOp>>(context, expandSin, false);
  patterns.add<ExpandUnary<math::CosOp>>(context, expandCos, false);
  patterns.add<ExpandUnary<math::TanOp>>(context, expandTan, true);
  patterns.add<ExpandUnary<math::AsinOp>>(context, expandAsin, true);
  patterns.add<ExpandUnary<math::AcosOp>>(context, expandAcos, true);
  patterns.add<ExpandUnary<math::AtanOp>>(context, expandAtan, true);
  patterns.add<ExpandUnary<math::SinhOp>>(context, expandSinh, true);
  patterns.add<ExpandUnary<math::CoshOp>>(context, expandCosh, true);
  patterns.add<ExpandUnary<math::AsinhOp>>(context, expandAsinh, true);
  patterns.add<ExpandUnary<math::AcoshOp>>(context, expandAcosh, true);
  patterns.add<ExpandUnary<math::AtanhOp>>(context, expandAtanh, true);
  patterns.add<ExpandUnary<math::CbrtOp>>(context, expandCbrt, true);
  patterns.add<ExpandBinary<math::PowFOp>>(context, expandPowDouble, expandPowFloat);
  patterns.add<ExpandBinary<math::Atan2Op>>(context, expandAtan2, expandAtan2);
  patterns.add<ExpandBinary<arith::RemFOp>>(context, expandRemainder, expandRemainder);
  populateConversionPatterns(patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
}

LogicalResult expandMath(Operation *root) {
  RewritePatternSet patterns(root->getContext());
  populateMathExpansionPatterns(patterns);
  return applyPatternsGreedily(root, std::move(patterns));
}

} // namespace weft::codegen
