//===- Regions.cpp - Building the region of a fusion or library call from ops of a block -------------===//

#include "lib/Fusion/Regions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace weft::fusion {

using namespace weft::graph;

bool isRematerialized(Operation *op) {
  // A longer chain than this is not what a simplified graph has, and following it from each of its ops would take long.
  for (int depth = 0; op && depth < 8; ++depth) {
    auto role = dyn_cast<FusibilityInterface>(op);
    if (!role || op->getNumResults() != 1)
      return false;
    if (op->getNumOperands() == 0)
      return op->getNumRegions() == 0;
    if (op->getNumOperands() != 1 || !isa<BroadcastInDimOp, ReshapeOp>(op))
      return false;
    RankedTensorType source = tensorType(op->getOperand(0));
    if (!source.hasStaticShape() || source.getNumElements() != 1)
      return false;
    op = op->getOperand(0).getDefiningOp();
  }
  return false;
}

bool isRepeatedElement(Operation *op) {
  if (auto constant = dyn_cast<ConstantOp>(op))
    return constant.getValue().isSplat();
  return op->getNumOperands() == 1 && isRematerialized(op);
}

namespace {

/// Copies ops into one region and makes arguments for what they use from outside.
class RegionBuilder {
public:
  RegionBuilder(Region &region, MLIRContext *context, SmallVectorImpl<Value> &operands,
                llvm::function_ref<bool(Operation *)> copies)
      : block(region.emplaceBlock()), builder(context), operands(operands), copies(copies) {
    builder.setInsertionPointToStart(&block);
    for (Value operand : operands)
      addArgument(operand);
  }

  /// The value inside the region that stands for `value`.
  Value use(Value value) {
    if (Value mapped = mapping.lookupOrNull(value))
      return mapped;
    if (Operation *op = value.getDefiningOp(); op && copies(op)) {
      copy(op);
      return mapping.lookup(value);
    }
    operands.push_back(value);
    return addArgument(value);
  }

  void copy(Operation *op) {
    for (Value operand : op->getOperands())
      use(operand);
    builder.clone(*op, mapping);
  }

  void yield(ArrayRef<Value> outputs, Location location) {
    SmallVector<Value> values;
    for (Value output : outputs)
      values.push_back(use(output));
    YieldOp::create(builder, location, values);
  }

private:
  Value addArgument(Value value) {
    BlockArgument argument = block.addArgument(value.getType(), value.getLoc());
    mapping.map(value, argument);
    return argument;
  }

  Block &block;
  OpBuilder builder;
  SmallVectorImpl<Value> &operands;
  llvm::function_ref<bool(Operation *)> copies;
  IRMapping mapping;
};

} // namespace

void buildRegion(Region &region, ArrayRef<Operation *> members, ArrayRef<Value> outputs,
                 SmallVectorImpl<Value> &operands, llvm::function_ref<bool(Operation *)> copies) {
  RegionBuilder builder(region, outputs.front().getContext(), operands, copies);
  for (Operation *op : members)
    builder.copy(op);
  builder.yield(outputs, members.empty() ? outputs.front().getLoc() : fuseLocations(members));
}

Location fuseLocations(ArrayRef<Operation *> members) {
  llvm::SetVector<Location> locations;
  for (Operation *op : members)
    if (!isa<UnknownLoc>(op->getLoc()))
      locations.insert(op->getLoc());
  if (locations.size() == 1)
    return locations.front();
  MLIRContext *context = members.front()->getContext();
  if (locations.empty())
    return UnknownLoc::get(context);
  return FusedLoc::get(context, locations.getArrayRef());
}

void forEachFusibleBlock(Operation *module, llvm::function_ref<void(Block &)> visit) {
  for (Region &region : module->getRegions())
    for (Operation &function : region.getOps()) {
      auto callable = dyn_cast<func::FuncOp>(function);
      if (!callable || callable.getName() == GraphDialect::kPrepareName || callable.isExternal())
        continue;
      SmallVector<Block *> blocks;
      callable.walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (!isa<func::FuncOp, IfOp, WhileOp>(op))
          return op->getNumRegions() ? WalkResult::skip() : WalkResult::advance();
        for (Region &inner : op->getRegions())
          for (Block &block : inner)
            blocks.push_back(&block);
        return WalkResult::advance();
      });
      for (Block *block : llvm::reverse(blocks))
        visit(*block);
    }
}

void eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

} // namespace weft::fusion
