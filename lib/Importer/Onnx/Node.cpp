//===- Node.cpp - One node of an ONNX graph, as its importer sees it -----------------------------===//

#include "lib/Importer/Onnx/Node.h"
#include "lib/Importer/Onnx/GraphImporter.h"
#include "lib/Support/Onnx/onnx.pb.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using weft::graph::Dim;
using weft::graph::TensorValue;

namespace weft::importer {

Node::Node(GraphImporter &importer, Scope &scope, const onnx::NodeProto &proto, std::string name, int64_t opset,
           Builder &builder)
    : b(builder), importer(importer), scope(scope), proto(proto), type(proto.op_type()), nodeName(std::move(name)),
      opsetVersion(opset), outputs(proto.output_size()) {
  llvm::StringSet<> seen;
  for (const onnx::AttributeProto &attribute : proto.attribute()) {
    if (!seen.insert(attribute.name()).second)
      error() << "attribute '" << attribute.name() << "' is given twice; remove one";
    const onnx::AttributeProto *value = &attribute;
    if (!attribute.ref_attr_name().empty()) {
      value = scope.attributes.lookup(attribute.ref_attr_name());
      if (!value)
        continue; // The call does not give it: absent here too.
    }
    attributes.push_back({attribute.name(), value});
  }
}

InFlightDiagnostic Node::error() {
  hasFailed = true;
  return b.error();
}

LogicalResult Node::fail(const llvm::Twine &message) {
  error() << message;
  return failure();
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

StringRef Node::inputName(int64_t index) const {
  return index < proto.input_size() ? StringRef(proto.input(static_cast<int>(index))) : StringRef();
}

std::string Node::sourcesOf(Value value) const {
  constexpr size_t kMostVisited = 1 << 14, kMostNamed = 8;
  llvm::SetVector<Value> visited;
  llvm::SetVector<StringRef> names;
  visited.insert(value);
  for (size_t i = 0; i < visited.size() && visited.size() < kMostVisited; ++i) {
    Value source = visited[i];
    if (Operation *op = source.getDefiningOp()) {
      op->walk([&](Operation *inner) { visited.insert(inner->operand_begin(), inner->operand_end()); });
      continue;
    }
    // A parameter is no data; an argument of a region has a value from outside, which is visited too.
    auto name = dyn_cast<NameLoc>(source.getLoc());
    bool isInput = isa<func::FuncOp>(source.getParentBlock()->getParentOp()) && !b.facts.parameters.count(source);
    if (name && isInput)
      names.insert(name.getName().getValue());
  }
  if (names.empty() || names.size() > kMostNamed)
    return "the model's inputs";
  return (names.size() == 1 ? "input '" : "inputs '") + llvm::join(names, "', '") + "'";
}

std::string Node::sizeName(int64_t index, int64_t dimension) const {
  std::string name = wants(index) ? proto.output(static_cast<int>(index)) : nodeName;
  return name + "_dim" + std::to_string(dimension);
}

bool Node::expectIntegers(int64_t index, StringRef what) {
  if (!has(index))
    error() << "expected input " << index << " (" << what << ")";
  else if (!isa<IntegerType>(b.element(input(index))))
    error() << "expected integers as " << what << ", got " << b.element(input(index));
  else
    return true;
  return false;
}

std::optional<SmallVector<Dim>> Node::knownSizes(Value value) {
  if (const KnownElements::Elements *elements = b.facts.elements.get(value))
    return SmallVector<Dim>(*elements);
  std::optional<TensorValue> known = b.contents(value);
  if (!known || known->getElementCount() > (1 << 20))
    return std::nullopt;
  SmallVector<Dim> elements;
  for (int64_t i = 0; i < known->getElementCount(); ++i)
    elements.push_back(b.size(known->getInteger(i)));
  return elements;
}

std::optional<SmallVector<Dim>> Node::sizesOrBound(int64_t index, StringRef what, int64_t firstDimension) {
  constexpr Interval kDefaultBounds{0, 4096};
  if (!expectIntegers(index, what))
    return std::nullopt;
  if (std::optional<SmallVector<Dim>> known = knownSizes(input(index)))
    return known;
  Dim count = graph::getElementCount(input(index).getType());
  if (!count.isConstant() || b.rank(input(index)) > 1)
    return sizes(index, what);
  SmallVector<Dim> elements;
  Value vector = b.reshape(input(index), count);
  for (int64_t i = 0; i < count.getConstant(); ++i) {
    Value element = b.takeOne(vector, 0, i);
    std::optional<SmallVector<Dim>> known = element ? knownSizes(element) : std::nullopt;
    std::optional<Dim> size =
        known ? (*known)[0] : b.runtimeSize(element, sizeName(0, firstDimension + i), kDefaultBounds);
    if (!size)
      return std::nullopt;
    elements.push_back(*size);
  }
  return elements;
}

std::optional<SmallVector<Dim>> Node::sizes(int64_t index, StringRef what) {
  if (!expectIntegers(index, what))
    return std::nullopt;
  std::optional<SmallVector<Dim>> elements = knownSizes(input(index));
  if (!elements) {
    error()
        << "input '" << inputName(index) << "' gives " << what
        << " and must be known at compile time, but it is computed from the data of " << sourcesOf(input(index))
        << "; make it a constant or an expression of the inputs' sizes (a shape given for the inputs may be enough)";
  }
  return elements;
}

std::optional<SmallVector<int64_t>> Node::integers(int64_t index, StringRef what) {
  std::optional<SmallVector<Dim>> dims = sizes(index, what);
  if (!dims)
    return std::nullopt;
  SmallVector<int64_t> values;
  for (const Dim &dim : *dims) {
    if (!dim.isConstant()) {
      error() << "input '" << inputName(index) << "' gives " << what << " and must be constant, but it holds the size "
              << dim << "; give the inputs a shape without that symbol";
      return std::nullopt;
    }
    values.push_back(dim.getConstant());
  }
  return values;
}

std::optional<TensorValue> Node::constant(int64_t index, StringRef what) {
  if (!has(index)) {
    error() << "expected input " << index << " (" << what << ")";
    return std::nullopt;
  }
  if (std::optional<TensorValue> value = b.contents(input(index)))
    return value;
  error() << "input '" << inputName(index) << "' gives " << what
          << " and must be a constant, but it is computed when the model runs from the data of "
          << sourcesOf(input(index));
  return std::nullopt;
}

bool Node::expectRank(int64_t index, int64_t rank) {
  if (has(index) && b.rank(input(index)) == rank)
    return true;
  if (!has(index))
    error() << "expected input " << index;
  else
    error() << "expected input '" << inputName(index) << "' of rank " << rank << ", got rank " << b.rank(input(index));
  return false;
}

bool Node::expectRankAtLeast(int64_t index, int64_t rank) {
  if (has(index) && b.rank(input(index)) >= rank)
    return true;
  if (!has(index))
    error() << "expected input " << index;
  else
    error() << "expected input '" << inputName(index) << "' of rank " << rank << " or more, got rank "
            << b.rank(input(index));
  return false;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const onnx::AttributeProto *Node::find(StringRef name) const {
  for (const auto &[key, attribute] : attributes)
    if (key == name)
      return attribute;
  return nullptr;
}

const onnx::AttributeProto *Node::attribute(StringRef name) {
  used.insert(name);
  return find(name);
}

const onnx::AttributeProto *Node::typed(StringRef name, int type, StringRef typeName) {
  const onnx::AttributeProto *found = attribute(name);
  // Files from before IR version 2 give no type.
  if (found && found->has_type() && found->type() != type) {
    error() << "attribute '" << name << "': expected " << typeName << ", got type "
            << onnx::AttributeProto::AttributeType_Name(found->type()) << "; correct the model";
    return nullptr;
  }
  return found;
}

int64_t Node::integer(StringRef name, int64_t fallback) {
  const onnx::AttributeProto *found = typed(name, onnx::AttributeProto::INT, "an integer");
  return found ? found->i() : fallback;
}

int64_t Node::requiredInteger(StringRef name) {
  if (!find(name))
    error() << "attribute '" << name << "' is missing; expected an integer";
  return integer(name, 0);
}

double Node::real(StringRef name, double fallback) {
  const onnx::AttributeProto *found = typed(name, onnx::AttributeProto::FLOAT, "a float");
  return found ? found->f() : fallback;
}

std::string Node::string(StringRef name, StringRef fallback) {
  const onnx::AttributeProto *found = typed(name, onnx::AttributeProto::STRING, "a string");
  return found ? found->s() : fallback.str();
}

SmallVector<int64_t> Node::integerList(StringRef name, ArrayRef<int64_t> fallback) {
  const onnx::AttributeProto *found = typed(name, onnx::AttributeProto::INTS, "a list of integers");
  return found ? SmallVector<int64_t>(found->ints().begin(), found->ints().end()) : SmallVector<int64_t>(fallback);
}

SmallVector<double> Node::realList(StringRef name, ArrayRef<double> fallback) {
  const onnx::AttributeProto *found = typed(name, onnx::AttributeProto::FLOATS, "a list of floats");
  return found ? SmallVector<double>(found->floats().begin(), found->floats().end()) : SmallVector<double>(fallback);
}

SmallVector<std::string> Node::stringList(StringRef name, ArrayRef<std::string> fallback) {
  const onnx::AttributeProto *found = typed(name, onnx::AttributeProto::STRINGS, "a list of strings");
  return found ? SmallVector<std::string>(found->strings().begin(), found->strings().end())
               : SmallVector<std::string>(fallback);
}

std::optional<TensorValue> Node::tensor(StringRef name) {
  const onnx::AttributeProto *found = typed(name, onnx::AttributeProto::TENSOR, "a tensor");
  if (!found)
    return std::nullopt;
  FailureOr<TensorValue> value =
      importer.tensorOf(found->t(), b.subject + ": attribute '" + name.str() + "'", b.location);
  hasFailed |= mlir::failed(value);
  return succeeded(value) ? std::optional(*value) : std::nullopt;
}

const onnx::GraphProto *Node::graph(StringRef name) {
  const onnx::AttributeProto *found = typed(name, onnx::AttributeProto::GRAPH, "a graph");
  if (!found && !hasFailed)
    error() << "attribute '" << name << "' is missing; expected a graph";
  return found ? &found->g() : nullptr;
}

int64_t Node::axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    error() << "expected an axis in [" << -rank << ", " << rank << "), got " << axis;
    return 0;
  }
  return axis < 0 ? axis + rank : axis;
}

SmallVector<int64_t> Node::axes(ArrayRef<int64_t> given, int64_t rank) {
  SmallVector<int64_t> result;
  for (int64_t value : given) {
    int64_t position = axis(value, rank);
    if (hasFailed)
      return {};
    if (llvm::is_contained(result, position)) {
      error() << "axis " << value << " is given twice";
      return {};
    }
    result.push_back(position);
  }
  return result;
}

SmallVector<std::string> Node::unusedAttributes() const {
  SmallVector<std::string> unused;
  for (const auto &[name, attribute] : attributes)
    if (!used.contains(name))
      unused.push_back(name.str());
  return unused;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

bool Node::wants(int64_t index) const {
  return index < proto.output_size() && !proto.output(static_cast<int>(index)).empty();
}

LogicalResult Node::output(int64_t index, Value value) {
  if (!value) {
    hasFailed = true;
    return failure();
  }
  if (index < outputCount())
    outputs[index] = value;
  return success();
}

} // namespace weft::importer
