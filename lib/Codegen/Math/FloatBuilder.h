//===- FloatBuilder.h - Builds arithmetic on f32 and f64 scalars ---------------------------------------===//

#ifndef WEFT_LIB_CODEGEN_MATH_FLOATBUILDER_H
#define WEFT_LIB_CODEGEN_MATH_FLOATBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace weft::codegen {

/// Arithmetic on values of one float type and on the integer type of the same width.
class FloatBuilder {
public:
  FloatBuilder(mlir::OpBuilder &builder, mlir::Location location, mlir::FloatType type)
      : builder(builder), location(location), type(type), integer(builder.getIntegerType(type.getWidth())) {}

  using Value = mlir::Value;

  bool isDouble() const { return type.isF64(); }
  int mantissaBits() const { return isDouble() ? 52 : 23; }
  int64_t exponentBias() const { return isDouble() ? 1023 : 127; }

  Value constant(double value) {
    llvm::APFloat rounded(value);
    bool inexact;
    rounded.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &inexact);
    return mlir::arith::ConstantOp::create(builder, location, mlir::FloatAttr::get(type, rounded));
  }
  Value infinity() {
    return mlir::arith::ConstantOp::create(builder, location,
                                           mlir::FloatAttr::get(type, llvm::APFloat::getInf(type.getFloatSemantics())));
  }
  Value nan() {
    return mlir::arith::ConstantOp::create(
        builder, location, mlir::FloatAttr::get(type, llvm::APFloat::getQNaN(type.getFloatSemantics())));
  }
  Value add(Value a, Value b) { return mlir::arith::AddFOp::create(builder, location, a, b); }
  Value sub(Value a, Value b) { return mlir::arith::SubFOp::create(builder, location, a, b); }
  Value mul(Value a, Value b) { return mlir::arith::MulFOp::create(builder, location, a, b); }
  Value div(Value a, Value b) { return mlir::arith::DivFOp::create(builder, location, a, b); }
  Value add(Value a, double b) { return add(a, constant(b)); }
  Value sub(Value a, double b) { return sub(a, constant(b)); }
  Value mul(Value a, double b) { return mul(a, constant(b)); }
  Value fma(Value a, Value b, Value c) { return mlir::math::FmaOp::create(builder, location, a, b, c); }
  Value fma(Value a, double b, Value c) { return fma(a, constant(b), c); }
  Value negate(Value a) { return mlir::arith::NegFOp::create(builder, location, a); }
  Value abs(Value a) { return mlir::math::AbsFOp::create(builder, location, a); }
  Value sqrt(Value a) { return mlir::math::SqrtOp::create(builder, location, a); }
  Value truncate(Value a) { return mlir::math::TruncOp::create(builder, location, a); }
  Value copySign(Value a, Value sign) { return mlir::math::CopySignOp::create(builder, location, a, sign); }
  Value select(Value condition, Value a, Value b) {
    return mlir::arith::SelectOp::create(builder, location, condition, a, b);
  }
  /// Ordered comparisons: false on NaN.
  Value less(Value a, Value b) { return compare(mlir::arith::CmpFPredicate::OLT, a, b); }
  Value less(Value a, double b) { return less(a, constant(b)); }
  Value greater(Value a, double b) { return compare(mlir::arith::CmpFPredicate::OGT, a, constant(b)); }
  Value equal(Value a, Value b) { return compare(mlir::arith::CmpFPredicate::OEQ, a, b); }
  Value equal(Value a, double b) { return equal(a, constant(b)); }
  Value isNan(Value a) { return compare(mlir::arith::CmpFPredicate::UNO, a, a); }
  Value compare(mlir::arith::CmpFPredicate predicate, Value a, Value b) {
    return mlir::arith::CmpFOp::create(builder, location, predicate, a, b);
  }
  /// `a` limited to [low, high]; NaN stays.
  Value clamp(Value a, double low, double high) {
    a = select(less(a, low), constant(low), a);
    return select(greater(a, high), constant(high), a);
  }
  /// c[0] + x (c[1] + x (...)).
  template <size_t N> Value polynomial(Value x, const double (&coefficients)[N]) {
    Value result = constant(coefficients[N - 1]);
    for (size_t i = N - 1; i-- > 0;)
      result = fma(result, x, constant(coefficients[i]));
    return result;
  }

  // Integers of the same width, and truth values.
  Value bits(Value a) { return mlir::arith::BitcastOp::create(builder, location, integer, a); }
  Value fromBits(Value a) { return mlir::arith::BitcastOp::create(builder, location, type, a); }
  Value constantBits(int64_t value) {
    return mlir::arith::ConstantOp::create(builder, location, mlir::IntegerAttr::get(integer, value));
  }
  Value addBits(Value a, Value b) { return mlir::arith::AddIOp::create(builder, location, a, b); }
  Value subBits(Value a, Value b) { return mlir::arith::SubIOp::create(builder, location, a, b); }
  Value mulBits(Value a, Value b) { return mlir::arith::MulIOp::create(builder, location, a, b); }
  Value andBits(Value a, Value b) { return mlir::arith::AndIOp::create(builder, location, a, b); }
  Value orBits(Value a, Value b) { return mlir::arith::OrIOp::create(builder, location, a, b); }
  Value xorBits(Value a, Value b) { return mlir::arith::XOrIOp::create(builder, location, a, b); }
  Value shiftLeft(Value a, Value b) { return mlir::arith::ShLIOp::create(builder, location, a, b); }
  Value shiftRight(Value a, Value b) { return mlir::arith::ShRUIOp::create(builder, location, a, b); }
  Value shiftRightSigned(Value a, Value b) { return mlir::arith::ShRSIOp::create(builder, location, a, b); }
  Value compareBits(mlir::arith::CmpIPredicate predicate, Value a, Value b) {
    return mlir::arith::CmpIOp::create(builder, location, predicate, a, b);
  }
  Value isNonZeroBits(Value a) { return compareBits(mlir::arith::CmpIPredicate::ne, a, constantBits(0)); }
  /// The sign bit alone.
  Value signBit(Value a) { return andBits(bits(a), constantBits(isDouble() ? INT64_MIN : INT32_MIN)); }
  /// 2^exponent for an exponent in the range of normal numbers.
  Value powerOfTwo(Value exponent) {
    return fromBits(shiftLeft(addBits(exponent, constantBits(exponentBias())), constantBits(mantissaBits())));
  }
  /// A small integer as a float. (64-bit integers have no vector conversion before AVX-512.)
  Value toFloat(Value small) {
    if (isDouble())
      small = mlir::arith::TruncIOp::create(builder, location, builder.getI32Type(), small);
    return mlir::arith::SIToFPOp::create(builder, location, type, small);
  }
  /// The nearest integer of a value of small magnitude, as a float and as an integer.
  std::pair<Value, Value> roundScaled(Value a, double scale) {
    // Adding 1.5 * 2^mantissaBits leaves the integer in the lowest bits; a NaN stays one.
    double magic = isDouble() ? 6755399441055744.0 : 12582912.0;
    Value shifted = fma(a, scale, constant(magic));
    Value whole = subBits(bits(shifted), bits(constant(magic)));
    return {sub(shifted, constant(magic)), whole};
  }

  mlir::OpBuilder &builder;
  mlir::Location location;
  mlir::FloatType type;
  mlir::IntegerType integer;
};

} // namespace weft::codegen

#endif
