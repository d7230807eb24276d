// Sizes: everything that follows from the symbols' values; and what running an op means on every device.
#include "runtime/Executor/ExecutionContext.h"

#include "runtime/Artifact/Expressions.h"
#include "runtime/Executor/CudaExecution.h"
#include "runtime/Executor/HostExecution.h"

#include <algorithm>
#include <cstring>

namespace weft::runtime {
namespace {

bool evaluateSize(const Expression &expression, const int64_t *symbols, int64_t &value) {
  return evaluate(expression, symbols, value) && value >= 0;
}

} // namespace

// The artifact was proven sound at the ends of the symbols' ranges only; a size that makes no sense in between is its
// fault.
Status impossibleSize(const std::string &what) {
  return Status(StatusCode::DataLoss, what +
                                          " has no possible size at these input shapes; the artifact is damaged or was "
                                          "compiled wrongly");
}

Status evaluateLibraryArguments(const Variant &variant, const LibraryCall &call, const int64_t *symbols,
                                LibraryArguments &arguments) {
  if (const auto *matmul = std::get_if<Matmul>(&call.operation))
    if (!evaluateSize(matmul->batch, symbols, arguments.sizes.batch) ||
        !evaluateSize(matmul->m, symbols, arguments.sizes.m) || !evaluateSize(matmul->n, symbols, arguments.sizes.n) ||
        !evaluateSize(matmul->k, symbols, arguments.sizes.k))
      return impossibleSize("a contraction");
  size_t count = 3 + call.epilogue.size();
  arguments.operands.resize(count);
  arguments.dims.resize(count);
  for (size_t index = 0; index < count; ++index) {
    const PostOp *step = index >= 3 ? &call.epilogue[index - 3] : nullptr;
    bool used =
        !step || step->kind == PostOpKind::Bias || (step->kind >= PostOpKind::Add && step->kind <= PostOpKind::Maximum);
    std::vector<int64_t> &dims = arguments.dims[index];
    dims.clear();
    TensorReference &operand = arguments.operands[index];
    operand = {};
    if (!used)
      continue;
    const Buffer &buffer = variant.buffers[step         ? step->buffer
                                           : index == 0 ? call.left
                                           : index == 1 ? call.right
                                                        : call.output];
    for (const Expression &dim : buffer.dims) {
      dims.push_back(0);
      if (!evaluateSize(dim, symbols, dims.back()))
        return impossibleSize("an operand");
    }
    int64_t bytes;
    if (!byteCountOf(buffer.type, dims.data(), dims.size(), bytes))
      return impossibleSize("an operand");
    operand = {buffer.type, dims.data(), dims.size(), nullptr};
  }
  return Status();
}

ExecutionContext::ExecutionContext(const LoadedProgram &program, LoadedVariant &variant)
    : program_(program), variant_(variant), model_(*variant.variant) {
  buffers_.resize(model_.buffers.size());
  size_t dims = 0;
  for (size_t index = 0; index < buffers_.size(); ++index) {
    buffers_[index].firstDim = dims;
    dims += model_.buffers[index].dims.size();
  }
  dims_.resize(dims);
  ops_.resize(variant.ops.size());
  size_t arguments = 0, mostOutputs = 0;
  for (size_t index = 0; index < ops_.size(); ++index) {
    const OpBody &body = variant.ops[index].op->body;
    const auto *launch = std::get_if<Launch>(&body);
    if (const auto *call = std::get_if<LibraryCall>(&body))
      launch = &call->alternative;
    ops_[index].firstArgument = arguments;
    if (launch)
      ops_[index].arguments = launch->inputs.size() + launch->outputs.size();
    arguments += ops_[index].arguments;
    mostOutputs = std::max(mostOutputs, variant.ops[index].outputs.size());
  }
  argumentPointers_.resize(arguments);
  views_.resize(mostOutputs);
  symbols_.resize(program.program().symbols.size());
}

Status ExecutionContext::prepare(const std::vector<int64_t> &symbols) {
  const std::vector<Symbol> &declared = program_.program().symbols;
  bool changed = !planned_;
  for (size_t index = 0; index < declared.size(); ++index) {
    int64_t value = declared[index].source == SymbolSource::Data ? declared[index].maximum : symbols[index];
    changed |= symbols_[index] != value;
    symbols_[index] = value;
  }
  if (!changed)
    return Status();
  ++epoch_;
  if (planned_ && plannedSymbols_ == symbols_)
    return Status();
  planned_ = false;
  plannedSymbols_ = symbols_;
  WEFT_RETURN_IF_ERROR(planBuffers());
  planned_ = true;
  return Status();
}

Status ExecutionContext::planBuffers() {
  if (!evaluateSize(model_.arenaBytes, plannedSymbols_.data(), arenaBytes_))
    return impossibleSize("the arena");
  for (uint32_t index = 0; index < buffers_.size(); ++index) {
    const Buffer &buffer = model_.buffers[index];
    BufferState &state = buffers_[index];
    state.epoch = 0;
    state.capacity = INT64_MAX;
    WEFT_RETURN_IF_ERROR(sizeBuffer(index));
    state.capacity = state.bytes;
    // What the tensor behind the buffer has; the executor is given that much memory for it.
    int64_t end;
    if (buffer.kind == BufferKind::Input || buffer.kind == BufferKind::Output) {
      const Entry &entry = *variant_.entry;
      const Port &port = buffer.kind == BufferKind::Input ? entry.inputs[buffer.index] : entry.outputs[buffer.index];
      int64_t bytes;
      WEFT_RETURN_IF_ERROR(portBytes(port, plannedSymbols_, bytes));
      if (bytes != state.capacity)
        return impossibleSize("buffer " + std::to_string(index));
    } else if (buffer.kind == BufferKind::Arena) {
      if (!evaluateSize(buffer.offset, plannedSymbols_.data(), state.offset) ||
          state.offset % WEFT_BUFFER_ALIGNMENT != 0 || __builtin_add_overflow(state.offset, state.capacity, &end) ||
          end > arenaBytes_)
        return impossibleSize("buffer " + std::to_string(index));
    }
  }
  return allocate();
}

Status ExecutionContext::portBytes(const Port &port, const std::vector<int64_t> &symbols, int64_t &bytes) const {
  std::vector<int64_t> dims;
  for (const Expression &dim : port.dims) {
    dims.push_back(0);
    if (!evaluateSize(dim, symbols.data(), dims.back()))
      return impossibleSize(quoted(port.name));
  }
  return byteCountOf(port.type, dims.data(), dims.size(), bytes) ? Status() : impossibleSize(quoted(port.name));
}

Status ExecutionContext::askForOutput(size_t output, void *&data) const {
  int64_t bytes;
  WEFT_RETURN_IF_ERROR(portBytes(variant_.entry->outputs[output], symbols_, bytes));
  return (*request_->outputMemory)(output, bytes, data);
}

// Brings bytes and dims up to date with the symbols.
Status ExecutionContext::sizeBuffer(uint32_t index) {
  BufferState &state = buffers_[index];
  if (state.epoch == epoch_)
    return Status();
  const Buffer &buffer = model_.buffers[index];
  int64_t *dims = dims_.data() + state.firstDim;
  for (size_t axis = 0; axis < buffer.dims.size(); ++axis)
    if (!evaluateSize(buffer.dims[axis], symbols_.data(), dims[axis]))
      return impossibleSize("buffer " + std::to_string(index));
  if (!byteCountOf(buffer.type, dims, buffer.dims.size(), state.bytes) || state.bytes > state.capacity)
    return impossibleSize("buffer " + std::to_string(index));
  state.epoch = epoch_;
  return Status();
}

// Brings tiles, scratch and the sizes of the op's buffers up to date with the symbols.
Status ExecutionContext::sizeOp(size_t index) {
  OpState &state = ops_[index];
  if (state.epoch == epoch_)
    return Status();
  const OpBody &body = variant_.ops[index].op->body;
  const auto *launch = std::get_if<Launch>(&body);
  if (const auto *call = std::get_if<LibraryCall>(&body))
    launch = &call->alternative;
  if (launch) {
    if (!evaluateSize(launch->tiles, symbols_.data(), state.tiles) ||
        !evaluateSize(launch->scratchBytes, symbols_.data(), state.scratchBytes))
      return impossibleSize(describeOp(index));
    constexpr int64_t kAlignment = WEFT_BUFFER_ALIGNMENT;
    if (__builtin_add_overflow(state.scratchBytes, kAlignment - 1, &state.scratchBytes))
      return impossibleSize(describeOp(index));
    state.scratchBytes = state.scratchBytes / kAlignment * kAlignment;
    for (uint32_t buffer : launch->inputs)
      WEFT_RETURN_IF_ERROR(sizeBuffer(buffer));
    for (uint32_t buffer : launch->outputs)
      WEFT_RETURN_IF_ERROR(sizeBuffer(buffer));
  }
  WEFT_RETURN_IF_ERROR(sizeMore(index));
  for (uint32_t buffer : variant_.ops[index].outputs)
    WEFT_RETURN_IF_ERROR(sizeBuffer(buffer));
  if (const auto *copy = std::get_if<Copy>(&body))
    WEFT_RETURN_IF_ERROR(sizeBuffer(copy->source));
  state.epoch = epoch_;
  return Status();
}

void ExecutionContext::fillArguments(size_t index, const Launch &launch) {
  void **pointers = argumentPointers_.data() + ops_[index].firstArgument;
  for (uint32_t buffer : launch.inputs)
    *pointers++ = buffers_[buffer].data;
  for (uint32_t buffer : launch.outputs)
    *pointers++ = buffers_[buffer].data;
}

StatusOr<std::unique_ptr<ExecutionContext>> ExecutionContext::create(const LoadedProgram &program,
                                                                     LoadedVariant &variant) {
  if (program.cuda())
    return CudaExecution::create(program, variant);
  return std::unique_ptr<ExecutionContext>(std::make_unique<HostExecution>(program, variant));
}

std::string ExecutionContext::describeOp(size_t index) const {
  const Op &op = *variant_.ops[index].op;
  std::string text = "op " + quoted(op.name);
  if (!op.sourceNodes.empty())
    text += " (nodes " + quotedList(op.sourceNodes) + ")";
  return text;
}

Status ExecutionContext::checkEqual(size_t index, const CheckEqual &check) const {
  int64_t left, right;
  if (!evaluate(check.left, symbols_.data(), left) || !evaluate(check.right, symbols_.data(), right))
    return Status(StatusCode::ExecutionFailed, describeOp(index) + ": a size overflows");
  if (left != right)
    return Status(StatusCode::InvalidArgument, check.message + ": " + std::to_string(left) + " is not " +
                                                   std::to_string(right) + ", in " + describeOp(index));
  return Status();
}

Status ExecutionContext::bindSymbol(const BindSymbol &bind, const void *data) {
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

Status ExecutionContext::notANumber(size_t index, int64_t position, int64_t count) const {
  return Status(StatusCode::NotANumber, describeOp(index) + " made the first NaN, at element " +
                                            std::to_string(position) + " of " + std::to_string(count));
}

void ExecutionContext::setView(uint32_t index, const void *data, WeftTensorView &view) {
  const Buffer &buffer = model_.buffers[index];
  view.data = const_cast<void *>(data);
  view.type = static_cast<WeftElementType>(buffer.type);
  view.rank = static_cast<int32_t>(buffer.dims.size());
  view.dims = dims_.data() + buffers_[index].firstDim;
  view.strides = nullptr;
}

void ExecutionContext::observe(size_t index) {
  const LoadedOp &loaded = variant_.ops[index];
  WeftObservation observation = {};
  observation.op = static_cast<int32_t>(index);
  observation.name = loaded.op->name.c_str();
  observation.source_node_count = static_cast<int32_t>(loaded.sourceNodes.size());
  observation.source_nodes = loaded.sourceNodes.data();
  observation.output_count = static_cast<int32_t>(loaded.outputs.size());
  observation.outputs = views_.data();
  request_->observer(request_->observerUser, &observation);
}

} // namespace weft::runtime
