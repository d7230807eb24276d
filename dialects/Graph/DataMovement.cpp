//===- DataMovement.cpp - Ops that move elements without computing on them --------------------------===//

#include "dialects/Graph/DataMovement.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallBitVector.h"

static mlir::ParseResult parseSliceRanges(mlir::OpAsmParser &parser, mlir::DenseI64ArrayAttr &starts,
                                          mlir::DenseI64ArrayAttr &limits, mlir::DenseI64ArrayAttr &strides) {
  llvm::SmallVector<int64_t> start, limit, stride;
  auto parseOne = [&]() -> mlir::ParseResult {
    start.push_back(0);
    limit.push_back(0);
    stride.push_back(1);
    if (parser.parseInteger(start.back()) || parser.parseColon())
      return mlir::failure();
    if (mlir::succeeded(parser.parseOptionalKeyword("end")))
      limit.back() = weft::graph::SliceOp::kEnd;
    else if (parser.parseInteger(limit.back()))
      return mlir::failure();
    if (mlir::succeeded(parser.parseOptionalColon()))
      return parser.parseInteger(stride.back());
    return mlir::success();
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, parseOne))
    return mlir::failure();
  starts = parser.getBuilder().getDenseI64ArrayAttr(start);
  limits = parser.getBuilder().getDenseI64ArrayAttr(limit);
  strides = parser.getBuilder().getDenseI64ArrayAttr(stride);
  return mlir::success();
}

static void printSliceRanges(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::DenseI64ArrayAttr starts,
                             mlir::DenseI64ArrayAttr limits, mlir::DenseI64ArrayAttr strides) {
  printer << "[";
  for (size_t i = 0; i < static_cast<size_t>(starts.size()); ++i) {
    printer << (i ? ", " : "") << starts[i] << ":";
    if (i < static_cast<size_t>(limits.size()) && limits[i] == weft::graph::SliceOp::kEnd)
      printer << "end";
    else
      printer << (i < static_cast<size_t>(limits.size()) ? limits[i] : 0);
    if (i < static_cast<size_t>(strides.size()) && strides[i] != 1)
      printer << ":" << strides[i];
  }
  printer << "]";
}

#define GET_OP_CLASSES
#include "dialects/Graph/DataMovement.cpp.inc"

using namespace mlir;

namespace weft::graph {

void GraphDialect::registerDataMovementOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/DataMovement.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Shared pieces
//===----------------------------------------------------------------------===//

namespace {

/// Whether `dims` holds distinct numbers in [0, rank).
bool areDistinctDimensions(ArrayRef<int64_t> dims, int64_t rank) {
  llvm::SmallBitVector seen(rank);
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= rank || seen.test(dim))
      return false;
    seen.set(dim);
  }
  return true;
}

bool areSortedDistinctDimensions(ArrayRef<int64_t> dims, int64_t rank) {
  return llvm::is_sorted(dims) && areDistinctDimensions(dims, rank);
}

/// One scalar index a dimension of `operand`, all of one integer type.
LogicalResult verifyStartIndices(std::optional<Location> location, StringRef rule, Type operand, ValueRange indices) {
  int64_t rank = cast<RankedTensorType>(operand).getRank();
  if (static_cast<int64_t>(indices.size()) != rank)
    return emitOptionalError(location, rule, ": expected ", rank, " start indices, got ", indices.size());
  for (Value index : indices)
    if (tensorType(index).getRank() != 0 || index.getType() != indices[0].getType())
      return emitOptionalError(location, rule, ": expected scalar start indices of one type, got ", index.getType());
  return success();
}

/// The limit of a slice of `size` elements, with negative values and `end` resolved; an expression on a symbolic
/// dimension.
Dim resolvePosition(int64_t position, const Dim &size) {
  if (position == SliceOp::kEnd)
    return size;
  if (!size.isConstant() && position < 0)
    return size + position;
  return Dim::constant(size.getContext(), position);
}

} // namespace

//===----------------------------------------------------------------------===//
// broadcast_in_dim
//===----------------------------------------------------------------------===//

LogicalResult BroadcastInDimOp::verify() {
  RankedTensorType operand = tensorType(getOperand()), result = tensorType(getResult());
  ArrayRef<int64_t> map = getBroadcastDimensions();
  if (operand.getElementType() != result.getElementType())
    return emitOpError("broadcast_in_dim_c1: expected element type ")
           << operand.getElementType() << ", got " << result.getElementType();
  if (static_cast<int64_t>(map.size()) != operand.getRank())
    return emitOpError("broadcast_in_dim_c2: expected ")
           << operand.getRank() << " broadcast dimensions, got " << map.size();
  if (!areDistinctDimensions(map, result.getRank()))
    return emitOpError("broadcast_in_dim_c3: expected distinct dimensions in [0, ") << result.getRank() << ")";
  for (auto [dimension, target] : llvm::enumerate(map)) {
    Dim from = getDim(operand, dimension), to = getDim(result, target);
    if (from != to && !(from.isConstant() && from.getConstant() == 1))
      return emitOpError("broadcast_in_dim_c4: operand dimension ")
             << dimension << " of size " << from << " cannot become size " << to;
  }
  return success();
}

OpFoldResult BroadcastInDimOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getType() && llvm::is_sorted(getBroadcastDimensions()))
    return getOperand();
  return {};
}

namespace {

/// broadcast(broadcast(x)) is one broadcast.
struct MergeBroadcasts : OpRewritePattern<BroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastInDimOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<BroadcastInDimOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> map;
    for (int64_t dimension : inner.getBroadcastDimensions())
      map.push_back(op.getBroadcastDimensions()[dimension]);
    rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op.getType(), inner.getOperand(), map);
    return success();
  }
};

} // namespace

void BroadcastInDimOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<MergeBroadcasts>(context);
}

//===----------------------------------------------------------------------===//
// reshape, transpose, reverse
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  if (elementType(getOperand()) != elementType(getResult()))
    return emitOpError("reshape_c1: expected element type ")
           << elementType(getOperand()) << ", got " << elementType(getResult());
  Dim from = getElementCount(getOperand().getType()), to = getElementCount(getType());
  if (from != to)
    return emitOpError("reshape_c2: the operand has ") << from << " elements, the result " << to;
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  if (auto inner = getOperand().getDefiningOp<ReshapeOp>()) {
    setOperand(inner.getOperand());
    return getResult();
  }
  return {};
}

LogicalResult AssumeShapeOp::verify() {
  if (elementType(getOperand()) != elementType(getResult()))
    return emitOpError("assume_shape_c1: expected element type ")
           << elementType(getOperand()) << ", got " << elementType(getResult());
  SmallVector<Dim> from = getDims(getOperand().getType()), to = getDims(getType());
  if (from.size() != to.size())
    return emitOpError("assume_shape_c2: expected rank ") << from.size() << ", got " << to.size();
  for (auto [dimension, sizes] : llvm::enumerate(llvm::zip(from, to))) {
    auto [operandSize, resultSize] = sizes;
    if (operandSize.isConstant() && resultSize.isConstant() && operandSize != resultSize)
      return emitOpError("assume_shape_c3: dimension ")
             << dimension << ": expected size " << operandSize << ", got " << resultSize;
  }
  return success();
}

OpFoldResult AssumeShapeOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  if (auto inner = getOperand().getDefiningOp<AssumeShapeOp>()) {
    setOperand(inner.getOperand());
    return getResult();
  }
  return {};
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                            DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                            SmallVectorImpl<Type> &types) {
  Adaptor op(operands, attributes, properties, regions);
  RankedTensorType type = tensorType(op.getOperand());
  ArrayRef<int64_t> permutation = op.getPermutation();
  if (static_cast<int64_t>(permutation.size()) != type.getRank() || !areDistinctDimensions(permutation, type.getRank()))
    return emitOptionalError(location, "'weft.transpose' op transpose_c1: expected a permutation of ", type.getRank(),
                             " dimensions");
  SmallVector<Dim> dims;
  for (int64_t dimension : permutation)
    dims.push_back(getDim(type, dimension));
  types.push_back(makeTensorType(dims, type.getElementType()));
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (llvm::is_sorted(getPermutation()))
    return getOperand();
  if (auto inner = getOperand().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> merged;
    for (int64_t dimension : getPermutation())
      merged.push_back(inner.getPermutation()[dimension]);
    setPermutation(merged);
    setOperand(inner.getOperand());
    return getResult();
  }
  return {};
}

LogicalResult ReverseOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                          DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                          SmallVectorImpl<Type> &types) {
  Adaptor op(operands, attributes, properties, regions);
  if (!areDistinctDimensions(op.getDimensions(), tensorType(op.getOperand()).getRank()))
    return emitOptionalError(location, "'weft.reverse' op reverse_c1: expected distinct dimensions in [0, ",
                             tensorType(op.getOperand()).getRank(), ")");
  types.push_back(op.getOperand().getType());
  return success();
}

OpFoldResult ReverseOp::fold(FoldAdaptor) {
  return getDimensions().empty() ? OpFoldResult(getOperand()) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// slice, pad, concatenate
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                                        DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                        SmallVectorImpl<Type> &types) {
  Adaptor op(operands, attributes, properties, regions);
  RankedTensorType type = tensorType(op.getOperand());
  size_t rank = type.getRank();
  if (op.getStartIndices().size() != rank || op.getLimitIndices().size() != rank || op.getStrides().size() != rank)
    return emitOptionalError(location, "'weft.slice' op slice_c1: expected ", rank,
                             " start indices, limits and strides");
  SmallVector<Dim> dims;
  for (size_t i = 0; i < rank; ++i) {
    Dim size = getDim(type, i);
    int64_t stride = op.getStrides()[i];
    if (stride < 1)
      return emitOptionalError(location, "'weft.slice' op slice_c3: expected a stride of at least 1, got ", stride);
    Dim start = resolvePosition(op.getStartIndices()[i], size), limit = resolvePosition(op.getLimitIndices()[i], size);
    bool ordered = !start.isConstant() || !limit.isConstant() || start.getConstant() <= limit.getConstant();
    bool inside = !size.isConstant() || (start.getConstant() >= 0 && limit.getConstant() <= size.getConstant());
    if (!ordered || !inside) {
      std::string text;
      llvm::raw_string_ostream(text) << "expected 0 <= start <= limit <= " << size << ", got " << start << ":" << limit;
      return emitOptionalError(location, "'weft.slice' op slice_c2: dimension ", i, ": ", text);
    }
    dims.push_back((limit - start).ceilDiv(stride));
  }
  types.push_back(makeTensorType(dims, type.getElementType()));
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  bool whole = getOperand().getType() == getType();
  for (auto [start, stride] : llvm::zip(getStartIndices(), getStrides()))
    whole &= start == 0 && stride == 1;
  return whole ? OpFoldResult(getOperand()) : OpFoldResult();
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                      DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                      SmallVectorImpl<Type> &types) {
  Adaptor op(operands, attributes, properties, regions);
  RankedTensorType type = tensorType(op.getOperand()), padding = tensorType(op.getPaddingValue());
  if (padding.getRank() != 0 || padding.getElementType() != type.getElementType())
    return emitOptionalError(location, "'weft.pad' op pad_c1: expected a scalar of ", type.getElementType(), ", got ",
                             padding);
  size_t rank = type.getRank();
  if (op.getEdgePaddingLow().size() != rank || op.getEdgePaddingHigh().size() != rank ||
      op.getInteriorPadding().size() != rank)
    return emitOptionalError(location, "'weft.pad' op pad_c2: expected ", rank, " low, high and interior paddings");
  SmallVector<Dim> dims;
  for (size_t i = 0; i < rank; ++i) {
    int64_t interior = op.getInteriorPadding()[i];
    if (interior < 0)
      return emitOptionalError(location, "'weft.pad' op pad_c3: expected interior padding of at least 0, got ",
                               interior);
    Dim size = getDim(type, i);
    bool empty = size.isConstant() && size.getConstant() == 0;
    Dim spread = interior == 0 || empty ? size : size * (interior + 1) - interior;
    Dim padded = spread + op.getEdgePaddingLow()[i] + op.getEdgePaddingHigh()[i];
    if (padded.isConstant() && padded.getConstant() < 0)
      return emitOptionalError(location, "'weft.pad' op pad_c4: dimension ", i, " would have size ",
                               padded.getConstant());
    dims.push_back(padded);
  }
  types.push_back(makeTensorType(dims, type.getElementType()));
  return success();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  auto isZero = [](int64_t value) { return value == 0; };
  bool nothing = llvm::all_of(getEdgePaddingLow(), isZero) && llvm::all_of(getEdgePaddingHigh(), isZero) &&
                 llvm::all_of(getInteriorPadding(), isZero);
  return nothing ? OpFoldResult(getOperand()) : OpFoldResult();
}

LogicalResult ConcatenateOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                              DictionaryAttr attributes, OpaqueProperties properties,
                                              RegionRange regions, SmallVectorImpl<Type> &types) {
  Adaptor op(operands, attributes, properties, regions);
  if (operands.empty())
    return emitOptionalError(location, "'weft.concatenate' op concatenate_c1: expected at least one operand");
  RankedTensorType first = tensorType(operands[0]);
  int64_t dimension = op.getDimension();
  if (dimension < 0 || dimension >= first.getRank())
    return emitOptionalError(location, "'weft.concatenate' op concatenate_c2: expected a dimension in [0, ",
                             first.getRank(), "), got ", dimension);
  SmallVector<Dim> dims = getDims(first);
  for (Value operand : operands.drop_front()) {
    RankedTensorType type = tensorType(operand);
    bool fits = type.getRank() == first.getRank() && type.getElementType() == first.getElementType();
    for (int64_t i = 0; fits && i < type.getRank(); ++i)
      fits = i == dimension || getDim(type, i) == dims[i];
    if (!fits)
      return emitOptionalError(location, "'weft.concatenate' op concatenate_c3: ", type, " does not fit ", first,
                               " outside dimension ", dimension);
    dims[dimension] = dims[dimension] + getDim(type, dimension);
  }
  types.push_back(makeTensorType(dims, first.getElementType()));
  return success();
}

OpFoldResult ConcatenateOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? OpFoldResult(getInputs()[0]) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// dynamic_slice, dynamic_update_slice
//===----------------------------------------------------------------------===//

LogicalResult DynamicSliceOp::verify() {
  RankedTensorType operand = tensorType(getOperand()), result = tensorType(getResult());
  if (failed(verifyStartIndices(getLoc(), "'weft.dynamic_slice' op dynamic_slice_c1", operand, getStartIndices())))
    return failure();
  if (operand.getRank() != result.getRank() || operand.getElementType() != result.getElementType())
    return emitOpError("dynamic_slice_c2: expected a result of the operand's rank and element type, got ") << result;
  for (int64_t i = 0; i < operand.getRank(); ++i)
    if (!operand.isDynamicDim(i) && !result.isDynamicDim(i) && result.getDimSize(i) > operand.getDimSize(i))
      return emitOpError("dynamic_slice_c3: dimension ")
             << i << ": size " << result.getDimSize(i) << " is larger than the operand's " << operand.getDimSize(i);
  return success();
}

LogicalResult DynamicUpdateSliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                     ValueRange operands, DictionaryAttr attributes,
                                                     OpaqueProperties properties, RegionRange regions,
                                                     SmallVectorImpl<Type> &types) {
  Adaptor op(operands, attributes, properties, regions);
  RankedTensorType operand = tensorType(op.getOperand()), update = tensorType(op.getUpdate());
  if (failed(verifyStartIndices(location, "'weft.dynamic_update_slice' op dynamic_update_slice_c1", operand,
                                op.getStartIndices())))
    return failure();
  if (operand.getRank() != update.getRank() || operand.getElementType() != update.getElementType())
    return emitOptionalError(location, "'weft.dynamic_update_slice' op dynamic_update_slice_c2: expected an update of ",
                             "the operand's rank and element type, got ", update);
  for (int64_t i = 0; i < operand.getRank(); ++i)
    if (!operand.isDynamicDim(i) && !update.isDynamicDim(i) && update.getDimSize(i) > operand.getDimSize(i))
      return emitOptionalError(location, "'weft.dynamic_update_slice' op dynamic_update_slice_c3: dimension ", i,
                               ": size ", update.getDimSize(i), " is larger than the operand's ",
                               operand.getDimSize(i));
  types.push_back(operand);
  return success();
}

//===----------------------------------------------------------------------===//
// gather, scatter
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::verify() {
  RankedTensorType operand = tensorType(getOperand()), indices = tensorType(getStartIndices()),
                   result = tensorType(getResult());
  ArrayRef<int64_t> sizes = getSliceSizes();
  int64_t rank = operand.getRank();
  if (static_cast<int64_t>(sizes.size()) != rank)
    return emitOpError("gather_c1: expected ") << rank << " slice sizes, got " << sizes.size();
  for (int64_t i = 0; i < rank; ++i)
    if (sizes[i] < 0 || (!operand.isDynamicDim(i) && sizes[i] > operand.getDimSize(i)))
      return emitOpError("gather_c1: slice size ")
             << sizes[i] << " of dimension " << i << " is not in [0, " << getDim(operand, i) << "]";
  SmallVector<int64_t> dropped(getCollapsedSliceDims());
  llvm::append_range(dropped, getOperandBatchingDims());
  bool slicesOfOne = llvm::all_of(dropped, [&](int64_t d) { return d >= 0 && d < rank && sizes[d] <= 1; });
  if (!areSortedDistinctDimensions(getCollapsedSliceDims(), rank) ||
      !areSortedDistinctDimensions(getOperandBatchingDims(), rank) || !areDistinctDimensions(dropped, rank) ||
      !slicesOfOne)
    return emitOpError("gather_c2: expected sorted, distinct, disjoint collapsed and batching dimensions of slice "
                       "size at most 1");
  int64_t vectorDimension = getIndexVectorDim();
  if (vectorDimension < 0 || vectorDimension > indices.getRank())
    return emitOpError("gather_c5: expected index_vector_dim in [0, ") << indices.getRank() << "]";
  int64_t components = vectorDimension == indices.getRank() ? 1 : indices.getDimSize(vectorDimension);
  if (static_cast<int64_t>(getStartIndexMap().size()) != components || !areDistinctDimensions(getStartIndexMap(), rank))
    return emitOpError("gather_c3: expected ") << components << " distinct operand dimensions in start_index_map";
  ArrayRef<int64_t> offsets = getOffsetDims();
  if (!areSortedDistinctDimensions(offsets, result.getRank()) ||
      static_cast<int64_t>(offsets.size() + dropped.size()) != rank)
    return emitOpError("gather_c4: expected ")
           << rank - static_cast<int64_t>(dropped.size()) << " sorted, distinct result dimensions in offset_dims";
  if (getOperandBatchingDims().size() != getStartIndicesBatchingDims().size() ||
      !areDistinctDimensions(getStartIndicesBatchingDims(), indices.getRank()) ||
      llvm::is_contained(getStartIndicesBatchingDims(), vectorDimension))
    return emitOpError("gather_c6: expected as many distinct batching dimensions in the indices as in the operand, "
                       "without index_vector_dim");
  for (auto [a, b] : llvm::zip(getOperandBatchingDims(), getStartIndicesBatchingDims()))
    if (getDim(operand, a) != getDim(indices, b))
      return emitOpError("gather_c6: batching dimensions ") << a << " and " << b << " differ in size";
  // The result: batch dimensions of the indices, with the kept slice dimensions at offset_dims.
  SmallVector<Dim> batch, kept, expected;
  for (int64_t i = 0; i < indices.getRank(); ++i)
    if (i != vectorDimension)
      batch.push_back(getDim(indices, i));
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(dropped, i))
      kept.push_back(Dim::constant(getContext(), sizes[i]));
  size_t nextBatch = 0, nextKept = 0;
  for (size_t i = 0; i < batch.size() + kept.size(); ++i) {
    bool isOffset = llvm::is_contained(offsets, static_cast<int64_t>(i));
    if (isOffset ? nextKept >= kept.size() : nextBatch >= batch.size())
      return emitOpError("gather_c4: offset_dims do not fit the result");
    expected.push_back(isOffset ? kept[nextKept++] : batch[nextBatch++]);
  }
  if (result != makeTensorType(expected, operand.getElementType()))
    return emitOpError("gather_c7: expected a result of type ")
           << makeTensorType(expected, operand.getElementType()) << ", got " << result;
  return success();
}

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                          DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                          SmallVectorImpl<Type> &types) {
  Adaptor op(operands, attributes, properties, regions);
  RankedTensorType operand = tensorType(op.getOperand()), indices = tensorType(op.getScatterIndices()),
                   updates = tensorType(op.getUpdates());
  int64_t rank = operand.getRank();
  StringRef name = "'weft.scatter' op ";
  if (operand.getElementType() != updates.getElementType())
    return emitOptionalError(location, name, "scatter_c1: expected updates of ", operand.getElementType(), ", got ",
                             updates);
  if (!areSortedDistinctDimensions(op.getUpdateWindowDims(), updates.getRank()))
    return emitOptionalError(location, name, "scatter_c2: expected sorted, distinct dimensions of the updates");
  SmallVector<int64_t> inserted(op.getInsertedWindowDims());
  llvm::append_range(inserted, op.getOperandBatchingDims());
  if (!areSortedDistinctDimensions(op.getInsertedWindowDims(), rank) ||
      !areSortedDistinctDimensions(op.getOperandBatchingDims(), rank) || !areDistinctDimensions(inserted, rank))
    return emitOptionalError(location, name,
                             "scatter_c3: expected sorted, distinct, disjoint inserted and batching dimensions");
  int64_t vectorDimension = op.getIndexVectorDim();
  if (vectorDimension < 0 || vectorDimension > indices.getRank())
    return emitOptionalError(location, name, "scatter_c5: expected index_vector_dim in [0, ", indices.getRank(), "]");
  int64_t components = vectorDimension == indices.getRank() ? 1 : indices.getDimSize(vectorDimension);
  if (static_cast<int64_t>(op.getScatterDimsToOperandDims().size()) != components ||
      !areDistinctDimensions(op.getScatterDimsToOperandDims(), rank))
    return emitOptionalError(location, name, "scatter_c4: expected ", components,
                             " distinct operand dimensions in scatter_dims_to_operand_dims");
  int64_t batchRank = indices.getRank() - (vectorDimension < indices.getRank() ? 1 : 0);
  if (static_cast<int64_t>(op.getUpdateWindowDims().size() + inserted.size()) != rank ||
      static_cast<int64_t>(op.getUpdateWindowDims().size()) + batchRank != updates.getRank() ||
      op.getOperandBatchingDims().size() != op.getScatterIndicesBatchingDims().size() ||
      !areDistinctDimensions(op.getScatterIndicesBatchingDims(), indices.getRank()))
    return emitOptionalError(location, name, "scatter_c6: window, inserted and batching dimensions do not add up to ",
                             "the ranks of operand, indices and updates");
  SmallVector<Dim> positions, windows;
  for (int64_t i = 0; i < indices.getRank(); ++i)
    if (i != vectorDimension)
      positions.push_back(getDim(indices, i));
  for (int64_t i = 0; i < updates.getRank(); ++i)
    if (!llvm::is_contained(op.getUpdateWindowDims(), i))
      windows.push_back(getDim(updates, i));
  if (positions != windows)
    return emitOptionalError(location, name, "scatter_c7: expected one window of ", updates, " for each position in ",
                             indices);
  for (auto [a, b] : llvm::zip(op.getOperandBatchingDims(), op.getScatterIndicesBatchingDims()))
    if (b == vectorDimension || getDim(operand, a) != getDim(indices, b))
      return emitOptionalError(location, name, "scatter_c8: batching dimensions ", a, " of the operand and ", b,
                               " of the indices do not go together");
  types.push_back(operand);
  return success();
}

//===----------------------------------------------------------------------===//
// Fusibility and cost
//===----------------------------------------------------------------------===//

FusionRole BroadcastInDimOp::getFusionRole() { return FusionRole::IndexMap; }
FusionRole ReshapeOp::getFusionRole() { return FusionRole::IndexMap; }
FusionRole TransposeOp::getFusionRole() { return FusionRole::IndexMap; }
FusionRole SliceOp::getFusionRole() { return FusionRole::IndexMap; }
FusionRole PadOp::getFusionRole() { return FusionRole::IndexMap; }
FusionRole ConcatenateOp::getFusionRole() { return FusionRole::IndexMap; }
FusionRole AssumeShapeOp::getFusionRole() { return FusionRole::IndexMap; }
FusionRole ReverseOp::getFusionRole() { return FusionRole::IndexMap; }
FusionRole DynamicSliceOp::getFusionRole() { return FusionRole::IndexMap; }
FusionRole DynamicUpdateSliceOp::getFusionRole() { return FusionRole::IndexMap; }
FusionRole GatherOp::getFusionRole() { return FusionRole::IndexMap; }
FusionRole ScatterOp::getFusionRole() { return FusionRole::Generic; }

namespace {

/// Moves every element of the result once, computes nothing.
Cost movementCost(Operation *op) {
  Cost cost = defaultCost(op);
  cost.bytesRead = std::min(cost.bytesRead, cost.bytesWritten * 2);
  cost.operations = 0;
  return cost;
}

} // namespace

Cost BroadcastInDimOp::getCost() { return movementCost(*this); }
Cost ReshapeOp::getCost() { return movementCost(*this); }
Cost TransposeOp::getCost() { return movementCost(*this); }
Cost SliceOp::getCost() { return movementCost(*this); }
Cost PadOp::getCost() { return movementCost(*this); }
Cost ConcatenateOp::getCost() { return movementCost(*this); }
Cost AssumeShapeOp::getCost() { return movementCost(*this); }
Cost ReverseOp::getCost() { return movementCost(*this); }
Cost DynamicSliceOp::getCost() { return movementCost(*this); }
Cost DynamicUpdateSliceOp::getCost() { return movementCost(*this); }
Cost GatherOp::getCost() { return movementCost(*this); }
Cost ScatterOp::getCost() { return movementCost(*this); }

} // namespace weft::graph
