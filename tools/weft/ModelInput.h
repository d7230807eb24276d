//===- ModelInput.h - Reads a model file for the commands ------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_MODELINPUT_H
#define WEFT_TOOLS_WEFT_MODELINPUT_H

#include "lib/Pipeline/Pipeline.h"
#include "mlir/IR/OwningOpRef.h"
#include "tools/weft/Commands.h"

namespace weft::tool {

struct Model {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  WeightStore weights;
};

/// Reads .onnx or .mlir; an error has been printed where there is no module. The options that no stage looks at
/// (target) are checked here too.
Model readModel(const ModelOptions &options, mlir::MLIRContext &context);

CompileOptions compileOptionsOf(const ModelOptions &options);
void printTimes(const CompiledModel &compiled);

} // namespace weft::tool

#endif
