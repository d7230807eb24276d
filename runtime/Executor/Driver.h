// The thread that runs what a program was asked to run asynchronously, one after another.
#pragma once

#include "runtime/Core/Status.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace weft::runtime {

class Driver {
public:
  static StatusOr<std::unique_ptr<Driver>> create();
  // Finishes what was enqueued.
  ~Driver();
  // `accepted` is called before the task can run, and only if nothing can prevent it any more; it must not throw.
  template <typename Function> void enqueue(std::function<void()> task, Function accepted) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      tasks_.push_back(std::move(task));
      accepted();
    }
    changed_.notify_one();
  }

private:
  Driver() = default;
  void main();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool stop_ = false;
  std::thread thread_;
};

} // namespace weft::runtime
