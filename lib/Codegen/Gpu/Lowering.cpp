//===- Lowering.cpp - From a GPU kernel in MLIR to LLVM IR --------------------------------------------===//

#include "lib/Codegen/Gpu/Lowering.h"
#include "include/weft/kernel_abi.h"
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
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
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

namespace {

/// Loops of more operations than this are not unrolled: lanes are threads, and registers are dear.
constexpr unsigned kUnrolledOperations = 24;

/// A position as one without its constant part, and that part.
std::pair<Value, int64_t> splitConstant(OpBuilder &builder, Value position) {
  APInt constant;
  if (matchPattern(position, m_ConstantInt(&constant)))
    return {Value(), constant.getSExtValue()};
  auto add = position.getDefiningOp<arith::AddIOp>();
  if (!add)
    return {position, 0};
  auto [left, leftConstant] = splitConstant(builder, add.getLhs());
  auto [right, rightConstant] = splitConstant(builder, add.getRhs());
  if (leftConstant == 0 && rightConstant == 0)
    return {position, 0};
  Value rest = left && right ? arith::AddIOp::create(builder, add.getLoc(), left, right, add.getOverflowFlags())
               : left        ? left
                             : right;
  return {rest, leftConstant + rightConstant};
}

/// Writes the constant part of each address as an offset of its own, so that neighbouring accesses differ by a constant
/// alone whatever the optimizer does to the rest, and can be joined.
void splitAddresses(ModuleOp module) {
  SmallVector<LLVM::GEPOp> addresses;
  module.walk([&](LLVM::GEPOp address) {
    if (address.getDynamicIndices().size() == 1 && address.getRawConstantIndices().size() == 1)
      addresses.push_back(address);
  });
  for (LLVM::GEPOp address : addresses) {
    auto cast = address.getDynamicIndices()[0].getDefiningOp<arith::IndexCastOp>();
    if (!cast)
      continue;
    OpBuilder builder(address);
    auto [rest, offset] = splitConstant(builder, cast.getIn());
    if (!rest || offset == 0 || offset != static_cast<int32_t>(offset))
      continue;
    Location location = address.getLoc();
    Value index = arith::IndexCastOp::create(builder, location, builder.getI64Type(), rest);
    // Without its constant the position may lie outside.
    Value base = LLVM::GEPOp::create(builder, location, address.getType(), address.getElemType(), address.getBase(),
                                     ArrayRef<LLVM::GEPArg>{index});
    Value whole = LLVM::GEPOp::create(builder, location, address.getType(), address.getElemType(), base,
                                      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
    address.replaceAllUsesWith(whole);
    address.erase();
  }
}

void limitUnrolling(ModuleOp module) {
  MLIRContext *context = module.getContext();
  auto yes = BoolAttr::get(context, true);
  auto unroll = LLVM::LoopUnrollAttr::get(context, /*disable=*/yes, {}, {}, {}, {}, {}, {});
  auto annotation = LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {},
                                                  /*mustProgress=*/yes, {}, {}, {}, ArrayRef<LLVM::AccessGroupAttr>());
  module.walk([&](scf::ForOp loop) {
    unsigned operations = 0;
    loop.getBody()->walk([&](Operation *) { ++operations; });
    if (operations > kUnrolledOperations)
      loop->setAttr("llvm.loop_annotation", annotation);
  });
}

} // namespace

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
  limitUnrolling(module);
  splitAddresses(module);
  if (failed(passes.run(module))) // addresses that are alike but for their constants have become the same
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
