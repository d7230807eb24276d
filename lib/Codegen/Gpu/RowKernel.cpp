//===- RowKernel.cpp - Kernels that reduce rows and use the results along them -----------------------===//
//
// The lanes of the numerics contract are spread over the threads of a row: several rows a warp where rows are short, a
// warp a row, four warps for a row of some thousand elements. Where a thread's elements of a row are few they stay in
// its registers from pass to pass. Longer rows are read again in each pass, their chunks shared among the warps of a
// block. The trees are shuffles; what crosses warps goes through shared memory.

#include "dialects/Graph/Graph.h"
#include "dialects/Graph/ReductionEmit.h"
#include "lib/Codegen/Gpu/KernelEmitter.h"
#include "lib/Codegen/RowForm.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen::gpu {

namespace {

/// Elements of a row that a thread keeps, and simple operations on them.
constexpr int64_t kHeldElements = 32;
constexpr double kHeldOperations = 3000;
constexpr int kRowThreads = 128;
/// Warps that share the chunks of a long row.
constexpr int kLongRowWarps = 8;

class RowKernel {
public:
  RowKernel(KernelEmitter &kernel, RowForm form)
      : kernel(kernel), form(std::move(form)), passes(this->form.passes()), zero(kernel.index(0)) {}

  KernelTiles emit() {
    MLIRContext *context = kernel.builder.getContext();
    SmallVector<Value> roots(kernel.results());
    space.emplace(form.dims, roots, form.rowRank);
    Dim length = product(form.trailingDims(), context), rows = product(form.rowDims(), context);
    chooseThreads(length);
    rowsPerTile = isLong ? 1 : kernel.getThreads() / rowThreads;
    lengthValue = kernel.size(length);
    rowCount = kernel.size(rows);
    for (size_t group = 0; group < space->getGroupCount(); ++group)
      (group < space->getRowGroupCount() ? rowSizes : trailingSizes).push_back(kernel.size(space->getGroupSize(group)));
    ScalarBuilder scalars = kernel.scalars();
    Value thread = kernel.getThread();
    warp = scalars.divIndex(thread, kernel.index(kWarp));
    member = scalars.remIndex(thread, kernel.index(rowThreads));
    kernel.forTiles([&](Value tile) {
      ScalarBuilder scalars = kernel.scalars();
      Value row = tile;
      if (rowsPerTile > 1)
        row = scalars.addIndex(scalars.mulIndex(tile, kernel.index(rowsPerTile)),
                               scalars.divIndex(thread, kernel.index(rowThreads)));
      // Threads past the last row repeat it, so that whole warps take part in the shuffles, and store nothing.
      rowIsInside = {};
      if (rowsPerTile > 1 && !(rows.isConstant() && rows.getConstant() % rowsPerTile == 0)) {
        rowIsInside = scalars.lessThan(row, rowCount);
        row = scalars.minIndex(row, scalars.subIndex(rowCount, kernel.index(1)));
      }
      emitRow(row);
    });
    return {rows.ceilDiv(rowsPerTile), kernel.getMultiprocessors() * (2048 / kernel.getThreads())};
  }

private:
  /// How lanes and elements are spread over threads.
  void chooseThreads(const Dim &length) {
    std::optional<int64_t> known;
    if (length.isConstant())
      known = length.getConstant();
    lanes = known && *known < kReductionLanes ? llvm::PowerOf2Ceil(std::max<int64_t>(*known, 1)) : kReductionLanes;
    // Four neighbouring lanes a thread, where every vector of four lies whole in a row and in the innermost loop.
    size_t trailing = space->getGroupCount() - space->getRowGroupCount();
    Dim inner = trailing > 0 ? space->getGroupSize(space->getGroupCount() - 1) : length;
    isAdjacent = known && *known > 0 && *known % 4 == 0 && inner.isConstant() && inner.getConstant() % 4 == 0;
    rowThreads = isAdjacent ? lanes / 4 : std::min<int64_t>(lanes, kWarp);
    kernel.setThreads(kRowThreads);
    double cost = costPerElement(kernel.body());
    if (known && *known > 0) {
      int64_t each = llvm::divideCeil(*known, lanes) * (lanes / rowThreads);
      if (each <= kHeldElements && each * cost <= kHeldOperations) {
        isHeld = true;
      } else if (llvm::divideCeil(*known, kReductionLanes) <= kHeldElements && *known <= kReductionChunk &&
                 llvm::divideCeil(*known, kReductionLanes) * cost <= kHeldOperations) {
        isHeld = true;
        isAdjacent = false;
        rowThreads = kReductionLanes;
      }
    }
    if (!isHeld && (!known || *known > kReductionChunk)) {
      isLong = true;
      kernel.setThreads(kLongRowWarps * kWarp);
    }
    lanesPerThread = lanes / rowThreads;
  }

  //===------------------------------------------------------------------===//
  // Positions
  //===------------------------------------------------------------------===//

  /// The lane that this thread holds in its slot, as an offset to its first.
  int64_t slotOffset(int64_t slot) const { return isAdjacent ? slot : slot * rowThreads; }
  Value firstLane() { return isAdjacent ? kernel.scalars().mulIndex(member, kernel.index(lanesPerThread)) : member; }

  /// Full indices of `position + offset` in the current row; with adjacent lanes both lie in one vector.
  SmallVector<Value> fullIndices(Value position, int64_t offset) {
    ScalarBuilder scalars = kernel.scalars();
    SmallVector<Value> positions = rowPositions;
    if (isAdjacent && !trailingSizes.empty()) {
      SmallVector<Value> trailing = scalars.delinearize(position, trailingSizes);
      trailing.back() = scalars.addIndex(trailing.back(), kernel.index(offset));
      llvm::append_range(positions, trailing);
    } else {
      llvm::append_range(positions,
                         scalars.delinearize(scalars.addIndex(position, kernel.index(offset)), trailingSizes));
    }
    return space->getIndices(positions, zero);
  }

  /// The places of one step of lanes, which begins at `first`: positions past the row's end are moved into it, and
  /// `inside` says which were not (null for all).
  struct Step {
    SmallVector<SmallVector<Value>> places;
    SmallVector<Value> inside;
  };
  Step makeStep(Value first, bool isWhole) {
    ScalarBuilder scalars = kernel.scalars();
    Step step;
    step.inside.resize(lanesPerThread);
    Value base = scalars.addIndex(first, firstLane());
    if (isAdjacent) {
      if (!isWhole) {
        Value inside = scalars.lessThan(base, lengthValue);
        step.inside.assign(lanesPerThread, inside);
        base = scalars.minIndex(base, scalars.subIndex(lengthValue, kernel.index(lanesPerThread)));
      }
      for (int64_t slot = 0; slot < lanesPerThread; ++slot)
        step.places.push_back(fullIndices(base, slot));
      return step;
    }
    for (int64_t slot = 0; slot < lanesPerThread; ++slot) {
      Value position = scalars.addIndex(base, kernel.index(slotOffset(slot)));
      if (!isWhole) {
        step.inside[slot] = scalars.lessThan(position, lengthValue);
        position = scalars.minIndex(position, scalars.subIndex(lengthValue, kernel.index(1)));
      }
      step.places.push_back(fullIndices(position, 0));
    }
    return step;
  }

  //===------------------------------------------------------------------===//
  // Reductions
  //===------------------------------------------------------------------===//

  using Sums = SmallVector<Value>; // slot by slot, for each reduction of the pass

  Type wideType(ReduceOp reduce) { return accumulationType(elementType(reduce.getOperand())); }
  Value identity(ReduceOp reduce) {
    return kernel.scalars().identity(reduce.getKind(), wideType(reduce), /*exact=*/true);
  }
  Value combine(ReduceOp reduce, Value lhs, Value rhs) {
    return kernel.scalars().combine(reduce.getKind(), wideType(reduce), lhs, rhs);
  }

  /// Adds the elements of a step to the lanes; null ones are taken as they are.
  void addStep(ArrayRef<ReduceOp> pass, const Step &step, Sums &sums) {
    for (int64_t slot = 0; slot < lanesPerThread; ++slot)
      for (size_t number = 0; number < pass.size(); ++number) {
        ReduceOp reduce = pass[number];
        Value element = kernel.scalars().widen(kernel.get(reduce.getOperand(), step.places[slot]),
                                               elementType(reduce.getOperand()));
        if (step.inside[slot])
          element = kernel.scalars().select(step.inside[slot], element, identity(reduce));
        Value &sum = sums[number * lanesPerThread + slot];
        sum = sum ? combine(reduce, sum, element) : element;
      }
  }

  /// The tree over the lanes of a chunk: every thread of the row gets the result.
  SmallVector<Value> combineLanes(ArrayRef<ReduceOp> pass, Sums sums) {
    SmallVector<Value> results;
    for (size_t number = 0; number < pass.size(); ++number) {
      ReduceOp reduce = pass[number];
      SmallVector<Value> slots(ArrayRef(sums).slice(number * lanesPerThread, lanesPerThread));
      int64_t threads = rowThreads, width = lanes / 2;
      if (threads > kWarp) {
        // The lanes of other warps come through shared memory.
        int64_t parts = threads / kWarp;
        Value own = kernel.scalars().remIndex(member, kernel.index(kWarp));
        LocalMemory &memory = exchange[reduce];
        if (!memory.pointer)
          memory = kernel.allocateShared(wideType(reduce), threads);
        kernel.barrier();
        kernel.store(memory, member, slots[0]);
        kernel.barrier();
        slots.clear();
        for (int64_t part = 0; part < parts; ++part)
          slots.push_back(kernel.load(memory, kernel.scalars().addIndex(own, kernel.index(part * kWarp))));
        threads = kWarp;
      }
      bool adjacent = isAdjacent;
      for (; width >= 1; width /= 2) {
        bool inThread = adjacent ? width < lanesPerThread : width >= threads;
        int64_t distance = adjacent ? width : width / threads;
        if (inThread) {
          for (int64_t i = 0; i < distance; ++i)
            slots[i] = combine(reduce, slots[i], slots[i + distance]);
          slots.resize(distance);
          continue;
        }
        for (Value &slot : slots)
          slot = combine(reduce, slot, kernel.shuffleXor(slot, adjacent ? width / lanesPerThread : width));
      }
      results.push_back(slots[0]);
    }
    return results;
  }

  /// A chunk that begins at `first`, read in loops by the threads of one warp.
  SmallVector<Value> reduceChunk(ArrayRef<ReduceOp> pass, Value first, Value size) {
    ScalarBuilder scalars = kernel.scalars();
    Sums initial;
    for (ReduceOp reduce : pass)
      initial.append(lanesPerThread, identity(reduce));
    Value laneCount = kernel.index(lanes);
    Value whole = scalars.divIndex(size, laneCount);
    auto steps = scf::ForOp::create(kernel.builder, kernel.location, zero, whole, kernel.index(1), initial);
    {
      OpBuilder::InsertionGuard guard(kernel.builder);
      kernel.builder.setInsertionPointToStart(steps.getBody());
      Sums sums(steps.getRegionIterArgs());
      Value start = kernel.scalars().addIndex(first, kernel.scalars().mulIndex(steps.getInductionVar(), laneCount));
      addStep(pass, makeStep(start, /*isWhole=*/true), sums);
      scf::YieldOp::create(kernel.builder, kernel.location, sums);
    }
    Sums sums(steps.getResults());
    Value rest = scalars.remIndex(size, laneCount);
    if (knownIndex(rest) != 0) {
      // No row without elements is looked at.
      auto partial = scf::IfOp::create(kernel.builder, kernel.location, ValueRange(sums).getTypes(),
                                       scalars.lessThan(zero, rest), /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(kernel.builder);
      kernel.builder.setInsertionPointToStart(partial.thenBlock());
      Sums added = sums;
      Value start = kernel.scalars().addIndex(first, kernel.scalars().mulIndex(whole, laneCount));
      addStep(pass, makeStep(start, /*isWhole=*/false), added);
      scf::YieldOp::create(kernel.builder, kernel.location, added);
      kernel.builder.setInsertionPointToStart(partial.elseBlock());
      scf::YieldOp::create(kernel.builder, kernel.location, sums);
      sums.assign(partial.getResults().begin(), partial.getResults().end());
    }
    return combineLanes(pass, sums);
  }

  /// All chunks of the row, one a warp at a time.
  SmallVector<Value> reduceLong(ArrayRef<ReduceOp> pass) {
    ScalarBuilder scalars = kernel.scalars();
    Value chunkSize = kernel.index(kReductionChunk), warps = kernel.index(kLongRowWarps);
    Value chunks = scalars.divIndex(scalars.addIndex(lengthValue, kernel.index(kReductionChunk - 1)), chunkSize);
    Value rounds = scalars.divIndex(scalars.addIndex(chunks, kernel.index(kLongRowWarps - 1)), warps);
    SmallVector<Value> initial;
    SmallVector<Type> types;
    for (ReduceOp reduce : pass) {
      initial.push_back(identity(reduce));
      types.push_back(initial.back().getType());
      LocalMemory &memory = exchange[reduce];
      if (!memory.pointer)
        memory = kernel.allocateShared(wideType(reduce), kLongRowWarps);
    }
    SmallVector<Value> results = emitLoops(
        kernel.builder, kernel.location, rounds, initial,
        [&](ValueRange round, ValueRange carried) -> SmallVector<Value> {
          ScalarBuilder scalars = kernel.scalars();
          Value chunk = scalars.addIndex(scalars.mulIndex(round[0], warps), warp);
          // A warp without a chunk gives what changes nothing.
          auto work = scf::IfOp::create(kernel.builder, kernel.location, types, scalars.lessThan(chunk, chunks),
                                        /*withElseRegion=*/true);
          {
            OpBuilder::InsertionGuard guard(kernel.builder);
            kernel.builder.setInsertionPointToStart(work.thenBlock());
            ScalarBuilder inner = kernel.scalars();
            Value first = inner.mulIndex(chunk, chunkSize);
            Value size = inner.minIndex(chunkSize, inner.subIndex(lengthValue, first));
            scf::YieldOp::create(kernel.builder, kernel.location, reduceChunk(pass, first, size));
            kernel.builder.setInsertionPointToStart(work.elseBlock());
            scf::YieldOp::create(kernel.builder, kernel.location, initial);
          }
          kernel.barrier();
          Value isFirst =
              arith::CmpIOp::create(kernel.builder, kernel.location, arith::CmpIPredicate::eq, member, zero);
          kernel.branch(isFirst, [&] {
            for (auto [number, reduce] : llvm::enumerate(pass))
              kernel.store(exchange.lookup(reduce), warp, work.getResult(number));
          });
          kernel.barrier();
          SmallVector<Value> totals(carried);
          for (auto [number, reduce] : llvm::enumerate(pass))
            for (int64_t i = 0; i < kLongRowWarps; ++i)
              totals[number] = combine(reduce, totals[number], kernel.load(exchange.lookup(reduce), kernel.index(i)));
          return totals;
        });
    return results;
  }

  SmallVector<Value> reducePass(ArrayRef<ReduceOp> pass) {
    SmallVector<Value> values;
    if (isHeld) {
      Sums sums(pass.size() * lanesPerThread);
      for (const Step &step : steps)
        addStep(pass, step, sums);
      values = combineLanes(pass, sums);
    } else if (isLong) {
      values = reduceLong(pass);
    } else {
      values = reduceChunk(pass, zero, lengthValue);
    }
    // The sum of nothing is +0.
    std::optional<int64_t> known = knownIndex(lengthValue);
    if (!known || *known == 0)
      for (auto [value, op] : llvm::zip(values, pass)) {
        ReduceOp reduce = op;
        value = kernel.scalars().select(kernel.scalars().lessThan(zero, lengthValue), value,
                                        kernel.scalars().identity(reduce.getKind(), wideType(reduce)));
      }
    return values;
  }

  //===------------------------------------------------------------------===//
  // A row
  //===------------------------------------------------------------------===//

  void whereInside(Value condition, function_ref<void()> body) {
    if (condition)
      kernel.branch(condition, body);
    else
      body();
  }

  void emitRow(Value row) {
    rowPositions = kernel.scalars().delinearize(row, rowSizes);
    SmallVector<Value> positions = rowPositions;
    positions.resize(space->getGroupCount(), zero);
    SmallVector<Value> first = space->getIndices(positions, zero);
    ArrayRef<Value> rowIndices = ArrayRef(first).take_front(form.rowRank);
    steps.clear();
    if (isHeld) {
      int64_t length = *knownIndex(lengthValue);
      for (int64_t start = 0; start < length; start += lanes)
        steps.push_back(makeStep(kernel.index(start), start + lanes <= length));
    }
    for (ArrayRef<ReduceOp> pass : passes)
      for (auto [value, op] : llvm::zip(reducePass(pass), pass)) {
        ReduceOp reduce = op;
        kernel.define(reduce, rowIndices,
                      narrowReduction(kernel.scalars(), reduce.getKind(), value, elementType(reduce.getResult())));
      }
    SmallVector<unsigned> full;
    SmallVector<std::pair<unsigned, Value>> perRow;
    SmallVector<SmallVector<Value>> rowPlaces;
    for (auto [i, result] : llvm::enumerate(kernel.results())) {
      if (form.isFull(result.getType())) {
        full.push_back(i);
        continue;
      }
      rowPlaces.push_back(form.indicesOf(result.getType(), first, zero));
      perRow.push_back({static_cast<unsigned>(i), kernel.get(result, rowPlaces.back())});
    }
    if (!perRow.empty()) {
      Value isFirst = arith::CmpIOp::create(kernel.builder, kernel.location, arith::CmpIPredicate::eq,
                                            isLong ? kernel.getThread() : member, zero);
      kernel.branch(kernel.scalars().both(isFirst, rowIsInside), [&] {
        for (auto [place, entry] : llvm::zip(rowPlaces, perRow))
          kernel.store(entry.first, place, entry.second);
      });
    }
    if (full.empty())
      return;
    if (isHeld) {
      for (const Step &step : steps)
        storeStep(full, step);
      return;
    }
    whereInside(rowIsInside, [&] { storeInLoops(full); });
  }

  SmallVector<SmallVector<Value>> elementsAt(ArrayRef<unsigned> full, ArrayRef<SmallVector<Value>> places) {
    SmallVector<SmallVector<Value>> elements;
    for (const SmallVector<Value> &place : places) {
      elements.emplace_back();
      for (unsigned result : full) {
        Value value = kernel.results()[result];
        elements.back().push_back(kernel.get(value, form.indicesOf(value.getType(), place, zero)));
      }
    }
    return elements;
  }

  void storeAt(ArrayRef<unsigned> full, unsigned number, ArrayRef<Value> place, Value element) {
    kernel.store(full[number], form.indicesOf(kernel.results()[full[number]].getType(), place, zero), element);
  }

  void storeStep(ArrayRef<unsigned> full, const Step &step) {
    SmallVector<SmallVector<Value>> elements = elementsAt(full, step.places);
    if (isAdjacent) {
      whereInside(kernel.scalars().both(step.inside[0], rowIsInside), [&] {
        for (size_t number = 0; number < full.size(); ++number)
          for (auto [place, values] : llvm::zip(step.places, elements))
            storeAt(full, number, place, values[number]);
      });
      return;
    }
    for (auto [inside, place, values] : llvm::zip(step.inside, step.places, elements)) {
      ArrayRef<Value> where = place, list = values;
      whereInside(kernel.scalars().both(inside, rowIsInside), [&] {
        for (size_t number = 0; number < full.size(); ++number)
          storeAt(full, number, where, list[number]);
      });
    }
  }

  /// The last pass over a row that is not held.
  void storeInLoops(ArrayRef<unsigned> full) {
    int64_t vector = isAdjacent ? lanesPerThread : 1;
    Value threads = kernel.index(isLong ? kernel.getThreads() : rowThreads);
    Value own = isLong ? kernel.getThread() : member;
    Value units = kernel.scalars().divIndex(lengthValue, kernel.index(vector));
    kernel.loop(own, units, threads, [&](Value unit) {
      Value position = kernel.scalars().mulIndex(unit, kernel.index(vector));
      SmallVector<SmallVector<Value>> places;
      for (int64_t i = 0; i < vector; ++i)
        places.push_back(fullIndices(position, i));
      SmallVector<SmallVector<Value>> elements = elementsAt(full, places);
      for (size_t number = 0; number < full.size(); ++number)
        for (auto [place, values] : llvm::zip(places, elements))
          storeAt(full, number, place, values[number]);
    });
  }

  KernelEmitter &kernel;
  RowForm form;
  SmallVector<SmallVector<ReduceOp>> passes;
  std::optional<IterationSpace> space;
  Value zero, lengthValue, rowCount, warp, member, rowIsInside;
  SmallVector<Value> rowSizes, trailingSizes, rowPositions;
  std::vector<Step> steps; // of a row that is held
  llvm::DenseMap<Operation *, LocalMemory> exchange;
  int64_t lanes = kReductionLanes, lanesPerThread = 4, rowThreads = kWarp, rowsPerTile = 1;
  bool isAdjacent = false; // lanes of a thread are neighbours, else rowThreads apart
  bool isHeld = false;     // a thread's elements stay in registers
  bool isLong = false;     // a block a row, its chunks spread over warps
};

} // namespace

bool isRowKernel(KernelEmitter &kernel) {
  std::optional<RowForm> form = findRowForm(kernel.body(), kernel.results());
  // Packed values would share bytes of shared memory.
  return form && llvm::all_of(form->reductions,
                              [](ReduceOp reduce) { return elementsPerByte(elementType(reduce.getOperand())) == 1; });
}

FailureOr<KernelTiles> emitRowKernel(KernelEmitter &kernel) {
  std::optional<RowForm> form = findRowForm(kernel.body(), kernel.results());
  if (!form)
    return failure();
  return RowKernel(kernel, std::move(*form)).emit();
}

} // namespace weft::codegen::gpu
