//===- ControlFlow.cpp - Branches and loops, and how their regions end --------------------------------===//

#include "dialects/Graph/ControlFlow.h"

#define GET_OP_CLASSES
#include "dialects/Graph/ControlFlow.cpp.inc"

using namespace mlir;

namespace weft::graph {

void GraphDialect::registerControlFlowOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/ControlFlow.cpp.inc"
      >();
}

namespace {

LogicalResult verifyYields(Operation *op, Region &region, TypeRange expected, StringRef rule) {
  auto yield = dyn_cast<YieldOp>(region.front().back());
  if (!yield)
    return op->emitOpError(rule) << ": expected the region to end with weft.yield";
  if (yield.getValues().getTypes() != expected) {
    InFlightDiagnostic diagnostic = op->emitOpError(rule) << ": expected the region to yield (" << expected << ")";
    diagnostic.attachNote(yield.getLoc()) << "it yields (" << yield.getValues().getTypes() << ")";
    return diagnostic;
  }
  return success();
}

bool isScalarBool(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0 && isBoolElement(tensor.getElementType());
}

} // namespace

LogicalResult IfOp::verify() {
  if (!isScalarBool(getPred().getType()))
    return emitOpError("if_c1: expected a scalar truth value, got ") << getPred().getType();
  if (failed(verifyYields(*this, getTrueBranch(), getResultTypes(), "if_c2")))
    return failure();
  return verifyYields(*this, getFalseBranch(), getResultTypes(), "if_c2");
}

FusionRole IfOp::getFusionRole() { return FusionRole::Opaque; }

LogicalResult WhileOp::verify() {
  TypeRange types = getOperandTypes();
  for (Region *region : {&getCondition(), &getBody()})
    if (TypeRange(region->getArgumentTypes()) != types)
      return emitOpError("while_c1: expected region arguments of types (") << types << ")";
  if (TypeRange(getResultTypes()) != types)
    return emitOpError("while_c1: expected results of types (") << types << ")";
  auto yield = dyn_cast<YieldOp>(getCondition().front().back());
  if (!yield || yield.getValues().size() != 1 || !isScalarBool(yield.getValues()[0].getType()))
    return emitOpError("while_c2: expected the condition to yield one scalar truth value");
  return verifyYields(*this, getBody(), types, "while_c2");
}

FusionRole WhileOp::getFusionRole() { return FusionRole::Opaque; }

} // namespace weft::graph
