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
  void enqueue(std::function<void()> task);

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
