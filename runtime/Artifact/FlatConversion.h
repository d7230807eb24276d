// Between the plain structures of Program.h and the FlatBuffer of Artifact.fbs.
#pragma once

#include "runtime/Artifact/Program.h"
#include "runtime/Core/Status.h"

#include <cstdint>
#include <vector>

namespace weft::runtime {

// Where an image lies in the kernels section.
struct KernelRange {
  uint64_t offset = 0;
  uint64_t size = 0;
};

// A target's images.
struct TargetRanges {
  KernelRange kernels;
  KernelRange cubin;
};

// The structure section. kernels[i] belongs to program.targets[i], whose own bytes are not part of it.
std::vector<uint8_t> encodeProgram(const Program &program, const std::vector<TargetRanges> &kernels);

// Verifies the FlatBuffer and converts it; the targets' kernels stay empty. What comes back is well-formed memory, but
// says nothing sensible yet: validateProgram does that. Memory stays within a fixed multiple of `size`.
Status decodeProgram(const uint8_t *data, size_t size, Program &program, std::vector<TargetRanges> &kernels);

} // namespace weft::runtime
