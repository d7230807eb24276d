// Binding by name, executing, and the results.
#include "runtime/Executor/Run.h"

#include "runtime/Artifact/Expressions.h"
#include "runtime/Core/StridedCopy.h"
#include "runtime/Executor/CudaProgram.h"
#include "runtime/Executor/Driver.h"

#include <algorithm>
#include <cstring>

namespace weft::runtime {
namespace {

Status invalid(const std::string &message) { return Status(StatusCode::InvalidArgument, message); }

std::string typeName(ElementType type) { return std::string(elementTypeName(type)); }

bool isAligned(const void *data) { return reinterpret_cast<uintptr_t>(data) % WEFT_BUFFER_ALIGNMENT == 0; }

// A tensor without elements may come without memory; kernels are promised an aligned address all the same.
alignas(WEFT_BUFFER_ALIGNMENT) char nothing[WEFT_BUFFER_ALIGNMENT];

bool dependsOnData(const Port &port, const std::vector<Symbol> &symbols) {
  for (const Expression &dim : port.dims)
    for (const ExpressionStep &step : dim.steps)
      if (step.opcode == ExpressionOpcode::Symbol &&
          symbols[static_cast<size_t>(step.value)].source == SymbolSource::Data)
        return true;
  return false;
}

std::vector<std::string> portNames(const std::vector<Port> &ports) {
  std::vector<std::string> names;
  for (const Port &port : ports)
    names.push_back(port.name);
  return names;
}

Status findPort(const std::vector<Port> &ports, const char *kind, const std::string &name, size_t &index) {
  for (index = 0; index < ports.size(); ++index)
    if (ports[index].name == name)
      return Status();
  return Status(StatusCode::InvalidArgument,
                std::string("no ") + kind + " is named " + quoted(name) +
                    (ports.empty() ? ", there are none"
                                   : "; the " + std::string(kind) + "s are " + quotedList(portNames(ports))));
}

// Checks what can be known without the symbols' values.
Status checkView(const char *kind, const Port &port, const std::vector<Symbol> &symbols, const WeftTensorView &view,
                 int64_t &bytes) {
  // Made only for a message: binding is part of what must not allocate.
  auto what = [&] { return std::string(kind) + " " + quoted(port.name); };
  auto expected = [&] { return ", expected " + describeShape(port, symbols); };
  if (static_cast<ElementType>(view.type) != port.type)
    return invalid(what() + ": element type is " + weft_element_type_name(view.type) + ", expected " +
                   typeName(port.type));
  if (view.rank < 0 || static_cast<size_t>(view.rank) != port.dims.size())
    return invalid(what() + ": rank is " + std::to_string(view.rank) + expected());
  if (view.rank > 0 && !view.dims)
    return invalid(what() + ": the view has no dims");
  for (int32_t axis = 0; axis < view.rank; ++axis) {
    const Expression &dim = port.dims[static_cast<size_t>(axis)];
    if (dim.isConstant() && view.dims[axis] != dim.steps[0].value)
      return invalid(what() + ": dimension " + std::to_string(axis) + " is " + std::to_string(view.dims[axis]) +
                     ", expected " + std::to_string(dim.steps[0].value));
  }
  if (!byteCountOf(port.type, view.dims, static_cast<size_t>(view.rank), bytes))
    return invalid(what() + ": its dims are negative or too large");
  if (bytes > 0 && !view.data)
    return invalid(what() + ": the view has no data");
  return Status();
}

} // namespace

std::string describeShape(const Port &port, const std::vector<Symbol> &symbols) {
  std::string text = typeName(port.type) + "[";
  for (size_t axis = 0; axis < port.dims.size(); ++axis)
    text += (axis ? "," : "") + toString(port.dims[axis], symbols);
  return text + "]";
}

StatusOr<std::unique_ptr<Run>> Run::create(std::shared_ptr<LoadedProgram> program, const char *entry) {
  const std::vector<LoadedEntry> &entries = program->entries();
  const LoadedEntry *found = nullptr;
  std::vector<std::string> names;
  std::string wanted = entry ? entry : "main";
  for (const LoadedEntry &candidate : entries) {
    names.push_back(candidate.entry->name);
    if (candidate.entry->name == wanted)
      found = &candidate;
  }
  if (!found && !entry && entries.size() == 1)
    found = &entries.front();
  if (!found)
    return Status(StatusCode::InvalidArgument,
                  "no entry point is named " + quoted(wanted) + "; there are " + quotedList(names));
  return std::unique_ptr<Run>(new Run(std::move(program), *found));
}

Run::Run(std::shared_ptr<LoadedProgram> program, const LoadedEntry &entry)
    : program_(std::move(program)), entry_(entry), inputs_(entry.entry->inputs.size()),
      outputs_(entry.entry->outputs.size()), symbols_(program_->program().symbols.size()),
      symbolInput_(symbols_.size(), -1), inputPointers_(inputs_.size()), outputPointers_(outputs_.size()),
      inputsOnDevice_(inputs_.size()), outputsOnDevice_(outputs_.size()),
      outputMemory_(
          [this](size_t output, int64_t bytes, void *&data) { return takeOutputMemory(output, bytes, data); }) {}

Run::~Run() {
  cancel();
  if (finished_) {
    Status ignored;
    finished_->wait(-1, ignored);
  }
  for (Input &input : inputs_)
    releaseOwner(input);
  if (const CudaProgram *cuda = program_->cuda()) {
    cuda::Current current(*cuda->device);
    for (Output &output : outputs_)
      output.device.release();
  }
}

Status Run::requireIdle() const {
  return inFlight_.load() ? Status(StatusCode::FailedPrecondition, "the run is executing; wait for it first")
                          : Status();
}

Status Run::findInput(const std::string &name, size_t &index) const {
  return findPort(entry_.entry->inputs, "input", name, index);
}

Status Run::findOutput(const std::string &name, size_t &index) const {
  return findPort(entry_.entry->outputs, "output", name, index);
}

void Run::releaseOwner(Input &input) {
  if (input.owner && input.owner->deleter)
    input.owner->deleter(input.owner);
  input.owner = nullptr;
}

Status Run::setInput(const std::string &name, const WeftTensorView &tensor, bool onDevice) {
  WEFT_RETURN_IF_ERROR(requireIdle());
  size_t index;
  WEFT_RETURN_IF_ERROR(findInput(name, index));
  const Port &port = entry_.entry->inputs[index];
  int64_t bytes;
  WEFT_RETURN_IF_ERROR(checkView("input", port, program_->program().symbols, tensor, bytes));
  bool contiguous = isContiguous(tensor);
  if (!contiguous && storageBits(port.type) < 8)
    return invalid("input " + quoted(name) + ": packed type " + typeName(port.type) + " must be contiguous");
  if (!contiguous && onDevice)
    return invalid("input " + quoted(name) + ": a tensor on a GPU must be contiguous");
  Input &input = inputs_[index];
  releaseOwner(input);
  input.bound = true;
  input.data = bytes > 0 ? tensor.data : nothing;
  input.dims.assign(tensor.dims, tensor.dims + tensor.rank);
  input.strides.clear();
  if (!contiguous)
    input.strides.assign(tensor.strides, tensor.strides + tensor.rank);
  input.bytes = bytes;
  input.onDevice = onDevice && bytes > 0;
  inputsOnDevice_[index] = input.onDevice;
  // What goes to a GPU is copied once more in any case, from where it lies.
  input.copied = bytes > 0 && (!contiguous || (!program_->cuda() && !isAligned(tensor.data)));
  if (input.copied)
    program_->log(WEFT_LOG_INFO, "input " + quoted(name) + " is copied by each execution: its memory is not " +
                                     (contiguous ? "aligned to " + std::to_string(WEFT_BUFFER_ALIGNMENT) + " bytes"
                                                 : std::string("contiguous")));
  return Status();
}

Status Run::setOutput(const std::string &name, const WeftTensorView *tensor) {
  WEFT_RETURN_IF_ERROR(requireIdle());
  size_t index;
  WEFT_RETURN_IF_ERROR(findOutput(name, index));
  Output &output = outputs_[index];
  if (!tensor) {
    output.bound = false;
    return Status();
  }
  const Port &port = entry_.entry->outputs[index];
  int64_t bytes;
  WEFT_RETURN_IF_ERROR(checkView("output", port, program_->program().symbols, *tensor, bytes));
  if (!isContiguous(*tensor) || (bytes > 0 && !isAligned(tensor->data)))
    return invalid("output " + quoted(name) + ": its memory must be contiguous and aligned to " +
                   std::to_string(WEFT_BUFFER_ALIGNMENT) + " bytes");
  if (output.onDevice)
    return invalid("output " + quoted(name) + " stays on the GPU; it cannot be bound to memory of the host as well");
  output.bound = true;
  output.data = bytes > 0 ? tensor->data : nothing;
  output.boundDims.assign(tensor->dims, tensor->dims + tensor->rank);
  output.boundBytes = bytes;
  hasResults_ = false;
  return Status();
}

Status Run::setOutputOnDevice(const std::string &name, bool enable) {
  WEFT_RETURN_IF_ERROR(requireIdle());
  size_t index;
  WEFT_RETURN_IF_ERROR(findOutput(name, index));
  if (enable && !program_->cuda())
    return Status(StatusCode::FailedPrecondition, "output " + quoted(name) + ": the program is loaded on the CPU");
  if (enable && outputs_[index].bound)
    return invalid("output " + quoted(name) + " is bound to memory of the host; it cannot stay on the GPU as well");
  outputs_[index].onDevice = enable;
  outputsOnDevice_[index] = enable;
  hasResults_ = false;
  return Status();
}

Status Run::setState(StateTensors *state) {
  WEFT_RETURN_IF_ERROR(requireIdle());
  if (state && &state->program() != program_.get())
    return invalid("the state belongs to another program");
  state_ = state;
  return Status();
}

Status Run::setSeed(uint64_t seed) {
  WEFT_RETURN_IF_ERROR(requireIdle());
  seed_ = seed;
  return Status();
}

Status Run::setCheckNans(bool enable) {
  WEFT_RETURN_IF_ERROR(requireIdle());
  checkNans_ = enable;
  return Status();
}

Status Run::setProfile(bool enable) {
  WEFT_RETURN_IF_ERROR(requireIdle());
  profiling_ = enable;
  return Status();
}

Status Run::setObserver(WeftObserver observer, void *user) {
  WEFT_RETURN_IF_ERROR(requireIdle());
  observer_ = observer;
  observerUser_ = user;
  return Status();
}

// Every symbol of the entry gets its value from the first input that has it as a dimension; all others must agree.
Status Run::bindSymbols() {
  const Entry &entry = *entry_.entry;
  const std::vector<Symbol> &symbols = program_->program().symbols;
  for (size_t index = 0; index < symbols.size(); ++index) {
    symbols_[index] = symbols[index].source == SymbolSource::Data ? symbols[index].maximum : symbols[index].minimum;
    symbolInput_[index] = -1;
  }
  std::vector<std::string> missing;
  for (size_t input = 0; input < inputs_.size(); ++input)
    if (!inputs_[input].bound)
      missing.push_back(entry.inputs[input].name);
  if (!missing.empty())
    return invalid((missing.size() == 1 ? "input " : "inputs ") + quotedList(missing) +
                   (missing.size() == 1 ? " is" : " are") + " not given; the inputs are " +
                   quotedList(portNames(entry.inputs)));
  for (size_t input = 0; input < inputs_.size(); ++input)
    for (size_t axis = 0; axis < entry.inputs[input].dims.size(); ++axis) {
      const Expression &dim = entry.inputs[input].dims[axis];
      if (!dim.isSymbol())
        continue;
      auto symbol = static_cast<size_t>(dim.steps[0].value);
      int64_t value = inputs_[input].dims[axis];
      auto where = [&] {
        return "input " + quoted(entry.inputs[input].name) + ": dimension " + std::to_string(axis) + " is " +
               std::to_string(value);
      };
      if (symbolInput_[symbol] >= 0) {
        if (symbols_[symbol] != value)
          return invalid(where() + ", expected " + std::to_string(symbols_[symbol]) + " (" + symbols[symbol].name +
                         ", as in input " + quoted(entry.inputs[static_cast<size_t>(symbolInput_[symbol])].name) + ")");
        continue;
      }
      if (value < symbols[symbol].minimum || value > symbols[symbol].maximum)
        return invalid(where() + ", expected " + symbols[symbol].name + " between " +
                       std::to_string(symbols[symbol].minimum) + " and " + std::to_string(symbols[symbol].maximum));
      symbols_[symbol] = value;
      symbolInput_[symbol] = static_cast<int64_t>(input);
    }
  for (size_t input = 0; input < inputs_.size(); ++input)
    for (size_t axis = 0; axis < entry.inputs[input].dims.size(); ++axis) {
      const Expression &dim = entry.inputs[input].dims[axis];
      int64_t expected;
      if (!evaluate(dim, symbols_.data(), expected) || expected != inputs_[input].dims[axis])
        return invalid("input " + quoted(entry.inputs[input].name) + ": dimension " + std::to_string(axis) + " is " +
                       std::to_string(inputs_[input].dims[axis]) + ", expected " + std::to_string(expected) + " (" +
                       toString(dim, symbols) + ")");
    }
  return Status();
}

std::string Run::acceptedShapes() const {
  const std::vector<Symbol> &symbols = program_->program().symbols;
  std::string text;
  for (const auto &variant : entry_.variants) {
    std::string one;
    for (const SymbolRange &range : variant->variant->ranges)
      one += (one.empty() ? "" : ", ") + symbols[range.symbol].name + " from " + std::to_string(range.minimum) +
             " to " + std::to_string(range.maximum);
    text += (text.empty() ? "" : "; ") + one;
  }
  return text;
}

Status Run::selectVariant() {
  for (size_t index = 0; index < entry_.variants.size(); ++index) {
    const Variant &variant = *entry_.variants[index]->variant;
    bool fits = std::all_of(variant.ranges.begin(), variant.ranges.end(), [&](const SymbolRange &range) {
      return symbols_[range.symbol] >= range.minimum && symbols_[range.symbol] <= range.maximum;
    });
    if (!fits)
      continue;
    selected_ = entry_.variants[index].get();
    selectedIndex_ = static_cast<int32_t>(index);
    return Status();
  }
  std::string given;
  for (size_t symbol = 0; symbol < symbols_.size(); ++symbol)
    if (symbolInput_[symbol] >= 0)
      given += (given.empty() ? "" : ", ") + program_->program().symbols[symbol].name + " = " +
               std::to_string(symbols_[symbol]);
  return invalid("the artifact was not compiled for these input shapes (" + given + "); it accepts " +
                 acceptedShapes());
}

Status Run::checkOverlap() const {
  auto overlap = [](const void *a, int64_t aBytes, const void *b, int64_t bBytes) {
    auto first = reinterpret_cast<uintptr_t>(a), second = reinterpret_cast<uintptr_t>(b);
    return aBytes > 0 && bBytes > 0 && first < second + static_cast<uintptr_t>(bBytes) &&
           second < first + static_cast<uintptr_t>(aBytes);
  };
  for (size_t output = 0; output < outputs_.size(); ++output) {
    if (!outputs_[output].bound)
      continue;
    auto conflict = [&](const char *kind, const std::string &name) {
      return invalid("output " + quoted(entry_.entry->outputs[output].name) + " is bound to memory that overlaps " +
                     kind + " " + quoted(name));
    };
    for (size_t input = 0; input < inputs_.size(); ++input)
      if (!inputs_[input].copied && !inputs_[input].onDevice &&
          overlap(outputs_[output].data, outputs_[output].boundBytes, inputs_[input].data, inputs_[input].bytes))
        return conflict("input", entry_.entry->inputs[input].name);
    for (size_t other = 0; other < output; ++other)
      if (outputs_[other].bound &&
          overlap(outputs_[output].data, outputs_[output].boundBytes, outputs_[other].data, outputs_[other].boundBytes))
        return conflict("output", entry_.entry->outputs[other].name);
  }
  return Status();
}

Status Run::prepareOutputs() {
  for (size_t index = 0; index < outputs_.size(); ++index) {
    Output &output = outputs_[index];
    const Port &port = entry_.entry->outputs[index];
    output.dims.resize(port.dims.size());
    for (size_t axis = 0; axis < port.dims.size(); ++axis) {
      if (!evaluate(port.dims[axis], symbols_.data(), output.dims[axis]) || output.dims[axis] < 0)
        return invalid("output " + quoted(port.name) + ": dimension " + std::to_string(axis) + " (" +
                       toString(port.dims[axis], program_->program().symbols) +
                       ") has no possible value at these input shapes");
      if (output.bound && output.boundDims[axis] != output.dims[axis])
        return invalid("output " + quoted(port.name) + ": dimension " + std::to_string(axis) +
                       " of the bound memory is " + std::to_string(output.boundDims[axis]) + ", expected " +
                       std::to_string(output.dims[axis]));
    }
    int64_t bytes;
    if (!byteCountOf(port.type, output.dims.data(), output.dims.size(), bytes))
      return invalid("output " + quoted(port.name) + " is too large");
    if (output.onDevice) {
      const cuda::Device &device = *program_->cuda()->device;
      cuda::Current current(device);
      bool fresh = false;
      WEFT_RETURN_IF_ERROR(output.device.require(device, device.stream(), static_cast<size_t>(bytes),
                                                 "output " + quoted(port.name), &fresh));
      // The run uses it in a stream of its own.
      if (fresh)
        WEFT_RETURN_IF_ERROR(device.check(device.driver().StreamSynchronize(device.stream()), "making an output"));
      output.data = reinterpret_cast<void *>(output.device.address());
    } else if (!output.bound && dependsOnData(port, program_->program().symbols)) {
      // Its bound may be far beyond what it comes to need.
      output.data = nullptr;
    } else if (!output.bound) {
      WEFT_RETURN_IF_ERROR(takeOutputMemory(index, bytes, output.data));
    }
    output.taken = false;
    outputPointers_[index] = output.data;
  }
  return Status();
}

Status Run::takeOutputMemory(size_t index, int64_t bytes, void *&data) {
  Output &output = outputs_[index];
  WEFT_RETURN_IF_ERROR(output.own.require(program_->options().allocator, static_cast<size_t>(bytes), "an output"));
  data = output.data = output.own.data();
  return Status();
}

Status Run::prepare() {
  hasResults_ = false;
  WEFT_RETURN_IF_ERROR(bindSymbols());
  WEFT_RETURN_IF_ERROR(selectVariant());
  WEFT_RETURN_IF_ERROR(checkOverlap());
  if (!program_->program().states.empty() && !state_)
    return Status(StatusCode::FailedPrecondition,
                  "the program has state; create it (weft_state_create) and give it to the run (weft_run_set_state)");
  WEFT_RETURN_IF_ERROR(prepareOutputs());
  if (profiling_)
    profile_.assign(selected_->ops.size(), OpProfile());
  return Status();
}

Status Run::stageInputs() {
  for (size_t index = 0; index < inputs_.size(); ++index) {
    Input &input = inputs_[index];
    inputPointers_[index] = input.data;
    if (!input.copied)
      continue;
    WEFT_RETURN_IF_ERROR(
        input.staging.require(program_->options().allocator, static_cast<size_t>(input.bytes), "a copy of an input"));
    if (input.strides.empty())
      std::memcpy(input.staging.data(), input.data, static_cast<size_t>(input.bytes));
    else
      copyStrided(input.data, input.dims.data(), input.strides.data(), input.dims.size(),
                  storageBits(entry_.entry->inputs[index].type) / 8, input.staging.data());
    inputPointers_[index] = input.staging.data();
  }
  return Status();
}

Status Run::finish(const ExecutionContext &context) {
  for (size_t index = 0; index < outputs_.size(); ++index) {
    const Port &port = entry_.entry->outputs[index];
    for (size_t axis = 0; axis < port.dims.size(); ++axis)
      if (!evaluate(port.dims[axis], context.symbols().data(), outputs_[index].dims[axis]) ||
          outputs_[index].dims[axis] < 0)
        return Status(StatusCode::ExecutionFailed,
                      "output " + quoted(port.name) + ": dimension " + std::to_string(axis) + " has no possible value");
    // One that came to have no elements was perhaps never written.
    if (!outputs_[index].data) {
      int64_t bytes;
      void *data;
      if (!byteCountOf(port.type, outputs_[index].dims.data(), port.dims.size(), bytes))
        return invalid("output " + quoted(port.name) + " is too large");
      WEFT_RETURN_IF_ERROR(takeOutputMemory(index, bytes, data));
    }
  }
  hasResults_ = true;
  lastVariant_ = selectedIndex_;
  return Status();
}

Status Run::executePrepared() {
  if (state_ && state_->inUse.exchange(true))
    return Status(StatusCode::FailedPrecondition, "the state is in use by another run");
  struct ReleaseState {
    StateTensors *state;
    ~ReleaseState() {
      if (state)
        state->inUse.store(false);
    }
  } release{state_};

  std::unique_ptr<ExecutionContext> context;
  {
    std::lock_guard<std::mutex> lock(selected_->mutex);
    if (!selected_->idleContexts.empty()) {
      context = std::move(selected_->idleContexts.back());
      selected_->idleContexts.pop_back();
    }
  }
  if (!context) {
    auto created = ExecutionContext::create(*program_, *selected_);
    if (!created.ok())
      return created.status();
    context = std::move(*created);
  }
  Status status = stageInputs();
  if (status.ok())
    status = context->prepare(symbols_);
  if (status.ok()) {
    ExecutionRequest request;
    request.inputs = inputPointers_.data();
    request.outputs = outputPointers_.data();
    request.outputMemory = &outputMemory_;
    request.states = state_;
    request.inputsOnDevice = &inputsOnDevice_;
    request.outputsOnDevice = &outputsOnDevice_;
    request.seed = seed_;
    request.checkNans = checkNans_;
    request.profile = profiling_ ? profile_.data() : nullptr;
    request.observer = observer_;
    request.observerUser = observerUser_;
    request.cancelled = &cancelled_;
    status = context->execute(request);
  }
  if (status.ok())
    status = finish(*context);
  std::lock_guard<std::mutex> lock(selected_->mutex);
  selected_->idleContexts.push_back(std::move(context));
  return status;
}

Status Run::execute() {
  if (inFlight_.exchange(true))
    return requireIdle();
  cancelled_.store(false);
  struct Clear {
    std::atomic<bool> &flag;
    ~Clear() { flag.store(false); }
  } clear{inFlight_};
  WEFT_RETURN_IF_ERROR(prepare());
  return executePrepared();
}

Status Run::start(std::vector<std::shared_ptr<Fence>> wait, std::shared_ptr<Fence> signal) {
  if (inFlight_.exchange(true))
    return requireIdle();
  // Whatever goes wrong before the driver has it, the run is idle again.
  struct Release {
    std::atomic<bool> *flag;
    ~Release() {
      if (flag)
        flag->store(false);
    }
  } release{&inFlight_};
  cancelled_.store(false);
  WEFT_RETURN_IF_ERROR(prepare());
  auto driver = program_->driver();
  if (!driver.ok())
    return driver.status();
  auto finished = std::make_shared<Fence>();
  // Holds the fences but neither the run nor the program: their owner waits for `finished`, after which nothing of them
  // is touched.
  std::function<void()> task = [this, wait = std::move(wait), signal = std::move(signal), finished] {
    Status result;
    for (const std::shared_ptr<Fence> &fence : wait) {
      // A fence that never comes must not keep a cancelled run from ending.
      constexpr int64_t kPoll = 5'000'000;
      Status upstream;
      while (result.ok() && !fence->wait(kPoll, upstream))
        if (cancelled_.load())
          result = Status(StatusCode::Cancelled, "the run was cancelled");
      if (result.ok() && !upstream.ok())
        result = upstream.withContext("what the run waited for failed");
    }
    if (result.ok()) {
      try {
        result = executePrepared();
      } catch (const std::bad_alloc &) {
        result = Status(StatusCode::ResourceExhausted, "out of memory");
      } catch (const std::exception &error) {
        result = Status(StatusCode::Internal, error.what());
      }
    }
    inFlight_.store(false);
    finished->signal(result);
    if (signal)
      signal->signal(result);
  };
  (*driver)->enqueue(std::move(task), [&] {
    finished_ = finished;
    release.flag = nullptr;
  });
  return Status();
}

Status Run::wait(int64_t nanoseconds) {
  if (!finished_)
    return Status(StatusCode::FailedPrecondition, "the run was not started");
  Status result;
  if (!finished_->wait(nanoseconds, result))
    return Status(StatusCode::DeadlineExceeded, "the run did not end in time");
  return result;
}

Status Run::output(const std::string &name, WeftTensorView &view) {
  WEFT_RETURN_IF_ERROR(requireIdle());
  size_t index;
  WEFT_RETURN_IF_ERROR(findOutput(name, index));
  if (!hasResults_)
    return Status(StatusCode::FailedPrecondition,
                  "output " + quoted(name) + ": the run has no results; execute it first");
  Output &output = outputs_[index];
  if (output.taken)
    return Status(StatusCode::FailedPrecondition, "output " + quoted(name) + " was handed out already");
  view.data = output.data;
  view.type = static_cast<WeftElementType>(entry_.entry->outputs[index].type);
  view.rank = static_cast<int32_t>(output.dims.size());
  view.dims = output.dims.data();
  view.strides = nullptr;
  return Status();
}

Status Run::profile(int32_t op, OpProfile &result) const {
  WEFT_RETURN_IF_ERROR(requireIdle());
  if (op < 0 || static_cast<size_t>(op) >= profile_.size())
    return Status(StatusCode::FailedPrecondition, "op " + std::to_string(op) + " has no profile; " +
                                                      std::to_string(profile_.size()) + " ops were profiled");
  result = profile_[static_cast<size_t>(op)];
  return Status();
}

} // namespace weft::runtime
