//===- MergeKernels.cpp - Kernels with several results, and why pairs stayed apart -----------------------------===//

#include "lib/Fusion/FusionNames.h"
#include "lib/Fusion/PriorityFusion.h"

using namespace mlir;

namespace weft::fusion {

using namespace weft::graph;
using Outcome = FusionDecision::Outcome;

namespace {

/// So many pairs are tried among the clusters that read one value.
constexpr unsigned kMaximumSiblingPairs = 64;
constexpr llvm::StringLiteral kOrder = "something between them depends on one and is needed by the other";
constexpr llvm::StringLiteral kManyUsers = "more than 64 kernels read its value";
constexpr llvm::StringLiteral kFixedUser = "its value is needed outside of kernels too, and together they cost as much";
constexpr llvm::StringLiteral kSlower = "together they are slower";
constexpr llvm::StringLiteral kMemory = "it would keep more in memory past other kernels than it saves";
constexpr llvm::StringLiteral kOtherUsers = "it cannot become part of every kernel that reads its value";

/// Two clusters as one kernel.
struct Merged {
  SmallVector<unsigned, 4> members;
  SmallVector<Value, 1> outputs;
  KernelAnalysis analysis;
  unsigned position = 0;
  double gain = 0;
};

/// The two as one kernel, where the order of everything else allows it: `first` runs before `second`. `reason` says why
/// not.
std::optional<Merged> tryMerge(FusionGraph &graph, unsigned first, unsigned second, StringRef &reason) {
  Cluster &a = graph[first], &b = graph[second];
  // Late: all that reads from the first comes after the second. Early: all that the second needs is there before the
  // first.
  auto readers = graph.getReaderRange(first, second);
  bool late = !readers || readers->first > b.position;
  bool early = graph.getLatestProducer(second, first) < static_cast<int64_t>(a.position);
  if (!late && !early) {
    reason = kOrder;
    return std::nullopt;
  }
  Merged merged;
  merged.position = late ? b.position : a.position;
  merged.members = graph.unite(first, second);
  for (Value output : a.outputs)
    if (graph.getReaderRange(output, second))
      merged.outputs.push_back(output);
  llvm::append_range(merged.outputs, b.outputs);
  merged.analysis = graph.analyze(merged.members, merged.outputs);
  if (!merged.analysis.isKernel()) {
    reason = merged.analysis.reason;
    return std::nullopt;
  }
  merged.gain = a.analysis.seconds + b.analysis.seconds - merged.analysis.seconds;
  // What is made earlier or kept longer than needed takes memory in between.
  if (graph.hasKernelBetween(a.position, b.position)) {
    double held = 0;
    if (late) {
      for (Value operand : a.analysis.operands)
        if (Value stored = graph.getStored(operand); graph.isAllocatedHere(stored))
          held += graph.getAnalyzer().getBytes(stored.getType());
    } else {
      for (Value output : b.outputs)
        if (!graph.isGivenBack(output))
          held += graph.getAnalyzer().getBytes(output.getType());
    }
    merged.gain -= 2 * held / graph.getAnalyzer().getDevice().memoryBandwidth;
  }
  if (merged.gain <= 0) {
    reason = kSlower;
    return std::nullopt;
  }
  return merged;
}

void applyMerge(FusionGraph &graph, unsigned first, unsigned second, Merged merged, FusionReport &report) {
  report.decisions.push_back({nameCluster(graph, first), nameCluster(graph, second), Outcome::Merged, "",
                              graph[first].analysis.seconds + graph[second].analysis.seconds, merged.analysis.seconds});
  graph.merge(first, second, std::move(merged.members), std::move(merged.outputs), std::move(merged.analysis),
              merged.position);
}

/// Merges each producer with the clusters that read from it.
void mergeWithUsers(FusionGraph &graph, FusionReport &report) {
  for (unsigned producer = 0; producer < graph.size(); ++producer) {
    if (!graph[producer].live)
      continue;
    SmallVector<unsigned> users(graph.getUsers(producer).begin(), graph.getUsers(producer).end());
    for (unsigned user : users) {
      if (users.size() > kMaximumSiblingPairs)
        break;
      StringRef reason;
      if (auto merged = tryMerge(graph, producer, user, reason)) {
        // The user now is the kernel of both, and is looked at when its number comes up.
        applyMerge(graph, producer, user, std::move(*merged), report);
        break;
      }
    }
  }
}

/// Merges clusters that read the same value, one after the other into the first that takes them.
void mergeSiblings(FusionGraph &graph, FusionReport &report) {
  // By value, in the order of the first reader.
  llvm::MapVector<Value, SmallVector<unsigned>> readers;
  for (unsigned cluster = 0; cluster < graph.size(); ++cluster)
    if (graph[cluster].live)
      for (Value operand : graph[cluster].analysis.operands) {
        SmallVector<unsigned> &list = readers[graph.getStored(operand)];
        if (list.empty() || list.back() != cluster)
          list.push_back(cluster);
      }
  // What a cluster was merged into.
  llvm::DenseMap<unsigned, unsigned> mergedInto;
  auto current = [&](unsigned cluster) {
    for (auto found = mergedInto.find(cluster); found != mergedInto.end(); found = mergedInto.find(cluster))
      cluster = found->second;
    return cluster;
  };
  for (auto &[value, list] : readers) {
    double bytes = graph.getAnalyzer().getBytes(value.getType());
    unsigned tried = 0;
    for (size_t i = 0; i < list.size(); ++i)
      for (size_t j = i + 1; j < list.size() && tried < kMaximumSiblingPairs; ++j) {
        unsigned first = current(list[i]), second = current(list[j]);
        if (first == second)
          continue;
        if (graph[first].position > graph[second].position)
          std::swap(first, second);
        // Sharing a small value, a bias say, makes two kernels no siblings.
        if (4 * bytes < std::min(graph[first].analysis.bytes, graph[second].analysis.bytes) ||
            graph.getUsers(first).count(second))
          continue;
        ++tried;
        StringRef reason;
        if (auto merged = tryMerge(graph, first, second, reason)) {
          applyMerge(graph, first, second, std::move(*merged), report);
          mergedInto[first] = second;
        }
      }
  }
}

} // namespace

void mergeKernels(FusionGraph &graph, FusionReport &report) {
  mergeWithUsers(graph, report);
  mergeSiblings(graph, report);
}

void explainRest(FusionGraph &graph, FusionReport &report) {
  for (unsigned producer = 0; producer < graph.size(); ++producer) {
    if (!graph[producer].live)
      continue;
    bool manyUsers = graph.getUsers(producer).size() > 64;
    for (unsigned user : graph.getUsers(producer)) {
      FusionDecision decision{nameCluster(graph, producer), nameCluster(graph, user), Outcome::NotLegal, "", 0, 0};
      decision.secondsApart = graph[producer].analysis.seconds + graph[user].analysis.seconds;
      if (manyUsers) {
        decision.reason = kManyUsers;
        report.decisions.push_back(std::move(decision));
        continue;
      }
      KernelAnalysis together = graph.analyze(graph.unite(producer, user), graph[user].outputs);
      if (!together.isKernel()) {
        decision.reason = together.reason;
      } else {
        decision.outcome = Outcome::Costlier;
        decision.secondsTogether = together.seconds;
        if (graph.hasFixedUser(producer))
          decision.reason = kFixedUser;
        else if (together.seconds >= decision.secondsApart)
          decision.reason = kSlower;
        else
          decision.reason = graph.getUsers(producer).size() == 1 ? kMemory : kOtherUsers;
      }
      report.decisions.push_back(std::move(decision));
    }
  }
}

} // namespace weft::fusion
