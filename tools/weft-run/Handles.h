// Handles of the C API that free themselves, and its errors as exceptions, for weft-run.
#pragma once

#include "include/weft/runtime.h"
#include "runtime/Core/Status.h"

#include <memory>
#include <stdexcept>
#include <string>

namespace weft::run {

// What ends weft-run with status 1; the message is for the user.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void check(WeftStatus *status) {
  if (!status)
    return;
  Failure failure(weft_status_message(status));
  weft_status_free(status);
  throw failure;
}

inline void check(const runtime::Status &status) {
  if (!status.ok())
    throw Failure(status.message());
}

struct Deleter {
  void operator()(WeftProgram *program) const { weft_program_free(program); }
  void operator()(WeftRun *run) const { weft_run_free(run); }
  void operator()(WeftState *state) const { weft_state_free(state); }
  void operator()(WeftThreadPool *pool) const { weft_thread_pool_free(pool); }
};
using Program = std::unique_ptr<WeftProgram, Deleter>;
using Run = std::unique_ptr<WeftRun, Deleter>;
using State = std::unique_ptr<WeftState, Deleter>;
using ThreadPool = std::unique_ptr<WeftThreadPool, Deleter>;

} // namespace weft::run
