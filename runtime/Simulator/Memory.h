//===- Memory.h - Addresses, allocations and what of them is initialised -------===//
//
// All simulated GPUs and the pinned host memory share one address space, as with CUDA's unified addressing. A device
// pointer is the host address of the byte that stands for it; nothing is dereferenced before it was looked up here.
//===-----------------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace weft::simulator {

struct RaceCell;

enum class AllocationKind : uint8_t { Device, Managed, PinnedHost, ModuleVariable, ModuleConstant, RegisteredHost };

struct Allocation {
  uint64_t base = 0;
  uint64_t size = 0;
  uint32_t serial = 0;
  int device = 0; ///< hostDevice for pinned host memory
  AllocationKind kind = AllocationKind::Device;
  bool freed = false;
  bool allInitialised = false;
  std::string origin;            ///< "cuMemAlloc #3", "variable 'table' of module 1"
  std::string freeOrigin;        ///< "cuMemFree", when freed
  RaceCell *raceCells = nullptr; ///< One for each 4 bytes, made when first needed; owned by the AddressSpace.

  uint64_t end() const { return base + size; }
  bool readOnly() const { return kind == AllocationKind::ModuleConstant; }
  /// "buffer #3 (4096 bytes from cuMemAlloc #3 on device 0)"
  std::string describe() const;
};

constexpr int hostDevice = -1;

/// The allocations of every device. Allocation and freeing lock; looking up does not, so no allocation may change
/// while a kernel runs (the driver's lock sees to that).
class AddressSpace {
public:
  static constexpr uint64_t granule = 256;

  /// `bytesPerDevice` is what each device says it has; more cannot be allocated.
  AddressSpace(int devices, uint64_t bytesPerDevice);
  ~AddressSpace();
  AddressSpace(const AddressSpace &) = delete;
  AddressSpace &operator=(const AddressSpace &) = delete;

  /// Null where the device has not that much left. `size` 0 is allocated as 1 byte. The base is a multiple of 256.
  Allocation *allocate(int device, uint64_t size, AllocationKind kind, std::string origin);
  /// Makes host memory that the caller owns known (cuMemHostRegister). Null where it overlaps with known memory.
  Allocation *registerHost(void *base, uint64_t size, std::string origin);
  /// The memory stays reserved for a while, so that a later use is recognised.
  void free(Allocation &allocation, std::string origin);

  /// The allocation (perhaps freed) that `address` lies in or, within the 256 bytes behind its end, behind; else null.
  Allocation *find(uint64_t address) const;
  /// The live allocation that starts at `address`.
  Allocation *findBase(uint64_t address) const;

  void markInitialised(const Allocation &allocation, uint64_t address, uint64_t size);
  void markUninitialised(Allocation &allocation, uint64_t address, uint64_t size);
  /// Offset of the first byte that was never written, or `size`.
  uint64_t firstUninitialised(const Allocation &allocation, uint64_t address, uint64_t size) const;
  /// One bit a byte; bit (address - base) of the arena that holds `allocation`. Null for registered host memory.
  uint64_t *initialisedBits(const Allocation &allocation, uint64_t &arenaBase) const;

  RaceCell *raceCells(Allocation &allocation);

  uint64_t usedBytes(int device) const;
  uint64_t totalBytes() const { return bytesPerDevice; }
  /// Live allocations, oldest first.
  std::vector<Allocation *> live() const;

private:
  struct Arena;
  Arena *arenaOf(uint64_t address) const;
  void evict(Arena &arena, uint64_t wanted);
  uint64_t bytesPerDevice;
  std::vector<std::unique_ptr<Arena>> arenas;  ///< Devices, then the host's.
  std::map<uint64_t, Allocation *> registered; ///< Registered host memory by base.
  std::deque<Allocation> allocations;
  mutable std::mutex mutex;
};

} // namespace weft::simulator
