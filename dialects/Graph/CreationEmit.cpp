//===- CreationEmit.cpp - Scalar emission of constant and iota ----------------------------------------===//

#include "dialects/Graph/Creation.h"
#include "dialects/Graph/Emission.h"

using namespace mlir;

namespace weft::graph {

FailureOr<Value> ConstantOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  return elements.constant(getValue(), indices);
}

FailureOr<Value> IotaOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  Type i64 = elements.builder.getI64Type();
  Value position = arith::IndexCastOp::create(elements.builder, elements.location, i64, indices[getIotaDimension()]);
  return elements.scalars().convert(position, i64, elementType(getOutput()));
}

} // namespace weft::graph
