//===- WidenAccesses.cpp - Neighbouring loads and stores become one ------------------------------------===//

#include "lib/Codegen/Gpu/WidenAccesses.h"
#include "lib/Codegen/PassAnalyses.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Vectorize/LoadStoreVectorizer.h"

namespace weft::codegen::gpu {

void widenAccesses(llvm::Module &module) {
  // Without a target machine the pass knows of no masked accesses, so that it fills no gaps.
  llvm::PassBuilder builder;
  PassAnalyses analyses;
  analyses.registerAll(builder);
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    llvm::LoadStoreVectorizerPass().run(function, analyses.functions);
    // The same pass of the code generator leaves functions with this attribute alone.
    function.addFnAttr(llvm::Attribute::NoImplicitFloat);
  }
}

} // namespace weft::codegen::gpu
