// A tensor in memory of its own, as files hold it.
#pragma once

#include "runtime/Core/ElementType.h"
#include "runtime/Core/Memory.h"
#include "runtime/Core/Status.h"

#include <string>
#include <utility>
#include <vector>

namespace weft::runtime {

// Contiguous, row-major, aligned to 64 bytes.
struct Array {
  // Invalid: elements of rawBytes bytes each whose meaning the file does not say (numpy's void, as it stores bf16 and
  // f8).
  ElementType type = ElementType::Invalid;
  int64_t rawBytes = 0;
  std::vector<int64_t> dims;
  Memory data;

  int64_t elementCount() const;
  int64_t byteCount() const;
};

using NamedArrays = std::vector<std::pair<std::string, Array>>;

// Allocates memory for the type and dims, contents undefined; fails when they are impossible or memory is short.
StatusOr<Array> makeArray(ElementType type, const std::vector<int64_t> &dims);

// The array as elements of `type`: itself when it has that type; raw elements of the right size are taken as they are;
// 8-bit integers are packed into 2 and 4 bits when all values fit. Anything else is an error: values are never
// converted.
StatusOr<Array> asElementType(Array array, ElementType type);

// For files, which know no packed types: 2- and 4-bit integers as 8-bit ones. Other arrays come back as they are.
StatusOr<Array> unpacked(Array array);

} // namespace weft::runtime
