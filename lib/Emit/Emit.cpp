//===- Emit.cpp - From an Exec program to an artifact --------------------------------------------------------===//

#include "lib/Emit/Emit.h"
#include "dialects/Exec/Exec.h"
#include "lib/Support/NodeNames.h"
#include "runtime/Artifact/CpuFeatures.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace weft::emit {

namespace {

runtime::ElementType elementTypeOf(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return runtime::elementTypeFromName(name);
}

runtime::Expression expressionOf(AffineExpr expression) {
  using runtime::Expression;
  using runtime::ExpressionOpcode;
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return Expression(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return Expression::symbol(symbol.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expression);
  ExpressionOpcode opcode = ExpressionOpcode::Add;
  switch (binary.getKind()) {
  case AffineExprKind::Mul:
    opcode = ExpressionOpcode::Multiply;
    break;
  case AffineExprKind::FloorDiv:
    opcode = ExpressionOpcode::FloorDivide;
    break;
  case AffineExprKind::CeilDiv:
    opcode = ExpressionOpcode::CeilDivide;
    break;
  case AffineExprKind::Mod:
    opcode = ExpressionOpcode::Modulo;
    break;
  default:
    break;
  }
  return Expression::binary(opcode, expressionOf(binary.getLHS()), expressionOf(binary.getRHS()));
}

runtime::Expression expressionOf(AffineMap map) { return expressionOf(map.getResult(0)); }

std::vector<runtime::Expression> dimsOf(exec::BufferType type) {
  std::vector<runtime::Expression> dims;
  for (AffineExpr size : type.getShape().getResults())
    dims.push_back(expressionOf(size));
  return dims;
}

class ProgramEmitter {
public:
  ProgramEmitter(ModuleOp module, const WeightStore &weights) : module(module), weights(weights) {}

  FailureOr<EmittedProgram> run(const EmitOptions &options) {
    result.program.producer = "weft 0.1.0";
    result.program.modelName = options.modelName;
    result.program.numerics = options.numerics;
    result.program.targets.push_back(options.target);
    // LLVM's list also holds what tunes code and needs nothing of the machine.
    llvm::erase_if(result.program.targets.back().features,
                   [](const std::string &name) { return !llvm::is_contained(runtime::knownCpuFeatures(), name); });
    for (auto entry : module.getOps<exec::EntryOp>())
      if (failed(emitEntry(entry)))
        return failure();
    return std::move(result);
  }

private:
  LogicalResult emitEntry(exec::EntryOp op) {
    // The symbols are those of the module: every entry lists the same.
    if (result.program.symbols.empty())
      for (auto [name, minimum, maximum] : llvm::zip(op.getSymbols(), op.getMinimums(), op.getMaximums()))
        result.program.symbols.push_back({cast<StringAttr>(name).str(), minimum, maximum});
    op.walk([&](exec::BindSymbolOp binding) {
      result.program.symbols[symbolIndexOf(binding)].source = runtime::SymbolSource::Data;
    });

    runtime::Entry entry;
    entry.name = op.getSymName().str();
    entry.inputs = portsOf(op, "inputs");
    entry.outputs = portsOf(op, "outputs");
    for (auto [index, port] : llvm::enumerate(entry.inputs))
      inputIndex[port.name] = index;
    for (auto [index, port] : llvm::enumerate(entry.outputs))
      outputIndex[port.name] = index;
    runtime::Variant &variant = entry.variants.emplace_back();
    variant.arenaBytes = expressionOf(op.getArena());
    current = &variant;
    variant.blocks.emplace_back();
    if (failed(emitBlock(op.getBody().front(), 0)))
      return failure();
    result.program.entries.push_back(std::move(entry));
    return success();
  }

  static uint32_t symbolIndexOf(exec::BindSymbolOp op) {
    ArrayAttr names = op->getParentOfType<exec::EntryOp>().getSymbols();
    return static_cast<uint32_t>(llvm::find(names, op.getSymbolAttr()) - names.begin());
  }

  std::vector<runtime::Port> portsOf(exec::EntryOp op, StringRef attribute) {
    std::vector<runtime::Port> ports;
    for (Attribute item : op->getAttrOfType<ArrayAttr>(attribute)) {
      auto port = cast<DictionaryAttr>(item);
      auto type = cast<exec::BufferType>(port.getAs<TypeAttr>("type").getValue());
      ports.push_back({port.getAs<StringAttr>("name").str(), elementTypeOf(type.getElementType()), dimsOf(type)});
    }
    return ports;
  }

  //===--------------------------------------------------------------------===//
  // Buffers
  //===--------------------------------------------------------------------===//

  FailureOr<uint32_t> weightIndexOf(Operation *op, StringRef name, runtime::ElementType type) {
    auto [entry, isNew] = weightIndex.try_emplace(name.str(), result.program.weights.size());
    if (isNew) {
      const graph::TensorValue *value = weights.find(name);
      if (!value)
        return op->emitError("the weight \"") << name << "\" has no value";
      runtime::Weight weight;
      weight.name = name.str();
      weight.type = type;
      weight.dims.assign(value->getShape().begin(), value->getShape().end());
      result.program.weights.push_back(std::move(weight));
      result.weights.push_back({value->getData(), value->getByteSize()});
    }
    return entry->second;
  }

  LogicalResult defineBuffer(Operation &op) {
    auto type = cast<exec::BufferType>(op.getResult(0).getType());
    runtime::Buffer buffer;
    buffer.type = elementTypeOf(type.getElementType());
    buffer.dims = dimsOf(type);
    if (auto alias = dyn_cast<exec::AliasOp>(op)) {
      const runtime::Buffer &source = current->buffers[bufferIndex.lookup(alias.getSource())];
      buffer.kind = source.kind;
      buffer.index = source.index;
      buffer.offset = source.offset;
    } else if (auto input = dyn_cast<exec::InputOp>(op)) {
      buffer.kind = runtime::BufferKind::Input;
      buffer.index = inputIndex.at(input.getName().str());
    } else if (auto output = dyn_cast<exec::OutputOp>(op)) {
      buffer.kind = runtime::BufferKind::Output;
      buffer.index = outputIndex.at(output.getName().str());
    } else if (auto weight = dyn_cast<exec::WeightOp>(op)) {
      buffer.kind = runtime::BufferKind::Weight;
      FailureOr<uint32_t> index = weightIndexOf(&op, weight.getName(), buffer.type);
      if (failed(index))
        return failure();
      buffer.index = *index;
    } else if (auto state = dyn_cast<exec::StateOp>(op)) {
      buffer.kind = runtime::BufferKind::State;
      auto [entry, isNew] = stateIndex.try_emplace(state.getName().str(), result.program.states.size());
      if (isNew) {
        runtime::State made;
        made.name = state.getName().str();
        made.type = buffer.type;
        for (AffineExpr size : type.getShape().getResults()) {
          auto constant = dyn_cast<AffineConstantExpr>(size);
          if (!constant)
            return op.emitOpError("expected a state of static shape");
          made.dims.push_back(constant.getValue());
        }
        result.program.states.push_back(std::move(made));
      }
      buffer.index = entry->second;
    } else {
      buffer.kind = runtime::BufferKind::Arena;
      buffer.offset = expressionOf(cast<exec::ArenaOp>(op).getOffset());
    }
    bufferIndex[op.getResult(0)] = current->buffers.size();
    current->buffers.push_back(std::move(buffer));
    return success();
  }

  std::vector<uint32_t> indicesOf(ValueRange buffers) {
    std::vector<uint32_t> indices;
    for (Value buffer : buffers)
      indices.push_back(bufferIndex.lookup(buffer));
    return indices;
  }

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  runtime::Launch launchOf(Operation *op, FlatSymbolRefAttr name, ValueRange inputs, ValueRange outputs) {
    auto kernel = module.lookupSymbol<exec::KernelOp>(name.getValue());
    runtime::Launch launch;
    launch.kernel = kernel.getFunction().value_or(name.getValue()).str();
    launch.inputs = indicesOf(inputs);
    launch.outputs = indicesOf(outputs);
    if (kernel.getTiles())
      launch.tiles = expressionOf(*kernel.getTiles());
    if (kernel.getScratch())
      launch.scratchBytes = expressionOf(*kernel.getScratch());
    launch.grain = static_cast<int64_t>(kernel.getGrain().value_or(1));
    launch.threads = static_cast<int32_t>(kernel.getThreads().value_or(0));
    launch.sharedBytes = static_cast<int64_t>(kernel.getShared().value_or(0));
    launch.maxBlocks = static_cast<int64_t>(kernel.getMaxBlocks().value_or(0));
    return launch;
  }

  LogicalResult emitBlock(Block &block, size_t blockIndex) {
    for (Operation &op : block) {
      if (op.getNumResults() == 1) {
        if (failed(defineBuffer(op)))
          return failure();
        continue;
      }
      runtime::Op made;
      for (StringRef name : nodeNames(op.getLoc()))
        made.sourceNodes.push_back(name.str());
      if (auto launch = dyn_cast<exec::LaunchOp>(op)) {
        made.name = launch.getKernel().str();
        made.body = launchOf(&op, launch.getKernelAttr(), launch.getInputs(), launch.getOutputs());
      } else if (auto call = dyn_cast<exec::LibraryCallOp>(op)) {
        made.name = call.getAlternative().str();
        FailureOr<runtime::LibraryCall> body = libraryCallOf(call);
        if (failed(body))
          return failure();
        made.body = std::move(*body);
      } else if (auto copy = dyn_cast<exec::CopyOp>(op)) {
        made.name = "copy";
        made.body = runtime::Copy{bufferIndex.lookup(copy.getSource()), bufferIndex.lookup(copy.getDestination())};
      } else if (auto check = dyn_cast<exec::CheckEqualOp>(op)) {
        made.name = "check_equal";
        made.body = runtime::CheckEqual{expressionOf(check.getLeft()), expressionOf(check.getRight()),
                                        check.getMessage().str()};
      } else if (auto binding = dyn_cast<exec::BindSymbolOp>(op)) {
        made.name = "bind";
        made.body = runtime::BindSymbol{symbolIndexOf(binding), bufferIndex.lookup(binding.getValue()), ""};
      } else if (auto branch = dyn_cast<exec::IfOp>(op)) {
        made.name = "if";
        runtime::If body;
        body.condition = bufferIndex.lookup(branch.getCondition());
        if (failed(emitNested(branch.getTrueBlock(), body.thenBlock)) ||
            failed(emitNested(branch.getFalseBlock(), body.elseBlock)))
          return failure();
        made.body = body;
      } else if (auto loop = dyn_cast<exec::WhileOp>(op)) {
        made.name = "while";
        runtime::While body;
        body.condition = bufferIndex.lookup(loop.getCondition());
        if (failed(emitNested(loop.getConditionBlock(), body.conditionBlock)) ||
            failed(emitNested(loop.getBodyBlock(), body.bodyBlock)))
          return failure();
        made.body = body;
      } else {
        return op.emitOpError("cannot be written into an artifact");
      }
      current->blocks[blockIndex].ops.push_back(std::move(made));
    }
    return success();
  }

  LogicalResult emitNested(Region &region, uint32_t &index) {
    index = current->blocks.size();
    current->blocks.emplace_back();
    return emitBlock(region.front(), index);
  }

  FailureOr<runtime::LibraryCall> libraryCallOf(exec::LibraryCallOp op) {
    runtime::LibraryCall call;
    if (result.program.targets.front().device == "cuda")
      call.library = op.getCallee() == "convolution" ? "cudnn" : "cublaslt";
    DictionaryAttr config = op.getConfig();
    if (op.getCallee() == "convolution") {
      runtime::Convolution convolution;
      auto list = [&](StringRef name) {
        ArrayRef<int64_t> values = config.getAs<DenseI64ArrayAttr>(name).asArrayRef();
        return std::vector<int64_t>(values.begin(), values.end());
      };
      convolution.strides = list("strides");
      convolution.paddingLow = list("padding_low");
      convolution.paddingHigh = list("padding_high");
      convolution.dilations = list("dilations");
      convolution.groups = config.getAs<IntegerAttr>("groups").getInt();
      convolution.weightsLayout =
          llvm::StringSwitch<runtime::ConvolutionWeightsLayout>(config.getAs<StringAttr>("weights_layout").getValue())
              .Case("oi_spatial", runtime::ConvolutionWeightsLayout::OISpatial)
              .Case("o_spatial_i", runtime::ConvolutionWeightsLayout::OSpatialI)
              .Default(runtime::ConvolutionWeightsLayout::SpatialIO);
      call.operation = convolution;
    } else {
      runtime::Matmul matmul;
      auto size = [&](StringRef name) { return expressionOf(config.getAs<AffineMapAttr>(name).getValue()); };
      auto flag = [&](StringRef name) { return config.getAs<BoolAttr>(name).getValue(); };
      matmul.batch = size("batch");
      matmul.m = size("m");
      matmul.n = size("n");
      matmul.k = size("k");
      matmul.transposeLeft = flag("transpose_left");
      matmul.transposeRight = flag("transpose_right");
      matmul.rightHasBatch = flag("right_has_batch");
      call.operation = matmul;
    }
    call.left = bufferIndex.lookup(op.getLeft());
    call.right = bufferIndex.lookup(op.getRight());
    call.output = bufferIndex.lookup(op.getOutput());
    for (Attribute item : op.getEpilogue()) {
      FailureOr<runtime::PostOp> post = postOpOf(op, cast<DictionaryAttr>(item));
      if (failed(post))
        return failure();
      call.epilogue.push_back(*post);
    }
    call.alternative = launchOf(op, op.getAlternativeAttr(), op.getAlternativeInputs(), op.getOutput());
    return call;
  }

  FailureOr<runtime::PostOp> postOpOf(exec::LibraryCallOp op, DictionaryAttr attributes) {
    using runtime::PostOpKind;
    runtime::PostOp post;
    std::optional<PostOpKind> kind =
        llvm::StringSwitch<std::optional<PostOpKind>>(attributes.getAs<StringAttr>("kind").getValue())
            .Case("bias", PostOpKind::Bias)
            .Case("add", PostOpKind::Add)
            .Case("subtract", PostOpKind::Subtract)
            .Case("multiply", PostOpKind::Multiply)
            .Case("divide", PostOpKind::Divide)
            .Case("relu", PostOpKind::Relu)
            .Case("tanh", PostOpKind::Tanh)
            .Case("logistic", PostOpKind::Logistic)
            .Case("clip", PostOpKind::Clip)
            .Case("linear", PostOpKind::Linear)
            .Case("abs", PostOpKind::Abs)
            .Case("sqrt", PostOpKind::Sqrt)
            .Case("exp", PostOpKind::Exp)
            .Default(std::nullopt);
    if (!kind)
      return op.emitOpError("there is no post-op ") << attributes.getAs<StringAttr>("kind");
    post.kind = *kind;
    post.alpha = static_cast<float>(attributes.getAs<FloatAttr>("alpha").getValueAsDouble());
    post.beta = static_cast<float>(attributes.getAs<FloatAttr>("beta").getValueAsDouble());
    if (auto operand = attributes.getAs<IntegerAttr>("operand")) {
      post.buffer = bufferIndex.lookup(op.getExtra()[operand.getInt()]);
      post.broadcast =
          llvm::StringSwitch<runtime::PostOpBroadcast>(attributes.getAs<StringAttr>("broadcast").getValue())
              .Case("column", runtime::PostOpBroadcast::Column)
              .Case("scalar", runtime::PostOpBroadcast::Scalar)
              .Default(runtime::PostOpBroadcast::Full);
    }
    return post;
  }

  ModuleOp module;
  const WeightStore &weights;
  EmittedProgram result;
  runtime::Variant *current = nullptr;
  llvm::DenseMap<Value, uint32_t> bufferIndex;
  std::map<std::string, uint32_t> inputIndex, outputIndex, weightIndex, stateIndex;
};

} // namespace

FailureOr<EmittedProgram> emitProgram(ModuleOp module, const WeightStore &weights, const EmitOptions &options) {
  return ProgramEmitter(module, weights).run(options);
}

} // namespace weft::emit
