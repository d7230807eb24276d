// An odometer over the outer dimensions, a loop over the innermost.
#include "runtime/Core/StridedCopy.h"

#include <cstring>
#include <vector>

namespace weft::runtime {

bool isContiguous(const WeftTensorView &view) {
  if (!view.strides)
    return true;
  for (int32_t axis = 0; axis < view.rank; ++axis)
    if (view.dims[axis] == 0)
      return true;
  int64_t expected = 1;
  for (int32_t axis = view.rank - 1; axis >= 0; --axis) {
    if (view.dims[axis] != 1 && view.strides[axis] != expected)
      return false;
    expected *= view.dims[axis];
  }
  return true;
}

void copyStrided(const void *source, const int64_t *dims, const int64_t *strides, size_t rank, int64_t elementBytes,
                 void *destination) {
  const char *from = static_cast<const char *>(source);
  char *to = static_cast<char *>(destination);
  if (rank == 0) {
    std::memcpy(to, from, static_cast<size_t>(elementBytes));
    return;
  }
  for (size_t axis = 0; axis < rank; ++axis)
    if (dims[axis] == 0)
      return;
  std::vector<int64_t> position(rank, 0);
  int64_t innerStep = strides[rank - 1] * elementBytes;
  for (;;) {
    for (int64_t i = 0; i < dims[rank - 1]; ++i, to += elementBytes)
      std::memcpy(to, from + i * innerStep, static_cast<size_t>(elementBytes));
    size_t axis = rank - 1;
    for (;;) {
      if (axis == 0)
        return;
      --axis;
      from += strides[axis] * elementBytes;
      if (++position[axis] < dims[axis])
        break;
      from -= position[axis] * strides[axis] * elementBytes;
      position[axis] = 0;
    }
  }
}

} // namespace weft::runtime
