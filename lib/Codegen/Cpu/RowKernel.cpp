//===- RowKernel.cpp - Kernels that reduce rows and use the results along them -----------------------===//
//
// A row is what the trailing dimensions hold. Reductions that depend on one another are made one pass over the row
// each, those that do not share a pass; the elementwise rest is the last pass. The row stays in the cache between
// passes; functions that several passes need are computed by the first and kept in scratch memory.

#include "dialects/Graph/Graph.h"
#include "dialects/Graph/ReductionEmit.h"
#include "lib/Codegen/Cpu/KernelEmitter.h"
#include "lib/Codegen/RowForm.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen::cpu {

namespace {

class RowKernel {
public:
  RowKernel(KernelEmitter &kernel, RowForm form) : kernel(kernel), shape(std::move(form)), passes(shape.passes()) {}

  KernelTiles emit() {
    MLIRContext *context = kernel.builder.getContext();
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
  /// Room for the functions that more than one pass needs.
  void allocateCaches(const Dim &length) {
    llvm::DenseMap<Value, unsigned> uses;
    auto count = [&](ArrayRef<Value> roots) {
      for (Value value : collectRowPass(roots))
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
        kernel.define(reduce, rowIndices,
                      narrowReduction(kernel.scalars(), reduce.getKind(), value, elementType(reduce.getResult())));
      }
    }
    SmallVector<unsigned> full;
    for (auto [i, result] : llvm::enumerate(kernel.results())) {
      if (shape.isFull(result.getType())) {
        full.push_back(i);
        continue;
      }
      SmallVector<Value> indices = shape.indicesOf(result.getType(), first, zero);
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
            places.push_back(shape.indicesOf(kernel.results()[result].getType(), indices, zero));
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
  RowForm shape;
  SmallVector<SmallVector<ReduceOp>> passes;
  std::optional<IterationSpace> space;
  SmallVector<Value> rowSizes, trailingSizes, rowPositions;
  Value zero;
};

} // namespace

bool isRowKernel(KernelEmitter &kernel) { return findRowForm(kernel.body(), kernel.results()).has_value(); }

FailureOr<KernelTiles> emitRowKernel(KernelEmitter &kernel) {
  std::optional<RowForm> shape = findRowForm(kernel.body(), kernel.results());
  if (!shape)
    return failure();
  return RowKernel(kernel, std::move(*shape)).emit();
}

} // namespace weft::codegen::cpu
