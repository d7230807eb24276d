//===- Loops.h - Building conditionals and loops -------------------------------------------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_LOOPS_H
#define WEFT_LIB_IMPORTER_ONNX_LOOPS_H

#include "lib/Importer/Onnx/Builder.h"

namespace weft::importer {

using RegionBody = llvm::function_ref<mlir::FailureOr<llvm::SmallVector<mlir::Value>>(llvm::ArrayRef<mlir::Value>)>;

/// A while whose carried values start as `initial`. `condition` gives a scalar truth value, `body` the next values,
/// which must have the types of the initial ones. Fails after an error; fails silently, with `typesDiffer` set, where
/// the types do not stay and `typesDiffer` is given.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> buildWhile(Builder &b, llvm::ArrayRef<mlir::Value> initial,
                                                           RegionBody condition, RegionBody body,
                                                           bool *typesDiffer = nullptr);

/// `body` for index 0, 1, ... trips - 1 (an i64 scalar, its first argument; the carried values follow). Few trips are
/// unrolled, with constant indices.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> buildCounted(Builder &b, const graph::Dim &trips,
                                                             llvm::ArrayRef<mlir::Value> initial, RegionBody body);

/// Row `index` (an i64 scalar) of dimension `dimension`, which goes away.
mlir::Value readRow(Builder &b, mlir::Value x, mlir::Value index, int64_t dimension);
/// `x` with that row replaced.
mlir::Value writeRow(Builder &b, mlir::Value x, mlir::Value row, mlir::Value index, int64_t dimension);

} // namespace weft::importer

#endif
