//===- Lowering.h - From a kernel in MLIR to an object file and a shared object ----------------------===//

#ifndef WEFT_LIB_CODEGEN_CPU_LOWERING_H
#define WEFT_LIB_CODEGEN_CPU_LOWERING_H

#include "lib/Codegen/Cpu/CpuCodegen.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>

namespace llvm {
class Module;
class LLVMContext;
} // namespace llvm

namespace weft::codegen::cpu {

/// The CPU that is compiled for.
struct Target {
  std::string triple, cpu, features;
  unsigned preferredVectorBits = 256;
  std::vector<std::string> enabledFeatures; // LLVM's names
};

/// Fails with a message on a CPU that LLVM does not know or that is not of this machine's architecture.
llvm::Expected<Target> makeTarget(llvm::StringRef cpu);
/// Not shared between threads.
std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const Target &target, Numerics numerics);

/// Adds the dialects and translations that `lowerToLlvm` needs.
void registerLoweringDialects(mlir::MLIRContext &context);
/// Lowers a module of arith, math, scf, func and llvm ops to the LLVM dialect.
llvm::LogicalResult lowerToLlvm(mlir::ModuleOp module);

/// Translates, and marks the functions for the target.
std::unique_ptr<llvm::Module> translateToLlvm(mlir::ModuleOp module, llvm::LLVMContext &context, const Target &target,
                                              Numerics numerics);
/// Tells the optimizer that the addresses of these buffers (by their numbers in WeftArgs.buffers) are aligned.
void alignStreamedBuffers(llvm::Module &module, llvm::ArrayRef<unsigned> buffers);
/// After the optimizations: makes the aligned vector stores to these buffers non-temporal, where none of them is read.
void streamStores(llvm::Module &module, llvm::ArrayRef<unsigned> buffers);
/// An object file, or text in assembly. Fails with a message.
llvm::Expected<llvm::SmallVector<char, 0>> emitCode(llvm::Module &module, llvm::TargetMachine &machine, bool assembly);

/// The C functions that code generation calls on its own (memset, memcpy, ...), so that kernels need no library.
std::unique_ptr<llvm::Module> makeRuntimeFunctions(llvm::LLVMContext &context, const Target &target);

/// Links objects to a shared object. Every symbol must be defined. Fails with what the linker says.
llvm::Expected<std::vector<uint8_t>> linkObjects(llvm::ArrayRef<llvm::SmallVector<char, 0>> objects,
                                                 llvm::ArrayRef<std::string> exported);

} // namespace weft::codegen::cpu

#endif
