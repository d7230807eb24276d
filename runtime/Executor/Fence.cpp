// A condition variable and a result.
#include "runtime/Executor/Fence.h"

#include <chrono>

namespace weft::runtime {

bool Fence::signal(Status result) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (signaled_)
      return false;
    signaled_ = true;
    result_ = std::move(result);
  }
  changed_.notify_all();
  return true;
}

bool Fence::wait(int64_t nanoseconds, Status &result) const {
  std::unique_lock<std::mutex> lock(mutex_);
  auto ready = [&] { return signaled_; };
  // Beyond a few centuries the clock overflows.
  constexpr int64_t kForever = int64_t(1) << 60;
  if (nanoseconds < 0 || nanoseconds > kForever)
    changed_.wait(lock, ready);
  else if (!changed_.wait_for(lock, std::chrono::nanoseconds(nanoseconds), ready))
    return false;
  result = result_;
  return true;
}

bool Fence::isSignaled() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return signaled_;
}

} // namespace weft::runtime
