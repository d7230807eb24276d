// Names and sizes of the element types.
#include "runtime/Core/ElementType.h"

#include <array>

namespace weft::runtime {
namespace {

struct Description {
  std::string_view name;
  int8_t bits;
  bool isFloat;
};

constexpr std::array<Description, kLastElementType + 1> kDescriptions = {{
    {"invalid", 0, false},   {"i1", 8, false},        {"i2", 2, false},       {"i4", 4, false},
    {"i8", 8, false},        {"i16", 16, false},      {"i32", 32, false},     {"i64", 64, false},
    {"ui2", 2, false},       {"ui4", 4, false},       {"ui8", 8, false},      {"ui16", 16, false},
    {"ui32", 32, false},     {"ui64", 64, false},     {"f16", 16, true},      {"bf16", 16, true},
    {"f32", 32, true},       {"f64", 64, true},       {"f8E4M3FN", 8, true},  {"f8E5M2", 8, true},
    {"f8E4M3FNUZ", 8, true}, {"f8E5M2FNUZ", 8, true}, {"f8E8M0FNU", 8, true}, {"f4E2M1FN", 4, true},
}};

const Description &describe(ElementType type) {
  auto index = static_cast<uint8_t>(type);
  return kDescriptions[index <= kLastElementType ? index : 0];
}

} // namespace

bool isValid(ElementType type) { return describe(type).bits != 0; }
int64_t storageBits(ElementType type) { return describe(type).bits; }
bool isFloat(ElementType type) { return describe(type).isFloat; }
std::string_view elementTypeName(ElementType type) { return describe(type).name; }

ElementType elementTypeFromName(std::string_view name) {
  for (uint8_t index = 1; index <= kLastElementType; ++index)
    if (kDescriptions[index].name == name)
      return static_cast<ElementType>(index);
  return ElementType::Invalid;
}

bool byteCountOf(ElementType type, const int64_t *dims, size_t rank, int64_t &bytes) {
  if (!isValid(type))
    return false;
  int64_t count = 1;
  bool empty = false;
  for (size_t axis = 0; axis < rank; ++axis) {
    if (dims[axis] < 0)
      return false;
    empty |= dims[axis] == 0;
  }
  for (size_t axis = 0; axis < rank && !empty; ++axis)
    if (__builtin_mul_overflow(count, dims[axis], &count))
      return false;
  if (empty)
    count = 0;
  int64_t bits;
  if (__builtin_mul_overflow(count, storageBits(type), &bits) || __builtin_add_overflow(bits, 7, &bits))
    return false;
  bytes = bits / 8;
  return true;
}

} // namespace weft::runtime
