//===- Races.cpp - Which accesses of a kernel nothing orders -------------------------------===//
#include "runtime/Simulator/Races.h"
#include "runtime/Simulator/MemoryChecks.h"

#include <algorithm>
#include <cstring>

namespace weft::simulator {

RaceDetector::RaceDetector(Block &block, GridClocks &grid) : block(block), grid(grid) {
  clocks.resize(block.warpCount);
  for (uint32_t i = 0; i < block.warpCount; ++i)
    clocks[i].known.assign(block.warpCount, 0);
  sharedCells.resize(block.shared.size() / 4 + 2);
}

bool RaceDetector::ordered(const AccessStamp &earlier, const Warp &warp, uint32_t lane) const {
  const WarpClock &mine = clocks[warp.index];
  if (earlier.block == block.linear) {
    uint32_t otherWarp = earlier.thread / warpSize, otherLane = earlier.thread % warpSize;
    if (otherWarp == warp.index) {
      if (otherLane == lane || earlier.clock < mine.allLanes)
        return true;
      return !mine.pair.empty() && earlier.clock < mine.pair[lane * warpSize + otherLane];
    }
    return earlier.clock < mine.known[otherWarp];
  }
  auto found = mine.knownOutside.find(earlier.block * warpSize + earlier.thread / warpSize);
  return found != mine.knownOutside.end() && earlier.clock < found->second;
}

void RaceDetector::reportRace(Warp &warp, const Instruction &instruction, uint32_t lane, const AccessStamp &earlier,
                              bool earlierWrote, bool isWrite, bool shared, uint64_t address, unsigned bytes) {
  const LaunchState &launch = *warp.launch;
  if (earlier.launch != launch.launchSerial) {
    Allocation *found = launch.memory->find(address);
    report(warp, instruction, FaultKind::StreamRace, lane,
           std::string(isWrite ? "a write" : "a read") + " of bytes that another operation has " +
               (earlierWrote ? "written" : "read") +
               ", and nothing makes this launch wait for it; expected an event, the same stream, or a synchronisation "
               "between them",
           true, address, bytes, "global", found ? found->describe() : "", launch.order->describe(earlier.launch));
    return;
  }
  bool sameBlock = earlier.block == block.linear;
  Coordinates thread = threadCoordinates(launch, earlier.thread);
  Coordinates index{uint32_t(earlier.block % launch.grid.x), uint32_t(earlier.block / launch.grid.x % launch.grid.y),
                    uint32_t(earlier.block / (uint64_t(launch.grid.x) * launch.grid.y))};
  const auto &lines = launch.kernel->module->lines;
  std::string text = earlier.line && earlier.line <= lines.size() ? std::string(lines[earlier.line - 1]) : "";
  text.erase(0, std::min(text.find_first_not_of(" \t"), text.size()));
  std::replace(text.begin(), text.end(), '\t', ' ');
  std::string other = std::string(earlierWrote ? "written" : "read") + " by block " + index.format() + ", thread " +
                      thread.format() + " at PTX line " + std::to_string(earlier.line) + ": " + text;
  std::string missing = !sameBlock
                            ? "blocks of a grid are not ordered; use an atomic, a fence with a flag, or another launch"
                        : earlier.thread / warpSize == warp.index ? "lanes of a warp are not ordered without __syncwarp"
                                                                  : "no __syncthreads lies between them";
  std::string allocation;
  if (shared) {
    allocation = describeShared(launch, address);
  } else if (Allocation *found = launch.memory->find(address)) {
    allocation = found->describe();
  }
  report(warp, instruction, shared ? FaultKind::SharedRace : FaultKind::GlobalRace, lane,
         std::string(isWrite ? "a write" : "a read") + " and an earlier " + (earlierWrote ? "write" : "read") +
             " of the same bytes are not ordered: " + missing,
         true, address, bytes, shared ? "shared" : "global",
         shared ? allocation.substr(0, allocation.find(", byte")) : allocation, other);
}

void RaceDetector::access(Warp &warp, const Instruction &instruction, bool shared, const uint64_t *addresses,
                          uint32_t mask, unsigned bytes, bool isWrite, bool isAtomic) {
  WarpClock &clock = clocks[warp.index];
  // cp.async writes at any time between its issue and the wait for it: earlier accesses must be over before the issue,
  // and later ones are compared with the wait, when the write is recorded.
  const bool issueOnly = instruction.flags & Asynchronous && isWrite;
  const uint64_t serial = warp.launch->launchSerial;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if (!((mask >> lane) & 1))
      continue;
    uint64_t address = addresses[lane];
    RaceCell *cells = sharedCells.data();
    uint64_t base = 0;
    if (!shared) {
      if (address < warp.lastBase || address >= warp.lastEnd)
        continue; // several buffers in one access: the lanes of the last one are looked at
      if (warp.lastAllocation->kind == AllocationKind::ModuleConstant)
        continue;
      cells = warp.launch->memory->raceCells(*warp.lastAllocation);
      base = warp.lastBase;
    }
    AccessStamp now;
    now.launch = serial;
    now.block = block.linear;
    now.clock = clock.now;
    now.line = instruction.line;
    now.thread = uint16_t(warp.index * warpSize + lane);
    now.atomic = isAtomic;
    for (uint64_t at = address - base, end = at + bytes; at < end;) {
      RaceCell &cell = cells[at / 4];
      uint64_t count = std::min<uint64_t>(4 - at % 4, end - at);
      now.bytes = uint8_t(((1u << count) - 1) << at % 4);
      at += count;
      auto conflicts = [&](const AccessStamp &earlier) {
        if (!earlier.launch || !(earlier.bytes & now.bytes) || (earlier.atomic && isAtomic))
          return false;
        if (earlier.launch != serial)
          return warp.launch->order && !warp.launch->order->happensBefore(earlier.launch);
        return (earlier.block != now.block || earlier.thread != now.thread) && !ordered(earlier, warp, lane);
      };
      if (conflicts(cell.write)) {
        // Lanes of one store instruction that hit the same place: which value stays is not defined, but the store is
        // one.
        bool sameStore = isWrite && cell.write.launch == serial && cell.write.block == now.block &&
                         cell.write.line == now.line && cell.write.thread / warpSize == warp.index &&
                         cell.write.clock == now.clock;
        if (!sameStore)
          reportRace(warp, instruction, lane, cell.write, true, isWrite, shared, address, bytes);
      }
      if (isWrite) {
        for (AccessStamp *read : {&cell.firstRead, &cell.lastRead}) {
          if (conflicts(*read)) {
            reportRace(warp, instruction, lane, *read, false, true, shared, address, bytes);
            break;
          }
        }
        if (issueOnly)
          continue;
        // An atomic read-modify-write keeps the readers: they may still race with a later plain write.
        cell.write = now;
        if (!isAtomic) {
          cell.firstRead = AccessStamp();
          cell.lastRead = AccessStamp();
        }
      } else {
        const AccessStamp &first = cell.firstRead;
        bool fresh = !first.launch ||
                     (first.launch == serial ? ordered(first, warp, lane)
                                             : !warp.launch->order || warp.launch->order->happensBefore(first.launch));
        if (fresh)
          cell.firstRead = now;
        else if (first.launch != serial || first.block != now.block || first.thread != now.thread)
          cell.lastRead = now;
      }
    }
  }
}

void RaceDetector::syncLanes(Warp &warp, uint32_t mask) {
  WarpClock &clock = clocks[warp.index];
  ++clock.now;
  if ((mask & warp.live) == warp.live) {
    clock.allLanes = clock.now;
    return;
  }
  if (clock.pair.empty())
    clock.pair.assign(warpSize * warpSize, 0);
  for (unsigned a = 0; a < warpSize; ++a)
    for (unsigned b = 0; b < warpSize; ++b)
      if (((mask >> a) & 1) && ((mask >> b) & 1))
        clock.pair[a * warpSize + b] = clock.now;
}

void RaceDetector::arrive(Warp &warp, uint32_t barrier) {
  if (arrivedKnown.size() < 16)
    arrivedKnown.resize(16);
  std::vector<uint32_t> &known = arrivedKnown[barrier];
  known.resize(block.warpCount);
  WarpClock &clock = clocks[warp.index];
  for (uint32_t i = 0; i < block.warpCount; ++i)
    known[i] = std::max(known[i], i == warp.index ? clock.now + 1 : clock.known[i]);
  ++clock.now;
}

void RaceDetector::syncWarps(uint64_t waiting, uint64_t arrivedOnly) {
  std::vector<uint32_t> joined(block.warpCount, 0);
  ClockMap outside;
  for (uint32_t i = 0; i < block.warpCount; ++i) {
    if (!((waiting >> i) & 1))
      continue;
    WarpClock &clock = clocks[i];
    for (uint32_t j = 0; j < block.warpCount; ++j)
      joined[j] = std::max(joined[j], j == i ? clock.now + 1 : clock.known[j]);
    for (const auto &entry : clock.knownOutside) {
      uint32_t &value = outside[entry.first];
      value = std::max(value, entry.second);
    }
  }
  if (arrivedOnly) {
    for (std::vector<uint32_t> &known : arrivedKnown) {
      for (uint32_t j = 0; j < known.size(); ++j)
        joined[j] = std::max(joined[j], known[j]);
      known.clear();
    }
  }
  for (uint32_t i = 0; i < block.warpCount; ++i) {
    if (!((waiting >> i) & 1))
      continue;
    WarpClock &clock = clocks[i];
    clock.known = joined;
    clock.knownOutside = outside;
    ++clock.now;
    clock.allLanes = clock.now; // the barrier orders a warp's lanes too
  }
}

void RaceDetector::learn(WarpClock &clock, const ClockMap &map) {
  for (const auto &entry : map) {
    if (entry.first / warpSize == block.linear) {
      uint32_t &value = clock.known[entry.first % warpSize];
      value = std::max(value, entry.second);
    } else {
      uint32_t &value = clock.knownOutside[entry.first];
      value = std::max(value, entry.second);
    }
  }
}

void RaceDetector::fence(Warp &warp) {
  WarpClock &clock = clocks[warp.index];
  if (!clock.pendingAcquire.empty()) {
    learn(clock, clock.pendingAcquire);
    clock.pendingAcquire.clear();
  }
  // The fence covers what lanes did before it; a lane's later atomic makes that known to others.
  ++clock.now;
  clock.fencedNow = clock.now;
  clock.fencedKnown = clock.known;
  clock.fencedOutside = clock.knownOutside;
}

void RaceDetector::atomicOrder(Warp &warp, uint64_t address, bool shared, bool acquire, bool release) {
  WarpClock &clock = clocks[warp.index];
  // Shared addresses are small numbers; the block keeps those of different blocks apart.
  uint64_t key = shared ? (block.linear << 24 | address) : address;
  auto found = grid.released.find(key);
  if (acquire && found != grid.released.end())
    for (const auto &entry : found->second) {
      uint32_t &value = clock.pendingAcquire[entry.first];
      value = std::max(value, entry.second);
    }
  if (!release || clock.fencedNow == 0)
    return;
  ClockMap &target = found != grid.released.end() ? found->second : grid.released[key];
  for (uint32_t i = 0; i < block.warpCount; ++i) {
    uint32_t value = i == warp.index ? clock.fencedNow : clock.fencedKnown[i];
    if (!value)
      continue;
    uint32_t &entry = target[block.linear * warpSize + i];
    entry = std::max(entry, value);
  }
  for (const auto &entry : clock.fencedOutside) {
    uint32_t &value = target[entry.first];
    value = std::max(value, entry.second);
  }
}

} // namespace weft::simulator
