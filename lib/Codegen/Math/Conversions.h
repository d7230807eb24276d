//===- Conversions.h - Conversions between floats that targets have no instructions for ------------------===//

#ifndef WEFT_LIB_CODEGEN_MATH_CONVERSIONS_H
#define WEFT_LIB_CODEGEN_MATH_CONVERSIONS_H

#include "mlir/IR/PatternMatch.h"

namespace weft::codegen {

/// arith.extf and arith.truncf of bf16 and the 8-bit floats from and to f32 and f64, and of f64 to f16.
void populateConversionPatterns(mlir::RewritePatternSet &patterns);

} // namespace weft::codegen

#endif
