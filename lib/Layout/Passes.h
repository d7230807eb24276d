//===- Passes.h - The passes of the Layout stage -----------------------------------------------------===//

#ifndef WEFT_LIB_LAYOUT_PASSES_H
#define WEFT_LIB_LAYOUT_PASSES_H

#include "dialects/Graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace weft {

#define GEN_PASS_DECL
#include "lib/Layout/Passes.h.inc"

/// Makes the stage's passes known by name, and `layout`, which is all of them in order.
void registerLayoutPasses();

/// Adds the stage's passes in their order, the verifier last.
void buildLayoutPipeline(mlir::OpPassManager &passManager);

} // namespace weft

#endif
