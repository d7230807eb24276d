//===- MemoryChecks.h - What is looked at when the fast checks of an access say no ----===//
#pragma once

#include "runtime/Simulator/Warp.h"

namespace weft::simulator {

/// Checks one lane's access to global memory and makes its allocation the warp's last one. Ends the launch on a fault.
void checkGlobalLane(Warp &warp, const Instruction &instruction, uint32_t lane, uint64_t address, unsigned bytes,
                     bool isWrite);
[[noreturn]] void misaligned(Warp &warp, const Instruction &instruction, uint32_t lane, uint64_t address,
                             unsigned bytes, Space space);
void uninitialisedGlobal(Warp &warp, const Instruction &instruction, uint32_t lane, uint64_t address, unsigned bytes);
/// Checks one lane's access to shared memory by the state of its bytes; reports, or ends the launch.
void checkSharedLane(Warp &warp, const Instruction &instruction, uint32_t lane, uint64_t offset, unsigned bytes,
                     bool isWrite);
void checkLocalLane(Warp &warp, const Instruction &instruction, uint32_t lane, uint64_t offset, unsigned bytes,
                    bool isWrite);
[[noreturn]] void parameterOutOfBounds(Warp &warp, const Instruction &instruction, uint32_t lane, uint64_t offset,
                                       unsigned bytes);
/// "shared variable 'tile' (bytes 0 to 4096)", or the nearest one and how far behind its end.
std::string describeShared(const LaunchState &launch, uint64_t offset);
/// Counts sectors, bank passes and widths of one warp-wide access.
void countAccess(Warp &warp, Space space, const uint64_t *addresses, uint32_t mask, unsigned bytes, bool isWrite);

} // namespace weft::simulator
