// The 128-bit hash that finds damage in artifacts. It is not cryptographic: it protects against accidents, not forgery.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::runtime {

using Hash128 = std::array<uint64_t, 2>; // low half, high half

// XXH3-128 with seed 0.
Hash128 hashBytes(const void *data, size_t size);

// The hash of a sequence of pieces equals that of their concatenation.
class Hasher {
public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher &) = delete;
  Hasher &operator=(const Hasher &) = delete;
  void update(const void *data, size_t size);
  Hash128 digest() const;

private:
  void *state_;
};

} // namespace weft::runtime
