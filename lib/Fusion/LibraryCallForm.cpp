//===- LibraryCallForm.cpp - What the region of a library call may hold --------------------------------===//

#include "lib/Fusion/LibraryCallForm.h"
#include "lib/Fusion/Regions.h"

using namespace mlir;

namespace weft::fusion {

using namespace weft::graph;

bool haveSameDims(Type a, Type b) {
  auto first = cast<RankedTensorType>(a), second = cast<RankedTensorType>(b);
  return first.getShape() == second.getShape() && first.getEncoding() == second.getEncoding();
}

int64_t columnDimension(Operation *hero) {
  if (auto convolution = dyn_cast<ConvolutionOp>(hero))
    return convolution.getDimensionNumbers().getOutputFeatureDimension();
  return tensorType(hero->getResult(0)).getRank() - 1;
}

bool isEpilogueOperand(Value operand, Operation *hero) {
  Operation *definition = operand.getDefiningOp();
  if (!definition)
    return true;
  if (isRematerialized(definition))
    return isRepeatedElement(definition);
  auto broadcast = dyn_cast<BroadcastInDimOp>(definition);
  if (!broadcast)
    return true;
  RankedTensorType source = tensorType(broadcast.getOperand());
  int64_t column = columnDimension(hero);
  for (auto [dimension, target] : llvm::enumerate(broadcast.getBroadcastDimensions()))
    if (source.getDimSize(dimension) != 1 && target != column)
      return false;
  return true;
}

LogicalResult verifyLibraryCall(LibraryCallOp call) {
  Block &body = call.getBody().front();
  Operation *hero = nullptr;
  for (Operation &op : body.without_terminator())
    if (isa<DotGeneralOp, ConvolutionOp>(op))
      hero = &op;
  if (!hero)
    return call.emitOpError("fused_c4: expected a hero in the region");
  if (call->getNumResults() != 1 || !haveSameDims(call.getResult(0).getType(), hero->getResult(0).getType()))
    return call.emitOpError("fused_c4: expected one result of the hero's sizes");
  for (Value operand : hero->getOperands())
    if (!isa<BlockArgument>(operand))
      return hero->emitOpError(
          "fused_c4: expected the operands of the hero of a library call to be arguments of the region");
  for (Operation &op : body.without_terminator()) {
    if (&op == hero || isRepeatedElement(&op) || isa<BroadcastInDimOp>(op))
      continue;
    auto role = dyn_cast<FusibilityInterface>(op);
    if (!role || role.getFusionRole() != FusionRole::Elementwise ||
        !haveSameDims(op.getResult(0).getType(), hero->getResult(0).getType()))
      return op.emitOpError("fused_c4: the epilogue of a library call holds only elementwise ops on the hero's sizes");
    for (Value operand : op.getOperands())
      if (!isEpilogueOperand(operand, hero))
        return op.emitOpError("fused_c4: operand of type ")
               << operand.getType() << " repeats along other dimensions than the columns";
  }
  return success();
}

} // namespace weft::fusion
