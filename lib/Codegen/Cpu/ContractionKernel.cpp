//===- ContractionKernel.cpp - Kernels around one dot_general or convolution ----------------------------===//
//
// A tile is a block of the output: some rows by some columns, the columns being the innermost output dimension. Each
// step of the sum takes one operand's elements along the columns, in a vectorized loop, times the other operand's
// element of each row; the sums stay in the first-level cache. The elementwise rest follows while the block is there.
// Where both operands have the contracted dimension innermost, the columns are dot products instead.

#include "dialects/Graph/Graph.h"
#include "lib/Codegen/Contraction.h"
#include "lib/Codegen/Cpu/KernelEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen::cpu {

namespace {

constexpr int64_t kRows = 4, kColumns = 64;

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
    bool knowsGroup = form.groups > 1 && column == form.featureDimension;
    return form.lhsElement(kernel, indices, contracted, knowsGroup ? group : Value());
  }
  Value rhsElement(ValueRange indices, ValueRange contracted) { return form.rhsElement(kernel, indices, contracted); }

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

} // namespace

bool isContractionKernel(KernelEmitter &kernel) { return findContraction(kernel.body(), kernel.results()).has_value(); }

FailureOr<KernelTiles> emitContractionKernel(KernelEmitter &kernel) {
  return ContractionKernel(kernel, *findContraction(kernel.body(), kernel.results())).emit();
}

} // namespace weft::codegen::cpu
