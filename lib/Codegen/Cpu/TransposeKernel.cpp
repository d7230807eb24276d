//===- TransposeKernel.cpp - Kernels around a transpose of the innermost dimension ------------------------===//
//
// The operand is contiguous along one dimension of the result and the result along another. Both are walked in square
// blocks, so that each cache line that is touched is used whole while it is in the cache.

#include "dialects/Graph/Graph.h"
#include "lib/Codegen/Cpu/KernelEmitter.h"
#include "lib/Codegen/KernelForms.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen::cpu {

namespace {

constexpr int64_t kBlock = 32;

} // namespace

bool isTransposeKernel(KernelEmitter &kernel) { return findTransposeForm(kernel.body(), kernel.results()).has_value(); }

FailureOr<KernelTiles> emitTransposeKernel(KernelEmitter &kernel) {
  std::optional<TransposeForm> form = findTransposeForm(kernel.body(), kernel.results());
  if (!form)
    return failure();
  ScalarBuilder scalars = kernel.scalars();
  Dim rows = form->dims[form->fromInner], columns = form->dims[form->toInner];
  Dim rowBlocks = rows.ceilDiv(kBlock), columnBlocks = columns.ceilDiv(kBlock);
  Dim tiles = rowBlocks * columnBlocks;
  SmallVector<int64_t> outer;
  SmallVector<Value> space;
  for (int64_t i = 0; i < static_cast<int64_t>(form->dims.size()); ++i)
    if (i != form->fromInner && i != form->toInner) {
      outer.push_back(i);
      space.push_back(kernel.size(form->dims[i]));
      tiles = tiles * form->dims[i];
    }
  space.push_back(kernel.size(rowBlocks));
  space.push_back(kernel.size(columnBlocks));
  Value rowCount = kernel.size(rows), columnCount = kernel.size(columns), block = kernel.index(kBlock);
  kernel.loop(kernel.getBegin(), kernel.getEnd(), [&](Value tile) {
    SmallVector<Value> position = scalars.delinearize(tile, space);
    SmallVector<Value> indices(form->dims.size(), kernel.index(0));
    for (auto [i, dimension] : llvm::enumerate(outer))
      indices[dimension] = position[i];
    Value firstRow = scalars.mulIndex(position[outer.size()], block);
    Value firstColumn = scalars.mulIndex(position[outer.size() + 1], block);
    Value lastRow = scalars.minIndex(scalars.addIndex(firstRow, block), rowCount);
    Value lastColumn = scalars.minIndex(scalars.addIndex(firstColumn, block), columnCount);
    kernel.loop(firstRow, lastRow, [&](Value row) {
      kernel.loop(
          firstColumn, lastColumn,
          [&](Value column) {
            indices[form->fromInner] = row;
            indices[form->toInner] = column;
            SmallVector<Value> elements;
            for (Value result : kernel.results())
              elements.push_back(kernel.get(result, indices));
            for (auto [i, element] : llvm::enumerate(elements))
              kernel.store(i, indices, element);
          },
          true);
    });
  });
  return KernelTiles{tiles, /*grain=*/8};
}

} // namespace weft::codegen::cpu
