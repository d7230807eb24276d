//===- ArenaPlanner.cpp - Where each temporary lies in the arena -------------------------------------------===//

#include "lib/Schedule/ArenaPlanner.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace weft::schedule {

namespace {

/// `bytes` as units * factor, the factor without a constant part; an integer has the factor 1.
struct Scaled {
  graph::Dim factor;
  int64_t units = 0;
};

Scaled scale(const graph::Dim &bytes) {
  MLIRContext *context = bytes.getContext();
  if (bytes.isConstant())
    return {graph::Dim::constant(context, 1), bytes.getConstant()};
  int64_t divisor = bytes.getExpression().getLargestKnownDivisor();
  if (divisor > 1)
    if (std::optional<graph::Dim> factor = bytes.divideExactly(graph::Dim::constant(context, divisor)))
      return {*factor, divisor};
  return {bytes, 1};
}

struct Region {
  graph::Dim factor;
  std::vector<size_t> members;
};

} // namespace

ArenaPlan planArena(const std::vector<Temporary> &temporaries, MLIRContext *context) {
  constexpr int64_t kAlignment = 64;
  ArenaPlan plan;
  plan.offsets.resize(temporaries.size());
  plan.size = graph::Dim::constant(context, 0);

  std::vector<int64_t> units(temporaries.size());
  std::vector<Region> regions;
  for (auto [index, temporary] : llvm::enumerate(temporaries)) {
    Scaled scaled = scale(temporary.bytes);
    units[index] = llvm::alignTo(scaled.units, kAlignment);
    auto found = llvm::find_if(regions, [&](const Region &region) { return region.factor == scaled.factor; });
    if (found == regions.end())
      found = regions.insert(regions.end(), Region{scaled.factor, {}});
    found->members.push_back(index);
  }

  for (Region &region : regions) {
    llvm::sort(region.members, [&](size_t a, size_t b) { return units[a] != units[b] ? units[a] > units[b] : a < b; });
    std::vector<int64_t> offset(temporaries.size(), 0);
    std::vector<size_t> placed; // by offset
    int64_t regionUnits = 0;
    for (size_t member : region.members) {
      const Temporary &temporary = temporaries[member];
      int64_t candidate = 0;
      for (size_t other : placed) {
        const Temporary &neighbour = temporaries[other];
        if (neighbour.end < temporary.begin || temporary.end < neighbour.begin)
          continue;
        if (candidate + units[member] <= offset[other])
          break;
        candidate = std::max(candidate, offset[other] + units[other]);
      }
      offset[member] = candidate;
      regionUnits = std::max(regionUnits, candidate + units[member]);
      placed.insert(llvm::upper_bound(placed, member, [&](size_t a, size_t b) { return offset[a] < offset[b]; }),
                    member);
    }
    for (size_t member : region.members)
      plan.offsets[member] = plan.size + region.factor * offset[member];
    plan.size = plan.size + region.factor * regionUnits;
  }
  return plan;
}

} // namespace weft::schedule
