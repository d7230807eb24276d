//===- Warp.h - The state of a running warp and its block ------------------------===//
#pragma once

#include "runtime/Simulator/Counters.h"
#include "runtime/Simulator/Program.h"
#include "runtime/Simulator/Report.h"

#include <cstdlib>
#include <memory>
#include <random>

namespace weft::simulator {

constexpr unsigned warpSize = 32;
class RaceDetector;
struct Block;

/// Memory that starts at a multiple of 64 bytes and keeps its contents as it grows.
class AlignedBuffer {
public:
  ~AlignedBuffer() { std::free(memory); }
  AlignedBuffer() = default;
  AlignedBuffer(AlignedBuffer &&other) noexcept : memory(other.memory), bytes(other.bytes) {
    other.memory = nullptr;
    other.bytes = 0;
  }
  AlignedBuffer &operator=(const AlignedBuffer &) = delete;
  uint8_t *data() const { return memory; }
  size_t size() const { return bytes; }
  /// New bytes are zero.
  void grow(size_t wanted);

private:
  uint8_t *memory = nullptr;
  size_t bytes = 0;
};

/// What orders a launch among the other operations of a device: who asks gets answers from the driver.
class OperationOrder {
public:
  virtual ~OperationOrder() = default;
  /// Whether operation `earlier` is over before the current one may start.
  virtual bool happensBefore(uint64_t earlier) const = 0;
  /// "kernel 'scale' in stream 2".
  virtual std::string describe(uint64_t operation) const = 0;
};

/// What every block of a launch sees.
struct LaunchState {
  const CompiledKernel *kernel = nullptr;
  AddressSpace *memory = nullptr;
  int device = 0;
  uint64_t peers = 0; ///< Bit i: device i's memory may be used.
  Coordinates grid, blockSize;
  uint32_t threads = 0; ///< In a block.
  uint32_t dynamicShared = 0;
  uint64_t gridWorkspace = 0; ///< Of a cooperative launch: where the grid's barrier lies; else 0.
  std::vector<uint8_t> parameters;
  FaultLog *faults = nullptr;
  bool checkUninitialised = true;
  bool checkRaces = false;
  bool countMemory = false;                              ///< Coalescing and bank conflicts.
  uint64_t stepLimit = 0;                                ///< Instructions a thread may execute; 0 for no limit.
  uint64_t seed = 0;                                     ///< Order of blocks and warps; 0 for the natural one.
  uint64_t launchSerial = 0;                             ///< Of the operation; race checks compare it.
  const OperationOrder *order = nullptr;                 ///< Null: earlier launches are over.
  void (*print)(void *, const char *, size_t) = nullptr; ///< Where the kernel's printf goes.
  void *printContext = nullptr;
};

/// Thrown by a fault that ends the launch; caught where blocks are run.
struct LaunchAborted {
  Fault fault;
};

/// Lanes that are at the same place.
struct LaneGroup {
  uint32_t pc;
  uint32_t mask;
  enum class State : uint8_t { Ready, AtBarrier, AtWarpSync } state = State::Ready;
};

/// A function that some lanes of a warp are in.
struct Frame {
  const CompiledFunction *function = nullptr;
  uint32_t registerOffset = 0;
  uint32_t localOffset = 0; ///< Of this frame's .local variables in each lane's local memory.
  uint32_t lanes = 0;       ///< Those that called.
  uint32_t returnPc = 0;
  const CallSite *site = nullptr;
  std::vector<LaneGroup> waiting; ///< The caller's other groups.
};

/// Bytes that cp.async has asked for and no wait has made visible.
struct PendingCopy {
  uint32_t offset;
  uint32_t bytes;
  uint32_t lane;
  uint32_t group; ///< UINT32_MAX until committed.
  uint32_t line;
};

struct Warp {
  // What handlers use most comes first.
  uint8_t *registers = nullptr; ///< The current frame.
  uint32_t exec = 0;            ///< Lanes that execute this instruction.
  uint32_t carry = 0;           ///< CC.CF of each lane.
  Block *block = nullptr;
  const LaunchState *launch = nullptr;
  Allocation *lastAllocation = nullptr;
  uint64_t lastBase = 1, lastEnd = 0; ///< Bounds of lastAllocation; empty at first.
  const uint64_t *lastBits = nullptr; ///< Its initialised bits, null where all are or none are kept.
  uint64_t lastArena = 0;
  LaunchCounters *counters = nullptr;

  uint32_t active = 0; ///< Lanes of the current group.
  uint32_t live = 0;   ///< Lanes that did not exit.
  uint32_t index = 0;  ///< In the block.
  uint32_t pc = 0;
  std::vector<LaneGroup> groups; ///< All but the current one.
  std::vector<Frame> frames;     ///< The current one last.
  AlignedBuffer registerFile;
  uint32_t registersUsed = 0;
  uint64_t steps = 0;
  uint32_t spin = 0;                        ///< Straight pieces run while other groups were ready to run.
  const CompiledKernel *prepared = nullptr; ///< Constants of this kernel are in place,
  uint64_t preparedLaunch = 0;              ///< and what does not change during this launch.
  enum class State : uint8_t { Ready, AtBarrier, Done } state = State::Done;
  uint32_t barrier = 0;                            ///< Number of the barrier waited at,
  const Instruction *barrierInstruction = nullptr; ///< and where.
  /// .local memory, lane by lane, with one state byte a byte (0 never written).
  std::vector<uint8_t> local, localState;
  uint32_t localStride = 0;
  uint32_t localUsed = 0;
  std::vector<PendingCopy> copies;
  uint32_t commits[warpSize] = {}; ///< cp.async groups each lane has committed.

  const Frame &frame() const { return frames.back(); }
  template <class T> T *lanes(uint32_t offset) { return reinterpret_cast<T *>(registers + offset); }
  uint32_t &predicate(uint32_t offset) { return *reinterpret_cast<uint32_t *>(registers + offset); }
};

/// State of one byte of shared memory; pending is what cp.async was asked to write.
enum SharedByte : uint8_t { SharedRedZone = 0, SharedUninitialised = 1, SharedInitialised = 2, SharedPending = 3 };

struct BarrierState {
  uint32_t arrived = 0;  ///< Threads that arrived, waiting or not.
  uint32_t expected = 0; ///< 0: all warps that have not ended.
  uint32_t popcount = 0;
  bool all = true, any = false;
  uint64_t waiting = 0;               ///< Warps that wait at it,
  uint64_t arrivedOnly = 0;           ///< and those that arrived and went on.
  const Instruction *first = nullptr; ///< Where the first warp came to it.
};

/// A running thread block (CTA).
struct Block {
  const LaunchState *launch = nullptr;
  Coordinates index;
  uint64_t linear = 0;
  std::vector<Warp> warps;
  std::vector<uint8_t> shared;         ///< From offset 0 of the shared window.
  std::vector<uint8_t> sharedState;    ///< SharedByte of each.
  std::vector<uint8_t> sharedTemplate; ///< sharedState at the start of a block.
  BarrierState barriers[16];
  RaceDetector *races = nullptr; ///< Null where races are not checked.
  LaunchCounters counters;
  std::mt19937_64 random;
  uint32_t warpCount = 0;
  uint64_t launchSerial = 0; ///< Of the launch that the fields above were made for.
  bool started = false;
};

/// Records a finding about the lanes in `lanes` of the instruction and goes on.
void report(Warp &warp, const Instruction &instruction, FaultKind kind, uint32_t lane, const std::string &message,
            bool hasAddress = false, uint64_t address = 0, unsigned bytes = 0, const char *space = "",
            const std::string &allocation = "", const std::string &other = "");
/// The same, and ends the launch.
[[noreturn]] void abortLaunch(Warp &warp, const Instruction &instruction, FaultKind kind, uint32_t lane,
                              const std::string &message, bool hasAddress = false, uint64_t address = 0,
                              unsigned bytes = 0, const char *space = "", const std::string &allocation = "");

/// "block (1,0,0), thread (33,0,0)" of a lane.
Coordinates threadCoordinates(const LaunchState &launch, uint32_t thread);

} // namespace weft::simulator
