//===- Access.h - Checked addresses of a warp-wide access ----------------------------------------===//
#pragma once

#include "runtime/Simulator/Interpreter/Lanes.h"
#include "runtime/Simulator/MemoryChecks.h"
#include "runtime/Simulator/Races.h"

namespace weft::simulator {
namespace WEFT_SIMULATOR_ISA {

/// Where lane `n` finds address `a`: at delta + a + n * stride, in the host's memory.
struct Placement {
  uint64_t delta = 0;
  uint64_t stride = 0;
  bool contiguous = false; ///< All 32 lanes, each right behind the one before.
};

inline void laneAddresses(Warp &warp, const Instruction &i, uint64_t *addresses) {
  if (i.immediate2 == 4) {
    const uint32_t *base = warp.lanes<const uint32_t>(i.a);
    uint32_t offset = uint32_t(i.immediate);
    WEFT_LANES
    for (unsigned lane = 0; lane < warpSize; ++lane)
      addresses[lane] = base[lane] + offset;
  } else {
    const uint64_t *base = warp.lanes<const uint64_t>(i.a);
    uint64_t offset = uint64_t(i.immediate);
    WEFT_LANES
    for (unsigned lane = 0; lane < warpSize; ++lane)
      addresses[lane] = base[lane] + offset;
  }
}

struct Extent {
  uint64_t low, high, alignment;
  bool contiguous;
};

/// Lowest and highest address, and the OR of all; lanes outside the mask first take the place of one inside.
inline Extent extentOf(uint64_t *addresses, uint32_t mask, unsigned bytes) {
  if (mask != ~0u) {
    uint64_t inside = addresses[__builtin_ctz(mask)];
    WEFT_LANES
    for (unsigned lane = 0; lane < warpSize; ++lane)
      addresses[lane] = (mask >> lane) & 1 ? addresses[lane] : inside;
  }
  Extent out{~uint64_t(0), 0, 0, false};
  uint64_t gaps = 0, first = addresses[0];
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    uint64_t at = addresses[lane];
    out.low = at < out.low ? at : out.low;
    out.high = at > out.high ? at : out.high;
    out.alignment |= at;
    gaps |= at ^ (first + uint64_t(lane) * bytes);
  }
  out.contiguous = gaps == 0 && mask == ~0u;
  return out;
}

inline void requireAligned(Warp &warp, const Instruction &i, const Extent &extent, const uint64_t *addresses,
                           uint32_t mask, unsigned bytes, Space space) {
  if (!(extent.alignment & (bytes - 1)))
    return;
  forLanes(mask, [&](unsigned lane) {
    if (addresses[lane] & (bytes - 1))
      misaligned(warp, i, lane, addresses[lane], bytes, space);
  });
}

/// `bytes` is a power of two up to 32 here, and addresses are aligned to it: no access straddles a word of bits.
inline uint64_t accessBits(unsigned bytes) { return bytes >= 64 ? ~uint64_t(0) : (uint64_t(1) << bytes) - 1; }

inline Placement globalPlacement(Warp &warp, const Instruction &i, uint64_t *addresses, uint32_t mask, unsigned bytes,
                                 bool isWrite) {
  Extent extent = extentOf(addresses, mask, bytes);
  requireAligned(warp, i, extent, addresses, mask, bytes, Space::Global);
  bool inside = extent.low >= warp.lastBase && extent.high + bytes <= warp.lastEnd && extent.high + bytes > extent.high;
  bool single = inside && !(isWrite && warp.lastAllocation->readOnly());
  if (!single) {
    unsigned first = unsigned(__builtin_ctz(mask));
    checkGlobalLane(warp, i, first, addresses[first], bytes, isWrite);
    single = extent.low >= warp.lastBase && extent.high + bytes <= warp.lastEnd && extent.high + bytes > extent.high;
  }
  const bool checkReads = !isWrite && warp.launch->checkUninitialised;
  if (single && extent.contiguous) {
    if (warp.lastBits) {
      uint64_t bit = extent.low - warp.lastArena, end = bit + uint64_t(bytes) * warpSize;
      for (uint64_t at = bit; at < end;) {
        uint64_t begin = at % 64, count = 64 - begin < end - at ? 64 - begin : end - at;
        uint64_t wanted = (count == 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1) << begin;
        uint64_t *word = const_cast<uint64_t *>(warp.lastBits) + at / 64;
        uint64_t have = __atomic_load_n(word, __ATOMIC_RELAXED);
        if ((have & wanted) != wanted) {
          if (isWrite)
            __atomic_fetch_or(word, wanted, __ATOMIC_RELAXED);
          else if (checkReads) {
            for (unsigned lane = 0; lane < warpSize; ++lane)
              if (warp.launch->memory->firstUninitialised(*warp.lastAllocation, addresses[lane], bytes) != bytes) {
                uninitialisedGlobal(warp, i, lane, addresses[lane], bytes);
                break;
              }
            break;
          }
        }
        at += count;
      }
    }
  } else {
    bool told = false;
    forLanes(mask, [&](unsigned lane) {
      uint64_t address = addresses[lane];
      if (address < warp.lastBase || address + bytes > warp.lastEnd)
        checkGlobalLane(warp, i, lane, address, bytes, isWrite);
      if (!warp.lastBits)
        return;
      uint64_t bit = address - warp.lastArena, wanted = accessBits(bytes) << bit % 64;
      uint64_t *word = const_cast<uint64_t *>(warp.lastBits) + bit / 64;
      uint64_t have = __atomic_load_n(word, __ATOMIC_RELAXED);
      if ((have & wanted) == wanted)
        return;
      if (isWrite) {
        __atomic_fetch_or(word, wanted, __ATOMIC_RELAXED);
      } else if (checkReads && !told) {
        uninitialisedGlobal(warp, i, lane, address, bytes);
        told = true;
      }
    });
  }
  if (warp.block->races)
    warp.block->races->access(warp, i, false, addresses, mask, bytes, isWrite, i.flags & Atomic);
  if (warp.launch->countMemory)
    countAccess(warp, i.space == Space::Const ? Space::Const : Space::Global, addresses, mask, bytes, isWrite);
  return {0, 0, single && extent.contiguous};
}

inline Placement sharedPlacement(Warp &warp, const Instruction &i, uint64_t *addresses, uint32_t mask, unsigned bytes,
                                 bool isWrite) {
  Extent extent = extentOf(addresses, mask, bytes);
  requireAligned(warp, i, extent, addresses, mask, bytes, Space::Shared);
  Block &block = *warp.block;
  uint8_t *state = block.sharedState.data();
  bool slow = extent.high + bytes > block.sharedState.size() || extent.high + bytes < extent.high;
  if (!slow && extent.contiguous) {
    uint8_t *at = state + extent.low;
    uint8_t bad = 0;
    // A write may fall on unwritten bytes, a read not; neither on red zones or pending copies.
    if (isWrite) {
      for (unsigned n = 0; n < bytes * warpSize; ++n)
        bad |= uint8_t(at[n] - SharedUninitialised) > 1;
      if (!bad)
        std::memset(at, SharedInitialised, bytes * warpSize);
    } else {
      for (unsigned n = 0; n < bytes * warpSize; ++n)
        bad |= at[n] ^ SharedInitialised;
    }
    slow = bad != 0;
  } else if (!slow) {
    uint8_t bad = 0;
    forLanes(mask, [&](unsigned lane) {
      uint8_t *at = state + addresses[lane];
      for (unsigned n = 0; n < bytes; ++n)
        bad |= isWrite ? uint8_t(at[n] - SharedUninitialised) > 1 : at[n] ^ SharedInitialised;
    });
    slow = bad != 0;
    if (!slow && isWrite)
      forLanes(mask, [&](unsigned lane) { std::memset(state + addresses[lane], SharedInitialised, bytes); });
  }
  if (slow) {
    forLanes(mask, [&](unsigned lane) {
      checkSharedLane(warp, i, lane, addresses[lane], bytes, isWrite);
      if (isWrite)
        std::memset(state + addresses[lane], SharedInitialised, bytes);
    });
  }
  if (block.races)
    block.races->access(warp, i, true, addresses, mask, bytes, isWrite, i.flags & Atomic);
  if (warp.launch->countMemory)
    countAccess(warp, Space::Shared, addresses, mask, bytes, isWrite);
  return {uint64_t(reinterpret_cast<uintptr_t>(block.shared.data())), 0, extent.contiguous};
}

inline Placement localPlacement(Warp &warp, const Instruction &i, uint64_t *addresses, uint32_t mask, unsigned bytes,
                                bool isWrite) {
  Extent extent = extentOf(addresses, mask, bytes);
  requireAligned(warp, i, extent, addresses, mask, bytes, Space::Local);
  forLanes(mask, [&](unsigned lane) {
    checkLocalLane(warp, i, lane, addresses[lane], bytes, isWrite);
    if (isWrite)
      std::memset(warp.localState.data() + size_t(lane) * warp.localStride + addresses[lane], 1, bytes);
  });
  if (warp.launch->countMemory)
    countAccess(warp, Space::Local, addresses, mask, bytes, isWrite);
  return {uint64_t(reinterpret_cast<uintptr_t>(warp.local.data())), warp.localStride, false};
}

/// Calls `move(mask, addresses, placement)` once for each space that the lanes' addresses lie in.
template <class Move>
void accessMemory(Warp &warp, const Instruction &i, Space space, uint64_t *addresses, uint32_t mask, unsigned bytes,
                  bool isWrite, Move move) {
  if (!mask)
    return;
  switch (space) {
  case Space::Global:
  case Space::Const:
    move(mask, addresses, globalPlacement(warp, i, addresses, mask, bytes, isWrite));
    return;
  case Space::Shared:
    move(mask, addresses, sharedPlacement(warp, i, addresses, mask, bytes, isWrite));
    return;
  case Space::Local:
    move(mask, addresses, localPlacement(warp, i, addresses, mask, bytes, isWrite));
    return;
  case Space::Param:
    forLanes(mask, [&](unsigned lane) {
      if (isWrite || addresses[lane] + bytes > warp.launch->parameters.size() ||
          addresses[lane] + bytes < addresses[lane])
        parameterOutOfBounds(warp, i, lane, addresses[lane], bytes);
    });
    move(mask, addresses, Placement{uint64_t(reinterpret_cast<uintptr_t>(warp.launch->parameters.data())), 0, false});
    return;
  default:
    break;
  }
  // Generic: mostly all lanes in one space.
  uint32_t rest = mask;
  while (rest) {
    uint64_t window = addresses[__builtin_ctz(rest)] >> 32;
    bool isWindow = window == sharedWindow >> 32 || window == localWindow >> 32 || window == parameterWindow >> 32;
    uint32_t same = 0;
    forLanes(rest, [&](unsigned lane) {
      uint64_t other = addresses[lane] >> 32;
      bool otherIsWindow = other == sharedWindow >> 32 || other == localWindow >> 32 || other == parameterWindow >> 32;
      if (isWindow ? other == window : !otherIsWindow)
        same |= 1u << lane;
    });
    Space part = !isWindow                      ? Space::Global
                 : window == sharedWindow >> 32 ? Space::Shared
                 : window == localWindow >> 32  ? Space::Local
                                                : Space::Param;
    uint64_t inSpace[warpSize];
    for (unsigned lane = 0; lane < warpSize; ++lane)
      inSpace[lane] = isWindow ? addresses[lane] & (windowBytes - 1) : addresses[lane];
    accessMemory(warp, i, part, inSpace, same, bytes, isWrite, move);
    rest &= ~same;
  }
}

/// For volatile, relaxed and stronger accesses: what they order, for the race check.
inline void orderedAccess(Warp &warp, const Instruction &i, const uint64_t *addresses, uint32_t mask, bool acquire,
                          bool release) {
  if (!warp.block->races || !(i.flags & Atomic))
    return;
  bool shared = i.space == Space::Shared;
  forLanes(mask, [&](unsigned lane) {
    bool isShared = shared || (i.space == Space::Generic && (addresses[lane] >> 32) == (sharedWindow >> 32));
    warp.block->races->atomicOrder(warp, isShared ? addresses[lane] & (windowBytes - 1) : addresses[lane], isShared,
                                   acquire, release);
  });
}

} // namespace WEFT_SIMULATOR_ISA
} // namespace weft::simulator
