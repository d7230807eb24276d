//===- WidenAccesses.h - Neighbouring loads and stores become one --------------------------------------===//

#ifndef WEFT_LIB_CODEGEN_GPU_WIDENACCESSES_H
#define WEFT_LIB_CODEGEN_GPU_WIDENACCESSES_H

namespace llvm {
class Module;
} // namespace llvm

namespace weft::codegen::gpu {

/// Joins loads and stores of neighbouring addresses to accesses of up to 128 bits that touch no byte which the program
/// does not, and keeps LLVM's code generator from joining any further: it completes three elements to four, which reads
/// past the end of a buffer.
void widenAccesses(llvm::Module &module);

} // namespace weft::codegen::gpu

#endif // WEFT_LIB_CODEGEN_GPU_WIDENACCESSES_H
