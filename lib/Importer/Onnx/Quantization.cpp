//===- Quantization.cpp - ONNX's quantized operators ---------------------------------------------===//

#include "lib/Importer/Onnx/Quantization.h"
#include "lib/Importer/Onnx/Convolution.h"
#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Support/Onnx/ElementTypes.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

Type i32(Builder &b) { return b.ops.getI32Type(); }

/// The least and the largest integer of a type of at most 32 bits.
std::pair<double, double> integerRange(Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  double count = static_cast<double>(int64_t(1) << width);
  return isUnsignedElement(type) ? std::pair(0.0, count - 1) : std::pair(-count / 2, count / 2 - 1);
}

/// The nearest integer of the type to a float, ties to even, clamped; for float types the value, clamped if `saturate`.
Value saturated(Builder &b, Value x, Type type, bool saturate) {
  if (!x)
    return {};
  if (isFloatElement(type)) {
    double limit = llvm::APFloat::getLargest(cast<FloatType>(type).getFloatSemantics()).convertToDouble();
    return b.convert(saturate ? b.minimum(b.maximum(x, -limit), limit) : x, type);
  }
  auto [low, high] = integerRange(type);
  return b.convert(b.minimum(b.maximum(x, low), high), type);
}

/// A scale or zero point of a tensor, an axis or blocks, with the shape of `x`.
Value spread(Node &node, Value parameter, Value x, int64_t axis, int64_t blockSize) {
  Builder &b = node.b;
  if (!parameter || !x)
    return {};
  if (b.rank(parameter) == 0)
    return parameter;
  if (b.rank(parameter) == 1 && b.dim(parameter, 0) == b.size(1))
    return b.reshape(parameter, {});
  axis = node.axis(axis, b.rank(x));
  if (node.failed())
    return {};
  if (b.rank(parameter) == 1 && blockSize == 0) {
    if (b.dim(parameter, 0) != b.dim(x, axis)) {
      node.error() << "expected " << b.dim(x, axis) << " scales and zero points (of axis " << axis << "), got "
                   << b.dim(parameter, 0);
      return {};
    }
    return b.broadcastInDim(parameter, b.dims(x), axis);
  }
  // Blocks: each entry holds for block_size elements along the axis.
  if (b.rank(parameter) != b.rank(x) || blockSize < 1) {
    node.error()
        << "expected scales and zero points that are scalars, vectors, or, with block_size, of the input's rank";
    return {};
  }
  SmallVector<Dim> repeated = b.dims(parameter), merged = repeated;
  SmallVector<int64_t> places;
  for (int64_t i = 0; i < b.rank(x); ++i)
    places.push_back(i <= axis ? i : i + 1);
  repeated.insert(repeated.begin() + axis + 1, b.size(blockSize));
  merged[axis] = merged[axis] * blockSize;
  Value blocks = b.reshape(b.broadcastInDim(parameter, repeated, places), merged);
  return blocks && b.dim(blocks, axis) != b.dim(x, axis) ? b.slice(blocks, axis, b.size(0), b.dim(x, axis), 1) : blocks;
}

/// round(x / scale) + zero point, in float.
Value scaledDown(Builder &b, Value x, Value scale, Value zeroPoint, bool rounds) {
  Value quotient = b.divide(x, scale);
  if (rounds)
    quotient = b.unary<RoundNearestEvenOp>(quotient);
  return zeroPoint ? b.add(quotient, b.convert(zeroPoint, b.element(quotient))) : quotient;
}

LogicalResult importQuantizeLinear(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0), scale = node.input(1), zeroPoint = node.input(2);
  int64_t axis = node.integer("axis", 1), block = node.integer("block_size", 0);
  bool saturate = node.integer("saturate", 1) != 0;
  auto wanted = static_cast<OnnxType>(node.integer("output_dtype", 0));
  auto precision = static_cast<OnnxType>(node.integer("precision", 0));
  Type type = zeroPoint                       ? b.element(zeroPoint)
              : wanted != OnnxType::Undefined ? elementTypeOf(wanted, b.context())
                                              : b.ops.getIntegerType(8, /*isSigned=*/false);
  if (!type || storageBits(type) > 16)
    return node.fail("Weft has no quantized type " + nameOf(wanted));
  Type compute = precision != OnnxType::Undefined ? elementTypeOf(precision, b.context()) : b.element(scale);
  if (!compute || !isFloatElement(compute))
    return node.fail("attribute 'precision': expected a float type");
  // Narrow scales: the quotient of f16 values, computed exactly enough in f32.
  if (compute.getIntOrFloatBitWidth() < 32)
    compute = b.f32();
  Value wide = spread(node, scale, x, axis, block),
        offset = zeroPoint ? spread(node, zeroPoint, x, axis, block) : Value();
  if (!wide || (zeroPoint && !offset))
    return failure();
  Value result =
      scaledDown(b, b.convert(x, compute), b.convert(wide, compute), offset, /*rounds=*/!isFloatElement(type));
  return node.output(0, saturated(b, result, type, saturate));
}

LogicalResult importDequantizeLinear(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0), scale = node.input(1), zeroPoint = node.input(2);
  int64_t axis = node.integer("axis", 1), block = node.integer("block_size", 0);
  auto wanted = static_cast<OnnxType>(node.integer("output_dtype", 0));
  Type type = wanted != OnnxType::Undefined ? elementTypeOf(wanted, b.context()) : b.element(scale);
  if (!type)
    return node.fail("attribute 'output_dtype': Weft has no tensors of type " + nameOf(wanted));
  Value factor = spread(node, scale, x, axis, block),
        offset = zeroPoint ? spread(node, zeroPoint, x, axis, block) : Value();
  if (!factor || (zeroPoint && !offset))
    return failure();
  Type compute = b.f32();
  Value value;
  if (b.isFloat(x)) {
    value = b.convert(x, compute);
    if (offset)
      value = b.subtract(value, b.convert(offset, compute));
  } else {
    Value whole = b.convert(x, i32(b));
    if (offset)
      whole = b.subtract(whole, b.convert(offset, i32(b)));
    value = b.convert(whole, compute);
  }
  return node.output(0, b.convert(b.multiply(value, b.convert(factor, compute)), type));
}

} // namespace

Value buildDequantized(Node &node, Value x, Value scale, Value zeroPoint, int64_t axis) {
  Builder &b = node.b;
  Value factor = b.convert(spread(node, scale, x, axis, 0), b.f32());
  return b.multiply(b.convert(buildCentered(node, x, zeroPoint, axis), b.f32()), factor);
}

Value buildQuantized(Node &node, Value x, Value scale, Value zeroPoint, Type type, int64_t axis) {
  Builder &b = node.b;
  Value factor = b.convert(spread(node, scale, x, axis, 0), b.element(x));
  Value offset = zeroPoint ? spread(node, zeroPoint, x, axis, 0) : Value();
  if (!factor || (zeroPoint && !offset))
    return {};
  return saturated(b, scaledDown(b, x, factor, offset, /*rounds=*/true), type, /*saturate=*/true);
}

Value buildCentered(Node &node, Value x, Value zeroPoint, int64_t axis) {
  Builder &b = node.b;
  Value wide = b.convert(x, i32(b));
  if (!zeroPoint || !wide)
    return wide;
  Value offset = b.convert(spread(node, zeroPoint, wide, axis, 0), i32(b));
  return b.subtract(wide, offset);
}

Value buildIntegerMatmul(Node &node, Value lhs, Value lhsZeroPoint, Value rhs, Value rhsZeroPoint) {
  Builder &b = node.b;
  Value left = buildCentered(node, lhs, lhsZeroPoint, b.rank(lhs) - 2),
        right = buildCentered(node, rhs, rhsZeroPoint, b.rank(rhs) - 1);
  return node.failed() ? Value() : b.matmul(left, right);
}

Value buildColumnFactor(Node &node, Value factor, Value x) {
  return node.b.convert(spread(node, factor, x, node.b.rank(x) - 1, 0), node.b.f32());
}

DynamicallyQuantized buildDynamicallyQuantized(Builder &b, Value x) {
  SmallVector<int64_t> all;
  for (int64_t i = 0; i < b.rank(x); ++i)
    all.push_back(i);
  Type byte = b.ops.getIntegerType(8, /*isSigned=*/false);
  // The range always holds 0, so that 0 is exact.
  Value high = b.maximum(b.reduce(ReductionKind::max, x, all, false), 0.0),
        low = b.minimum(b.reduce(ReductionKind::min, x, all, false), 0.0);
  Value scale = b.divide(b.subtract(high, low), 255.0);
  // All zeros have any scale: 0 / 0 would make the zero point a NaN.
  Value isZero = b.compare(ComparisonDirection::EQ, scale, 0.0);
  Value start = b.select(isZero, b.scalarLike(x, 0), b.divide(b.negate(low), scale));
  Value zeroPoint = saturated(b, b.unary<RoundNearestEvenOp>(start), byte, true);
  Value divisor = b.select(isZero, b.scalarLike(x, 1), scale);
  return {saturated(b, scaledDown(b, x, divisor, zeroPoint, true), byte, true), scale, zeroPoint};
}

namespace {

LogicalResult importDynamicQuantizeLinear(Node &node) {
  DynamicallyQuantized result = buildDynamicallyQuantized(node.b, node.input(0));
  return success(succeeded(node.output(0, result.values)) && succeeded(node.output(1, result.scale)) &&
                 succeeded(node.output(2, result.zeroPoint)));
}

LogicalResult importMatMulInteger(Node &node) {
  return node.output(0, buildIntegerMatmul(node, node.input(0), node.input(2), node.input(1), node.input(3)));
}

/// Accumulated products to the output's scale, zero point and type.
Value requantized(Builder &b, Value sums, Value factor, Value zeroPoint) {
  Value scaled = b.unary<RoundNearestEvenOp>(b.multiply(b.convert(sums, b.element(factor)), factor));
  if (!scaled)
    return {};
  return saturated(b, b.add(scaled, b.convert(b.reshape(zeroPoint, {}), b.element(scaled))), b.element(zeroPoint),
                   true);
}

LogicalResult importQLinearMatMul(Node &node) {
  Builder &b = node.b;
  Value sums = buildIntegerMatmul(node, node.input(0), node.input(2), node.input(3), node.input(5));
  if (!sums)
    return failure();
  auto scaleOf = [&](int64_t index, int64_t axis) {
    return spread(node, b.convert(node.input(index), b.f32()), sums, axis, 0);
  };
  int64_t rank = b.rank(sums);
  Value factor = b.divide(b.multiply(scaleOf(1, rank - 2), scaleOf(4, rank - 1)), scaleOf(6, rank - 1));
  if (!factor)
    return failure();
  return node.output(0, requantized(b, sums, factor, node.input(7)));
}

LogicalResult importConvInteger(Node &node) {
  Builder &b = node.b;
  std::optional<ConvolutionParameters> parameters = readConvolution(node, node.input(0), node.input(1));
  if (!parameters)
    return failure();
  Value x = buildCentered(node, node.input(0), node.input(2), 1),
        weights = buildCentered(node, node.input(1), node.input(3), 0);
  return node.failed() ? failure() : node.output(0, buildConvolution(b, x, weights, *parameters));
}

LogicalResult importQLinearConv(Node &node) {
  Builder &b = node.b;
  std::optional<ConvolutionParameters> parameters = readConvolution(node, node.input(0), node.input(3));
  if (!parameters)
    return failure();
  Value x = buildCentered(node, node.input(0), node.input(2), 1),
        weights = buildCentered(node, node.input(3), node.input(5), 0);
  Value sums = node.failed() ? Value() : addChannelBias(b, buildConvolution(b, x, weights, *parameters), node.input(8));
  if (!sums)
    return failure();
  Value weightScale = spread(node, node.input(4), sums, 1, 0);
  Value factor = b.divide(b.multiply(b.reshape(node.input(1), {}), weightScale), b.reshape(node.input(6), {}));
  if (!factor)
    return failure();
  return node.output(0, requantized(b, sums, factor, node.input(7)));
}

} // namespace

void addQuantizationHandlers(HandlerTable &table) {
  table.add("QuantizeLinear", importQuantizeLinear);
  table.add("DequantizeLinear", importDequantizeLinear);
  table.add("DynamicQuantizeLinear", importDynamicQuantizeLinear);
  table.add("MatMulInteger", importMatMulInteger);
  table.add("QLinearMatMul", importQLinearMatMul);
  table.add("ConvInteger", importConvInteger);
  table.add("QLinearConv", importQLinearConv);
}

} // namespace weft::importer
