//===- DoctorCommand.cpp - weft doctor
//------------------------------------------------------------------------------===//

#include "lib/Emit/CubinAssembler.h"
#include "lib/Pipeline/Targets.h"
#include "runtime/Artifact/CpuFeatures.h"
#include "runtime/Device/Cuda/Driver.h"
#include "runtime/Device/Cuda/SimulatedGpus.h"
#include "tools/weft/Commands.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <dlfcn.h>
#include <thread>

namespace weft::tool {

namespace {

struct Library {
  const char *file, *what, *cost, *get;
};

// What is looked for by dlopen, and what it costs where it is missing.
constexpr Library kLibraries[] = {
    {"libdnnl.so.2", "oneDNN", "matrix products and convolutions run on our own kernels, several times slower",
     "apt-get install libdnnl2"},
    {"libnvrtc.so.13", "NVRTC", "weft-ptx cannot compile CUDA C++", "install the CUDA toolkit 13"},
    {"libcublasLt.so.13", "cuBLASLt", "nothing yet: matrix products on GPUs run on our own kernels",
     "install the CUDA toolkit 13"},
    {"libcudnn.so.9", "cuDNN", "nothing yet: convolutions on GPUs run on our own kernels", "install cuDNN 9"},
};

/// Whether a library can be loaded, and where it lies.
bool findLibrary(const char *file, std::string &place) {
  void *handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) {
    // The toolkit's usual place is not always in the loader's path.
    std::string inToolkit = std::string("/usr/local/cuda/lib64/") + file;
    handle = dlopen(inToolkit.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (!handle)
      return false;
    place = inToolkit;
  }
  dlclose(handle);
  return true;
}

bool hasAll(std::initializer_list<const char *> features) {
  for (const char *feature : features)
    if (!runtime::hostHasCpuFeature(feature))
      return false;
  return true;
}

/// The machine's driver and its GPUs.
void printGpus(llvm::raw_ostream &os) {
  runtime::StatusOr<std::shared_ptr<runtime::cuda::Driver>> driver = runtime::cuda::Driver::open("");
  if (!driver.ok()) {
    os << "[missing] NVIDIA GPU: no GPU of this machine can be used; nothing else changes. "
       << driver.status().message() << "\n";
    return;
  }
  os << "[ok]      the CUDA driver: " << (*driver)->library() << ", for CUDA " << (*driver)->versionText() << "\n";
  auto devices = runtime::cuda::listDevices(**driver);
  if (!devices.ok()) {
    os << "[missing] " << devices.status().message() << "\n";
    return;
  }
  for (auto [index, device] : llvm::enumerate(*devices)) {
    std::string chip = chipForArchitecture(device.architecture);
    os << (chip.empty() ? "[missing] " : "[ok]      ") << "cuda:" << index << ": " << device.name << ", sm_"
       << device.architecture << ", " << (device.bytes >> 20) << " MiB"
       << (chip.empty() ? ": older than any GPU that there are kernels for" : ", for --target=cuda:" + chip) << "\n";
  }
}

void printAssembler(llvm::raw_ostream &os) {
  std::string reason, place = emit::findCubinAssembler(reason);
  if (place.empty())
    os << "[missing] nvJitLink: --target=...+cubin is an error, so drivers assemble the PTX when a program is loaded, "
          "and "
          "the simulated GPU does not ask NVIDIA's assembler for its opinion. "
       << reason << "\n";
  else
    os << "[ok]      nvJitLink: " << place << "\n";
}

void printSimulator(llvm::raw_ostream &os) {
  runtime::StatusOr<std::string> library = runtime::cuda::findSimulatedGpus();
  if (library.ok())
    os << "[ok]      simulated GPUs (--gpu-sim): " << *library << "\n";
  else
    os << "[missing] simulated GPUs: programs for GPUs cannot be tried without one. " << library.status().message()
       << "\n";
}

} // namespace

int runDoctor() {
  llvm::raw_ostream &os = llvm::outs();
  os << "weft 0.1.0\n";
  os << "[ok]      CPU: " << runtime::hostCpuName() << ", " << std::thread::hardware_concurrency() << " threads\n";
  bool v3 = hasAll({"avx2", "fma", "bmi2", "f16c"}), v4 = v3 && hasAll({"avx512f", "avx512bw", "avx512dq", "avx512vl"});
  os << (v3 ? "[ok]      " : "[missing] ") << "x86-64-v3 (AVX2, FMA)"
     << (v3 ? "\n" : ": artifacts compiled with --cpu=x86-64-v3 are refused here\n");
  os << (v4 ? "[ok]      " : "[missing] ") << "x86-64-v4 (AVX-512)"
     << (v4 ? "\n"
            : ": artifacts compiled with --cpu=x86-64-v4 are refused here; compile with --cpu=native or x86-64-v3\n");
  for (const Library &library : kLibraries) {
    std::string place = library.file;
    if (findLibrary(library.file, place))
      os << "[ok]      " << library.what << ": " << place << "\n";
    else
      os << "[missing] " << library.what << " (" << library.file << "): " << library.cost
         << ". To get it: " << library.get << "\n";
  }
  printGpus(os);
  printAssembler(os);
  printSimulator(os);
  return 0;
}

} // namespace weft::tool
