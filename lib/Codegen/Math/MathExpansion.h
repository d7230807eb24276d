//===- MathExpansion.h - Mathematical functions as plain arithmetic ----------------------------------===//

#ifndef WEFT_LIB_CODEGEN_MATH_MATHEXPANSION_H
#define WEFT_LIB_CODEGEN_MATH_MATHEXPANSION_H

#include "mlir/IR/PatternMatch.h"

namespace weft::codegen {

/// Patterns that turn functions of the math dialect (exp, log, sin, tanh, erf, pow, ...) on f32 and f64 into arith
/// operations, and conversions from and to bf16 and the 8-bit floats into integer code. What is left, every target has
/// instructions for: sqrt, floor, ceil, roundeven, round, trunc, absf, copysign, fma, ctpop, ctlz.
void populateMathExpansionPatterns(mlir::RewritePatternSet &patterns);

/// Applies them to all that is inside `root`.
llvm::LogicalResult expandMath(mlir::Operation *root);

} // namespace weft::codegen

#endif
