//===- GraphInterfaces.cpp - Defaults of the op interfaces -----------------------------------------===//

#include "dialects/Graph/GraphInterfaces.h"
#include "dialects/Graph/Elementwise.h"
#include "dialects/Graph/Structure.h"
#include "mlir/IR/BuiltinOps.h"

#include "dialects/Graph/GraphInterfaces.cpp.inc"

using namespace mlir;

namespace weft::graph {

std::optional<SymbolBounds> getSymbolBounds(StringRef name, Operation *scope) {
  auto module = dyn_cast<ModuleOp>(scope);
  if (!module)
    module = scope->getParentOfType<ModuleOp>();
  if (!module)
    return std::nullopt;
  for (DimOp dim : module.getOps<DimOp>())
    if (dim.getName() == name)
      return SymbolBounds{static_cast<int64_t>(dim.getMin()), static_cast<int64_t>(dim.getMax())};
  return std::nullopt;
}

double upperBoundElements(Type tensorType, Operation *scope) {
  double elements = 1;
  for (const Dim &dim : getDims(tensorType)) {
    std::optional<int64_t> size = dim.evaluate([&](StringRef name) -> std::optional<int64_t> {
      std::optional<SymbolBounds> bounds = getSymbolBounds(name, scope);
      return bounds ? std::optional(bounds->max) : std::nullopt;
    });
    elements *= static_cast<double>(size.value_or(1));
  }
  return elements;
}

double upperBoundBytes(Type tensorType, Operation *scope) {
  return upperBoundElements(tensorType, scope) * storageBits(cast<RankedTensorType>(tensorType).getElementType()) / 8;
}

namespace {

/// Whether an element takes a polynomial or a series: about twenty operations.
bool isTranscendental(Operation *op) {
  return isa<ExponentialOp, ExponentialMinusOneOp, LogOp, LogPlusOneOp, CbrtOp, SineOp, CosineOp, TanOp, AsinOp, AcosOp,
             AtanOp, SinhOp, CoshOp, TanhOp, AsinhOp, AcoshOp, AtanhOp, LogisticOp, ErfOp, PowerOp, Atan2Op>(op);
}

} // namespace

Cost defaultCost(Operation *op) {
  Cost cost;
  for (Type type : op->getOperandTypes())
    cost.bytesRead += upperBoundBytes(type, op);
  for (Type type : op->getResultTypes())
    cost.bytesWritten += upperBoundBytes(type, op);
  if (op->getNumResults())
    cost.operations = upperBoundElements(op->getResult(0).getType(), op) * (isTranscendental(op) ? 20 : 1);
  return cost;
}

} // namespace weft::graph
