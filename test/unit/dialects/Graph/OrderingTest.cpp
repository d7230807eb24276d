//===- OrderingTest.cpp - Values of sort and top_k ---------------------------------------------------===//

#include "test/unit/dialects/Graph/EvaluateText.h"

using namespace weft;
using graph::TensorValue;

namespace {

constexpr double nan = test::kNan, inf = test::kInfinity;

class OrderingTest : public test::EvaluateText {};

TEST_F(OrderingTest, SortIsStableAndTotal) {
  auto sort = [&](bool descending, const TensorValue &keys) {
    std::string type = "tensor<" + std::to_string(keys.getElementCount()) + "xf32>";
    std::string index = "tensor<" + std::to_string(keys.getElementCount()) + "xi32>";
    TensorValue numbers(elementType("i32"), keys.getShape());
    for (int64_t i = 0; i < keys.getElementCount(); ++i)
      numbers.setInteger(i, i);
    return runModule("func.func @main(%a: " + type + ", %b: " + index + ") -> (" + type + ", " + index +
                         ") {\n  %r:2 = weft.sort %a, %b dim = 0 descending = " + (descending ? "true" : "false") +
                         " : (" + type + ", " + index + ") -> (" + type + ", " + index +
                         ")\n  return %r#0, %r#1 : " + type + ", " + index + "\n}",
                     {keys, numbers});
  };
  TensorValue keys = tensor("f32", 8, {3, nan, -0.0, 0, -inf, 3, inf, nan});
  auto up = sort(false, keys);
  ASSERT_EQ(up.size(), 2u) << errors;
  expectSame(up[0], {-inf, -0.0, 0, 3, 3, inf, nan, nan});
  expectInts(up[1], {4, 2, 3, 0, 5, 6, 1, 7});
  auto down = sort(true, keys);
  expectSame(down[0], {nan, nan, inf, 3, 3, -0.0, 0, -inf});
  expectInts(down[1], {1, 7, 6, 0, 5, 2, 3, 4});
}

TEST_F(OrderingTest, SortAlongAnOuterDimension) {
  expectInts(evaluate("weft.sort %a dim = 0 descending = false : (tensor<3x2xi8>) -> tensor<3x2xi8>", "tensor<3x2xi8>",
                      "tensor<3x2xi8>", tensor("i8", {3, 2}, {5, -1, -7, 3, 0, -128})),
             {-7, -128, 0, -1, 5, 3});
  expectInts(evaluate("weft.sort %a dim = 0 descending = false : (tensor<3xui8>) -> tensor<3xui8>", "tensor<3xui8>",
                      "tensor<3xui8>", integers("ui8", {255, 1, 128})),
             {1, 128, 255});
}

TEST_F(OrderingTest, TopK) {
  auto top = [&](bool largest, llvm::ArrayRef<double> values, int64_t k) {
    std::string type = "tensor<" + std::to_string(values.size()) + "xf32>", to = "tensor<" + std::to_string(k);
    return runModule("func.func @main(%a: " + type + ") -> (" + to + "xf32>, " + to +
                         "xi64>) {\n  %v, %i = weft.top_k %a k = " + std::to_string(k) +
                         " dim = 0 largest = " + (largest ? "true" : "false") + " index = i64 : (" + type + ") -> (" +
                         to + "xf32>, " + to + "xi64>)\n  return %v, %i : " + to + "xf32>, " + to + "xi64>\n}",
                     tensor("f32", static_cast<int64_t>(values.size()), values));
  };
  auto largest = top(true, {1, 5, nan, 5, 2}, 3);
  ASSERT_EQ(largest.size(), 2u) << errors;
  expectSame(largest[0], {nan, 5, 5});
  expectInts(largest[1], {2, 1, 3});
  auto smallest = top(false, {1, 5, nan, 1, 2}, 4);
  expectSame(smallest[0], {1, 1, 2, 5});
  expectInts(smallest[1], {0, 3, 4, 1});
  EXPECT_EQ(top(true, {1, 2}, 0)[0].getElementCount(), 0);
}

} // namespace
