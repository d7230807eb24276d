//===- OrderingEmit.cpp - Scalar emission of sort and top_k: not a function of single elements, code generation has
// kernels for them ---===//

#include "dialects/Graph/Emission.h"
#include "dialects/Graph/Ordering.h"

using namespace mlir;

namespace weft::graph {

FailureOr<Value> SortOp::emitElement(ElementSource &, unsigned, ValueRange) {
  return emitOpError("has no scalar emission; it cannot stand inside a kernel with other ops");
}

FailureOr<Value> TopKOp::emitElement(ElementSource &, unsigned, ValueRange) {
  return emitOpError("has no scalar emission; it cannot stand inside a kernel with other ops");
}

} // namespace weft::graph
