//===- KernelEmitter.cpp - The frame of a CPU kernel: arguments, stack and scratch -------------------===//

#include "lib/Codegen/Cpu/KernelEmitter.h"
#include "dialects/Graph/Graph.h"
#include "include/weft/kernel_abi.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cstddef>

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen::cpu {

KernelEmitter::KernelEmitter(OpBuilder &builder, ModuleOp module, StringRef name, Region &body,
                             ArrayRef<std::string> symbolNames)
    : KernelFrame(builder, module, body, symbolNames) {
  MLIRContext *context = builder.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context), i64 = builder.getI64Type();
  builder.setInsertionPointToEnd(module.getBody());
  auto kernel = func::FuncOp::create(builder, location, name,
                                     builder.getFunctionType({pointer, i64, i64}, {builder.getI32Type()}));
  builder.setInsertionPointToStart(kernel.addEntryBlock());
  start(kernel);
  arguments = kernel.getArgument(0);
  Type index = builder.getIndexType();
  begin = arith::IndexCastOp::create(builder, location, index, kernel.getArgument(1));
  end = arith::IndexCastOp::create(builder, location, index, kernel.getArgument(2));
  Value buffers = field(offsetof(WeftArgs, buffers), pointer);
  symbols = field(offsetof(WeftArgs, symbols), pointer);
  scratch = field(offsetof(WeftArgs, scratch), pointer);
  for (size_t i = 0, count = region.getNumArguments() + results().size(); i < count; ++i) {
    Value place = LLVM::GEPOp::create(builder, location, pointer, pointer, buffers,
                                      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)}, LLVM::GEPNoWrapFlags::inbounds);
    auto load = LLVM::LoadOp::create(builder, location, pointer, place, 8);
    load.setInvariant(true);
    addBuffer(load);
  }
  endPrologue();
}

Value KernelEmitter::field(int64_t offset, Type type) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value place =
      LLVM::GEPOp::create(builder, location, pointer, builder.getI8Type(), arguments,
                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)}, LLVM::GEPNoWrapFlags::inbounds);
  auto load = LLVM::LoadOp::create(builder, location, type, place, 8);
  load.setInvariant(true);
  return load;
}

Value KernelEmitter::symbolValue(unsigned number) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value place =
      LLVM::GEPOp::create(builder, location, pointer, builder.getI64Type(), symbols,
                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)}, LLVM::GEPNoWrapFlags::inbounds);
  auto load = LLVM::LoadOp::create(builder, location, builder.getI64Type(), place, 8);
  load.setInvariant(true);
  return arith::IndexCastOp::create(builder, location, builder.getIndexType(), load);
}

LocalMemory KernelEmitter::allocateOnStack(Type elementType, int64_t count) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(prologueEnd);
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value size = LLVM::ConstantOp::create(builder, location, builder.getI64Type(), count);
  Value memory =
      LLVM::AllocaOp::create(builder, location, pointer, memoryType(elementType), size, WEFT_BUFFER_ALIGNMENT);
  return {memory, elementType, makeScope("stack")};
}

LocalMemory KernelEmitter::allocateScratch(Type elementType, const Dim &count) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(prologueEnd);
  Value offset = size(reserveScratch(elementType, count));
  return {address(scratch, builder.getI8Type(), offset), elementType, makeScope("scratch")};
}

void KernelEmitter::reportError(int32_t error) {
  Value place = field(offsetof(WeftArgs, error), LLVM::LLVMPointerType::get(builder.getContext()));
  Value code = arith::ConstantIntOp::create(builder, location, builder.getI32Type(), error);
  LLVM::StoreOp::create(builder, location, code, place, 4);
}

void KernelEmitter::finish() {
  Value zero = arith::ConstantIntOp::create(builder, location, builder.getI32Type(), 0);
  func::ReturnOp::create(builder, location, zero);
  finishScopes();
}

} // namespace weft::codegen::cpu
