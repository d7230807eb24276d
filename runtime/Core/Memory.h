// Aligned memory from the caller's allocator.
#pragma once

#include "include/weft/kernel_abi.h"
#include "include/weft/runtime.h"
#include "runtime/Core/Status.h"

#include <cstddef>

namespace weft::runtime {

// The C library's memory, when the caller gave no allocator.
WeftAllocator defaultAllocator();

// A block aligned to WEFT_BUFFER_ALIGNMENT; the allocator's `user` must outlive it. Never null after a successful
// allocation, even of 0 bytes.
class Memory {
public:
  Memory() = default;
  ~Memory() { release(); }
  Memory(Memory &&other) noexcept { *this = static_cast<Memory &&>(other); }
  Memory &operator=(Memory &&other) noexcept;
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  // Contents undefined. `what` is for the error message: "the arena".
  static StatusOr<Memory> allocate(const WeftAllocator &allocator, size_t bytes, const std::string &what);
  // Keeps the block when it is large enough, whatever it holds; else replaces it.
  Status require(const WeftAllocator &allocator, size_t bytes, const char *what);

  void *data() const { return data_; }
  size_t size() const { return size_; }
  void release();

private:
  WeftAllocator allocator_ = {};
  void *data_ = nullptr;
  size_t size_ = 0;
};

} // namespace weft::runtime
