//===- StructureEvaluate.cpp - Values of the grouping ops: those of their regions ------------------===//

#include "dialects/Graph/Structure.h"

using namespace mlir;

namespace weft::graph {

LogicalResult BindDimOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &,
                                  EvaluationContext &context) {
  int64_t count = operands[0].getInteger(0);
  // Beyond int64 is beyond any bound.
  if (isUnsignedElement(operands[0].getElementType()) && count < 0)
    count = std::numeric_limits<int64_t>::max();
  return context.bindSymbol(*this, getSymbol(), count);
}

LogicalResult CompositeOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                    EvaluationContext &context) {
  return context.evaluateRegion(getBody(), operands, results);
}

LogicalResult FusionOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                 EvaluationContext &context) {
  return context.evaluateRegion(getBody(), operands, results);
}

LogicalResult LibraryCallOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                      EvaluationContext &context) {
  return context.evaluateRegion(getBody(), operands, results);
}

} // namespace weft::graph
