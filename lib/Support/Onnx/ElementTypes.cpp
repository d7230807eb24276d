//===- ElementTypes.cpp - ONNX's element types and ours ------------------------------------------===//

#include "lib/Support/Onnx/ElementTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace weft {

Type elementTypeOf(OnnxType type, MLIRContext *context) {
  auto integer = [&](unsigned width) -> Type { return IntegerType::get(context, width); };
  auto unsignedInteger = [&](unsigned width) -> Type {
    return IntegerType::get(context, width, IntegerType::Unsigned);
  };
  switch (type) {
  case OnnxType::Float:
    return Float32Type::get(context);
  case OnnxType::Float16:
    return Float16Type::get(context);
  case OnnxType::Double:
    return Float64Type::get(context);
  case OnnxType::Bfloat16:
    return BFloat16Type::get(context);
  case OnnxType::Float8E4M3FN:
    return Float8E4M3FNType::get(context);
  case OnnxType::Float8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case OnnxType::Float8E5M2:
    return Float8E5M2Type::get(context);
  case OnnxType::Float8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  case OnnxType::Float8E8M0:
    return Float8E8M0FNUType::get(context);
  case OnnxType::Float4E2M1:
    return Float4E2M1FNType::get(context);
  case OnnxType::Bool:
    return integer(1);
  case OnnxType::Int2:
    return integer(2);
  case OnnxType::Int4:
    return integer(4);
  case OnnxType::Int8:
    return integer(8);
  case OnnxType::Int16:
    return integer(16);
  case OnnxType::Int32:
    return integer(32);
  case OnnxType::Int64:
    return integer(64);
  case OnnxType::Uint2:
    return unsignedInteger(2);
  case OnnxType::Uint4:
    return unsignedInteger(4);
  case OnnxType::Uint8:
    return unsignedInteger(8);
  case OnnxType::Uint16:
    return unsignedInteger(16);
  case OnnxType::Uint32:
    return unsignedInteger(32);
  case OnnxType::Uint64:
    return unsignedInteger(64);
  default:
    return {};
  }
}

OnnxType onnxTypeOf(Type elementType) {
  for (int32_t type = 1; type <= static_cast<int32_t>(OnnxType::Int2); ++type)
    if (elementTypeOf(static_cast<OnnxType>(type), elementType.getContext()) == elementType)
      return static_cast<OnnxType>(type);
  return OnnxType::Undefined;
}

std::string nameOf(OnnxType type) {
  static constexpr const char *kNames[] = {
      "undefined", "float",      "uint8",      "int8",         "uint16",         "int16",      "int32",
      "int64",     "string",     "bool",       "float16",      "double",         "uint32",     "uint64",
      "complex64", "complex128", "bfloat16",   "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz",
      "uint4",     "int4",       "float4e2m1", "float8e8m0",   "uint2",          "int2"};
  auto index = static_cast<int32_t>(type);
  if (index < 0 || index >= static_cast<int32_t>(std::size(kNames)))
    return "element type " + std::to_string(index);
  return kNames[index];
}

} // namespace weft
