//===- Interpreter.cpp - Runs a module of the Graph dialect op by op: the oracle --------------------===//

#include "lib/Interpreter/Interpreter.h"
#include "dialects/Graph/ControlFlow.h"
#include "dialects/Graph/GraphDialect.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MathExtras.h"
#include <unistd.h>

using namespace mlir;
using weft::graph::GraphDialect;
using weft::graph::TensorValue;

namespace weft {

namespace {

/// The memory of this machine: asking for more of it would end the process.
int64_t memoryBytes() {
  static const int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return bytes;
}

StringRef nameOf(func::FuncOp function, unsigned argument, StringRef attribute) {
  auto name = function.getArgAttrOfType<StringAttr>(argument, attribute);
  return name ? name.getValue() : StringRef();
}

/// How an error names an argument: by its role and name, or by its number.
std::string describeArgument(func::FuncOp function, unsigned argument) {
  std::pair<StringRef, StringRef> roles[] = {{"input", GraphDialect::kInputName},
                                             {"parameter", GraphDialect::kParamName},
                                             {"state", GraphDialect::kStateName}};
  for (auto [role, attribute] : roles)
    if (StringRef name = nameOf(function, argument, attribute); !name.empty())
      return (role + " '" + name + "'").str();
  return "argument " + std::to_string(argument) + " of @" + function.getName().str();
}

/// Whether the caller gives the argument.
bool isGiven(func::FuncOp function, unsigned argument) {
  return !function.getArgAttr(argument, GraphDialect::kParamName) &&
         !function.getArgAttr(argument, GraphDialect::kPreparedIndex);
}

/// The name under which the caller gives it.
std::string givenName(func::FuncOp function, unsigned argument) {
  for (StringRef attribute : {StringRef(GraphDialect::kInputName), StringRef(GraphDialect::kStateName)})
    if (StringRef name = nameOf(function, argument, attribute); !name.empty())
      return name.str();
  return "argument" + std::to_string(argument);
}

std::string resultName(func::FuncOp function, unsigned result) {
  for (StringRef attribute : {StringRef(GraphDialect::kOutputName), StringRef(GraphDialect::kStateName)})
    if (auto name = function.getResultAttrOfType<StringAttr>(result, attribute))
      return name.getValue().str();
  return "result" + std::to_string(result);
}

} // namespace

FailureOr<func::FuncOp> Interpreter::findFunction(StringRef name) {
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function || function.isExternal() || !llvm::hasSingleElement(function.getBody()))
    return LogicalResult(module.emitError("expected a function @") << name << " with one block");
  return function;
}

FailureOr<SmallVector<Interpreter::NamedValue>>
Interpreter::run(StringRef functionName, const llvm::StringMap<TensorValue> &arguments, Observer afterOp) {
  FailureOr<func::FuncOp> function = findFunction(functionName);
  if (failed(function))
    return failure();
  SmallVector<TensorValue> ordered;
  SmallVector<std::string> known;
  for (unsigned i = 0, end = function->getNumArguments(); i < end; ++i) {
    if (!isGiven(*function, i))
      continue;
    known.push_back(givenName(*function, i));
    auto found = arguments.find(known.back());
    if (found == arguments.end())
      return LogicalResult(function->emitError("no value for ") << describeArgument(*function, i));
    ordered.push_back(found->second);
  }
  for (StringRef name : arguments.keys())
    if (!llvm::is_contained(known, name)) {
      InFlightDiagnostic diagnostic = function->emitError("there is no input '") << name << "'; expected";
      for (auto [index, other] : llvm::enumerate(known))
        diagnostic << (index ? ", '" : " '") << other << "'";
      return LogicalResult(diagnostic);
    }
  FailureOr<SmallVector<TensorValue>> results = run(functionName, ordered, afterOp);
  if (failed(results))
    return failure();
  SmallVector<NamedValue> named;
  for (auto [index, value] : llvm::enumerate(*results))
    named.push_back({resultName(*function, index), value});
  return named;
}

FailureOr<SmallVector<TensorValue>> Interpreter::run(StringRef functionName, ArrayRef<TensorValue> given,
                                                     Observer afterOp) {
  FailureOr<func::FuncOp> found = findFunction(functionName);
  if (failed(found))
    return failure();
  func::FuncOp function = *found;
  SmallVector<TensorValue> arguments;
  size_t nextGiven = 0;
  for (unsigned i = 0, end = function.getNumArguments(); i < end; ++i) {
    if (StringRef name = nameOf(function, i, GraphDialect::kParamName); !name.empty()) {
      const TensorValue *value = weights.find(name);
      if (!value)
        return LogicalResult(function.emitError("the weight store has no value for ") << describeArgument(function, i));
      arguments.push_back(*value);
    } else if (auto index = function.getArgAttrOfType<IntegerAttr>(i, GraphDialect::kPreparedIndex)) {
      if (functionName == GraphDialect::kPrepareName)
        return LogicalResult(function.emitError() << describeArgument(function, i) << " takes a result of itself");
      FailureOr<ArrayRef<TensorValue>> all = prepare();
      if (failed(all))
        return failure();
      if (index.getInt() < 0 || index.getInt() >= static_cast<int64_t>(all->size()))
        return LogicalResult(function.emitError() << describeArgument(function, i) << " takes result " << index.getInt()
                                                  << " of @prepare, which has " << all->size());
      arguments.push_back((*all)[index.getInt()]);
    } else if (nextGiven < given.size()) {
      arguments.push_back(given[nextGiven++]);
    } else {
      return LogicalResult(function.emitError("no value for ") << describeArgument(function, i));
    }
  }
  if (nextGiven != given.size())
    return LogicalResult(function.emitError("@")
                         << functionName << " takes " << nextGiven << " values, got " << given.size());

  SmallVector<SymbolBindings::Equation> equations;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto expected = dyn_cast<RankedTensorType>(type);
    const TensorValue &value = arguments[index];
    std::string description = describeArgument(function, index);
    if (!expected)
      return LogicalResult(function.emitError() << description << ": expected a ranked tensor type, got " << type);
    if (!value)
      return LogicalResult(function.emitError() << description << ": no value");
    if (value.getElementType() != expected.getElementType())
      return LogicalResult(function.emitError() << description << ": expected elements of type "
                                                << expected.getElementType() << ", got " << value.getElementType());
    if (value.getRank() != expected.getRank())
      return LogicalResult(function.emitError() << description << ": expected " << expected.getRank() << " dimensions ("
                                                << expected << "), got " << value.getRank());
    for (int64_t i = 0; i < expected.getRank(); ++i)
      equations.push_back({description, static_cast<unsigned>(i), graph::getDim(expected, i), value.getShape()[i]});
  }
  symbols = SymbolBindings();
  if (failed(symbols.solve(equations, module, function.getLoc())))
    return failure();

  observer = afterOp;
  llvm::scope_exit leave([&] {
    values.clear();
    observer = nullptr;
  });
  SmallVector<TensorValue> results;
  if (failed(runBlock(function.getBody().front(), arguments, results)))
    return failure();
  return results;
}

FailureOr<ArrayRef<TensorValue>> Interpreter::prepare() {
  if (!prepared) {
    FailureOr<SmallVector<TensorValue>> results = evaluatePrepare(module, weights);
    if (failed(results))
      return failure();
    prepared = std::move(*results);
  }
  return ArrayRef<TensorValue>(*prepared);
}

SmallVector<int64_t> Interpreter::getShape(Type tensorType) {
  SmallVector<int64_t> shape;
  for (const graph::Dim &dim : graph::getDims(tensorType))
    shape.push_back(*symbols.evaluate(dim)); // runOp has checked that there is one
  return shape;
}

LogicalResult Interpreter::evaluateRegion(Region &region, ArrayRef<TensorValue> arguments,
                                          SmallVectorImpl<TensorValue> &results) {
  return runBlock(region.front(), arguments, results);
}

LogicalResult Interpreter::bindSymbol(Operation *op, StringRef symbol, int64_t value) {
  std::optional<graph::SymbolBounds> bounds = graph::getSymbolBounds(symbol, op);
  if (bounds && (value < bounds->min || value > bounds->max))
    return op->emitOpError("the size '") << symbol << "' depends on data and is " << value << ", outside its bounds ["
                                         << bounds->min << ", " << bounds->max << "]; compile with wider bounds for it";
  symbols.bind(symbol, value);
  return success();
}

const SmallVector<SmallVector<Value>> &Interpreter::getLastUses(Block &block) {
  auto [entry, isNew] = lastUses.try_emplace(&block);
  if (!isNew)
    return entry->second;
  // Position of each op; a use inside a region counts where the op that holds the region stands.
  DenseMap<Operation *, size_t> positions;
  for (auto [position, op] : llvm::enumerate(block))
    positions[&op] = position;
  SmallVector<SmallVector<Value>> ends(positions.size());
  auto findEnd = [&](Value value, size_t from) {
    for (Operation *user : value.getUsers())
      from = std::max(from, positions.lookup(block.findAncestorOpInBlock(*user)));
    ends[from].push_back(value);
  };
  for (Value argument : block.getArguments())
    findEnd(argument, 0);
  for (Operation &op : block)
    for (Value result : op.getResults())
      findEnd(result, positions.lookup(&op));
  return lastUses[&block] = std::move(ends);
}

LogicalResult Interpreter::runBlock(Block &block, ArrayRef<TensorValue> arguments,
                                    SmallVectorImpl<TensorValue> &results) {
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
    values[argument] = value;
  for (auto [position, op] : llvm::enumerate(block)) {
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      for (Value operand : op.getOperands())
        results.push_back(values.lookup(operand));
    } else {
      SmallVector<TensorValue> computed;
      if (failed(runOp(op, computed)))
        return failure();
      for (auto [result, value] : llvm::zip_equal(op.getResults(), computed))
        values[result] = value;
    }
    for (Value value : getLastUses(block)[position])
      values.erase(value);
  }
  return success();
}

LogicalResult Interpreter::verifySize(Operation &op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return op.emitOpError("has no tensor as its result: ") << type;
  int64_t bits = graph::storageBits(tensor.getElementType());
  bool isEmpty = false, tooLarge = false;
  for (int64_t i = 0; i < tensor.getRank(); ++i) {
    graph::Dim dim = graph::getDim(tensor, i);
    std::optional<int64_t> size = symbols.evaluate(dim);
    if (!size)
      return op.emitOpError("size ") << dim << " of dimension " << i << " of its result cannot be computed from the "
                                     << "shapes of the arguments";
    if (*size < 0)
      return op.emitOpError("size ") << dim << " of dimension " << i << " of its result would be " << *size;
    isEmpty |= *size == 0;
    tooLarge |= llvm::MulOverflow(bits, std::max<int64_t>(*size, 1), bits) || bits / 8 > memoryBytes();
  }
  if (tooLarge && !isEmpty)
    return op.emitOpError("its result of type ")
           << type << " is larger than this machine's memory of " << (memoryBytes() >> 30) << " GiB";
  return success();
}

LogicalResult Interpreter::runOp(Operation &op, SmallVectorImpl<TensorValue> &results) {
  auto evaluated = dyn_cast<graph::EvaluationInterface>(op);
  if (!evaluated)
    return op.emitOpError("has no reference evaluation");
  for (Type type : op.getResultTypes())
    if (failed(verifySize(op, type)))
      return failure();
  SmallVector<TensorValue> operands;
  for (Value operand : op.getOperands())
    operands.push_back(values.lookup(operand));
  if (failed(evaluated.evaluate(operands, results, *this)))
    return failure();
  for (auto [index, type] : llvm::enumerate(op.getResultTypes())) {
    SmallVector<int64_t> expected = getShape(type);
    if (results[index].getShape() != ArrayRef<int64_t>(expected) ||
        results[index].getElementType() != cast<RankedTensorType>(type).getElementType()) {
      InFlightDiagnostic diagnostic = op.emitOpError("result ") << index << ": expected the shape [";
      llvm::interleaveComma(expected, diagnostic);
      diagnostic << "] of " << type << ", got [";
      llvm::interleaveComma(results[index].getShape(), diagnostic);
      return diagnostic << "]";
    }
  }
  if (observer)
    observer(&op, results);
  return success();
}

FailureOr<SmallVector<TensorValue>> evaluatePrepare(ModuleOp module, const WeightStore &weights) {
  if (!module.lookupSymbol<func::FuncOp>(GraphDialect::kPrepareName))
    return SmallVector<TensorValue>();
  return Interpreter(module, weights).run(GraphDialect::kPrepareName, ArrayRef<TensorValue>());
}

} // namespace weft
