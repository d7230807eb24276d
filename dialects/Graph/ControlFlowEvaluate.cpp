//===- ControlFlowEvaluate.cpp - Values of branches and loops, from their definitions --------------===//

#include "dialects/Graph/ControlFlow.h"

using namespace mlir;

namespace weft::graph {

LogicalResult IfOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                             EvaluationContext &context) {
  Region &taken = operands[0].getInteger(0) ? getTrueBranch() : getFalseBranch();
  return context.evaluateRegion(taken, {}, results);
}

LogicalResult WhileOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                EvaluationContext &context) {
  SmallVector<TensorValue> carried(operands);
  while (true) {
    SmallVector<TensorValue> condition, next;
    if (failed(context.evaluateRegion(getCondition(), carried, condition)))
      return failure();
    if (!condition[0].getInteger(0))
      break;
    if (failed(context.evaluateRegion(getBody(), carried, next)))
      return failure();
    carried = std::move(next);
  }
  results.append(carried.begin(), carried.end());
  return success();
}

} // namespace weft::graph
