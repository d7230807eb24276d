//===- FusionReport.h - What the Fusion stage decided of each pair of neighbours, and why -----------------===//

#ifndef WEFT_LIB_FUSION_FUSIONREPORT_H
#define WEFT_LIB_FUSION_FUSIONREPORT_H

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <string>
#include <vector>

namespace weft::fusion {

/// One decision about a producer and a kernel that reads its value, or about two kernels that read the same value.
struct FusionDecision {
  enum class Outcome {
    Fused,    // the producer became part of the consumer
    Copied,   // the consumer computes the value itself, and the producer stays for others
    Merged,   // the two became one kernel with the results of both
    NotLegal, // `reason` says which rule
    Costlier, // legal, but slower together
  };
  std::string producer, consumer; // op name and the model's node names
  Outcome outcome = Outcome::Fused;
  std::string reason;         // why not; empty where they fused
  double secondsApart = 0;    // of the kernels involved, as priced when the decision was taken
  double secondsTogether = 0; // 0 where they cannot be one kernel
};

/// All decisions of one run of the stage, and what it made of the module.
struct FusionReport {
  std::string device;
  std::vector<FusionDecision> decisions;
  int64_t kernelsBefore = 0, kernelsAfter = 0; // reshapes and constants are none
  double bytesBefore = 0, bytesAfter = 0;      // moved by these kernels, at the upper bounds of the symbols
  double secondsBefore = 0, secondsAfter = 0;  // by the cost model
};

/// "fused", "copied", "merged", "not legal", "costlier".
llvm::StringRef toString(FusionDecision::Outcome outcome);

/// The report for people: a line a decision, then the sums.
void print(const FusionReport &report, llvm::raw_ostream &os);

/// {"device", "kernels": {"before", "after"}, "bytes": {...}, "seconds": {...}, "decisions": [{"producer", "consumer",
/// "outcome", "reason", "seconds_apart", "seconds_together"}]}.
llvm::json::Value toJson(const FusionReport &report);

} // namespace weft::fusion

#endif
