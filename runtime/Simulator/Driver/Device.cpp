//===- Device.cpp - Driver functions: initialisation, devices, contexts, peers ---------------------===//
#include "runtime/Simulator/Driver/State.h"

#include <cstring>

using namespace weft::simulator;

WEFT_DRIVER_API cuInit(unsigned int flags) {
  Driver &driver = Driver::get();
  std::lock_guard<std::recursive_mutex> lock(driver.mutex);
  if (flags)
    return driver.fail(CUDA_ERROR_INVALID_VALUE, "cuInit takes no flags");
  try {
    return driver.initialise();
  } catch (const std::exception &error) {
    return driver.fail(CUDA_ERROR_OUT_OF_MEMORY, error.what());
  }
}

WEFT_DRIVER_API cuDriverGetVersion(int *version) {
  if (!version)
    return CUDA_ERROR_INVALID_VALUE;
  *version = 13000;
  return CUDA_SUCCESS;
}

namespace {
const struct {
  CUresult code;
  const char *name, *text;
} errorRows[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {CUDA_ERROR_UNSUPPORTED_LIMIT, "CUDA_ERROR_UNSUPPORTED_LIMIT", "limit is not supported on this architecture"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {CUDA_ERROR_INVALID_SOURCE, "CUDA_ERROR_INVALID_SOURCE", "device kernel image is invalid"},
    {CUDA_ERROR_FILE_NOT_FOUND, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
     "peer access is already enabled"},
    {CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled"},
    {CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE",
     "cannot set while device is active in this process"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {CUDA_ERROR_ASSERT, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "too many blocks in cooperative launch"},
    {CUDA_ERROR_NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {CUDA_ERROR_STREAM_CAPTURE_MERGE, "CUDA_ERROR_STREAM_CAPTURE_MERGE",
     "operation would result in a merge of separate capture sequences"},
    {CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "capture was not ended in the same stream as it began"},
    {CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
     "dependency created on uncaptured work in another stream"},
    {CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {CUDA_ERROR_CAPTURED_EVENT, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
    {CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",
     "the graph update was not performed because it included changes which violated constraints"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};
} // namespace

WEFT_DRIVER_API cuGetErrorName(CUresult error, const char **name) {
  if (!name)
    return CUDA_ERROR_INVALID_VALUE;
  for (const auto &row : errorRows) {
    if (row.code == error) {
      *name = row.name;
      return CUDA_SUCCESS;
    }
  }
  *name = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

WEFT_DRIVER_API cuGetErrorString(CUresult error, const char **text) {
  if (!text)
    return CUDA_ERROR_INVALID_VALUE;
  for (const auto &row : errorRows) {
    if (row.code == error) {
      *text = row.text;
      return CUDA_SUCCESS;
    }
  }
  *text = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

namespace {
bool known(Driver &driver, CUdevice device) { return device >= 0 && device < driver.options.devices; }
template <class Body> CUresult withDevice(CUdevice device, Body body) {
  return enter([&](Driver &driver) -> CUresult {
    if (!known(driver, device))
      return driver.fail(CUDA_ERROR_INVALID_DEVICE, "device " + std::to_string(device) + " does not exist; there are " +
                                                        std::to_string(driver.options.devices));
    return body(driver, driver.devices[size_t(device)]);
  });
}
} // namespace

WEFT_DRIVER_API cuDeviceGetCount(int *count) {
  return enter([&](Driver &driver) -> CUresult {
    if (!count)
      return CUDA_ERROR_INVALID_VALUE;
    *count = driver.options.devices;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuDeviceGet(CUdevice *device, int ordinal) {
  return withDevice(ordinal, [&](Driver &, DeviceState &) -> CUresult {
    if (!device)
      return CUDA_ERROR_INVALID_VALUE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuDeviceGetName(char *name, int length, CUdevice device) {
  return withDevice(device, [&](Driver &driver, DeviceState &) -> CUresult {
    if (!name || length <= 0)
      return CUDA_ERROR_INVALID_VALUE;
    std::string text = "Weft simulated GPU (sm_" + std::to_string(driver.options.architecture) + ")";
    std::strncpy(name, text.c_str(), size_t(length) - 1);
    name[length - 1] = 0;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  return withDevice(device, [&](Driver &, DeviceState &) -> CUresult {
    if (!uuid)
      return CUDA_ERROR_INVALID_VALUE;
    std::memset(uuid->bytes, 0, sizeof uuid->bytes);
    std::memcpy(uuid->bytes, "weft-simulator", 14);
    uuid->bytes[15] = char(device);
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  return withDevice(device, [&](Driver &driver, DeviceState &) -> CUresult {
    if (!bytes)
      return CUDA_ERROR_INVALID_VALUE;
    *bytes = driver.options.bytesPerDevice;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  return withDevice(device, [&](Driver &driver, DeviceState &) -> CUresult {
    if (!value)
      return CUDA_ERROR_INVALID_VALUE;
    DeviceLimits limits = deviceLimits(driver.options.architecture);
    switch (int(attribute)) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
      *value = 1024;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
      *value = 64;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      *value = 0x7fffffff;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
      *value = 65535;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      *value = int(limits.sharedPerBlock);
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      *value = int(limits.sharedPerBlockOptIn);
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      *value = int(limits.sharedPerMultiprocessor);
      break;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
      *value = 1024;
      break;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
      *value = 65536;
      break;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      *value = 32;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      *value = int(limits.registersPerMultiprocessor);
      break;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      *value = 1000000;
      break; // kHz: a cycle is a nanosecond here
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      *value = 1000000;
      break;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      *value = 5120;
      break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      *value = 50 << 20;
      break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = int(limits.multiprocessors);
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      *value = int(limits.threadsPerMultiprocessor);
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      *value = int(limits.blocksPerMultiprocessor);
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = int(driver.options.architecture / 10);
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = int(driver.options.architecture % 10);
      break;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
      *value = 2;
      break;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      *value = device + 1;
      break;
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
      *value = 1;
      break;
    default:
      if (int(attribute) < 1 || int(attribute) > 200)
        return driver.fail(CUDA_ERROR_INVALID_VALUE,
                           "device attribute " + std::to_string(int(attribute)) + " does not exist");
      *value = 0; // what the simulated device does not have: textures, clusters, fabric, ...
      break;
    }
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
  return withDevice(device, [&](Driver &driver, DeviceState &) -> CUresult {
    if (!can || !known(driver, peer))
      return driver.fail(CUDA_ERROR_INVALID_DEVICE, "the peer device does not exist");
    *can = device != peer;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  return withDevice(device, [&](Driver &driver, DeviceState &state) -> CUresult {
    if (!context)
      return CUDA_ERROR_INVALID_VALUE;
    if (!state.primary)
      state.primary = driver.makeContext(device, state.primaryFlags, true);
    ++state.primaryRetained;
    *context = state.primary;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return withDevice(device, [&](Driver &driver, DeviceState &state) -> CUresult {
    if (!state.primaryRetained)
      return driver.fail(CUDA_ERROR_INVALID_CONTEXT, "the primary context is not retained");
    if (--state.primaryRetained == 0)
      driver.destroyContext(state.primary);
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return withDevice(device, [&](Driver &driver, DeviceState &state) -> CUresult {
    if (state.primary)
      driver.destroyContext(state.primary);
    state.primaryRetained = 0;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags) {
  return withDevice(device, [&](Driver &, DeviceState &state) -> CUresult {
    state.primaryFlags = flags;
    if (state.primary)
      state.primary->flags = flags;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active) {
  return withDevice(device, [&](Driver &, DeviceState &state) -> CUresult {
    if (!flags || !active)
      return CUDA_ERROR_INVALID_VALUE;
    *flags = state.primaryFlags;
    *active = state.primary != nullptr;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *, unsigned int flags, CUdevice device) {
  return withDevice(device, [&](Driver &driver, DeviceState &) -> CUresult {
    if (!context)
      return CUDA_ERROR_INVALID_VALUE;
    *context = driver.makeContext(device, flags, false);
    contextStack().push_back(*context);
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuCtxDestroy_v2(CUcontext context) {
  return enter([&](Driver &driver) -> CUresult {
    if (!driver.valid(context))
      return driver.fail(CUDA_ERROR_INVALID_CONTEXT, "the context does not exist, or was destroyed");
    if (context->primary)
      return driver.fail(CUDA_ERROR_INVALID_CONTEXT, "a primary context is released, not destroyed");
    std::vector<CUcontext> &stack = contextStack();
    if (!stack.empty() && stack.back() == context)
      stack.pop_back();
    driver.destroyContext(context);
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuCtxPushCurrent_v2(CUcontext context) {
  return enter([&](Driver &driver) -> CUresult {
    if (!driver.valid(context))
      return driver.fail(CUDA_ERROR_INVALID_CONTEXT, "the context does not exist, or was destroyed");
    contextStack().push_back(context);
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuCtxPopCurrent_v2(CUcontext *context) {
  return enter([&](Driver &driver) -> CUresult {
    std::vector<CUcontext> &stack = contextStack();
    if (stack.empty())
      return driver.fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current in this thread");
    if (context)
      *context = stack.back();
    stack.pop_back();
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuCtxSetCurrent(CUcontext context) {
  return enter([&](Driver &driver) -> CUresult {
    if (context && !driver.valid(context))
      return driver.fail(CUDA_ERROR_INVALID_CONTEXT, "the context does not exist, or was destroyed");
    std::vector<CUcontext> &stack = contextStack();
    if (!stack.empty())
      stack.pop_back();
    if (context)
      stack.push_back(context);
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuCtxGetCurrent(CUcontext *context) {
  return enter([&](Driver &) -> CUresult {
    if (!context)
      return CUDA_ERROR_INVALID_VALUE;
    *context = contextStack().empty() ? nullptr : contextStack().back();
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuCtxGetDevice(CUdevice *device) {
  return enterContext([&](Driver &, CUcontext context) -> CUresult {
    if (!device)
      return CUDA_ERROR_INVALID_VALUE;
    *device = context->device;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuCtxGetFlags(unsigned int *flags) {
  return enterContext([&](Driver &, CUcontext context) -> CUresult {
    if (!flags)
      return CUDA_ERROR_INVALID_VALUE;
    *flags = context->flags;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuCtxGetApiVersion(CUcontext context, unsigned int *version) {
  return enter([&](Driver &driver) -> CUresult {
    if (!version || (context && !driver.valid(context)))
      return CUDA_ERROR_INVALID_VALUE;
    *version = 13000;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuCtxSynchronize(void) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    for (CUstream stream : context->streams)
      if (stream->capture)
        return driver.fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "a stream of the context is being captured");
    return driver.waitForContext(context);
  });
}

WEFT_DRIVER_API cuCtxGetLimit(size_t *value, CUlimit limit) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    auto found = context->limits.find(int(limit));
    if (!value || found == context->limits.end())
      return driver.fail(CUDA_ERROR_UNSUPPORTED_LIMIT, "limit " + std::to_string(int(limit)) + " is not kept");
    *value = found->second;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuCtxSetLimit(CUlimit limit, size_t value) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    if (!context->limits.count(int(limit)))
      return driver.fail(CUDA_ERROR_UNSUPPORTED_LIMIT, "limit " + std::to_string(int(limit)) + " is not kept");
    context->limits[int(limit)] = value;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  return enterContext([&](Driver &, CUcontext) -> CUresult {
    if (least)
      *least = 0;
    if (greatest)
      *greatest = -5;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    if (flags || !driver.valid(peer))
      return driver.fail(CUDA_ERROR_INVALID_VALUE, "the peer context does not exist, or flags are not 0");
    if (peer->device == context->device)
      return driver.fail(CUDA_ERROR_INVALID_DEVICE, "a device is no peer of itself");
    uint64_t bit = uint64_t(1) << peer->device;
    DeviceState &state = driver.devices[size_t(context->device)];
    if (state.peers & bit)
      return driver.fail(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled");
    state.peers |= bit;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuCtxDisablePeerAccess(CUcontext peer) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    if (!driver.valid(peer))
      return driver.fail(CUDA_ERROR_INVALID_CONTEXT, "the peer context does not exist");
    uint64_t bit = uint64_t(1) << peer->device;
    DeviceState &state = driver.devices[size_t(context->device)];
    if (!(state.peers & bit))
      return driver.fail(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access is not enabled");
    state.peers &= ~bit;
    return CUDA_SUCCESS;
  });
}
