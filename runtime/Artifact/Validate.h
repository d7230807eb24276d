// Everything a program must satisfy before it may run, beyond being well-formed memory.
#pragma once

#include "runtime/Artifact/Program.h"
#include "runtime/Core/Status.h"

namespace weft::runtime {

inline constexpr size_t kMaximumRank = 32;
inline constexpr size_t kMaximumBlockNesting = 64;

// Indices, names, enumerators, expressions and their bounds, arena ranges, block structure, library operands. The
// message names the entry, variant, op or buffer at fault. Both the writer and the reader call it; the executor relies
// on it. Sizes that depend on several symbols at once may still fail to fit at particular values; the executor checks
// those when it binds them.
Status validateProgram(const Program &program);

// The images of a target, which a program that was read does not hold itself: PTX ends in its only NUL, as a driver
// expects of it, and a cubin is an ELF file of a "cuda" target.
Status validateImages(const Target &target, ByteSpan kernels, ByteSpan cubin);

} // namespace weft::runtime
