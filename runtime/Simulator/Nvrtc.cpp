//===- Nvrtc.cpp - CUDA C++ to PTX by the toolkit's NVRTC, where it is ---------------------------===//
#include "runtime/Simulator/Nvrtc.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <type_traits>
#include <unistd.h>

namespace weft::simulator {

namespace {

std::vector<std::string> toolkits() {
  std::vector<std::string> out;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *value = std::getenv(variable))
      out.push_back(value);
  out.push_back("/usr/local/cuda");
  return out;
}

/// The functions of NVRTC that are used; a result of 0 is success.
struct Nvrtc {
  int (*create)(void **program, const char *source, const char *name, int headers, const char *const *sources,
                const char *const *names) = nullptr;
  int (*destroy)(void **program) = nullptr;
  int (*compile)(void *program, int count, const char *const *options) = nullptr;
  int (*logSize)(void *program, size_t *size) = nullptr;
  int (*log)(void *program, char *text) = nullptr;
  int (*ptxSize)(void *program, size_t *size) = nullptr;
  int (*ptx)(void *program, char *text) = nullptr;
  bool present = false;

  Nvrtc() {
    void *library = nullptr;
    std::vector<std::string> names;
    for (const std::string &toolkit : toolkits())
      names.push_back(toolkit + "/lib64/libnvrtc.so");
    names.push_back("libnvrtc.so.13");
    names.push_back("libnvrtc.so");
    for (const std::string &name : names)
      if (!library)
        library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return;
    auto symbol = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    present = symbol(create, "nvrtcCreateProgram") && symbol(destroy, "nvrtcDestroyProgram") &&
              symbol(compile, "nvrtcCompileProgram") && symbol(logSize, "nvrtcGetProgramLogSize") &&
              symbol(log, "nvrtcGetProgramLog") && symbol(ptxSize, "nvrtcGetPTXSize") && symbol(ptx, "nvrtcGetPTX");
  }
};

const Nvrtc &nvrtc() {
  static const Nvrtc instance;
  return instance;
}

} // namespace

bool hasNvrtc() { return nvrtc().present; }

std::string cudaIncludeFolder() {
  for (const std::string &toolkit : toolkits()) {
    std::string folder = toolkit + "/include";
    if (access((folder + "/cuda.h").c_str(), R_OK) == 0)
      return folder;
  }
  return "";
}

bool compileCuda(const std::string &source, const std::string &name, unsigned architecture,
                 const std::vector<std::string> &options, std::string &ptx, std::string &log) {
  const Nvrtc &compiler = nvrtc();
  if (!compiler.present) {
    log = "no libnvrtc.so was found; set CUDA_HOME to a CUDA toolkit, or give a .ptx file";
    return false;
  }
  void *program = nullptr;
  if (compiler.create(&program, source.c_str(), name.c_str(), 0, nullptr, nullptr) != 0) {
    log = "NVRTC could not be started";
    return false;
  }
  std::vector<std::string> all = {"--gpu-architecture=compute_" + std::to_string(architecture), "-default-device",
                                  "-lineinfo"};
  std::string include = cudaIncludeFolder();
  if (!include.empty()) {
    all.push_back("-I" + include);
    all.push_back("-I" + include + "/cccl");
  }
  all.insert(all.end(), options.begin(), options.end());
  std::vector<const char *> pointers;
  for (const std::string &option : all)
    pointers.push_back(option.c_str());
  bool good = compiler.compile(program, int(pointers.size()), pointers.data()) == 0;
  size_t size = 0;
  if (compiler.logSize(program, &size) == 0 && size > 1) {
    log.resize(size);
    compiler.log(program, log.data());
    log.resize(std::strlen(log.c_str()));
  }
  if (good && compiler.ptxSize(program, &size) == 0 && size) {
    ptx.resize(size);
    good = compiler.ptx(program, ptx.data()) == 0;
    ptx.resize(std::strlen(ptx.c_str()));
  }
  compiler.destroy(&program);
  return good;
}

} // namespace weft::simulator
