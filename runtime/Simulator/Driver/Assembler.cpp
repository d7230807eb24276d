//===- Assembler.cpp - The real assembler's verdict on PTX, through nvJitLink -----------------------------===//
#include "runtime/Simulator/Driver/State.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

namespace weft::simulator {

namespace {
/// The functions of nvJitLink that are used; a result of 0 is success.
struct JitLink {
  int (*create)(void **handle, uint32_t count, const char **options) = nullptr;
  int (*destroy)(void **handle) = nullptr;
  int (*add)(void *handle, int inputType, const void *data, size_t size, const char *name) = nullptr;
  int (*complete)(void *handle) = nullptr;
  int (*errorSize)(void *handle, size_t *size) = nullptr;
  int (*error)(void *handle, char *log) = nullptr;
  int (*infoSize)(void *handle, size_t *size) = nullptr;
  int (*info)(void *handle, char *log) = nullptr;
  bool present = false;

  JitLink() {
    void *library = nullptr;
    std::vector<std::string> names = {"libnvJitLink.so.13", "libnvJitLink.so"};
    if (const char *home = std::getenv("CUDA_HOME"))
      names.insert(names.begin(), std::string(home) + "/lib64/libnvJitLink.so");
    names.push_back("/usr/local/cuda/lib64/libnvJitLink.so");
    for (const std::string &name : names)
      if (!library)
        library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return;
    auto symbol = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    present = symbol(create, "nvJitLinkCreate") && symbol(destroy, "nvJitLinkDestroy") &&
              symbol(add, "nvJitLinkAddData") && symbol(complete, "nvJitLinkComplete") &&
              symbol(errorSize, "nvJitLinkGetErrorLogSize") && symbol(error, "nvJitLinkGetErrorLog") &&
              symbol(infoSize, "nvJitLinkGetInfoLogSize") && symbol(info, "nvJitLinkGetInfoLog");
  }
};

/// "Compiling entry function 'k' for 'sm_90'" followed by "Used 24 registers".
void readRegisters(const std::string &log, std::map<std::string, unsigned> &registers) {
  std::string kernel;
  size_t at = 0;
  while (at < log.size()) {
    size_t end = std::min(log.find('\n', at), log.size());
    std::string line = log.substr(at, end - at);
    size_t name = line.find("entry function '");
    if (name != std::string::npos) {
      name += std::strlen("entry function '");
      kernel = line.substr(name, line.find('\'', name) - name);
    }
    size_t used = line.find("Used ");
    if (used != std::string::npos && !kernel.empty())
      registers[kernel] = unsigned(std::strtoul(line.c_str() + used + 5, nullptr, 10));
    at = end + 1;
  }
}
} // namespace

bool assemblePtx(const std::string &text, unsigned architecture, std::string &log,
                 std::map<std::string, unsigned> &registers) {
  static const JitLink jit;
  log.clear();
  if (!jit.present)
    return true;
  std::string target = "-arch=sm_" + std::to_string(architecture);
  const char *options[] = {target.c_str(), "-verbose"};
  void *handle = nullptr;
  if (jit.create(&handle, 2, options) != 0)
    return true; // an architecture that this toolkit does not know: no verdict
  constexpr int ptxInput = 2;
  // After a failed addition completing still succeeds, so the addition's own result counts.
  bool good = jit.add(handle, ptxInput, text.c_str(), text.size() + 1, "module.ptx") == 0;
  good = good && jit.complete(handle) == 0;
  auto read = [&](auto sizeOf, auto get) {
    size_t size = 0;
    std::string out;
    if (sizeOf(handle, &size) == 0 && size > 1) {
      out.resize(size);
      get(handle, out.data());
      out.resize(std::strlen(out.c_str()));
    }
    return out;
  };
  log = good ? read(jit.infoSize, jit.info) : read(jit.errorSize, jit.error);
  if (!good && log.empty())
    log = "the assembler refused the module and gave no reason";
  if (good)
    readRegisters(log, registers);
  jit.destroy(&handle);
  return good;
}

} // namespace weft::simulator
