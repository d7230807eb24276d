//===- ModelInput.h - Reads a model file for the commands ------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_MODELINPUT_H
#define WEFT_TOOLS_WEFT_MODELINPUT_H

#include "lib/Pipeline/Pipeline.h"
#include "mlir/IR/OwningOpRef.h"
#include "tools/weft/DeviceRun.h"

namespace weft::tool {

struct Model {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  WeightStore weights;
};

/// Reads .onnx or .mlir; an error has been printed where there is no module.
Model readModel(const ModelOptions &options, mlir::MLIRContext &context);

/// Fails with a printed error where the targets make no sense. `device`, where the model is compiled to run there,
/// gives the target when there is none.
llvm::FailureOr<CompileOptions> compileOptionsOf(const ModelOptions &options, const DeviceRun *device = nullptr);
void printTimes(const CompiledModel &compiled);

} // namespace weft::tool

#endif
