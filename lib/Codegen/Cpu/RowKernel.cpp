//===- RowKernel.cpp - Kernels that reduce rows and use the results along them -----------------------===//
//
// A row is what the trailing dimensions hold. Reductions that depend on one another are made one pass over the row
// each, those that do not share a pass; the elementwise rest is the last pass. The row stays in the cache between
// passes; functions that several passes need are computed by the first and kept in scratch memory.

#include "dialects/Graph/Graph.h"
#include "lib/Codegen/Cpu/KernelEmitter.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen::cpu {

namespace {

SmallVector<Dim> withoutOnes(ArrayRef<Dim> dims) {
  SmallVector<Dim> result;
  for (const Dim &dim : dims)
    if (!dim.isConstant() || dim.getConstant() != 1)
      result.push_back(dim);
  return result;
}

/// The rows of a kernel: `dims` of what is reduced, of which the first `rowRank` number the rows.
struct RowShape {
  SmallVector<Dim> dims;
  size_t rowRank = 0;
  SmallVector<ReduceOp> reductions; // in program order

  ArrayRef<Dim> rowDims() const { return ArrayRef(dims).take_front(rowRank); }
  ArrayRef<Dim> trailingDims() const { return ArrayRef(dims).drop_front(rowRank); }
  bool isRow(Type type) const { return withoutOnes(getDims(type)) == withoutOnes(rowDims()); }
  bool isFull(Type type) const { return withoutOnes(getDims(type)) == withoutOnes(dims); }
};

std::optional<RowShape> findRowShape(KernelEmitter &kernel) {
  RowShape shape;
  for (ReduceOp reduce : kernel.body().getOps<ReduceOp>()) {
    SmallVector<Dim> dims = getDims(reduce.getOperand().getType());
    ArrayRef<int64_t> reduced = reduce.getDimensions();
    size_t rowRank = dims.size() - reduced.size();
    // Sorted and distinct, so the first says whether they are the last dimensions.
    if (reduced.empty() || reduced[0] != static_cast<int64_t>(rowRank))
      return std::nullopt;
    if (shape.reductions.empty()) {
      shape.dims = dims;
      shape.rowRank = rowRank;
    } else if (shape.dims != dims || shape.rowRank != rowRank) {
      return std::nullopt;
    }
    shape.reductions.push_back(reduce);
  }
  if (shape.reductions.empty())
    return std::nullopt;
  for (Value result : kernel.results())
    if (!shape.isFull(result.getType()) && !shape.isRow(result.getType()))
      return std::nullopt;
  return shape;
}

/// All that `roots` are computed from without passing a reduction.
llvm::SetVector<Value> collectPass(ArrayRef<Value> roots) {
  llvm::SetVector<Value> values;
  SmallVector<Value> work(roots);
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!values.insert(value) || !op || isa<ReduceOp>(op))
      continue;
    llvm::append_range(work, op->getOperands());
  }
  return values;
}

class RowKernel {
public:
  RowKernel(KernelEmitter &kernel, RowShape shape) : kernel(kernel), shape(std::move(shape)) {}

  KernelTiles emit() {
    MLIRContext *context = kernel.builder.getContext();
    orderPasses();
    SmallVector<Value> roots(kernel.results());
    space.emplace(shape.dims, roots, shape.rowRank);
    Dim length = product(shape.trailingDims(), context), rows = product(shape.rowDims(), context);
    allocateCaches(length);

    int64_t rowsPerTile = 1;
    double operations = 16 + costPerElement(kernel.body());
    if (length.isConstant())
      rowsPerTile = std::clamp<int64_t>(200000 / (operations * std::max<int64_t>(length.getConstant(), 1)), 1, 256);
    ScalarBuilder scalars = kernel.scalars();
    zero = kernel.index(0);
    for (size_t group = 0; group < space->getGroupCount(); ++group)
      (group < space->getRowGroupCount() ? rowSizes : trailingSizes).push_back(kernel.size(space->getGroupSize(group)));
    Value lengthValue = kernel.size(length);
    Value lower = scalars.mulIndex(kernel.getBegin(), kernel.index(rowsPerTile));
    Value upper = scalars.minIndex(scalars.mulIndex(kernel.getEnd(), kernel.index(rowsPerTile)), kernel.size(rows));
    kernel.loop(lower, upper, [&](Value row) { emitRow(row, lengthValue); });
    return {rows.ceilDiv(rowsPerTile)};
  }

private:
  /// Reductions by the pass that can make them: one that depends on another comes in a later pass.
  void orderPasses() {
    llvm::DenseMap<Operation *, size_t> passOf;
    for (ReduceOp reduce : shape.reductions) {
      size_t pass = 0;
      for (Value value : collectPass({reduce.getOperand()}))
        if (auto earlier = value.getDefiningOp<ReduceOp>())
          pass = std::max(pass, passOf.lookup(earlier) + 1);
      passOf[reduce] = pass;
      if (passes.size() <= pass)
        passes.resize(pass + 1);
      passes[pass].push_back(reduce);
    }
  }

  /// Room for the functions that more than one pass needs.
  void allocateCaches(const Dim &length) {
    llvm::DenseMap<Value, unsigned> uses;
    auto count = [&](ArrayRef<Value> roots) {
      for (Value value : collectPass(roots))
        ++uses[value];
    };
    for (ArrayRef<ReduceOp> pass : passes) {
      SmallVector<Value> roots;
      for (ReduceOp reduce : pass)
        roots.push_back(reduce.getOperand());
      count(roots);
    }
    SmallVector<Value> full;
    for (Value result : kernel.results())
      if (shape.isFull(result.getType()))
        full.push_back(result);
    count(full);
    for (Operation &op : kernel.body()) {
      if (op.getNumResults() != 1 || uses.lookup(op.getResult(0)) < 2 ||
          getDims(op.getResult(0).getType()) != shape.dims)
        continue;
      bool isFunction = isa<ExponentialOp, ExponentialMinusOneOp, LogOp, LogPlusOneOp, CbrtOp, SineOp, CosineOp, TanOp,
                            AsinOp, AcosOp, AtanOp, SinhOp, CoshOp, TanhOp, AsinhOp, AcoshOp, AtanhOp, LogisticOp,
                            ErfOp, PowerOp, Atan2Op, DivideOp, RemainderOp>(op);
      Type type = elementType(op.getResult(0));
      if (isFunction && elementsPerByte(type) == 1)
        kernel.cachedRows[op.getResult(0)].memory = kernel.allocateScratch(type, length);
    }
  }

  /// Full indices of a position in the current row.
  SmallVector<Value> fullIndices(Value position) {
    SmallVector<Value> positions = rowPositions;
    llvm::append_range(positions, kernel.scalars().delinearize(position, trailingSizes));
    return space->getIndices(positions, zero);
  }

  /// The indices of an element of a value that has the dimensions of the space, or the first of them, but for ones.
  SmallVector<Value> indicesOf(Type type, ArrayRef<Value> full) {
    SmallVector<Value> kept, indices;
    for (auto [dim, value] : llvm::zip(shape.dims, full))
      if (!dim.isConstant() || dim.getConstant() != 1)
        kept.push_back(value);
    size_t next = 0;
    for (const Dim &dim : getDims(type))
      indices.push_back(dim.isConstant() && dim.getConstant() == 1 ? zero : kept[next++]);
    return indices;
  }

  /// Tells the cached values where in the row the code that follows stands.
  void enterElement(Value position, ArrayRef<Value> indices) {
    for (auto &[value, cached] : kernel.cachedRows) {
      cached.block = kernel.builder.getInsertionBlock();
      cached.position = position;
      cached.indices.assign(indices.begin(), indices.end());
    }
  }
  void leavePass() {
    for (auto &[value, cached] : kernel.cachedRows) {
      cached.isFilled |= cached.isStored;
      cached.block = nullptr;
      cached.indices.clear();
    }
  }

  void emitRow(Value row, Value length) {
    rowPositions = kernel.scalars().delinearize(row, rowSizes);
    SmallVector<Value> positions = rowPositions;
    positions.resize(space->getGroupCount(), zero);
    SmallVector<Value> first = space->getIndices(positions, zero);
    ArrayRef<Value> rowIndices = ArrayRef(first).take_front(shape.rowRank);
    for (ArrayRef<ReduceOp> pass : passes) {
      SmallVector<LaneReduction> reductions;
      for (ReduceOp reduce : pass)
        reductions.push_back({reduce.getKind(), accumulationType(elementType(reduce.getOperand()))});
      SmallVector<Value> values = kernel.reduceLanes(reductions, length, [&](Value position) {
        SmallVector<Value> indices = fullIndices(position), elements;
        enterElement(position, indices);
        for (ReduceOp reduce : pass)
          elements.push_back(
              kernel.scalars().widen(kernel.get(reduce.getOperand(), indices), elementType(reduce.getOperand())));
        return elements;
      });
      leavePass();
      for (auto [i, value] : llvm::enumerate(values)) {
        ReduceOp reduce = pass[i];
        kernel.define(reduce, rowIndices, kernel.scalars().narrow(value, elementType(reduce.getResult())));
      }
    }
    SmallVector<unsigned> full;
    for (auto [i, result] : llvm::enumerate(kernel.results())) {
      if (shape.isFull(result.getType())) {
        full.push_back(i);
        continue;
      }
      SmallVector<Value> indices = indicesOf(result.getType(), first);
      kernel.store(i, indices, kernel.get(result, indices));
    }
    if (full.empty())
      return;
    kernel.loop(
        zero, length,
        [&](Value position) {
          SmallVector<Value> indices = fullIndices(position);
          enterElement(position, indices);
          SmallVector<Value> elements;
          SmallVector<SmallVector<Value>> places;
          for (unsigned result : full) {
            places.push_back(indicesOf(kernel.results()[result].getType(), indices));
            elements.push_back(kernel.get(kernel.results()[result], places.back()));
          }
          for (auto [result, place, element] : llvm::zip(full, places, elements))
            kernel.store(result, place, element);
        },
        true);
    leavePass();
    for (auto &[value, cached] : kernel.cachedRows)
      cached.isFilled = cached.isStored = false;
  }

  KernelEmitter &kernel;
  RowShape shape;
  std::optional<IterationSpace> space;
  SmallVector<SmallVector<ReduceOp>> passes;
  SmallVector<Value> rowSizes, trailingSizes, rowPositions;
  Value zero;
};

} // namespace

bool isRowKernel(KernelEmitter &kernel) { return findRowShape(kernel).has_value(); }

FailureOr<KernelTiles> emitRowKernel(KernelEmitter &kernel) {
  std::optional<RowShape> shape = findRowShape(kernel);
  if (!shape)
    return failure();
  return RowKernel(kernel, std::move(*shape)).emit();
}

} // namespace weft::codegen::cpu
