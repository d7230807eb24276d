//===- LayoutProblem.cpp - The choice between two layouts for the ops around transposes of one permutation -----===//

#include "lib/Layout/LayoutProblem.h"
#include "dialects/Graph/Contraction.h"
#include "lib/Layout/FlattenedWeights.h"
#include "lib/Layout/MinimumCut.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::layout {

//===----------------------------------------------------------------------===//
// What belongs to the problem
//===----------------------------------------------------------------------===//

bool LayoutProblem::isFree(Value value) const { return frozen.contains(value) || isMadeInAnyLayout(value); }

bool LayoutProblem::links(TransposeOp op, bool label) const {
  return op.getPermutation() == from(label) && !isFree(op.getOperand());
}

bool LayoutProblem::isWhole(Operation *op, bool label) const {
  if (!isInBlock(op) || op->getNumResults() == 0 || op->getNumOperands() == 0)
    return false;
  SmallVector<unsigned> operands = getLayoutOperands(op);
  auto hasRank = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() == static_cast<int64_t>(permutation.size());
  };
  return getFlexibility(op, operands.front(), from(label)) == Flexibility::Whole &&
         llvm::all_of(operands, [&](unsigned operand) { return hasRank(op->getOperand(operand).getType()); }) &&
         llvm::all_of(op->getResultTypes(), hasRank) && !frozen.contains(op->getResult(0));
}

/// Whether the op is a transpose between two members of one tensor.
bool LayoutProblem::isLink(Operation *op) const {
  auto transpose = dyn_cast<TransposeOp>(op);
  if (!transpose)
    return false;
  auto operand = members.find(transpose.getOperand()), result = members.find(transpose.getResult());
  return operand != members.end() && result != members.end() && operand->second.tensor == result->second.tensor &&
         operand->second.label != result->second.label && links(transpose, operand->second.label);
}

static bool feedsNoConvolution(TransposeOp op) {
  return llvm::none_of(op->getUsers(), [](Operation *user) { return isa<ConvolutionOp>(user); });
}

static bool isNextToConvolution(TransposeOp op) {
  return !feedsNoConvolution(op) || op.getOperand().getDefiningOp<ConvolutionOp>();
}

LayoutProblem::LayoutProblem(Block &givenBlock, ArrayRef<int64_t> given, FrozenValues &frozenValues)
    : block(givenBlock), permutation(given), inverse(invert(given)), frozen(frozenValues) {}

bool LayoutProblem::improve() {
  // Parts that hold a convolution are explored from it, so that its layout is label 1.
  SmallVector<std::pair<TransposeOp, bool>> seeds, others;
  for (TransposeOp op : block.getOps<TransposeOp>()) {
    bool forward = op.getPermutation() == ArrayRef<int64_t>(permutation);
    if ((!forward && op.getPermutation() != ArrayRef<int64_t>(inverse)) || isFree(op.getOperand()))
      continue;
    bool selfInverse = permutation == inverse;
    bool operandLabel = selfInverse ? feedsNoConvolution(op) && isNextToConvolution(op) : !forward;
    (isNextToConvolution(op) ? seeds : others).push_back({op, operandLabel});
  }
  llvm::append_range(seeds, others);
  std::vector<Part> parts;
  for (auto [op, operandLabel] : seeds) {
    if (members.contains(op.getOperand()) || members.contains(op.getResult()))
      continue;
    parts.emplace_back();
    parts.back().hasConvolution = isNextToConvolution(op);
    explore(op, operandLabel, parts.back());
  }
  bool changed = false;
  for (Part &part : parts)
    changed |= improvePart(part);
  return changed;
}

void LayoutProblem::explore(TransposeOp seed, bool operandLabel, Part &part) {
  valueWork.push_back({seed.getOperand(), operandLabel});
  while (!valueWork.empty()) {
    auto [value, label] = valueWork.pop_back_val();
    addValue(value, label, part);
  }
}

void LayoutProblem::addValue(Value value, bool label, Part &part) {
  if (members.contains(value) || isFree(value) ||
      cast<RankedTensorType>(value.getType()).getRank() != static_cast<int64_t>(permutation.size()))
    return;
  // Up to the root of the tensor.
  while (auto transpose = value.getDefiningOp<TransposeOp>()) {
    if (!isInBlock(transpose) || !links(transpose, !label) || members.contains(transpose.getOperand()))
      break;
    value = transpose.getOperand();
    label = !label;
  }
  unsigned number = tensors.size();
  Tensor &tensor = tensors.emplace_back();
  part.tensors.push_back(number);
  tensor.root = value;
  tensor.rootLabel = label;
  // Bounded, so that sums of them do not overflow.
  if (!movesOnlyUnitDimensions(value.getType(), from(label)))
    tensor.bytes = static_cast<int64_t>(std::clamp(upperBoundBytes(value.getType(), block.getParentOp()), 1.0, 1e15));
  // Down to all that transposes make of it.
  tensor.members.push_back(value);
  members[value] = {number, label};
  for (size_t i = 0; i < tensor.members.size(); ++i) {
    Value member = tensor.members[i];
    bool memberLabel = members[member].label;
    for (Operation *user : member.getUsers()) {
      auto transpose = dyn_cast<TransposeOp>(user);
      if (!transpose || !isInBlock(transpose) || !links(transpose, memberLabel) ||
          members.contains(transpose.getResult()))
        continue;
      tensor.transposes.push_back(transpose);
      tensor.members.push_back(transpose.getResult());
      members[transpose.getResult()] = {number, !memberLabel};
    }
  }
  if (Operation *producer = value.getDefiningOp(); isWhole(producer, label))
    addOp(producer, label, part);
  for (Value member : tensor.members)
    for (OpOperand &use : member.getUses())
      if (isWhole(use.getOwner(), members[member].label) &&
          llvm::is_contained(getLayoutOperands(use.getOwner()), use.getOperandNumber()))
        addOp(use.getOwner(), members[member].label, part);
}

void LayoutProblem::addOp(Operation *op, bool label, Part &part) {
  auto [found, isNew] = ops.insert({op, FlexibleOp{label}});
  if (!isNew) {
    found->second.rigid |= found->second.label != label;
    return;
  }
  part.ops.insert(op);
  for (unsigned operand : getLayoutOperands(op))
    valueWork.push_back({op->getOperand(operand), label});
  for (Value result : op->getResults())
    valueWork.push_back({result, label});
}

//===----------------------------------------------------------------------===//
// The cheapest choice
//===----------------------------------------------------------------------===//

bool LayoutProblem::improvePart(Part &part) {
  // An op whose operand already has another label cannot change either.
  for (Operation *op : part.ops) {
    auto disagrees = [&](Value value) {
      auto member = members.find(value);
      return member != members.end() && member->second.label != ops[op].label;
    };
    ops[op].rigid |= llvm::any_of(op->getResults(), disagrees) ||
                     llvm::any_of(getLayoutOperands(op), [&](unsigned i) { return disagrees(op->getOperand(i)); });
  }
  MinimumCut cut;
  llvm::DenseMap<Operation *, unsigned> nodeOf;
  auto fixed = [](bool label) { return label ? MinimumCut::kSink : MinimumCut::kSource; };
  for (Operation *op : part.ops)
    if (!ops[op].rigid)
      nodeOf[op] = cut.addNode();
  SmallVector<std::pair<unsigned, unsigned>> producerNodes; // of tensors made by other transposes
  int64_t present = 0;
  for (unsigned number : part.tensors) {
    Tensor &tensor = tensors[number];
    present += tensor.bytes * static_cast<int64_t>(tensor.transposes.size());
    Operation *definition = tensor.root.getDefiningOp();
    unsigned producer = fixed(tensor.rootLabel);
    if (auto node = nodeOf.find(definition); definition && node != nodeOf.end()) {
      producer = node->second;
    } else if (isa_and_nonnull<TransposeOp>(definition) && isInBlock(definition)) {
      // Another transpose makes either label at the same price.
      producer = cut.addNode();
      producerNodes.push_back({number, producer});
    }
    if (tensor.bytes == 0)
      continue;
    unsigned someInOne = cut.addNode(), someInZero = cut.addNode();
    cut.addEdge(producer, someInOne, tensor.bytes);
    cut.addEdge(someInZero, producer, tensor.bytes);
    for (Value member : tensor.members)
      for (OpOperand &use : member.getUses()) {
        Operation *user = use.getOwner();
        if (isLink(user))
          continue;
        unsigned consumer = fixed(members[member].label);
        if (auto node = nodeOf.find(user); node != nodeOf.end())
          consumer = node->second;
        else if (isInBlock(user) &&
                 getFlexibility(user, use.getOperandNumber(), from(members[member].label)) == Flexibility::Absorbs)
          continue;
        else if (auto flatten = dyn_cast<ReshapeOp>(user);
                 flatten && matchReorderableFlattening(flatten, from(!members[member].label), frozen))
          continue; // the weights behind it take the transpose over, by reorder-flattened-weights
        cut.addEdge(someInOne, consumer, MinimumCut::kInfinite);
        cut.addEdge(consumer, someInZero, MinimumCut::kInfinite);
      }
  }
  int64_t cost = cut.solve();
  bool moves = false;
  for (auto [op, node] : nodeOf) {
    ops[op].chosen = cut.isOnSinkSide(node);
    moves |= ops[op].chosen != ops[op].label;
  }
  // For the same price as much work as possible is done in the layout of the convolutions, right behind them. This cut
  // has the most ops in label 1, so that none leaves it and this ends.
  if (cost > present || (cost == present && !(moves && part.hasConvolution)))
    return false;
  for (auto [number, node] : producerNodes) {
    Tensor &tensor = tensors[number];
    bool label = cut.isOnSinkSide(node);
    if (label == tensor.rootLabel)
      continue;
    auto other = cast<TransposeOp>(tensor.root.getDefiningOp());
    OpBuilder builder(other);
    Permutation merged;
    for (int64_t dimension : from(tensor.rootLabel))
      merged.push_back(other.getPermutation()[dimension]);
    inLabel[{number, label}] = createTranspose(builder, other.getLoc(), other.getOperand(), merged);
  }
  rewrite(part);
  return true;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

Value LayoutProblem::getInLabel(unsigned number, bool label) {
  Tensor &tensor = tensors[number];
  auto found = inLabel.find({number, label});
  if (found != inLabel.end())
    return found->second;
  Value other = inLabel.lookup({number, !label});
  assert(other && "producers are rewritten before consumers");
  OpBuilder builder(block.getParentOp()->getContext());
  if (other.getParentBlock() == &block)
    builder.setInsertionPointAfterValue(other);
  else
    builder.setInsertionPointToStart(&block);
  SmallVector<Location> locations;
  for (TransposeOp transpose : tensor.transposes)
    locations.push_back(transpose.getLoc());
  Location location = locations.empty() ? other.getLoc() : builder.getFusedLoc(locations);
  return inLabel[{number, label}] = createTranspose(builder, location, other, from(!label));
}

Value LayoutProblem::getFreePermuted(Value value, bool fromLabel, Operation *user) {
  OpBuilder builder(user);
  Value permuted = createTranspose(builder, value.getLoc(), value, from(fromLabel));
  if (Operation *made = permuted.getDefiningOp())
    frozen.update(made);
  return permuted;
}

bool LayoutProblem::isMoved(Operation *op) {
  // Asked of this part's ops only: an op made for an earlier part may have the address of one erased then.
  if (!current->ops.contains(op))
    return false;
  const FlexibleOp &flexible = ops[op];
  return !flexible.rigid && flexible.chosen != flexible.label;
}

void LayoutProblem::rewriteOp(Operation *op) {
  auto memberOf = [&](Value value) -> const Member * {
    auto member = members.find(value);
    return member != members.end() && active.contains(member->second.tensor) ? &member->second : nullptr;
  };
  if (isMoved(op)) {
    bool label = ops[op].label;
    SmallVector<Value> operands(op->getOperands());
    for (unsigned operand : getLayoutOperands(op)) {
      const Member *member = memberOf(operands[operand]);
      operands[operand] = member ? getInLabel(member->tensor, !label) : getFreePermuted(operands[operand], label, op);
    }
    OpBuilder builder(op);
    Operation *permuted = createPermuted(builder, op, operands, from(label));
    for (auto [before, after] : llvm::zip(op->getResults(), permuted->getResults()))
      if (const Member *member = memberOf(before))
        inLabel[{member->tensor, !label}] = after;
    replaced.push_back(op);
    return;
  }
  bool isFlexible = current->ops.contains(op) && !ops[op].rigid;
  op->walk([&](Operation *inner) {
    for (OpOperand &use : inner->getOpOperands()) {
      const Member *member = memberOf(use.get());
      if (!member)
        continue;
      bool absorbs = inner == op && !isFlexible &&
                     getFlexibility(op, use.getOperandNumber(), from(member->label)) == Flexibility::Absorbs;
      // Reads the layout that is there.
      if (absorbs && !inLabel.contains({member->tensor, member->label}) &&
          inLabel.contains({member->tensor, !member->label}))
        absorb(op, use.getOperandNumber(), inLabel.lookup({member->tensor, !member->label}), from(member->label));
      else
        use.set(getInLabel(member->tensor, member->label));
    }
  });
}

void LayoutProblem::rewrite(Part &part) {
  current = &part;
  active.clear();
  replaced.clear();
  for (unsigned number : part.tensors) {
    active.insert(number);
    Tensor &tensor = tensors[number];
    if (!isMoved(tensor.root.getDefiningOp()) && !inLabel.contains({number, !tensor.rootLabel}))
      inLabel[{number, tensor.rootLabel}] = tensor.root;
  }
  SmallVector<Operation *> order;
  for (Operation &op : block)
    order.push_back(&op);
  SmallVector<Operation *> links;
  for (Operation *op : order) {
    if (isLink(op) && active.contains(members[op->getResult(0)].tensor))
      links.push_back(op);
    else
      rewriteOp(op);
  }
  llvm::append_range(replaced, links);
  // What has a successor is used only by what has one too.
  for (Operation *op : replaced)
    op->dropAllReferences();
  for (Operation *op : replaced) {
    assert(op->use_empty() && "every use was given the successor");
    op->erase();
  }
}

} // namespace weft::layout
