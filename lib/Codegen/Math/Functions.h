//===- Functions.h - The mathematical functions, each as arithmetic on one scalar -----------------------===//
//
// Special values are those of C's functions. The functions use fused multiply-adds of their own in every numerics mode:
// they are part of what the function is, not a contraction of the model's operations.

#ifndef WEFT_LIB_CODEGEN_MATH_FUNCTIONS_H
#define WEFT_LIB_CODEGEN_MATH_FUNCTIONS_H

#include "lib/Codegen/Math/FloatBuilder.h"

namespace weft::codegen {

// For f32 and f64.
mlir::Value expandExp(FloatBuilder &f, mlir::Value x);
mlir::Value expandExpM1(FloatBuilder &f, mlir::Value x);
mlir::Value expandLog(FloatBuilder &f, mlir::Value x);
mlir::Value expandLog1p(FloatBuilder &f, mlir::Value x);
mlir::Value expandTanh(FloatBuilder &f, mlir::Value x);
mlir::Value expandErf(FloatBuilder &f, mlir::Value x);
mlir::Value expandRsqrt(FloatBuilder &f, mlir::Value x);
mlir::Value expandSin(FloatBuilder &f, mlir::Value x);
mlir::Value expandCos(FloatBuilder &f, mlir::Value x);

// For f64; f32 is computed in f64 and rounded.
mlir::Value expandTan(FloatBuilder &f, mlir::Value x);
mlir::Value expandAsin(FloatBuilder &f, mlir::Value x);
mlir::Value expandAcos(FloatBuilder &f, mlir::Value x);
mlir::Value expandAtan(FloatBuilder &f, mlir::Value x);
mlir::Value expandAtan2(FloatBuilder &f, mlir::Value y, mlir::Value x);
mlir::Value expandSinh(FloatBuilder &f, mlir::Value x);
mlir::Value expandCosh(FloatBuilder &f, mlir::Value x);
mlir::Value expandAsinh(FloatBuilder &f, mlir::Value x);
mlir::Value expandAcosh(FloatBuilder &f, mlir::Value x);
mlir::Value expandAtanh(FloatBuilder &f, mlir::Value x);
mlir::Value expandCbrt(FloatBuilder &f, mlir::Value x);
/// `isExact` computes for a result in f64; without it, for one that is rounded to f32.
mlir::Value expandPow(FloatBuilder &f, mlir::Value x, mlir::Value y, bool isExact);
mlir::Value expandRemainder(FloatBuilder &f, mlir::Value x, mlir::Value y);

/// exp(x + low) for a low part far below x.
mlir::Value expandExpOfSum(FloatBuilder &f, mlir::Value x, mlir::Value low);

} // namespace weft::codegen

#endif
