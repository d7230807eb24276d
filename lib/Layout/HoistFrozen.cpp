//===- HoistFrozen.cpp - The work on frozen parameters moves to @prepare
//--------------------------------------------===//

#include "dialects/Graph/Graph.h"
#include "lib/Layout/Frozen.h"
#include "lib/Layout/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

namespace weft {

#define GEN_PASS_DEF_HOISTFROZEN
#include "lib/Layout/Passes.h.inc"

using namespace mlir;
using namespace weft::graph;
using namespace weft::layout;

namespace {

/// A value may have this many times the elements of what it is made from, and this many more, to be stored.
constexpr double kGrowth = 2, kAllowance = 4096;
/// Operations an element from which on storing saves more than it costs.
constexpr double kHeavy = 16;

class Hoisting {
public:
  Hoisting(ModuleOp module, func::FuncOp main) : module(module), main(main), frozen(main) {}

  void run() {
    collectOps();
    chooseStored();
    if (!stored.empty())
      moveToPrepare();
    eraseDeadOps();
    removeUnused();
  }

private:
  //===--- What is stored -------------------------------------------------===//

  void collectOps() {
    main.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == main)
        return WalkResult::advance();
      if (op->getNumResults() > 0 && frozen.contains(op->getResult(0))) {
        movable.insert(op);
        double size = 0;
        for (Value operand : op->getOperands())
          size += sourceSize(operand);
        DenseElementsAttr splat;
        if (isa<ConstantOp>(op))
          size = matchPattern(op->getResult(0), m_Constant(&splat)) && splat.isSplat() ? 1 : elements(op->getResult(0));
        for (Value result : op->getResults())
          sizes[result] = size;
      }
      return op->hasTrait<OpTrait::IsIsolatedFromAbove>() ? WalkResult::skip() : WalkResult::advance();
    });
  }

  static double elements(Value value) { return static_cast<double>(tensorType(value).getNumElements()); }
  /// The elements of the parameters and constants that the value comes from.
  double sourceSize(Value value) const {
    auto found = sizes.find(value);
    return found != sizes.end() ? found->second : elements(value);
  }

  bool isWorthStoring(Operation *op) const {
    if (isa<ConstantOp>(op))
      return false;
    double total = 0;
    for (Value result : op->getResults())
      total += elements(result);
    // A contraction reads its weights from memory: what would be computed for it in every run is stored. A plain
    // broadcast is not: its one element may be all that it reads.
    if (!isa<BroadcastInDimOp, IotaOp>(op) && llvm::any_of(op->getUsers(), [&](Operation *user) {
          return isa<ConvolutionOp, DotGeneralOp>(user) && staysInMain(user);
        }))
      return true;
    auto costed = dyn_cast<CostInterface>(op);
    bool heavy = costed && costed.getCost().operations >= kHeavy * total;
    return heavy || total <= kGrowth * sourceSize(op->getResult(0)) + kAllowance;
  }

  /// From the last op to the first: a value that stays in @main wants its operands there.
  void chooseStored() {
    for (Operation *op : llvm::reverse(movable)) {
      bool wanted = llvm::any_of(op->getUsers(), [&](Operation *user) { return staysInMain(user); });
      if (!wanted)
        continue;
      if (isWorthStoring(op)) {
        for (Value result : op->getResults())
          if (llvm::any_of(result.getUsers(), [&](Operation *user) { return staysInMain(user); }))
            stored.insert(result);
      } else {
        kept.insert(op);
      }
    }
    // In program order.
    SmallVector<Value> ordered(stored.begin(), stored.end());
    stored.clear();
    stored.insert(ordered.rbegin(), ordered.rend());
  }

  bool staysInMain(Operation *user) const { return !movable.contains(user) || kept.contains(user); }

  //===--- Moving ---------------------------------------------------------===//

  void findOrMakePrepare() {
    prepare = module.lookupSymbol<func::FuncOp>(GraphDialect::kPrepareName);
    if (prepare)
      return;
    OpBuilder builder(module.getContext());
    builder.setInsertionPointAfter(main);
    prepare = func::FuncOp::create(builder, main.getLoc(), GraphDialect::kPrepareName, builder.getFunctionType({}, {}));
    builder.setInsertionPointToStart(prepare.addEntryBlock());
    func::ReturnOp::create(builder, main.getLoc());
  }

  /// The value in @prepare of a frozen argument of @main.
  Value getInPrepare(BlockArgument argument) {
    unsigned number = argument.getArgNumber();
    if (auto index = main.getArgAttrOfType<IntegerAttr>(number, GraphDialect::kPreparedIndex))
      return prepare.getBody().front().getTerminator()->getOperand(index.getInt());
    auto name = main.getArgAttrOfType<StringAttr>(number, GraphDialect::kParamName);
    for (BlockArgument candidate : prepare.getArguments())
      if (prepare.getArgAttr(candidate.getArgNumber(), GraphDialect::kParamName) == name)
        return candidate;
    unsigned position = prepare.getNumArguments();
    (void)prepare.insertArgument(position, argument.getType(), main.getArgAttrDict(number), argument.getLoc());
    return prepare.getArgument(position);
  }

  void moveToPrepare() {
    findOrMakePrepare();
    llvm::SetVector<Operation *> needed;
    SmallVector<Operation *> work;
    for (Value value : stored)
      work.push_back(value.getDefiningOp());
    while (!work.empty()) {
      Operation *op = work.pop_back_val();
      if (!needed.insert(op))
        continue;
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp())
          work.push_back(producer);
    }
    Operation *terminator = prepare.getBody().front().getTerminator();
    OpBuilder builder(terminator);
    IRMapping mapping;
    for (Operation *op : movable) {
      if (!needed.contains(op))
        continue;
      for (Value operand : op->getOperands())
        if (auto argument = dyn_cast<BlockArgument>(operand); argument && !mapping.contains(operand))
          mapping.map(operand, getInPrepare(argument));
      builder.clone(*op, mapping);
    }
    for (Value value : stored) {
      unsigned result = prepare.getNumResults(), argument = main.getNumArguments();
      (void)prepare.insertResult(result, value.getType(), DictionaryAttr());
      terminator->insertOperands(result, mapping.lookup(value));
      NamedAttribute index(StringAttr::get(main.getContext(), GraphDialect::kPreparedIndex),
                           builder.getI64IntegerAttr(result));
      (void)main.insertArgument(argument, value.getType(), builder.getDictionaryAttr(index), value.getLoc());
      value.replaceUsesWithIf(main.getArgument(argument), [&](OpOperand &use) { return staysInMain(use.getOwner()); });
    }
  }

  //===--- What is left over ----------------------------------------------===//

  void eraseDeadOps() {
    for (Operation *op : llvm::reverse(movable))
      if (op->use_empty())
        op->erase();
  }

  static void eraseArguments(func::FuncOp function, llvm::function_ref<bool(unsigned)> isRemovable) {
    llvm::BitVector dead(function.getNumArguments());
    for (BlockArgument argument : function.getArguments())
      if (argument.use_empty() && isRemovable(argument.getArgNumber()))
        dead.set(argument.getArgNumber());
    if (dead.any())
      (void)function.eraseArguments(dead);
  }

  void removeUnused() {
    eraseArguments(main, [&](unsigned number) { return isFrozenArgument(main, number); });
    prepare = module.lookupSymbol<func::FuncOp>(GraphDialect::kPrepareName);
    if (!prepare)
      return;
    // Results that @main no longer takes; the others move up.
    llvm::BitVector dead(prepare.getNumResults(), true);
    SmallVector<std::pair<unsigned, unsigned>> arguments;
    for (unsigned number = 0; number < main.getNumArguments(); ++number)
      if (auto index = main.getArgAttrOfType<IntegerAttr>(number, GraphDialect::kPreparedIndex)) {
        arguments.emplace_back(number, index.getInt());
        dead.reset(index.getInt());
      }
    Builder builder(module.getContext());
    for (auto [number, index] : arguments) {
      int64_t removedBefore = 0;
      for (unsigned i = 0; i < index; ++i)
        removedBefore += dead.test(i);
      main.setArgAttr(number, GraphDialect::kPreparedIndex, builder.getI64IntegerAttr(index - removedBefore));
    }
    prepare.getBody().front().getTerminator()->eraseOperands(dead);
    if (dead.any())
      (void)prepare.eraseResults(dead);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(prepare.getBody().front())))
      if (op.use_empty() && isMemoryEffectFree(&op) && !op.hasTrait<OpTrait::IsTerminator>())
        op.erase();
    eraseArguments(prepare, [](unsigned) { return true; });
    if (prepare.getNumResults() == 0)
      prepare.erase();
  }

  ModuleOp module;
  func::FuncOp main, prepare;
  FrozenValues frozen;
  llvm::SetVector<Operation *> movable; // in program order
  llvm::DenseSet<Operation *> kept;
  llvm::SetVector<Value> stored;
  llvm::DenseMap<Value, double> sizes;
};

struct HoistFrozenPass : impl::HoistFrozenBase<HoistFrozenPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>(GraphDialect::kMainName);
    if (!main || main.isExternal())
      return;
    auto prepare = module.lookupSymbol<func::FuncOp>(GraphDialect::kPrepareName);
    for (unsigned number = 0; number < main.getNumArguments(); ++number)
      if (auto index = main.getArgAttrOfType<IntegerAttr>(number, GraphDialect::kPreparedIndex))
        if (!prepare || prepare.isExternal() || index.getInt() < 0 || index.getInt() >= prepare.getNumResults()) {
          main.emitOpError("argument ") << number << " takes result " << index.getInt()
                                        << " of @prepare, which there is not; expected a function @prepare with that "
                                           "result";
          return signalPassFailure();
        }
    Hoisting(module, main).run();
  }
};

} // namespace

} // namespace weft
