//===- Structure.cpp - Ops that group others: composites, fusions, library calls ----------------------===//

#include "dialects/Graph/Structure.h"
#include "dialects/Graph/Contraction.h"
#include "dialects/Graph/ControlFlow.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#define GET_OP_CLASSES
#include "dialects/Graph/Structure.cpp.inc"

using namespace mlir;

namespace weft::graph {

void GraphDialect::registerStructureOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/Structure.cpp.inc"
      >();
}

namespace {

/// region_c1 and region_c2.
LogicalResult verifyRegion(Operation *op, Region &region) {
  if (TypeRange(region.getArgumentTypes()) != TypeRange(op->getOperandTypes()))
    return op->emitOpError("region_c1: expected region arguments of types (") << op->getOperandTypes() << ")";
  auto yield = dyn_cast<YieldOp>(region.front().back());
  if (!yield)
    return op->emitOpError("region_c2: expected the region to end with weft.yield");
  if (TypeRange(yield.getValues().getTypes()) != TypeRange(op->getResultTypes())) {
    InFlightDiagnostic diagnostic = op->emitOpError("region_c2: expected the region to yield (")
                                    << op->getResultTypes() << ")";
    diagnostic.attachNote(yield.getLoc()) << "it yields (" << yield.getValues().getTypes() << ")";
    return diagnostic;
  }
  return success();
}

/// The operations of the region, the bytes of operands and results: what is inside stays in registers.
Cost regionCost(Operation *op, Region &region) {
  Cost cost = defaultCost(op);
  cost.operations = 0;
  for (Operation &inner : region.front())
    if (auto costed = dyn_cast<CostInterface>(inner))
      cost.operations += costed.getCost().operations;
  return cost;
}

} // namespace

LogicalResult DimOp::verify() {
  int64_t min = static_cast<int64_t>(getMin()), max = static_cast<int64_t>(getMax());
  if (min < 0 || min > max)
    return emitOpError("dim_c1: expected 0 <= min <= max, got [") << min << ", " << max << "]";
  if (auto module = dyn_cast_or_null<ModuleOp>((*this)->getParentOp()))
    for (DimOp other : module.getOps<DimOp>())
      if (other != *this && other.getName() == getName() && other->isBeforeInBlock(*this)) {
        InFlightDiagnostic diagnostic = emitOpError("dim_c2: \"") << getName() << "\" is declared twice";
        diagnostic.attachNote(other.getLoc()) << "first declared here";
        return diagnostic;
      }
  return success();
}

LogicalResult RequireOp::verify() {
  if (unsigned count = getSizes().getMap().getNumResults(); count != 2)
    return emitOpError("require_c1: expected 2 sizes, got ") << count;
  return success();
}
Dim RequireOp::getLeft() { return Dim(getSizes().getMap().getResult(0), getSizes().getSymbols()); }
Dim RequireOp::getRight() { return Dim(getSizes().getMap().getResult(1), getSizes().getSymbols()); }

LogicalResult BindDimOp::verify() {
  RankedTensorType type = tensorType(getCount());
  if (type.getRank() != 0 || type.getElementType().getIntOrFloatBitWidth() < 32)
    return emitOpError("bind_dim_c1: expected a scalar of 32 or 64 bits as the count, got ") << type;
  if (!getSymbolBounds(getSymbol(), *this))
    return emitOpError("bind_dim_c2: expected weft.dim to declare \"") << getSymbol() << "\"";
  auto function = (*this)->getParentOfType<FunctionOpInterface>();
  if (!function)
    return success();
  for (auto [index, argument] : llvm::enumerate(function.getArgumentTypes()))
    if (isa<RankedTensorType>(argument) && hasSymbol(argument, getSymbolAttr()))
      return emitOpError("bind_dim_c3: expected a symbol that data alone determine, but argument ")
             << index << " has \"" << getSymbol() << "\" in its type " << argument;
  return success();
}
FusionRole BindDimOp::getFusionRole() { return FusionRole::Opaque; }

LogicalResult CompositeOp::verify() { return verifyRegion(*this, getBody()); }
FusionRole CompositeOp::getFusionRole() { return FusionRole::Group; }
Cost CompositeOp::getCost() { return regionCost(*this, getBody()); }

LogicalResult FusionOp::verify() { return verifyRegion(*this, getBody()); }
FusionRole FusionOp::getFusionRole() { return FusionRole::Group; }
Cost FusionOp::getCost() { return regionCost(*this, getBody()); }

LogicalResult LibraryCallOp::verify() {
  if (failed(verifyRegion(*this, getBody())))
    return failure();
  bool matmul = getCallee() == "matmul";
  if (!matmul && getCallee() != "convolution")
    return emitOpError("library_call_c1: expected callee \"matmul\" or \"convolution\", got \"") << getCallee() << "\"";
  unsigned heroes = 0;
  for (Operation &op : getBody().front())
    heroes += matmul ? isa<DotGeneralOp>(op) : isa<ConvolutionOp>(op);
  if (heroes != 1)
    return emitOpError("library_call_c1: expected one ")
           << (matmul ? "weft.dot_general" : "weft.convolution") << " in the region, got " << heroes;
  return success();
}
FusionRole LibraryCallOp::getFusionRole() { return FusionRole::Group; }
Cost LibraryCallOp::getCost() { return regionCost(*this, getBody()); }

} // namespace weft::graph
