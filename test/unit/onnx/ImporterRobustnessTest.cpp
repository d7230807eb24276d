//===- ImporterRobustnessTest.cpp - Damaged models give errors, never a crash ----------------------===//

#include "lib/Importer/Onnx/OnnxImporter.h"
#include "lib/Support/Onnx/onnx.pb.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>
#include <random>

namespace {

struct Outcome {
  bool imported = false;
  std::string errors;
};

Outcome import(const std::string &bytes, const weft::OnnxImportOptions &options = {}) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Outcome outcome;
  mlir::ScopedDiagnosticHandler collect(&context, [&](mlir::Diagnostic &diagnostic) {
    llvm::raw_string_ostream(outcome.errors) << diagnostic << "\n";
    return mlir::success();
  });
  weft::WeightStore weights;
  outcome.imported =
      static_cast<bool>(weft::importOnnxBuffer({bytes.data(), bytes.size()}, "model.onnx", context, weights, options));
  return outcome;
}

void addInput(onnx::GraphProto &graph, const std::string &name, int type, std::vector<int64_t> dims,
              const std::string &batch = "") {
  onnx::ValueInfoProto &input = *graph.add_input();
  input.set_name(name);
  auto &tensor = *input.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  tensor.mutable_shape();
  if (!batch.empty())
    tensor.mutable_shape()->add_dim()->set_dim_param(batch);
  for (int64_t dim : dims)
    tensor.mutable_shape()->add_dim()->set_dim_value(dim);
}

onnx::NodeProto &addNode(onnx::GraphProto &graph, const std::string &op, std::vector<std::string> inputs,
                         std::vector<std::string> outputs) {
  onnx::NodeProto &node = *graph.add_node();
  node.set_op_type(op);
  node.set_name(op + "_node_" + std::to_string(graph.node_size()));
  for (const std::string &input : inputs)
    node.add_input(input);
  for (const std::string &output : outputs)
    node.add_output(output);
  return node;
}

void addIntegers(onnx::NodeProto &node, const std::string &name, std::vector<int64_t> values) {
  onnx::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (int64_t value : values)
    attribute.add_ints(value);
}

void addInitializer(onnx::GraphProto &graph, const std::string &name, std::vector<int64_t> dims, float value) {
  onnx::TensorProto &tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  int64_t count = 1;
  for (int64_t dim : dims) {
    tensor.add_dims(dim);
    count *= dim;
  }
  for (int64_t i = 0; i < count; ++i)
    tensor.add_float_data(value);
}

void addShape(onnx::GraphProto &graph, const std::string &name, std::vector<int64_t> values) {
  onnx::TensorProto &tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(values.size());
  std::string bytes(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(int64_t));
  tensor.set_raw_data(bytes);
}

/// A small model with many kinds of nodes: a convolution, a pooling, shape arithmetic, a branch, a function call.
onnx::ModelProto makeModel() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  onnx::OperatorSetIdProto &own = *model.add_opset_import();
  own.set_domain("custom");
  own.set_version(1);
  onnx::GraphProto &graph = *model.mutable_graph();
  graph.set_name("g");
  addInput(graph, "x", onnx::TensorProto::FLOAT, {3, 8, 8}, "batch");
  addInput(graph, "flag", onnx::TensorProto::BOOL, {});
  addInitializer(graph, "w", {4, 3, 3, 3}, 0.5f);
  addShape(graph, "flat", {0, -1});
  addShape(graph, "zero", {0});
  addShape(graph, "columns", {36});
  onnx::NodeProto &convolution = addNode(graph, "Conv", {"x", "w"}, {"c"});
  addIntegers(convolution, "pads", {1, 1, 1, 1});
  addIntegers(convolution, "strides", {1, 1});
  onnx::NodeProto &pool = addNode(graph, "MaxPool", {"c"}, {"p"});
  addIntegers(pool, "kernel_shape", {3, 3});
  addIntegers(pool, "strides", {2, 2});
  addNode(graph, "Shape", {"p"}, {"s"});
  onnx::NodeProto &gather = addNode(graph, "Gather", {"s", "zero"}, {"n"});
  onnx::AttributeProto &axis = *gather.add_attribute();
  axis.set_name("axis");
  axis.set_type(onnx::AttributeProto::INT);
  axis.set_i(0);
  onnx::NodeProto &concat = addNode(graph, "Concat", {"n", "columns"}, {"shape"});
  onnx::AttributeProto &concatAxis = *concat.add_attribute();
  concatAxis.set_name("axis");
  concatAxis.set_type(onnx::AttributeProto::INT);
  concatAxis.set_i(0);
  addNode(graph, "Reshape", {"p", "shape"}, {"r"});
  addNode(graph, "Softmax", {"r"}, {"m"});
  onnx::NodeProto &branch = addNode(graph, "If", {"flag"}, {"chosen"});
  for (const char *side : {"then_branch", "else_branch"}) {
    onnx::AttributeProto &attribute = *branch.add_attribute();
    attribute.set_name(side);
    attribute.set_type(onnx::AttributeProto::GRAPH);
    onnx::GraphProto &inner = *attribute.mutable_g();
    inner.set_name(side);
    std::string value = std::string("inner_") + side;
    addNode(inner, side[0] == 't' ? "Relu" : "Neg", {"m"}, {value});
    inner.add_output()->set_name(value);
  }
  onnx::NodeProto &call = addNode(graph, "Twice", {"chosen"}, {"y"});
  call.set_domain("custom");
  onnx::FunctionProto &function = *model.add_functions();
  function.set_name("Twice");
  function.set_domain("custom");
  function.add_input("a");
  function.add_output("b");
  function.add_opset_import()->set_version(17);
  onnx::NodeProto &add = *function.add_node();
  add.set_op_type("Add");
  add.add_input("a");
  add.add_input("a");
  add.add_output("b");
  graph.add_output()->set_name("y");
  return model;
}

TEST(OnnxImporterRobustness, ImportsTheModelThatIsDamagedBelow) {
  Outcome outcome = import(makeModel().SerializeAsString());
  EXPECT_TRUE(outcome.imported) << outcome.errors;
}

TEST(OnnxImporterRobustness, EveryTruncationIsAnErrorOrAnotherModel) {
  std::string bytes = makeModel().SerializeAsString();
  for (size_t length = 0; length < bytes.size(); ++length) {
    Outcome outcome = import(bytes.substr(0, length));
    EXPECT_TRUE(outcome.imported || !outcome.errors.empty()) << "silent at " << length << " bytes";
  }
}

TEST(OnnxImporterRobustness, ChangedBytes) {
  std::string good = makeModel().SerializeAsString();
  std::mt19937 random(20);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = good;
    for (unsigned i = 0, count = 1 + random() % 4; i < count; ++i)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    Outcome outcome = import(bytes);
    EXPECT_TRUE(outcome.imported || !outcome.errors.empty()) << "silent in round " << round;
  }
}

/// Sets one number or name of the model to something else, keeping it a well-formed message.
void disturb(onnx::ModelProto &model, std::mt19937 &random) {
  static const int64_t kNumbers[] = {0,
                                     1,
                                     -1,
                                     2,
                                     3,
                                     7,
                                     -2,
                                     64,
                                     1 << 20,
                                     int64_t(1) << 40,
                                     int64_t(1) << 62,
                                     std::numeric_limits<int64_t>::min(),
                                     std::numeric_limits<int64_t>::max()};
  auto number = [&]() { return kNumbers[random() % std::size(kNumbers)]; };
  onnx::GraphProto &graph = *model.mutable_graph();
  onnx::NodeProto &node = *graph.mutable_node(random() % graph.node_size());
  switch (random() % 9) {
  case 0:
    if (node.attribute_size()) {
      onnx::AttributeProto &attribute = *node.mutable_attribute(random() % node.attribute_size());
      if (attribute.ints_size())
        attribute.set_ints(random() % attribute.ints_size(), number());
      else
        attribute.set_i(number());
    }
    break;
  case 1:
    if (node.attribute_size() && node.attribute(0).ints_size())
      node.mutable_attribute(0)->add_ints(number());
    break;
  case 2: {
    auto &shape =
        *graph.mutable_input(random() % graph.input_size())->mutable_type()->mutable_tensor_type()->mutable_shape();
    if (shape.dim_size())
      shape.mutable_dim(random() % shape.dim_size())->set_dim_value(number());
    break;
  }
  case 3: {
    onnx::TensorProto &tensor = *graph.mutable_initializer(random() % graph.initializer_size());
    tensor.set_dims(random() % tensor.dims_size(), number());
    break;
  }
  case 4: {
    static const char *kNames[] = {"x", "w", "c", "p", "s", "n", "shape", "r", "m", "y", "flag", "", "nowhere"};
    if (node.input_size())
      node.set_input(random() % node.input_size(), kNames[random() % std::size(kNames)]);
    break;
  }
  case 5: {
    static const char *kOps[] = {"Conv",   "Gemm",     "MatMul",    "Slice", "Pad",       "Resize",  "Concat",
                                 "Split",  "Tile",     "LSTM",      "TopK",  "Einsum",    "Squeeze", "Unsqueeze",
                                 "Expand", "GatherND", "ScatterND", "Loop",  "Reshape",   "Cast",    "Range",
                                 "OneHot", "CumSum",   "Where",     "LRN",   "Transpose", "Flatten"};
    node.set_op_type(kOps[random() % std::size(kOps)]);
    break;
  }
  case 6: {
    onnx::TensorProto &tensor = *graph.mutable_initializer(1 + random() % (graph.initializer_size() - 1));
    std::string bytes = tensor.raw_data();
    int64_t value = number();
    if (bytes.size() >= sizeof value)
      std::memcpy(bytes.data(), &value, sizeof value);
    tensor.set_raw_data(bytes);
    break;
  }
  case 7:
    graph.mutable_initializer(random() % graph.initializer_size())->set_data_type(static_cast<int>(random() % 28));
    break;
  default:
    node.add_input(graph.node(random() % graph.node_size()).output(0));
    break;
  }
}

TEST(OnnxImporterRobustness, ChangedNumbersAndNames) {
  std::mt19937 random(7);
  unsigned imported = 0;
  for (int round = 0; round < 3000; ++round) {
    onnx::ModelProto model = makeModel();
    for (unsigned i = 0, count = 1 + random() % 3; i < count; ++i)
      disturb(model, random);
    Outcome outcome = import(model.SerializeAsString());
    imported += outcome.imported;
    EXPECT_TRUE(outcome.imported || !outcome.errors.empty()) << "silent in round " << round;
  }
  EXPECT_GT(imported, 0u);
}

TEST(OnnxImporterRobustness, ShapeOptionsThatDoNotFit) {
  std::string bytes = makeModel().SerializeAsString();
  for (const char *option : {"x", "=3", "x=", "x=1x2", "x=1x3x8xfour=", "batch=a..b", "batch=9..3", "batch=-1",
                             "nowhere=3", "x=-1x3x8x8", "x=1x4x8x8", "x=1,3,8,8,8"}) {
    weft::OnnxImportOptions options;
    options.shapes = {option};
    Outcome outcome = import(bytes, options);
    EXPECT_FALSE(outcome.imported) << option;
    EXPECT_FALSE(outcome.errors.empty()) << option;
  }
  for (const char *option : {"x=2x3x8x8", "x=?x3x8x8", "batch=4", "batch=2..9", "x=n,3,8,8"}) {
    weft::OnnxImportOptions options;
    options.shapes = {option};
    Outcome outcome = import(bytes, options);
    EXPECT_TRUE(outcome.imported) << option << ": " << outcome.errors;
  }
}

} // namespace
