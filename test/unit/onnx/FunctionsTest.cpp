//===- FunctionsTest.cpp - Functions of a model: defaults of attributes, overloads, absent inputs ----------===//
//
// Defaults and overloads are fields that the distribution's onnx.proto may not know: they are appended as bytes.

#include "lib/Importer/Onnx/OnnxImporter.h"
#include "lib/Support/Onnx/onnx.pb.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

namespace {

/// A field of a string or message as bytes of the wire format; both lengths are below 128.
std::string field(int number, const std::string &value) {
  return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(value.size()) + value;
}

std::string imported(const onnx::ModelProto &model) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string text;
  mlir::ScopedDiagnosticHandler collect(&context, [&](mlir::Diagnostic &diagnostic) {
    llvm::raw_string_ostream(text) << "error: " << diagnostic << "\n";
    return mlir::success();
  });
  weft::WeightStore weights;
  std::string bytes = model.SerializeAsString();
  auto module = weft::importOnnxBuffer({bytes.data(), bytes.size()}, "model.onnx", context, weights);
  llvm::raw_string_ostream stream(text);
  if (module)
    module->print(stream);
  return text;
}

onnx::NodeProto &addNode(google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes, const std::string &domain,
                         const std::string &op, std::vector<std::string> inputs, const std::string &output) {
  onnx::NodeProto &node = *nodes.Add();
  node.set_domain(domain);
  node.set_op_type(op);
  for (const std::string &input : inputs)
    node.add_input(input);
  node.add_output(output);
  return node;
}

/// A function `Slope` that is a LeakyRelu of attribute `steepness`.
onnx::FunctionProto &addSlope(onnx::ModelProto &model) {
  onnx::FunctionProto &function = *model.add_functions();
  function.set_name("Slope");
  function.set_domain("own");
  function.add_input("a");
  function.add_output("b");
  function.add_opset_import()->set_version(17);
  onnx::AttributeProto &alpha = *addNode(*function.mutable_node(), "", "LeakyRelu", {"a"}, "b").add_attribute();
  alpha.set_name("alpha");
  alpha.set_type(onnx::AttributeProto::FLOAT);
  alpha.set_ref_attr_name("steepness");
  return function;
}

onnx::ModelProto makeModel() {
  onnx::ModelProto model;
  model.set_ir_version(10);
  model.add_opset_import()->set_version(17);
  onnx::OperatorSetIdProto &own = *model.add_opset_import();
  own.set_domain("own");
  own.set_version(1);
  onnx::ValueInfoProto &input = *model.mutable_graph()->add_input();
  input.set_name("x");
  input.mutable_type()->mutable_tensor_type()->set_elem_type(1);
  input.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(2);
  model.mutable_graph()->add_output()->set_name("y");
  return model;
}

TEST(OnnxFunctions, AnAttributeThatACallLeavesOutHasItsDefault) {
  for (bool isGiven : {false, true}) {
    onnx::ModelProto model = makeModel();
    onnx::AttributeProto fallback;
    fallback.set_name("steepness");
    fallback.set_type(onnx::AttributeProto::FLOAT);
    fallback.set_f(0.25f);
    addSlope(model).mutable_unknown_fields()->append(field(11, fallback.SerializeAsString()));
    onnx::NodeProto &call = addNode(*model.mutable_graph()->mutable_node(), "own", "Slope", {"x"}, "y");
    if (isGiven) {
      *call.add_attribute() = fallback;
      call.mutable_attribute(0)->set_f(0.5f);
    }
    std::string text = imported(model);
    EXPECT_NE(text.find(isGiven ? "dense<5.000000e-01>" : "dense<2.500000e-01>"), std::string::npos) << text;
    EXPECT_EQ(text.find("error"), std::string::npos) << text;
  }
}

TEST(OnnxFunctions, AnOverloadIsToldFromTheOthers) {
  for (const char *wanted : {"first", "second"}) {
    onnx::ModelProto model = makeModel();
    for (const char *overload : {"first", "second"}) {
      onnx::FunctionProto &function = *model.add_functions();
      function.set_name("Choose");
      function.set_domain("own");
      function.add_input("a");
      function.add_output("b");
      function.add_opset_import()->set_version(17);
      addNode(*function.mutable_node(), "", std::string(overload) == "first" ? "Sin" : "Cos", {"a"}, "b");
      function.mutable_unknown_fields()->append(field(13, overload));
    }
    addNode(*model.mutable_graph()->mutable_node(), "own", "Choose", {"x"}, "y")
        .mutable_unknown_fields()
        ->append(field(8, wanted));
    std::string text = imported(model);
    bool isFirst = std::string(wanted) == "first";
    EXPECT_NE(text.find(isFirst ? "weft.sine" : "weft.cosine"), std::string::npos) << text;
    EXPECT_EQ(text.find(isFirst ? "weft.cosine" : "weft.sine"), std::string::npos) << text;
  }
}

TEST(OnnxFunctions, AnOverloadThatIsNotThereIsAnError) {
  onnx::ModelProto model = makeModel();
  addSlope(model);
  addNode(*model.mutable_graph()->mutable_node(), "own", "Slope", {"x"}, "y")
      .mutable_unknown_fields()
      ->append(field(8, "other"));
  std::string text = imported(model);
  EXPECT_NE(text.find("own.Slope, opset 1: 1 node"), std::string::npos) << text;
}

TEST(OnnxFunctions, AnInputLeftOutInTheMiddleIsAbsentInside) {
  onnx::ModelProto model = makeModel();
  onnx::FunctionProto &function = *model.add_functions();
  function.set_name("Limit");
  function.set_domain("own");
  for (const char *name : {"a", "low", "high"})
    function.add_input(name);
  function.add_output("b");
  function.add_opset_import()->set_version(17);
  addNode(*function.mutable_node(), "", "Clip", {"a", "low", "high"}, "b");
  onnx::TensorProto &high = *model.mutable_graph()->add_initializer();
  high.set_name("high");
  high.set_data_type(1);
  high.add_float_data(3);
  addNode(*model.mutable_graph()->mutable_node(), "own", "Limit", {"x", "", "high"}, "y");
  std::string text = imported(model);
  EXPECT_NE(text.find("weft.minimum"), std::string::npos) << text;
  EXPECT_EQ(text.find("weft.maximum"), std::string::npos) << text;
}

} // namespace
