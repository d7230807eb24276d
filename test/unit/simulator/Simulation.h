//===- Simulation.h - A simulated device for tests: load, allocate, launch, read ------------===//
#pragma once

#include "runtime/Simulator/Diagnostic.h"
#include "runtime/Simulator/Launch.h"

#include <cstring>
#include <gtest/gtest.h>

namespace weft::simulator {

class Simulation {
public:
  explicit Simulation(int devices = 1) : memory(devices, uint64_t(256) << 20) {}

  /// Fails the test where the module does not load.
  bool load(const std::string &text) {
    try {
      loaded = loadModule(text, memory, 0, "module #1");
      return true;
    } catch (const PtxError &error) {
      ADD_FAILURE() << error.format("test.ptx");
      return false;
    }
  }

  template <class T> uint64_t upload(const std::vector<T> &values, int device = 0) {
    Allocation *made = memory.allocate(device, values.size() * sizeof(T), AllocationKind::Device, "test buffer");
    std::memcpy(reinterpret_cast<void *>(made->base), values.data(), values.size() * sizeof(T));
    memory.markInitialised(*made, made->base, made->size);
    return made->base;
  }
  /// Never written.
  uint64_t allocate(uint64_t bytes, int device = 0) {
    return memory.allocate(device, bytes, AllocationKind::Device, "test buffer")->base;
  }
  template <class T> std::vector<T> download(uint64_t address, size_t count) const {
    std::vector<T> out(count);
    std::memcpy(out.data(), reinterpret_cast<const void *>(address), count * sizeof(T));
    return out;
  }

  /// Parameters in the order of the kernel's, each as the type it has there.
  template <class... Parameters>
  LaunchResult run(const std::string &kernel, Coordinates grid, Coordinates block, Parameters... parameters) {
    auto found = loaded->kernels.find(kernel);
    if (found == loaded->kernels.end()) {
      ADD_FAILURE() << "no kernel '" << kernel << "'";
      return {};
    }
    LaunchConfiguration configuration;
    configuration.grid = grid;
    configuration.block = block;
    configuration.dynamicShared = dynamicShared;
    configuration.cooperative = cooperative;
    configuration.parameters.resize(found->second->parameterBytes);
    size_t index = 0;
    auto put = [&](const void *value, size_t size) {
      auto [offset, wanted] = found->second->parameterLayout.at(index++);
      ASSERT_EQ(size, wanted) << "parameter " << index - 1 << " of " << kernel;
      std::memcpy(configuration.parameters.data() + offset, value, size);
    };
    (put(&parameters, sizeof parameters), ...);
    EXPECT_EQ(index, found->second->parameterLayout.size()) << "parameters of " << kernel;
    std::string reason = checkConfiguration(*found->second, configuration, 227 * 1024);
    EXPECT_EQ(reason, "");
    if (!reason.empty())
      return {};
    return launch(*found->second, memory, 0, peers, configuration, options, faults);
  }

  /// All findings in one text.
  std::string reports() const {
    std::string out;
    for (const Fault &fault : faults.faults())
      out += fault.format() + "\n";
    return out;
  }

  AddressSpace memory;
  std::unique_ptr<LoadedModule> loaded;
  LaunchOptions options;
  FaultLog faults;
  uint32_t dynamicShared = 0;
  bool cooperative = false;
  uint64_t peers = 0;
};

/// A module of one kernel "k" with 64-bit registers %rd, 32-bit %r, floats %f, predicates %p.
inline std::string kernelText(const std::string &parameters, const std::string &body, const std::string &before = "") {
  return ".version 8.7\n.target sm_90\n.address_size 64\n" + before + "\n.visible .entry k(" + parameters +
         ")\n{\n.reg .pred %p<16>;\n.reg .b16 %rs<32>;\n.reg .b32 %r<64>;\n.reg .f32 %f<32>;\n.reg .b64 %rd<32>;\n.reg "
         ".f64 %fd<16>;\n" +
         body + "\n}\n";
}

} // namespace weft::simulator
