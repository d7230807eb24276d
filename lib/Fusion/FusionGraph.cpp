//===- FusionGraph.cpp - The kernels of one block while they are being fused --------------------------------===//

#include "lib/Fusion/FusionGraph.h"
#include "lib/Fusion/Regions.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace weft::fusion {

using namespace weft::graph;

namespace {

/// Calls `visit` on every value from outside that the op or an op in its regions uses.
void forEachUsedValue(Operation *op, llvm::function_ref<void(Value)> visit) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      visit(operand);
  });
}

} // namespace

FusionGraph::FusionGraph(Block &block, KernelAnalyzer &analyzer) : block(block), analyzer(analyzer) {
  for (Operation &op : block) {
    numbers[&op] = ops.size();
    if (auto binding = dyn_cast<BindDimOp>(op))
      bindings[binding.getSymbolAttr()] = ops.size();
    ops.push_back(&op);
    // One reshape instead of a chain of them, so that the value behind is one step away.
    if (auto reshape = dyn_cast<ReshapeOp>(op); reshape && !isRematerialized(reshape))
      reshape.getOperandMutable().assign(getStored(reshape.getOperand()));
  }
  clusters.resize(ops.size());
  users.resize(ops.size());
  marks.resize(ops.size(), 0);
  isFixed.resize(ops.size(), false);
  for (auto [number, op] : llvm::enumerate(ops)) {
    const OpFacts &facts = analyzer.getFacts(op);
    bool isOpaque =
        facts.role == FusionRole::Opaque || facts.role == FusionRole::Group || facts.role == FusionRole::Contraction;
    if (isOpaque) {
      isFixed[number] = true;
      forEachUsedValue(op, [&, number = static_cast<unsigned>(number)](Value value) {
        auto [found, isNew] = fixedUsers.try_emplace(getStored(value), number, number);
        if (!isNew)
          found->second.second = number;
      });
      continue;
    }
    if (facts.rematerialized || isa<ReshapeOp>(op))
      continue;
    Cluster &cluster = clusters[number];
    cluster.members.push_back(number);
    // A result that nobody needs is given all the same: the kernel computes it anyway.
    llvm::append_range(cluster.outputs, op->getResults());
    cluster.position = number;
    cluster.live = true;
    cluster.analysis = analyze(cluster.members, cluster.outputs);
    addUsers(number);
  }
}

Value FusionGraph::getStored(Value value) const {
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    if (reshape->getBlock() != &block || isRematerialized(reshape))
      break;
    value = reshape.getOperand();
  }
  return value;
}

std::optional<unsigned> FusionGraph::getProducer(Value value) const {
  auto found = producers.find(getStored(value));
  return found == producers.end() ? std::nullopt : std::optional(found->second);
}

SmallVector<unsigned> FusionGraph::getProducers(unsigned cluster) const {
  llvm::SmallSetVector<unsigned, 8> result;
  for (Value operand : clusters[cluster].analysis.operands)
    if (std::optional<unsigned> producer = getProducer(operand))
      result.insert(*producer);
  return result.takeVector();
}

bool FusionGraph::hasFixedUser(unsigned cluster) const {
  return llvm::any_of(clusters[cluster].outputs, [&](Value output) { return fixedUsers.contains(output); });
}

int64_t FusionGraph::getLatestProducer(unsigned cluster, std::optional<unsigned> except) const {
  int64_t latest = -1;
  // No value leads from a bind_dim to the ops whose sizes it gives.
  if (!bindings.empty())
    for (unsigned member : clusters[cluster].members)
      latest = std::max(latest, getLatestBinding(ops[member]));
  for (Value operand : clusters[cluster].analysis.operands) {
    Value stored = getStored(operand);
    if (std::optional<unsigned> producer = getProducer(stored)) {
      if (producer != except)
        latest = std::max<int64_t>(latest, clusters[*producer].position);
    } else if (Operation *definition = stored.getDefiningOp(); definition && definition->getBlock() == &block) {
      latest = std::max<int64_t>(latest, numbers.lookup(definition));
    }
  }
  return latest;
}

int64_t FusionGraph::getLatestBinding(Operation *op) const {
  int64_t latest = -1;
  auto visit = [&](Type type) {
    auto encoding = dyn_cast_or_null<EncodingAttr>(cast<RankedTensorType>(type).getEncoding());
    if (!encoding)
      return;
    for (StringAttr symbol : encoding.getSymbols())
      if (auto found = bindings.find(symbol); found != bindings.end())
        latest = std::max<int64_t>(latest, found->second);
  };
  llvm::for_each(op->getOperandTypes(), visit);
  llvm::for_each(op->getResultTypes(), visit);
  return latest;
}

bool FusionGraph::reads(unsigned cluster, Value stored) const {
  return llvm::any_of(clusters[cluster].analysis.operands,
                      [&](Value operand) { return operand == stored || getStored(operand) == stored; });
}

std::optional<std::pair<unsigned, unsigned>> FusionGraph::getReaderRange(Value stored,
                                                                         std::optional<unsigned> except) const {
  std::optional<std::pair<unsigned, unsigned>> range;
  auto include = [&](unsigned first, unsigned last) {
    if (!range)
      range = {first, last};
    range->first = std::min(range->first, first);
    range->second = std::max(range->second, last);
  };
  if (std::optional<unsigned> producer = getProducer(stored))
    for (unsigned user : users[*producer])
      if (user != except && (clusters[*producer].outputs.size() == 1 || reads(user, stored)))
        include(clusters[user].position, clusters[user].position);
  if (auto found = otherReaders.find(stored); found != otherReaders.end())
    for (unsigned reader : found->second)
      if (reader != except)
        include(clusters[reader].position, clusters[reader].position);
  if (auto found = fixedUsers.find(stored); found != fixedUsers.end())
    include(found->second.first, found->second.second);
  return range;
}

std::optional<std::pair<unsigned, unsigned>> FusionGraph::getReaderRange(unsigned cluster,
                                                                         std::optional<unsigned> except) const {
  std::optional<std::pair<unsigned, unsigned>> all;
  for (Value output : clusters[cluster].outputs)
    if (auto range = getReaderRange(output, except))
      all = all ? std::pair(std::min(all->first, range->first), std::max(all->second, range->second)) : *range;
  return all;
}

bool FusionGraph::isGivenBack(Value stored) const {
  auto found = fixedUsers.find(stored);
  return found != fixedUsers.end() && found->second.second + 1 == ops.size() &&
         isa<FunctionOpInterface>(block.getParentOp());
}

bool FusionGraph::hasKernelBetween(unsigned first, unsigned last) const {
  // Something far away has something between for certain; nothing is lost by not looking further.
  constexpr unsigned kFar = 256;
  if (last > first + kFar)
    return true;
  for (unsigned position = first + 1; position < last; ++position) {
    const Cluster &cluster = clusters[position];
    if (cluster.members.empty() ? isFixed[position] : cluster.live)
      return true;
  }
  return false;
}

SmallVector<unsigned, 4> FusionGraph::unite(unsigned first, unsigned second) {
  SmallVector<unsigned, 4> members;
  std::set_union(clusters[first].members.begin(), clusters[first].members.end(), clusters[second].members.begin(),
                 clusters[second].members.end(), std::back_inserter(members));
  ++mark;
  for (unsigned member : members)
    marks[member] = mark;
  SmallVector<unsigned> between;
  for (unsigned member : members)
    for (Value operand : ops[member]->getOperands()) {
      Operation *stored = getStored(operand).getDefiningOp();
      if (!stored || stored->getBlock() != &block || marks[numbers.lookup(stored)] != mark)
        continue;
      for (Operation *alias = operand.getDefiningOp(); alias != stored; alias = alias->getOperand(0).getDefiningOp())
        if (unsigned number = numbers.lookup(alias); marks[number] != mark) {
          marks[number] = mark;
          between.push_back(number);
        }
    }
  if (!between.empty()) {
    llvm::append_range(members, between);
    llvm::sort(members);
  }
  return members;
}

KernelAnalysis FusionGraph::analyze(ArrayRef<unsigned> members, ArrayRef<Value> outputs) {
  if (members.size() > KernelLimits::kOps)
    return analyzer.analyze(SmallVector<Operation *>(members.size(), nullptr), outputs);
  SmallVector<Operation *> memberOps;
  for (unsigned member : members)
    memberOps.push_back(ops[member]);
  return analyzer.analyze(memberOps, outputs);
}

void FusionGraph::addUsers(unsigned cluster) {
  for (Value output : clusters[cluster].outputs)
    producers[output] = cluster;
  for (Value operand : clusters[cluster].analysis.operands) {
    Value stored = getStored(operand);
    if (std::optional<unsigned> producer = getProducer(stored))
      users[*producer].insert(cluster);
    else if (isAllocatedHere(stored))
      otherReaders[stored].insert(cluster);
  }
}

void FusionGraph::removeUsers(unsigned cluster) {
  for (Value operand : clusters[cluster].analysis.operands) {
    Value stored = getStored(operand);
    if (std::optional<unsigned> producer = getProducer(stored))
      users[*producer].erase(cluster);
    else if (auto found = otherReaders.find(stored); found != otherReaders.end())
      found->second.erase(cluster);
  }
}

void FusionGraph::replace(unsigned number, SmallVector<unsigned, 4> members, SmallVector<Value, 1> outputs,
                          KernelAnalysis analysis, unsigned position) {
  removeUsers(number);
  Cluster &cluster = clusters[number];
  cluster.members = std::move(members);
  cluster.outputs = std::move(outputs);
  cluster.analysis = std::move(analysis);
  cluster.position = position;
  addUsers(number);
}

void FusionGraph::remove(unsigned cluster) {
  removeUsers(cluster);
  for (Value output : clusters[cluster].outputs)
    if (auto found = producers.find(output); found != producers.end() && found->second == cluster)
      producers.erase(found);
  clusters[cluster].live = false;
}

void FusionGraph::merge(unsigned from, unsigned into, SmallVector<unsigned, 4> members, SmallVector<Value, 1> outputs,
                        KernelAnalysis analysis, unsigned position) {
  replace(into, std::move(members), std::move(outputs), std::move(analysis), position);
  users[into].insert(users[from].begin(), users[from].end());
  users[into].erase(into);
  remove(from);
  users[from].clear();
}

void FusionGraph::materialize() {
  struct Item {
    unsigned position;
    std::optional<unsigned> cluster; // else the op of that number, which stays
  };
  std::vector<Item> items;
  std::vector<Operation *> replaced;
  for (auto [number, op] : llvm::enumerate(ops)) {
    if (clusters[number].live)
      items.push_back({clusters[number].position, static_cast<unsigned>(number)});
    if (isFixed[number])
      items.push_back({static_cast<unsigned>(number), std::nullopt});
    else
      replaced.push_back(op);
  }
  llvm::sort(items, [](const Item &a, const Item &b) { return a.position < b.position; });

  Operation *terminator = block.getTerminator();
  OpBuilder builder(terminator);
  IRMapping mapping;
  auto createFusion = [&](Location location, FusionKind kind, ArrayRef<Operation *> members, ArrayRef<Value> outputs,
                          llvm::function_ref<Value(Value)> mapOperand) {
    OperationState state(location, FusionOp::getOperationName());
    SmallVector<Value> operands;
    buildRegion(*state.addRegion(), members, outputs, operands, isRematerialized);
    for (Value operand : operands)
      state.addOperands(mapOperand(operand));
    for (Value output : outputs)
      state.addTypes(output.getType());
    state.addAttribute("kind", FusionKindAttr::get(builder.getContext(), kind));
    Operation *fusion = builder.create(state);
    for (auto [output, result] : llvm::zip(outputs, fusion->getResults()))
      mapping.map(output, result);
  };
  // The value that stands for `value` in the new order: reshapes and stored constants are made where they are first
  // needed.
  std::function<Value(Value)> use = [&](Value value) -> Value {
    if (Value mapped = mapping.lookupOrNull(value))
      return mapped;
    Operation *definition = value.getDefiningOp();
    if (definition && isRematerialized(definition)) {
      createFusion(definition->getLoc(), FusionKind::loop, {}, value, use);
      return mapping.lookup(value);
    }
    if (auto reshape = value.getDefiningOp<ReshapeOp>(); reshape && reshape->getBlock() == &block) {
      use(getStored(value));
      builder.clone(*definition, mapping);
      return mapping.lookup(value);
    }
    return value;
  };
  for (const Item &item : items) {
    if (!item.cluster) {
      Operation *op = ops[item.position];
      op->walk([&](Operation *inner) {
        for (OpOperand &operand : inner->getOpOperands())
          if (Operation *definition = operand.get().getDefiningOp(); definition && !op->isProperAncestor(definition))
            operand.set(use(operand.get()));
      });
      if (op != terminator)
        op->moveBefore(terminator);
      continue;
    }
    Cluster &cluster = clusters[*item.cluster];
    SmallVector<Operation *> members;
    for (unsigned member : cluster.members)
      members.push_back(ops[member]);
    createFusion(fuseLocations(members), cluster.analysis.kind, members, cluster.outputs, use);
  }
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
}

} // namespace weft::fusion
