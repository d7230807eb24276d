// Allocation, and packing of sub-byte integers.
#include "runtime/Data/Array.h"

#include <algorithm>
#include <cstring>

namespace weft::runtime {
namespace {

bool isSigned(ElementType type) { return type >= ElementType::I2 && type <= ElementType::I64; }

StatusOr<Array> pack(const Array &array, ElementType type) {
  auto packed = makeArray(type, array.dims);
  if (!packed.ok())
    return packed.status();
  auto *to = static_cast<uint8_t *>(packed->data.data());
  std::memset(to, 0, static_cast<size_t>(packed->byteCount()));
  const auto *from = static_cast<const uint8_t *>(array.data.data());
  int64_t bits = storageBits(type);
  int least = isSigned(type) ? -(1 << (bits - 1)) : 0;
  int greatest = least + (1 << bits) - 1;
  for (int64_t index = 0; index < array.elementCount(); ++index) {
    int value = isSigned(type) ? static_cast<int8_t>(from[index]) : from[index];
    if (value < least || value > greatest)
      return Status(StatusCode::InvalidArgument, "element " + std::to_string(index) + " is " + std::to_string(value) +
                                                     ", which " + std::string(elementTypeName(type)) +
                                                     " cannot hold (" + std::to_string(least) + " to " +
                                                     std::to_string(greatest) + ")");
    unsigned field = static_cast<unsigned>(value) & ((1u << bits) - 1);
    to[index * bits / 8] = static_cast<uint8_t>(to[index * bits / 8] | field << (index * bits % 8));
  }
  return packed;
}

} // namespace

int64_t Array::elementCount() const {
  // Beside a dimension of 0 the others may be so large that their product overflows.
  if (std::find(dims.begin(), dims.end(), 0) != dims.end())
    return 0;
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

int64_t Array::byteCount() const {
  int64_t bytes = 0;
  if (type == ElementType::Invalid)
    return elementCount() * rawBytes;
  byteCountOf(type, dims.data(), dims.size(), bytes);
  return bytes;
}

StatusOr<Array> makeArray(ElementType type, const std::vector<int64_t> &dims) {
  Array array;
  int64_t bytes;
  if (!byteCountOf(type, dims.data(), dims.size(), bytes))
    return Status(StatusCode::InvalidArgument, "an array with impossible dims");
  array.type = type;
  array.dims = dims;
  WEFT_RETURN_IF_ERROR(array.data.require(defaultAllocator(), static_cast<size_t>(bytes), "an array"));
  return array;
}

StatusOr<Array> asElementType(Array array, ElementType type) {
  if (array.type == type)
    return array;
  if (array.type == ElementType::Invalid && array.rawBytes * 8 == storageBits(type)) {
    array.type = type;
    return array;
  }
  if (storageBits(type) < 8 && array.type == (isSigned(type) ? ElementType::I8 : ElementType::U8))
    return pack(array, type);
  std::string have = array.type == ElementType::Invalid ? std::to_string(array.rawBytes) + "-byte raw elements"
                                                        : std::string(elementTypeName(array.type));
  return Status(StatusCode::InvalidArgument,
                "element type is " + have + ", expected " + std::string(elementTypeName(type)));
}

StatusOr<Array> unpacked(Array array) {
  int64_t bits = storageBits(array.type);
  if (bits == 0 || bits >= 8)
    return array;
  auto wide = makeArray(isSigned(array.type) ? ElementType::I8 : ElementType::U8, array.dims);
  if (!wide.ok())
    return wide.status();
  const auto *from = static_cast<const uint8_t *>(array.data.data());
  auto *to = static_cast<uint8_t *>(wide->data.data());
  for (int64_t index = 0; index < array.elementCount(); ++index) {
    unsigned value = (from[index * bits / 8] >> (index * bits % 8)) & ((1u << bits) - 1);
    if (isSigned(array.type) && value >> (bits - 1))
      value |= ~0u << bits;
    to[index] = static_cast<uint8_t>(value);
  }
  return wide;
}

} // namespace weft::runtime
