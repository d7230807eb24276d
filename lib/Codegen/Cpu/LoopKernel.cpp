//===- LoopKernel.cpp - Kernels that compute each element of the results on its own -------------------===//

#include "dialects/Graph/Graph.h"
#include "lib/Codegen/Cpu/KernelEmitter.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen::cpu {

namespace {

/// Work that is worth handing to a thread: about as much as this many additions on elements in the cache.
constexpr double kTileOperations = 65536;

/// Elements of a tile: a power of two, the same whatever the number of threads.
int64_t elementsPerTile(Block &body) {
  double elements = kTileOperations / (3 + costPerElement(body));
  int64_t size = 16384;
  while (size > 256 && size > elements)
    size /= 2;
  return size;
}

/// Results of one shape are computed together.
struct ResultGroup {
  SmallVector<Dim> dims;
  SmallVector<unsigned> results;
};

} // namespace

FailureOr<KernelTiles> emitLoopKernel(KernelEmitter &kernel) {
  MLIRContext *context = kernel.builder.getContext();
  SmallVector<ResultGroup> groups;
  for (auto [i, result] : llvm::enumerate(kernel.results())) {
    SmallVector<Dim> dims = getDims(result.getType());
    auto *found = llvm::find_if(groups, [&](const ResultGroup &group) { return group.dims == dims; });
    if (found == groups.end())
      found = groups.insert(groups.end(), {dims, {}});
    found->results.push_back(i);
  }
  int64_t chunk = elementsPerTile(kernel.body());
  ScalarBuilder scalars = kernel.scalars();
  Value zero = kernel.index(0);
  // Groups of results follow one another in the tiles.
  Dim tiles = Dim::constant(context, 0);
  for (const ResultGroup &group : groups) {
    SmallVector<Value> roots;
    for (unsigned result : group.results)
      roots.push_back(kernel.results()[result]);
    Value firstTile = kernel.size(tiles);
    auto storeResults = [&](ValueRange indices) {
      SmallVector<Value> elements;
      for (Value root : roots)
        elements.push_back(kernel.get(root, indices));
      for (auto [result, element] : llvm::zip(group.results, elements))
        kernel.store(result, indices, element);
    };
    auto localRange = [&](const Dim &count) {
      Value first = scalars.maxIndex(scalars.subIndex(kernel.getBegin(), firstTile), zero);
      Value last = scalars.minIndex(scalars.subIndex(kernel.getEnd(), firstTile), kernel.size(count));
      return std::make_pair(first, last);
    };

    bool linear = groups.size() == 1 && isLinear(roots);
    std::optional<IterationSpace> space;
    if (linear)
      kernel.setLinear();
    else
      space.emplace(group.dims, roots);
    size_t depth = linear ? 1 : space->getGroupCount();
    if (depth <= 1) {
      // One loop over all that the tiles of the call hold.
      Dim size = linear       ? getElementCount(roots[0].getType())
                 : depth == 1 ? space->getGroupSize(0)
                              : Dim::constant(context, 1);
      Dim count = size.ceilDiv(chunk);
      auto [first, last] = localRange(count);
      Value lower = scalars.mulIndex(first, kernel.index(chunk));
      Value upper = scalars.minIndex(scalars.mulIndex(last, kernel.index(chunk)), kernel.size(size));
      kernel.loop(
          lower, upper,
          [&](Value position) {
            SmallVector<Value> indices(group.dims.size(), zero);
            if (linear) {
              if (!indices.empty())
                indices.back() = position;
            } else {
              indices = space->getIndices(depth ? ValueRange(position) : ValueRange(), zero);
            }
            storeResults(indices);
          },
          true);
      tiles = tiles + count;
      continue;
    }

    // The innermost group is the vectorized loop; the outer ones are one space of rows.
    size_t outerDepth = depth - 1;
    Dim inner = space->getGroupSize(outerDepth);
    Dim rows = Dim::constant(context, 1);
    SmallVector<Value> outerSizes;
    for (size_t i = 0; i < outerDepth; ++i) {
      rows = rows * space->getGroupSize(i);
      outerSizes.push_back(kernel.size(space->getGroupSize(i)));
    }
    bool cutRows = !inner.isConstant() || inner.getConstant() >= 2 * chunk;
    int64_t rowsPerTile = 1;
    if (inner.isConstant() && inner.getConstant() > 0 && !cutRows)
      rowsPerTile = std::max<int64_t>(1, chunk / inner.getConstant());
    auto emitRow = [&](Value row, Value lower, Value upper) {
      SmallVector<Value> positions = scalars.delinearize(row, outerSizes);
      positions.push_back({});
      kernel.loop(
          lower, upper,
          [&](Value position) {
            positions.back() = position;
            storeResults(space->getIndices(positions, zero));
          },
          true);
    };
    if (cutRows) {
      Dim cuts = inner.ceilDiv(chunk);
      Dim count = rows * cuts;
      auto [first, last] = localRange(count);
      Value cutCount = kernel.size(cuts), innerSize = kernel.size(inner);
      kernel.loop(first, last, [&](Value tile) {
        Value lower = scalars.mulIndex(scalars.remIndex(tile, cutCount), kernel.index(chunk));
        Value upper = scalars.minIndex(scalars.addIndex(lower, kernel.index(chunk)), innerSize);
        emitRow(scalars.divIndex(tile, cutCount), lower, upper);
      });
      tiles = tiles + count;
    } else {
      Dim count = rows.ceilDiv(rowsPerTile);
      auto [first, last] = localRange(count);
      Value lower = scalars.mulIndex(first, kernel.index(rowsPerTile));
      Value upper = scalars.minIndex(scalars.mulIndex(last, kernel.index(rowsPerTile)), kernel.size(rows));
      Value innerSize = kernel.size(inner);
      kernel.loop(lower, upper, [&](Value row) { emitRow(row, zero, innerSize); });
      tiles = tiles + count;
    }
  }
  return KernelTiles{tiles};
}

FailureOr<KernelTiles> emitPackedKernel(KernelEmitter &kernel) {
  // Tiles cover whole bytes of every result: four elements are one byte of i2 and two of i4.
  constexpr int64_t kStep = 4;
  MLIRContext *context = kernel.builder.getContext();
  ScalarBuilder scalars = kernel.scalars();
  int64_t chunk = elementsPerTile(kernel.body());
  Dim tiles = Dim::constant(context, 0);
  Value zero = kernel.index(0);
  static_assert(256 % kStep == 0, "a tile holds whole bytes");
  for (auto [i, result] : llvm::enumerate(kernel.results())) {
    unsigned number = i;
    Value root = result;
    Dim size = getElementCount(root.getType()), count = size.ceilDiv(chunk);
    Value firstTile = kernel.size(tiles);
    Value first = scalars.maxIndex(scalars.subIndex(kernel.getBegin(), firstTile), zero);
    Value last = scalars.minIndex(scalars.subIndex(kernel.getEnd(), firstTile), kernel.size(count));
    Value lower = scalars.mulIndex(first, kernel.index(chunk));
    Value upper = scalars.minIndex(scalars.mulIndex(last, kernel.index(chunk)), kernel.size(size));
    SmallVector<Value> dimensionSizes = kernel.sizes(getDims(root.getType()));
    kernel.loop(lower, upper, [&](Value position) {
      SmallVector<Value> indices = scalars.delinearize(position, dimensionSizes);
      kernel.storeAt(number, position, kernel.get(root, indices));
    });
    tiles = tiles + count;
  }
  return KernelTiles{tiles};
}

} // namespace weft::codegen::cpu
