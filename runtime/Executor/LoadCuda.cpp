// Loading on a GPU: kernels are checked against what they will be given, weights are uploaded once.
#include "runtime/Executor/CudaProgram.h"
#include "runtime/Executor/LoadedProgram.h"

namespace weft::runtime {

bool parseCudaDevice(const std::string &name, int &index) {
  const std::string kName = "cuda", kPrefix = "cuda:";
  index = 0;
  if (name == kName)
    return true;
  if (name.compare(0, kPrefix.size(), kPrefix) != 0 || name.size() == kPrefix.size() ||
      name.size() > kPrefix.size() + 4)
    return false;
  for (size_t position = kPrefix.size(); position < name.size(); ++position) {
    if (name[position] < '0' || name[position] > '9')
      return false;
    index = index * 10 + (name[position] - '0');
  }
  return true;
}

CudaProgram::~CudaProgram() {
  if (!device)
    return;
  cuda::Current current(*device);
  weights.clear();
  modules.clear();
}

Status LoadedProgram::findCudaKernel(const Variant &variant, const Launch &launch, LoadedOp &loaded) const {
  const cuda::Device &device = *cuda_->device;
  const cuda::Driver &driver = device.driver();
  cuda::Current current(device);
  const cuda::Module *module = cuda_->modules[variant.target].get();
  loaded.function = module ? module->find(launch.kernel) : nullptr;
  if (!loaded.function)
    return Status(StatusCode::DataLoss, "the artifact has no kernel " + quoted(launch.kernel));
  // A kernel that takes something else than it will be given would read past the arguments.
  size_t expected = launch.inputs.size() + launch.outputs.size() + program().symbols.size() + 5;
  for (size_t index = 0; driver.FuncGetParamInfo && index <= expected; ++index) {
    size_t offset = 0, size = 0;
    bool there = driver.FuncGetParamInfo(loaded.function, index, &offset, &size) == cuda::kSuccess;
    if (there != (index < expected) || (there && size != 8))
      return Status(StatusCode::DataLoss, "kernel " + quoted(launch.kernel) + " does not take the " +
                                              std::to_string(expected) + " arguments of 8 bytes that its launch has");
  }
  int threads = 0, declared = 0;
  WEFT_RETURN_IF_ERROR(device.check(
      driver.FuncGetAttribute(&threads, cuda::kFunctionMaxThreadsPerBlock, loaded.function), "describing a kernel"));
  WEFT_RETURN_IF_ERROR(device.check(driver.FuncGetAttribute(&declared, cuda::kFunctionSharedBytes, loaded.function),
                                    "describing a kernel"));
  if (launch.threads > threads)
    return Status(StatusCode::UnsupportedDevice, "kernel " + quoted(launch.kernel) + " is launched with " +
                                                     std::to_string(launch.threads) + " threads a block; on " +
                                                     device.describe() + " it can have " + std::to_string(threads));
  if (launch.sharedBytes + declared > device.sharedBytesOfBlock())
    return Status(StatusCode::UnsupportedDevice, "kernel " + quoted(launch.kernel) + " needs " +
                                                     std::to_string(launch.sharedBytes + declared) +
                                                     " bytes of shared memory; " + device.describe() + " has " +
                                                     std::to_string(device.sharedBytesOfBlock()) + " for a block");
  if (launch.sharedBytes == 0)
    return Status();
  // Launches of one kernel may ask for different amounts: the limit only grows.
  int limit = 0;
  WEFT_RETURN_IF_ERROR(device.check(
      driver.FuncGetAttribute(&limit, cuda::kFunctionMaxDynamicSharedBytes, loaded.function), "describing a kernel"));
  if (launch.sharedBytes <= limit)
    return Status();
  return device.check(driver.FuncSetAttribute(loaded.function, cuda::kFunctionMaxDynamicSharedBytes,
                                              static_cast<int>(launch.sharedBytes)),
                      "giving kernel " + quoted(launch.kernel) + " its shared memory");
}

Status LoadedProgram::uploadWeights() {
  const cuda::Device &device = *cuda_->device;
  const cuda::Driver &driver = device.driver();
  cuda::Current current(device);
  cuda_->weights.resize(program().weights.size());
  uint64_t all = 0;
  std::vector<bool> used(cuda_->weights.size());
  for (const LoadedEntry &entry : entries_)
    for (const auto &variant : entry.variants)
      for (const Buffer &buffer : variant->variant->buffers)
        if (buffer.kind == BufferKind::Weight && !used[buffer.index]) {
          used[buffer.index] = true;
          all += weights()[buffer.index].size;
        }
  for (size_t index = 0; index < used.size(); ++index) {
    if (!used[index])
      continue;
    const ByteSpan &bytes = weights()[index];
    cuda::DeviceMemory &memory = cuda_->weights[index];
    Status status =
        memory.require(device, device.stream(), bytes.size, "weight " + quoted(program().weights[index].name));
    if (status.code() == StatusCode::ResourceExhausted)
      return Status(status.code(), status.message() + "; the weights take " + std::to_string(all) + " bytes in all");
    WEFT_RETURN_IF_ERROR(status);
    if (bytes.size > 0)
      WEFT_RETURN_IF_ERROR(device.check(
          driver.MemcpyHtoDAsync(memory.address(), bytes.data, bytes.size, device.stream()), "uploading weights"));
  }
  cuda_->weightBytes = all;
  return device.check(driver.StreamSynchronize(device.stream()), "uploading weights");
}

} // namespace weft::runtime
