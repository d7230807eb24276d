//===- SimplifyTest.cpp - Simplify changes no bit of a result ----------------------------------------------===//

#include "lib/Simplify/Passes.h"
#include "test/unit/layout/RandomGraphs.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace weft;
using namespace weft::graph;
using namespace weft::test;

namespace {

/// Whether the values are the same bit for bit; any NaN equals any.
::testing::AssertionResult areSame(const TensorValue &before, const TensorValue &after) {
  if (before.getElementType() != after.getElementType() || before.getShape() != after.getShape())
    return ::testing::AssertionFailure() << "types or shapes differ";
  bool isFloat = isFloatElement(before.getElementType());
  for (int64_t i = 0; i < before.getElementCount(); ++i) {
    if (isFloat) {
      double a = before.getFloat(i), b = after.getFloat(i);
      if (std::isnan(a) ? !std::isnan(b) : a != b || std::signbit(a) != std::signbit(b))
        return ::testing::AssertionFailure() << "element " << i << ": " << a << " became " << b;
    } else if (before.getInteger(i) != after.getInteger(i)) {
      return ::testing::AssertionFailure()
             << "element " << i << ": " << before.getInteger(i) << " became " << after.getInteger(i);
    }
  }
  return ::testing::AssertionSuccess();
}

class SimplifyRandom : public ::testing::TestWithParam<bool> {};

TEST_P(SimplifyRandom, ChangesNoBit) {
  unsigned fewer = 0, count = getGraphCount(300);
  for (unsigned seed = 0; seed < count; ++seed) {
    GraphUnderTest graph(seed);
    graph.specialInputs = GetParam();
    buildRandomAlgebra(graph, 30);
    std::string original = graph.print();
    unsigned opsBefore = graph.count<mlir::Operation *>();
    std::vector<TensorValue> before = graph.evaluate();
    ASSERT_FALSE(before.empty());
    ASSERT_TRUE(graph.runPasses(buildSimplifyPipeline)) << "seed " << seed << "\n" << original;
    fewer += graph.count<mlir::Operation *>() < opsBefore;
    std::vector<TensorValue> after = graph.evaluate();
    ASSERT_EQ(before.size(), after.size());
    for (size_t i = 0; i < before.size(); ++i)
      ASSERT_TRUE(areSame(before[i], after[i])) << "output " << i << ", seed " << seed << "\nbefore:\n"
                                                << original << "\nafter:\n"
                                                << graph.print();
  }
  // The graphs give it something to do.
  EXPECT_GT(fewer, count * 9 / 10);
}

INSTANTIATE_TEST_SUITE_P(Inputs, SimplifyRandom, ::testing::Bool(),
                         [](const auto &parameter) { return parameter.param ? "Special" : "Ordinary"; });

} // namespace
