//===- InterfacesTest.cpp - Cost and fusibility of the ops -------------------------------------------===//

#include "dialects/Graph/Graph.h"
#include "test/unit/dialects/Graph/EvaluateText.h"

using namespace weft;

namespace {

class InterfacesTest : public test::EvaluateText {
protected:
  /// The first op of the dialect in the body of @main.
  mlir::Operation *parseOp(llvm::StringRef text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
    EXPECT_TRUE(module) << errors;
    return module ? &module->lookupSymbol<mlir::func::FuncOp>("main").getBody().front().front() : nullptr;
  }
  graph::Cost costOf(llvm::StringRef text) { return llvm::cast<graph::CostInterface>(parseOp(text)).getCost(); }
  static graph::FusibilityInterface fusibility(mlir::Operation *op) {
    return llvm::cast<graph::FusibilityInterface>(op);
  }
};

TEST_F(InterfacesTest, CostOfContractions) {
  graph::Cost dot = costOf(R"(func.func @main(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {
    %r = weft.dot_general %a, %b batch = [0] x [0] contract = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    return %r : tensor<2x3x5xf32>
  })");
  EXPECT_EQ(dot.operations, 2 * 2 * 3 * 5 * 4);
  EXPECT_EQ(dot.bytesRead, 4 * (2 * 3 * 4 + 2 * 4 * 5));
  EXPECT_EQ(dot.bytesWritten, 4 * 2 * 3 * 5);
  graph::Cost convolution =
      costOf(R"(func.func @main(%x: tensor<1x4x8x8xf32>, %w: tensor<6x2x3x3xf32>) -> tensor<1x6x6x6xf32> {
    %r = weft.convolution %x, %w dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> {window_strides = array<i64: 1, 1>,
      padding_low = array<i64: 0, 0>, padding_high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>,
      rhs_dilation = array<i64: 1, 1>, feature_group_count = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x6x6xf32>
    return %r : tensor<1x6x6x6xf32>
  })");
  EXPECT_EQ(convolution.operations, 2 * (6 * 6 * 6) * (2 * 3 * 3));
}

TEST_F(InterfacesTest, CostAtTheUpperBounds) {
  const char *text = R"(weft.dim "n" in [1, 10]
  func.func @main(%a: tensor<?x4xf16, #weft.encoding<[n * 2, 4]>>) -> tensor<?x4xf16, #weft.encoding<[n * 2, 4]>> {
    %r = weft.add %a, %a : tensor<?x4xf16, #weft.encoding<[n * 2, 4]>>
    return %r : tensor<?x4xf16, #weft.encoding<[n * 2, 4]>>
  })";
  graph::Cost cost = costOf(text);
  EXPECT_EQ(cost.operations, 80);
  EXPECT_EQ(cost.bytesWritten, 160);
  EXPECT_EQ(cost.bytesRead, 320);
  auto bounds = graph::getSymbolBounds("n", *module);
  ASSERT_TRUE(bounds);
  EXPECT_EQ(bounds->min, 1);
  EXPECT_EQ(bounds->max, 10);
  EXPECT_FALSE(graph::getSymbolBounds("m", *module));
}

TEST_F(InterfacesTest, CostOfMovementIsItsBytes) {
  graph::Cost slice = costOf(R"(func.func @main(%a: tensor<1000xi4>) -> tensor<10xi4> {
    %r = weft.slice %a [0:10] : (tensor<1000xi4>) -> tensor<10xi4>
    return %r : tensor<10xi4>
  })");
  EXPECT_EQ(slice.operations, 0);
  EXPECT_EQ(slice.bytesWritten, 5);
  EXPECT_LE(slice.bytesRead, 10); // not the whole operand
}

TEST_F(InterfacesTest, CostOfReductionsCountsTheirOperand) {
  EXPECT_EQ(costOf(R"(func.func @main(%a: tensor<30x40xf32>) -> tensor<30xf32> {
    %r = weft.reduce sum, %a dims = [1] : (tensor<30x40xf32>) -> tensor<30xf32>
    return %r : tensor<30xf32>
  })")
                .operations,
            1200);
  EXPECT_EQ(costOf(R"(func.func @main(%a: tensor<1x1x9x9xf32>) -> tensor<1x1x3x3xf32> {
    %r = weft.reduce_window max, %a {window_dimensions = array<i64: 1, 1, 3, 3>, window_strides = array<i64: 1, 1, 3, 3>,
      base_dilations = array<i64: 1, 1, 1, 1>, window_dilations = array<i64: 1, 1, 1, 1>, padding_low = array<i64: 0, 0, 0, 0>,
      padding_high = array<i64: 0, 0, 0, 0>} : (tensor<1x1x9x9xf32>) -> tensor<1x1x3x3xf32>
    return %r : tensor<1x1x3x3xf32>
  })")
                .operations,
            81);
}

TEST_F(InterfacesTest, FusionCostsWhatIsInside) {
  graph::Cost cost = costOf(R"(func.func @main(%a: tensor<100xf32>) -> tensor<100xf32> {
    %r = weft.fusion loop(%a) : (tensor<100xf32>) -> tensor<100xf32> {
    ^bb0(%x: tensor<100xf32>):
      %0 = weft.add %x, %x : tensor<100xf32>
      %1 = weft.multiply %0, %x : tensor<100xf32>
      weft.yield %1 : tensor<100xf32>
    }
    return %r : tensor<100xf32>
  })");
  EXPECT_EQ(cost.operations, 200);
  EXPECT_EQ(cost.bytesRead + cost.bytesWritten, 800); // what is between the two stays inside
}

TEST_F(InterfacesTest, RolesAndReads) {
  mlir::Operation *reduce = parseOp(R"(func.func @main(%a: tensor<3x4xf32>) -> tensor<3xf32> {
    %r = weft.reduce sum, %a dims = [1] : (tensor<3x4xf32>) -> tensor<3xf32>
    return %r : tensor<3xf32>
  })");
  EXPECT_EQ(fusibility(reduce).getFusionRole(), graph::FusionRole::Reduction);
  EXPECT_TRUE(fusibility(reduce).readsEachElementOnce(0));
  mlir::Operation *dot = parseOp(R"(func.func @main(%a: tensor<4xf32>) -> tensor<f32> {
    %r = weft.dot_general %a, %a contract = [0] x [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
    return %r : tensor<f32>
  })");
  EXPECT_EQ(fusibility(dot).getFusionRole(), graph::FusionRole::Contraction);
  EXPECT_FALSE(fusibility(dot).readsEachElementOnce(0));
  mlir::Operation *pool = parseOp(R"(func.func @main(%a: tensor<4xf32>) -> tensor<3xf32> {
    %r = weft.reduce_window max, %a {window_dimensions = array<i64: 2>, window_strides = array<i64: 1>, base_dilations = array<i64: 1>,
      window_dilations = array<i64: 1>, padding_low = array<i64: 0>, padding_high = array<i64: 0>} : (tensor<4xf32>) -> tensor<3xf32>
    return %r : tensor<3xf32>
  })");
  EXPECT_EQ(fusibility(pool).getFusionRole(), graph::FusionRole::Generic);
  EXPECT_FALSE(fusibility(pool).readsEachElementOnce(0));
  mlir::Operation *transpose = parseOp(R"(func.func @main(%a: tensor<3x4xf32>) -> tensor<4x3xf32> {
    %r = weft.transpose %a perm = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
    return %r : tensor<4x3xf32>
  })");
  EXPECT_EQ(fusibility(transpose).getFusionRole(), graph::FusionRole::IndexMap);
  mlir::Operation *branch = parseOp(R"(func.func @main(%p: tensor<i1>) {
    weft.if %p : (tensor<i1>) -> () {
      weft.yield
    } else {
      weft.yield
    }
    return
  })");
  EXPECT_EQ(fusibility(branch).getFusionRole(), graph::FusionRole::Opaque);
}

} // namespace
