// Success, or an error code with a message: what every fallible function of the runtime returns.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace weft::runtime {

// The numbers are those of WeftStatusCode in include/weft/runtime.h.
enum class StatusCode : int {
  Ok = 0,
  InvalidArgument = 1,    // the caller gave something that does not fit: a name, type, shape, option
  NotFound = 2,           // a file, entry point or name that does not exist
  DataLoss = 3,           // a file is damaged or truncated
  VersionMismatch = 4,    // an artifact of another version
  UnsupportedDevice = 5,  // this machine lacks what the artifact needs
  ResourceExhausted = 6,  // out of memory or disk space
  Cancelled = 7,          // the run was cancelled
  DeadlineExceeded = 8,   // a wait ran out of time
  FailedPrecondition = 9, // called in the wrong state: a run in flight, an output not computed yet
  ExecutionFailed = 10,   // a kernel reported an error on the data it was given
  Io = 11,                // reading or writing failed
  Internal = 12,          // a bug in Weft
  NotANumber = 13,        // the check for NaNs found one
};

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message) {
    if (code != StatusCode::Ok)
      error_ = std::make_shared<Error>(Error{code, std::move(message)});
  }
  bool ok() const { return !error_; }
  StatusCode code() const { return error_ ? error_->code : StatusCode::Ok; }
  const std::string &message() const {
    static const std::string none;
    return error_ ? error_->message : none;
  }
  // The same error with `context` and ": " before its message; success stays success.
  Status withContext(const std::string &context) const {
    return ok() ? *this : Status(code(), context + ": " + message());
  }

private:
  struct Error {
    StatusCode code;
    std::string message;
  };
  std::shared_ptr<const Error> error_;
};

// A value or the error that prevented it.
template <typename T> class [[nodiscard]] StatusOr {
public:
  StatusOr(Status status) : status_(std::move(status)) {}
  StatusOr(T value) : value_(std::move(value)) {}
  bool ok() const { return value_.has_value(); }
  const Status &status() const { return status_; }
  T &operator*() { return *value_; }
  const T &operator*() const { return *value_; }
  T *operator->() { return &*value_; }
  const T *operator->() const { return &*value_; }

private:
  Status status_;
  std::optional<T> value_;
};

#define WEFT_RETURN_IF_ERROR(expression)                                                                               \
  do {                                                                                                                 \
    if (::weft::runtime::Status weftStatus = (expression); !weftStatus.ok())                                           \
      return weftStatus;                                                                                               \
  } while (false)

} // namespace weft::runtime
