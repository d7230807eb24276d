//===- GraphDialect.cpp - Registration of the Graph dialect ---------------------------------------===//

#include "dialects/Graph/GraphDialect.h"
#include "dialects/Graph/Creation.h"
#include "dialects/Graph/Folding.h"

#include "dialects/Graph/GraphDialect.cpp.inc"

namespace weft::graph {

// Each family registers its own ops in its own file: one file that registers all of them takes three times as long to
// compile.
void GraphDialect::initialize() {
  registerAttributes();
  registerCreationOps();
  registerElementwiseOps();
  registerDataMovementOps();
  registerReductionOps();
  registerContractionOps();
  registerOrderingOps();
  registerControlFlowOps();
  registerStructureOps();
  addInterfaces<ConstantFolding>();
}

mlir::Operation *GraphDialect::materializeConstant(mlir::OpBuilder &builder, mlir::Attribute value, mlir::Type type,
                                                   mlir::Location location) {
  auto elements = mlir::dyn_cast<mlir::ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, location, elements);
}

} // namespace weft::graph
