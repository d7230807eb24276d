//===- KernelKinds.cpp - Kernels of every kind against plain loops --------------------------------------===//

#include "test/unit/codegen/KernelTest.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace mlir;
using namespace weft;
using namespace weft::graph;
using namespace weft::test;

namespace {

/// The order of the numerics contract, written from its definition.
float contractSum(const std::vector<float> &values) {
  float total = 0;
  bool first = true;
  for (size_t start = 0; start < values.size(); start += 4096) {
    size_t size = std::min<size_t>(4096, values.size() - start), count = std::min<size_t>(size, 128);
    std::vector<float> lane(values.begin() + start, values.begin() + start + count);
    for (size_t e = count; e < size; ++e)
      lane[e % 128] += values[start + e];
    for (size_t width = 64; width >= 1; width /= 2)
      for (size_t j = 0; j < width; ++j)
        if (j + width < lane.size())
          lane[j] += lane[j + width];
    total = first ? lane[0] : total + lane[0];
    first = false;
  }
  return total;
}

class Kernels : public testing::Test {
protected:
  std::unique_ptr<MLIRContext> context = makeContext();
  Type f32 = Float32Type::get(context.get());

  std::unique_ptr<CompiledKernel> compile(StringRef text) { return compileKernel(*context, text); }
};

std::string replaceAll(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

TEST_F(Kernels, LoopAddsAndScales) {
  for (int64_t size : {0, 1, 7, 8, 100, 16384, 16385, 50001}) {
    auto kernel = compile(replaceAll(R"(
      func.func @main(%x: tensor<Nxf32>, %y: tensor<Nxf32>) -> tensor<Nxf32> {
        %r = weft.fusion loop (%x, %y) : (tensor<Nxf32>, tensor<Nxf32>) -> tensor<Nxf32> {
        ^bb0(%a: tensor<Nxf32>, %b: tensor<Nxf32>):
          %c = weft.constant dense<3.0> : tensor<f32>
          %d = weft.broadcast_in_dim %c dims = [] : (tensor<f32>) -> tensor<Nxf32>
          %e = weft.multiply %a, %d : tensor<Nxf32>
          %f = weft.add %e, %b : tensor<Nxf32>
          weft.yield %f : tensor<Nxf32>
        }
        return %r : tensor<Nxf32>
      })",
                                     "N", std::to_string(size)));
    ASSERT_TRUE(kernel);
    TensorValue x = makeRandom(f32, {size}, 1), y = makeRandom(f32, {size}, 2);
    for (int64_t step : {0, 1}) {
      TensorValue result = kernel->run({x, y}, {}, step)[0];
      for (int64_t i = 0; i < size; ++i)
        ASSERT_EQ(result.dataAs<float>()[i], x.dataAs<float>()[i] * 3.0f + y.dataAs<float>()[i]) << i;
    }
  }
}

TEST_F(Kernels, LoopWithSymbolsAndBroadcast) {
  auto kernel = compile(R"(
    weft.dim "batch" in [0, 1024]
    weft.dim "time" in [1, 64]
    func.func @main(%x: tensor<?x?x12xf32, #weft.encoding<[batch, time, 12]>>, %y: tensor<12xf32>)
        -> tensor<?x?x12xf32, #weft.encoding<[batch, time, 12]>> {
      %r = weft.fusion loop (%x, %y) : (tensor<?x?x12xf32, #weft.encoding<[batch, time, 12]>>, tensor<12xf32>)
          -> tensor<?x?x12xf32, #weft.encoding<[batch, time, 12]>> {
      ^bb0(%a: tensor<?x?x12xf32, #weft.encoding<[batch, time, 12]>>, %b: tensor<12xf32>):
        %c = weft.broadcast_in_dim %b dims = [2] : (tensor<12xf32>) -> tensor<?x?x12xf32, #weft.encoding<[batch, time, 12]>>
        %d = weft.subtract %a, %c : tensor<?x?x12xf32, #weft.encoding<[batch, time, 12]>>
        weft.yield %d : tensor<?x?x12xf32, #weft.encoding<[batch, time, 12]>>
      }
      return %r : tensor<?x?x12xf32, #weft.encoding<[batch, time, 12]>>
    })");
  ASSERT_TRUE(kernel);
  for (int64_t batch : {0, 1, 5, 700})
    for (int64_t time : {1, 3}) {
      TensorValue x = makeRandom(f32, {batch, time, 12}, 1), y = makeRandom(f32, {12}, 2);
      TensorValue result = kernel->run({x, y}, {{"batch", batch}, {"time", time}}, 1)[0];
      for (int64_t i = 0; i < result.getElementCount(); ++i)
        ASSERT_EQ(result.dataAs<float>()[i], x.dataAs<float>()[i] - y.dataAs<float>()[i % 12]) << i;
    }
}

TEST_F(Kernels, RowSumFollowsTheContract) {
  for (int64_t size : {0, 1, 2, 3, 49, 127, 128, 129, 1000, 4096, 4097, 12345}) {
    auto kernel = compile(replaceAll(R"(
      func.func @main(%x: tensor<5xNxf32>) -> tensor<5xf32> {
        %r = weft.fusion row_reduction (%x) : (tensor<5xNxf32>) -> tensor<5xf32> {
        ^bb0(%a: tensor<5xNxf32>):
          %s = weft.reduce sum, %a dims = [1] : (tensor<5xNxf32>) -> tensor<5xf32>
          weft.yield %s : tensor<5xf32>
        }
        return %r : tensor<5xf32>
      })",
                                     "N", std::to_string(size)));
    ASSERT_TRUE(kernel);
    TensorValue x = makeRandom(f32, {5, size}, 3);
    TensorValue result = kernel->run({x}, {}, 1)[0];
    for (int64_t row = 0; row < 5; ++row) {
      std::vector<float> values(x.dataAs<float>() + row * size, x.dataAs<float>() + (row + 1) * size);
      ASSERT_EQ(result.dataAs<float>()[row], contractSum(values)) << size << " row " << row;
    }
  }
}

TEST_F(Kernels, Softmax) {
  for (int64_t size : {1, 10, 214, 1000}) {
    auto kernel = compile(replaceAll(R"(
      func.func @main(%x: tensor<3x7xNxf32>) -> tensor<3x7xNxf32> {
        %r = weft.fusion row_multipass (%x) : (tensor<3x7xNxf32>) -> tensor<3x7xNxf32> {
        ^bb0(%a: tensor<3x7xNxf32>):
          %m = weft.reduce max, %a dims = [2] : (tensor<3x7xNxf32>) -> tensor<3x7xf32>
          %mb = weft.broadcast_in_dim %m dims = [0, 1] : (tensor<3x7xf32>) -> tensor<3x7xNxf32>
          %d = weft.subtract %a, %mb : tensor<3x7xNxf32>
          %e = weft.exponential %d : tensor<3x7xNxf32>
          %s = weft.reduce sum, %e dims = [2] : (tensor<3x7xNxf32>) -> tensor<3x7xf32>
          %k = weft.reshape %s : (tensor<3x7xf32>) -> tensor<3x7x1xf32>
          %sb = weft.broadcast_in_dim %k dims = [0, 1, 2] : (tensor<3x7x1xf32>) -> tensor<3x7xNxf32>
          %q = weft.divide %e, %sb : tensor<3x7xNxf32>
          weft.yield %q : tensor<3x7xNxf32>
        }
        return %r : tensor<3x7xNxf32>
      })",
                                     "N", std::to_string(size)));
    ASSERT_TRUE(kernel);
    TensorValue x = makeRandom(f32, {3, 7, size}, 4, 3);
    TensorValue result = kernel->run({x}, {}, 1)[0];
    for (int64_t row = 0; row < 21; ++row) {
      const float *in = x.dataAs<float>() + row * size, *out = result.dataAs<float>() + row * size;
      double largest = -INFINITY, sum = 0;
      for (int64_t i = 0; i < size; ++i)
        largest = std::max<double>(largest, in[i]);
      for (int64_t i = 0; i < size; ++i)
        sum += std::exp(in[i] - largest);
      for (int64_t i = 0; i < size; ++i)
        ASSERT_NEAR(out[i], std::exp(in[i] - largest) / sum, 1e-6 * std::exp(in[i] - largest) / sum + 1e-12);
    }
  }
}

TEST_F(Kernels, GenericMeanOverMiddle) {
  auto kernel = compile(R"(
    func.func @main(%x: tensor<2x7x7x33xf32>) -> tensor<2x33xf32> {
      %r = weft.fusion generic (%x) : (tensor<2x7x7x33xf32>) -> tensor<2x33xf32> {
      ^bb0(%a: tensor<2x7x7x33xf32>):
        %s = weft.reduce sum, %a dims = [1, 2] : (tensor<2x7x7x33xf32>) -> tensor<2x33xf32>
        weft.yield %s : tensor<2x33xf32>
      }
      return %r : tensor<2x33xf32>
    })");
  ASSERT_TRUE(kernel);
  TensorValue x = makeRandom(f32, {2, 7, 7, 33}, 5);
  TensorValue result = kernel->run({x}, {}, 1)[0];
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t c = 0; c < 33; ++c) {
      std::vector<float> values;
      for (int64_t p = 0; p < 49; ++p)
        values.push_back(x.dataAs<float>()[(n * 49 + p) * 33 + c]);
      ASSERT_EQ(result.dataAs<float>()[n * 33 + c], contractSum(values));
    }
}

TEST_F(Kernels, TransposeAndPad) {
  auto kernel = compile(R"(
    func.func @main(%x: tensor<5x9xi64>) -> tensor<11x8xi64> {
      %r = weft.fusion transpose (%x) : (tensor<5x9xi64>) -> tensor<11x8xi64> {
      ^bb0(%a: tensor<5x9xi64>):
        %t = weft.transpose %a perm = [1, 0] : (tensor<5x9xi64>) -> tensor<9x5xi64>
        %c = weft.constant dense<-7> : tensor<i64>
        %p = weft.pad %t, %c low = [1, 2] high = [1, 1] interior = [0, 0] : (tensor<9x5xi64>, tensor<i64>) -> tensor<11x8xi64>
        weft.yield %p : tensor<11x8xi64>
      }
      return %r : tensor<11x8xi64>
    })");
  ASSERT_TRUE(kernel);
  TensorValue x = makeRandom(IntegerType::get(context.get(), 64), {5, 9}, 6);
  TensorValue result = kernel->run({x})[0];
  for (int64_t i = 0; i < 11; ++i)
    for (int64_t j = 0; j < 8; ++j) {
      bool inside = i >= 1 && i < 10 && j >= 2 && j < 7;
      EXPECT_EQ(result.getInteger(i * 8 + j), inside ? x.getInteger((j - 2) * 9 + (i - 1)) : -7);
    }
}

TEST_F(Kernels, CompareAndSelectOnTruthValues) {
  auto kernel = compile(R"(
    func.func @main(%x: tensor<77xi32>, %y: tensor<77xi32>) -> (tensor<77xi1>, tensor<77xi32>) {
      %r:2 = weft.fusion loop (%x, %y) : (tensor<77xi32>, tensor<77xi32>) -> (tensor<77xi1>, tensor<77xi32>) {
      ^bb0(%a: tensor<77xi32>, %b: tensor<77xi32>):
        %c = weft.compare GT, %a, %b : (tensor<77xi32>, tensor<77xi32>) -> tensor<77xi1>
        %s = weft.select %c, %a, %b : (tensor<77xi1>, tensor<77xi32>, tensor<77xi32>) -> tensor<77xi32>
        weft.yield %c, %s : tensor<77xi1>, tensor<77xi32>
      }
      return %r#0, %r#1 : tensor<77xi1>, tensor<77xi32>
    })");
  ASSERT_TRUE(kernel);
  Type i32 = IntegerType::get(context.get(), 32);
  TensorValue x = makeRandom(i32, {77}, 7), y = makeRandom(i32, {77}, 8);
  std::vector<TensorValue> results = kernel->run({x, y});
  for (int64_t i = 0; i < 77; ++i) {
    EXPECT_EQ(results[0].getInteger(i), x.getInteger(i) > y.getInteger(i));
    EXPECT_EQ(results[1].getInteger(i), std::max(x.getInteger(i), y.getInteger(i)));
  }
}

} // namespace
