//===- SplitLibraryEpilogues.cpp - Leaves in a library call what the library can do -------------------------===//

#include "dialects/Graph/Graph.h"
#include "lib/Schedule/LibraryCalls.h"
#include "lib/Schedule/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::schedule {

#define GEN_PASS_DEF_SPLITLIBRARYEPILOGUES
#include "lib/Schedule/Passes.h.inc"

namespace {

/// Replaces a call by a generic fusion of the same region.
void makeGenericFusion(LibraryCallOp call) {
  OpBuilder builder(call);
  auto fusion = FusionOp::create(builder, call.getLoc(), call.getResultTypes(), FusionKind::generic, call.getInputs());
  fusion.getBody().takeBody(call.getBody());
  call.replaceAllUsesWith(fusion.getResults());
  call.erase();
}

/// The ops of `body` that `value` is computed from, in order.
SmallVector<Operation *> backwardSlice(Block &body, Value value) {
  llvm::SmallPtrSet<Operation *, 16> needed;
  SmallVector<Value> work{value};
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (op && needed.insert(op).second)
      llvm::append_range(work, op->getOperands());
  }
  SmallVector<Operation *> ordered;
  for (Operation &op : body)
    if (needed.contains(&op))
      ordered.push_back(&op);
  return ordered;
}

/// Clones ops into a new region op: `inputs` are values of the old region that become arguments, `outer` what is passed
/// for them.
void fillRegion(Region &region, ArrayRef<Value> inputs, ArrayRef<Operation *> ops, ValueRange yielded, Location loc) {
  Block &block = region.emplaceBlock();
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, block.addArgument(input.getType(), input.getLoc()));
  OpBuilder builder = OpBuilder::atBlockEnd(&block);
  for (Operation *op : ops)
    builder.clone(*op, mapping);
  SmallVector<Value> results;
  for (Value value : yielded)
    results.push_back(mapping.lookup(value));
  YieldOp::create(builder, loc, results);
}

/// The region arguments that `ops` use.
SmallVector<Value> usedArguments(ArrayRef<Operation *> ops) {
  llvm::SetVector<Value> used;
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (isa<BlockArgument>(operand))
        used.insert(operand);
  return used.takeVector();
}

void split(LibraryCallOp call, const LibraryPlan &plan) {
  Block &body = call.getBody().front();
  auto yield = cast<YieldOp>(body.getTerminator());
  OpBuilder builder(call);
  auto outer = [&](ArrayRef<Value> arguments) {
    SmallVector<Value> values;
    for (Value argument : arguments)
      values.push_back(call.getInputs()[cast<BlockArgument>(argument).getArgNumber()]);
    return values;
  };

  SmallVector<Operation *> head = backwardSlice(body, plan.last);
  SmallVector<Value> headInputs = usedArguments(head);
  SmallVector<Location> headLocations;
  for (Operation *op : head)
    headLocations.push_back(op->getLoc());
  auto shorter = LibraryCallOp::create(builder, builder.getFusedLoc(headLocations), plan.last.getType(),
                                       call.getCalleeAttr(), outer(headInputs));
  fillRegion(shorter.getBody(), headInputs, head, plan.last, call.getLoc());

  llvm::SmallPtrSet<Operation *, 16> inHead(head.begin(), head.end());
  // What both sides need (a broadcast of a bias, a constant) is cloned into the tail as well.
  SmallVector<Operation *> tail;
  llvm::SmallPtrSet<Operation *, 16> needed;
  SmallVector<Value> work(yield.getValues());
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *op = value == plan.last ? nullptr : value.getDefiningOp();
    if (op && needed.insert(op).second)
      llvm::append_range(work, op->getOperands());
  }
  for (Operation &op : body)
    if (needed.contains(&op))
      tail.push_back(&op);
  SmallVector<Value> tailInputs{plan.last};
  llvm::append_range(tailInputs, usedArguments(tail));
  for (Value value : yield.getValues())
    if (isa<BlockArgument>(value) && !llvm::is_contained(tailInputs, value))
      tailInputs.push_back(value);
  SmallVector<Value> tailOperands{shorter.getResult(0)};
  llvm::append_range(tailOperands, outer(ArrayRef<Value>(tailInputs).drop_front()));
  SmallVector<Location> tailLocations;
  for (Operation *op : tail)
    tailLocations.push_back(op->getLoc());
  auto rest = FusionOp::create(builder, builder.getFusedLoc(tailLocations), call.getResultTypes(), FusionKind::loop,
                               tailOperands);
  fillRegion(rest.getBody(), tailInputs, tail, yield.getValues(), call.getLoc());
  call.replaceAllUsesWith(rest.getResults());
  call.erase();
}

struct SplitLibraryEpilogues : impl::SplitLibraryEpiloguesBase<SplitLibraryEpilogues> {
  void runOnOperation() override {
    SmallVector<LibraryCallOp> calls;
    getOperation().walk([&](LibraryCallOp call) { calls.push_back(call); });
    for (LibraryCallOp call : calls) {
      std::optional<LibraryPlan> plan = planLibraryCall(call);
      auto yield = cast<YieldOp>(call.getBody().front().getTerminator());
      if (!plan) {
        makeGenericFusion(call);
        continue;
      }
      // A contraction whose own value leaves the region, or is needed by a later op together with another path, ends
      // there.
      bool whole = yield.getValues().size() == 1 && yield.getValues()[0] == plan->last;
      if (!whole)
        split(call, *plan);
    }
  }
};

} // namespace

} // namespace weft::schedule
