//===- MemoryChecks.cpp - What is looked at when the fast checks of an access say no --===//
#include "runtime/Simulator/MemoryChecks.h"

#include <algorithm>

namespace weft::simulator {

Coordinates threadCoordinates(const LaunchState &launch, uint32_t thread) {
  const Coordinates &size = launch.blockSize;
  return {thread % size.x, thread / size.x % size.y, thread / (size.x * size.y)};
}

namespace {
Fault makeFault(Warp &warp, const Instruction &instruction, FaultKind kind, uint32_t lane, const std::string &message,
                bool hasAddress, uint64_t address, unsigned bytes, const char *space, const std::string &allocation) {
  Fault fault;
  fault.kind = kind;
  fault.kernel = warp.launch->kernel->name;
  fault.hasThread = true;
  fault.block = warp.block->index;
  fault.thread = threadCoordinates(*warp.launch, std::min(warp.index * warpSize + lane, warp.launch->threads - 1));
  fault.line = instruction.line;
  const auto &lines = warp.launch->kernel->module->lines;
  if (instruction.line && instruction.line <= lines.size()) {
    std::string_view text = lines[instruction.line - 1];
    size_t first = text.find_first_not_of(" \t\r");
    size_t last = text.find_last_not_of(" \t\r");
    fault.instruction = first == std::string_view::npos ? "" : std::string(text.substr(first, last - first + 1));
    std::replace(fault.instruction.begin(), fault.instruction.end(), '\t', ' ');
  }
  fault.message = message;
  fault.hasAddress = hasAddress;
  fault.address = address;
  fault.bytes = bytes;
  fault.space = space;
  fault.allocation = allocation;
  return fault;
}
} // namespace

void report(Warp &warp, const Instruction &instruction, FaultKind kind, uint32_t lane, const std::string &message,
            bool hasAddress, uint64_t address, unsigned bytes, const char *space, const std::string &allocation,
            const std::string &other) {
  Fault fault = makeFault(warp, instruction, kind, lane, message, hasAddress, address, bytes, space, allocation);
  fault.other = other;
  warp.launch->faults->add(std::move(fault));
}

void abortLaunch(Warp &warp, const Instruction &instruction, FaultKind kind, uint32_t lane, const std::string &message,
                 bool hasAddress, uint64_t address, unsigned bytes, const char *space, const std::string &allocation) {
  LaunchAborted aborted{
      makeFault(warp, instruction, kind, lane, message, hasAddress, address, bytes, space, allocation)};
  aborted.fault.fatal = true;
  throw aborted;
}

void misaligned(Warp &warp, const Instruction &instruction, uint32_t lane, uint64_t address, unsigned bytes,
                Space space) {
  std::string allocation;
  if (space == Space::Shared) {
    allocation = describeShared(*warp.launch, address);
  } else if (space != Space::Local) {
    if (Allocation *found = warp.launch->memory->find(address))
      allocation = found->describe();
  }
  abortLaunch(warp, instruction, FaultKind::Misaligned, lane,
              "the address is not a multiple of " + std::to_string(bytes) + ", the bytes of one access", true, address,
              bytes, spaceName(space), allocation);
}

void checkGlobalLane(Warp &warp, const Instruction &instruction, uint32_t lane, uint64_t address, unsigned bytes,
                     bool isWrite) {
  const LaunchState &launch = *warp.launch;
  Allocation *found = launch.memory->find(address);
  const char *what = isWrite ? "written" : "read";
  if (!found) {
    std::string hint = address < 4096 ? "; a null pointer?" : "";
    if (address - sharedWindow < windowBytes || address - localWindow < windowBytes)
      hint = "; the address is one of shared or local memory";
    else if (address < windowBytes)
      hint += address >= 4096 ? "; an offset in shared or local memory used as a global address?" : "";
    else
      hint += "; memory of the host must be pinned, and device memory come from this context";
    abortLaunch(warp, instruction, FaultKind::OutOfBounds, lane,
                std::string("no buffer lies at the address that is ") + what + hint, true, address, bytes, "global",
                "");
  }
  if (found->freed)
    abortLaunch(warp, instruction, FaultKind::UseAfterFree, lane,
                std::string("memory is ") + what + " after it was freed by " + found->freeOrigin, true, address, bytes,
                "global", found->describe());
  if (address < found->base || address + bytes > found->end()) {
    uint64_t behind = address + bytes - found->end();
    abortLaunch(warp, instruction, FaultKind::OutOfBounds, lane,
                std::to_string(behind) + " bytes past the end of the buffer would be " + what, true, address, bytes,
                "global", found->describe());
  }
  if (isWrite && found->readOnly())
    abortLaunch(warp, instruction, FaultKind::WriteToConstant, lane, "constant memory cannot be written by a kernel",
                true, address, bytes, "global", found->describe());
  if (found->device != hostDevice && found->device != launch.device && !((launch.peers >> found->device) & 1))
    abortLaunch(warp, instruction, FaultKind::PeerAccess, lane,
                "the kernel runs on device " + std::to_string(launch.device) + ", the memory is on device " +
                    std::to_string(found->device) + "; expected cuCtxEnablePeerAccess before",
                true, address, bytes, "global", found->describe());
  warp.lastAllocation = found;
  warp.lastBase = found->base;
  warp.lastEnd = found->end();
  warp.lastBits = found->allInitialised ? nullptr : launch.memory->initialisedBits(*found, warp.lastArena);
}

void uninitialisedGlobal(Warp &warp, const Instruction &instruction, uint32_t lane, uint64_t address, unsigned bytes) {
  uint64_t first = warp.launch->memory->firstUninitialised(*warp.lastAllocation, address, bytes);
  report(warp, instruction, FaultKind::UninitialisedRead, lane,
         "byte " + std::to_string(address + first - warp.lastAllocation->base) + " of the buffer was never written",
         true, address, bytes, "global", warp.lastAllocation->describe());
}

std::string describeShared(const LaunchState &launch, uint64_t offset) {
  const SharedVariable *best = nullptr;
  uint64_t size = 0;
  for (const SharedVariable &variable : launch.kernel->shared) {
    if (variable.offset <= offset && (!best || variable.offset >= best->offset)) {
      best = &variable;
      size = variable.size ? variable.size : launch.dynamicShared;
    }
  }
  if (!best)
    return "before the first shared variable of the block";
  std::string name =
      "shared variable '" + best->name + "' of " + std::to_string(size) + " bytes" + (best->size ? "" : " (dynamic)");
  if (offset < best->offset + size)
    return name + ", byte " + std::to_string(offset - best->offset);
  return std::to_string(offset - best->offset - size) + " bytes behind the end of " + name;
}

void checkSharedLane(Warp &warp, const Instruction &instruction, uint32_t lane, uint64_t offset, unsigned bytes,
                     bool isWrite) {
  Block &block = *warp.block;
  const LaunchState &launch = *warp.launch;
  if (offset + bytes > block.sharedState.size() || offset + bytes < offset)
    abortLaunch(warp, instruction, FaultKind::OutOfBounds, lane, "the access lies outside the block's shared memory",
                true, offset, bytes, "shared", describeShared(launch, offset));
  for (unsigned i = 0; i < bytes; ++i) {
    switch (block.sharedState[offset + i]) {
    case SharedRedZone:
      abortLaunch(warp, instruction, FaultKind::OutOfBounds, lane, "the access leaves its shared variable", true,
                  offset, bytes, "shared", describeShared(launch, offset));
    case SharedUninitialised:
      if (!isWrite && launch.checkUninitialised) {
        report(warp, instruction, FaultKind::UninitialisedRead, lane,
               "shared memory is read that no thread of the block has written", true, offset, bytes, "shared",
               describeShared(launch, offset));
        return;
      }
      break;
    case SharedPending:
      report(warp, instruction, FaultKind::AsyncCopyBeforeWait, lane,
             std::string("cp.async data is ") + (isWrite ? "overwritten" : "read") +
                 " before the copying thread waited for it (cp.async.wait_group or wait_all)",
             true, offset, bytes, "shared", describeShared(launch, offset));
      return;
    default:
      break;
    }
  }
}

void checkLocalLane(Warp &warp, const Instruction &instruction, uint32_t lane, uint64_t offset, unsigned bytes,
                    bool isWrite) {
  if (offset + bytes > warp.localUsed || offset + bytes < offset)
    abortLaunch(warp, instruction, FaultKind::OutOfBounds, lane,
                "the access lies outside the thread's local memory of " + std::to_string(warp.localUsed) + " bytes",
                true, offset, bytes, "local", "");
  if (isWrite || !warp.launch->checkUninitialised)
    return;
  const uint8_t *state = warp.localState.data() + size_t(lane) * warp.localStride + offset;
  for (unsigned i = 0; i < bytes; ++i) {
    if (!state[i]) {
      report(warp, instruction, FaultKind::UninitialisedRead, lane,
             "local memory is read that the thread has not written", true, offset, bytes, "local");
      return;
    }
  }
}

void parameterOutOfBounds(Warp &warp, const Instruction &instruction, uint32_t lane, uint64_t offset, unsigned bytes) {
  abortLaunch(warp, instruction, FaultKind::OutOfBounds, lane,
              "the access lies outside the kernel's " + std::to_string(warp.launch->kernel->parameterBytes) +
                  " bytes of parameters (which are read-only)",
              true, offset, bytes, "param", "");
}

void countAccess(Warp &warp, Space space, const uint64_t *addresses, uint32_t mask, unsigned bytes, bool isWrite) {
  LaunchCounters &counters = *warp.counters;
  LaunchCounters::Traffic &traffic = space == Space::Shared  ? (isWrite ? counters.sharedStores : counters.sharedLoads)
                                     : space == Space::Local ? (isWrite ? counters.localStores : counters.localLoads)
                                     : space == Space::Const ? counters.constantLoads
                                                             : (isWrite ? counters.globalStores : counters.globalLoads);
  ++traffic.requests;
  traffic.bytes += uint64_t(__builtin_popcount(mask)) * bytes;
  unsigned width = 0;
  while ((1u << width) < bytes && width < 4)
    ++width;
  ++traffic.widths[width];
  uint64_t seen[warpSize * 2];
  unsigned count = 0;
  if (space == Space::Shared) {
    // 32 banks of 4 bytes; lanes that read the same word share a pass. Wide accesses go in halves or quarters.
    unsigned perPass = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    for (unsigned first = 0; first < warpSize; first += perPass) {
      uint8_t depth[32] = {};
      unsigned most = 0;
      count = 0;
      for (unsigned lane = first; lane < first + perPass; ++lane) {
        if (!((mask >> lane) & 1))
          continue;
        for (unsigned word = 0; word < std::max(1u, bytes / 4); ++word) {
          uint64_t at = addresses[lane] / 4 + word;
          if (std::find(seen, seen + count, at) != seen + count)
            continue;
          seen[count++] = at;
          most = std::max<unsigned>(most, ++depth[at % 32]);
        }
      }
      traffic.wavefronts += most;
    }
    return;
  }
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if (!((mask >> lane) & 1))
      continue;
    uint64_t sector = addresses[lane] / 32;
    if (count && seen[count - 1] == sector)
      continue;
    if (std::find(seen, seen + count, sector) == seen + count)
      seen[count++] = sector;
  }
  traffic.sectors += count;
  traffic.wavefronts += 1;
}

} // namespace weft::simulator
