// Philox and the mapping of its words to each element type.
#include "runtime/Data/RandomInputs.h"

#include <cmath>
#include <cstring>

namespace weft::runtime {
namespace {

// Encodes a value of magnitude at most 1 in a small float: mantissaBits of fraction and this exponent bias; ties to
// even.
uint32_t encodeSmallFloat(float value, int totalBits, int mantissaBits, int bias) {
  uint32_t sign = std::signbit(value) ? 1u << (totalBits - 1) : 0;
  double magnitude = std::fabs(static_cast<double>(value));
  if (magnitude == 0)
    return sign;
  int exponent;
  std::frexp(magnitude, &exponent); // magnitude = f * 2^exponent with f in [0.5, 1)
  int biased = exponent - 1 + bias;
  // Below the normal numbers the step stays that of the smallest of them.
  int step = (biased >= 1 ? exponent - 1 : 1 - bias) - mantissaBits;
  auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, -step)));
  // A carry out of the fraction moves into the exponent by itself.
  uint32_t code = biased >= 1 ? (static_cast<uint32_t>(biased) << mantissaBits) + units - (1u << mantissaBits) : units;
  return sign | code;
}

template <typename T> void store(void *data, int64_t index, T value) {
  std::memcpy(static_cast<char *>(data) + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

void storeElement(ElementType type, uint32_t word, int64_t index, void *data) {
  float real = static_cast<float>(word >> 8) * 0x1p-23f - 1.0f;
  switch (type) {
  case ElementType::F64:
    return store(data, index, static_cast<double>(real));
  case ElementType::F32:
    return store(data, index, real);
  case ElementType::F16:
    return store(data, index, static_cast<uint16_t>(encodeSmallFloat(real, 16, 10, 15)));
  case ElementType::BF16:
    return store(data, index, static_cast<uint16_t>(encodeSmallFloat(real, 16, 7, 127)));
  case ElementType::F8E4M3FN:
    return store(data, index, static_cast<uint8_t>(encodeSmallFloat(real, 8, 3, 7)));
  case ElementType::F8E5M2:
    return store(data, index, static_cast<uint8_t>(encodeSmallFloat(real, 8, 2, 15)));
  case ElementType::F8E4M3FNUZ:
  case ElementType::F8E5M2FNUZ: {
    // No negative zero: its code is the NaN.
    uint32_t code =
        type == ElementType::F8E4M3FNUZ ? encodeSmallFloat(real, 8, 3, 8) : encodeSmallFloat(real, 8, 2, 16);
    return store(data, index, static_cast<uint8_t>(code == 0x80 ? 0 : code));
  }
  case ElementType::F8E8M0FNU: // powers of two from 1/8 to 16
    return store(data, index, static_cast<uint8_t>(124 + (word & 7)));
  case ElementType::I1:
    return store(data, index, static_cast<uint8_t>(word & 1));
  case ElementType::I8:
  case ElementType::U8:
    return store(data, index, static_cast<uint8_t>(word & 7));
  case ElementType::I16:
  case ElementType::U16:
    return store(data, index, static_cast<uint16_t>(word & 7));
  case ElementType::I32:
  case ElementType::U32:
    return store(data, index, word & 7);
  case ElementType::I64:
  case ElementType::U64:
    return store(data, index, static_cast<uint64_t>(word & 7));
  case ElementType::I2:
  case ElementType::U2:
  case ElementType::I4:
  case ElementType::U4:
  case ElementType::F4E2M1FN: {
    int64_t bits = storageBits(type);
    uint32_t mask = type == ElementType::I2 ? 1 : type == ElementType::U2 ? 3 : type == ElementType::F4E2M1FN ? 15 : 7;
    auto *byte = static_cast<uint8_t *>(data) + index * bits / 8;
    *byte = static_cast<uint8_t>(*byte | (word & mask) << (index * bits % 8));
    return;
  }
  case ElementType::Invalid:
    return;
  }
}

} // namespace

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(0xD2511F53u) * counter[0];
    uint64_t second = uint64_t(0xCD9E8D57u) * counter[2];
    counter = {static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(second),
               static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(first)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

void fillRandom(ElementType type, int64_t count, uint64_t seed, uint64_t stream, void *data) {
  std::array<uint32_t, 2> key = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  if (storageBits(type) < 8)
    std::memset(data, 0, static_cast<size_t>((count * storageBits(type) + 7) / 8));
  for (int64_t block = 0; block * 4 < count; ++block) {
    auto position = static_cast<uint64_t>(block);
    std::array<uint32_t, 4> words = philox4x32({static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32),
                                                static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)},
                                               key);
    for (int64_t lane = 0; lane < 4 && block * 4 + lane < count; ++lane)
      storeElement(type, words[static_cast<size_t>(lane)], block * 4 + lane, data);
  }
}

} // namespace weft::runtime
