// NumPy's .npy files.
#pragma once

#include "runtime/Core/AtomicFile.h"
#include "runtime/Data/Array.h"

#include <string>
#include <vector>

namespace weft::runtime {

// Versions 1 to 3; either byte order, either memory order (the result is native and row-major). Errors start with what
// is wrong; the caller adds the file's name. Python objects, strings, complex numbers and records are errors.
StatusOr<Array> parseNpy(const uint8_t *data, size_t size);

// Bytes before the data: magic, version and header, padded to a multiple of 64. Packed types must be unpacked first;
// types NumPy lacks are written as raw elements ("<V2" for bf16), as the ml_dtypes package does.
std::vector<uint8_t> npyHeader(ElementType type, const std::vector<int64_t> &dims);

StatusOr<Array> readNpy(const std::string &path);
// Everything but the commit, for several files that are to appear together.
Status stageNpy(AtomicFile &file, const std::string &path, const Array &array);
// Written whole or not at all.
Status writeNpy(const std::string &path, const Array &array);

} // namespace weft::runtime
