//===- Counters.cpp - What a launch did ----------------------------------------------------===//
#include "runtime/Simulator/Counters.h"

#include <cstdio>

namespace weft::simulator {

namespace {
void addTraffic(LaunchCounters::Traffic &to, const LaunchCounters::Traffic &from) {
  to.requests += from.requests;
  to.bytes += from.bytes;
  to.sectors += from.sectors;
  to.wavefronts += from.wavefronts;
  for (int i = 0; i < 5; ++i)
    to.widths[i] += from.widths[i];
}
struct NamedTraffic {
  const char *key, *title;
  const LaunchCounters::Traffic *traffic;
};
} // namespace

void LaunchCounters::add(const LaunchCounters &other) {
  warpInstructions += other.warpInstructions;
  threadInstructions += other.threadInstructions;
  branches += other.branches;
  divergentBranches += other.divergentBranches;
  barriers += other.barriers;
  atomics += other.atomics;
  matrixInstructions += other.matrixInstructions;
  addTraffic(globalLoads, other.globalLoads);
  addTraffic(globalStores, other.globalStores);
  addTraffic(sharedLoads, other.sharedLoads);
  addTraffic(sharedStores, other.sharedStores);
  addTraffic(localLoads, other.localLoads);
  addTraffic(localStores, other.localStores);
  addTraffic(constantLoads, other.constantLoads);
}

std::string LaunchCounters::json() const {
  auto number = [](const char *key, uint64_t value) {
    return std::string("\"") + key + "\": " + std::to_string(value);
  };
  std::string out = "{" + number("warp_instructions", warpInstructions) + ", " +
                    number("thread_instructions", threadInstructions) + ", " + number("branches", branches) + ", " +
                    number("divergent_branches", divergentBranches) + ", " + number("barriers", barriers) + ", " +
                    number("atomics", atomics) + ", " + number("matrix_instructions", matrixInstructions);
  for (const NamedTraffic &row :
       {NamedTraffic{"global_loads", "", &globalLoads}, NamedTraffic{"global_stores", "", &globalStores},
        NamedTraffic{"shared_loads", "", &sharedLoads}, NamedTraffic{"shared_stores", "", &sharedStores},
        NamedTraffic{"local_loads", "", &localLoads}, NamedTraffic{"local_stores", "", &localStores},
        NamedTraffic{"constant_loads", "", &constantLoads}}) {
    const Traffic &t = *row.traffic;
    out += std::string(", \"") + row.key + "\": {" + number("requests", t.requests) + ", " + number("bytes", t.bytes) +
           ", " + number("sectors", t.sectors) + ", " + number("wavefronts", t.wavefronts) +
           ", \"requests_by_bytes\": {\"1\": " + std::to_string(t.widths[0]) +
           ", \"2\": " + std::to_string(t.widths[1]) + ", \"4\": " + std::to_string(t.widths[2]) +
           ", \"8\": " + std::to_string(t.widths[3]) + ", \"16\": " + std::to_string(t.widths[4]) + "}}";
  }
  return out + "}";
}

std::string LaunchCounters::table() const {
  char line[200];
  std::string out;
  auto put = [&](const char *format, auto... values) {
    std::snprintf(line, sizeof line, format, values...);
    out += line;
  };
  double lanes = warpInstructions ? double(threadInstructions) / double(warpInstructions) : 0;
  put("warp instructions    %14llu   active lanes %5.1f of 32\n", static_cast<unsigned long long>(warpInstructions),
      lanes);
  put("branches             %14llu   divergent %llu\n", static_cast<unsigned long long>(branches),
      static_cast<unsigned long long>(divergentBranches));
  put("barriers             %14llu   atomics %llu, matrix instructions %llu\n",
      static_cast<unsigned long long>(barriers), static_cast<unsigned long long>(atomics),
      static_cast<unsigned long long>(matrixInstructions));
  for (const NamedTraffic &row :
       {NamedTraffic{"", "global loads", &globalLoads}, NamedTraffic{"", "global stores", &globalStores},
        NamedTraffic{"", "local loads", &localLoads}, NamedTraffic{"", "local stores", &localStores},
        NamedTraffic{"", "constant loads", &constantLoads}}) {
    const Traffic &t = *row.traffic;
    if (t.requests)
      put("%-20s %14llu   bytes %llu, sectors a request %.2f\n", row.title, static_cast<unsigned long long>(t.requests),
          static_cast<unsigned long long>(t.bytes), double(t.sectors) / double(t.requests));
  }
  for (const NamedTraffic &row :
       {NamedTraffic{"", "shared loads", &sharedLoads}, NamedTraffic{"", "shared stores", &sharedStores}}) {
    const Traffic &t = *row.traffic;
    if (t.requests)
      put("%-20s %14llu   bytes %llu, bank passes a request %.2f\n", row.title,
          static_cast<unsigned long long>(t.requests), static_cast<unsigned long long>(t.bytes),
          double(t.wavefronts) / double(t.requests));
  }
  return out;
}

} // namespace weft::simulator
