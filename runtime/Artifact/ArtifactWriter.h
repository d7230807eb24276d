// Writes a program, its kernels and its weights as one artifact file.
#pragma once

#include "runtime/Artifact/Program.h"
#include "runtime/Core/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::runtime {

// The bytes of one weight; they are read during the call only. May point into a mapped file.
struct WeightBytes {
  const void *data = nullptr;
  uint64_t size = 0;
};

// Checks the program as a reader would (validateProgram), lays out the weights (equal bytes are not merged), and writes
// the file: first under a temporary name beside `path`, then by rename, so that a failure leaves nothing behind and
// never destroys an older file. weights[i] belongs to program.weights[i]; offset, size and hash there are ignored and
// computed. The bytes written depend on the arguments alone.
Status writeArtifact(const std::string &path, const Program &program, const std::vector<WeightBytes> &weights);

// The same file in memory, for tests and for tools that run what they compiled without a file.
StatusOr<std::vector<uint8_t>> serializeArtifact(const Program &program, const std::vector<WeightBytes> &weights);

} // namespace weft::runtime
