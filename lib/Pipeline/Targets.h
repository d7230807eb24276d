//===- Targets.h - What to compile for ---------------------------------------------------------------------===//

#ifndef WEFT_LIB_PIPELINE_TARGETS_H
#define WEFT_LIB_PIPELINE_TARGETS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace weft {

/// One kind of machine.
struct CompileTarget {
  std::string device = "cpu"; // "cpu" or "cuda"
  std::string chip;           // of a GPU: "sm_90"
  bool cubin = false;         // of a GPU: with machine code beside the PTX

  bool isGpu() const { return device == "cuda"; }
  /// "cpu", "cuda:sm_90".
  std::string name() const { return isGpu() ? device + ":" + chip : device; }
  /// The description of lib/DeviceModel that costs are reckoned by.
  std::string deviceModel() const;
};

/// Reads a list like "cpu,cuda:sm_80,cuda:sm_90+cubin". The error says which word is wrong, and what is expected.
llvm::Expected<std::vector<CompileTarget>> parseTargets(llvm::StringRef text);

/// The newest chip that there are kernels for and that a GPU of this architecture (90 for sm_90) runs; empty where
/// there is none.
std::string chipForArchitecture(int architecture);

} // namespace weft

#endif
