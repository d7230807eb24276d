//===- Reductions.cpp - Reductions in the order of the numerics contract ------------------------------===//
//
// The elements are cut in chunks. Within a chunk element e goes to lane e mod 128, each lane adds in order, then the
// lanes are added by a tree, and the results of the chunks in order. Lanes without elements hold the value that changes
// no bit of what it is combined with.

#include "lib/Codegen/Cpu/KernelEmitter.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen::cpu {

SmallVector<Value> KernelEmitter::reduceLanes(ArrayRef<LaneReduction> reductions, Value count,
                                              function_ref<SmallVector<Value>(Value)> elements) {
  std::optional<int64_t> known = knownIndex(count);
  int64_t lanes =
      known && *known < kReductionLanes ? llvm::PowerOf2Ceil(std::max<int64_t>(*known, 1)) : kReductionLanes;
  SmallVector<LocalMemory> memory;
  for (const LaneReduction &reduction : reductions)
    memory.push_back(allocateOnStack(reduction.elementType, lanes));
  Value zero = index(0), laneCount = index(lanes);
  auto fill = [&](Value from) {
    if (knownIndex(from) == lanes)
      return;
    loop(
        from, laneCount,
        [&](Value lane) {
          for (auto [reduction, array] : llvm::zip(reductions, memory))
            store(array, lane, scalars().identity(reduction.kind, reduction.elementType, /*exact=*/true));
        },
        true);
  };
  // Adds the elements at first, first + 1, ... to lanes 0, 1, ...
  auto addBlock = [&](Value first, Value size) {
    loop(
        zero, size,
        [&](Value lane) {
          SmallVector<Value> values = elements(scalars().addIndex(first, lane));
          for (auto [reduction, array, value] : llvm::zip(reductions, memory, values))
            store(array, lane, scalars().combine(reduction.kind, reduction.elementType, load(array, lane), value));
        },
        true);
  };
  auto combineLanes = [&]() {
    int64_t width = lanes / 2;
    for (; width >= 16; width /= 2) {
      Value half = index(width);
      loop(
          zero, half,
          [&](Value lane) {
            for (auto [reduction, array] : llvm::zip(reductions, memory)) {
              Value other = load(array, scalars().addIndex(lane, half));
              store(array, lane, scalars().combine(reduction.kind, reduction.elementType, load(array, lane), other));
            }
          },
          true);
    }
    SmallVector<Value> results;
    for (auto [reduction, array] : llvm::zip(reductions, memory)) {
      SmallVector<Value> values;
      for (int64_t lane = 0; lane < std::min<int64_t>(lanes, 2 * width); ++lane)
        values.push_back(load(array, index(lane)));
      if (values.empty())
        values.push_back(load(array, zero));
      for (int64_t step = width; step >= 1; step /= 2)
        for (int64_t lane = 0; lane < step; ++lane)
          values[lane] = scalars().combine(reduction.kind, reduction.elementType, values[lane], values[lane + step]);
      results.push_back(values[0]);
    }
    return results;
  };
  auto reduceChunk = [&](Value first, Value size) {
    if (std::optional<int64_t> knownSize = knownIndex(size); knownSize && *knownSize <= lanes) {
      // Each lane has one element at most.
      loop(
          zero, size,
          [&](Value lane) {
            SmallVector<Value> values = elements(scalars().addIndex(first, lane));
            for (auto [array, value] : llvm::zip(memory, values))
              store(array, lane, value);
          },
          true);
      fill(size);
      return combineLanes();
    }
    fill(zero);
    Value blocks = scalars().divIndex(size, laneCount);
    loop(zero, blocks,
         [&](Value block) { addBlock(scalars().addIndex(first, scalars().mulIndex(block, laneCount)), laneCount); });
    Value rest = scalars().remIndex(size, laneCount);
    if (knownIndex(rest) != 0)
      addBlock(scalars().addIndex(first, scalars().mulIndex(blocks, laneCount)), rest);
    return combineLanes();
  };

  SmallVector<Value> results;
  if (known && *known <= kReductionChunk) {
    results = reduceChunk(zero, count);
  } else {
    Value chunkSize = index(kReductionChunk);
    Value chunks = scalars().divIndex(scalars().addIndex(count, index(kReductionChunk - 1)), chunkSize);
    SmallVector<Value> initial;
    for (const LaneReduction &reduction : reductions)
      initial.push_back(scalars().identity(reduction.kind, reduction.elementType, /*exact=*/true));
    results = emitLoops(builder, location, chunks, initial,
                        [&](ValueRange loopIndices, ValueRange carried) -> SmallVector<Value> {
                          Value first = scalars().mulIndex(loopIndices[0], chunkSize);
                          Value size = scalars().minIndex(chunkSize, scalars().subIndex(count, first));
                          SmallVector<Value> chunk = reduceChunk(first, size);
                          for (auto [i, reduction] : llvm::enumerate(reductions))
                            chunk[i] = scalars().combine(reduction.kind, reduction.elementType, carried[i], chunk[i]);
                          return chunk;
                        });
  }
  // The sum of nothing is +0.
  if (!known || *known == 0)
    for (auto [i, reduction] : llvm::enumerate(reductions))
      if (reduction.kind == ReductionKind::sum && isFloatElement(reduction.elementType))
        results[i] =
            scalars().select(scalars().lessThan(zero, count), results[i], scalars().zero(reduction.elementType));
  return results;
}

Value KernelEmitter::reduce(ReductionKind kind, Type elementType, ValueRange extents,
                            function_ref<Value(ValueRange)> element) {
  if (!dependsOnOrder(kind, elementType))
    return emitLoops(builder, location, extents, scalars().identity(kind, elementType),
                     [&](ValueRange indices, ValueRange carried) -> SmallVector<Value> {
                       return {scalars().combine(kind, elementType, carried[0], element(indices))};
                     })[0];
  Value count = index(1);
  for (Value extent : extents)
    count = scalars().mulIndex(count, extent);
  return reduceLanes({{kind, elementType}}, count, [&](Value position) -> SmallVector<Value> {
    return {element(scalars().delinearize(position, extents))};
  })[0];
}

} // namespace weft::codegen::cpu
