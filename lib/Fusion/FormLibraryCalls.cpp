//===- FormLibraryCalls.cpp - Contractions and the elementwise ops after them become library calls ------===//

#include "lib/Fusion/LibraryCallForm.h"
#include "lib/Fusion/Passes.h"
#include "lib/Fusion/Regions.h"
#include "llvm/ADT/DenseSet.h"
#include <queue>

using namespace mlir;

namespace weft::fusion {

#define GEN_PASS_DEF_FORMLIBRARYCALLS
#include "lib/Fusion/Passes.h.inc"

using namespace weft::graph;

namespace {

/// An epilogue longer than this is cut: no library has a form for it, and what follows fuses among itself as well.
constexpr size_t kMaximumMembers = 64;
constexpr size_t kMaximumOperands = 32;
/// How many ops that depend on the hero are looked at. More would make the work grow with the square of the graph.
constexpr size_t kMaximumVisits = 256;

/// Grows the epilogue of one hero over the ops that follow it in its block.
class Epilogue {
public:
  Epilogue(Operation *hero, const DenseMap<Operation *, unsigned> &order)
      : hero(hero), block(hero->getBlock()), order(order) {
    add(hero);
  }

  void grow();
  /// The hero and the epilogue in program order, without the broadcasts of operands; the last one's value is the only
  /// one that others read.
  ArrayRef<Operation *> members() const { return ArrayRef<Operation *>(grown).take_front(best); }

private:
  /// The op of the hero's block that the user is or stands in.
  Operation *ancestor(Operation *user) const { return block->findAncestorOpInBlock(*user); }
  bool fits(Operation *op, size_t &newOperands) const;
  void add(Operation *op);
  void visitUsers(Operation *op);

  Operation *hero;
  Block *block;
  const DenseMap<Operation *, unsigned> &order;
  SmallVector<Operation *> grown;
  size_t best = 1, operands = 2;
  llvm::DenseSet<Operation *> inside, dependent, queued;
  DenseMap<Operation *, int64_t> usesOutside;
  int64_t escaping = 0;

  struct Later {
    const DenseMap<Operation *, unsigned> &order;
    bool operator()(Operation *a, Operation *b) const { return order.lookup(a) > order.lookup(b); }
  };
  std::priority_queue<Operation *, std::vector<Operation *>, Later> pending{Later{order}};
};

/// Whether the op may stand in the epilogue: elementwise on the result's shape, each operand from inside, or from
/// outside and one that an epilogue takes.
bool Epilogue::fits(Operation *op, size_t &newOperands) const {
  auto role = dyn_cast<FusibilityInterface>(op);
  if (!role || role.getFusionRole() != FusionRole::Elementwise || op->getNumResults() != 1 ||
      op->getNumOperands() == 0 || op->getNumRegions() != 0 ||
      !haveSameDims(op->getResult(0).getType(), hero->getResult(0).getType()))
    return false;
  newOperands = 0;
  for (Value operand : op->getOperands()) {
    Operation *definition = operand.getDefiningOp();
    if (definition && inside.contains(definition))
      continue;
    if (definition && dependent.contains(definition))
      return false;
    if (!isEpilogueOperand(operand, hero))
      return false;
    ++newOperands;
  }
  return true;
}

void Epilogue::visitUsers(Operation *op) {
  for (Operation *user : op->getUsers())
    if (Operation *local = ancestor(user); local && queued.insert(local).second)
      pending.push(local);
}

void Epilogue::add(Operation *op) {
  inside.insert(op);
  grown.push_back(op);
  for (Value operand : op->getOperands())
    if (Operation *definition = operand.getDefiningOp(); definition && inside.contains(definition))
      if (--usesOutside[definition] == 0)
        --escaping;
  int64_t uses = std::distance(op->use_begin(), op->use_end());
  usesOutside[op] = uses;
  escaping += uses > 0;
  visitUsers(op);
}

void Epilogue::grow() {
  // In program order: when an op is reached, all that it depends on and that depends on the hero has been seen.
  for (size_t visits = 0; !pending.empty() && visits < kMaximumVisits; ++visits) {
    Operation *op = pending.top();
    pending.pop();
    size_t newOperands = 0;
    if (grown.size() < kMaximumMembers && fits(op, newOperands) && operands + newOperands <= kMaximumOperands) {
      operands += newOperands;
      add(op);
      if (escaping == 1)
        best = grown.size();
    } else {
      dependent.insert(op);
      visitUsers(op);
    }
  }
}

/// The members with the broadcasts of their operands from outside before them, so that the small tensor is the operand.
SmallVector<Operation *> withBroadcasts(ArrayRef<Operation *> members) {
  llvm::DenseSet<Operation *> seen(members.begin(), members.end());
  SmallVector<Operation *> all;
  for (Operation *op : members) {
    if (op != members.front())
      for (Value operand : op->getOperands())
        if (auto broadcast = operand.getDefiningOp<BroadcastInDimOp>();
            broadcast && !isRepeatedElement(broadcast) && seen.insert(broadcast).second)
          all.push_back(broadcast);
    all.push_back(op);
  }
  return all;
}

void formLibraryCall(Operation *hero, DenseMap<Operation *, unsigned> &order, bool grows) {
  Epilogue epilogue(hero, order);
  if (grows)
    epilogue.grow();
  SmallVector<Operation *> members = withBroadcasts(epilogue.members());
  Operation *last = epilogue.members().back();
  OpBuilder builder(last);
  OperationState state(fuseLocations(epilogue.members()), LibraryCallOp::getOperationName());
  // The hero's operands come first and are never copied into the region, not even constants: a library wants them in
  // memory.
  SmallVector<Value> operands;
  for (Value operand : hero->getOperands())
    if (!llvm::is_contained(operands, operand))
      operands.push_back(operand);
  buildRegion(*state.addRegion(), members, last->getResult(0), operands, isRepeatedElement);
  state.addOperands(operands);
  state.addTypes(last->getResult(0).getType());
  state.addAttribute("callee", builder.getStringAttr(isa<DotGeneralOp>(hero) ? "matmul" : "convolution"));
  Operation *call = builder.create(state);
  order[call] = order.lookup(last);
  last->getResult(0).replaceAllUsesWith(call->getResult(0));
  for (Operation *op : llvm::reverse(epilogue.members()))
    op->erase();
}

struct FormLibraryCallsPass : impl::FormLibraryCallsBase<FormLibraryCallsPass> {
  using FormLibraryCallsBase::FormLibraryCallsBase;

  void runOnOperation() override {
    forEachFusibleBlock(getOperation(), [&](Block &block) {
      eraseDeadOps(block);
      DenseMap<Operation *, unsigned> order;
      SmallVector<Operation *> heroes;
      for (auto [position, op] : llvm::enumerate(block)) {
        order[&op] = position;
        if (auto role = dyn_cast<FusibilityInterface>(op); role && role.getFusionRole() == FusionRole::Contraction)
          heroes.push_back(&op);
      }
      for (Operation *hero : heroes)
        formLibraryCall(hero, order, /*grows=*/!alone);
      eraseDeadOps(block);
    });
  }
};

} // namespace

} // namespace weft::fusion
