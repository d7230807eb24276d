//===- Launch.h - Running a kernel over a grid ------------------------------------------------===//
#pragma once

#include "runtime/Simulator/Counters.h"
#include "runtime/Simulator/Program.h"
#include "runtime/Simulator/Report.h"

namespace weft::simulator {

class OperationOrder;

struct LaunchOptions {
  bool checkUninitialised = true;
  bool checkRaces = false; ///< Runs the grid on one thread of the host.
  bool countMemory = false;
  uint64_t stepLimit = uint64_t(1) << 30; ///< Instructions a warp may execute.
  uint64_t seed = 0;                      ///< Order of blocks and warps; 0 for the natural one.
  unsigned threads = 0;                   ///< Of the host; 0 for all cores.
  uint64_t serial = 0;                    ///< The operation's number where `order` knows it; 0 for a number of its own.
  const OperationOrder *order = nullptr;
  std::string output; ///< Where the kernel's printf goes: appended to this file; standard output when empty.
};

struct LaunchConfiguration {
  Coordinates grid{1, 1, 1}, block{1, 1, 1};
  uint32_t dynamicShared = 0;
  bool cooperative = false;        ///< All blocks are there at once, so the grid may synchronise.
  std::vector<uint8_t> parameters; ///< Laid out as CompiledKernel::parameterLayout says.
};

/// What a device of an architecture allows.
struct DeviceLimits {
  uint32_t sharedPerBlock = 48 * 1024; ///< Without opting in to more.
  uint32_t sharedPerBlockOptIn = 0;
  uint32_t sharedPerMultiprocessor = 0;
  uint32_t multiprocessors = 0;
  uint32_t threadsPerMultiprocessor = 0;
  uint32_t blocksPerMultiprocessor = 32;
  uint32_t registersPerMultiprocessor = 65536;
};
DeviceLimits deviceLimits(unsigned architecture);

/// Empty, or why the configuration cannot be launched. `sharedLimit` is what the kernel may have in all.
std::string checkConfiguration(const CompiledKernel &kernel, const LaunchConfiguration &configuration,
                               uint32_t sharedLimit);

struct LaunchResult {
  bool completed = false; ///< False: a fatal fault, which the log holds.
  LaunchCounters counters;
};

/// Runs the kernel to its end. The configuration must have passed checkConfiguration. Findings go to `faults`.
LaunchResult launch(const CompiledKernel &kernel, AddressSpace &memory, int device, uint64_t peers,
                    const LaunchConfiguration &configuration, const LaunchOptions &options, FaultLog &faults);

} // namespace weft::simulator
