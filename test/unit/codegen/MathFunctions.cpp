//===- MathFunctions.cpp - The mathematical functions against the C library in long double --------------===//

#include "test/unit/codegen/KernelTest.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace mlir;
using namespace weft;
using namespace weft::graph;
using namespace weft::test;

namespace {

/// Arguments: special values, then random ones over the range of interest and over all magnitudes.
template <typename T> std::vector<T> makeArguments(double low, double high, unsigned seed) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {0,
                           T(-0.0),
                           1,
                           -1,
                           T(0.5),
                           T(-0.5),
                           2,
                           -2,
                           Limits::infinity(),
                           -Limits::infinity(),
                           Limits::quiet_NaN(),
                           Limits::max(),
                           Limits::lowest(),
                           Limits::min(),
                           -Limits::min(),
                           Limits::denorm_min(),
                           -Limits::denorm_min(),
                           Limits::epsilon(),
                           1 + Limits::epsilon(),
                           1 - Limits::epsilon() / 2,
                           T(low),
                           T(high),
                           T(1.5707963267948966),
                           T(3.1415926535897931),
                           T(22),
                           T(-22),
                           T(88.7),
                           T(-87.4),
                           T(-103.5),
                           T(709.7),
                           T(-745),
                           T(0.41421356),
                           T(1e10),
                           T(1e22),
                           T(3.3e38),
                           T(16367173.0 * 0x1p72),
                           T(6381956970095103.0 * 0x1p797)};
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform(low, high), exponent(Limits::min_exponent, Limits::max_exponent);
  for (int i = 0; i < 20000; ++i)
    values.push_back(T(uniform(generator)));
  for (int i = 0; i < 5000; ++i) {
    T value = T(std::exp2(exponent(generator)) * (1 + (generator() % 1000000) * 1e-6));
    values.push_back(generator() & 1 ? value : -value);
  }
  return values;
}

/// The distance in units of the last place of the true value.
template <typename T> double errorInUlps(T value, long double exact) {
  T rounded = T(exact);
  if (std::isnan(exact) || std::isnan(value))
    return std::isnan(exact) && std::isnan(value) ? 0 : INFINITY;
  if (std::isinf(rounded) || std::isinf(value))
    return rounded == value ? 0 : INFINITY;
  if (rounded == 0 && value == 0)
    return std::signbit(exact) == std::signbit(value) ? 0 : INFINITY;
  int exponent = std::max(std::ilogb(rounded == 0 ? std::numeric_limits<T>::denorm_min() : rounded),
                          std::numeric_limits<T>::min_exponent - 1);
  long double ulp = std::ldexp(1.0L, exponent - (std::numeric_limits<T>::digits - 1));
  return static_cast<double>(std::fabs((static_cast<long double>(value) - exact) / ulp));
}

struct Function {
  const char *op;
  long double (*exact)(long double);
  double low, high;
  double limit32, limit64; // ulps, measured and rounded up
};

const Function kFunctions[] = {
    {"exponential", expl, -90, 90, 1.1, 1.1},
    {"exponential_minus_one", expm1l, -2, 2, 2, 2},
    {"log", logl, 0, 4, 1.1, 1.1},
    {"log_plus_one", log1pl, -1, 2, 2, 2},
    {"sqrt", sqrtl, 0, 100, 0.51, 0.51},
    {"rsqrt", [](long double x) { return 1 / sqrtl(x); }, 0, 100, 1.6, 1.6},
    {"cbrt", cbrtl, -100, 100, 0.51, 0.6},
    {"sine", sinl, -20, 20, 1.6, 1.6},
    {"cosine", cosl, -20, 20, 1.6, 1.6},
    {"tan", tanl, -20, 20, 0.51, 3.6},
    {"asin", asinl, -1, 1, 0.51, 2},
    {"acos", acosl, -1, 1, 0.51, 2},
    {"atan", atanl, -5, 5, 0.51, 2},
    {"sinh", sinhl, -5, 5, 0.51, 3},
    {"cosh", coshl, -5, 5, 0.51, 3},
    {"tanh", tanhl, -5, 5, 2.6, 2.6},
    {"asinh", asinhl, -5, 5, 0.51, 3},
    {"acosh", acoshl, 1, 5, 0.51, 3},
    {"atanh", atanhl, -1, 1, 0.51, 3},
    {"logistic", [](long double x) { return 1 / (1 + expl(-x)); }, -20, 20, 2.6, 2.6},
    {"erf", erfl, -4, 4, 1.6, 1.6},
    {"floor", floorl, -50, 50, 0, 0},
    {"ceil", ceill, -50, 50, 0, 0},
    {"round_nearest_even", rintl, -50, 50, 0, 0},
    {"round_nearest_afz", roundl, -50, 50, 0, 0},
};

template <typename T> void checkFunction(const Function &function, const char *type, double limit) {
  std::unique_ptr<MLIRContext> context = makeContext();
  std::vector<T> arguments = makeArguments<T>(function.low, function.high, 1);
  std::string tensor = "tensor<" + std::to_string(arguments.size()) + "x" + type + ">";
  std::string text = "func.func @main(%x: " + tensor + ") -> " + tensor + " {\n  %r = weft.fusion loop (%x) : (" +
                     tensor + ") -> " + tensor + " {\n  ^bb0(%a: " + tensor + "):\n    %b = weft." + function.op +
                     " %a : " + tensor + "\n    weft.yield %b : " + tensor + "\n  }\n  return %r : " + tensor + "\n}";
  auto kernel = compileKernel(*context, text);
  ASSERT_TRUE(kernel);
  TensorValue x(parseElementType(*context, type), {static_cast<int64_t>(arguments.size())});
  std::memcpy(x.getMutableData(), arguments.data(), arguments.size() * sizeof(T));
  TensorValue result = kernel->run({x})[0];
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    double error = errorInUlps(result.dataAs<T>()[i], function.exact(arguments[i]));
    if (error > worst) {
      worst = error;
      where = i;
    }
  }
  testing::Test::RecordProperty(std::string(function.op) + "_" + type, std::to_string(worst));
  EXPECT_LE(worst, limit) << function.op << " of " << arguments[where] << " gave " << result.dataAs<T>()[where]
                          << ", exact is " << static_cast<double>(function.exact(arguments[where]));
}

class MathFunctions : public testing::TestWithParam<Function> {};
TEST_P(MathFunctions, Float) { checkFunction<float>(GetParam(), "f32", GetParam().limit32); }
TEST_P(MathFunctions, Double) { checkFunction<double>(GetParam(), "f64", GetParam().limit64); }
INSTANTIATE_TEST_SUITE_P(All, MathFunctions, testing::ValuesIn(kFunctions),
                         [](const auto &info) { return std::string(info.param.op); });

template <typename T>
void checkBinary(const char *op, long double (*exact)(long double, long double), const char *type, double limit) {
  std::unique_ptr<MLIRContext> context = makeContext();
  std::vector<T> special = {0,
                            T(-0.0),
                            1,
                            -1,
                            2,
                            -2,
                            3,
                            -3,
                            T(0.5),
                            T(-0.5),
                            T(2.5),
                            T(1e10),
                            T(-1e10),
                            std::numeric_limits<T>::infinity(),
                            -std::numeric_limits<T>::infinity(),
                            std::numeric_limits<T>::quiet_NaN(),
                            std::numeric_limits<T>::max(),
                            std::numeric_limits<T>::min(),
                            std::numeric_limits<T>::denorm_min(),
                            T(7),
                            T(-7),
                            T(1e-3)};
  std::vector<T> left, right;
  for (T a : special)
    for (T b : special) {
      left.push_back(a);
      right.push_back(b);
    }
  std::mt19937_64 generator(2);
  std::uniform_real_distribution<double> uniform(-30, 30), exponent(-40, 40);
  for (int i = 0; i < 20000; ++i) {
    left.push_back(T(i % 2 ? uniform(generator) : std::exp2(exponent(generator))));
    right.push_back(T(i % 3 ? uniform(generator) : std::exp2(exponent(generator) / 4)));
  }
  std::string tensor = "tensor<" + std::to_string(left.size()) + "x" + type + ">";
  std::string text = "func.func @main(%x: " + tensor + ", %y: " + tensor + ") -> " + tensor +
                     " {\n  %r = weft.fusion loop (%x, %y) : (" + tensor + ", " + tensor + ") -> " + tensor +
                     " {\n  ^bb0(%a: " + tensor + ", %b: " + tensor + "):\n    %c = weft." + op +
                     " %a, %b : " + tensor + "\n    weft.yield %c : " + tensor + "\n  }\n  return %r : " + tensor +
                     "\n}";
  auto kernel = compileKernel(*context, text);
  ASSERT_TRUE(kernel);
  Type elementType = parseElementType(*context, type);
  TensorValue x(elementType, {static_cast<int64_t>(left.size())}), y(elementType, {static_cast<int64_t>(left.size())});
  std::memcpy(x.getMutableData(), left.data(), left.size() * sizeof(T));
  std::memcpy(y.getMutableData(), right.data(), right.size() * sizeof(T));
  TensorValue result = kernel->run({x, y})[0];
  for (size_t i = 0; i < left.size(); ++i)
    ASSERT_LE(errorInUlps(result.dataAs<T>()[i], exact(left[i], right[i])), limit)
        << op << " of " << left[i] << " and " << right[i] << " gave " << result.dataAs<T>()[i] << ", exact is "
        << static_cast<double>(exact(left[i], right[i]));
}

TEST(MathFunctionsOfTwo, Power) {
  checkBinary<float>("power", powl, "f32", 0.51);
  checkBinary<double>("power", powl, "f64", 1.1);
}
TEST(MathFunctionsOfTwo, Atan2) {
  checkBinary<float>("atan2", atan2l, "f32", 0.51);
  checkBinary<double>("atan2", atan2l, "f64", 2);
}
TEST(MathFunctionsOfTwo, Remainder) {
  checkBinary<float>("remainder", fmodl, "f32", 0);
  checkBinary<double>("remainder", fmodl, "f64", 0);
}

/// Converts tensors of one type to another in a kernel.
TensorValue convert(MLIRContext &context, const TensorValue &x, const std::string &from, const std::string &to) {
  std::string count = std::to_string(x.getElementCount());
  std::string source = "tensor<" + count + "x" + from + ">", target = "tensor<" + count + "x" + to + ">";
  std::string text = "func.func @main(%x: " + source + ") -> " + target + " {\n  %r = weft.fusion loop (%x) : (" +
                     source + ") -> " + target + " {\n  ^bb0(%a: " + source + "):\n    %b = weft.convert %a : (" +
                     source + ") -> " + target + "\n    weft.yield %b : " + target + "\n  }\n  return %r : " + target +
                     "\n}";
  auto kernel = compileKernel(context, text);
  if (!kernel)
    return {};
  return kernel->run({x})[0];
}

bool sameFloat(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

class NarrowFloats : public testing::TestWithParam<const char *> {};

TEST_P(NarrowFloats, ConvertBothWays) {
  std::unique_ptr<MLIRContext> context = makeContext();
  std::string name = GetParam();
  Type narrow = parseElementType(*context, name), f32 = Float32Type::get(context.get()),
       f64 = Float64Type::get(context.get());
  int64_t count = int64_t(1) << narrow.getIntOrFloatBitWidth();
  // Every value of the type.
  TensorValue all(narrow, {count});
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(static_cast<char *>(all.getMutableData()) + i * narrow.getIntOrFloatBitWidth() / 8, &i,
                narrow.getIntOrFloatBitWidth() / 8);
  TensorValue widened = convert(*context, all, name, "f32");
  ASSERT_TRUE(widened);
  for (int64_t i = 0; i < count; ++i)
    ASSERT_TRUE(sameFloat(widened.getFloat(i), all.getFloat(i)))
        << name << " bits " << i << " gave " << widened.getFloat(i);
  // Values near every value of the type and its ties, and random ones, from f32 and f64.
  std::vector<double> values = {0,     -0.0,    INFINITY, -INFINITY, NAN, 1e300, -1e300, 3e38,
                                65504, 65519.9, 65520,    448,       464, 465,   1e-45,  1e-300};
  std::mt19937_64 generator(3);
  for (int64_t i = 0; i < 20000; ++i) {
    double a = all.getFloat(generator() % count), b = all.getFloat(generator() % count);
    double middle = i % 2 ? (a + std::nextafter(static_cast<float>(a), static_cast<float>(b))) / 2 : a;
    if (std::isfinite(a))
      values.push_back(i % 3 ? middle : std::nextafter((a + all.getFloat((generator() % (count - 1)))) / 2, b));
  }
  for (int64_t i = 0; i + 1 < count / 2; ++i) {
    double tie = (all.getFloat(i) + all.getFloat(i + 1)) / 2;
    values.insert(values.end(), {tie, std::nextafter(tie, 1e9), std::nextafter(tie, -1e9), -tie});
  }
  int64_t size = values.size();
  TensorValue single(f32, {size}), twice(f64, {size}), expectSingle(narrow, {size}), expectDouble(narrow, {size});
  for (int64_t i = 0; i < size; ++i) {
    single.setFloat(i, values[i]);
    twice.setFloat(i, values[i]);
    expectSingle.setFloat(i, single.getFloat(i));
    expectDouble.setFloat(i, values[i]);
  }
  TensorValue fromSingle = convert(*context, single, "f32", name), fromDouble = convert(*context, twice, "f64", name);
  ASSERT_TRUE(fromSingle && fromDouble);
  for (int64_t i = 0; i < size; ++i) {
    ASSERT_TRUE(sameFloat(fromSingle.getFloat(i), expectSingle.getFloat(i)))
        << name << " of f32 " << single.getFloat(i) << " gave " << fromSingle.getFloat(i) << ", not "
        << expectSingle.getFloat(i);
    ASSERT_TRUE(sameFloat(fromDouble.getFloat(i), expectDouble.getFloat(i)))
        << name << " of f64 " << values[i] << " gave " << fromDouble.getFloat(i) << ", not "
        << expectDouble.getFloat(i);
  }
}

INSTANTIATE_TEST_SUITE_P(All, NarrowFloats,
                         testing::Values("f16", "bf16", "f8E5M2", "f8E4M3FN", "f8E5M2FNUZ", "f8E4M3FNUZ"));

} // namespace
