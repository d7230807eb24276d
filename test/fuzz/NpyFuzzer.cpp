// Feeds damaged .npy and .npz files to their readers.
#include "runtime/Data/Npy.h"
#include "runtime/Data/Npz.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  (void)weft::runtime::parseNpy(data, size);
  (void)weft::runtime::parseNpz(data, size);
  return 0;
}
