//===- Lowering.cpp - From a GPU kernel in MLIR to LLVM IR --------------------------------------------===//

#include "lib/Codegen/Gpu/Lowering.h"
#include "include/weft/kernel_abi.h"
#include "lib/Codegen/Math/MathExpansion.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;

namespace weft::codegen::gpu {

void registerLoweringDialects(MLIRContext &context) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                      LLVM::LLVMDialect, math::MathDialect, NVVM::NVVMDialect, scf::SCFDialect>();
}

LogicalResult lowerToLlvm(ModuleOp module, unsigned indexBits) {
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  passes.addPass(createCSEPass());
  if (failed(passes.run(module)) || failed(expandMath(module)))
    return failure();
  PassManager conversion(module.getContext());
  conversion.enableVerifier(false);
  conversion.addPass(createSCFToControlFlowPass());
  conversion.addPass(createConvertMathToLLVMPass());
  ArithToLLVMConversionPassOptions arith;
  arith.indexBitwidth = indexBits;
  conversion.addPass(createArithToLLVMConversionPass(arith));
  ConvertControlFlowToLLVMPassOptions control;
  control.indexBitwidth = indexBits;
  conversion.addPass(createConvertControlFlowToLLVMPass(control));
  ConvertFuncToLLVMPassOptions functions;
  functions.indexBitwidth = indexBits;
  conversion.addPass(createConvertFuncToLLVMPass(functions));
  conversion.addPass(createReconcileUnrealizedCastsPass());
  return conversion.run(module);
}

std::unique_ptr<llvm::Module> translateToLlvm(ModuleOp module, llvm::LLVMContext &context, StringRef name,
                                              const Target &target, int threads, Numerics numerics) {
  std::unique_ptr<llvm::Module> result = translateModuleToLLVMIR(module, context);
  if (!result)
    return nullptr;
  result->setTargetTriple(llvm::Triple("nvptx64-nvidia-cuda"));
  llvm::Function *kernel = result->getFunction(name);
  if (!kernel)
    return nullptr;
  kernel->setCallingConv(llvm::CallingConv::PTX_Kernel);
  kernel->addFnAttr("nvvm.maxntid", std::to_string(threads));
  kernel->addFnAttr("target-cpu", target.chip);
  kernel->addFnAttr(llvm::Attribute::NoUnwind);
  for (llvm::Argument &argument : kernel->args())
    if (argument.getType()->isPointerTy()) {
      // The buffers are apart, and so are scratch memory and the error word.
      argument.addAttr(llvm::Attribute::NoAlias);
      argument.addAttr(llvm::Attribute::NoUndef);
      bool isErrorWord = argument.getArgNo() + 1 == kernel->arg_size();
      argument.addAttr(llvm::Attribute::getWithAlignment(
          context, llvm::Align(isErrorWord ? alignof(int32_t) : WEFT_BUFFER_ALIGNMENT)));
    }
  if (numerics == Numerics::fast)
    for (llvm::BasicBlock &block : *kernel)
      for (llvm::Instruction &instruction : block)
        if (llvm::isa<llvm::FPMathOperator>(instruction))
          instruction.setHasAllowContract(true);
  return result;
}

} // namespace weft::codegen::gpu
