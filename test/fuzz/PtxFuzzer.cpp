//===- PtxFuzzer.cpp - libFuzzer on PTX texts: parse, verify, and run what is accepted ----------===//
#include "runtime/Simulator/Diagnostic.h"
#include "runtime/Simulator/Launch.h"

#include <cstring>

using namespace weft::simulator;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  AddressSpace memory(1, uint64_t(16) << 20);
  std::unique_ptr<LoadedModule> module;
  try {
    module = loadModule(text, memory, 0, "module #1");
  } catch (const PtxError &) {
    return 0;
  }
  Allocation *buffer = memory.allocate(0, 4096, AllocationKind::Device, "fuzzer");
  for (const auto &entry : module->kernels) {
    LaunchConfiguration configuration;
    configuration.grid = {2, 1, 1};
    configuration.block = {64, 1, 1};
    configuration.dynamicShared = 256;
    configuration.parameters.resize(entry.second->parameterBytes);
    for (auto [offset, bytes] : entry.second->parameterLayout)
      if (bytes == 8)
        std::memcpy(configuration.parameters.data() + offset, &buffer->base, 8);
    if (!checkConfiguration(*entry.second, configuration, 227 * 1024).empty())
      continue;
    LaunchOptions options;
    options.stepLimit = 2000;
    options.checkRaces = true;
    options.countMemory = true;
    options.threads = 1;
    options.output = "/dev/null";
    FaultLog faults;
    launch(*entry.second, memory, 0, 0, configuration, options, faults);
  }
  return 0;
}
