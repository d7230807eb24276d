//===- Optimize.h - LLVM's optimizations on a kernel ---------------------------------------------------===//

#ifndef WEFT_LIB_CODEGEN_OPTIMIZE_H
#define WEFT_LIB_CODEGEN_OPTIMIZE_H

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace weft::codegen {

/// Runs LLVM's O3 pipeline for code that has no library to call. `vectorize` where one thread computes several
/// elements, so that loops and straight code may become vectors.
void optimize(llvm::Module &module, llvm::TargetMachine &machine, bool vectorize);

} // namespace weft::codegen

#endif
