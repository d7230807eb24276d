//===- InterpreterTest.cpp - Walking functions and regions, symbols, weights, errors -----------------===//

#include "lib/Interpreter/Interpreter.h"
#include "test/unit/dialects/Graph/EvaluateText.h"

using namespace weft;
using graph::TensorValue;

namespace {

class InterpreterTest : public test::EvaluateText {
protected:
  mlir::ModuleOp parse(llvm::StringRef text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
    EXPECT_TRUE(module) << errors;
    errors.clear();
    return *module;
  }
  /// The error of running @main on these arguments.
  std::string errorOf(llvm::StringRef text, llvm::ArrayRef<TensorValue> arguments) {
    EXPECT_TRUE(runModule(text, arguments).empty());
    EXPECT_FALSE(errors.empty());
    return errors;
  }
};

const char *kSymbolic = R"(
  weft.dim "n" in [1, 8]
  func.func @main(%x: tensor<?x2xf32, #weft.encoding<[n, 2]>> {weft.input = "x"},
                  %y: tensor<?x2xf32, #weft.encoding<[n * 2 + 1, 2]>> {weft.input = "y"})
      -> (tensor<?x2xf32, #weft.encoding<[n * 3 + 1, 2]>> {weft.output = "z"}) {
    %z = weft.concatenate %x, %y dim = 0 : (tensor<?x2xf32, #weft.encoding<[n, 2]>>, tensor<?x2xf32, #weft.encoding<[n * 2 + 1, 2]>>)
      -> tensor<?x2xf32, #weft.encoding<[n * 3 + 1, 2]>>
    return %z : tensor<?x2xf32, #weft.encoding<[n * 3 + 1, 2]>>
  })";

TEST_F(InterpreterTest, BindsSymbolsFromShapes) {
  auto results = runModule(kSymbolic, {pattern("f32", {3, 2}), pattern("f32", {7, 2})});
  ASSERT_EQ(results.size(), 1u) << errors;
  EXPECT_EQ(results[0].getShape(), llvm::ArrayRef<int64_t>({10, 2}));
}

TEST_F(InterpreterTest, ShapesThatDoNotFitNameArgumentAndDimension) {
  EXPECT_NE(errorOf(kSymbolic, {pattern("f32", {3, 2}), pattern("f32", {8, 2})})
                .find("input 'y': dimension 0: expected n * 2 + 1, with n = 3 that is 7, got 8"),
            std::string::npos)
      << errors;
  EXPECT_NE(errorOf(kSymbolic, {pattern("f32", {3, 4}), pattern("f32", {7, 2})})
                .find("input 'x': dimension 1: expected 2, got 4"),
            std::string::npos)
      << errors;
  EXPECT_NE(
      errorOf(kSymbolic, {pattern("f32", {9, 2}), pattern("f32", {19, 2})}).find("'n' is 9, outside its bounds [1, 8]"),
      std::string::npos)
      << errors;
  EXPECT_NE(errorOf(kSymbolic, {pattern("f32", {3}), pattern("f32", {7, 2})}).find("input 'x': expected 2 dimensions"),
            std::string::npos)
      << errors;
  EXPECT_NE(errorOf(kSymbolic, {pattern("f64", {3, 2}), pattern("f32", {7, 2})})
                .find("input 'x': expected elements of type 'f32', got 'f64'"),
            std::string::npos)
      << errors;
  EXPECT_NE(errorOf(kSymbolic, {pattern("f32", {3, 2})}).find("no value for input 'y'"), std::string::npos) << errors;
  EXPECT_NE(errorOf(kSymbolic, {pattern("f32", {3, 2}), pattern("f32", {7, 2}), pattern("f32", 1)})
                .find("takes 2 values, got 3"),
            std::string::npos)
      << errors;
}

TEST_F(InterpreterTest, SymbolsThatAreNotDetermined) {
  const char *text =
      R"(func.func @main(%x: tensor<?xf32, #weft.encoding<[a + b]>>) -> tensor<?xf32, #weft.encoding<[a + b]>> {
    return %x : tensor<?xf32, #weft.encoding<[a + b]>>
  })";
  EXPECT_NE(errorOf(text, pattern("f32", 4)).find("do not determine 'a' 'b'"), std::string::npos) << errors;
  const char *even =
      R"(func.func @main(%x: tensor<?xf32, #weft.encoding<[a * 2]>>) -> tensor<?xf32, #weft.encoding<[a * 2]>> {
    return %x : tensor<?xf32, #weft.encoding<[a * 2]>>
  })";
  EXPECT_NE(errorOf(even, pattern("f32", 5)).find("no integer 'a' gives this size"), std::string::npos) << errors;
  EXPECT_EQ(runModule(even, pattern("f32", 6)).size(), 1u) << errors;
}

TEST_F(InterpreterTest, ConditionsOfTheSymbols) {
  const char *text = R"(
    weft.dim "n" in [1, 64]
    weft.require <[n mod 4, 0]> "the block"
    func.func @main(%x: tensor<?xf32, #weft.encoding<[n]>> {weft.input = "x"}) -> tensor<?xf32, #weft.encoding<[n]>> {
      return %x : tensor<?xf32, #weft.encoding<[n]>>
    })";
  EXPECT_EQ(runModule(text, pattern("f32", 8)).size(), 1u) << errors;
  EXPECT_NE(errorOf(text, pattern("f32", 6)).find("the block: n mod 4 and 0 must be equal, got 2 and 0"),
            std::string::npos)
      << errors;
}

TEST_F(InterpreterTest, SizesThatCannotBe) {
  const char *negative =
      R"(func.func @main(%x: tensor<?xf32, #weft.encoding<[n]>>) -> tensor<?xf32, #weft.encoding<[n - 3]>> {
    %r = weft.slice %x [3:end] : (tensor<?xf32, #weft.encoding<[n]>>) -> tensor<?xf32, #weft.encoding<[n - 3]>>
    return %r : tensor<?xf32, #weft.encoding<[n - 3]>>
  })";
  EXPECT_NE(errorOf(negative, pattern("f32", 2)).find("would be -1"), std::string::npos) << errors;
  const char *huge = R"(func.func @main() -> tensor<1000000x1000000xf32> {
    %r = weft.iota dim = 0 : tensor<1000000x1000000xf32>
    return %r : tensor<1000000x1000000xf32>
  })";
  EXPECT_NE(errorOf(huge, {}).find("larger than"), std::string::npos) << errors;
}

const char *kPrepared = R"(
  func.func @prepare(%w: tensor<2xf32> {weft.param = "w"}) -> (tensor<2xf32>, tensor<f32>) {
    %s = weft.add %w, %w : tensor<2xf32>
    %t = weft.reduce sum, %w dims = [0] : (tensor<2xf32>) -> tensor<f32>
    return %s, %t : tensor<2xf32>, tensor<f32>
  }
  func.func @main(%p: tensor<2xf32> {weft.prepared = 0 : i64}, %x: tensor<2xf32> {weft.input = "x"},
                  %w: tensor<2xf32> {weft.param = "w"}, %c: tensor<2xf32> {weft.state = "count"})
      -> (tensor<2xf32> {weft.output = "y"}, tensor<2xf32> {weft.state = "count"}) {
    %a = weft.multiply %p, %x : tensor<2xf32>
    %b = weft.add %a, %w : tensor<2xf32>
    %d = weft.add %c, %x : tensor<2xf32>
    return %b, %d : tensor<2xf32>, tensor<2xf32>
  })";

TEST_F(InterpreterTest, WeightsPreparedAndState) {
  weights.add("w", tensor("f32", 2, {3, 5}));
  mlir::ModuleOp text = parse(kPrepared);
  Interpreter interpreter(text, weights);
  llvm::StringMap<TensorValue> arguments;
  arguments["x"] = tensor("f32", 2, {1, 10});
  arguments["count"] = tensor("f32", 2, {100, 200});
  auto results = interpreter.run("main", arguments);
  ASSERT_TRUE(mlir::succeeded(results)) << errors;
  EXPECT_EQ((*results)[0].name, "y");
  expectSame((*results)[0].value, {9, 105});
  EXPECT_EQ((*results)[1].name, "count");
  expectSame((*results)[1].value, {101, 210});

  auto prepared = evaluatePrepare(text, weights);
  ASSERT_TRUE(mlir::succeeded(prepared));
  expectSame((*prepared)[0], {6, 10});
  expectSame((*prepared)[1], {8});

  arguments["extra"] = arguments["x"];
  EXPECT_TRUE(mlir::failed(interpreter.run("main", arguments)));
  EXPECT_NE(errors.find("there is no input 'extra'; expected 'x', 'count'"), std::string::npos) << errors;
  EXPECT_TRUE(mlir::failed(interpreter.run("nothing", arguments)));
  EXPECT_NE(errors.find("expected a function @nothing"), std::string::npos) << errors;
}

TEST_F(InterpreterTest, MissingAndWrongWeights) {
  mlir::ModuleOp text = parse(kPrepared);
  EXPECT_TRUE(mlir::failed(evaluatePrepare(text, weights)));
  EXPECT_NE(errors.find("no value for parameter 'w'"), std::string::npos) << errors;
  weights.add("w", tensor("f32", 3, {1, 2, 3}));
  EXPECT_TRUE(mlir::failed(evaluatePrepare(text, weights)));
  EXPECT_NE(errors.find("parameter 'w': dimension 0: expected 2, got 3"), std::string::npos) << errors;
  mlir::ModuleOp none = parse("func.func @main() { return }");
  EXPECT_EQ(evaluatePrepare(none, weights)->size(), 0u);
}

TEST_F(InterpreterTest, PreparedArgumentsThatCannotBe) {
  mlir::ModuleOp itself = parse(R"(func.func @prepare(%w: tensor<f32> {weft.prepared = 0 : i64}) -> tensor<f32> {
    return %w : tensor<f32>
  })");
  EXPECT_TRUE(mlir::failed(evaluatePrepare(itself, weights)));
  EXPECT_NE(errors.find("takes a result of itself"), std::string::npos) << errors;
  EXPECT_NE(errorOf("func.func @main(%w: tensor<f32> {weft.prepared = 0 : i64}) { return }", {})
                .find("takes result 0 of @prepare, which has 0"),
            std::string::npos)
      << errors;
}

TEST_F(InterpreterTest, OpsWithoutAnEvaluationAndFunctionsThatAreNone) {
  EXPECT_NE(
      errorOf("func.func @other() { return }\nfunc.func @main() {\n  func.call @other() : () -> ()\n  return\n}", {})
          .find("has no reference evaluation"),
      std::string::npos)
      << errors;
  EXPECT_NE(errorOf("func.func private @main()", {}).find("expected a function @main with one block"),
            std::string::npos)
      << errors;
}

TEST_F(InterpreterTest, BranchesAndLoops) {
  const char *text = R"(func.func @main(%n: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    %one = weft.constant dense<1> : tensor<i32>
    %zero = weft.constant dense<0> : tensor<i32>
    %r:3 = weft.while (%n, %zero, %one) : (tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>) {
    ^bb0(%i: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>):
      %more = weft.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      weft.yield %more : tensor<i1>
    } do {
    ^bb0(%i: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>):
      %less = weft.subtract %i, %one : tensor<i32>
      %sum = weft.add %a, %b : tensor<i32>
      weft.yield %less, %b, %sum : tensor<i32>, tensor<i32>, tensor<i32>
    }
    %big = weft.compare GT, %r#1, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c = weft.if %big : (tensor<i1>) -> tensor<i32> {
      weft.yield %r#1 : tensor<i32>
    } else {
      %negative = weft.negate %n : tensor<i32>
      weft.yield %negative : tensor<i32>
    }
    return %r#1, %c : tensor<i32>, tensor<i32>
  })";
  auto results = runModule(text, tensor("i32", {}, {30}));
  ASSERT_EQ(results.size(), 2u) << errors;
  EXPECT_EQ(results[0].getInteger(0), 832040); // the thirtieth Fibonacci number
  EXPECT_EQ(results[1].getInteger(0), 832040);
  results = runModule(text, tensor("i32", {}, {3}));
  EXPECT_EQ(results[1].getInteger(0), -3);
  EXPECT_EQ(runModule(text, tensor("i32", {}, {0}))[0].getInteger(0), 0);
}

TEST_F(InterpreterTest, ObserverSeesEveryOpAndValuesAreFreed) {
  mlir::ModuleOp text = parse(R"(func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %a = weft.negate %x : tensor<2xf32>
    %b = weft.composite "softmax" {axis = 0} (%a) : (tensor<2xf32>) -> tensor<2xf32> {
    ^bb0(%i: tensor<2xf32>):
      %e = weft.exponential %i : tensor<2xf32>
      weft.yield %e : tensor<2xf32>
    }
    %f = weft.fusion loop(%b) : (tensor<2xf32>) -> tensor<2xf32> {
    ^bb0(%i: tensor<2xf32>):
      %e = weft.add %i, %i : tensor<2xf32>
      weft.yield %e : tensor<2xf32>
    }
    return %f : tensor<2xf32>
  })");
  std::vector<std::string> seen;
  Interpreter interpreter(text, weights);
  auto results =
      interpreter.run("main", tensor("f32", 2, {0, -1}), [&](mlir::Operation *op, llvm::ArrayRef<TensorValue> values) {
        seen.push_back(op->getName().getStringRef().str());
        EXPECT_EQ(values.size(), 1u);
      });
  ASSERT_TRUE(mlir::succeeded(results)) << errors;
  EXPECT_EQ(seen,
            (std::vector<std::string>{"weft.negate", "weft.exponential", "weft.composite", "weft.add", "weft.fusion"}));
  expectSame((*results)[0], {2, 2 * static_cast<float>(std::exp(1.0))});
}

} // namespace
