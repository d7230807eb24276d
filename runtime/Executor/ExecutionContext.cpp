// Sizes and addresses: everything that follows from the symbols' values.
#include "runtime/Executor/ExecutionContext.h"

#include "runtime/Artifact/Expressions.h"

#include <algorithm>

namespace weft::runtime {
namespace {

// The artifact was proven sound at the ends of the symbols' ranges only; a size that makes no sense in between is its
// fault.
Status impossibleSize(const std::string &what) {
  return Status(StatusCode::DataLoss, what +
                                          " has no possible size at these input shapes; the artifact is damaged or was "
                                          "compiled wrongly");
}

bool evaluateSize(const Expression &expression, const int64_t *symbols, int64_t &value) {
  return evaluate(expression, symbols, value) && value >= 0;
}

} // namespace

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
      arguments += launch->inputs.size() + launch->outputs.size();
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
      std::vector<int64_t> values;
      for (const Expression &dim : port.dims) {
        values.push_back(0);
        if (!evaluateSize(dim, plannedSymbols_.data(), values.back()))
          return impossibleSize("buffer " + std::to_string(index));
      }
      int64_t bytes;
      if (!byteCountOf(buffer.type, values.data(), values.size(), bytes) || bytes != state.capacity)
        return impossibleSize("buffer " + std::to_string(index));
    } else if (buffer.kind == BufferKind::Arena) {
      if (!evaluateSize(buffer.offset, plannedSymbols_.data(), state.offset) ||
          state.offset % WEFT_BUFFER_ALIGNMENT != 0 || __builtin_add_overflow(state.offset, state.capacity, &end) ||
          end > arenaBytes_)
        return impossibleSize("buffer " + std::to_string(index));
    }
  }
  return arena_.require(program_.options().allocator, static_cast<size_t>(arenaBytes_), "the run's arena");
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

// Brings tiles, scratch, plans and the sizes of the op's buffers up to date with the symbols.
Status ExecutionContext::sizeOp(size_t index) {
  OpState &state = ops_[index];
  if (state.epoch == epoch_)
    return Status();
  const OpBody &body = variant_.ops[index].op->body;
  const auto *launch = std::get_if<Launch>(&body);
  if (const auto *call = std::get_if<LibraryCall>(&body)) {
    launch = &call->alternative;
    state.plan = nullptr;
    if (variant_.ops[index].library) {
      WEFT_RETURN_IF_ERROR(evaluateLibraryArguments(model_, *call, symbols_.data(), state.libraryArguments));
      auto plan =
          variant_.ops[index].library->plan(state.libraryArguments.sizes, state.libraryArguments.operands.data());
      if (plan.ok()) {
        state.plan = *plan;
        if (state.workspacePlan != state.plan) {
          auto workspace = state.plan->makeWorkspace(program_.pool().size());
          if (!workspace.ok())
            return workspace.status();
          state.workspace = std::move(*workspace);
          state.workspacePlan = state.plan;
        }
      } else {
        program_.log(WEFT_LOG_INFO,
                     describeOp(index) + " runs on our own kernel at these shapes: " + plan.status().message());
      }
    }
  }
  if (launch) {
    if (!evaluateSize(launch->tiles, symbols_.data(), state.tiles) ||
        !evaluateSize(launch->scratchBytes, symbols_.data(), state.scratchBytes))
      return impossibleSize(describeOp(index));
    for (uint32_t buffer : launch->inputs)
      WEFT_RETURN_IF_ERROR(sizeBuffer(buffer));
    for (uint32_t buffer : launch->outputs)
      WEFT_RETURN_IF_ERROR(sizeBuffer(buffer));
    if (state.scratchBytes > 0) {
      constexpr int64_t kAlignment = WEFT_BUFFER_ALIGNMENT;
      int64_t total;
      if (__builtin_add_overflow(state.scratchBytes, kAlignment - 1, &state.scratchBytes) ||
          __builtin_mul_overflow(state.scratchBytes / kAlignment * kAlignment, program_.pool().size(), &total))
        return impossibleSize(describeOp(index));
      state.scratchBytes = state.scratchBytes / kAlignment * kAlignment;
      WEFT_RETURN_IF_ERROR(
          scratch_.require(program_.options().allocator, static_cast<size_t>(total), "the kernels' scratch"));
    }
  }
  for (uint32_t buffer : variant_.ops[index].outputs)
    WEFT_RETURN_IF_ERROR(sizeBuffer(buffer));
  if (const auto *copy = std::get_if<Copy>(&body))
    WEFT_RETURN_IF_ERROR(sizeBuffer(copy->source));
  state.epoch = epoch_;
  return Status();
}

std::string ExecutionContext::describeOp(size_t index) const {
  const Op &op = *variant_.ops[index].op;
  std::string text = "op " + quoted(op.name);
  if (!op.sourceNodes.empty())
    text += " (nodes " + quotedList(op.sourceNodes) + ")";
  return text;
}

} // namespace weft::runtime
