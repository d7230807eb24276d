//===- Interpreter.h - Runs a module of the Graph dialect op by op: the oracle ----------------------===//

#ifndef WEFT_LIB_INTERPRETER_INTERPRETER_H
#define WEFT_LIB_INTERPRETER_INTERPRETER_H

#include "dialects/Graph/GraphInterfaces.h"
#include "lib/Interpreter/SymbolBindings.h"
#include "lib/Support/WeightStore.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <optional>

namespace weft {

/// Runs functions of a module, each op by its reference evaluation. Values live until their last use. Everything that
/// is wrong with what is given (names, types, shapes) is an error diagnostic and failure. One run at a time; the module
/// must not change while an interpreter holds it.
class Interpreter : private graph::EvaluationContext {
public:
  /// Called after each op, those inside regions too, with its results.
  using Observer = llvm::function_ref<void(mlir::Operation *op, llvm::ArrayRef<graph::TensorValue> results)>;

  struct NamedValue {
    std::string name;
    graph::TensorValue value;
  };

  /// Both must outlive the interpreter.
  Interpreter(mlir::ModuleOp module, const WeightStore &weights) : module(module), weights(weights) {}

  /// Runs a function on the values of its arguments in order, without those that are parameters or prepared: these come
  /// from the weight store and from @prepare, which is run once, when it is first needed.
  llvm::FailureOr<llvm::SmallVector<graph::TensorValue>>
  run(llvm::StringRef function, llvm::ArrayRef<graph::TensorValue> arguments, Observer observer = nullptr);

  /// The same with inputs and state by name. Results have the names of their `weft.output` or `weft.state`, or
  /// `result<number>`.
  llvm::FailureOr<llvm::SmallVector<NamedValue>>
  run(llvm::StringRef function, const llvm::StringMap<graph::TensorValue> &arguments, Observer observer = nullptr);

  /// The results of @prepare, in order.
  llvm::FailureOr<llvm::ArrayRef<graph::TensorValue>> prepare();

private:
  llvm::SmallVector<int64_t> getShape(mlir::Type tensorType) override;
  llvm::LogicalResult evaluateRegion(mlir::Region &region, llvm::ArrayRef<graph::TensorValue> arguments,
                                     llvm::SmallVectorImpl<graph::TensorValue> &results) override;
  llvm::LogicalResult bindSymbol(mlir::Operation *op, llvm::StringRef symbol, int64_t value) override;

  llvm::FailureOr<mlir::func::FuncOp> findFunction(llvm::StringRef name);
  llvm::LogicalResult runBlock(mlir::Block &block, llvm::ArrayRef<graph::TensorValue> arguments,
                               llvm::SmallVectorImpl<graph::TensorValue> &results);
  llvm::LogicalResult runOp(mlir::Operation &op, llvm::SmallVectorImpl<graph::TensorValue> &results);
  /// The size of a result, checked to be one that a machine can hold.
  llvm::LogicalResult verifySize(mlir::Operation &op, mlir::Type type);
  const llvm::SmallVector<llvm::SmallVector<mlir::Value>> &getLastUses(mlir::Block &block);

  mlir::ModuleOp module;
  const WeightStore &weights;
  std::optional<llvm::SmallVector<graph::TensorValue>> prepared;
  llvm::DenseMap<mlir::Block *, llvm::SmallVector<llvm::SmallVector<mlir::Value>>> lastUses;

  // Of the run that is going on.
  SymbolBindings symbols;
  llvm::DenseMap<mlir::Value, graph::TensorValue> values;
  Observer observer = nullptr;
};

/// Runs @prepare of a module on its weights: the results in order, none where there is no @prepare.
llvm::FailureOr<llvm::SmallVector<graph::TensorValue>> evaluatePrepare(mlir::ModuleOp module,
                                                                       const WeightStore &weights);

} // namespace weft

#endif
