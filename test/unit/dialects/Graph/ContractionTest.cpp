//===- ContractionTest.cpp - Values of dot_general and convolution against naive loops ---------------===//

#include "test/unit/dialects/Graph/EvaluateText.h"

using namespace weft;
using graph::TensorValue;

namespace {

class ContractionTest : public test::EvaluateText {
protected:
  /// `count` is inside the tolerance that a double sum rounded once has.
  void expectNear(const TensorValue &value, const std::vector<double> &expected, double tolerance) {
    ASSERT_EQ(value.getElementCount(), static_cast<int64_t>(expected.size()));
    for (int64_t i = 0; i < value.getElementCount(); ++i)
      ASSERT_NEAR(value.getFloat(i), expected[i], tolerance) << "element " << i;
  }
};

TEST_F(ContractionTest, MatrixProductsOfManySizes) {
  // Around the sizes of tiles and micro-tiles, and none at all.
  for (int64_t m : {1, 3, 130})
    for (int64_t n : {1, 17, 129})
      for (int64_t k : {0, 1, 5, 257}) {
        TensorValue a = pattern("f32", {m, k}, 1), b = pattern("f32", {k, n}, 2);
        auto type = [](int64_t rows, int64_t columns) {
          return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "xf32>";
        };
        TensorValue product = evaluate("weft.dot_general %a, %b contract = [1] x [0] : (" + type(m, k) + ", " +
                                           type(k, n) + ") -> " + type(m, n),
                                       type(m, k) + ";" + type(k, n), type(m, n), {a, b});
        std::vector<double> expected(m * n);
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < n; ++j)
            for (int64_t t = 0; t < k; ++t)
              expected[i * n + j] += a.getFloat(i * k + t) * b.getFloat(t * n + j);
        expectNear(product, expected, 0); // multiples of 1/64 below 2^24: every order gives the same sum
      }
}

TEST_F(ContractionTest, DimensionsInAnyOrder) {
  // Batch 1 of lhs with 2 of rhs, two contracting dimensions, two free ones on the left.
  TensorValue a = pattern("f32", {3, 2, 4, 5, 2}, 3), b = pattern("f32", {5, 3, 2, 6}, 4);
  TensorValue product = evaluate("weft.dot_general %a, %b batch = [1] x [2] contract = [0, 3] x [1, 0] : "
                                 "(tensor<3x2x4x5x2xf32>, tensor<5x3x2x6xf32>) -> tensor<2x4x2x6xf32>",
                                 "tensor<3x2x4x5x2xf32>;tensor<5x3x2x6xf32>", "tensor<2x4x2x6xf32>", {a, b});
  std::vector<double> expected(2 * 4 * 2 * 6);
  for (int64_t batch = 0; batch < 2; ++batch)
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t l = 0; l < 2; ++l)
        for (int64_t j = 0; j < 6; ++j)
          for (int64_t p = 0; p < 3; ++p)
            for (int64_t q = 0; q < 5; ++q)
              expected[((batch * 4 + i) * 2 + l) * 6 + j] += a.getFloat((((p * 2 + batch) * 4 + i) * 5 + q) * 2 + l) *
                                                             b.getFloat(((q * 3 + p) * 2 + batch) * 6 + j);
  expectNear(product, expected, 0);
}

TEST_F(ContractionTest, ElementTypes) {
  auto dot = [&](llvm::StringRef from, llvm::StringRef to, llvm::ArrayRef<double> a, llvm::ArrayRef<double> b) {
    std::string type = ("tensor<" + llvm::Twine(a.size()) + "x" + from + ">").str(),
                result = "tensor<" + to.str() + ">";
    return evaluate("weft.dot_general %a, %b contract = [0] x [0] : (" + type + ", " + type + ") -> " + result,
                    type + ";" + type, result,
                    {tensor(from, static_cast<int64_t>(a.size()), a), tensor(from, static_cast<int64_t>(a.size()), b)});
  };
  expectInts(dot("i8", "i32", {127, -128}, {127, -128}), {127 * 127 + 128 * 128});
  expectInts(dot("i8", "i8", {100}, {3}), {44});
  expectInts(dot("ui8", "ui32", {255, 255}, {255, 255}), {2 * 255 * 255});
  expectInts(dot("i4", "i32", {-8, 7, 3}, {-8, 7, 1}), {64 + 49 + 3});
  expectInts(dot("i1", "i1", {1, 1, 0}, {1, 1, 1}), {1});
  expectInts(dot("i64", "i64", {0x1p40}, {0x1p30}), {0});
  // 2048 + 1 is not an f16, but the sum is rounded once, at the end.
  expectSame(dot("f16", "f16", {2048, 1, 1}, {1, 1, 1}), {2050});
  expectSame(dot("bf16", "f32", {256, 1, 1}, {1, 1, 1}), {258});
  expectSame(dot("f8E4M3FN", "f32", {448, 1}, {448, 1}), {448.0 * 448 + 1});
  expectSame(dot("f64", "f64", {1, 0x1p-60}, {1, 1}), {1});
}

struct ConvolutionCase {
  int64_t images, inputFeatures, outputFeatures, groups;
  int64_t size[2], kernel[2], stride[2], low[2], high[2], inputDilation[2], kernelDilation[2];
};

TEST_F(ContractionTest, ConvolutionsInTwoDimensions) {
  ConvolutionCase cases[] = {
      {1, 3, 4, 1, {5, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {2, 2, 3, 1, {7, 5}, {3, 2}, {2, 1}, {0, 2}, {3, 0}, {1, 1}, {1, 1}},
      {1, 4, 4, 4, {6, 6}, {3, 3}, {1, 2}, {1, 0}, {1, 0}, {1, 1}, {1, 1}},   // depthwise
      {2, 4, 6, 2, {4, 4}, {2, 2}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {2, 1}},   // groups, dilated kernel
      {1, 2, 2, 1, {3, 4}, {3, 3}, {1, 1}, {2, 2}, {2, 2}, {2, 3}, {1, 1}},   // transposed convolution
      {1, 1, 1, 1, {5, 5}, {3, 3}, {1, 1}, {-1, 0}, {0, -1}, {1, 1}, {1, 1}}, // negative padding
      {1, 140, 130, 1, {3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}},
      {0, 2, 2, 1, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}}, // no image
  };
  for (const ConvolutionCase &c : cases) {
    int64_t out[2];
    for (int s = 0; s < 2; ++s)
      out[s] = ((c.size[s] - 1) * c.inputDilation[s] + 1 + c.low[s] + c.high[s] -
                ((c.kernel[s] - 1) * c.kernelDilation[s] + 1)) /
                   c.stride[s] +
               1;
    int64_t kernelFeatures = c.inputFeatures / c.groups, perGroup = c.outputFeatures / c.groups;
    // NCHW and OIHW.
    TensorValue x = pattern("f32", {c.images, c.inputFeatures, c.size[0], c.size[1]}, 5);
    TensorValue w = pattern("f32", {c.outputFeatures, kernelFeatures, c.kernel[0], c.kernel[1]}, 6);
    std::vector<double> expected;
    for (int64_t n = 0; n < c.images; ++n)
      for (int64_t o = 0; o < c.outputFeatures; ++o)
        for (int64_t y = 0; y < out[0]; ++y)
          for (int64_t z = 0; z < out[1]; ++z) {
            double sum = 0;
            for (int64_t i = 0; i < kernelFeatures; ++i)
              for (int64_t p = 0; p < c.kernel[0]; ++p)
                for (int64_t q = 0; q < c.kernel[1]; ++q) {
                  int64_t row = y * c.stride[0] + p * c.kernelDilation[0] - c.low[0];
                  int64_t column = z * c.stride[1] + q * c.kernelDilation[1] - c.low[1];
                  if (row < 0 || column < 0 || row % c.inputDilation[0] || column % c.inputDilation[1])
                    continue;
                  row /= c.inputDilation[0];
                  column /= c.inputDilation[1];
                  if (row >= c.size[0] || column >= c.size[1])
                    continue;
                  int64_t feature = o / perGroup * kernelFeatures + i;
                  sum += x.getFloat(((n * c.inputFeatures + feature) * c.size[0] + row) * c.size[1] + column) *
                         w.getFloat(((o * kernelFeatures + i) * c.kernel[0] + p) * c.kernel[1] + q);
                }
            expected.push_back(sum);
          }
    auto type = [](llvm::ArrayRef<int64_t> shape) {
      std::string text = "tensor<";
      for (int64_t size : shape)
        text += std::to_string(size) + "x";
      return text + "f32>";
    };
    auto list = [](const int64_t *values) {
      return "array<i64: " + std::to_string(values[0]) + ", " + std::to_string(values[1]) + ">";
    };
    std::string attributes = "{window_strides = " + list(c.stride) + ", padding_low = " + list(c.low) +
                             ", padding_high = " + list(c.high) + ", lhs_dilation = " + list(c.inputDilation) +
                             ", rhs_dilation = " + list(c.kernelDilation) +
                             ", feature_group_count = " + std::to_string(c.groups) + " : i64}";
    std::string xType = type(x.getShape()), wType = type(w.getShape()),
                outType = type({c.images, c.outputFeatures, out[0], out[1]});
    TensorValue y = evaluate("weft.convolution %a, %b dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> " +
                                 attributes + " : (" + xType + ", " + wType + ") -> " + outType,
                             xType + ";" + wType, outType, {x, w});
    expectNear(y, expected, 0);

    // The same in NHWC with an HWIO kernel, the result in another order again.
    TensorValue xLast(elementType("f32"), {c.images, c.size[0], c.size[1], c.inputFeatures});
    for (int64_t i = 0, plane = c.size[0] * c.size[1]; i < x.getElementCount(); ++i) {
      int64_t n = i / plane / c.inputFeatures, f = i / plane % c.inputFeatures, at = i % plane;
      xLast.setFloat((n * plane + at) * c.inputFeatures + f, x.getFloat(i));
    }
    TensorValue wLast(elementType("f32"), {c.kernel[0], c.kernel[1], kernelFeatures, c.outputFeatures});
    for (int64_t i = 0, plane = c.kernel[0] * c.kernel[1]; i < w.getElementCount(); ++i) {
      int64_t o = i / plane / kernelFeatures, f = i / plane % kernelFeatures, at = i % plane;
      wLast.setFloat((at * kernelFeatures + f) * c.outputFeatures + o, w.getFloat(i));
    }
    std::string lastOut = type({out[1], c.outputFeatures, c.images, out[0]});
    TensorValue z =
        evaluate("weft.convolution %a, %b dims = <[b, 0, 1, f] x [0, 1, i, o] -> [1, f, b, 0]> " + attributes + " : (" +
                     type(xLast.getShape()) + ", " + type(wLast.getShape()) + ") -> " + lastOut,
                 type(xLast.getShape()) + ";" + type(wLast.getShape()), lastOut, {xLast, wLast});
    ASSERT_EQ(z.getElementCount(), static_cast<int64_t>(expected.size()));
    for (int64_t n = 0, i = 0; n < c.images; ++n)
      for (int64_t o = 0; o < c.outputFeatures; ++o)
        for (int64_t row = 0; row < out[0]; ++row)
          for (int64_t column = 0; column < out[1]; ++column, ++i)
            ASSERT_EQ(z.getFloat(((column * c.outputFeatures + o) * c.images + n) * out[0] + row), expected[i]);
  }
}

TEST_F(ContractionTest, ConvolutionsInOneAndThreeDimensions) {
  expectSame(
      evaluate("weft.convolution %a, %b dims = <[b, f, 0] x [o, i, 0] -> [b, f, 0]> {window_strides = array<i64: 1>, "
               "padding_low = array<i64: 0>, padding_high = array<i64: 0>, lhs_dilation = array<i64: 1>, "
               "rhs_dilation = array<i64: 1>, feature_group_count = 1 : i64} : "
               "(tensor<1x1x4xf32>, tensor<1x1x2xf32>) -> tensor<1x1x3xf32>",
               "tensor<1x1x4xf32>;tensor<1x1x2xf32>", "tensor<1x1x3xf32>",
               {tensor("f32", {1, 1, 4}, {1, 2, 4, 8}), tensor("f32", {1, 1, 2}, {10, 1})}),
      {12, 24, 48}); // the kernel is not flipped
  std::string attributes =
      "{window_strides = array<i64: 1, 1, 1>, padding_low = array<i64: 0, 0, 0>, padding_high = "
      "array<i64: 0, 0, 0>, lhs_dilation = array<i64: 1, 1, 1>, rhs_dilation = array<i64: 1, 1, 1>, "
      "feature_group_count = 1 : i64}";
  expectInts(evaluate("weft.convolution %a, %b dims = <[b, f, 0, 1, 2] x [o, i, 0, 1, 2] -> [b, f, 0, 1, 2]> " +
                          attributes + " : (tensor<1x1x2x2x2xi8>, tensor<1x1x2x2x2xi8>) -> tensor<1x1x1x1x1xi32>",
                      "tensor<1x1x2x2x2xi8>;tensor<1x1x2x2x2xi8>", "tensor<1x1x1x1x1xi32>",
                      {tensor("i8", {1, 1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 100}),
                       tensor("i8", {1, 1, 2, 2, 2}, {1, 1, 1, 1, 1, 1, 1, 100})}),
             {28 + 10000});
}

} // namespace
