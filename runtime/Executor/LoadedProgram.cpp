// Loading: verify, choose a target, load its kernels, find each op's implementation.
#include "runtime/Executor/LoadedProgram.h"

#include "runtime/Artifact/CpuFeatures.h"
#include "runtime/Artifact/CudaArchitecture.h"
#include "runtime/Artifact/Expressions.h"
#include "runtime/Executor/CudaProgram.h"
#include "runtime/Executor/Driver.h"
#include "runtime/Executor/ExecutionContext.h"
#include "runtime/Library/OneDnn/OneDnn.h"

#include <algorithm>
#include <cstring>

namespace weft::runtime {

std::string quoted(const std::string &name) { return "\"" + name + "\""; }

std::string quotedList(const std::vector<std::string> &names) {
  constexpr size_t kShown = 20;
  std::string text;
  for (size_t i = 0; i < names.size() && i < kShown; ++i)
    text += (i ? ", " : "") + quoted(names[i]);
  if (names.size() > kShown)
    text += " and " + std::to_string(names.size() - kShown) + " more";
  return text;
}

LoadedProgram::~LoadedProgram() = default;

void LoadedProgram::log(WeftLogLevel level, const std::string &message) const {
  if (options_.log)
    options_.log(options_.logUser, level, message.c_str());
}

StatusOr<std::shared_ptr<LoadedProgram>> LoadedProgram::loadFile(const std::string &path, LoadOptions options) {
  std::shared_ptr<LoadedProgram> program(new LoadedProgram());
  program->options_ = std::move(options);
  auto file = MappedFile::open(path);
  if (!file.ok())
    return file.status();
  program->file_ = std::move(*file);
  Status status = program->load(program->file_->data(), program->file_->size());
  if (!status.ok())
    return status.withContext(path);
  return program;
}

StatusOr<std::shared_ptr<LoadedProgram>> LoadedProgram::loadMemory(const void *data, size_t size, LoadOptions options) {
  std::shared_ptr<LoadedProgram> program(new LoadedProgram());
  program->options_ = std::move(options);
  if (reinterpret_cast<uintptr_t>(data) % WEFT_BUFFER_ALIGNMENT != 0) {
    WEFT_RETURN_IF_ERROR(program->copy_.require(program->options_.allocator, size, "a copy of the artifact"));
    std::memcpy(program->copy_.data(), data, size);
    data = program->copy_.data();
  }
  WEFT_RETURN_IF_ERROR(program->load(static_cast<const uint8_t *>(data), size));
  return program;
}

Status LoadedProgram::rateTargets(std::vector<int> &fits) const {
  std::string needs;
  bool any = false;
  for (const Target &target : program().targets) {
    std::vector<std::string> missing;
    int fit = 0;
    if (cuda_ && target.device == "cuda") {
      CudaArchitecture architecture;
      parseCudaArchitecture(target.architecture, architecture);
      if (runsPtx(cuda_->device->architecture(), architecture))
        fit = architecture.number * 2 + (architecture.suffix ? 1 : 0);
    } else if (!cuda_ && target.device == "cpu" && target.architecture == hostArchitecture()) {
      for (const std::string &feature : target.features)
        if (!hostHasCpuFeature(feature))
          missing.push_back(feature);
      fit = missing.empty();
    }
    fits.push_back(fit);
    any |= fit > 0;
    needs += needs.empty() ? "" : "; ";
    needs += quoted(target.name) + " (" + target.device + ", " + target.architecture;
    if (!missing.empty()) {
      needs += ", lacking here:";
      for (const std::string &feature : missing)
        needs += " " + feature;
    }
    needs += ")";
  }
  if (any)
    return Status();
  std::string compiled = "the artifact was compiled for " + (needs.empty() ? std::string("no target at all") : needs);
  if (cuda_)
    return Status(StatusCode::UnsupportedDevice, compiled + "; this GPU is " + cuda_->device->describe() +
                                                     ". Compile the model for it: weft compile --target=cuda:sm_" +
                                                     std::to_string(cuda_->device->architecture()));
  return Status(StatusCode::UnsupportedDevice,
                compiled + "; this machine is " + std::string(hostArchitecture()) + ", " + hostCpuName() +
                    ". Compile the model for it: weft compile --cpu=native on this machine, or --cpu=x86-64-v3");
}

Status LoadedProgram::openDevice() {
  if (options_.device == "cpu") {
    if (options_.threadPool)
      return Status();
    auto pool = ThreadPool::shared();
    if (!pool.ok())
      return pool.status();
    options_.threadPool = *pool;
    return Status();
  }
  int index = 0;
  if (!parseCudaDevice(options_.device, index))
    return Status(StatusCode::UnsupportedDevice,
                  "there is no device " + quoted(options_.device) + "; expected \"cpu\", \"cuda\" or \"cuda:1\"");
  auto device = cuda::Device::open(options_.cudaDriver, index);
  if (!device.ok())
    return device.status().withContext("device " + quoted(options_.device));
  cuda_ = std::make_unique<CudaProgram>();
  cuda_->device = std::move(*device);
  return Status();
}

Status LoadedProgram::load(const uint8_t *data, size_t size) {
  WEFT_RETURN_IF_ERROR(openDevice());
  WEFT_RETURN_IF_ERROR(readArtifact(data, size, artifact_));
  if (options_.checkWeights)
    WEFT_RETURN_IF_ERROR(weft::runtime::checkWeights(artifact_));
  std::vector<int> fits;
  WEFT_RETURN_IF_ERROR(rateTargets(fits));
  kernels_.resize(fits.size());
  if (cuda_)
    cuda_->modules.resize(fits.size());
  for (const Entry &entry : program().entries) {
    // One target an entry: the one that fits best and has variants of it.
    size_t target = fits.size();
    for (const Variant &variant : entry.variants)
      if (fits[variant.target] > 0 && (target == fits.size() || fits[variant.target] > fits[target] ||
                                       (fits[variant.target] == fits[target] && variant.target < target)))
        target = variant.target;
    if (target == fits.size())
      return Status(StatusCode::UnsupportedDevice,
                    "entry " + quoted(entry.name) + " has no variant for this " + (cuda_ ? "GPU" : "machine"));
    if (targetName_.empty())
      targetName_ = program().targets[target].name;
    WEFT_RETURN_IF_ERROR(loadKernels(target));
    entries_.emplace_back();
    entries_.back().entry = &entry;
    for (const Variant &variant : entry.variants) {
      if (variant.target != target)
        continue;
      entries_.back().variants.push_back(std::make_unique<LoadedVariant>());
      WEFT_RETURN_IF_ERROR(loadVariant(entry, variant, *entries_.back().variants.back()));
    }
  }
  return cuda_ ? uploadWeights() : Status();
}

Status LoadedProgram::loadKernels(size_t target) {
  const ByteSpan &image = artifact_.kernels[target];
  if (image.size == 0)
    return Status();
  if (cuda_) {
    if (cuda_->modules[target])
      return Status();
    auto module = cuda_->device->module(image, artifact_.cubins[target]);
    if (!module.ok())
      return module.status();
    cuda_->modules[target] = std::move(*module);
    if (!cuda_->modules[target]->reason().empty())
      log(WEFT_LOG_INFO, "the driver assembles the PTX of target " + quoted(program().targets[target].name) +
                             "; its cubin is not of use here: " + cuda_->modules[target]->reason());
    return Status();
  }
  if (kernels_[target])
    return Status();
  auto kernels = KernelLibrary::load(image.data, image.size);
  if (!kernels.ok())
    return kernels.status();
  kernels_[target] = std::move(*kernels);
  return Status();
}

Status LoadedProgram::loadVariant(const Entry &entry, const Variant &variant, LoadedVariant &loaded) {
  loaded.entry = &entry;
  loaded.variant = &variant;
  for (const Block &block : variant.blocks) {
    loaded.blockStart.push_back(loaded.ops.size());
    for (const Op &op : block.ops) {
      loaded.ops.emplace_back();
      Status status = loadOp(variant, op, loaded.ops.back());
      if (!status.ok())
        return status.withContext("entry " + quoted(entry.name) + ", op " + quoted(op.name));
    }
  }
  return Status();
}

Status LoadedProgram::findKernel(const Variant &variant, const Launch &launch, LoadedOp &loaded) const {
  loaded.implementation = launch.kernel;
  if (cuda_)
    return findCudaKernel(variant, launch, loaded);
  const KernelLibrary *kernels = kernels_[variant.target].get();
  loaded.kernel = kernels ? kernels->find(launch.kernel) : nullptr;
  return loaded.kernel ? Status() : Status(StatusCode::DataLoss, "the artifact has no kernel " + quoted(launch.kernel));
}

Status LoadedProgram::loadOp(const Variant &variant, const Op &op, LoadedOp &loaded) {
  loaded.op = &op;
  for (const std::string &node : op.sourceNodes)
    loaded.sourceNodes.push_back(node.c_str());
  if (const auto *launch = std::get_if<Launch>(&op.body)) {
    loaded.outputs = launch->outputs;
    return findKernel(variant, *launch, loaded);
  }
  if (const auto *call = std::get_if<LibraryCall>(&op.body)) {
    loaded.outputs = {call->output};
    WEFT_RETURN_IF_ERROR(findKernel(variant, call->alternative, loaded));
    chooseLibrary(variant, *call, loaded);
    return Status();
  }
  if (const auto *copy = std::get_if<Copy>(&op.body))
    loaded.outputs = {copy->destination};
  else if (const auto *fill = std::get_if<Fill>(&op.body))
    loaded.outputs = {fill->destination};
  return Status();
}

// Decides at the smallest sizes of the variant, which also packs the weights. At other sizes the decision may turn out
// otherwise; the executor asks again when it meets them.
void LoadedProgram::chooseLibrary(const Variant &variant, const LibraryCall &call, LoadedOp &loaded) {
  if (!options_.useLibraries) {
    loaded.reason = "libraries are switched off";
    return;
  }
  if (cuda_ || call.library != "onednn") {
    loaded.reason = "this runtime does not know library " + quoted(call.library);
    return;
  }
  const Buffer &right = variant.buffers[call.right];
  const void *rightValue = right.kind == BufferKind::Weight ? weights()[right.index].data : nullptr;
  auto operation = makeOneDnnOperation(call, rightValue, options_.allocator);
  if (!operation.ok()) {
    loaded.reason = operation.status().message();
  } else {
    std::vector<int64_t> symbols;
    for (const Symbol &symbol : program().symbols)
      symbols.push_back(std::max<int64_t>(symbol.minimum, std::min<int64_t>(1, symbol.maximum)));
    for (const SymbolRange &range : variant.ranges)
      symbols[range.symbol] = std::max(symbols[range.symbol], range.minimum);
    LibraryArguments arguments;
    Status status = evaluateLibraryArguments(variant, call, symbols.data(), arguments);
    if (status.ok()) {
      auto plan = (*operation)->plan(arguments.sizes, arguments.operands.data());
      if (plan.ok()) {
        loaded.library = std::move(*operation);
        loaded.implementation = (*plan)->implementation();
        // Where the weights were packed, the copy is what runs read.
        if (rightValue && file_)
          file_->release(weights()[right.index].data, weights()[right.index].size);
      } else {
        status = plan.status();
      }
    }
    loaded.reason = status.message();
  }
  if (loaded.library)
    log(WEFT_LOG_DEBUG, "op " + quoted(loaded.op->name) + " runs on " + loaded.implementation);
  else
    log(WEFT_LOG_INFO, "op " + quoted(loaded.op->name) + " runs on our kernel " + quoted(call.alternative.kernel) +
                           " instead of " + call.library + ": " + loaded.reason);
}

StatusOr<Driver *> LoadedProgram::driver() {
  std::lock_guard<std::mutex> lock(driverMutex_);
  if (!driver_) {
    auto driver = Driver::create();
    if (!driver.ok())
      return driver.status();
    driver_ = std::move(*driver);
  }
  return driver_.get();
}

} // namespace weft::runtime
