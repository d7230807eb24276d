//===- KernelEmitter.cpp - The frame of a GPU kernel: parameters, threads, shared memory, reductions -===//

#include "lib/Codegen/Gpu/KernelEmitter.h"
#include "dialects/Graph/Graph.h"
#include "include/weft/kernel_abi.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen::gpu {

namespace {

/// Positions of tensors of at most this many elements, rounded up to whole tiles, stay far from 2^31.
constexpr double kSmallElements = 1 << 30;

/// Whether an index that comes from data may have more than 32 bits.
bool hasWideIndices(Region &region) {
  auto isWide = [](Value indices) {
    Type type = elementType(indices);
    unsigned bits = type.getIntOrFloatBitWidth();
    return bits > 32 || (bits == 32 && isUnsignedElement(type));
  };
  bool found = false;
  region.walk([&](Operation *op) {
    if (auto gather = dyn_cast<GatherOp>(op))
      found |= isWide(gather.getStartIndices());
    else if (auto scatter = dyn_cast<ScatterOp>(op))
      found |= isWide(scatter.getScatterIndices());
    else if (auto slice = dyn_cast<DynamicSliceOp>(op))
      found |= llvm::any_of(slice.getStartIndices(), isWide);
    else if (auto update = dyn_cast<DynamicUpdateSliceOp>(op))
      found |= llvm::any_of(update.getStartIndices(), isWide);
  });
  return found;
}

/// No value of the expression is larger in magnitude.
double boundMagnitude(AffineExpr expression, ArrayRef<double> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return std::abs(static_cast<double>(constant.getValue()));
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expression);
  double left = boundMagnitude(binary.getLHS(), symbols), right = boundMagnitude(binary.getRHS(), symbols);
  switch (expression.getKind()) {
  case AffineExprKind::Add:
    return left + right;
  case AffineExprKind::Mul:
    return left * right;
  case AffineExprKind::Mod:
    return right;
  default: // a division
    return left + 1;
  }
}

/// The number of elements at most, however its sizes depend on the symbols.
double boundElements(Type type, Operation *scope) {
  double elements = 1;
  for (const Dim &dim : getDims(type)) {
    SmallVector<double> symbols;
    for (StringAttr name : dim.getSymbols()) {
      std::optional<SymbolBounds> bounds = getSymbolBounds(name, scope);
      symbols.push_back(bounds ? static_cast<double>(bounds->max) : HUGE_VAL);
    }
    elements *= boundMagnitude(dim.getExpression(), symbols);
  }
  return elements;
}

bool fitsSmallIndices(Region &region) {
  if (hasWideIndices(region))
    return false;
  auto fits = [&](Type type) { return boundElements(type, region.getParentOp()) <= kSmallElements; };
  bool all = llvm::all_of(region.getArgumentTypes(), fits);
  region.walk([&](Operation *op) { all &= llvm::all_of(op->getResultTypes(), fits); });
  return all;
}

} // namespace

KernelEmitter::KernelEmitter(OpBuilder &builder, ModuleOp module, StringRef name, Region &body,
                             ArrayRef<std::string> symbolNames, unsigned multiprocessors)
    : KernelFrame(builder, module, body, symbolNames), multiprocessors(multiprocessors) {
  indexBits = fitsSmallIndices(body) ? 32 : 64;
  MLIRContext *context = builder.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context, kGlobal), i64 = builder.getI64Type(), i32 = builder.getI32Type();
  size_t buffers = region.getNumArguments() + results().size();
  SmallVector<Type> types(buffers, pointer);
  types.append(symbolNames.size() + 1, i64);
  types.append({pointer, i64, i64, pointer});
  builder.setInsertionPointToEnd(module.getBody());
  auto kernel = func::FuncOp::create(builder, location, name, builder.getFunctionType(types, {}));
  // What is only read may be loaded through the read-only cache.
  for (size_t i = 0; i < region.getNumArguments(); ++i)
    kernel.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(), builder.getUnitAttr());
  builder.setInsertionPointToStart(kernel.addEntryBlock());
  start(kernel);
  for (size_t i = 0; i < buffers; ++i)
    addBuffer(kernel.getArgument(i));
  Type indexType = builder.getIndexType();
  auto toIndex = [&](Value value) -> Value { return arith::IndexCastOp::create(builder, location, indexType, value); };
  size_t next = buffers + symbolNames.size();
  tiles = toIndex(kernel.getArgument(next));
  scratch = kernel.getArgument(next + 1);
  error = kernel.getArgument(next + 4);
  thread = toIndex(NVVM::ThreadIdXOp::create(builder, location, i32));
  block = toIndex(NVVM::BlockIdXOp::create(builder, location, i32));
  gridSize = toIndex(NVVM::GridDimXOp::create(builder, location, i32));
  endPrologue();
}

Value KernelEmitter::symbolValue(unsigned number) {
  Value value = function.getArgument(region.getNumArguments() + results().size() + number);
  return arith::IndexCastOp::create(builder, location, builder.getIndexType(), value);
}

void KernelEmitter::forTiles(function_ref<void(Value)> body) { loop(block, tiles, gridSize, body); }

void KernelEmitter::forThreads(Value count, function_ref<void(Value)> body) {
  if (std::optional<int64_t> known = knownIndex(count); known && *known <= threads) {
    if (*known == threads)
      return body(thread);
    return branch(scalars().lessThan(thread, count), [&] { body(thread); });
  }
  loop(thread, count, index(threads), body);
}

void KernelEmitter::barrier() { NVVM::Barrier0Op::create(builder, location); }

Value KernelEmitter::shuffleXor(Value value, int mask) {
  Type type = value.getType(), i32 = builder.getI32Type();
  unsigned bits = type.getIntOrFloatBitWidth();
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantOp::create(builder, location, builder.getI32IntegerAttr(static_cast<int32_t>(number)));
  };
  auto shuffle = [&](Value word) -> Value {
    return NVVM::ShflOp::create(builder, location, i32, constant(-1), word, constant(mask), constant(kWarp - 1),
                                NVVM::ShflKind::bfly, UnitAttr());
  };
  Type integer = builder.getIntegerType(bits);
  Value word = type == integer ? value : arith::BitcastOp::create(builder, location, integer, value).getResult();
  if (bits < 32)
    word = arith::TruncIOp::create(builder, location, integer,
                                   shuffle(arith::ExtUIOp::create(builder, location, i32, word)));
  else if (bits == 32)
    word = shuffle(word);
  else {
    Value shift = arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(32));
    Value low = shuffle(arith::TruncIOp::create(builder, location, i32, word));
    Value high = shuffle(
        arith::TruncIOp::create(builder, location, i32, arith::ShRUIOp::create(builder, location, word, shift)));
    Value upper =
        arith::ShLIOp::create(builder, location, arith::ExtUIOp::create(builder, location, integer, high), shift);
    word = arith::OrIOp::create(builder, location, upper, arith::ExtUIOp::create(builder, location, integer, low));
  }
  return type == integer ? word : arith::BitcastOp::create(builder, location, type, word).getResult();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

LocalMemory KernelEmitter::allocateShared(Type elementType, int64_t count) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  int64_t bytes = count * (memoryType(elementType).getIntOrFloatBitWidth() / 8);
  auto array = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes);
  std::string name = (function.getName() + "_shared_" + Twine(sharedCount++)).str();
  auto global = LLVM::GlobalOp::create(builder, location, array, /*isConstant=*/false, LLVM::Linkage::Internal, name,
                                       Attribute(), /*alignment=*/16, kShared);
  sharedBytes += llvm::alignTo(bytes, 16);
  builder.setInsertionPoint(prologueEnd);
  Value pointer = LLVM::AddressOfOp::create(builder, location, global);
  return {pointer, elementType, makeScope("shared")};
}

LocalMemory KernelEmitter::allocateScratch(Type elementType, const Dim &count) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(prologueEnd);
  Value offset = size(reserveScratch(elementType, count));
  return {address(scratch, builder.getI8Type(), offset), elementType, makeScope("scratch")};
}

LocalMemory KernelEmitter::allocateBlockScratch(Type elementType, const Dim &count, int64_t blocks) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(prologueEnd);
  // Each block's part begins at a multiple of the alignment, whatever the type.
  Dim each = count.ceilDiv(WEFT_BUFFER_ALIGNMENT) * WEFT_BUFFER_ALIGNMENT;
  Value offset = size(reserveScratch(elementType, each * blocks));
  Value start = address(scratch, builder.getI8Type(), offset);
  Value own = scalars().mulIndex(block, size(each));
  return {address(start, memoryType(elementType), own), elementType, makeScope("scratch")};
}

//===----------------------------------------------------------------------===//
// Reductions of one thread
//===----------------------------------------------------------------------===//

/// The lanes lane, lane + width, lane + 2 width, ... of the `lanes` there are, added by the tree. Nested loops over two
/// halves each carry what the tree has so far; a lane without elements holds the identity.
Value KernelEmitter::reduceTree(ReductionKind kind, Type elementType, Value first, Value size, int64_t lanes,
                                int64_t width, Value lane, function_ref<Value(Value)> element) {
  Value identity = scalars().identity(kind, elementType, /*exact=*/true);
  if (width == lanes) {
    auto steps = scf::ForOp::create(builder, location, lane, size, index(lanes), identity);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(steps.getBody());
    Value value = element(scalars().addIndex(first, steps.getInductionVar()));
    scf::YieldOp::create(builder, location, scalars().combine(kind, elementType, steps.getRegionIterArgs()[0], value));
    return steps.getResult(0);
  }
  return emitLoops(builder, location, index(2), identity,
                   [&](ValueRange half, ValueRange carried) -> SmallVector<Value> {
                     Value next = scalars().addIndex(lane, scalars().mulIndex(half[0], index(width)));
                     Value value = reduceTree(kind, elementType, first, size, lanes, 2 * width, next, element);
                     return {scalars().combine(kind, elementType, carried[0], value)};
                   })[0];
}

Value KernelEmitter::reduce(ReductionKind kind, Type elementType, ValueRange extents,
                            function_ref<Value(ValueRange)> element) {
  if (!dependsOnOrder(kind, elementType))
    return emitLoops(builder, location, extents, scalars().identity(kind, elementType),
                     [&](ValueRange indices, ValueRange carried) -> SmallVector<Value> {
                       return {scalars().combine(kind, elementType, carried[0], element(indices))};
                     })[0];
  Value count = index(1);
  for (Value extent : extents)
    count = scalars().mulIndex(count, extent);
  std::optional<int64_t> known = knownIndex(count);
  if (known == 0)
    return scalars().identity(kind, elementType);
  auto at = [&](Value position) { return element(scalars().delinearize(position, extents)); };
  int64_t lanes = known ? std::min<int64_t>(llvm::PowerOf2Ceil(*known), kReductionLanes) : kReductionLanes;
  Value zero = index(0);
  if (known && *known <= kReductionChunk)
    return reduceTree(kind, elementType, zero, count, lanes, 1, zero, at);
  Value chunkSize = index(kReductionChunk);
  Value chunks = scalars().divIndex(scalars().addIndex(count, index(kReductionChunk - 1)), chunkSize);
  Value result = emitLoops(builder, location, chunks, scalars().identity(kind, elementType, /*exact=*/true),
                           [&](ValueRange chunk, ValueRange carried) -> SmallVector<Value> {
                             Value first = scalars().mulIndex(chunk[0], chunkSize);
                             Value size = scalars().minIndex(chunkSize, scalars().subIndex(count, first));
                             Value value = reduceTree(kind, elementType, first, size, lanes, 1, zero, at);
                             return {scalars().combine(kind, elementType, carried[0], value)};
                           })[0];
  // The sum of nothing is +0.
  if (!known && kind == ReductionKind::sum)
    result = scalars().select(scalars().lessThan(zero, count), result, scalars().zero(elementType));
  return result;
}

void KernelEmitter::storeUnit(unsigned result, Value unit, function_ref<Value(Value)> element) {
  Type type = elementType(results()[result]);
  int64_t perByte = elementsPerByte(type);
  if (perByte == 1)
    return storeAt(result, unit, element(unit));
  Type byteType = builder.getI8Type();
  Value first = scalars().mulIndex(unit, index(perByte));
  Value last = scalars().subIndex(size(getElementCount(results()[result].getType())), index(1));
  Value byte = scalars().integerConstant(byteType, 0);
  for (int64_t k = 0; k < perByte; ++k) {
    // Past the end the last element again: those bits mean nothing.
    Value position = scalars().minIndex(scalars().addIndex(first, index(k)), last);
    Value bits = arith::ExtUIOp::create(builder, location, byteType, element(position));
    bits = arith::ShLIOp::create(builder, location, bits, scalars().integerConstant(byteType, k * (8 / perByte)));
    byte = arith::OrIOp::create(builder, location, byte, bits);
  }
  storeTo(resultPointer(result), byteType, unit, byte, {});
}

void KernelEmitter::reportError(int32_t code) {
  Value value = arith::ConstantIntOp::create(builder, location, builder.getI32Type(), code);
  LLVM::StoreOp::create(builder, location, value, error, 4);
}

void KernelEmitter::finish() {
  func::ReturnOp::create(builder, location);
  finishScopes();
}

} // namespace weft::codegen::gpu
