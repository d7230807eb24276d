//===- Schedule.cpp - Operations of streams: lazily, in any order that is allowed --------------------===//
#include "runtime/Simulator/Driver/State.h"

namespace weft::simulator {

bool Operation::happensBefore(uint64_t earlier) const {
  const Driver &driver = Driver::get();
  auto found = driver.records.find(earlier);
  if (found == driver.records.end() || earlier == id)
    return true;
  auto known = clock.find(found->second.timeline);
  return known != clock.end() && known->second >= found->second.index;
}

std::string Operation::describe(uint64_t operation) const {
  const Driver &driver = Driver::get();
  auto found = driver.records.find(operation);
  return found == driver.records.end() ? "operation " + std::to_string(operation) : found->second.label;
}

void Driver::mergeClock(Clock &into, uint64_t operation) const {
  auto found = records.find(operation);
  if (found == records.end())
    return;
  for (const auto &entry : found->second.clock) {
    uint64_t &value = into[entry.first];
    value = std::max(value, entry.second);
  }
}

void Driver::learnHost(uint64_t operation) { mergeClock(hostClock, operation); }

std::shared_ptr<Operation> Driver::makeOperation(CUcontext context, Work work, std::vector<uint64_t> waits,
                                                 uint32_t timeline, uint64_t index, Clock clock) {
  auto made = std::make_shared<Operation>();
  made->id = ++operationIds;
  made->context = context;
  made->work = std::move(work);
  made->waits = std::move(waits);
  made->timeline = timeline;
  made->index = index;
  if (options.launch.checkRaces) {
    for (uint64_t wait : made->waits)
      mergeClock(clock, wait);
    clock[timeline] = index;
    made->clock = clock;
    records[made->id] = {timeline, index, std::move(clock), made->work.label};
  }
  pending.push_back(made);
  pendingIds.insert(made->id);
  return made;
}

CUresult Driver::enqueue(CUstream stream, Work work, std::vector<uint64_t> waits) {
  if (stream->capture)
    return captureWork(stream, std::move(work));
  CUcontext context = stream->context;
  if (anyCapture && stream == context->legacy.get()) {
    for (CUstream other : context->streams) {
      if (other->capture && !(other->flags & CU_STREAM_NON_BLOCKING)) {
        other->captureBroken = true;
        return fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                    "the legacy default stream would wait for a stream that is being captured");
      }
    }
  }
  bool legacy = stream == context->legacy.get();
  if (stream->lastOperation)
    waits.push_back(stream->lastOperation);
  // The legacy default stream and blocking streams wait for each other.
  if (legacy) {
    for (CUstream other : context->streams)
      if (!(other->flags & CU_STREAM_NON_BLOCKING) && other->lastOperation)
        waits.push_back(other->lastOperation);
    for (auto &entry : context->perThread)
      if (entry.second->lastOperation)
        waits.push_back(entry.second->lastOperation);
  } else if (!(stream->flags & CU_STREAM_NON_BLOCKING) && context->legacy->lastOperation) {
    waits.push_back(context->legacy->lastOperation);
  }
  work.label += legacy ? " in the default stream" : " in stream " + std::to_string(stream->number);
  CUevent event = work.kind == Work::Kind::Record ? work.event : nullptr;
  auto made =
      makeOperation(context, std::move(work), std::move(waits), stream->timeline, ++stream->operations, hostClock);
  stream->lastOperation = made->id;
  if (event) {
    event->operation = made->id;
    event->capture = nullptr;
  }
  return CUDA_SUCCESS;
}

bool Driver::step() {
  std::vector<std::list<std::shared_ptr<Operation>>::iterator> ready;
  for (auto it = pending.begin(); it != pending.end(); ++it) {
    bool free = true;
    for (uint64_t wait : (*it)->waits)
      free &= isDone(wait);
    if (!free || (*it)->context->device == options.injection.deadDevice)
      continue;
    ready.push_back(it);
    if (!options.launch.seed)
      break; // in the order of the calls
  }
  if (ready.empty())
    return false;
  auto chosen = ready[options.launch.seed ? random() % ready.size() : 0];
  std::shared_ptr<Operation> operation = *chosen;
  pending.erase(chosen);
  // After a sticky error nothing runs; memory that was freed before it is free.
  if (devices[size_t(operation->context->device)].sticky == CUDA_SUCCESS)
    execute(*operation);
  else if (operation->work.kind == Work::Kind::Free)
    if (Allocation *allocation = memory->findBase(operation->work.address))
      memory->free(*allocation, "cuMemFreeAsync");
  pendingIds.erase(operation->id);
  return true;
}

CUresult Driver::waitFor(uint64_t operation) {
  while (operation && !isDone(operation)) {
    if (!step()) {
      CUcontext context = nullptr;
      for (const auto &entry : pending)
        if (entry->id == operation)
          context = entry->context;
      if (context)
        devices[size_t(context->device)].sticky = CUDA_ERROR_LAUNCH_TIMEOUT;
      return fail(CUDA_ERROR_LAUNCH_TIMEOUT, "the device does not answer (an injected fault)");
    }
  }
  learnHost(operation);
  return CUDA_SUCCESS;
}

CUresult Driver::waitForStream(CUstream stream) {
  CUresult result = waitFor(stream->lastOperation);
  return result != CUDA_SUCCESS ? result : devices[size_t(stream->context->device)].sticky;
}

CUresult Driver::waitForContext(CUcontext context) {
  std::vector<uint64_t> last{context->legacy->lastOperation};
  for (CUstream stream : context->streams)
    last.push_back(stream->lastOperation);
  for (auto &entry : context->perThread)
    last.push_back(entry.second->lastOperation);
  for (uint64_t operation : last) {
    CUresult result = waitFor(operation);
    if (result != CUDA_SUCCESS)
      return result;
  }
  return devices[size_t(context->device)].sticky;
}

} // namespace weft::simulator
