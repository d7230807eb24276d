// Bit tests rather than comparisons, so that no compiler flag can change the answer.
#include "runtime/Executor/NanCheck.h"

#include <cstring>

namespace weft::runtime {
namespace {

// An IEEE-style NaN is above infinity once the sign is gone.
template <typename Word> int64_t findAbove(const void *data, int64_t count, Word infinity) {
  const auto *bytes = static_cast<const unsigned char *>(data);
  constexpr Word kMagnitude = static_cast<Word>(~Word(0)) >> 1;
  for (int64_t index = 0; index < count; ++index) {
    Word word;
    std::memcpy(&word, bytes + static_cast<size_t>(index) * sizeof(Word), sizeof(Word));
    if ((word & kMagnitude) > infinity)
      return index;
  }
  return -1;
}

int64_t findByte(const void *data, int64_t count, unsigned char mask, unsigned char pattern) {
  const auto *bytes = static_cast<const unsigned char *>(data);
  for (int64_t index = 0; index < count; ++index)
    if ((bytes[index] & mask) == pattern)
      return index;
  return -1;
}

} // namespace

int64_t findNan(ElementType type, const void *data, int64_t count) {
  switch (type) {
  case ElementType::F16:
    return findAbove<uint16_t>(data, count, 0x7c00);
  case ElementType::BF16:
    return findAbove<uint16_t>(data, count, 0x7f80);
  case ElementType::F32:
    return findAbove<uint32_t>(data, count, 0x7f800000u);
  case ElementType::F64:
    return findAbove<uint64_t>(data, count, 0x7ff0000000000000ull);
  case ElementType::F8E5M2:
    return findAbove<uint8_t>(data, count, 0x7c);
  case ElementType::F8E4M3FN: // all ones
    return findByte(data, count, 0x7f, 0x7f);
  case ElementType::F8E4M3FNUZ: // what would be minus zero
  case ElementType::F8E5M2FNUZ:
    return findByte(data, count, 0xff, 0x80);
  case ElementType::F8E8M0FNU:
    return findByte(data, count, 0xff, 0xff);
  default:
    return -1;
  }
}

} // namespace weft::runtime
