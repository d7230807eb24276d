// Finding NaNs in a tensor.
#pragma once

#include "runtime/Core/ElementType.h"

#include <cstdint>

namespace weft::runtime {

// The index of the first NaN among `count` elements, -1 when there is none or the type has none.
int64_t findNan(ElementType type, const void *data, int64_t count);

} // namespace weft::runtime
