//===- TransposeKernel.cpp - Kernels around a transpose of the innermost dimension ------------------------===//
//
// A square of the operand is read along the dimension where the operand is contiguous into shared memory, and the
// results are written along the one where they are. The rows of the square have a word of padding, so that its columns
// lie in different banks. Of types narrower than a word a thread takes as many neighbours as fill one.

#include "dialects/Graph/Graph.h"
#include "lib/Codegen/Gpu/KernelEmitter.h"
#include "lib/Codegen/KernelForms.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen::gpu {

namespace {

constexpr int64_t kRowsAtOnce = 8; // warps of a block
constexpr int64_t kWordBytes = 4;

class TransposeKernel {
public:
  TransposeKernel(KernelEmitter &kernel, TransposeForm form) : kernel(kernel), form(std::move(form)) {}

  KernelTiles emit() {
    kernel.setThreads(kRowsAtOnce * kWarp);
    Dim rows = form.dims[form.fromInner], columns = form.dims[form.toInner];
    Type type = elementType(form.op.getResult());
    int64_t bytes = storageBits(type) / 8;
    auto isMultiple = [](const Dim &dim, int64_t of) { return dim.isConstant() && dim.getConstant() % of == 0; };
    // Whole words along both dimensions.
    if (bytes < kWordBytes && isMultiple(rows, kWordBytes / bytes) && isMultiple(columns, kWordBytes / bytes))
      vector = kWordBytes / bytes;
    int64_t side = kWarp * vector, stride = side + std::max<int64_t>(1, kWordBytes / bytes);
    isWhole = isMultiple(rows, side) && isMultiple(columns, side);
    Dim rowBlocks = rows.ceilDiv(side), columnBlocks = columns.ceilDiv(side);
    Dim tiles = rowBlocks * columnBlocks;
    SmallVector<int64_t> outer;
    SmallVector<Value> space;
    for (int64_t i = 0; i < static_cast<int64_t>(form.dims.size()); ++i)
      if (i != form.fromInner && i != form.toInner) {
        outer.push_back(i);
        space.push_back(kernel.size(form.dims[i]));
        tiles = tiles * form.dims[i];
      }
    space.push_back(kernel.size(rowBlocks));
    space.push_back(kernel.size(columnBlocks));
    Value rowCount = kernel.size(rows), columnCount = kernel.size(columns);
    LocalMemory square = kernel.allocateShared(type, side * stride);
    ScalarBuilder scalars = kernel.scalars();
    Value across = scalars.mulIndex(scalars.remIndex(kernel.getThread(), kernel.index(kWarp)), kernel.index(vector));
    Value down = scalars.divIndex(kernel.getThread(), kernel.index(kWarp));
    kernel.forTiles([&](Value tile) {
      ScalarBuilder scalars = kernel.scalars();
      SmallVector<Value> position = scalars.delinearize(tile, space);
      SmallVector<Value> indices(form.dims.size(), kernel.index(0));
      for (auto [i, dimension] : llvm::enumerate(outer))
        indices[dimension] = position[i];
      Value firstRow = scalars.mulIndex(position[outer.size()], kernel.index(side));
      Value firstColumn = scalars.mulIndex(position[outer.size() + 1], kernel.index(side));
      // "Row" is the result's dimension along which the operand is contiguous.
      forLines(side, [&](int64_t line) {
        ScalarBuilder scalars = kernel.scalars();
        Value inColumn = scalars.addIndex(down, kernel.index(line));
        Value row = scalars.addIndex(firstRow, across), column = scalars.addIndex(firstColumn, inColumn);
        whereInside(row, rowCount, column, columnCount, [&] {
          SmallVector<Value> elements;
          for (int64_t i = 0; i < vector; ++i) {
            SmallVector<Value> place(indices);
            place[form.fromInner] = kernel.scalars().addIndex(row, kernel.index(i));
            place[form.toInner] = column;
            elements.push_back(kernel.get(form.op.getOperand(), operandIndices(place)));
          }
          for (int64_t i = 0; i < vector; ++i)
            kernel.store(square, placeInSquare(inColumn, kernel.scalars().addIndex(across, kernel.index(i)), stride),
                         elements[i]);
        });
      });
      kernel.barrier();
      forLines(side, [&](int64_t line) {
        ScalarBuilder scalars = kernel.scalars();
        Value inRow = scalars.addIndex(down, kernel.index(line));
        Value row = scalars.addIndex(firstRow, inRow), column = scalars.addIndex(firstColumn, across);
        whereInside(row, rowCount, column, columnCount, [&] {
          SmallVector<SmallVector<Value>> places, elements;
          for (int64_t i = 0; i < vector; ++i) {
            places.emplace_back(indices);
            places.back()[form.fromInner] = row;
            places.back()[form.toInner] = kernel.scalars().addIndex(column, kernel.index(i));
            Value element =
                kernel.load(square, placeInSquare(kernel.scalars().addIndex(across, kernel.index(i)), inRow, stride));
            kernel.define(form.op.getResult(), places.back(), element);
            elements.emplace_back();
            for (Value result : kernel.results())
              elements.back().push_back(kernel.get(result, places.back()));
          }
          for (size_t number = 0; number < kernel.results().size(); ++number)
            for (int64_t i = 0; i < vector; ++i)
              kernel.store(number, places[i], elements[i][number]);
        });
      });
      kernel.barrier();
    });
    return {tiles, kernel.getMultiprocessors() * 8};
  }

private:
  void forLines(int64_t side, function_ref<void(int64_t)> body) {
    for (int64_t line = 0; line < side; line += kRowsAtOnce)
      body(line);
  }
  Value placeInSquare(Value line, Value position, int64_t stride) {
    return kernel.scalars().addIndex(kernel.scalars().mulIndex(line, kernel.index(stride)), position);
  }
  SmallVector<Value> operandIndices(ArrayRef<Value> place) {
    SmallVector<Value> source(place.size());
    for (auto [dimension, from] : llvm::enumerate(form.op.getPermutation()))
      source[from] = place[dimension];
    return source;
  }
  void whereInside(Value row, Value rowCount, Value column, Value columnCount, function_ref<void()> body) {
    if (isWhole)
      return body();
    ScalarBuilder scalars = kernel.scalars();
    kernel.branch(scalars.both(scalars.lessThan(row, rowCount), scalars.lessThan(column, columnCount)), body);
  }

  KernelEmitter &kernel;
  TransposeForm form;
  int64_t vector = 1;
  bool isWhole = false;
};

} // namespace

bool isTransposeKernel(KernelEmitter &kernel) {
  std::optional<TransposeForm> form = findTransposeForm(kernel.body(), kernel.results());
  return form && elementsPerByte(elementType(form->op.getResult())) == 1;
}

FailureOr<KernelTiles> emitTransposeKernel(KernelEmitter &kernel) {
  std::optional<TransposeForm> form = findTransposeForm(kernel.body(), kernel.results());
  if (!form)
    return failure();
  return TransposeKernel(kernel, std::move(*form)).emit();
}

} // namespace weft::codegen::gpu
