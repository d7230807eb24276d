//===- Ordering.cpp - Ops that put elements in order --------------------------------------------------===//

#include "dialects/Graph/Ordering.h"
#include <cmath>

#define GET_OP_CLASSES
#include "dialects/Graph/Ordering.cpp.inc"

using namespace mlir;

namespace weft::graph {

void GraphDialect::registerOrderingOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/Ordering.cpp.inc"
      >();
}

LogicalResult SortOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                       DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                       SmallVectorImpl<Type> &types) {
  Adaptor op(operands, attributes, properties, regions);
  if (operands.empty())
    return emitOptionalError(location, "'weft.sort' op sort_c1: expected at least one operand");
  SmallVector<Dim> dims = getDims(operands[0].getType());
  for (Value operand : operands)
    if (getDims(operand.getType()) != dims)
      return emitOptionalError(location, "'weft.sort' op sort_c1: expected operands of one shape, got ",
                               operands[0].getType(), " and ", operand.getType());
  int64_t dimension = op.getDimension();
  if (dimension < 0 || dimension >= static_cast<int64_t>(dims.size()))
    return emitOptionalError(location, "'weft.sort' op sort_c2: expected a dimension in [0, ", dims.size(), "), got ",
                             dimension);
  llvm::append_range(types, operands.getTypes());
  return success();
}

FusionRole SortOp::getFusionRole() { return FusionRole::Generic; }
Cost SortOp::getCost() {
  Cost cost = defaultCost(getOperation());
  cost.operations *= std::log2(cost.operations + 2);
  return cost;
}

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                                       DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                       SmallVectorImpl<Type> &types) {
  Adaptor op(operands, attributes, properties, regions);
  RankedTensorType type = tensorType(op.getOperand());
  int64_t dimension = op.getDimension(), k = op.getK();
  if (dimension < 0 || dimension >= type.getRank())
    return emitOptionalError(location, "'weft.top_k' op top_k_c1: expected a dimension in [0, ", type.getRank(),
                             "), got ", dimension);
  if (k < 0 || (!type.isDynamicDim(dimension) && k > type.getDimSize(dimension)))
    return emitOptionalError(location, "'weft.top_k' op top_k_c2: k = ", k, " is not in [0, ",
                             type.getDimSize(dimension), "]");
  if (!isIntegerElement(op.getIndexType()))
    return emitOptionalError(location, "'weft.top_k' op top_k_c3: expected an integer type, got ", op.getIndexType());
  SmallVector<Dim> dims = getDims(type);
  dims[dimension] = Dim::constant(context, k);
  types.push_back(makeTensorType(dims, type.getElementType()));
  types.push_back(makeTensorType(dims, op.getIndexType()));
  return success();
}

FusionRole TopKOp::getFusionRole() { return FusionRole::Generic; }
Cost TopKOp::getCost() {
  Cost cost = defaultCost(getOperation());
  cost.operations = upperBoundElements(getOperand().getType(), getOperation()) * std::log2(getK() + 2.0);
  return cost;
}

} // namespace weft::graph
