//===- GraphUnderTest.h - A module that is built, rewritten by passes and evaluated before and after -----===//

#ifndef WEFT_TEST_UNIT_LAYOUT_GRAPHUNDERTEST_H
#define WEFT_TEST_UNIT_LAYOUT_GRAPHUNDERTEST_H

#include "dialects/Graph/Graph.h"
#include "lib/Support/WeightStore.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include <random>

namespace weft::test {

/// How many random graphs a test makes: `usual`, or what the environment variable WEFT_RANDOM_GRAPHS says (for long
/// runs by hand).
unsigned getGraphCount(unsigned usual);

/// A module with one @main, with the values of its parameters and inputs. Built op by op with `builder`, closed with
/// `finish`.
class GraphUnderTest {
public:
  explicit GraphUnderTest(unsigned seed);

  /// A symbolic size with the value that runs give it.
  graph::Dim symbol(llvm::StringRef name, int64_t value);
  mlir::Value addInput(mlir::RankedTensorType type);
  /// A parameter with values of about `scale`, all positive if wanted.
  mlir::Value addParameter(mlir::RankedTensorType type, double scale, bool positive = false);
  mlir::Value constant(double value, mlir::Type elementType);
  mlir::Value splat(double value, mlir::RankedTensorType type);
  /// Ends @main; every value becomes an output.
  void finish(mlir::ValueRange outputs);

  /// Runs passes; false where one fails or the module is not valid afterwards.
  bool runPasses(llvm::function_ref<void(mlir::OpPassManager &)> addPasses);
  /// The outputs by the interpreter.
  std::vector<graph::TensorValue> evaluate();
  /// The number of ops of a kind in @main.
  template <typename Op> unsigned count() {
    unsigned number = 0;
    function.walk([&](Op) { ++number; });
    return number;
  }
  std::string print();

  /// A whole number in [low, high].
  int64_t random(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(generator); }
  template <typename T> T pick(std::initializer_list<T> choices) {
    return choices.begin()[random(0, choices.size() - 1)];
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  mlir::Location location;
  /// Put zeros of both signs, infinities, NaN and denormals among the inputs.
  bool specialInputs = false;

private:
  graph::TensorValue randomValue(mlir::RankedTensorType type, double scale, bool positive, bool special);

  std::mt19937 generator;
  WeightStore weights;
  llvm::StringMap<int64_t> symbols;
  std::vector<graph::TensorValue> inputs;
};

} // namespace weft::test

#endif
