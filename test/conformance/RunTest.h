//===- RunTest.h - One ONNX backend test on one device, in this process ----------------------------===//

#ifndef WEFT_TEST_CONFORMANCE_RUNTEST_H
#define WEFT_TEST_CONFORMANCE_RUNTEST_H

#include "test/conformance/Suites.h"
#include <optional>
#include <set>

namespace weft::conformance {

/// `Cuda` is a simulated GPU under the simulator's race, bounds and uninitialised checks.
enum class Device { Interpreter, Cpu, Cuda };

inline constexpr Device kDevices[] = {Device::Interpreter, Device::Cpu, Device::Cuda};

llvm::StringRef nameOf(Device device);

/// The devices of a list of names with commas between; nothing where a name is none or the list is empty.
std::optional<std::set<Device>> parseDevices(llvm::StringRef names);

struct Outcome {
  bool passed = false;
  /// Inputs whose values had to be known when the model was imported, since they decide a shape.
  std::vector<std::string> fixedInputs;
  std::string message; // of a failure
};

/// Runs every data set of the test. `Device::Cpu` and `Device::Cuda` compile the model to an artifact in memory and run
/// that through the C API of the runtime. What the checks of a simulated GPU find fails the test.
Outcome runTest(const Test &test, Device device);

} // namespace weft::conformance

#endif
