//===- MathExpansion.cpp - Mathematical functions as plain arithmetic ---------------------------------===//

#include "lib/Codegen/Math/MathExpansion.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace weft::codegen {

void populateMathExpansionPatterns(RewritePatternSet &patterns) {
  populateMathPolynomialApproximationPatterns(patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  arith::populateExpandBFloat16Patterns(patterns);
}

LogicalResult expandMath(Operation *root) {
  RewritePatternSet patterns(root->getContext());
  populateMathExpansionPatterns(patterns);
  return applyPatternsGreedily(root, std::move(patterns));
}

} // namespace weft::codegen
