// Running a variant's ops.
#include "runtime/Artifact/Expressions.h"
#include "runtime/Executor/ExecutionContext.h"
#include "runtime/Executor/NanCheck.h"

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

Status cancelledStatus() { return Status(StatusCode::Cancelled, "the run was cancelled"); }

} // namespace

Status ExecutionContext::execute(const ExecutionRequest &request) {
  // A loop that bound symbols from data leaves them at their last values.
  WEFT_RETURN_IF_ERROR(prepare(plannedSymbols_));
  request_ = &request;
  for (uint32_t index = 0; index < buffers_.size(); ++index) {
    const Buffer &buffer = model_.buffers[index];
    switch (buffer.kind) {
    case BufferKind::Input:
      buffers_[index].data = request.inputs[buffer.index];
      break;
    case BufferKind::Output:
      buffers_[index].data = request.outputs[buffer.index];
      break;
    case BufferKind::Weight:
      buffers_[index].data = const_cast<uint8_t *>(program_.weights()[buffer.index].data);
      break;
    case BufferKind::State:
      buffers_[index].data = request.states[buffer.index];
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

Status ExecutionContext::runBlock(uint32_t block) {
  size_t begin = variant_.blockStart[block];
  size_t end = begin + model_.blocks[block].ops.size();
  for (size_t index = begin; index < end; ++index)
    WEFT_RETURN_IF_ERROR(runOp(index));
  return Status();
}

Status ExecutionContext::runOp(size_t index) {
  if (request_->cancelled->load(std::memory_order_relaxed))
    return cancelledStatus();
  WEFT_RETURN_IF_ERROR(sizeOp(index));
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

Status ExecutionContext::runBody(size_t index) {
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
    Status status = bindSymbol(*bind);
    return status.ok() ? status : status.withContext(describeOp(index));
  }
  const auto &check = std::get<CheckEqual>(body);
  int64_t left, right;
  if (!evaluate(check.left, symbols_.data(), left) || !evaluate(check.right, symbols_.data(), right))
    return Status(StatusCode::ExecutionFailed, describeOp(index) + ": a size overflows");
  if (left != right)
    return Status(StatusCode::InvalidArgument, check.message + ": " + std::to_string(left) + " is not " +
                                                   std::to_string(right) + ", in " + describeOp(index));
  return Status();
}

Status ExecutionContext::runLaunch(size_t index, const Launch &launch) {
  const OpState &state = ops_[index];
  void **pointers = argumentPointers_.data() + state.firstArgument;
  for (uint32_t buffer : launch.inputs)
    *pointers++ = buffers_[buffer].data;
  for (uint32_t buffer : launch.outputs)
    *pointers++ = buffers_[buffer].data;
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
  return request_->cancelled->load(std::memory_order_relaxed) ? cancelledStatus() : Status();
}

Status ExecutionContext::runLibraryCall(size_t index, const LibraryCall &call) {
  OpState &state = ops_[index];
  // A library's epilogue may swallow a NaN (oneDNN's relu makes it 0), which is just what the check is to find.
  if (!state.plan || request_->checkNans)
    return runLaunch(index, call.alternative);
  std::vector<TensorReference> &operands = state.libraryArguments.operands;
  operands[0].data = buffers_[call.left].data;
  operands[1].data = buffers_[call.right].data;
  operands[2].data = buffers_[call.output].data;
  for (size_t step = 0; step < call.epilogue.size(); ++step)
    operands[3 + step].data =
        operands[3 + step].type == ElementType::Invalid ? nullptr : buffers_[call.epilogue[step].buffer].data;
  Status status = state.plan->execute(program_.pool(), *state.workspace, operands.data(), *request_->cancelled);
  if (!status.ok())
    return status.withContext(describeOp(index));
  return request_->cancelled->load(std::memory_order_relaxed) ? cancelledStatus() : Status();
}

Status ExecutionContext::runCopy(const Copy &copy) {
  const BufferState &source = buffers_[copy.source], &destination = buffers_[copy.destination];
  if (source.bytes != destination.bytes)
    return Status(StatusCode::DataLoss, "a copy between buffers of " + std::to_string(source.bytes) + " and " +
                                            std::to_string(destination.bytes) + " bytes");
  if (source.data != destination.data)
    std::memmove(destination.data, source.data, static_cast<size_t>(source.bytes));
  return Status();
}

Status ExecutionContext::runFill(const Fill &fill) {
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

Status ExecutionContext::runWhile(const While &loop) {
  for (;;) {
    if (request_->cancelled->load(std::memory_order_relaxed))
      return cancelledStatus();
    WEFT_RETURN_IF_ERROR(runBlock(loop.conditionBlock));
    if (!conditionIsTrue(loop.condition))
      return Status();
    WEFT_RETURN_IF_ERROR(runBlock(loop.bodyBlock));
  }
}

Status ExecutionContext::bindSymbol(const BindSymbol &bind) {
  const void *data = buffers_[bind.buffer].data;
  auto read = [&](auto value) {
    std::memcpy(&value, data, sizeof(value));
    // Beyond int64 is beyond any bound.
    return value > static_cast<decltype(value)>(0) && static_cast<uint64_t>(value) > uint64_t(INT64_MAX)
               ? INT64_MAX
               : static_cast<int64_t>(value);
  };
  int64_t value = 0;
  switch (model_.buffers[bind.buffer].type) {
  case ElementType::I32:
    value = read(int32_t());
    break;
  case ElementType::U32:
    value = read(uint32_t());
    break;
  case ElementType::U64:
    value = read(uint64_t());
    break;
  default:
    value = read(int64_t());
    break;
  }
  const Symbol &symbol = program_.program().symbols[bind.symbol];
  if (value < symbol.minimum || value > symbol.maximum)
    return Status(StatusCode::ExecutionFailed,
                  (bind.message.empty() ? std::string("a size that depends on data is out of bounds") : bind.message) +
                      ": " + quoted(symbol.name) + " is " + std::to_string(value) + ", planned for " +
                      std::to_string(symbol.minimum) + " to " + std::to_string(symbol.maximum));
  if (symbols_[bind.symbol] != value) {
    symbols_[bind.symbol] = value;
    ++epoch_;
  }
  return Status();
}

Status ExecutionContext::kernelError(int32_t code) const {
  const std::vector<std::string> &messages = program_.program().kernelMessages;
  std::string text;
  switch (code) {
  case WEFT_KERNEL_INDEX_OUT_OF_RANGE:
    text = "an index is out of range";
    break;
  case WEFT_KERNEL_INTEGER_DIVISION_BY_ZERO:
    text = "integer division by zero";
    break;
  case WEFT_KERNEL_SIZE_OUT_OF_BOUNDS:
    text = "a size that depends on data exceeds what was planned";
    break;
  case WEFT_KERNEL_SHAPE_MISMATCH:
    text = "shapes do not agree";
    break;
  case WEFT_KERNEL_INVALID_VALUE:
    text = "a value is not allowed";
    break;
  case WEFT_KERNEL_ABI_MISMATCH:
    return Status(StatusCode::Internal, "the kernel does not understand this runtime's calls");
  default:
    if (code >= WEFT_KERNEL_MESSAGE_BASE && static_cast<size_t>(code - WEFT_KERNEL_MESSAGE_BASE) < messages.size())
      text = messages[static_cast<size_t>(code - WEFT_KERNEL_MESSAGE_BASE)];
    else
      text = "the kernel returned error " + std::to_string(code);
    break;
  }
  return Status(StatusCode::ExecutionFailed, text);
}

void ExecutionContext::setView(uint32_t index, WeftTensorView &view) {
  const Buffer &buffer = model_.buffers[index];
  view.data = buffers_[index].data;
  view.type = static_cast<WeftElementType>(buffer.type);
  view.rank = static_cast<int32_t>(buffer.dims.size());
  view.dims = dims_.data() + buffers_[index].firstDim;
  view.strides = nullptr;
}

Status ExecutionContext::afterOp(size_t index) {
  const LoadedOp &loaded = variant_.ops[index];
  if (request_->checkNans) {
    for (uint32_t output : loaded.outputs) {
      const Buffer &buffer = model_.buffers[output];
      if (!isFloat(buffer.type))
        continue;
      int64_t count = buffers_[output].bytes / (storageBits(buffer.type) / 8);
      int64_t position = findNan(buffer.type, buffers_[output].data, count);
      if (position < 0)
        continue;
      return Status(StatusCode::NotANumber, describeOp(index) + " made the first NaN, at element " +
                                                std::to_string(position) + " of " + std::to_string(count));
    }
  }
  if (request_->observer) {
    WeftObservation observation = {};
    observation.op = static_cast<int32_t>(index);
    observation.name = loaded.op->name.c_str();
    observation.source_node_count = static_cast<int32_t>(loaded.sourceNodes.size());
    observation.source_nodes = loaded.sourceNodes.data();
    observation.output_count = static_cast<int32_t>(loaded.outputs.size());
    observation.outputs = views_.data();
    for (size_t output = 0; output < loaded.outputs.size(); ++output)
      setView(loaded.outputs[output], views_[output]);
    request_->observer(request_->observerUser, &observation);
  }
  return Status();
}

} // namespace weft::runtime
