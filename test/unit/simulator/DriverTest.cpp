//===- DriverTest.cpp - The simulated driver through CUDA's own functions -------------------===//
#include "runtime/Simulator/Driver/Control.h"
#include "runtime/Simulator/Driver/DriverTypes.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {

const char *const text = R"(
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 counter = 5;
.visible .entry scale(.param .u64 data, .param .u32 n, .param .f32 factor)
{
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [n];
  ld.param.f32 %f1, [factor];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra DONE;
  mul.wide.u32 %rd2, %r5, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3];
  mul.f32 %f3, %f2, %f1;
  st.global.f32 [%rd3], %f3;
DONE:
  ret;
}
.visible .entry fault()
{
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  mov.u64 %rd1, 64;
  ld.global.u32 %r1, [%rd1];
  ret;
}
)";

#define CHECK(call) ASSERT_EQ(call, CUDA_SUCCESS) << reason()

std::string grow(size_t (*function)(char *, size_t)) {
  std::string out(function(nullptr, 0) + 1, 0);
  function(out.data(), out.size());
  out.pop_back();
  return out;
}
std::string reason() { return grow(weftSimulatorLastReason) + grow(weftSimulatorReport); }

class Driver : public testing::Test {
protected:
  void start(const std::vector<std::pair<const char *, const char *>> &variables = {}) {
    for (const char *name : {"WEFT_SIMULATOR_DEVICES", "WEFT_SIMULATOR_CHECKS", "WEFT_SIMULATOR_SEED",
                             "WEFT_SIMULATOR_INJECT", "WEFT_SIMULATOR_MEMORY_MB"})
      unsetenv(name);
    setenv("WEFT_SIMULATOR_ASSEMBLER", "0", 1);
    for (const auto &entry : variables)
      setenv(entry.first, entry.second, 1);
    weftSimulatorReset();
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&scale, module, "scale"));
  }
  void TearDown() override { weftSimulatorReset(); }

  CUresult launchScale(CUdeviceptr data, unsigned n, float factor, CUstream stream) {
    void *parameters[] = {&data, &n, &factor};
    return cuLaunchKernel(scale, (n + 127) / 128, 1, 1, 128, 1, 1, 0, stream, parameters, nullptr);
  }

  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
};

TEST_F(Driver, LaunchAndCopy) {
  start();
  std::vector<float> host(1000, 1.5f), back(1000);
  CUdeviceptr data;
  CHECK(cuMemAlloc(&data, 4000));
  CHECK(cuMemcpyHtoD(data, host.data(), 4000));
  CHECK(launchScale(data, 1000, 4.0f, nullptr));
  CHECK(cuMemcpyDtoH(back.data(), data, 4000));
  for (float x : back)
    EXPECT_EQ(x, 6.0f);
  CUdeviceptr counter;
  size_t bytes;
  CHECK(cuModuleGetGlobal(&counter, &bytes, module, "counter"));
  EXPECT_EQ(bytes, 4u);
  unsigned value = 0;
  CHECK(cuMemcpyDtoH(&value, counter, 4));
  EXPECT_EQ(value, 5u);
  EXPECT_NE(grow(weftSimulatorLeaks).find("4000 bytes from cuMemAlloc #1"), std::string::npos);
  CHECK(cuMemFree(data));
  EXPECT_EQ(grow(weftSimulatorLeaks), "");
  EXPECT_EQ(weftSimulatorFaultCount(), 0u) << grow(weftSimulatorReport);
}

TEST_F(Driver, StreamsAreLazyAndEventsOrder) {
  start({{"WEFT_SIMULATOR_CHECKS", "races,uninitialised"}});
  for (const char *seed : {"0", "1", "2", "3", "4", "5", "6", "7"}) {
    start({{"WEFT_SIMULATOR_CHECKS", "races,uninitialised"}, {"WEFT_SIMULATOR_SEED", seed}});
    CUstream a, b;
    CHECK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    CUdeviceptr data;
    CHECK(cuMemAlloc(&data, 512));
    std::vector<float> host(128, 1.0f);
    CHECK(cuMemcpyHtoD(data, host.data(), 512));
    CHECK(launchScale(data, 128, 2.0f, a));
    EXPECT_EQ(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
    CUevent event;
    CHECK(cuEventCreate(&event, 0));
    CHECK(cuEventRecord(event, a));
    CHECK(cuStreamWaitEvent(b, event, 0));
    CHECK(launchScale(data, 128, 3.0f, b));
    CHECK(cuStreamSynchronize(b));
    CHECK(cuMemcpyDtoH(host.data(), data, 512));
    EXPECT_EQ(host[5], 6.0f);
    EXPECT_EQ(weftSimulatorFaultCount(), 0u) << grow(weftSimulatorReport);
  }
}

TEST_F(Driver, MissingEventWaitIsReported) {
  for (const char *seed : {"0", "1", "2", "3"}) {
    start({{"WEFT_SIMULATOR_CHECKS", "races,uninitialised"}, {"WEFT_SIMULATOR_SEED", seed}});
    CUstream a, b;
    CHECK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    CUdeviceptr data;
    CHECK(cuMemAlloc(&data, 512));
    CHECK(cuMemsetD32(data, 0, 128));
    CHECK(launchScale(data, 128, 2.0f, a));
    CHECK(launchScale(data, 128, 3.0f, b));
    CHECK(cuCtxSynchronize());
    std::string report = grow(weftSimulatorReport);
    EXPECT_NE(report.find("missing stream order"), std::string::npos) << report;
    EXPECT_NE(report.find("kernel 'scale' in stream"), std::string::npos) << report;
  }
}

TEST_F(Driver, FreeTooEarlyIsReported) {
  start({{"WEFT_SIMULATOR_CHECKS", "races,uninitialised"}});
  CUstream a, b;
  CHECK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
  CHECK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
  CUdeviceptr data;
  CHECK(cuMemAllocAsync(&data, 512, a));
  CHECK(cuMemsetD32Async(data, 0, 128, a));
  CHECK(cuStreamSynchronize(a));
  CHECK(launchScale(data, 128, 2.0f, a));
  CHECK(cuMemFreeAsync(data, b));
  CHECK(cuCtxSynchronize());
  EXPECT_NE(grow(weftSimulatorReport).find("cuMemFreeAsync in stream 2 writes bytes"), std::string::npos)
      << grow(weftSimulatorReport);
}

TEST_F(Driver, HostReadBeforeSynchronisationSeesOldBytes) {
  start();
  CUstream a;
  CHECK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
  CUdeviceptr data;
  CHECK(cuMemAlloc(&data, 4));
  CHECK(cuMemsetD32(data, 7, 1));
  unsigned value = 1;
  CHECK(cuMemcpyDtoHAsync(&value, data, 4, a));
  EXPECT_EQ(value, 1u);
  CHECK(cuStreamSynchronize(a));
  EXPECT_EQ(value, 7u);
}

TEST_F(Driver, FaultIsSticky) {
  start();
  CUfunction fault;
  CHECK(cuModuleGetFunction(&fault, module, "fault"));
  CHECK(cuLaunchKernel(fault, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  CUdeviceptr data;
  EXPECT_EQ(cuMemAlloc(&data, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
  std::string report = grow(weftSimulatorReport);
  EXPECT_NE(report.find("kernel fault, block (0,0,0), thread (0,0,0)"), std::string::npos) << report;
  EXPECT_NE(report.find("ld.global.u32 %r1, [%rd1];"), std::string::npos) << report;
  EXPECT_NE(report.find("null pointer"), std::string::npos) << report;
}

TEST_F(Driver, InjectedFaults) {
  start({{"WEFT_SIMULATOR_INJECT", "out-of-memory:2"}});
  CUdeviceptr data;
  CHECK(cuMemAlloc(&data, 512));
  CUdeviceptr second;
  EXPECT_EQ(cuMemAlloc(&second, 512), CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(cuMemAlloc(&second, 512));
  start({{"WEFT_SIMULATOR_INJECT", "launch-failure:1"}});
  CHECK(cuMemAlloc(&data, 512));
  CHECK(cuMemsetD32(data, 0, 128));
  CHECK(launchScale(data, 128, 2, nullptr));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  start({{"WEFT_SIMULATOR_INJECT", "dead-device:0"}});
  CHECK(cuMemAlloc(&data, 512));
  EXPECT_EQ(cuMemsetD32(data, 0, 128), CUDA_ERROR_LAUNCH_TIMEOUT);
}

TEST_F(Driver, OutOfMemoryAndBadArguments) {
  start({{"WEFT_SIMULATOR_MEMORY_MB", "1"}});
  CUdeviceptr data;
  EXPECT_EQ(cuMemAlloc(&data, 2 << 20), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_NE(reason().find("1048576"), std::string::npos) << reason();
  EXPECT_EQ(cuMemAlloc(&data, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(CUdeviceptr(12345)), CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemAlloc(&data, 512));
  CHECK(cuMemFree(data));
  EXPECT_EQ(cuMemFree(data), CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(reason().find("freed by cuMemFree"), std::string::npos) << reason();
  EXPECT_EQ(cuMemcpyHtoD(data, text, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamSynchronize(reinterpret_cast<CUstream>(context)), CUDA_ERROR_INVALID_HANDLE);
  CUmodule bad;
  EXPECT_EQ(cuModuleLoadData(
                &bad, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n  frobnicate.u32;\n}\n"),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(reason().find("ptx:6: error: unknown instruction form 'frobnicate.u32'"), std::string::npos) << reason();
  EXPECT_EQ(cuModuleLoadData(&bad, ".version 8.0\n.target sm_100\n.address_size 64\n"), CUDA_ERROR_NO_BINARY_FOR_GPU);
  CUfunction none;
  EXPECT_EQ(cuModuleGetFunction(&none, module, "absent"), CUDA_ERROR_NOT_FOUND);
  void *parameters[] = {nullptr, nullptr, nullptr};
  EXPECT_EQ(cuLaunchKernel(scale, 1, 1, 1, 2048, 1, 1, 0, nullptr, parameters, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 100000, nullptr, parameters, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Driver, PeersNeedPermission) {
  start({{"WEFT_SIMULATOR_DEVICES", "2"}});
  CUcontext other;
  CHECK(cuDevicePrimaryCtxRetain(&other, 1));
  CHECK(cuCtxSetCurrent(other));
  CUdeviceptr remote;
  CHECK(cuMemAlloc(&remote, 512));
  CHECK(cuMemsetD32(remote, 0, 128));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuCtxEnablePeerAccess(other, 0));
  CHECK(launchScale(remote, 128, 2, nullptr));
  CHECK(cuCtxSynchronize());
  CHECK(cuCtxDisablePeerAccess(other));
  CHECK(launchScale(remote, 128, 2, nullptr));
  EXPECT_NE(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_NE(grow(weftSimulatorReport).find("peer access not enabled"), std::string::npos);
}

TEST_F(Driver, CapturedGraphWithForkAndUpdate) {
  for (const char *seed : {"0", "3", "9"}) {
    start({{"WEFT_SIMULATOR_CHECKS", "races,uninitialised"}, {"WEFT_SIMULATOR_SEED", seed}});
    CUstream a, b;
    CHECK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    CUdeviceptr x, y;
    CHECK(cuMemAlloc(&x, 512));
    CHECK(cuMemAlloc(&y, 512));
    std::vector<float> ones(128, 1.0f), result(128);
    CHECK(cuMemcpyHtoD(x, ones.data(), 512));
    CHECK(cuMemcpyHtoD(y, ones.data(), 512));
    CUevent fork, join;
    CHECK(cuEventCreate(&fork, 0));
    CHECK(cuEventCreate(&join, 0));
    auto capture = [&](float factor, CUgraph *graph) {
      CHECK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
      CHECK(cuEventRecord(fork, a));
      CHECK(cuStreamWaitEvent(b, fork, 0));
      CHECK(launchScale(x, 128, factor, a));
      CHECK(launchScale(y, 128, 3.0f, b));
      CHECK(cuEventRecord(join, b));
      CHECK(cuStreamWaitEvent(a, join, 0));
      CHECK(cuMemcpyDtoDAsync(x, y, 256, a));
      CHECK(cuStreamEndCapture(a, graph));
    };
    CUgraph graph;
    capture(2.0f, &graph);
    size_t count = 0;
    CHECK(cuGraphGetNodes(graph, nullptr, &count));
    EXPECT_EQ(count, 3u);
    CUgraphExec exec;
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, a));
    CHECK(cuGraphLaunch(exec, a));
    CHECK(cuStreamSynchronize(a));
    CHECK(cuMemcpyDtoH(result.data(), x, 512));
    EXPECT_EQ(result[0], 9.0f);   // copied from y after 3 * 3
    EXPECT_EQ(result[100], 4.0f); // 2 * 2
    CUgraph changed;
    capture(10.0f, &changed);
    CUgraphExecUpdateResultInfo info;
    CHECK(cuGraphExecUpdate(exec, changed, &info));
    CHECK(cuGraphLaunch(exec, a));
    CHECK(cuStreamSynchronize(a));
    CHECK(cuMemcpyDtoH(result.data(), x, 512));
    EXPECT_EQ(result[100], 40.0f);
    // A stream that never joins again breaks the capture.
    CHECK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuEventRecord(fork, a));
    CHECK(cuStreamWaitEvent(b, fork, 0));
    CHECK(launchScale(y, 128, 3.0f, b));
    EXPECT_EQ(cuStreamEndCapture(a, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    EXPECT_EQ(weftSimulatorFaultCount(), 0u) << grow(weftSimulatorReport);
  }
}

TEST_F(Driver, CopiesInTwoDimensions) {
  start();
  CUdeviceptr data;
  size_t pitch;
  CHECK(cuMemAllocPitch(&data, &pitch, 40, 5, 4));
  CHECK(cuMemsetD2D32(data, pitch, 0, 10, 5));
  std::vector<unsigned> host(10 * 5), back(10 * 5);
  for (size_t i = 0; i < host.size(); ++i)
    host[i] = unsigned(i);
  CUDA_MEMCPY2D copy;
  std::memset(&copy, 0, sizeof copy);
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host.data();
  copy.srcPitch = 40;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = data;
  copy.dstPitch = pitch;
  copy.WidthInBytes = 40;
  copy.Height = 5;
  CHECK(cuMemcpy2D(&copy));
  std::memset(&copy, 0, sizeof copy);
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = data;
  copy.srcPitch = pitch;
  copy.srcY = 1;
  copy.srcXInBytes = 8;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = back.data();
  copy.dstPitch = 40;
  copy.WidthInBytes = 16;
  copy.Height = 3;
  CHECK(cuMemcpy2D(&copy));
  for (unsigned row = 0; row < 3; ++row)
    for (unsigned column = 0; column < 4; ++column)
      EXPECT_EQ(back[row * 10 + column], host[(row + 1) * 10 + column + 2]);
  copy.Height = 6;
  EXPECT_EQ(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Driver, EveryListedFunctionIsExported) {
  start();
  static const struct {
    const char *exported, *asked;
  } rows[] = {
#define DRIVER_FUNCTION(function, name) {#function, name},
#include "runtime/Simulator/Driver/DriverApi.def"
  };
  void *self = dlopen(nullptr, RTLD_NOW);
  size_t count = 0;
  for (const auto &row : rows) {
    EXPECT_NE(dlsym(self, row.exported), nullptr) << row.exported;
    void *address = nullptr;
    CUdriverProcAddressQueryResult status;
    EXPECT_EQ(cuGetProcAddress(row.asked, &address, 13000, 0, &status), CUDA_SUCCESS) << row.asked;
    EXPECT_EQ(address, dlsym(self, row.exported)) << row.asked;
    ++count;
  }
  EXPECT_GE(count, 110u);
}

} // namespace
