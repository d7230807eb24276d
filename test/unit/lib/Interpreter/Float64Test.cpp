//===- Float64Test.cpp - The same program in double precision ------------------------------------------------===//

#include "lib/Interpreter/Float64.h"
#include "lib/Interpreter/Interpreter.h"
#include "test/unit/dialects/Graph/EvaluateText.h"

using namespace weft;
using graph::TensorValue;

namespace {

class Float64Test : public test::EvaluateText {
protected:
  mlir::OwningOpRef<mlir::ModuleOp> widened(llvm::StringRef text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
    EXPECT_TRUE(module) << errors;
    return widenToFloat64(*module);
  }
};

TEST_F(Float64Test, KeepsWhatFloat32Loses) {
  weights.add("w", tensor("f32", 1, {1}));
  auto wide = widened(R"(
    func.func @main(%x: tensor<1xf32> {weft.input = "x"}, %w: tensor<1xf32> {weft.param = "w"}) -> tensor<1xf32> {
      %big = weft.constant dense<16777216.0> : tensor<1xf32>
      %a = weft.add %big, %w : tensor<1xf32>
      %b = weft.subtract %a, %x : tensor<1xf32>
      return %b : tensor<1xf32>
    })");
  ASSERT_TRUE(wide);
  WeightStore wideWeights = widenToFloat64(weights);
  TensorValue x = tensor("f32", 1, {16777216});
  auto narrow = Interpreter(*module, weights).run("main", x);
  auto exact = Interpreter(*wide, wideWeights).run("main", widenToFloat64(x));
  ASSERT_TRUE(mlir::succeeded(narrow) && mlir::succeeded(exact)) << errors;
  expectSame((*narrow)[0], {0});
  expectSame((*exact)[0], {1});
  EXPECT_TRUE((*exact)[0].getElementType().isF64());
  // The module that was given is as it was.
  EXPECT_TRUE(mlir::succeeded(Interpreter(*module, weights).run("main", x)));
}

TEST_F(Float64Test, RegionsAndOtherTypes) {
  auto wide = widened(R"(
    func.func @main(%x: tensor<4xf32> {weft.input = "x"}) -> (tensor<f32>, tensor<4xf16>, tensor<4xi32>) {
      %s = weft.reduce sum, %x dims = [0] : (tensor<4xf32>) -> tensor<f32>
      %h = weft.convert %x : (tensor<4xf32>) -> tensor<4xf16>
      %i = weft.convert %x : (tensor<4xf32>) -> tensor<4xi32>
      return %s, %h, %i : tensor<f32>, tensor<4xf16>, tensor<4xi32>
    })");
  ASSERT_TRUE(wide);
  auto values = Interpreter(*wide, weights).run("main", widenToFloat64(tensor("f32", 4, {0.1f, 1e8f, -1e8f, 2.5f})));
  ASSERT_TRUE(mlir::succeeded(values)) << errors;
  EXPECT_NEAR((*values)[0].getFloat(0), 2.6, 1e-7);
  EXPECT_TRUE((*values)[1].getElementType().isF16());
  EXPECT_TRUE((*values)[2].getElementType().isInteger(32));
}

TEST_F(Float64Test, BitsOfAFloatHaveNoWiderMeaning) {
  EXPECT_FALSE(widened(R"(
    func.func @main(%x: tensor<2xf32> {weft.input = "x"}) -> tensor<2xi32> {
      %b = weft.bitcast_convert %x : (tensor<2xf32>) -> tensor<2xi32>
      return %b : tensor<2xi32>
    })"));
  EXPECT_TRUE(errors.empty()) << errors;
}

} // namespace
