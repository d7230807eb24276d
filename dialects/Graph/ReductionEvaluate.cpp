//===- ReductionEvaluate.cpp - Values of the ops of this family, from their definitions ---===//

#include "dialects/Graph/Reduction.h"

using namespace mlir;

namespace weft::graph {

LogicalResult ReduceOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                 EvaluationContext &context) {
  return failure();
}

LogicalResult ArgReduceOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                    EvaluationContext &context) {
  return failure();
}

LogicalResult ReduceWindowOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                       EvaluationContext &context) {
  return failure();
}

LogicalResult CumulativeOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                     EvaluationContext &context) {
  return failure();
}

} // namespace weft::graph
