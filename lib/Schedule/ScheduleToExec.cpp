//===- ScheduleToExec.cpp - Turns @main into an exec.entry over buffers -------------------------------------===//

#include "dialects/Graph/Graph.h"
#include "lib/Schedule/ArenaPlanner.h"
#include "lib/Schedule/LibraryCalls.h"
#include "lib/Schedule/Passes.h"
#include "lib/Support/NodeNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::schedule {

#define GEN_PASS_DEF_SCHEDULETOEXEC
#include "lib/Schedule/Passes.h.inc"

namespace {

/// Where a tensor lies. Values that are reshapes of one another share one.
struct Storage {
  enum Kind { Argument, Output, Arena } kind = Arena;
  std::string name;       // of the input, weight, state or output
  StringRef argumentRole; // kInputName, kParamName or kStateName
  Type type;              // of the value that defined it
  int64_t begin = 0, end = 0;
  graph::Dim offset;
};

class Scheduler {
public:
  Scheduler(ModuleOp module, func::FuncOp main)
      : module(module), main(main), context(module.getContext()), builder(context) {}

  LogicalResult run() {
    for (DimOp dim : module.getOps<DimOp>()) {
      symbols.push_back(dim.getNameAttr());
      minimums.push_back(dim.getMin());
      maximums.push_back(dim.getMax());
    }
    if (failed(assignStorage()))
      return failure();
    planTemporaries();
    emitEntry();
    // What was scheduled is gone: the module now holds the entry and its kernels.
    main.erase();
    for (DimOp dim : llvm::make_early_inc_range(module.getOps<DimOp>()))
      dim.erase();
    for (RequireOp require : llvm::make_early_inc_range(module.getOps<RequireOp>()))
      require.erase();
    return success();
  }

private:
  //===--------------------------------------------------------------------===//
  // Storage and liveness
  //===--------------------------------------------------------------------===//

  Storage *newStorage(Storage::Kind kind, Type type) {
    storages.push_back(std::make_unique<Storage>());
    storages.back()->kind = kind;
    storages.back()->type = type;
    storages.back()->begin = storages.back()->end = position;
    return storages.back().get();
  }

  LogicalResult assignStorage() {
    for (BlockArgument argument : main.getArguments()) {
      Storage *storage = newStorage(Storage::Argument, argument.getType());
      for (StringRef role : {GraphDialect::kInputName, GraphDialect::kParamName, GraphDialect::kStateName})
        if (auto name = main.getArgAttrOfType<StringAttr>(argument.getArgNumber(), role)) {
          storage->name = name.str();
          storage->argumentRole = role;
        }
      if (storage->argumentRole.empty())
        return main.emitError("argument ")
               << argument.getArgNumber() << " is neither an input nor a parameter nor a state";
      storageOf[argument] = storage;
    }
    if (failed(assignBlock(main.front())))
      return failure();

    // A value that is returned is written straight into the output, unless it is one already or has no memory of its
    // own.
    auto ret = cast<func::ReturnOp>(main.front().getTerminator());
    for (auto [index, value] : llvm::enumerate(ret.getOperands())) {
      std::string name = outputName(index);
      Storage *storage = storageOf.lookup(value);
      if (!stateOf(index) && storage->kind == Storage::Arena) {
        storage->kind = Storage::Output;
        storage->name = name;
        // The output has the shape it is returned with.
        storage->type = value.getType();
      } else {
        outputCopies.push_back({static_cast<unsigned>(index), value});
      }
    }
    // States are updated last, when nothing reads their old values any more: but for those that become the new values
    // of other states, which wait in a temporary.
    auto plain = llvm::make_filter_range(outputCopies, [&](const auto &copy) { return !stateOf(copy.first); });
    auto states = llvm::make_filter_range(outputCopies, [&](const auto &copy) { return stateOf(copy.first); });
    SmallVector<std::pair<unsigned, Value>> ordered(plain.begin(), plain.end());
    ordered.append(states.begin(), states.end());
    outputCopies = std::move(ordered);
    ++position;
    for (auto [index, value] : outputCopies) {
      Storage *source = storageOf.lookup(value);
      use(value);
      if (stateOf(index) && source->argumentRole == GraphDialect::kStateName && source->name != stateOf(index))
        stateExchange[index] = newStorage(Storage::Arena, value.getType());
    }
    return success();
  }

  /// The state that a result of @main is the new value of, or null.
  StringAttr stateOf(unsigned index) { return main.getResultAttrOfType<StringAttr>(index, GraphDialect::kStateName); }

  std::string outputName(unsigned index) {
    auto name = main.getResultAttrOfType<StringAttr>(index, GraphDialect::kOutputName);
    return name ? name.str() : "output_" + std::to_string(index);
  }

  LogicalResult assignBlock(Block &block) {
    for (Operation &op : block) {
      ++position;
      for (Value operand : op.getOperands())
        use(operand);
      if (isa<FusionOp, LibraryCallOp>(op)) {
        for (Value result : op.getResults())
          storageOf[result] = newStorage(Storage::Arena, result.getType());
      } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
        storageOf[reshape.getResult()] = storageOf.lookup(reshape.getOperand());
      } else if (auto branch = dyn_cast<graph::IfOp>(op)) {
        for (Value result : op.getResults())
          storageOf[result] = newStorage(Storage::Arena, result.getType());
        if (failed(assignBlock(branch.getTrueBranch().front())) || failed(assignBlock(branch.getFalseBranch().front())))
          return failure();
        ++position;
        for (Value result : op.getResults())
          use(result);
      } else if (auto loop = dyn_cast<graph::WhileOp>(op)) {
        if (failed(assignLoop(loop)))
          return failure();
      } else if (!op.hasTrait<OpTrait::IsTerminator>() && !isa<BindDimOp>(op)) {
        return op.emitOpError(
            "is not legal after Fusion: expected weft.fusion, weft.library_call, weft.reshape, weft.if, "
            "weft.while or weft.bind_dim");
      }
    }
    return success();
  }

  LogicalResult assignLoop(graph::WhileOp loop) {
    for (auto [result, inCondition, inBody] :
         llvm::zip(loop.getResults(), loop.getCondition().getArguments(), loop.getBody().getArguments())) {
      Storage *carried = newStorage(Storage::Arena, result.getType());
      storageOf[result] = storageOf[inCondition] = storageOf[inBody] = carried;
    }
    int64_t begin = position;
    size_t firstInside = storages.size();
    if (failed(assignBlock(loop.getCondition().front())) || failed(assignBlock(loop.getBody().front())))
      return failure();
    // Values that the body hands on through another carried buffer go through a temporary of their own.
    auto yield = cast<YieldOp>(loop.getBody().front().getTerminator());
    for (auto [index, value] : llvm::enumerate(yield.getValues())) {
      Storage *source = storageOf.lookup(value), *target = storageOf.lookup(loop.getResult(index));
      bool isCarried = llvm::any_of(loop.getResults(), [&](Value r) { return storageOf.lookup(r) == source; });
      if (isCarried && source != target)
        exchange[{loop, static_cast<unsigned>(index)}] = newStorage(Storage::Arena, value.getType());
    }
    ++position;
    // What comes from outside is read again in every iteration, and the carried values live throughout.
    for (auto &storage : llvm::make_range(storages.begin(), storages.begin() + firstInside))
      if (storage->end > begin)
        storage->end = position;
    for (Value result : loop.getResults())
      use(result);
    // The condition's value is read after its block has ended.
    use(cast<YieldOp>(loop.getCondition().front().getTerminator()).getValues()[0]);
    return success();
  }

  void use(Value value) {
    if (Storage *storage = storageOf.lookup(value))
      storage->end = std::max(storage->end, position);
  }

  void planTemporaries() {
    std::vector<Temporary> temporaries;
    std::vector<Storage *> planned;
    for (auto &storage : storages)
      if (storage->kind == Storage::Arena) {
        temporaries.push_back({bytesOf(storage->type), storage->begin, storage->end});
        planned.push_back(storage.get());
      }
    ArenaPlan plan = planArena(temporaries, context);
    for (auto [storage, offset] : llvm::zip(planned, plan.offsets))
      storage->offset = offset;
    arenaSize = plan.size;
  }

  graph::Dim bytesOf(Type type) {
    graph::Dim elements = getElementCount(type);
    unsigned bits = storageBits(cast<RankedTensorType>(type).getElementType());
    return bits >= 8 ? elements * (bits / 8) : (elements * bits).ceilDiv(8);
  }

  //===--------------------------------------------------------------------===//
  // Emission
  //===--------------------------------------------------------------------===//

  AffineMap mapOf(ArrayRef<graph::Dim> dims) {
    SmallVector<AffineExpr> results;
    for (const graph::Dim &dim : dims) {
      SmallVector<AffineExpr> replacements;
      for (StringAttr name : dim.getSymbols())
        replacements.push_back(getAffineSymbolExpr(llvm::find(symbols, name) - symbols.begin(), context));
      results.push_back(dim.getExpression().replaceSymbols(replacements));
    }
    return AffineMap::get(0, symbols.size(), results, context);
  }

  exec::BufferType bufferType(Type type) {
    return exec::BufferType::get(context, cast<RankedTensorType>(type).getElementType(), mapOf(getDims(type)));
  }

  void emitEntry() {
    builder.setInsertionPoint(main);
    SmallVector<Attribute> names(symbols.begin(), symbols.end());
    auto entry = exec::EntryOp::create(builder, main.getLoc(), main.getSymNameAttr(), builder.getArrayAttr(names),
                                       builder.getDenseI64ArrayAttr(minimums), builder.getDenseI64ArrayAttr(maximums),
                                       AffineMapAttr::get(mapOf(arenaSize)));
    kernelInsertion = entry;
    Block &body = entry.getBody().emplaceBlock();
    builder.setInsertionPointToStart(&body);
    // What the sizes must fulfil comes before everything that relies on it.
    for (RequireOp require : module.getOps<RequireOp>()) {
      std::string message;
      llvm::raw_string_ostream(message) << require.getReason() << ": " << require.getLeft() << " and "
                                        << require.getRight() << " must be equal";
      exec::CheckEqualOp::create(builder, require.getLoc(), mapOf(require.getLeft()), mapOf(require.getRight()),
                                 message);
    }
    SmallVector<std::pair<unsigned, Value>> copyTargets;
    for (auto &storage : storages)
      bufferOf[{storage.get(), bufferType(storage->type)}] = defineBuffer(*storage);
    for (auto [index, value] : outputCopies) {
      StringAttr state = stateOf(index);
      Value target = state ? Value(exec::StateOp::create(builder, main.getLoc(), bufferType(value.getType()), state))
                           : Value(exec::OutputOp::create(builder, main.getLoc(), bufferType(value.getType()),
                                                          builder.getStringAttr(outputName(index))));
      copyTargets.push_back({index, target});
    }
    emitBlock(main.front());
    auto ret = cast<func::ReturnOp>(main.front().getTerminator());
    // The outputs come first in this list.
    auto source = [&](unsigned index) { return bufferFor(ret.getOperand(index)); };
    auto firstState = llvm::find_if(copyTargets, [&](const auto &copy) { return stateOf(copy.first); });
    for (auto [index, target] : llvm::make_range(copyTargets.begin(), firstState))
      exec::CopyOp::create(builder, main.getLoc(), source(index), target);
    for (auto [index, temporary] : stateExchange)
      exec::CopyOp::create(builder, main.getLoc(), source(index), bufferFor(temporary, temporary->type));
    for (auto [index, target] : llvm::make_range(firstState, copyTargets.end()))
      if (Storage *temporary = stateExchange.lookup(index))
        exec::CopyOp::create(builder, main.getLoc(), bufferFor(temporary, temporary->type), target);
      else if (storageOf.lookup(ret.getOperand(index))->name != stateOf(index))
        exec::CopyOp::create(builder, main.getLoc(), source(index), target);
    // The order of inputs and outputs as the model has them, with their shapes, whether or not they are used.
    SmallVector<Attribute> inputs, outputs;
    for (BlockArgument argument : main.getArguments())
      if (auto name = main.getArgAttrOfType<StringAttr>(argument.getArgNumber(), GraphDialect::kInputName))
        inputs.push_back(port(name.getValue(), argument.getType()));
    for (auto [index, value] : llvm::enumerate(ret.getOperands()))
      if (!stateOf(index))
        outputs.push_back(port(outputName(index), value.getType()));
    entry->setAttr("inputs", builder.getArrayAttr(inputs));
    entry->setAttr("outputs", builder.getArrayAttr(outputs));
  }

  Attribute port(StringRef name, Type type) {
    return builder.getDictionaryAttr({builder.getNamedAttr("name", builder.getStringAttr(name)),
                                      builder.getNamedAttr("type", TypeAttr::get(bufferType(type)))});
  }

  Value defineBuffer(Storage &storage) {
    exec::BufferType type = bufferType(storage.type);
    Location location = main.getLoc();
    StringAttr name = builder.getStringAttr(storage.name);
    switch (storage.kind) {
    case Storage::Argument:
      if (storage.argumentRole == GraphDialect::kInputName)
        return exec::InputOp::create(builder, location, type, name);
      if (storage.argumentRole == GraphDialect::kParamName)
        return exec::WeightOp::create(builder, location, type, name);
      return exec::StateOp::create(builder, location, type, name);
    case Storage::Output:
      return exec::OutputOp::create(builder, location, type, name);
    case Storage::Arena:
      break;
    }
    return exec::ArenaOp::create(builder, location, type, AffineMapAttr::get(mapOf(storage.offset)));
  }

  /// The buffer of a value, with the value's own shape: an alias of its storage where that has another.
  Value bufferFor(Value value) { return bufferFor(storageOf.lookup(value), value.getType()); }

  Value bufferFor(Storage *storage, Type tensorType) {
    exec::BufferType type = bufferType(tensorType);
    Value &buffer = bufferOf[{storage, type}];
    if (!buffer) {
      Value source = bufferOf.lookup({storage, bufferType(storage->type)});
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointAfter(source.getDefiningOp());
      buffer = exec::AliasOp::create(builder, source.getLoc(), type, source);
    }
    return buffer;
  }

  SmallVector<Value> buffersFor(ValueRange values) {
    SmallVector<Value> buffers;
    for (Value value : values)
      buffers.push_back(bufferFor(value));
    return buffers;
  }

  void emitBlock(Block &block) {
    for (Operation &op : block) {
      if (auto fusion = dyn_cast<FusionOp>(op)) {
        FlatSymbolRefAttr kernel = kernelFor(fusion, stringifyFusionKind(fusion.getKind()), fusion.getBody());
        exec::LaunchOp::create(builder, op.getLoc(), kernel, buffersFor(op.getOperands()), buffersFor(op.getResults()));
      } else if (auto call = dyn_cast<LibraryCallOp>(op)) {
        emitLibraryCall(call);
      } else if (auto branch = dyn_cast<graph::IfOp>(op)) {
        auto made = exec::IfOp::create(builder, op.getLoc(), bufferFor(branch.getPred()));
        emitBranch(branch.getTrueBranch().front(), made.getTrueBlock(), branch.getResults());
        emitBranch(branch.getFalseBranch().front(), made.getFalseBlock(), branch.getResults());
      } else if (auto loop = dyn_cast<graph::WhileOp>(op)) {
        emitLoop(loop);
      } else if (auto binding = dyn_cast<BindDimOp>(op)) {
        exec::BindSymbolOp::create(builder, op.getLoc(), binding.getSymbolAttr(), bufferFor(binding.getCount()));
      }
    }
  }

  void emitBranch(Block &source, Region &target, ValueRange results) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&target.emplaceBlock());
    emitBlock(source);
    for (auto [value, result] : llvm::zip(source.getTerminator()->getOperands(), results))
      copy(value, result);
  }

  void copy(Value from, Value to) {
    if (storageOf.lookup(from) != storageOf.lookup(to))
      exec::CopyOp::create(builder, from.getLoc(), bufferFor(from), bufferFor(to));
  }

  void emitLoop(graph::WhileOp loop) {
    for (auto [initial, result] : llvm::zip(loop.getOperands(), loop.getResults()))
      copy(initial, result);
    Value condition = cast<YieldOp>(loop.getCondition().front().getTerminator()).getValues()[0];
    auto made = exec::WhileOp::create(builder, loop.getLoc(), bufferFor(condition));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&made.getConditionBlock().emplaceBlock());
    emitBlock(loop.getCondition().front());
    builder.setInsertionPointToStart(&made.getBodyBlock().emplaceBlock());
    emitBlock(loop.getBody().front());
    auto yield = cast<YieldOp>(loop.getBody().front().getTerminator());
    auto temporaryOf = [&](unsigned index) { return exchange.lookup({loop.getOperation(), index}); };
    for (auto [index, value] : llvm::enumerate(yield.getValues()))
      if (Storage *temporary = temporaryOf(index))
        exec::CopyOp::create(builder, value.getLoc(), bufferFor(value), bufferFor(temporary, value.getType()));
    for (auto [index, value] : llvm::enumerate(yield.getValues())) {
      if (Storage *temporary = temporaryOf(index))
        exec::CopyOp::create(builder, value.getLoc(), bufferFor(temporary, value.getType()),
                             bufferFor(loop.getResult(index)));
      else
        copy(value, loop.getResult(index));
    }
  }

  void emitLibraryCall(LibraryCallOp call) {
    std::optional<LibraryPlan> plan = planLibraryCall(call);
    assert(plan && "split-library-epilogues leaves only calls that a library takes");
    auto bufferOfArgument = [&](Value argument) {
      return bufferFor(call.getInputs()[cast<BlockArgument>(argument).getArgNumber()]);
    };
    SmallVector<NamedAttribute> config;
    auto set = [&](StringRef name, Attribute value) { config.push_back(builder.getNamedAttr(name, value)); };
    auto setSize = [&](StringRef name, const graph::Dim &dim) { set(name, AffineMapAttr::get(mapOf(dim))); };
    if (auto convolution = dyn_cast<ConvolutionOp>(plan->hero)) {
      set("strides", convolution.getWindowStridesAttr());
      set("padding_low", convolution.getPaddingLowAttr());
      set("padding_high", convolution.getPaddingHighAttr());
      set("dilations", convolution.getRhsDilationAttr());
      set("groups", convolution.getFeatureGroupCountAttr());
      set("weights_layout", builder.getStringAttr(plan->weightsLayout));
    } else {
      setSize("batch", plan->batch);
      setSize("m", plan->m);
      setSize("n", plan->n);
      setSize("k", plan->k);
      set("transpose_left", builder.getBoolAttr(plan->transposeLeft));
      set("transpose_right", builder.getBoolAttr(plan->transposeRight));
      set("right_has_batch", builder.getBoolAttr(plan->rightHasBatch));
    }
    SmallVector<Value> extra;
    SmallVector<Attribute> epilogue;
    for (const PostOp &post : plan->epilogue) {
      SmallVector<NamedAttribute> entry{builder.getNamedAttr("kind", builder.getStringAttr(post.kind)),
                                        builder.getNamedAttr("alpha", builder.getF64FloatAttr(post.alpha)),
                                        builder.getNamedAttr("beta", builder.getF64FloatAttr(post.beta))};
      if (post.operand) {
        entry.push_back(builder.getNamedAttr("broadcast", builder.getStringAttr(post.broadcast)));
        entry.push_back(builder.getNamedAttr("operand", builder.getI64IntegerAttr(extra.size())));
        extra.push_back(bufferOfArgument(post.operand));
      }
      epilogue.push_back(builder.getDictionaryAttr(entry));
    }
    FlatSymbolRefAttr kernel = kernelFor(call, stringifyFusionKind(FusionKind::generic), call.getBody());
    exec::LibraryCallOp::create(builder, call.getLoc(), call.getCalleeAttr(), kernel, builder.getDictionaryAttr(config),
                                builder.getArrayAttr(epilogue), bufferOfArgument(plan->left),
                                bufferOfArgument(plan->right), extra, buffersFor(call.getInputs()),
                                bufferFor(call.getResult(0)));
  }

  //===--------------------------------------------------------------------===//
  // Kernels
  //===--------------------------------------------------------------------===//

  /// The kernel for a region, shared between equal regions.
  FlatSymbolRefAttr kernelFor(Operation *op, StringRef kind, Region &body) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << kind << "\n";
    // The region printed in a shell without operands, so that equal regions print equally wherever they stand.
    exec::KernelOp shell = makeKernel(op->getLoc(), "key", kind, body);
    shell->print(stream, OpPrintingFlags().useLocalScope());
    auto [entry, isNew] = kernelByText.try_emplace(text);
    if (isNew) {
      std::string name = kernelName(op, kind);
      shell.setSymName(name);
      entry->second = FlatSymbolRefAttr::get(context, name);
    } else {
      shell.erase();
    }
    return entry->second;
  }

  exec::KernelOp makeKernel(Location location, StringRef name, StringRef kind, Region &body) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(kernelInsertion);
    auto kernel = exec::KernelOp::create(builder, location, builder.getStringAttr(name), builder.getStringAttr(kind),
                                         AffineMapAttr(), IntegerAttr(), AffineMapAttr(), StringAttr(), IntegerAttr(),
                                         IntegerAttr(), IntegerAttr());
    IRMapping mapping;
    body.cloneInto(&kernel.getBody(), mapping);
    return kernel;
  }

  /// "softmax_12": the first model node's name as an identifier, and a number that makes it unique.
  std::string kernelName(Operation *op, StringRef kind) {
    SmallVector<StringRef> names = nodeNames(op->getLoc());
    std::string name;
    for (char c : names.empty() ? kind : names.front()) {
      bool keep = llvm::isAlnum(c) || c == '_';
      if (keep || (!name.empty() && name.back() != '_'))
        name.push_back(keep ? c : '_');
      if (name.size() >= 48)
        break;
    }
    return "k_" + name + "_" + std::to_string(kernelByText.size() - 1);
  }

  ModuleOp module;
  func::FuncOp main;
  MLIRContext *context;
  OpBuilder builder;
  Operation *kernelInsertion = nullptr;
  SmallVector<StringAttr> symbols;
  SmallVector<int64_t> minimums, maximums;
  std::vector<std::unique_ptr<Storage>> storages;
  llvm::DenseMap<Value, Storage *> storageOf;
  llvm::DenseMap<std::pair<Storage *, Type>, Value> bufferOf;
  llvm::DenseMap<std::pair<Operation *, unsigned>, Storage *> exchange;
  SmallVector<std::pair<unsigned, Value>> outputCopies;
  llvm::MapVector<unsigned, Storage *> stateExchange;
  llvm::StringMap<FlatSymbolRefAttr> kernelByText;
  graph::Dim arenaSize;
  int64_t position = 0;
};

struct ScheduleToExec : impl::ScheduleToExecBase<ScheduleToExec> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>(GraphDialect::kMainName);
    if (!main) {
      getOperation().emitError("expected a function @main");
      return signalPassFailure();
    }
    if (failed(Scheduler(getOperation(), main).run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace weft::schedule
