//===- Frozen.cpp - Which values depend on nothing but frozen parameters and constants --------------------===//

#include "lib/Layout/Frozen.h"
#include "dialects/Graph/Graph.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::layout {

bool isFrozenArgument(func::FuncOp function, unsigned argument) {
  if (function.getArgAttr(argument, GraphDialect::kPreparedIndex))
    return true;
  return function.getArgAttr(argument, GraphDialect::kParamName) && !function.getArgAttr(argument, kTrainable);
}

bool FrozenValues::isMovable(Operation *op) {
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  // A region that uses values from outside would have to take them along.
  bool closed = op->getNumRegions() == 0 || op->hasTrait<OpTrait::IsIsolatedFromAbove>();
  return op->getNumResults() > 0 && closed && !op->hasTrait<OpTrait::IsTerminator>() && isMemoryEffectFree(op) &&
         llvm::all_of(op->getResultTypes(), isStatic) && llvm::all_of(op->getOperandTypes(), isStatic);
}

void FrozenValues::update(Operation *op) {
  if (isMovable(op) && llvm::all_of(op->getOperands(), [&](Value operand) { return contains(operand); }))
    for (Value result : op->getResults())
      values.insert(result);
}

FrozenValues::FrozenValues(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    if (isFrozenArgument(function, argument.getArgNumber()))
      values.insert(argument);
  // Pre-order: what is before a region and outside it is known in it. What is inside an isolated region is not looked
  // at: it moves with its op.
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == function)
      return WalkResult::advance();
    update(op);
    return op->hasTrait<OpTrait::IsIsolatedFromAbove>() ? WalkResult::skip() : WalkResult::advance();
  });
}

} // namespace weft::layout
