//===- Creation.cpp - Ops that make a tensor from nothing ------------------------------------------===//

#include "dialects/Graph/Creation.h"

#define GET_OP_CLASSES
#include "dialects/Graph/Creation.cpp.inc"

using namespace mlir;

namespace weft::graph {

void GraphDialect::registerCreationOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/Creation.cpp.inc"
      >();
}

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange,
                                           DictionaryAttr attributes, OpaqueProperties properties, RegionRange,
                                           SmallVectorImpl<Type> &types) {
  auto value = properties ? properties.as<Properties *>()->value : attributes.getAs<ElementsAttr>("value");
  if (!value || !isa<RankedTensorType>(value.getType()))
    return emitOptionalError(location, "'weft.constant' op constant_c1: expected the value of a ranked tensor");
  if (!isa<DenseElementsAttr>(value))
    return emitOptionalError(location, "'weft.constant' op constant_c2: expected a dense value");
  types.push_back(value.getType());
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult IotaOp::verify() {
  int64_t rank = tensorType(getOutput()).getRank(), dimension = getIotaDimension();
  if (dimension < 0 || dimension >= rank)
    return emitOpError("iota_c1: expected a dimension in [0, ") << rank << "), got " << dimension;
  return success();
}

} // namespace weft::graph
