// A program's state tensors.
#pragma once

#include "runtime/Device/Cuda/Device.h"
#include "runtime/Executor/LoadedProgram.h"

#include <atomic>

namespace weft::runtime {

// On a GPU the tensors are there twice. A run works on the GPU's; tensor() and reset() make the host's the newer ones,
// which the next run then takes.
class StateTensors {
public:
  static StatusOr<std::unique_ptr<StateTensors>> create(std::shared_ptr<LoadedProgram> program);
  ~StateTensors();
  // Back to the initial values.
  void reset();
  const LoadedProgram &program() const { return *program_; }
  // The tensors in memory of the host.
  void *const *data() const { return data_.data(); }
  // On a GPU: brings the host's up to date.
  Status toHost();
  // On a GPU: brings the GPU's up to date, in the stream's order, for a run that will change them.
  Status toDevice(cuda::StreamHandle stream);
  cuda::DevicePointer deviceAddress(size_t index) const { return device_[index].address(); }
  // Taken by a run for its duration.
  std::atomic<bool> inUse{false};

private:
  std::shared_ptr<LoadedProgram> program_; // first: its allocator outlives the memory
  std::vector<Memory> memory_;
  std::vector<void *> data_;
  std::vector<int64_t> bytes_;
  std::vector<cuda::DeviceMemory> device_;
  bool hostIsNewer_ = true;
  bool deviceIsNewer_ = false;
};

} // namespace weft::runtime
