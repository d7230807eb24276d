//===- ContribAttention.cpp - ONNX Runtime's attention operators -----------------------------------===//

#include "lib/Importer/Onnx/Attention.h"
#include "lib/Importer/Onnx/Contrib.h"
#include "lib/Importer/Onnx/Normalization.h"
#include <cmath>

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

/// Attribute `scale`, or 1 / sqrt(size of a head).
double scaleFor(Node &node, Value queries) {
  double scale = node.real("scale", 0);
  if (scale != 0)
    return scale;
  Dim size = node.b.dim(queries, 3);
  if (!size.isConstant())
    node.error() << "the size of a head is not an integer; expected attribute 'scale'";
  return 1 / std::sqrt(static_cast<double>(size.isConstant() ? std::max<int64_t>(size.getConstant(), 1) : 1));
}

/// A mask of padding as a bias of [batch or 1, 1, queries or 1, keys]: 0 where a key takes part, else
/// `mask_filter_value`. The mask gives truth values [batch, keys] or [batch, queries, keys], lengths [batch], or ends
/// and starts [2 * batch].
Value paddingBias(Node &node, Value mask, const Dim &batch, const Dim &queries, const Dim &keys, Type element) {
  Builder &b = node.b;
  double filter = node.real("mask_filter_value", -10000.0f);
  if (!mask)
    return {};
  Value takesPart;
  if (b.rank(mask) == 1) {
    Value position = b.iota(b.element(mask), {b.size(1), keys}, 1);
    auto column = [&](Value x) { return b.expandDims(x, 1); };
    if (b.dim(mask, 0) == batch) {
      takesPart = b.compare(ComparisonDirection::LT, position, column(mask));
    } else if (b.dim(mask, 0) == batch * 2) {
      Value ends = b.slice(mask, 0, b.size(0), batch, 1), starts = b.slice(mask, 0, batch, batch * 2, 1);
      takesPart = b.binary<AndOp>(b.compare(ComparisonDirection::LT, position, column(ends)),
                                  b.compare(ComparisonDirection::GE, position, column(starts)));
    }
    takesPart = b.expandDims(takesPart, {1, 2});
  } else if (b.rank(mask) == 2 || b.rank(mask) == 3) {
    takesPart = b.compare(ComparisonDirection::NE, mask, b.integerScalar(b.element(mask), 0));
    takesPart = b.rank(mask) == 2 ? b.expandDims(takesPart, {1, 2}) : b.expandDims(takesPart, 1);
    if (b.dim(mask, b.rank(mask) - 1) != keys)
      takesPart = {};
  }
  if (!takesPart) {
    node.error() << "expected a mask [batch], [2 * batch], [batch, " << keys << "] or [batch, " << queries << ", "
                 << keys << "], got " << mask.getType();
    return {};
  }
  return b.select(takesPart, b.scalar(element, 0), b.scalar(element, filter));
}

/// The sum of two biases either of which may be null.
Value sumOf(Builder &b, Value x, Value y) { return x && y ? b.add(x, y) : x ? x : y; }

/// Attributes that change where results lie, not what they are, or that need a cache which the caller shares.
bool rejectsSharedBuffers(Node &node) {
  if (node.integer("past_present_share_buffer", 0) == 0)
    return false;
  node.error() << "attribute 'past_present_share_buffer': 1 is not supported; export with past and present apart";
  return true;
}

LogicalResult importAttention(Node &node) {
  Builder &b = node.b;
  int64_t heads = node.requiredInteger("num_heads");
  SmallVector<int64_t> sizes = node.integerList("qkv_hidden_sizes");
  AttentionParameters p;
  p.isCausal = node.integer("unidirectional", 0) != 0;
  if (node.failed() || rejectsSharedBuffers(node))
    return failure();
  if (node.integer("do_rotary", 0) != 0)
    return node.fail("attribute 'do_rotary': 1 is not supported here; export with RotaryEmbedding");
  node.ignore("rotary_embedding_dim");
  if (!node.expectRank(0, 3) || !node.expectRank(1, 2))
    return failure();
  Value projected = b.matmul(node.input(0), node.input(1));
  if (node.has(2))
    projected = b.add(projected, node.input(2));
  if (!projected)
    return failure();
  Dim total = b.dim(projected, 2);
  if (sizes.empty() && total.isConstant() && total.getConstant() % 3 == 0)
    sizes.assign(3, total.getConstant() / 3);
  if (sizes.size() != 3 || b.size(sizes[0] + sizes[1] + sizes[2]) != total || sizes[0] < 0 || sizes[1] < 0 ||
      sizes[2] < 0)
    return node.fail("attribute 'qkv_hidden_sizes': expected three sizes whose sum is the weights' second dimension");
  Value queries = splitHeads(b, b.slice(projected, 2, 0, sizes[0]), heads),
        keys = splitHeads(b, b.slice(projected, 2, sizes[0], sizes[0] + sizes[1]), heads),
        values = splitHeads(b, b.slice(projected, 2, sizes[0] + sizes[1], sizes[0] + sizes[1] + sizes[2]), heads);
  if (!queries || !keys || !values)
    return failure();
  if (node.has(4)) {
    if (!node.expectRank(4, 5))
      return failure();
    if (p.isCausal)
      p.offset = b.sizeValue(b.dim(node.input(4), 3), b.i64());
    keys = b.concatenate({b.takeOne(node.input(4), 0, 0), keys}, 2);
    values = b.concatenate({b.takeOne(node.input(4), 0, 1), values}, 2);
    if (!keys || !values)
      return failure();
  }
  p.scale = scaleFor(node, queries);
  Value padding =
      paddingBias(node, node.input(3), b.dim(queries, 0), b.dim(queries, 2), b.dim(keys, 2), b.element(queries));
  p.bias = sumOf(b, padding, node.input(5));
  if (node.failed())
    return failure();
  if (failed(node.output(0, mergeHeads(b, buildAttention(b, queries, keys, values, p).output))))
    return failure();
  return node.wants(1) ? node.output(1, b.concatenate({b.expandDims(keys, 0), b.expandDims(values, 0)}, 0)) : success();
}

/// Part `index` of [batch, sequence, heads, parts, size] as [batch, heads, sequence, size].
Value unpackedPart(Builder &b, Value packed, int64_t index) {
  return b.transpose(b.takeOne(packed, 3, index), {0, 2, 1, 3});
}

LogicalResult importMultiHeadAttention(Node &node) {
  Builder &b = node.b;
  int64_t heads = node.requiredInteger("num_heads");
  AttentionParameters p;
  p.isCausal = node.integer("unidirectional", 0) != 0;
  if (node.failed())
    return failure();
  if (node.has(8) || node.has(9))
    return node.fail("inputs 'past_sequence_length' and 'cache_indirection' are not supported; export with past and "
                     "present apart");
  Value query = node.input(0), key = node.input(1), value = node.input(2), bias = node.input(3);
  if (bias && (!node.expectRank(3, 1) || b.rank(query) != 3))
    return node.fail("input 'bias': expected a vector, with a query of rank 3");
  Value queries, keys, values;
  // The projections' biases lie one after the other.
  Dim used = b.size(0);
  auto withBias = [&](Value x) {
    if (!bias || !x)
      return x;
    Dim size = b.dim(x, 2);
    Value part = b.slice(bias, 0, used, used + size, 1);
    used = used + size;
    return b.add(x, part);
  };
  if (b.rank(query) == 5 && !key) {
    queries = unpackedPart(b, query, 0);
    keys = unpackedPart(b, query, 1);
    values = unpackedPart(b, query, 2);
  } else if (b.rank(query) == 3 && key) {
    queries = splitHeads(b, withBias(query), heads);
    if (b.rank(key) == 5 && !value) {
      keys = unpackedPart(b, key, 0);
      values = unpackedPart(b, key, 1);
    } else if (b.rank(key) == 4 && value) {
      keys = key;
      values = value;
    } else if (b.rank(key) == 3 && value && b.rank(value) == 3) {
      keys = splitHeads(b, withBias(key), heads);
      values = splitHeads(b, withBias(value), heads);
    }
  }
  if (!queries || !keys || !values) {
    if (!node.failed())
      node.error() << "expected a query [batch, sequence, hidden] with keys and values, or all packed as rank 5";
    return failure();
  }
  if (node.has(6) != node.has(7))
    return node.fail("expected past_key and past_value together");
  if (node.has(6)) {
    if (p.isCausal)
      p.offset = b.sizeValue(b.dim(node.input(6), 2), b.i64());
    keys = b.concatenate({node.input(6), keys}, 2);
    values = b.concatenate({node.input(7), values}, 2);
    if (!keys || !values)
      return failure();
  }
  p.scale = scaleFor(node, queries);
  Value padding =
      paddingBias(node, node.input(4), b.dim(queries, 0), b.dim(queries, 2), b.dim(keys, 2), b.element(queries));
  p.bias = sumOf(b, padding, node.input(5));
  if (node.failed())
    return failure();
  AttentionResult result = buildAttention(b, queries, keys, values, p,
                                          node.wants(3) ? AttentionScores::Probabilities : AttentionScores::None);
  if (failed(node.output(0, mergeHeads(b, result.output))) || (node.wants(1) && failed(node.output(1, keys))) ||
      (node.wants(2) && failed(node.output(2, values))))
    return failure();
  return node.wants(3) ? node.output(3, result.scores) : success();
}

//===----------------------------------------------------------------------===//
// GroupQueryAttention
//===----------------------------------------------------------------------===//

/// `fresh` [batch, heads, sequence, size] written behind the first `counts` [batch] rows of a cache of `length` rows.
Value appended(Builder &b, Value past, Value fresh, Value counts, const Dim &length) {
  if (!fresh)
    return {};
  Dim batch = b.dim(fresh, 0), added = b.dim(fresh, 2);
  if (!past && added == length)
    return fresh;
  SmallVector<Value> parts;
  if (past)
    parts.push_back(past);
  Dim missing = past ? length - b.dim(past, 2) : length;
  if (missing != b.size(0))
    parts.push_back(b.splat(b.element(fresh), 0, {batch, b.dim(fresh, 1), missing, b.dim(fresh, 3)}));
  Value cache = b.concatenate(parts, 2);
  Value places = b.add(b.iota(b.i64(), {batch, added}, 1), b.expandDims(counts, 1));
  if (!cache || !places || !b.sameElements({cache, fresh}))
    return {};
  SmallVector<int64_t> window{1, 3}, sequence{2}, batching{0};
  return b.inferred<ScatterOp>(cache.getType(), cache, places, fresh, ScatterKind::set, window, sequence, batching,
                               batching, sequence, 2);
}

/// x of [batch, sequence, heads, size], rotated by rows of the caches at `positions` [batch, sequence].
Value rotated(Node &node, Value x, Value positions, bool interleaved) {
  Builder &b = node.b;
  return buildRotaryEmbedding(b, x, b.take(node.input(7), positions, 0), b.take(node.input(8), positions, 0),
                              interleaved);
}

LogicalResult importGroupQueryAttention(Node &node) {
  Builder &b = node.b;
  int64_t heads = node.requiredInteger("num_heads"), keyHeads = node.requiredInteger("kv_num_heads");
  bool rotates = node.integer("do_rotary", 0) != 0, interleaved = node.integer("rotary_interleaved", 0) != 0;
  double normEpsilon = node.real("qk_norm_epsilon", 1e-6f), queryEpsilon = node.real("q_norm_epsilon", normEpsilon),
         keyEpsilon = node.real("k_norm_epsilon", normEpsilon);
  bool smooth = node.integer("smooth_softmax", 0) > 0;
  AttentionParameters p;
  p.softcap = node.real("softcap", 0);
  p.isCausal = node.integer("causal", 1) != 0;
  // The window counts the position itself.
  p.leftWindow = std::max<int64_t>(node.integer("local_window_size", -1), 0) - 1;
  if (node.failed())
    return failure();
  for (StringRef name : {"k_quant_type", "v_quant_type"})
    if (node.string(name, "NONE") != "NONE")
      return node.fail("attribute '" + name + "': a quantized cache is not supported");
  node.ignore("kv_cache_bit_width");
  if (node.integer("sliding_window_cache", 0) != 0 || node.integer("qk_output", 0) != 0 || node.has(16) ||
      node.wants(3))
    return node.fail("a sliding cache, lengths of queries and an output of scores are not supported");
  if (heads < 1 || keyHeads < 1 || heads % keyHeads != 0)
    return node.fail("attributes 'num_heads' and 'kv_num_heads': expected a multiple and its divisor");
  if (!node.expectRank(0, 3) || !node.expectRank(5, 1))
    return failure();
  Value query = node.input(0), key = node.input(1), value = node.input(2);
  if (!key) {
    std::optional<Dim> size = b.dim(query, 2).divideExactly(b.size(heads + 2 * keyHeads));
    if (!size)
      return node.fail("expected a packed query whose last dimension holds num_heads + 2 * kv_num_heads heads");
    Dim first = *size * heads, second = first + *size * keyHeads, last = b.dim(query, 2);
    key = b.slice(query, 2, first, second, 1);
    value = b.slice(query, 2, second, last, 1);
    query = b.slice(query, 2, b.size(0), first, 1);
  }
  query = separateHeads(b, query, heads);
  key = separateHeads(b, key, keyHeads);
  value = separateHeads(b, value, keyHeads);
  if (!query || !key || !value)
    return failure();
  if (node.has(12) || node.has(13))
    return node.fail("inputs 'k_scale' and 'v_scale' belong to a quantized cache, which is not supported");
  Dim batch = b.dim(query, 0), sequence = b.dim(query, 1);
  // A first prompt has no past; else what is cached of a sample is its length without the new tokens.
  Value added = b.sizeValue(sequence, b.i64());
  Value totals = b.add(b.convert(node.input(5), b.i64()), b.integerScalar(b.i64(), 1));
  Value longest = b.convert(b.reshape(node.input(6), {}), b.i64());
  Value counts = b.select(b.compare(ComparisonDirection::EQ, longest, added), b.integerScalar(b.i64(), 0),
                          b.subtract(totals, added));
  if (!counts)
    return failure();
  if (node.has(14) != node.has(15))
    return node.fail("expected q_norm_weight and k_norm_weight together");
  if (node.has(14)) {
    // Narrow floats are normalized in f32.
    Type wide = b.element(query).getIntOrFloatBitWidth() < 32 ? b.f32() : b.element(query);
    query = buildRmsNorm(b, query, node.input(14), 3, queryEpsilon, wide).result;
    key = buildRmsNorm(b, key, node.input(15), 3, keyEpsilon, wide).result;
    if (!query || !key)
      return failure();
  }
  if (rotates) {
    if (!node.has(7) || !node.has(8))
      return node.fail("attribute 'do_rotary': 1 needs inputs 'cos_cache' and 'sin_cache'");
    Value positions =
        node.has(9) ? node.input(9) : b.add(b.iota(b.i64(), {batch, sequence}, 1), b.expandDims(counts, 1));
    query = rotated(node, query, positions, interleaved);
    key = rotated(node, key, positions, interleaved);
  }
  Value queries = b.transpose(query, {0, 2, 1, 3});
  Value pastKeys = node.input(3), pastValues = node.input(4);
  if (!pastKeys != !pastValues)
    return node.fail("expected past_key and past_value together");
  // How long the cache gets: as the total says where it is known, else the past and the new tokens.
  Dim length = pastKeys ? b.dim(pastKeys, 2) + sequence : sequence;
  if (std::optional<double> total = b.scalarContents(node.input(6));
      total && pastKeys && b.dim(pastKeys, 2).isConstant())
    length = b.size(std::max(b.dim(pastKeys, 2).getConstant(), static_cast<int64_t>(*total)));
  Value keys = appended(b, pastKeys, b.transpose(key, {0, 2, 1, 3}), counts, length),
        values = appended(b, pastValues, b.transpose(value, {0, 2, 1, 3}), counts, length);
  if (!queries || !keys || !values)
    return failure();
  p.scale = scaleFor(node, queries);
  p.offset = counts;
  p.lengths = p.isCausal ? Value() : totals;
  p.bias = node.input(10);
  if (node.has(11))
    p.sinks = node.input(11);
  else if (smooth)
    p.sinks = b.splat(b.element(queries), 0, {b.size(heads)});
  if (node.failed() || failed(node.output(0, mergeHeads(b, buildAttention(b, queries, keys, values, p).output))) ||
      (node.wants(1) && failed(node.output(1, keys))))
    return failure();
  return node.wants(2) ? node.output(2, values) : success();
}

LogicalResult importRotaryEmbedding(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0), positions = node.input(1), cosines = node.input(2), sines = node.input(3);
  int64_t rank = b.rank(x), heads = node.integer("num_heads", 0);
  bool interleaved = node.integer("interleaved", 0) != 0;
  node.ignore("scale");
  int64_t partial = node.integer("rotary_embedding_dim", 0);
  if (node.integer("is_packed_batching", 0) != 0)
    return node.fail("attribute 'is_packed_batching': 1 is not supported");
  if (!node.expectRank(2, 2) || !node.expectRank(3, 2))
    return failure();
  if (rank == 4) {
    x = b.transpose(x, {0, 2, 1, 3});
  } else if (rank == 3) {
    if (heads < 1 || partial == 0) {
      // A whole head is rotated: the caches say how large it is.
      std::optional<Dim> count = b.dim(x, 2).divideExactly(b.dim(cosines, 1) * 2);
      if (!count || !count->isConstant())
        return node.fail("expected a last dimension of whole heads, of twice the size of a row of 'cos_cache'");
      heads = count->getConstant();
    }
    x = separateHeads(b, x, heads);
  } else {
    return node.fail("expected an input of rank 3 or 4, got rank " + std::to_string(rank));
  }
  if (!x)
    return failure();
  if (b.rank(positions) == 1) // One position: that of the first token.
    positions = b.add(b.iota(b.i64(), {b.dim(x, 0), b.dim(x, 1)}, 1), b.reshape(positions, {}));
  Value result = buildRotaryEmbedding(b, x, b.take(cosines, positions, 0), b.take(sines, positions, 0), interleaved);
  return node.output(0, rank == 4 ? b.transpose(result, {0, 2, 1, 3}) : b.reshape(result, b.dims(node.input(0))));
}

} // namespace

void addContribAttentionHandlers(HandlerTable &table) {
  table.addIn(kContribDomain, "Attention", 1, importAttention);
  table.addIn(kContribDomain, "MultiHeadAttention", 1, importMultiHeadAttention);
  table.addIn(kContribDomain, "GroupQueryAttention", 1, importGroupQueryAttention);
  table.addIn(kContribDomain, "RotaryEmbedding", 1, importRotaryEmbedding);
}

} // namespace weft::importer
