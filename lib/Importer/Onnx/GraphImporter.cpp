//===- GraphImporter.cpp - Walks the nodes of an ONNX graph and its subgraphs --------------------===//

#include "lib/Importer/Onnx/GraphImporter.h"
#include "lib/Importer/Onnx/GraphOrder.h"
#include "lib/Importer/Onnx/Learning.h"
#include "lib/Importer/Onnx/NewerFields.h"
#include "lib/Importer/Onnx/Sequences.h"
#include "lib/Support/Onnx/ElementTypes.h"
#include "lib/Support/Onnx/Opsets.h"
#include "lib/Support/Onnx/onnx.pb.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

constexpr unsigned kMostNestedCalls = 64;
constexpr Interval kFirstDimensionBounds{1, 1024}, kOtherDimensionBounds{1, 4096};

/// The symbol of a dimension; empty where it has none. Some exporters write a mark for "unknown" that names nothing:
/// two such dimensions need not be equal.
std::string symbolOf(const onnx::TensorShapeProto::Dimension &dimension) {
  const std::string &name = dimension.dim_param();
  return llvm::is_contained({"?", "*", "-1", "None"}, StringRef(name)) ? std::string() : name;
}

/// Erases operations without effects whose results nobody uses, from the end to the front.
void eraseDead(Region &region) {
  for (Block &block : region)
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      for (Region &inner : op.getRegions())
        eraseDead(inner);
      if (isOpTriviallyDead(&op))
        op.erase();
    }
}

bool worksOnStrings(StringRef opType) {
  return llvm::is_contained({"RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit", "StringToHashBucket"},
                            opType);
}

/// Erases what gives sizes to symbols that no type has; whether there was any.
bool eraseUnusedBindings(func::FuncOp function) {
  llvm::DenseSet<StringAttr> used;
  auto visit = [&](Type type) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      if (auto encoding = dyn_cast_or_null<EncodingAttr>(tensor.getEncoding()))
        used.insert(encoding.getSymbols().begin(), encoding.getSymbols().end());
  };
  function.walk([&](Operation *op) {
    llvm::for_each(op->getOperandTypes(), visit);
    llvm::for_each(op->getResultTypes(), visit);
  });
  bool any = false;
  function.walk([&](BindDimOp op) {
    if (!used.contains(op.getSymbolAttr())) {
      op.erase();
      any = true;
    }
  });
  return any;
}

} // namespace

GraphImporter::GraphImporter(ModelFile &file, MLIRContext *context, WeightStore &weights,
                             const OnnxImportOptions &options, const HandlerTable &handlers, Location root)
    : file(file), context(context), weights(weights), options(options), handlers(handlers), root(root),
      builder(context), facts(context) {}

OwningOpRef<ModuleOp> GraphImporter::importModel() {
  const onnx::GraphProto &graph = model().graph();
  Scope scope(nullptr);
  if (failed(checkOpsets(model().opset_import(), scope)) || failed(checkSupport(scope)) || failed(readOptions()))
    return {};
  module = ModuleOp::create(root);
  builder.setInsertionPointToEnd(module->getBody());
  main = func::FuncOp::create(builder, root, GraphDialect::kMainName, builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(main.addEntryBlock());
  if (failed(addInitializers(graph, scope)) || failed(fixInputs(graph, scope)) || failed(importInputs(graph, scope)) ||
      failed(importNodes(graph.node(), scope)) || failed(finish(graph, scope)))
    return {};
  return std::move(module);
}

//===----------------------------------------------------------------------===//
// What the user says of shapes
//===----------------------------------------------------------------------===//

LogicalResult GraphImporter::readOptions() {
  llvm::StringMap<const onnx::ValueInfoProto *> byName;
  for (const onnx::ValueInfoProto &input : model().graph().input())
    byName[input.name()] = &input;
  for (const std::string &option : options.shapes) {
    auto [name, text] = StringRef(option).rsplit('=');
    auto fail = [&](StringRef expected) {
      return error() << "shape option '" << option << "': expected " << expected, failure();
    };
    if (name.empty() || text.empty())
      return fail("an input's shape ('x=1x3x224x224'), a size ('batch=8') or its bounds ('batch=1..64')");
    auto input = byName.find(name);
    // One element of a sequence, or all.
    StringRef sequence = name, position;
    if (input == byName.end() && sequence.consume_back("]"))
      std::tie(sequence, position) = sequence.rsplit('[');
    auto whole = byName.find(sequence);
    if (input == byName.end() && whole != byName.end() && sequence.size() < name.size()) {
      int64_t index = 0;
      constexpr int64_t kLongest = 1 << 16;
      bool isLength = position.empty();
      if ((isLength ? text : position).getAsInteger(10, index) || index < 0 || index > kLongest)
        return fail("the length of a sequence ('" + sequence.str() + "[]=3') or the shape of one of its elements ('" +
                    sequence.str() + "[0]=2x3')");
      int64_t &length = givenLengths.insert({sequence, 0}).first->second;
      length = std::max(length, isLength ? index : index + 1);
      if (isLength)
        continue;
      SmallVector<StringRef> parts;
      if (text != "scalar")
        text.split(parts, text.contains(',') ? ',' : 'x');
      givenShapes[name];
      for (StringRef part : parts) {
        if (part.trim().empty())
          return fail("sizes that are not negative, names, or '?'; 'scalar' where there are none");
        givenShapes[name].push_back(part.trim().str());
      }
      continue;
    }
    if (input != byName.end() && text == "none") {
      if (!input->second->type().has_optional_type())
        return fail("a shape, since the input is not optional");
      absentInputs.insert(name);
      continue;
    }
    if (input == byName.end()) {
      Interval bounds;
      auto [low, high] = text.split("..");
      bool isRange = text.contains("..");
      if (low.getAsInteger(10, bounds.min) || (isRange && high.getAsInteger(10, bounds.max)))
        return fail("an integer or two with '..' between, since the model has no input of this name");
      if (!isRange)
        bounds.max = bounds.min;
      if (bounds.min < 0 || bounds.min > bounds.max)
        return fail("bounds of which the first is not negative and not larger than the second");
      facts.symbols.setBounds(name, bounds);
      continue;
    }
    SmallVector<StringRef> parts;
    text.split(parts, text.contains(',') ? ',' : 'x');
    const onnx::TypeProto &declared = input->second->type();
    const auto &type = (declared.has_optional_type() ? declared.optional_type().elem_type() : declared).tensor_type();
    if (type.has_shape() && type.shape().dim_size() != static_cast<int>(parts.size()))
      return fail("as many sizes as the input has dimensions (" + std::to_string(type.shape().dim_size()) + ")");
    for (auto [i, part] : llvm::enumerate(parts)) {
      part = part.trim();
      int64_t size;
      bool isSize = !part.getAsInteger(10, size);
      if (part.empty() || (isSize && size < 0))
        return fail("sizes that are not negative, names, or '?'");
      givenShapes[name].push_back(part.str());
      // A size or name given for one dimension holds wherever the model uses that dimension's symbol.
      const std::string symbol = type.has_shape() ? symbolOf(type.shape().dim(i)) : std::string();
      if (symbol.empty() || part == "?")
        continue;
      if (isSize) {
        auto [entry, isNew] = fixedSizes.insert({symbol, size});
        if (!isNew && entry->second != size)
          return fail("the same size for every dimension that the model calls '" + symbol + "'");
        facts.symbols.setBounds(symbol, {size, size});
      } else {
        renamed[symbol] = part.str();
      }
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Inputs and initializers
//===----------------------------------------------------------------------===//

FailureOr<RankedTensorType> GraphImporter::inputType(const std::string &name, const onnx::TypeProto_Tensor &type) {
  auto fail = [&]() { return error() << "input '" << name << "': "; };
  Type element = elementTypeOf(static_cast<OnnxType>(type.elem_type()), context);
  if (!element)
    return fail() << "Weft has no tensors of type " << nameOf(static_cast<OnnxType>(type.elem_type())), failure();
  auto given = givenShapes.find(name);
  bool isGiven = given != givenShapes.end();
  if (!type.has_shape() && !isGiven)
    return fail() << "the model does not say its shape; give one, such as '" << name << "=1x3x224x224'", failure();
  size_t rank = type.has_shape() ? type.shape().dim_size() : given->second.size();
  if (isGiven && given->second.size() != rank)
    return fail() << "expected a shape of " << rank << " sizes, got " << given->second.size(), failure();
  SmallVector<Dim> dims;
  for (size_t i = 0; i < rank; ++i) {
    Interval bounds = i == 0 ? kFirstDimensionBounds : kOtherDimensionBounds;
    std::string symbol, unnamed = name + "_dim" + std::to_string(i);
    int64_t size = -1;
    if (type.has_shape()) {
      const auto &dimension = type.shape().dim(i);
      symbol = symbolOf(dimension);
      size = dimension.has_dim_value() ? dimension.dim_value() : -1;
    }
    StringRef part = isGiven ? StringRef(given->second[i]) : StringRef("?");
    int64_t givenSize;
    if (part == "?") {
      // As the model has it.
    } else if (!part.getAsInteger(10, givenSize)) {
      if (size >= 0 && size != givenSize)
        return fail() << "dimension " << i << " has size " << size << " in the model, but " << givenSize << " is given",
               failure();
      if (!symbol.empty())
        facts.symbols.get(symbol, bounds); // The size was given to the symbol too: it is one that the model has.
      size = givenSize;
    } else if (size < 0) {
      symbol = part.str();
    }
    if (size >= 0) {
      dims.push_back(Dim::constant(context, size));
      continue;
    }
    if (auto other = renamed.find(symbol); other != renamed.end())
      symbol = other->second;
    dims.push_back(facts.symbols.get(symbol.empty() ? unnamed : symbol, bounds));
  }
  Builder checker(builder, root, facts, "input '" + name + "'");
  if (!checker.isSane(dims))
    return failure();
  return makeTensorType(dims, element);
}

FailureOr<Value> GraphImporter::importTensorInput(const std::string &name, const onnx::TypeProto_Tensor &type) {
  FailureOr<RankedTensorType> tensor = inputType(name, type);
  if (failed(tensor))
    return failure();
  Value argument = main.getBody().addArgument(*tensor, NameLoc::get(StringAttr::get(context, name), root));
  inputs.push_back({name, argument});
  return argument;
}

FailureOr<Value> GraphImporter::importInput(const std::string &name, const onnx::TypeProto &type) {
  auto fail = [&]() { return error() << "input '" << name << "': "; };
  if (type.has_optional_type())
    return absentInputs.contains(name) ? FailureOr<Value>(makeAbsentOptional(builder, root))
                                       : importInput(name, type.optional_type().elem_type());
  if (type.has_tensor_type())
    return importTensorInput(name, type.tensor_type());
  if (!type.has_sequence_type())
    return fail() << "expected a tensor, a sequence of tensors or an optional one; Weft has no maps", failure();
  const onnx::TypeProto &element = type.sequence_type().elem_type();
  if (!element.has_tensor_type())
    return fail() << "expected a sequence of tensors", failure();
  auto length = givenLengths.find(name);
  if (length == givenLengths.end())
    return fail()
               << "a sequence becomes an input for each element, so that its length must be known; give it, such as '"
               << name << "[]=3', or a shape for each element, such as '" << name << "[0]=2x3'",
           failure();
  // An input for each element.
  SmallVector<Value> elements;
  for (int64_t i = 0; i < length->second; ++i) {
    FailureOr<Value> value = importTensorInput(name + "[" + std::to_string(i) + "]", element.tensor_type());
    if (failed(value))
      return failure();
    elements.push_back(*value);
  }
  return makeSequence(builder, root, elements);
}

LogicalResult GraphImporter::importInputs(const onnx::GraphProto &graph, Scope &scope) {
  for (const onnx::ValueInfoProto &input : graph.input()) {
    if (scope.initializers.count(input.name()))
      continue; // Its value is given: a parameter.
    if (input.name().empty() || scope.values.count(input.name()))
      return error() << "input '" << input.name() << "': expected a name that no other input has", failure();
    FailureOr<Value> value = importInput(input.name(), input.type());
    if (failed(value))
      return failure();
    scope.values[input.name()] = *value;
  }
  return success();
}

LogicalResult GraphImporter::fixInputs(const onnx::GraphProto &graph, Scope &scope) {
  for (const auto &given : options.inputValues) {
    const std::string &name = given.first;
    const TensorValue &value = given.second;
    auto input =
        llvm::find_if(graph.input(), [&](const onnx::ValueInfoProto &candidate) { return candidate.name() == name; });
    if (input == graph.input().end())
      return error() << "a value is given for '" << name << "', but the model has no input of this name", failure();
    Type element = elementTypeOf(static_cast<OnnxType>(input->type().tensor_type().elem_type()), context);
    if (element != value.getElementType())
      return error() << "input '" << name << "': expected a value of element type " << element << ", got "
                     << value.getElementType(),
             failure();
    scope.initializers[name] = value;
  }
  return success();
}

LogicalResult GraphImporter::addInitializers(const onnx::GraphProto &graph, Scope &scope) {
  auto add = [&](const std::string &name, FailureOr<TensorValue> value) -> LogicalResult {
    if (failed(value))
      return failure();
    if (name.empty() || !scope.initializers.insert({name, *value}).second)
      return error() << "initializer '" << name << "': expected a name that no other initializer has", failure();
    return success();
  };
  for (const onnx::TensorProto &tensor : graph.initializer())
    if (failed(add(tensor.name(), file.valueOf(tensor, "initializer '" + tensor.name() + "'", root))))
      return failure();
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer())
    if (failed(add(tensor.values().name(), file.valueOf(tensor, "initializer '" + tensor.values().name() + "'", root))))
      return failure();
  return success();
}

Value GraphImporter::materialize(StringRef name, const TensorValue &value) {
  Location location = NameLoc::get(StringAttr::get(context, name));
  auto type = RankedTensorType::get(value.getShape(), value.getElementType());
  int64_t limit = isFloatElement(value.getElementType()) ? options.maxConstantFloats : options.maxConstantIntegers;
  if (value.getElementCount() <= limit) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&main.getBody().front());
    return ConstantOp::create(builder, location, type, value.toAttribute(type));
  }
  Value argument = main.getBody().addArgument(type, location);
  parameters.push_back({weights.addUnique(name, value), argument});
  facts.parameters[argument] = value;
  return argument;
}

Value GraphImporter::lookUp(StringRef name, Scope &scope) {
  for (Scope *place = &scope; place; place = place->parent) {
    auto value = place->values.find(name);
    if (value != place->values.end())
      return value->second;
    auto initializer = place->initializers.find(name);
    if (initializer != place->initializers.end())
      return place->values[name] = materialize(name, initializer->second);
  }
  return {};
}

bool GraphImporter::isDefined(StringRef name, const Scope &scope) const {
  for (const Scope *place = &scope; place; place = place->parent)
    if (place->values.count(name) || place->initializers.count(name) || place->absent.contains(name))
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

LogicalResult GraphImporter::importNodes(const NodeList &nodes, Scope &scope) {
  auto fail = [&](const std::string &message) { emitError(root) << message; };
  FailureOr<SmallVector<int>> order = orderNodes(nodes, [&](StringRef name) { return isDefined(name, scope); }, fail);
  if (failed(order))
    return failure();
  for (int index : *order)
    if (failed(importNode(nodes.Get(index), scope)))
      return failure();
  return success();
}

LogicalResult GraphImporter::importNode(const onnx::NodeProto &proto, Scope &scope) {
  std::string domain = canonicalDomain(proto.domain()).str();
  std::string name = proto.name();
  if (name.empty())
    name = proto.op_type() + "_" + std::to_string(nodeCounts[proto.op_type()]++);
  name = scope.prefix + name;
  int64_t opset = scope.opsets[domain];
  std::string subject = "node '" + name + "' (" + (domain.empty() ? "" : domain + ".") + proto.op_type() + ", opset " +
                        std::to_string(opset) + ")";
  Builder nodeBuilder(builder, NameLoc::get(StringAttr::get(context, name)), facts, subject);
  Node node(*this, scope, proto, name, opset, nodeBuilder);
  if (node.failed())
    return failure();
  for (const std::string &input : proto.input()) {
    node.inputs.push_back(input.empty() ? Value() : lookUp(input, scope));
    if (!input.empty() && !node.inputs.back() && !isDefined(input, scope))
      return node.fail("input '" + input + "' is not a value of the graph");
    Value value = node.inputs.back();
    bool isTensor = !isSequence(value) && !isAbsentOptional(value);
    if (!isTensor && !takesSequences(proto.op_type()) && !findFunction(proto))
      return node.fail("input '" + input + "' is " +
                       (isSequence(value) ? "a sequence" : "an optional without a value") +
                       ", and the operator takes tensors");
  }

  if (const onnx::FunctionProto *function = findFunction(proto)) {
    if (failed(importCall(*function, node)))
      return failure();
  } else {
    if (failed(importByHandler(node, domain)))
      return failure();
  }

  for (int i = 0; i < proto.output_size(); ++i) {
    if (proto.output(i).empty())
      continue;
    if (!node.outputs[i])
      return node.fail("output " + std::to_string(i) + " ('" + proto.output(i) +
                       "') is not supported; export the model without a use of it");
    scope.values[proto.output(i)] = node.outputs[i];
    if (!scope.parent && scope.prefix.empty())
      topLevelValues.push_back({proto.output(i), node.outputs[i]});
  }
  return success();
}

LogicalResult GraphImporter::importByHandler(Node &node, StringRef domain) {
  const onnx::NodeProto &proto = node.getProto();
  if (const OnnxOperator *op = domain.empty() ? findOnnxOperator(proto.op_type()) : nullptr) {
    int inputCount = proto.input_size(), outputCount = proto.output_size();
    if (inputCount < op->minInputs || inputCount > op->maxInputs)
      return node.fail("expected " + std::to_string(op->minInputs) + " to " + std::to_string(op->maxInputs) +
                       " inputs, got " + std::to_string(inputCount));
    if (outputCount < op->minOutputs || outputCount > op->maxOutputs)
      return node.fail("expected " + std::to_string(op->minOutputs) + " to " + std::to_string(op->maxOutputs) +
                       " outputs, got " + std::to_string(outputCount));
    // Of any number of inputs none may be absent (Loop's trip count and condition may, and Scan's lengths).
    int required = op->maxInputs == OnnxOperator::kMany ? inputCount : op->minInputs;
    if (proto.op_type() == "Loop" || proto.op_type() == "Scan")
      required = 0;
    for (int i = 0; i < required; ++i)
      if (!node.has(i))
        return node.fail("input " + std::to_string(i) + " is required, but it is absent");
  }
  const Handler *handler = handlers.find(domain, proto.op_type(), node.opset());
  if (!handler)
    return node.fail("Weft has no importer for this operator");
  if (failed((*handler)(node)) || node.failed())
    return failure();
  SmallVector<std::string> unused = node.unusedAttributes();
  if (!unused.empty())
    return node.fail("attribute '" + unused[0] +
                     "' is not one that Weft knows of this operator in this opset; remove it or correct the opset");
  return success();
}

FailureOr<SmallVector<Value>> GraphImporter::importOperator(const onnx::NodeProto &proto, ArrayRef<Value> inputs,
                                                            Scope &scope) {
  std::string domain = canonicalDomain(proto.domain()).str();
  auto known = scope.opsets.find(domain);
  int64_t opset = known != scope.opsets.end() ? known->second : domain.empty() ? kNewestOnnxOpset : 1;
  std::string subject = "node '" + proto.name() + "' (" + (domain.empty() ? "" : domain + ".") + proto.op_type() +
                        ", opset " + std::to_string(opset) + ")";
  Builder nodeBuilder(builder, NameLoc::get(StringAttr::get(context, proto.name())), facts, subject);
  Node node(*this, scope, proto, proto.name(), opset, nodeBuilder);
  node.inputs.assign(inputs.begin(), inputs.end());
  if (depth >= kMostNestedCalls) {
    node.error() << "lowerings build operators more than " << kMostNestedCalls
                 << " deep; one must not build its own operator";
    return failure();
  }
  ++depth;
  LogicalResult imported = node.failed() ? failure() : importByHandler(node, domain);
  --depth;
  if (failed(imported))
    return failure();
  for (auto [i, output] : llvm::enumerate(node.outputs))
    if (!output) {
      node.error() << "output " << i << " is not supported";
      return failure();
    }
  return node.outputs;
}

FailureOr<SmallVector<Value>> GraphImporter::importSubgraph(const onnx::GraphProto &graph, Scope &around,
                                                            ArrayRef<Value> given) {
  Scope scope(&around);
  if (graph.input_size() != static_cast<int>(given.size()))
    return error() << "subgraph '" << graph.name() << "': expected " << given.size() << " inputs, got "
                   << graph.input_size(),
           failure();
  for (auto [i, value] : llvm::enumerate(given))
    scope.values[graph.input(i).name()] = value;
  if (failed(addInitializers(graph, scope)) || failed(importNodes(graph.node(), scope)))
    return failure();
  SmallVector<Value> results;
  for (const onnx::ValueInfoProto &output : graph.output()) {
    Value value = lookUp(output.name(), scope);
    if (!value)
      return error() << "subgraph '" << graph.name() << "': output '" << output.name() << "' is not a value of it",
             failure();
    results.push_back(value);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

const onnx::FunctionProto *GraphImporter::findFunction(const onnx::NodeProto &node) const {
  for (const onnx::FunctionProto &function : model().functions())
    if (function.name() == node.op_type() && canonicalDomain(function.domain()) == canonicalDomain(node.domain()) &&
        overloadOf(function) == overloadOf(node))
      return &function;
  return nullptr;
}

LogicalResult GraphImporter::importCall(const onnx::FunctionProto &function, Node &node) {
  if (depth >= kMostNestedCalls)
    return node.fail("functions call each other more than " + std::to_string(kMostNestedCalls) +
                     " deep; a function must not call itself");
  const onnx::NodeProto &call = node.getProto();
  if (call.input_size() > function.input_size() || call.output_size() > function.output_size())
    return node.fail("the function takes " + std::to_string(function.input_size()) + " inputs and gives " +
                     std::to_string(function.output_size()) + " outputs, the node has " +
                     std::to_string(call.input_size()) + " and " + std::to_string(call.output_size()));
  Scope scope(nullptr);
  if (failed(checkOpsets(function.opset_import(), scope)))
    return failure();
  scope.prefix = node.name().str() + "/";
  for (int i = 0; i < function.input_size(); ++i) {
    if (Value value = node.input(i))
      scope.values[function.input(i)] = value;
    else
      scope.absent.insert(function.input(i));
  }
  for (const std::string &name : function.attribute())
    if (const onnx::AttributeProto *value = node.attribute(name))
      scope.attributes[name] = value;
  // They live as long as the scope, which names them.
  std::vector<std::shared_ptr<const onnx::AttributeProto>> defaults = defaultAttributes(function);
  for (const auto &fallback : defaults) {
    const onnx::AttributeProto *value = node.attribute(fallback->name());
    scope.attributes[fallback->name()] = value ? value : fallback.get();
  }
  ++depth;
  LogicalResult imported = importNodes(function.node(), scope);
  --depth;
  if (failed(imported))
    return failure();
  for (int i = 0; i < call.output_size(); ++i) {
    if (!node.wants(i))
      continue;
    Value value = lookUp(function.output(i), scope);
    if (!value)
      return node.fail("the function's output '" + function.output(i) + "' is not a value of its body");
    if (failed(node.output(i, value)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Support
//===----------------------------------------------------------------------===//

LogicalResult GraphImporter::checkOpsets(const OpsetList &imports, Scope &scope) {
  for (const onnx::OperatorSetIdProto &import : imports) {
    std::string domain = canonicalDomain(import.domain()).str();
    if (domain.empty() && (import.version() < kOldestOnnxOpset || import.version() > kNewestOnnxOpset))
      return error() << "the model is made for opset " << import.version() << "; Weft knows opsets " << kOldestOnnxOpset
                     << " to " << kNewestOnnxOpset << ". Convert it, for instance with onnx.version_converter",
             failure();
    scope.opsets[domain] = import.version();
  }
  return success();
}

/// Operators without an importer, in order of first use.
struct GraphImporter::Unsupported {
  struct Entry {
    std::string what;
    unsigned count = 0;
    SmallVector<std::string> nodes;
  };
  llvm::MapVector<std::string, Entry, std::map<std::string, unsigned>> entries;
  llvm::SmallPtrSet<const onnx::FunctionProto *, 8> visited;
};

void GraphImporter::collectUnsupported(const NodeList &nodes, const std::map<std::string, int64_t> &opsets,
                                       Unsupported &found) {
  for (const onnx::NodeProto &node : nodes) {
    std::string domain = canonicalDomain(node.domain()).str();
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g())
        collectUnsupported(attribute.g().node(), opsets, found);
      for (const onnx::GraphProto &graph : attribute.graphs())
        collectUnsupported(graph.node(), opsets, found);
    }
    if (const onnx::FunctionProto *function = findFunction(node)) {
      if (found.visited.insert(function).second) {
        std::map<std::string, int64_t> own;
        for (const onnx::OperatorSetIdProto &import : function->opset_import())
          own[canonicalDomain(import.domain()).str()] = import.version();
        collectUnsupported(function->node(), own, found);
      }
      continue;
    }
    auto opset = opsets.find(domain);
    const OnnxOperator *op = domain.empty() ? findOnnxOperator(node.op_type()) : nullptr;
    std::string reason;
    if (opset == opsets.end())
      reason = "the model imports no opset of this domain";
    else if (!handlers.knows(domain, node.op_type()))
      reason = worksOnStrings(node.op_type()) ? "works on strings, which Weft does not have"
               : domain.empty() && !op        ? "not an operator of ONNX"
               : domain == kLearningDomain    ? whyNotLearning(node.op_type()).str()
                                              : "";
    else if (!handlers.find(domain, node.op_type(), opset->second) || (op && op->versionIn(opset->second) == 0))
      reason = "not in this opset";
    else
      continue;
    std::string what = (domain.empty() ? "" : domain + ".") + node.op_type() + ", opset " +
                       (opset == opsets.end() ? "unknown" : std::to_string(opset->second)) +
                       (reason.empty() ? "" : " (" + reason + ")");
    Unsupported::Entry &entry = found.entries[what];
    entry.what = what;
    ++entry.count;
    if (entry.nodes.size() < 4)
      entry.nodes.push_back(node.name().empty() && node.output_size() ? "of " + node.output(0) : node.name());
  }
}

LogicalResult GraphImporter::checkSupport(const Scope &scope) {
  Unsupported found;
  collectUnsupported(model().graph().node(), scope.opsets, found);
  if (found.entries.empty())
    return success();
  InFlightDiagnostic diagnostic = error() << "the model uses operators that Weft cannot import:";
  for (const auto &[key, entry] : found.entries) {
    diagnostic << "\n  " << entry.what << ": " << entry.count << (entry.count == 1 ? " node" : " nodes") << " (";
    llvm::interleaveComma(entry.nodes, diagnostic, [&](const std::string &name) { diagnostic << "'" << name << "'"; });
    diagnostic << (entry.count > entry.nodes.size() ? ", ...)" : ")");
  }
  diagnostic << "\nExport the model without them (decomposed into other operators, or in another opset), or add an "
                "importer: docs/HowToAddAnOp.md says how";
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

LogicalResult GraphImporter::makeStates(ArrayRef<std::pair<std::string, Value>> results) {
  auto known = [](const auto &list) {
    return llvm::join(llvm::map_range(list, [](const auto &entry) { return "'" + entry.first + "'"; }), ", ");
  };
  for (const auto &[from, to] : options.states) {
    auto named = [](const std::string &name) { return [&name](const auto &entry) { return entry.first == name; }; };
    auto input = llvm::find_if(inputs, named(from));
    if (input == inputs.end())
      return error() << "state '" << from << "=" << to << "': there is no input '" << from << "'; the model has "
                     << known(inputs);
    auto result = llvm::find_if(results, named(to));
    if (result == results.end())
      return error() << "state '" << from << "=" << to << "': there is no output '" << to << "'; the model has "
                     << known(results);
    unsigned argument = cast<BlockArgument>(input->second).getArgNumber(), index = result - results.begin();
    if (!main.getArgAttr(argument, GraphDialect::kInputName) || !main.getResultAttr(index, GraphDialect::kOutputName))
      return error() << "state '" << from << "=" << to << "': one of the two belongs to another state already";
    auto type = cast<RankedTensorType>(input->second.getType());
    if (type != result->second.getType())
      return error() << "state '" << from << "=" << to << "': expected an output of the input's type " << type
                     << ", got " << result->second.getType();
    if (!type.hasStaticShape())
      return error() << "state '" << from << "=" << to << "': expected a static shape, got " << type
                     << "; fix its sizes with a shape";
    main.removeArgAttr(argument, GraphDialect::kInputName);
    main.setArgAttr(argument, GraphDialect::kStateName, builder.getStringAttr(from));
    main.removeResultAttr(index, builder.getStringAttr(GraphDialect::kOutputName));
    main.setResultAttr(index, GraphDialect::kStateName, builder.getStringAttr(from));
  }
  return success();
}

LogicalResult GraphImporter::finish(const onnx::GraphProto &graph, Scope &scope) {
  SmallVector<std::string> unknown = facts.symbols.unusedBounds();
  if (!unknown.empty()) {
    InFlightDiagnostic diagnostic = error() << "the model has no input and no symbolic size called '" << unknown[0]
                                            << "'; inputs: ";
    llvm::interleaveComma(inputs, diagnostic, [&](auto &input) { diagnostic << "'" << input.first << "'"; });
    diagnostic << "; symbolic sizes: ";
    SmallVector<std::string> names = facts.symbols.names();
    if (names.empty())
      diagnostic << "none";
    llvm::interleaveComma(names, diagnostic, [&](const std::string &name) { diagnostic << "'" << name << "'"; });
    return diagnostic;
  }
  SmallVector<std::pair<std::string, Value>> results;
  llvm::StringSet<> named;
  for (const onnx::ValueInfoProto &output : graph.output()) {
    Value value = lookUp(output.name(), scope);
    if (!value)
      return error() << "output '" << output.name() << "' is not a value of the graph", failure();
    if (!named.insert(output.name()).second)
      return error() << "output '" << output.name() << "' is listed twice", failure();
    if (isAbsentOptional(value))
      return error() << "output '" << output.name()
                     << "' is an optional without a value; a compiled model gives tensors",
             failure();
    if (!isSequence(value)) {
      results.push_back({output.name(), value});
      continue;
    }
    // An output for each element.
    for (auto [i, element] : llvm::enumerate(elementsOf(value)))
      results.push_back({output.name() + "[" + std::to_string(i) + "]", element});
  }
  if (results.empty())
    return error() << "the graph has no outputs", failure();
  if (options.keepAllValues)
    for (const auto &[name, value] : topLevelValues)
      if (isa<RankedTensorType>(value.getType()) && named.insert(name).second)
        results.push_back({name, value});
  SmallVector<Value> returned = llvm::map_to_vector(results, [](auto &result) { return result.second; });
  func::ReturnOp::create(builder, root, returned);
  eraseDead(main.getBody());
  if (eraseUnusedBindings(main))
    eraseDead(main.getBody());

  // Parameters of which nothing was left.
  Block &entry = main.getBody().front();
  for (size_t i = parameters.size(); i-- > 0;)
    if (parameters[i].second.use_empty()) {
      weights.erase(parameters[i].first);
      entry.eraseArgument(cast<BlockArgument>(parameters[i].second).getArgNumber());
      parameters.erase(parameters.begin() + i);
    }
  main.setType(builder.getFunctionType(entry.getArgumentTypes(), ValueRange(returned).getTypes()));
  auto name = [&](const std::string &text) { return builder.getStringAttr(text); };
  for (const auto &[text, value] : inputs)
    main.setArgAttr(cast<BlockArgument>(value).getArgNumber(), GraphDialect::kInputName, name(text));
  for (const auto &[text, value] : parameters)
    main.setArgAttr(cast<BlockArgument>(value).getArgNumber(), GraphDialect::kParamName, name(text));
  for (auto [i, result] : llvm::enumerate(results))
    main.setResultAttr(i, GraphDialect::kOutputName, name(result.first));
  if (failed(makeStates(results)))
    return failure();

  builder.setInsertionPoint(main);
  facts.symbols.declare(builder, root);
  return verify(*module);
}

} // namespace weft::importer
