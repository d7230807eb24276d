//===- CreationEmit.cpp - Scalar emission of the ops of this family ---===//

#include "dialects/Graph/Creation.h"

using namespace mlir;

namespace weft::graph {

FailureOr<Value> ConstantOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> IotaOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

} // namespace weft::graph
