//===- ContribActivation.cpp - ONNX Runtime's activations with a bias ------------------------------===//

#include "lib/Importer/Onnx/Activations.h"
#include "lib/Importer/Onnx/Contrib.h"
#include "lib/Importer/Onnx/Normalization.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

/// The first input, with the second added where it is there.
Value biased(Node &node) { return node.has(1) ? node.b.add(node.input(0), node.input(1)) : node.input(0); }

LogicalResult importGelu(Node &node) { return node.output(0, buildGelu(node.b, biased(node), /*useTanh=*/false)); }
LogicalResult importFastGelu(Node &node) { return node.output(0, buildGelu(node.b, biased(node), /*useTanh=*/true)); }

LogicalResult importQuickGelu(Node &node) {
  return node.output(0, buildSwish(node.b, node.input(0), node.real("alpha", 1.702f)));
}

/// The left half of the last dimension times the Gelu of the right one.
LogicalResult importBiasSplitGelu(Node &node) {
  Builder &b = node.b;
  if (!node.expectRankAtLeast(0, 1))
    return failure();
  Value x = biased(node);
  int64_t last = b.rank(x) - 1;
  Dim size = b.dim(x, last);
  std::optional<Dim> half = size.divideExactly(b.size(2));
  if (!half)
    return node.fail("expected a last dimension of even size");
  Value left = b.slice(x, last, b.size(0), *half, 1), right = b.slice(x, last, *half, size, 1);
  return node.output(0, b.multiply(left, buildGelu(b, right, /*useTanh=*/false)));
}

/// x + bias + skip.
LogicalResult importBiasAdd(Node &node) { return node.output(0, node.b.add(biased(node), node.input(2))); }

LogicalResult importBiasDropout(Node &node) {
  auto [result, mask] = buildDropout(node, biased(node), 3, 4);
  if (failed(node.output(0, node.has(2) ? node.b.add(result, node.input(2)) : result)))
    return failure();
  return node.wants(1) ? node.output(1, mask) : success();
}

} // namespace

void addContribActivationHandlers(HandlerTable &table) {
  table.addIn(kContribDomain, "Gelu", 1, importGelu);
  table.addIn(kContribDomain, "BiasGelu", 1, importGelu);
  table.addIn(kContribDomain, "FastGelu", 1, importFastGelu);
  table.addIn(kContribDomain, "QuickGelu", 1, importQuickGelu);
  table.addIn(kContribDomain, "BiasSplitGelu", 1, importBiasSplitGelu);
  table.addIn(kContribDomain, "BiasAdd", 1, importBiasAdd);
  table.addIn(kContribDomain, "BiasDropout", 1, importBiasDropout);
}

} // namespace weft::importer
