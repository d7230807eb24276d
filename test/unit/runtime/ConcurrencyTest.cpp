// Threads, fences, cancellation and DLPack. Also meant for ThreadSanitizer: configure with -DWEFT_SANITIZE=thread.
#include "test/unit/runtime/TestPrograms.h"

#include "runtime/Device/Host/ThreadPool.h"

#include <atomic>
#include <chrono>
#include <thread>

using namespace weft::runtime;
using namespace weft::runtime::test;

namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(ThreadPool, CoversEveryPieceOnceForAnyShape) {
  for (int32_t threads : {1, 2, 3, 4}) {
    auto pool = ThreadPool::create(threads);
    ASSERT_TRUE(pool.ok());
    EXPECT_EQ((*pool)->size(), threads);
    for (int64_t count : {0, 1, 2, 5, 63, 64, 1000})
      for (int64_t grain : {1, 7, 64, 5000}) {
        std::vector<std::atomic<int>> touched(static_cast<size_t>(count));
        std::atomic<bool> sane{true};
        auto body = [&](int32_t worker, int64_t begin, int64_t end) {
          if (worker < 0 || worker >= threads || begin >= end || (end - begin < grain && end != count))
            sane = false;
          for (int64_t i = begin; i < end; ++i)
            touched[static_cast<size_t>(i)].fetch_add(1);
        };
        (*pool)->parallelFor(count, grain, body);
        EXPECT_TRUE(sane.load());
        for (const auto &times : touched)
          ASSERT_EQ(times.load(), 1);
      }
  }
}

TEST(ThreadPool, RefusesImpossibleSizes) {
  EXPECT_FALSE(ThreadPool::create(0).ok());
  EXPECT_FALSE(ThreadPool::create(-3).ok());
  EXPECT_FALSE(ThreadPool::create(1 << 30).ok());
}

// Many short loops from several callers at once, with pauses so that workers also fall asleep in between.
TEST(ThreadPool, ManyCallers) {
  auto pool = ThreadPool::create(3);
  ASSERT_TRUE(pool.ok());
  std::vector<std::thread> callers;
  std::atomic<int64_t> total{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 300; ++round) {
        std::atomic<int64_t> sum{0};
        auto body = [&](int32_t, int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i)
            sum.fetch_add(i, std::memory_order_relaxed);
        };
        (*pool)->parallelFor(100, 1, body);
        total.fetch_add(sum.load());
        if (round % 50 == caller)
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(total.load(), 4 * 300 * 4950);
}

TEST(Concurrency, OneProgramFromFourThreads) {
  BiasProgram bias;
  Loaded loaded = load(bias.program, bias.weights(), 3);
  ASSERT_EQ(loaded.error, "");
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int index = 0; index < 4; ++index)
    threads.emplace_back([&, index] {
      WeftRun *handle = nullptr;
      if (!take(weft_run_create(loaded.program.get(), nullptr, &handle)).empty()) {
        ++wrong;
        return;
      }
      RunHandle run(handle);
      for (int round = 0; round < 100; ++round) {
        int64_t rows = 1 + (index * 17 + round) % 64;
        FloatTensor x = floats({rows, 4});
        for (size_t i = 0; i < x.count; ++i)
          x[i] = static_cast<float>(index * 1000 + round + static_cast<int>(i));
        WeftTensorView view = x.view(), result = {};
        if (!take(weft_run_set_input(run.get(), "x", &view)).empty() || !take(weft_run_execute(run.get())).empty() ||
            !take(weft_run_output(run.get(), "y", &result)).empty()) {
          ++wrong;
          return;
        }
        for (size_t i = 0; i < x.count; ++i)
          if (static_cast<const float *>(result.data)[i] != 2 * (x[i] + static_cast<float>(i % 4 + 1)))
            ++wrong;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(Concurrency, AsynchronousRunsWithFences) {
  BiasProgram bias;
  Loaded loaded = load(bias.program, bias.weights(), 2);
  RunHandle first = makeRun(loaded), second = makeRun(loaded);
  FloatTensor x = floats({2, 4}, {0, 0, 0, 0, 0, 0, 0, 0});
  // The second run reads what the first one writes.
  FloatTensor middle = floats({2, 4});
  WeftTensorView view = middle.view();
  ASSERT_EQ(setInput(first, "x", x), "");
  ASSERT_EQ(take(weft_run_set_output(first.get(), "y", &view)), "");
  ASSERT_EQ(setInput(second, "x", middle), "");
  WeftFence *go = nullptr, *between = nullptr, *done = nullptr;
  ASSERT_EQ(take(weft_fence_create(&go)), "");
  ASSERT_EQ(take(weft_fence_create(&between)), "");
  ASSERT_EQ(take(weft_fence_create(&done)), "");
  ASSERT_EQ(take(weft_run_start(first.get(), &go, 1, between)), "");
  ASSERT_EQ(take(weft_run_start(second.get(), &between, 1, done)), "");
  EXPECT_EQ(takeCode(weft_fence_wait(done, 20'000'000)), WEFT_DEADLINE_EXCEEDED);
  EXPECT_FALSE(weft_fence_is_signaled(done));
  // While it is in flight the run cannot be touched.
  EXPECT_EQ(takeCode(weft_run_execute(first.get())), WEFT_FAILED_PRECONDITION);
  EXPECT_EQ(takeCode(weft_run_set_seed(first.get(), 1)), WEFT_FAILED_PRECONDITION);
  ASSERT_EQ(take(weft_fence_signal(go)), "");
  EXPECT_EQ(takeCode(weft_fence_signal(go)), WEFT_FAILED_PRECONDITION);
  ASSERT_EQ(take(weft_fence_wait(done, 10 * kSecond)), "");
  EXPECT_EQ(outputValues<float>(second, "y"), (std::vector<float>{6, 12, 18, 24, 6, 12, 18, 24}));
  EXPECT_EQ(take(weft_run_wait(second.get(), -1)), "");
  weft_fence_free(go);
  weft_fence_free(between);
  weft_fence_free(done);
}

TEST(Concurrency, AnUpstreamFailureIsTheRunsFailure) {
  std::vector<Expression> n = {symbolN()};
  Program program = emptyProgram();
  program.kernelMessages = {"", "deliberate"};
  Entry entry;
  entry.variants.emplace_back();
  entry.variants[0].blocks = {Block{{launchOp("test_fail", {}, {})}}};
  program.entries = {entry};
  Loaded failing = load(program, {});
  BiasProgram bias;
  Loaded loaded = load(bias.program, bias.weights());
  RunHandle first = makeRun(failing), second = makeRun(loaded);
  FloatTensor x = floats({2, 4});
  ASSERT_EQ(setInput(second, "x", x), "");
  WeftFence *fence = nullptr;
  ASSERT_EQ(take(weft_fence_create(&fence)), "");
  ASSERT_EQ(take(weft_run_start(first.get(), nullptr, 0, fence)), "");
  ASSERT_EQ(take(weft_run_start(second.get(), &fence, 1, nullptr)), "");
  EXPECT_NE(take(weft_run_wait(first.get(), 10 * kSecond)).find("deliberate"), std::string::npos);
  std::string error = take(weft_run_wait(second.get(), 10 * kSecond));
  EXPECT_NE(error.find("what the run waited for failed"), std::string::npos) << error;
  EXPECT_NE(error.find("deliberate"), std::string::npos) << error;
  EXPECT_NE(take(weft_fence_wait(fence, 0)).find("deliberate"), std::string::npos);
  weft_fence_free(fence);
  // Errors that show at once come back from start.
  RunHandle unbound = makeRun(loaded);
  EXPECT_EQ(take(weft_run_start(unbound.get(), nullptr, 0, nullptr)), "input \"x\" is not given; the inputs are \"x\"");
  EXPECT_EQ(takeCode(weft_run_wait(unbound.get(), 0)), WEFT_FAILED_PRECONDITION);
}

Loaded loadSlow() {
  Program program = emptyProgram();
  Entry entry;
  entry.outputs = {{"y", ElementType::F32, {}}};
  entry.variants.emplace_back();
  entry.variants[0].buffers = {outputBuffer(0, ElementType::F32, {})};
  for (int op = 0; op < 100; ++op)
    entry.variants[0].blocks.resize(1), entry.variants[0].blocks[0].ops.push_back(launchOp("test_slow", {}, {0}));
  program.entries = {entry};
  return load(program, {});
}

TEST(Concurrency, CancelEndsARun) {
  Loaded loaded = loadSlow();
  RunHandle run = makeRun(loaded);
  auto start = std::chrono::steady_clock::now();
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    weft_run_cancel(run.get());
  });
  EXPECT_EQ(takeCode(weft_run_execute(run.get())), WEFT_CANCELLED);
  canceller.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  // A run that waits for a fence that never comes ends as well, and freeing cancels.
  WeftFence *never = nullptr;
  ASSERT_EQ(take(weft_fence_create(&never)), "");
  ASSERT_EQ(take(weft_run_start(run.get(), &never, 1, nullptr)), "");
  weft_run_cancel(run.get());
  EXPECT_EQ(takeCode(weft_run_wait(run.get(), 10 * kSecond)), WEFT_CANCELLED);
  ASSERT_EQ(take(weft_run_start(run.get(), &never, 1, nullptr)), "");
  run.reset();
  weft_fence_free(never);
}

TEST(Concurrency, AStateServesOneRunAtATime) {
  Program program = emptyProgram();
  program.states = {{"s", ElementType::F32, {}, -1}};
  Entry entry;
  entry.variants.emplace_back();
  entry.variants[0].buffers = {stateBuffer(0, ElementType::F32, {})};
  entry.variants[0].blocks = {Block{{launchOp("test_slow", {}, {0}), launchOp("test_slow", {}, {0})}}};
  program.entries = {entry};
  Loaded loaded = load(program, {});
  RunHandle first = makeRun(loaded), second = makeRun(loaded);
  WeftState *state = nullptr;
  ASSERT_EQ(take(weft_state_create(loaded.program.get(), &state)), "");
  ASSERT_EQ(take(weft_run_set_state(first.get(), state)), "");
  ASSERT_EQ(take(weft_run_set_state(second.get(), state)), "");
  // The first run stays between its two ops until the second has tried.
  struct Gate {
    std::atomic<bool> reached{false}, open{false};
  } gate;
  ASSERT_EQ(take(weft_run_set_observer(
                first.get(),
                [](void *user, const WeftObservation *) {
                  auto *gate = static_cast<Gate *>(user);
                  gate->reached = true;
                  while (!gate->open)
                    std::this_thread::yield();
                },
                &gate)),
            "");
  ASSERT_EQ(take(weft_run_start(first.get(), nullptr, 0, nullptr)), "");
  while (!gate.reached)
    std::this_thread::yield();
  EXPECT_EQ(take(weft_run_execute(second.get())), "the state is in use by another run");
  EXPECT_EQ(takeCode(weft_state_reset(state)), WEFT_FAILED_PRECONDITION);
  gate.open = true;
  EXPECT_EQ(take(weft_run_wait(first.get(), -1)), "");
  EXPECT_EQ(take(weft_run_execute(second.get())), "");
  first.reset();
  second.reset();
  weft_state_free(state);
}

TEST(DLPack, InAndOut) {
  BiasProgram bias;
  Loaded loaded = load(bias.program, bias.weights());
  RunHandle run = makeRun(loaded);
  FloatTensor x = floats({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  static int deleted = 0;
  deleted = 0;
  WeftDLManagedTensor in = {};
  in.dl_tensor.data = x.data();
  in.dl_tensor.device = {1, 0};
  in.dl_tensor.ndim = 2;
  in.dl_tensor.dtype = {2, 32, 1};
  in.dl_tensor.shape = x.dims.data();
  in.deleter = [](WeftDLManagedTensor *) { ++deleted; };
  ASSERT_EQ(take(weft_run_set_input_dlpack(run.get(), "x", &in)), "");
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  WeftDLManagedTensor *out = nullptr;
  ASSERT_EQ(take(weft_run_take_output_dlpack(run.get(), "y", &out)), "");
  EXPECT_EQ(out->dl_tensor.ndim, 2);
  EXPECT_EQ(out->dl_tensor.shape[0], 2);
  EXPECT_EQ(out->dl_tensor.dtype.code, 2);
  EXPECT_EQ(out->dl_tensor.dtype.bits, 32);
  // It is gone from the run, and another execution does not touch it.
  WeftTensorView view;
  EXPECT_EQ(takeCode(weft_run_output(run.get(), "y", &view)), WEFT_FAILED_PRECONDITION);
  x[0] = 100;
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  EXPECT_EQ(outputValues<float>(run, "y")[0], 202.0f);
  EXPECT_EQ(deleted, 0);
  run.reset();
  EXPECT_EQ(deleted, 1);
  loaded.program.reset();
  EXPECT_EQ(static_cast<float *>(out->dl_tensor.data)[0], 4.0f);
  EXPECT_EQ(static_cast<float *>(out->dl_tensor.data)[7], 24.0f);
  out->deleter(out);
}

TEST(DLPack, WhatDoesNotFitStaysWithTheCaller) {
  BiasProgram bias;
  Loaded loaded = load(bias.program, bias.weights());
  RunHandle run = makeRun(loaded);
  static int deleted = 0;
  deleted = 0;
  FloatTensor x = floats({2, 4});
  WeftDLManagedTensor in = {};
  in.dl_tensor.data = x.data();
  in.dl_tensor.device = {2, 0};
  in.dl_tensor.ndim = 2;
  in.dl_tensor.dtype = {2, 32, 1};
  in.dl_tensor.shape = x.dims.data();
  in.deleter = [](WeftDLManagedTensor *) { ++deleted; };
  EXPECT_NE(take(weft_run_set_input_dlpack(run.get(), "x", &in)).find("device type 2"), std::string::npos);
  in.dl_tensor.device = {1, 0};
  in.dl_tensor.dtype = {5, 64, 1};
  EXPECT_NE(take(weft_run_set_input_dlpack(run.get(), "x", &in)).find("type code 5"), std::string::npos);
  in.dl_tensor.dtype = {2, 32, 1};
  in.dl_tensor.ndim = 1;
  EXPECT_NE(take(weft_run_set_input_dlpack(run.get(), "x", &in)).find("rank is 1"), std::string::npos);
  EXPECT_EQ(deleted, 0);
  // A view into a larger tensor: columns 1 to 4 of five.
  FloatTensor wide = floats({2, 5}, {9, 1, 2, 3, 4, 9, 5, 6, 7, 8});
  int64_t strides[2] = {5, 1};
  in.dl_tensor.ndim = 2;
  in.dl_tensor.data = wide.data();
  in.dl_tensor.byte_offset = 4;
  in.dl_tensor.strides = strides;
  ASSERT_EQ(take(weft_run_set_input_dlpack(run.get(), "x", &in)), "");
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  EXPECT_EQ(outputValues<float>(run, "y"), (std::vector<float>{4, 8, 12, 16, 12, 16, 20, 24}));
  ASSERT_EQ(setInput(run, "x", x), "");
  EXPECT_EQ(deleted, 1);
}

} // namespace
