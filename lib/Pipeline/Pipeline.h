//===- Pipeline.h - The order of the stages, and the compiler as one call ------------------------------------===//

#ifndef WEFT_LIB_PIPELINE_PIPELINE_H
#define WEFT_LIB_PIPELINE_PIPELINE_H

#include "lib/Emit/Emit.h"
#include "lib/Fusion/FusionReport.h"
#include "lib/Pipeline/ShapeVariant.h"
#include "lib/Pipeline/Targets.h"
#include "lib/Support/WeightStore.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>
#include <string>
#include <vector>

namespace weft {

/// What a module has been through. A stage's name is that of its `--emit`.
enum class Stage { Import, Simplified, Layout, Fused, Exec, Llvm, Artifact };

llvm::StringRef stageName(Stage stage);
std::optional<Stage> stageFromName(llvm::StringRef name);

struct CompileOptions {
  /// Each gives a variant of the program in the one artifact; they share weights. The first is what the module, the
  /// observers and the reports show.
  std::vector<CompileTarget> targets = {CompileTarget()};
  /// Values of symbols that the artifact holds a program of its own for, beside the one for all values; the runtime
  /// takes it where the inputs have these sizes.
  std::vector<ShapeVariant> shapeVariants;
  /// "native", "x86-64-v3" or "x86-64-v4".
  std::string cpu = "native";
  /// "strict" or "fast".
  std::string numerics = "strict";
  /// For messages and the artifact.
  std::string modelName = "model";
  /// Compilation ends after this stage.
  Stage stopAfter = Stage::Artifact;
  /// Where set, the IR after each stage goes to numbered files in this folder, which is made.
  std::string dumpDirectory;
  /// Called with the module after each stage up to Exec.
  std::function<void(Stage, mlir::ModuleOp)> observer;
  /// Called with the last form in which every kernel still is an op on tensors, one to one with the launches and
  /// library calls of the program, and with the weights of that form.
  std::function<void(mlir::ModuleOp, const WeightStore &)> kernelObserver;
  /// Without it every op is a kernel of its own; the results are the same as the numerics contract says.
  bool fuses = true;
  /// Where set, filled with why each pair of neighbours was fused or not.
  fusion::FusionReport *fusionReport = nullptr;
};

/// The seconds that a stage took.
struct StageTime {
  std::string name;
  double seconds = 0;
};

struct CompiledModel {
  emit::EmittedProgram emitted;           // after Stage::Artifact; the bytes of its weights belong to `weights`
  WeightStore weights;                    // parameters, with the results of @prepare in place of what it took
  std::vector<WeightStore> targetWeights; // the same of the further targets and shape variants
  std::string llvmText;                   // after Stage::Llvm: LLVM IR of all kernels
  std::string ptxText;                    // after Stage::Llvm, of a GPU: what became of it
  std::vector<StageTime> times;
};

/// Loads every dialect that the compiler makes.
void loadCompilerDialects(mlir::MLIRContext &context);

/// Takes an imported module through the stages, in place: after the call it holds what `options.stopAfter` names.
/// Errors are diagnostics of the context.
llvm::FailureOr<CompiledModel> compile(mlir::ModuleOp module, WeightStore weights, const CompileOptions &options);

} // namespace weft

#endif
