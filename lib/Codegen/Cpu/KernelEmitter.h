//===- KernelEmitter.h - The frame of a CPU kernel: arguments, loads, stores, scratch, reductions ----===//

#ifndef WEFT_LIB_CODEGEN_CPU_KERNELEMITTER_H
#define WEFT_LIB_CODEGEN_CPU_KERNELEMITTER_H

#include "lib/Codegen/Cpu/CpuCodegen.h"
#include "lib/Codegen/IterationSpace.h"
#include "lib/Codegen/RegionEmitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace weft::codegen::cpu {

/// Elements combined at once by `KernelEmitter::reduceLanes`.
struct LaneReduction {
  graph::ReductionKind kind;
  mlir::Type elementType; // an accumulation type
};

/// Memory private to the kernel: on the stack or in the scratch buffer.
struct LocalMemory {
  mlir::Value pointer;
  mlir::Type elementType; // the type in memory
  mlir::LLVM::AliasScopeAttr scope;
};

/// Builds the function of one kernel. Created, it stands at the start of the function's body; `finish` ends it.
class KernelEmitter : public RegionEmitter {
public:
  KernelEmitter(mlir::OpBuilder &builder, mlir::ModuleOp module, llvm::StringRef name, mlir::Region &body,
                llvm::ArrayRef<std::string> symbolNames);

  mlir::Block &body() { return region.front(); }
  /// The values that the region yields.
  mlir::ValueRange results() { return yielded; }
  /// The first and one past the last tile of this call, as `index`.
  mlir::Value getBegin() const { return begin; }
  mlir::Value getEnd() const { return end; }
  mlir::Value index(int64_t value) { return scalars().index(value); }

  //===------------------------------------------------------------------===//
  // Elements of the buffers
  //===------------------------------------------------------------------===//

  mlir::Value loadArgument(mlir::BlockArgument argument, mlir::ValueRange indices) override;
  /// The element at a row-major position.
  mlir::Value loadAt(mlir::BlockArgument argument, mlir::Value position);
  void store(unsigned result, mlir::ValueRange indices, mlir::Value element);
  void storeAt(unsigned result, mlir::Value position, mlir::Value element);
  mlir::Value loadResultAt(unsigned result, mlir::Value position);
  /// The row-major position of an element of a tensor of this type.
  mlir::Value position(mlir::Type tensorType, mlir::ValueRange indices);
  mlir::Value resultPointer(unsigned result) { return pointers[region.getNumArguments() + result]; }

  mlir::Value symbol(mlir::StringAttr name) override;
  mlir::Value constant(mlir::ElementsAttr value, mlir::ValueRange indices) override;

  //===------------------------------------------------------------------===//
  // Memory of the kernel's own
  //===------------------------------------------------------------------===//

  LocalMemory allocateOnStack(mlir::Type elementType, int64_t count);
  LocalMemory allocateScratch(mlir::Type elementType, const graph::Dim &count);
  mlir::Value load(const LocalMemory &memory, mlir::Value position);
  void store(const LocalMemory &memory, mlir::Value position, mlir::Value element);
  graph::Dim getScratchBytes() const { return scratchBytes; }

  //===------------------------------------------------------------------===//
  // Loops and reductions
  //===------------------------------------------------------------------===//

  /// for (i = lower; i < upper; i += 1) body(i). `vectorize` marks it as one that LLVM should vectorize.
  void loop(mlir::Value lower, mlir::Value upper, llvm::function_ref<void(mlir::Value)> body, bool vectorize = false);
  /// A condition's branch without results.
  void branch(mlir::Value condition, llvm::function_ref<void()> body);

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

protected:
  mlir::Value find(mlir::Value tensor, mlir::ValueRange indices) override;
  void emitted(mlir::Value tensor, mlir::ValueRange indices, mlir::Value element) override;

public:
  /// A value of the region whose elements of the current row are kept for later passes over it.
  struct CachedRow {
    LocalMemory memory;
    bool isStored = false; // by the pass that is being emitted
    bool isFilled = false; // by an earlier pass
    // Of the pass that is being emitted: the loop's body, the position in the row, the indices of the element.
    mlir::Block *block = nullptr;
    mlir::Value position;
    llvm::SmallVector<mlir::Value> indices;
  };
  llvm::DenseMap<mlir::Value, CachedRow> cachedRows;
  /// Values of the region that stand in memory as a whole, row-major.
  llvm::DenseMap<mlir::Value, LocalMemory> materialized;

private:
  mlir::Value loadFrom(mlir::Value pointer, mlir::Type elementType, mlir::Value position,
                       mlir::LLVM::AliasScopeAttr scope, bool invariant);
  void storeTo(mlir::Value pointer, mlir::Type elementType, mlir::Value position, mlir::Value element,
               mlir::LLVM::AliasScopeAttr scope);
  void setScopes(mlir::Operation *access, mlir::LLVM::AliasScopeAttr scope);
  mlir::LLVM::AliasScopeAttr makeScope(llvm::StringRef name);
  mlir::Value address(mlir::Value pointer, mlir::Type memoryType, mlir::Value position);
  mlir::Value field(int64_t offset, mlir::Type type);

  mlir::ModuleOp module;
  mlir::Region &region;
  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::Value> yielded;
  llvm::ArrayRef<std::string> symbolNames;
  mlir::Value arguments, begin, end, scratch, symbols;
  llvm::SmallVector<mlir::Value> pointers;
  llvm::SmallVector<mlir::LLVM::AliasScopeAttr> bufferScopes;
  llvm::SmallVector<mlir::Attribute> allScopes;
  mlir::LLVM::AliasScopeDomainAttr domain;
  llvm::DenseMap<mlir::Attribute, mlir::Value> symbolValues, constantTables;
  mlir::Operation *prologueEnd = nullptr;
  graph::Dim scratchBytes;
  unsigned constantCount = 0;
};

/// The type of one element in memory: i1 takes a byte, sub-byte integers and 8-bit floats are bytes.
mlir::Type memoryType(mlir::Type elementType);
/// Elements a byte: 1, or 2 or 4 for packed integers.
int64_t elementsPerByte(mlir::Type elementType);

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

/// About how many simple operations an element of the region's values costs.
double costPerElement(mlir::Block &body);

} // namespace weft::codegen::cpu

#endif
