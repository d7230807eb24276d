//===- GraphBuilder.cpp - Builds the nodes of an ONNX graph --------------------------------------===//

#include "lib/Exporter/Onnx/GraphBuilder.h"
#include "lib/Support/Onnx/ElementTypes.h"
#include "lib/Support/Onnx/onnx.pb.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using weft::graph::Dim;
using weft::graph::TensorValue;

namespace weft::exporter {

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

Attributes &Attributes::set(const std::string &name, int64_t value) {
  auto attribute = std::make_shared<onnx::AttributeProto>();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INT);
  attribute->set_i(value);
  attributes.push_back(std::move(attribute));
  return *this;
}

Attributes &Attributes::set(const std::string &name, ArrayRef<int64_t> values) {
  auto attribute = std::make_shared<onnx::AttributeProto>();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INTS);
  for (int64_t value : values)
    attribute->add_ints(value);
  attributes.push_back(std::move(attribute));
  return *this;
}

Attributes &Attributes::set(const std::string &name, StringRef value) {
  auto attribute = std::make_shared<onnx::AttributeProto>();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::STRING);
  attribute->set_s(value.str());
  attributes.push_back(std::move(attribute));
  return *this;
}

Attributes &Attributes::set(const std::string &name, const onnx::GraphProto &graph) {
  auto attribute = std::make_shared<onnx::AttributeProto>();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::GRAPH);
  *attribute->mutable_g() = graph;
  attributes.push_back(std::move(attribute));
  return *this;
}

void Attributes::addTo(onnx::NodeProto &node) const {
  for (const auto &attribute : attributes)
    *node.add_attribute() = *attribute;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

void GraphBuilder::setOperation(Operation *op) {
  nodeName = op->getName().stripDialect().str();
  if (auto name = dyn_cast<NameLoc>(op->getLoc()))
    nodeName = name.getName().str();
}

Name GraphBuilder::unique(StringRef wanted, llvm::StringSet<> &taken) {
  std::string base = wanted.empty() ? "value" : wanted.str(), name = base;
  while (!taken.insert(name).second)
    name = base + "_" + std::to_string(++counters[base]);
  return name;
}

void GraphBuilder::namedNode(StringRef opType, ArrayRef<Name> inputs, ArrayRef<Name> outputs,
                             const Attributes &attributes) {
  onnx::NodeProto &node = *graph->add_node();
  node.set_op_type(opType.str());
  node.set_name(unique(nodeName, takenNodes));
  for (const Name &input : inputs)
    node.add_input(input);
  for (const Name &output : outputs)
    node.add_output(output);
  attributes.addTo(node);
}

SmallVector<Name> GraphBuilder::nodes(StringRef opType, ArrayRef<Name> inputs, unsigned outputs,
                                      const Attributes &attributes) {
  SmallVector<Name> results;
  for (unsigned i = 0; i < outputs; ++i)
    results.push_back(uniqueName("v"));
  namedNode(opType, inputs, results, attributes);
  return results;
}

Name GraphBuilder::node(StringRef opType, ArrayRef<Name> inputs, const Attributes &attributes) {
  return nodes(opType, inputs, 1, attributes)[0];
}

Name GraphBuilder::cast(const Name &x, Type elementType) {
  return node("Cast", x, Attributes().set("to", static_cast<int64_t>(onnxTypeOf(elementType))));
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static void fill(onnx::TensorProto &tensor, const TensorValue &value) {
  tensor.set_data_type(static_cast<int32_t>(onnxTypeOf(value.getElementType())));
  for (int64_t size : value.getShape())
    tensor.add_dims(size);
  tensor.set_raw_data(value.getData(), value.getByteSize());
}

Name GraphBuilder::constant(const TensorValue &value) {
  Name name = uniqueName("c");
  onnx::NodeProto &node = *graph->add_node();
  node.set_op_type("Constant");
  node.set_name(unique(nodeName, takenNodes));
  node.add_output(name);
  onnx::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name("value");
  attribute.set_type(onnx::AttributeProto::TENSOR);
  fill(*attribute.mutable_t(), value);
  return name;
}

void GraphBuilder::initializer(const Name &name, const TensorValue &value) {
  onnx::TensorProto &tensor = *graph->add_initializer();
  tensor.set_name(name);
  fill(tensor, value);
}

Name GraphBuilder::integers(ArrayRef<int64_t> values) {
  TensorValue tensor(IntegerType::get(context, 64), {static_cast<int64_t>(values.size())});
  for (auto [i, value] : llvm::enumerate(values))
    tensor.setInteger(i, value);
  return constant(tensor);
}

Name GraphBuilder::integer(int64_t value) {
  TensorValue tensor(IntegerType::get(context, 64), {});
  tensor.setInteger(0, value);
  return constant(tensor);
}

Name GraphBuilder::scalar(Type elementType, double value) {
  TensorValue tensor(elementType, {});
  if (graph::isFloatElement(elementType))
    tensor.setFloat(0, value);
  else
    tensor.setInteger(0, static_cast<int64_t>(value));
  return constant(tensor);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Name GraphBuilder::size(const Dim &dim) {
  if (dim.isConstant())
    return integer(dim.getConstant());
  std::function<Name(AffineExpr)> walk = [&](AffineExpr expression) -> Name {
    if (auto value = dyn_cast<AffineConstantExpr>(expression))
      return integer(value.getValue());
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
      return symbols[dim.getSymbols()[symbol.getPosition()].str()];
    auto binary = mlir::cast<AffineBinaryOpExpr>(expression);
    Name lhs = walk(binary.getLHS()), rhs = walk(binary.getRHS());
    switch (binary.getKind()) {
    case AffineExprKind::Add:
      return node("Add", {lhs, rhs});
    case AffineExprKind::Mul:
      return node("Mul", {lhs, rhs});
    case AffineExprKind::Mod:
      return node("Mod", {lhs, rhs}); // The divisor's sign, which is positive: what `mod` means.
    case AffineExprKind::CeilDiv:
      lhs = node("Sub", {node("Add", {lhs, rhs}), integer(1)});
      [[fallthrough]];
    default:
      // Div rounds to zero: take off what makes the dividend no multiple first.
      return node("Div", {node("Sub", {lhs, node("Mod", {lhs, rhs})}), rhs});
    }
  };
  return walk(dim.getExpression());
}

Name GraphBuilder::shape(ArrayRef<Dim> dims) {
  bool isStatic = llvm::all_of(dims, [](const Dim &dim) { return dim.isConstant(); });
  if (isStatic)
    return integers(llvm::map_to_vector(dims, [](const Dim &dim) { return dim.getConstant(); }));
  SmallVector<Name> parts;
  for (const Dim &dim : dims)
    parts.push_back(node("Reshape", {size(dim), integers(1)}));
  return node("Concat", parts, Attributes().set("axis", int64_t(0)));
}

Name GraphBuilder::reshape(const Name &x, ArrayRef<Dim> dims) {
  return node("Reshape", {x, shape(dims)}, Attributes().set("allowzero", int64_t(1)));
}

Name GraphBuilder::expand(const Name &x, ArrayRef<Dim> dims) { return node("Expand", {x, shape(dims)}); }

Name GraphBuilder::transpose(const Name &x, ArrayRef<int64_t> permutation) {
  return llvm::is_sorted(permutation) ? x : node("Transpose", x, Attributes().set("perm", permutation));
}

Name GraphBuilder::ramp(ArrayRef<Dim> dims, unsigned dimension) {
  SmallVector<int64_t> shape(dims.size(), 1);
  shape[dimension] = -1;
  Name range = node("Range", {integer(0), size(dims[dimension]), integer(1)});
  if (dims[dimension].isConstant())
    shape[dimension] = dims[dimension].getConstant();
  return node("Reshape", {range, integers(shape)},
              Attributes().set("allowzero", int64_t(dims[dimension].isConstant())));
}

Name GraphBuilder::slice(const Name &x, ArrayRef<int64_t> starts, ArrayRef<int64_t> ends, ArrayRef<int64_t> axes,
                         ArrayRef<int64_t> steps) {
  return axes.empty() ? x : node("Slice", {x, integers(starts), integers(ends), integers(axes), integers(steps)});
}

void GraphBuilder::describe(onnx::ValueInfoProto &info, StringRef name, Type tensorType) {
  info.set_name(name.str());
  auto &type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(static_cast<int32_t>(onnxTypeOf(mlir::cast<RankedTensorType>(tensorType).getElementType())));
  auto &shape = *type.mutable_shape();
  for (const Dim &dim : graph::getDims(tensorType)) {
    auto &entry = *shape.add_dim();
    if (dim.isConstant()) {
      entry.set_dim_value(dim.getConstant());
      continue;
    }
    std::string text;
    llvm::raw_string_ostream(text) << dim;
    entry.set_dim_param(text);
  }
}

} // namespace weft::exporter
