//===- copy.cpp - What memory gives: a loop that reads and writes as much as a kernel ---------------------===//
//
// usage: bench_copy READ WRITTEN THREADS     both in floats. For every line of input: runs once, prints the seconds.
// Where both are as large the loop copies; where less is written it adds up what each written element's share is.
// Stores past the caches are non-temporal, as a kernel's would be.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

using Vector = float __attribute__((vector_size(32)));
constexpr size_t kLanes = sizeof(Vector) / sizeof(float);

void copyRange(const Vector *from, Vector *to, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i)
    __builtin_nontemporal_store(from[i], to + i);
}

void sumRange(const Vector *from, float *to, size_t share, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    Vector sums[4] = {};
    const Vector *row = from + i * share;
    for (size_t j = 0; j < share; ++j)
      sums[j % 4] += row[j];
    Vector sum = sums[0] + sums[1] + sums[2] + sums[3];
    to[i] = 0;
    for (size_t lane = 0; lane < kLanes; ++lane)
      to[i] += sum[lane];
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fputs("usage: bench_copy READ WRITTEN THREADS\n", stderr);
    return 2;
  }
  size_t read = std::strtoull(argv[1], nullptr, 10), written = std::strtoull(argv[2], nullptr, 10),
         threads = std::strtoull(argv[3], nullptr, 10);
  if (threads < 1 || written < 1 || read < written || read % (written * kLanes) != 0) {
    // A copy needs whole vectors, a sum whole vectors a written element.
    if (threads < 1 || read != written || read % kLanes != 0) {
      std::fputs("bench_copy: expected READ = WRITTEN in whole vectors, or READ a multiple of 8 WRITTEN\n", stderr);
      return 2;
    }
  }
  auto *from = static_cast<Vector *>(std::aligned_alloc(64, read * sizeof(float)));
  auto *to = static_cast<Vector *>(std::aligned_alloc(64, (written * sizeof(float) + 63) / 64 * 64));
  for (size_t i = 0; i < read / kLanes; ++i)
    from[i] = Vector{} + static_cast<float>(i % 97);
  size_t items = read == written ? read / kLanes : written;
  auto work = [&](size_t thread) {
    size_t begin = items * thread / threads, end = items * (thread + 1) / threads;
    if (read == written)
      copyRange(from, to, begin, end);
    else
      sumRange(from, reinterpret_cast<float *>(to), read / written / kLanes, begin, end);
  };
  while (std::getchar() != EOF) {
    auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> workers;
    for (size_t thread = 1; thread < threads; ++thread)
      workers.emplace_back(work, thread);
    work(0);
    for (std::thread &worker : workers)
      worker.join();
    std::printf("%.9f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    std::fflush(stdout);
  }
  std::free(from);
  std::free(to);
  return 0;
}
