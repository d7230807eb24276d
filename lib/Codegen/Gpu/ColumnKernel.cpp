//===- ColumnKernel.cpp - Reductions over dimensions outside the innermost one ----------------------------===//
//
// A tile is 32 neighbouring columns, one a thread of a warp, for one position of the other kept dimensions. The lanes
// of the numerics contract are shared out to the warps of the block; the tree ends in shared memory, where the first
// warp takes what the others have.

#include "dialects/Graph/Graph.h"
#include "dialects/Graph/ReductionEmit.h"
#include "lib/Codegen/Gpu/KernelEmitter.h"
#include "lib/Codegen/KernelForms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen::gpu {

namespace {

/// Warps of a block, and the lanes of each.
constexpr int64_t kWarps = 16, kLanesPerWarp = kReductionLanes / kWarps;
/// With fewer elements to a sum a thread a column does as well.
constexpr int64_t kLeastElements = 32;

std::optional<ColumnForm> findReductions(KernelEmitter &kernel) {
  std::optional<ColumnForm> form = findColumnForm(kernel.body(), kernel.results());
  if (!form || !isa<ReduceOp>(form->ops[0]))
    return std::nullopt;
  Dim count = Dim::constant(kernel.builder.getContext(), 1);
  auto first = cast<ReduceOp>(form->ops[0]);
  for (int64_t dimension : first.getDimensions())
    count = count * getDim(first.getOperand().getType(), dimension);
  if (count.isConstant() && count.getConstant() < kLeastElements)
    return std::nullopt;
  int64_t bytes = 0;
  for (Operation *op : form->ops) {
    if (elementsPerByte(elementType(op->getOperand(0))) > 1)
      return std::nullopt;
    bytes += kWarps * kWarp * storageBits(accumulationType(elementType(op->getOperand(0)))) / 8;
  }
  if (bytes > kSharedLimit)
    return std::nullopt;
  return form;
}

class ColumnKernel {
public:
  ColumnKernel(KernelEmitter &kernel, ColumnForm form) : kernel(kernel), form(std::move(form)), zero(kernel.index(0)) {}

  KernelTiles emit() {
    MLIRContext *context = kernel.builder.getContext();
    kernel.setThreads(kWarps * kWarp);
    Dim columns = form.dims.back(), blocks = columns.ceilDiv(kWarp);
    Dim outer = product(ArrayRef(form.dims).drop_back(), context);
    SmallVector<Value> space = kernel.sizes(ArrayRef(form.dims).drop_back());
    space.push_back(kernel.size(blocks));
    columnCount = kernel.size(columns);
    auto first = cast<ReduceOp>(form.ops[0]);
    Dim count = Dim::constant(context, 1);
    for (int64_t dimension : first.getDimensions()) {
      Dim size = getDim(first.getOperand().getType(), dimension);
      extents.push_back(kernel.size(size));
      count = count * size;
    }
    elementCount = kernel.size(count);
    warp = kernel.scalars().divIndex(kernel.getThread(), kernel.index(kWarp));
    Value inWarp = kernel.scalars().remIndex(kernel.getThread(), kernel.index(kWarp));
    for (Operation *op : form.ops)
      exchange.push_back(kernel.allocateShared(wideType(op), kWarps * kWarp));
    isWhole = columns.isConstant() && columns.getConstant() % kWarp == 0;
    kernel.forTiles([&](Value tile) {
      ScalarBuilder scalars = kernel.scalars();
      SmallVector<Value> indices = scalars.delinearize(tile, space);
      Value column = scalars.addIndex(scalars.mulIndex(indices.back(), kernel.index(kWarp)), inWarp);
      // Threads past the last column repeat it and store nothing.
      indices.back() = isWhole ? column : scalars.minIndex(column, scalars.subIndex(columnCount, kernel.index(1)));
      SmallVector<Value> totals = reduceColumn(indices, inWarp);
      Value isFirst = arith::CmpIOp::create(kernel.builder, kernel.location, arith::CmpIPredicate::eq, warp, zero);
      Value stores = isWhole ? isFirst : scalars.both(isFirst, scalars.lessThan(column, columnCount));
      kernel.branch(stores, [&] {
        for (auto [op, total] : llvm::zip(form.ops, totals)) {
          Type type = elementType(op->getResult(0));
          kernel.define(op->getResult(0), indices,
                        narrowReduction(kernel.scalars(), cast<ReduceOp>(op).getKind(), total, type));
        }
        SmallVector<Value> elements;
        for (Value result : kernel.results())
          elements.push_back(kernel.get(result, indices));
        for (auto [i, element] : llvm::enumerate(elements))
          kernel.store(i, indices, element);
      });
    });
    return {outer * blocks, kernel.getMultiprocessors() * (2048 / kernel.getThreads())};
  }

private:
  Type wideType(Operation *op) { return accumulationType(elementType(op->getOperand(0))); }
  Value identity(Operation *op) {
    return kernel.scalars().identity(cast<ReduceOp>(op).getKind(), wideType(op), /*exact=*/true);
  }
  Value combine(Operation *op, Value lhs, Value rhs) {
    return kernel.scalars().combine(cast<ReduceOp>(op).getKind(), wideType(op), lhs, rhs);
  }

  /// The operand's element `position` of those reduced.
  Value element(ReduceOp reduce, ArrayRef<Value> indices, ArrayRef<Value> reduced) {
    SmallVector<Value> source(tensorType(reduce.getOperand()).getRank());
    size_t nextKept = 0, nextReduced = 0;
    for (size_t i = 0; i < source.size(); ++i)
      source[i] = llvm::is_contained(reduce.getDimensions(), static_cast<int64_t>(i)) ? reduced[nextReduced++]
                                                                                      : indices[nextKept++];
    return kernel.scalars().widen(kernel.get(reduce.getOperand(), source), elementType(reduce.getOperand()));
  }

  /// Adds the elements of one round of lanes; those past `size` count as nothing.
  void addRound(ArrayRef<Value> indices, Value first, Value start, Value size, bool isWholeRound,
                SmallVectorImpl<Value> &sums) {
    for (int64_t i = 0; i < kLanesPerWarp; ++i) {
      ScalarBuilder scalars = kernel.scalars();
      Value lane = scalars.addIndex(warp, kernel.index(i * kWarps)), position = scalars.addIndex(start, lane), inside;
      if (!isWholeRound) {
        inside = scalars.lessThan(position, size);
        position = scalars.minIndex(position, scalars.subIndex(size, kernel.index(1)));
      }
      SmallVector<Value> reduced = scalars.delinearize(scalars.addIndex(first, position), extents);
      for (auto [number, op] : llvm::enumerate(form.ops)) {
        Value value = element(cast<ReduceOp>(op), indices, reduced);
        if (inside)
          value = kernel.scalars().select(inside, value, identity(op));
        Value &sum = sums[number * kLanesPerWarp + i];
        sum = combine(op, sum, value);
      }
    }
  }

  /// The total of the chunks, in the first warp; in the others anything.
  SmallVector<Value> reduceColumn(ArrayRef<Value> indices, Value inWarp) {
    ScalarBuilder scalars = kernel.scalars();
    SmallVector<Value> initial;
    for (Operation *op : form.ops)
      initial.push_back(identity(op));
    Value chunkSize = kernel.index(kReductionChunk), laneCount = kernel.index(kReductionLanes);
    Value chunks = scalars.divIndex(scalars.addIndex(elementCount, kernel.index(kReductionChunk - 1)), chunkSize);
    SmallVector<Value> totals = emitLoops(
        kernel.builder, kernel.location, chunks, initial,
        [&](ValueRange chunk, ValueRange carried) -> SmallVector<Value> {
          ScalarBuilder scalars = kernel.scalars();
          Value first = scalars.mulIndex(chunk[0], chunkSize);
          Value size = scalars.minIndex(chunkSize, scalars.subIndex(elementCount, first));
          SmallVector<Value> lanes;
          for (Operation *op : form.ops)
            lanes.append(kLanesPerWarp, identity(op));
          Value whole = scalars.divIndex(size, laneCount);
          auto rounds = scf::ForOp::create(kernel.builder, kernel.location, zero, whole, kernel.index(1), lanes);
          {
            OpBuilder::InsertionGuard guard(kernel.builder);
            kernel.builder.setInsertionPointToStart(rounds.getBody());
            SmallVector<Value> sums(rounds.getRegionIterArgs());
            Value start = kernel.scalars().mulIndex(rounds.getInductionVar(), laneCount);
            addRound(indices, first, start, size, /*isWholeRound=*/true, sums);
            scf::YieldOp::create(kernel.builder, kernel.location, sums);
          }
          Value rest = scalars.remIndex(size, laneCount);
          auto partial = scf::IfOp::create(kernel.builder, kernel.location, rounds.getResultTypes(),
                                           scalars.lessThan(zero, rest), /*withElseRegion=*/true);
          {
            OpBuilder::InsertionGuard guard(kernel.builder);
            kernel.builder.setInsertionPointToStart(partial.thenBlock());
            SmallVector<Value> sums(rounds.getResults());
            addRound(indices, first, kernel.scalars().mulIndex(whole, laneCount), size, /*isWholeRound=*/false, sums);
            scf::YieldOp::create(kernel.builder, kernel.location, sums);
            kernel.builder.setInsertionPointToStart(partial.elseBlock());
            scf::YieldOp::create(kernel.builder, kernel.location, rounds.getResults());
          }
          return combineLanes(partial.getResults(), carried, inWarp);
        });
    // The sum of nothing is +0.
    if (!knownIndex(elementCount))
      for (auto [op, total] : llvm::zip(form.ops, totals))
        total = kernel.scalars().select(kernel.scalars().lessThan(zero, elementCount), total,
                                        kernel.scalars().identity(cast<ReduceOp>(op).getKind(), wideType(op)));
    return totals;
  }

  /// The tree: lanes of one warp first, they are the farthest apart, then those of different warps.
  SmallVector<Value> combineLanes(ValueRange lanes, ValueRange carried, Value inWarp) {
    kernel.barrier(); // what the first warp reads of the chunk before
    for (auto [number, op] : llvm::enumerate(form.ops)) {
      SmallVector<Value> sums(lanes.slice(number * kLanesPerWarp, kLanesPerWarp));
      for (int64_t width = kLanesPerWarp / 2; width >= 1; width /= 2)
        for (int64_t i = 0; i < width; ++i)
          sums[i] = combine(op, sums[i], sums[i + width]);
      Value place = kernel.scalars().addIndex(kernel.scalars().mulIndex(warp, kernel.index(kWarp)), inWarp);
      kernel.store(exchange[number], place, sums[0]);
    }
    kernel.barrier();
    SmallVector<Type> types(carried.getTypes());
    Value isFirst = arith::CmpIOp::create(kernel.builder, kernel.location, arith::CmpIPredicate::eq, warp, zero);
    auto branch = scf::IfOp::create(kernel.builder, kernel.location, types, isFirst, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(kernel.builder);
    kernel.builder.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> totals;
    for (auto [number, op] : llvm::enumerate(form.ops)) {
      SmallVector<Value> sums;
      for (int64_t i = 0; i < kWarps; ++i)
        sums.push_back(kernel.load(exchange[number], kernel.scalars().addIndex(inWarp, kernel.index(i * kWarp))));
      for (int64_t width = kWarps / 2; width >= 1; width /= 2)
        for (int64_t i = 0; i < width; ++i)
          sums[i] = combine(op, sums[i], sums[i + width]);
      totals.push_back(combine(op, carried[number], sums[0]));
    }
    scf::YieldOp::create(kernel.builder, kernel.location, totals);
    kernel.builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(kernel.builder, kernel.location, carried);
    return SmallVector<Value>(branch.getResults());
  }

  KernelEmitter &kernel;
  ColumnForm form;
  SmallVector<LocalMemory> exchange; // one an op
  SmallVector<Value> extents;
  Value zero, warp, columnCount, elementCount;
  bool isWhole = false; // 32 columns in every tile
};

} // namespace

bool isColumnKernel(KernelEmitter &kernel) { return findReductions(kernel).has_value(); }

FailureOr<KernelTiles> emitColumnKernel(KernelEmitter &kernel) {
  std::optional<ColumnForm> form = findReductions(kernel);
  if (!form)
    return failure();
  return ColumnKernel(kernel, std::move(*form)).emit();
}

} // namespace weft::codegen::gpu
