//===- RunTest.h - One ONNX backend test on one device, in this process ----------------------------===//

#ifndef WEFT_TEST_CONFORMANCE_RUNTEST_H
#define WEFT_TEST_CONFORMANCE_RUNTEST_H

#include "test/conformance/Suites.h"

namespace weft::conformance {

enum class Device { Interpreter, Cpu };

llvm::StringRef nameOf(Device device);

struct Outcome {
  bool passed = false;
  /// Inputs whose values had to be known when the model was imported, since they decide a shape.
  std::vector<std::string> fixedInputs;
  std::string message; // of a failure
};

/// Runs every data set of the test. `Device::Cpu` compiles the model to an artifact in memory and runs that through the
/// C API of the runtime.
Outcome runTest(const Test &test, Device device);

} // namespace weft::conformance

#endif
