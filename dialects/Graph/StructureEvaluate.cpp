//===- StructureEvaluate.cpp - Values of the ops of this family, from their definitions ---===//

#include "dialects/Graph/Structure.h"

using namespace mlir;

namespace weft::graph {

LogicalResult CompositeOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                    EvaluationContext &context) {
  return failure();
}

LogicalResult FusionOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                 EvaluationContext &context) {
  return failure();
}

LogicalResult LibraryCallOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                      EvaluationContext &context) {
  return failure();
}

} // namespace weft::graph
