//===- Folding.cpp - Constant folding of every op by its reference evaluation ----------------------===//

#include "dialects/Graph/Folding.h"
#include "dialects/Graph/GraphInterfaces.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace weft::graph {

namespace {

/// For an op without symbols and regions.
class StaticContext : public EvaluationContext {
public:
  SmallVector<int64_t> getShape(Type tensorType) override {
    return SmallVector<int64_t>(cast<RankedTensorType>(tensorType).getShape());
  }
  LogicalResult evaluateRegion(Region &, ArrayRef<TensorValue>, SmallVectorImpl<TensorValue> &) override {
    return failure();
  }
  LogicalResult bindSymbol(Operation *, StringRef, int64_t) override { return failure(); }
};

} // namespace

LogicalResult ConstantFolding::fold(Operation *op, ArrayRef<Attribute> operands,
                                    SmallVectorImpl<OpFoldResult> &results) const {
  auto evaluated = dyn_cast<EvaluationInterface>(op);
  if (!evaluated || op->getNumRegions() || op->getNumResults() == 0 || op->hasTrait<OpTrait::ConstantLike>())
    return failure();
  for (Type type : op->getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() || tensor.getNumElements() > kMaximumElements)
      return failure();
  }
  SmallVector<TensorValue> values;
  int64_t operandElements = 0;
  for (Attribute operand : operands) {
    auto elements = dyn_cast_or_null<DenseElementsAttr>(operand);
    // A splat may stand for far more elements than it stores.
    if (!elements || elements.getNumElements() > kMaximumElements * 16)
      return failure();
    values.push_back(TensorValue::fromAttribute(elements));
    operandElements += elements.getNumElements();
  }
  StaticContext context;
  SmallVector<TensorValue> computed;
  if (failed(evaluated.evaluate(values, computed, context)))
    return failure();
  SmallVector<OpFoldResult> folded;
  for (auto [value, type] : llvm::zip_equal(computed, op->getResultTypes())) {
    DenseElementsAttr attribute = value.toAttribute(cast<RankedTensorType>(type));
    if (value.getElementCount() > std::max(operandElements, kFewElements) && !attribute.isSplat())
      return failure();
    folded.push_back(attribute);
  }
  results.append(folded);
  return success();
}

} // namespace weft::graph
