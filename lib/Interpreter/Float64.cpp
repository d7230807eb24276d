//===- Float64.cpp - The same program in double precision ----------------------------------------------------===//

#include "lib/Interpreter/Float64.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace weft {

/// f32 and tensors of f32 become f64; the rest stays.
static Type widen(Type type) {
  if (type.isF32())
    return Float64Type::get(type.getContext());
  if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.getElementType().isF32())
    return tensor.clone(Float64Type::get(type.getContext()));
  return type;
}

static Attribute widen(Attribute attribute) {
  auto elements = dyn_cast<DenseElementsAttr>(attribute);
  if (!elements || !elements.getElementType().isF32())
    return attribute;
  return cast<DenseFPElementsAttr>(elements).mapValues(
      Float64Type::get(attribute.getContext()), [](const APFloat &value) {
        APFloat wide = value;
        bool losesInformation = false;
        wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInformation);
        return wide.bitcastToAPInt();
      });
}

OwningOpRef<ModuleOp> widenToFloat64(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  copy->walk([](Operation *op) {
    for (Value result : op->getResults())
      result.setType(widen(result.getType()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setType(widen(argument.getType()));
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      auto wide = [](ArrayRef<Type> types) {
        return llvm::map_to_vector(types, [](Type type) { return widen(type); });
      };
      FunctionType type = function.getFunctionType();
      function.setFunctionType(FunctionType::get(op->getContext(), wide(type.getInputs()), wide(type.getResults())));
    }
    for (NamedAttribute attribute : op->getAttrDictionary())
      if (Attribute wide = widen(attribute.getValue()); wide != attribute.getValue())
        op->setAttr(attribute.getName(), wide);
  });
  // What does not survive the change of type, above all a reinterpretation of bits, is found by the ops' own rules.
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  return succeeded(verify(*copy)) ? std::move(copy) : OwningOpRef<ModuleOp>();
}

graph::TensorValue widenToFloat64(const graph::TensorValue &value) {
  if (!value.getElementType().isF32())
    return value;
  graph::TensorValue wide(Float64Type::get(value.getElementType().getContext()), value.getShape());
  const float *from = value.dataAs<float>();
  std::copy(from, from + value.getElementCount(), wide.mutableDataAs<double>());
  return wide;
}

WeightStore widenToFloat64(const WeightStore &weights) {
  WeightStore wide;
  for (const auto &[name, value] : weights)
    wide.add(name, widenToFloat64(value));
  return wide;
}

} // namespace weft
