//===- ContractionEmit.cpp - Scalar emission of the ops of this family ---===//

#include "dialects/Graph/Contraction.h"

using namespace mlir;

namespace weft::graph {

FailureOr<Value> DotGeneralOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> ConvolutionOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

} // namespace weft::graph
