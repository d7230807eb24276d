//===- PassAnalyses.h - The analyses that LLVM's passes ask for -----------------------------------------===//

#ifndef WEFT_LIB_CODEGEN_PASSANALYSES_H
#define WEFT_LIB_CODEGEN_PASSANALYSES_H

#include "llvm/Passes/PassBuilder.h"

namespace weft::codegen {

/// LLVM's four analysis managers. An analysis that is registered before `registerAll` takes the place of LLVM's own.
struct PassAnalyses {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;

  void registerAll(llvm::PassBuilder &builder) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(graphs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, graphs, modules);
  }
};

} // namespace weft::codegen

#endif // WEFT_LIB_CODEGEN_PASSANALYSES_H
