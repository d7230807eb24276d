//===- TensorValueTest.cpp - Storage and rounding of elements, to and from attributes ----------------===//

#include "dialects/Graph/NarrowFloat.h"
#include "test/unit/dialects/Graph/EvaluateText.h"
#include "llvm/ADT/APFloat.h"

using namespace weft;
using graph::TensorValue;

namespace {

class TensorValueTest : public test::EvaluateText {};

/// What LLVM's arbitrary precision floats say, which share no code with ours.
uint64_t encodeByLlvm(double value, const llvm::fltSemantics &semantics) {
  llvm::APFloat rounded(value);
  bool lost;
  rounded.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
  return rounded.bitcastToAPInt().getZExtValue();
}

TEST_F(TensorValueTest, NarrowFloatsAgreeWithLlvm) {
  // Every f16 and bf16, and the doubles around the middle between it and its neighbour.
  for (unsigned bits = 0; bits < 65536; ++bits) {
    auto half = static_cast<uint16_t>(bits);
    llvm::APFloat f16(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits)),
        bf16(llvm::APFloat::BFloat(), llvm::APInt(16, bits));
    double values[2] = {graph::decodeFloat16(half), graph::decodeBFloat16(half)};
    for (bool isBFloat : {false, true}) {
      const llvm::APFloat &exact = isBFloat ? bf16 : f16;
      double value = values[isBFloat];
      ASSERT_EQ(std::isnan(value), exact.isNaN());
      if (exact.isNaN())
        continue;
      ASSERT_EQ(value, exact.convertToDouble());
      llvm::APFloat next = exact;
      next.next(/*nextDown=*/false);
      double middle = next.isFinite() && exact.isFinite() ? (value + next.convertToDouble()) / 2 : value;
      for (double probe : {value, middle, std::nextafter(middle, 1e300), std::nextafter(middle, -1e300)}) {
        uint16_t ours = isBFloat ? graph::encodeBFloat16(probe) : graph::encodeFloat16(probe);
        ASSERT_EQ(ours, encodeByLlvm(probe, isBFloat ? llvm::APFloat::BFloat() : llvm::APFloat::IEEEhalf()))
            << probe << (isBFloat ? " bf16" : " f16");
      }
    }
  }
  for (double value : {65519.999, 65520.0, 1e300, -1e300, 3.39e38, 3.4e38, 5e-324, -0.0}) {
    EXPECT_EQ(graph::encodeFloat16(value), encodeByLlvm(value, llvm::APFloat::IEEEhalf())) << value;
    EXPECT_EQ(graph::encodeBFloat16(value), encodeByLlvm(value, llvm::APFloat::BFloat())) << value;
  }
  EXPECT_TRUE(std::isnan(graph::decodeFloat16(graph::encodeFloat16(test::kNan))));
  EXPECT_TRUE(std::isnan(graph::decodeBFloat16(graph::encodeBFloat16(test::kNan))));
}

TEST_F(TensorValueTest, PackedIntegersShareBytesLowBitsFirst) {
  TensorValue value = integers("i4", {1, -1, 7, -8, 3});
  EXPECT_EQ(value.getByteSize(), 3u);
  EXPECT_EQ(value.dataAs<uint8_t>()[0], 0xf1);
  EXPECT_EQ(value.dataAs<uint8_t>()[1], 0x87);
  expectInts(value, {1, -1, 7, -8, 3});
  TensorValue two = integers("ui2", {0, 1, 2, 3, 1});
  EXPECT_EQ(two.getByteSize(), 2u);
  EXPECT_EQ(two.dataAs<uint8_t>()[0], 0xe4);
  expectInts(two, {0, 1, 2, 3, 1});
}

TEST_F(TensorValueTest, AttributesAndBack) {
  for (const char *text : {"dense<[1, -2, 3]> : tensor<3xi8>", "dense<[true, false, true]> : tensor<3xi1>",
                           "dense<[7, -8, 3]> : tensor<3xi4>", "dense<[255, 0, 7]> : tensor<3xui8>",
                           "dense<[1.5, -0.0, 3.0]> : tensor<3xf32>", "dense<[1.5, 0x7FC0, 3.0]> : tensor<3xbf16>",
                           "dense<[1.5, -2.0, 3.0]> : tensor<3xf8E4M3FN>", "dense<2.5> : tensor<4x2xf64>",
                           "dense<5> : tensor<i64>", "dense<> : tensor<0x3xf32>", "dense<true> : tensor<9xi1>"}) {
    auto attribute = llvm::cast<mlir::DenseElementsAttr>(mlir::parseAttribute(text, &context));
    TensorValue value = TensorValue::fromAttribute(attribute);
    EXPECT_EQ(value.toAttribute(llvm::cast<mlir::RankedTensorType>(attribute.getType())), attribute) << text;
  }
  expectInts(TensorValue::fromAttribute(llvm::cast<mlir::DenseElementsAttr>(
                 mlir::parseAttribute("dense<[true, false, true]> : tensor<3xi1>", &context))),
             {1, 0, 1});
  expectSame(TensorValue::fromAttribute(
                 llvm::cast<mlir::DenseElementsAttr>(mlir::parseAttribute("dense<2.5> : tensor<4xf16>", &context))),
             {2.5, 2.5, 2.5, 2.5});
}

} // namespace
