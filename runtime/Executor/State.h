// A program's state tensors.
#pragma once

#include "runtime/Executor/LoadedProgram.h"

#include <atomic>

namespace weft::runtime {

class StateTensors {
public:
  static StatusOr<std::unique_ptr<StateTensors>> create(std::shared_ptr<LoadedProgram> program);
  // Back to the initial values.
  void reset();
  const LoadedProgram &program() const { return *program_; }
  void *const *data() const { return data_.data(); }
  // Taken by a run for its duration.
  std::atomic<bool> inUse{false};

private:
  std::shared_ptr<LoadedProgram> program_; // first: its allocator outlives the memory
  std::vector<Memory> memory_;
  std::vector<void *> data_;
  std::vector<int64_t> bytes_;
};

} // namespace weft::runtime
