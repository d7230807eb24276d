//===- CpuCodegen.h - Native kernels from fusions ----------------------------------------------------===//

#ifndef WEFT_LIB_CODEGEN_CPU_CPUCODEGEN_H
#define WEFT_LIB_CODEGEN_CPU_CPUCODEGEN_H

#include "dialects/Graph/GraphDialect.h"
#include "lib/Codegen/Numerics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Region.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weft::codegen {

struct CpuOptions {
  /// "native", or a name that LLVM knows: "x86-64-v3", "x86-64-v4", "znver4", ...
  std::string cpu = "native";
  Numerics numerics = Numerics::strict;
  /// The program's symbols in the order of WeftArgs.symbols.
  std::vector<std::string> symbols;
  /// Where set, called with each kernel's name and text: the kernel as MLIR, as optimized LLVM IR, as assembly. Calls
  /// come one at a time, in the order of the kernels.
  std::function<void(llvm::StringRef kernel, llvm::StringRef text)> dumpMlir, dumpLlvm, dumpAssembly;
};

/// What a launch of a kernel needs to know.
struct KernelInfo {
  /// The symbol in the shared object. Regions that are alike share a kernel, whose name is then that of the first.
  std::string name;
  /// The extent of the kernel's iteration space.
  graph::Dim tiles;
  /// The least number of tiles worth handing to a thread.
  int64_t grain = 1;
  /// Bytes of private memory a worker needs.
  graph::Dim scratchBytes;
  /// By the names of runtime/Artifact/CpuFeatures.h.
  std::vector<std::string> requiredFeatures;
};

/// Makes the kernels of one artifact. `addKernel` may be called from several threads at once.
class CpuCodegen {
public:
  /// Loads the dialects it needs into `context`: make one before other threads use the context.
  CpuCodegen(mlir::MLIRContext &context, CpuOptions options);
  ~CpuCodegen();

  /// Whether the CPU is one that kernels can be made for; else an error at `location`.
  llvm::LogicalResult checkTarget(mlir::Location location) const;

  /// A kernel for the region of a weft.fusion or weft.library_call, whose arguments and yielded values are its buffers.
  /// Fails, with an error that names the op, on what cannot be a kernel.
  mlir::FailureOr<KernelInfo> addKernel(llvm::StringRef name, graph::FusionKind kind, mlir::Region &body);

  /// Compiles what has been added and links it to one ELF shared object, which needs no other library.
  mlir::FailureOr<std::vector<uint8_t>> link();

  /// The CPU features that the kernels are compiled for, by the names of runtime/Artifact/CpuFeatures.h.
  std::vector<std::string> requiredFeatures() const;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation;
};

} // namespace weft::codegen

#endif
