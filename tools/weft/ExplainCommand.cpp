//===- ExplainCommand.cpp - weft explain -------------------------------------------------------------------------===//

#include "dialects/Exec/Exec.h"
#include "tools/weft/Commands.h"
#include "tools/weft/Diagnostics.h"
#include "tools/weft/ModelInput.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace weft::tool {

namespace {

/// An affine map of the entry's symbols at their upper bounds.
int64_t atMaximums(AffineMap map, ArrayRef<int64_t> maximums) {
  SmallVector<Attribute> values;
  Builder builder(map.getContext());
  for (int64_t value : maximums)
    values.push_back(builder.getIndexAttr(value));
  SmallVector<Attribute> folded;
  if (mlir::failed(map.constantFold(values, folded)))
    return 0;
  return cast<IntegerAttr>(folded.front()).getInt();
}

struct ProgramSummary {
  int64_t launches = 0, libraryCalls = 0, kernels = 0, arenaBytes = 0;
};

ProgramSummary summarize(ModuleOp module) {
  ProgramSummary summary;
  module.walk([&](Operation *op) {
    summary.launches += isa<exec::LaunchOp>(op);
    summary.libraryCalls += isa<exec::LibraryCallOp>(op);
    summary.kernels += isa<exec::KernelOp>(op);
  });
  for (auto entry : module.getOps<exec::EntryOp>())
    summary.arenaBytes = std::max(summary.arenaBytes, atMaximums(entry.getArena(), entry.getMaximums()));
  return summary;
}

} // namespace

int runExplain(const ExplainCommand &command) {
  MLIRContext context;
  DiagnosticPrinter printer(context);
  loadCompilerDialects(context);
  FailureOr<CompileOptions> options = compileOptionsOf(command.model);
  if (mlir::failed(options))
    return 1;
  Model model = readModel(command.model, context);
  if (!model.module)
    return 1;
  fusion::FusionReport report;
  options->stopAfter = Stage::Exec;
  options->fusionReport = &report;
  FailureOr<CompiledModel> compiled = compile(*model.module, std::move(model.weights), *options);
  if (mlir::failed(compiled))
    return 1;
  ProgramSummary summary = summarize(*model.module);
  if (command.json) {
    llvm::json::Value value = fusion::toJson(report);
    if (llvm::json::Object *object = value.getAsObject())
      (*object)["program"] = llvm::json::Object{{"launches", summary.launches},
                                                {"libraryCalls", summary.libraryCalls},
                                                {"distinctKernels", summary.kernels},
                                                {"arenaBytes", summary.arenaBytes}};
    llvm::outs() << llvm::formatv("{0:2}", value) << "\n";
    return 0;
  }
  fusion::print(report, llvm::outs());
  llvm::outs() << "program: " << summary.launches << " launches, " << summary.libraryCalls << " library calls, "
               << summary.kernels << " distinct kernels; peak memory of temporaries " << summary.arenaBytes
               << " bytes at the upper bounds\n";
  return 0;
}

} // namespace weft::tool
