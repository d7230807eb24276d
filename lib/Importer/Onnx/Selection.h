//===- Selection.h - Choosing elements by what data say ------------------------------------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_SELECTION_H
#define WEFT_LIB_IMPORTER_ONNX_SELECTION_H

#include "lib/Importer/Onnx/Builder.h"

namespace weft::importer {

/// The positions of the true elements of a vector, ascending, as i64. Their number is a constant where the vector is,
/// else a size that data decide, called `name`.
mlir::Value truePositions(Builder &b, mlir::Value mask, llvm::StringRef name);

/// The first `count` (one integer) elements along a dimension; `count` lies between 0 and the dimension's size.
mlir::Value takeFirst(Builder &b, mlir::Value x, int64_t dimension, mlir::Value count, llvm::StringRef name);

/// The running sum along a dimension, or with `exclusive` of the elements before each.
mlir::Value runningSum(Builder &b, mlir::Value x, int64_t dimension, bool exclusive);

} // namespace weft::importer

#endif
