// Memory of a run on a GPU, and the run from its inputs to its outputs.
#include "runtime/Executor/CudaExecution.h"

#include "runtime/Executor/MemoryReport.h"
#include "runtime/Executor/State.h"

#include <algorithm>
#include <cstring>

namespace weft::runtime {
namespace {

// More of an input or output than this goes in pieces; the host would have to keep all of it pinned otherwise.
constexpr size_t kMostStaging = size_t(64) << 20;
constexpr size_t kScalarBytes = 64;

size_t alignUp(size_t bytes) {
  return (bytes + WEFT_BUFFER_ALIGNMENT - 1) / WEFT_BUFFER_ALIGNMENT * WEFT_BUFFER_ALIGNMENT;
}

} // namespace

CudaExecution::CudaExecution(const LoadedProgram &program, LoadedVariant &variant)
    : ExecutionContext(program, variant), cuda_(*program.cuda()), device_(*cuda_.device),
      inputs_(variant.entry->inputs.size()), outputs_(variant.entry->outputs.size()), launches_(variant.ops.size()),
      submitted_(variant.ops.size()) {
  planPieces();
}

StatusOr<std::unique_ptr<ExecutionContext>> CudaExecution::create(const LoadedProgram &program,
                                                                  LoadedVariant &variant) {
  WEFT_RETURN_IF_ERROR(program.cuda()->device->failure());
  std::unique_ptr<CudaExecution> execution(new CudaExecution(program, variant));
  WEFT_RETURN_IF_ERROR(execution->initialize());
  return std::unique_ptr<ExecutionContext>(std::move(execution));
}

Status CudaExecution::initialize() {
  cuda::Current current(device_);
  WEFT_RETURN_IF_ERROR(stream_.create(device_));
  size_t errorBytes = variant_.ops.size() * sizeof(int32_t);
  WEFT_RETURN_IF_ERROR(errors_.require(device_, stream_.handle(), errorBytes, "the kernels' error words"));
  return words_.require(device_, kScalarBytes + errorBytes);
}

// Everything is given back while the context is current and the stream still there.
CudaExecution::~CudaExecution() {
  cuda::Current current(device_);
  if (stream_.handle())
    driver().StreamSynchronize(stream_.handle());
  pieces_.clear();
  events_.clear();
  inputs_.clear();
  outputs_.clear();
  arena_.release();
  scratch_.release();
  errors_.release();
  words_.release();
  staging_.release();
  if (stream_.handle())
    driver().StreamSynchronize(stream_.handle());
  stream_.release();
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory
// ---------------------------------------------------------------------------------------------------------------------

Status CudaExecution::allocate() {
  bool moved = generation_ == 1;
  Status status = allocateMemory(moved);
  if (moved)
    ++generation_;
  if (status.code() == StatusCode::ResourceExhausted)
    return outOfMemory(status);
  WEFT_RETURN_IF_ERROR(status);
  for (size_t index = 0; index < buffers_.size(); ++index) {
    const Buffer &buffer = model_.buffers[index];
    cuda::DevicePointer address = 0;
    switch (buffer.kind) {
    case BufferKind::Input:
      address = inputs_[buffer.index].address();
      break;
    case BufferKind::Output:
      address = outputs_[buffer.index].address();
      break;
    case BufferKind::Weight:
      address = cuda_.weights[buffer.index].address();
      break;
    case BufferKind::State: // bound by each run
      continue;
    case BufferKind::Arena:
      address = arena_.address() + static_cast<cuda::DevicePointer>(buffers_[index].offset);
      break;
    }
    buffers_[index].data = reinterpret_cast<void *>(address);
  }
  return Status();
}

Status CudaExecution::allocateMemory(bool &moved) {
  cuda::Current current(device_);
  size_t in = 0, out = 0;
  auto require = [&](const std::vector<Port> &ports, std::vector<cuda::DeviceMemory> &memory, const char *kind,
                     size_t &all) {
    for (size_t index = 0; index < ports.size(); ++index) {
      int64_t bytes;
      WEFT_RETURN_IF_ERROR(portBytes(ports[index], plannedSymbols_, bytes));
      WEFT_RETURN_IF_ERROR(memory[index].require(device_, stream_.handle(), static_cast<size_t>(bytes),
                                                 std::string(kind) + " " + quoted(ports[index].name), &moved));
      all += alignUp(static_cast<size_t>(bytes));
    }
    return Status();
  };
  WEFT_RETURN_IF_ERROR(require(variant_.entry->inputs, inputs_, "input", in));
  WEFT_RETURN_IF_ERROR(require(variant_.entry->outputs, outputs_, "output", out));
  WEFT_RETURN_IF_ERROR(
      arena_.require(device_, stream_.handle(), static_cast<size_t>(arenaBytes_), "the run's arena", &moved));
  size_t staging = std::min(std::max(in, out), kMostStaging);
  // Copies into what is replaced may still be on their way.
  if (staging > staging_.size())
    WEFT_RETURN_IF_ERROR(device_.check(driver().StreamSynchronize(stream_.handle()), "waiting for copies"));
  return staging > 0 ? staging_.require(device_, staging) : Status();
}

Status CudaExecution::sizeMore(size_t index) {
  if (ops_[index].scratchBytes == 0)
    return Status();
  bool moved = false;
  Status status = scratch_.require(device_, stream_.handle(), static_cast<size_t>(ops_[index].scratchBytes),
                                   "the scratch of " + describeOp(index), &moved);
  if (moved)
    ++generation_;
  return status.code() == StatusCode::ResourceExhausted ? outOfMemory(status) : status;
}

Status CudaExecution::outOfMemory(const Status &status) const {
  return Status(status.code(), status.message() + ". This run needs " +
                                   describeMemory(program_.program(), variant_, plannedSymbols_, cuda_.weightBytes));
}

// ---------------------------------------------------------------------------------------------------------------------
// A run
// ---------------------------------------------------------------------------------------------------------------------

Status CudaExecution::execute(const ExecutionRequest &request) {
  WEFT_RETURN_IF_ERROR(device_.failure());
  // A loop that bound symbols from data leaves them at their last values.
  WEFT_RETURN_IF_ERROR(prepare(plannedSymbols_));
  cuda::Current current(device_);
  request_ = &request;
  landings_.clear();
  timed_.clear();
  timing_.clear();
  freeEvents_.clear();
  for (size_t event = 0; event + 1 < events_.size(); event += 2)
    freeEvents_.push_back(event);
  std::memset(words_.data(), 0, words_.size());
  stagingUsed_ = 0;
  submissions_ = 0;
  std::fill(submitted_.begin(), submitted_.end(), 0);
  Status status = executeInContext();
  // What was submitted reads memory of this run; it must be over when the caller may let go of it.
  if (!status.ok())
    driver().StreamSynchronize(stream_.handle());
  request_ = nullptr;
  return status;
}

Status CudaExecution::executeInContext() {
  WEFT_RETURN_IF_ERROR(bindStates());
  if (!submitted_.empty())
    WEFT_RETURN_IF_ERROR(device_.check(
        driver().MemsetD32Async(errors_.address(), 0, submitted_.size(), stream_.handle()), "clearing error words"));
  WEFT_RETURN_IF_ERROR(copyInputs());
  WEFT_RETURN_IF_ERROR(runBlock(0));
  WEFT_RETURN_IF_ERROR(requestErrors());
  stagingUsed_ = 0;
  WEFT_RETURN_IF_ERROR(copyOutputs());
  WEFT_RETURN_IF_ERROR(collectTimes());
  return cancelled() ? cancelledStatus() : Status();
}

Status CudaExecution::bindStates() {
  if (!request_->states)
    return Status();
  WEFT_RETURN_IF_ERROR(request_->states->toDevice(stream_.handle()));
  bool moved = false;
  for (size_t index = 0; index < buffers_.size(); ++index) {
    if (model_.buffers[index].kind != BufferKind::State)
      continue;
    void *data = reinterpret_cast<void *>(request_->states->deviceAddress(model_.buffers[index].index));
    moved |= buffers_[index].data != data;
    buffers_[index].data = data;
  }
  if (moved)
    ++generation_;
  return Status();
}

Status CudaExecution::copyInputs() {
  const std::vector<Port> &ports = variant_.entry->inputs;
  for (size_t index = 0; index < ports.size(); ++index) {
    int64_t bytes;
    WEFT_RETURN_IF_ERROR(portBytes(ports[index], plannedSymbols_, bytes));
    if (bytes == 0)
      continue;
    const void *data = request_->inputs[index];
    if (request_->inputsOnDevice && (*request_->inputsOnDevice)[index])
      WEFT_RETURN_IF_ERROR(
          device_.check(driver().MemcpyDtoDAsync(inputs_[index].address(), reinterpret_cast<cuda::DevicePointer>(data),
                                                 static_cast<size_t>(bytes), stream_.handle()),
                        "copying input " + quoted(ports[index].name)));
    else
      WEFT_RETURN_IF_ERROR(upload(inputs_[index].address(), data, static_cast<size_t>(bytes)));
  }
  return Status();
}

Status CudaExecution::copyOutputs() {
  const std::vector<Port> &ports = variant_.entry->outputs;
  for (size_t index = 0; index < ports.size(); ++index) {
    // What depends on data has its size by now.
    int64_t bytes;
    WEFT_RETURN_IF_ERROR(portBytes(ports[index], symbols_, bytes));
    if (bytes == 0)
      continue;
    void *data = request_->outputs[index];
    if (!data)
      WEFT_RETURN_IF_ERROR(askForOutput(index, data));
    if (request_->outputsOnDevice && (*request_->outputsOnDevice)[index])
      WEFT_RETURN_IF_ERROR(
          device_.check(driver().MemcpyDtoDAsync(reinterpret_cast<cuda::DevicePointer>(data), outputs_[index].address(),
                                                 static_cast<size_t>(bytes), stream_.handle()),
                        "copying output " + quoted(ports[index].name)));
    else
      WEFT_RETURN_IF_ERROR(download(data, outputs_[index].address(), static_cast<size_t>(bytes)));
  }
  return land();
}

Status CudaExecution::upload(cuda::DevicePointer to, const void *from, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    if (stagingUsed_ == staging_.size()) {
      WEFT_RETURN_IF_ERROR(synchronize("copying inputs"));
      stagingUsed_ = 0;
    }
    size_t piece = std::min(bytes - done, staging_.size() - stagingUsed_);
    char *staged = staging_.data() + stagingUsed_;
    std::memcpy(staged, static_cast<const char *>(from) + done, piece);
    WEFT_RETURN_IF_ERROR(
        device_.check(driver().MemcpyHtoDAsync(to + done, staged, piece, stream_.handle()), "copying inputs"));
    done += piece;
    stagingUsed_ = std::min(staging_.size(), stagingUsed_ + alignUp(piece));
  }
  return Status();
}

Status CudaExecution::download(void *to, cuda::DevicePointer from, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    if (stagingUsed_ == staging_.size())
      WEFT_RETURN_IF_ERROR(land());
    size_t piece = std::min(bytes - done, staging_.size() - stagingUsed_);
    WEFT_RETURN_IF_ERROR(
        device_.check(driver().MemcpyDtoHAsync(staging_.data() + stagingUsed_, from + done, piece, stream_.handle()),
                      "copying outputs"));
    landings_.push_back({static_cast<char *>(to) + done, stagingUsed_, piece});
    done += piece;
    stagingUsed_ = std::min(staging_.size(), stagingUsed_ + alignUp(piece));
  }
  return Status();
}

// Waits for what is on its way to the host and puts it where it belongs.
Status CudaExecution::land() {
  WEFT_RETURN_IF_ERROR(synchronize("running the program"));
  for (const Landing &landing : landings_)
    std::memcpy(landing.to, staging_.data() + landing.offset, landing.bytes);
  landings_.clear();
  stagingUsed_ = 0;
  return Status();
}

// ---------------------------------------------------------------------------------------------------------------------
// Waiting
// ---------------------------------------------------------------------------------------------------------------------

Status CudaExecution::requestErrors() {
  if (submitted_.empty())
    return Status();
  return device_.check(driver().MemcpyDtoHAsync(words_.data() + kScalarBytes, errors_.address(),
                                                submitted_.size() * sizeof(int32_t), stream_.handle()),
                       "reading error words");
}

Status CudaExecution::synchronize(const std::string &what) {
  cuda::Result result = driver().StreamSynchronize(stream_.handle());
  if (result == cuda::kSuccess)
    return firstError();
  std::string hint =
      cuda::isSticky(result) && !watched()
          ? "one of the kernels failed; to see which, run with the check for NaNs, which waits for every op"
          : what;
  return device_.check(result, hint);
}

// Of the kernels that found a fault, the one that ran first: what later ones found may follow from it.
Status CudaExecution::firstError() const {
  const auto *errors = reinterpret_cast<const int32_t *>(words_.data() + kScalarBytes);
  size_t first = submitted_.size();
  for (size_t index = 0; index < submitted_.size(); ++index)
    if (submitted_[index] != 0 && errors[index] != 0 &&
        (first == submitted_.size() || submitted_[index] < submitted_[first]))
      first = index;
  return first == submitted_.size() ? Status() : kernelError(errors[first]).withContext(describeOp(first));
}

Status CudaExecution::readScalar(uint32_t buffer, const void *&data) {
  WEFT_RETURN_IF_ERROR(sizeBuffer(buffer));
  size_t bytes = static_cast<size_t>(buffers_[buffer].bytes);
  WEFT_RETURN_IF_ERROR(device_.check(
      driver().MemcpyDtoHAsync(words_.data(), addressOf(buffer), bytes, stream_.handle()), "reading a value"));
  WEFT_RETURN_IF_ERROR(requestErrors());
  WEFT_RETURN_IF_ERROR(synchronize("running the program"));
  data = words_.data();
  return Status();
}

} // namespace weft::runtime
