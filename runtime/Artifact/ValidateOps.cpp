// One check a kind of op: indices in range, operands of the right kind, sizes sound.
#include "runtime/Artifact/ValidateOps.h"

#include "runtime/Artifact/Validate.h"

namespace weft::runtime {
namespace {

Status damaged(const std::string &message) { return Status(StatusCode::DataLoss, message); }

std::vector<Expression> constantDims(const std::vector<int64_t> &dims) {
  return std::vector<Expression>(dims.begin(), dims.end());
}

} // namespace

VariantScope::VariantScope(const Program &program, const Entry &entry, const Variant &variant,
                           const std::vector<bool> &boundSymbols)
    : program_(program), entry_(entry), variant_(variant), boundSymbols_(boundSymbols) {
  for (const Symbol &symbol : program.symbols)
    bounds_.push_back({symbol.minimum, symbol.maximum});
}

Status VariantScope::checkSize(const std::string &what, const Expression &expression, Bounds *bounds) const {
  std::string fault = checkExpressionForm(expression, program_.symbols.size());
  if (!fault.empty())
    return damaged(what + " is " + fault);
  for (const ExpressionStep &step : expression.steps)
    if (step.opcode == ExpressionOpcode::Symbol && !boundSymbols_[static_cast<size_t>(step.value)])
      return damaged(what + " depends on symbol \"" + program_.symbols[static_cast<size_t>(step.value)].name +
                     "\", which nothing binds in this entry");
  Bounds range;
  if (!evaluateBounds(expression, bounds_.data(), range))
    return damaged(what + " may overflow or divide by zero");
  if (range.maximum < 0)
    return damaged(what + " is always negative");
  if (bounds)
    *bounds = range;
  return Status();
}

bool VariantScope::bytesAt(bool atMaximum, ElementType type, const std::vector<Expression> &dims,
                           int64_t &bytes) const {
  std::vector<int64_t> symbols = corner(atMaximum);
  std::vector<int64_t> values(dims.size());
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (!evaluate(dims[axis], symbols.data(), values[axis]))
      return false;
  return byteCountOf(type, values.data(), values.size(), bytes);
}

std::vector<int64_t> VariantScope::corner(bool atMaximum) const {
  std::vector<int64_t> symbols;
  for (const Bounds &bounds : bounds_)
    symbols.push_back(atMaximum ? bounds.maximum : bounds.minimum);
  return symbols;
}

// The arena is planned at the bounds, so the sizes at all minima and at all maxima are checked here; the executor
// checks those in between when it has the values.
Status VariantScope::checkArenaRange(const Buffer &buffer) const {
  for (bool atMaximum : {false, true}) {
    int64_t offset, arena, bytes, end;
    if (!bytesAt(atMaximum, buffer.type, buffer.dims, bytes))
      return damaged("has an impossible size");
    std::vector<int64_t> symbols = corner(atMaximum);
    if (!evaluate(buffer.offset, symbols.data(), offset) || !evaluate(variant_.arenaBytes, symbols.data(), arena) ||
        offset < 0 || __builtin_add_overflow(offset, bytes, &end) || end > arena)
      return damaged("does not lie inside the arena");
    if (offset % 64 != 0)
      return damaged("has offset " + std::to_string(offset) + ", not a multiple of 64");
  }
  return Status();
}

Status VariantScope::checkBuffer(size_t index) {
  const Buffer &buffer = variant_.buffers[index];
  if (!isValid(buffer.type))
    return damaged("unknown element type " + std::to_string(static_cast<int>(buffer.type)));
  if (buffer.dims.size() > kMaximumRank)
    return damaged("rank " + std::to_string(buffer.dims.size()) + ", more than " + std::to_string(kMaximumRank));
  for (const Expression &dim : buffer.dims)
    WEFT_RETURN_IF_ERROR(checkSize("a dimension", dim));
  auto checkReference = [&](const char *kind, size_t count) {
    return buffer.index < count
               ? Status()
               : damaged(std::string(kind) + " " + std::to_string(buffer.index) + " of " + std::to_string(count));
  };
  // A buffer may see its tensor under another shape (a reshape) but not under another size.
  auto checkSame = [&](const std::string &name, ElementType type, const std::vector<Expression> &dims) {
    if (buffer.type != type)
      return damaged("its type differs from that of \"" + name + "\"");
    for (bool atMaximum : {false, true}) {
      int64_t own, tensor;
      if (!bytesAt(atMaximum, type, buffer.dims, own) || !bytesAt(atMaximum, type, dims, tensor))
        return damaged("has an impossible size");
      if (own != tensor)
        return damaged("its size differs from that of \"" + name + "\"");
    }
    return Status();
  };
  switch (buffer.kind) {
  case BufferKind::Input:
    WEFT_RETURN_IF_ERROR(checkReference("input", entry_.inputs.size()));
    return checkSame(entry_.inputs[buffer.index].name, entry_.inputs[buffer.index].type,
                     entry_.inputs[buffer.index].dims);
  case BufferKind::Output:
    WEFT_RETURN_IF_ERROR(checkReference("output", entry_.outputs.size()));
    return checkSame(entry_.outputs[buffer.index].name, entry_.outputs[buffer.index].type,
                     entry_.outputs[buffer.index].dims);
  case BufferKind::Weight:
    WEFT_RETURN_IF_ERROR(checkReference("weight", program_.weights.size()));
    return checkSame(program_.weights[buffer.index].name, program_.weights[buffer.index].type,
                     constantDims(program_.weights[buffer.index].dims));
  case BufferKind::State:
    WEFT_RETURN_IF_ERROR(checkReference("state", program_.states.size()));
    return checkSame(program_.states[buffer.index].name, program_.states[buffer.index].type,
                     constantDims(program_.states[buffer.index].dims));
  case BufferKind::Arena:
    WEFT_RETURN_IF_ERROR(checkSize("the offset", buffer.offset));
    return checkArenaRange(buffer);
  }
  return damaged("unknown kind " + std::to_string(static_cast<int>(buffer.kind)));
}

Status VariantScope::checkIndex(const std::string &what, uint32_t buffer) const {
  if (buffer < variant_.buffers.size())
    return Status();
  return damaged(what + " is buffer " + std::to_string(buffer) + " of " + std::to_string(variant_.buffers.size()));
}

Status VariantScope::checkWritable(const std::string &what, uint32_t buffer) const {
  WEFT_RETURN_IF_ERROR(checkIndex(what, buffer));
  BufferKind kind = variant_.buffers[buffer].kind;
  if (kind == BufferKind::Input || kind == BufferKind::Weight)
    return damaged(what + " is buffer " + std::to_string(buffer) + ", an input or weight, which are read-only");
  return Status();
}

Status VariantScope::checkCondition(uint32_t index) const {
  WEFT_RETURN_IF_ERROR(checkIndex("the condition", index));
  const Buffer &buffer = variant_.buffers[index];
  if (buffer.type != ElementType::I1 || !buffer.dims.empty())
    return damaged("the condition is not an i1 scalar");
  return Status();
}

Status VariantScope::checkLaunch(const Launch &launch) const {
  if (launch.kernel.empty() || launch.kernel.find('\0') != std::string::npos)
    return damaged("a kernel without a proper name");
  for (uint32_t input : launch.inputs)
    WEFT_RETURN_IF_ERROR(checkIndex("an input", input));
  for (uint32_t output : launch.outputs)
    WEFT_RETURN_IF_ERROR(checkWritable("an output", output));
  WEFT_RETURN_IF_ERROR(checkSize("the number of tiles", launch.tiles));
  WEFT_RETURN_IF_ERROR(checkSize("the scratch size", launch.scratchBytes));
  if (launch.grain < 1)
    return damaged("a grain of " + std::to_string(launch.grain));
  bool onGpu = program_.targets[variant_.target].device == "cuda";
  auto outside = [](const char *what, int64_t value, int64_t minimum, int64_t maximum) {
    return value >= minimum && value <= maximum ? Status()
                                                : damaged(std::to_string(value) + " " + what + ", expected " +
                                                          std::to_string(minimum) + " to " + std::to_string(maximum));
  };
  WEFT_RETURN_IF_ERROR(outside("threads of a block", launch.threads, onGpu ? 1 : 0, onGpu ? kMaximumThreads : 0));
  WEFT_RETURN_IF_ERROR(outside("bytes of shared memory", launch.sharedBytes, 0, onGpu ? kMaximumSharedBytes : 0));
  return outside("blocks at most", launch.maxBlocks, 0, onGpu ? kMaximumBlocks : 0);
}

Status VariantScope::checkConvolution(const LibraryCall &call, const Convolution &convolution) const {
  size_t rank = variant_.buffers[call.left].dims.size();
  size_t spatial = rank - 2;
  if (rank < 3 || rank > 5 || variant_.buffers[call.right].dims.size() != rank ||
      variant_.buffers[call.output].dims.size() != rank)
    return damaged("a convolution whose operands are not of one rank between 3 and 5");
  if (convolution.strides.size() != spatial || convolution.dilations.size() != spatial ||
      convolution.paddingLow.size() != spatial || convolution.paddingHigh.size() != spatial)
    return damaged("a convolution with " + std::to_string(spatial) +
                   " spatial dimensions and another number of strides, dilations or paddings");
  constexpr int64_t kLimit = int64_t(1) << 30;
  auto isWithin = [](int64_t padding) { return padding >= -kLimit && padding <= kLimit; };
  for (size_t axis = 0; axis < spatial; ++axis)
    if (convolution.strides[axis] < 1 || convolution.strides[axis] > kLimit || convolution.dilations[axis] < 1 ||
        convolution.dilations[axis] > kLimit || !isWithin(convolution.paddingLow[axis]) ||
        !isWithin(convolution.paddingHigh[axis]))
      return damaged("a convolution with a stride, dilation or padding out of range");
  if (convolution.groups < 1)
    return damaged("a convolution with " + std::to_string(convolution.groups) + " groups");
  if (convolution.weightsLayout > ConvolutionWeightsLayout::OSpatialI)
    return damaged("a convolution with an unknown weights layout");
  return Status();
}

Status VariantScope::checkLibraryCall(const LibraryCall &call) const {
  WEFT_RETURN_IF_ERROR(checkIndex("the left operand", call.left));
  WEFT_RETURN_IF_ERROR(checkIndex("the right operand", call.right));
  WEFT_RETURN_IF_ERROR(checkWritable("the output", call.output));
  if (const auto *matmul = std::get_if<Matmul>(&call.operation)) {
    WEFT_RETURN_IF_ERROR(checkSize("batch", matmul->batch));
    WEFT_RETURN_IF_ERROR(checkSize("M", matmul->m));
    WEFT_RETURN_IF_ERROR(checkSize("N", matmul->n));
    WEFT_RETURN_IF_ERROR(checkSize("K", matmul->k));
  } else {
    WEFT_RETURN_IF_ERROR(checkConvolution(call, std::get<Convolution>(call.operation)));
  }
  for (const PostOp &step : call.epilogue) {
    if (step.kind > PostOpKind::HardSwish || step.broadcast > PostOpBroadcast::Scalar)
      return damaged("an epilogue step of an unknown kind");
    if (step.kind == PostOpKind::Bias || (step.kind >= PostOpKind::Add && step.kind <= PostOpKind::Maximum))
      WEFT_RETURN_IF_ERROR(checkIndex("an epilogue operand", step.buffer));
  }
  return checkLaunch(call.alternative).withContext("the alternative");
}

Status VariantScope::checkOp(const Op &op) const {
  if (const auto *launch = std::get_if<Launch>(&op.body))
    return checkLaunch(*launch);
  if (const auto *call = std::get_if<LibraryCall>(&op.body))
    return checkLibraryCall(*call);
  if (const auto *copy = std::get_if<Copy>(&op.body)) {
    WEFT_RETURN_IF_ERROR(checkIndex("the source", copy->source));
    return checkWritable("the destination", copy->destination);
  }
  if (const auto *fill = std::get_if<Fill>(&op.body)) {
    WEFT_RETURN_IF_ERROR(checkWritable("the destination", fill->destination));
    int64_t bits = storageBits(variant_.buffers[fill->destination].type);
    if (fill->pattern.size() != static_cast<size_t>(bits < 8 ? 1 : bits / 8))
      return damaged("a pattern of " + std::to_string(fill->pattern.size()) + " bytes for elements of " +
                     std::to_string(bits) + " bits");
    return Status();
  }
  if (const auto *branch = std::get_if<If>(&op.body))
    return checkCondition(branch->condition);
  if (const auto *loop = std::get_if<While>(&op.body))
    return checkCondition(loop->condition);
  if (const auto *check = std::get_if<CheckEqual>(&op.body)) {
    WEFT_RETURN_IF_ERROR(checkSize("the left side", check->left));
    return checkSize("the right side", check->right);
  }
  const auto &bind = std::get<BindSymbol>(op.body);
  if (bind.symbol >= program_.symbols.size() || program_.symbols[bind.symbol].source != SymbolSource::Data)
    return damaged("binds symbol " + std::to_string(bind.symbol) + ", which is not one that data binds");
  WEFT_RETURN_IF_ERROR(checkIndex("the value", bind.buffer));
  const Buffer &buffer = variant_.buffers[bind.buffer];
  bool integer = buffer.type == ElementType::I32 || buffer.type == ElementType::I64 ||
                 buffer.type == ElementType::U32 || buffer.type == ElementType::U64;
  if (!integer || !buffer.dims.empty())
    return damaged("the value is not a scalar of i32, i64, ui32 or ui64");
  return Status();
}

} // namespace weft::runtime
