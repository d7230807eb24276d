//===- KernelFrame.h - What the kernels of all targets share: buffers, constants, memory, loops -----===//

#ifndef WEFT_LIB_CODEGEN_KERNELFRAME_H
#define WEFT_LIB_CODEGEN_KERNELFRAME_H

#include "lib/Codegen/RegionEmitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace weft::codegen {

/// The numerics contract's order of a reduction: chunks, and lanes within them.
constexpr int64_t kReductionLanes = 128, kReductionChunk = 4096;

/// Whether the order of combining matters to the result.
bool dependsOnOrder(graph::ReductionKind kind, mlir::Type elementType);

/// The integer that a value is known to be.
std::optional<int64_t> knownIndex(mlir::Value value);

/// Memory of the kernel's own, of any address space.
struct LocalMemory {
  mlir::Value pointer;
  mlir::Type elementType; // the type in memory
  mlir::LLVM::AliasScopeAttr scope;
};

/// Builds the function of one kernel over its buffers. What the function's arguments are is the target's business.
class KernelFrame : public RegionEmitter {
public:
  mlir::Block &body() { return region.front(); }
  mlir::Region &getRegion() { return region; }
  /// The values that the region yields.
  mlir::ValueRange results() { return yielded; }
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

  mlir::Value load(const LocalMemory &memory, mlir::Value position);
  void store(const LocalMemory &memory, mlir::Value position, mlir::Value element);
  graph::Dim getScratchBytes() const { return scratchBytes; }

  //===------------------------------------------------------------------===//
  // Loops
  //===------------------------------------------------------------------===//

  /// for (i = lower; i < upper; i += step) body(i). `vectorize` marks it as one that LLVM should vectorize.
  void loop(mlir::Value lower, mlir::Value upper, llvm::function_ref<void(mlir::Value)> body, bool vectorize = false);
  void loop(mlir::Value lower, mlir::Value upper, mlir::Value step, llvm::function_ref<void(mlir::Value)> body,
            bool vectorize = false);
  /// A condition's branch without results.
  void branch(mlir::Value condition, llvm::function_ref<void()> body);

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

protected:
  KernelFrame(mlir::OpBuilder &builder, mlir::ModuleOp module, mlir::Region &body,
              llvm::ArrayRef<std::string> symbolNames);

  mlir::Value find(mlir::Value tensor, mlir::ValueRange indices) override;
  void emitted(mlir::Value tensor, mlir::ValueRange indices, mlir::Value element) override;

  /// The value of the symbol of that number, as an `index`; called once a symbol, at the end of the prologue.
  virtual mlir::Value symbolValue(unsigned number) = 0;
  /// The address space of tables of constants.
  virtual unsigned constantSpace() const { return 0; }

  /// Starts the function: names its alias scopes. The caller has set the builder to the start of its body.
  void start(mlir::func::FuncOp kernel);
  void addBuffer(mlir::Value pointer);
  /// Ends the prologue: what belongs into it later is put there.
  void endPrologue();
  /// Says of each access which scopes it does not alias: each buffer is apart from all others.
  void finishScopes();

  mlir::LLVM::AliasScopeAttr makeScope(llvm::StringRef name);
  mlir::Value address(mlir::Value pointer, mlir::Type memoryType, mlir::Value position);
  mlir::Value loadFrom(mlir::Value pointer, mlir::Type elementType, mlir::Value position,
                       mlir::LLVM::AliasScopeAttr scope, bool invariant);
  void storeTo(mlir::Value pointer, mlir::Type elementType, mlir::Value position, mlir::Value element,
               mlir::LLVM::AliasScopeAttr scope);
  void setScopes(mlir::Operation *access, mlir::LLVM::AliasScopeAttr scope);
  /// Adds room for `count` elements to the scratch memory; the offset in bytes.
  graph::Dim reserveScratch(mlir::Type elementType, const graph::Dim &count);

  mlir::ModuleOp module;
  mlir::Region &region;
  mlir::func::FuncOp function;
  llvm::ArrayRef<std::string> symbolNames;
  mlir::Operation *prologueEnd = nullptr;

private:
  llvm::SmallVector<mlir::Value> yielded;
  llvm::SmallVector<mlir::Value> pointers;
  llvm::SmallVector<mlir::LLVM::AliasScopeAttr> bufferScopes;
  llvm::SmallVector<mlir::Attribute> allScopes;
  mlir::LLVM::AliasScopeDomainAttr domain;
  llvm::DenseMap<mlir::Attribute, mlir::Value> symbolValues, constantTables;
  graph::Dim scratchBytes;
  unsigned constantCount = 0;
};

/// The type of one element in memory: i1 takes a byte, sub-byte integers and 8-bit floats are bytes.
mlir::Type memoryType(mlir::Type elementType);
/// Elements a byte: 1, or 2 or 4 for packed integers.
int64_t elementsPerByte(mlir::Type elementType);

/// About how many simple operations an element of the region's values costs.
double costPerElement(mlir::Block &body);

/// What two regions have in common that become the same code.
std::string makeSignature(graph::FusionKind kind, mlir::Region &body);

} // namespace weft::codegen

#endif
