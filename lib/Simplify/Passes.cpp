//===- Passes.cpp - Registration and order of the passes of the Simplify stage ------------------------===//

#include "lib/Simplify/Passes.h"
#include "mlir/Pass/PassRegistry.h"

namespace weft {

namespace {
#define GEN_PASS_REGISTRATION
#include "lib/Simplify/Passes.h.inc"
} // namespace

void buildSimplifyPipeline(mlir::OpPassManager &passManager) {
  passManager.addPass(createSimplifyGraph());
  // Equal subexpressions found once may let patterns see that two operands are one value.
  passManager.addPass(createEliminateCommonSubexpressions());
  passManager.addPass(createSimplifyGraph());
  passManager.addPass(createEliminateCommonSubexpressions());
  passManager.addPass(createRemoveDeadParameters());
  passManager.addPass(createVerifySimplified());
}

void registerSimplifyPasses() {
  registerSimplifyStagePasses();
  mlir::PassPipelineRegistration<>("simplify", "All passes of the Simplify stage in order", buildSimplifyPipeline);
}

} // namespace weft
