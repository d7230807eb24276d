//===- Loss.cpp - ONNX's loss functions ----------------------------------------------------------===//

#include "lib/Importer/Onnx/Activations.h"
#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Node.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

/// The loss of log probabilities [batch, classes, d...] for targets [batch, d...], with a weight a class.
LogicalResult negativeLogLikelihood(Node &node, Value logarithms, Value targets, Value weights) {
  Builder &b = node.b;
  std::string reduction = node.string("reduction", "mean");
  bool ignores = node.hasAttribute("ignore_index");
  int64_t ignored = node.integer("ignore_index", 0);
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    return node.fail("attribute 'reduction': expected none, sum or mean, got '" + reduction + "'");
  if (b.rank(logarithms) < 2 || b.rank(targets) != b.rank(logarithms) - 1)
    return node.fail("expected scores [batch, classes, ...] and labels [batch, ...]");
  Type element = b.element(logarithms), index = b.element(targets);
  Value counts; // Which targets count; null: all.
  if (ignores) {
    counts = b.compare(ComparisonDirection::NE, targets, b.integerScalar(index, ignored));
    targets = b.select(counts, targets, b.integerScalar(index, 0));
  }
  Value picked = b.dropDims(b.takeElements(logarithms, b.expandDims(targets, 1), 1), 1);
  Value loss = b.negate(picked);
  Value weight;
  if (weights)
    weight = b.take(weights, targets, 0);
  if (counts) {
    Value counted = b.convert(counts, element);
    weight = weight ? b.multiply(weight, counted) : counted;
    // Not through a product: an ignored loss may be infinite.
    loss = b.select(counts, loss, b.scalar(element, 0));
  }
  if (weight)
    loss = b.multiply(loss, weight);
  if (reduction == "none")
    return node.output(0, loss);
  SmallVector<int64_t> all;
  for (int64_t i = 0; i < b.rank(loss); ++i)
    all.push_back(i);
  if (reduction == "mean" && !weight)
    return node.output(0, b.mean(loss, all, /*keepDims=*/false));
  Value total = b.sum(loss, all, /*keepDims=*/false);
  return node.output(0, reduction == "mean" ? b.divide(total, b.sum(weight, all, /*keepDims=*/false)) : total);
}

LogicalResult importNegativeLogLikelihoodLoss(Node &node) {
  return negativeLogLikelihood(node, node.input(0), node.input(1), node.input(2));
}

LogicalResult importSoftmaxCrossEntropyLoss(Node &node) {
  if (!node.expectRankAtLeast(0, 2))
    return failure();
  Value logarithms = buildLogSoftmax(node.b, node.input(0), 1);
  if (failed(negativeLogLikelihood(node, logarithms, node.input(1), node.input(2))))
    return failure();
  return node.wants(1) ? node.output(1, logarithms) : success();
}

} // namespace

void addLossHandlers(HandlerTable &table) {
  table.add("NegativeLogLikelihoodLoss", importNegativeLogLikelihoodLoss);
  table.add("SoftmaxCrossEntropyLoss", importSoftmaxCrossEntropyLoss);
}

} // namespace weft::importer
