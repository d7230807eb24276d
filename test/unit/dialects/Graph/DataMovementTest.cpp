//===- DataMovementTest.cpp - Values of the movement ops against index formulas ----------------------===//

#include "test/unit/dialects/Graph/EvaluateText.h"

using namespace weft;
using graph::TensorValue;

namespace {

class DataMovementTest : public test::EvaluateText {
protected:
  static std::string type(llvm::StringRef element, llvm::ArrayRef<int64_t> shape) {
    std::string text = "tensor<";
    for (int64_t size : shape)
      text += std::to_string(size) + "x";
    return text + element.str() + ">";
  }
  TensorValue one(llvm::StringRef before, llvm::StringRef after, const TensorValue &a, llvm::StringRef element,
                  llvm::ArrayRef<int64_t> resultShape) {
    std::string from = type(element, a.getShape()), to = type(element, resultShape);
    return evaluate((before + " %a " + after + " : (" + from + ") -> " + to).str(), from, to, a);
  }
  TensorValue counting(llvm::StringRef element, llvm::ArrayRef<int64_t> shape) {
    TensorValue value(elementType(element), shape);
    for (int64_t i = 0; i < value.getElementCount(); ++i)
      value.setInteger(i, i);
    return value;
  }
};

TEST_F(DataMovementTest, Transpose) {
  for (const char *element : {"f32", "i64", "f16", "ui8", "i4"}) {
    TensorValue a = counting(element, {2, 3, 4});
    TensorValue b = one("weft.transpose", "perm = [2, 0, 1]", a, element, {4, 2, 3});
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t j = 0; j < 2; ++j)
        for (int64_t k = 0; k < 3; ++k)
          EXPECT_EQ(b.getInteger((i * 2 + j) * 3 + k), a.getInteger((j * 3 + k) * 4 + i)) << element;
  }
  // Larger than the squares and than what one thread does.
  TensorValue large = counting("i32", {3, 301, 517});
  TensorValue moved = one("weft.transpose", "perm = [2, 0, 1]", large, "i32", {517, 3, 301});
  for (int64_t i = 0; i < 517; ++i)
    for (int64_t j = 0; j < 3; ++j)
      for (int64_t k = 0; k < 301; ++k)
        ASSERT_EQ(moved.getInteger((i * 3 + j) * 301 + k), (j * 301 + k) * 517 + i);
}

TEST_F(DataMovementTest, EveryPermutationOfFourDimensions) {
  TensorValue a = counting("i32", {2, 3, 1, 5});
  llvm::SmallVector<int64_t> permutation = {0, 1, 2, 3};
  do {
    llvm::SmallVector<int64_t> shape;
    std::string text;
    for (int64_t d : permutation) {
      shape.push_back(a.getShape()[d]);
      text += (text.empty() ? "perm = [" : ", ") + std::to_string(d);
    }
    TensorValue b = one("weft.transpose", text + "]", a, "i32", shape);
    llvm::SmallVector<int64_t> strides = graph::rowMajorStrides(a.getShape()), own = graph::rowMajorStrides(shape);
    for (int64_t i = 0; i < b.getElementCount(); ++i) {
      int64_t source = 0;
      for (size_t d = 0; d < 4; ++d)
        source += i / own[d] % shape[d] * strides[permutation[d]];
      ASSERT_EQ(b.getInteger(i), source) << text;
    }
  } while (std::next_permutation(permutation.begin(), permutation.end()));
}

TEST_F(DataMovementTest, Broadcast) {
  expectInts(one("weft.broadcast_in_dim", "dims = [1]", counting("i32", 3), "i32", {2, 3}), {0, 1, 2, 0, 1, 2});
  expectInts(one("weft.broadcast_in_dim", "dims = [0, 1]", counting("i32", {2, 1}), "i32", {2, 3}), {0, 0, 0, 1, 1, 1});
  expectInts(one("weft.broadcast_in_dim", "dims = [1, 0]", counting("i32", {2, 3}), "i32", {3, 2}), {0, 3, 1, 4, 2, 5});
  expectInts(one("weft.broadcast_in_dim", "dims = []", tensor("i4", {}, {-3}), "i4", {3}), {-3, -3, -3});
  EXPECT_EQ(one("weft.broadcast_in_dim", "dims = [1]", counting("i32", 1), "i32", {0, 3}).getElementCount(), 0);
}

TEST_F(DataMovementTest, ReshapeAndReverse) {
  expectInts(one("weft.reshape", "", counting("i32", {2, 3}), "i32", {3, 2}), {0, 1, 2, 3, 4, 5});
  expectInts(one("weft.reverse", "dims = [1]", counting("i32", {2, 3}), "i32", {2, 3}), {2, 1, 0, 5, 4, 3});
  expectInts(one("weft.reverse", "dims = [1, 0]", counting("i32", {2, 3}), "i32", {2, 3}), {5, 4, 3, 2, 1, 0});
  EXPECT_EQ(one("weft.reverse", "dims = [1]", counting("i32", {2, 0}), "i32", {2, 0}).getElementCount(), 0);
}

TEST_F(DataMovementTest, AssumeShape) {
  std::string open = "tensor<?xi32, #weft.encoding<[n]>>", even = "tensor<?xi32, #weft.encoding<[n floordiv 2 * 2]>>";
  std::string op = "weft.assume_shape %a : (" + open + ") -> " + even;
  expectInts(evaluate(op, open, even, counting("i32", 4)), {0, 1, 2, 3});
  std::string text = "func.func @main(%a: " + open + ") -> " + even + " { %r = " + op + "\n return %r : " + even + " }";
  EXPECT_TRUE(runModule(text, counting("i32", 5)).empty());
  EXPECT_NE(errors.find("dimension 0: expected size 4, got 5"), std::string::npos) << errors;
}

TEST_F(DataMovementTest, Slice) {
  expectInts(one("weft.slice", "[1:3, 0:5:2]", counting("i32", {4, 5}), "i32", {2, 3}), {5, 7, 9, 10, 12, 14});
  expectInts(one("weft.slice", "[2:2]", counting("i32", 3), "i32", {0}), {});
  expectInts(one("weft.slice", "[1:end]", counting("i4", 4), "i4", {3}), {1, 2, 3});
  std::string symbolic = "tensor<?xi32, #weft.encoding<[n]>>";
  expectInts(evaluate("weft.slice %a [-2:end] : (" + symbolic + ") -> tensor<2xi32>", symbolic, "tensor<2xi32>",
                      counting("i32", 5)),
             {3, 4});
  std::string shorter = "tensor<?xi32, #weft.encoding<[n - 3]>>";
  expectInts(evaluate("weft.slice %a [1:-2] : (" + symbolic + ") -> " + shorter, symbolic, shorter, counting("i32", 5)),
             {1, 2});
  EXPECT_TRUE(runModule("func.func @main(%a: " + symbolic + ") -> tensor<4xi32> {\n  %r = weft.slice %a [0:4] : (" +
                            symbolic + ") -> tensor<4xi32>\n  return %r : tensor<4xi32>\n}",
                        counting("i32", 3))
                  .empty());
  EXPECT_NE(errors.find("dimension 0 of size 3 has no elements 0:4"), std::string::npos) << errors;
}

TEST_F(DataMovementTest, Pad) {
  // Against the definition: every padded position is an operand element or the padding value.
  TensorValue a = counting("i32", {3, 4}), value = tensor("i32", {}, {-9});
  for (int64_t low0 : {-2, 0, 2})
    for (int64_t high0 : {-1, 0, 1})
      for (int64_t low1 : {-3, 0, 1})
        for (int64_t interior : {0, 1, 2}) {
          int64_t rows = 3 + low0 + high0, columns = 4 + 3 * interior + low1 + 2;
          if (rows < 0 || columns < 0)
            continue;
          std::string to = type("i32", {rows, columns});
          TensorValue padded = evaluate("weft.pad %a, %b low = [" + std::to_string(low0) + ", " + std::to_string(low1) +
                                            "] high = [" + std::to_string(high0) + ", 2] interior = [0, " +
                                            std::to_string(interior) + "] : (tensor<3x4xi32>, tensor<i32>) -> " + to,
                                        "tensor<3x4xi32>;tensor<i32>", to, {a, value});
          for (int64_t i = 0; i < rows; ++i)
            for (int64_t j = 0; j < columns; ++j) {
              int64_t row = i - low0, column = j - low1;
              bool inside =
                  row >= 0 && row < 3 && column >= 0 && column % (interior + 1) == 0 && column / (interior + 1) < 4;
              ASSERT_EQ(padded.getInteger(i * columns + j), inside ? row * 4 + column / (interior + 1) : -9);
            }
        }
  expectInts(
      evaluate("weft.pad %a, %b low = [1] high = [1] interior = [0] : (tensor<0xi32>, tensor<i32>) -> tensor<2xi32>",
               "tensor<0xi32>;tensor<i32>", "tensor<2xi32>", {counting("i32", 0), value}),
      {-9, -9});
}

TEST_F(DataMovementTest, Concatenate) {
  expectInts(evaluate("weft.concatenate %a, %b, %c dim = 1 : (tensor<2x1xi32>, tensor<2x0xi32>, tensor<2x2xi32>) -> "
                      "tensor<2x3xi32>",
                      "tensor<2x1xi32>;tensor<2x0xi32>;tensor<2x2xi32>", "tensor<2x3xi32>",
                      {counting("i32", {2, 1}), counting("i32", {2, 0}), counting("i32", {2, 2})}),
             {0, 0, 1, 1, 2, 3});
  expectInts(evaluate("weft.concatenate %a, %b dim = 0 : (tensor<3xi4>, tensor<2xi4>) -> tensor<5xi4>",
                      "tensor<3xi4>;tensor<2xi4>", "tensor<5xi4>",
                      {integers("i4", {1, -2, 3}), integers("i4", {-8, 7})}),
             {1, -2, 3, -8, 7});
}

TEST_F(DataMovementTest, DynamicSlicesClamp) {
  auto slice = [&](int64_t row, int64_t column) {
    return ints(
        evaluate("weft.dynamic_slice %a at (%b, %c) : (tensor<3x4xi32>, tensor<i64>, tensor<i64>) -> tensor<2x2xi32>",
                 "tensor<3x4xi32>;tensor<i64>;tensor<i64>", "tensor<2x2xi32>",
                 {counting("i32", {3, 4}), tensor("i64", {}, double(row)), tensor("i64", {}, double(column))}));
  };
  EXPECT_EQ(slice(1, 1), (std::vector<int64_t>{5, 6, 9, 10}));
  EXPECT_EQ(slice(-5, 9), (std::vector<int64_t>{2, 3, 6, 7}));
  expectInts(evaluate("weft.dynamic_slice %a at (%b) : (tensor<4xi32>, tensor<ui64>) -> tensor<2xi32>",
                      "tensor<4xi32>;tensor<ui64>", "tensor<2xi32>",
                      {counting("i32", 4), integers("ui64", {-1}).reshaped({})}),
             {2, 3}); // 2^64 - 1 is large, not -1
  expectInts(
      evaluate(
          "weft.dynamic_update_slice %a, %b at (%c) : (tensor<4xi32>, tensor<2xi32>, tensor<i32>) -> tensor<4xi32>",
          "tensor<4xi32>;tensor<2xi32>;tensor<i32>", "tensor<4xi32>",
          {counting("i32", 4), integers("i32", {-1, -2}), tensor("i32", {}, {7})}),
      {0, 1, -1, -2});
}

TEST_F(DataMovementTest, Gather) {
  // Rows of a table.
  expectInts(evaluate("weft.gather %a, %b {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, "
                      "operand_batching_dims = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = "
                      "array<i64: 0>, "
                      "index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 2>} : (tensor<3x2xi32>, tensor<4xi64>) "
                      "-> tensor<4x2xi32>",
                      "tensor<3x2xi32>;tensor<4xi64>", "tensor<4x2xi32>",
                      {counting("i32", {3, 2}), integers("i64", {2, 0, 9, -4})}),
             {4, 5, 0, 1, 4, 5, 0, 1});
  // The example of StableHLO's specification for gather, with a batching dimension: operand[2][3][4][2].
  TensorValue operand = counting("i32", {2, 3, 4, 2});
  TensorValue indices =
      tensor("i64", {2, 2, 3, 2}, {0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 0, 9, 0, 0, 2, 1, 2, 2, 1, 2, 0, 1, 1, 0});
  TensorValue result = evaluate(
      "weft.gather %a, %b {offset_dims = array<i64: 3, 4>, collapsed_slice_dims = array<i64: 1>, operand_batching_dims "
      "= array<i64: 0>, "
      "start_indices_batching_dims = array<i64: 1>, start_index_map = array<i64: 2, 1>, index_vector_dim = 3 : i64, "
      "slice_sizes = array<i64: 1, 1, 2, 2>} : (tensor<2x3x4x2xi32>, tensor<2x2x3x2xi64>) -> tensor<2x2x3x2x2xi32>",
      "tensor<2x3x4x2xi32>;tensor<2x2x3x2xi64>", "tensor<2x2x3x2x2xi32>", {operand, indices});
  for (int64_t p = 0; p < 2; ++p)
    for (int64_t q = 0; q < 2; ++q)
      for (int64_t r = 0; r < 3; ++r)
        for (int64_t u = 0; u < 2; ++u)
          for (int64_t v = 0; v < 2; ++v) {
            int64_t vector = ((p * 2 + q) * 3 + r) * 2;
            int64_t third = std::min<int64_t>(indices.getInteger(vector), 2),
                    second = std::min<int64_t>(indices.getInteger(vector + 1), 2);
            EXPECT_EQ(result.getInteger((((p * 2 + q) * 3 + r) * 2 + u) * 2 + v),
                      ((q * 3 + second) * 4 + third + u) * 2 + v);
          }
}

TEST_F(DataMovementTest, Scatter) {
  auto scatter = [&](llvm::StringRef kind, llvm::StringRef element, const TensorValue &operand,
                     llvm::ArrayRef<int64_t> at, const TensorValue &updates) {
    std::string to = type(element, operand.getShape()), from = type(element, updates.getShape());
    std::string index = "tensor<" + std::to_string(at.size()) + "xi64>";
    return evaluate(
        "weft.scatter " + kind.str() +
            ", %a, %b, %c {update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>, "
            "operand_batching_dims = "
            "array<i64>, scatter_indices_batching_dims = array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, "
            "index_vector_dim = 1 : i64} : (" +
            to + ", " + index + ", " + from + ") -> " + to,
        to + ";" + index + ";" + from, to, {operand, integers("i64", at), updates});
  };
  expectInts(scatter("set", "i32", counting("i32", 4), {2, 0, 7, -1}, integers("i32", {50, 60, 70, 80})),
             {60, 1, 50, 3});
  expectInts(scatter("set", "i32", counting("i32", 2), {1, 1}, integers("i32", {50, 60})), {0, 60});
  expectInts(scatter("sum", "i8", counting("i8", 2), {1, 1}, integers("i8", {100, 100})), {0, -55});
  expectInts(scatter("product", "i32", counting("i32", 3), {2, 2}, integers("i32", {3, 5})), {0, 1, 30});
  expectInts(scatter("max", "ui8", counting("ui8", 3), {0, 2}, integers("ui8", {200, 1})), {200, 1, 2});
  expectInts(scatter("min", "i4", integers("i4", {3, -3}), {0, 1}, integers("i4", {-8, 7})), {-8, -3});
  expectSame(scatter("sum", "bf16", tensor("bf16", 1, {256}), {0, 0}, tensor("bf16", 2, {1, 1})),
             {256}); // rounded each time
  expectSame(scatter("max", "f32", tensor("f32", 2, {1, -0.0}), {0, 1}, tensor("f32", 2, {test::kNan, 0})),
             {test::kNan, 0});

  // Windows, the window dimension first: place 1 gets the update at (0, 1) before that at (1, 0), which wins.
  expectInts(
      evaluate("weft.scatter set, %a, %b, %c {update_window_dims = array<i64: 0>, inserted_window_dims = array<i64>, "
               "operand_batching_dims = array<i64>, scatter_indices_batching_dims = array<i64>, "
               "scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : "
               "(tensor<4xi32>, tensor<3xi64>, tensor<2x3xi32>) -> tensor<4xi32>",
               "tensor<4xi32>;tensor<3xi64>;tensor<2x3xi32>", "tensor<4xi32>",
               {counting("i32", 4), integers("i64", {0, 1, 3}), tensor("i32", {2, 3}, {10, 20, 30, 11, 21, 31})}),
      {10, 11, 21, 3}); // the window at 3 does not fit
}

TEST_F(DataMovementTest, Iota) {
  expectInts(evaluate("weft.iota dim = 1 : tensor<2x3xi32>", "", "tensor<2x3xi32>", {}), {0, 1, 2, 0, 1, 2});
  expectSame(evaluate("weft.iota dim = 0 : tensor<3x1xf16>", "", "tensor<3x1xf16>", {}), {0, 1, 2});
  TensorValue wide = evaluate("weft.iota dim = 0 : tensor<300x400xui8>", "", "tensor<300x400xui8>", {});
  EXPECT_EQ(wide.getInteger(299 * 400), 299 - 256);
}

} // namespace
