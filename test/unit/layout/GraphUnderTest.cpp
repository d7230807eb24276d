//===- GraphUnderTest.cpp - A module that is built, rewritten by passes and evaluated before and after -------===//

#include "test/unit/layout/GraphUnderTest.h"
#include "lib/Interpreter/Interpreter.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <limits>

using namespace mlir;
using namespace weft::graph;

namespace weft::test {

unsigned getGraphCount(unsigned usual) {
  const char *wanted = std::getenv("WEFT_RANDOM_GRAPHS");
  unsigned count = wanted ? static_cast<unsigned>(std::strtoul(wanted, nullptr, 10)) : 0;
  return count ? count : usual;
}

GraphUnderTest::GraphUnderTest(unsigned seed)
    : builder(&context), location(UnknownLoc::get(&context)), generator(seed) {
  context.loadDialect<GraphDialect, func::FuncDialect>();
  module = ModuleOp::create(location);
  builder.setInsertionPointToStart(module->getBody());
  function = func::FuncOp::create(builder, location, GraphDialect::kMainName, builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
}

Dim GraphUnderTest::symbol(StringRef name, int64_t value) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module->getBody());
  DimOp::create(builder, location, name, 1, 16);
  symbols[name] = value;
  return Dim::symbol(builder.getStringAttr(name));
}

TensorValue GraphUnderTest::randomValue(RankedTensorType type, double scale, bool positive, bool special) {
  SmallVector<int64_t> shape;
  for (const Dim &dim : getDims(type))
    shape.push_back(*dim.evaluate([&](StringRef name) -> std::optional<int64_t> { return symbols.lookup(name); }));
  TensorValue value(type.getElementType(), shape);
  constexpr double kSpecial[] = {0.0,
                                 -0.0,
                                 std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN(),
                                 1e-40,
                                 -1.0};
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < value.getElementCount(); ++i) {
    double element = normal(generator) * scale;
    if (positive)
      element = std::abs(element) + 0.1 * scale;
    if (special && random(0, 3) == 0)
      element = kSpecial[random(0, std::size(kSpecial) - 1)];
    if (isFloatElement(type.getElementType()))
      value.setFloat(i, element);
    else
      value.setInteger(i, random(-100, 100));
  }
  return value;
}

Value GraphUnderTest::addInput(RankedTensorType type) {
  unsigned number = function.getNumArguments();
  std::string name = "input" + std::to_string(inputs.size());
  NamedAttribute role(builder.getStringAttr(GraphDialect::kInputName), builder.getStringAttr(name));
  (void)function.insertArgument(number, type, builder.getDictionaryAttr(role), location);
  inputs.push_back(randomValue(type, 1, false, specialInputs));
  return function.getArgument(number);
}

Value GraphUnderTest::addParameter(RankedTensorType type, double scale, bool positive) {
  unsigned number = function.getNumArguments();
  std::string name = "parameter" + std::to_string(weights.size());
  NamedAttribute role(builder.getStringAttr(GraphDialect::kParamName), builder.getStringAttr(name));
  (void)function.insertArgument(number, type, builder.getDictionaryAttr(role), location);
  weights.add(name, randomValue(type, scale, positive, false));
  return function.getArgument(number);
}

Value GraphUnderTest::constant(double value, Type elementType) {
  TensorValue scalar(elementType, {});
  if (isFloatElement(elementType))
    scalar.setFloat(0, value);
  else
    scalar.setInteger(0, static_cast<int64_t>(value));
  return ConstantOp::create(builder, location, scalar.toAttribute(RankedTensorType::get({}, elementType)));
}

Value GraphUnderTest::splat(double value, RankedTensorType type) {
  return BroadcastInDimOp::create(builder, location, type, constant(value, type.getElementType()), ArrayRef<int64_t>());
}

void GraphUnderTest::finish(ValueRange outputs) {
  func::ReturnOp::create(builder, location, outputs);
  function.setType(builder.getFunctionType(function.getArgumentTypes(), outputs.getTypes()));
  for (unsigned i = 0; i < outputs.size(); ++i)
    function.setResultAttr(i, GraphDialect::kOutputName, builder.getStringAttr("output" + std::to_string(i)));
  ASSERT_TRUE(succeeded(verify(*module))) << print();
}

bool GraphUnderTest::runPasses(llvm::function_ref<void(OpPassManager &)> addPasses) {
  PassManager manager(&context);
  addPasses(manager);
  return succeeded(manager.run(*module)) && succeeded(verify(*module));
}

std::vector<TensorValue> GraphUnderTest::evaluate() {
  Interpreter interpreter(*module, weights);
  FailureOr<SmallVector<TensorValue>> results = interpreter.run(GraphDialect::kMainName, inputs);
  if (failed(results)) {
    ADD_FAILURE() << "the interpreter failed on\n" << print();
    return {};
  }
  return {results->begin(), results->end()};
}

std::string GraphUnderTest::print() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().useLocalScope());
  return text;
}

} // namespace weft::test
