//===- Passes.h - The passes of the Simplify stage --------------------------------------------------===//

#ifndef WEFT_LIB_SIMPLIFY_PASSES_H
#define WEFT_LIB_SIMPLIFY_PASSES_H

#include "dialects/Graph/GraphDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace weft {

#define GEN_PASS_DECL
#include "lib/Simplify/Passes.h.inc"

/// Makes the stage's passes known by name, and `simplify`, which is all of them in order.
void registerSimplifyPasses();

/// Adds the stage's passes in their order, the verifier last.
void buildSimplifyPipeline(mlir::OpPassManager &passManager);

} // namespace weft

#endif
