//===- OrderingEvaluate.cpp - Values of the ops of this family, from their definitions ---===//

#include "dialects/Graph/Ordering.h"

using namespace mlir;

namespace weft::graph {

LogicalResult SortOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &context) {
  return failure();
}

LogicalResult TopKOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &context) {
  return failure();
}

} // namespace weft::graph
