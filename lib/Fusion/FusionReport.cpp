//===- FusionReport.cpp - What the Fusion stage decided, as text and JSON ----------------------------------===//

#include "lib/Fusion/FusionReport.h"
#include "llvm/Support/Format.h"

namespace weft::fusion {

llvm::StringRef toString(FusionDecision::Outcome outcome) {
  switch (outcome) {
  case FusionDecision::Outcome::Fused:
    return "fused";
  case FusionDecision::Outcome::Copied:
    return "copied";
  case FusionDecision::Outcome::Merged:
    return "merged";
  case FusionDecision::Outcome::NotLegal:
    return "not legal";
  case FusionDecision::Outcome::Costlier:
    return "costlier";
  }
  return "unknown";
}

void print(const FusionReport &report, llvm::raw_ostream &os) {
  auto microseconds = [](double seconds) { return llvm::format("%.2f us", seconds * 1e6); };
  for (const FusionDecision &decision : report.decisions) {
    os << toString(decision.outcome) << ": " << decision.producer << " and " << decision.consumer;
    if (!decision.reason.empty())
      os << ", because " << decision.reason;
    os << " (apart " << microseconds(decision.secondsApart);
    if (decision.secondsTogether > 0)
      os << ", together " << microseconds(decision.secondsTogether);
    os << ")\n";
  }
  os << "kernels: " << report.kernelsBefore << " -> " << report.kernelsAfter << "\n";
  os << "bytes: " << llvm::format("%.0f -> %.0f", report.bytesBefore, report.bytesAfter) << "\n";
  os << "time on " << report.device << ": " << microseconds(report.secondsBefore) << " -> "
     << microseconds(report.secondsAfter) << "\n";
}

llvm::json::Value toJson(const FusionReport &report) {
  auto pair = [](auto before, auto after) { return llvm::json::Object{{"before", before}, {"after", after}}; };
  llvm::json::Array decisions;
  for (const FusionDecision &decision : report.decisions)
    decisions.push_back(llvm::json::Object{{"producer", decision.producer},
                                           {"consumer", decision.consumer},
                                           {"outcome", toString(decision.outcome)},
                                           {"reason", decision.reason},
                                           {"seconds_apart", decision.secondsApart},
                                           {"seconds_together", decision.secondsTogether}});
  return llvm::json::Object{{"device", report.device},
                            {"kernels", pair(report.kernelsBefore, report.kernelsAfter)},
                            {"bytes", pair(report.bytesBefore, report.bytesAfter)},
                            {"seconds", pair(report.secondsBefore, report.secondsAfter)},
                            {"decisions", std::move(decisions)}};
}

} // namespace weft::fusion
