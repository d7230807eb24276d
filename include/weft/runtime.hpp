/* C++ over the C API of the runtime: handles that free themselves, and errors as exceptions. Header only; for the
 * meaning of each call see runtime.h. */
#ifndef WEFT_RUNTIME_HPP
#define WEFT_RUNTIME_HPP

#include "runtime.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft {

/* What a failed call throws; what() is the status's message. */
class Error : public std::runtime_error {
public:
  Error(WeftStatusCode code, const std::string &message) : std::runtime_error(message), code_(code) {}
  WeftStatusCode code() const { return code_; }

private:
  WeftStatusCode code_;
};

inline void check(WeftStatus *status) {
  if (!status)
    return;
  Error error(weft_status_code(status), weft_status_message(status));
  weft_status_free(status);
  throw error;
}

/* A result, in memory of the run it came from. */
struct TensorView {
  const void *data = nullptr;
  WeftElementType type = WEFT_ELEMENT_INVALID;
  std::vector<int64_t> dims;
};

class Program {
public:
  explicit Program(const std::string &path, const WeftLoadOptions *options = nullptr) {
    WeftProgram *program = nullptr;
    check(weft_program_load_file(path.c_str(), options, &program));
    handle_.reset(program);
  }
  WeftProgram *get() const { return handle_.get(); }

private:
  struct Free {
    void operator()(WeftProgram *program) const { weft_program_free(program); }
  };
  std::unique_ptr<WeftProgram, Free> handle_;
};

/* The program must outlive it. */
class Run {
public:
  explicit Run(const Program &program, const char *entry = nullptr) {
    WeftRun *run = nullptr;
    check(weft_run_create(program.get(), entry, &run));
    handle_.reset(run);
  }
  /* The memory must stay valid until the next execution has ended, or the input is set again. */
  void setInput(const std::string &name, const void *data, WeftElementType type, const std::vector<int64_t> &dims) {
    WeftTensorView view = {const_cast<void *>(data), type, static_cast<int32_t>(dims.size()), dims.data(), nullptr};
    check(weft_run_set_input(handle_.get(), name.c_str(), &view));
  }
  void execute() { check(weft_run_execute(handle_.get())); }
  TensorView output(const std::string &name) const {
    WeftTensorView view;
    check(weft_run_output(handle_.get(), name.c_str(), &view));
    return {view.data, view.type, std::vector<int64_t>(view.dims, view.dims + view.rank)};
  }
  WeftRun *get() const { return handle_.get(); }

private:
  struct Free {
    void operator()(WeftRun *run) const { weft_run_free(run); }
  };
  std::unique_ptr<WeftRun, Free> handle_;
};

} // namespace weft

#endif /* WEFT_RUNTIME_HPP */
