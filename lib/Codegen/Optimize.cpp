//===- Optimize.cpp - LLVM's optimizations on a kernel -------------------------------------------------===//

#include "lib/Codegen/Optimize.h"
#include "lib/Codegen/PassAnalyses.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace weft::codegen {

void optimize(llvm::Module &module, llvm::TargetMachine &machine, bool vectorize) {
  module.setDataLayout(machine.createDataLayout());
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = vectorize;
  tuning.SLPVectorization = vectorize;
  tuning.LoopInterleaving = vectorize;
  llvm::PassBuilder builder(&machine, tuning);
  PassAnalyses analyses;
  // No library is there to call.
  analyses.functions.registerPass([&] {
    llvm::TargetLibraryInfoImpl none(module.getTargetTriple());
    none.disableAllFunctions();
    return llvm::TargetLibraryAnalysis(none);
  });
  analyses.registerAll(builder);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, analyses.modules);
}

} // namespace weft::codegen
