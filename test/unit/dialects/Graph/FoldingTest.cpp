//===- FoldingTest.cpp - Which ops the constant folding folds, and to what --------------------------===//

#include "dialects/Graph/Creation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "test/unit/dialects/Graph/EvaluateText.h"

using namespace weft;

namespace {

class FoldingTest : public test::EvaluateText {
protected:
  /// What @main of a module returns after folding, where that is a constant.
  mlir::DenseElementsAttr fold(llvm::StringRef text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
    EXPECT_TRUE(module) << errors;
    if (!module || mlir::failed(mlir::applyPatternsGreedily(*module, mlir::RewritePatternSet(&context))))
      return {};
    auto function = module->lookupSymbol<mlir::func::FuncOp>("main");
    auto constant = function.getBody().front().getTerminator()->getOperand(0).getDefiningOp<graph::ConstantOp>();
    return constant ? llvm::dyn_cast<mlir::DenseElementsAttr>(constant.getValue()) : mlir::DenseElementsAttr();
  }
};

TEST_F(FoldingTest, AnyOpOnConstants) {
  mlir::DenseElementsAttr sum = fold(R"(func.func @main() -> tensor<i32> {
    %a = weft.constant dense<[1, 2, 3]> : tensor<3xi32>
    %b = weft.multiply %a, %a : tensor<3xi32>
    %c = weft.reduce sum, %b dims = [0] : (tensor<3xi32>) -> tensor<i32>
    return %c : tensor<i32>
  })");
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum.getSplatValue<int32_t>(), 14);
}

TEST_F(FoldingTest, NeverMakesTheIrGrow) {
  EXPECT_FALSE(fold(R"(func.func @main() -> tensor<100xi32> {
    %a = weft.iota dim = 0 : tensor<100xi32>
    return %a : tensor<100xi32>
  })"));
  EXPECT_TRUE(fold(R"(func.func @main() -> tensor<4000xi32> {
    %a = weft.constant dense<3> : tensor<i32>
    %b = weft.broadcast_in_dim %a dims = [] : (tensor<i32>) -> tensor<4000xi32>
    return %b : tensor<4000xi32>
  })")
                  .isSplat());
  EXPECT_FALSE(fold(R"(func.func @main() -> tensor<4097xi32> {
    %a = weft.constant dense<3> : tensor<i32>
    %b = weft.broadcast_in_dim %a dims = [] : (tensor<i32>) -> tensor<4097xi32>
    return %b : tensor<4097xi32>
  })"));
}

TEST_F(FoldingTest, NotWhereSomethingIsUnknown) {
  EXPECT_FALSE(fold(R"(func.func @main(%x: tensor<f32>) -> tensor<f32> {
    %a = weft.constant dense<3.0> : tensor<f32>
    %b = weft.add %x, %a : tensor<f32>
    return %b : tensor<f32>
  })"));
  EXPECT_FALSE(fold(R"(func.func @main() -> tensor<f32> {
    %a = weft.constant dense<3.0> : tensor<f32>
    %b = weft.composite "gelu" {} (%a) : (tensor<f32>) -> tensor<f32> {
    ^bb0(%x: tensor<f32>):
      weft.yield %x : tensor<f32>
    }
    return %b : tensor<f32>
  })"));
}

} // namespace
