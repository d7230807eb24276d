//===- DataMovementEvaluate.cpp - Values of the ops of this family, from their definitions ---===//

#include "dialects/Graph/DataMovement.h"

using namespace mlir;

namespace weft::graph {

LogicalResult BroadcastInDimOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                         EvaluationContext &context) {
  return failure();
}

LogicalResult ReshapeOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                  EvaluationContext &context) {
  return failure();
}

LogicalResult TransposeOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                    EvaluationContext &context) {
  return failure();
}

LogicalResult SliceOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                EvaluationContext &context) {
  return failure();
}

LogicalResult PadOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                              EvaluationContext &context) {
  return failure();
}

LogicalResult ConcatenateOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                      EvaluationContext &context) {
  return failure();
}

LogicalResult ReverseOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                  EvaluationContext &context) {
  return failure();
}

LogicalResult DynamicSliceOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                       EvaluationContext &context) {
  return failure();
}

LogicalResult DynamicUpdateSliceOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                             EvaluationContext &context) {
  return failure();
}

LogicalResult GatherOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                 EvaluationContext &context) {
  return failure();
}

LogicalResult ScatterOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                  EvaluationContext &context) {
  return failure();
}

} // namespace weft::graph
