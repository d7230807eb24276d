//===- MinimumCutTest.cpp - Minimum cuts against all cuts of small graphs ---------------------------------===//

#include "lib/Layout/MinimumCut.h"
#include "gtest/gtest.h"
#include <random>

using weft::layout::MinimumCut;

namespace {

struct Edge {
  unsigned from, to;
  int64_t capacity;
};

TEST(MinimumCut, IsTheCheapestOfAllCutsAndHasTheMostNodesOnSideOne) {
  std::mt19937 generator(7);
  auto random = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(generator); };
  for (int trial = 0; trial < 300; ++trial) {
    unsigned nodes = 2 + random(1, 6);
    std::vector<Edge> edges;
    for (int i = random(1, 20); i > 0; --i)
      edges.push_back({unsigned(random(0, nodes - 1)), unsigned(random(0, nodes - 1)), random(0, 9)});
    MinimumCut cut;
    for (unsigned i = 2; i < nodes; ++i)
      ASSERT_EQ(cut.addNode(), i);
    for (const Edge &edge : edges)
      cut.addEdge(edge.from, edge.to, edge.capacity);
    int64_t cost = cut.solve();

    int64_t best = INT64_MAX;
    int mostOnSideOne = 0;
    for (unsigned mask = 0; mask < 1u << nodes; ++mask) {
      if ((mask & 1) || !(mask & 2))
        continue; // the source is on side 0, the sink on side 1
      int64_t price = 0;
      for (const Edge &edge : edges)
        if (!(mask >> edge.from & 1) && (mask >> edge.to & 1))
          price += edge.capacity;
      int onSideOne = __builtin_popcount(mask);
      if (price < best || (price == best && onSideOne > mostOnSideOne)) {
        mostOnSideOne = onSideOne;
        best = price;
      }
    }
    EXPECT_EQ(cost, best);
    int64_t chosen = 0;
    int onSideOne = 0;
    for (unsigned i = 0; i < nodes; ++i)
      onSideOne += cut.isOnSinkSide(i);
    for (const Edge &edge : edges)
      if (!cut.isOnSinkSide(edge.from) && cut.isOnSinkSide(edge.to))
        chosen += edge.capacity;
    EXPECT_EQ(chosen, best);
    EXPECT_EQ(onSideOne, mostOnSideOne);
  }
}

TEST(MinimumCut, ALongChainNeedsNoDeepStack) {
  MinimumCut cut;
  unsigned previous = MinimumCut::kSource;
  for (int i = 0; i < 200000; ++i) {
    unsigned node = cut.addNode();
    cut.addEdge(previous, node, i == 1234 ? 3 : MinimumCut::kInfinite / 2);
    previous = node;
  }
  cut.addEdge(previous, MinimumCut::kSink, 5);
  EXPECT_EQ(cut.solve(), 3);
}

} // namespace
