//===- CustomOperators.cpp - Operators that programs and shared libraries register ---------------------===//

#include "lib/Importer/Onnx/CustomOperators.h"
#include "lib/Importer/Onnx/GraphImporter.h"
#include "lib/Support/Onnx/ElementTypes.h"
#include "lib/Support/Onnx/Opsets.h"
#include "lib/Support/Onnx/onnx.pb.h"
#include <cstring>
#include <deque>
#include <dlfcn.h>

using namespace mlir;
using namespace weft::graph;

/// What a lowering was given or has built, as long as it runs.
struct WeftLowering {
  explicit WeftLowering(weft::importer::Node &node) : node(node) {}

  weft::importer::Node &node;
  std::deque<std::string> texts;
  std::deque<llvm::SmallVector<int64_t>> integers;
  std::deque<llvm::SmallVector<double>> reals;
  unsigned built = 0;
};

namespace weft {

llvm::Error collectOperators(WeftRegisterOperators function, std::vector<CustomOperator> &operators) {
  WeftOperatorRegistry registry = {
      sizeof(WeftOperatorRegistry), &operators,
      [](void *context, const char *domain, const char *opType, int64_t since, WeftLowerFunction lower, void *user) {
        static_cast<std::vector<CustomOperator> *>(context)->push_back(
            {domain ? domain : "", opType ? opType : "", since, lower, user});
      }};
  if (!function || function(&registry) != 0)
    return llvm::createStringError("its operators could not be registered");
  for (const CustomOperator &op : operators)
    if (op.opType.empty() || !op.lower || op.since < 1)
      return llvm::createStringError("operator '" + op.opType +
                                     "': expected a name, a first opset of at least 1 and a lowering");
  return llvm::Error::success();
}

llvm::Error loadOperators(const std::string &path, std::vector<CustomOperator> &operators) {
  // With a slash, so that it is this file and not one of the system's libraries.
  std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void *library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = ::dlerror();
    return llvm::createStringError(path + ": cannot be loaded: " + (why ? why : "unknown error"));
  }
  auto function = reinterpret_cast<WeftRegisterOperators>(::dlsym(library, "weft_register_operators"));
  if (!function)
    return llvm::createStringError(path + ": expected a library with the function weft_register_operators "
                                          "(weft/operators.h)");
  if (llvm::Error error = collectOperators(function, operators))
    return llvm::createStringError(path + ": " + llvm::toString(std::move(error)));
  return llvm::Error::success();
}

namespace importer {

namespace {

Value unwrap(WeftValue value) { return Value::getFromOpaquePointer(value); }
WeftValue wrap(Value value) { return static_cast<WeftValue>(value.getAsOpaquePointer()); }

void setAttribute(onnx::AttributeProto &target, const WeftAttribute &source) {
  target.set_name(source.name);
  switch (source.kind) {
  case WEFT_ATTRIBUTE_INT:
    target.set_type(onnx::AttributeProto::INT);
    target.set_i(source.integer);
    return;
  case WEFT_ATTRIBUTE_FLOAT:
    target.set_type(onnx::AttributeProto::FLOAT);
    target.set_f(static_cast<float>(source.real));
    return;
  case WEFT_ATTRIBUTE_STRING:
    target.set_type(onnx::AttributeProto::STRING);
    target.set_s(source.string ? source.string : "");
    return;
  case WEFT_ATTRIBUTE_INTS:
    target.set_type(onnx::AttributeProto::INTS);
    target.mutable_ints()->Add(source.integers, source.integers + source.count);
    return;
  case WEFT_ATTRIBUTE_FLOATS:
    target.set_type(onnx::AttributeProto::FLOATS);
    for (size_t i = 0; i < source.count; ++i)
      target.add_floats(static_cast<float>(source.reals[i]));
    return;
  }
}

WeftValue makeConstant(WeftLowering *state, int32_t type, const int64_t *dims, size_t rank, const void *data) {
  Node &node = state->node;
  Type element = elementTypeOf(static_cast<OnnxType>(type), node.b.context());
  SmallVector<int64_t> shape(dims, dims + rank);
  if (!element || llvm::any_of(shape, [](int64_t size) { return size < 0; }) || !node.b.isSane(node.b.sizes(shape))) {
    node.error() << "a constant of element type " << type << " with " << rank
                 << " dimensions: expected a type that Weft has, and sizes that are not negative";
    return nullptr;
  }
  TensorValue value(element, shape);
  if (value.getByteSize() > 0)
    std::memcpy(value.getMutableData(), data, value.getByteSize());
  return wrap(node.importer.materialize((node.name() + ".constant" + Twine(state->built++)).str(), value));
}

int buildOperator(WeftLowering *state, const char *domain, const char *opType, const WeftValue *inputs,
                  size_t inputCount, const WeftAttribute *attributes, size_t attributeCount, WeftValue *outputs,
                  size_t outputCount) {
  std::fill(outputs, outputs + outputCount, nullptr);
  if (state->node.failed())
    return 1;
  onnx::NodeProto proto;
  proto.set_domain(domain ? domain : "");
  proto.set_op_type(opType);
  proto.set_name((state->node.name() + "/" + opType + "_" + Twine(state->built++)).str());
  SmallVector<Value> values;
  for (size_t i = 0; i < inputCount; ++i) {
    values.push_back(unwrap(inputs[i]));
    proto.add_input(values.back() ? "input" + std::to_string(i) : "");
  }
  for (size_t i = 0; i < attributeCount; ++i)
    setAttribute(*proto.add_attribute(), attributes[i]);
  for (size_t i = 0; i < outputCount; ++i)
    proto.add_output("output" + std::to_string(i));
  FailureOr<SmallVector<Value>> results = state->node.importer.importOperator(proto, values, state->node.scope);
  if (failed(results)) {
    state->node.markFailed();
    return 1;
  }
  for (size_t i = 0; i < outputCount; ++i)
    outputs[i] = wrap((*results)[i]);
  return 0;
}

WeftLoweringApi makeApi() {
  WeftLoweringApi api = {};
  api.struct_size = sizeof(api);
  api.opset = [](WeftLowering *state) { return state->node.opset(); };
  api.input_count = [](WeftLowering *state) { return static_cast<size_t>(state->node.inputCount()); };
  api.input = [](WeftLowering *state, size_t index) { return wrap(state->node.input(static_cast<int64_t>(index))); };
  api.output_count = [](WeftLowering *state) { return static_cast<size_t>(state->node.outputCount()); };
  api.set_output = [](WeftLowering *state, size_t index, WeftValue value) {
    Node &node = state->node;
    if (static_cast<int64_t>(index) >= node.outputCount())
      node.error() << "its lowering sets output " << index << ", the node has " << node.outputCount();
    else if (!value && !node.failed())
      node.error() << "its lowering gives no value for output " << index;
    else if (value)
      (void)node.output(static_cast<int64_t>(index), unwrap(value));
  };
  api.element_type = [](WeftLowering *state, WeftValue value) {
    return value ? static_cast<int32_t>(onnxTypeOf(state->node.b.element(unwrap(value)))) : 0;
  };
  api.rank = [](WeftLowering *state, WeftValue value) {
    return value ? static_cast<size_t>(state->node.b.rank(unwrap(value))) : 0;
  };
  api.dimension = [](WeftLowering *state, WeftValue value, size_t index) -> int64_t {
    Builder &b = state->node.b;
    if (!value || static_cast<int64_t>(index) >= b.rank(unwrap(value)))
      return -1;
    Dim dim = b.dim(unwrap(value), static_cast<int64_t>(index));
    return dim.isConstant() ? dim.getConstant() : -1;
  };
  api.has_attribute = [](WeftLowering *state, const char *name) { return int(state->node.hasAttribute(name)); };
  api.attribute_int = [](WeftLowering *state, const char *name, int64_t fallback) {
    return state->node.integer(name, fallback);
  };
  api.attribute_float = [](WeftLowering *state, const char *name, double fallback) {
    return state->node.real(name, fallback);
  };
  api.attribute_string = [](WeftLowering *state, const char *name, const char *fallback) {
    return state->texts.emplace_back(state->node.string(name, fallback ? fallback : "")).c_str();
  };
  api.attribute_ints = [](WeftLowering *state, const char *name, size_t *count) -> const int64_t * {
    SmallVector<int64_t> &list = state->integers.emplace_back(state->node.integerList(name));
    *count = list.size();
    return list.data();
  };
  api.attribute_floats = [](WeftLowering *state, const char *name, size_t *count) -> const double * {
    SmallVector<double> &list = state->reals.emplace_back(state->node.realList(name));
    *count = list.size();
    return list.data();
  };
  api.constant = makeConstant;
  api.build = buildOperator;
  api.error = [](WeftLowering *state, const char *message) { state->node.error() << (message ? message : "error"); };
  return api;
}

} // namespace

void addCustomHandlers(HandlerTable &table, const std::vector<CustomOperator> &operators) {
  for (const CustomOperator &op : operators)
    table.addIn(canonicalDomain(op.domain), op.opType, static_cast<int>(op.since), [op](Node &node) -> LogicalResult {
      WeftLowering state(node);
      WeftLoweringApi api = makeApi();
      int status = op.lower(&api, &state, op.user);
      if (status != 0 && !node.failed())
        return node.fail("its lowering gave up, with status " + std::to_string(status));
      return failure(node.failed());
    });
}

} // namespace importer
} // namespace weft
