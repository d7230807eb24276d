//===- Exec.cpp - Registration and verification of the Exec dialect -------------------------------------===//

#include "dialects/Exec/Exec.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialects/Exec/ExecDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Exec/ExecTypes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Exec/ExecOps.cpp.inc"

using namespace mlir;

namespace weft::exec {

void ExecDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Exec/ExecOps.cpp.inc"
      >();
  registerTypes();
}

void ExecDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Exec/ExecTypes.cpp.inc"
      >();
}

LogicalResult KernelOp::verify() {
  std::optional<uint64_t> threads = getThreads();
  if (threads && (*threads < 1 || *threads > 1024))
    return emitOpError("kernel_c1: expected 1 to 1024 threads of a block, got ") << *threads;
  for (std::optional<uint64_t> value : {getShared(), getMaxBlocks()})
    if (value && (!threads || static_cast<int64_t>(*value) < 0))
      return emitOpError("kernel_c2: expected shared and max_blocks not negative and only where there are threads");
  return success();
}

LogicalResult EntryOp::verify() {
  size_t count = getSymbols().size();
  if (getMinimums().size() != count || getMaximums().size() != count)
    return emitOpError("entry_c1: expected a minimum and a maximum for each of the ") << count << " symbols";
  for (auto [minimum, maximum] : llvm::zip(getMinimums(), getMaximums()))
    if (minimum < 0 || maximum < minimum)
      return emitOpError("entry_c2: expected 0 <= minimum <= maximum, got ") << minimum << " and " << maximum;
  if (getArena().getNumSymbols() > count || getArena().getNumResults() != 1)
    return emitOpError("entry_c3: expected the arena's size as one expression of ") << count << " symbols";
  return success();
}

LogicalResult BindSymbolOp::verify() {
  auto entry = (*this)->getParentOfType<EntryOp>();
  if (!entry || !llvm::is_contained(entry.getSymbols(), getSymbolAttr()))
    return emitOpError("bind_symbol_c1: expected a symbol that the entry lists, got \"") << getSymbol() << "\"";
  BufferType type = cast<BufferType>(getValue().getType());
  auto element = dyn_cast<IntegerType>(type.getElementType());
  if (!element || (element.getWidth() != 32 && element.getWidth() != 64) || type.getShape().getNumResults() != 0)
    return emitOpError("bind_symbol_c2: expected a scalar of i32, i64, ui32 or ui64, got ") << type;
  return success();
}

LogicalResult ArenaOp::verify() {
  AffineMap offset = getOffset();
  if (offset.getNumDims() != 0 || offset.getNumResults() != 1)
    return emitOpError("arena_c1: expected the offset as one expression of symbols");
  if (!offset.getResult(0).isMultipleOf(64))
    return emitOpError("arena_c2: expected an offset that is a multiple of 64 bytes, got ") << getOffsetAttr();
  return success();
}

LogicalResult CheckEqualOp::verify() {
  size_t count = (*this)->getParentOfType<EntryOp>().getSymbols().size();
  for (AffineMap side : {getLeft(), getRight()})
    if (side.getNumDims() != 0 || side.getNumResults() != 1 || side.getNumSymbols() > count)
      return emitOpError("check_equal_c1: expected one expression of ")
             << count << " symbols, got " << AffineMapAttr::get(side);
  return success();
}

LogicalResult LaunchOp::verify() {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError("launch_c1: expected a kernel named ") << getKernelAttr();
  Block &body = kernel.getBody().front();
  if (body.getNumArguments() != getInputs().size() || body.back().getNumOperands() != getOutputs().size())
    return emitOpError("launch_c2: the kernel takes ")
           << body.getNumArguments() << " and gives " << body.back().getNumOperands() << " buffers, the launch has "
           << getInputs().size() << " and " << getOutputs().size();
  return success();
}

} // namespace weft::exec
