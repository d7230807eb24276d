//===- DataMovementEmit.cpp - Scalar emission of the ops of this family ---===//

#include "dialects/Graph/DataMovement.h"

using namespace mlir;

namespace weft::graph {

FailureOr<Value> BroadcastInDimOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> ReshapeOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> TransposeOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> SliceOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> PadOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> ConcatenateOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> ReverseOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> DynamicSliceOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> DynamicUpdateSliceOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> GatherOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> ScatterOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

} // namespace weft::graph
