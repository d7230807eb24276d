//===- Patterns.h - The pattern families of the Simplify stage, and what they share -------------------===//

#ifndef WEFT_LIB_SIMPLIFY_PATTERNS_H
#define WEFT_LIB_SIMPLIFY_PATTERNS_H

#include "dialects/Graph/GraphDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace weft::simplify {

// One function a family; each is defined in the file of that name.
void populateElementwisePatterns(mlir::RewritePatternSet &patterns);
void populateConversionPatterns(mlir::RewritePatternSet &patterns);
void populateReshapeTransposePatterns(mlir::RewritePatternSet &patterns);
void populateBroadcastPatterns(mlir::RewritePatternSet &patterns);
void populateSliceConcatenatePatterns(mlir::RewritePatternSet &patterns);
void populatePadPatterns(mlir::RewritePatternSet &patterns);
void populateReductionPatterns(mlir::RewritePatternSet &patterns);
void populateControlFlowPatterns(mlir::RewritePatternSet &patterns);

/// The constant behind a value all of whose elements are equal, seen through broadcasts, reshapes and transposes; null
/// where the value is not such or has no elements.
mlir::DenseElementsAttr matchSplat(mlir::Value value);

/// A value of `type` all of whose elements are `element` (a FloatAttr or IntegerAttr): a constant, or the broadcast of
/// one where a size is symbolic.
mlir::Value makeSplat(mlir::OpBuilder &builder, mlir::Location location, mlir::RankedTensorType type,
                      mlir::Attribute element);

/// Whether the op computes each element from the elements at the same index, without regions.
bool isElementwise(mlir::Operation *op);

/// The op of the same kind and attributes on other operands. Its first result gets `resultType`.
mlir::Operation *cloneWithOperands(mlir::OpBuilder &builder, mlir::Operation *op, mlir::ValueRange operands,
                                   mlir::Type resultType);

/// Whether a float sum or product is taken, whose bits depend on the order of the elements.
bool dependsOnOrder(graph::ReductionKind kind, mlir::Type elementType);

inline bool isOne(const graph::Dim &dim) { return dim.isConstant() && dim.getConstant() == 1; }

} // namespace weft::simplify

#endif
