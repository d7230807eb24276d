//===- Contraction.cpp - Sums of products: matrix multiplication and convolution ---------------------===//

#include "dialects/Graph/Contraction.h"

#define GET_OP_CLASSES
#include "dialects/Graph/Contraction.cpp.inc"

using namespace mlir;

namespace weft::graph {

void GraphDialect::registerContractionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/Contraction.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// dot_general
//===----------------------------------------------------------------------===//

namespace {

bool areDistinct(ArrayRef<int64_t> batching, ArrayRef<int64_t> contracting, int64_t rank) {
  SmallVector<bool> seen(rank, false);
  for (ArrayRef<int64_t> list : {batching, contracting})
    for (int64_t dimension : list) {
      if (dimension < 0 || dimension >= rank || seen[dimension])
        return false;
      seen[dimension] = true;
    }
  return true;
}

} // namespace

/// Both operands of one element type, the result of its kind and not narrower.
static LogicalResult verifyElementTypes(Operation *op, StringRef rule, Type lhs, Type rhs, Type result) {
  if (lhs != rhs)
    return op->emitOpError(rule) << ": expected operands of one element type, got " << lhs << " and " << rhs;
  bool isSameKind = isFloatElement(lhs) == isFloatElement(result) && isBoolElement(lhs) == isBoolElement(result) &&
                    isUnsignedElement(lhs) == isUnsignedElement(result);
  if (lhs != result && (!isSameKind || result.getIntOrFloatBitWidth() <= lhs.getIntOrFloatBitWidth()))
    return op->emitOpError(rule) << ": expected a result of elements " << lhs << " or wider, got " << result;
  return success();
}

LogicalResult DotGeneralOp::verify() {
  RankedTensorType lhs = tensorType(getLhs()), rhs = tensorType(getRhs());
  if (getLhsBatchingDimensions().size() != getRhsBatchingDimensions().size() ||
      getLhsContractingDimensions().size() != getRhsContractingDimensions().size())
    return emitOpError("dot_c1: expected as many batching and as many contracting dimensions on both sides");
  if (!areDistinct(getLhsBatchingDimensions(), getLhsContractingDimensions(), lhs.getRank()) ||
      !areDistinct(getRhsBatchingDimensions(), getRhsContractingDimensions(), rhs.getRank()))
    return emitOpError("dot_c2: expected distinct batching and contracting dimensions within the ranks ")
           << lhs.getRank() << " and " << rhs.getRank();
  auto verifyPairs = [&](ArrayRef<int64_t> left, ArrayRef<int64_t> right) -> LogicalResult {
    for (auto [l, r] : llvm::zip(left, right))
      if (getDim(lhs, l) != getDim(rhs, r))
        return emitOpError("dot_c3: dimension ") << l << " of lhs has size " << getDim(lhs, l) << ", its partner " << r
                                                 << " of rhs has size " << getDim(rhs, r);
    return success();
  };
  if (failed(verifyPairs(getLhsBatchingDimensions(), getRhsBatchingDimensions())) ||
      failed(verifyPairs(getLhsContractingDimensions(), getRhsContractingDimensions())))
    return failure();
  if (failed(verifyElementTypes(*this, "dot_c4", lhs.getElementType(), rhs.getElementType(), elementType(getResult()))))
    return failure();
  SmallVector<Dim> dims;
  for (int64_t dimension : getLhsBatchingDimensions())
    dims.push_back(getDim(lhs, dimension));
  for (int64_t i = 0; i < lhs.getRank(); ++i)
    if (!llvm::is_contained(getLhsBatchingDimensions(), i) && !llvm::is_contained(getLhsContractingDimensions(), i))
      dims.push_back(getDim(lhs, i));
  for (int64_t i = 0; i < rhs.getRank(); ++i)
    if (!llvm::is_contained(getRhsBatchingDimensions(), i) && !llvm::is_contained(getRhsContractingDimensions(), i))
      dims.push_back(getDim(rhs, i));
  if (getDims(getType()) != dims)
    return emitOpError("dot_c5: expected a result of type ")
           << makeTensorType(dims, elementType(getResult())) << ", got " << getType();
  return success();
}

FusionRole DotGeneralOp::getFusionRole() { return FusionRole::Contraction; }
bool DotGeneralOp::readsEachElementOnce(unsigned) { return false; }
Cost DotGeneralOp::getCost() {
  Cost cost = defaultCost(getOperation());
  cost.operations *= 2;
  for (int64_t dimension : getLhsContractingDimensions())
    cost.operations *= upperBoundElements(makeTensorType(getDim(getLhs().getType(), dimension), elementType(getLhs())),
                                          getOperation());
  return cost;
}

//===----------------------------------------------------------------------===//
// convolution
//===----------------------------------------------------------------------===//

LogicalResult ConvolutionOp::verify() {
  RankedTensorType input = tensorType(getLhs()), kernel = tensorType(getRhs()), output = tensorType(getResult());
  ConvolutionDimensionsAttr numbers = getDimensionNumbers();
  size_t rank = input.getRank(), spatial = numbers.getInputSpatialDimensions().size();
  auto isPermutation = [&](int64_t first, int64_t second, ArrayRef<int64_t> rest) {
    int64_t pair[] = {first, second};
    return rest.size() + 2 == rank && areDistinct(pair, rest, rank);
  };
  if (kernel.getRank() != input.getRank() || output.getRank() != input.getRank() ||
      !isPermutation(numbers.getInputBatchDimension(), numbers.getInputFeatureDimension(),
                     numbers.getInputSpatialDimensions()) ||
      !isPermutation(numbers.getKernelInputFeatureDimension(), numbers.getKernelOutputFeatureDimension(),
                     numbers.getKernelSpatialDimensions()) ||
      !isPermutation(numbers.getOutputBatchDimension(), numbers.getOutputFeatureDimension(),
                     numbers.getOutputSpatialDimensions()))
    return emitOpError("conv_c1: expected dimension numbers that are permutations of the dimensions, got ")
           << numbers << " for " << input << ", " << kernel << " and " << output;
  for (ArrayRef<int64_t> list :
       {getWindowStrides(), getPaddingLow(), getPaddingHigh(), getLhsDilation(), getRhsDilation()})
    if (list.size() != spatial)
      return emitOpError("conv_c2: expected ") << spatial << " entries a list, got " << list.size();
  for (ArrayRef<int64_t> list : {getWindowStrides(), getLhsDilation(), getRhsDilation()})
    for (int64_t value : list)
      if (value < 1)
        return emitOpError("conv_c3: expected strides and dilations of at least 1, got ") << value;
  Dim features = getDim(input, numbers.getInputFeatureDimension()),
      kernelFeatures = getDim(kernel, numbers.getKernelInputFeatureDimension()),
      outputFeatures = getDim(kernel, numbers.getKernelOutputFeatureDimension());
  int64_t groups = getFeatureGroupCount();
  if (groups < 1 || features != kernelFeatures * groups || !outputFeatures.isConstant() ||
      outputFeatures.getConstant() % groups != 0)
    return emitOpError("conv_c4: ") << features << " input features, " << kernelFeatures
                                    << " kernel input features and " << outputFeatures << " output features do not fit "
                                    << groups << " groups";
  if (failed(verifyElementTypes(*this, "conv_c5", input.getElementType(), kernel.getElementType(),
                                output.getElementType())))
    return failure();
  SmallVector<Dim> expected(rank, features);
  expected[numbers.getOutputBatchDimension()] = getDim(input, numbers.getInputBatchDimension());
  expected[numbers.getOutputFeatureDimension()] = outputFeatures;
  for (size_t i = 0; i < spatial; ++i) {
    Dim size = getDim(input, numbers.getInputSpatialDimensions()[i]);
    Dim kernelSize = getDim(kernel, numbers.getKernelSpatialDimensions()[i]);
    bool empty = size.isConstant() && size.getConstant() == 0;
    Dim padded = (empty ? size : (size - 1) * getLhsDilation()[i] + 1) + getPaddingLow()[i] + getPaddingHigh()[i];
    Dim window = (kernelSize - 1) * getRhsDilation()[i] + 1;
    Dim steps = (padded - window).floorDiv(getWindowStrides()[i]) + 1;
    bool none = steps.isConstant() && steps.getConstant() < 0;
    expected[numbers.getOutputSpatialDimensions()[i]] = none ? Dim::constant(getContext(), 0) : steps;
  }
  if (getDims(output) != expected)
    return emitOpError("conv_c6: expected a result of type ")
           << makeTensorType(expected, output.getElementType()) << ", got " << output;
  return success();
}

FusionRole ConvolutionOp::getFusionRole() { return FusionRole::Contraction; }
bool ConvolutionOp::readsEachElementOnce(unsigned) { return false; }
Cost ConvolutionOp::getCost() {
  Cost cost = defaultCost(getOperation());
  double kernelElements = upperBoundElements(getRhs().getType(), getOperation());
  double outputFeatures = tensorType(getRhs()).getDimSize(getDimensionNumbers().getKernelOutputFeatureDimension());
  cost.operations *= 2 * kernelElements / (outputFeatures > 0 ? outputFeatures : 1);
  return cost;
}

} // namespace weft::graph
