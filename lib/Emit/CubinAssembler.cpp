//===- CubinAssembler.cpp - PTX to machine code, by NVIDIA's assembler -------------------------------------===//

#include "lib/Emit/CubinAssembler.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdlib>
#include <dlfcn.h>

namespace weft::emit {

namespace {

/// nvJitLink's functions, all of which return 0 on success.
struct JitLink {
  int (*create)(void **handle, uint32_t count, const char **options) = nullptr;
  int (*destroy)(void **handle) = nullptr;
  int (*addData)(void *handle, int inputType, const void *data, size_t size, const char *name) = nullptr;
  int (*complete)(void *handle) = nullptr;
  int (*errorLogSize)(void *handle, size_t *size) = nullptr;
  int (*errorLog)(void *handle, char *log) = nullptr;
  int (*cubinSize)(void *handle, size_t *size) = nullptr;
  int (*cubin)(void *handle, void *cubin) = nullptr;
  std::string place, reason;

  JitLink() {
    llvm::SmallVector<std::string> names = {"libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so"};
    if (const char *home = std::getenv("CUDA_HOME"))
      names.insert(names.begin(), std::string(home) + "/lib64/libnvJitLink.so");
    names.push_back("/usr/local/cuda/lib64/libnvJitLink.so");
    void *library = nullptr;
    for (const std::string &name : names) {
      library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!library)
        continue;
      place = name;
      break;
    }
    if (!library) {
      reason = "nvJitLink, NVIDIA's assembler, is not there; looked for " + llvm::join(names, ", ") +
               ". It comes with the CUDA toolkit; CUDA_HOME says where that is";
      return;
    }
    auto symbol = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (!function && reason.empty())
        reason = place + " does not define " + name;
    };
    symbol(create, "nvJitLinkCreate");
    symbol(destroy, "nvJitLinkDestroy");
    symbol(addData, "nvJitLinkAddData");
    symbol(complete, "nvJitLinkComplete");
    symbol(errorLogSize, "nvJitLinkGetErrorLogSize");
    symbol(errorLog, "nvJitLinkGetErrorLog");
    symbol(cubinSize, "nvJitLinkGetLinkedCubinSize");
    symbol(cubin, "nvJitLinkGetLinkedCubin");
    if (!reason.empty())
      place.clear();
  }

  static const JitLink &get() {
    static const JitLink instance;
    return instance;
  }
};

} // namespace

std::string findCubinAssembler(std::string &reason) {
  reason = JitLink::get().reason;
  return JitLink::get().place;
}

llvm::Expected<std::vector<uint8_t>> assembleCubin(const std::string &ptx, llvm::StringRef chip) {
  const JitLink &jit = JitLink::get();
  auto error = [](const std::string &text) { return llvm::createStringError(text); };
  if (jit.place.empty())
    return error(jit.reason);
  std::string target = ("-arch=" + chip).str();
  const char *options[] = {target.c_str()};
  void *handle = nullptr;
  if (jit.create(&handle, 1, options) != 0)
    return error(jit.place + " does not know " + chip.str());
  constexpr int kPtxInput = 2;
  size_t size = 0;
  bool good = jit.addData(handle, kPtxInput, ptx.c_str(), ptx.size() + 1, "kernels.ptx") == 0 &&
              jit.complete(handle) == 0 && jit.cubinSize(handle, &size) == 0;
  std::vector<uint8_t> cubin(good ? size : 0);
  good = good && jit.cubin(handle, cubin.data()) == 0;
  std::string log;
  if (!good && jit.errorLogSize(handle, &size) == 0 && size > 1) {
    log.resize(size);
    jit.errorLog(handle, log.data());
    log = llvm::StringRef(log.c_str()).trim().str();
  }
  jit.destroy(&handle);
  if (!good)
    return error("nvJitLink cannot assemble the kernels for " + chip.str() + (log.empty() ? "" : ": " + log));
  return cubin;
}

} // namespace weft::emit
