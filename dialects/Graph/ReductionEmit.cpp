//===- ReductionEmit.cpp - Scalar emission of the ops of this family ---===//

#include "dialects/Graph/Reduction.h"

using namespace mlir;

namespace weft::graph {

FailureOr<Value> ReduceOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> ArgReduceOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> ReduceWindowOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> CumulativeOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

} // namespace weft::graph
