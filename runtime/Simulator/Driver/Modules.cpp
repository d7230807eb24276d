//===- Modules.cpp - Driver functions: modules, linking, libraries, functions ---------------------------===//
#include "runtime/Simulator/Diagnostic.h"
#include "runtime/Simulator/Driver/State.h"

#include <cstring>
#include <fstream>
#include <sstream>

using namespace weft::simulator;

namespace {

/// Where a caller of the JIT wants its messages.
struct JitLogs {
  char *info = nullptr, *error = nullptr;
  size_t infoBytes = 0, errorBytes = 0;

  JitLogs(unsigned count, CUjit_option *options, void **values) {
    for (unsigned i = 0; options && values && i < count; ++i) {
      switch (int(options[i])) {
      case CU_JIT_INFO_LOG_BUFFER:
        info = static_cast<char *>(values[i]);
        break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        infoBytes = size_t(reinterpret_cast<uintptr_t>(values[i]));
        break;
      case CU_JIT_ERROR_LOG_BUFFER:
        error = static_cast<char *>(values[i]);
        break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        errorBytes = size_t(reinterpret_cast<uintptr_t>(values[i]));
        break;
      default:
        break;
      }
    }
  }
  static void put(char *buffer, size_t bytes, const std::string &text) {
    if (!buffer || !bytes)
      return;
    size_t count = std::min(bytes - 1, text.size());
    std::memcpy(buffer, text.data(), count);
    buffer[count] = 0;
  }
};

CUresult loadText(Driver &driver, CUcontext context, const std::string &text, JitLogs &logs, CUmodule *out) {
  auto module = std::make_unique<CUmod_st>();
  module->context = context;
  module->label = "module #" + std::to_string(++driver.moduleCount);
  try {
    module->loaded = loadModule(text, *driver.memory, context->device, module->label);
  } catch (const PtxError &error) {
    std::string message = error.format("ptx");
    JitLogs::put(logs.error, logs.errorBytes, message);
    return driver.fail(CUDA_ERROR_INVALID_PTX, message);
  }
  auto discard = [&] {
    for (auto &variable : module->loaded->variables)
      driver.memory->free(*variable.second, "module that failed to load");
  };
  if (module->loaded->module->architecture > driver.options.architecture) {
    discard();
    std::string message = "the module is for " + module->loaded->module->target + ", the device is sm_" +
                          std::to_string(driver.options.architecture);
    JitLogs::put(logs.error, logs.errorBytes, message);
    return driver.fail(CUDA_ERROR_NO_BINARY_FOR_GPU, message);
  }
  if (driver.options.useAssembler) {
    std::string log;
    if (!assemblePtx(text, driver.options.architecture, log, module->registers)) {
      discard();
      JitLogs::put(logs.error, logs.errorBytes, log);
      return driver.fail(CUDA_ERROR_INVALID_PTX, log);
    }
    JitLogs::put(logs.info, logs.infoBytes, log);
  }
  CUmodule handle = module.release();
  context->modules.insert(driver.keep(handle));
  *out = handle;
  return CUDA_SUCCESS;
}

CUresult loadImage(Driver &driver, CUcontext context, const void *image, unsigned count, CUjit_option *options,
                   void **values, CUmodule *out) {
  if (!image || !out)
    return driver.fail(CUDA_ERROR_INVALID_VALUE, "no image, or nowhere to put the module");
  const char *text = static_cast<const char *>(image);
  static const unsigned char fatbin[] = {0x50, 0xed, 0x55, 0xba};
  if (!std::memcmp(text, "\177ELF", 4) || !std::memcmp(text, fatbin, 4))
    return driver.fail(CUDA_ERROR_NO_BINARY_FOR_GPU,
                       "the simulator runs PTX text; the image is a cubin or a fatbinary");
  JitLogs logs(count, options, values);
  return loadText(driver, context, std::string(text), logs, out);
}

CUfunction functionOf(Driver &driver, CUmodule module, const std::string &name) {
  auto &entry = module->functions[name];
  if (!entry) {
    entry = std::make_unique<CUfunc_st>();
    entry->module = module;
    entry->kernel = module->loaded->kernels.at(name).get();
    driver.keep(entry.get());
  }
  return entry.get();
}

CUresult unload(Driver &driver, CUmodule module) {
  driver.waitForContext(module->context);
  for (auto &variable : module->loaded->variables)
    driver.memory->free(*variable.second, "cuModuleUnload");
  for (auto &function : module->functions)
    driver.handles.erase(function.second.get());
  module->context->modules.erase(module);
  driver.handles.erase(module);
  delete module;
  return CUDA_SUCCESS;
}

CUresult badModule(Driver &driver) {
  return driver.fail(CUDA_ERROR_INVALID_HANDLE, "the module does not exist, or was unloaded");
}

} // namespace

WEFT_DRIVER_API cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count, CUjit_option *options,
                                   void **values) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    return loadImage(driver, context, image, count, options, values, module);
  });
}

WEFT_DRIVER_API cuModuleLoadData(CUmodule *module, const void *image) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    return loadImage(driver, context, image, 0, nullptr, nullptr, module);
  });
}

WEFT_DRIVER_API cuModuleLoadFatBinary(CUmodule *module, const void *image) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    return loadImage(driver, context, image, 0, nullptr, nullptr, module);
  });
}

WEFT_DRIVER_API cuModuleLoad(CUmodule *module, const char *path) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    if (!path)
      return CUDA_ERROR_INVALID_VALUE;
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    if (!file || !(text << file.rdbuf()))
      return driver.fail(CUDA_ERROR_FILE_NOT_FOUND, std::string("cannot read '") + path + "'");
    return loadImage(driver, context, text.str().c_str(), 0, nullptr, nullptr, module);
  });
}

WEFT_DRIVER_API cuModuleUnload(CUmodule module) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    return driver.valid(module) ? unload(driver, module) : badModule(driver);
  });
}

WEFT_DRIVER_API cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!function || !name)
      return CUDA_ERROR_INVALID_VALUE;
    if (!driver.valid(module))
      return badModule(driver);
    if (!module->loaded->kernels.count(name))
      return driver.fail(CUDA_ERROR_NOT_FOUND, std::string("the module has no kernel '") + name + "'");
    *function = functionOf(driver, module, name);
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuModuleGetFunctionCount(unsigned int *count, CUmodule module) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!count || !driver.valid(module))
      return badModule(driver);
    *count = unsigned(module->loaded->kernels.size());
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuModuleGetGlobal_v2(CUdeviceptr *pointer, size_t *bytes, CUmodule module, const char *name) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!name)
      return CUDA_ERROR_INVALID_VALUE;
    if (!driver.valid(module))
      return badModule(driver);
    auto found = module->loaded->variables.find(name);
    if (found == module->loaded->variables.end())
      return driver.fail(CUDA_ERROR_NOT_FOUND, std::string("the module has no variable '") + name + "'");
    if (pointer)
      *pointer = found->second->base;
    if (bytes)
      *bytes = found->second->size;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuLinkCreate_v2(unsigned int, CUjit_option *, void **, CUlinkState *state) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!state)
      return CUDA_ERROR_INVALID_VALUE;
    *state = driver.keep(new CUlinkState_st);
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *,
                                 unsigned int, CUjit_option *, void **) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!driver.valid(state) || !data)
      return driver.fail(CUDA_ERROR_INVALID_HANDLE, "the linker does not exist, or there are no data");
    if (type != CU_JIT_INPUT_PTX)
      return driver.fail(CUDA_ERROR_NOT_SUPPORTED, "the simulator links PTX text only");
    std::string text(static_cast<const char *>(data), size);
    state->parts.push_back(text.substr(0, text.find('\0')));
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned int, CUjit_option *,
                                 void **) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!driver.valid(state) || !path)
      return driver.fail(CUDA_ERROR_INVALID_HANDLE, "the linker does not exist, or there is no path");
    if (type != CU_JIT_INPUT_PTX)
      return driver.fail(CUDA_ERROR_NOT_SUPPORTED, "the simulator links PTX text only");
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    if (!file || !(text << file.rdbuf()))
      return driver.fail(CUDA_ERROR_FILE_NOT_FOUND, std::string("cannot read '") + path + "'");
    state->parts.push_back(text.str());
    return CUDA_SUCCESS;
  });
}

/// The "cubin" of the simulator is the text of all parts under one header: loading it resolves their names.
WEFT_DRIVER_API cuLinkComplete(CUlinkState state, void **cubin, size_t *size) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!driver.valid(state) || !cubin)
      return driver.fail(CUDA_ERROR_INVALID_HANDLE, "the linker does not exist");
    state->text.clear();
    for (const std::string &part : state->parts) {
      std::istringstream lines(part);
      std::string line;
      while (std::getline(lines, line)) {
        bool header = line.find(".version") == 0 || line.find(".target") == 0 || line.find(".address_size") == 0;
        if (!header || &part == &state->parts.front())
          state->text += line + "\n";
      }
    }
    *cubin = state->text.data();
    if (size)
      *size = state->text.size();
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuLinkDestroy(CUlinkState state) {
  return enter([&](Driver &driver) -> CUresult {
    if (!driver.valid(state))
      return driver.fail(CUDA_ERROR_INVALID_HANDLE, "the linker does not exist");
    driver.handles.erase(state);
    delete state;
    return CUDA_SUCCESS;
  });
}

#if defined(WEFT_SIMULATOR_HAS_CUDA_H)
WEFT_DRIVER_API cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *, void **, unsigned int,
                                  CUlibraryOption *, void **, unsigned int) {
#else
WEFT_DRIVER_API cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *, void **, unsigned int, int *,
                                  void **, unsigned int) {
#endif
  return enter([&](Driver &driver) -> CUresult {
    if (!library || !code)
      return CUDA_ERROR_INVALID_VALUE;
    if (!std::memcmp(code, "\177ELF", 4))
      return driver.fail(CUDA_ERROR_NO_BINARY_FOR_GPU, "the simulator runs PTX text; the image is a cubin");
    auto made = std::make_unique<CUlib_st>();
    made->image = static_cast<const char *>(code);
    try {
      verifyModule(made->image);
    } catch (const PtxError &error) {
      return driver.fail(CUDA_ERROR_INVALID_PTX, error.format("ptx"));
    }
    *library = driver.keep(made.release());
    return CUDA_SUCCESS;
  });
}

namespace {
/// A library is loaded into a context when it is first used there.
CUresult moduleOf(Driver &driver, CUcontext context, CUlibrary library, CUmodule *module) {
  if (!driver.valid(library))
    return driver.fail(CUDA_ERROR_INVALID_HANDLE, "the library does not exist, or was unloaded");
  auto found = library->modules.find(context);
  if (found != library->modules.end() && driver.valid(found->second)) {
    *module = found->second;
    return CUDA_SUCCESS;
  }
  CUresult result = loadImage(driver, context, library->image.c_str(), 0, nullptr, nullptr, module);
  if (result == CUDA_SUCCESS)
    library->modules[context] = *module;
  return result;
}
} // namespace

WEFT_DRIVER_API cuLibraryGetModule(CUmodule *module, CUlibrary library) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    return module ? moduleOf(driver, context, library, module) : CUDA_ERROR_INVALID_VALUE;
  });
}

WEFT_DRIVER_API cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    CUmodule module;
    if (!kernel || !name)
      return CUDA_ERROR_INVALID_VALUE;
    CUresult result = moduleOf(driver, context, library, &module);
    if (result != CUDA_SUCCESS)
      return result;
    if (!module->loaded->kernels.count(name))
      return driver.fail(CUDA_ERROR_NOT_FOUND, std::string("the library has no kernel '") + name + "'");
    auto &entry = library->kernels[name];
    if (!entry) {
      entry = std::make_unique<CUkern_st>();
      entry->library = library;
      entry->name = name;
      driver.keep(entry.get());
    }
    *kernel = entry.get();
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    if (!function || !driver.valid(kernel))
      return driver.fail(CUDA_ERROR_INVALID_HANDLE, "the kernel does not exist");
    CUmodule module;
    CUresult result = moduleOf(driver, context, kernel->library, &module);
    if (result == CUDA_SUCCESS)
      *function = functionOf(driver, module, kernel->name);
    return result;
  });
}

WEFT_DRIVER_API cuLibraryUnload(CUlibrary library) {
  return enter([&](Driver &driver) -> CUresult {
    if (!driver.valid(library))
      return driver.fail(CUDA_ERROR_INVALID_HANDLE, "the library does not exist, or was unloaded");
    for (auto &entry : library->modules)
      if (driver.valid(entry.second))
        unload(driver, entry.second);
    for (auto &entry : library->kernels)
      driver.handles.erase(entry.second.get());
    driver.handles.erase(library);
    delete library;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!value)
      return CUDA_ERROR_INVALID_VALUE;
    if (!driver.valid(function))
      return driver.fail(CUDA_ERROR_INVALID_HANDLE, "the function does not exist");
    const CompiledKernel &kernel = *function->kernel;
    const LaunchBounds &bounds = kernel.bounds;
    auto registers = function->module->registers.find(kernel.name);
    switch (int(attribute)) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = bounds.requiredThreads[0]
                   ? int(bounds.requiredThreads[0] * bounds.requiredThreads[1] * bounds.requiredThreads[2])
               : bounds.maxThreads[0] ? int(bounds.maxThreads[0] * bounds.maxThreads[1] * bounds.maxThreads[2])
                                      : 1024;
      break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = int(kernel.sharedDeclared);
      break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = int(kernel.functions[0].localBytes);
      break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = registers != function->module->registers.end() ? int(registers->second) : 32;
      break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = int(driver.options.architecture);
      break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = function->sharedOptIn ? function->maxDynamicShared : std::max(0, 48 * 1024 - int(kernel.sharedDeclared));
      break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = function->carveout;
      break;
    default:
      *value = 0;
      break;
    }
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!driver.valid(function))
      return driver.fail(CUDA_ERROR_INVALID_HANDLE, "the function does not exist");
    if (int(attribute) == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
      int most =
          int(deviceLimits(driver.options.architecture).sharedPerBlockOptIn) - int(function->kernel->sharedDeclared);
      if (value < 0 || value > most)
        return driver.fail(CUDA_ERROR_INVALID_VALUE, std::to_string(value) +
                                                         " bytes of dynamic shared memory; at most " +
                                                         std::to_string(most) + " are left");
      function->maxDynamicShared = value;
      function->sharedOptIn = true;
    } else if (int(attribute) == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
      function->carveout = value;
    } else {
      return driver.fail(CUDA_ERROR_INVALID_VALUE,
                         "function attribute " + std::to_string(int(attribute)) + " cannot be set");
    }
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuFuncGetName(const char **name, CUfunction function) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!name || !driver.valid(function))
      return driver.fail(CUDA_ERROR_INVALID_HANDLE, "the function does not exist");
    *name = function->kernel->name.c_str();
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuFuncGetModule(CUmodule *module, CUfunction function) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!module || !driver.valid(function))
      return driver.fail(CUDA_ERROR_INVALID_HANDLE, "the function does not exist");
    *module = function->module;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!driver.valid(function))
      return driver.fail(CUDA_ERROR_INVALID_HANDLE, "the function does not exist");
    if (index >= function->kernel->parameterLayout.size())
      return driver.fail(CUDA_ERROR_INVALID_VALUE,
                         "the kernel has " + std::to_string(function->kernel->parameterLayout.size()) + " parameters");
    if (offset)
      *offset = function->kernel->parameterLayout[index].first;
    if (size)
      *size = function->kernel->parameterLayout[index].second;
    return CUDA_SUCCESS;
  });
}
