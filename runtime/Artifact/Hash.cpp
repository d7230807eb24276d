// XXH3 of xxHash, compiled in from its header so that no library is needed at run time.
#include "runtime/Artifact/Hash.h"

#include <new>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace weft::runtime {
namespace {

Hash128 toHash(XXH128_hash_t hash) { return {hash.low64, hash.high64}; }

} // namespace

Hash128 hashBytes(const void *data, size_t size) { return toHash(XXH3_128bits(data, size)); }

Hasher::Hasher() : state_(XXH3_createState()) {
  if (!state_)
    throw std::bad_alloc();
  XXH3_128bits_reset(static_cast<XXH3_state_t *>(state_));
}

Hasher::~Hasher() { XXH3_freeState(static_cast<XXH3_state_t *>(state_)); }

void Hasher::update(const void *data, size_t size) {
  XXH3_128bits_update(static_cast<XXH3_state_t *>(state_), data, size);
}

Hash128 Hasher::digest() const { return toHash(XXH3_128bits_digest(static_cast<const XXH3_state_t *>(state_))); }

} // namespace weft::runtime
