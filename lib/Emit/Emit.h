//===- Emit.h - From an Exec program to an artifact ----------------------------------------------------------===//

#ifndef WEFT_LIB_EMIT_EMIT_H
#define WEFT_LIB_EMIT_EMIT_H

#include "lib/Support/WeightStore.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/Artifact/ArtifactWriter.h"

namespace weft::emit {

/// What the artifact says about itself beside the program.
struct EmitOptions {
  std::string modelName;
  std::string numerics = "strict";
  /// The target, with its kernels: one shared object that defines every exec.kernel of the module by its name.
  runtime::Target target;
};

/// A program and the bytes of its weights, which stay where the weight store has them.
struct EmittedProgram {
  runtime::Program program;
  std::vector<runtime::WeightBytes> weights;
};

/// Converts a module of the Exec dialect, whose kernels have their `tiles`, `grain` and `scratch`. The module's affine
/// maps become expressions of the artifact. Weights that no buffer uses are left out. Emits an error and fails where a
/// weight is missing.
llvm::FailureOr<EmittedProgram> emitProgram(mlir::ModuleOp module, const WeightStore &weights,
                                            const EmitOptions &options);

} // namespace weft::emit

#endif
