//===- MinimumCut.h - The cheapest split of a graph in two sides -------------------------------------------===//

#ifndef WEFT_LIB_LAYOUT_MINIMUMCUT_H
#define WEFT_LIB_LAYOUT_MINIMUMCUT_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace weft::layout {

/// A directed graph with capacities. Every node lands on side 0 (with `kSource`) or side 1 (with `kSink`); an edge from
/// side 0 to side 1 costs its capacity. Dinic's algorithm.
class MinimumCut {
public:
  static constexpr unsigned kSource = 0, kSink = 1;
  static constexpr int64_t kInfinite = int64_t(1) << 60;

  MinimumCut() : edgesOf(2) {}
  unsigned addNode();
  void addEdge(unsigned from, unsigned to, int64_t capacity);

  /// The least cost; `kInfinite` or more where an infinite edge cannot be avoided.
  int64_t solve();
  /// After `solve`: the side of a node, in the cut that has the most nodes on side 1.
  bool isOnSinkSide(unsigned node) const { return level[node] < 0; }

private:
  struct Edge {
    unsigned to;
    int64_t capacity; // what is left of it
  };
  /// Distances from the source along edges with capacity left; whether the sink has one.
  bool findLevels();
  int64_t push();

  std::vector<Edge> edges; // edge e's reverse is e ^ 1
  std::vector<llvm::SmallVector<unsigned, 4>> edgesOf;
  std::vector<int> level;
  std::vector<unsigned> next;
};

} // namespace weft::layout

#endif
