// Loops are posted to an intrusive list; workers join one under the lock and then share its counter without it.
#include "runtime/Device/Host/ThreadPool.h"

#include <algorithm>
#include <sched.h>
#include <system_error>

namespace weft::runtime {
namespace {

// About 20 us: longer than the gap between two kernels of a run, too short to matter to other processes.
constexpr int kSpins = 400;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

} // namespace

// Lives on the caller's stack; no worker touches it after it has left it (joined).
struct ThreadPool::Loop {
  Function function;
  void *context;
  int64_t count;
  int64_t piece;
  std::atomic<int64_t> next{0};
  std::atomic<int32_t> joined{0};
  Loop *following = nullptr;
};

int32_t ThreadPool::usableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
    return CPU_COUNT(&set);
  return std::max(1, static_cast<int32_t>(std::thread::hardware_concurrency()));
}

StatusOr<std::shared_ptr<ThreadPool>> ThreadPool::create(int32_t threads) {
  constexpr int32_t kMaximumThreads = 4096;
  if (threads < 1 || threads > kMaximumThreads)
    return Status(StatusCode::InvalidArgument, "the number of threads is " + std::to_string(threads) +
                                                   ", expected 1 to " + std::to_string(kMaximumThreads));
  std::shared_ptr<ThreadPool> pool(new ThreadPool());
  try {
    for (int32_t worker = 1; worker < threads; ++worker)
      pool->workers_.emplace_back([raw = pool.get(), worker] { raw->workerMain(worker); });
  } catch (const std::system_error &error) {
    return Status(StatusCode::ResourceExhausted,
                  "cannot start thread " + std::to_string(pool->workers_.size() + 1) + ": " + error.what());
  }
  return pool;
}

StatusOr<std::shared_ptr<ThreadPool>> ThreadPool::shared() {
  static std::mutex mutex;
  static std::weak_ptr<ThreadPool> current;
  std::lock_guard<std::mutex> lock(mutex);
  if (std::shared_ptr<ThreadPool> pool = current.lock())
    return pool;
  auto pool = create(usableCores());
  if (pool.ok())
    current = *pool;
  return pool;
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_.store(true, std::memory_order_relaxed);
    posted_.fetch_add(1, std::memory_order_release);
  }
  wake_.notify_all();
  for (std::thread &worker : workers_)
    worker.join();
}

void ThreadPool::work(Loop &loop, int32_t worker) {
  for (;;) {
    int64_t begin = loop.next.fetch_add(loop.piece, std::memory_order_relaxed);
    if (begin >= loop.count)
      return;
    loop.function(loop.context, worker, begin, std::min(begin + loop.piece, loop.count));
  }
}

// Under the lock.
ThreadPool::Loop *ThreadPool::findLoop() {
  for (Loop *loop = loops_; loop; loop = loop->following)
    if (loop->next.load(std::memory_order_relaxed) < loop->count)
      return loop;
  return nullptr;
}

void ThreadPool::workerMain(int32_t worker) {
  uint64_t seen = 0;
  for (;;) {
    for (int spin = 0; spin < kSpins && posted_.load(std::memory_order_acquire) == seen; ++spin)
      pause();
    Loop *loop = nullptr;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      while (!(loop = findLoop())) {
        if (stop_.load(std::memory_order_relaxed))
          return;
        // A loop that came and went meanwhile: back to spinning rather than to sleep.
        uint64_t posted = posted_.load(std::memory_order_relaxed);
        if (posted != seen) {
          seen = posted;
          break;
        }
        ++sleepers_;
        wake_.wait(lock);
        --sleepers_;
      }
      if (!loop)
        continue;
      loop->joined.fetch_add(1, std::memory_order_relaxed);
    }
    work(*loop, worker);
    // Release: what the pieces wrote is visible to the caller that sees the count.
    if (loop->joined.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      std::lock_guard<std::mutex> lock(mutex_);
      if (waiters_ > 0)
        finished_.notify_all();
    }
  }
}

void ThreadPool::parallelFor(int64_t count, int64_t grain, Function function, void *context) {
  if (count <= 0)
    return;
  if (workers_.empty() || count <= grain) {
    function(context, 0, 0, count);
    return;
  }
  // A few pieces a thread even out unequal progress; more would cost in handing out.
  constexpr int64_t kPiecesPerThread = 4;
  int64_t pieces = kPiecesPerThread * size();
  Loop loop;
  loop.function = function;
  loop.context = context;
  loop.count = count;
  loop.piece = std::max(grain, (count - 1) / pieces + 1);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    loop.following = loops_;
    loops_ = &loop;
    posted_.fetch_add(1, std::memory_order_release);
    if (sleepers_ > 0)
      wake_.notify_all();
  }
  work(loop, 0);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    Loop **link = &loops_;
    while (*link != &loop)
      link = &(*link)->following;
    *link = loop.following;
  }
  // From here on no worker can join.
  for (int spin = 0; spin < kSpins; ++spin) {
    if (loop.joined.load(std::memory_order_acquire) == 0)
      return;
    pause();
  }
  std::unique_lock<std::mutex> lock(mutex_);
  ++waiters_;
  finished_.wait(lock, [&] { return loop.joined.load(std::memory_order_acquire) == 0; });
  --waiters_;
}

} // namespace weft::runtime
