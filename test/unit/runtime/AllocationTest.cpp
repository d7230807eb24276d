// A run that repeats the shapes of the one before allocates nothing.
#include "test/unit/runtime/TestPrograms.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> allocations{0};

void *counted(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void *memory = std::malloc(size ? size : 1))
    return memory;
  throw std::bad_alloc();
}

} // namespace

void *operator new(size_t size) { return counted(size); }
void *operator new[](size_t size) { return counted(size); }
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }

using namespace weft::runtime;
using namespace weft::runtime::test;

namespace {

TEST(Allocation, NoneInASteadyState) {
  BiasProgram bias;
  for (int32_t threads : {1, 3}) {
    Loaded loaded = load(bias.program, bias.weights(), threads);
    RunHandle run = makeRun(loaded);
    FloatTensor x = floats({8, 4}), other = floats({8, 4});
    ASSERT_EQ(setInput(run, "x", x), "");
    ASSERT_EQ(weft_run_execute(run.get()), nullptr);
    WeftTensorView view = x.view(), otherView = other.view();
    int64_t before = allocations.load();
    EXPECT_GT(before, 0);
    for (int round = 0; round < 20; ++round) {
      EXPECT_EQ(weft_run_set_input(run.get(), "x", round % 2 ? &view : &otherView), nullptr);
      EXPECT_EQ(weft_run_execute(run.get()), nullptr);
      WeftTensorView result;
      EXPECT_EQ(weft_run_output(run.get(), "y", &result), nullptr);
    }
    EXPECT_EQ(allocations.load(), before);
  }
}

} // namespace
