//===- StructureEmit.cpp - Scalar emission of the ops of this family ---===//

#include "dialects/Graph/Structure.h"

using namespace mlir;

namespace weft::graph {

FailureOr<Value> CompositeOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> FusionOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

FailureOr<Value> LibraryCallOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) {
  return failure();
}

} // namespace weft::graph
