// The default allocator and the owner of a block.
#include "runtime/Core/Memory.h"

#include <cstdlib>
#include <sys/mman.h>

namespace weft::runtime {
namespace {

// What is planned for the largest sizes can be far more than a run touches: for large blocks address space is taken,
// and memory when it is first written.
constexpr size_t kReservedFrom = size_t(1) << 30;

void *allocateAligned(void *, size_t bytes, size_t alignment) {
  if (bytes >= kReservedFrom) {
    void *mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return mapped == MAP_FAILED ? nullptr : mapped;
  }
  void *memory = nullptr;
  return ::posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

void releaseAligned(void *, void *pointer, size_t bytes, size_t) {
  if (bytes >= kReservedFrom)
    ::munmap(pointer, bytes);
  else
    ::free(pointer);
}

} // namespace

WeftAllocator defaultAllocator() { return {nullptr, allocateAligned, releaseAligned}; }

Memory &Memory::operator=(Memory &&other) noexcept {
  if (this != &other) {
    release();
    allocator_ = other.allocator_;
    data_ = other.data_;
    size_ = other.size_;
    other.data_ = nullptr;
    other.size_ = 0;
  }
  return *this;
}

StatusOr<Memory> Memory::allocate(const WeftAllocator &allocator, size_t bytes, const std::string &what) {
  Memory memory;
  size_t rounded = bytes ? bytes : 1;
  void *data = allocator.allocate(allocator.user, rounded, WEFT_BUFFER_ALIGNMENT);
  if (!data)
    return Status(StatusCode::ResourceExhausted, "out of memory: " + std::to_string(bytes) + " bytes for " + what);
  if (reinterpret_cast<uintptr_t>(data) % WEFT_BUFFER_ALIGNMENT != 0) {
    allocator.release(allocator.user, data, rounded, WEFT_BUFFER_ALIGNMENT);
    return Status(StatusCode::InvalidArgument, "the allocator returned memory that is not aligned to " +
                                                   std::to_string(WEFT_BUFFER_ALIGNMENT) + " bytes");
  }
  memory.allocator_ = allocator;
  memory.data_ = data;
  memory.size_ = rounded;
  return memory;
}

Status Memory::require(const WeftAllocator &allocator, size_t bytes, const char *what) {
  if (data_ && size_ >= bytes)
    return Status();
  release();
  auto memory = allocate(allocator, bytes, what);
  if (!memory.ok())
    return memory.status();
  *this = std::move(*memory);
  return Status();
}

void Memory::release() {
  if (data_)
    allocator_.release(allocator_.user, data_, size_, WEFT_BUFFER_ALIGNMENT);
  data_ = nullptr;
  size_ = 0;
}

} // namespace weft::runtime
