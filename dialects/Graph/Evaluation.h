//===- Evaluation.h - What the reference evaluation of the op families shares ---------------------===//

#ifndef WEFT_DIALECTS_GRAPH_EVALUATION_H
#define WEFT_DIALECTS_GRAPH_EVALUATION_H

#include "dialects/Graph/TensorValue.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace weft::graph {

/// Calls `body(begin, end)` on parts of [0, count), from several threads where a part has at least `minimum` items.
/// Parts begin at multiples of `minimum`. What an item computes must not depend on the part it is in.
void parallelFor(int64_t count, int64_t minimum, llvm::function_ref<void(int64_t begin, int64_t end)> body);

/// Elements of a block in which elementwise evaluation converts, computes and rounds; a multiple of those in a byte.
constexpr int64_t kBlock = 1024;
/// Blocks that are worth a thread.
constexpr int64_t kParallelElements = 64 * kBlock;

/// Elements of 2 and 4 bits one a byte, so that they have addresses: integers as i8 or ui8, the bits of f4E2M1FN as
/// ui8. Any other value is returned as it is.
TensorValue unpack(const TensorValue &value);
/// The inverse, to `elementType`.
TensorValue pack(const TensorValue &value, mlir::Type elementType);
/// The type of the elements that `unpack` gives for this element type.
mlir::Type unpackedType(mlir::Type elementType);

/// One side of a strided copy. Strides are in elements and may be zero or negative.
struct Strided {
  int64_t offset = 0;
  llvm::SmallVector<int64_t> strides;
};

/// For every index below `sizes`, `to[to.offset + index . to.strides] = from[...]`. The targets of different indices
/// are different. Both tensors have addressable elements of one width (see `unpack`).
void copyStrided(TensorValue &toTensor, const Strided &to, const TensorValue &fromTensor, const Strided &from,
                 llvm::ArrayRef<int64_t> sizes);

/// Calls `body` with every index below `sizes` in row-major order.
void forEachIndex(llvm::ArrayRef<int64_t> sizes, llvm::function_ref<void(llvm::ArrayRef<int64_t> index)> body);

/// The larger and the smaller value: a NaN wins, +0 is larger than -0.
double maximumOf(double a, double b);
double minimumOf(double a, double b);

} // namespace weft::graph

#endif
