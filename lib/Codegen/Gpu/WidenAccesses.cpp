//===- WidenAccesses.cpp - Neighbouring loads and stores become one ------------------------------------===//

#include "lib/Codegen/Gpu/WidenAccesses.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Vectorize/LoadStoreVectorizer.h"

namespace weft::codegen::gpu {

void widenAccesses(llvm::Module &module) {
  // Without a target machine the pass knows of no masked accesses, so that it fills no gaps.
  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    llvm::LoadStoreVectorizerPass().run(function, functions);
    // The same pass of the code generator leaves functions with this attribute alone.
    function.addFnAttr(llvm::Attribute::NoImplicitFloat);
  }
}

} // namespace weft::codegen::gpu
