// C API: versions, statuses, element types, thread pools, fences.
#include "runtime/Executor/CApi.h"

using namespace weft::runtime;

namespace weft::runtime {

WeftStatus *outOfMemoryStatus() {
  // Made while there is memory; weft_status_free leaves it alone.
  static WeftStatus status{Status(StatusCode::ResourceExhausted, "out of memory")};
  return &status;
}

} // namespace weft::runtime

int32_t weft_runtime_api_version(void) { return WEFT_RUNTIME_API_VERSION; }
const char *weft_runtime_version(void) { return WEFT_VERSION; }

WeftStatusCode weft_status_code(const WeftStatus *status) {
  return status ? static_cast<WeftStatusCode>(status->status.code()) : WEFT_OK;
}

const char *weft_status_message(const WeftStatus *status) { return status ? status->status.message().c_str() : ""; }

void weft_status_free(WeftStatus *status) {
  if (status != outOfMemoryStatus())
    delete status;
}

const char *weft_element_type_name(WeftElementType type) {
  auto number = static_cast<unsigned>(type);
  return elementTypeName(number <= kLastElementType ? static_cast<ElementType>(number) : ElementType::Invalid).data();
}

int32_t weft_element_type_bits(WeftElementType type) {
  auto number = static_cast<unsigned>(type);
  return number <= kLastElementType ? static_cast<int32_t>(storageBits(static_cast<ElementType>(number))) : 0;
}

int64_t weft_tensor_bytes(WeftElementType type, int32_t rank, const int64_t *dims) {
  int64_t bytes;
  if (static_cast<unsigned>(type) > kLastElementType || rank < 0 || (rank > 0 && !dims) ||
      !byteCountOf(static_cast<ElementType>(type), dims, static_cast<size_t>(rank), bytes))
    return -1;
  return bytes;
}

WeftStatus *weft_thread_pool_create(int32_t threads, WeftThreadPool **pool) {
  return guarded([&] {
    if (!pool)
      return nullArgument("pool");
    auto created = ThreadPool::create(threads == 0 ? ThreadPool::usableCores() : threads);
    if (!created.ok())
      return created.status();
    *pool = new WeftThreadPool{*created};
    return Status();
  });
}

int32_t weft_thread_pool_size(const WeftThreadPool *pool) { return pool ? pool->pool->size() : 0; }
void weft_thread_pool_free(WeftThreadPool *pool) { delete pool; }

WeftStatus *weft_fence_create(WeftFence **fence) {
  return guarded([&] {
    if (!fence)
      return nullArgument("fence");
    *fence = new WeftFence{std::make_shared<Fence>()};
    return Status();
  });
}

WeftStatus *weft_fence_signal(WeftFence *fence) {
  return guarded([&] {
    if (!fence)
      return nullArgument("fence");
    return fence->fence->signal(Status()) ? Status()
                                          : Status(StatusCode::FailedPrecondition, "the fence was signaled before");
  });
}

WeftStatus *weft_fence_wait(WeftFence *fence, int64_t timeout) {
  return guarded([&] {
    if (!fence)
      return nullArgument("fence");
    Status result;
    return fence->fence->wait(timeout, result)
               ? result
               : Status(StatusCode::DeadlineExceeded, "the fence was not signaled in time");
  });
}

int32_t weft_fence_is_signaled(const WeftFence *fence) { return fence && fence->fence->isSignaled(); }
void weft_fence_free(WeftFence *fence) { delete fence; }
