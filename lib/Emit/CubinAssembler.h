//===- CubinAssembler.h - PTX to machine code, by NVIDIA's assembler ---------------------------------------===//

#ifndef WEFT_LIB_EMIT_CUBINASSEMBLER_H
#define WEFT_LIB_EMIT_CUBINASSEMBLER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace weft::emit {

/// Where nvJitLink was found; empty, with the reason, where it was not.
std::string findCubinAssembler(std::string &reason);

/// The machine code of a PTX module for a chip ("sm_90"). No GPU is needed. The error is the assembler's, or says where
/// nvJitLink was looked for.
llvm::Expected<std::vector<uint8_t>> assembleCubin(const std::string &ptx, llvm::StringRef chip);

} // namespace weft::emit

#endif
