//===- KernelFrame.cpp - What the kernels of all targets share: buffers, constants, memory, loops ---===//

#include "lib/Codegen/KernelFrame.h"
#include "dialects/Graph/Graph.h"
#include "include/weft/kernel_abi.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen {

bool dependsOnOrder(ReductionKind kind, Type elementType) {
  return isFloatElement(elementType) && (kind == ReductionKind::sum || kind == ReductionKind::product);
}

std::optional<int64_t> knownIndex(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

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

std::string makeSignature(graph::FusionKind kind, Region &body) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << static_cast<int>(kind) << '(';
  for (Type type : body.getArgumentTypes())
    stream << type << ',';
  stream << ")\n";
  OpPrintingFlags flags;
  flags.useLocalScope();
  body.front().walk([&](Operation *op) {
    // Values by number: printing an op alone does not tell its operands from others of the same type.
    op->print(stream, flags);
    stream << '\n';
  });
  llvm::DenseMap<Value, unsigned> numbers;
  for (Value argument : body.getArguments())
    numbers[argument] = numbers.size();
  for (Operation &op : body.front()) {
    for (Value operand : op.getOperands())
      stream << numbers.lookup(operand) << ' ';
    stream << ';';
    for (Value result : op.getResults())
      numbers[result] = numbers.size();
  }
  return text;
}

KernelFrame::KernelFrame(OpBuilder &builder, ModuleOp module, Region &body, ArrayRef<std::string> symbolNames)
    : RegionEmitter(builder, builder.getUnknownLoc()), module(module), region(body), symbolNames(symbolNames),
      scratchBytes(Dim::constant(builder.getContext(), 0)) {
  yielded = llvm::to_vector(cast<YieldOp>(body.front().getTerminator()).getValues());
}

void KernelFrame::start(func::FuncOp kernel) {
  function = kernel;
  domain = LLVM::AliasScopeDomainAttr::get(builder.getContext(), kernel.getNameAttr());
}

void KernelFrame::addBuffer(Value pointer) {
  bool isOperand = pointers.size() < region.getNumArguments();
  pointers.push_back(pointer);
  bufferScopes.push_back(makeScope(isOperand ? "operand" : "result"));
}

void KernelFrame::endPrologue() { prologueEnd = LLVM::ConstantOp::create(builder, location, builder.getI32Type(), 0); }

LLVM::AliasScopeAttr KernelFrame::makeScope(StringRef name) {
  auto scope = LLVM::AliasScopeAttr::get(domain, builder.getStringAttr(name));
  allScopes.push_back(scope);
  return scope;
}

void KernelFrame::setScopes(Operation *access, LLVM::AliasScopeAttr scope) {
  if (!scope)
    return;
  // Which scopes there are is known at the end; `finishScopes` puts the others in.
  cast<LLVM::AliasAnalysisOpInterface>(access).setAliasScopes(builder.getArrayAttr(scope));
}

Value KernelFrame::symbol(StringAttr name) {
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
  return value = symbolValue(found - symbolNames.begin());
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value KernelFrame::address(Value pointer, Type type, Value position) {
  Value offset = arith::IndexCastOp::create(builder, location, builder.getI64Type(), position);
  return LLVM::GEPOp::create(builder, location, pointer.getType(), type, pointer, ArrayRef<LLVM::GEPArg>{offset},
                             LLVM::GEPNoWrapFlags::inbounds);
}

Value KernelFrame::loadFrom(Value pointer, Type elementType, Value position, LLVM::AliasScopeAttr scope,
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
    value = arith::TruncIOp::create(builder, location, builder.getIntegerType(bits), value);
    return isFloatElement(elementType) ? arith::BitcastOp::create(builder, location, elementType, value).getResult()
                                       : value;
  }
  if (isBoolElement(elementType))
    return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, value, scalars.integerConstant(type, 0));
  if (type != scalarType(elementType))
    return arith::BitcastOp::create(builder, location, elementType, value);
  return value;
}

void KernelFrame::storeTo(Value pointer, Type elementType, Value position, Value element, LLVM::AliasScopeAttr scope) {
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
    if (isFloatElement(elementType))
      element = arith::BitcastOp::create(builder, location, builder.getIntegerType(bits), element);
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

Value KernelFrame::position(Type tensorType, ValueRange indices) {
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

Value KernelFrame::loadAt(BlockArgument argument, Value position) {
  unsigned number = argument.getArgNumber();
  return loadFrom(pointers[number], elementType(argument), position, bufferScopes[number], false);
}

Value KernelFrame::loadArgument(BlockArgument argument, ValueRange indices) {
  return loadAt(argument, position(argument.getType(), indices));
}

void KernelFrame::storeAt(unsigned result, Value position, Value element) {
  unsigned number = region.getNumArguments() + result;
  storeTo(pointers[number], elementType(yielded[result]), position, element, bufferScopes[number]);
}

void KernelFrame::store(unsigned result, ValueRange indices, Value element) {
  storeAt(result, position(yielded[result].getType(), indices), element);
}

Value KernelFrame::loadResultAt(unsigned result, Value position) {
  unsigned number = region.getNumArguments() + result;
  return loadFrom(pointers[number], elementType(yielded[result]), position, bufferScopes[number], false);
}

Value KernelFrame::constant(ElementsAttr value, ValueRange indices) {
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
                                         name, builder.getStringAttr(bytes), WEFT_BUFFER_ALIGNMENT, constantSpace());
    builder.setInsertionPoint(prologueEnd);
    table = LLVM::AddressOfOp::create(builder, location, global);
  }
  return loadFrom(table, elementType, place, {}, true);
}

//===----------------------------------------------------------------------===//
// Memory of the kernel's own
//===----------------------------------------------------------------------===//

Dim KernelFrame::reserveScratch(Type elementType, const Dim &count) {
  Dim offset = scratchBytes, bytes = count * (memoryType(elementType).getIntOrFloatBitWidth() / 8);
  scratchBytes = scratchBytes + bytes.ceilDiv(WEFT_BUFFER_ALIGNMENT) * WEFT_BUFFER_ALIGNMENT;
  return offset;
}

Value KernelFrame::load(const LocalMemory &memory, Value position) {
  return loadFrom(memory.pointer, memory.elementType, position, memory.scope, false);
}

void KernelFrame::store(const LocalMemory &memory, Value position, Value element) {
  storeTo(memory.pointer, memory.elementType, position, element, memory.scope);
}

Value KernelFrame::find(Value tensor, ValueRange indices) {
  if (auto whole = materialized.find(tensor); whole != materialized.end()) {
    // Packed elements may have a byte each there.
    Value element = load(whole->second, position(tensor.getType(), indices));
    Type type = elementType(tensor);
    return whole->second.elementType == type ? element : scalars().convert(element, whole->second.elementType, type);
  }
  auto cached = cachedRows.find(tensor);
  if (cached == cachedRows.end() || !cached->second.isFilled || !areSameIndices(cached->second.indices, indices))
    return {};
  return load(cached->second.memory, cached->second.position);
}

void KernelFrame::emitted(Value tensor, ValueRange indices, Value element) {
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

void KernelFrame::loop(Value lower, Value upper, function_ref<void(Value)> body, bool vectorize) {
  loop(lower, upper, index(1), body, vectorize);
}

void KernelFrame::loop(Value lower, Value upper, Value step, function_ref<void(Value)> body, bool vectorize) {
  auto loop = scf::ForOp::create(builder, location, lower, upper, step);
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

void KernelFrame::branch(Value condition, function_ref<void()> body) {
  auto branch = scf::IfOp::create(builder, location, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  body();
}

void KernelFrame::finishScopes() {
  // The ABI says that buffers are apart, but for one that is updated in place, each element of which is read before it
  // is written.
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

} // namespace weft::codegen
