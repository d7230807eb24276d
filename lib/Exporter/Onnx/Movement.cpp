//===- Movement.cpp - Operations that move elements as ONNX nodes --------------------------------===//

#include "dialects/Graph/DataMovement.h"
#include "lib/Exporter/Onnx/GraphBuilder.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::exporter {

namespace {

Name broadcastInDim(GraphBuilder &b, BroadcastInDimOp op) {
  Name x = b.nameOf(op.getOperand());
  RankedTensorType from = tensorType(op.getOperand()), to = op.getType();
  // The operand's dimensions in the result's order, with ones between.
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < from.getRank(); ++i)
    order.push_back(i);
  llvm::sort(order,
             [&](int64_t i, int64_t j) { return op.getBroadcastDimensions()[i] < op.getBroadcastDimensions()[j]; });
  x = b.transpose(x, order);
  SmallVector<Dim> spread(to.getRank(), Dim::constant(op.getContext(), 1));
  for (auto [i, target] : llvm::enumerate(op.getBroadcastDimensions()))
    spread[target] = getDim(from, i);
  if (to.getRank() != from.getRank())
    x = b.reshape(x, spread);
  return spread == getDims(to) ? x : b.expand(x, getDims(to));
}

Name slice(GraphBuilder &b, SliceOp op) {
  SmallVector<int64_t> axes, ends;
  for (auto [i, limit] : llvm::enumerate(op.getLimitIndices())) {
    axes.push_back(i);
    ends.push_back(limit == SliceOp::kEnd ? std::numeric_limits<int64_t>::max() : limit);
  }
  return b.slice(b.nameOf(op.getOperand()), op.getStartIndices(), ends, axes, op.getStrides());
}

/// Elements between those of one dimension: [n] as [n, 1], padded to [n, step], is [n * step] with step - 1 too many.
Name spreadOut(GraphBuilder &b, Name x, SmallVector<Dim> &dims, unsigned dimension, int64_t step, const Name &value) {
  SmallVector<Dim> split = dims;
  MLIRContext *context = dims[dimension].getContext();
  split.insert(split.begin() + dimension + 1, Dim::constant(context, 1));
  x = b.reshape(x, split);
  SmallVector<int64_t> pads(2 * split.size(), 0);
  pads[split.size() + dimension + 1] = step - 1;
  x = b.node("Pad", {x, b.integers(pads), value});
  dims[dimension] = dims[dimension] * step;
  x = b.reshape(x, dims);
  dims[dimension] = dims[dimension] - (step - 1);
  return b.slice(x, 0, -(step - 1), static_cast<int64_t>(dimension), 1);
}

} // namespace

Name padded(GraphBuilder &b, Name x, SmallVector<Dim> dims, const Name &value, ArrayRef<int64_t> low,
            ArrayRef<int64_t> high, ArrayRef<int64_t> interior) {
  for (auto [i, between] : llvm::enumerate(interior))
    if (between > 0 && dims[i] != Dim::constant(dims[i].getContext(), 0))
      x = spreadOut(b, x, dims, i, between + 1, value);
  SmallVector<int64_t> pads(low);
  llvm::append_range(pads, high);
  bool nothing = llvm::all_of(pads, [](int64_t pad) { return pad == 0; });
  return nothing ? x : b.node("Pad", {x, b.integers(pads), value});
}

std::optional<LogicalResult> exportMovement(GraphBuilder &b, Operation *op) {
  auto done = [&](const Name &name) -> LogicalResult {
    b.bind(op->getResult(0), name);
    return success();
  };
  return llvm::TypeSwitch<Operation *, std::optional<LogicalResult>>(op)
      .Case<BroadcastInDimOp>([&](BroadcastInDimOp broadcast) { return done(broadcastInDim(b, broadcast)); })
      .Case<ReshapeOp>([&](ReshapeOp reshape) {
        return done(b.reshape(b.nameOf(reshape.getOperand()), getDims(reshape.getType())));
      })
      .Case<AssumeShapeOp>([&](AssumeShapeOp assume) { return done(b.nameOf(assume.getOperand())); })
      .Case<TransposeOp>([&](TransposeOp transpose) {
        return done(b.transpose(b.nameOf(transpose.getOperand()), transpose.getPermutation()));
      })
      .Case<SliceOp>([&](SliceOp box) { return done(slice(b, box)); })
      .Case<PadOp>([&](PadOp pad) {
        return done(padded(b, b.nameOf(pad.getOperand()), getDims(pad.getOperand().getType()),
                           b.nameOf(pad.getPaddingValue()), pad.getEdgePaddingLow(), pad.getEdgePaddingHigh(),
                           pad.getInteriorPadding()));
      })
      .Case<ConcatenateOp>([&](ConcatenateOp concatenate) {
        SmallVector<Name> parts;
        for (Value part : concatenate.getInputs())
          parts.push_back(b.nameOf(part));
        return done(
            b.node("Concat", parts, Attributes().set("axis", static_cast<int64_t>(concatenate.getDimension()))));
      })
      .Case<ReverseOp>([&](ReverseOp reverse) {
        SmallVector<int64_t> axes(reverse.getDimensions()), starts(axes.size(), -1), steps(axes.size(), -1),
            ends(axes.size(), std::numeric_limits<int64_t>::min() + 1);
        return done(b.slice(b.nameOf(reverse.getOperand()), starts, ends, axes, steps));
      })
      .Default([](auto) { return std::nullopt; });
}

} // namespace weft::exporter
