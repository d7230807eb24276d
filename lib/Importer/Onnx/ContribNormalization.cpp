//===- ContribNormalization.cpp - ONNX Runtime's normalizations of sums and embeddings -------------===//

#include "lib/Importer/Onnx/Activations.h"
#include "lib/Importer/Onnx/Contrib.h"
#include "lib/Importer/Onnx/Normalization.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

/// Narrow floats are summed and normalized in f32 and rounded once.
Type widened(Builder &b, Value x) { return b.element(x).getIntOrFloatBitWidth() < 32 ? b.f32() : b.element(x); }

/// Inputs: x, skip, scale, then bias (of the normalization, unless `isRms`) and the bias of the sum.
LogicalResult importSkipNormalization(Node &node, bool isRms) {
  Builder &b = node.b;
  Value x = node.input(0);
  double epsilon = node.real("epsilon", 1e-12f);
  if (!b.isFloat(x))
    return node.fail("expected floats");
  if (!node.expectRankAtLeast(0, 2))
    return failure();
  Type element = b.element(x), wide = widened(b, x);
  auto widen = [&](int64_t index) { return node.has(index) ? b.convert(node.input(index), wide) : Value(); };
  Value sum = b.add(widen(0), b.broadcast(widen(1), b.dims(x)));
  if (Value extra = widen(isRms ? 3 : 4))
    sum = b.add(sum, extra);
  if (!sum)
    return failure();
  int64_t axis = b.rank(x) - 1;
  bool wantsStatistics = node.wants(1) || node.wants(2);
  NormalizationResult normalized =
      isRms ? buildRmsNorm(b, sum, widen(2), axis, epsilon, wide, wantsStatistics)
            : buildLayerNorm(b, sum, widen(2), widen(3), axis, epsilon, wide, wantsStatistics);
  if (failed(node.output(0, b.convert(normalized.result, element))))
    return failure();
  if (node.wants(1) && failed(node.output(1, normalized.mean)))
    return failure();
  if (node.wants(2) && failed(node.output(2, normalized.factor)))
    return failure();
  return node.wants(3) ? node.output(3, b.convert(sum, element)) : success();
}

/// Rows of word, position and segment embeddings, summed and normalized.
LogicalResult importEmbedLayerNormalization(Node &node) {
  Builder &b = node.b;
  double epsilon = node.real("epsilon", 1e-12f);
  node.ignore("mask_index_type");
  if (!node.expectRank(0, 2) || !node.expectRank(2, 2) || !node.expectRank(3, 2))
    return failure();
  Value words = node.input(0);
  Type element = b.element(node.input(2)), wide = widened(b, node.input(2));
  auto rows = [&](int64_t table, Value indices) { return b.convert(b.take(node.input(table), indices, 0), wide); };
  Value positions = node.has(8) ? node.input(8) : b.iota(b.i64(), {b.size(1), b.dim(words, 1)}, 1);
  Value sum = b.add(rows(2, words), rows(3, positions));
  if (node.has(1) && node.has(4))
    sum = b.add(sum, rows(4, node.input(1)));
  if (!sum)
    return failure();
  Value scale = b.convert(node.input(5), wide), bias = b.convert(node.input(6), wide);
  NormalizationResult normalized = buildLayerNorm(b, sum, scale, bias, 2, epsilon, wide);
  if (failed(node.output(0, b.convert(normalized.result, element))))
    return failure();
  if (node.wants(1)) {
    // How many words the mask leaves.
    Type index = b.element(words);
    Value counts = b.splat(index, 0, {b.dim(words, 0)});
    if (node.has(7)) {
      Value one = b.integerScalar(b.element(node.input(7)), 1);
      counts = b.sum(b.convert(b.compare(ComparisonDirection::EQ, node.input(7), one), index), 1, /*keepDims=*/false);
    }
    if (failed(node.output(1, counts)))
      return failure();
  }
  return node.wants(2) ? node.output(2, b.convert(sum, element)) : success();
}

/// GroupNorm and SkipGroupNorm, channels last by default.
LogicalResult importGroupNorm(Node &node, bool hasSkip) {
  Builder &b = node.b;
  Value x = node.input(0);
  int64_t groups = node.requiredInteger("groups"), activation = node.requiredInteger("activation");
  bool channelsLast = node.integer("channels_last", 1) != 0;
  double epsilon = node.real("epsilon", 1e-5f);
  if (!node.expectRankAtLeast(0, 3) || node.failed())
    return failure();
  if (activation != 0 && activation != 1)
    return node.fail("attribute 'activation': expected 0 (none) or 1 (SiLU), got " + std::to_string(activation));
  int64_t rank = b.rank(x), channel = channelsLast ? rank - 1 : 1;
  Type element = b.element(x), wide = widened(b, x);
  Value sum = b.convert(x, wide);
  if (hasSkip) {
    Value skip = b.convert(node.input(3), wide);
    if (b.rank(skip) == 2) {
      SmallVector<Dim> dims(rank, b.size(1));
      dims[0] = b.dim(skip, 0);
      dims[channel] = b.dim(skip, 1);
      skip = b.reshape(skip, dims);
    }
    sum = b.add(sum, skip);
    if (node.has(4))
      sum = b.add(sum, b.broadcastInDim(b.convert(node.input(4), wide), b.dims(x), channel));
  }
  SmallVector<int64_t> forward{0, channel}, backward(rank);
  for (int64_t i = 1; i < rank; ++i)
    if (i != channel)
      forward.push_back(i);
  for (auto [to, from] : llvm::enumerate(forward))
    backward[from] = static_cast<int64_t>(to);
  Value first = b.transpose(sum, forward);
  Value normalized = buildGroupNorm(b, first, groups, epsilon, wide);
  Value back = first ? b.transpose(b.reshape(normalized, b.dims(first)), backward) : Value();
  auto ofChannels = [&](int64_t index) {
    return b.broadcastInDim(b.convert(node.input(index), wide), b.dims(x), channel);
  };
  Value result = b.add(b.multiply(back, ofChannels(1)), ofChannels(2));
  if (activation == 1)
    result = buildSwish(b, result, 1);
  if (failed(node.output(0, b.convert(result, element))))
    return failure();
  return node.wants(1) ? node.output(1, b.convert(sum, element)) : success();
}

} // namespace

void addContribNormalizationHandlers(HandlerTable &table) {
  table.addIn(kContribDomain, "SkipLayerNormalization", 1,
              [](Node &node) { return importSkipNormalization(node, /*isRms=*/false); });
  table.addIn(kContribDomain, "SkipSimplifiedLayerNormalization", 1,
              [](Node &node) { return importSkipNormalization(node, /*isRms=*/true); });
  table.addIn(kContribDomain, "SimplifiedLayerNormalization", 1, Handler(*table.find("", "RMSNormalization", 23)));
  table.addIn(kContribDomain, "EmbedLayerNormalization", 1, importEmbedLayerNormalization);
  table.addIn(kContribDomain, "GroupNorm", 1, [](Node &node) { return importGroupNorm(node, /*hasSkip=*/false); });
  table.addIn(kContribDomain, "SkipGroupNorm", 1, [](Node &node) { return importGroupNorm(node, /*hasSkip=*/true); });
}

} // namespace weft::importer
