// Tensors that are not contiguous.
#pragma once

#include "include/weft/runtime.h"

#include <cstddef>
#include <cstdint>

namespace weft::runtime {

// Strides are absent, or those of row-major order (any stride will do for a dimension of 1, or without elements).
bool isContiguous(const WeftTensorView &view);

// Gathers a strided tensor (strides in elements, maybe negative or 0) into row-major order.
void copyStrided(const void *source, const int64_t *dims, const int64_t *strides, size_t rank, int64_t elementBytes,
                 void *destination);

} // namespace weft::runtime
