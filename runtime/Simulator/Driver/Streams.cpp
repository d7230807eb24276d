//===- Streams.cpp - Driver functions: streams, events, host functions, launches, occupancy ---------------===//
#include "runtime/Simulator/Driver/State.h"

#include <algorithm>
#include <cstring>

using namespace weft::simulator;

namespace {
/// The stream a call names; its context need not be the current one.
template <class Body> CUresult withStream(CUstream stream, Body body) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    CUstream resolved = driver.resolve(stream, context);
    return resolved ? body(driver, context, resolved) : CUDA_ERROR_INVALID_HANDLE;
  });
}
CUresult capturing(Driver &driver, const char *what) {
  return driver.fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                     std::string(what) + " is not possible while the stream is captured");
}
} // namespace

WEFT_DRIVER_API cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    if (!stream || flags & ~unsigned(CU_STREAM_NON_BLOCKING))
      return driver.fail(CUDA_ERROR_INVALID_VALUE, "stream flags " + std::to_string(flags) + " do not exist");
    *stream = driver.makeStream(context, flags, std::max(-5, std::min(0, priority)));
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuStreamCreate(CUstream *stream, unsigned int flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}

WEFT_DRIVER_API cuStreamDestroy_v2(CUstream stream) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!driver.valid(stream))
      return driver.fail(CUDA_ERROR_INVALID_HANDLE, "the stream does not exist, or was destroyed");
    // What it holds is still done, as with CUDA; here that is now.
    driver.waitFor(stream->lastOperation);
    stream->context->streams.erase(stream);
    driver.handles.erase(stream);
    delete stream;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuStreamSynchronize(CUstream stream) {
  return withStream(stream, [&](Driver &driver, CUcontext context, CUstream s) -> CUresult {
    if (s->capture)
      return capturing(driver, "waiting");
    return s == context->legacy.get() ? driver.waitForContext(context) : driver.waitForStream(s);
  });
}

WEFT_DRIVER_API cuStreamQuery(CUstream stream) {
  return withStream(stream, [&](Driver &driver, CUcontext, CUstream s) -> CUresult {
    if (s->capture)
      return capturing(driver, "a query");
    if (!s->lastOperation || driver.isDone(s->lastOperation)) {
      driver.learnHost(s->lastOperation);
      return driver.devices[size_t(s->context->device)].sticky;
    }
    driver.step(); // a caller that polls gets on
    return CUDA_ERROR_NOT_READY;
  });
}

WEFT_DRIVER_API cuStreamGetPriority(CUstream stream, int *priority) {
  return withStream(stream, [&](Driver &, CUcontext, CUstream s) -> CUresult {
    if (!priority)
      return CUDA_ERROR_INVALID_VALUE;
    *priority = s->priority;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuStreamGetFlags(CUstream stream, unsigned int *flags) {
  return withStream(stream, [&](Driver &, CUcontext, CUstream s) -> CUresult {
    if (!flags)
      return CUDA_ERROR_INVALID_VALUE;
    *flags = s->flags;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuStreamGetCtx(CUstream stream, CUcontext *context) {
  return withStream(stream, [&](Driver &, CUcontext, CUstream s) -> CUresult {
    if (!context)
      return CUDA_ERROR_INVALID_VALUE;
    *context = s->context;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuStreamGetId(CUstream stream, unsigned long long *id) {
  return withStream(stream, [&](Driver &, CUcontext, CUstream s) -> CUresult {
    if (!id)
      return CUDA_ERROR_INVALID_VALUE;
    *id = s->timeline;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuLaunchHostFunc(CUstream stream, CUhostFn function, void *userData) {
  return withStream(stream, [&](Driver &driver, CUcontext, CUstream s) -> CUresult {
    if (!function)
      return CUDA_ERROR_INVALID_VALUE;
    Work work;
    work.kind = Work::Kind::Host;
    work.host = function;
    work.userData = userData;
    work.label = "host function";
    return driver.enqueue(s, std::move(work));
  });
}

WEFT_DRIVER_API cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *userData, unsigned int flags) {
  return withStream(stream, [&](Driver &driver, CUcontext, CUstream s) -> CUresult {
    if (!callback || flags)
      return CUDA_ERROR_INVALID_VALUE;
    if (s->capture)
      return capturing(driver, "a callback");
    Work work;
    work.kind = Work::Kind::Host;
#if defined(WEFT_SIMULATOR_HAS_CUDA_H)
    work.callback = [=] { callback(stream, CUDA_SUCCESS, userData); };
#else
    work.callback = [=] { callback(stream, 0, userData); };
#endif
    work.label = "stream callback";
    return driver.enqueue(s, std::move(work));
  });
}

WEFT_DRIVER_API cuEventCreate(CUevent *event, unsigned int flags) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    if (!event || flags > 7)
      return CUDA_ERROR_INVALID_VALUE;
    auto *made = new CUevent_st;
    made->context = context;
    made->flags = flags;
    context->events.insert(made);
    *event = driver.keep(made);
    return CUDA_SUCCESS;
  });
}

namespace {
CUresult badEvent(Driver &driver) {
  return driver.fail(CUDA_ERROR_INVALID_HANDLE, "the event does not exist, or was destroyed");
}
} // namespace

WEFT_DRIVER_API cuEventDestroy_v2(CUevent event) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!driver.valid(event))
      return badEvent(driver);
    event->context->events.erase(event);
    driver.handles.erase(event);
    delete event;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuEventRecord(CUevent event, CUstream stream) {
  return withStream(stream, [&](Driver &driver, CUcontext, CUstream s) -> CUresult {
    if (!driver.valid(event))
      return badEvent(driver);
    if (event->context->device != s->context->device)
      return driver.fail(CUDA_ERROR_INVALID_HANDLE, "event and stream belong to different devices");
    if (s->capture) {
      event->capture = s->capture;
      event->captureTail = s->captureTail;
      return CUDA_SUCCESS;
    }
    Work work;
    work.kind = Work::Kind::Record;
    work.event = event;
    work.label = "event record";
    return driver.enqueue(s, std::move(work));
  });
}

WEFT_DRIVER_API cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int) {
  return cuEventRecord(event, stream);
}

WEFT_DRIVER_API cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int) {
  return withStream(stream, [&](Driver &driver, CUcontext, CUstream s) -> CUresult {
    if (!driver.valid(event))
      return badEvent(driver);
    if (event->capture) {
      // The waiting stream joins the capture that the event was recorded in.
      if (!driver.valid(event->capture))
        return driver.fail(CUDA_ERROR_CAPTURED_EVENT, "the event was recorded in a capture that is over");
      if (s->capture && s->capture != event->capture)
        return driver.fail(CUDA_ERROR_STREAM_CAPTURE_MERGE, "stream and event belong to different captures");
      if (!s->capture) {
        s->capture = event->capture;
        s->captureOrigin = false;
        s->captureTail.clear();
      }
      for (CUgraphNode node : event->captureTail)
        if (std::find(s->captureTail.begin(), s->captureTail.end(), node) == s->captureTail.end())
          s->captureTail.push_back(node);
      return CUDA_SUCCESS;
    }
    if (s->capture) {
      s->captureBroken = true;
      return driver.fail(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                         "a captured stream cannot wait for an event that was recorded outside the capture");
    }
    if (!event->operation)
      return CUDA_SUCCESS;
    Work work;
    work.label = "event wait";
    return driver.enqueue(s, std::move(work), {event->operation});
  });
}

WEFT_DRIVER_API cuEventSynchronize(CUevent event) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!driver.valid(event))
      return badEvent(driver);
    if (event->capture)
      return driver.fail(CUDA_ERROR_CAPTURED_EVENT, "the event was recorded in a capture");
    CUresult result = driver.waitFor(event->operation);
    return result != CUDA_SUCCESS ? result : driver.devices[size_t(event->context->device)].sticky;
  });
}

WEFT_DRIVER_API cuEventQuery(CUevent event) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!driver.valid(event))
      return badEvent(driver);
    if (event->capture)
      return driver.fail(CUDA_ERROR_CAPTURED_EVENT, "the event was recorded in a capture");
    if (driver.isDone(event->operation)) {
      driver.learnHost(event->operation);
      return driver.devices[size_t(event->context->device)].sticky;
    }
    driver.step();
    return CUDA_ERROR_NOT_READY;
  });
}

WEFT_DRIVER_API cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!driver.valid(start) || !driver.valid(end))
      return badEvent(driver);
    if (!milliseconds || !start->operation || !end->operation || (start->flags | end->flags) & CU_EVENT_DISABLE_TIMING)
      return driver.fail(CUDA_ERROR_INVALID_HANDLE, "both events must be recorded, and with timing");
    if (!driver.isDone(start->operation) || !driver.isDone(end->operation))
      return CUDA_ERROR_NOT_READY;
    *milliseconds = float(end->milliseconds - start->milliseconds);
    return CUDA_SUCCESS;
  });
}

namespace weft::simulator {

CUresult Driver::checkKernel(CUfunction function, const LaunchConfiguration &configuration, bool cooperative) {
  const CompiledKernel &kernel = *function->kernel;
  DeviceLimits limits = deviceLimits(options.architecture);
  uint32_t allowed =
      function->sharedOptIn ? uint32_t(function->maxDynamicShared) + kernel.sharedDeclared : limits.sharedPerBlock;
  std::string reason = checkConfiguration(kernel, configuration, std::max(allowed, limits.sharedPerBlock));
  if (!reason.empty())
    return fail(CUDA_ERROR_INVALID_VALUE, reason);
  uint32_t threads = configuration.block.x * configuration.block.y * configuration.block.z;
  auto registers = function->module->registers.find(kernel.name);
  if (registers != function->module->registers.end() &&
      uint64_t(registers->second) * ((threads + 31) / 32 * 32) > limits.registersPerMultiprocessor)
    return fail(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "kernel '" + kernel.name + "' needs " +
                                                        std::to_string(registers->second) + " registers a thread; " +
                                                        std::to_string(threads) + " threads do not fit " +
                                                        std::to_string(limits.registersPerMultiprocessor));
  if (cooperative) {
    uint64_t blocks = uint64_t(configuration.grid.x) * configuration.grid.y * configuration.grid.z;
    uint64_t most = uint64_t(occupancy(function, int(threads), configuration.dynamicShared)) * limits.multiprocessors;
    if (blocks > most)
      return fail(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                  std::to_string(blocks) + " blocks; at most " + std::to_string(most) + " run at once");
  }
  return CUDA_SUCCESS;
}

int Driver::occupancy(CUfunction function, int blockSize, size_t dynamicShared) const {
  DeviceLimits limits = deviceLimits(options.architecture);
  const CompiledKernel &kernel = *function->kernel;
  uint64_t warps = uint64_t(blockSize + 31) / 32;
  if (blockSize <= 0 || blockSize > 1024)
    return 0;
  uint64_t blocks = std::min<uint64_t>(limits.blocksPerMultiprocessor, limits.threadsPerMultiprocessor / (warps * 32));
  uint64_t shared = kernel.sharedDeclared + dynamicShared;
  if (shared)
    blocks = std::min<uint64_t>(blocks, limits.sharedPerMultiprocessor / (shared + 1024));
  auto found = function->module->registers.find(kernel.name);
  uint64_t registers = found == function->module->registers.end() ? 32 : std::max(1u, found->second);
  registers = (registers + 7) / 8 * 8;
  blocks = std::min<uint64_t>(blocks, limits.registersPerMultiprocessor / (registers * warps * 32));
  return int(blocks);
}

} // namespace weft::simulator

namespace weft::simulator {
/// The parameters of a launch, taken over from the caller's array or buffer.
CUresult takeParameters(Driver &driver, CUfunction function, void **parameters, void **extra,
                        std::vector<uint8_t> &bytes) {
  const CompiledKernel &kernel = *function->kernel;
  bytes.assign(kernel.parameterBytes, 0);
  if (parameters) {
    for (size_t i = 0; i < kernel.parameterLayout.size(); ++i) {
      if (!parameters[i])
        return driver.fail(CUDA_ERROR_INVALID_VALUE,
                           "parameter " + std::to_string(i) + " of kernel '" + kernel.name + "' is a null pointer");
      std::memcpy(bytes.data() + kernel.parameterLayout[i].first, parameters[i], kernel.parameterLayout[i].second);
    }
    return CUDA_SUCCESS;
  }
  const void *buffer = nullptr;
  size_t size = 0;
  for (void **entry = extra; entry && *entry != CU_LAUNCH_PARAM_END; entry += 2) {
    if (*entry == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = entry[1];
    else if (*entry == CU_LAUNCH_PARAM_BUFFER_SIZE)
      size = *static_cast<const size_t *>(entry[1]);
    else
      return driver.fail(CUDA_ERROR_INVALID_VALUE, "unknown entry in the launch's extra options");
  }
  if (kernel.parameterBytes && (!buffer || size < kernel.parameterBytes))
    return driver.fail(CUDA_ERROR_INVALID_VALUE, "kernel '" + kernel.name + "' takes " +
                                                     std::to_string(kernel.parameterBytes) +
                                                     " bytes of parameters, got " + std::to_string(size));
  if (buffer)
    std::memcpy(bytes.data(), buffer, kernel.parameterBytes);
  return CUDA_SUCCESS;
}
} // namespace weft::simulator

namespace {
CUresult launchKernel(CUfunction function, const Coordinates &grid, const Coordinates &block, unsigned shared,
                      CUstream stream, void **parameters, void **extra, bool cooperative) {
  return withStream(stream, [&](Driver &driver, CUcontext context, CUstream s) -> CUresult {
    // A CUkernel may stand where a CUfunction is wanted.
    auto *kernel = reinterpret_cast<CUkernel>(function);
    if (driver.valid(kernel)) {
      auto module = kernel->library->modules.find(context);
      if (module == kernel->library->modules.end() || !driver.valid(module->second))
        return driver.fail(CUDA_ERROR_INVALID_HANDLE, "the kernel's library is not loaded in this context");
      auto found = module->second->functions.find(kernel->name);
      if (found == module->second->functions.end())
        return driver.fail(CUDA_ERROR_INVALID_HANDLE,
                           "cuKernelGetFunction was not called for the kernel in this context");
      function = found->second.get();
    }
    if (!driver.valid(function) || function->module->context != s->context)
      return driver.fail(CUDA_ERROR_INVALID_HANDLE,
                         "the function does not exist, or belongs to another context than the stream");
    Work work;
    work.kind = Work::Kind::Kernel;
    work.kernel.function = function;
    work.kernel.configuration.grid = grid;
    work.kernel.configuration.block = block;
    work.kernel.configuration.dynamicShared = shared;
    work.kernel.cooperative = cooperative;
    work.kernel.configuration.cooperative = cooperative;
    work.label = "kernel '" + function->kernel->name + "'";
    CUresult result = driver.checkKernel(function, work.kernel.configuration, cooperative);
    if (result == CUDA_SUCCESS)
      result = takeParameters(driver, function, parameters, extra, work.kernel.configuration.parameters);
    return result == CUDA_SUCCESS ? driver.enqueue(s, std::move(work)) : result;
  });
}
} // namespace

WEFT_DRIVER_API cuLaunchKernel(CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                               unsigned int blockX, unsigned int blockY, unsigned int blockZ, unsigned int shared,
                               CUstream stream, void **parameters, void **extra) {
  return launchKernel(function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, shared, stream, parameters, extra,
                      false);
}

WEFT_DRIVER_API cuLaunchCooperativeKernel(CUfunction function, unsigned int gridX, unsigned int gridY,
                                          unsigned int gridZ, unsigned int blockX, unsigned int blockY,
                                          unsigned int blockZ, unsigned int shared, CUstream stream,
                                          void **parameters) {
  return launchKernel(function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, shared, stream, parameters, nullptr,
                      true);
}

WEFT_DRIVER_API cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra) {
  if (!config || (config->numAttrs && !config->attrs))
    return CUDA_ERROR_INVALID_VALUE;
  bool cooperative = false;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      cooperative = config->attrs[i].value.cooperative != 0;
    if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION &&
        (config->attrs[i].value.clusterDim.x > 1 || config->attrs[i].value.clusterDim.y > 1 ||
         config->attrs[i].value.clusterDim.z > 1))
      return enter([&](Driver &driver) {
        return driver.fail(CUDA_ERROR_NOT_SUPPORTED, "thread block clusters are not simulated");
      });
  }
  return launchKernel(function, {config->gridDimX, config->gridDimY, config->gridDimZ},
                      {config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes,
                      config->hStream, parameters, extra, cooperative);
}

WEFT_DRIVER_API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int blockSize,
                                                            size_t dynamicShared) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!blocks || !driver.valid(function) || blockSize <= 0)
      return driver.fail(CUDA_ERROR_INVALID_VALUE, "the function does not exist, or the block has no threads");
    *blocks = driver.occupancy(function, blockSize, dynamicShared);
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int blockSize,
                                                                     size_t dynamicShared, unsigned int) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, blockSize, dynamicShared);
}

WEFT_DRIVER_API cuOccupancyMaxPotentialBlockSize(int *minimumGrid, int *blockSize, CUfunction function,
                                                 CUoccupancyB2DSize sharedFor, size_t dynamicShared, int limit) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!minimumGrid || !blockSize || !driver.valid(function))
      return driver.fail(CUDA_ERROR_INVALID_VALUE, "the function does not exist");
    int best = 0, bestThreads = 0, most = limit > 0 ? std::min(limit, 1024) : 1024;
    for (int size = most / 32 * 32; size >= 32; size -= 32) {
      int blocks = driver.occupancy(function, size, sharedFor ? sharedFor(size) : dynamicShared);
      if (blocks * size > bestThreads) {
        bestThreads = blocks * size;
        best = size;
      }
    }
    *blockSize = best;
    *minimumGrid = best ? bestThreads / best * int(deviceLimits(driver.options.architecture).multiprocessors) : 0;
    return CUDA_SUCCESS;
  });
}
