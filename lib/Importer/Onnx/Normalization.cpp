//===- Normalization.cpp - ONNX's normalizations -------------------------------------------------===//

#include "lib/Importer/Onnx/Normalization.h"
#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Random.h"
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

SmallVector<int64_t> trailingDimensions(Builder &b, Value x, int64_t axis) {
  SmallVector<int64_t> trailing;
  for (int64_t i = axis; i < b.rank(x); ++i)
    trailing.push_back(i);
  return trailing;
}

} // namespace

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

NormalizationResult buildLayerNorm(Builder &b, Value x, Value scale, Value bias, int64_t axis, double epsilon,
                                   Type wide, bool wantsStatistics) {
  SmallVector<Dim> trailing(ArrayRef(b.dims(x)).drop_front(axis));
  SmallVector<Value> operands{x, b.broadcast(scale, trailing)};
  if (bias)
    operands.push_back(b.broadcast(bias, trailing));
  SmallVector<NamedAttribute> config{b.ops.getNamedAttr("axis", b.ops.getI64IntegerAttr(axis)),
                                     b.ops.getNamedAttr("epsilon", b.ops.getF32FloatAttr(epsilon))};
  SmallVector<Value> results =
      b.composite("layer_norm", config, operands, [&](Builder &b, ArrayRef<Value> a) -> SmallVector<Value> {
        SmallVector<int64_t> trailing = trailingDimensions(b, a[0], axis);
        Value values = b.convert(a[0], wide);
        Value mean = b.mean(values, trailing, /*keepDims=*/true);
        Value factor = inverseDeviation(b, variance(b, values, mean, trailing), epsilon);
        Value normalized = b.convert(b.multiply(b.subtract(values, mean), factor), b.element(a[0]));
        Value result = b.multiply(normalized, a[1]);
        if (a.size() > 2)
          result = b.add(result, a[2]);
        return wantsStatistics ? SmallVector<Value>{result, mean, factor} : SmallVector<Value>{result};
      });
  results.resize(3);
  return {results[0], results[1], results[2]};
}

NormalizationResult buildRmsNorm(Builder &b, Value x, Value scale, int64_t axis, double epsilon, Type wide,
                                 bool wantsStatistics) {
  Value factors = b.broadcast(scale, SmallVector<Dim>(ArrayRef(b.dims(x)).drop_front(axis)));
  SmallVector<NamedAttribute> config{b.ops.getNamedAttr("axis", b.ops.getI64IntegerAttr(axis)),
                                     b.ops.getNamedAttr("epsilon", b.ops.getF32FloatAttr(epsilon))};
  SmallVector<Value> results =
      b.composite("rms_norm", config, {x, factors}, [&](Builder &b, ArrayRef<Value> a) -> SmallVector<Value> {
        Type element = b.element(a[1]); // The result has the scale's type.
        Value values = b.convert(a[0], wide);
        Value square = b.mean(b.multiply(values, values), trailingDimensions(b, a[0], axis), /*keepDims=*/true);
        Value factor = inverseDeviation(b, square, epsilon);
        Value result = b.multiply(b.convert(b.multiply(values, factor), element), a[1]);
        return wantsStatistics ? SmallVector<Value>{result, factor} : SmallVector<Value>{result};
      });
  results.resize(2);
  return {results[0], Value(), results[1]};
}

Value buildGroupNorm(Builder &b, Value x, int64_t groups, double epsilon, Type wide) {
  std::optional<Dim> channels = groups > 0 ? b.dim(x, 1).divideExactly(b.size(groups)) : std::optional<Dim>();
  if (!channels) {
    b.error() << "expected a number of groups that divides the " << b.dim(x, 1) << " channels, got " << groups;
    return {};
  }
  SmallVector<Dim> grouped{b.dim(x, 0), b.size(groups), *channels};
  for (int64_t i = 2; i < b.rank(x); ++i)
    grouped.push_back(b.dim(x, i));
  Value split = b.convert(b.reshape(x, grouped), wide);
  SmallVector<int64_t> within = trailingDimensions(b, split, 2);
  Value mean = b.mean(split, within, /*keepDims=*/true);
  Value factor = inverseDeviation(b, variance(b, split, mean, within), epsilon);
  return b.convert(b.multiply(b.subtract(split, mean), factor), b.element(x));
}

std::pair<Value, Value> buildDropout(Node &node, Value x, int64_t ratioInput, int64_t trainingInput) {
  Builder &b = node.b;
  uint64_t key = randomKey(node);
  std::optional<double> training = node.has(trainingInput) ? b.scalarContents(node.input(trainingInput)) : 0,
                        ratio = node.has(ratioInput) ? b.scalarContents(node.input(ratioInput)) : 0.5;
  if ((training && *training == 0) || (ratio && *ratio == 0))
    return {x, b.splat(b.i1(), 1, b.dims(x))};
  if (!b.isFloat(x)) {
    node.error() << "expected floats";
    return {};
  }
  Value drawn = uniformNumbers(b, key, b.dims(x), b.element(x));
  Type compute = b.element(drawn);
  Value share =
      node.has(ratioInput) ? b.convert(b.reshape(node.input(ratioInput), {}), compute) : b.scalar(compute, 0.5);
  Value kept = b.compare(ComparisonDirection::GE, drawn, share);
  Value scaled = b.convert(b.divide(b.convert(x, compute), b.subtract(b.scalar(compute, 1), share)), b.element(x));
  if (!training) {
    Value isTraining = b.reshape(node.input(trainingInput), {});
    kept = b.binary<OrOp>(kept, b.unary<NotOp>(isTraining));
    scaled = b.select(isTraining, scaled, x);
  }
  return {b.select(kept, scaled, b.scalarLike(x, 0)), kept};
}

namespace {

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

LogicalResult importLayerNormalization(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  double epsilon = node.real("epsilon", 1e-5f);
  int64_t axis = node.axis(node.integer("axis", -1), b.rank(x));
  if (!b.isFloat(x))
    return node.fail("expected floats");
  Type wide = stashType(node);
  if (node.failed())
    return failure();
  NormalizationResult normalized =
      buildLayerNorm(b, x, node.input(1), node.input(2), axis, epsilon, wide, node.wants(1) || node.wants(2));
  if (failed(node.output(0, normalized.result)) || (node.wants(1) && failed(node.output(1, normalized.mean))))
    return failure();
  return node.wants(2) ? node.output(2, normalized.factor) : success();
}

/// RMSNormalization, and the operator that ONNX Runtime had for it before, which may give its factor too.
LogicalResult importRMSNormalization(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  double epsilon = node.real("epsilon", 1e-5f);
  int64_t axis = node.axis(node.integer("axis", -1), b.rank(x));
  if (!b.isFloat(x))
    return node.fail("expected floats");
  Type wide = stashType(node);
  if (node.failed())
    return failure();
  NormalizationResult normalized = buildRmsNorm(b, x, node.input(1), axis, epsilon, wide, node.wants(1));
  if (failed(node.output(0, normalized.result)))
    return failure();
  return node.wants(1) ? node.output(1, normalized.factor) : success();
}

LogicalResult importGroupNormalization(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  double epsilon = node.real("epsilon", 1e-5f);
  int64_t groups = node.requiredInteger("num_groups");
  if (!node.expectRankAtLeast(0, 2) || !node.expectRank(1, 1) || !node.expectRank(2, 1))
    return failure();
  Type wide = node.opset() >= 21 ? stashType(node) : b.element(x);
  if (node.failed())
    return failure();
  Value normalized = buildGroupNorm(b, x, groups, epsilon, wide);
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

/// Dropout does nothing outside training; its mask is then all true. In training each element is dropped with the
/// probability `ratio`, and the others grow by as much as the sum shrinks.
LogicalResult importDropout(Node &node) {
  Builder &b = node.b;
  node.ignore("consumed_inputs");
  if (node.opset() < 7 && node.hasAttribute("is_test") && node.integer("is_test", 0) == 0 &&
      node.real("ratio", 0.5) != 0)
    return node.fail("attribute 'is_test': 0 (training) is not supported in this opset; convert the model to opset 12 "
                     "or up, where an input says so");
  node.ignore("is_test");
  node.ignore("ratio");
  auto [result, mask] = buildDropout(node, node.input(0), 1, 2);
  if (failed(node.output(0, result)))
    return failure();
  // Before opset 10 the mask has the input's type.
  Type maskType = node.opset() < 10 ? b.element(node.input(0)) : b.i1();
  return node.wants(1) ? node.output(1, b.convert(mask, maskType)) : success();
}

} // namespace

void addNormalizationHandlers(HandlerTable &table) {
  table.add("BatchNormalization", importBatchNormalization);
  table.add("InstanceNormalization", importInstanceNormalization);
  table.add("LayerNormalization", importLayerNormalization);
  table.add("RMSNormalization", importRMSNormalization);
  table.add("SimplifiedLayerNormalization", importRMSNormalization);
  table.add("GroupNormalization", importGroupNormalization);
  table.add("LRN", importLRN);
  table.add("MeanVarianceNormalization", importMeanVarianceNormalization);
  table.add("LpNormalization", importLpNormalization);
  table.add("Dropout", importDropout);
}

} // namespace weft::importer
