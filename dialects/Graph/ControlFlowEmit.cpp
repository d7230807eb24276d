//===- ControlFlowEmit.cpp - Scalar emission of the ops of this family ---===//

#include "dialects/Graph/ControlFlow.h"

using namespace mlir;

namespace weft::graph {

FailureOr<Value> IfOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> WhileOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

} // namespace weft::graph
