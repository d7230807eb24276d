// The part of the CUDA driver's interface that the runtime uses, in types of its own: it builds without CUDA's headers.
// A test compares the numbers and layouts with cuda.h where that is present.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::runtime::cuda {

using Result = int;
using DeviceHandle = int;
using DevicePointer = unsigned long long;
using Context = struct ContextTag *;
using ModuleHandle = struct ModuleTag *;
using FunctionHandle = struct FunctionTag *;
using StreamHandle = struct StreamTag *;
using EventHandle = struct EventTag *;
using GraphHandle = struct GraphTag *;
using GraphExecHandle = struct GraphExecTag *;
using MemoryPool = struct MemoryPoolTag *;

// CUresult
inline constexpr Result kSuccess = 0;
inline constexpr Result kInvalidValue = 1;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kNoDevice = 100;
inline constexpr Result kInvalidDevice = 101;
inline constexpr Result kInvalidImage = 200;
inline constexpr Result kNoBinaryForGpu = 209;
inline constexpr Result kEccUncorrectable = 214;
inline constexpr Result kInvalidPtx = 218;
inline constexpr Result kJitCompilerNotFound = 221;
inline constexpr Result kUnsupportedPtxVersion = 222;
inline constexpr Result kNotFound = 500;
inline constexpr Result kIllegalAddress = 700;
inline constexpr Result kLaunchOutOfResources = 701;
inline constexpr Result kLaunchTimeout = 702;
inline constexpr Result kContextIsDestroyed = 709;
inline constexpr Result kAssert = 710;
inline constexpr Result kHardwareStackError = 714;
inline constexpr Result kIllegalInstruction = 715;
inline constexpr Result kMisalignedAddress = 716;
inline constexpr Result kInvalidAddressSpace = 717;
inline constexpr Result kInvalidProgramCounter = 718;
inline constexpr Result kLaunchFailed = 719;
inline constexpr Result kUnknown = 999;

// CUdevice_attribute
inline constexpr int kMaxThreadsPerBlock = 1;
inline constexpr int kMultiprocessorCount = 16;
inline constexpr int kComputeCapabilityMajor = 75;
inline constexpr int kComputeCapabilityMinor = 76;
inline constexpr int kMaxSharedMemoryPerBlockOptin = 97;
inline constexpr int kMemoryPoolsSupported = 115;

// CUfunction_attribute
inline constexpr int kFunctionMaxThreadsPerBlock = 0;
inline constexpr int kFunctionSharedBytes = 1;
inline constexpr int kFunctionMaxDynamicSharedBytes = 8;

// CUjit_option
inline constexpr int kJitErrorLogBuffer = 5;
inline constexpr int kJitErrorLogBufferBytes = 6;

// CU_STREAM_NON_BLOCKING; CU_STREAM_CAPTURE_MODE_THREAD_LOCAL; CU_EVENT_DEFAULT
inline constexpr unsigned kNonBlocking = 1;
inline constexpr int kCaptureThreadLocal = 1;
inline constexpr unsigned kEventWithTiming = 0;

// CUmemPoolProps
struct MemoryPoolProperties {
  int allocationType = 1; // CU_MEM_ALLOCATION_TYPE_PINNED
  int handleTypes = 0;
  int locationType = 1; // CU_MEM_LOCATION_TYPE_DEVICE
  int locationId = 0;
  void *securityAttributes = nullptr;
  size_t maximumBytes = 0;
  unsigned short usage = 0;
  unsigned char reserved[54] = {};
};

} // namespace weft::runtime::cuda
