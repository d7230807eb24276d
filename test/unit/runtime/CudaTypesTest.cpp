// The runtime's own declarations of the driver's interface against cuda.h.
#include "runtime/Device/Cuda/DriverTypes.h"

#include <cuda.h>

#include <cstddef>
#include <gtest/gtest.h>

namespace {

namespace weft_cuda = weft::runtime::cuda;

TEST(CudaTypes, NumbersAreThoseOfTheDriver) {
  const std::pair<int, int> pairs[] = {
      {weft_cuda::kSuccess, CUDA_SUCCESS},
      {weft_cuda::kInvalidValue, CUDA_ERROR_INVALID_VALUE},
      {weft_cuda::kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY},
      {weft_cuda::kNoDevice, CUDA_ERROR_NO_DEVICE},
      {weft_cuda::kInvalidDevice, CUDA_ERROR_INVALID_DEVICE},
      {weft_cuda::kInvalidImage, CUDA_ERROR_INVALID_IMAGE},
      {weft_cuda::kNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU},
      {weft_cuda::kEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE},
      {weft_cuda::kInvalidPtx, CUDA_ERROR_INVALID_PTX},
      {weft_cuda::kJitCompilerNotFound, CUDA_ERROR_JIT_COMPILER_NOT_FOUND},
      {weft_cuda::kUnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION},
      {weft_cuda::kNotFound, CUDA_ERROR_NOT_FOUND},
      {weft_cuda::kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS},
      {weft_cuda::kLaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES},
      {weft_cuda::kLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT},
      {weft_cuda::kContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED},
      {weft_cuda::kAssert, CUDA_ERROR_ASSERT},
      {weft_cuda::kHardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR},
      {weft_cuda::kIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION},
      {weft_cuda::kMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS},
      {weft_cuda::kInvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE},
      {weft_cuda::kInvalidProgramCounter, CUDA_ERROR_INVALID_PC},
      {weft_cuda::kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED},
      {weft_cuda::kUnknown, CUDA_ERROR_UNKNOWN},
      {weft_cuda::kMaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
      {weft_cuda::kMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
      {weft_cuda::kComputeCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
      {weft_cuda::kComputeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
      {weft_cuda::kMaxSharedMemoryPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
      {weft_cuda::kMemoryPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED},
      {weft_cuda::kFunctionMaxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
      {weft_cuda::kFunctionSharedBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES},
      {weft_cuda::kFunctionMaxDynamicSharedBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES},
      {weft_cuda::kJitErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER},
      {weft_cuda::kJitErrorLogBufferBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES},
      {static_cast<int>(weft_cuda::kNonBlocking), CU_STREAM_NON_BLOCKING},
      {weft_cuda::kCaptureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL},
      {static_cast<int>(weft_cuda::kEventWithTiming), CU_EVENT_DEFAULT}};
  for (auto [ours, theirs] : pairs)
    EXPECT_EQ(ours, theirs);
}

TEST(CudaTypes, TheLayoutOfAPoolsProperties) {
  using Ours = weft_cuda::MemoryPoolProperties;
  EXPECT_EQ(sizeof(Ours), sizeof(CUmemPoolProps));
  EXPECT_EQ(offsetof(Ours, allocationType), offsetof(CUmemPoolProps, allocType));
  EXPECT_EQ(offsetof(Ours, handleTypes), offsetof(CUmemPoolProps, handleTypes));
  EXPECT_EQ(offsetof(Ours, locationType), offsetof(CUmemPoolProps, location) + offsetof(CUmemLocation, type));
  EXPECT_EQ(offsetof(Ours, locationId), offsetof(CUmemPoolProps, location) + offsetof(CUmemLocation, id));
  EXPECT_EQ(offsetof(Ours, securityAttributes), offsetof(CUmemPoolProps, win32SecurityAttributes));
  EXPECT_EQ(offsetof(Ours, maximumBytes), offsetof(CUmemPoolProps, maxSize));
  EXPECT_EQ(offsetof(Ours, usage), offsetof(CUmemPoolProps, usage));
  Ours defaults;
  EXPECT_EQ(defaults.allocationType, CU_MEM_ALLOCATION_TYPE_PINNED);
  EXPECT_EQ(defaults.handleTypes, CU_MEM_HANDLE_TYPE_NONE);
  EXPECT_EQ(defaults.locationType, CU_MEM_LOCATION_TYPE_DEVICE);
}

} // namespace
