//===- SmokeTest.cpp - Whole kernels through the front end and the interpreter ---------------===//
#include "test/unit/simulator/Simulation.h"

namespace weft::simulator {
namespace {

TEST(Smoke, VectorAdd) {
  Simulation simulation;
  ASSERT_TRUE(simulation.load(kernelText(".param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n", R"(
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    ld.param.u64 %rd3, [c];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra DONE;
    mul.wide.s32 %rd4, %r5, 4;
    add.s64 %rd5, %rd1, %rd4;
    add.s64 %rd6, %rd2, %rd4;
    add.s64 %rd7, %rd3, %rd4;
    ld.global.f32 %f1, [%rd5];
    ld.global.f32 %f2, [%rd6];
    add.rn.f32 %f3, %f1, %f2;
    st.global.f32 [%rd7], %f3;
DONE:
    ret;)")));
  std::vector<float> a(1000), b(1000);
  for (int i = 0; i < 1000; ++i) {
    a[size_t(i)] = float(i);
    b[size_t(i)] = float(i) * 0.5f;
  }
  uint64_t pa = simulation.upload(a), pb = simulation.upload(b), pc = simulation.allocate(4000);
  EXPECT_TRUE(simulation.run("k", {8, 1, 1}, {128, 1, 1}, pa, pb, pc, 1000).completed);
  EXPECT_EQ(simulation.reports(), "");
  std::vector<float> c = simulation.download<float>(pc, 1000);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(c[size_t(i)], float(i) * 1.5f);
}

/// Sums through shared memory, barriers and shuffles.
TEST(Smoke, BlockReduction) {
  Simulation simulation;
  ASSERT_TRUE(simulation.load(kernelText(".param .u64 in, .param .u64 out", R"(
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.u32 %r2, [%rd4];
    shl.b32 %r3, %r1, 2;
    mov.u32 %r4, tile;
    add.u32 %r5, %r4, %r3;
    st.shared.u32 [%r5], %r2;
    bar.sync 0;
    mov.u32 %r6, 64;
LOOP:
    setp.ge.u32 %p1, %r1, %r6;
    @%p1 bra SKIP;
    shl.b32 %r7, %r6, 2;
    add.u32 %r8, %r5, %r7;
    ld.shared.u32 %r9, [%r8];
    ld.shared.u32 %r10, [%r5];
    add.u32 %r11, %r9, %r10;
    st.shared.u32 [%r5], %r11;
SKIP:
    bar.sync 0;
    shr.u32 %r6, %r6, 1;
    setp.ge.u32 %p2, %r6, 32;
    @%p2 bra LOOP;
    setp.ge.u32 %p3, %r1, 32;
    @%p3 bra DONE;
    ld.shared.u32 %r12, [%r5];
    shfl.sync.bfly.b32 %r13, %r12, 16, 31, -1;
    add.u32 %r12, %r12, %r13;
    shfl.sync.bfly.b32 %r13, %r12, 8, 31, -1;
    add.u32 %r12, %r12, %r13;
    shfl.sync.bfly.b32 %r13, %r12, 4, 31, -1;
    add.u32 %r12, %r12, %r13;
    shfl.sync.bfly.b32 %r13, %r12, 2, 31, -1;
    add.u32 %r12, %r12, %r13;
    shfl.sync.bfly.b32 %r13|%p4, %r12, 1, 31, -1;
    add.u32 %r12, %r12, %r13;
    setp.ne.u32 %p5, %r1, 0;
    @%p5 bra DONE;
    st.global.u32 [%rd2], %r12;
DONE:
    ret;)",
                                         ".shared .align 4 .b8 tile[512];")));
  simulation.options.checkRaces = true;
  std::vector<uint32_t> values(128);
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 128; ++i)
    sum += values[i] = i * i + 7;
  uint64_t in = simulation.upload(values), out = simulation.allocate(4);
  EXPECT_TRUE(simulation.run("k", {1, 1, 1}, {128, 1, 1}, in, out).completed);
  EXPECT_EQ(simulation.reports(), "");
  EXPECT_EQ(simulation.download<uint32_t>(out, 1)[0], sum);
}

/// Recursion with lanes at different depths, local memory and parameter blocks.
TEST(Smoke, RecursiveCall) {
  Simulation simulation;
  ASSERT_TRUE(simulation.load(kernelText(".param .u64 out", R"(
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    { .reg .b32 temp;
    .param .b32 param0;
    st.param.b32 [param0+0], %r1;
    .param .b32 retval0;
    call.uni (retval0), fact, (param0);
    ld.param.b32 %r2, [retval0+0];
    }
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;)",
                                         R"(
.func (.param .b32 func_retval0) fact(.param .b32 fact_param_0)
{
  .local .align 4 .b8 depot[4];
  .reg .b32 %r<8>; .reg .pred %p<2>; .reg .b64 %rd<4>;
  ld.param.u32 %r1, [fact_param_0];
  mov.u64 %rd1, depot;
  st.local.u32 [%rd1], %r1;
  setp.lt.u32 %p1, %r1, 2;
  @%p1 bra ONE;
  add.u32 %r2, %r1, -1;
  { .param .b32 param0;
  st.param.b32 [param0], %r2;
  .param .b32 retval0;
  call.uni (retval0), fact, (param0);
  ld.param.b32 %r3, [retval0];
  }
  cvta.local.u64 %rd2, %rd1;
  ld.u32 %r4, [%rd2];
  mul.lo.u32 %r5, %r3, %r4;
  st.param.b32 [func_retval0], %r5;
  ret;
ONE:
  st.param.b32 [func_retval0], 1;
  ret;
})")));
  uint64_t out = simulation.allocate(4 * 12);
  EXPECT_TRUE(simulation.run("k", {1, 1, 1}, {12, 1, 1}, out).completed);
  EXPECT_EQ(simulation.reports(), "");
  std::vector<uint32_t> values = simulation.download<uint32_t>(out, 12);
  uint32_t factorial = 1;
  for (uint32_t i = 0; i < 12; ++i) {
    factorial *= std::max(i, 1u);
    EXPECT_EQ(values[i], factorial);
  }
}

} // namespace
} // namespace weft::simulator
