//===- SerialKernel.cpp - sort, top_k, cumulative and scatter: ops whose elements need one another ------------===//
//
// Where the region has one of sort, top_k and cumulative, and results of its shape, a tile is one line along the op's
// dimension. Otherwise a single tile computes each such op whole, into scratch memory, and then the results from there.

#include "dialects/Graph/Graph.h"
#include "dialects/Graph/ReductionEmit.h"
#include "include/weft/kernel_abi.h"
#include "lib/Codegen/Cpu/KernelEmitter.h"
#include "lib/Codegen/SerialOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <map>

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen::cpu {

namespace {

class SerialKernel {
public:
  explicit SerialKernel(KernelEmitter &kernel) : kernel(kernel), zero(kernel.index(0)) {}

  KernelTiles emit() {
    SmallVector<Operation *> ops;
    for (Operation &op : kernel.body())
      if (isSerialOp(&op))
        ops.push_back(&op);
    if (ops.size() == 1 && isLineOp(ops[0])) {
      SmallVector<Dim> dims = getDims(ops[0]->getResult(0).getType());
      // Lines of packed elements share bytes: those are left to one tile.
      if (llvm::all_of(kernel.results(), [&](Value result) {
            return getDims(result.getType()) == dims && elementsPerByte(elementType(result)) == 1;
          }))
        return emitLines(ops[0], dims);
    }
    emitWhole(ops);
    return {Dim::constant(kernel.builder.getContext(), 1)};
  }

private:
  using Sink = function_ref<void(ArrayRef<Value> indices, ValueRange elements)>;

  KernelTiles emitLines(Operation *op, ArrayRef<Dim> dims) {
    Dim lines = Dim::constant(kernel.builder.getContext(), 1);
    int64_t dimension = lineDimension(op);
    SmallVector<Value> space;
    for (auto [i, dim] : llvm::enumerate(dims))
      if (static_cast<int64_t>(i) != dimension) {
        lines = lines * dim;
        space.push_back(kernel.size(dim));
      }
    kernel.loop(kernel.getBegin(), kernel.getEnd(), [&](Value line) {
      SmallVector<Value> indices = kernel.scalars().delinearize(line, space);
      indices.insert(indices.begin() + dimension, zero);
      emitLine(op, indices, [&](ArrayRef<Value> place, ValueRange elements) {
        for (auto [result, element] : llvm::zip(op->getResults(), elements))
          kernel.define(result, place, element);
        SmallVector<Value> values;
        for (Value result : kernel.results())
          values.push_back(kernel.get(result, place));
        for (auto [i, value] : llvm::enumerate(values))
          kernel.store(i, place, value);
      });
    });
    return {lines};
  }

  void emitWhole(ArrayRef<Operation *> ops) {
    kernel.loop(kernel.getBegin(), kernel.getEnd(), [&](Value) {
      for (Operation *op : ops) {
        SmallVector<LocalMemory> memory;
        for (Value result : op->getResults())
          memory.push_back(kernel.allocateScratch(elementType(result), getElementCount(result.getType())));
        if (auto scatter = dyn_cast<ScatterOp>(op)) {
          emitScatter(scatter, memory[0]);
        } else {
          SmallVector<Dim> dims = getDims(op->getResult(0).getType());
          SmallVector<Value> extents = kernel.sizes(dims);
          extents[lineDimension(op)] = kernel.index(1);
          forAll(extents, [&](ArrayRef<Value> indices) {
            emitLine(op, indices, [&](ArrayRef<Value> place, ValueRange elements) {
              Value position = kernel.position(op->getResult(0).getType(), place);
              for (auto [array, element] : llvm::zip(memory, elements))
                kernel.store(array, position, element);
            });
          });
        }
        for (auto [result, array] : llvm::zip(op->getResults(), memory))
          kernel.materialized[result] = array;
      }
      for (auto [i, result] : llvm::enumerate(kernel.results())) {
        unsigned number = i;
        forAll(kernel.sizes(getDims(result.getType())), [&](ArrayRef<Value> indices) {
          kernel.store(number, indices, kernel.get(kernel.results()[number], indices));
        });
      }
    });
  }

  void forAll(ArrayRef<Value> extents, function_ref<void(ArrayRef<Value>)> body) {
    emitLoops(kernel.builder, kernel.location, extents, {}, [&](ValueRange indices, ValueRange) -> SmallVector<Value> {
      SmallVector<Value> list(indices);
      body(list);
      return {};
    });
  }

  /// One line of the op: `indices` with its dimension running.
  void emitLine(Operation *op, ArrayRef<Value> indices, Sink sink) {
    if (auto cumulative = dyn_cast<CumulativeOp>(op))
      return emitCumulative(cumulative, indices, sink);
    if (auto sort = dyn_cast<SortOp>(op)) {
      Dim length = getDim(sort.getInputs()[0].getType(), sort.getDimension());
      const LineOrder &order = sortLine(op, indices, sort.getDimension(), length, sort.getDescending());
      kernel.loop(zero, kernel.size(length), [&](Value i) {
        SmallVector<Value> source(indices), place(indices), elements;
        source[sort.getDimension()] = toIndex(kernel.load(order.order, i));
        place[sort.getDimension()] = i;
        for (Value input : sort.getInputs())
          elements.push_back(kernel.get(input, source));
        sink(place, elements);
      });
      return;
    }
    auto topK = cast<TopKOp>(op);
    int64_t dimension = topK.getDimension();
    Dim length = getDim(topK.getOperand().getType(), dimension);
    Value count = kernel.index(topK.getK());
    auto emitFirst = [&] {
      const LineOrder &order = sortLine(op, indices, dimension, length, topK.getLargest());
      kernel.loop(zero, count, [&](Value i) {
        SmallVector<Value> source(indices), place(indices);
        Value number = kernel.load(order.order, i);
        source[dimension] = toIndex(number);
        place[dimension] = i;
        Value position = kernel.scalars().convert(number, kernel.builder.getI64Type(), topK.getIndexType());
        sink(place, {kernel.get(topK.getOperand(), source), position});
      });
    };
    if (length.isConstant())
      return emitFirst();
    // A symbolic size may be less than k.
    Value tooShort = kernel.scalars().lessThan(kernel.size(length), count);
    kernel.branch(tooShort, [&] { kernel.reportError(WEFT_KERNEL_SIZE_OUT_OF_BOUNDS); });
    Value isLong = arith::XOrIOp::create(kernel.builder, kernel.location, tooShort,
                                         kernel.scalars().integerConstant(kernel.builder.getI1Type(), 1));
    kernel.branch(isLong, emitFirst);
  }

  Value toIndex(Value number) {
    return arith::IndexCastOp::create(kernel.builder, kernel.location, kernel.builder.getIndexType(), number);
  }
  Value toNumber(Value index) {
    return arith::IndexCastOp::create(kernel.builder, kernel.location, kernel.builder.getI64Type(), index);
  }

  //===------------------------------------------------------------------===//
  // sort and top_k
  //===------------------------------------------------------------------===//

  /// Scratch memory of one op: the keys of a line, the positions in order, and room for merging.
  struct LineOrder {
    LocalMemory keys, order, merged;
  };

  /// Bottom-up merge sort of the positions along a line.
  const LineOrder &sortLine(Operation *op, ArrayRef<Value> indices, int64_t dimension, const Dim &length,
                            bool descending) {
    OpBuilder &builder = kernel.builder;
    Location location = kernel.location;
    Type type = elementType(op->getOperand(0)), wide = accumulationType(type), i64 = builder.getI64Type();
    Type keyType = sortKeyType(type);
    auto [entry, isNew] = orders.try_emplace(op);
    LineOrder &order = entry->second;
    if (isNew)
      order = {kernel.allocateScratch(keyType, length), kernel.allocateScratch(i64, length),
               kernel.allocateScratch(i64, length)};
    Value count = kernel.size(length);
    kernel.loop(zero, count, [&](Value i) {
      SmallVector<Value> source(indices);
      source[dimension] = i;
      Value key = kernel.scalars().widen(kernel.get(op->getOperand(0), source), type);
      kernel.store(order.keys, i, kernel.scalars().convert(key, wide, keyType));
      kernel.store(order.order, i, toNumber(i));
    });
    // As many passes as it takes for runs of 1, 2, 4, ... to reach the length.
    Value number = toNumber(count);
    Value last = arith::SubIOp::create(builder, location, number, kernel.scalars().integerConstant(i64, 1));
    Value zeros = math::CountLeadingZerosOp::create(builder, location, last);
    Value passes = toIndex(arith::SubIOp::create(builder, location, kernel.scalars().integerConstant(i64, 64), zeros));
    passes = kernel.scalars().select(kernel.scalars().lessThan(count, kernel.index(2)), zero, passes);
    kernel.loop(zero, passes, [&](Value pass) {
      Value run =
          toIndex(arith::ShLIOp::create(builder, location, kernel.scalars().integerConstant(i64, 1), toNumber(pass)));
      Value two = kernel.scalars().mulIndex(run, kernel.index(2));
      Value merges = kernel.scalars().divIndex(
          kernel.scalars().addIndex(count, kernel.scalars().subIndex(two, kernel.index(1))), two);
      kernel.loop(zero, merges, [&](Value merge) {
        ScalarBuilder scalars = kernel.scalars();
        Value low = scalars.mulIndex(merge, two);
        Value middle = scalars.minIndex(scalars.addIndex(low, run), count);
        Value high = scalars.minIndex(scalars.addIndex(low, two), count);
        Value one = kernel.index(1);
        emitLoops(builder, location, scalars.subIndex(high, low), {low, middle},
                  [&](ValueRange loop, ValueRange carried) -> SmallVector<Value> {
                    ScalarBuilder scalars = kernel.scalars();
                    Value left = carried[0], right = carried[1];
                    // A run that is used up is read at its last element; the choice does not depend on it.
                    Value leftItem = kernel.load(order.order, scalars.minIndex(left, scalars.subIndex(middle, one)));
                    Value rightItem = kernel.load(order.order, scalars.minIndex(right, scalars.subIndex(high, one)));
                    Value before = emitComesBefore(scalars, keyType, kernel.load(order.keys, toIndex(rightItem)),
                                                   kernel.load(order.keys, toIndex(leftItem)), descending);
                    Value hasRight = scalars.lessThan(right, high),
                          noLeft = scalars.lessThan(scalars.subIndex(middle, one), left);
                    Value takeRight = arith::OrIOp::create(builder, location, noLeft,
                                                           arith::AndIOp::create(builder, location, hasRight, before));
                    kernel.store(order.merged, scalars.addIndex(low, loop[0]),
                                 scalars.select(takeRight, rightItem, leftItem));
                    Value nextLeft = scalars.select(takeRight, left, scalars.addIndex(left, one));
                    Value nextRight = scalars.select(takeRight, scalars.addIndex(right, one), right);
                    return {nextLeft, nextRight};
                  });
      });
      kernel.loop(zero, count, [&](Value i) { kernel.store(order.order, i, kernel.load(order.merged, i)); }, true);
    });
    return order;
  }

  //===------------------------------------------------------------------===//
  // cumulative
  //===------------------------------------------------------------------===//

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

  //===------------------------------------------------------------------===//
  // scatter
  //===------------------------------------------------------------------===//

  void emitScatter(ScatterOp op, const LocalMemory &memory) {
    Type resultType = op.getOperand().getType();
    forAll(kernel.sizes(getDims(resultType)), [&](ArrayRef<Value> indices) {
      kernel.store(memory, kernel.position(resultType, indices), kernel.get(op.getOperand(), indices));
    });
    forAll(kernel.sizes(getDims(op.getUpdates().getType())), [&](ArrayRef<Value> indices) {
      ScatterTarget target = emitScatterTarget(kernel, op, indices);
      auto apply = [&] {
        Value place = kernel.position(resultType, target.place);
        Value update = kernel.get(op.getUpdates(), indices);
        if (op.getKind() != ScatterKind::set)
          update = emitScatterCombine(kernel.scalars(), op, kernel.load(memory, place), update);
        kernel.store(memory, place, update);
      };
      if (target.inside)
        kernel.branch(target.inside, apply);
      else
        apply();
    });
  }

  KernelEmitter &kernel;
  Value zero;
  std::map<Operation *, LineOrder> orders;
};

} // namespace

bool isSerialKernel(KernelEmitter &kernel) {
  return llvm::any_of(kernel.body(), [](Operation &op) { return isSerialOp(&op); });
}

FailureOr<KernelTiles> emitSerialKernel(KernelEmitter &kernel) { return SerialKernel(kernel).emit(); }

} // namespace weft::codegen::cpu
