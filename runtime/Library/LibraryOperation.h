// What the executor sees of a library that computes contractions: operations, and plans of them at given sizes.
#pragma once

#include "runtime/Artifact/Program.h"
#include "runtime/Core/Memory.h"
#include "runtime/Core/Status.h"
#include "runtime/Device/Host/ThreadPool.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace weft::runtime {

// A tensor at its actual dims.
struct TensorReference {
  ElementType type = ElementType::Invalid;
  const int64_t *dims = nullptr;
  size_t rank = 0;
  void *data = nullptr; // may be null while planning
};

// The sizes of a call; for a matmul {batch, M, N, K}, unused for a convolution, whose operands' dims say it all.
struct LibrarySizes {
  int64_t batch = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
};

// Memory that one run at a time uses to execute a plan.
class LibraryWorkspace {
public:
  virtual ~LibraryWorkspace() = default;
};

// An operation at fixed sizes, ready to execute; immutable, used from several threads.
class LibraryPlan {
public:
  virtual ~LibraryPlan() = default;
  // "onednn brgemm:avx512_core": what will run.
  virtual const std::string &implementation() const = 0;
  virtual StatusOr<std::unique_ptr<LibraryWorkspace>> makeWorkspace(int32_t workers) const = 0;
  // operands: left, right, output, then one a post-op (data null for those without an operand). Allocates nothing.
  virtual Status execute(ThreadPool &pool, LibraryWorkspace &workspace, const TensorReference *operands,
                         const std::atomic<bool> &cancelled) const = 0;
};

// One LibraryCall of a program.
class LibraryOperation {
public:
  virtual ~LibraryOperation() = default;
  // The plan at the operands' sizes (data is ignored); made at the first request and kept as long as the operation. An
  // error tells why the library cannot do it, or not fast; the alternative kernel runs then. Any thread may call.
  virtual StatusOr<const LibraryPlan *> plan(const LibrarySizes &sizes, const TensorReference *operands) = 0;
};

// Elements of a tensor whose dims are valid.
inline int64_t elementCount(const TensorReference &tensor) {
  int64_t bytes = 0;
  byteCountOf(ElementType::U8, tensor.dims, tensor.rank, bytes);
  return bytes;
}

} // namespace weft::runtime
