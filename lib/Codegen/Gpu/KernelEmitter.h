//===- KernelEmitter.h - The frame of a GPU kernel: parameters, threads, shared memory, reductions ---===//

#ifndef WEFT_LIB_CODEGEN_GPU_KERNELEMITTER_H
#define WEFT_LIB_CODEGEN_GPU_KERNELEMITTER_H

#include "lib/Codegen/Gpu/GpuCodegen.h"
#include "lib/Codegen/IterationSpace.h"
#include "lib/Codegen/KernelFrame.h"

namespace weft::codegen::gpu {

/// Address spaces.
constexpr unsigned kGlobal = 1, kShared = 3;
constexpr int kWarp = 32;
/// Static shared memory of a block.
constexpr int64_t kSharedLimit = 48 * 1024;

/// Builds the function of one kernel. Created, it stands at the start of the function's body; `finish` ends it.
class KernelEmitter : public KernelFrame {
public:
  /// `multiprocessors` of the GPU that is compiled for.
  KernelEmitter(mlir::OpBuilder &builder, mlir::ModuleOp module, llvm::StringRef name, mlir::Region &body,
                llvm::ArrayRef<std::string> symbolNames, unsigned multiprocessors);

  /// The bits of `index` that hold every position: 32 where all sizes are known to be far below 2^31.
  unsigned getIndexBits() const { return indexBits; }
  unsigned getMultiprocessors() const { return multiprocessors; }

  /// Threads of a block: to be set before anything that depends on them is emitted.
  void setThreads(int count) { threads = count; }
  int getThreads() const { return threads; }
  /// The thread's number in its block, the block's, as `index`.
  mlir::Value getThread() const { return thread; }
  mlir::Value getBlock() const { return block; }

  /// The tiles of this block: blockIdx.x, blockIdx.x + gridDim.x, ... below the number of tiles.
  void forTiles(llvm::function_ref<void(mlir::Value)> body);
  /// for (i = thread; i < count; i += threads): all of them, each once, by the threads of the block.
  void forThreads(mlir::Value count, llvm::function_ref<void(mlir::Value)> body);
  /// All threads of the block meet, and see what the others have stored.
  void barrier();
  /// The value of the thread whose number differs in the bits of `mask`, within a warp. All threads of the warp take
  /// part.
  mlir::Value shuffleXor(mlir::Value value, int mask);

  /// Shared memory of the block: the same for all tiles.
  LocalMemory allocateShared(mlir::Type elementType, int64_t count);
  int64_t getSharedBytes() const { return sharedBytes; }
  /// Scratch memory of the launch; `count` elements for each of `blocks` blocks, of which this block has its own.
  LocalMemory allocateScratch(mlir::Type elementType, const graph::Dim &count);
  LocalMemory allocateBlockScratch(mlir::Type elementType, const graph::Dim &count, int64_t blocks);

  /// In one thread: loops without memory of their own.
  mlir::Value reduce(graph::ReductionKind kind, mlir::Type elementType, mlir::ValueRange extents,
                     llvm::function_ref<mlir::Value(mlir::ValueRange)> element) override;

  /// The elements of a result that are one byte, where they are packed, or one element: `element` gives the one at a
  /// row-major position.
  void storeUnit(unsigned result, mlir::Value unit, llvm::function_ref<mlir::Value(mlir::Value)> element);

  /// Stores a WeftKernelError for the runtime; the kernel goes on.
  void reportError(int32_t error);

  /// Ends the function.
  void finish();

private:
  mlir::Value symbolValue(unsigned number) override;
  unsigned constantSpace() const override { return kGlobal; }
  mlir::Value reduceTree(graph::ReductionKind kind, mlir::Type elementType, mlir::Value first, mlir::Value size,
                         int64_t lanes, int64_t width, mlir::Value lane,
                         llvm::function_ref<mlir::Value(mlir::Value)> element);

  unsigned indexBits = 64, multiprocessors;
  int threads = 256;
  mlir::Value tiles, scratch, error, thread, block, gridSize;
  int64_t sharedBytes = 0;
  unsigned sharedCount = 0;
};

/// The iteration space of a kernel, and how it is launched.
struct KernelTiles {
  graph::Dim tiles;
  int64_t maxBlocks = 0;
};

/// The kernel for the region.
mlir::FailureOr<KernelTiles> emitKernel(KernelEmitter &kernel);

/// One kernel kind each. They build the body and give the tiles, or fail with an error.
mlir::FailureOr<KernelTiles> emitLoopKernel(KernelEmitter &kernel);
mlir::FailureOr<KernelTiles> emitPackedKernel(KernelEmitter &kernel);
mlir::FailureOr<KernelTiles> emitRowKernel(KernelEmitter &kernel);
mlir::FailureOr<KernelTiles> emitColumnKernel(KernelEmitter &kernel);
mlir::FailureOr<KernelTiles> emitTransposeKernel(KernelEmitter &kernel);
mlir::FailureOr<KernelTiles> emitContractionKernel(KernelEmitter &kernel);
mlir::FailureOr<KernelTiles> emitSerialKernel(KernelEmitter &kernel);

/// Whether a kernel kind can do the region: see the CPU's of the same names.
bool isRowKernel(KernelEmitter &kernel);
bool isColumnKernel(KernelEmitter &kernel);
bool isTransposeKernel(KernelEmitter &kernel);
bool isContractionKernel(KernelEmitter &kernel);
bool isSerialKernel(KernelEmitter &kernel);

} // namespace weft::codegen::gpu

#endif
