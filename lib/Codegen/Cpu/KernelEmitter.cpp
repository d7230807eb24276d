//===- KernelEmitter.cpp - The frame of a CPU kernel: arguments, loads, stores, scratch --------------===//

#include "lib/Codegen/Cpu/KernelEmitter.h"
#include "dialects/Graph/Graph.h"
#include "include/weft/kernel_abi.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include <cstddef>

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen::cpu {

Type memoryType(Type elementType) {
  unsigned bits = elementType.getIntOrFloatBitWidth();
  if (bits < 8 || (isa<FloatType>(elementType) && bits == 8))
    return IntegerType::get(elementType.getContext(), 8);
  return scalarType(elementType);
}

int64_t elementsPerByte(Type elementType) {
  unsigned bits = storageBits(elementType);
  return bits < 8 ? 8 / bits : 1;
}

double costPerElement(Block &body) {
  double cost = 1;
  for (Operation &op : body) {
    auto role = dyn_cast<FusibilityInterface>(op);
    if (!role || isa<ConstantOp>(op))
      continue;
    // Those that the math expansion turns into some twenty instructions.
    bool isFunction =
        isa<ExponentialOp, ExponentialMinusOneOp, LogOp, LogPlusOneOp, CbrtOp, SineOp, CosineOp, TanOp, AsinOp, AcosOp,
            AtanOp, SinhOp, CoshOp, TanhOp, AsinhOp, AcoshOp, AtanhOp, LogisticOp, ErfOp, PowerOp, Atan2Op>(op);
    cost += isFunction ? 20 : isa<DivideOp, RemainderOp, SqrtOp, RsqrtOp>(op) ? 5 : 1;
  }
  return cost;
}

KernelEmitter::KernelEmitter(OpBuilder &builder, ModuleOp module, StringRef name, Region &body,
                             ArrayRef<std::string> symbolNames)
    : RegionEmitter(builder, builder.getUnknownLoc()), module(module), region(body), symbolNames(symbolNames),
      scratchBytes(Dim::constant(builder.getContext(), 0)) {
  yielded = llvm::to_vector(cast<YieldOp>(body.front().getTerminator()).getValues());
  MLIRContext *context = builder.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context), i64 = builder.getI64Type();
  builder.setInsertionPointToEnd(module.getBody());
  function = func::FuncOp::create(builder, location, name,
                                  builder.getFunctionType({pointer, i64, i64}, {builder.getI32Type()}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  arguments = function.getArgument(0);
  Type index = builder.getIndexType();
  begin = arith::IndexCastOp::create(builder, location, index, function.getArgument(1));
  end = arith::IndexCastOp::create(builder, location, index, function.getArgument(2));
  domain = LLVM::AliasScopeDomainAttr::get(context, builder.getStringAttr(name));
  Value buffers = field(offsetof(WeftArgs, buffers), pointer);
  symbols = field(offsetof(WeftArgs, symbols), pointer);
  scratch = field(offsetof(WeftArgs, scratch), pointer);
  for (size_t i = 0, count = region.getNumArguments() + yielded.size(); i < count; ++i) {
    Value place = LLVM::GEPOp::create(builder, location, pointer, pointer, buffers,
                                      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)}, LLVM::GEPNoWrapFlags::inbounds);
    auto load = LLVM::LoadOp::create(builder, location, pointer, place, 8);
    load.setInvariant(true);
    pointers.push_back(load);
    bufferScopes.push_back(makeScope(i < region.getNumArguments() ? "operand" : "result"));
  }
  prologueEnd = LLVM::ConstantOp::create(builder, location, builder.getI32Type(), 0);
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

LLVM::AliasScopeAttr KernelEmitter::makeScope(StringRef name) {
  auto scope = LLVM::AliasScopeAttr::get(domain, builder.getStringAttr(name));
  allScopes.push_back(scope);
  return scope;
}

void KernelEmitter::setScopes(Operation *access, LLVM::AliasScopeAttr scope) {
  if (!scope)
    return;
  // Which scopes there are is known at the end; `finish` puts the others in.
  cast<LLVM::AliasAnalysisOpInterface>(access).setAliasScopes(builder.getArrayAttr(scope));
}

Value KernelEmitter::symbol(StringAttr name) {
  Value &value = symbolValues[name];
  if (value)
    return value;
  auto found = llvm::find(symbolNames, name.getValue());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(prologueEnd);
  if (found == symbolNames.end()) {
    emitError(region.getLoc(), "the size '") << name.getValue() << "' is not a symbol of the program";
    markFailed();
    return value = index(1);
  }
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  int32_t number = found - symbolNames.begin();
  Value place = LLVM::GEPOp::create(builder, location, pointer, builder.getI64Type(), symbols,
                                    ArrayRef<LLVM::GEPArg>{number}, LLVM::GEPNoWrapFlags::inbounds);
  auto load = LLVM::LoadOp::create(builder, location, builder.getI64Type(), place, 8);
  load.setInvariant(true);
  value = arith::IndexCastOp::create(builder, location, builder.getIndexType(), load);
  return value;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value KernelEmitter::address(Value pointer, Type type, Value position) {
  Value offset = arith::IndexCastOp::create(builder, location, builder.getI64Type(), position);
  return LLVM::GEPOp::create(builder, location, pointer.getType(), type, pointer, ArrayRef<LLVM::GEPArg>{offset},
                             LLVM::GEPNoWrapFlags::inbounds);
}

Value KernelEmitter::loadFrom(Value pointer, Type elementType, Value position, LLVM::AliasScopeAttr scope,
                              bool invariant) {
  ScalarBuilder scalars = this->scalars();
  int64_t perByte = elementsPerByte(elementType);
  Type type = memoryType(elementType);
  Value unit = perByte > 1 ? scalars.divIndex(position, index(perByte)) : position;
  auto load =
      LLVM::LoadOp::create(builder, location, type, address(pointer, type, unit), type.getIntOrFloatBitWidth() / 8);
  load.setInvariant(invariant);
  setScopes(load, scope);
  Value value = load;
  if (perByte > 1) {
    int64_t bits = 8 / perByte;
    Value shift = scalars.mulIndex(scalars.remIndex(position, index(perByte)), index(bits));
    Value amount = arith::IndexCastOp::create(builder, location, type, shift);
    value = arith::ShRUIOp::create(builder, location, value, amount);
    return arith::TruncIOp::create(builder, location, scalarType(elementType), value);
  }
  if (isBoolElement(elementType))
    return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, value, scalars.integerConstant(type, 0));
  if (type != scalarType(elementType))
    return arith::BitcastOp::create(builder, location, elementType, value);
  return value;
}

void KernelEmitter::storeTo(Value pointer, Type elementType, Value position, Value element,
                            LLVM::AliasScopeAttr scope) {
  Type type = memoryType(elementType);
  if (isBoolElement(elementType))
    element = arith::ExtUIOp::create(builder, location, type, element);
  else if (type != scalarType(elementType) && elementsPerByte(elementType) == 1)
    element = arith::BitcastOp::create(builder, location, type, element);
  if (int64_t perByte = elementsPerByte(elementType); perByte > 1) {
    // The other elements of the byte stay; whoever writes packed elements from several threads keeps bytes whole.
    ScalarBuilder scalars = this->scalars();
    int64_t bits = 8 / perByte;
    Value place = address(pointer, type, scalars.divIndex(position, index(perByte)));
    Value shift = scalars.mulIndex(scalars.remIndex(position, index(perByte)), index(bits));
    Value amount = arith::IndexCastOp::create(builder, location, type, shift);
    Value wide = arith::ExtUIOp::create(builder, location, type, element);
    auto old = LLVM::LoadOp::create(builder, location, type, place, 1);
    setScopes(old, scope);
    Value mask = arith::ShLIOp::create(builder, location, scalars.integerConstant(type, (1 << bits) - 1), amount);
    Value rest = arith::AndIOp::create(
        builder, location, old, arith::XOrIOp::create(builder, location, mask, scalars.integerConstant(type, -1)));
    Value byte = arith::OrIOp::create(builder, location, rest, arith::ShLIOp::create(builder, location, wide, amount));
    auto store = LLVM::StoreOp::create(builder, location, byte, place, 1);
    setScopes(store, scope);
    return;
  }
  auto store = LLVM::StoreOp::create(builder, location, element, address(pointer, type, position),
                                     type.getIntOrFloatBitWidth() / 8);
  setScopes(store, scope);
}

Value KernelEmitter::position(Type tensorType, ValueRange indices) {
  SmallVector<Dim> dims = getDims(tensorType);
  ScalarBuilder scalars = this->scalars();
  // Strides, outermost first, so that a group's position in the last of its indices adds up right.
  Value result = index(0);
  Dim stride = Dim::constant(builder.getContext(), 1);
  for (int64_t i = static_cast<int64_t>(dims.size()) - 1; i >= 0; --i) {
    if (!matchPattern(indices[i], m_Zero()))
      result = scalars.addIndex(scalars.mulIndex(indices[i], size(stride)), result);
    stride = stride * dims[i];
  }
  return result;
}

Value KernelEmitter::loadAt(BlockArgument argument, Value position) {
  unsigned number = argument.getArgNumber();
  return loadFrom(pointers[number], elementType(argument), position, bufferScopes[number], false);
}

Value KernelEmitter::loadArgument(BlockArgument argument, ValueRange indices) {
  return loadAt(argument, position(argument.getType(), indices));
}

void KernelEmitter::storeAt(unsigned result, Value position, Value element) {
  unsigned number = region.getNumArguments() + result;
  storeTo(pointers[number], elementType(yielded[result]), position, element, bufferScopes[number]);
}

void KernelEmitter::store(unsigned result, ValueRange indices, Value element) {
  storeAt(result, position(yielded[result].getType(), indices), element);
}

Value KernelEmitter::loadResultAt(unsigned result, Value position) {
  unsigned number = region.getNumArguments() + result;
  return loadFrom(pointers[number], elementType(yielded[result]), position, bufferScopes[number], false);
}

Value KernelEmitter::constant(ElementsAttr value, ValueRange indices) {
  auto type = cast<RankedTensorType>(value.getType());
  Type elementType = type.getElementType();
  auto makeScalar = [&](const TensorValue &tensor, int64_t position) {
    return isFloatElement(elementType) ? scalars().floatConstant(elementType, tensor.getFloat(position))
                                       : scalars().integerConstant(elementType, tensor.getInteger(position));
  };
  TensorValue tensor = TensorValue::fromAttribute(value);
  if (tensor.getElementCount() == 0)
    return scalars().zero(elementType);
  if (value.isSplat() || tensor.getElementCount() == 1)
    return makeScalar(tensor, 0);
  Value place = position(type, indices);
  APInt known;
  if (matchPattern(place, m_ConstantInt(&known)) && known.ult(tensor.getElementCount()))
    return makeScalar(tensor, known.getZExtValue());
  Value &table = constantTables[value];
  if (!table) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    StringRef bytes(static_cast<const char *>(tensor.getData()), tensor.getByteSize());
    auto arrayType = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
    std::string name = (function.getName() + "_constant_" + Twine(constantCount++)).str();
    auto global = LLVM::GlobalOp::create(builder, location, arrayType, /*isConstant=*/true, LLVM::Linkage::Internal,
                                         name, builder.getStringAttr(bytes), WEFT_BUFFER_ALIGNMENT);
    builder.setInsertionPoint(prologueEnd);
    table = LLVM::AddressOfOp::create(builder, location, global);
  }
  return loadFrom(table, elementType, place, {}, true);
}

//===----------------------------------------------------------------------===//
// Memory of the kernel's own
//===----------------------------------------------------------------------===//

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
  Value offset = size(scratchBytes);
  Value memory = address(scratch, builder.getI8Type(), offset);
  Dim bytes = count * (memoryType(elementType).getIntOrFloatBitWidth() / 8);
  scratchBytes = scratchBytes + bytes.ceilDiv(WEFT_BUFFER_ALIGNMENT) * WEFT_BUFFER_ALIGNMENT;
  return {memory, elementType, makeScope("scratch")};
}

Value KernelEmitter::load(const LocalMemory &memory, Value position) {
  return loadFrom(memory.pointer, memory.elementType, position, memory.scope, false);
}

void KernelEmitter::store(const LocalMemory &memory, Value position, Value element) {
  storeTo(memory.pointer, memory.elementType, position, element, memory.scope);
}

Value KernelEmitter::find(Value tensor, ValueRange indices) {
  if (auto whole = materialized.find(tensor); whole != materialized.end())
    return load(whole->second, position(tensor.getType(), indices));
  auto cached = cachedRows.find(tensor);
  if (cached == cachedRows.end() || !cached->second.isFilled || !areSameIndices(cached->second.indices, indices))
    return {};
  return load(cached->second.memory, cached->second.position);
}

void KernelEmitter::emitted(Value tensor, ValueRange indices, Value element) {
  auto cached = cachedRows.find(tensor);
  if (cached == cachedRows.end() || cached->second.isFilled || cached->second.block != builder.getInsertionBlock() ||
      !areSameIndices(cached->second.indices, indices))
    return;
  store(cached->second.memory, cached->second.position, element);
  cached->second.isStored = true;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void KernelEmitter::loop(Value lower, Value upper, function_ref<void(Value)> body, bool vectorize) {
  Value one = index(1);
  auto loop = scf::ForOp::create(builder, location, lower, upper, one);
  if (vectorize) {
    auto vectorization = LLVM::LoopVectorizeAttr::get(builder.getContext(), /*disable=*/builder.getBoolAttr(false), {},
                                                      {}, {}, {}, {}, {});
    auto annotation = LLVM::LoopAnnotationAttr::get(builder.getContext(), {}, vectorization, {}, {}, {}, {}, {}, {}, {},
                                                    {}, /*mustProgress=*/builder.getBoolAttr(true), {}, {}, {},
                                                    ArrayRef<LLVM::AccessGroupAttr>());
    loop->setAttr("llvm.loop_annotation", annotation);
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  body(loop.getInductionVar());
}

void KernelEmitter::branch(Value condition, function_ref<void()> body) {
  auto branch = scf::IfOp::create(builder, location, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  body();
}

void KernelEmitter::reportError(int32_t error) {
  Value place = field(offsetof(WeftArgs, error), LLVM::LLVMPointerType::get(builder.getContext()));
  Value code = arith::ConstantIntOp::create(builder, location, builder.getI32Type(), error);
  LLVM::StoreOp::create(builder, location, code, place, 4);
}

void KernelEmitter::finish() {
  Value zero = arith::ConstantIntOp::create(builder, location, builder.getI32Type(), 0);
  func::ReturnOp::create(builder, location, zero);
  // Each buffer is apart from all others: the ABI says so, but for one that is updated in place, each element of which
  // is read before it is written.
  DenseMap<Attribute, ArrayAttr> others;
  function.walk([&](LLVM::AliasAnalysisOpInterface access) {
    ArrayAttr scopes = access.getAliasScopesOrNull();
    if (!scopes)
      return;
    ArrayAttr &rest = others[scopes];
    if (!rest) {
      SmallVector<Attribute> list;
      for (Attribute scope : allScopes)
        if (!llvm::is_contained(scopes, scope))
          list.push_back(scope);
      rest = builder.getArrayAttr(list);
    }
    access.setNoAliasScopes(rest);
  });
}

} // namespace weft::codegen::cpu
