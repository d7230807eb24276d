// The CUDA driver: found by dlopen, called through one table.
#pragma once

#include "runtime/Core/Status.h"
#include "runtime/Device/Cuda/DriverTypes.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace weft::runtime::cuda {

// One function of the table. Calls are counted, so that a test can say how many a run takes.
template <typename... Parameters> class Function {
public:
  Result operator()(Parameters... parameters) const {
    calls_->fetch_add(1, std::memory_order_relaxed);
    return pointer_(parameters...);
  }
  explicit operator bool() const { return pointer_ != nullptr; }
  void set(void *pointer, std::atomic<int64_t> *calls) {
    pointer_ = reinterpret_cast<Result (*)(Parameters...)>(pointer);
    calls_ = calls;
  }

private:
  Result (*pointer_)(Parameters...) = nullptr;
  std::atomic<int64_t> *calls_ = nullptr;
};

class Driver {
public:
  // The driver library of that path or name; empty: that of the environment variable WEFT_CUDA_DRIVER, else
  // libcuda.so.1. Opened once while anybody holds it. The error says what was looked for, and where.
  static StatusOr<std::shared_ptr<Driver>> open(const std::string &library);
  ~Driver();
  Driver(const Driver &) = delete;
  Driver &operator=(const Driver &) = delete;

#define SYMBOL(name, symbol, ...) Function<__VA_ARGS__> name;
#define OPTIONAL_SYMBOL SYMBOL
#include "runtime/Device/Cuda/Symbols.def"

  // Success for kSuccess; else `what`, the driver's name for the error, and its text.
  Status status(Result result, const std::string &what) const;
  // "CUDA_ERROR_OUT_OF_MEMORY (out of memory)"
  std::string describe(Result result) const;
  // Milliseconds between two events that are over.
  Result elapsed(float *milliseconds, EventHandle start, EventHandle end) const;

  // The path it was opened by.
  const std::string &library() const { return library_; }
  // 1000 * major + 10 * minor of the newest CUDA that the driver knows.
  int version() const { return version_; }
  std::string versionText() const;
  int64_t calls() const { return calls_.load(); }
  // The symbol of the library, for a simulated driver's own functions; null where there is none.
  void *find(const char *symbol) const;

private:
  Driver() = default;
  Status load(const std::string &library);

  std::string library_;
  void *handle_ = nullptr;
  int version_ = 0;
  mutable std::atomic<int64_t> calls_{0};
};

// A GPU that the driver lists.
struct DeviceDescription {
  std::string name;
  int architecture = 0; // 90
  size_t bytes = 0;
};

// All GPUs of a driver, in its order; does not touch them beyond asking.
StatusOr<std::vector<DeviceDescription>> listDevices(const Driver &driver);

// After these a context answers every call with the same error, until it is destroyed.
bool isSticky(Result result);

} // namespace weft::runtime::cuda
