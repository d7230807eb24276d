//===- ElementTypes.h - ONNX's element types and ours --------------------------------------------===//

#ifndef WEFT_LIB_SUPPORT_ONNX_ELEMENTTYPES_H
#define WEFT_LIB_SUPPORT_ONNX_ELEMENTTYPES_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Types.h"
#include <string>

namespace weft {

/// TensorProto.DataType, with the values that are newer than the distribution's onnx.proto.
enum class OnnxType : int32_t {
  Undefined = 0,
  Float = 1,
  Uint8 = 2,
  Int8 = 3,
  Uint16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  String = 8,
  Bool = 9,
  Float16 = 10,
  Double = 11,
  Uint32 = 12,
  Uint64 = 13,
  Complex64 = 14,
  Complex128 = 15,
  Bfloat16 = 16,
  Float8E4M3FN = 17,
  Float8E4M3FNUZ = 18,
  Float8E5M2 = 19,
  Float8E5M2FNUZ = 20,
  Uint4 = 21,
  Int4 = 22,
  Float4E2M1 = 23,
  Float8E8M0 = 24,
  Uint2 = 25,
  Int2 = 26,
};

/// Our element type, or null where Weft has none (strings, complex numbers, ...).
mlir::Type elementTypeOf(OnnxType type, mlir::MLIRContext *context);
/// ONNX's element type; `Undefined` for a type that ONNX lacks.
OnnxType onnxTypeOf(mlir::Type elementType);
/// The name of the type in ONNX's documents, or "element type 99".
std::string nameOf(OnnxType type);

} // namespace weft

#endif
