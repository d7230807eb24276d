// The element types of tensors, with the numbers and names that artifacts and the C API use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::runtime {

// The numbers are part of the artifact format and of the C API (WeftElementType): never renumber, only append.
enum class ElementType : uint8_t {
  Invalid = 0,
  I1 = 1, // one byte an element, 0 or 1
  I2 = 2, // packed, low bits first; so are U2, I4 and U4
  I4 = 3,
  I8 = 4,
  I16 = 5,
  I32 = 6,
  I64 = 7,
  U2 = 8,
  U4 = 9,
  U8 = 10,
  U16 = 11,
  U32 = 12,
  U64 = 13,
  F16 = 14,
  BF16 = 15,
  F32 = 16,
  F64 = 17,
  F8E4M3FN = 18,
  F8E5M2 = 19,
  F8E4M3FNUZ = 20,
  F8E5M2FNUZ = 21,
  F8E8M0FNU = 22,
  F4E2M1FN = 23, // packed as I4 is
};
inline constexpr uint8_t kLastElementType = 23;

bool isValid(ElementType type);
// Bits an element occupies in memory: 8 for I1, 2 or 4 for the packed types.
int64_t storageBits(ElementType type);
bool isFloat(ElementType type);
// As MLIR spells it in Weft's dialect: "f32", "i64", "ui8", "i1", "bf16", "f8E4M3FN", ...
std::string_view elementTypeName(ElementType type);
// The inverse of elementTypeName; Invalid for an unknown name.
ElementType elementTypeFromName(std::string_view name);
// Bytes of a contiguous tensor, rounded up for the packed types. False when a dimension is negative, the type is
// invalid or the number does not fit.
bool byteCountOf(ElementType type, const int64_t *dims, size_t rank, int64_t &bytes);

} // namespace weft::runtime
