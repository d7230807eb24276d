//===- DoctorCommand.cpp - weft doctor
//------------------------------------------------------------------------------===//

#include "runtime/Artifact/CpuFeatures.h"
#include "tools/weft/Commands.h"
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
    {"libcuda.so.1", "the CUDA driver", "no NVIDIA GPU can be used; nothing else changes", "install NVIDIA's driver"},
    {"libnvJitLink.so.13", "nvJitLink", "PTX is not checked by NVIDIA's assembler before it runs",
     "install the CUDA toolkit 13"},
    {"libnvrtc.so.13", "NVRTC", "custom kernels in CUDA C++ cannot be compiled", "install the CUDA toolkit 13"},
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
  return 0;
}

} // namespace weft::tool
