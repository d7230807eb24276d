// A queue and a thread.
#include "runtime/Executor/Driver.h"

#include <string>
#include <system_error>

namespace weft::runtime {

StatusOr<std::unique_ptr<Driver>> Driver::create() {
  std::unique_ptr<Driver> driver(new Driver());
  try {
    driver->thread_ = std::thread([raw = driver.get()] { raw->main(); });
  } catch (const std::system_error &error) {
    return Status(StatusCode::ResourceExhausted, std::string("cannot start the driver thread: ") + error.what());
  }
  return driver;
}

Driver::~Driver() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable())
    thread_.join();
}

void Driver::main() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stop_ || !tasks_.empty(); });
    if (tasks_.empty())
      return;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
}

} // namespace weft::runtime
