// Reads and verifies an artifact.
#pragma once

#include "runtime/Artifact/Program.h"
#include "runtime/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::runtime {

// A verified artifact; spans point into the memory it was read from.
struct Artifact {
  Program program;               // Target::kernels and ::cubin are empty, see below
  std::vector<ByteSpan> kernels; // one a target
  std::vector<ByteSpan> cubins;  // one a target, empty where it has none
  std::vector<ByteSpan> weights; // one a weight, each aligned to 64 bytes
};

// Everything outside the weights is verified: versions, the hash over all bytes before the weights, section ranges,
// zero gaps, the FlatBuffer, validateProgram. data must be aligned to 64 bytes. Messages are to be read after the
// file's name and a colon.
Status readArtifact(const uint8_t *data, size_t size, Artifact &artifact);

// Reads every weight and compares its hash; the error names the damaged one.
Status checkWeights(const Artifact &artifact);

// For the fuzzer, which could not guess a hash: everything that readArtifact does but compare it.
Status readArtifactWithoutHash(const uint8_t *data, size_t size, Artifact &artifact);

} // namespace weft::runtime
