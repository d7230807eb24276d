//===- ContribQuantization.cpp - ONNX Runtime's quantized operators ---------------------------------===//

#include "lib/Importer/Onnx/Activations.h"
#include "lib/Importer/Onnx/Contrib.h"
#include "lib/Importer/Onnx/Pooling.h"
#include "lib/Importer/Onnx/Quantization.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

/// Input `first`, dequantized by the scale and the zero point that follow it.
Value dequantized(Node &node, int64_t first) {
  return buildDequantized(node, node.input(first), node.input(first + 1), node.input(first + 2));
}

/// Sets the output to `x`, quantized by the scale and the zero point at these inputs, in the type of `like`.
LogicalResult quantizedOutput(Node &node, Value x, int64_t scale, Value like) {
  return node.output(0, buildQuantized(node, x, node.input(scale), node.input(scale + 1), node.b.element(like)));
}

template <typename OpTy> LogicalResult importQLinearBinary(Node &node) {
  return quantizedOutput(node, node.b.binary<OpTy>(dequantized(node, 0), dequantized(node, 3)), 6, node.input(0));
}

LogicalResult importQLinearSigmoid(Node &node) {
  return quantizedOutput(node, node.b.unary<LogisticOp>(dequantized(node, 0)), 3, node.input(0));
}

LogicalResult importQLinearLeakyRelu(Node &node) {
  return quantizedOutput(node, buildLeakyRelu(node.b, dequantized(node, 0), node.real("alpha", 0.01f)), 3,
                         node.input(0));
}

LogicalResult importQLinearSoftmax(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  int64_t rank = b.rank(x), axis = node.axis(node.integer("axis", -1), rank);
  if (node.failed())
    return failure();
  Value values = dequantized(node, 0);
  if (node.requiredInteger("opset") < 13 && rank > 0) {
    // The dimensions from the axis on are one.
    SmallVector<Dim> dims = b.dims(x);
    Dim rows = product(ArrayRef(dims).take_front(axis), b.context()),
        columns = product(ArrayRef(dims).drop_front(axis), b.context());
    values = b.reshape(buildSoftmax(b, b.reshape(values, {rows, columns}), 1), dims);
  } else {
    values = buildSoftmax(b, values, axis);
  }
  return quantizedOutput(node, values, 3, x);
}

/// A pooling of the dequantized input, whose channels may be last.
LogicalResult importQLinearPool(Node &node, llvm::function_ref<Value(Value)> pool) {
  Builder &b = node.b;
  bool channelsLast = node.integer("channels_last", 0) != 0;
  if (!node.expectRankAtLeast(0, 3))
    return failure();
  int64_t rank = b.rank(node.input(0));
  SmallVector<int64_t> forward{0, rank - 1}, backward{0};
  for (int64_t i = 1; i < rank - 1; ++i)
    forward.push_back(i);
  for (int64_t i = 2; i < rank; ++i)
    backward.push_back(i);
  backward.push_back(1);
  Value values = dequantized(node, 0);
  Value pooled = pool(channelsLast ? b.transpose(values, forward) : values);
  return quantizedOutput(node, channelsLast ? b.transpose(pooled, backward) : pooled, 3, node.input(0));
}

LogicalResult importQLinearAveragePool(Node &node) {
  return importQLinearPool(node, [&](Value x) { return x ? buildAveragePool(node, x) : Value(); });
}

LogicalResult importQLinearGlobalAveragePool(Node &node) {
  Builder &b = node.b;
  return importQLinearPool(node, [&](Value x) {
    SmallVector<int64_t> spatial;
    for (int64_t i = 2; i < b.rank(x); ++i)
      spatial.push_back(i);
    return b.mean(x, spatial, /*keepDims=*/true);
  });
}

LogicalResult importQLinearReduceMean(Node &node) {
  Builder &b = node.b;
  SmallVector<int64_t> axes = node.axes(node.integerList("axes"), b.rank(node.input(0)));
  bool keepDims = node.integer("keepdims", 1) != 0;
  if (node.failed())
    return failure();
  return quantizedOutput(node, b.mean(dequantized(node, 0), axes, keepDims), 3, node.input(0));
}

/// Inputs: the output's scale and zero point, then three for each part.
LogicalResult importQLinearConcat(Node &node) {
  Builder &b = node.b;
  if (node.inputCount() < 5 || node.inputCount() % 3 != 2)
    return node.fail("expected the scale and zero point of the result and three inputs a part");
  SmallVector<Value> parts;
  for (int64_t i = 2; i < node.inputCount(); i += 3)
    parts.push_back(dequantized(node, i));
  int64_t axis = node.axis(node.requiredInteger("axis"), b.rank(node.input(2)));
  if (node.failed())
    return failure();
  return quantizedOutput(node, b.concatenate(parts, axis), 0, node.input(2));
}

LogicalResult importQLinearWhere(Node &node) {
  Value chosen = node.b.select(node.input(0), dequantized(node, 1), dequantized(node, 4));
  return quantizedOutput(node, chosen, 7, node.input(1));
}

/// (sums * left scale) * scale of each column + bias.
Value scaledSums(Node &node, Value sums, Value leftScale, Value columnScale, Value bias, Type type) {
  Builder &b = node.b;
  if (!sums)
    return {};
  Value factor = b.multiply(buildColumnFactor(node, leftScale, sums), buildColumnFactor(node, columnScale, sums));
  Value result = b.multiply(b.convert(sums, b.f32()), factor);
  return b.convert(bias ? b.add(result, b.convert(bias, b.f32())) : result, type);
}

LogicalResult importDynamicQuantizeMatMul(Node &node) {
  Builder &b = node.b;
  DynamicallyQuantized left = buildDynamicallyQuantized(b, node.input(0));
  if (!left.values)
    return failure();
  Value sums = buildIntegerMatmul(node, left.values, left.zeroPoint, node.input(1), node.input(3));
  return node.output(0, scaledSums(node, sums, left.scale, node.input(2), node.input(4), b.element(node.input(0))));
}

LogicalResult importMatMulIntegerToFloat(Node &node) {
  Value sums = buildIntegerMatmul(node, node.input(0), node.input(4), node.input(1), node.input(5));
  return node.output(
      0, scaledSums(node, sums, node.input(2), node.input(3), node.input(6), node.b.element(node.input(2))));
}

/// alpha * a * b + c in integers, scaled; quantized where there is a scale for it.
LogicalResult importQGemm(Node &node) {
  Builder &b = node.b;
  double alpha = node.real("alpha", 1);
  bool transA = node.integer("transA", 0) != 0, transB = node.integer("transB", 0) != 0;
  if (!node.expectRank(0, 2) || !node.expectRank(3, 2))
    return failure();
  Value left = transA ? b.transpose(node.input(0), {1, 0}) : node.input(0);
  Value right = transB ? b.transpose(node.input(3), {1, 0}) : node.input(3);
  Value sums = buildIntegerMatmul(node, left, node.input(2), right, node.input(5));
  if (sums && node.has(6))
    sums = b.add(sums, b.broadcast(node.input(6), b.dims(sums)));
  Value result = scaledSums(node, sums, node.input(1), node.input(4), Value(), b.f32());
  if (alpha != 1)
    result = b.multiply(result, alpha);
  if (!node.has(7))
    return node.output(0, result);
  Type type = node.has(8) ? b.element(node.input(8)) : b.element(node.input(0));
  return node.output(0, buildQuantized(node, result, node.input(7), node.input(8), type));
}

/// Numbers of `bits` bits in bytes, the first in the lowest bits: [..., bytes] as ui8 [..., bytes * 8 / bits].
Value unpacked(Builder &b, Value bytes, int64_t bits) {
  if (bits == 8 || !bytes)
    return bytes;
  int64_t rank = b.rank(bytes), count = 8 / bits;
  Type type = b.element(bytes);
  Value mask = b.integerScalar(type, (1 << bits) - 1);
  SmallVector<Value> parts;
  for (int64_t i = 0; i < count; ++i) {
    Value shifted = i ? b.binary<ShiftRightLogicalOp>(bytes, b.integerScalar(type, i * bits)) : bytes;
    parts.push_back(b.expandDims(b.binary<AndOp>(shifted, mask), rank));
  }
  SmallVector<Dim> dims = b.dims(bytes);
  dims.back() = dims.back() * count;
  return b.reshape(b.concatenate(parts, rank), dims);
}

LogicalResult importMatMulNBits(Node &node) {
  Builder &b = node.b;
  int64_t k = node.requiredInteger("K"), n = node.requiredInteger("N"), bits = node.integer("bits", 4),
          block = node.requiredInteger("block_size");
  node.ignore("accuracy_level"); // The least precision that may be computed in; Weft computes in the type of A.
  if (node.failed())
    return failure();
  if (node.integer("weight_prepacked", 0) != 0)
    return node.fail("attribute 'weight_prepacked': weights in a layout of one device are not supported; export 0");
  if (node.has(4))
    return node.fail("input 'g_idx' is not supported");
  if (bits != 2 && bits != 4 && bits != 8)
    return node.fail("attribute 'bits': expected 2, 4 or 8, got " + std::to_string(bits));
  if (k < 1 || n < 1 || block < 1 || k > (int64_t(1) << 40) || n > (int64_t(1) << 40) || block > (int64_t(1) << 24) ||
      block * bits % 8 != 0)
    return node.fail("attributes 'K', 'N' and 'block_size': expected at least 1, and blocks of whole bytes");
  int64_t blocks = (k + block - 1) / block;
  Value x = node.input(0);
  Type element = b.element(x), compute = element.getIntOrFloatBitWidth() < 32 ? b.f32() : element;
  SmallVector<Dim> blockDims{b.size(n), b.size(blocks), b.size(1)};
  Value weights = unpacked(b, b.reshape(node.input(1), b.sizes({n, blocks, block * bits / 8})), bits);
  Value scales = b.convert(b.reshape(node.input(2), blockDims), compute);
  Value offset = b.scalar(compute, static_cast<double>(int64_t(1) << (bits - 1)));
  if (node.has(3)) {
    Value points = node.input(3);
    if (b.isFloat(points)) {
      offset = b.convert(b.reshape(points, blockDims), compute);
    } else {
      int64_t rowBytes = (blocks * bits + 7) / 8;
      Value rows = unpacked(b, b.reshape(points, b.sizes({n, rowBytes})), bits);
      offset = b.convert(b.reshape(b.slice(rows, 1, 0, blocks), blockDims), compute);
    }
  }
  Value dense = b.multiply(b.subtract(b.convert(weights, compute), offset), scales);
  dense = b.slice(b.reshape(dense, b.sizes({n, blocks * block})), 1, 0, k);
  if (!dense)
    return failure();
  Value product = b.dotGeneral(x, b.convert(dense, element), b.rank(x) - 1, 1);
  return node.output(0, node.has(5) ? b.add(product, node.input(5)) : product);
}

} // namespace

void addContribQuantizationHandlers(HandlerTable &table) {
  table.addIn(kContribDomain, "QLinearAdd", 1, importQLinearBinary<AddOp>);
  table.addIn(kContribDomain, "QLinearMul", 1, importQLinearBinary<MultiplyOp>);
  table.addIn(kContribDomain, "QLinearSigmoid", 1, importQLinearSigmoid);
  table.addIn(kContribDomain, "QLinearLeakyRelu", 1, importQLinearLeakyRelu);
  table.addIn(kContribDomain, "QLinearSoftmax", 1, importQLinearSoftmax);
  table.addIn(kContribDomain, "QLinearAveragePool", 1, importQLinearAveragePool);
  table.addIn(kContribDomain, "QLinearGlobalAveragePool", 1, importQLinearGlobalAveragePool);
  table.addIn(kContribDomain, "QLinearReduceMean", 1, importQLinearReduceMean);
  table.addIn(kContribDomain, "QLinearConcat", 1, importQLinearConcat);
  table.addIn(kContribDomain, "QLinearWhere", 1, importQLinearWhere);
  table.addIn(kContribDomain, "DynamicQuantizeMatMul", 1, importDynamicQuantizeMatMul);
  table.addIn(kContribDomain, "MatMulIntegerToFloat", 1, importMatMulIntegerToFloat);
  table.addIn(kContribDomain, "QGemm", 1, importQGemm);
  table.addIn(kContribDomain, "MatMulNBits", 1, importMatMulNBits);
  // What has become ONNX's, in the same form.
  for (StringRef name : {"QuantizeLinear", "DequantizeLinear", "QLinearConv"})
    table.addIn(kContribDomain, name, 1, Handler(*table.find("", name, 21)));
}

} // namespace weft::importer
