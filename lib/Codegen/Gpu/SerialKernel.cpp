//===- SerialKernel.cpp - sort, top_k, cumulative and scatter: ops whose elements need one another ------------===//
//
// A line is sorted by one block, a bitonic network over keys and positions in shared memory or, where it does not fit,
// in scratch memory. A running sum has an order and is one thread's. The places that scatter writes are shared out to
// threads, each of which looks at all updates in order. Where a region has several such ops, or results of other
// shapes, one block computes each op whole, into scratch memory, and then the results from there.

#include "dialects/Graph/Graph.h"
#include "dialects/Graph/ReductionEmit.h"
#include "include/weft/kernel_abi.h"
#include "lib/Codegen/Gpu/KernelEmitter.h"
#include "lib/Codegen/SerialOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <map>

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen::gpu {

namespace {

class SerialKernel {
public:
  explicit SerialKernel(KernelEmitter &kernel) : kernel(kernel), zero(kernel.index(0)) {}

  KernelTiles emit() {
    SmallVector<Operation *> ops;
    for (Operation &op : kernel.body())
      if (isSerialOp(&op))
        ops.push_back(&op);
    SmallVector<Dim> dims = getDims(ops[0]->getResult(0).getType());
    // Packed elements share bytes: those are left to one block.
    bool sameShape = llvm::all_of(kernel.results(), [&](Value result) {
      return getDims(result.getType()) == dims && elementsPerByte(elementType(result)) == 1;
    });
    if (ops.size() == 1 && sameShape && isLineOp(ops[0]))
      return isa<CumulativeOp>(ops[0]) ? emitRunningLines(ops[0], dims) : emitSortedLines(ops[0], dims);
    if (ops.size() == 1 && sameShape && elementsPerByte(elementType(ops[0]->getResult(0))) == 1 &&
        usesOwnPlaceOnly(ops[0]->getResult(0)))
      return emitScatterKernel(cast<ScatterOp>(ops[0]));
    return emitWhole(ops);
  }

private:
  using Sink = function_ref<void(ArrayRef<Value> indices, ValueRange elements)>;

  //===------------------------------------------------------------------===//
  // Lines
  //===------------------------------------------------------------------===//

  /// The number of lines and what their numbers are made of.
  std::pair<Dim, SmallVector<Value>> lineSpace(Operation *op, ArrayRef<Dim> dims) {
    Dim lines = Dim::constant(kernel.builder.getContext(), 1);
    SmallVector<Value> space;
    for (auto [i, dim] : llvm::enumerate(dims))
      if (static_cast<int64_t>(i) != lineDimension(op)) {
        lines = lines * dim;
        space.push_back(kernel.size(dim));
      }
    return {lines, space};
  }
  SmallVector<Value> lineIndices(Operation *op, Value line, ArrayRef<Value> space) {
    SmallVector<Value> indices = kernel.scalars().delinearize(line, space);
    indices.insert(indices.begin() + lineDimension(op), zero);
    return indices;
  }

  /// Stores the results at a place whose elements of the op are there.
  void storeResults(Operation *op, ArrayRef<Value> place, ValueRange elements) {
    for (auto [result, element] : llvm::zip(op->getResults(), elements))
      kernel.define(result, place, element);
    SmallVector<Value> values;
    for (Value result : kernel.results())
      values.push_back(kernel.get(result, place));
    for (auto [i, value] : llvm::enumerate(values))
      kernel.store(i, place, value);
  }

  KernelTiles emitRunningLines(Operation *op, ArrayRef<Dim> dims) {
    constexpr int kThreads = 128;
    kernel.setThreads(kThreads);
    auto [lines, space] = lineSpace(op, dims);
    Value count = kernel.size(lines);
    ArrayRef<Value> sizes = space;
    kernel.forTiles([&](Value tile) {
      ScalarBuilder scalars = kernel.scalars();
      Value line = scalars.addIndex(scalars.mulIndex(tile, kernel.index(kThreads)), kernel.getThread());
      kernel.branch(scalars.lessThan(line, count), [&] {
        emitCumulative(cast<CumulativeOp>(op), lineIndices(op, line, sizes),
                       [&](ArrayRef<Value> place, ValueRange elements) { storeResults(op, place, elements); });
      });
    });
    return {lines.ceilDiv(kThreads), kernel.getMultiprocessors() * 16};
  }

  KernelTiles emitSortedLines(Operation *op, ArrayRef<Dim> dims) {
    kernel.setThreads(256);
    auto [lines, space] = lineSpace(op, dims);
    ArrayRef<Value> sizes = space;
    blocks = kernel.getMultiprocessors() * 4;
    kernel.forTiles([&](Value line) {
      emitSortedLine(op, lineIndices(op, line, sizes),
                     [&](ArrayRef<Value> place, ValueRange elements) { storeResults(op, place, elements); });
    });
    return {lines, blocks};
  }

  Value toIndex(Value number) {
    return arith::IndexCastOp::create(kernel.builder, kernel.location, kernel.builder.getIndexType(), number);
  }
  Value toNumber(Value index, Type type) {
    return arith::IndexCastOp::create(kernel.builder, kernel.location, type, index);
  }

  void emitCumulative(CumulativeOp op, ArrayRef<Value> indices, Sink sink) {
    ScalarBuilder scalars = kernel.scalars();
    int64_t dimension = op.getDimension();
    Type type = elementType(op.getOperand()), wide = accumulationType(type);
    Value length = kernel.size(getDim(op.getOperand().getType(), dimension));
    Value last = scalars.subIndex(length, kernel.index(1));
    emitLoops(kernel.builder, kernel.location, length, scalars.identity(op.getKind(), wide),
              [&](ValueRange loop, ValueRange carried) -> SmallVector<Value> {
                ScalarBuilder inner = kernel.scalars();
                SmallVector<Value> place(indices);
                place[dimension] = op.getReverse() ? inner.subIndex(last, loop[0]) : Value(loop[0]);
                Value element = inner.widen(kernel.get(op.getOperand(), place), type);
                Value next = inner.combine(op.getKind(), wide, carried[0], element);
                sink(place, narrowReduction(inner, op.getKind(), op.getExclusive() ? Value(carried[0]) : next, type));
                return {next};
              });
  }

  /// One line of sort or top_k, by all threads of the block.
  void emitSortedLine(Operation *op, ArrayRef<Value> indices, Sink sink) {
    if (auto sort = dyn_cast<SortOp>(op)) {
      int64_t dimension = sort.getDimension();
      Dim length = getDim(sort.getInputs()[0].getType(), dimension);
      const LineOrder &order = sortLine(op, indices, dimension, length, sort.getDescending());
      kernel.forThreads(kernel.size(length), [&](Value i) {
        SmallVector<Value> source(indices), place(indices), elements;
        source[dimension] = toIndex(kernel.load(order.order, i));
        place[dimension] = i;
        for (Value input : sort.getInputs())
          elements.push_back(kernel.get(input, source));
        sink(place, elements);
      });
      return kernel.barrier();
    }
    auto topK = cast<TopKOp>(op);
    int64_t dimension = topK.getDimension();
    Dim length = getDim(topK.getOperand().getType(), dimension);
    Value count = kernel.index(topK.getK()), size = kernel.size(length);
    const LineOrder &order = sortLine(op, indices, dimension, length, topK.getLargest());
    if (!length.isConstant()) {
      // A symbolic size may be less than k; what is missing repeats the last.
      Value isFirst =
          arith::CmpIOp::create(kernel.builder, kernel.location, arith::CmpIPredicate::eq, kernel.getThread(), zero);
      Value tooShort = kernel.scalars().lessThan(size, count);
      kernel.branch(kernel.scalars().both(isFirst, tooShort),
                    [&] { kernel.reportError(WEFT_KERNEL_SIZE_OUT_OF_BOUNDS); });
      count = kernel.scalars().minIndex(count, size);
    }
    kernel.forThreads(count, [&](Value i) {
      SmallVector<Value> source(indices), place(indices);
      Value number = kernel.load(order.order, i);
      source[dimension] = toIndex(number);
      place[dimension] = i;
      Value position = kernel.scalars().convert(number, order.order.elementType, topK.getIndexType());
      sink(place, {kernel.get(topK.getOperand(), source), position});
    });
    kernel.barrier();
  }

  /// Memory of one op: the keys of a line and the positions in order.
  struct LineOrder {
    LocalMemory keys, order;
  };

  const LineOrder &sortLine(Operation *op, ArrayRef<Value> indices, int64_t dimension, const Dim &length,
                            bool descending) {
    OpBuilder &builder = kernel.builder;
    Location location = kernel.location;
    Type type = elementType(op->getOperand(0)), wide = accumulationType(type), keyType = sortKeyType(type);
    Type numberType = builder.getIntegerType(kernel.getIndexBits());
    auto [entry, isNew] = orders.try_emplace(op);
    LineOrder &line = entry->second;
    if (isNew) {
      int64_t each = (storageBits(keyType) + kernel.getIndexBits()) / 8;
      if (length.isConstant() && kernel.getSharedBytes() + length.getConstant() * each + 32 <= kSharedLimit)
        line = {kernel.allocateShared(keyType, std::max<int64_t>(length.getConstant(), 1)),
                kernel.allocateShared(numberType, std::max<int64_t>(length.getConstant(), 1))};
      else
        line = {kernel.allocateBlockScratch(keyType, length, blocks),
                kernel.allocateBlockScratch(numberType, length, blocks)};
    }
    Value count = kernel.size(length);
    kernel.forThreads(count, [&](Value i) {
      SmallVector<Value> source(indices);
      source[dimension] = i;
      Value key = kernel.scalars().widen(kernel.get(op->getOperand(0), source), type);
      kernel.store(line.keys, i, kernel.scalars().convert(key, wide, keyType));
      kernel.store(line.order, i, toNumber(i, numberType));
    });
    kernel.barrier();
    // Runs of 2, 4, 8, ... each merged from two sorted halves: first every element with its mirror image, then with the
    // one half as far, and so on. Smaller keys always go to the lower position, so positions past the end, as if they
    // held the largest key, need not exist.
    Type i64 = builder.getI64Type();
    Value last = kernel.scalars().maxIndex(kernel.scalars().subIndex(count, kernel.index(1)), zero);
    Value zeros = math::CountLeadingZerosOp::create(builder, location, toNumber(last, i64));
    Value stages = toIndex(arith::SubIOp::create(builder, location, kernel.scalars().integerConstant(i64, 64), zeros));
    auto powerOfTwo = [&](Value exponent) {
      return toIndex(
          arith::ShLIOp::create(builder, location, kernel.scalars().integerConstant(i64, 1), toNumber(exponent, i64)));
    };
    kernel.loop(zero, stages, [&](Value stage) {
      kernel.loop(zero, kernel.scalars().addIndex(stage, kernel.index(1)), [&](Value step) {
        ScalarBuilder scalars = kernel.scalars();
        Value distance = powerOfTwo(scalars.subIndex(stage, step));
        Value mirror = scalars.subIndex(scalars.mulIndex(distance, kernel.index(2)), kernel.index(1));
        Value isFirst = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, step, zero);
        Value mask = scalars.select(isFirst, mirror, distance);
        kernel.forThreads(count, [&](Value i) {
          ScalarBuilder scalars = kernel.scalars();
          Value partner = arith::XOrIOp::create(builder, location, i, mask);
          Value isPair = scalars.both(scalars.lessThan(i, partner), scalars.lessThan(partner, count));
          kernel.branch(isPair, [&] { sortPair(line, keyType, i, partner, descending); });
        });
        kernel.barrier();
      });
    });
    return line;
  }

  /// Equal keys stay in the order of their positions.
  void sortPair(const LineOrder &line, Type keyType, Value low, Value high, bool descending) {
    OpBuilder &builder = kernel.builder;
    Location location = kernel.location;
    ScalarBuilder scalars = kernel.scalars();
    Value lowKey = kernel.load(line.keys, low), highKey = kernel.load(line.keys, high);
    Value lowNumber = kernel.load(line.order, low), highNumber = kernel.load(line.order, high);
    Value isAfter = emitComesBefore(scalars, keyType, highKey, lowKey, descending);
    Value isBefore = emitComesBefore(scalars, keyType, lowKey, highKey, descending);
    Value isLater = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, highNumber, lowNumber);
    Value notBefore =
        arith::XOrIOp::create(builder, location, isBefore, scalars.integerConstant(builder.getI1Type(), 1));
    Value swap =
        arith::OrIOp::create(builder, location, isAfter, arith::AndIOp::create(builder, location, notBefore, isLater));
    kernel.branch(swap, [&] {
      kernel.store(line.keys, low, highKey);
      kernel.store(line.keys, high, lowKey);
      kernel.store(line.order, low, highNumber);
      kernel.store(line.order, high, lowNumber);
    });
  }

  //===------------------------------------------------------------------===//
  // scatter
  //===------------------------------------------------------------------===//

  /// Whether the results need of `value` only the element at their own place.
  bool usesOwnPlaceOnly(Value value) {
    llvm::DenseSet<Value> dependent = {value};
    for (Operation &op : kernel.body()) {
      if (llvm::none_of(op.getOperands(), [&](Value operand) { return dependent.contains(operand); }))
        continue;
      if (isa<YieldOp>(op))
        continue;
      auto role = dyn_cast<FusibilityInterface>(op);
      if (!role || role.getFusionRole() != FusionRole::Elementwise)
        return false;
      dependent.insert(op.result_begin(), op.result_end());
    }
    return true;
  }

  /// How the operand's places are shared out: by a column (the dimensions that a window covers without being moved
  /// along them) and a block of rows (the others).
  struct ScatterForm {
    SmallVector<int64_t> rowDimensions, columnDimensions; // of the operand
    SmallVector<int64_t> updateColumns;                   // the dimension of the updates for each column dimension
    int64_t rowsPerThread = 1;
    Dim rows, columns, units;
  };

  ScatterForm describe(ScatterOp op, int64_t threads) {
    ScatterForm form;
    SmallVector<Dim> dims = getDims(op.getOperand().getType());
    MLIRContext *context = kernel.builder.getContext();
    form.rows = form.columns = Dim::constant(context, 1);
    size_t nextWindow = 0;
    for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) {
      bool isWindow =
          !llvm::is_contained(op.getInsertedWindowDims(), i) && !llvm::is_contained(op.getOperandBatchingDims(), i);
      int64_t update = isWindow ? op.getUpdateWindowDims()[nextWindow++] : -1;
      if (isWindow && !llvm::is_contained(op.getScatterDimsToOperandDims(), i)) {
        form.columnDimensions.push_back(i);
        form.updateColumns.push_back(update);
        form.columns = form.columns * dims[i];
      } else {
        form.rowDimensions.push_back(i);
        form.rows = form.rows * dims[i];
      }
    }
    form.rowsPerThread = 8;
    Dim all = form.rows * form.columns;
    if (all.isConstant())
      form.rowsPerThread = std::max<int64_t>(1, llvm::divideCeil(all.getConstant(), threads));
    form.units = form.rows.ceilDiv(form.rowsPerThread) * form.columns;
    return form;
  }

  /// All that one thread does for its places; `memory` holds the result.
  void emitScatterUnit(ScatterOp op, const ScatterForm &form, const LocalMemory &memory, Value unit,
                       function_ref<void(ArrayRef<Value>)> whenDone) {
    ScalarBuilder scalars = kernel.scalars();
    Type resultType = op.getOperand().getType();
    SmallVector<Dim> dims = getDims(resultType);
    SmallVector<Value> rowSizes, columnSizes;
    for (int64_t dimension : form.rowDimensions)
      rowSizes.push_back(kernel.size(dims[dimension]));
    for (int64_t dimension : form.columnDimensions)
      columnSizes.push_back(kernel.size(dims[dimension]));
    Value columnCount = kernel.size(form.columns);
    SmallVector<Value> column = scalars.delinearize(scalars.remIndex(unit, columnCount), columnSizes);
    Value firstRow = scalars.mulIndex(scalars.divIndex(unit, columnCount), kernel.index(form.rowsPerThread));
    Value lastRow =
        scalars.minIndex(scalars.addIndex(firstRow, kernel.index(form.rowsPerThread)), kernel.size(form.rows));
    auto placeOf = [&](Value row) {
      SmallVector<Value> place(dims.size(), zero), rowPosition = kernel.scalars().delinearize(row, rowSizes);
      for (auto [dimension, value] : llvm::zip(form.rowDimensions, rowPosition))
        place[dimension] = value;
      for (auto [dimension, value] : llvm::zip(form.columnDimensions, column))
        place[dimension] = value;
      return place;
    };
    kernel.loop(firstRow, lastRow, [&](Value row) {
      SmallVector<Value> place = placeOf(row);
      store(memory, op.getOperand(), kernel.position(resultType, place), kernel.get(op.getOperand(), place));
    });
    // The updates in order, in this column.
    SmallVector<Dim> updateDims = getDims(op.getUpdates().getType());
    SmallVector<Value> extents = kernel.sizes(updateDims);
    Value inWindow;
    for (auto [dimension, value] : llvm::zip(form.updateColumns, column)) {
      inWindow = scalars.both(inWindow, scalars.lessThan(value, extents[dimension]));
      extents[dimension] = kernel.index(1);
    }
    auto scan = [&] {
      emitLoops(kernel.builder, kernel.location, extents, {}, [&](ValueRange loop, ValueRange) -> SmallVector<Value> {
        ScalarBuilder scalars = kernel.scalars();
        SmallVector<Value> update(loop);
        for (auto [dimension, value] : llvm::zip(form.updateColumns, column))
          update[dimension] = value;
        ScatterTarget target = emitScatterTarget(kernel, op, update);
        SmallVector<Value> rowPosition;
        for (int64_t dimension : form.rowDimensions)
          rowPosition.push_back(target.place[dimension]);
        Value row = scalars.linearize(rowPosition, rowSizes);
        Value isOwn = scalars.both(
            arith::CmpIOp::create(kernel.builder, kernel.location, arith::CmpIPredicate::sge, row, firstRow),
            scalars.lessThan(row, lastRow));
        kernel.branch(scalars.both(target.inside, isOwn), [&] {
          Value place = kernel.position(resultType, target.place);
          Value value = kernel.get(op.getUpdates(), update);
          if (op.getKind() != ScatterKind::set)
            value = emitScatterCombine(kernel.scalars(), op, load(memory, op.getOperand(), place), value);
          store(memory, op.getOperand(), place, value);
        });
        return {};
      });
    };
    if (inWindow)
      kernel.branch(inWindow, scan);
    else
      scan();
    kernel.loop(firstRow, lastRow, [&](Value row) { whenDone(placeOf(row)); });
  }

  KernelTiles emitScatterKernel(ScatterOp op) {
    constexpr int kThreads = 256;
    kernel.setThreads(kThreads);
    ScatterForm form = describe(op, kernel.getMultiprocessors() * 1024);
    LocalMemory memory =
        kernel.allocateScratch(elementType(op.getOperand()), getElementCount(op.getOperand().getType()));
    Value count = kernel.size(form.units);
    kernel.forTiles([&](Value tile) {
      ScalarBuilder scalars = kernel.scalars();
      Value unit = scalars.addIndex(scalars.mulIndex(tile, kernel.index(kThreads)), kernel.getThread());
      kernel.branch(scalars.lessThan(unit, count), [&] {
        emitScatterUnit(op, form, memory, unit, [&](ArrayRef<Value> place) {
          storeResults(op, place, kernel.load(memory, kernel.position(op.getOperand().getType(), place)));
        });
      });
    });
    return {form.units.ceilDiv(kThreads), kernel.getMultiprocessors() * 8};
  }

  //===------------------------------------------------------------------===//
  // Several ops
  //===------------------------------------------------------------------===//

  /// Packed elements get a byte each in scratch memory, so that threads do not share one.
  LocalMemory allocateWhole(Value value) {
    return kernel.allocateScratch(sortByte(elementType(value)), getElementCount(value.getType()));
  }
  static Type sortByte(Type type) { return elementsPerByte(type) > 1 ? sortKeyType(type) : type; }
  void store(const LocalMemory &memory, Value tensor, Value position, Value element) {
    Type type = elementType(tensor);
    if (memory.elementType != type)
      element = kernel.scalars().convert(element, type, memory.elementType);
    kernel.store(memory, position, element);
  }
  Value load(const LocalMemory &memory, Value tensor, Value position) {
    Value element = kernel.load(memory, position);
    Type type = elementType(tensor);
    return memory.elementType == type ? element : kernel.scalars().convert(element, memory.elementType, type);
  }

  KernelTiles emitWhole(ArrayRef<Operation *> ops) {
    constexpr int kThreads = 512;
    kernel.setThreads(kThreads);
    blocks = 1;
    kernel.forTiles([&](Value) {
      for (Operation *op : ops) {
        SmallVector<LocalMemory> memory;
        for (Value result : op->getResults())
          memory.push_back(allocateWhole(result));
        if (auto scatter = dyn_cast<ScatterOp>(op)) {
          ScatterForm form = describe(scatter, kThreads);
          kernel.forThreads(kernel.size(form.units), [&](Value unit) {
            emitScatterUnit(scatter, form, memory[0], unit, [](ArrayRef<Value>) {});
          });
        } else {
          SmallVector<Dim> dims = getDims(op->getResult(0).getType());
          auto [lines, space] = lineSpace(op, dims);
          ArrayRef<Value> sizes = space;
          auto sink = [&](ArrayRef<Value> place, ValueRange elements) {
            Value position = kernel.position(op->getResult(0).getType(), place);
            for (size_t i = 0; i < memory.size(); ++i)
              store(memory[i], op->getResult(i), position, elements[i]);
          };
          if (auto cumulative = dyn_cast<CumulativeOp>(op))
            kernel.forThreads(kernel.size(lines),
                              [&](Value line) { emitCumulative(cumulative, lineIndices(op, line, sizes), sink); });
          else
            kernel.loop(zero, kernel.size(lines),
                        [&](Value line) { emitSortedLine(op, lineIndices(op, line, sizes), sink); });
        }
        kernel.barrier();
        for (auto [result, array] : llvm::zip(op->getResults(), memory))
          kernel.materialized[result] = array;
      }
      for (auto [i, result] : llvm::enumerate(kernel.results()))
        storeWhole(i, result);
    });
    return {Dim::constant(kernel.builder.getContext(), 1), 1};
  }

  void storeWhole(unsigned number, Value result) {
    SmallVector<Value> sizes = kernel.sizes(getDims(result.getType()));
    Dim count = getElementCount(result.getType());
    int64_t perByte = elementsPerByte(elementType(result));
    kernel.forThreads(kernel.size(count.ceilDiv(perByte)), [&](Value unit) {
      kernel.storeUnit(number, unit, [&](Value position) {
        return kernel.get(result, kernel.scalars().delinearize(position, sizes));
      });
    });
  }

  KernelEmitter &kernel;
  Value zero;
  int64_t blocks = 1; // that have scratch memory of their own
  std::map<Operation *, LineOrder> orders;
};

} // namespace

bool isSerialKernel(KernelEmitter &kernel) {
  return llvm::any_of(kernel.body(), [](Operation &op) { return isSerialOp(&op); });
}

FailureOr<KernelTiles> emitSerialKernel(KernelEmitter &kernel) { return SerialKernel(kernel).emit(); }

} // namespace weft::codegen::gpu
