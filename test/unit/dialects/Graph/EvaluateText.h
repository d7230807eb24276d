//===- EvaluateText.h - Evaluates ops given as text, for tests --------------------------------------===//

#ifndef WEFT_TEST_UNIT_DIALECTS_GRAPH_EVALUATETEXT_H
#define WEFT_TEST_UNIT_DIALECTS_GRAPH_EVALUATETEXT_H

#include "dialects/Graph/GraphDialect.h"
#include "lib/Interpreter/Interpreter.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace weft::test {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A test that runs modules written as text.
class EvaluateText : public ::testing::Test {
protected:
  EvaluateText() : handler(&context, [this](mlir::Diagnostic &diagnostic) { errors += diagnostic.str() + "\n"; }) {
    context.loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
  }

  mlir::Type elementType(llvm::StringRef text) { return mlir::parseType(text, &context); }

  /// A tensor of `shape` with these elements in row-major order; integers are given exactly up to 2^53.
  graph::TensorValue tensor(llvm::StringRef element, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> elements) {
    graph::TensorValue value(elementType(element), shape);
    EXPECT_EQ(value.getElementCount(), static_cast<int64_t>(elements.size()));
    for (auto [index, number] : llvm::enumerate(elements)) {
      bool isFloat = llvm::isa<mlir::FloatType>(value.getElementType());
      isFloat ? value.setFloat(index, number) : value.setInteger(index, static_cast<int64_t>(number));
    }
    return value;
  }
  graph::TensorValue integers(llvm::StringRef element, llvm::ArrayRef<int64_t> elements) {
    graph::TensorValue value(elementType(element), static_cast<int64_t>(elements.size()));
    for (auto [index, number] : llvm::enumerate(elements))
      value.setInteger(index, number);
    return value;
  }
  /// Elements from a formula, small and of both signs, exact in every type from bf16 on.
  graph::TensorValue pattern(llvm::StringRef element, llvm::ArrayRef<int64_t> shape, int64_t seed = 1) {
    graph::TensorValue value(elementType(element), shape);
    for (int64_t i = 0; i < value.getElementCount(); ++i)
      value.setFloat(i, static_cast<double>((i * 37 + seed * 11) % 29 - 14) / 8);
    return value;
  }

  /// The results of @main of a module; none after an error, which is then in `errors`.
  llvm::SmallVector<graph::TensorValue> runModule(llvm::StringRef text, llvm::ArrayRef<graph::TensorValue> arguments) {
    errors.clear();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
    if (!module)
      return {};
    auto results = Interpreter(*module, weights).run("main", arguments);
    return mlir::succeeded(results) ? *results : llvm::SmallVector<graph::TensorValue>();
  }

  /// The value of one op: `op` as text over %a, %b, ... with its types; `types` are those of the arguments.
  graph::TensorValue evaluate(llvm::StringRef op, llvm::StringRef types, llvm::StringRef resultType,
                              llvm::ArrayRef<graph::TensorValue> arguments) {
    llvm::SmallVector<llvm::StringRef> list;
    types.split(list, ';');
    std::string text = "func.func @main(";
    for (auto [index, type] : llvm::enumerate(list))
      if (!type.trim().empty())
        text += (index ? ", %" : "%") + std::string(1, static_cast<char>('a' + index)) + ": " + type.str();
    text += ") -> " + resultType.str() + " {\n  %r = " + op.str() + "\n  return %r : " + resultType.str() + "\n}\n";
    auto results = runModule(text, arguments);
    EXPECT_EQ(results.size(), 1u) << text << errors;
    return results.empty() ? graph::TensorValue() : results[0];
  }

  static std::vector<double> floats(const graph::TensorValue &value) {
    std::vector<double> all;
    for (int64_t i = 0; i < value.getElementCount(); ++i)
      all.push_back(value.getFloat(i));
    return all;
  }
  static std::vector<int64_t> ints(const graph::TensorValue &value) {
    std::vector<int64_t> all;
    for (int64_t i = 0; i < value.getElementCount(); ++i)
      all.push_back(value.getInteger(i));
    return all;
  }

  /// Equal, NaN to NaN, and with the same sign of zero.
  static void expectSame(const graph::TensorValue &value, llvm::ArrayRef<double> expected) {
    ASSERT_EQ(value.getElementCount(), static_cast<int64_t>(expected.size()));
    for (auto [index, number] : llvm::enumerate(expected)) {
      double got = value.getFloat(index);
      EXPECT_TRUE(std::isnan(number) ? std::isnan(got) : got == number && std::signbit(got) == std::signbit(number))
          << "element " << index << ": expected " << number << ", got " << got;
    }
  }
  static void expectInts(const graph::TensorValue &value, std::vector<int64_t> expected) {
    EXPECT_EQ(ints(value), expected);
  }

  mlir::MLIRContext context;
  std::string errors;
  WeightStore weights;
  mlir::OwningOpRef<mlir::ModuleOp> module;

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace weft::test

#endif
