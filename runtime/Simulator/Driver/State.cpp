//===- State.cpp - Start, options, contexts and reports of the simulated driver --------------------===//
#include "runtime/Simulator/Driver/State.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace weft::simulator {

namespace {
/// A whole decimal number in [low, high]; else the problem is noted.
bool readNumber(const char *name, const std::string &text, uint64_t low, uint64_t high, uint64_t &value,
                std::string &problem) {
  char *end = nullptr;
  errno = 0;
  unsigned long long parsed = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || *end || errno || text[0] == '-' || parsed < low || parsed > high) {
    problem = std::string(name) + "='" + text + "': expected a number from " + std::to_string(low) + " to " +
              std::to_string(high);
    return false;
  }
  value = parsed;
  return true;
}

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> out;
  size_t start = 0;
  for (size_t at = 0; at <= text.size(); ++at) {
    if (at == text.size() || text[at] == separator) {
      if (at > start)
        out.push_back(text.substr(start, at - start));
      start = at + 1;
    }
  }
  return out;
}
} // namespace

DriverOptions optionsFromEnvironment() {
  DriverOptions options;
  auto variable = [](const char *name, std::string &text) {
    const char *value = std::getenv(name);
    if (value)
      text = value;
    return value != nullptr;
  };
  std::string text;
  uint64_t number;
  if (variable("WEFT_SIMULATOR_DEVICES", text) &&
      readNumber("WEFT_SIMULATOR_DEVICES", text, 0, 64, number, options.problem))
    options.devices = int(number);
  if (variable("WEFT_SIMULATOR_ARCHITECTURE", text) &&
      readNumber("WEFT_SIMULATOR_ARCHITECTURE", text, 50, 130, number, options.problem))
    options.architecture = unsigned(number);
  if (variable("WEFT_SIMULATOR_MEMORY_MB", text) &&
      readNumber("WEFT_SIMULATOR_MEMORY_MB", text, 1, 1 << 20, number, options.problem))
    options.bytesPerDevice = number << 20;
  if (variable("WEFT_SIMULATOR_SEED", text) &&
      readNumber("WEFT_SIMULATOR_SEED", text, 0, UINT64_MAX, number, options.problem))
    options.launch.seed = number;
  if (variable("WEFT_SIMULATOR_THREADS", text) &&
      readNumber("WEFT_SIMULATOR_THREADS", text, 0, 1024, number, options.problem))
    options.launch.threads = unsigned(number);
  if (variable("WEFT_SIMULATOR_STEP_LIMIT", text) &&
      readNumber("WEFT_SIMULATOR_STEP_LIMIT", text, 1, UINT64_MAX, number, options.problem))
    options.launch.stepLimit = number;
  if (variable("WEFT_SIMULATOR_ASSEMBLER", text) &&
      readNumber("WEFT_SIMULATOR_ASSEMBLER", text, 0, 1, number, options.problem))
    options.useAssembler = number != 0;
  if (variable("WEFT_SIMULATOR_FAIL", text) && readNumber("WEFT_SIMULATOR_FAIL", text, 0, 1, number, options.problem))
    options.failAtExit = number != 0;
  if (variable("WEFT_SIMULATOR_CHECKS", text)) {
    // A list that replaces the default, which is "uninitialised".
    options.launch.checkUninitialised = false;
    for (const std::string &check : split(text, ',')) {
      if (check == "uninitialised")
        options.launch.checkUninitialised = true;
      else if (check == "races")
        options.launch.checkRaces = true;
      else if (check == "counters")
        options.launch.countMemory = options.countLaunches = true;
      else if (check != "none")
        options.problem = "WEFT_SIMULATOR_CHECKS: '" + check + "' is none of uninitialised, races, counters, none";
    }
  }
  if (variable("WEFT_SIMULATOR_INJECT", text)) {
    for (const std::string &entry : split(text, ',')) {
      std::vector<std::string> parts = split(entry, ':');
      const char *name = "WEFT_SIMULATOR_INJECT";
      Injection &injection = options.injection;
      if (parts.size() == 2 && parts[0] == "out-of-memory" &&
          readNumber(name, parts[1], 1, UINT64_MAX, number, options.problem))
        injection.failAllocation = number;
      else if (parts.size() == 2 && parts[0] == "launch-failure" &&
               readNumber(name, parts[1], 1, UINT64_MAX, number, options.problem))
        injection.failLaunch = number;
      else if (parts.size() == 2 && parts[0] == "dead-device" &&
               readNumber(name, parts[1], 0, 63, number, options.problem))
        injection.deadDevice = int(number);
      else if (parts.size() == 3 && parts[0] == "slow-device" &&
               readNumber(name, parts[1], 0, 63, number, options.problem)) {
        injection.slowDevice = int(number);
        if (readNumber(name, parts[2], 0, 60000, number, options.problem))
          injection.slowMilliseconds = unsigned(number);
      } else if (options.problem.empty()) {
        options.problem = "WEFT_SIMULATOR_INJECT: '" + entry +
                          "' is none of out-of-memory:N, launch-failure:N, dead-device:D, slow-device:D:MILLISECONDS";
      }
    }
  }
  return options;
}

Driver &Driver::get() {
  // Never destroyed: host threads may still call when the process ends.
  static Driver *instance = new Driver;
  return *instance;
}

std::vector<CUcontext> &contextStack() {
  thread_local std::vector<CUcontext> stack;
  return stack;
}

CUresult Driver::initialise() {
  if (initialised)
    return CUDA_SUCCESS;
  options = optionsFromEnvironment();
  if (!options.problem.empty()) {
    std::fprintf(stderr, "weft simulator: %s\n", options.problem.c_str());
    return fail(CUDA_ERROR_INVALID_VALUE, options.problem);
  }
  if (options.devices == 0)
    return fail(CUDA_ERROR_NO_DEVICE, "WEFT_SIMULATOR_DEVICES is 0");
  memory = std::make_unique<AddressSpace>(options.devices, options.bytesPerDevice);
  devices.clear();
  devices.resize(size_t(options.devices));
  for (int i = 0; i < options.devices; ++i) {
    auto pool = std::make_unique<CUmemPoolHandle_st>();
    pool->device = i;
    pool->isDefault = true;
    devices[size_t(i)].currentPool = keep(pool.get());
    devices[size_t(i)].defaultPool = std::move(pool);
  }
  random.seed(options.launch.seed);
  initialised = true;
  static bool registered = false;
  if (!registered) {
    registered = true;
    std::atexit([] { Driver::get().printReports(); });
  }
  return CUDA_SUCCESS;
}

void Driver::reset() {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  pending.clear();
  pendingIds.clear();
  for (const auto &context : contexts) {
    for (CUstream stream : context->streams)
      delete stream;
    for (CUevent event : context->events)
      delete event;
    for (CUmodule module : context->modules)
      delete module;
  }
  contexts.clear();
  handles.clear();
  devices.clear();
  faults.clear();
  launches.clear();
  records.clear();
  hostClock.clear();
  memory.reset();
  allocationCount = launchCount = moduleCount = poolAllocations = 0;
  operationIds = 0;
  timelines = streamNumbers = 0;
  anyCapture = false;
  contextStack().clear();
  lastReason.clear();
  initialised = false;
}

CUresult Driver::fail(CUresult code, const std::string &reason) {
  lastReason = reason;
  return code;
}

double Driver::now() const {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

CUcontext Driver::makeContext(int device, unsigned flags, bool primary) {
  auto made = std::make_unique<CUctx_st>();
  made->device = device;
  made->flags = flags;
  made->primary = primary;
  made->limits = {
      {CU_LIMIT_STACK_SIZE, 1024}, {CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20}, {CU_LIMIT_MALLOC_HEAP_SIZE, 8 << 20}};
  CUcontext context = keep(made.get());
  contexts.push_back(std::move(made));
  context->legacy = std::make_unique<CUstream_st>();
  context->legacy->context = context;
  context->legacy->timeline = newTimeline();
  return context;
}

void Driver::destroyContext(CUcontext context) {
  waitForContext(context);
  // What will never run (an injected fault) goes with it.
  for (auto operation = pending.begin(); operation != pending.end();) {
    if ((*operation)->context == context) {
      if ((*operation)->work.kind == Work::Kind::Free)
        if (Allocation *allocation = memory->findBase((*operation)->work.address))
          memory->free(*allocation, "cuMemFreeAsync");
      pendingIds.erase((*operation)->id);
      operation = pending.erase(operation);
    } else {
      ++operation;
    }
  }
  for (CUstream stream : context->streams) {
    handles.erase(stream);
    delete stream;
  }
  for (CUevent event : context->events) {
    handles.erase(event);
    delete event;
  }
  for (CUmodule module : context->modules) {
    for (auto &variable : module->loaded->variables)
      memory->free(*variable.second, "destruction of its context");
    for (auto &function : module->functions)
      handles.erase(function.second.get());
    handles.erase(module);
    delete module;
  }
  handles.erase(context);
  DeviceState &device = devices[size_t(context->device)];
  if (device.primary == context)
    device.primary = nullptr;
  device.sticky = CUDA_SUCCESS;
  for (size_t i = 0; i < contexts.size(); ++i) {
    if (contexts[i].get() == context) {
      contexts.erase(contexts.begin() + long(i));
      break;
    }
  }
}

CUstream Driver::makeStream(CUcontext context, unsigned flags, int priority) {
  auto *stream = new CUstream_st;
  stream->context = context;
  stream->flags = flags;
  stream->priority = priority;
  stream->number = ++streamNumbers;
  stream->timeline = newTimeline();
  context->streams.insert(stream);
  return keep(stream);
}

CUstream Driver::resolve(CUstream stream, CUcontext context) {
  if (!stream || stream == CU_STREAM_LEGACY)
    return context->legacy.get();
  if (stream == CU_STREAM_PER_THREAD) {
    auto &own = context->perThread[std::this_thread::get_id()];
    if (!own) {
      own = std::make_unique<CUstream_st>();
      own->context = context;
      own->number = ++streamNumbers;
      own->timeline = newTimeline();
    }
    return own.get();
  }
  if (!valid(stream)) {
    fail(CUDA_ERROR_INVALID_HANDLE, "the stream does not exist, or was destroyed");
    return nullptr;
  }
  return stream;
}

Allocation *Driver::findMemory(uint64_t address, uint64_t bytes, std::string &reason) const {
  Allocation *found = memory->find(address);
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  if (!found) {
    reason = std::string("no buffer lies at ") + text;
    return nullptr;
  }
  if (found->freed) {
    reason = std::string("the memory at ") + text + " was freed by " + found->freeOrigin + ": " + found->describe();
    return nullptr;
  }
  if (address < found->base || bytes > found->end() - address || address > found->end()) {
    reason = std::to_string(bytes) + " bytes at " + text + " leave " + found->describe();
    return nullptr;
  }
  return found;
}

std::string Driver::leakReport() {
  std::string out;
  if (!memory)
    return out;
  for (Allocation *allocation : memory->live())
    if (allocation->kind != AllocationKind::ModuleVariable && allocation->kind != AllocationKind::ModuleConstant)
      out += "leak: " + allocation->describe() + " was never freed\n";
  return out;
}

void Driver::printReports() {
  if (!initialised || !options.printReports)
    return;
  std::vector<Fault> found = faults.faults();
  for (const Fault &fault : found)
    std::fprintf(stderr, "weft simulator: %s\n", fault.format().c_str());
  for (const LaunchRecord &launch : launches)
    std::fprintf(stderr, "weft simulator: kernel %s\n%s", launch.kernel.c_str(), launch.counters.table().c_str());
  std::string leaks = leakReport();
  if (!leaks.empty())
    std::fprintf(stderr, "%s", leaks.c_str());
  if (options.failAtExit && !(found.empty() && leaks.empty())) {
    std::fflush(nullptr);
    std::_Exit(86);
  }
}

} // namespace weft::simulator
