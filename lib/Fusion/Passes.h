//===- Passes.h - The passes of the Fusion stage -------------------------------------------------------===//

#ifndef WEFT_LIB_FUSION_PASSES_H
#define WEFT_LIB_FUSION_PASSES_H

#include "lib/Fusion/FusionReport.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace weft::fusion {

#define GEN_PASS_DECL
#include "lib/Fusion/Passes.h.inc"

/// The fuse pass, with its decisions written into `report`, which outlives the pass.
std::unique_ptr<mlir::Pass> createFuseOps(const FuseOpsOptions &options, FusionReport *report);

/// The whole stage: inline-composites, merging of equal ops, form-library-calls, fuse-ops, verify-fused. `device` is a
/// name that `findDevice` takes. `report`, where given, outlives the pass manager and receives the decisions. Without
/// `fuses` every op is a kernel of its own: what a fused program is compared with.
void buildFusionPipeline(mlir::OpPassManager &passManager, llvm::StringRef device = "cpu",
                         FusionReport *report = nullptr, bool fuses = true);

/// Registers the passes by name, and the stage as `fusion-pipeline`.
void registerFusionPasses();

} // namespace weft::fusion

#endif
