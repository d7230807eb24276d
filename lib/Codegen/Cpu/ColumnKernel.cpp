//===- ColumnKernel.cpp - Reductions and windows over dimensions outside the innermost one ----------------===//
//
// A tile is a block of columns, the elements along the innermost dimension, for one position of the other kept
// dimensions. What is combined comes row by row into the accumulators of the block, so that the loops over columns
// vectorize.

#include "dialects/Graph/Graph.h"
#include "dialects/Graph/ReductionEmit.h"
#include "lib/Codegen/Cpu/KernelEmitter.h"
#include "lib/Codegen/KernelForms.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen::cpu {

namespace {

constexpr int64_t kLanes = kReductionLanes, kChunk = kReductionChunk, kColumns = 32;

class ColumnKernel {
public:
  ColumnKernel(KernelEmitter &kernel, ColumnForm form) : kernel(kernel), form(std::move(form)) {}

  KernelTiles emit() {
    MLIRContext *context = kernel.builder.getContext();
    ScalarBuilder scalars = kernel.scalars();
    Dim columns = form.dims.back(), blocks = columns.ceilDiv(kColumns);
    Dim outer = product(ArrayRef(form.dims).drop_back(), context);
    SmallVector<Value> space = kernel.sizes(ArrayRef(form.dims).drop_back());
    space.push_back(kernel.size(blocks));
    Value columnCount = kernel.size(columns);
    zero = kernel.index(0);
    kernel.loop(kernel.getBegin(), kernel.getEnd(), [&](Value tile) {
      SmallVector<Value> indices = scalars.delinearize(tile, space);
      firstColumn = scalars.mulIndex(indices.back(), kernel.index(kColumns));
      width = scalars.minIndex(kernel.index(kColumns), scalars.subIndex(columnCount, firstColumn));
      if (isa<ReduceOp>(form.ops[0]))
        reduceBlock(indices);
      else
        windowBlock(indices);
      forColumns([&](Value offset) {
        indices.back() = kernel.scalars().addIndex(firstColumn, offset);
        for (auto [op, total] : llvm::zip(form.ops, totals)) {
          Type type = elementType(op->getResult(0));
          kernel.define(op->getResult(0), indices,
                        narrowReduction(kernel.scalars(), kindOf(op), kernel.load(total, offset), type));
        }
        SmallVector<Value> elements;
        for (Value result : kernel.results())
          elements.push_back(kernel.get(result, indices));
        for (auto [i, element] : llvm::enumerate(elements))
          kernel.store(i, indices, element);
      });
    });
    return {outer * blocks};
  }

private:
  void forColumns(function_ref<void(Value)> body) { kernel.loop(zero, width, body, /*vectorize=*/true); }

  Type wideType(Operation *op) { return accumulationType(elementType(op->getOperand(0))); }
  ReductionKind kindOf(Operation *op) {
    if (auto reduce = dyn_cast<ReduceOp>(op))
      return reduce.getKind();
    return cast<ReduceWindowOp>(op).getKind();
  }

  //===------------------------------------------------------------------===//
  // reduce: lanes of the numerics contract, each a row of the block
  //===------------------------------------------------------------------===//

  /// The operand's element `position` of those reduced, in column `offset` of the block.
  Value element(ReduceOp reduce, ArrayRef<Value> indices, ArrayRef<Value> reduced, Value offset) {
    SmallVector<Value> source(tensorType(reduce.getOperand()).getRank());
    size_t nextKept = 0, nextReduced = 0;
    for (size_t i = 0; i < source.size(); ++i)
      source[i] = llvm::is_contained(reduce.getDimensions(), static_cast<int64_t>(i)) ? reduced[nextReduced++]
                                                                                      : indices[nextKept++];
    source.back() = kernel.scalars().addIndex(firstColumn, offset);
    return kernel.scalars().widen(kernel.get(reduce.getOperand(), source), elementType(reduce.getOperand()));
  }

  Value place(Value lane, Value offset) {
    return kernel.scalars().addIndex(kernel.scalars().mulIndex(lane, kernel.index(kColumns)), offset);
  }

  void reduceBlock(ArrayRef<Value> indices) {
    ScalarBuilder scalars = kernel.scalars();
    auto first = cast<ReduceOp>(form.ops[0]);
    SmallVector<Value> extents;
    Dim count = Dim::constant(kernel.builder.getContext(), 1);
    for (int64_t dimension : first.getDimensions()) {
      Dim size = getDim(first.getOperand().getType(), dimension);
      extents.push_back(kernel.size(size));
      count = count * size;
    }
    int64_t lanes = count.isConstant() ? std::clamp<int64_t>(count.getConstant(), 1, kLanes) : kLanes;
    if (accumulators.empty())
      for (Operation *op : form.ops) {
        accumulators.push_back(kernel.allocateOnStack(wideType(op), lanes * kColumns));
        totals.push_back(kernel.allocateOnStack(wideType(op), kColumns));
      }
    Value size = kernel.size(count), laneCount = kernel.index(lanes);
    forColumns([&](Value offset) {
      for (auto [op, total] : llvm::zip(form.ops, totals))
        kernel.store(total, offset, kernel.scalars().identity(kindOf(op), wideType(op)));
    });
    Value chunks = scalars.divIndex(scalars.addIndex(size, kernel.index(kChunk - 1)), kernel.index(kChunk));
    kernel.loop(zero, chunks, [&](Value chunk) {
      ScalarBuilder scalars = kernel.scalars();
      Value begin = scalars.mulIndex(chunk, kernel.index(kChunk));
      Value length = scalars.minIndex(kernel.index(kChunk), scalars.subIndex(size, begin));
      Value filled = scalars.minIndex(length, laneCount);
      kernel.loop(zero, filled, [&](Value lane) {
        SmallVector<Value> reduced = kernel.scalars().delinearize(kernel.scalars().addIndex(begin, lane), extents);
        forColumns([&](Value offset) {
          for (auto [op, memory] : llvm::zip(form.ops, accumulators))
            kernel.store(memory, place(lane, offset), element(cast<ReduceOp>(op), indices, reduced, offset));
        });
      });
      kernel.loop(filled, length, [&](Value position) {
        Value lane = kernel.scalars().remIndex(position, laneCount);
        SmallVector<Value> reduced = kernel.scalars().delinearize(kernel.scalars().addIndex(begin, position), extents);
        forColumns([&](Value offset) {
          for (auto [op, memory] : llvm::zip(form.ops, accumulators)) {
            Value value = element(cast<ReduceOp>(op), indices, reduced, offset);
            combineInto(op, memory, place(lane, offset), value);
          }
        });
      });
      for (int64_t step = kLanes / 2; step >= 1; step /= 2) {
        if (step >= lanes)
          continue;
        // Lane j takes lane j + step where that has elements.
        Value pairs = scalars.minIndex(kernel.index(step), scalars.subIndex(filled, kernel.index(step)));
        kernel.loop(zero, pairs, [&](Value lane) {
          forColumns([&](Value offset) {
            Value other = place(kernel.scalars().addIndex(lane, kernel.index(step)), offset);
            for (auto [op, memory] : llvm::zip(form.ops, accumulators))
              combineInto(op, memory, place(lane, offset), kernel.load(memory, other));
          });
        });
      }
      // The first chunk's result is taken as it is.
      Value isFirst = arith::CmpIOp::create(kernel.builder, kernel.location, arith::CmpIPredicate::eq, chunk, zero);
      forColumns([&](Value offset) {
        for (auto [op, memory, total] : llvm::zip(form.ops, accumulators, totals)) {
          Value result = kernel.load(memory, offset);
          Value sum = kernel.scalars().combine(kindOf(op), wideType(op), kernel.load(total, offset), result);
          kernel.store(total, offset, kernel.scalars().select(isFirst, result, sum));
        }
      });
    });
  }

  void combineInto(Operation *op, const LocalMemory &memory, Value position, Value value) {
    Value old = kernel.load(memory, position);
    kernel.store(memory, position, kernel.scalars().combine(kindOf(op), wideType(op), old, value));
  }

  //===------------------------------------------------------------------===//
  // reduce_window: in the window's order
  //===------------------------------------------------------------------===//

  void windowBlock(ArrayRef<Value> indices) {
    auto window = cast<ReduceWindowOp>(form.ops[0]);
    if (totals.empty())
      totals.push_back(kernel.allocateOnStack(wideType(window), kColumns));
    forColumns([&](Value offset) {
      kernel.store(totals[0], offset, kernel.scalars().identity(window.getKind(), wideType(window)));
    });
    SmallVector<Value> extents;
    size_t last = indices.size() - 1;
    for (size_t i = 0; i < last; ++i)
      extents.push_back(kernel.index(window.getWindowDimensions()[i]));
    emitLoops(kernel.builder, kernel.location, extents, {}, [&](ValueRange offsets, ValueRange) -> SmallVector<Value> {
      ScalarBuilder scalars = kernel.scalars();
      SmallVector<Value> source(indices);
      Value inside;
      for (size_t i = 0; i < last; ++i) {
        WindowPosition position =
            emitWindowPosition(scalars, indices[i], window.getWindowStrides()[i], offsets[i],
                               window.getWindowDilations()[i], window.getPaddingLow()[i], window.getPaddingHigh()[i],
                               window.getBaseDilations()[i], kernel.size(getDim(window.getOperand().getType(), i)));
        source[i] = position.element;
        if (position.inside)
          inside = scalars.both(inside, position.inside);
      }
      auto combineRow = [&] {
        forColumns([&](Value offset) {
          ScalarBuilder inner = kernel.scalars();
          source[last] =
              inner.mulIndex(inner.addIndex(firstColumn, offset), kernel.index(window.getWindowStrides()[last]));
          Value value = inner.widen(kernel.get(window.getOperand(), source), elementType(window.getOperand()));
          combineInto(window, totals[0], offset, value);
        });
      };
      if (inside)
        kernel.branch(inside, combineRow);
      else
        combineRow();
      return {};
    });
  }

  KernelEmitter &kernel;
  ColumnForm form;
  SmallVector<LocalMemory> accumulators, totals; // one an op
  Value zero, firstColumn, width;
};

} // namespace

bool isColumnKernel(KernelEmitter &kernel) { return findColumnForm(kernel.body(), kernel.results()).has_value(); }

FailureOr<KernelTiles> emitColumnKernel(KernelEmitter &kernel) {
  std::optional<ColumnForm> form = findColumnForm(kernel.body(), kernel.results());
  if (!form)
    return failure();
  return ColumnKernel(kernel, std::move(*form)).emit();
}

} // namespace weft::codegen::cpu
