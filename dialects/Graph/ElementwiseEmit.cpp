//===- ElementwiseEmit.cpp - Scalar emission of the ops of this family ---===//

#include "dialects/Graph/Elementwise.h"

using namespace mlir;

namespace weft::graph {

FailureOr<Value> ExponentialOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> ExponentialMinusOneOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> LogOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> LogPlusOneOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> SqrtOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> RsqrtOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> CbrtOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> SineOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> CosineOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> TanOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> AsinOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> AcosOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> AtanOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> SinhOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> CoshOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> TanhOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> AsinhOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> AcoshOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> AtanhOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> LogisticOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> ErfOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> FloorOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> CeilOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> RoundNearestEvenOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> RoundNearestAfzOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> AbsOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> NegateOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> SignOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> PopcntOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> CountLeadingZerosOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> NotOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> AddOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> SubtractOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> MultiplyOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> DivideOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> RemainderOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> PowerOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> MaximumOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> MinimumOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> Atan2Op::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> AndOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> OrOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> XorOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> ShiftLeftOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> ShiftRightArithmeticOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> ShiftRightLogicalOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> IsFiniteOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> CompareOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> SelectOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> ClampOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> ConvertOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> BitcastConvertOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

} // namespace weft::graph
