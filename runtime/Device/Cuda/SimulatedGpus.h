// The simulated driver in place of the machine's, for tools.
#pragma once

#include "runtime/Core/Status.h"

#include <cstdint>
#include <string>

namespace weft::runtime::cuda {

struct SimulatedGpuOptions {
  int count = 1;
  int architecture = 90;
  // "races,uninitialised,counters", or "none"; bounds are always checked, and may be named.
  std::string checks = "uninitialised";
  uint64_t seed = 0;
};

// Where the simulated driver's library is: beside the program, where the build or the installation puts it, or where
// WEFT_SIMULATOR_LIBRARY says.
StatusOr<std::string> findSimulatedGpus();

// Sets up the simulated driver's environment for this process, before it starts, and gives the path of its library.
// What it finds, and what was never freed, goes to standard error when the process ends, which then has status 86.
StatusOr<std::string> useSimulatedGpus(const SimulatedGpuOptions &options);

} // namespace weft::runtime::cuda
