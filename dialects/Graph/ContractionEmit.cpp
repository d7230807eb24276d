//===- ContractionEmit.cpp - Scalar emission of dot_general and convolution, with their own loops -----===//

#include "dialects/Graph/Contraction.h"
#include "dialects/Graph/Emission.h"

using namespace mlir;

namespace weft::graph {

namespace {

/// The product of two elements added to a sum in the type of the sum.
Value multiplyAdd(ScalarBuilder &scalars, Type from, Type to, Value lhs, Value rhs, Value sum) {
  Value product = scalars.multiply(to, scalars.convert(lhs, from, to), scalars.convert(rhs, from, to));
  return scalars.add(to, sum, product);
}

/// What products are added in: the wider of the accumulation types of operands and result.
Type sumType(Type operand, Type result) {
  Type from = accumulationType(operand), to = accumulationType(result);
  return from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth() ? from : to;
}

} // namespace

FailureOr<Value> DotGeneralOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  Type from = elementType(getLhs()), to = elementType(getResult()), wide = sumType(from, to);
  int64_t lhsRank = tensorType(getLhs()).getRank(), rhsRank = tensorType(getRhs()).getRank();
  SmallVector<Value> lhs(lhsRank), rhs(rhsRank), extents;
  size_t next = 0;
  for (auto [left, right] : llvm::zip(getLhsBatchingDimensions(), getRhsBatchingDimensions()))
    lhs[left] = rhs[right] = indices[next++];
  for (int64_t i = 0; i < lhsRank; ++i)
    if (!lhs[i] && !llvm::is_contained(getLhsContractingDimensions(), i))
      lhs[i] = indices[next++];
  for (int64_t i = 0; i < rhsRank; ++i)
    if (!rhs[i] && !llvm::is_contained(getRhsContractingDimensions(), i))
      rhs[i] = indices[next++];
  for (int64_t dimension : getLhsContractingDimensions())
    extents.push_back(elements.size(getLhs(), dimension));
  SmallVector<Value> sum = emitLoops(elements.builder, elements.location, extents, scalars.zero(wide),
                                     [&](ValueRange contracted, ValueRange carried) -> SmallVector<Value> {
                                       for (auto [i, value] : llvm::enumerate(contracted)) {
                                         lhs[getLhsContractingDimensions()[i]] = value;
                                         rhs[getRhsContractingDimensions()[i]] = value;
                                       }
                                       Value left = elements.get(0, lhs);
                                       Value right = elements.get(1, rhs);
                                       return {multiplyAdd(scalars, from, wide, left, right, carried[0])};
                                     });
  return scalars.convert(sum[0], wide, to);
}

FailureOr<Value> ConvolutionOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  Type from = elementType(getLhs()), to = elementType(getResult()), wide = sumType(from, to);
  ConvolutionDimensionsAttr numbers = getDimensionNumbers();
  ArrayRef<int64_t> inputSpatial = numbers.getInputSpatialDimensions();
  SmallVector<Value> input(indices.size()), kernel(indices.size()), extents;
  input[numbers.getInputBatchDimension()] = indices[numbers.getOutputBatchDimension()];
  Value feature = indices[numbers.getOutputFeatureDimension()];
  kernel[numbers.getKernelOutputFeatureDimension()] = feature;
  Value kernelFeatures = elements.size(getRhs(), numbers.getKernelInputFeatureDimension());
  // The first input feature of the group that the output feature belongs to.
  Value firstFeature = scalars.index(0);
  int64_t groups = getFeatureGroupCount();
  if (groups > 1) {
    int64_t features = getDim(getRhs().getType(), numbers.getKernelOutputFeatureDimension()).getConstant();
    firstFeature = scalars.mulIndex(scalars.divIndex(feature, scalars.index(features / groups)), kernelFeatures);
  }
  for (int64_t dimension : numbers.getKernelSpatialDimensions())
    extents.push_back(elements.size(getRhs(), dimension));
  extents.push_back(kernelFeatures);
  SmallVector<Value> sum = emitLoops(
      elements.builder, elements.location, extents, scalars.zero(wide),
      [&](ValueRange window, ValueRange carried) -> SmallVector<Value> {
        Value inside;
        for (auto [i, dimension] : llvm::enumerate(inputSpatial)) {
          WindowPosition position =
              emitWindowPosition(scalars, indices[numbers.getOutputSpatialDimensions()[i]], getWindowStrides()[i],
                                 window[i], getRhsDilation()[i], getPaddingLow()[i], getPaddingHigh()[i],
                                 getLhsDilation()[i], elements.size(getLhs(), dimension));
          input[dimension] = position.element;
          kernel[numbers.getKernelSpatialDimensions()[i]] = window[i];
          if (position.inside)
            inside = scalars.both(inside, position.inside);
        }
        input[numbers.getInputFeatureDimension()] = scalars.addIndex(firstFeature, window.back());
        kernel[numbers.getKernelInputFeatureDimension()] = window.back();
        auto added = [&] {
          Value left = elements.get(0, input);
          Value right = elements.get(1, kernel);
          return multiplyAdd(scalars, from, wide, left, right, carried[0]);
        };
        if (!inside)
          return {added()};
        return {
            emitIf(elements.builder, elements.location, scalarType(wide), inside, added, [&] { return carried[0]; })};
      });
  return scalars.convert(sum[0], wide, to);
}

} // namespace weft::graph
