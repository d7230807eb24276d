//===- OnnxExporter.cpp - From the Graph dialect to an ONNX model --------------------------------===//

#include "lib/Exporter/Onnx/OnnxExporter.h"
#include "dialects/Graph/Structure.h"
#include "lib/Exporter/Onnx/GraphBuilder.h"
#include "lib/Support/Onnx/ElementTypes.h"
#include "lib/Support/Onnx/onnx.pb.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace weft::graph;

namespace weft {

namespace exporter {

LogicalResult cannotExport(Operation *op, const llvm::Twine &why) {
  return op->emitError("cannot be written as ONNX: ") << why;
}

LogicalResult exportOperation(GraphBuilder &b, Operation *op) {
  b.setOperation(op);
  for (Value result : op->getResults())
    if (onnxTypeOf(elementType(result)) == OnnxType::Undefined)
      return cannotExport(op, "ONNX lacks the element type");
  for (auto family : {exportElementwise, exportMovement, exportIndexing, exportContraction, exportRegions})
    if (std::optional<LogicalResult> done = family(b, op))
      return *done;
  return cannotExport(op, "the exporter does not know the operation");
}

LogicalResult exportBlock(GraphBuilder &b, Block &block) {
  // All that cannot be said is reported; what follows from it is then left out.
  bool complete = true;
  for (Operation &op : block.without_terminator()) {
    bool hasOperands = llvm::all_of(op.getOperands(), [&](Value operand) { return !b.nameOf(operand).empty(); });
    complete &= hasOperands && succeeded(exportOperation(b, &op));
  }
  return success(complete);
}

} // namespace exporter

namespace {

using exporter::GraphBuilder;
using exporter::Name;

/// Exports the functions of a module into a graph.
class ModuleExporter {
public:
  ModuleExporter(ModuleOp module, const WeightStore &weights, onnx::GraphProto &graph)
      : module(module), weights(weights), graph(graph), b(module.getContext(), graph, weights) {}

  LogicalResult run() {
    auto main = module.lookupSymbol<func::FuncOp>(GraphDialect::kMainName);
    if (!main || !main.getBody().hasOneBlock())
      return module.emitError("expected a function @main with a body to export");
    graph.set_name(module.getName().value_or("weft").str());
    if (failed(bindInputs(main)))
      return failure();
    // Outputs keep their names: they are taken before any other value's.
    SmallVector<Name> outputs;
    for (unsigned i = 0; i < main.getNumResults(); ++i)
      outputs.push_back(b.uniqueName(resultName(main, i)));
    if (failed(bindSymbols(main)) || failed(bindPrepared(main)) ||
        failed(exporter::exportBlock(b, main.getBody().front())))
      return failure();
    Operation *end = main.getBody().front().getTerminator();
    for (auto [i, value] : llvm::enumerate(end->getOperands())) {
      b.setOperation(end);
      b.namedNode("Identity", b.nameOf(value), outputs[i]);
      GraphBuilder::describe(*graph.add_output(), outputs[i], value.getType());
    }
    return success();
  }

private:
  static std::string resultName(func::FuncOp function, unsigned index) {
    for (StringRef key : {StringRef(GraphDialect::kOutputName), StringRef(GraphDialect::kStateName)})
      if (auto name = function.getResultAttrOfType<StringAttr>(index, key))
        return name.str();
    return "result" + std::to_string(index);
  }

  LogicalResult bindParameter(BlockArgument argument, StringAttr name) {
    // Two functions may take the same parameter.
    Name &known = parameters[name.str()];
    if (known.empty()) {
      const TensorValue *value = weights.find(name);
      if (!value)
        return emitError(argument.getLoc()) << "parameter '" << name.getValue() << "' has no value in the weight store";
      known = b.uniqueName(name);
      b.initializer(known, *value);
    }
    b.bind(argument, known);
    return success();
  }

  LogicalResult bindInputs(func::FuncOp function) {
    for (BlockArgument argument : function.getArguments()) {
      unsigned index = argument.getArgNumber();
      if (auto name = function.getArgAttrOfType<StringAttr>(index, GraphDialect::kParamName)) {
        if (failed(bindParameter(argument, name)))
          return failure();
        continue;
      }
      if (function.getArgAttr(index, GraphDialect::kPreparedIndex))
        continue;
      auto name = function.getArgAttrOfType<StringAttr>(index, GraphDialect::kInputName);
      if (!name)
        name = function.getArgAttrOfType<StringAttr>(index, GraphDialect::kStateName);
      Name unique = b.uniqueName(name ? name.str() : "input" + std::to_string(index));
      GraphBuilder::describe(*graph.add_input(), unique, argument.getType());
      b.bind(argument, unique);
    }
    return success();
  }

  /// Each symbol's value is the size of an input's dimension that is the symbol itself.
  LogicalResult bindSymbols(func::FuncOp function) {
    b.setOperation(function);
    for (BlockArgument argument : function.getArguments()) {
      if (b.nameOf(argument).empty())
        continue;
      for (auto [i, dim] : llvm::enumerate(getDims(argument.getType()))) {
        if (dim.getSymbols().size() != 1 || dim != Dim::symbol(dim.getSymbols()[0]) ||
            b.knowsSymbol(dim.getSymbols()[0]))
          continue;
        Name shape = b.node("Shape", b.nameOf(argument));
        b.defineSymbol(dim.getSymbols()[0],
                       b.node("Gather", {shape, b.integer(i)}, exporter::Attributes().set("axis", int64_t(0))));
      }
    }
    for (DimOp declared : module.getOps<DimOp>())
      if (!b.knowsSymbol(declared.getName())) {
        // A symbol that no type of the function names needs no value, and one that data decide has it later.
        bool isUsed = false, isBound = false;
        function.walk([&](Operation *op) {
          if (auto binding = dyn_cast<BindDimOp>(op))
            isBound |= binding.getSymbol() == declared.getName();
          for (Type type : op->getResultTypes())
            if (auto tensor = dyn_cast<RankedTensorType>(type))
              for (const Dim &dim : getDims(tensor))
                isUsed |= llvm::any_of(dim.getSymbols(), [&](StringAttr s) { return s == declared.getName(); });
        });
        if (isUsed && !isBound)
          return declared.emitError("cannot be written as ONNX: no input has a dimension that is '")
                 << declared.getName() << "' itself";
      }
    return success();
  }

  /// What @prepare computes, as nodes before those of @main.
  LogicalResult bindPrepared(func::FuncOp main) {
    auto prepare = module.lookupSymbol<func::FuncOp>(GraphDialect::kPrepareName);
    SmallVector<Name> results;
    if (prepare) {
      for (BlockArgument argument : prepare.getArguments()) {
        auto name = prepare.getArgAttrOfType<StringAttr>(argument.getArgNumber(), GraphDialect::kParamName);
        if (!name)
          return prepare.emitError("expected parameters alone as arguments of @prepare");
        if (failed(bindParameter(argument, name)))
          return failure();
      }
      if (failed(exporter::exportBlock(b, prepare.getBody().front())))
        return failure();
      for (Value value : prepare.getBody().front().getTerminator()->getOperands())
        results.push_back(b.nameOf(value));
    }
    for (BlockArgument argument : main.getArguments())
      if (auto index = main.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), GraphDialect::kPreparedIndex)) {
        if (index.getInt() < 0 || index.getInt() >= static_cast<int64_t>(results.size()))
          return emitError(argument.getLoc()) << "result " << index.getInt() << " of @prepare does not exist";
        b.bind(argument, results[index.getInt()]);
      }
    return success();
  }

  ModuleOp module;
  const WeightStore &weights;
  onnx::GraphProto &graph;
  GraphBuilder b;
  std::map<std::string, Name> parameters;
};

} // namespace

LogicalResult exportOnnx(ModuleOp module, const WeightStore &weights, std::string &bytes) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.set_producer_name("weft");
  onnx::OperatorSetIdProto &opset = *model.add_opset_import();
  opset.set_domain("");
  opset.set_version(18);
  ModuleExporter exporter(module, weights, *model.mutable_graph());
  if (failed(exporter.run()))
    return failure();
  if (model.ByteSizeLong() > static_cast<size_t>(std::numeric_limits<int>::max()))
    return module.emitError("the model has ")
           << model.ByteSizeLong() << " bytes; an ONNX file that holds its weights has fewer than 2 GiB";
  std::string serialized;
  if (!model.SerializeToString(&serialized))
    return module.emitError("the model cannot be serialized");
  bytes = std::move(serialized);
  return success();
}

LogicalResult exportOnnxFile(ModuleOp module, const WeightStore &weights, llvm::StringRef path) {
  std::string bytes;
  if (failed(exportOnnx(module, weights, bytes)))
    return failure();
  // Written beside its place and moved there, so that no half of a file is ever found.
  llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
    os << bytes;
    return llvm::Error::success();
  });
  if (!error)
    return success();
  return module.emitError("cannot write '") << path << "': " << llvm::toString(std::move(error));
}

} // namespace weft
