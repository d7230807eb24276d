// Ops of a run on a GPU: what is submitted, what the host decides, and what becomes a graph.
#include "runtime/Executor/CudaExecution.h"
#include "runtime/Executor/NanCheck.h"

#include <algorithm>
#include <cstring>

namespace weft::runtime {
namespace {

// Graphs kept for one segment: of the sizes it was last used with.
constexpr size_t kMostGraphs = 8;
// Events in use before the host collects their times.
constexpr size_t kMostEvents = 4096;

const Launch *launchOf(const OpBody &body) {
  if (const auto *call = std::get_if<LibraryCall>(&body))
    return &call->alternative;
  return std::get_if<Launch>(&body);
}

bool submitsWork(const OpBody &body) {
  return launchOf(body) || std::holds_alternative<Copy>(body) || std::holds_alternative<Fill>(body);
}

} // namespace

void CudaExecution::planPieces() {
  for (size_t block = 0; block < model_.blocks.size(); ++block) {
    std::vector<Piece> &pieces = pieces_.emplace_back();
    size_t begin = variant_.blockStart[block], end = begin + model_.blocks[block].ops.size();
    for (size_t index = begin; index < end; ++index) {
      const OpBody &body = variant_.ops[index].op->body;
      // A check compares sizes, which no op of a segment changes: it neither waits nor ends one.
      bool straight = submitsWork(body) || std::holds_alternative<CheckEqual>(body);
      if (!straight || pieces.empty() || !pieces.back().straight) {
        pieces.emplace_back();
        pieces.back().first = index;
        pieces.back().straight = straight;
      }
      pieces.back().last = index + 1;
      pieces.back().submissions += submitsWork(body);
    }
  }
}

Status CudaExecution::runBlock(uint32_t block) {
  for (Piece &piece : pieces_[block])
    WEFT_RETURN_IF_ERROR(runPiece(piece));
  return Status();
}

Status CudaExecution::runPiece(Piece &piece) {
  if (cancelled())
    return cancelledStatus();
  for (size_t index = piece.first; index < piece.last; ++index) {
    WEFT_RETURN_IF_ERROR(sizeOp(index));
    if (const auto *check = std::get_if<CheckEqual>(&variant_.ops[index].op->body))
      WEFT_RETURN_IF_ERROR(checkEqual(index, *check));
  }
  return piece.straight ? runStraight(piece) : submitTimed(piece.first);
}

Status CudaExecution::runStraight(Piece &piece) {
  if (piece.submissions < 2 || request_->profile || watched())
    return submitOps(piece);
  auto fits = [&](const Captured &captured) {
    return captured.generation == generation_ && captured.seed == request_->seed && captured.symbols == symbols_;
  };
  auto found = std::find_if(piece.captured.begin(), piece.captured.end(), fits);
  if (found == piece.captured.end()) {
    if (piece.captured.size() == kMostGraphs)
      piece.captured.erase(
          std::min_element(piece.captured.begin(), piece.captured.end(),
                           [](const Captured &a, const Captured &b) { return a.lastUse < b.lastUse; }));
    Captured captured;
    captured.symbols = symbols_;
    captured.seed = request_->seed;
    captured.generation = generation_;
    captured.lastUse = ++uses_;
    piece.captured.push_back(std::move(captured));
    return submitOps(piece);
  }
  found->lastUse = ++uses_;
  if (!found->graph)
    WEFT_RETURN_IF_ERROR(capture(piece, found->graph));
  for (size_t index = piece.first; index < piece.last; ++index)
    if (submitted_[index] == 0)
      submitted_[index] = ++submissions_;
  return found->graph.launch(stream_.handle());
}

// The capture is this thread's own: others may allocate and wait meanwhile.
Status CudaExecution::capture(const Piece &piece, cuda::Graph &graph) {
  WEFT_RETURN_IF_ERROR(
      device_.check(driver().StreamBeginCapture(stream_.handle(), cuda::kCaptureThreadLocal), "capturing launches"));
  Status status;
  for (size_t index = piece.first; status.ok() && index < piece.last; ++index)
    status = submit(index);
  cuda::GraphHandle captured = nullptr;
  Status ended = device_.check(driver().StreamEndCapture(stream_.handle(), &captured), "capturing launches");
  if (status.ok())
    status = ended;
  if (status.ok())
    status = graph.instantiate(device_, captured);
  if (captured)
    driver().GraphDestroy(captured);
  return status;
}

Status CudaExecution::submitOps(const Piece &piece) {
  for (size_t index = piece.first; index < piece.last; ++index) {
    if (cancelled())
      return cancelledStatus();
    WEFT_RETURN_IF_ERROR(submitTimed(index));
  }
  return Status();
}

Status CudaExecution::submitTimed(size_t index) {
  if (request_->profile)
    WEFT_RETURN_IF_ERROR(startTimer(index));
  WEFT_RETURN_IF_ERROR(submit(index));
  if (request_->profile)
    WEFT_RETURN_IF_ERROR(stopTimer());
  return watched() ? afterOp(index) : Status();
}

Status CudaExecution::submit(size_t index) {
  const OpBody &body = variant_.ops[index].op->body;
  if (submitted_[index] == 0)
    submitted_[index] = ++submissions_;
  if (const Launch *launch = launchOf(body))
    return submitLaunch(index, *launch);
  if (const auto *copy = std::get_if<Copy>(&body))
    return submitCopy(index, *copy);
  if (const auto *fill = std::get_if<Fill>(&body))
    return submitFill(index, *fill);
  return std::holds_alternative<CheckEqual>(body) ? Status() : runDecision(index);
}

// ---------------------------------------------------------------------------------------------------------------------
// Work of the GPU
// ---------------------------------------------------------------------------------------------------------------------

// The parameters in the order of include/weft/kernel_abi.h.
void CudaExecution::prepareLaunch(size_t index, const Launch &launch) {
  Launching &launching = launches_[index];
  const OpState &state = ops_[index];
  if (launching.epoch == epoch_ && launching.generation == generation_)
    return;
  launching.epoch = epoch_;
  launching.generation = generation_;
  fillArguments(index, launch);
  std::vector<uint64_t> &values = launching.values;
  values.clear();
  for (size_t argument = 0; argument < state.arguments; ++argument)
    values.push_back(reinterpret_cast<uint64_t>(argumentPointers_[state.firstArgument + argument]));
  for (int64_t symbol : symbols_)
    values.push_back(static_cast<uint64_t>(symbol));
  values.push_back(static_cast<uint64_t>(state.tiles));
  values.push_back(state.scratchBytes > 0 ? scratch_.address() : 0);
  values.push_back(0); // the seed
  values.push_back(0); // the device's index in the mesh
  values.push_back(errors_.address() + index * sizeof(int32_t));
  launching.pointers.clear();
  for (uint64_t &value : values)
    launching.pointers.push_back(&value);
  bool writes = std::any_of(launch.outputs.begin(), launch.outputs.end(),
                            [&](uint32_t buffer) { return buffers_[buffer].bytes > 0; });
  int64_t most = launch.maxBlocks > 0 ? launch.maxBlocks : kMaximumBlocks;
  launching.blocks = writes ? static_cast<unsigned>(std::min(state.tiles, most)) : 0;
}

Status CudaExecution::submitLaunch(size_t index, const Launch &launch) {
  prepareLaunch(index, launch);
  Launching &launching = launches_[index];
  if (launching.blocks == 0)
    return Status();
  launching.values[launching.values.size() - 3] = request_->seed;
  cuda::Result result = driver().LaunchKernel(
      variant_.ops[index].function, launching.blocks, 1, 1, static_cast<unsigned>(launch.threads), 1, 1,
      static_cast<unsigned>(launch.sharedBytes), stream_.handle(), launching.pointers.data(), nullptr);
  return result == cuda::kSuccess ? Status()
                                  : device_.check(result, describeOp(index) + ": its kernel cannot be launched");
}

Status CudaExecution::submitCopy(size_t index, const Copy &copy) {
  const BufferState &source = buffers_[copy.source], &destination = buffers_[copy.destination];
  if (source.bytes != destination.bytes)
    return Status(StatusCode::DataLoss, "a copy between buffers of " + std::to_string(source.bytes) + " and " +
                                            std::to_string(destination.bytes) + " bytes");
  if (source.data == destination.data || source.bytes == 0)
    return Status();
  return device_.check(driver().MemcpyDtoDAsync(addressOf(copy.destination), addressOf(copy.source),
                                                static_cast<size_t>(source.bytes), stream_.handle()),
                       "a copy");
}

Status CudaExecution::submitFill(size_t index, const Fill &fill) {
  const Buffer &buffer = model_.buffers[fill.destination];
  cuda::DevicePointer to = addressOf(fill.destination);
  auto bytes = static_cast<size_t>(buffers_[fill.destination].bytes);
  if (bytes == 0)
    return Status();
  cuda::StreamHandle stream = stream_.handle();
  cuda::Result result;
  uint64_t value = 0;
  std::memcpy(&value, fill.pattern.data(), fill.pattern.size());
  switch (fill.pattern.size()) {
  case 1: {
    // Packed elements: the value repeats inside the byte.
    int64_t bits = storageBits(buffer.type);
    unsigned one = static_cast<unsigned>(value) & ((1u << std::min<int64_t>(bits, 8)) - 1), packed = one;
    for (int64_t shift = bits; shift < 8; shift += bits)
      packed |= one << shift;
    result = driver().MemsetD8Async(to, static_cast<unsigned char>(packed), bytes, stream);
    break;
  }
  case 2:
    result = driver().MemsetD16Async(to, static_cast<unsigned short>(value), bytes / 2, stream);
    break;
  case 4:
    result = driver().MemsetD32Async(to, static_cast<unsigned>(value), bytes / 4, stream);
    break;
  default: {
    auto low = static_cast<unsigned>(value), high = static_cast<unsigned>(value >> 32);
    if (low == high) {
      result = driver().MemsetD32Async(to, low, bytes / 4, stream);
      break;
    }
    // The driver sets at most 32 bits at a time: the halves as two columns.
    result = driver().MemsetD2D32Async(to, 8, low, 1, bytes / 8, stream);
    if (result == cuda::kSuccess)
      result = driver().MemsetD2D32Async(to + 4, 8, high, 1, bytes / 8, stream);
    break;
  }
  }
  return device_.check(result, "a fill");
}

// ---------------------------------------------------------------------------------------------------------------------
// Decisions of the host
// ---------------------------------------------------------------------------------------------------------------------

Status CudaExecution::runDecision(size_t index) {
  const OpBody &body = variant_.ops[index].op->body;
  const void *value;
  auto isTrue = [&](uint32_t condition, bool &result) {
    WEFT_RETURN_IF_ERROR(readScalar(condition, value));
    result = *static_cast<const uint8_t *>(value) != 0;
    return Status();
  };
  bool condition;
  if (const auto *branch = std::get_if<If>(&body)) {
    WEFT_RETURN_IF_ERROR(isTrue(branch->condition, condition));
    return runBlock(condition ? branch->thenBlock : branch->elseBlock);
  }
  if (const auto *loop = std::get_if<While>(&body)) {
    for (;;) {
      if (cancelled())
        return cancelledStatus();
      WEFT_RETURN_IF_ERROR(runBlock(loop->conditionBlock));
      WEFT_RETURN_IF_ERROR(isTrue(loop->condition, condition));
      if (!condition)
        return Status();
      WEFT_RETURN_IF_ERROR(runBlock(loop->bodyBlock));
    }
  }
  const auto &bind = std::get<BindSymbol>(body);
  WEFT_RETURN_IF_ERROR(readScalar(bind.buffer, value));
  return bindSymbol(bind, value).withContext(describeOp(index));
}

// ---------------------------------------------------------------------------------------------------------------------
// Watching and timing
// ---------------------------------------------------------------------------------------------------------------------

// What the op wrote, on the host, for whoever looks at it.
Status CudaExecution::afterOp(size_t index) {
  const LoadedOp &loaded = variant_.ops[index];
  if (hostCopies_.size() < loaded.outputs.size())
    hostCopies_.resize(loaded.outputs.size());
  WEFT_RETURN_IF_ERROR(requestErrors());
  WEFT_RETURN_IF_ERROR(synchronize(describeOp(index)));
  for (size_t output = 0; output < loaded.outputs.size(); ++output) {
    uint32_t buffer = loaded.outputs[output];
    auto bytes = static_cast<size_t>(buffers_[buffer].bytes);
    Memory &copy = hostCopies_[output];
    WEFT_RETURN_IF_ERROR(copy.require(program_.options().allocator, bytes, "a copy of an op's output"));
    if (bytes > 0)
      WEFT_RETURN_IF_ERROR(device_.check(
          driver().MemcpyDtoHAsync(copy.data(), addressOf(buffer), bytes, stream_.handle()), describeOp(index)));
    setView(buffer, copy.data(), views_[output]);
  }
  WEFT_RETURN_IF_ERROR(synchronize(describeOp(index)));
  for (size_t output = 0; request_->checkNans && output < loaded.outputs.size(); ++output) {
    const Buffer &buffer = model_.buffers[loaded.outputs[output]];
    if (!isFloat(buffer.type) || storageBits(buffer.type) < 8) // f4E2M1FN has no NaN.
      continue;
    int64_t count = buffers_[loaded.outputs[output]].bytes / (storageBits(buffer.type) / 8);
    int64_t position = findNan(buffer.type, hostCopies_[output].data(), count);
    if (position >= 0)
      return notANumber(index, position, count);
  }
  if (request_->observer)
    observe(index);
  return Status();
}

Status CudaExecution::startTimer(size_t index) {
  if (freeEvents_.empty() && events_.size() >= kMostEvents)
    WEFT_RETURN_IF_ERROR(collectTimes());
  if (freeEvents_.empty()) {
    freeEvents_.push_back(events_.size());
    for (int event = 0; event < 2; ++event)
      WEFT_RETURN_IF_ERROR(events_.emplace_back().create(device_));
  }
  timing_.push_back({index, freeEvents_.back()});
  freeEvents_.pop_back();
  return device_.check(driver().EventRecord(events_[timing_.back().event].handle(), stream_.handle()), "timing an op");
}

Status CudaExecution::stopTimer() {
  timed_.push_back(timing_.back());
  timing_.pop_back();
  return device_.check(driver().EventRecord(events_[timed_.back().event + 1].handle(), stream_.handle()),
                       "timing an op");
}

Status CudaExecution::collectTimes() {
  if (timed_.empty())
    return Status();
  WEFT_RETURN_IF_ERROR(synchronize("timing ops"));
  for (const Timed &timed : timed_) {
    float milliseconds = 0;
    WEFT_RETURN_IF_ERROR(
        device_.check(driver().elapsed(&milliseconds, events_[timed.event].handle(), events_[timed.event + 1].handle()),
                      "timing an op"));
    request_->profile[timed.op].nanoseconds += static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6);
    request_->profile[timed.op].count += 1;
  }
  for (const Timed &timed : timed_)
    freeEvents_.push_back(timed.event);
  timed_.clear();
  return Status();
}

} // namespace weft::runtime
