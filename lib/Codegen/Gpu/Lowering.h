//===- Lowering.h - From a GPU kernel in MLIR to PTX --------------------------------------------------===//

#ifndef WEFT_LIB_CODEGEN_GPU_LOWERING_H
#define WEFT_LIB_CODEGEN_GPU_LOWERING_H

#include "lib/Codegen/Gpu/GpuCodegen.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>

namespace llvm {
class Module;
class LLVMContext;
} // namespace llvm

namespace weft::codegen::gpu {

/// The GPU that is compiled for.
struct Target {
  std::string chip;
  unsigned architecture = 0; // 80, 90, 100, ...
  unsigned multiprocessors = 0;
};

/// Fails with a message on a chip that is not in the list: LLVM ends the process on a pair of chip and PTX version that
/// do not fit, so both come from here.
llvm::Expected<Target> makeTarget(llvm::StringRef chip);
/// Not shared between threads.
std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const Target &target, Numerics numerics);

/// Adds the dialects and translations that `lowerToLlvm` needs.
void registerLoweringDialects(mlir::MLIRContext &context);
/// Lowers a module of arith, math, scf, func, nvvm and llvm ops to the LLVM and NVVM dialects, with `index` of that
/// many bits.
llvm::LogicalResult lowerToLlvm(mlir::ModuleOp module, unsigned indexBits);

/// Translates, and makes the function `name` a kernel of blocks of that many threads.
std::unique_ptr<llvm::Module> translateToLlvm(mlir::ModuleOp module, llvm::LLVMContext &context, llvm::StringRef name,
                                              const Target &target, int threads, Numerics numerics);
/// The module as PTX, or a message.
llvm::Expected<std::string> emitPtx(llvm::Module &module, llvm::TargetMachine &machine);
/// The PTX of several modules as one; their names must be apart.
std::string joinPtx(llvm::ArrayRef<std::string> modules);

} // namespace weft::codegen::gpu

#endif
