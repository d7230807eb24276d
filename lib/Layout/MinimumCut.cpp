//===- MinimumCut.cpp - The cheapest split of a graph in two sides ---------------------------------------------===//

#include "lib/Layout/MinimumCut.h"
#include <algorithm>

namespace weft::layout {

unsigned MinimumCut::addNode() {
  edgesOf.emplace_back();
  return edgesOf.size() - 1;
}

void MinimumCut::addEdge(unsigned from, unsigned to, int64_t capacity) {
  if (from == to || capacity == 0)
    return;
  edgesOf[from].push_back(edges.size());
  edges.push_back({to, capacity});
  edgesOf[to].push_back(edges.size());
  edges.push_back({from, 0});
}

bool MinimumCut::findLevels() {
  level.assign(edgesOf.size(), -1);
  std::vector<unsigned> queue = {kSource};
  level[kSource] = 0;
  for (size_t head = 0; head < queue.size(); ++head)
    for (unsigned edge : edgesOf[queue[head]])
      if (edges[edge].capacity > 0 && level[edges[edge].to] < 0) {
        level[edges[edge].to] = level[queue[head]] + 1;
        queue.push_back(edges[edge].to);
      }
  return level[kSink] >= 0;
}

int64_t MinimumCut::push() {
  // Depth-first along increasing levels, without recursion: a path may be as long as the graph.
  std::vector<unsigned> path;
  unsigned node = kSource;
  while (node != kSink) {
    bool advanced = false;
    for (unsigned &position = next[node]; position < edgesOf[node].size(); ++position) {
      unsigned edge = edgesOf[node][position];
      if (edges[edge].capacity > 0 && level[edges[edge].to] == level[node] + 1) {
        path.push_back(edge);
        node = edges[edge].to;
        advanced = true;
        break;
      }
    }
    if (advanced)
      continue;
    if (path.empty())
      return 0;
    node = edges[path.back() ^ 1].to;
    path.pop_back();
    ++next[node];
  }
  int64_t amount = kInfinite;
  for (unsigned edge : path)
    amount = std::min(amount, edges[edge].capacity);
  for (unsigned edge : path) {
    edges[edge].capacity -= amount;
    edges[edge ^ 1].capacity += amount;
  }
  return amount;
}

int64_t MinimumCut::solve() {
  int64_t total = 0;
  while (findLevels()) {
    next.assign(edgesOf.size(), 0);
    while (int64_t amount = push()) {
      total += amount;
      if (total >= kInfinite)
        return total;
    }
  }
  return total;
}

} // namespace weft::layout
