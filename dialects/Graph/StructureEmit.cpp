//===- StructureEmit.cpp - Scalar emission of ops that group others: code generation goes into their regions ---===//

#include "dialects/Graph/Emission.h"
#include "dialects/Graph/Structure.h"

using namespace mlir;

namespace weft::graph {

FailureOr<Value> BindDimOp::emitElement(ElementSource &, unsigned, ValueRange) {
  return emitOpError("has no elements; it cannot stand inside a kernel");
}

FailureOr<Value> CompositeOp::emitElement(ElementSource &, unsigned, ValueRange) {
  return emitOpError("has no scalar emission; it cannot stand inside a kernel with other ops");
}

FailureOr<Value> FusionOp::emitElement(ElementSource &, unsigned, ValueRange) {
  return emitOpError("has no scalar emission; it cannot stand inside a kernel with other ops");
}

FailureOr<Value> LibraryCallOp::emitElement(ElementSource &, unsigned, ValueRange) {
  return emitOpError("has no scalar emission; it cannot stand inside a kernel with other ops");
}

} // namespace weft::graph
