//===- Patterns.cpp - What the pattern families of the Simplify stage share -----------------------------===//

#include "lib/Simplify/Patterns.h"
#include "dialects/Graph/Creation.h"
#include "dialects/Graph/DataMovement.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::simplify {

DenseElementsAttr matchSplat(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<BroadcastInDimOp, ReshapeOp, TransposeOp>(op))
      break;
    value = op->getOperand(0);
  }
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || elements.getNumElements() == 0 || !elements.isSplat())
    return {};
  return elements;
}

Value makeSplat(OpBuilder &builder, Location location, RankedTensorType type, Attribute element) {
  if (type.hasStaticShape())
    return ConstantOp::create(builder, location, DenseElementsAttr::get(type, element));
  auto scalarType = RankedTensorType::get({}, type.getElementType());
  Value scalar = ConstantOp::create(builder, location, DenseElementsAttr::get(scalarType, element));
  return BroadcastInDimOp::create(builder, location, type, scalar, ArrayRef<int64_t>());
}

bool isElementwise(Operation *op) {
  auto fusible = dyn_cast<FusibilityInterface>(op);
  return fusible && fusible.getFusionRole() == FusionRole::Elementwise && op->getNumRegions() == 0 &&
         op->getNumResults() == 1 && op->getNumOperands() > 0;
}

Operation *cloneWithOperands(OpBuilder &builder, Operation *op, ValueRange operands, Type resultType) {
  OperationState state(op->getLoc(), op->getName(), operands, resultType, op->getAttrs());
  return builder.create(state);
}

bool dependsOnOrder(ReductionKind kind, Type elementType) {
  return (kind == ReductionKind::sum || kind == ReductionKind::product) && isFloatElement(elementType);
}

} // namespace weft::simplify
