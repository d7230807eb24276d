//===- DeviceRun.cpp - The device that a command runs on ----------------------------------------------------===//

#include "tools/weft/DeviceRun.h"
#include "lib/Pipeline/Targets.h"
#include "runtime/Device/Cuda/Driver.h"
#include "runtime/Executor/CudaProgram.h"
#include "tools/weft/Diagnostics.h"

namespace weft::tool {

llvm::FailureOr<DeviceRun> openDevice(const DeviceOptions &options) {
  DeviceRun result;
  result.device = options.device;
  auto failed = [&](const std::string &message) {
    fail("--device=" + options.device + ": " + message);
    return llvm::failure();
  };
  if (options.simulated.count > 0) {
    if (options.device == "cpu")
      return failed("--gpu-sim simulates GPUs; give --device=cuda with it");
    runtime::StatusOr<std::string> library = runtime::cuda::useSimulatedGpus(options.simulated);
    if (!library.ok())
      return failed(library.status().message());
    result.driver = *library;
  }
  if (options.device == "cpu")
    return result;
  int index = 0;
  if (!runtime::parseCudaDevice(options.device, index))
    return failed("expected cpu, cuda or cuda:1");
  runtime::StatusOr<std::shared_ptr<runtime::cuda::Driver>> driver = runtime::cuda::Driver::open(result.driver);
  if (!driver.ok())
    return failed(driver.status().message());
  auto devices = runtime::cuda::listDevices(**driver);
  if (!devices.ok())
    return failed(devices.status().message());
  if (static_cast<size_t>(index) >= devices->size())
    return failed("there are " + std::to_string(devices->size()) + " GPUs");
  int architecture = (*devices)[index].architecture;
  std::string chip = chipForArchitecture(architecture);
  if (chip.empty())
    return failed((*devices)[index].name + ", sm_" + std::to_string(architecture) +
                  ", is older than any GPU that there are kernels for");
  result.target = "cuda:" + chip;
  return result;
}

} // namespace weft::tool
