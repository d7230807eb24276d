//===- ContractionKernel.cpp - Kernels around one dot_general or convolution ----------------------------===//
//
// A tile is a block of the output: some rows by some columns, the columns being the innermost output dimension. Each
// step of the sum takes one operand's elements along the columns, in a vectorized loop, times the other operand's
// element of each row; the sums stay in the first-level cache. The elementwise rest follows while the block is there.
// Where both operands have the contracted dimension innermost, the columns are dot products instead.

#include "dialects/Graph/Graph.h"
#include "lib/Codegen/Cpu/KernelEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen::cpu {

namespace {

constexpr int64_t kRows = 4, kColumns = 64;

/// A sum of products over `extents` for every element of the result.
struct Contraction {
  Operation *op = nullptr;
  SmallVector<Dim> dims, extents;
  Type wide; // of the sum
  /// Which operands an output dimension matters to.
  SmallVector<bool> inLhs, inRhs;
  /// Whether the contracted dimension is the last of both operands and the columns are not the last of either.
  bool isDotProduct = false;
  /// The features of a convolution in groups: a block of columns stays within one.
  int64_t groups = 1;
  int64_t featureDimension = -1;
};

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
  return form;
}

class ContractionKernel {
public:
  ContractionKernel(KernelEmitter &kernel, Contraction form) : kernel(kernel), form(std::move(form)) {}

  KernelTiles emit() {
    MLIRContext *context = kernel.builder.getContext();
    ScalarBuilder scalars = kernel.scalars();
    chooseDimensions();
    Dim one = Dim::constant(context, 1);
    Dim columns = column >= 0 ? form.dims[column] : one, rows = row >= 0 ? form.dims[row] : one;
    // The columns in blocks, those of one group of features after the other.
    int64_t groups = column == form.featureDimension ? form.groups : 1;
    Dim groupColumns = groups > 1 ? Dim::constant(context, columns.getConstant() / groups) : columns;
    int64_t columnBlock = form.isDotProduct ? kRows : kColumns;
    int64_t rowBlock = row >= 0 && !form.isDotProduct ? kRows : 1;
    Dim columnBlocks = groupColumns.ceilDiv(columnBlock), rowBlocks = rows.ceilDiv(rowBlock);
    Dim outer = one;
    SmallVector<int64_t> outerDimensions;
    SmallVector<Value> space;
    for (int64_t i = 0; i < static_cast<int64_t>(form.dims.size()); ++i)
      if (i != column && i != row) {
        outerDimensions.push_back(i);
        space.push_back(kernel.size(form.dims[i]));
        outer = outer * form.dims[i];
      }
    space.push_back(kernel.size(rowBlocks));
    space.push_back(kernel.index(groups));
    space.push_back(kernel.size(columnBlocks));
    rowCount = kernel.size(rows);
    Value groupSize = kernel.size(groupColumns);
    zero = kernel.index(0);
    for (int64_t i = 0; i < rowBlock; ++i)
      sums.push_back(kernel.allocateOnStack(form.wide, kColumns));
    kernel.loop(kernel.getBegin(), kernel.getEnd(), [&](Value tile) {
      SmallVector<Value> position = scalars.delinearize(tile, space);
      SmallVector<Value> indices(form.dims.size(), zero);
      for (auto [i, dimension] : llvm::enumerate(outerDimensions))
        indices[dimension] = position[i];
      size_t last = position.size();
      Value firstRow = scalars.mulIndex(position[last - 3], kernel.index(rowBlock));
      group = position[last - 2];
      Value inGroup = scalars.mulIndex(position[last - 1], kernel.index(columnBlock));
      Value width = scalars.minIndex(kernel.index(columnBlock), scalars.subIndex(groupSize, inGroup));
      Value firstColumn = scalars.addIndex(scalars.mulIndex(group, groupSize), inGroup);
      emitBlock(indices, firstRow, firstColumn, width);
    });
    return {outer * rowBlocks * groups * columnBlocks};
  }

private:
  /// The columns are the innermost output dimension; the rows the innermost one that does not matter to the operand
  /// that the columns run along.
  void chooseDimensions() {
    for (int64_t i = static_cast<int64_t>(form.dims.size()) - 1; i >= 0 && column < 0; --i)
      if (!form.dims[i].isConstant() || form.dims[i].getConstant() != 1)
        column = i;
    if (column < 0)
      return;
    bool lhs = form.inLhs[column], rhs = form.inRhs[column];
    if (lhs && rhs)
      return;
    for (int64_t i = static_cast<int64_t>(form.dims.size()) - 1; i >= 0 && row < 0; --i) {
      bool isOne = form.dims[i].isConstant() && form.dims[i].getConstant() == 1;
      if (i != column && !isOne && !(lhs && form.inLhs[i]) && !(rhs && form.inRhs[i]) &&
          !(form.groups > 1 && i == form.featureDimension))
        row = i;
    }
  }

  Value lhsElement(ValueRange indices, ValueRange contracted) {
    if (auto dot = dyn_cast<DotGeneralOp>(form.op))
      return dotElement(dot, 0, indices, contracted);
    auto convolution = cast<ConvolutionOp>(form.op);
    ScalarBuilder scalars = kernel.scalars();
    ConvolutionDimensionsAttr numbers = convolution.getDimensionNumbers();
    SmallVector<Value> input(indices.size());
    input[numbers.getInputBatchDimension()] = indices[numbers.getOutputBatchDimension()];
    Value inside;
    for (auto [i, dimension] : llvm::enumerate(numbers.getInputSpatialDimensions())) {
      WindowPosition position = emitWindowPosition(
          scalars, indices[numbers.getOutputSpatialDimensions()[i]], convolution.getWindowStrides()[i], contracted[i],
          convolution.getRhsDilation()[i], convolution.getPaddingLow()[i], convolution.getPaddingHigh()[i],
          convolution.getLhsDilation()[i], kernel.size(getDim(convolution.getLhs().getType(), dimension)));
      input[dimension] = position.element;
      if (position.inside)
        inside = scalars.both(inside, position.inside);
    }
    // The group of the feature: known for the block, or the feature itself.
    int64_t groups = convolution.getFeatureGroupCount();
    Value first = zero;
    if (groups > 1) {
      Value feature = indices[form.featureDimension];
      int64_t perGroup = form.dims[form.featureDimension].getConstant() / groups;
      Value number = form.groups > 1 && column == form.featureDimension
                         ? group
                         : scalars.divIndex(feature, kernel.index(perGroup));
      first = scalars.mulIndex(number, kernel.size(form.extents.back()));
    }
    input[numbers.getInputFeatureDimension()] = scalars.addIndex(first, contracted.back());
    auto load = [&] {
      return kernel.scalars().convert(kernel.get(convolution.getLhs(), input), elementType(convolution.getLhs()),
                                      form.wide);
    };
    if (!inside)
      return load();
    return emitIf(kernel.builder, kernel.location, scalarType(form.wide), inside, load,
                  [&] { return kernel.scalars().zero(form.wide); });
  }

  Value rhsElement(ValueRange indices, ValueRange contracted) {
    if (auto dot = dyn_cast<DotGeneralOp>(form.op))
      return dotElement(dot, 1, indices, contracted);
    auto convolution = cast<ConvolutionOp>(form.op);
    ConvolutionDimensionsAttr numbers = convolution.getDimensionNumbers();
    SmallVector<Value> weights(indices.size());
    weights[numbers.getKernelOutputFeatureDimension()] = indices[numbers.getOutputFeatureDimension()];
    weights[numbers.getKernelInputFeatureDimension()] = contracted.back();
    for (auto [i, dimension] : llvm::enumerate(numbers.getKernelSpatialDimensions()))
      weights[dimension] = contracted[i];
    return kernel.scalars().convert(kernel.get(convolution.getRhs(), weights), elementType(convolution.getRhs()),
                                    form.wide);
  }

  Value dotElement(DotGeneralOp dot, unsigned side, ValueRange indices, ValueRange contracted) {
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
    return kernel.scalars().convert(kernel.get(operand, source), elementType(operand), form.wide);
  }

  /// sum + lhs * rhs; the order of a contraction is free, and so is its rounding.
  Value multiplyAdd(Value lhs, Value rhs, Value sum) {
    if (isa<FloatType>(form.wide))
      return math::FmaOp::create(kernel.builder, kernel.location, lhs, rhs, sum);
    ScalarBuilder scalars = kernel.scalars();
    return scalars.add(form.wide, sum, scalars.multiply(form.wide, lhs, rhs));
  }

  SmallVector<Value> at(ArrayRef<Value> indices, Value rowIndex, Value columnIndex) {
    SmallVector<Value> result(indices);
    if (row >= 0)
      result[row] = rowIndex;
    if (column >= 0)
      result[column] = columnIndex;
    return result;
  }

  void storeResults(ArrayRef<Value> indices, Value sum) {
    Value result = form.op->getResult(0);
    kernel.define(result, indices, kernel.scalars().convert(sum, form.wide, elementType(result)));
    SmallVector<Value> elements;
    for (Value yielded : kernel.results())
      elements.push_back(kernel.get(yielded, indices));
    for (auto [i, element] : llvm::enumerate(elements))
      kernel.store(i, indices, element);
  }

  void emitBlock(ArrayRef<Value> indices, Value firstRow, Value firstColumn, Value width) {
    if (form.isDotProduct)
      return emitDotProducts(indices, firstRow, firstColumn, width);
    ScalarBuilder scalars = kernel.scalars();
    // Rows past the end repeat the last one and are not stored.
    SmallVector<Value> rows;
    Value lastRow = scalars.subIndex(rowCount, kernel.index(1));
    for (size_t i = 0; i < sums.size(); ++i)
      rows.push_back(scalars.minIndex(scalars.addIndex(firstRow, kernel.index(i)), lastRow));
    kernel.loop(
        zero, width,
        [&](Value offset) {
          for (const LocalMemory &sum : sums)
            kernel.store(sum, offset, kernel.scalars().zero(form.wide));
        },
        true);
    bool columnsInLhs = column >= 0 && form.inLhs[column], columnsInRhs = column >= 0 && form.inRhs[column];
    SmallVector<Value> extents = kernel.sizes(form.extents);
    emitLoops(kernel.builder, kernel.location, extents, {},
              [&](ValueRange contracted, ValueRange) -> SmallVector<Value> {
                // What does not depend on the column comes before the loop over columns.
                SmallVector<Value> lhs(sums.size()), rhs(sums.size());
                for (size_t i = 0; i < sums.size(); ++i) {
                  SmallVector<Value> place = at(indices, rows[i], firstColumn);
                  if (!columnsInLhs)
                    lhs[i] = lhsElement(place, contracted);
                  if (!columnsInRhs)
                    rhs[i] = rhsElement(place, contracted);
                }
                kernel.loop(
                    zero, width,
                    [&](Value offset) {
                      Value columnIndex = kernel.scalars().addIndex(firstColumn, offset);
                      Value sharedLhs, sharedRhs;
                      for (size_t i = 0; i < sums.size(); ++i) {
                        SmallVector<Value> place = at(indices, rows[i], columnIndex);
                        Value left = lhs[i], right = rhs[i];
                        // The operand along the columns is the same for all rows.
                        if (!left)
                          left = sharedLhs = sharedLhs ? sharedLhs : lhsElement(place, contracted);
                        if (!right)
                          right = sharedRhs = sharedRhs ? sharedRhs : rhsElement(place, contracted);
                        kernel.store(sums[i], offset, multiplyAdd(left, right, kernel.load(sums[i], offset)));
                      }
                    },
                    true);
                return {};
              });
    for (size_t i = 0; i < sums.size(); ++i) {
      auto storeRow = [&] {
        kernel.loop(
            zero, width,
            [&](Value offset) {
              Value sum = kernel.load(sums[i], offset);
              storeResults(at(indices, rows[i], kernel.scalars().addIndex(firstColumn, offset)), sum);
            },
            true);
      };
      if (i == 0)
        storeRow();
      else
        kernel.branch(kernel.scalars().lessThan(kernel.scalars().addIndex(firstRow, kernel.index(i)), rowCount),
                      storeRow);
    }
  }

  void emitDotProducts(ArrayRef<Value> indices, Value firstRow, Value firstColumn, Value width) {
    ScalarBuilder scalars = kernel.scalars();
    Value lastColumn = scalars.subIndex(width, kernel.index(1));
    SmallVector<LaneReduction> reductions(column >= 0 ? kRows : 1, {ReductionKind::sum, form.wide});
    SmallVector<SmallVector<Value>> places;
    for (size_t i = 0; i < reductions.size(); ++i)
      places.push_back(
          at(indices, firstRow, scalars.addIndex(firstColumn, scalars.minIndex(kernel.index(i), lastColumn))));
    SmallVector<Value> values =
        kernel.reduceLanes(reductions, kernel.size(form.extents[0]), [&](Value contracted) -> SmallVector<Value> {
          SmallVector<Value> products;
          for (const SmallVector<Value> &place : places) {
            Value lhs = lhsElement(place, contracted);
            Value rhs = rhsElement(place, contracted);
            products.push_back(kernel.scalars().multiply(form.wide, lhs, rhs));
          }
          return products;
        });
    for (size_t i = 0; i < reductions.size(); ++i) {
      if (i == 0)
        storeResults(places[i], values[i]);
      else
        kernel.branch(scalars.lessThan(kernel.index(i), width), [&] { storeResults(places[i], values[i]); });
    }
  }

  KernelEmitter &kernel;
  Contraction form;
  int64_t column = -1, row = -1;
  Value rowCount, group, zero;
  SmallVector<LocalMemory> sums; // one a row of the block
};

Operation *findContraction(KernelEmitter &kernel) {
  Operation *found = nullptr;
  for (Operation &op : kernel.body())
    if (isa<DotGeneralOp, ConvolutionOp>(op)) {
      if (found)
        return nullptr;
      found = &op;
    }
  return found;
}

} // namespace

bool isContractionKernel(KernelEmitter &kernel) {
  Operation *op = findContraction(kernel);
  if (!op)
    return false;
  SmallVector<Dim> dims = getDims(op->getResult(0).getType());
  return llvm::all_of(kernel.results(), [&](Value result) { return getDims(result.getType()) == dims; });
}

FailureOr<KernelTiles> emitContractionKernel(KernelEmitter &kernel) {
  Operation *op = findContraction(kernel);
  Contraction form = isa<DotGeneralOp>(op) ? describe(cast<DotGeneralOp>(op)) : describe(cast<ConvolutionOp>(op));
  return ContractionKernel(kernel, std::move(form)).emit();
}

} // namespace weft::codegen::cpu
