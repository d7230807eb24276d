//===- Workers.h - Runs steps in processes of their own, several at a time --------------------------===//

#ifndef WEFT_TEST_CONFORMANCE_WORKERS_H
#define WEFT_TEST_CONFORMANCE_WORKERS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstddef>
#include <string>

namespace weft::conformance {

struct WorkerOptions {
  unsigned processes = 1;
  unsigned secondsPerStep = 60;
};

/// How a step ended: with the text that it returned, or with a crash or a hang and what is known of it.
struct StepEnd {
  bool returned = false;
  std::string text;
  double seconds = 0;
};

/// Runs steps 0 to count - 1, each in a child process, so that a crash or a hang costs that step alone. `done` is
/// called in this process, in the order in which steps end.
void runSteps(size_t count, const WorkerOptions &options, llvm::function_ref<std::string(size_t)> step,
              llvm::function_ref<void(size_t, const StepEnd &)> done);

} // namespace weft::conformance

#endif
