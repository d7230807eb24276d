//===- SerialOps.h - sort, top_k, cumulative and scatter: what kernels of all targets share -----------===//

#ifndef WEFT_LIB_CODEGEN_SERIALOPS_H
#define WEFT_LIB_CODEGEN_SERIALOPS_H

#include "dialects/Graph/Graph.h"
#include "lib/Codegen/RegionEmitter.h"

namespace weft::codegen {

/// Ops that work along one dimension, line by line.
bool isLineOp(mlir::Operation *op);
/// Ops that are not computed element by element.
bool isSerialOp(mlir::Operation *op);
int64_t lineDimension(mlir::Operation *op);

/// Whether `a` comes strictly before `b` in a sorted line: NaNs are the largest, and equal.
mlir::Value emitComesBefore(graph::ScalarBuilder scalars, mlir::Type type, mlir::Value a, mlir::Value b,
                            bool descending);
/// The type in which the keys of a line are kept: sub-byte integers get a byte each, so that keys have addresses.
mlir::Type sortKeyType(mlir::Type elementType);

/// Where an update goes.
struct ScatterTarget {
  llvm::SmallVector<mlir::Value> place;
  mlir::Value inside; // whether its window lies inside; null where it always does
};
ScatterTarget emitScatterTarget(RegionEmitter &region, graph::ScatterOp op, llvm::ArrayRef<mlir::Value> update);
/// The value of a place after an update.
mlir::Value emitScatterCombine(graph::ScalarBuilder scalars, graph::ScatterOp op, mlir::Value old, mlir::Value update);

} // namespace weft::codegen

#endif
