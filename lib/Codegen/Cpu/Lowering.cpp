//===- Lowering.cpp - From a kernel in MLIR to LLVM IR ------------------------------------------------===//

#include "lib/Codegen/Cpu/Lowering.h"
#include "lib/Codegen/Math/MathExpansion.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;

namespace weft::codegen::cpu {

void registerLoweringDialects(MLIRContext &context) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                      LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect>();
}

LogicalResult lowerToLlvm(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  passes.addPass(createCSEPass());
  if (failed(passes.run(module)) || failed(expandMath(module)))
    return failure();
  PassManager conversion(module.getContext());
  conversion.addPass(createSCFToControlFlowPass());
  conversion.addPass(createConvertMathToLLVMPass());
  conversion.addPass(createArithToLLVMConversionPass());
  conversion.addPass(createConvertControlFlowToLLVMPass());
  conversion.addPass(createConvertFuncToLLVMPass());
  conversion.addPass(createReconcileUnrealizedCastsPass());
  return conversion.run(module);
}

std::unique_ptr<llvm::Module> translateToLlvm(ModuleOp module, llvm::LLVMContext &context, const Target &target,
                                              Numerics numerics) {
  std::unique_ptr<llvm::Module> result = translateModuleToLLVMIR(module, context);
  if (!result)
    return nullptr;
  result->setTargetTriple(llvm::Triple(target.triple));
  for (llvm::Function &function : *result) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    function.addFnAttr("target-features", target.features);
    function.addFnAttr("prefer-vector-width", std::to_string(target.preferredVectorBits));
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.setUWTableKind(llvm::UWTableKind::None);
    // The arguments structure is read-only to a kernel and nothing else points to it.
    for (llvm::Argument &argument : function.args())
      if (argument.getType()->isPointerTy()) {
        argument.addAttr(llvm::Attribute::NoAlias);
        argument.addAttr(llvm::Attribute::ReadOnly);
      }
    if (numerics == Numerics::fast)
      for (llvm::BasicBlock &block : function)
        for (llvm::Instruction &instruction : block)
          if (llvm::isa<llvm::FPMathOperator>(instruction))
            instruction.setHasAllowContract(true);
  }
  return result;
}

} // namespace weft::codegen::cpu
