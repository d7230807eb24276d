//===- StructureEvaluate.cpp - Values of the grouping ops: those of their regions ------------------===//

#include "dialects/Graph/Structure.h"

using namespace mlir;

namespace weft::graph {

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
