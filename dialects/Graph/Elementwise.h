//===- Elementwise.h - Ops that compute each element from the elements at its index
//---------------------------------------------===//

#ifndef WEFT_DIALECTS_GRAPH_ELEMENTWISE_H
#define WEFT_DIALECTS_GRAPH_ELEMENTWISE_H

#include "dialects/Graph/GraphInterfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace weft::graph {

/// The result type of an elementwise op: the operands' shape; the element type of the first operand, except that
/// compare and is_finite give i1 and select the type of its second operand. Emits `elementwise_c1` and
/// `elementwise_c2`.
llvm::LogicalResult inferElementwiseType(llvm::StringRef opName, std::optional<mlir::Location> location,
                                         mlir::ValueRange operands, llvm::SmallVectorImpl<mlir::Type> &types);

/// The left operand where the right one is a constant that changes nothing: x + -0.0, x * 1, x - 0, x / 1, integer x +
/// 0.
mlir::OpFoldResult foldIdentityElement(mlir::Operation *op, mlir::Attribute rhs);

} // namespace weft::graph

#define GET_OP_CLASSES
#include "dialects/Graph/Elementwise.h.inc"

#endif
