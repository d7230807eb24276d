// Running a variant's ops on the CPU.
#include "runtime/Executor/HostExecution.h"

#include "runtime/Executor/NanCheck.h"
#include "runtime/Executor/State.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>

namespace weft::runtime {
namespace {

// One launch, shared by the workers that run its tiles.
struct LaunchTask {
  WeftKernel kernel;
  WeftArgs arguments; // without scratch and error
  char *scratch;
  int64_t scratchBytes;
  const std::atomic<bool> *cancelled;

  std::atomic<bool> failed{false};
  std::mutex mutex;
  int64_t failedBegin = INT64_MAX; // under mutex
  int32_t failure = 0;             // under mutex

  void operator()(int32_t worker, int64_t begin, int64_t end) {
    if (failed.load(std::memory_order_relaxed) || cancelled->load(std::memory_order_relaxed))
      return;
    int32_t error = 0;
    WeftArgs own = arguments;
    own.scratch = scratchBytes > 0 ? scratch + worker * scratchBytes : nullptr;
    own.error = &error;
    int32_t result = kernel(&own, begin, end);
    if (result == WEFT_KERNEL_OK)
      result = error;
    if (result == WEFT_KERNEL_OK)
      return;
    // Pieces are handed out in order, so every piece before a failed one still completes: the first failure is the same
    // however many threads there are.
    failed.store(true, std::memory_order_relaxed);
    std::lock_guard<std::mutex> lock(mutex);
    if (begin < failedBegin) {
      failedBegin = begin;
      failure = result;
    }
  }
};

int64_t elapsedNanoseconds(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
}

} // namespace

HostExecution::HostExecution(const LoadedProgram &program, LoadedVariant &variant)
    : ExecutionContext(program, variant), libraries_(variant.ops.size()) {}

Status HostExecution::allocate() {
  return arena_.require(program_.options().allocator, static_cast<size_t>(arenaBytes_), "the run's arena");
}

Status HostExecution::sizeMore(size_t index) {
  const LoadedOp &loaded = variant_.ops[index];
  if (loaded.library)
    WEFT_RETURN_IF_ERROR(sizeLibraryCall(index, std::get<LibraryCall>(loaded.op->body)));
  if (ops_[index].scratchBytes == 0)
    return Status();
  // Each worker has its own.
  int64_t total;
  if (__builtin_mul_overflow(ops_[index].scratchBytes, program_.pool().size(), &total))
    return impossibleSize(describeOp(index));
  return scratch_.require(program_.options().allocator, static_cast<size_t>(total), "the kernels' scratch");
}

Status HostExecution::sizeLibraryCall(size_t index, const LibraryCall &call) {
  LibraryState &state = libraries_[index];
  state.plan = nullptr;
  WEFT_RETURN_IF_ERROR(evaluateLibraryArguments(model_, call, symbols_.data(), state.arguments));
  auto plan = variant_.ops[index].library->plan(state.arguments.sizes, state.arguments.operands.data());
  if (!plan.ok()) {
    program_.log(WEFT_LOG_INFO,
                 describeOp(index) + " runs on our own kernel at these shapes: " + plan.status().message());
    return Status();
  }
  state.plan = *plan;
  if (state.workspacePlan == state.plan)
    return Status();
  auto workspace = state.plan->makeWorkspace(program_.pool().size());
  if (!workspace.ok())
    return workspace.status();
  state.workspace = std::move(*workspace);
  state.workspacePlan = state.plan;
  return Status();
}

Status HostExecution::execute(const ExecutionRequest &request) {
  // A loop that bound symbols from data leaves them at their last values.
  WEFT_RETURN_IF_ERROR(prepare(plannedSymbols_));
  request_ = &request;
  hasOpenOutputs_ = false;
  for (uint32_t index = 0; index < buffers_.size(); ++index) {
    const Buffer &buffer = model_.buffers[index];
    switch (buffer.kind) {
    case BufferKind::Input:
      buffers_[index].data = request.inputs[buffer.index];
      break;
    case BufferKind::Output:
      buffers_[index].data = request.outputs[buffer.index];
      hasOpenOutputs_ |= !buffers_[index].data;
      break;
    case BufferKind::Weight:
      buffers_[index].data = const_cast<uint8_t *>(program_.weights()[buffer.index].data);
      break;
    case BufferKind::State:
      buffers_[index].data = request.states->data()[buffer.index];
      break;
    case BufferKind::Arena:
      buffers_[index].data = static_cast<char *>(arena_.data()) + buffers_[index].offset;
      break;
    }
  }
  Status status = runBlock(0);
  request_ = nullptr;
  return status;
}

Status HostExecution::runBlock(uint32_t block) {
  size_t begin = variant_.blockStart[block];
  size_t end = begin + model_.blocks[block].ops.size();
  for (size_t index = begin; index < end; ++index)
    WEFT_RETURN_IF_ERROR(runOp(index));
  return Status();
}

Status HostExecution::runOp(size_t index) {
  if (cancelled())
    return cancelledStatus();
  WEFT_RETURN_IF_ERROR(sizeOp(index));
  if (hasOpenOutputs_)
    WEFT_RETURN_IF_ERROR(placeOutputs(index));
  if (!request_->profile) {
    WEFT_RETURN_IF_ERROR(runBody(index));
  } else {
    auto start = std::chrono::steady_clock::now();
    WEFT_RETURN_IF_ERROR(runBody(index));
    request_->profile[index].nanoseconds += elapsedNanoseconds(start);
    request_->profile[index].count += 1;
  }
  return request_->checkNans || request_->observer ? afterOp(index) : Status();
}

// An op that writes an output stands behind those that bind the symbols of its sizes.
Status HostExecution::placeOutputs(size_t index) {
  for (uint32_t written : variant_.ops[index].outputs) {
    if (buffers_[written].data)
      continue;
    uint32_t output = model_.buffers[written].index;
    void *data = nullptr;
    WEFT_RETURN_IF_ERROR(askForOutput(output, data));
    for (size_t buffer = 0; buffer < buffers_.size(); ++buffer)
      if (model_.buffers[buffer].kind == BufferKind::Output && model_.buffers[buffer].index == output)
        buffers_[buffer].data = data;
  }
  hasOpenOutputs_ = std::any_of(buffers_.begin(), buffers_.end(), [](const BufferState &state) { return !state.data; });
  return Status();
}

Status HostExecution::runBody(size_t index) {
  const OpBody &body = variant_.ops[index].op->body;
  if (const auto *launch = std::get_if<Launch>(&body))
    return runLaunch(index, *launch);
  if (const auto *call = std::get_if<LibraryCall>(&body))
    return runLibraryCall(index, *call);
  if (const auto *copy = std::get_if<Copy>(&body))
    return runCopy(*copy);
  if (const auto *fill = std::get_if<Fill>(&body))
    return runFill(*fill);
  if (const auto *branch = std::get_if<If>(&body))
    return runBlock(conditionIsTrue(branch->condition) ? branch->thenBlock : branch->elseBlock);
  if (const auto *loop = std::get_if<While>(&body))
    return runWhile(*loop);
  if (const auto *bind = std::get_if<BindSymbol>(&body)) {
    Status status = bindSymbol(*bind, buffers_[bind->buffer].data);
    return status.ok() ? status : status.withContext(describeOp(index));
  }
  return checkEqual(index, std::get<CheckEqual>(body));
}

Status HostExecution::runLaunch(size_t index, const Launch &launch) {
  const OpState &state = ops_[index];
  fillArguments(index, launch);
  LaunchTask task;
  task.kernel = variant_.ops[index].kernel;
  task.arguments = {};
  task.arguments.size = sizeof(WeftArgs);
  task.arguments.version = WEFT_KERNEL_ABI_VERSION;
  task.arguments.buffers = argumentPointers_.data() + state.firstArgument;
  task.arguments.symbols = symbols_.data();
  task.arguments.seed = request_->seed;
  task.scratch = static_cast<char *>(scratch_.data());
  task.scratchBytes = state.scratchBytes;
  task.cancelled = request_->cancelled;
  program_.pool().parallelFor(state.tiles, launch.grain, task);
  if (task.failed.load(std::memory_order_relaxed))
    return kernelError(task.failure).withContext(describeOp(index));
  return cancelled() ? cancelledStatus() : Status();
}

Status HostExecution::runLibraryCall(size_t index, const LibraryCall &call) {
  LibraryState &state = libraries_[index];
  // A library's epilogue may swallow a NaN (oneDNN's relu makes it 0), which is just what the check is to find.
  if (!state.plan || request_->checkNans)
    return runLaunch(index, call.alternative);
  std::vector<TensorReference> &operands = state.arguments.operands;
  operands[0].data = buffers_[call.left].data;
  operands[1].data = buffers_[call.right].data;
  operands[2].data = buffers_[call.output].data;
  for (size_t step = 0; step < call.epilogue.size(); ++step)
    operands[3 + step].data =
        operands[3 + step].type == ElementType::Invalid ? nullptr : buffers_[call.epilogue[step].buffer].data;
  Status status = state.plan->execute(program_.pool(), *state.workspace, operands.data(), *request_->cancelled);
  if (!status.ok())
    return status.withContext(describeOp(index));
  return cancelled() ? cancelledStatus() : Status();
}

Status HostExecution::runCopy(const Copy &copy) {
  const BufferState &source = buffers_[copy.source], &destination = buffers_[copy.destination];
  if (source.bytes != destination.bytes)
    return Status(StatusCode::DataLoss, "a copy between buffers of " + std::to_string(source.bytes) + " and " +
                                            std::to_string(destination.bytes) + " bytes");
  if (source.data != destination.data)
    std::memmove(destination.data, source.data, static_cast<size_t>(source.bytes));
  return Status();
}

Status HostExecution::runFill(const Fill &fill) {
  const Buffer &buffer = model_.buffers[fill.destination];
  const BufferState &state = buffers_[fill.destination];
  auto *bytes = static_cast<uint8_t *>(state.data);
  uint8_t first = fill.pattern[0];
  // Packed elements: the value repeats inside the byte.
  int64_t bits = storageBits(buffer.type);
  if (bits < 8) {
    unsigned value = first & ((1u << bits) - 1), packed = 0;
    for (int64_t shift = 0; shift < 8; shift += bits)
      packed |= value << shift;
    first = static_cast<uint8_t>(packed);
  }
  if (std::all_of(fill.pattern.begin(), fill.pattern.end(), [&](uint8_t byte) { return byte == fill.pattern[0]; })) {
    std::memset(bytes, first, static_cast<size_t>(state.bytes));
    return Status();
  }
  for (int64_t offset = 0; offset < state.bytes; offset += static_cast<int64_t>(fill.pattern.size()))
    std::memcpy(bytes + offset, fill.pattern.data(), fill.pattern.size());
  return Status();
}

Status HostExecution::runWhile(const While &loop) {
  for (;;) {
    if (cancelled())
      return cancelledStatus();
    WEFT_RETURN_IF_ERROR(runBlock(loop.conditionBlock));
    if (!conditionIsTrue(loop.condition))
      return Status();
    WEFT_RETURN_IF_ERROR(runBlock(loop.bodyBlock));
  }
}

Status HostExecution::afterOp(size_t index) {
  const LoadedOp &loaded = variant_.ops[index];
  if (request_->checkNans) {
    for (uint32_t output : loaded.outputs) {
      const Buffer &buffer = model_.buffers[output];
      if (!isFloat(buffer.type) || storageBits(buffer.type) < 8) // f4E2M1FN has no NaN.
        continue;
      int64_t count = buffers_[output].bytes / (storageBits(buffer.type) / 8);
      int64_t position = findNan(buffer.type, buffers_[output].data, count);
      if (position < 0)
        continue;
      return notANumber(index, position, count);
    }
  }
  if (request_->observer) {
    for (size_t output = 0; output < loaded.outputs.size(); ++output)
      setView(loaded.outputs[output], buffers_[loaded.outputs[output]].data, views_[output]);
    observe(index);
  }
  return Status();
}

} // namespace weft::runtime
