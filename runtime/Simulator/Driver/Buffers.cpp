//===- Buffers.cpp - Driver functions: memory, pools, copies, memset ------------------------------------===//
#include "runtime/Simulator/Driver/State.h"

#include <cstring>

using namespace weft::simulator;

namespace {

/// Null where there is none left, or a fault is injected.
Allocation *allocate(Driver &driver, int device, size_t bytes, AllocationKind kind, const std::string &function) {
  uint64_t number = ++driver.allocationCount;
  if (number == driver.options.injection.failAllocation) {
    driver.fail(CUDA_ERROR_OUT_OF_MEMORY, "allocation " + std::to_string(number) + " fails (an injected fault)");
    return nullptr;
  }
  Allocation *made = driver.memory->allocate(device, bytes, kind, function + " #" + std::to_string(number));
  if (!made)
    driver.fail(CUDA_ERROR_OUT_OF_MEMORY, std::to_string(bytes) + " bytes are asked for; " +
                                              std::to_string(driver.memory->usedBytes(device)) + " of " +
                                              std::to_string(driver.memory->totalBytes()) + " are in use");
  return made;
}

CUresult allocateDevice(Driver &driver, int device, CUdeviceptr *pointer, size_t bytes, AllocationKind kind,
                        const char *function) {
  if (!pointer || !bytes)
    return driver.fail(CUDA_ERROR_INVALID_VALUE, "0 bytes are asked for, or there is nowhere to put the pointer");
  Allocation *made = allocate(driver, device, bytes, kind, function);
  if (!made)
    return CUDA_ERROR_OUT_OF_MEMORY;
  *pointer = made->base;
  return CUDA_SUCCESS;
}

/// The live buffer that starts there.
Allocation *ownedBuffer(Driver &driver, uint64_t address, const char *what) {
  Allocation *found = driver.memory->findBase(address);
  if (found && found->kind != AllocationKind::ModuleVariable && found->kind != AllocationKind::ModuleConstant)
    return found;
  Allocation *near = driver.memory->find(address);
  std::string reason = std::string("no live buffer starts at the address to be ") + what;
  if (near && near->freed)
    reason += "; it was freed by " + near->freeOrigin + ": " + near->describe();
  driver.fail(CUDA_ERROR_INVALID_VALUE, reason);
  return nullptr;
}

/// A function that gives memory back. After a sticky error that error is the answer, as on hardware, where the memory
/// goes with the context; here it goes now, so that the program is not said to leak what it did free.
template <class Body> CUresult enterFree(uint64_t address, const char *function, Body body) {
  return enter([&](Driver &driver) -> CUresult {
    std::vector<CUcontext> &stack = contextStack();
    CUcontext context = stack.empty() ? nullptr : stack.back();
    if (context && driver.valid(context) && driver.devices[size_t(context->device)].sticky != CUDA_SUCCESS) {
      Allocation *found = address ? driver.memory->findBase(address) : nullptr;
      if (found && found->kind != AllocationKind::ModuleVariable && found->kind != AllocationKind::ModuleConstant)
        driver.memory->free(*found, function);
    }
    return enterContext(body);
  });
}

} // namespace

WEFT_DRIVER_API cuMemGetInfo_v2(size_t *free, size_t *total) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    if (free)
      *free = driver.memory->totalBytes() - driver.memory->usedBytes(context->device);
    if (total)
      *total = driver.memory->totalBytes();
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
  return enterContext([&](Driver &driver, CUcontext context) {
    return allocateDevice(driver, context->device, pointer, bytes, AllocationKind::Device, "cuMemAlloc");
  });
}

WEFT_DRIVER_API cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned int) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    CUresult result = allocateDevice(driver, hostDevice, pointer, bytes, AllocationKind::Managed, "cuMemAllocManaged");
    if (result == CUDA_SUCCESS) // the host may write it unseen
      driver.memory->markInitialised(*driver.memory->find(*pointer), *pointer, bytes);
    return result;
  });
}

WEFT_DRIVER_API cuMemAllocPitch_v2(CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height, unsigned int) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    if (!pitch || !width || !height || width > SIZE_MAX / 2 / height)
      return driver.fail(CUDA_ERROR_INVALID_VALUE, "width and height must not be 0");
    *pitch = (width + 511) / 512 * 512;
    return allocateDevice(driver, context->device, pointer, *pitch * height, AllocationKind::Device, "cuMemAllocPitch");
  });
}

WEFT_DRIVER_API cuMemFree_v2(CUdeviceptr pointer) {
  return enterFree(pointer, "cuMemFree", [&](Driver &driver, CUcontext context) -> CUresult {
    if (!pointer)
      return CUDA_SUCCESS;
    Allocation *found = ownedBuffer(driver, pointer, "freed");
    if (!found)
      return CUDA_ERROR_INVALID_VALUE;
    // As on hardware, freeing waits for the device.
    CUresult result = driver.waitForContext(context);
    driver.memory->free(*found, "cuMemFree");
    return result;
  });
}

namespace {
CUresult hostMemory(void **pointer, size_t bytes, const char *function) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    CUdeviceptr address = 0;
    if (!pointer)
      return CUDA_ERROR_INVALID_VALUE;
    CUresult result = allocateDevice(driver, hostDevice, &address, bytes, AllocationKind::PinnedHost, function);
    if (result == CUDA_SUCCESS) {
      driver.memory->markInitialised(*driver.memory->find(address), address, bytes);
      *pointer = reinterpret_cast<void *>(address);
    }
    return result;
  });
}
} // namespace

WEFT_DRIVER_API cuMemAllocHost_v2(void **pointer, size_t bytes) { return hostMemory(pointer, bytes, "cuMemAllocHost"); }
WEFT_DRIVER_API cuMemHostAlloc(void **pointer, size_t bytes, unsigned int) {
  return hostMemory(pointer, bytes, "cuMemHostAlloc");
}

WEFT_DRIVER_API cuMemFreeHost(void *pointer) {
  return enterFree(reinterpret_cast<uint64_t>(pointer), "cuMemFreeHost",
                   [&](Driver &driver, CUcontext context) -> CUresult {
                     Allocation *found = ownedBuffer(driver, reinterpret_cast<uint64_t>(pointer), "freed");
                     if (!found || found->kind != AllocationKind::PinnedHost)
                       return driver.fail(CUDA_ERROR_INVALID_VALUE, "the pointer is not one of cuMemAllocHost");
                     CUresult result = driver.waitForContext(context);
                     driver.memory->free(*found, "cuMemFreeHost");
                     return result;
                   });
}

WEFT_DRIVER_API cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned int) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!pointer || !bytes)
      return CUDA_ERROR_INVALID_VALUE;
    if (!driver.memory->registerHost(pointer, bytes, "cuMemHostRegister #" + std::to_string(++driver.allocationCount)))
      return driver.fail(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "the memory, or a part of it, is known already");
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuMemHostUnregister(void *pointer) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    Allocation *found = driver.memory->findBase(reinterpret_cast<uint64_t>(pointer));
    if (!found || found->kind != AllocationKind::RegisteredHost)
      return driver.fail(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "the memory is not registered");
    CUresult result = driver.waitForContext(context);
    driver.memory->free(*found, "cuMemHostUnregister");
    return result;
  });
}

WEFT_DRIVER_API cuMemHostGetDevicePointer_v2(CUdeviceptr *pointer, void *host, unsigned int) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    std::string reason;
    if (!pointer || !driver.findMemory(reinterpret_cast<uint64_t>(host), 1, reason))
      return driver.fail(CUDA_ERROR_INVALID_VALUE, "the memory is not pinned: " + reason);
    *pointer = reinterpret_cast<uint64_t>(host);
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr pointer) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    std::string reason;
    Allocation *found = driver.findMemory(pointer, 1, reason);
    if (!found)
      return driver.fail(CUDA_ERROR_NOT_FOUND, reason);
    if (base)
      *base = found->base;
    if (size)
      *size = found->size;
    return CUDA_SUCCESS;
  });
}

namespace {
CUresult pointerAttribute(Driver &driver, void *data, int attribute, CUdeviceptr pointer) {
  std::string reason;
  Allocation *found = driver.findMemory(pointer, 1, reason);
  if (!data)
    return CUDA_ERROR_INVALID_VALUE;
  if (!found)
    return driver.fail(CUDA_ERROR_INVALID_VALUE, reason);
  bool onHost = found->device == hostDevice;
  auto put = [&](auto value) {
    std::memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
  };
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    return put(onHost ? nullptr : static_cast<void *>(driver.devices[size_t(found->device)].primary));
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    return put(int(onHost && found->kind != AllocationKind::Managed ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE));
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    return put(pointer);
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    if (!onHost)
      return driver.fail(CUDA_ERROR_INVALID_VALUE, "device memory has no host pointer");
    return put(pointer);
  case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    return put((unsigned long long)(found->serial));
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    return put((unsigned int)(found->kind == AllocationKind::Managed));
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    return put(onHost ? 0 : found->device);
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    return put(CUdeviceptr(found->base));
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    return put(size_t(found->size));
  case CU_POINTER_ATTRIBUTE_MAPPED:
    return put((unsigned int)(1));
  default:
    return driver.fail(CUDA_ERROR_NOT_SUPPORTED, "pointer attribute " + std::to_string(attribute) + " is not kept");
  }
}
} // namespace

WEFT_DRIVER_API cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr pointer) {
  return enterContext(
      [&](Driver &driver, CUcontext) { return pointerAttribute(driver, data, int(attribute), pointer); });
}

WEFT_DRIVER_API cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes, void **data,
                                       CUdeviceptr pointer) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!attributes || !data)
      return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; ++i) {
      if (pointerAttribute(driver, data[i], int(attributes[i]), pointer) == CUDA_SUCCESS || !data[i])
        continue;
      // As with CUDA: what is not known of an unregistered pointer reads as null.
      std::memset(data[i], 0,
                  attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ||
                          attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
                      ? 4
                      : 4);
    }
    return CUDA_SUCCESS;
  });
}

namespace {

enum class End { Host, Device, Any };

/// Copies between two plain ranges. `wait`: the call returns when it is done.
CUresult copy(Driver &driver, CUcontext context, CUstream stream, uint64_t to, End toEnd, uint64_t from, End fromEnd,
              size_t bytes, bool wait, const char *label) {
  std::string reason;
  if (!bytes)
    return CUDA_SUCCESS;
  auto known = [&](uint64_t address, End end) {
    // Pageable memory of the host is not known here; a device pointer must be.
    bool device = end == End::Device || (end == End::Any && driver.memory->find(address));
    return device ? driver.findMemory(address, bytes, reason) != nullptr : address != 0;
  };
  if (!known(to, toEnd) || !known(from, fromEnd))
    return driver.fail(CUDA_ERROR_INVALID_VALUE,
                       std::string(label) + ": " + (reason.empty() ? "a null pointer" : reason));
  CUstream resolved = driver.resolve(stream, context);
  if (!resolved)
    return CUDA_ERROR_INVALID_HANDLE;
  Work work;
  work.kind = Work::Kind::Copy;
  work.copy = {to, from, bytes, 1, 0, 0};
  work.label = label;
  if (wait && resolved->capture)
    return driver.fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                       std::string(label) + " waits, which a captured stream cannot");
  CUresult result = driver.enqueue(resolved, std::move(work));
  if (result != CUDA_SUCCESS || !wait)
    return result;
  return driver.waitForStream(resolved);
}
uint64_t address(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }

template <class... Arguments>
CUresult copyNow(uint64_t to, End toEnd, uint64_t from, End fromEnd, size_t bytes, const char *label) {
  return enterContext([&](Driver &driver, CUcontext context) {
    return copy(driver, context, nullptr, to, toEnd, from, fromEnd, bytes, true, label);
  });
}
CUresult copyLater(uint64_t to, End toEnd, uint64_t from, End fromEnd, size_t bytes, CUstream stream,
                   const char *label) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    CUresult result = copy(driver, context, stream, to, toEnd, from, fromEnd, bytes, false, label);
    if (result != CUDA_SUCCESS || fromEnd != End::Host)
      return result;
    // From pageable memory the driver has taken the bytes before it returns; from pinned memory it has not.
    CUstream resolved = driver.resolve(stream, context);
    if (!driver.memory->find(from) && !resolved->capture)
      return driver.waitForStream(resolved);
    return result;
  });
}
} // namespace

WEFT_DRIVER_API cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copyNow(to, End::Any, from, End::Any, bytes, "cuMemcpy");
}
WEFT_DRIVER_API cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  return copyNow(to, End::Device, address(from), End::Host, bytes, "cuMemcpyHtoD");
}
WEFT_DRIVER_API cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  return copyNow(address(to), End::Host, from, End::Device, bytes, "cuMemcpyDtoH");
}
WEFT_DRIVER_API cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copyNow(to, End::Device, from, End::Device, bytes, "cuMemcpyDtoD");
}
WEFT_DRIVER_API cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes) {
  return copyNow(to, End::Device, from, End::Device, bytes, "cuMemcpyPeer");
}
WEFT_DRIVER_API cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copyLater(to, End::Any, from, End::Any, bytes, stream, "cuMemcpyAsync");
}
WEFT_DRIVER_API cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  return copyLater(to, End::Device, address(from), End::Host, bytes, stream, "cuMemcpyHtoDAsync");
}
WEFT_DRIVER_API cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copyLater(address(to), End::Host, from, End::Device, bytes, stream, "cuMemcpyDtoHAsync");
}
WEFT_DRIVER_API cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copyLater(to, End::Device, from, End::Device, bytes, stream, "cuMemcpyDtoDAsync");
}
WEFT_DRIVER_API cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes,
                                  CUstream stream) {
  return copyLater(to, End::Device, from, End::Device, bytes, stream, "cuMemcpyPeerAsync");
}

namespace {
CUresult copy2D(const CUDA_MEMCPY2D *request, CUstream stream, bool wait, const char *label) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    if (!request)
      return CUDA_ERROR_INVALID_VALUE;
    const CUDA_MEMCPY2D &r = *request;
    if (r.srcMemoryType == CU_MEMORYTYPE_ARRAY || r.dstMemoryType == CU_MEMORYTYPE_ARRAY)
      return driver.fail(CUDA_ERROR_NOT_SUPPORTED, "CUDA arrays are not simulated");
    if (!r.WidthInBytes || !r.Height)
      return CUDA_SUCCESS;
    size_t toPitch = r.dstPitch ? r.dstPitch : r.WidthInBytes + r.dstXInBytes,
           fromPitch = r.srcPitch ? r.srcPitch : r.WidthInBytes + r.srcXInBytes;
    if (toPitch < r.WidthInBytes + r.dstXInBytes || fromPitch < r.WidthInBytes + r.srcXInBytes)
      return driver.fail(CUDA_ERROR_INVALID_VALUE, std::string(label) + ": a pitch is smaller than the row");
    uint64_t to =
        (r.dstMemoryType == CU_MEMORYTYPE_HOST ? address(r.dstHost) : r.dstDevice) + r.dstY * toPitch + r.dstXInBytes;
    uint64_t from =
        (r.srcMemoryType == CU_MEMORYTYPE_HOST ? address(r.srcHost) : r.srcDevice) + r.srcY * fromPitch + r.srcXInBytes;
    std::string reason;
    auto known = [&](CUmemorytype type, uint64_t start, size_t pitch) {
      if (type == CU_MEMORYTYPE_HOST || (type == CU_MEMORYTYPE_UNIFIED && !driver.memory->find(start)))
        return start != 0;
      return driver.findMemory(start, (r.Height - 1) * pitch + r.WidthInBytes, reason) != nullptr;
    };
    if (!known(r.dstMemoryType, to, toPitch) || !known(r.srcMemoryType, from, fromPitch))
      return driver.fail(CUDA_ERROR_INVALID_VALUE,
                         std::string(label) + ": " + (reason.empty() ? "a null pointer" : reason));
    CUstream resolved = driver.resolve(stream, context);
    if (!resolved)
      return CUDA_ERROR_INVALID_HANDLE;
    Work work;
    work.kind = Work::Kind::Copy;
    work.copy = {to, from, r.WidthInBytes, r.Height, toPitch, fromPitch};
    work.label = label;
    CUresult result = driver.enqueue(resolved, std::move(work));
    return result == CUDA_SUCCESS && wait ? driver.waitForStream(resolved) : result;
  });
}

CUresult set(CUdeviceptr to, size_t pitch, unsigned value, unsigned elementBytes, size_t width, size_t height,
             CUstream stream, bool wait, const char *label) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    if (!width || !height)
      return CUDA_SUCCESS;
    std::string reason;
    size_t row = width * elementBytes;
    if (to % elementBytes || (height > 1 && pitch < row) || width > SIZE_MAX / elementBytes ||
        !driver.findMemory(to, (height - 1) * pitch + row, reason))
      return driver.fail(CUDA_ERROR_INVALID_VALUE,
                         std::string(label) + ": " +
                             (reason.empty() ? "address, pitch or width do not fit the elements" : reason));
    CUstream resolved = driver.resolve(stream, context);
    if (!resolved)
      return CUDA_ERROR_INVALID_HANDLE;
    Work work;
    work.kind = Work::Kind::Set;
    work.set = {to, width, height, pitch, value, elementBytes};
    work.label = label;
    CUresult result = driver.enqueue(resolved, std::move(work));
    return result == CUDA_SUCCESS && wait ? driver.waitForStream(resolved) : result;
  });
}
} // namespace

WEFT_DRIVER_API cuMemcpy2D_v2(const CUDA_MEMCPY2D *request) { return copy2D(request, nullptr, true, "cuMemcpy2D"); }
WEFT_DRIVER_API cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *request) {
  return copy2D(request, nullptr, true, "cuMemcpy2DUnaligned");
}
WEFT_DRIVER_API cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *request, CUstream stream) {
  return copy2D(request, stream, false, "cuMemcpy2DAsync");
}
WEFT_DRIVER_API cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  return set(to, 0, value, 1, count, 1, nullptr, true, "cuMemsetD8");
}
WEFT_DRIVER_API cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
  return set(to, 0, value, 2, count, 1, nullptr, true, "cuMemsetD16");
}
WEFT_DRIVER_API cuMemsetD32_v2(CUdeviceptr to, unsigned int value, size_t count) {
  return set(to, 0, value, 4, count, 1, nullptr, true, "cuMemsetD32");
}
WEFT_DRIVER_API cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return set(to, 0, value, 1, count, 1, stream, false, "cuMemsetD8Async");
}
WEFT_DRIVER_API cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return set(to, 0, value, 2, count, 1, stream, false, "cuMemsetD16Async");
}
WEFT_DRIVER_API cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream) {
  return set(to, 0, value, 4, count, 1, stream, false, "cuMemsetD32Async");
}
WEFT_DRIVER_API cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height) {
  return set(to, pitch, value, 1, width, height, nullptr, true, "cuMemsetD2D8");
}
WEFT_DRIVER_API cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height) {
  return set(to, pitch, value, 4, width, height, nullptr, true, "cuMemsetD2D32");
}
WEFT_DRIVER_API cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height,
                                   CUstream stream) {
  return set(to, pitch, value, 4, width, height, stream, false, "cuMemsetD2D32Async");
}

namespace {
CUresult allocateFromPool(Driver &driver, CUcontext context, CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool,
                          CUstream stream) {
  CUstream resolved = driver.resolve(stream, context);
  if (!resolved)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!driver.valid(pool))
    return driver.fail(CUDA_ERROR_INVALID_VALUE, "the memory pool does not exist");
  CUresult result = allocateDevice(driver, pool->device, pointer, bytes, AllocationKind::Device, "cuMemAllocAsync");
  if (result != CUDA_SUCCESS)
    return result;
  pool->used += bytes;
  pool->highest = std::max(pool->highest, pool->used);
  Work work;
  work.kind = Work::Kind::Allocate;
  work.address = *pointer;
  work.pool = pool;
  work.label = "cuMemAllocAsync";
  return driver.enqueue(resolved, std::move(work));
}
} // namespace

WEFT_DRIVER_API cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream) {
  return enterContext([&](Driver &driver, CUcontext context) {
    return allocateFromPool(driver, context, pointer, bytes, driver.devices[size_t(context->device)].currentPool,
                            stream);
  });
}
WEFT_DRIVER_API cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream) {
  return enterContext([&](Driver &driver, CUcontext context) {
    return allocateFromPool(driver, context, pointer, bytes, pool, stream);
  });
}

WEFT_DRIVER_API cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  return enterFree(pointer, "cuMemFreeAsync", [&](Driver &driver, CUcontext context) -> CUresult {
    CUstream resolved = driver.resolve(stream, context);
    if (!resolved)
      return CUDA_ERROR_INVALID_HANDLE;
    if (!pointer)
      return CUDA_SUCCESS;
    if (!ownedBuffer(driver, pointer, "freed"))
      return CUDA_ERROR_INVALID_VALUE;
    Work work;
    work.kind = Work::Kind::Free;
    work.address = pointer;
    work.pool = driver.devices[size_t(context->device)].currentPool;
    work.label = "cuMemFreeAsync";
    return driver.enqueue(resolved, std::move(work));
  });
}

WEFT_DRIVER_API cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties) {
  return enter([&](Driver &driver) -> CUresult {
    if (!pool || !properties || properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        properties->location.id < 0 || properties->location.id >= driver.options.devices)
      return driver.fail(CUDA_ERROR_INVALID_VALUE, "a pool needs the location of an existing device");
    auto *made = new CUmemPoolHandle_st;
    made->device = properties->location.id;
    *pool = driver.keep(made);
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuMemPoolDestroy(CUmemoryPool pool) {
  return enter([&](Driver &driver) -> CUresult {
    if (!driver.valid(pool) || pool->isDefault)
      return driver.fail(CUDA_ERROR_INVALID_VALUE, "the pool does not exist, or is a device's default pool");
    DeviceState &device = driver.devices[size_t(pool->device)];
    if (device.currentPool == pool)
      device.currentPool = device.defaultPool.get();
    driver.handles.erase(pool);
    delete pool;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
  return enter([&](Driver &driver) -> CUresult {
    if (!pool || device < 0 || device >= driver.options.devices)
      return driver.fail(CUDA_ERROR_INVALID_DEVICE, "the device does not exist");
    *pool = driver.devices[size_t(device)].defaultPool.get();
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
  return enter([&](Driver &driver) -> CUresult {
    if (!pool || device < 0 || device >= driver.options.devices)
      return driver.fail(CUDA_ERROR_INVALID_DEVICE, "the device does not exist");
    *pool = driver.devices[size_t(device)].currentPool;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return enter([&](Driver &driver) -> CUresult {
    if (device < 0 || device >= driver.options.devices || !driver.valid(pool) || pool->device != device)
      return driver.fail(CUDA_ERROR_INVALID_VALUE, "the pool is none of that device");
    driver.devices[size_t(device)].currentPool = pool;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuMemPoolTrimTo(CUmemoryPool pool, size_t) {
  return enter([&](Driver &driver) -> CUresult {
    return driver.valid(pool) ? CUDA_SUCCESS : driver.fail(CUDA_ERROR_INVALID_VALUE, "the pool does not exist");
  });
}

namespace {
CUresult poolAttribute(Driver &driver, CUmemoryPool pool, int attribute, void *value, bool write) {
  if (!value || !driver.valid(pool))
    return driver.fail(CUDA_ERROR_INVALID_VALUE, "the pool does not exist, or there is no value");
  auto move = [&](auto &field) {
    if (write)
      std::memcpy(&field, value, sizeof field);
    else
      std::memcpy(value, &field, sizeof field);
    return CUDA_SUCCESS;
  };
  switch (attribute) {
  case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
  case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
    return move(pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES]);
  case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
    return move(pool->threshold);
  case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
  case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    return write ? CUDA_ERROR_INVALID_VALUE : move(pool->used);
  case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
  case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    return move(pool->highest);
  default:
    return driver.fail(CUDA_ERROR_INVALID_VALUE, "pool attribute " + std::to_string(attribute) + " does not exist");
  }
}
} // namespace

WEFT_DRIVER_API cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  return enter([&](Driver &driver) { return poolAttribute(driver, pool, int(attribute), value, false); });
}
WEFT_DRIVER_API cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  return enter([&](Driver &driver) { return poolAttribute(driver, pool, int(attribute), value, true); });
}
