//===- DeviceRun.h - The device that a command runs on ------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_DEVICERUN_H
#define WEFT_TOOLS_WEFT_DEVICERUN_H

#include "tools/weft/Commands.h"
#include "llvm/Support/LogicalResult.h"

namespace weft::tool {

/// A device as the runtime is to open it, and what to compile for it.
struct DeviceRun {
  std::string device = "cpu";
  std::string driver; // of a GPU; empty: the machine's
  std::string target = "cpu";
};

/// Finds the device; the error, which says what was looked for, has been printed.
llvm::FailureOr<DeviceRun> openDevice(const DeviceOptions &options);

} // namespace weft::tool

#endif
