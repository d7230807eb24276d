//===- Regions.cpp - Groups, branches, loops and sizes from data as ONNX nodes -------------------===//

#include "dialects/Graph/ControlFlow.h"
#include "dialects/Graph/Structure.h"
#include "lib/Exporter/Onnx/GraphBuilder.h"
#include "lib/Support/Onnx/onnx.pb.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::exporter {

namespace {

/// The operations of a group, in its place.
LogicalResult inlineGroup(GraphBuilder &b, Operation *op, Region &region) {
  Block &block = region.front();
  for (auto [argument, operand] : llvm::zip(block.getArguments(), op->getOperands()))
    b.bind(argument, b.nameOf(operand));
  if (failed(exportBlock(b, block)))
    return failure();
  for (auto [result, value] : llvm::zip(op->getResults(), block.getTerminator()->getOperands()))
    b.bind(result, b.nameOf(value));
  return success();
}

/// Makes a value an output of the current graph. An Identity gives it a name of its own, as a graph's outputs must
/// have.
void addOutput(GraphBuilder &b, Type type, const Name &name) {
  Name output = b.uniqueName("out");
  b.namedNode("Identity", name, output);
  GraphBuilder::describe(*b.current().add_output(), output, type);
}

LogicalResult exportIf(GraphBuilder &b, IfOp op) {
  onnx::GraphProto graphs[2];
  unsigned next = 0;
  for (Region *region : {&op.getTrueBranch(), &op.getFalseBranch()}) {
    onnx::GraphProto &graph = graphs[next++];
    graph.set_name(b.uniqueName("branch"));
    GraphBuilder::Scope scope(b, graph);
    if (failed(exportBlock(b, region->front())))
      return failure();
    for (Value value : region->front().getTerminator()->getOperands())
      addOutput(b, value.getType(), b.nameOf(value));
  }
  b.setOperation(op);
  SmallVector<Name> results = b.nodes("If", b.nameOf(op.getPred()), op.getNumResults(),
                                      Attributes().set("then_branch", graphs[0]).set("else_branch", graphs[1]));
  for (auto [result, name] : llvm::zip(op.getResults(), results))
    b.bind(result, name);
  return success();
}

/// The condition of a while for values of these names, in the current graph.
FailureOr<Name> condition(GraphBuilder &b, WhileOp op, ArrayRef<Name> values) {
  Block &block = op.getCondition().front();
  for (auto [argument, name] : llvm::zip(block.getArguments(), values))
    b.bind(argument, name);
  if (failed(exportBlock(b, block)))
    return failure();
  return b.nameOf(block.getTerminator()->getOperand(0));
}

/// ONNX's Loop takes the condition before the first trip and gives it after each.
LogicalResult exportWhile(GraphBuilder &b, WhileOp op) {
  SmallVector<Name> initial;
  for (Value operand : op.getOperands())
    initial.push_back(b.nameOf(operand));
  FailureOr<Name> first = condition(b, op, initial);
  if (failed(first))
    return failure();
  onnx::GraphProto body;
  body.set_name(b.uniqueName("body"));
  {
    GraphBuilder::Scope scope(b, body);
    auto i64 = RankedTensorType::get({}, IntegerType::get(op.getContext(), 64)),
         i1 = RankedTensorType::get({}, IntegerType::get(op.getContext(), 1));
    GraphBuilder::describe(*body.add_input(), b.uniqueName("trip"), i64);
    GraphBuilder::describe(*body.add_input(), b.uniqueName("goes_on"), i1);
    Block &block = op.getBody().front();
    for (BlockArgument argument : block.getArguments()) {
      Name name = b.uniqueName("carried");
      GraphBuilder::describe(*body.add_input(), name, argument.getType());
      b.bind(argument, name);
    }
    if (failed(exportBlock(b, block)))
      return failure();
    SmallVector<Name> next;
    for (Value value : block.getTerminator()->getOperands())
      next.push_back(b.nameOf(value));
    FailureOr<Name> again = condition(b, op, next);
    if (failed(again))
      return failure();
    addOutput(b, i1, *again);
    for (auto [name, operand] : llvm::zip(next, op.getOperands()))
      addOutput(b, operand.getType(), name);
  }
  b.setOperation(op);
  SmallVector<Name> inputs{"", *first};
  llvm::append_range(inputs, initial);
  SmallVector<Name> results = b.nodes("Loop", inputs, op.getNumResults(), Attributes().set("body", body));
  for (auto [result, name] : llvm::zip(op.getResults(), results))
    b.bind(result, name);
  return success();
}

} // namespace

std::optional<LogicalResult> exportRegions(GraphBuilder &b, Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<LogicalResult>>(op)
      .Case<CompositeOp, FusionOp, LibraryCallOp>([&](auto group) { return inlineGroup(b, group, group.getBody()); })
      .Case<BindDimOp>([&](BindDimOp binding) -> LogicalResult {
        b.defineSymbol(binding.getSymbol(),
                       b.cast(b.nameOf(binding.getCount()), IntegerType::get(op->getContext(), 64)));
        return success();
      })
      .Case<IfOp>([&](IfOp branch) { return exportIf(b, branch); })
      .Case<WhileOp>([&](WhileOp loop) { return exportWhile(b, loop); })
      .Default([](auto) { return std::nullopt; });
}

} // namespace weft::exporter
