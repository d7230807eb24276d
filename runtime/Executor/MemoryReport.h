// What memory a run takes, for messages.
#pragma once

#include "runtime/Executor/LoadedProgram.h"

namespace weft::runtime {

// "12 bytes of weights, 34 of inputs, ...; its arena is fullest at op "conv3": 5 bytes of \"x\", ...": the largest
// buffers that live at the peak, by the op that wrote them first.
std::string describeMemory(const Program &program, const LoadedVariant &variant, const std::vector<int64_t> &symbols,
                           uint64_t weightBytes);

} // namespace weft::runtime
