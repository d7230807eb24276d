//===- Types.h - The fundamental types of PTX ---------------------------------===//
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::simulator {

/// Types that appear as a suffix of an opcode or in a declaration.
enum class Type : uint8_t {
  None,
  Pred,
  B8,
  U8,
  S8,
  B16,
  U16,
  S16,
  B32,
  U32,
  S32,
  B64,
  U64,
  S64,
  B128,
  F16,
  F16x2,
  BF16,
  BF16x2,
  F32,
  TF32,
  F64,
  F32x2,
  E4M3,
  E5M2,
  E4M3x2,
  E5M2x2,
  U16x2,
  S16x2,
  U8x4,
  S8x4
};

/// Type::None where `suffix` (without its dot) names no type.
Type typeFromSuffix(std::string_view suffix);
/// Without the dot: "f16x2".
const char *typeName(Type type);
/// Bytes of a value in memory and in a register; 0 for Pred and None.
unsigned typeSize(Type type);
bool isFloatType(Type type);
bool isSignedType(Type type);

} // namespace weft::simulator
