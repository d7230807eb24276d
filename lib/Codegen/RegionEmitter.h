//===- RegionEmitter.h - Emits elements of the values in a fusion's region --------------------------===//

#ifndef WEFT_LIB_CODEGEN_REGIONEMITTER_H
#define WEFT_LIB_CODEGEN_REGIONEMITTER_H

#include "dialects/Graph/Emission.h"
#include "llvm/ADT/DenseMap.h"

namespace weft::codegen {

/// Walks from an element of a region's value to the elements it is computed from, and emits what it finds by the ops'
/// scalar emission. An element that is already there at the same indices, in an enclosing block, is used again. Code is
/// only ever appended: a block that has been left is not entered again.
///
/// What a kernel's arguments, sizes, constants and reductions look like is the target's business.
class RegionEmitter {
public:
  RegionEmitter(mlir::OpBuilder &builder, mlir::Location location) : builder(builder), location(location) {}
  virtual ~RegionEmitter() = default;

  /// Element `indices` of `tensor`, a value of the region. After a failure, reported as a diagnostic at the op, some
  /// value of the right type.
  mlir::Value get(mlir::Value tensor, mlir::ValueRange indices);
  /// Makes `element` known as that element.
  void define(mlir::Value tensor, mlir::ValueRange indices, mlir::Value element);
  /// From here on the last of an element's indices is its row-major position and the others are 0: for regions that
  /// `isLinear` accepts.
  void setLinear() { linear = true; }
  /// Whether an element could not be emitted.
  bool hasFailed() const { return failed; }
  void markFailed() { failed = true; }

  /// A size, as an `index`, from the values of the symbols.
  mlir::Value size(const graph::Dim &dim);
  llvm::SmallVector<mlir::Value> sizes(llvm::ArrayRef<graph::Dim> dims);
  graph::ScalarBuilder scalars() { return graph::ScalarBuilder(builder, location); }

  /// An element of a kernel argument.
  virtual mlir::Value loadArgument(mlir::BlockArgument argument, mlir::ValueRange indices) = 0;
  /// The value of a symbol, as an `index`.
  virtual mlir::Value symbol(mlir::StringAttr name) = 0;
  /// An element of a constant.
  virtual mlir::Value constant(mlir::ElementsAttr value, mlir::ValueRange indices) = 0;
  /// See ElementSource::reduce.
  virtual mlir::Value reduce(graph::ReductionKind kind, mlir::Type elementType, mlir::ValueRange extents,
                             llvm::function_ref<mlir::Value(mlir::ValueRange)> element) = 0;

  mlir::OpBuilder &builder;
  mlir::Location location;

protected:
  /// An element that the target holds somewhere; null where it does not. Asked before an op is emitted.
  virtual mlir::Value find(mlir::Value tensor, mlir::ValueRange indices) { return {}; }
  /// Told of each element of an op's result that has been emitted.
  virtual void emitted(mlir::Value tensor, mlir::ValueRange indices, mlir::Value element) {}

private:
  struct Entry {
    llvm::SmallVector<const void *, 4> key;
    mlir::Value element;
  };
  mlir::Value lookup(mlir::Value tensor, llvm::ArrayRef<const void *> key);
  bool isVisible(mlir::Value element) const;

  llvm::DenseMap<mlir::Value, llvm::SmallVector<Entry, 2>> known;
  bool failed = false, linear = false;
};

/// Whether two lists of indices are equal value by value, or the same constants.
bool areSameIndices(mlir::ValueRange lhs, mlir::ValueRange rhs);

} // namespace weft::codegen

#endif
