//===- LibraryCallForm.h - What the region of a library call may hold ----------------------------------===//

#ifndef WEFT_LIB_FUSION_LIBRARYCALLFORM_H
#define WEFT_LIB_FUSION_LIBRARYCALLFORM_H

#include "dialects/Graph/Graph.h"

namespace weft::fusion {

/// Whether the two tensor types have the same sizes, the element types aside.
bool haveSameDims(mlir::Type a, mlir::Type b);

/// The dimension of the hero's result along which a library adds a bias: the last one of a dot_general, the features of
/// a convolution; -1 where the result is a scalar.
int64_t columnDimension(mlir::Operation *hero);

/// Whether an elementwise op of the epilogue may take `operand`, a value of the result's sizes that does not depend on
/// the hero: a constant of one repeated element, a scalar or a vector along the columns that is broadcast, or a whole
/// tensor. A tensor that repeats in another way would have to be stored only to be read again.
bool isEpilogueOperand(mlir::Value operand, mlir::Operation *hero);

/// Checks the region of a library call: one hero on arguments, then an epilogue. Emits fused_c4.
mlir::LogicalResult verifyLibraryCall(graph::LibraryCallOp call);

} // namespace weft::fusion

#endif
