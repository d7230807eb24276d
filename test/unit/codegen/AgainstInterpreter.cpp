//===- AgainstInterpreter.cpp - Kernels of every op against the interpreter --------------------------------===//
//
// Bit for bit, but for contractions and the mathematical functions.

#include "lib/Interpreter/Interpreter.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"
#include "test/unit/codegen/GpuKernelTest.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace mlir;
using namespace weft;
using namespace weft::graph;
using namespace weft::test;

namespace {

/// The parameter is the target: "cpu" or a GPU.
class AgainstInterpreter : public testing::TestWithParam<const char *> {
protected:
  struct Options {
    double tolerance = 0; // relative to the largest value; 0 for the same bits
    double scale = 1;     // of the random operands, see makeRandom
    bool special = false; // some floats are NaN, infinite, subnormal or a zero
    std::map<std::string, int64_t> symbols;
    std::string dims;
    std::vector<std::vector<int64_t>> shapes; // where operands have symbolic sizes
  };

  void check(const std::string &kind, const std::vector<std::string> &operands, const std::string &body,
             const std::vector<std::string> &results) {
    check(kind, operands, body, results, Options());
  }

  void check(const std::string &kind, const std::vector<std::string> &operands, const std::string &body,
             const std::vector<std::string> &results, const Options &options) {
    std::string text = makeModule(kind, operands, body, results, options.dims);
    SCOPED_TRACE(text);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context.get());
    std::vector<TensorValue> values;
    for (size_t i = 0; i < operands.size(); ++i) {
      auto type = cast<RankedTensorType>(parseType(operands[i]));
      ArrayRef<int64_t> shape = options.shapes.empty() ? type.getShape() : ArrayRef<int64_t>(options.shapes[i]);
      values.push_back(makeRandom(type.getElementType(), shape, 10 + i, options.scale));
      if (options.special)
        addSpecialValues(values.back());
    }
    WeightStore weights;
    Interpreter interpreter(*module, weights);
    FailureOr<SmallVector<TensorValue>> expected = interpreter.run("main", values);
    ASSERT_TRUE(succeeded(expected));
    for (const std::vector<TensorValue> &actual : runKernel(text, values, options)) {
      ASSERT_EQ(actual.size(), expected->size());
      for (size_t i = 0; i < actual.size(); ++i)
        compare(actual[i], (*expected)[i], options.tolerance);
    }
  }

  static void addSpecialValues(TensorValue &tensor) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double values[] = {std::nan(""), kInfinity, -kInfinity, 1e-40, -1e-40, -0.0, 0.0, 65000.0};
    if (isFloatElement(tensor.getElementType()))
      for (int64_t i = 3, next = 0; i < tensor.getElementCount(); i += 37, ++next)
        tensor.setFloat(i, values[next % std::size(values)]);
  }

  /// What the target's kernel gives, run in several ways.
  std::vector<std::vector<TensorValue>> runKernel(const std::string &text, ArrayRef<TensorValue> values,
                                                  const Options &options) {
    std::vector<std::vector<TensorValue>> runs;
    if (StringRef(GetParam()) == "cpu") {
      auto kernel = compileKernel(*context, text);
      for (int64_t step : {0, 1})
        if (kernel)
          runs.push_back(kernel->run(values, options.symbols, step));
    } else {
      auto kernel = compileGpuKernel(*context, text, GetParam());
      GpuRun natural, shuffled;
      natural.assemble = true;
      shuffled.seed = 7;
      shuffled.maxBlocks = 3;
      for (const GpuRun &how : {natural, shuffled})
        if (kernel) {
          runs.push_back(kernel->run(values, options.symbols, how));
          EXPECT_EQ(kernel->error, 0);
        }
    }
    return runs;
  }

  void compare(const TensorValue &actual, const TensorValue &expected, double tolerance) {
    ASSERT_EQ(actual.getShape(), expected.getShape());
    double largest = 0;
    bool isFloat = isFloatElement(actual.getElementType());
    for (int64_t i = 0; isFloat && i < expected.getElementCount(); ++i)
      if (std::isfinite(expected.getFloat(i)))
        largest = std::max(largest, std::abs(expected.getFloat(i)));
    for (int64_t i = 0; i < actual.getElementCount(); ++i) {
      if (!isFloat) {
        ASSERT_EQ(actual.getInteger(i), expected.getInteger(i)) << "element " << i;
        continue;
      }
      double a = actual.getFloat(i), b = expected.getFloat(i);
      bool same = std::isnan(b) ? std::isnan(a) : a == b && std::signbit(a) == std::signbit(b);
      bool near = tolerance > 0 && std::abs(a - b) <= tolerance * largest;
      ASSERT_TRUE(same || near) << "element " << i << ": " << a << ", expected " << b;
    }
  }

  Type parseType(const std::string &text) { return mlir::parseType(text, context.get()); }

  std::unique_ptr<MLIRContext> context = makeContext();
};

const std::vector<std::string> kIntegers = {"i8",  "ui8",  "i16", "ui16", "i32", "ui32",
                                            "i64", "ui64", "i4",  "ui4",  "i2"};
const std::vector<std::string> kFloats = {"f32", "f64", "f16", "bf16", "f8E4M3FN", "f8E5M2"};

std::string tensorOf(const std::string &shape, const std::string &type) { return "tensor<" + shape + type + ">"; }

TEST_P(AgainstInterpreter, IntegerArithmetic) {
  for (const std::string &type : kIntegers)
    for (double scale : {1.0, 0.5}) {
      std::string t = tensorOf("53x", type), body;
      std::vector<std::string> results;
      for (const char *op : {"add", "subtract", "multiply", "divide", "remainder", "power", "maximum", "minimum", "and",
                             "or", "xor", "shift_left", "shift_right_arithmetic", "shift_right_logical"}) {
        body += "    %r" + std::to_string(results.size()) + " = weft." + op + " %a, %b : " + t + "\n";
        results.push_back(t);
      }
      for (const char *op : {"abs", "negate", "sign", "popcnt", "count_leading_zeros", "not"}) {
        body += "    %r" + std::to_string(results.size()) + " = weft." + op + " %a : " + t + "\n";
        results.push_back(t);
      }
      Options options;
      options.scale = scale;
      check("loop", {t, t}, body, results, options);
    }
}

TEST_P(AgainstInterpreter, FloatArithmetic) {
  for (const std::string &type : kFloats) {
    std::string t = tensorOf("5x13x", type), body;
    std::vector<std::string> results;
    for (const char *op : {"add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum"}) {
      body += "    %r" + std::to_string(results.size()) + " = weft." + op + " %a, %b : " + t + "\n";
      results.push_back(t);
    }
    for (const char *op :
         {"abs", "negate", "sign", "floor", "ceil", "round_nearest_even", "round_nearest_afz", "sqrt"}) {
      body += "    %r" + std::to_string(results.size()) + " = weft." + op + " %a : " + t + "\n";
      results.push_back(t);
    }
    body += "    %r" + std::to_string(results.size()) + " = weft.clamp %b, %a, %a : " + t + "\n";
    results.push_back(t);
    check("loop", {t, t}, body, results);
  }
}

TEST_P(AgainstInterpreter, Comparisons) {
  for (const char *type : {"i8", "ui8", "i64", "f32", "f16", "i1"}) {
    std::string t = tensorOf("91x", type), p = "tensor<91xi1>", body;
    std::vector<std::string> results;
    for (const char *direction : {"EQ", "NE", "LT", "LE", "GT", "GE"}) {
      body += "    %r" + std::to_string(results.size()) + " = weft.compare " + direction + ", %a, %b : (" + t + ", " +
              t + ") -> " + p + "\n";
      results.push_back(p);
    }
    body += "    %r6 = weft.select %r2, %a, %b : (" + p + ", " + t + ", " + t + ") -> " + t + "\n";
    results.push_back(t);
    check("loop", {t, t}, body, results);
  }
}

TEST_P(AgainstInterpreter, Conversions) {
  std::vector<std::string> types = kFloats;
  types.insert(types.end(), kIntegers.begin(), kIntegers.end());
  types.push_back("i1");
  for (const std::string &from : types)
    for (double scale : {1.0, 1e4}) {
      if (scale > 1 && !llvm::is_contained(kFloats, from))
        continue;
      std::string source = tensorOf("67x", from), body;
      std::vector<std::string> results;
      for (const std::string &to : types) {
        if (to == from)
          continue;
        std::string target = tensorOf("67x", to);
        body += "    %r" + std::to_string(results.size()) + " = weft.convert %a : (" + source + ") -> " + target + "\n";
        results.push_back(target);
      }
      Options options;
      options.scale = scale;
      check("loop", {source}, body, results, options);
    }
}

TEST_P(AgainstInterpreter, DataMovement) {
  check("loop", {"tensor<7x10xf32>"}, "    %r0 = weft.slice %a [1:6:2, 0:10:3] : (tensor<7x10xf32>) -> tensor<3x4xf32>",
        {"tensor<3x4xf32>"});
  check("loop", {"tensor<4x5xi8>", "tensor<i8>"},
        "    %r0 = weft.pad %a, %b low = [1, -1] high = [2, 3] interior = [2, 1] : (tensor<4x5xi8>, tensor<i8>) -> "
        "tensor<13x11xi8>",
        {"tensor<13x11xi8>"});
  check("loop", {"tensor<2x3xf32>", "tensor<2x1xf32>", "tensor<2x4xf32>"},
        "    %r0 = weft.concatenate %a, %b, %c dim = 1 : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x4xf32>) -> "
        "tensor<2x8xf32>",
        {"tensor<2x8xf32>"});
  check("loop", {"tensor<6x5xi4>"}, "    %r0 = weft.reverse %a dims = [0, 1] : (tensor<6x5xi4>) -> tensor<6x5xi4>",
        {"tensor<6x5xi4>"});
  check(
      "loop", {"tensor<6x4x5xf32>"},
      "    %t = weft.reshape %a : (tensor<6x4x5xf32>) -> tensor<24x5xf32>\n    %u = weft.transpose %t perm = [1, 0] : "
      "(tensor<24x5xf32>) -> tensor<5x24xf32>\n    %r0 = weft.reshape %u : (tensor<5x24xf32>) -> tensor<10x12xf32>",
      {"tensor<10x12xf32>"});
  check("loop", {"tensor<6x4xf32>", "tensor<i32>", "tensor<i32>"},
        "    %r0 = weft.dynamic_slice %a at (%b, %c) : (tensor<6x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>",
        {"tensor<2x3xf32>"});
  Options small;
  small.scale = 0.5;
  check("loop", {"tensor<6x4xf32>", "tensor<2x3xf32>", "tensor<i64>", "tensor<i64>"},
        "    %r0 = weft.dynamic_update_slice %a, %b at (%c, %d) : (tensor<6x4xf32>, tensor<2x3xf32>, tensor<i64>, "
        "tensor<i64>) -> tensor<6x4xf32>",
        {"tensor<6x4xf32>"}, small);
  check(
      "loop", {"tensor<6x16xf32>", "tensor<3x5xi32>"},
      "    %r0 = weft.gather %a, %b {offset_dims = array<i64: 2>, collapsed_slice_dims = array<i64: 0>, "
      "operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, "
      "index_vector_dim = 2 : i64, slice_sizes = array<i64: 1, 16>} : (tensor<6x16xf32>, tensor<3x5xi32>) -> "
      "tensor<3x5x16xf32>",
      {"tensor<3x5x16xf32>"}, small);
  check("loop", {"tensor<3x6x4xf32>", "tensor<3x2xi32>"},
        "    %r0 = weft.gather %a, %b {offset_dims = array<i64: 2>, collapsed_slice_dims = array<i64: 2>, "
        "operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>, start_index_map = "
        "array<i64: 1>, index_vector_dim = 2 : i64, slice_sizes = array<i64: 1, 2, 1>} : (tensor<3x6x4xf32>, "
        "tensor<3x2xi32>) -> tensor<3x2x2xf32>",
        {"tensor<3x2x2xf32>"}, small);
  check(
      "loop", {"tensor<2x3xf32>"},
      "    %i = weft.iota dim = 1 : tensor<4x3x2xf32>\n    %t = weft.broadcast_in_dim %a dims = [2, 1] : "
      "(tensor<2x3xf32>) -> tensor<4x3x2xf32>\n    %c = weft.constant dense<[1.5, 2.5, 3.5]> : tensor<3xf32>\n    %d = "
      "weft.broadcast_in_dim %c dims = [1] : (tensor<3xf32>) -> tensor<4x3x2xf32>\n    %e = weft.add %t, %i : "
      "tensor<4x3x2xf32>\n    %r0 = weft.multiply %e, %d : tensor<4x3x2xf32>",
      {"tensor<4x3x2xf32>"});
}

TEST_P(AgainstInterpreter, Reductions) {
  for (const char *type : {"f32", "f64", "f16", "bf16", "i32", "ui8", "i4"})
    for (const char *kind : {"sum", "product", "max", "min"}) {
      std::string t = tensorOf("3x5x300x", type);
      check("row_reduction", {t},
            std::string("    %r0 = weft.reduce ") + kind + ", %a dims = [2] : (" + t + ") -> " + tensorOf("3x5x", type),
            {tensorOf("3x5x", type)});
      check("generic", {t},
            std::string("    %r0 = weft.reduce ") + kind + ", %a dims = [0, 1] : (" + t + ") -> " +
                tensorOf("300x", type),
            {tensorOf("300x", type)});
      check("generic", {t},
            std::string("    %r0 = weft.reduce ") + kind + ", %a dims = [0, 2] : (" + t + ") -> " +
                tensorOf("5x", type),
            {tensorOf("5x", type)});
    }
  check("row_reduction", {"tensor<9x17xi1>"},
        "    %r0 = weft.reduce all, %a dims = [1] : (tensor<9x17xi1>) -> tensor<9xi1>\n    %r1 = weft.reduce any, %a "
        "dims = "
        "[1] : (tensor<9x17xi1>) -> tensor<9xi1>",
        {"tensor<9xi1>", "tensor<9xi1>"});
  check("row_reduction", {"tensor<4x0xf32>"},
        "    %r0 = weft.reduce sum, %a dims = [1] : (tensor<4x0xf32>) -> tensor<4xf32>\n    %r1 = weft.reduce max, %a "
        "dims = "
        "[1] : (tensor<4x0xf32>) -> tensor<4xf32>",
        {"tensor<4xf32>", "tensor<4xf32>"});
  check("generic", {"tensor<9000x40xf32>"},
        "    %r0 = weft.reduce sum, %a dims = [0] : (tensor<9000x40xf32>) -> tensor<40xf32>", {"tensor<40xf32>"});
  check("row_reduction", {"tensor<40x30xf32>"},
        "    %r0 = weft.reduce sum, %a dims = [0, 1] : (tensor<40x30xf32>) -> tensor<f32>", {"tensor<f32>"});
  check(
      "generic", {"tensor<2x7x7x70xf32>"},
      "    %s = weft.reduce sum, %a dims = [1, 2] : (tensor<2x7x7x70xf32>) -> tensor<2x70xf32>\n    %c = weft.constant "
      "dense<4.900000e+01> : tensor<2x70xf32>\n    %r0 = weft.divide %s, %c : tensor<2x70xf32>",
      {"tensor<2x70xf32>"});
}

TEST_P(AgainstInterpreter, LayerNorm) {
  // Three dependent passes with broadcasts in two forms.
  check("row_multipass", {"tensor<6x4x50xf32>", "tensor<50xf32>"},
        R"(    %s = weft.reduce sum, %a dims = [2] : (tensor<6x4x50xf32>) -> tensor<6x4xf32>
    %n = weft.constant dense<50.0> : tensor<6x4xf32>
    %m = weft.divide %s, %n : tensor<6x4xf32>
    %mb = weft.broadcast_in_dim %m dims = [0, 1] : (tensor<6x4xf32>) -> tensor<6x4x50xf32>
    %d = weft.subtract %a, %mb : tensor<6x4x50xf32>
    %q = weft.multiply %d, %d : tensor<6x4x50xf32>
    %v = weft.reduce sum, %q dims = [2] : (tensor<6x4x50xf32>) -> tensor<6x4xf32>
    %k = weft.reshape %v : (tensor<6x4xf32>) -> tensor<6x4x1xf32>
    %kb = weft.broadcast_in_dim %k dims = [0, 1, 2] : (tensor<6x4x1xf32>) -> tensor<6x4x50xf32>
    %o = weft.divide %d, %kb : tensor<6x4x50xf32>
    %w = weft.broadcast_in_dim %b dims = [2] : (tensor<50xf32>) -> tensor<6x4x50xf32>
    %r0 = weft.multiply %o, %w : tensor<6x4x50xf32>
    %r1 = weft.reshape %m : (tensor<6x4xf32>) -> tensor<6x4x1xf32>)",
        {"tensor<6x4x50xf32>", "tensor<6x4x1xf32>"});
}

TEST_P(AgainstInterpreter, WindowsAndScans) {
  const char *pool =
      " {window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>, "
      "base_dilations = array<i64: 1, 1, 1, 1>, window_dilations = array<i64: 1, 1, 2, 1>, padding_low = "
      "array<i64: 0, 1, 1, 0>, padding_high = array<i64: 0, 1, 2, 0>}";
  for (const char *type : {"f32", "f16", "i32"})
    for (const char *kind : {"max", "sum"})
      check("generic", {tensorOf("2x9x10x37x", type)},
            std::string("    %r0 = weft.reduce_window ") + kind + ", %a" + pool + " : (" +
                tensorOf("2x9x10x37x", type) + ") -> " + tensorOf("2x5x5x37x", type),
            {tensorOf("2x5x5x37x", type)});
  check("generic", {"tensor<2x3x8xf32>"},
        "    %r0 = weft.reduce_window max, %a {window_dimensions = array<i64: 1, 1, 3>, window_strides = array<i64: 1, "
        "1, "
        "2>, base_dilations = array<i64: 1, 1, 2>, window_dilations = array<i64: 1, 1, 1>, padding_low = array<i64: 0, "
        "0, "
        "1>, padding_high = array<i64: 0, 0, 1>} : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>",
        {"tensor<2x3x8xf32>"});
  for (const char *kind : {"sum", "max"})
    for (const char *exclusive : {"true", "false"})
      for (const char *reverse : {"true", "false"})
        check("generic", {"tensor<3x11x4xf16>"},
              std::string("    %r0 = weft.cumulative ") + kind + ", %a dim = 1 exclusive = " + exclusive +
                  " reverse = " + reverse + " : (tensor<3x11x4xf16>) -> tensor<3x11x4xf16>",
              {"tensor<3x11x4xf16>"});
  for (const char *type : {"f32", "i8", "ui8"})
    for (const char *kind : {"max", "min"})
      for (const char *last : {"true", "false"})
        check("generic", {tensorOf("4x40x3x", type)},
              std::string("    %r0 = weft.arg_reduce ") + kind + ", %a dim = 1 last = " + last + " index = i64 : (" +
                  tensorOf("4x40x3x", type) + ") -> tensor<4x3xi64>",
              {"tensor<4x3xi64>"});
}

TEST_P(AgainstInterpreter, Ordering) {
  Options small;
  small.scale = 0.5;
  for (const char *type : {"f32", "f16", "i32", "ui8", "i64", "i4"})
    for (const char *direction : {"true", "false"}) {
      std::string t = tensorOf("3x29x2x", type), n = "tensor<3x29x2xi64>";
      check("generic", {t, n},
            "    %r0, %r1 = weft.sort %a, %b dim = 1 descending = " + std::string(direction) + " : (" + t + ", " + n +
                ") -> (" + t + ", " + n + ")",
            {t, n}, small);
      check("generic", {t},
            "    %r0, %r1 = weft.top_k %a k = 5 dim = 1 largest = " + std::string(direction) + " index = i32 : (" + t +
                ") -> (" + tensorOf("3x5x2x", type) + ", tensor<3x5x2xi32>)",
            {tensorOf("3x5x2x", type), "tensor<3x5x2xi32>"}, small);
    }
  for (int length : {1, 2, 3, 64, 1000})
    check("generic", {tensorOf(std::to_string(length) + "x", "f32")},
          "    %r0 = weft.sort %a dim = 0 descending = false : (" + tensorOf(std::to_string(length) + "x", "f32") +
              ") -> " + tensorOf(std::to_string(length) + "x", "f32"),
          {tensorOf(std::to_string(length) + "x", "f32")});
  for (const char *kind : {"set", "sum", "product", "max", "min"})
    check("generic", {"tensor<6x8xf16>", "tensor<7x1xi32>", "tensor<7x8xf16>"},
          std::string("    %s = weft.scatter ") + kind +
              ", %a, %b, %c {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, "
              "operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, "
              "scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (tensor<6x8xf16>, "
              "tensor<7x1xi32>, tensor<7x8xf16>) -> tensor<6x8xf16>\n    %r0 = weft.negate %s : tensor<6x8xf16>",
          {"tensor<6x8xf16>"}, small);
}

TEST_P(AgainstInterpreter, DotProducts) {
  Options near;
  near.tolerance = 1e-5;
  check(
      "generic", {"tensor<13x70xf32>", "tensor<70x130xf32>", "tensor<130xf32>"},
      R"(    %d = weft.dot_general %a, %b contract = [1] x [0] : (tensor<13x70xf32>, tensor<70x130xf32>) -> tensor<13x130xf32>
    %e = weft.broadcast_in_dim %c dims = [1] : (tensor<130xf32>) -> tensor<13x130xf32>
    %r0 = weft.add %d, %e : tensor<13x130xf32>)",
      {"tensor<13x130xf32>"}, near);
  check("generic", {"tensor<13x70xf32>", "tensor<21x70xf32>"},
        "    %r0 = weft.dot_general %a, %b contract = [1] x [1] : (tensor<13x70xf32>, tensor<21x70xf32>) -> "
        "tensor<13x21xf32>",
        {"tensor<13x21xf32>"}, near);
  check("generic", {"tensor<2x3x5x8xf32>", "tensor<2x3x8x9xf32>"},
        "    %r0 = weft.dot_general %a, %b batch = [0, 1] x [0, 1] contract = [3] x [2] : (tensor<2x3x5x8xf32>, "
        "tensor<2x3x8x9xf32>) -> tensor<2x3x5x9xf32>",
        {"tensor<2x3x5x9xf32>"}, near);
  check("generic", {"tensor<30xf32>", "tensor<30xf32>"},
        "    %r0 = weft.dot_general %a, %b contract = [0] x [0] : (tensor<30xf32>, tensor<30xf32>) -> tensor<f32>",
        {"tensor<f32>"}, near);
  check("generic", {"tensor<4x30x5xf64>", "tensor<5x30xf64>"},
        "    %r0 = weft.dot_general %a, %b contract = [1, 2] x [1, 0] : (tensor<4x30x5xf64>, tensor<5x30xf64>) -> "
        "tensor<4xf64>",
        {"tensor<4xf64>"}, near);
  check("generic", {"tensor<6x9xi8>", "tensor<9x7xi8>"},
        "    %r0 = weft.dot_general %a, %b contract = [1] x [0] : (tensor<6x9xi8>, tensor<9x7xi8>) -> tensor<6x7xi32>",
        {"tensor<6x7xi32>"});
  near.tolerance = 5e-3;
  check("generic", {"tensor<6x90xf16>", "tensor<90x70xf16>"},
        "    %r0 = weft.dot_general %a, %b contract = [1] x [0] : (tensor<6x90xf16>, tensor<90x70xf16>) -> "
        "tensor<6x70xf16>",
        {"tensor<6x70xf16>"}, near);
}

TEST_P(AgainstInterpreter, Convolutions) {
  Options near;
  near.tolerance = 1e-5;
  const char *attributes =
      " {window_strides = array<i64: 2, 1>, padding_low = array<i64: 1, 1>, padding_high = array<i64: "
      "1, 2>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 2>, feature_group_count = ";
  struct Layout {
    const char *dims, *input, *kernel, *output;
    int groups;
  };
  const Layout layouts[] = {
      {"<[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]>", "2x9x11x6", "3x3x6x70", "2x5x10x70", 1},
      {"<[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]>", "2x6x9x11", "10x6x3x3", "2x10x5x10", 1},
      {"<[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]>", "2x9x11x6", "3x3x3x10", "2x5x10x10", 2},
      {"<[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]>", "2x6x9x11", "10x3x3x3", "2x10x5x10", 2},
      {"<[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]>", "2x9x11x40", "3x3x1x40", "2x5x10x40", 40},
      {"<[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]>", "2x9x11x6", "3x3x1x12", "2x5x10x12", 6},
  };
  for (const Layout &layout : layouts) {
    std::string x = tensorOf(std::string(layout.input) + "x", "f32"),
                w = tensorOf(std::string(layout.kernel) + "x", "f32"),
                y = tensorOf(std::string(layout.output) + "x", "f32");
    check("generic", {x, w},
          "    %c = weft.convolution %a, %b dims = " + std::string(layout.dims) + attributes +
              std::to_string(layout.groups) + " : i64} : (" + x + ", " + w + ") -> " + y +
              "\n    %z = weft.constant dense<0.0> : " + y + "\n    %r0 = weft.maximum %c, %z : " + y,
          {y}, near);
  }
  // One spatial dimension, dilated input: a transposed convolution.
  check(
      "generic", {"tensor<2x7x3xf32>", "tensor<4x3x5xf32>"},
      "    %r0 = weft.convolution %a, %b dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> {window_strides = array<i64: 1>, "
      "padding_low = array<i64: 3>, padding_high = array<i64: 2>, lhs_dilation = array<i64: 2>, rhs_dilation = "
      "array<i64: 1>, feature_group_count = 1 : i64} : (tensor<2x7x3xf32>, tensor<4x3x5xf32>) -> tensor<2x15x5xf32>",
      {"tensor<2x15x5xf32>"}, near);
}

TEST_P(AgainstInterpreter, SymbolicSizes) {
  std::string x = "tensor<?x?x6xf32, #weft.encoding<[batch, time, 6]>>",
              rows = "tensor<?x?xf32, #weft.encoding<[batch, time]>>";
  std::string flat = "tensor<?x6xf32, #weft.encoding<[batch * time, 6]>>";
  std::string dot = "tensor<?x?x17xf32, #weft.encoding<[batch, time, 17]>>";
  std::string swapped = "tensor<?x?x6xf32, #weft.encoding<[time, batch, 6]>>";
  for (auto [batch, time] : {std::pair<int64_t, int64_t>{1, 1}, {3, 5}, {0, 4}, {40, 33}}) {
    Options options;
    options.dims = "weft.dim \"batch\" in [0, 64]\nweft.dim \"time\" in [1, 64]\n";
    options.symbols = {{"batch", batch}, {"time", time}};
    options.shapes = {{batch, time, 6}, {6, 17}};
    check("row_reduction", {x}, "    %r0 = weft.reduce sum, %a dims = [2] : (" + x + ") -> " + rows, {rows}, options);
    check("loop", {x},
          "    %f = weft.reshape %a : (" + x + ") -> " + flat + "\n    %r0 = weft.negate %f : " + flat + "\n", {flat},
          options);
    check("transpose", {x}, "    %r0 = weft.transpose %a perm = [1, 0, 2] : (" + x + ") -> " + swapped, {swapped},
          options);
    // Equal for every value, which the expressions do not show.
    std::string halves = "#weft.encoding<[batch, time floordiv 2 + (time + 1) floordiv 2, 6]>>";
    check("loop", {x},
          "    %f = weft.negate %a : " + x + "\n    %r0 = weft.assume_shape %f : (" + x + ") -> tensor<?x?x6xf32, " +
              halves + "\n",
          {"tensor<?x?x6xf32, " + halves}, options);
    std::string row = "tensor<?x6xf32, #weft.encoding<[batch, 6]>>";
    check("generic", {x}, "    %r0 = weft.reduce sum, %a dims = [1] : (" + x + ") -> " + row, {row}, options);
    options.tolerance = 1e-5;
    check("generic", {x, "tensor<6x17xf32>"},
          "    %r0 = weft.dot_general %a, %b contract = [2] x [0] : (" + x + ", tensor<6x17xf32>) -> " + dot, {dot},
          options);
  }
}

TEST_P(AgainstInterpreter, RowLengths) {
  // Every way to share out a row: lanes of one or several rows a warp, four warps, a block; whole vectors or not.
  for (int64_t length : {1,   2,   3,   4,   5,    8,    12,   20,   33,   49,   64,   100,  127,
                         128, 129, 132, 516, 1000, 1024, 1026, 2048, 3000, 4096, 4097, 8200, 40004}) {
    std::string n = std::to_string(length), t = tensorOf("5x" + n + "x", "f32");
    Options options;
    options.special = length % 3 == 1;
    check("row_reduction", {t},
          "    %r0 = weft.reduce sum, %a dims = [1] : (" + t +
              ") -> tensor<5xf32>\n    %r1 = weft.reduce max, %a dims = "
              "[1] : (" +
              t + ") -> tensor<5xf32>",
          {"tensor<5xf32>", "tensor<5xf32>"}, options);
  }
  for (const char *type : {"f16", "bf16", "f64", "i8"})
    for (int64_t length : {6, 16, 200, 1536, 5000}) {
      std::string n = std::to_string(length), t = tensorOf("3x" + n + "x", type), r = tensorOf("3x", type);
      Options options;
      options.special = true;
      check("row_reduction", {t}, "    %r0 = weft.reduce sum, %a dims = [1] : (" + t + ") -> " + r, {r}, options);
    }
}

TEST_P(AgainstInterpreter, CenteredRows) {
  // Held in registers, read again, and long; the row's sum is used along it.
  for (int64_t length : {7, 64, 1024, 4096, 4100, 9000}) {
    std::string n = std::to_string(length), t = tensorOf("6x" + n + "x", "f32");
    check("row_multipass", {t},
          "    %s = weft.reduce sum, %a dims = [1] : (" + t +
              ") -> tensor<6xf32>\n    %b = weft.broadcast_in_dim %s dims "
              "= [0] : (tensor<6xf32>) -> " +
              t + "\n    %d = weft.subtract %a, %b : " + t + "\n    %m = weft.reduce max, %d dims = [1] : (" + t +
              ") -> tensor<6xf32>\n    %e = weft.broadcast_in_dim "
              "%m dims = [0] : (tensor<6xf32>) -> " +
              t + "\n    %r0 = weft.divide %d, %e : " + t,
          {t});
  }
}

TEST_P(AgainstInterpreter, LoopsAndSquares) {
  Options options;
  options.special = true;
  for (const char *type : {"f32", "f16", "bf16", "f64", "i8", "i1"})
    for (const char *shape : {"1x1", "33x65", "64x64", "130x70", "3x1000", "0x5"}) {
      std::string t = tensorOf(std::string(shape) + "x", type);
      std::string first(shape, std::strchr(shape, 'x')), second(std::strchr(shape, 'x') + 1);
      std::string u = tensorOf(second + "x" + first + "x", type);
      check("transpose", {t}, "    %r0 = weft.transpose %a perm = [1, 0] : (" + t + ") -> " + u, {u}, options);
      if (std::string(type) != "i1")
        check("loop", {t, t}, "    %r0 = weft.add %a, %b : " + t + "\n    %r1 = weft.maximum %a, %b : " + t, {t, t},
              options);
    }
  check("loop", {"tensor<12x40xf32>", "tensor<40xf32>"},
        "    %b2 = weft.broadcast_in_dim %b dims = [1] : (tensor<40xf32>) -> tensor<12x40xf32>\n    %r0 = weft.add %a, "
        "%b2 "
        ": tensor<12x40xf32>\n    %r1 = weft.negate %b : tensor<40xf32>",
        {"tensor<12x40xf32>", "tensor<40xf32>"}, options);
}

TEST_P(AgainstInterpreter, Scatters) {
  struct Form {
    const char *operand, *indices, *updates, *attributes;
  };
  const Form forms[] = {
      // Single places, many of them several times.
      {"20x", "90x1x", "90x",
       "update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>, operand_batching_dims = array<i64>, "
       "scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = "
       "1"},
      // Windows that move along both dimensions and overlap.
      {"6x8x", "9x2x", "9x2x3x",
       "update_window_dims = array<i64: 1, 2>, inserted_window_dims = array<i64>, operand_batching_dims = array<i64>, "
       "scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0, 1>, index_vector_dim "
       "= "
       "1"},
      // A window narrower than the dimension that it does not move along; batches.
      {"3x5x4x", "3x6x1x", "3x6x2x",
       "update_window_dims = array<i64: 2>, inserted_window_dims = array<i64: 1>, operand_batching_dims = array<i64: "
       "0>, "
       "scatter_indices_batching_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 1>, index_vector_dim "
       "= "
       "2"}};
  for (const char *indexType : {"i32", "i64", "ui8"})
    for (const Form &form : forms)
      for (const char *kind : {"set", "sum"})
        for (double scale : {0.5, 1.0}) {
          Options options;
          options.scale = scale;
          std::string t = tensorOf(form.operand, "f32"), i = tensorOf(form.indices, indexType),
                      u = tensorOf(form.updates, "f32");
          check("generic", {t, i, u},
                std::string("    %s = weft.scatter ") + kind + ", %a, %b, %c {" + form.attributes + " : i64} : (" + t +
                    ", " + i + ", " + u + ") -> " + t + "\n    %r0 = weft.abs %s : " + t,
                {t}, options);
        }
}

TEST_P(AgainstInterpreter, IndicesOfAnySize) {
  for (const char *type : {"i8", "ui8", "i32", "ui32", "i64", "ui64"}) {
    std::string i = tensorOf("40x1x", type);
    check("loop", {"tensor<6x16xf32>", i},
          "    %r0 = weft.gather %a, %b {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, "
          "operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: "
          "0>, "
          "index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 16>} : (tensor<6x16xf32>, " +
              i + ") -> tensor<40x16xf32>",
          {"tensor<40x16xf32>"});
  }
}

TEST_P(AgainstInterpreter, SeveralSerialOps) {
  check("generic", {"tensor<7x33xf32>"},
        "    %c = weft.cumulative sum, %a dim = 1 exclusive = false reverse = false : (tensor<7x33xf32>) -> "
        "tensor<7x33xf32>\n    %r0 = weft.sort %c dim = 0 descending = true : (tensor<7x33xf32>) -> tensor<7x33xf32>\n "
        "   "
        "%r1, %r2 = weft.top_k %c k = 3 dim = 1 largest = true index = i64 : (tensor<7x33xf32>) -> (tensor<7x3xf32>, "
        "tensor<7x3xi64>)\n    %r3 = weft.negate %a : tensor<7x33xf32>",
        {"tensor<7x33xf32>", "tensor<7x3xf32>", "tensor<7x3xi64>", "tensor<7x33xf32>"});
  // Too long for shared memory.
  check("generic", {"tensor<2x9000xf32>"},
        "    %r0 = weft.sort %a dim = 1 descending = false : (tensor<2x9000xf32>) -> tensor<2x9000xf32>",
        {"tensor<2x9000xf32>"});
}

TEST_P(AgainstInterpreter, MatrixTiles) {
  struct Product {
    const char *lhs, *rhs, *result, *contract;
  };
  const Product products[] = {
      {"64x32x", "32x64x", "64x64x", "[1] x [0]"}, {"70x50x", "50x90x", "70x90x", "[1] x [0]"},
      {"65x40x", "72x40x", "65x72x", "[1] x [1]"}, {"24x66x", "24x130x", "66x130x", "[0] x [0]"},
      {"9x1x", "1x11x", "9x11x", "[1] x [0]"},     {"130x128x", "128x8x", "130x8x", "[1] x [0]"}};
  for (const char *type : {"f32", "f16", "bf16"})
    for (const Product &product : products) {
      std::string l = tensorOf(product.lhs, type), r = tensorOf(product.rhs, type), y = tensorOf(product.result, "f32");
      Options near;
      near.tolerance = 1e-5;
      check("generic", {l, r, y},
            "    %d = weft.dot_general %a, %b contract = " + std::string(product.contract) + " : (" + l + ", " + r +
                ") -> " + y + "\n    %r0 = weft.add %d, %c : " + y,
            {y}, near);
    }
}

std::vector<const char *> targets() {
  std::vector<const char *> all = {"cpu"};
  if (hasSimulator())
    all.insert(all.end(), {"sm_80", "sm_100"});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Target, AgainstInterpreter, testing::ValuesIn(targets()),
                         [](const testing::TestParamInfo<const char *> &info) { return std::string(info.param); });

} // namespace
