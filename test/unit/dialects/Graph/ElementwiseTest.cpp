//===- ElementwiseTest.cpp - Values of the elementwise ops against closed forms and edge values ------===//

#include "test/unit/dialects/Graph/EvaluateText.h"

using namespace weft;
using graph::TensorValue;

namespace {

class ElementwiseTest : public test::EvaluateText {
protected:
  TensorValue unary(llvm::StringRef op, llvm::StringRef element, llvm::ArrayRef<double> values) {
    std::string type = ("tensor<" + llvm::Twine(values.size()) + "x" + element + ">").str();
    return evaluate(("weft." + op + " %a : " + type).str(), type, type,
                    tensor(element, static_cast<int64_t>(values.size()), values));
  }
  TensorValue binary(llvm::StringRef op, llvm::StringRef element, llvm::ArrayRef<int64_t> a,
                     llvm::ArrayRef<int64_t> b) {
    std::string type = ("tensor<" + llvm::Twine(a.size()) + "x" + element + ">").str();
    return evaluate(("weft." + op + " %a, %b : " + type).str(), type + ";" + type, type,
                    {integers(element, a), integers(element, b)});
  }
  TensorValue binaryFloats(llvm::StringRef op, llvm::StringRef element, llvm::ArrayRef<double> a,
                           llvm::ArrayRef<double> b) {
    std::string type = ("tensor<" + llvm::Twine(a.size()) + "x" + element + ">").str();
    int64_t size = static_cast<int64_t>(a.size());
    return evaluate(("weft." + op + " %a, %b : " + type).str(), type + ";" + type, type,
                    {tensor(element, size, a), tensor(element, size, b)});
  }
  TensorValue convert(llvm::StringRef from, llvm::StringRef to, const TensorValue &value) {
    std::string shape = "tensor<" + std::to_string(value.getElementCount()) + "x";
    std::string fromType = shape + from.str() + ">", toType = shape + to.str() + ">";
    return evaluate("weft.convert %a : (" + fromType + ") -> " + toType, fromType, toType, value);
  }
};

constexpr double nan = test::kNan, inf = test::kInfinity;

TEST_F(ElementwiseTest, FunctionsHaveTheirKnownValues) {
  // Published constants, not the C library again.
  struct Case {
    const char *op;
    double x, y;
  } cases[] = {{"exponential", 1, 2.718281828459045},
               {"exponential_minus_one", 1e-10, 1.00000000005e-10},
               {"log", 10, 2.302585092994046},
               {"log_plus_one", 1e-10, 9.9999999995e-11},
               {"sqrt", 2, 1.4142135623730951},
               {"rsqrt", 2, 0.7071067811865476},
               {"cbrt", -27, -3},
               {"sine", 1, 0.8414709848078965},
               {"cosine", 1, 0.5403023058681398},
               {"tan", 1, 1.5574077246549023},
               {"asin", 0.5, 0.5235987755982989},
               {"acos", 0.5, 1.0471975511965979},
               {"atan", 1, 0.7853981633974483},
               {"sinh", 1, 1.1752011936438014},
               {"cosh", 1, 1.5430806348152437},
               {"tanh", 1, 0.7615941559557649},
               {"asinh", 1, 0.881373587019543},
               {"acosh", 2, 1.3169578969248166},
               {"atanh", 0.5, 0.5493061443340549},
               {"logistic", 1, 0.7310585786300049},
               {"erf", 1, 0.8427007929497149}};
  for (const Case &test : cases) {
    SCOPED_TRACE(test.op);
    EXPECT_NEAR(unary(test.op, "f64", test.x).getFloat(0), test.y, 4e-16 * std::fabs(test.y));
    EXPECT_EQ(unary(test.op, "f32", test.x).getFloat(0),
              static_cast<float>(unary(test.op, "f64", float(test.x)).getFloat(0)));
    double x = static_cast<float>(test.x) < 1e-3 ? 0.5 : test.x; // f16 has no 1e-10
    EXPECT_NEAR(unary(test.op, "f16", x).getFloat(0), unary(test.op, "f64", x).getFloat(0), 2e-3);
  }
}

TEST_F(ElementwiseTest, FunctionsAtTheEdges) {
  expectSame(unary("exponential", "f32", {-inf, inf, nan, 100, -200}), {0, inf, nan, inf, 0});
  expectSame(unary("log", "f32", {0, -0.0, -1, inf}), {-inf, -inf, nan, inf});
  expectSame(unary("sqrt", "f32", {-0.0, -1, inf}), {-0.0, nan, inf});
  expectSame(unary("rsqrt", "f32", {0, -0.0, inf, -1}), {inf, -inf, 0, nan});
  expectSame(unary("logistic", "f32", {-inf, inf, -1000, 1000, 0}), {0, 1, 0, 1, 0.5});
  expectSame(unary("tanh", "f32", {-inf, inf, -0.0}), {-1, 1, -0.0});
}

TEST_F(ElementwiseTest, Rounding) {
  llvm::SmallVector<double> values = {-2.5, -1.5, -0.5, -0.25, 0.5, 1.5, 2.5, nan, inf, 8388609};
  expectSame(unary("round_nearest_even", "f32", values), {-2, -2, -0.0, -0.0, 0, 2, 2, nan, inf, 8388609});
  expectSame(unary("round_nearest_afz", "f32", values), {-3, -2, -1, -0.0, 1, 2, 3, nan, inf, 8388609});
  expectSame(unary("floor", "f32", values), {-3, -2, -1, -1, 0, 1, 2, nan, inf, 8388609});
  expectSame(unary("ceil", "f32", values), {-2, -1, -0.0, -0.0, 1, 2, 3, nan, inf, 8388609});
}

TEST_F(ElementwiseTest, SignAndAbs) {
  expectSame(unary("sign", "f32", {-3, -0.0, 0, 7, nan}), {-1, -0.0, 0, 1, nan});
  expectSame(unary("abs", "f32", {-3, -0.0, -inf, nan}), {3, 0, inf, nan});
  expectSame(unary("negate", "f32", {0, -0.0, inf}), {-0.0, 0, -inf});
  expectInts(unary("abs", "i8", {-128, -1, 127}), {-128, 1, 127});
  expectInts(unary("negate", "i8", {-128, 5}), {-128, -5});
  expectInts(unary("negate", "ui8", {1, 0}), {255, 0});
  expectInts(unary("sign", "i4", {-8, 0, 7}), {-1, 0, 1});
  expectInts(unary("sign", "ui8", {255, 0}), {1, 0});
  expectInts(unary("abs", "ui8", {255, 3}), {255, 3});
}

TEST_F(ElementwiseTest, Bits) {
  expectInts(unary("popcnt", "i8", {-1, 0, 5}), {8, 0, 2});
  expectInts(unary("popcnt", "i4", {-1, 0, 5}), {4, 0, 2});
  expectInts(unary("count_leading_zeros", "i8", {-1, 0, 5}), {0, 8, 5});
  expectInts(unary("count_leading_zeros", "i64", {-1, 0, 5}), {0, 64, 61});
  expectInts(unary("count_leading_zeros", "i2", {1, 0}), {1, 2 - 4}); // 2 wraps around in two bits
  expectInts(unary("not", "i8", {0, -1, 5}), {-1, 0, -6});
  expectInts(unary("not", "ui4", {0, 15, 5}), {15, 0, 10});
  expectInts(unary("not", "i1", {0, 1}), {1, 0});
}

TEST_F(ElementwiseTest, IntegersWrapAround) {
  expectInts(binary("add", "i8", {127, -128}, {1, -1}), {-128, 127});
  expectInts(binary("subtract", "ui8", {0, 5}, {1, 7}), {255, 254});
  expectInts(binary("multiply", "i4", {7, -8}, {7, -1}), {1, -8});
  int64_t most = std::numeric_limits<int64_t>::max(), least = std::numeric_limits<int64_t>::min();
  expectInts(binary("add", "i64", {most}, {1}), {least});
  expectInts(binary("multiply", "i64", {least, most}, {-1, 2}), {least, -2});
  expectInts(binary("add", "i1", {0, 0, 1, 1}, {0, 1, 0, 1}), {0, 1, 1, 1});
  expectInts(binary("multiply", "i1", {0, 0, 1, 1}, {0, 1, 0, 1}), {0, 0, 0, 1});
}

TEST_F(ElementwiseTest, Division) {
  int64_t least = std::numeric_limits<int64_t>::min();
  expectInts(binary("divide", "i32", {7, -7, 7, -7, 5}, {2, 2, -2, -2, 0}), {3, -3, -3, 3, -1});
  expectInts(binary("divide", "i32", {-2147483648LL}, {-1}), {-2147483648LL});
  expectInts(binary("divide", "i64", {least, least}, {-1, 0}), {least, -1});
  expectInts(binary("divide", "ui8", {255, 7}, {2, 0}), {127, 255});
  expectInts(binary("divide", "ui64", {-1, 6}, {2, -1}), {std::numeric_limits<int64_t>::max(), 0});
  expectInts(binary("remainder", "i32", {7, -7, 7, -7, 5}, {3, 3, -3, -3, 0}), {1, -1, 1, -1, 5});
  expectInts(binary("remainder", "i64", {least, least}, {-1, 0}), {0, least});
  expectSame(binaryFloats("divide", "f32", {1, -1, 0, 1}, {0, 0, 0, 3}), {inf, -inf, nan, 1.0f / 3.0f});
  expectSame(binaryFloats("remainder", "f32", {5.5, -5.5, 5, -0.0, 1}, {2, 2, inf, 3, 0}), {1.5, -1.5, 5, -0.0, nan});
}

TEST_F(ElementwiseTest, Powers) {
  expectInts(binary("power", "i32", {3, -2, 2, 1, -1, -1, 0, 0}, {4, 3, -1, -5, -5, -4, 0, -1}),
             {81, -8, 0, 1, -1, 1, 1, 0});
  expectInts(binary("power", "i8", {2, 2, -1}, {7, 8, 127}), {-128, 0, -1});
  expectInts(binary("power", "ui8", {3, 255}, {5, 255}), {243, 255});
  expectSame(binaryFloats("power", "f32", {2, 0, -8, nan, 1}, {-1, 0, 1.0 / 3, 0, nan}), {0.5, 1, nan, 1, 1});
}

TEST_F(ElementwiseTest, Shifts) {
  expectInts(binary("shift_left", "i8", {1, 1, 1, -1}, {7, 8, -1, 1}), {-128, 0, 0, -2});
  expectInts(binary("shift_right_arithmetic", "i8", {-128, -128, 64, 64}, {7, 8, 8, -1}), {-1, -1, 0, 0});
  expectInts(binary("shift_right_logical", "i8", {-128, -128, -1}, {7, 8, 1}), {1, 0, 127});
  expectInts(binary("shift_left", "i64", {1, 1}, {63, 64}), {std::numeric_limits<int64_t>::min(), 0});
  expectInts(binary("shift_right_arithmetic", "ui8", {128}, {1}), {192});
}

TEST_F(ElementwiseTest, MaximumAndMinimum) {
  llvm::SmallVector<double> a = {-0.0, 0, 1, nan, 1, -inf}, b = {0, -0.0, 2, 1, nan, inf};
  expectSame(binaryFloats("maximum", "f32", a, b), {0, 0, 2, nan, nan, inf});
  expectSame(binaryFloats("minimum", "f32", a, b), {-0.0, -0.0, 1, nan, nan, -inf});
  expectInts(binary("maximum", "i8", {-1, 3}, {1, -3}), {1, 3});
  expectInts(binary("maximum", "ui8", {255, 3}, {1, 4}), {255, 4});
  expectInts(binary("minimum", "ui64", {-1, 3}, {1, 4}), {1, 3});
  expectInts(binary("minimum", "i1", {0, 1, 1}, {1, 1, 0}), {0, 1, 0});
}

TEST_F(ElementwiseTest, FloatsRoundToTheirType) {
  // 1 + 2^-11 lies halfway between two f16, 1 + 2^-8 between two bf16: ties go to the even one.
  expectSame(binaryFloats("add", "f16", {1, 1 + 0x1p-10, 65504}, {0x1p-11, 0x1p-11, 16}), {1, 1 + 0x1p-9, inf});
  expectSame(binaryFloats("add", "bf16", {1, 1 + 0x1p-7}, {0x1p-8, 0x1p-8}), {1, 1 + 0x1p-6});
  expectSame(binaryFloats("add", "f8E4M3FN", {1, 448}, {0x1p-4, 64}), {1, nan}); // it has no infinity
  expectSame(binaryFloats("multiply", "f8E5M2", {57344, 0.5}, {2, 0.25}), {inf, 0.125});
  // A double-rounded f32 product would be off: 0x1.000002p0 squared.
  float x = 1.00000012f;
  expectSame(binaryFloats("multiply", "f32", x, x), static_cast<float>(x * x));
}

TEST_F(ElementwiseTest, CompareSelectClamp) {
  auto compare = [&](llvm::StringRef direction, llvm::StringRef element, const TensorValue &a, const TensorValue &b) {
    std::string type = "tensor<" + std::to_string(a.getElementCount()) + "x" + element.str() + ">";
    std::string result = "tensor<" + std::to_string(a.getElementCount()) + "xi1>";
    return ints(evaluate("weft.compare " + direction.str() + ", %a, %b : (" + type + ", " + type + ") -> " + result,
                         type + ";" + type, result, {a, b}));
  };
  TensorValue a = tensor("f32", 4, {1, nan, -0.0, 2}), b = tensor("f32", 4, {2, nan, 0, 1});
  EXPECT_EQ(compare("EQ", "f32", a, b), (std::vector<int64_t>{0, 0, 1, 0}));
  EXPECT_EQ(compare("NE", "f32", a, b), (std::vector<int64_t>{1, 1, 0, 1}));
  EXPECT_EQ(compare("LT", "f32", a, b), (std::vector<int64_t>{1, 0, 0, 0}));
  EXPECT_EQ(compare("LE", "f32", a, b), (std::vector<int64_t>{1, 0, 1, 0}));
  EXPECT_EQ(compare("GT", "f32", a, b), (std::vector<int64_t>{0, 0, 0, 1}));
  EXPECT_EQ(compare("GE", "f32", a, b), (std::vector<int64_t>{0, 0, 1, 1}));
  EXPECT_EQ(compare("LT", "i8", integers("i8", {-1, 1}), integers("i8", {1, -1})), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(compare("LT", "ui64", integers("ui64", {-1, 1}), integers("ui64", {1, -1})), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(compare("LT", "i1", integers("i1", {0, 1}), integers("i1", {1, 0})), (std::vector<int64_t>{1, 0}));

  for (const char *element : {"f32", "i64", "bf16", "i4", "i1"}) {
    std::string type = std::string("tensor<3x") + element + ">";
    expectInts(evaluate("weft.select %a, %b, %c : (tensor<3xi1>, " + type + ", " + type + ") -> " + type,
                        "tensor<3xi1>;" + type + ";" + type, type,
                        {integers("i1", {1, 0, 1}), tensor(element, 3, {1, 1, 0}), tensor(element, 3, {0, 0, 1})}),
               {1, 0, 0});
  }
  std::string type = "tensor<5xf32>";
  expectSame(evaluate("weft.clamp %a, %b, %c : " + type, type + ";" + type + ";" + type, type,
                      {tensor("f32", 5, {0, 0, 0, 3, 0}), tensor("f32", 5, {-1, 9, nan, 2, -0.0}),
                       tensor("f32", 5, {5, 5, 5, 1, 5})}),
             {0, 5, nan, 1, 0});
}

TEST_F(ElementwiseTest, ConversionToIntegersTruncatesAndSaturates) {
  TensorValue values = tensor("f32", 8, {1.9, -1.9, nan, inf, -inf, 300, -300, 2147483648.0});
  expectInts(convert("f32", "i8", values), {1, -1, 0, 127, -128, 127, -128, 127});
  expectInts(convert("f32", "ui8", values), {1, 0, 0, 255, 0, 255, 0, 255});
  expectInts(convert("f32", "i4", values), {1, -1, 0, 7, -8, 7, -8, 7});
  expectInts(convert("f32", "i32", values), {1, -1, 0, 2147483647, -2147483648LL, 300, -300, 2147483647});
  expectInts(convert("f32", "i64", values), {1, -1, 0, std::numeric_limits<int64_t>::max(),
                                             std::numeric_limits<int64_t>::min(), 300, -300, 2147483648LL});
  expectInts(convert("f32", "ui64", values), {1, 0, 0, -1, 0, 300, 0, 2147483648LL});
  expectInts(convert("f32", "i1", tensor("f32", 4, {0, -0.0, 0.25, nan})), {0, 0, 1, 1});
}

TEST_F(ElementwiseTest, ConversionBetweenIntegersWraps) {
  expectInts(convert("i32", "i8", integers("i32", {300, -129, 255})), {44, 127, -1});
  expectInts(convert("i8", "ui16", integers("i8", {-1, 5})), {65535, 5});
  expectInts(convert("i32", "i4", integers("i32", {9, -9})), {-7, 7});
  expectInts(convert("i32", "i1", integers("i32", {2, 0, -1})), {1, 0, 1});
  expectInts(convert("i1", "i8", integers("i1", {1, 0})), {1, 0});
  expectSame(convert("i1", "f32", integers("i1", {1, 0})), {1, 0});
}

TEST_F(ElementwiseTest, ConversionToFloatsRoundsOnce) {
  // 2^54 + 2^30 + 1: to double first it would become a tie for f32, and round down.
  int64_t tricky = (int64_t(1) << 54) + (int64_t(1) << 30) + 1;
  expectSame(convert("i64", "f32", integers("i64", {tricky, -tricky})), {0x1.000002p54, -0x1.000002p54});
  expectSame(convert("ui64", "f32", integers("ui64", {-1})), {0x1p64});
  expectSame(convert("ui64", "f64", integers("ui64", {-1})), {0x1p64});
  expectSame(convert("ui64", "bf16", integers("ui64", {-1})), {0x1p64});
  // Just above the tie between 1 and 1 + 2^-7: through f32 it would be the tie itself.
  double above = 1 + 0x1p-8 + 0x1p-40;
  expectSame(convert("f64", "bf16", tensor("f64", 2, {above, 1 + 0x1p-8})), {1 + 0x1p-7, 1});
  double aboveHalf = 1 + 0x1p-11 + 0x1p-40;
  expectSame(convert("f64", "f16", tensor("f64", 2, {aboveHalf, 1 + 0x1p-11})), {1 + 0x1p-10, 1});
  // bf16 has 2^54 + 2^46 as a tie of the integer below.
  expectSame(convert("i64", "bf16", integers("i64", {(int64_t(1) << 54) + (int64_t(1) << 46) + 1})), {0x1.02p54});
}

TEST_F(ElementwiseTest, BitcastKeepsTheBits) {
  expectInts(evaluate("weft.bitcast_convert %a : (tensor<2xf32>) -> tensor<2xi32>", "tensor<2xf32>", "tensor<2xi32>",
                      tensor("f32", 2, {1, -0.0})),
             {0x3f800000, std::numeric_limits<int32_t>::min()});
}

TEST_F(ElementwiseTest, ManyElementsAndNone) {
  // More than one block and one thread; the last block is a part of one.
  TensorValue many = pattern("f32", {300001});
  TensorValue twice =
      evaluate("weft.add %a, %a : tensor<300001xf32>", "tensor<300001xf32>", "tensor<300001xf32>", many);
  for (int64_t i = 0; i < many.getElementCount(); ++i)
    ASSERT_EQ(twice.getFloat(i), 2 * many.getFloat(i)) << i;
  EXPECT_EQ(evaluate("weft.abs %a : tensor<0x3xf32>", "tensor<0x3xf32>", "tensor<0x3xf32>",
                     TensorValue(elementType("f32"), {0, 3}))
                .getElementCount(),
            0);
  expectSame(evaluate("weft.abs %a : tensor<f32>", "tensor<f32>", "tensor<f32>", tensor("f32", {}, {-4})), {4});
}

} // namespace
