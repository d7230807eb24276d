//===- PriorityFusion.cpp - Fuses producers into their users, by what it saves -------------------------------===//

#include "lib/Fusion/PriorityFusion.h"
#include "lib/Fusion/FusionNames.h"
#include <queue>

using namespace mlir;

namespace weft::fusion {

using namespace weft::graph;
using Outcome = FusionDecision::Outcome;

namespace {

/// A producer that more clusters than this read is kept: fusing it would repeat it as often.
constexpr size_t kMaximumUsers = 64;
/// So many pairs are priced for one producer each time one of its neighbours changes; after that only when it comes up,
/// so that the work does not grow with the square of the number of its users.
constexpr unsigned kEagerPricings = 512;
/// Less than this is no gain: rounding of the sums.
constexpr double kLeastGain = 1e-12;

/// What it saves to fuse a producer into its users.
struct Plan {
  double gain = 0;
  bool intoAll = false; // the producer vanishes; else it is copied into those users where that saves time
};

class ProducerFusion {
public:
  ProducerFusion(FusionGraph &graph, FusionReport &report)
      : graph(graph), report(report), versions(graph.size(), 0), pricings(graph.size(), 0), stale(graph.size(), false) {
  }

  void run();

private:
  struct Pair {
    unsigned user;
    KernelAnalysis together;
    double apart;
  };
  /// One entry a user, priced.
  SmallVector<Pair> pricePairs(unsigned producer);
  Plan plan(unsigned producer, ArrayRef<Pair> pairs);
  double livenessPenalty(unsigned producer);
  void price(unsigned producer);
  void touch(unsigned producer);
  void apply(unsigned producer, const Plan &plan, ArrayRef<Pair> pairs);

  struct Entry {
    double gain;
    unsigned producer, version;
    bool operator<(const Entry &other) const {
      return gain != other.gain ? gain < other.gain : producer > other.producer;
    }
  };
  FusionGraph &graph;
  FusionReport &report;
  std::priority_queue<Entry> queue;
  std::vector<unsigned> versions, pricings;
  std::vector<bool> stale;
};

SmallVector<ProducerFusion::Pair> ProducerFusion::pricePairs(unsigned producer) {
  SmallVector<Pair> pairs;
  for (unsigned user : graph.getUsers(producer)) {
    SmallVector<unsigned, 4> members = graph.unite(producer, user);
    pairs.push_back({user, graph.analyze(members, graph[user].outputs), graph[user].analysis.seconds});
    ++pricings[producer];
  }
  return pairs;
}

/// The price of keeping the producer's operands until its users run, where they would have died with the producer and
/// are larger than its result: as if the difference were written and read once.
double ProducerFusion::livenessPenalty(unsigned producer) {
  Cluster &cluster = graph[producer];
  auto range = graph.getReaderRange(producer, std::nullopt);
  // The next kernel in order reads it: nothing else is allocated in between.
  if (!range || !graph.hasKernelBetween(cluster.position, range->second))
    return 0;
  double dying = 0, kept = 0;
  for (Value operand : cluster.analysis.operands) {
    Value stored = graph.getStored(operand);
    if (!graph.isAllocatedHere(stored))
      continue;
    auto readers = graph.getReaderRange(stored, producer);
    if (!readers || readers->second < cluster.position)
      dying += graph.getAnalyzer().getBytes(stored.getType());
  }
  for (Value output : cluster.outputs)
    kept += graph.getAnalyzer().getBytes(output.getType());
  return dying > kept ? 2 * (dying - kept) / graph.getAnalyzer().getDevice().memoryBandwidth : 0;
}

Plan ProducerFusion::plan(unsigned producer, ArrayRef<Pair> pairs) {
  bool all = !pairs.empty() && !graph.hasFixedUser(producer) && graph[producer].outputs.size() == 1;
  double gainOfAll = graph[producer].analysis.seconds, gainOfCopies = 0;
  for (const Pair &pair : pairs) {
    if (!pair.together.isKernel()) {
      all = false;
      continue;
    }
    double gain = pair.apart - pair.together.seconds;
    gainOfAll += gain;
    if (gain > kLeastGain)
      gainOfCopies += gain;
  }
  if (all)
    gainOfAll -= livenessPenalty(producer);
  Plan result;
  result.intoAll = all && gainOfAll >= gainOfCopies;
  result.gain = result.intoAll ? gainOfAll : gainOfCopies;
  return result;
}

void ProducerFusion::price(unsigned producer) {
  ++versions[producer];
  stale[producer] = false;
  size_t users = graph.getUsers(producer).size();
  if (users == 0 || users > kMaximumUsers)
    return;
  Plan found = plan(producer, pricePairs(producer));
  if (found.gain > kLeastGain)
    queue.push({found.gain, producer, versions[producer]});
}

/// Prices the producer again because something next to it changed.
void ProducerFusion::touch(unsigned producer) {
  if (pricings[producer] < kEagerPricings)
    price(producer);
  else
    stale[producer] = true;
}

void ProducerFusion::apply(unsigned producer, const Plan &plan, ArrayRef<Pair> pairs) {
  std::set<unsigned> changed;
  for (unsigned neighbour : graph.getProducers(producer))
    changed.insert(neighbour);
  for (const Pair &pair : pairs) {
    if (!plan.intoAll && (!pair.together.isKernel() || pair.apart - pair.together.seconds <= kLeastGain))
      continue;
    report.decisions.push_back({nameCluster(graph, producer), nameCluster(graph, pair.user),
                                plan.intoAll ? Outcome::Fused : Outcome::Copied, "",
                                pair.apart + graph[producer].analysis.seconds, pair.together.seconds});
    graph.replace(pair.user, graph.unite(producer, pair.user), graph[pair.user].outputs, pair.together,
                  graph[pair.user].position);
    changed.insert(pair.user);
    for (unsigned neighbour : graph.getProducers(pair.user))
      changed.insert(neighbour);
  }
  if (plan.intoAll)
    graph.remove(producer);
  for (unsigned neighbour : changed)
    if (graph[neighbour].live)
      touch(neighbour);
}

void ProducerFusion::run() {
  for (unsigned producer = 0; producer < graph.size(); ++producer)
    if (graph[producer].live)
      price(producer);
  while (!queue.empty()) {
    Entry entry = queue.top();
    queue.pop();
    if (!graph[entry.producer].live || entry.version != versions[entry.producer])
      continue;
    if (stale[entry.producer]) {
      price(entry.producer);
      continue;
    }
    SmallVector<Pair> pairs = pricePairs(entry.producer);
    Plan found = plan(entry.producer, pairs);
    // What lies between the two may have changed since.
    if (found.gain > kLeastGain)
      apply(entry.producer, found, pairs);
  }
}

} // namespace

void fuseProducers(FusionGraph &graph, FusionReport &report) { ProducerFusion(graph, report).run(); }

} // namespace weft::fusion
