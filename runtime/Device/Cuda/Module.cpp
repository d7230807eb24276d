// Loading kernels: a cubin where the GPU understands it, else PTX.
#include "runtime/Artifact/CudaArchitecture.h"
#include "runtime/Artifact/Hash.h"
#include "runtime/Device/Cuda/Device.h"

#include <vector>

namespace weft::runtime::cuda {

StatusOr<std::shared_ptr<Module>> Device::module(ByteSpan ptx, ByteSpan cubin) {
  WEFT_RETURN_IF_ERROR(failure());
  Hash128 first = hashBytes(ptx.data, ptx.size), second = hashBytes(cubin.data, cubin.size);
  std::array<uint64_t, 4> key = {first[0], first[1], second[0], second[1]};
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (std::shared_ptr<Module> module = modules_[key].lock())
      return module;
  }
  auto module = std::make_shared<Module>(shared_from_this());
  WEFT_RETURN_IF_ERROR(module->load(ptx, cubin));
  std::lock_guard<std::mutex> lock(mutex_);
  modules_[key] = module;
  return module;
}

Module::~Module() {
  if (!handle_)
    return;
  Current current(*device_);
  device_->driver().ModuleUnload(handle_);
}

Result Module::loadImage(const void *image, std::string &log) {
  std::vector<char> buffer(8192);
  int options[] = {kJitErrorLogBuffer, kJitErrorLogBufferBytes};
  void *values[] = {buffer.data(), reinterpret_cast<void *>(static_cast<uintptr_t>(buffer.size() - 1))};
  Result result = device_->driver().ModuleLoadDataEx(&handle_, image, 2, options, values);
  if (result != kSuccess)
    handle_ = nullptr;
  log = buffer.data();
  while (!log.empty() && log.back() == '\n')
    log.pop_back();
  return result;
}

Status Module::load(ByteSpan ptx, ByteSpan cubin) {
  Current current(*device_);
  std::string log;
  if (cubin.size > 0) {
    Result result = loadImage(cubin.data, log);
    if (result == kSuccess) {
      form_ = "cubin";
      return Status();
    }
    WEFT_RETURN_IF_ERROR(isSticky(result) ? device_->check(result, "loading kernels") : Status());
    reason_ = device_->driver().describe(result);
  }
  Result result = loadImage(ptx.data, log);
  if (result == kUnsupportedPtxVersion || result == kJitCompilerNotFound)
    return Status(StatusCode::UnsupportedDevice,
                  "the driver, for CUDA " + device_->driver().versionText() + ", cannot assemble the artifact's PTX (" +
                      device_->driver().describe(result) +
                      "); install a newer NVIDIA driver, or compile the model with kernels that are assembled "
                      "already: --target=cuda:sm_" +
                      std::to_string(device_->architecture()) + "+cubin");
  return device_->check(result, "the kernels cannot be loaded on " + device_->describe() +
                                    (log.empty() ? std::string() : " (" + log + ")"));
}

FunctionHandle Module::find(const std::string &name) const {
  FunctionHandle function = nullptr;
  return device_->driver().ModuleGetFunction(&function, handle_, name.c_str()) == kSuccess ? function : nullptr;
}

} // namespace weft::runtime::cuda
