//===- Reduction.cpp - Ops that combine many elements into one --------------------------------------===//

#include "dialects/Graph/Reduction.h"

#define GET_OP_CLASSES
#include "dialects/Graph/Reduction.cpp.inc"

using namespace mlir;

namespace weft::graph {

void GraphDialect::registerReductionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/Reduction.cpp.inc"
      >();
}

namespace {

/// `all` and `any` are for truth values, the other kinds for numbers.
LogicalResult verifyKind(std::optional<Location> location, StringRef rule, ReductionKind kind, Type element) {
  bool logical = kind == ReductionKind::all || kind == ReductionKind::any;
  if (logical != isBoolElement(element))
    return emitOptionalError(location, rule, ": reduction kind '", stringifyReductionKind(kind),
                             "' does not take elements of type ", element);
  return success();
}

LogicalResult verifyDimension(std::optional<Location> location, StringRef rule, int64_t dimension, int64_t rank) {
  if (dimension < 0 || dimension >= rank)
    return emitOptionalError(location, rule, ": expected a dimension in [0, ", rank, "), got ", dimension);
  return success();
}

} // namespace

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                         DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                         SmallVectorImpl<Type> &types) {
  Adaptor op(operands, attributes, properties, regions);
  RankedTensorType type = tensorType(op.getOperand());
  ArrayRef<int64_t> dimensions = op.getDimensions();
  for (size_t i = 0; i < dimensions.size(); ++i)
    if (dimensions[i] < 0 || dimensions[i] >= type.getRank() || (i && dimensions[i] <= dimensions[i - 1]))
      return emitOptionalError(location, "'weft.reduce' op reduce_c1: expected sorted, distinct dimensions in [0, ",
                               type.getRank(), ")");
  if (failed(verifyKind(location, "'weft.reduce' op reduce_c2", op.getKind(), type.getElementType())))
    return failure();
  SmallVector<Dim> dims;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!llvm::is_contained(dimensions, i))
      dims.push_back(getDim(type, i));
  types.push_back(makeTensorType(dims, type.getElementType()));
  return success();
}

FusionRole ReduceOp::getFusionRole() { return FusionRole::Reduction; }
bool ReduceOp::readsEachElementOnce(unsigned) { return true; }
Cost ReduceOp::getCost() {
  Cost cost = defaultCost(getOperation());
  cost.operations = upperBoundElements(getOperand().getType(), getOperation());
  return cost;
}

//===----------------------------------------------------------------------===//
// arg_reduce
//===----------------------------------------------------------------------===//

LogicalResult ArgReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                            DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                            SmallVectorImpl<Type> &types) {
  Adaptor op(operands, attributes, properties, regions);
  RankedTensorType type = tensorType(op.getOperand());
  int64_t dimension = op.getDimension();
  if (op.getKind() != ReductionKind::max && op.getKind() != ReductionKind::min)
    return emitOptionalError(location, "'weft.arg_reduce' op arg_reduce_c1: expected max or min, got ",
                             stringifyReductionKind(op.getKind()));
  if (failed(verifyDimension(location, "'weft.arg_reduce' op arg_reduce_c2", dimension, type.getRank())))
    return failure();
  if (!isIntegerElement(op.getIndexType()))
    return emitOptionalError(location, "'weft.arg_reduce' op arg_reduce_c3: expected an integer type, got ",
                             op.getIndexType());
  if (type.getDimSize(dimension) == 0)
    return emitOptionalError(location, "'weft.arg_reduce' op arg_reduce_c4: dimension ", dimension, " is empty");
  SmallVector<Dim> dims = getDims(type);
  dims.erase(dims.begin() + dimension);
  types.push_back(makeTensorType(dims, op.getIndexType()));
  return success();
}

FusionRole ArgReduceOp::getFusionRole() { return FusionRole::Generic; }
bool ArgReduceOp::readsEachElementOnce(unsigned) { return true; }
Cost ArgReduceOp::getCost() {
  Cost cost = defaultCost(getOperation());
  cost.operations = upperBoundElements(getOperand().getType(), getOperation());
  return cost;
}

//===----------------------------------------------------------------------===//
// reduce_window
//===----------------------------------------------------------------------===//

LogicalResult ReduceWindowOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                               DictionaryAttr attributes, OpaqueProperties properties,
                                               RegionRange regions, SmallVectorImpl<Type> &types) {
  Adaptor op(operands, attributes, properties, regions);
  RankedTensorType type = tensorType(op.getOperand());
  size_t rank = type.getRank();
  StringRef name = "'weft.reduce_window' op ";
  for (ArrayRef<int64_t> list : {op.getWindowDimensions(), op.getWindowStrides(), op.getBaseDilations(),
                                 op.getWindowDilations(), op.getPaddingLow(), op.getPaddingHigh()})
    if (list.size() != rank)
      return emitOptionalError(location, name, "reduce_window_c1: expected ", rank, " entries a list, got ",
                               list.size());
  for (ArrayRef<int64_t> list :
       {op.getWindowDimensions(), op.getWindowStrides(), op.getBaseDilations(), op.getWindowDilations()})
    for (int64_t value : list)
      if (value < 1)
        return emitOptionalError(location, name, "reduce_window_c2: expected sizes, strides and dilations of at least ",
                                 "1, got ", value);
  if (failed(verifyKind(location, "'weft.reduce_window' op reduce_window_c3", op.getKind(), type.getElementType())))
    return failure();
  SmallVector<Dim> dims;
  for (size_t i = 0; i < rank; ++i) {
    Dim size = getDim(type, i);
    if (!size.isConstant() && (op.getPaddingLow()[i] < 0 || op.getPaddingHigh()[i] < 0))
      return emitOptionalError(location, name, "reduce_window_c4: negative padding on symbolic dimension ", i);
    bool empty = size.isConstant() && size.getConstant() == 0;
    Dim dilated = empty ? size : (size - 1) * op.getBaseDilations()[i] + 1;
    Dim padded = dilated + op.getPaddingLow()[i] + op.getPaddingHigh()[i];
    int64_t window = (op.getWindowDimensions()[i] - 1) * op.getWindowDilations()[i] + 1;
    if (padded.isConstant() && padded.getConstant() < window)
      dims.push_back(Dim::constant(type.getContext(), 0));
    else
      dims.push_back((padded - window).floorDiv(op.getWindowStrides()[i]) + 1);
  }
  types.push_back(makeTensorType(dims, type.getElementType()));
  return success();
}

FusionRole ReduceWindowOp::getFusionRole() { return FusionRole::Generic; }
bool ReduceWindowOp::readsEachElementOnce(unsigned) {
  return llvm::all_of(getWindowDimensions(), [](int64_t size) { return size == 1; });
}
Cost ReduceWindowOp::getCost() {
  Cost cost = defaultCost(getOperation());
  for (int64_t size : getWindowDimensions())
    cost.operations *= static_cast<double>(size);
  return cost;
}

//===----------------------------------------------------------------------===//
// cumulative
//===----------------------------------------------------------------------===//

LogicalResult CumulativeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                             DictionaryAttr attributes, OpaqueProperties properties,
                                             RegionRange regions, SmallVectorImpl<Type> &types) {
  Adaptor op(operands, attributes, properties, regions);
  RankedTensorType type = tensorType(op.getOperand());
  if (failed(verifyDimension(location, "'weft.cumulative' op cumulative_c1", op.getDimension(), type.getRank())) ||
      failed(verifyKind(location, "'weft.cumulative' op cumulative_c2", op.getKind(), type.getElementType())))
    return failure();
  types.push_back(type);
  return success();
}

FusionRole CumulativeOp::getFusionRole() { return FusionRole::Generic; }
bool CumulativeOp::readsEachElementOnce(unsigned) { return false; }
Cost CumulativeOp::getCost() { return defaultCost(getOperation()); }

} // namespace weft::graph
