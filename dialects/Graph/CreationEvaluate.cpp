//===- CreationEvaluate.cpp - Values of the ops of this family, from their definitions ---===//

#include "dialects/Graph/Creation.h"

using namespace mlir;

namespace weft::graph {

LogicalResult ConstantOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                   EvaluationContext &context) {
  return failure();
}

LogicalResult IotaOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &context) {
  return failure();
}

} // namespace weft::graph
