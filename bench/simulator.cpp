//===- simulator.cpp - Thread instructions a second of the simulated GPU ----------------------------===//
//
// Kernels of three kinds beside the same arithmetic as a scalar loop of this machine, in one run; then what threads
// and race checks change. With one thread processor time counts, with several the clock on the wall. Usage:
// bench_simulator [THREADS]
//===-------------------------------------------------------------------------------------------------===//
#include "runtime/Simulator/Launch.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

using namespace weft::simulator;

namespace {

double wallSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
/// Of all threads of the process: other work on the machine does not count.
double processorSeconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

const char *const text = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry elementwise(.param .u64 x, .param .u64 y)
{
  .reg .b32 %r<4>; .reg .f32 %f<24>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
  ld.global.f32 %f1, [%rd4];
  mul.f32 %f2, %f1, 0f3FB8AA3B; ex2.approx.ftz.f32 %f3, %f2;
  fma.rn.f32 %f4, %f3, %f1, 0f3F800000; mul.f32 %f5, %f4, %f4; add.f32 %f6, %f5, %f1;
  fma.rn.f32 %f7, %f6, %f3, %f5; max.f32 %f8, %f7, 0f00000000; mul.f32 %f9, %f8, 0f3F000000;
  add.f32 %f10, %f9, %f4; fma.rn.f32 %f11, %f10, %f10, %f9; sub.f32 %f12, %f11, %f6; mul.f32 %f13, %f12, %f3;
  st.global.f32 [%rd5], %f13;
  ret;
}
.shared .align 4 .b8 tile[1024];
.visible .entry reduction(.param .u64 x, .param .u64 y)
{
  .reg .pred %p<4>; .reg .b32 %r<12>; .reg .f32 %f<8>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
  mov.u32 %r1, %ctaid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, 4096, %r3;
  mad.wide.u32 %rd3, %r4, 4, %rd1;
  mov.f32 %f1, 0f00000000; mov.u32 %r5, 0;
LOOP:
  ld.global.f32 %f2, [%rd3]; add.f32 %f1, %f1, %f2;
  ld.global.f32 %f3, [%rd3+1024]; add.f32 %f1, %f1, %f3;
  add.u64 %rd3, %rd3, 2048; add.u32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, 8;
  @%p1 bra LOOP;
  shl.b32 %r6, %r3, 2; mov.u32 %r7, tile; add.u32 %r7, %r7, %r6;
  st.shared.f32 [%r7], %f1;
  bar.sync 0;
  mov.u32 %r8, 128;
HALVE:
  setp.ge.u32 %p2, %r3, %r8;
  @%p2 bra SKIP;
  shl.b32 %r9, %r8, 2; add.u32 %r10, %r7, %r9;
  ld.shared.f32 %f4, [%r10]; ld.shared.f32 %f5, [%r7]; add.f32 %f6, %f4, %f5; st.shared.f32 [%r7], %f6;
SKIP:
  bar.sync 0;
  shr.u32 %r8, %r8, 1;
  setp.gt.u32 %p3, %r8, 0;
  @%p3 bra HALVE;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra DONE;
  mad.wide.u32 %rd4, %r1, 4, %rd2; st.global.f32 [%rd4], %f6;
DONE:
  ret;
}
.visible .entry tensor(.param .u64 x, .param .u64 y)
{
  .reg .pred %p<2>; .reg .b32 %r<24>; .reg .f32 %f<16>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
  mov.u32 %r1, %tid.x; mad.wide.u32 %rd3, %r1, 16, %rd1;
  mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1; mov.u32 %r2, 0;
LOOP:
  ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd3]; ld.global.v2.u32 {%r8, %r9}, [%rd3+512];
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r4, %r5, %r6, %r7}, {%r8, %r9}, {%f1, %f2, %f3, %f4};
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r5, %r4, %r7, %r6}, {%r9, %r8}, {%f1, %f2, %f3, %f4};
  add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 64;
  @%p1 bra LOOP;
  mov.u32 %r10, %ctaid.x; mad.lo.u32 %r10, %r10, 32, %r1;
  mad.wide.u32 %rd4, %r10, 4, %rd2; st.global.f32 [%rd4], %f1;
  ret;
}
)";

struct Row {
  const char *kernel;
  uint32_t blocks, threads;
};

double rate(const LoadedModule &module, AddressSpace &memory, const Row &row, uint64_t x, uint64_t y, unsigned threads,
            bool races) {
  LaunchConfiguration configuration;
  configuration.grid = {row.blocks, 1, 1};
  configuration.block = {row.threads, 1, 1};
  configuration.parameters.resize(16);
  std::memcpy(configuration.parameters.data(), &x, 8);
  std::memcpy(configuration.parameters.data() + 8, &y, 8);
  LaunchOptions options;
  options.threads = threads;
  options.checkRaces = races;
  FaultLog faults;
  double best = 0;
  auto now = threads == 1 ? processorSeconds : wallSeconds;
  for (int i = 0; i < 5; ++i) {
    double start = now();
    LaunchResult result = launch(*module.kernels.at(row.kernel), memory, 0, 0, configuration, options, faults);
    best = std::max(best, double(result.counters.threadInstructions) / (now() - start));
  }
  for (const Fault &fault : faults.faults())
    std::fprintf(stderr, "%s\n", fault.format().c_str());
  return best * 1e-9;
}

} // namespace

int main(int count, char **values) {
  unsigned threads = count > 1 ? unsigned(std::atoi(values[1])) : 2;
  constexpr size_t n = 1 << 20;
  AddressSpace memory(1, uint64_t(64) << 20);
  double start = processorSeconds();
  auto module = loadModule(text, memory, 0, "module #1");
  std::printf("loading the module       %8.2f ms\n", (processorSeconds() - start) * 1e3);
  uint64_t addresses[2];
  for (uint64_t &address : addresses) {
    Allocation *made = memory.allocate(0, n * 4, AllocationKind::Device, "benchmark");
    for (size_t i = 0; i < n; ++i)
      reinterpret_cast<float *>(made->base)[i] = float(i % 100) * 0.01f;
    memory.markInitialised(*made, made->base, made->size);
    address = made->base;
  }
  const auto *x = reinterpret_cast<const float *>(addresses[0]);
  auto *y = reinterpret_cast<float *>(addresses[1]);
  start = processorSeconds();
  for (size_t i = 0; i < n; ++i) {
    volatile float v = x[i]; // keeps the loop scalar
    float e = std::exp2(v * 1.442695f), a = e * v + 1, b = a * a, c = b + v, d = std::max(c * e + b, 0.0f) * 0.5f,
          f = d + a;
    y[i] = (f * f + d - c) * e;
  }
  std::printf("native scalar elementwise%8.2f billion thread instructions a second (22 each)\n",
              22e-9 * double(n) / (processorSeconds() - start));
  std::printf("%-24s %8s %8s %8s\n", "billion a second", "1 thread", "threads", "races");
  for (const Row &row : {Row{"elementwise", n / 256, 256}, Row{"reduction", n / 4096, 256}, Row{"tensor", 64, 32}})
    std::printf("%-24s %8.2f %8.2f %8.2f\n", row.kernel,
                rate(*module, memory, row, addresses[0], addresses[1], 1, false),
                rate(*module, memory, row, addresses[0], addresses[1], threads, false),
                rate(*module, memory, row, addresses[0], addresses[1], 1, true));
  return 0;
}
