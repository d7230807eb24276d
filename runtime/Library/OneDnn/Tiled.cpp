// Making primitives with packed weights and epilogues, and running them tile by tile.
#include "runtime/Library/OneDnn/Tiled.h"

#include "runtime/Library/FewRows.h"
#include "runtime/Library/OneDnn/EpilogueTail.h"
#include "runtime/Library/OneDnn/OneDnn.h"

#include <cstring>

namespace weft::runtime::onednn {
namespace {

Status unsuitable(const std::string &reason) { return Status(StatusCode::UnsupportedDevice, reason); }

// Streams are cheap but not free; one a worker.
struct WorkerState {
  Stream stream;
  Memory scratchpad;
  struct KernelMemories {
    DnnlMemory source, weights, output, bias, scratchpad;
    std::vector<DnnlMemory> postOperands;
    std::vector<dnnl_exec_arg_t> arguments;
  };
  std::vector<KernelMemories> kernels;
};

class Workspace : public LibraryWorkspace {
public:
  std::vector<WorkerState> workers;
};

class TiledPlan : public LibraryPlan {
public:
  TiledPlan(const Api &api, const LibraryCall &call, const WeftAllocator &allocator)
      : api_(api), call_(call), allocator_(allocator) {}
  const std::string &implementation() const override { return implementation_; }
  StatusOr<std::unique_ptr<LibraryWorkspace>> makeWorkspace(int32_t workers) const override;
  Status execute(ThreadPool &pool, LibraryWorkspace &workspace, const TensorReference *operands,
                 const std::atomic<bool> &cancelled) const override;

  std::string implementation_;
  std::vector<Kernel> kernels_;
  std::vector<Tile> tiles_;
  bool hasBias_ = false;
  bool hasFewRows_ = false;
  size_t tailBegin_ = 0;

private:
  bool prepareWorker(WorkerState &worker) const;
  void runFewRows(const Tile &tile, const TensorReference *operands) const;
  dnnl_status_t runTile(WorkerState &worker, const Tile &tile, const TensorReference *operands) const;

  const Api &api_;
  const LibraryCall &call_;
  WeftAllocator allocator_;
};

bool TiledPlan::prepareWorker(WorkerState &worker) const {
  worker.stream = Stream(api_);
  if (api_.dnnl_stream_create(worker.stream.out(), api_.engine, dnnl_stream_default_flags) != dnnl_success)
    return false;
  for (const Kernel &kernel : kernels_) {
    WorkerState::KernelMemories memories;
    bool ok = true;
    auto make = [&](DnnlMemory &memory, const dnnl_memory_desc_t &description, int argument, void *data = nullptr) {
      memory = DnnlMemory(api_);
      ok &= api_.dnnl_memory_create(memory.out(), &description, api_.engine, data) == dnnl_success;
      memories.arguments.push_back({argument, memory.get()});
    };
    make(memories.source, kernel.source, DNNL_ARG_SRC);
    make(memories.weights, kernel.weights, DNNL_ARG_WEIGHTS);
    make(memories.output, kernel.output, DNNL_ARG_DST);
    if (hasBias_)
      make(memories.bias, kernel.bias, DNNL_ARG_BIAS);
    if (kernel.scratchpadBytes > 0)
      make(memories.scratchpad, kernel.scratchpad, DNNL_ARG_SCRATCHPAD, worker.scratchpad.data());
    memories.postOperands.resize(call_.epilogue.size());
    int position = 0;
    for (size_t index = hasBias_ ? 1 : 0; index < tailBegin_; ++index, ++position)
      if (hasOperand(call_.epilogue[index].kind))
        make(memories.postOperands[index], kernel.postOperands[index],
             DNNL_ARG_ATTR_MULTIPLE_POST_OP(position) | DNNL_ARG_SRC_1);
    if (!ok)
      return false;
    worker.kernels.push_back(std::move(memories));
  }
  return true;
}

StatusOr<std::unique_ptr<LibraryWorkspace>> TiledPlan::makeWorkspace(int32_t workers) const {
  if (hasFewRows_)
    return std::unique_ptr<LibraryWorkspace>(std::make_unique<Workspace>());
  size_t scratchpadBytes = 0;
  for (const Kernel &kernel : kernels_)
    scratchpadBytes = std::max(scratchpadBytes, kernel.scratchpadBytes);
  auto workspace = std::make_unique<Workspace>();
  workspace->workers.resize(static_cast<size_t>(workers));
  for (WorkerState &worker : workspace->workers) {
    if (scratchpadBytes > 0)
      WEFT_RETURN_IF_ERROR(worker.scratchpad.require(allocator_, scratchpadBytes, "oneDNN's scratchpad"));
    if (!prepareWorker(worker))
      return Status(StatusCode::ResourceExhausted, "oneDNN cannot create its memory objects");
  }
  return std::unique_ptr<LibraryWorkspace>(std::move(workspace));
}

void *advance(void *data, int64_t elements, ElementType type) {
  return static_cast<char *>(data) + elements * (storageBits(type) / 8);
}

dnnl_status_t TiledPlan::runTile(WorkerState &worker, const Tile &tile, const TensorReference *operands) const {
  const Kernel &kernel = kernels_[tile.kernel];
  WorkerState::KernelMemories &memories = worker.kernels[tile.kernel];
  auto point = [&](DnnlMemory &memory, const TensorReference &operand, int64_t offset) {
    return api_.dnnl_memory_set_data_handle(memory.get(), advance(operand.data, offset, operand.type));
  };
  point(memories.source, operands[0], tile.source);
  point(memories.output, operands[2], tile.output);
  auto packed = kernel.packed.find(tile.weights);
  if (packed != kernel.packed.end())
    memories.arguments[1].memory = packed->second->memory.get();
  else
    point(memories.weights, operands[1], tile.weights);
  for (size_t index = 0; index < tailBegin_; ++index) {
    const PostOp &step = call_.epilogue[index];
    if (!hasOperand(step.kind))
      continue;
    int64_t offset = step.kind == PostOpKind::Bias || step.broadcast == PostOpBroadcast::Column ? tile.column
                     : step.broadcast == PostOpBroadcast::Full                                  ? tile.output
                                                                                                : 0;
    point(index == 0 && hasBias_ ? memories.bias : memories.postOperands[index], operands[3 + index], offset);
  }
  dnnl_status_t status =
      api_.dnnl_primitive_execute(kernel.primitive.get(), worker.stream.get(),
                                  static_cast<int>(memories.arguments.size()), memories.arguments.data());
  if (status == dnnl_success && tailBegin_ < call_.epilogue.size())
    applyTail(call_.epilogue, tailBegin_, kernel.form, tile, operands);
  return status;
}

void TiledPlan::runFewRows(const Tile &tile, const TensorReference *operands) const {
  const KernelForm &form = kernels_[tile.kernel].form;
  auto place = [&](size_t operand, int64_t offset, const View &view) {
    return FewRowsOperand{static_cast<const float *>(operands[operand].data) + offset, view.strides[0],
                          view.strides[1]};
  };
  multiplyFewRows(form.rows, form.columns, form.source.dims[1], place(0, tile.source, form.source),
                  place(1, tile.weights, form.weights), static_cast<float *>(operands[2].data) + tile.output,
                  form.rowStride);
  applyTail(call_.epilogue, 0, form, tile, operands);
}

Status TiledPlan::execute(ThreadPool &pool, LibraryWorkspace &workspace, const TensorReference *operands,
                          const std::atomic<bool> &cancelled) const {
  if (hasFewRows_) {
    auto multiply = [&](int32_t, int64_t begin, int64_t end) {
      for (int64_t tile = begin; tile < end && !cancelled.load(std::memory_order_relaxed); ++tile)
        runFewRows(tiles_[static_cast<size_t>(tile)], operands);
    };
    pool.parallelFor(static_cast<int64_t>(tiles_.size()), 1, multiply);
    return Status();
  }
  auto &workers = static_cast<Workspace &>(workspace).workers;
  std::atomic<dnnl_status_t> failure{dnnl_success};
  auto run = [&](int32_t worker, int64_t begin, int64_t end) {
    SingleThread single(api_);
    for (int64_t tile = begin; tile < end; ++tile) {
      if (cancelled.load(std::memory_order_relaxed))
        return;
      dnnl_status_t status = runTile(workers[static_cast<size_t>(worker)], tiles_[static_cast<size_t>(tile)], operands);
      if (status != dnnl_success)
        failure.store(status, std::memory_order_relaxed);
    }
  };
  pool.parallelFor(static_cast<int64_t>(tiles_.size()), 1, run);
  if (failure.load() != dnnl_success)
    return Status(failure.load() == dnnl_out_of_memory ? StatusCode::ResourceExhausted : StatusCode::Internal,
                  api_.version + " failed with status " + std::to_string(failure.load()) + " in " + implementation_);
  return Status();
}

struct EltwiseForm {
  dnnl_alg_kind_t algorithm;
  float alpha, beta;
};

bool eltwiseForm(const PostOp &step, EltwiseForm &form) {
  form = {dnnl_alg_kind_undef, step.alpha, step.beta};
  switch (step.kind) {
  case PostOpKind::Relu:
    form.algorithm = dnnl_eltwise_relu;
    return true;
  case PostOpKind::GeluErf:
    form.algorithm = dnnl_eltwise_gelu_erf;
    return true;
  case PostOpKind::GeluTanh:
    form.algorithm = dnnl_eltwise_gelu_tanh;
    return true;
  case PostOpKind::Tanh:
    form.algorithm = dnnl_eltwise_tanh;
    return true;
  case PostOpKind::Logistic:
    form.algorithm = dnnl_eltwise_logistic;
    return true;
  case PostOpKind::Swish:
    form.algorithm = dnnl_eltwise_swish;
    return true;
  case PostOpKind::Elu:
    form.algorithm = dnnl_eltwise_elu;
    return true;
  case PostOpKind::Clip:
    form.algorithm = dnnl_eltwise_clip;
    return true;
  case PostOpKind::Linear:
    form.algorithm = dnnl_eltwise_linear;
    // A product keeps the sign of a zero, which adding +0 would take from it.
    if (step.alpha != 1 && step.beta == 0)
      form.beta = -0.0f;
    return true;
  case PostOpKind::Abs:
    form.algorithm = dnnl_eltwise_abs;
    return true;
  case PostOpKind::Sqrt:
    form.algorithm = dnnl_eltwise_sqrt;
    return true;
  case PostOpKind::Square:
    form.algorithm = dnnl_eltwise_square;
    return true;
  case PostOpKind::Exp:
    form.algorithm = dnnl_eltwise_exp;
    return true;
  case PostOpKind::HardSwish:
    form.algorithm = dnnl_eltwise_hardswish;
    return true;
  default:
    return false;
  }
}

dnnl_alg_kind_t binaryAlgorithm(PostOpKind kind) {
  switch (kind) {
  case PostOpKind::Subtract:
    return dnnl_binary_sub;
  case PostOpKind::Multiply:
    return dnnl_binary_mul;
  case PostOpKind::Divide:
    return dnnl_binary_div;
  case PostOpKind::Minimum:
    return dnnl_binary_min;
  case PostOpKind::Maximum:
    return dnnl_binary_max;
  default:
    return dnnl_binary_add; // Add, and a bias that is not the first step
  }
}

} // namespace

bool hasOperand(PostOpKind kind) {
  return kind == PostOpKind::Bias || (kind >= PostOpKind::Add && kind <= PostOpKind::Maximum);
}

dnnl_data_type_t dataType(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return dnnl_f32;
  case ElementType::BF16:
    return dnnl_bf16;
  default:
    return dnnl_data_type_undef;
  }
}

View contiguous(std::vector<int64_t> dims) {
  View view{std::move(dims), {}};
  view.strides.resize(view.dims.size());
  int64_t stride = 1;
  for (size_t axis = view.dims.size(); axis-- > 0;) {
    view.strides[axis] = stride;
    stride *= view.dims[axis];
  }
  return view;
}

Status initialize(const Api &api, dnnl_memory_desc_t &description, const View &view, dnnl_data_type_t type) {
  dnnl_dims_t dims = {}, strides = {};
  std::copy(view.dims.begin(), view.dims.end(), dims);
  std::copy(view.strides.begin(), view.strides.end(), strides);
  std::memset(&description, 0, sizeof(description));
  if (api.dnnl_memory_desc_init_by_strides(&description, static_cast<int>(view.dims.size()), dims, type, strides) !=
      dnnl_success)
    return unsuitable("oneDNN does not take the operands' shape");
  return Status();
}

Status TiledOperation::setPostOps(const KernelForm &form, const TensorReference *operands, Kernel &kernel,
                                  Attributes &attributes) const {
  PostOps postOps(api_);
  bool ok = api_.dnnl_post_ops_create(postOps.out()) == dnnl_success &&
            api_.dnnl_primitive_attr_create(attributes.out()) == dnnl_success;
  kernel.postOperands.resize(call_.epilogue.size());
  size_t end = tailBegin(call_.epilogue);
  if (!canApplyTail(call_.epilogue, end))
    return unsuitable("oneDNN would lose NaNs in the epilogue, which is left to our kernel");
  for (size_t index = 2; index < 3 + call_.epilogue.size() && end < call_.epilogue.size(); ++index)
    if ((index == 2 || (index >= 3 + end && hasOperand(call_.epilogue[index - 3].kind))) &&
        operands[index].type != ElementType::F32)
      return unsuitable("an epilogue of " + std::string(elementTypeName(operands[index].type)) +
                        " with a step that oneDNN computes wrongly is left to our kernel");
  for (size_t index = 0; ok && index < end; ++index) {
    const PostOp &step = call_.epilogue[index];
    if (index == 0 && step.kind == PostOpKind::Bias)
      continue;
    EltwiseForm eltwise;
    if (step.kind == PostOpKind::Sum) {
      ok = api_.dnnl_post_ops_append_sum(postOps.get(), step.alpha) == dnnl_success;
    } else if (eltwiseForm(step, eltwise)) {
      ok = api_.dnnl_post_ops_append_eltwise(postOps.get(), 1.0f, eltwise.algorithm, eltwise.alpha, eltwise.beta) ==
           dnnl_success;
    } else {
      bool column = step.kind == PostOpKind::Bias || step.broadcast == PostOpBroadcast::Column;
      View view = column                                      ? contiguous(form.columnDims)
                  : step.broadcast == PostOpBroadcast::Scalar ? contiguous(form.scalarDims)
                                                              : form.output;
      dnnl_memory_desc_t &description = kernel.postOperands[index];
      WEFT_RETURN_IF_ERROR(initialize(api_, description, view, dataType(operands[3 + index].type)));
      ok = api_.dnnl_post_ops_append_binary(postOps.get(), binaryAlgorithm(step.kind), &description) == dnnl_success;
    }
  }
  ok = ok && api_.dnnl_primitive_attr_set_post_ops(attributes.get(), postOps.get()) == dnnl_success &&
       api_.dnnl_primitive_attr_set_scratchpad_mode(attributes.get(), dnnl_scratchpad_mode_user) == dnnl_success;
  return ok ? Status() : unsuitable("oneDNN lacks the epilogue");
}

std::string TiledOperation::reasonToReject(const std::string &implementation) const {
  if (implementation.empty() || implementation.find("ref") != std::string::npos)
    return "oneDNN has only its slow reference implementation (" + implementation + ")";
  // oneDNN 2.6.3 was seen to compute wrong results here, for every operand that is not a scalar.
  bool twoOperands = false;
  for (size_t index = 0; index < tailBegin(call_.epilogue); ++index)
    twoOperands |= hasOperand(call_.epilogue[index].kind) && (index > 0 || call_.epilogue[0].kind != PostOpKind::Bias);
  if (std::holds_alternative<Convolution>(call_.operation) && twoOperands &&
      implementation.find("gemm") != std::string::npos)
    return "oneDNN's " + implementation +
           " convolution computes epilogues with operands wrongly, they are left to our kernel";
  return "";
}

StatusOr<const PackedWeights *> TiledOperation::packWeights(int64_t offset, const dnnl_memory_desc_t &plain,
                                                            const dnnl_memory_desc_t &layout, ElementType type) {
  for (const auto &candidate : packed_)
    if (candidate->offset == offset && api_.dnnl_memory_desc_equal(&candidate->description, &layout))
      return candidate.get();
  auto packed = std::make_unique<PackedWeights>();
  packed->offset = offset;
  packed->description = layout;
  packed->memory = DnnlMemory(api_);
  WEFT_RETURN_IF_ERROR(packed->bytes.require(allocator_, api_.dnnl_memory_desc_get_size(&layout), "packed weights"));
  void *source = advance(const_cast<void *>(rightValue_), offset, type);
  PrimitiveDescription description(api_);
  Primitive reorder(api_);
  DnnlMemory sourceMemory(api_);
  Stream stream(api_);
  bool ok = api_.dnnl_memory_create(packed->memory.out(), &layout, api_.engine, packed->bytes.data()) == dnnl_success &&
            api_.dnnl_memory_create(sourceMemory.out(), &plain, api_.engine, source) == dnnl_success &&
            api_.dnnl_reorder_primitive_desc_create(description.out(), &plain, api_.engine, &layout, api_.engine,
                                                    nullptr) == dnnl_success &&
            api_.dnnl_primitive_create(reorder.out(), description.get()) == dnnl_success &&
            api_.dnnl_stream_create(stream.out(), api_.engine, dnnl_stream_default_flags) == dnnl_success;
  dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, sourceMemory.get()}, {DNNL_ARG_TO, packed->memory.get()}};
  if (!ok || api_.dnnl_primitive_execute(reorder.get(), stream.get(), 2, arguments) != dnnl_success)
    return unsuitable("oneDNN cannot pack the weights");
  packed_.push_back(std::move(packed));
  return packed_.back().get();
}

Status TiledOperation::makeKernel(const KernelForm &form, const TensorReference *operands, bool pack,
                                  const std::vector<int64_t> &weightsOffsets, Kernel &kernel,
                                  std::string &implementation) {
  kernel.form = form;
  dnnl_memory_desc_t plain;
  WEFT_RETURN_IF_ERROR(initialize(api_, kernel.source, form.source, dataType(operands[0].type)));
  WEFT_RETURN_IF_ERROR(initialize(api_, plain, form.weights, dataType(operands[1].type)));
  WEFT_RETURN_IF_ERROR(initialize(api_, kernel.output, form.output, dataType(operands[2].type)));
  bool hasBias = !call_.epilogue.empty() && call_.epilogue[0].kind == PostOpKind::Bias;
  if (hasBias)
    WEFT_RETURN_IF_ERROR(initialize(api_, kernel.bias, contiguous(form.biasDims), dataType(operands[3].type)));
  Attributes attributes(api_);
  WEFT_RETURN_IF_ERROR(setPostOps(form, operands, kernel, attributes));

  // Layouts that are packed already come first, so that one packing serves several sizes.
  std::vector<dnnl_memory_desc_t> candidates;
  if (pack) {
    for (const auto &existing : packed_)
      if (existing->offset == weightsOffsets.front() && existing->description.ndims == plain.ndims &&
          std::equal(plain.dims, plain.dims + plain.ndims, existing->description.dims))
        candidates.push_back(existing->description);
    dnnl_memory_desc_t any = plain;
    api_.dnnl_memory_desc_init_by_tag(&any, plain.ndims, plain.dims, plain.data_type, dnnl_format_tag_any);
    candidates.push_back(any);
  } else {
    candidates.push_back(plain);
  }
  PrimitiveDescription description(api_);
  std::string rejected = "oneDNN has no implementation for these shapes and types";
  for (const dnnl_memory_desc_t &weights : candidates) {
    if (describe(form, kernel, weights, hasBias, attributes, description) != dnnl_success) {
      description.reset();
      continue;
    }
    const char *name = nullptr;
    api_.dnnl_primitive_desc_query(description.get(), dnnl_query_impl_info_str, 0, &name);
    implementation = name ? name : "";
    rejected = reasonToReject(implementation);
    if (rejected.empty())
      break;
    description.reset();
  }
  if (!description.get())
    return unsuitable(rejected);
  kernel.weights = *api_.dnnl_primitive_desc_query_md(description.get(), dnnl_query_weights_md, 0);
  kernel.scratchpad = *api_.dnnl_primitive_desc_query_md(description.get(), dnnl_query_scratchpad_md, 0);
  kernel.scratchpadBytes = api_.dnnl_memory_desc_get_size(&kernel.scratchpad);
  kernel.primitive = Primitive(api_);
  if (api_.dnnl_primitive_create(kernel.primitive.out(), description.get()) != dnnl_success)
    return unsuitable("oneDNN cannot create the primitive " + implementation);
  if (pack && !api_.dnnl_memory_desc_equal(&kernel.weights, &plain))
    for (int64_t offset : weightsOffsets) {
      auto packed = packWeights(offset, plain, kernel.weights, operands[1].type);
      if (!packed.ok())
        return packed.status();
      kernel.packed[offset] = *packed;
    }
  return Status();
}

StatusOr<const LibraryPlan *> TiledOperation::plan(const LibrarySizes &sizes, const TensorReference *operands) {
  std::vector<int64_t> key = {sizes.batch, sizes.m, sizes.n, sizes.k};
  for (size_t index = 0; index < 3 + call_.epilogue.size(); ++index)
    key.insert(key.end(), operands[index].dims, operands[index].dims + operands[index].rank);
  std::lock_guard<std::mutex> lock(mutex_);
  auto [position, isNew] = plans_.try_emplace(std::move(key));
  CachedPlan &cached = position->second;
  if (isNew) {
    SingleThread single(api_);
    auto plan = std::make_unique<TiledPlan>(api_, call_, allocator_);
    plan->hasBias_ = !call_.epilogue.empty() && call_.epilogue[0].kind == PostOpKind::Bias;
    plan->tailBegin_ = tailBegin(call_.epilogue);
    Cut pieces;
    cached.reason = cut(sizes, operands, pieces);
    plan->tiles_ = pieces.tiles;
    plan->hasFewRows_ = pieces.hasFewRows;
    if (pieces.hasFewRows) {
      plan->implementation_ = "few rows";
      for (KernelForm &form : pieces.forms) {
        plan->kernels_.emplace_back();
        plan->kernels_.back().form = std::move(form);
      }
      pieces.forms.clear();
    }
    for (size_t form = 0; form < pieces.forms.size() && cached.reason.ok(); ++form) {
      std::vector<int64_t> offsets;
      for (const Tile &tile : pieces.tiles)
        if (tile.kernel == form && std::find(offsets.begin(), offsets.end(), tile.weights) == offsets.end())
          offsets.push_back(tile.weights);
      Kernel kernel = {};
      std::string implementation;
      cached.reason =
          makeKernel(pieces.forms[form], operands, rightValue_ && canPack(sizes), offsets, kernel, implementation);
      if (form == 0)
        plan->implementation_ = "onednn " + implementation;
      plan->kernels_.push_back(std::move(kernel));
    }
    if (cached.reason.ok())
      cached.plan = std::move(plan);
  }
  if (!cached.plan)
    return cached.reason;
  return static_cast<const LibraryPlan *>(cached.plan.get());
}

} // namespace weft::runtime::onednn

namespace weft::runtime {

StatusOr<std::unique_ptr<LibraryOperation>> makeOneDnnOperation(const LibraryCall &call, const void *rightValue,
                                                                const WeftAllocator &allocator) {
  std::string reason;
  const onednn::Api *api = onednn::Api::get(reason);
  if (!api)
    return Status(StatusCode::UnsupportedDevice, reason);
  if (std::holds_alternative<Matmul>(call.operation))
    return std::unique_ptr<LibraryOperation>(onednn::makeMatmul(*api, call, rightValue, allocator));
  return std::unique_ptr<LibraryOperation>(onednn::makeConvolution(*api, call, rightValue, allocator));
}

StatusOr<std::string> oneDnnVersion() {
  std::string reason;
  const onednn::Api *api = onednn::Api::get(reason);
  if (!api)
    return Status(StatusCode::UnsupportedDevice, reason);
  return api->version;
}

} // namespace weft::runtime
