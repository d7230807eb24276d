//===- KernelEmitter.h - The frame of a CPU kernel: arguments, stack, scratch, reductions ------------===//

#ifndef WEFT_LIB_CODEGEN_CPU_KERNELEMITTER_H
#define WEFT_LIB_CODEGEN_CPU_KERNELEMITTER_H

#include "lib/Codegen/Cpu/CpuCodegen.h"
#include "lib/Codegen/IterationSpace.h"
#include "lib/Codegen/KernelFrame.h"

namespace weft::codegen::cpu {

/// Elements combined at once by `KernelEmitter::reduceLanes`.
struct LaneReduction {
  graph::ReductionKind kind;
  mlir::Type elementType; // an accumulation type
};

/// Builds the function of one kernel. Created, it stands at the start of the function's body; `finish` ends it.
class KernelEmitter : public KernelFrame {
public:
  KernelEmitter(mlir::OpBuilder &builder, mlir::ModuleOp module, llvm::StringRef name, mlir::Region &body,
                llvm::ArrayRef<std::string> symbolNames);

  /// The first and one past the last tile of this call, as `index`.
  mlir::Value getBegin() const { return begin; }
  mlir::Value getEnd() const { return end; }

  /// Memory private to the kernel: on the stack or in the scratch buffer.
  LocalMemory allocateOnStack(mlir::Type elementType, int64_t count);
  LocalMemory allocateScratch(mlir::Type elementType, const graph::Dim &count);

  mlir::Value reduce(graph::ReductionKind kind, mlir::Type elementType, mlir::ValueRange extents,
                     llvm::function_ref<mlir::Value(mlir::ValueRange)> element) override;
  /// Reductions over positions 0 to count - 1 in the order of the numerics contract, with an inner loop over lanes that
  /// LLVM vectorizes. `elements` emits what is combined at a position. Results are of the accumulation types.
  llvm::SmallVector<mlir::Value> reduceLanes(llvm::ArrayRef<LaneReduction> reductions, mlir::Value count,
                                             llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value)> elements);

  /// Stores a WeftKernelError for the runtime; the kernel goes on.
  void reportError(int32_t error);

  /// Ends the function.
  void finish();

private:
  mlir::Value symbolValue(unsigned number) override;
  mlir::Value field(int64_t offset, mlir::Type type);

  mlir::Value arguments, begin, end, scratch, symbols;
};

/// The iteration space of a kernel.
struct KernelTiles {
  graph::Dim tiles;
  int64_t grain = 1;
};

/// The kernel for the region.
mlir::FailureOr<KernelTiles> emitKernel(KernelEmitter &kernel, graph::FusionKind kind);

/// One kernel kind each. They build the body and give the tiles, or fail with an error.
mlir::FailureOr<KernelTiles> emitLoopKernel(KernelEmitter &kernel);
mlir::FailureOr<KernelTiles> emitPackedKernel(KernelEmitter &kernel);
mlir::FailureOr<KernelTiles> emitRowKernel(KernelEmitter &kernel);
mlir::FailureOr<KernelTiles> emitContractionKernel(KernelEmitter &kernel);
mlir::FailureOr<KernelTiles> emitColumnKernel(KernelEmitter &kernel);
mlir::FailureOr<KernelTiles> emitTransposeKernel(KernelEmitter &kernel);
mlir::FailureOr<KernelTiles> emitSerialKernel(KernelEmitter &kernel);

/// Whether the region's reductions run over trailing dimensions of one shape, whose rows a row kernel can take one by
/// one.
bool isRowKernel(KernelEmitter &kernel);

/// Whether the region has one dot_general or convolution, with results of its shape.
bool isContractionKernel(KernelEmitter &kernel);

/// Whether the region reduces over dimensions outside the innermost one, or windows of them, with results of that
/// shape.
bool isColumnKernel(KernelEmitter &kernel);
/// Whether the region has one transpose that moves the innermost dimension, and results of its shape.
bool isTransposeKernel(KernelEmitter &kernel);
/// Whether the region has an op that is not computed element by element.
bool isSerialKernel(KernelEmitter &kernel);

} // namespace weft::codegen::cpu

#endif
