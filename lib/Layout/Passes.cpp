//===- Passes.cpp - Registration and order of the passes of the Layout stage ----------------------------===//

#include "lib/Layout/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace weft {

namespace {

#define GEN_PASS_REGISTRATION
#include "lib/Layout/Passes.h.inc"

/// The dialect's own folds: merges of transposes and reshapes, removal of ops without uses.
std::unique_ptr<mlir::Pass> createCleanup() {
  mlir::GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(mlir::GreedySimplifyRegionLevel::Disabled);
  return mlir::createCanonicalizerPass(config);
}

} // namespace

void buildLayoutPipeline(mlir::OpPassManager &passManager) {
  // Folds come first: they look for a scale right behind its contraction, where no transpose is yet.
  passManager.addPass(createInlineBatchNorm());
  passManager.addPass(createFoldChannelArithmetic());
  // Transposes are put where the contractions want them, and then moved to where they cost least.
  passManager.addPass(createConvertConvolutionLayout());
  passManager.addPass(createConvertDotLayout());
  passManager.addPass(createCleanup());
  passManager.addPass(createMinimizeTransposes());
  passManager.addPass(createCleanup());
  passManager.addPass(createReorderFlattenedWeights());
  // Last, when all work on frozen parameters is there.
  passManager.addPass(createHoistFrozen());
  passManager.addPass(createCleanup());
  passManager.addPass(createVerifyLayout());
}

void registerLayoutPasses() {
  registerLayoutStagePasses();
  mlir::PassPipelineRegistration<>("layout", "All passes of the Layout stage in order", buildLayoutPipeline);
}

} // namespace weft
