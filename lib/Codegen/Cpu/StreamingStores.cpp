//===- StreamingStores.cpp - Results larger than the caches are written past them -----------------------===//
//
// A plain store reads its cache line first; what is written from end to end and outgrows the caches is better off
// without. LLVM has no vectors of non-temporal stores of unknown alignment, so that the address of such a result is
// marked as aligned before the optimizations, and the vector stores that were found to be aligned are marked after
// them.

#include "include/weft/kernel_abi.h"
#include "lib/Codegen/Cpu/Lowering.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include <cstddef>

namespace weft::codegen::cpu {

namespace {

/// The number of the buffer whose address `value` is; nothing where it is something else.
std::optional<unsigned> getBufferNumber(const llvm::Value *value, const llvm::DataLayout &layout) {
  const auto *load = llvm::dyn_cast<llvm::LoadInst>(value);
  if (!load || !load->getType()->isPointerTy())
    return std::nullopt;
  auto strip = [&](const llvm::Value *pointer, int64_t &offset) {
    llvm::APInt bytes(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
    const llvm::Value *base = pointer->stripAndAccumulateConstantOffsets(layout, bytes, /*AllowNonInbounds=*/true);
    offset = bytes.getSExtValue();
    return base;
  };
  int64_t place = 0, field = 0;
  const auto *buffers = llvm::dyn_cast<llvm::LoadInst>(strip(load->getPointerOperand(), place));
  if (!buffers)
    return std::nullopt;
  const auto *argument = llvm::dyn_cast<llvm::Argument>(strip(buffers->getPointerOperand(), field));
  constexpr int64_t kPointerBytes = sizeof(void *);
  if (!argument || argument->getArgNo() != 0 || field != static_cast<int64_t>(offsetof(WeftArgs, buffers)) ||
      place < 0 || place % kPointerBytes != 0)
    return std::nullopt;
  return static_cast<unsigned>(place / kPointerBytes);
}

bool isStreamed(const llvm::Value *pointer, llvm::ArrayRef<unsigned> buffers, const llvm::DataLayout &layout) {
  std::optional<unsigned> number = getBufferNumber(llvm::getUnderlyingObject(pointer, /*MaxLookup=*/0), layout);
  return number && llvm::is_contained(buffers, *number);
}

} // namespace

void alignStreamedBuffers(llvm::Module &module, llvm::ArrayRef<unsigned> buffers) {
  llvm::MDBuilder metadata(module.getContext());
  llvm::MDNode *alignment =
      llvm::MDNode::get(module.getContext(), metadata.createConstant(llvm::ConstantInt::get(
                                                 llvm::Type::getInt64Ty(module.getContext()), WEFT_BUFFER_ALIGNMENT)));
  llvm::MDNode *empty = llvm::MDNode::get(module.getContext(), {});
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function)
      for (llvm::Instruction &instruction : block)
        if (std::optional<unsigned> number = getBufferNumber(&instruction, module.getDataLayout());
            number && llvm::is_contained(buffers, *number)) {
          instruction.setMetadata(llvm::LLVMContext::MD_align, alignment);
          instruction.setMetadata(llvm::LLVMContext::MD_noundef, empty);
        }
}

void streamStores(llvm::Module &module, llvm::ArrayRef<unsigned> buffers) {
  if (!llvm::Triple(module.getTargetTriple()).isX86())
    return;
  const llvm::DataLayout &layout = module.getDataLayout();
  llvm::MDNode *one = llvm::MDNode::get(module.getContext(), llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(
                                                                 llvm::Type::getInt32Ty(module.getContext()), 1)));
  for (llvm::Function &function : module) {
    llvm::SmallVector<llvm::StoreInst *> stores;
    bool isRead = false;
    for (llvm::BasicBlock &block : function)
      for (llvm::Instruction &instruction : block) {
        if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
          isRead |= isStreamed(load->getPointerOperand(), buffers, layout);
        auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
        if (!store || !store->isSimple() || !isStreamed(store->getPointerOperand(), buffers, layout))
          continue;
        llvm::Type *type = store->getValueOperand()->getType();
        uint64_t bytes = layout.getTypeStoreSize(type).getKnownMinValue();
        // Shorter ones would leave lines half written.
        if (type->isVectorTy() && bytes >= 32 && store->getAlign().value() >= bytes)
          stores.push_back(store);
      }
    // What the kernel reads again is wanted in the cache.
    if (stores.empty() || isRead)
      continue;
    for (llvm::StoreInst *store : stores)
      store->setMetadata(llvm::LLVMContext::MD_nontemporal, one);
    // Such stores are not ordered with those that tell another thread that the kernel is done.
    for (llvm::BasicBlock &block : function)
      if (auto *end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator())) {
        llvm::IRBuilder<> builder(end);
        builder.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {});
      }
  }
}

} // namespace weft::codegen::cpu
