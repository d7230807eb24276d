//===- ReductionTest.cpp - Values of the reductions against naive loops and the numerics contract ----===//

#include "test/unit/dialects/Graph/EvaluateText.h"

using namespace weft;
using graph::TensorValue;

namespace {

constexpr double nan = test::kNan, inf = test::kInfinity;

class ReductionTest : public test::EvaluateText {};

/// The numerics contract in its own words, on vectors: chunks of 4,096, each element with its lane, the tree.
template <typename Float> Float contractSum(const std::vector<double> &elements) {
  std::vector<Float> chunks;
  for (size_t chunk = 0; chunk < elements.size(); chunk += 4096) {
    std::vector<std::vector<Float>> lanes(128);
    for (size_t e = chunk; e < std::min(chunk + 4096, elements.size()); ++e)
      lanes[(e - chunk) % 128].push_back(static_cast<Float>(elements[e]));
    std::vector<std::optional<Float>> sums(128);
    for (size_t j = 0; j < 128; ++j)
      for (Float element : lanes[j])
        sums[j] = sums[j] ? *sums[j] + element : element;
    for (size_t w = 64; w >= 1; w /= 2)
      for (size_t j = 0; j < w; ++j)
        if (sums[j + w])
          sums[j] = *sums[j] + *sums[j + w];
    chunks.push_back(*sums[0]);
  }
  Float total = chunks[0];
  for (size_t i = 1; i < chunks.size(); ++i)
    total = total + chunks[i];
  return total;
}

TEST_F(ReductionTest, SumsInTheOrderOfTheContract) {
  for (int64_t count : {1, 2, 63, 64, 65, 127, 128, 129, 200, 4095, 4096, 4097, 10000}) {
    std::string type = "tensor<" + std::to_string(count);
    for (const char *element : {"f32", "f64", "f16", "bf16"}) {
      TensorValue operand(elementType(element), count);
      for (int64_t i = 0; i < count; ++i)
        operand.setFloat(i, std::sin(static_cast<double>(i)) * std::exp2(i % 13));
      TensorValue sum =
          evaluate("weft.reduce sum, %a dims = [0] : (" + type + "x" + element + ">) -> tensor<" + element + ">",
                   type + "x" + element + ">", std::string("tensor<") + element + ">", operand);
      TensorValue expected(elementType(element), {});
      expected.setFloat(0, element == std::string("f64") ? contractSum<double>(floats(operand))
                                                         : contractSum<float>(floats(operand)));
      EXPECT_EQ(sum.getFloat(0), expected.getFloat(0)) << element << " " << count;
    }
  }
}

TEST_F(ReductionTest, SumsCloseToTheTrueOne) {
  // 1/1 + 1/2 + ... + 1/n against its asymptotic value.
  TensorValue operand(elementType("f32"), 100000);
  for (int64_t i = 0; i < 100000; ++i)
    operand.setFloat(i, 1.0 / static_cast<double>(i + 1));
  TensorValue sum = evaluate("weft.reduce sum, %a dims = [0] : (tensor<100000xf32>) -> tensor<f32>",
                             "tensor<100000xf32>", "tensor<f32>", operand);
  EXPECT_NEAR(sum.getFloat(0), 12.090146129863428, 5e-6);
}

TEST_F(ReductionTest, InnerAndOuterDimensions) {
  TensorValue operand = pattern("f64", {3, 4, 5});
  auto at = [&](int64_t i, int64_t j, int64_t k) { return operand.getFloat((i * 4 + j) * 5 + k); };
  TensorValue middle = evaluate("weft.reduce sum, %a dims = [1] : (tensor<3x4x5xf64>) -> tensor<3x5xf64>",
                                "tensor<3x4x5xf64>", "tensor<3x5xf64>", operand);
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t k = 0; k < 5; ++k)
      EXPECT_DOUBLE_EQ(middle.getFloat(i * 5 + k), at(i, 0, k) + at(i, 1, k) + at(i, 2, k) + at(i, 3, k));
  TensorValue outer = evaluate("weft.reduce max, %a dims = [0, 2] : (tensor<3x4x5xf64>) -> tensor<4xf64>",
                               "tensor<3x4x5xf64>", "tensor<4xf64>", operand);
  for (int64_t j = 0; j < 4; ++j) {
    double largest = -inf;
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t k = 0; k < 5; ++k)
        largest = std::max(largest, at(i, j, k));
    EXPECT_EQ(outer.getFloat(j), largest);
  }
  expectSame(evaluate("weft.reduce sum, %a dims = [] : (tensor<2xf32>) -> tensor<2xf32>", "tensor<2xf32>",
                      "tensor<2xf32>", tensor("f32", 2, {-0.0, 3})),
             {-0.0, 3});
}

TEST_F(ReductionTest, OverNoElements) {
  auto reduce = [&](llvm::StringRef kind, llvm::StringRef element) {
    std::string from = "tensor<2x0x" + element.str() + ">", to = "tensor<2x" + element.str() + ">";
    return evaluate("weft.reduce " + kind.str() + ", %a dims = [1] : (" + from + ") -> " + to, from, to,
                    TensorValue(elementType(element), {2, 0}));
  };
  expectSame(reduce("sum", "f32"), {0, 0});
  expectSame(reduce("product", "f32"), {1, 1});
  expectSame(reduce("max", "f32"), {-inf, -inf});
  expectSame(reduce("min", "f16"), {inf, inf});
  expectSame(reduce("max", "f8E4M3FN"), {-448, -448}); // it has no infinity
  expectInts(reduce("max", "i8"), {-128, -128});
  expectInts(reduce("min", "i8"), {127, 127});
  expectInts(reduce("max", "ui8"), {0, 0});
  expectInts(reduce("min", "ui64"), {-1, -1});
  expectInts(reduce("all", "i1"), {1, 1});
  expectInts(reduce("any", "i1"), {0, 0});
  EXPECT_EQ(evaluate("weft.reduce sum, %a dims = [1] : (tensor<0x3xf32>) -> tensor<0xf32>", "tensor<0x3xf32>",
                     "tensor<0xf32>", TensorValue(elementType("f32"), {0, 3}))
                .getElementCount(),
            0);
}

TEST_F(ReductionTest, ExtremesAndNaN) {
  auto reduce = [&](llvm::StringRef kind, llvm::ArrayRef<double> values) {
    std::string from = "tensor<" + std::to_string(values.size()) + "xf32>";
    return evaluate("weft.reduce " + kind.str() + ", %a dims = [0] : (" + from + ") -> tensor<f32>", from,
                    "tensor<f32>", tensor("f32", static_cast<int64_t>(values.size()), values));
  };
  expectSame(reduce("max", {1, nan, 3}), {nan});
  expectSame(reduce("min", {1, nan, 3}), {nan});
  expectSame(reduce("max", {-0.0, 0, -0.0}), {0});
  expectSame(reduce("min", {0, -0.0, 0}), {-0.0});
  expectSame(reduce("sum", {-0.0, -0.0}), {-0.0});
  expectSame(reduce("sum", {inf, -inf}), {nan});
  expectSame(reduce("product", {2, 3, -0.5}), {-3});
}

TEST_F(ReductionTest, Integers) {
  auto reduce = [&](llvm::StringRef kind, llvm::StringRef element, llvm::ArrayRef<int64_t> values) {
    std::string from = ("tensor<" + llvm::Twine(values.size()) + "x" + element + ">").str();
    return evaluate("weft.reduce " + kind.str() + ", %a dims = [0] : (" + from + ") -> tensor<" + element.str() + ">",
                    from, "tensor<" + element.str() + ">", integers(element, values));
  };
  expectInts(reduce("sum", "i8", {100, 100}), {-56});
  expectInts(reduce("sum", "i4", {7, 7, -3}), {-5});
  expectInts(reduce("product", "ui8", {16, 17}), {16});
  expectInts(reduce("max", "ui8", {200, 100}), {200});
  expectInts(reduce("min", "i8", {-100, 100}), {-100});
  expectInts(reduce("all", "i1", {1, 0, 1}), {0});
  expectInts(reduce("any", "i1", {0, 0, 1}), {1});
}

TEST_F(ReductionTest, ArgReduce) {
  auto arg = [&](llvm::StringRef kind, bool last, llvm::StringRef element, llvm::ArrayRef<double> values) {
    std::string from = ("tensor<" + llvm::Twine(values.size()) + "x" + element + ">").str();
    return evaluate("weft.arg_reduce " + kind.str() + ", %a dim = 0 last = " + (last ? "true" : "false") +
                        " index = i32 : (" + from + ") -> tensor<i32>",
                    from, "tensor<i32>", tensor(element, static_cast<int64_t>(values.size()), values))
        .getInteger(0);
  };
  EXPECT_EQ(arg("max", false, "f32", {1, 5, 5, 2}), 1);
  EXPECT_EQ(arg("max", true, "f32", {1, 5, 5, 2}), 2);
  EXPECT_EQ(arg("min", false, "f32", {-0.0, 0, -0.0}), 0);
  EXPECT_EQ(arg("min", true, "f32", {-0.0, 0, 1}), 1);
  EXPECT_EQ(arg("max", false, "f32", {1, nan, 9, nan}), 1);
  EXPECT_EQ(arg("min", true, "f32", {1, nan, -9, nan, 3}), 3);
  EXPECT_EQ(arg("max", false, "f32", {nan, inf}), 0);
  EXPECT_EQ(arg("max", false, "i8", {-1, 3, 2}), 1);
  EXPECT_EQ(arg("max", false, "ui8", {255, 3}), 0);
  expectInts(evaluate("weft.arg_reduce max, %a dim = 0 last = false index = i64 : (tensor<2x3xf32>) -> tensor<3xi64>",
                      "tensor<2x3xf32>", "tensor<3xi64>", tensor("f32", {2, 3}, {1, 5, 3, 4, 2, 3})),
             {1, 0, 0});
}

TEST_F(ReductionTest, ReduceWindow) {
  // One dimension, all the numbers in play, against the definition: a padded, dilated array and its windows.
  TensorValue operand = pattern("f32", 7);
  for (int64_t base : {1, 2})
    for (int64_t dilation : {1, 3})
      for (int64_t stride : {1, 2})
        for (int64_t low : {0, 2})
          for (int64_t high : {0, 3}) {
            std::vector<double> padded(low, 0);
            for (int64_t i = 0; i < 7; ++i) {
              padded.push_back(operand.getFloat(i));
              if (i != 6)
                padded.insert(padded.end(), base - 1, 0);
            }
            padded.insert(padded.end(), high, 0);
            std::vector<double> expected;
            for (size_t at = 0; at + 2 * dilation < padded.size(); at += stride)
              expected.push_back(0 + padded[at] + padded[at + dilation] + padded[at + 2 * dilation]);
            auto list = [](int64_t value) { return "array<i64: " + std::to_string(value) + ">"; };
            std::string to = "tensor<" + std::to_string(expected.size()) + "xf32>";
            expectSame(evaluate("weft.reduce_window sum, %a {window_dimensions = array<i64: 3>, window_strides = " +
                                    list(stride) + ", base_dilations = " + list(base) +
                                    ", window_dilations = " + list(dilation) + ", padding_low = " + list(low) +
                                    ", padding_high = " + list(high) + "} : (tensor<7xf32>) -> " + to,
                                "tensor<7xf32>", to, operand),
                       expected);
          }
}

TEST_F(ReductionTest, MaxPoolIn2d) {
  TensorValue operand = pattern("f32", {1, 2, 5, 6});
  TensorValue pooled = evaluate("weft.reduce_window max, %a {window_dimensions = array<i64: 1, 1, 3, 2>, "
                                "window_strides = array<i64: 1, 1, 2, 2>, "
                                "base_dilations = array<i64: 1, 1, 1, 1>, window_dilations = array<i64: 1, 1, 1, 1>, "
                                "padding_low = array<i64: 0, 0, 1, 0>, padding_high = array<i64: 0, 0, 1, 0>} : "
                                "(tensor<1x2x5x6xf32>) -> tensor<1x2x3x3xf32>",
                                "tensor<1x2x5x6xf32>", "tensor<1x2x3x3xf32>", operand);
  for (int64_t c = 0; c < 2; ++c)
    for (int64_t y = 0; y < 3; ++y)
      for (int64_t x = 0; x < 3; ++x) {
        double largest = -inf;
        for (int64_t i = 2 * y - 1; i < 2 * y + 2; ++i)
          for (int64_t j = 2 * x; j < 2 * x + 2; ++j)
            if (i >= 0 && i < 5)
              largest = std::max(largest, operand.getFloat((c * 5 + i) * 6 + j));
        EXPECT_EQ(pooled.getFloat((c * 3 + y) * 3 + x), largest);
      }
}

TEST_F(ReductionTest, Cumulative) {
  auto scan = [&](llvm::StringRef kind, bool exclusive, bool reverse, llvm::ArrayRef<double> values) {
    std::string type = "tensor<" + std::to_string(values.size()) + "xf32>";
    return evaluate("weft.cumulative " + kind.str() + ", %a dim = 0 exclusive = " + (exclusive ? "true" : "false") +
                        " reverse = " + (reverse ? "true" : "false") + " : (" + type + ") -> " + type,
                    type, type, tensor("f32", static_cast<int64_t>(values.size()), values));
  };
  expectSame(scan("sum", false, false, {1, 2, 3}), {1, 3, 6});
  expectSame(scan("sum", true, false, {1, 2, 3}), {0, 1, 3});
  expectSame(scan("sum", false, true, {1, 2, 3}), {6, 5, 3});
  expectSame(scan("sum", true, true, {1, 2, 3}), {5, 3, 0});
  expectSame(scan("product", false, false, {2, 3, 4}), {2, 6, 24});
  expectSame(scan("max", false, false, {2, 1, 4, 3}), {2, 2, 4, 4});
  expectSame(scan("min", true, false, {2, 1}), {inf, 2});
  expectInts(
      evaluate("weft.cumulative sum, %a dim = 0 exclusive = false reverse = false : (tensor<2x2xi8>) -> tensor<2x2xi8>",
               "tensor<2x2xi8>", "tensor<2x2xi8>", tensor("i8", {2, 2}, {100, 1, 100, 2})),
      {100, 1, -56, 3});
}

} // namespace
