//===- Counters.h - What a launch did ---------------------------------------------===//
#pragma once

#include <cstdint>
#include <string>

namespace weft::simulator {

/// Sums over a launch. Memory requests are counted per warp and instruction, as profilers do.
struct LaunchCounters {
  uint64_t warpInstructions = 0;
  uint64_t threadInstructions = 0;
  uint64_t branches = 0;
  uint64_t divergentBranches = 0;
  uint64_t barriers = 0;
  struct Traffic {
    uint64_t requests = 0;                ///< Warp-wide instructions.
    uint64_t bytes = 0;                   ///< Asked for by all lanes.
    uint64_t sectors = 0;                 ///< Distinct 32-byte sectors (global and local).
    uint64_t wavefronts = 0;              ///< Passes over the banks (shared): 1 a request where nothing conflicts.
    uint64_t widths[5] = {0, 0, 0, 0, 0}; ///< Requests of 1, 2, 4, 8, 16 bytes a lane.
  };
  Traffic globalLoads, globalStores, sharedLoads, sharedStores, localLoads, localStores, constantLoads;
  uint64_t atomics = 0;
  uint64_t matrixInstructions = 0;

  void add(const LaunchCounters &other);
  std::string json() const;
  /// A table for people, with the ratios a first look at a profile wants.
  std::string table() const;
};

} // namespace weft::simulator
