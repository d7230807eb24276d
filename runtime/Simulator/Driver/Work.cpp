//===- Work.cpp - What operations do when their turn comes ---------------------------------------------===//
#include "runtime/Simulator/Driver/State.h"

#include <cstring>
#include <thread>

namespace weft::simulator {

void Driver::touch(Operation &operation, uint64_t address, uint64_t bytes, bool isWrite) {
  if (!options.launch.checkRaces || !bytes)
    return;
  Allocation *allocation = memory->find(address);
  if (!allocation || allocation->kind == AllocationKind::ModuleConstant)
    return;
  RaceCell *cells = memory->raceCells(*allocation);
  AccessStamp now;
  now.launch = operation.id;
  bool told = false;
  for (uint64_t at = address - allocation->base, end = at + bytes; at < end;) {
    RaceCell &cell = cells[at / 4];
    uint64_t count = std::min<uint64_t>(4 - at % 4, end - at);
    now.bytes = uint8_t(((1u << count) - 1) << at % 4);
    at += count;
    auto conflict = [&](const AccessStamp &earlier, bool wrote) {
      if (told || !earlier.launch || !(earlier.bytes & now.bytes) || operation.happensBefore(earlier.launch))
        return;
      told = true;
      Fault fault;
      fault.kind = FaultKind::StreamRace;
      fault.message =
          operation.work.label + (isWrite ? " writes" : " reads") + " bytes that another operation has " +
          (wrote ? "written" : "read") +
          ", and nothing orders the two; expected an event, the same stream, or a synchronisation between them";
      fault.hasAddress = true;
      fault.address = address;
      fault.bytes = unsigned(std::min<uint64_t>(bytes, UINT32_MAX));
      fault.space = "global";
      fault.allocation = allocation->describe();
      fault.other = operation.describe(earlier.launch);
      faults.add(fault);
    };
    conflict(cell.write, true);
    if (isWrite) {
      conflict(cell.firstRead, false);
      conflict(cell.lastRead, false);
      cell.write = now;
      cell.firstRead = AccessStamp();
      cell.lastRead = AccessStamp();
    } else if (!cell.firstRead.launch || operation.happensBefore(cell.firstRead.launch)) {
      cell.firstRead = now;
    } else {
      cell.lastRead = now;
    }
  }
}

namespace {

CUresult resultOf(FaultKind kind) {
  switch (kind) {
  case FaultKind::Misaligned:
    return CUDA_ERROR_MISALIGNED_ADDRESS;
  case FaultKind::StepLimit:
    return CUDA_ERROR_LAUNCH_TIMEOUT;
  case FaultKind::Trap:
  case FaultKind::BarrierDivergence:
  case FaultKind::WarpSyncDivergence:
    return CUDA_ERROR_LAUNCH_FAILED;
  case FaultKind::InvalidInstruction:
    return CUDA_ERROR_ILLEGAL_INSTRUCTION;
  default:
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  }
}

/// Copies which bytes of device memory are initialised; host memory counts as such.
void copyInitialised(AddressSpace &memory, Allocation *to, uint64_t toAddress, Allocation *from, uint64_t fromAddress,
                     uint64_t bytes) {
  if (!to)
    return;
  if (!from || from->allInitialised) {
    memory.markInitialised(*to, toAddress, bytes);
    return;
  }
  for (uint64_t at = 0; at < bytes;) {
    uint64_t good = memory.firstUninitialised(*from, fromAddress + at, bytes - at);
    memory.markInitialised(*to, toAddress + at, good);
    at += good;
    uint64_t bad = at;
    while (bad < bytes && memory.firstUninitialised(*from, fromAddress + bad, 1) == 0)
      ++bad;
    if (bad > at)
      memory.markUninitialised(*to, toAddress + at, bad - at);
    at = bad;
  }
}

} // namespace

void Driver::execute(Operation &operation) {
  Work &work = operation.work;
  DeviceState &device = devices[size_t(operation.context->device)];
  if (operation.context->device == options.injection.slowDevice)
    std::this_thread::sleep_for(std::chrono::milliseconds(options.injection.slowMilliseconds));
  auto lost = [&](uint64_t address, const std::string &reason) {
    Fault fault;
    Allocation *found = memory->find(address);
    fault.kind = found && found->freed ? FaultKind::UseAfterFree : FaultKind::OutOfBounds;
    fault.fatal = true;
    fault.message = work.label + ": " + reason;
    fault.hasAddress = true;
    fault.address = address;
    fault.space = "global";
    fault.allocation = found ? found->describe() : "";
    faults.add(fault);
    device.sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
  };
  switch (work.kind) {
  case Work::Kind::Empty:
    break;
  case Work::Kind::Record:
    if (valid(work.event) && work.event->operation == operation.id)
      work.event->milliseconds = now();
    break;
  case Work::Kind::Host:
    if (work.callback)
      work.callback();
    else if (work.host)
      work.host(work.userData);
    break;
  case Work::Kind::Kernel: {
    if (options.injection.failLaunch && ++launchCount == options.injection.failLaunch) {
      device.sticky = CUDA_ERROR_LAUNCH_FAILED;
      break;
    }
    if (!valid(work.kernel.function)) {
      lost(0, "its module was unloaded before it ran");
      break;
    }
    LaunchOptions launchOptions = options.launch;
    launchOptions.serial = operation.id;
    launchOptions.order = options.launch.checkRaces ? &operation : nullptr;
    if (launchOptions.seed)
      launchOptions.seed = random() | 1;
    const CompiledKernel &kernel = *work.kernel.function->kernel;
    LaunchResult result = launch(kernel, *memory, operation.context->device, device.peers, work.kernel.configuration,
                                 launchOptions, faults);
    if (options.countLaunches && launches.size() < 10000)
      launches.push_back({kernel.name, result.counters});
    if (!result.completed) {
      device.sticky = CUDA_ERROR_LAUNCH_FAILED;
      for (const Fault &fault : faults.faults())
        if (fault.fatal)
          device.sticky = resultOf(fault.kind);
    }
    break;
  }
  case Work::Kind::Copy: {
    const CopyRequest &copy = work.copy;
    for (size_t row = 0; row < copy.height; ++row) {
      uint64_t to = copy.to + row * copy.toPitch, from = copy.from + row * copy.fromPitch;
      Allocation *target = memory->find(to), *source = memory->find(from);
      std::string reason;
      if (target && !findMemory(to, copy.width, reason))
        return lost(to, reason);
      if (source && !findMemory(from, copy.width, reason))
        return lost(from, reason);
      if (source)
        touch(operation, from, copy.width, false);
      if (target)
        touch(operation, to, copy.width, true);
      if (source && !target && options.launch.checkUninitialised) {
        uint64_t first = memory->firstUninitialised(*source, from, copy.width);
        if (first != copy.width) {
          Fault fault;
          fault.kind = FaultKind::UninitialisedRead;
          fault.message = work.label + " copies byte " + std::to_string(from + first - source->base) +
                          " of a buffer to the host, which was never written";
          fault.hasAddress = true;
          fault.address = from + first;
          fault.bytes = 1;
          fault.space = "global";
          fault.allocation = source->describe();
          faults.add(fault);
        }
      }
      std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), copy.width);
      copyInitialised(*memory, target, to, source, from, copy.width);
    }
    break;
  }
  case Work::Kind::Set: {
    const SetRequest &set = work.set;
    for (size_t row = 0; row < set.height; ++row) {
      uint64_t to = set.to + row * set.pitch, bytes = set.width * set.elementBytes;
      std::string reason;
      Allocation *target = findMemory(to, bytes, reason);
      if (!target)
        return lost(to, reason);
      touch(operation, to, bytes, true);
      for (size_t i = 0; i < set.width; ++i)
        std::memcpy(reinterpret_cast<void *>(to + i * set.elementBytes), &set.value, set.elementBytes);
      memory->markInitialised(*target, to, bytes);
    }
    break;
  }
  case Work::Kind::Allocate:
    if (Allocation *allocation = memory->findBase(work.address))
      touch(operation, allocation->base, allocation->size, true);
    break;
  case Work::Kind::Free:
    if (Allocation *allocation = memory->findBase(work.address)) {
      touch(operation, allocation->base, allocation->size, true);
      if (valid(work.pool))
        work.pool->used -= std::min(work.pool->used, allocation->size);
      memory->free(*allocation, "cuMemFreeAsync");
    } else {
      lost(work.address, "no live buffer starts at the address that is freed");
    }
    break;
  }
}

} // namespace weft::simulator
