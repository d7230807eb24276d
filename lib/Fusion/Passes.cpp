//===- Passes.cpp - The Fusion stage as a pipeline, and its registration ------------------------------------===//

#include "lib/Fusion/Passes.h"
#include "dialects/Graph/Graph.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace weft::fusion {

#define GEN_PASS_REGISTRATION
#include "lib/Fusion/Passes.h.inc"

void buildFusionPipeline(mlir::OpPassManager &passManager, llvm::StringRef device, FusionReport *report, bool fuses) {
  passManager.addPass(createInlineComposites());
  // Two composites of one model often compute the same mean.
  passManager.addPass(mlir::createCSEPass());
  FormLibraryCallsOptions contractions;
  contractions.alone = !fuses;
  passManager.addPass(createFormLibraryCalls(contractions));
  FuseOpsOptions options;
  options.device = device.str();
  options.alone = !fuses;
  passManager.addPass(createFuseOps(options, report));
  passManager.addPass(createVerifyFused());
}

void registerFusionPasses() {
  registerFusionStagePasses();
  mlir::PassPipelineRegistration<>("fusion-pipeline", "The Fusion stage for the device \"cpu\"",
                                   [](mlir::OpPassManager &passManager) { buildFusionPipeline(passManager); });
}

} // namespace weft::fusion
