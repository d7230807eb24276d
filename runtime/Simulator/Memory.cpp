//===- Memory.cpp - Addresses, allocations and what of them is initialised -----===//
#include "runtime/Simulator/Memory.h"
#include "runtime/Simulator/Races.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <sys/mman.h>

namespace weft::simulator {

namespace {
/// Freed memory that is kept unmapped from reuse, per arena.
constexpr uint64_t quarantineBytes = uint64_t(64) << 20;

void *reserve(uint64_t size) {
  void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}
uint64_t roundUp(uint64_t value, uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }
} // namespace

std::string Allocation::describe() const {
  std::string where = device == hostDevice ? "on the host" : "on device " + std::to_string(device);
  return "buffer #" + std::to_string(serial) + " (" + std::to_string(size) + " bytes from " + origin + " " + where +
         ")";
}

struct AddressSpace::Arena {
  int device = 0;
  uint64_t base = 0, capacity = 0;
  uint64_t used = 0, next = 0; ///< Bytes of live allocations; offset of the part never used.
  uint32_t *owner = nullptr;   ///< Allocation serial of each granule, 0 for none.
  uint64_t *bits = nullptr;
  std::map<uint64_t, uint64_t> freeRanges; ///< Offset -> bytes, coalesced.
  std::deque<Allocation *> quarantine;
  uint64_t quarantined = 0;

  ~Arena() {
    if (base)
      munmap(reinterpret_cast<void *>(base), capacity);
    if (owner)
      munmap(owner, capacity / granule * sizeof(uint32_t));
    if (bits)
      munmap(bits, capacity / 8);
  }
};

AddressSpace::AddressSpace(int devices, uint64_t bytes) : bytesPerDevice(bytes) {
  for (int i = 0; i <= devices; ++i) {
    auto arena = std::make_unique<Arena>();
    arena->device = i == devices ? hostDevice : i;
    uint64_t capacity = roundUp(bytes + bytes / 2 + quarantineBytes, uint64_t(1) << 21);
    for (; capacity >= (uint64_t(1) << 24); capacity /= 2) {
      void *memory = reserve(capacity);
      if (!memory)
        continue;
      arena->base = reinterpret_cast<uint64_t>(memory);
      arena->capacity = capacity;
      arena->owner = static_cast<uint32_t *>(reserve(capacity / granule * sizeof(uint32_t)));
      arena->bits = static_cast<uint64_t *>(reserve(capacity / 8));
      break;
    }
    if (!arena->base || !arena->owner || !arena->bits)
      throw std::runtime_error("no address space left for simulated device " + std::to_string(i));
    arenas.push_back(std::move(arena));
  }
}

AddressSpace::~AddressSpace() {
  for (Allocation &allocation : allocations)
    std::free(allocation.raceCells);
}

AddressSpace::Arena *AddressSpace::arenaOf(uint64_t address) const {
  for (const auto &arena : arenas)
    if (address - arena->base < arena->capacity)
      return arena.get();
  return nullptr;
}

/// Gives quarantined memory back until `wanted` bytes or all of it are free.
void AddressSpace::evict(Arena &arena, uint64_t wanted) {
  uint64_t got = 0;
  while (!arena.quarantine.empty() && (got < wanted || arena.quarantined > quarantineBytes)) {
    Allocation *old = arena.quarantine.front();
    arena.quarantine.pop_front();
    uint64_t offset = old->base - arena.base;
    uint64_t bytes = roundUp(old->size, granule) + granule;
    arena.quarantined -= bytes;
    got += bytes;
    std::memset(arena.owner + offset / granule, 0, bytes / granule * sizeof(uint32_t));
    std::memset(reinterpret_cast<uint8_t *>(arena.bits) + offset / 8, 0, bytes / 8);
    std::free(old->raceCells);
    old->raceCells = nullptr;
    auto after = arena.freeRanges.lower_bound(offset);
    if (after != arena.freeRanges.end() && after->first == offset + bytes) {
      bytes += after->second;
      after = arena.freeRanges.erase(after);
    }
    if (after != arena.freeRanges.begin()) {
      auto before = std::prev(after);
      if (before->first + before->second == offset) {
        before->second += bytes;
        continue;
      }
    }
    arena.freeRanges.emplace(offset, bytes);
  }
}

Allocation *AddressSpace::allocate(int device, uint64_t size, AllocationKind kind, std::string origin) {
  std::lock_guard<std::mutex> lock(mutex);
  size = std::max<uint64_t>(size, 1);
  Arena *arena = nullptr;
  for (const auto &candidate : arenas)
    if (candidate->device == device)
      arena = candidate.get();
  if (!arena || size > bytesPerDevice || arena->used + size > bytesPerDevice)
    return nullptr;
  // A granule behind each allocation belongs to nobody: an access behind the end cannot hit the neighbour.
  uint64_t bytes = roundUp(size, granule) + granule;
  uint64_t offset = UINT64_MAX;
  for (int attempt = 0; attempt < 2 && offset == UINT64_MAX; ++attempt) {
    for (auto it = arena->freeRanges.begin(); it != arena->freeRanges.end(); ++it) {
      if (it->second < bytes)
        continue;
      offset = it->first;
      uint64_t rest = it->second - bytes;
      arena->freeRanges.erase(it);
      if (rest)
        arena->freeRanges.emplace(offset + bytes, rest);
      break;
    }
    if (offset == UINT64_MAX && arena->next + bytes <= arena->capacity) {
      offset = arena->next;
      arena->next += bytes;
    }
    if (offset == UINT64_MAX)
      evict(*arena, UINT64_MAX);
  }
  if (offset == UINT64_MAX)
    return nullptr;
  arena->used += size;
  allocations.emplace_back();
  Allocation &made = allocations.back();
  made.base = arena->base + offset;
  made.size = size;
  made.serial = uint32_t(allocations.size());
  made.device = device;
  made.kind = kind;
  made.origin = std::move(origin);
  std::fill_n(arena->owner + offset / granule, bytes / granule, made.serial);
  return &made;
}

Allocation *AddressSpace::registerHost(void *base, uint64_t size, std::string origin) {
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t address = reinterpret_cast<uint64_t>(base);
  if (!base || !size || address + size < address || arenaOf(address) || arenaOf(address + size - 1))
    return nullptr;
  auto after = registered.lower_bound(address);
  if (after != registered.end() && after->first < address + size)
    return nullptr;
  if (after != registered.begin() && std::prev(after)->second->end() > address)
    return nullptr;
  allocations.emplace_back();
  Allocation &made = allocations.back();
  made.base = address;
  made.size = size;
  made.serial = uint32_t(allocations.size());
  made.device = hostDevice;
  made.kind = AllocationKind::RegisteredHost;
  made.allInitialised = true;
  made.origin = std::move(origin);
  registered.emplace(address, &made);
  return &made;
}

void AddressSpace::free(Allocation &allocation, std::string origin) {
  std::lock_guard<std::mutex> lock(mutex);
  if (allocation.freed)
    return;
  allocation.freed = true;
  allocation.freeOrigin = std::move(origin);
  if (allocation.kind == AllocationKind::RegisteredHost) {
    registered.erase(allocation.base);
    return;
  }
  Arena *arena = arenaOf(allocation.base);
  uint64_t bytes = roundUp(allocation.size, granule) + granule;
  arena->used -= allocation.size;
  // The contents go at once; the addresses stay taken.
  uint64_t page = 4096, first = roundUp(allocation.base, page), last = allocation.end() / page * page;
  if (last > first)
    madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
  arena->quarantine.push_back(&allocation);
  arena->quarantined += bytes;
  if (arena->quarantined > quarantineBytes)
    evict(*arena, 0);
}

Allocation *AddressSpace::find(uint64_t address) const {
  if (Arena *arena = arenaOf(address)) {
    uint32_t serial = arena->owner[(address - arena->base) / granule];
    return serial ? const_cast<Allocation *>(&allocations[serial - 1]) : nullptr;
  }
  if (registered.empty())
    return nullptr;
  auto after = registered.upper_bound(address);
  if (after == registered.begin())
    return nullptr;
  Allocation *candidate = std::prev(after)->second;
  return address < candidate->end() + granule ? candidate : nullptr;
}

Allocation *AddressSpace::findBase(uint64_t address) const {
  Allocation *found = find(address);
  return found && found->base == address && !found->freed ? found : nullptr;
}

uint64_t *AddressSpace::initialisedBits(const Allocation &allocation, uint64_t &arenaBase) const {
  Arena *arena = arenaOf(allocation.base);
  if (!arena)
    return nullptr;
  arenaBase = arena->base;
  return arena->bits;
}

void AddressSpace::markInitialised(const Allocation &allocation, uint64_t address, uint64_t size) {
  if (allocation.allInitialised)
    return;
  uint64_t arenaBase = 0;
  uint64_t *bits = initialisedBits(allocation, arenaBase);
  if (!bits || !size)
    return;
  if (address == allocation.base && size >= allocation.size) {
    const_cast<Allocation &>(allocation).allInitialised = true;
  }
  uint64_t first = address - arenaBase, last = first + size;
  while (first < last) {
    uint64_t word = first / 64, begin = first % 64, count = std::min<uint64_t>(64 - begin, last - first);
    uint64_t mask = (count == 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1) << begin;
    if ((__atomic_load_n(&bits[word], __ATOMIC_RELAXED) & mask) != mask)
      __atomic_fetch_or(&bits[word], mask, __ATOMIC_RELAXED);
    first += count;
  }
}

void AddressSpace::markUninitialised(Allocation &allocation, uint64_t address, uint64_t size) {
  uint64_t arenaBase = 0;
  uint64_t *bits = initialisedBits(allocation, arenaBase);
  if (!bits)
    return;
  if (allocation.allInitialised) {
    allocation.allInitialised = false;
    markInitialised(allocation, allocation.base, address - allocation.base);
    markInitialised(allocation, address + size, allocation.end() - address - size);
  }
  for (uint64_t bit = address - arenaBase, last = bit + size; bit < last; ++bit)
    bits[bit / 64] &= ~(uint64_t(1) << bit % 64);
}

uint64_t AddressSpace::firstUninitialised(const Allocation &allocation, uint64_t address, uint64_t size) const {
  if (allocation.allInitialised)
    return size;
  uint64_t arenaBase = 0;
  const uint64_t *bits = initialisedBits(allocation, arenaBase);
  if (!bits)
    return size;
  uint64_t first = address - arenaBase, last = first + size;
  for (uint64_t at = first; at < last;) {
    uint64_t begin = at % 64, count = std::min<uint64_t>(64 - begin, last - at);
    uint64_t mask = (count == 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1) << begin;
    uint64_t missing = ~__atomic_load_n(&bits[at / 64], __ATOMIC_RELAXED) & mask;
    if (missing)
      return at / 64 * 64 + uint64_t(__builtin_ctzll(missing)) - first;
    at += count;
  }
  return size;
}

RaceCell *AddressSpace::raceCells(Allocation &allocation) {
  if (!allocation.raceCells)
    allocation.raceCells = static_cast<RaceCell *>(std::calloc((allocation.size + 3) / 4 + 1, sizeof(RaceCell)));
  return allocation.raceCells;
}

uint64_t AddressSpace::usedBytes(int device) const {
  std::lock_guard<std::mutex> lock(mutex);
  for (const auto &arena : arenas)
    if (arena->device == device)
      return arena->used;
  return 0;
}

std::vector<Allocation *> AddressSpace::live() const {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<Allocation *> out;
  for (const Allocation &allocation : allocations)
    if (!allocation.freed)
      out.push_back(const_cast<Allocation *>(&allocation));
  return out;
}

} // namespace weft::simulator
