// NumPy's .npz files: zip archives of .npy files.
#pragma once

#include "runtime/Core/AtomicFile.h"
#include "runtime/Data/Array.h"

#include <string>

namespace weft::runtime {

// Members in the archive's order, without their ".npy"; stored or deflated, checksums verified, zip64 understood. Two
// members of one name are an error.
StatusOr<NamedArrays> parseNpz(const uint8_t *data, size_t size);
StatusOr<NamedArrays> readNpz(const std::string &path);

// Stored uncompressed, as numpy.savez does; staging does everything but the commit, writing is whole or not at all.
Status stageNpz(AtomicFile &file, const std::string &path, const NamedArrays &arrays);
Status writeNpz(const std::string &path, const NamedArrays &arrays);

} // namespace weft::runtime
