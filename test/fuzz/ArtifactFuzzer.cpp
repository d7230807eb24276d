// Feeds damaged artifacts to the reader, past the hash that would stop them at the door.
#include "runtime/Artifact/ArtifactFormat.h"
#include "runtime/Artifact/ArtifactReader.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

// What libFuzzer calls; ArtifactFuzzerTest.cpp calls it as well. Whatever the bytes, it must come back without a report
// of a sanitizer, soon, and without asking for much memory.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace weft::runtime;
  struct Free {
    void operator()(uint8_t *memory) const { std::free(memory); }
  };
  // Exactly the size, so that a read past the end is seen.
  uint8_t *memory = nullptr;
  if (posix_memalign(reinterpret_cast<void **>(&memory), kSectionAlignment, size ? size : 1) != 0)
    return 0;
  std::unique_ptr<uint8_t, Free> owner(memory);
  if (size > 0)
    std::memcpy(memory, data, size);
  Artifact artifact;
  if (readArtifactWithoutHash(memory, size, artifact).ok()) {
    // What was accepted must hold together: reading all weights touches every range.
    (void)checkWeights(artifact);
    for (const ByteSpan &kernels : artifact.kernels) {
      volatile uint8_t last = kernels.size ? kernels.data[kernels.size - 1] : 0;
      (void)last;
    }
  }
  return 0;
}
