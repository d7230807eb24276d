//===- LinearAttention.cpp - ONNX's operators that carry a state along a sequence ----------------===//

#include "lib/Importer/Onnx/Attention.h"
#include "lib/Importer/Onnx/Convolution.h"
#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Loops.h"
#include <cmath>

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

/// x of [batch, time, heads] or [batch, time, heads * size] as [batch, time, heads, 1 or size]; null after an error.
Value ofHeads(Node &node, int64_t index, Value x, int64_t heads, const Dim &size) {
  Builder &b = node.b;
  if (!node.expectRank(index, 3))
    return {};
  if (b.dim(x, 2) == b.size(heads))
    return b.expandDims(x, 3);
  if (b.dim(x, 2) == size * heads)
    return separateHeads(b, x, heads);
  node.error() << "input '" << node.inputName(index) << "': expected a last dimension of " << heads << " or "
               << size * heads << ", got " << b.dim(x, 2);
  return {};
}

LogicalResult importLinearAttention(Node &node) {
  Builder &b = node.b;
  std::string rule = node.string("update_rule", "gated_delta");
  int64_t queryHeads = node.requiredInteger("q_num_heads"), heads = node.requiredInteger("kv_num_heads");
  double scale = node.real("scale", 0);
  node.ignore("chunk_size"); // How the work may be cut: no part of the meaning.
  bool isGated = rule == "gated" || rule == "gated_delta", isDelta = rule == "delta" || rule == "gated_delta";
  if (node.failed())
    return failure();
  if (!isGated && !isDelta && rule != "linear")
    return node.fail("attribute 'update_rule': expected linear, gated, delta or gated_delta, got '" + rule + "'");
  if (isGated != node.has(4) || isDelta != node.has(5))
    return node.fail("update_rule '" + rule + "' " + (isGated ? "needs" : "has no") + " input 'decay' and " +
                     (isDelta ? "needs" : "has no") + " input 'beta'");
  if (queryHeads < 1 || heads < 1 || queryHeads % heads != 0)
    return node.fail("expected a number of query heads that the number of key and value heads divides, got " +
                     std::to_string(queryHeads) + " and " + std::to_string(heads));
  for (int64_t i = 0; i < 3; ++i)
    if (!node.expectRank(i, 3))
      return failure();
  // All is computed in f32 where the inputs are narrower.
  Type element = b.element(node.input(0)), wide = element.isF64() ? element : b.f32();
  Value queries = separateHeads(b, b.convert(node.input(0), wide), queryHeads),
        keys = separateHeads(b, b.convert(node.input(1), wide), heads),
        values = separateHeads(b, b.convert(node.input(2), wide), heads);
  if (!queries || !keys || !values)
    return failure();
  Dim batch = b.dim(queries, 0), time = b.dim(queries, 1), keySize = b.dim(keys, 3), valueSize = b.dim(values, 3);
  if (b.dim(queries, 3) != keySize)
    return node.fail("expected queries and keys whose heads have one size");
  if (scale == 0) {
    if (!keySize.isConstant())
      return node.fail("the size of a head is not an integer; expected attribute 'scale'");
    scale = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(keySize.getConstant(), 1)));
  }
  Value decay, beta;
  if (isGated)
    decay = b.exponential(b.convert(ofHeads(node, 4, node.input(4), heads, keySize), wide));
  if (isDelta) {
    if (!node.expectRank(5, 3))
      return failure();
    Dim count = b.dim(node.input(5), 2);
    if (count != b.size(heads) && count != b.size(1))
      return node.fail("input 'beta': expected a last dimension of 1 or the number of key and value heads");
    beta = b.convert(b.expandDims(node.input(5), 3), wide);
  }
  if ((isGated && !decay) || (isDelta && !beta))
    return failure();
  SmallVector<Dim> stateDims{batch, b.size(heads), keySize, valueSize};
  if (node.has(3) && b.dims(node.input(3)) != stateDims)
    return node.fail("input 'past_state': expected shape [batch, kv_num_heads, key size, value size]");
  Value state = node.has(3) ? b.convert(node.input(3), wide) : b.splat(wide, 0, stateDims);
  Dim group = b.size(queryHeads / heads);
  Value outputs = b.splat(wide, 0, {batch, time, b.size(queryHeads), valueSize});
  FailureOr<SmallVector<Value>> results =
      buildCounted(b, time, {state, outputs}, [&](ArrayRef<Value> arguments) -> FailureOr<SmallVector<Value>> {
        Value step = arguments[0], state = arguments[1];
        Value query = readRow(b, queries, step, 1), key = readRow(b, keys, step, 1),
              value = readRow(b, values, step, 1);
        if (decay)
          state = b.multiply(state, b.expandDims(readRow(b, decay, step, 1), 3));
        if (beta) {
          Value recalled = b.dotGeneral(state, key, 2, 2, {0, 1}, {0, 1});
          value = b.multiply(readRow(b, beta, step, 1), b.subtract(value, recalled));
        }
        state = b.add(state, b.multiply(b.expandDims(key, 3), b.expandDims(value, 2)));
        Value grouped = b.reshape(query, {batch, b.size(heads), group, keySize});
        Value read = b.multiply(b.dotGeneral(grouped, state, 3, 2, {0, 1}, {0, 1}), scale);
        Value row = b.reshape(read, {batch, b.size(queryHeads), valueSize});
        return SmallVector<Value>{state, writeRow(b, arguments[2], row, step, 1)};
      });
  if (failed(results))
    return failure();
  Value output = b.reshape((*results)[1], {batch, time, valueSize * queryHeads});
  if (failed(node.output(0, b.convert(output, element))))
    return failure();
  return node.output(1, b.convert((*results)[0], node.has(3) ? b.element(node.input(3)) : element));
}

LogicalResult importCausalConvWithState(Node &node) {
  Builder &b = node.b;
  std::string activation = node.string("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    return node.fail("attribute 'activation': expected none, silu or swish, got '" + activation + "'");
  if (!node.expectRank(0, 3) || !node.expectRank(1, 3))
    return failure();
  Value x = node.input(0), weights = node.input(1);
  Dim channels = b.dim(x, 1), width = b.dim(weights, 2);
  if (!channels.isConstant() || !width.isConstant() || width.getConstant() < 1)
    return node.fail("expected numbers of channels and of weights a channel that are integers");
  if (b.dim(weights, 0) != channels || b.dim(weights, 1) != b.size(1))
    return node.fail("expected weights [channels, 1, k]");
  SmallVector<Dim> carried{b.dim(x, 0), channels, width - 1};
  if (node.has(3) && b.dims(node.input(3)) != carried)
    return node.fail("input 'past_state': expected shape [batch, channels, k - 1]");
  Value past = node.has(3) ? node.input(3) : b.splat(b.element(x), 0, carried);
  Value padded = b.concatenate({past, x}, 2);
  ConvolutionParameters parameters;
  parameters.strides = parameters.lhsDilation = parameters.rhsDilation = {1};
  parameters.low = parameters.high = {0};
  parameters.groups = channels.getConstant();
  Value result = addChannelBias(b, buildConvolution(b, padded, weights, parameters), node.input(2));
  if (!result)
    return failure();
  if (activation != "none") {
    Value wide = b.element(x).getIntOrFloatBitWidth() < 32 ? b.convert(result, b.f32()) : result;
    result = b.convert(b.multiply(wide, b.unary<LogisticOp>(wide)), b.element(x));
  }
  if (failed(node.output(0, result)))
    return failure();
  Dim total = b.dim(padded, 2);
  return node.output(1, b.slice(padded, 2, total - (width - 1), total, 1));
}

} // namespace

void addLinearAttentionHandlers(HandlerTable &table) {
  table.add("LinearAttention", importLinearAttention);
  table.add("CausalConvWithState", importCausalConvWithState);
}

} // namespace weft::importer
