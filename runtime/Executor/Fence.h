// Fences, and the thread that runs what waits for them.
#pragma once

#include "runtime/Core/Status.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

namespace weft::runtime {

class Fence {
public:
  // False when it was signaled before.
  bool signal(Status result);
  // False when time ran out; negative: without limit. `result` is what it was signaled with.
  bool wait(int64_t nanoseconds, Status &result) const;
  bool isSignaled() const;

private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool signaled_ = false;
  Status result_;
};

} // namespace weft::runtime
