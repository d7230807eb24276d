//===- Races.h - Which accesses of a kernel nothing orders ------------------------===//
//
// Vector clocks. Every warp has a clock that ticks at each synchronisation it takes part in, and knows of every other
// warp the clock up to which that one's accesses happened before its own next one. Lanes of a warp are ordered by
// bar.warp.sync, shuffles and votes only, as CUDA promises no more. Between blocks only fences with atomics order.
//===-------------------------------------------------------------------------------===//
#pragma once

#include "runtime/Simulator/Warp.h"

#include <unordered_map>

namespace weft::simulator {

/// An access that a cell remembers.
struct AccessStamp {
  uint64_t launch = 0; ///< 0: none
  uint64_t block = 0;
  uint32_t clock = 0;
  uint32_t line = 0;
  uint16_t thread = 0;
  uint8_t bytes = 0; ///< Which of the cell's four.
  bool atomic = false;
};

/// What is remembered of 4 bytes: the last write, and two reads since by different threads.
struct RaceCell {
  AccessStamp write, firstRead, lastRead;
};

/// Clocks of warps of other blocks that a warp or an atomic variable knows of, by block * 32 + warp.
using ClockMap = std::unordered_map<uint64_t, uint32_t>;

/// One for a launch: what atomics hand from block to block.
class GridClocks {
public:
  std::unordered_map<uint64_t, ClockMap> released; ///< By address of the atomic variable (shared ones tagged by block).
};

/// One for each running block.
class RaceDetector {
public:
  RaceDetector(Block &block, GridClocks &grid);
  /// A warp's lanes access `bytes` at `addresses[lane]`: offsets in shared memory or global addresses.
  void access(Warp &warp, const Instruction &instruction, bool shared, const uint64_t *addresses, uint32_t mask,
              unsigned bytes, bool isWrite, bool isAtomic);
  /// Lanes `mask` of the warp met at a warp-wide synchronisation.
  void syncLanes(Warp &warp, uint32_t mask);
  /// All warps in the set met at a barrier; those in `arrivedOnly` arrived and went on.
  void syncWarps(uint64_t waiting, uint64_t arrivedOnly);
  void arrive(Warp &warp, uint32_t barrier);
  void fence(Warp &warp);
  /// Before and after an atomic (or volatile, relaxed, acquire, release) access to `address`.
  void atomicOrder(Warp &warp, uint64_t address, bool shared, bool acquire, bool release);

private:
  struct WarpClock {
    uint32_t now = 1;
    uint32_t allLanes = 0;       ///< Clock of the last synchronisation of all live lanes.
    std::vector<uint32_t> pair;  ///< 32x32, when lanes synchronised in parts: clock of the last one of both.
    std::vector<uint32_t> known; ///< Of the block's warps.
    ClockMap knownOutside;
    std::vector<uint32_t> fencedKnown; ///< What the last fence made ready to release.
    ClockMap fencedOutside;
    uint32_t fencedNow = 0;
    ClockMap pendingAcquire; ///< What atomics read; a later fence makes it known.
  };
  bool ordered(const AccessStamp &earlier, const Warp &warp, uint32_t lane) const;
  void reportRace(Warp &warp, const Instruction &instruction, uint32_t lane, const AccessStamp &earlier,
                  bool earlierWrote, bool isWrite, bool shared, uint64_t address, unsigned bytes);
  void learn(WarpClock &clock, const ClockMap &map);
  Block &block;
  GridClocks &grid;
  std::vector<WarpClock> clocks;
  std::vector<RaceCell> sharedCells;
  std::vector<std::vector<uint32_t>> arrivedKnown; ///< By barrier number: clocks of those that called bar.arrive.
};

} // namespace weft::simulator
