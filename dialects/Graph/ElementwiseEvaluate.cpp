//===- ElementwiseEvaluate.cpp - Values of the ops of this family, from their definitions ---===//

#include "dialects/Graph/Elementwise.h"

using namespace mlir;

namespace weft::graph {

LogicalResult ExponentialOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                      EvaluationContext &context) {
  return failure();
}

LogicalResult ExponentialMinusOneOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                              EvaluationContext &context) {
  return failure();
}

LogicalResult LogOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                              EvaluationContext &context) {
  return failure();
}

LogicalResult LogPlusOneOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                     EvaluationContext &context) {
  return failure();
}

LogicalResult SqrtOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &context) {
  return failure();
}

LogicalResult RsqrtOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                EvaluationContext &context) {
  return failure();
}

LogicalResult CbrtOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &context) {
  return failure();
}

LogicalResult SineOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &context) {
  return failure();
}

LogicalResult CosineOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                 EvaluationContext &context) {
  return failure();
}

LogicalResult TanOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                              EvaluationContext &context) {
  return failure();
}

LogicalResult AsinOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &context) {
  return failure();
}

LogicalResult AcosOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &context) {
  return failure();
}

LogicalResult AtanOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &context) {
  return failure();
}

LogicalResult SinhOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &context) {
  return failure();
}

LogicalResult CoshOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &context) {
  return failure();
}

LogicalResult TanhOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &context) {
  return failure();
}

LogicalResult AsinhOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                EvaluationContext &context) {
  return failure();
}

LogicalResult AcoshOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                EvaluationContext &context) {
  return failure();
}

LogicalResult AtanhOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                EvaluationContext &context) {
  return failure();
}

LogicalResult LogisticOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                   EvaluationContext &context) {
  return failure();
}

LogicalResult ErfOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                              EvaluationContext &context) {
  return failure();
}

LogicalResult FloorOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                EvaluationContext &context) {
  return failure();
}

LogicalResult CeilOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &context) {
  return failure();
}

LogicalResult RoundNearestEvenOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                           EvaluationContext &context) {
  return failure();
}

LogicalResult RoundNearestAfzOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                          EvaluationContext &context) {
  return failure();
}

LogicalResult AbsOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                              EvaluationContext &context) {
  return failure();
}

LogicalResult NegateOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                 EvaluationContext &context) {
  return failure();
}

LogicalResult SignOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &context) {
  return failure();
}

LogicalResult PopcntOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                 EvaluationContext &context) {
  return failure();
}

LogicalResult CountLeadingZerosOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                            EvaluationContext &context) {
  return failure();
}

LogicalResult NotOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                              EvaluationContext &context) {
  return failure();
}

LogicalResult AddOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                              EvaluationContext &context) {
  return failure();
}

LogicalResult SubtractOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                   EvaluationContext &context) {
  return failure();
}

LogicalResult MultiplyOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                   EvaluationContext &context) {
  return failure();
}

LogicalResult DivideOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                 EvaluationContext &context) {
  return failure();
}

LogicalResult RemainderOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                    EvaluationContext &context) {
  return failure();
}

LogicalResult PowerOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                EvaluationContext &context) {
  return failure();
}

LogicalResult MaximumOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                  EvaluationContext &context) {
  return failure();
}

LogicalResult MinimumOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                  EvaluationContext &context) {
  return failure();
}

LogicalResult Atan2Op::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                EvaluationContext &context) {
  return failure();
}

LogicalResult AndOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                              EvaluationContext &context) {
  return failure();
}

LogicalResult OrOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                             EvaluationContext &context) {
  return failure();
}

LogicalResult XorOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                              EvaluationContext &context) {
  return failure();
}

LogicalResult ShiftLeftOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                    EvaluationContext &context) {
  return failure();
}

LogicalResult ShiftRightArithmeticOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                               EvaluationContext &context) {
  return failure();
}

LogicalResult ShiftRightLogicalOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                            EvaluationContext &context) {
  return failure();
}

LogicalResult IsFiniteOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                   EvaluationContext &context) {
  return failure();
}

LogicalResult CompareOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                  EvaluationContext &context) {
  return failure();
}

LogicalResult SelectOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                 EvaluationContext &context) {
  return failure();
}

LogicalResult ClampOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                EvaluationContext &context) {
  return failure();
}

LogicalResult ConvertOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                  EvaluationContext &context) {
  return failure();
}

LogicalResult BitcastConvertOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                         EvaluationContext &context) {
  return failure();
}

} // namespace weft::graph
