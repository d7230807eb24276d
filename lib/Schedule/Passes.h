//===- Passes.h - The Schedule stage ----------------------------------------------------------------------===//

#ifndef WEFT_LIB_SCHEDULE_PASSES_H
#define WEFT_LIB_SCHEDULE_PASSES_H

#include "dialects/Exec/Exec.h"
#include "dialects/Graph/GraphDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
}

namespace weft::schedule {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Schedule/Passes.h.inc"

inline void registerSchedulePasses() { registerWeftSchedulePasses(); }

} // namespace weft::schedule

#endif
