//===- Passes.h - The Schedule stage ----------------------------------------------------------------------===//

#ifndef WEFT_LIB_SCHEDULE_PASSES_H
#define WEFT_LIB_SCHEDULE_PASSES_H

#include "dialects/Exec/Exec.h"
#include "dialects/Graph/GraphDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace weft::schedule {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Schedule/Passes.h.inc"

inline void registerSchedulePasses() { registerWeftSchedulePasses(); }

/// The stage: a fused module whose weights are prepared becomes a program of the Exec dialect.
inline void buildSchedulePipeline(mlir::OpPassManager &manager) {
  manager.addPass(createSplitLibraryEpilogues());
  manager.addPass(createScheduleToExec());
  manager.addPass(createVerifyExec());
}

} // namespace weft::schedule

#endif
