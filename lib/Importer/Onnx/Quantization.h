//===- Quantization.h - Building quantized arithmetic ----------------------------------------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_QUANTIZATION_H
#define WEFT_LIB_IMPORTER_ONNX_QUANTIZATION_H

#include "lib/Importer/Onnx/Node.h"

namespace weft::importer {

/// (x - zero point) * scale in f32; scale and zero point (or null) are scalars or vectors along `axis`.
mlir::Value buildDequantized(Node &node, mlir::Value x, mlir::Value scale, mlir::Value zeroPoint, int64_t axis = 0);
/// round(x / scale) + zero point, saturated to the integer type.
mlir::Value buildQuantized(Node &node, mlir::Value x, mlir::Value scale, mlir::Value zeroPoint, mlir::Type type,
                           int64_t axis = 0);
/// `x` - zero point as i32; the zero point holds for all, or for the entries of `axis`.
mlir::Value buildCentered(Node &node, mlir::Value x, mlir::Value zeroPoint, int64_t axis);
/// numpy.matmul of integers without their zero points, in i32: one zero point a row of the left operand, a column of
/// the right one, or one for all.
mlir::Value buildIntegerMatmul(Node &node, mlir::Value lhs, mlir::Value lhsZeroPoint, mlir::Value rhs,
                               mlir::Value rhsZeroPoint);
/// A scale or bias of the columns of `x` (or one for all), in f32 and with the shape of `x`.
mlir::Value buildColumnFactor(Node &node, mlir::Value factor, mlir::Value x);

struct DynamicallyQuantized {
  mlir::Value values, scale, zeroPoint;
};
/// ui8 values of the whole range of `x`.
DynamicallyQuantized buildDynamicallyQuantized(Builder &b, mlir::Value x);

} // namespace weft::importer

#endif
