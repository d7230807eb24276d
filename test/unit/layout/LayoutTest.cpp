//===- LayoutTest.cpp - Layout keeps what networks compute, and moves little -------------------------------===//

#include "lib/Layout/Passes.h"
#include "lib/Simplify/Passes.h"
#include "test/unit/layout/RandomGraphs.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace weft;
using namespace weft::graph;
using namespace weft::test;

namespace {

/// max|a - b| <= tolerance * max|b|.
::testing::AssertionResult areClose(const TensorValue &expected, const TensorValue &actual, double tolerance) {
  if (expected.getElementType() != actual.getElementType() || expected.getShape() != actual.getShape())
    return ::testing::AssertionFailure() << "types or shapes differ";
  double largest = 0, difference = 0;
  for (int64_t i = 0; i < expected.getElementCount(); ++i) {
    largest = std::max(largest, std::abs(expected.getFloat(i)));
    double distance = std::abs(expected.getFloat(i) - actual.getFloat(i));
    if (std::isnan(distance))
      return ::testing::AssertionFailure() << "element " << i << " is NaN";
    difference = std::max(difference, distance);
  }
  if (difference > tolerance * largest)
    return ::testing::AssertionFailure() << "difference " << difference << ", largest value " << largest;
  return ::testing::AssertionSuccess();
}

class LayoutRandom : public ::testing::TestWithParam<int> {};

TEST_P(LayoutRandom, KeepsWhatANetworkComputes) {
  for (unsigned seed = 0, count = getGraphCount(25); seed < count; ++seed) {
    GraphUnderTest graph(seed + 100000 * GetParam());
    buildRandomNetwork(graph, 12, GetParam());
    std::string original = graph.print();
    std::vector<TensorValue> before = graph.evaluate();
    ASSERT_FALSE(before.empty());
    ASSERT_TRUE(graph.runPasses([](mlir::OpPassManager &manager) {
      buildSimplifyPipeline(manager);
      buildLayoutPipeline(manager);
    })) << "seed "
        << seed << "\n"
        << original;
    std::vector<TensorValue> after = graph.evaluate();
    ASSERT_EQ(before.size(), after.size());
    for (size_t i = 0; i < before.size(); ++i)
      ASSERT_TRUE(areClose(before[i], after[i], 1e-5)) << "output " << i << ", seed " << seed << "\nbefore:\n"
                                                       << original << "\nafter:\n"
                                                       << graph.print();
    // No more is transposed than the input and each output that is an image in the model's own layout.
    double allowed = 0, transposed = 0;
    for (mlir::Type type : graph.function.getResultTypes())
      if (mlir::cast<mlir::RankedTensorType>(type).getRank() > 2)
        allowed += upperBoundBytes(type, *graph.module);
    for (unsigned i = 0; i < graph.function.getNumArguments(); ++i)
      if (graph.function.getArgAttr(i, GraphDialect::kInputName))
        allowed += upperBoundBytes(graph.function.getArgument(i).getType(), *graph.module);
    graph.function.walk([&](TransposeOp op) { transposed += upperBoundBytes(op.getType(), *graph.module); });
    EXPECT_LE(transposed, allowed) << "seed " << seed << "\n" << original << graph.print();
    EXPECT_EQ(graph.module->lookupSymbol("prepare") != nullptr, true);
  }
}

INSTANTIATE_TEST_SUITE_P(SpatialDimensions, LayoutRandom, ::testing::Values(1, 2, 3));

TEST(Layout, KeepsWhatATransformerComputes) {
  for (unsigned seed = 0, count = getGraphCount(40); seed < count; ++seed) {
    GraphUnderTest graph(seed);
    buildRandomAttention(graph, 2);
    std::string original = graph.print();
    std::vector<TensorValue> before = graph.evaluate();
    ASSERT_TRUE(graph.runPasses([](mlir::OpPassManager &manager) {
      buildSimplifyPipeline(manager);
      buildLayoutPipeline(manager);
    })) << "seed "
        << seed << "\n"
        << original;
    // In each block the heads of query, key, value and result, and the outputs that are transposed.
    EXPECT_LE(graph.count<TransposeOp>(), 2 * 4 + before.size() - 1) << original << "\nafter:\n" << graph.print();
    std::vector<TensorValue> after = graph.evaluate();
    ASSERT_EQ(before.size(), after.size());
    for (size_t i = 0; i < before.size(); ++i)
      ASSERT_TRUE(areClose(before[i], after[i], 1e-5)) << "output " << i << ", seed " << seed << "\nbefore:\n"
                                                       << original << "\nafter:\n"
                                                       << graph.print();
  }
}

/// Each pass alone, without the folds, keeps every bit but those of contractions.
TEST(Layout, MinimizeTransposesAloneKeepsEveryBit) {
  unsigned fewer = 0, count = getGraphCount(30);
  for (unsigned seed = 500; seed < 500 + count; ++seed) {
    GraphUnderTest graph(seed);
    buildRandomNetwork(graph, 12, 2);
    ASSERT_TRUE(graph.runPasses([](mlir::OpPassManager &manager) {
      manager.addPass(createInlineBatchNorm());
      manager.addPass(createConvertConvolutionLayout());
    }));
    std::string original = graph.print();
    unsigned transposes = graph.count<TransposeOp>();
    std::vector<TensorValue> before = graph.evaluate();
    ASSERT_TRUE(graph.runPasses([](mlir::OpPassManager &manager) { manager.addPass(createMinimizeTransposes()); }));
    std::vector<TensorValue> after = graph.evaluate();
    EXPECT_LE(graph.count<TransposeOp>(), transposes);
    fewer += graph.count<TransposeOp>() < transposes;
    ASSERT_EQ(before.size(), after.size());
    for (size_t i = 0; i < before.size(); ++i)
      ASSERT_TRUE(areClose(before[i], after[i], 0)) << "output " << i << ", seed " << seed << "\nbefore:\n"
                                                    << original << "\nafter:\n"
                                                    << graph.print();
  }
  EXPECT_GT(fewer, count * 9 / 10);
}

/// No pass undoes another.
TEST(Layout, ASecondRunAddsNoTranspose) {
  for (unsigned seed = 900, end = seed + getGraphCount(10); seed < end; ++seed) {
    GraphUnderTest graph(seed);
    buildRandomNetwork(graph, 12, 2);
    auto stages = [](mlir::OpPassManager &manager) {
      buildSimplifyPipeline(manager);
      buildLayoutPipeline(manager);
    };
    ASSERT_TRUE(graph.runPasses(stages));
    unsigned transposes = graph.count<TransposeOp>();
    std::vector<TensorValue> first = graph.evaluate();
    ASSERT_TRUE(graph.runPasses(stages));
    EXPECT_LE(graph.count<TransposeOp>(), transposes);
    std::vector<TensorValue> second = graph.evaluate();
    for (size_t i = 0; i < first.size(); ++i)
      EXPECT_TRUE(areClose(first[i], second[i], 1e-5));
  }
}

} // namespace
