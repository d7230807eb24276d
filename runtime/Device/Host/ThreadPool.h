// The threads that kernels run on.
#pragma once

#include "runtime/Core/Status.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace weft::runtime {

// A fixed set of worker threads that help whoever calls parallelFor; several threads may call it at once, and each
// takes part in its own loop, so a loop always makes progress. Workers spin briefly for the next loop, then sleep.
class ThreadPool {
public:
  // `threads` counts the caller: 1 makes no workers. Fails when the system refuses a thread.
  static StatusOr<std::shared_ptr<ThreadPool>> create(int32_t threads);
  // The pool of the process, one thread a usable core; made when nobody holds it.
  static StatusOr<std::shared_ptr<ThreadPool>> shared();
  // The cores this process may run on.
  static int32_t usableCores();

  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int32_t size() const { return static_cast<int32_t>(workers_.size()) + 1; }

  // function(context, worker, begin, end) over pieces of [0, count) of at least `grain` (the last may be smaller), in
  // any order and concurrently. worker is in [0, size()), 0 for the caller; no two concurrent pieces of one loop share
  // it. Must not throw and must not call parallelFor of the same pool.
  using Function = void (*)(void *context, int32_t worker, int64_t begin, int64_t end);
  void parallelFor(int64_t count, int64_t grain, Function function, void *context);

  template <typename Callable> void parallelFor(int64_t count, int64_t grain, Callable &callable) {
    parallelFor(
        count, grain,
        [](void *context, int32_t worker, int64_t begin, int64_t end) {
          (*static_cast<Callable *>(context))(worker, begin, end);
        },
        &callable);
  }

private:
  struct Loop;
  ThreadPool() = default;
  void workerMain(int32_t worker);
  static void work(Loop &loop, int32_t worker);
  Loop *findLoop();

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_;     // workers wait for loops
  std::condition_variable finished_; // callers wait for workers to leave their loop
  Loop *loops_ = nullptr;            // under mutex_
  int32_t sleepers_ = 0;             // under mutex_
  int32_t waiters_ = 0;              // under mutex_
  std::atomic<uint64_t> posted_{0};  // grows with every loop posted
  std::atomic<bool> stop_{false};
};

} // namespace weft::runtime
