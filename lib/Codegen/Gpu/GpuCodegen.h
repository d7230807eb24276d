//===- GpuCodegen.h - PTX kernels from fusions --------------------------------------------------------===//

#ifndef WEFT_LIB_CODEGEN_GPU_GPUCODEGEN_H
#define WEFT_LIB_CODEGEN_GPU_GPUCODEGEN_H

#include "dialects/Graph/GraphDialect.h"
#include "lib/Codegen/Numerics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Region.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weft::codegen {

struct GpuOptions {
  /// The architecture: "sm_80", "sm_90", "sm_90a", "sm_100", ...
  std::string chip = "sm_80";
  Numerics numerics = Numerics::strict;
  /// The program's symbols in the order of the kernels' parameters.
  std::vector<std::string> symbols;
  /// Where set, called with each kernel's name and text: the kernel as MLIR, as optimized LLVM IR, as PTX. Calls come
  /// one at a time, in the order of the kernels.
  std::function<void(llvm::StringRef kernel, llvm::StringRef text)> dumpMlir, dumpLlvm, dumpAssembly;
};

/// What a launch of a kernel needs to know; the parameters are those of include/weft/kernel_abi.h.
struct GpuKernelInfo {
  /// The entry in the PTX. Regions that are alike share a kernel, whose name is then that of the first.
  std::string name;
  /// The extent of the kernel's iteration space.
  graph::Dim tiles;
  /// Threads of a block, along x.
  int threads = 0;
  /// Bytes of dynamic shared memory.
  int64_t sharedBytes = 0;
  /// The largest number of blocks worth launching, and that scratch memory holds; 0 for as many as tiles.
  int64_t maxBlocks = 0;
  /// Bytes of scratch memory of the launch.
  graph::Dim scratchBytes;
};

/// Makes the kernels of one target. `addKernel` may be called from several threads at once.
class GpuCodegen {
public:
  /// Loads the dialects it needs into `context`: make one before other threads use the context.
  GpuCodegen(mlir::MLIRContext &context, GpuOptions options);
  ~GpuCodegen();

  /// Whether the chip is one that kernels can be made for; else an error at `location`.
  llvm::LogicalResult checkTarget(mlir::Location location) const;

  /// A kernel for the region of a weft.fusion or weft.library_call, whose arguments and yielded values are its buffers.
  /// Fails, with an error that names the op, on what cannot be a kernel.
  mlir::FailureOr<GpuKernelInfo> addKernel(llvm::StringRef name, graph::FusionKind kind, mlir::Region &body);

  /// Compiles what has been added: one PTX module with all kernels.
  mlir::FailureOr<std::string> ptx();

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation;
};

/// The chips that GpuOptions takes, oldest first.
std::vector<std::string> gpuChips();

} // namespace weft::codegen

#endif
