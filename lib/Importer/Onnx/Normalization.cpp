//===- Normalization.cpp - ONNX's normalizations -------------------------------------------------===//

#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Node.h"
#include "lib/Support/Onnx/ElementTypes.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

/// 1 / sqrt(variance + epsilon).
Value inverseDeviation(Builder &b, Value variance, double epsilon) {
  return b.unary<RsqrtOp>(b.add(variance, epsilon));
}

/// Mean of squared differences from the mean, over dimensions that stay with size 1.
Value variance(Builder &b, Value x, Value mean, ArrayRef<int64_t> dimensions) {
  Value difference = b.subtract(x, mean);
  return b.mean(b.multiply(difference, difference), dimensions, /*keepDims=*/true);
}

/// x * (scale * rsqrt(variance + epsilon)) + (bias - mean * that), on vectors along dimension 1.
Value applyBatchNorm(Builder &b, Value x, Value scale, Value bias, Value mean, Value variance, double epsilon) {
  Type element = b.element(x);
  Value factor = b.multiply(scale, inverseDeviation(b, variance, epsilon));
  Value shift = b.subtract(bias, b.multiply(mean, factor));
  if (!factor || !shift)
    return {};
  // Statistics may be wider than the input: then all is computed in their type.
  Value wide = b.convert(x, b.element(factor));
  Value scaled = b.multiply(wide, b.broadcastInDim(factor, b.dims(x), 1));
  return b.convert(b.add(scaled, b.broadcastInDim(shift, b.dims(x), 1)), element);
}

LogicalResult importBatchNormalization(Node &node) {
  Builder &b = node.b;
  double epsilon = node.real("epsilon", 1e-5f), momentum = node.real("momentum", 0.9f);
  bool training = node.integer("training_mode", 0) != 0;
  bool spatial = node.integer("spatial", 1) != 0;
  node.ignore("consumed_inputs");
  if (node.opset() < 7)
    training = node.integer("is_test", 0) == 0 && node.outputCount() > 1;
  Value x = node.input(0);
  if (!node.expectRankAtLeast(0, 1))
    return failure();
  // A matrix [batch] of one dimension has one channel.
  bool isVector = b.rank(x) == 1;
  Value image = isVector ? b.reshape(x, {b.dim(x, 0), b.size(1)}) : x;
  if (!spatial && b.rank(x) > 2)
    return node.fail(
        "attribute 'spatial': 0 (statistics for each position) is not supported; export with opset 9 or up");
  for (int64_t i = 1; i < 5; ++i)
    if (!node.expectRank(i, 1))
      return failure();
  for (int64_t i = 1; i < 5; ++i)
    if (b.dim(node.input(i), 0) != b.dim(image, 1)) {
      node.error() << "input '" << node.inputName(i) << "': expected " << b.dim(image, 1) << " elements, got "
                   << b.dim(node.input(i), 0);
      return failure();
    }
  Type wide = b.element(node.input(3));
  Value scale = b.convert(node.input(1), wide), bias = b.convert(node.input(2), wide), mean = node.input(3),
        deviation = b.convert(node.input(4), wide);
  if (training) {
    SmallVector<int64_t> all{0};
    for (int64_t i = 2; i < b.rank(image); ++i)
      all.push_back(i);
    Value values = b.convert(image, wide);
    Value current = b.mean(values, all, /*keepDims=*/true);
    Value spread = b.dropDims(variance(b, values, current, all), all);
    current = b.dropDims(current, all);
    Value result = applyBatchNorm(b, image, scale, bias, current, spread, epsilon);
    auto running = [&](Value old, Value fresh) {
      return b.add(b.multiply(old, momentum), b.multiply(fresh, 1 - momentum));
    };
    if (failed(node.output(0, isVector ? b.reshape(result, b.dims(x)) : result)))
      return failure();
    if (node.wants(1) && failed(node.output(1, running(mean, current))))
      return failure();
    if (node.wants(2) && failed(node.output(2, running(deviation, spread))))
      return failure();
    return success();
  }
  SmallVector<NamedAttribute> config{b.ops.getNamedAttr("axis", b.ops.getI64IntegerAttr(1)),
                                     b.ops.getNamedAttr("epsilon", b.ops.getF32FloatAttr(epsilon))};
  SmallVector<Value> results = b.composite("batch_norm_inference", config, {image, scale, bias, mean, deviation},
                                           [epsilon](Builder &b, ArrayRef<Value> a) -> SmallVector<Value> {
                                             return {applyBatchNorm(b, a[0], a[1], a[2], a[3], a[4], epsilon)};
                                           });
  Value result = results.empty() ? Value() : results[0];
  return node.output(0, isVector && result ? b.reshape(result, b.dims(x)) : result);
}

LogicalResult importInstanceNormalization(Node &node) {
  Builder &b = node.b;
  double epsilon = node.real("epsilon", 1e-5f);
  node.ignore("consumed_inputs");
  Value x = node.input(0);
  if (!node.expectRankAtLeast(0, 3) || !node.expectRank(1, 1) || !node.expectRank(2, 1))
    return failure();
  SmallVector<NamedAttribute> config{b.ops.getNamedAttr("epsilon", b.ops.getF32FloatAttr(epsilon))};
  SmallVector<Value> results =
      b.composite("instance_norm", config, {x, node.input(1), node.input(2)},
                  [epsilon](Builder &b, ArrayRef<Value> a) -> SmallVector<Value> {
                    SmallVector<int64_t> spatial;
                    for (int64_t i = 2; i < b.rank(a[0]); ++i)
                      spatial.push_back(i);
                    Value mean = b.mean(a[0], spatial, /*keepDims=*/true);
                    Value factor = inverseDeviation(b, variance(b, a[0], mean, spatial), epsilon);
                    Value normalized = b.multiply(b.subtract(a[0], mean), factor);
                    Value scaled = b.multiply(normalized, b.broadcastInDim(a[1], b.dims(a[0]), 1));
                    return {b.add(scaled, b.broadcastInDim(a[2], b.dims(a[0]), 1))};
                  });
  return node.output(0, results.empty() ? Value() : results[0]);
}

/// The type that a normalization computes in: `stash_type`, where it is wider than the input's.
Type stashType(Node &node) {
  int64_t stash = node.integer("stash_type", 1);
  Type type = elementTypeOf(static_cast<OnnxType>(stash), node.b.context());
  if (!type || !isFloatElement(type)) {
    node.error() << "attribute 'stash_type': expected a float type";
    return node.b.f32();
  }
  Type element = node.b.element(node.input(0));
  return element.getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth() ? element : type;
}

SmallVector<int64_t> trailingDimensions(Builder &b, Value x, int64_t axis) {
  SmallVector<int64_t> trailing;
  for (int64_t i = axis; i < b.rank(x); ++i)
    trailing.push_back(i);
  return trailing;
}

LogicalResult importLayerNormalization(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  double epsilon = node.real("epsilon", 1e-5f);
  int64_t axis = node.axis(node.integer("axis", -1), b.rank(x));
  if (!b.isFloat(x))
    return node.fail("expected floats");
  Type wide = stashType(node), element = b.element(x);
  if (node.failed())
    return failure();
  SmallVector<Value> operands{x, b.broadcast(node.input(1), SmallVector<Dim>(ArrayRef(b.dims(x)).drop_front(axis)))};
  if (node.has(2))
    operands.push_back(b.broadcast(node.input(2), SmallVector<Dim>(ArrayRef(b.dims(x)).drop_front(axis))));
  bool wantsStatistics = node.wants(1) || node.wants(2);
  SmallVector<NamedAttribute> config{b.ops.getNamedAttr("axis", b.ops.getI64IntegerAttr(axis)),
                                     b.ops.getNamedAttr("epsilon", b.ops.getF32FloatAttr(epsilon))};
  SmallVector<Value> results =
      b.composite("layer_norm", config, operands, [&](Builder &b, ArrayRef<Value> a) -> SmallVector<Value> {
        SmallVector<int64_t> trailing = trailingDimensions(b, a[0], axis);
        Value values = b.convert(a[0], wide);
        Value mean = b.mean(values, trailing, /*keepDims=*/true);
        Value factor = inverseDeviation(b, variance(b, values, mean, trailing), epsilon);
        Value normalized = b.convert(b.multiply(b.subtract(values, mean), factor), element);
        Value result = b.multiply(normalized, a[1]);
        if (a.size() > 2)
          result = b.add(result, a[2]);
        return wantsStatistics ? SmallVector<Value>{result, mean, factor} : SmallVector<Value>{result};
      });
  if (results.empty())
    return failure();
  for (auto [i, result] : llvm::enumerate(results))
    if (failed(node.output(i, result)))
      return failure();
  return success();
}

LogicalResult importRMSNormalization(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  double epsilon = node.real("epsilon", 1e-5f);
  int64_t axis = node.axis(node.integer("axis", -1), b.rank(x));
  if (!b.isFloat(x))
    return node.fail("expected floats");
  Type wide = stashType(node), element = b.element(x);
  if (node.failed())
    return failure();
  Value scale = b.broadcast(node.input(1), SmallVector<Dim>(ArrayRef(b.dims(x)).drop_front(axis)));
  SmallVector<NamedAttribute> config{b.ops.getNamedAttr("axis", b.ops.getI64IntegerAttr(axis)),
                                     b.ops.getNamedAttr("epsilon", b.ops.getF32FloatAttr(epsilon))};
  SmallVector<Value> results =
      b.composite("rms_norm", config, {x, scale}, [&](Builder &b, ArrayRef<Value> a) -> SmallVector<Value> {
        Value values = b.convert(a[0], wide);
        Value square = b.mean(b.multiply(values, values), trailingDimensions(b, a[0], axis), /*keepDims=*/true);
        Value normalized = b.convert(b.multiply(values, inverseDeviation(b, square, epsilon)), element);
        return {b.multiply(normalized, b.convert(a[1], element))};
      });
  return node.output(0, results.empty() ? Value() : results[0]);
}

LogicalResult importGroupNormalization(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  double epsilon = node.real("epsilon", 1e-5f);
  int64_t groups = node.requiredInteger("num_groups");
  if (!node.expectRankAtLeast(0, 2) || !node.expectRank(1, 1) || !node.expectRank(2, 1))
    return failure();
  Type wide = node.opset() >= 21 ? stashType(node) : b.element(x), element = b.element(x);
  std::optional<Dim> channelsOfGroup = groups > 0 ? b.dim(x, 1).divideExactly(b.size(groups)) : std::optional<Dim>();
  if (!channelsOfGroup || node.failed()) {
    node.error() << "attribute 'num_groups': " << groups << " does not divide the " << b.dim(x, 1) << " channels";
    return failure();
  }
  SmallVector<Dim> grouped{b.dim(x, 0), b.size(groups), *channelsOfGroup};
  for (int64_t i = 2; i < b.rank(x); ++i)
    grouped.push_back(b.dim(x, i));
  Value split = b.convert(b.reshape(x, grouped), wide);
  SmallVector<int64_t> within = trailingDimensions(b, split, 2);
  Value mean = b.mean(split, within, /*keepDims=*/true);
  Value factor = inverseDeviation(b, variance(b, split, mean, within), epsilon);
  Value normalized = b.convert(b.multiply(b.subtract(split, mean), factor), element);
  // Opset 18 has a scale a group, 21 one a channel.
  bool perGroup = node.opset() < 21;
  if (!perGroup)
    normalized = b.reshape(normalized, b.dims(x));
  if (!normalized)
    return failure();
  Value scaled = b.multiply(normalized, b.broadcastInDim(node.input(1), b.dims(normalized), 1));
  Value result = b.add(scaled, b.broadcastInDim(node.input(2), b.dims(normalized), 1));
  return node.output(0, b.reshape(result, b.dims(x)));
}

LogicalResult importLRN(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  double alpha = node.real("alpha", 1e-4f), beta = node.real("beta", 0.75), bias = node.real("bias", 1);
  int64_t size = node.requiredInteger("size");
  if (!node.expectRankAtLeast(0, 2) || node.failed())
    return failure();
  if (size < 1 || size > (int64_t(1) << 24))
    return node.fail("attribute 'size': expected at least 1, got " + std::to_string(size));
  // The window over channels c - floor((size - 1) / 2) to c + ceil((size - 1) / 2).
  SmallVector<int64_t> ones(b.rank(x), 1), zeros(b.rank(x), 0);
  Builder::Window window{ones, ones, ones, zeros, zeros};
  window.size[1] = size;
  window.low[1] = (size - 1) / 2;
  window.high[1] = size - 1 - window.low[1];
  Value sum = b.reduceWindow(ReductionKind::sum, b.multiply(x, x), window);
  Value base = b.add(b.multiply(sum, alpha / static_cast<double>(size)), bias);
  return node.output(0, b.divide(x, b.binary<PowerOp>(base, b.scalarLike(x, beta))));
}

LogicalResult importMeanVarianceNormalization(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  SmallVector<int64_t> given = node.integerList("axes", {0, 2, 3});
  SmallVector<int64_t> axes = node.axes(given, b.rank(x));
  if (node.failed())
    return failure();
  Value mean = b.mean(x, axes, /*keepDims=*/true);
  Value deviation = b.sqrt(variance(b, x, mean, axes));
  return node.output(0, b.divide(b.subtract(x, mean), b.add(deviation, 1e-9)));
}

LogicalResult importLpNormalization(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  int64_t p = node.integer("p", 2), axis = node.axis(node.integer("axis", -1), b.rank(x));
  if (node.failed())
    return failure();
  if (p != 1 && p != 2)
    return node.fail("attribute 'p': expected 1 or 2, got " + std::to_string(p));
  Value norm = p == 1 ? b.sum(b.abs(x), axis, true) : b.sqrt(b.sum(b.multiply(x, x), axis, true));
  // A vector of zeros stays one.
  Value isZero = b.compare(ComparisonDirection::EQ, norm, 0.0);
  return node.output(0, b.select(isZero, b.scalarLike(x, 0), b.divide(x, norm)));
}

/// Dropout does nothing outside training; its mask is then all true.
LogicalResult importDropout(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  node.ignore("consumed_inputs");
  node.ignore("seed");
  if (node.opset() < 7 && node.hasAttribute("is_test") && node.integer("is_test", 0) == 0 &&
      node.real("ratio", 0.5) != 0)
    return node.fail("attribute 'is_test': 0 (training) is not supported here; export the model for inference");
  node.ignore("is_test");
  node.ignore("ratio");
  if (node.has(2)) {
    std::optional<TensorValue> training = node.constant(2, "training_mode");
    if (!training)
      return failure();
    if (training->getElementCount() == 1 && training->getInteger(0) != 0) {
      std::optional<TensorValue> ratio = node.has(1) ? node.constant(1, "the ratio") : std::nullopt;
      if (node.failed())
        return failure();
      if (!ratio || ratio->getElementCount() != 1 || ratio->getFloat(0) != 0)
        return node.fail("training_mode is true, so that the result is random; export the model for inference");
    }
  }
  if (failed(node.output(0, x)))
    return failure();
  // Before opset 10 the mask has the input's type.
  Type maskType = node.opset() < 10 ? b.element(x) : b.i1();
  return node.wants(1) ? node.output(1, b.splat(maskType, 1, b.dims(x))) : success();
}

} // namespace

void addNormalizationHandlers(HandlerTable &table) {
  table.add("BatchNormalization", importBatchNormalization);
  table.add("InstanceNormalization", importInstanceNormalization);
  table.add("LayerNormalization", importLayerNormalization);
  table.add("RMSNormalization", importRMSNormalization);
  table.add("GroupNormalization", importGroupNormalization);
  table.add("LRN", importLRN);
  table.add("MeanVarianceNormalization", importMeanVarianceNormalization);
  table.add("LpNormalization", importLpNormalization);
  table.add("Dropout", importDropout);
}

} // namespace weft::importer
