//===- Attention.cpp - Scaled dot-product attention and what ONNX builds on it -------------------===//

#include "lib/Importer/Onnx/Attention.h"
#include "lib/Importer/Onnx/Activations.h"
#include "lib/Importer/Onnx/GraphImporter.h"
#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Support/Onnx/ElementTypes.h"
#include <cmath>

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

namespace {

/// Query heads that share a key head, as more rows of it: [batch, heads, rows, n] to [batch, key heads, group * rows,
/// n].
Value groupHeads(Builder &b, Value x, const Dim &keyHeads) {
  if (!x || b.dim(x, 1) == keyHeads)
    return x;
  std::optional<Dim> group = b.dim(x, 1).divideExactly(keyHeads);
  if (!group) {
    b.error() << "expected a number of query heads that the number of key and value heads divides, got " << b.dim(x, 1)
              << " and " << keyHeads;
    return {};
  }
  return b.reshape(x, {b.dim(x, 0), keyHeads, *group * b.dim(x, 2), b.dim(x, 3)});
}

/// The keys that each query attends by position, or null where all are.
Value attendedPositions(Builder &b, const AttentionParameters &p, const Dim &queries, const Dim &keys) {
  Value attends = p.attends;
  auto restrict = [&](Value allowed) { attends = attends ? b.binary<AndOp>(attends, allowed) : allowed; };
  if (p.isCausal || p.leftWindow >= 0 || p.rightWindow >= 0) {
    constexpr int64_t kLargest = int64_t(1) << 30;
    bool isNarrow = !p.offset && p.leftWindow < kLargest && p.rightWindow < kLargest;
    Type index = isNarrow ? Type(b.ops.getI32Type()) : b.i64();
    Value query = b.iota(index, {queries, b.size(1)}, 0), key = b.iota(index, {b.size(1), keys}, 1);
    if (p.offset)
      query = b.add(query, b.rank(p.offset) == 0 ? p.offset : b.expandDims(p.offset, {1, 2, 3}));
    if (p.isCausal)
      restrict(b.compare(ComparisonDirection::LE, key, query));
    if (p.leftWindow >= 0)
      restrict(b.compare(ComparisonDirection::GE, key, b.subtract(query, b.integerScalar(index, p.leftWindow))));
    if (p.rightWindow >= 0)
      restrict(b.compare(ComparisonDirection::LE, key, b.add(query, b.integerScalar(index, p.rightWindow))));
  }
  if (p.lengths) {
    Value key = b.iota(b.element(p.lengths), {b.size(1), b.size(1), b.size(1), keys}, 3);
    restrict(b.compare(ComparisonDirection::LT, key, b.expandDims(p.lengths, {1, 2, 3})));
  }
  return attends;
}

/// Softmax along the last dimension where one more score a head takes part.
Value softmaxWithSinks(Builder &b, Value scores, Value sinks) {
  SmallVector<Dim> column = b.dims(scores);
  column.back() = b.size(1);
  Value extra = b.broadcastInDim(b.convert(sinks, b.element(scores)), column, 1);
  Value probabilities = buildSoftmax(b, b.concatenate({scores, extra}, 3), 3);
  return b.slice(probabilities, 3, b.size(0), b.dim(scores, 3), 1);
}

SmallVector<Value> attentionBody(Builder &b, Value queries, Value keys, Value values, const AttentionParameters &p,
                                 AttentionScores wanted) {
  Value scores = buildAttentionProducts(b, queries, keys, p.scale);
  if (!scores)
    return {};
  Value kept = wanted == AttentionScores::Products ? scores : Value();
  if (p.softcap > 0)
    scores = b.multiply(b.tanh(b.divide(scores, p.softcap)), p.softcap);
  if (wanted == AttentionScores::Capped)
    kept = scores;
  Value bias = p.bias ? b.convert(p.bias, b.element(scores)) : Value();
  Value attends = attendedPositions(b, p, b.dim(scores, 2), b.dim(scores, 3));
  SmallVector<Dim> dims = b.dims(scores);
  if (bias)
    scores = b.add(scores, b.broadcast(bias, dims));
  if (attends)
    scores = b.select(b.broadcast(attends, dims), scores, b.scalarLike(scores, -INFINITY));
  if (wanted == AttentionScores::Biased)
    kept = scores;
  Value wide = p.softmaxType ? b.convert(scores, p.softmaxType) : scores;
  Value probabilities = p.sinks ? softmaxWithSinks(b, wide, p.sinks) : buildSoftmax(b, wide, 3);
  // A causal mask alone leaves every query its first key; others may leave nothing, where the softmax divides 0 by 0.
  bool isGuarded = p.attends || bias || p.lengths || p.leftWindow >= 0 || p.rightWindow >= 0;
  if (isGuarded && !p.sinks) {
    Value live = attends;
    if (bias) {
      Value finite = b.compare(ComparisonDirection::NE, bias, -INFINITY);
      live = live ? b.binary<AndOp>(live, finite) : finite;
    }
    if (b.rank(live) > 0)
      live = b.reduce(ReductionKind::any, live, b.rank(live) - 1, /*keepDims=*/true);
    probabilities = b.select(live, probabilities, b.scalarLike(probabilities, 0));
  }
  probabilities = b.convert(probabilities, b.element(queries));
  if (wanted == AttentionScores::Probabilities)
    kept = probabilities;
  Value output = buildAttentionOutput(b, probabilities, b.convert(values, b.element(queries)));
  return wanted == AttentionScores::None ? SmallVector<Value>{output} : SmallVector<Value>{output, kept};
}

} // namespace

Value buildAttentionProducts(Builder &b, Value queries, Value keys, double scale) {
  if (!b.sameElements({queries, keys}))
    return {};
  // A factor up to 1 cannot overflow the queries; a larger one is shared, as the definition has it.
  if (scale <= 1) {
    queries = scale == 1 ? queries : b.multiply(queries, scale);
  } else {
    queries = b.multiply(queries, std::sqrt(scale));
    keys = b.multiply(keys, std::sqrt(scale));
  }
  SmallVector<Dim> dims{b.dim(queries, 0), b.dim(queries, 1), b.dim(queries, 2), b.dim(keys, 2)};
  Value grouped = groupHeads(b, queries, b.dim(keys, 1));
  return b.reshape(b.dotGeneral(grouped, keys, 3, 3, {0, 1}, {0, 1}), dims);
}

Value buildAttentionOutput(Builder &b, Value probabilities, Value values) {
  if (!b.sameElements({probabilities, values}))
    return {};
  SmallVector<Dim> dims{b.dim(probabilities, 0), b.dim(probabilities, 1), b.dim(probabilities, 2), b.dim(values, 3)};
  Value grouped = groupHeads(b, probabilities, b.dim(values, 1));
  return b.reshape(b.dotGeneral(grouped, values, 3, 2, {0, 1}, {0, 1}), dims);
}

AttentionResult buildAttention(Builder &b, Value queries, Value keys, Value values,
                               const AttentionParameters &parameters, AttentionScores wanted) {
  SmallVector<Value> operands{queries, keys, values};
  using Member = Value AttentionParameters::*;
  SmallVector<Member> members;
  for (Member member : {&AttentionParameters::attends, &AttentionParameters::bias, &AttentionParameters::lengths,
                        &AttentionParameters::offset, &AttentionParameters::sinks})
    if (Value value = parameters.*member) {
      operands.push_back(value);
      members.push_back(member);
    }
  SmallVector<NamedAttribute> config{
      b.ops.getNamedAttr("causal", b.ops.getBoolAttr(parameters.isCausal)),
      b.ops.getNamedAttr("scale", b.ops.getF32FloatAttr(static_cast<float>(parameters.scale)))};
  SmallVector<Value> results =
      b.composite("attention", config, operands, [&](Builder &b, ArrayRef<Value> arguments) -> SmallVector<Value> {
        AttentionParameters inner = parameters;
        for (auto [i, member] : llvm::enumerate(members))
          inner.*member = arguments[3 + i];
        return attentionBody(b, arguments[0], arguments[1], arguments[2], inner, wanted);
      });
  if (results.empty())
    return {};
  return {results[0], results.size() > 1 ? results[1] : Value()};
}

Value separateHeads(Builder &b, Value x, int64_t heads) {
  if (!x)
    return {};
  std::optional<Dim> size = heads > 0 ? b.dim(x, 2).divideExactly(b.size(heads)) : std::optional<Dim>();
  if (!size) {
    b.error() << "expected a last dimension that the number of heads divides, got " << b.dim(x, 2) << " and " << heads
              << " heads";
    return {};
  }
  return b.reshape(x, {b.dim(x, 0), b.dim(x, 1), b.size(heads), *size});
}

Value splitHeads(Builder &b, Value x, int64_t heads) { return b.transpose(separateHeads(b, x, heads), {0, 2, 1, 3}); }

Value mergeHeads(Builder &b, Value x) {
  Value ordered = b.transpose(x, {0, 2, 1, 3});
  return b.reshape(ordered, {b.dim(x, 0), b.dim(x, 2), b.dim(x, 1) * b.dim(x, 3)});
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {

/// The type named by attribute `softmax_precision`, or null where it is absent.
Type softmaxPrecision(Node &node) {
  if (!node.hasAttribute("softmax_precision"))
    return {};
  Type type = elementTypeOf(static_cast<OnnxType>(node.integer("softmax_precision", 1)), node.b.context());
  if (!type || !isFloatElement(type) || type.getIntOrFloatBitWidth() < 16) {
    node.error() << "attribute 'softmax_precision': expected 1 (float), 10 (float16), 11 (double) or 16 (bfloat16)";
    return {};
  }
  return type;
}

double scaleOf(Node &node, Value queries) {
  Dim size = node.b.dim(queries, 3);
  if (node.hasAttribute("scale"))
    return node.real("scale", 1);
  if (!size.isConstant()) {
    node.error() << "the size of a head is " << size << "; expected an integer, or attribute 'scale'";
    return 1;
  }
  return 1 / std::sqrt(static_cast<double>(std::max<int64_t>(size.getConstant(), 1)));
}

/// A mask whose last dimension is shorter than the keys excludes those it does not reach.
Value extendedMask(Node &node, Value mask, const Dim &keys) {
  Builder &b = node.b;
  int64_t rank = b.rank(mask);
  if (rank == 0 || b.dim(mask, rank - 1) == keys)
    return mask;
  Dim missing = keys - b.dim(mask, rank - 1);
  if (!missing.isConstant() || missing.getConstant() < 0) {
    // One that is repeated along keys of unknown number.
    if (b.dim(mask, rank - 1) == b.size(1))
      return mask;
    node.error() << "expected a mask for at most " << keys << " keys, got " << b.dim(mask, rank - 1);
    return {};
  }
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  high.back() = missing.getConstant();
  return b.pad(mask, b.isBool(mask) ? b.integerScalar(b.i1(), 0) : b.scalarLike(mask, -INFINITY), low, high);
}

LogicalResult importAttention(Node &node) {
  Builder &b = node.b;
  Value queries = node.input(0), keys = node.input(1), values = node.input(2);
  int64_t rank = b.rank(queries), mode = node.integer("qk_matmul_output_mode", 0);
  int64_t queryHeads = node.integer("q_num_heads", 0), keyHeads = node.integer("kv_num_heads", 0);
  AttentionParameters p;
  p.softcap = node.real("softcap", 0);
  p.isCausal = node.integer("is_causal", 0) != 0;
  p.leftWindow = node.integer("left_window_size", -1);
  p.rightWindow = node.integer("right_window_size", -1);
  p.softmaxType = softmaxPrecision(node);
  if (node.failed())
    return failure();
  if ((rank != 3 && rank != 4) || b.rank(keys) != rank || b.rank(values) != rank)
    return node.fail("expected queries, keys and values that all have rank 3 or all rank 4");
  if (mode < 0 || mode > 3)
    return node.fail("attribute 'qk_matmul_output_mode': expected 0 to 3, got " + std::to_string(mode));
  if (p.leftWindow < -1 || p.rightWindow < -1)
    return node.fail("attributes 'left_window_size' and 'right_window_size': expected -1 or more");
  if (p.softcap < 0)
    return node.fail("attribute 'softcap': expected 0 or more");
  if (node.has(4) != node.has(5))
    return node.fail("expected past_key and past_value together");
  if (node.has(4) && node.has(6))
    return node.fail("expected past_key and past_value or nonpad_kv_seqlen, not both");
  if (rank == 3) {
    if (queryHeads < 1 || keyHeads < 1)
      return node.fail("inputs of rank 3 need attributes 'q_num_heads' and 'kv_num_heads' of at least 1");
    queries = splitHeads(b, queries, queryHeads);
    keys = splitHeads(b, keys, keyHeads);
    values = splitHeads(b, values, keyHeads);
    if (!queries || !keys || !values)
      return failure();
  } else if ((queryHeads && b.size(queryHeads) != b.dim(queries, 1)) ||
             (keyHeads && b.size(keyHeads) != b.dim(keys, 1))) {
    return node.fail("attributes 'q_num_heads' and 'kv_num_heads' are not the numbers of heads of the inputs");
  }
  p.scale = scaleOf(node, queries);
  if (node.has(4)) {
    if (!node.expectRank(4, 4) || !node.expectRank(5, 4))
      return failure();
    if (p.isCausal || p.leftWindow >= 0 || p.rightWindow >= 0)
      p.offset = b.sizeValue(b.dim(node.input(4), 2), b.i64());
    keys = b.concatenate({node.input(4), keys}, 2);
    values = b.concatenate({node.input(5), values}, 2);
  }
  if (node.has(6)) {
    if (!node.expectRank(6, 1))
      return failure();
    p.lengths = node.input(6);
    // With a cache outside, the queries are the last of the valid keys.
    if (p.isCausal || p.leftWindow >= 0 || p.rightWindow >= 0)
      p.offset = b.subtract(p.lengths, b.sizeValue(b.dim(queries, 2), b.i64()));
  }
  if (!keys || !values)
    return failure();
  if (node.has(3)) {
    Value mask = extendedMask(node, node.input(3), b.dim(keys, 2));
    if (!mask)
      return failure();
    (b.isBool(mask) ? p.attends : p.bias) = mask;
  }
  AttentionResult result = buildAttention(b, queries, keys, values, p,
                                          node.wants(3) ? static_cast<AttentionScores>(mode) : AttentionScores::None);
  if (!result.output || failed(node.output(0, rank == 3 ? mergeHeads(b, result.output) : result.output)))
    return failure();
  if (node.wants(1) && failed(node.output(1, keys)))
    return failure();
  if (node.wants(2) && failed(node.output(2, values)))
    return failure();
  return node.wants(3) ? node.output(3, result.scores) : success();
}

/// A graph that changes scores or probabilities; itself where the attribute is absent.
Value modified(Node &node, StringRef name, Value x) {
  if (!x || !node.hasAttribute(name))
    return x;
  const onnx::GraphProto *graph = node.graph(name);
  if (!graph)
    return {};
  FailureOr<SmallVector<Value>> results = node.importer.importSubgraph(*graph, node.scope, {x});
  if (failed(results))
    return {};
  if (results->size() != 1 || (*results)[0].getType() != x.getType()) {
    node.error() << "attribute '" << name << "': expected a graph that gives one tensor of type " << x.getType();
    return {};
  }
  return (*results)[0];
}

/// The parts of an attention with graphs of the model's own between them, which may use values from around the node: so
/// it is no composite.
LogicalResult importFlexAttention(Node &node) {
  Builder &b = node.b;
  Value queries = node.input(0), keys = node.input(1), values = node.input(2);
  for (int64_t i = 0; i < 3; ++i)
    if (!node.expectRank(i, 4))
      return failure();
  Type precision = softmaxPrecision(node), element = b.element(queries);
  if (!precision)
    precision = element.isF64() ? element : b.f32();
  double scale = scaleOf(node, queries);
  if (node.failed())
    return failure();
  Value scores = b.convert(buildAttentionProducts(b, queries, keys, scale), precision);
  Value probabilities = modified(node, "prob_mod", buildSoftmax(b, modified(node, "score_mod", scores), 3));
  return node.output(0, buildAttentionOutput(b, b.convert(probabilities, element), values));
}

//===----------------------------------------------------------------------===//
// The cache of keys and values
//===----------------------------------------------------------------------===//

LogicalResult importTensorScatter(Node &node) {
  Builder &b = node.b;
  Value cache = node.input(0), update = node.input(1);
  std::string mode = node.string("mode", "linear");
  int64_t rank = b.rank(cache), axis = node.axis(node.integer("axis", -2), rank);
  if (node.failed())
    return failure();
  if (mode != "linear" && mode != "circular")
    return node.fail("attribute 'mode': expected linear or circular, got '" + mode + "'");
  if (axis == 0)
    return node.fail("attribute 'axis': expected the dimension of the sequence, not that of the batch");
  if (b.rank(update) != rank)
    return node.fail("expected an update of the cache's rank");
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis && b.dim(update, i) != b.dim(cache, i)) {
      node.error() << "dimension " << i << " of the cache has size " << b.dim(cache, i) << ", of the update "
                   << b.dim(update, i);
      return failure();
    }
  Dim batch = b.dim(cache, 0), written = b.dim(update, axis), size = b.dim(cache, axis);
  Value places = b.iota(b.i64(), {batch, written}, 1);
  if (node.has(2)) {
    if (!node.expectRank(2, 1))
      return failure();
    places = b.add(places, b.broadcastInDim(node.input(2), {batch, written}, 0));
  }
  if (mode == "circular") {
    // The remainder with the divisor's sign.
    Value whole = b.sizeValue(size, b.i64());
    Value rest = b.binary<RemainderOp>(places, whole);
    places = b.select(b.compare(ComparisonDirection::LT, rest, 0.0), b.add(rest, whole), rest);
  }
  SmallVector<int64_t> window;
  for (int64_t i = 1; i < rank; ++i)
    if (i != axis)
      window.push_back(i);
  if (!places || !b.sameElements({cache, update}))
    return failure();
  SmallVector<int64_t> batching{0}, sequence{axis};
  return node.output(0, b.inferred<ScatterOp>(cache.getType(), cache, places, update, ScatterKind::set, window,
                                              sequence, batching, batching, sequence, 2));
}

} // namespace

void addAttentionHandlers(HandlerTable &table) {
  table.add("Attention", importAttention);
  table.addIn("ai.onnx.preview", "FlexAttention", 1, importFlexAttention);
  table.add("TensorScatter", importTensorScatter);
}

} // namespace weft::importer
