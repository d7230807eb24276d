// The names of NVIDIA GPU architectures, and which GPU runs what was compiled for which.
#pragma once

#include <string>

namespace weft::runtime {

// "sm_90" is {90, 0}, "sm_100f" {100, 'f'}, "sm_90a" {90, 'a'}: major * 10 + minor, and what else it asks for.
struct CudaArchitecture {
  int number = 0;
  // 'a': features of this very GPU. 'f': features of its family, the GPUs of the same major version from it on. 0:
  // those that every later GPU has as well.
  char suffix = 0;
};

bool parseCudaArchitecture(const std::string &name, CudaArchitecture &architecture);

// PTX is assembled by the driver, so a later GPU runs it, where the suffix allows.
bool runsPtx(int gpu, CudaArchitecture ptx);
// A cubin holds machine code, which later GPUs of the same major version understand.
bool runsCubin(int gpu, CudaArchitecture cubin);

} // namespace weft::runtime
