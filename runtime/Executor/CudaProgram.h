// What a program loaded on a GPU has there.
#pragma once

#include "runtime/Device/Cuda/Device.h"

#include <memory>
#include <string>
#include <vector>

namespace weft::runtime {

struct CudaProgram {
  CudaProgram() = default;
  ~CudaProgram();
  CudaProgram(const CudaProgram &) = delete;
  CudaProgram &operator=(const CudaProgram &) = delete;

  std::shared_ptr<cuda::Device> device;
  std::vector<std::shared_ptr<cuda::Module>> modules; // one a target, null where it is not used
  std::vector<cuda::DeviceMemory> weights;            // one a weight, nothing where no variant here reads it
  uint64_t weightBytes = 0;
};

// "cuda" is 0, "cuda:3" is 3; false for other names.
bool parseCudaDevice(const std::string &name, int &index);

} // namespace weft::runtime
