//===- OrderingEmit.cpp - Scalar emission of the ops of this family ---===//

#include "dialects/Graph/Ordering.h"

using namespace mlir;

namespace weft::graph {

FailureOr<Value> SortOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

FailureOr<Value> TopKOp::emitElement(ElementSource &elements, unsigned result, ValueRange indices) { return failure(); }

} // namespace weft::graph
