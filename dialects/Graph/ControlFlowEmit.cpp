//===- ControlFlowEmit.cpp - Scalar emission of control flow: never part of a kernel ---===//

#include "dialects/Graph/ControlFlow.h"
#include "dialects/Graph/Emission.h"

using namespace mlir;

namespace weft::graph {

FailureOr<Value> IfOp::emitElement(ElementSource &, unsigned, ValueRange) {
  return emitOpError("has no scalar emission; it cannot stand inside a kernel with other ops");
}

FailureOr<Value> WhileOp::emitElement(ElementSource &, unsigned, ValueRange) {
  return emitOpError("has no scalar emission; it cannot stand inside a kernel with other ops");
}

} // namespace weft::graph
