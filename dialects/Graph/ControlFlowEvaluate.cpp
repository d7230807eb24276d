//===- ControlFlowEvaluate.cpp - Values of the ops of this family, from their definitions ---===//

#include "dialects/Graph/ControlFlow.h"

using namespace mlir;

namespace weft::graph {

LogicalResult IfOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                             EvaluationContext &context) {
  return failure();
}

LogicalResult WhileOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                EvaluationContext &context) {
  return failure();
}

} // namespace weft::graph
