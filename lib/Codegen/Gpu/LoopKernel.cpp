//===- LoopKernel.cpp - Kernels that compute each element of the results on its own -------------------===//
//
// A thread computes a vector of neighbouring elements in straight-line code, whose loads and stores the backend joins
// to accesses of up to 128 bits. A tile is what the threads of a block compute.

#include "dialects/Graph/Graph.h"
#include "lib/Codegen/Gpu/KernelEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen::gpu {

namespace {

/// Code of a thread's vector, in simple operations.
constexpr double kVectorOperations = 512;
constexpr int64_t kAccessBytes = 16;

/// Results of one shape are computed together.
struct ResultGroup {
  SmallVector<Dim> dims;
  SmallVector<unsigned> results;
};

/// Whether an element is computed by a loop of its own.
bool hasInnerLoops(Block &body) {
  return llvm::any_of(body, [](Operation &op) {
    return isa<ReduceOp, ReduceWindowOp, ArgReduceOp, CumulativeOp, DotGeneralOp, ConvolutionOp>(op);
  });
}

/// Elements that a thread computes: as many of the widest type as one access moves.
int64_t chooseVector(KernelEmitter &kernel, const ResultGroup &group) {
  if (hasInnerLoops(kernel.body()))
    return 1;
  Dim count = product(group.dims, kernel.builder.getContext());
  int64_t bytes = 1;
  auto consider = [&](Value value) {
    if (getElementCount(value.getType()) == count)
      bytes = std::max<int64_t>(bytes, storageBits(elementType(value)) / 8);
  };
  for (unsigned result : group.results)
    consider(kernel.results()[result]);
  for (Value argument : kernel.body().getArguments())
    consider(argument);
  int64_t vector = kAccessBytes / bytes;
  double cost = costPerElement(kernel.body());
  // Arithmetic on 8-bit floats is a conversion of some twenty instructions each way.
  auto isSmallFloat = [](Value value) {
    Type type = elementType(value);
    return isFloatElement(type) && storageBits(type) == 8;
  };
  for (Operation &op : kernel.body())
    if (llvm::any_of(op.getResults(), isSmallFloat) || llvm::any_of(op.getOperands(), isSmallFloat))
      cost += 20;
  while (vector > 1 && vector * cost > kVectorOperations)
    vector /= 2;
  return vector;
}

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
  constexpr int kThreads = 256;
  kernel.setThreads(kThreads);
  Value zero = kernel.index(0);
  // Groups of results follow one another in the tiles.
  Dim tiles = Dim::constant(context, 0);
  struct Part {
    SmallVector<Value> roots;
    std::optional<IterationSpace> space;
    int64_t vector = 1;
    Dim size, inner, firstTile, tiles; // elements; those of the innermost loop
    SmallVector<Value> unitSizes;
    Value sizeValue;
  };
  std::vector<Part> parts(groups.size());
  for (auto [group, part] : llvm::zip(groups, parts)) {
    for (unsigned result : group.results)
      part.roots.push_back(kernel.results()[result]);
    part.size = product(group.dims, context);
    part.vector = chooseVector(kernel, group);
    part.inner = part.size;
    if (groups.size() == 1 && isLinear(part.roots)) {
      kernel.setLinear();
    } else {
      part.space.emplace(group.dims, part.roots);
      if (size_t depth = part.space->getGroupCount(); depth > 1) {
        part.inner = part.space->getGroupSize(depth - 1);
        // A vector stays within the innermost loop.
        while (part.vector > 1 && (!part.inner.isConstant() || part.inner.getConstant() % part.vector != 0))
          part.vector /= 2;
        for (size_t i = 0; i + 1 < depth; ++i)
          part.unitSizes.push_back(kernel.size(part.space->getGroupSize(i)));
        part.unitSizes.push_back(kernel.size(part.inner.ceilDiv(part.vector)));
      }
    }
    part.firstTile = tiles;
    part.tiles = part.size.ceilDiv(kThreads * part.vector);
    part.sizeValue = kernel.size(part.size);
    tiles = tiles + part.tiles;
  }

  auto emitPart = [&](const ResultGroup &group, Part &part, Value tile) {
    ScalarBuilder scalars = kernel.scalars();
    auto indicesAt = [&](ArrayRef<Value> outer, Value position) {
      SmallVector<Value> positions(outer);
      positions.push_back(position);
      if (part.space)
        return part.space->getIndices(part.space->getGroupCount() ? ValueRange(positions) : ValueRange(), zero);
      SmallVector<Value> indices(group.dims.size(), zero);
      if (!indices.empty())
        indices.back() = position;
      return indices;
    };
    auto storeAt = [&](ArrayRef<Value> outer, Value first, int64_t count) {
      SmallVector<SmallVector<Value>> places, elements;
      for (int64_t i = 0; i < count; ++i) {
        places.push_back(indicesAt(outer, kernel.scalars().addIndex(first, kernel.index(i))));
        elements.emplace_back();
        for (Value root : part.roots)
          elements.back().push_back(kernel.get(root, places.back()));
      }
      for (auto [number, result] : llvm::enumerate(group.results))
        for (int64_t i = 0; i < count; ++i)
          kernel.store(result, places[i], elements[i][number]);
    };
    Value unit = scalars.addIndex(scalars.mulIndex(tile, kernel.index(kThreads)), kernel.getThread());
    Value first = scalars.mulIndex(unit, kernel.index(part.vector));
    if (!part.unitSizes.empty()) {
      auto emitUnit = [&] {
        SmallVector<Value> positions = kernel.scalars().delinearize(unit, part.unitSizes);
        Value inner = kernel.scalars().mulIndex(positions.pop_back_val(), kernel.index(part.vector));
        storeAt(positions, inner, part.vector);
      };
      if (part.size.isConstant() && part.size.getConstant() % (kThreads * part.vector) == 0)
        return emitUnit();
      return kernel.branch(scalars.lessThan(first, part.sizeValue), emitUnit);
    }
    if (part.size.isConstant() && part.size.getConstant() % (kThreads * part.vector) == 0)
      return storeAt({}, first, part.vector);
    if (part.vector == 1 || (part.size.isConstant() && part.size.getConstant() % part.vector == 0))
      return kernel.branch(scalars.lessThan(first, part.sizeValue), [&] { storeAt({}, first, part.vector); });
    Value last = scalars.addIndex(first, kernel.index(part.vector - 1));
    Value isWhole = scalars.lessThan(last, part.sizeValue);
    kernel.branch(isWhole, [&] { storeAt({}, first, part.vector); });
    Value rest = scalars.select(isWhole, part.sizeValue, first);
    kernel.loop(rest, part.sizeValue, [&](Value position) { storeAt({}, position, 1); });
  };

  kernel.forTiles([&](Value tile) {
    for (auto [number, group, part] : llvm::enumerate(groups, parts)) {
      if (groups.size() == 1) {
        emitPart(group, part, tile);
        continue;
      }
      ScalarBuilder scalars = kernel.scalars();
      Value local = scalars.subIndex(tile, kernel.size(part.firstTile));
      // As an unsigned number a tile before the first is past the last.
      Value inside = arith::CmpIOp::create(kernel.builder, kernel.location, arith::CmpIPredicate::ult, local,
                                           kernel.size(part.tiles));
      const ResultGroup &results = group;
      Part &current = part;
      kernel.branch(inside, [&] { emitPart(results, current, local); });
    }
  });
  return KernelTiles{tiles, kernel.getMultiprocessors() * 8};
}

FailureOr<KernelTiles> emitPackedKernel(KernelEmitter &kernel) {
  // A thread computes a whole byte, of a result with bytes or wider elements one element.
  constexpr int kThreads = 256;
  kernel.setThreads(kThreads);
  MLIRContext *context = kernel.builder.getContext();
  Dim tiles = Dim::constant(context, 0);
  SmallVector<std::pair<Dim, Dim>> ranges;
  for (Value result : kernel.results()) {
    Dim units = getElementCount(result.getType()).ceilDiv(elementsPerByte(elementType(result)));
    ranges.push_back({tiles, units.ceilDiv(kThreads)});
    tiles = tiles + ranges.back().second;
  }
  kernel.forTiles([&](Value tile) {
    for (auto [i, root] : llvm::enumerate(kernel.results())) {
      ScalarBuilder scalars = kernel.scalars();
      unsigned number = i;
      Value result = root;
      int64_t perByte = elementsPerByte(elementType(result));
      Value local = scalars.subIndex(tile, kernel.size(ranges[i].first));
      Value count = kernel.size(getElementCount(result.getType()));
      Value unit = scalars.addIndex(scalars.mulIndex(local, kernel.index(kThreads)), kernel.getThread());
      Value first = scalars.mulIndex(unit, kernel.index(perByte));
      Value started =
          arith::CmpIOp::create(kernel.builder, kernel.location, arith::CmpIPredicate::sge, local, kernel.index(0));
      Value inside = scalars.both(started, scalars.lessThan(first, count));
      kernel.branch(inside, [&] {
        SmallVector<Value> sizes = kernel.sizes(getDims(result.getType()));
        kernel.storeUnit(number, unit, [&](Value position) {
          return kernel.get(result, kernel.scalars().delinearize(position, sizes));
        });
      });
    }
  });
  return KernelTiles{tiles, kernel.getMultiprocessors() * 8};
}

} // namespace weft::codegen::gpu
