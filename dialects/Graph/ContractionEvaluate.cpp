//===- ContractionEvaluate.cpp - Values of the ops of this family, from their definitions ---===//

#include "dialects/Graph/Contraction.h"

using namespace mlir;

namespace weft::graph {

LogicalResult DotGeneralOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                     EvaluationContext &context) {
  return failure();
}

LogicalResult ConvolutionOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                      EvaluationContext &context) {
  return failure();
}

} // namespace weft::graph
