// What the files of the C API share: handles, and the border that no exception crosses.
#pragma once

#include "include/weft/runtime.h"
#include "runtime/Executor/Run.h"

#include <exception>
#include <new>

struct WeftStatus {
  weft::runtime::Status status;
};

struct WeftThreadPool {
  std::shared_ptr<weft::runtime::ThreadPool> pool;
};

struct WeftFence {
  std::shared_ptr<weft::runtime::Fence> fence;
};

// Inspection hands out pointers, so what they point to is made when the program is loaded.
struct WeftProgram {
  struct Tensor {
    std::vector<std::string> texts;
    std::vector<WeftDimension> dims;
    WeftTensorInfo info = {};
  };
  struct EntryTensors {
    std::vector<Tensor> inputs, outputs;
  };
  std::shared_ptr<weft::runtime::LoadedProgram> program;
  std::vector<EntryTensors> entries;
  std::vector<Tensor> weights, states;
  std::vector<std::pair<std::string, std::string>> metadata;
};

struct WeftState {
  std::unique_ptr<weft::runtime::StateTensors> state;
};

struct WeftRun {
  std::unique_ptr<weft::runtime::Run> run;
};

namespace weft::runtime {

// Returned when there is no memory for a status.
WeftStatus *outOfMemoryStatus();

inline WeftStatus *toC(const Status &status) {
  if (status.ok())
    return nullptr;
  auto *result = new (std::nothrow) WeftStatus{status};
  return result ? result : outOfMemoryStatus();
}

// Runs the body of an API function; whatever it throws becomes a status.
template <typename Body> WeftStatus *guarded(Body body) noexcept {
  try {
    return toC(body());
  } catch (const std::bad_alloc &) {
    return outOfMemoryStatus();
  } catch (const std::length_error &) {
    return outOfMemoryStatus();
  } catch (const std::exception &error) {
    try {
      return toC(Status(StatusCode::Internal, error.what()));
    } catch (...) {
      return outOfMemoryStatus();
    }
  } catch (...) {
    return outOfMemoryStatus();
  }
}

inline Status nullArgument(const char *name) {
  return Status(StatusCode::InvalidArgument, std::string("argument ") + name + " is NULL");
}

} // namespace weft::runtime
