//===- Contraction.cpp - Kernels around one dot_general or convolution: what is summed over what ----===//

#include "lib/Codegen/Contraction.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen {

namespace {

Type sumType(Type operand, Type result) {
  Type from = accumulationType(operand), to = accumulationType(result);
  return from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth() ? from : to;
}

Contraction describe(DotGeneralOp dot) {
  Contraction form;
  form.op = dot;
  form.dims = getDims(dot.getType());
  form.wide = sumType(elementType(dot.getLhs()), elementType(dot.getResult()));
  int64_t lhsRank = tensorType(dot.getLhs()).getRank(), rhsRank = tensorType(dot.getRhs()).getRank();
  size_t batch = dot.getLhsBatchingDimensions().size(), contracting = dot.getLhsContractingDimensions().size();
  for (size_t i = 0; i < form.dims.size(); ++i) {
    bool isBatch = i < batch, isLhs = i < lhsRank - contracting;
    form.inLhs.push_back(isBatch || isLhs);
    form.inRhs.push_back(isBatch || !isLhs);
  }
  for (int64_t dimension : dot.getLhsContractingDimensions())
    form.extents.push_back(getDim(dot.getLhs().getType(), dimension));
  form.isDotProduct = contracting == 1 && dot.getLhsContractingDimensions()[0] == lhsRank - 1 &&
                      dot.getRhsContractingDimensions()[0] == rhsRank - 1;
  form.isLhsContractedInner = contracting > 0 && dot.getLhsContractingDimensions().back() == lhsRank - 1;
  form.isRhsContractedInner = contracting > 0 && dot.getRhsContractingDimensions().back() == rhsRank - 1;
  return form;
}

Contraction describe(ConvolutionOp convolution) {
  Contraction form;
  form.op = convolution;
  form.dims = getDims(convolution.getType());
  form.wide = sumType(elementType(convolution.getLhs()), elementType(convolution.getResult()));
  ConvolutionDimensionsAttr numbers = convolution.getDimensionNumbers();
  form.groups = convolution.getFeatureGroupCount();
  form.featureDimension = numbers.getOutputFeatureDimension();
  Dim features = form.dims[form.featureDimension];
  // With one feature a group, the input's feature is the output's.
  bool isDepthwise = form.groups > 1 && features.isConstant() && features.getConstant() == form.groups;
  for (int64_t i = 0; i < static_cast<int64_t>(form.dims.size()); ++i) {
    bool isFeature = i == form.featureDimension;
    form.inLhs.push_back(!isFeature || isDepthwise);
    form.inRhs.push_back(isFeature);
  }
  if (isDepthwise)
    form.groups = 1;
  for (int64_t dimension : numbers.getKernelSpatialDimensions())
    form.extents.push_back(getDim(convolution.getRhs().getType(), dimension));
  form.extents.push_back(getDim(convolution.getRhs().getType(), numbers.getKernelInputFeatureDimension()));
  int64_t last = form.dims.size() - 1;
  form.isLhsContractedInner = numbers.getInputFeatureDimension() == last;
  form.isRhsContractedInner = numbers.getKernelInputFeatureDimension() == last;
  return form;
}

Value dotElement(const Contraction &form, RegionEmitter &region, DotGeneralOp dot, unsigned side, ValueRange indices,
                 ValueRange contracted, bool isRaw) {
  Value operand = side == 0 ? dot.getLhs() : dot.getRhs();
  ArrayRef<int64_t> batching = side == 0 ? dot.getLhsBatchingDimensions() : dot.getRhsBatchingDimensions();
  ArrayRef<int64_t> contracting = side == 0 ? dot.getLhsContractingDimensions() : dot.getRhsContractingDimensions();
  SmallVector<Value> source(tensorType(operand).getRank());
  for (auto [i, dimension] : llvm::enumerate(batching))
    source[dimension] = indices[i];
  for (auto [dimension, value] : llvm::zip(contracting, contracted))
    source[dimension] = value;
  size_t next = batching.size();
  if (side == 1)
    next = form.dims.size() - (source.size() - batching.size() - contracting.size());
  for (Value &value : source)
    if (!value)
      value = indices[next++];
  Value element = region.get(operand, source);
  return isRaw ? element : region.scalars().convert(element, elementType(operand), form.wide);
}

} // namespace

Value Contraction::lhsElement(RegionEmitter &region, ValueRange indices, ValueRange contracted, Value group,
                              bool isRaw) const {
  if (auto dot = dyn_cast<DotGeneralOp>(op))
    return dotElement(*this, region, dot, 0, indices, contracted, isRaw);
  auto convolution = cast<ConvolutionOp>(op);
  ScalarBuilder scalars = region.scalars();
  ConvolutionDimensionsAttr numbers = convolution.getDimensionNumbers();
  SmallVector<Value> input(indices.size());
  input[numbers.getInputBatchDimension()] = indices[numbers.getOutputBatchDimension()];
  Value inside;
  for (auto [i, dimension] : llvm::enumerate(numbers.getInputSpatialDimensions())) {
    WindowPosition position = emitWindowPosition(
        scalars, indices[numbers.getOutputSpatialDimensions()[i]], convolution.getWindowStrides()[i], contracted[i],
        convolution.getRhsDilation()[i], convolution.getPaddingLow()[i], convolution.getPaddingHigh()[i],
        convolution.getLhsDilation()[i], region.size(getDim(convolution.getLhs().getType(), dimension)));
    input[dimension] = position.element;
    if (position.inside)
      inside = scalars.both(inside, position.inside);
  }
  // The group of the feature: known for the block, or the feature itself.
  int64_t groups = convolution.getFeatureGroupCount();
  Value first = scalars.index(0);
  if (groups > 1) {
    Value feature = indices[featureDimension];
    int64_t perGroup = dims[featureDimension].getConstant() / groups;
    Value number = group ? group : scalars.divIndex(feature, scalars.index(perGroup));
    first = scalars.mulIndex(number, region.size(extents.back()));
  }
  input[numbers.getInputFeatureDimension()] = scalars.addIndex(first, contracted.back());
  Type from = elementType(convolution.getLhs()), to = isRaw ? from : wide;
  auto load = [&] {
    Value element = region.get(convolution.getLhs(), input);
    return isRaw ? element : region.scalars().convert(element, from, wide);
  };
  if (!inside)
    return load();
  return emitIf(region.builder, region.location, scalarType(to), inside, load,
                [&] { return region.scalars().zero(to); });
}

Value Contraction::rhsElement(RegionEmitter &region, ValueRange indices, ValueRange contracted, bool isRaw) const {
  if (auto dot = dyn_cast<DotGeneralOp>(op))
    return dotElement(*this, region, dot, 1, indices, contracted, isRaw);
  auto convolution = cast<ConvolutionOp>(op);
  ConvolutionDimensionsAttr numbers = convolution.getDimensionNumbers();
  SmallVector<Value> weights(indices.size());
  weights[numbers.getKernelOutputFeatureDimension()] = indices[numbers.getOutputFeatureDimension()];
  weights[numbers.getKernelInputFeatureDimension()] = contracted.back();
  for (auto [i, dimension] : llvm::enumerate(numbers.getKernelSpatialDimensions()))
    weights[dimension] = contracted[i];
  Value element = region.get(convolution.getRhs(), weights);
  return isRaw ? element : region.scalars().convert(element, elementType(convolution.getRhs()), wide);
}

std::optional<Contraction> findContraction(Block &body, ValueRange results) {
  Operation *found = nullptr;
  for (Operation &op : body)
    if (isa<DotGeneralOp, ConvolutionOp>(op)) {
      if (found)
        return std::nullopt;
      found = &op;
    }
  if (!found)
    return std::nullopt;
  SmallVector<Dim> dims = getDims(found->getResult(0).getType());
  if (!llvm::all_of(results, [&](Value result) { return getDims(result.getType()) == dims; }))
    return std::nullopt;
  return isa<DotGeneralOp>(found) ? describe(cast<DotGeneralOp>(found)) : describe(cast<ConvolutionOp>(found));
}

} // namespace weft::codegen
