//===- Attention.cpp - ONNX's Attention and RotaryEmbedding --------------------------------------===//

#include "lib/Importer/Onnx/Activations.h"
#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Node.h"
#include "lib/Support/Onnx/ElementTypes.h"
#include <cmath>

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

/// [batch, sequence, heads * size] as [batch, heads, sequence, size]; null after an error.
Value splitHeads(Node &node, Value x, int64_t heads, StringRef attribute) {
  Builder &b = node.b;
  std::optional<Dim> size = heads > 0 ? b.dim(x, 2).divideExactly(b.size(heads)) : std::optional<Dim>();
  if (!size) {
    node.error() << "attribute '" << attribute << "': " << heads << " heads do not divide " << b.dim(x, 2)
                 << " features";
    return {};
  }
  return b.transpose(b.reshape(x, {b.dim(x, 0), b.dim(x, 1), b.size(heads), *size}), {0, 2, 1, 3});
}

Value mergeHeads(Builder &b, Value x) {
  Value swapped = b.transpose(x, {0, 2, 1, 3});
  return swapped ? b.reshape(swapped, {b.dim(swapped, 0), b.dim(swapped, 1), b.dim(swapped, 2) * b.dim(swapped, 3)})
                 : Value();
}

/// Each head of keys or values for the `times` query heads of its group.
Value repeatHeads(Builder &b, Value x, int64_t times) {
  if (times == 1 || !x)
    return x;
  SmallVector<Dim> repeated{b.dim(x, 0), b.dim(x, 1), b.size(times), b.dim(x, 2), b.dim(x, 3)};
  return b.reshape(b.broadcastInDim(x, repeated, {0, 1, 3, 4}),
                   {b.dim(x, 0), b.dim(x, 1) * times, b.dim(x, 2), b.dim(x, 3)});
}

LogicalResult importAttention(Node &node) {
  Builder &b = node.b;
  int64_t queryHeads = node.integer("q_num_heads", 0), keyHeads = node.integer("kv_num_heads", 0);
  bool causal = node.integer("is_causal", 0) != 0;
  int64_t outputMode = node.integer("qk_matmul_output_mode", 0);
  double softcap = node.real("softcap", 0);
  auto precision = static_cast<OnnxType>(node.integer("softmax_precision", 0));
  Value q = node.input(0), k = node.input(1), v = node.input(2);
  bool isFlat = b.rank(q) == 3;
  for (int64_t i = 0; i < 3; ++i)
    if (!node.expectRank(i, isFlat ? 3 : 4))
      return failure();
  if (isFlat) {
    q = splitHeads(node, q, queryHeads, "q_num_heads");
    k = splitHeads(node, k, keyHeads, "kv_num_heads");
    v = splitHeads(node, v, keyHeads, "kv_num_heads");
    if (node.failed() || !q || !k || !v)
      return failure();
  }
  Dim past = b.size(0);
  if (node.has(4) && node.has(5)) {
    past = b.dim(node.input(4), 2);
    k = b.concatenate({node.input(4), k}, 2);
    v = b.concatenate({node.input(5), v}, 2);
    if (!k || !v)
      return failure();
  }
  if ((node.wants(1) && failed(node.output(1, k))) || (node.wants(2) && failed(node.output(2, v))))
    return failure();
  Dim heads = b.dim(q, 1), groups = b.dim(k, 1), size = b.dim(q, 3);
  std::optional<Dim> times = heads.divideExactly(groups);
  if (!times || !times->isConstant() || !size.isConstant())
    return node.fail("expected a number of query heads that is a multiple of the key heads', and a constant head size");
  Value keys = repeatHeads(b, k, times->getConstant()), values = repeatHeads(b, v, times->getConstant());
  double scale = node.real("scale", 1 / std::sqrt(static_cast<double>(std::max<int64_t>(size.getConstant(), 1))));
  Type element = b.element(q);
  // Both sides take half of the scale, which keeps narrow floats in range.
  Value scaledQueries = b.multiply(q, std::sqrt(scale)), scaledKeys = b.multiply(keys, std::sqrt(scale));
  Value scores = b.matmul(scaledQueries, b.transpose(scaledKeys, {0, 1, 3, 2}));
  if (!scores)
    return failure();
  Value raw = scores, masked, capped;
  constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
  SmallVector<Dim> dims = b.dims(scores);
  SmallVector<Dim> plane{dims[2], dims[3]};
  Value lowest = b.scalar(element, kMinusInfinity);
  auto addMask = [&](Value x) {
    if (Value mask = node.input(3)) {
      // A mask may cover the first columns only; the rest is masked.
      Dim columns = b.dim(mask, b.rank(mask) - 1);
      bool isBool = b.isBool(mask);
      if (columns != dims[3] && columns.isConstant() && dims[3].isConstant() && columns != b.size(1)) {
        SmallVector<int64_t> low(b.rank(mask), 0), high(b.rank(mask), 0);
        high.back() = dims[3].getConstant() - columns.getConstant();
        mask = b.pad(mask, isBool ? b.scalar(b.i1(), 0) : lowest, low, high);
      }
      x = isBool ? b.select(mask, x, lowest) : b.add(x, b.convert(mask, element));
    }
    if (causal) {
      Value allowed = b.compare(ComparisonDirection::LE, b.iota(b.i64(), plane, 1),
                                b.add(b.iota(b.i64(), plane, 0), b.sizeValue(past, b.i64())));
      x = b.select(allowed, x, lowest);
    }
    if (Value lengths = node.input(6)) {
      Value limit = b.reshape(b.convert(lengths, b.i64()), {b.dim(lengths, 0), b.size(1), b.size(1), b.size(1)});
      x = b.select(b.compare(ComparisonDirection::LT, b.iota(b.i64(), dims, 3), limit), x, lowest);
    }
    return x;
  };
  auto cap = [&](Value x) { return softcap != 0 ? b.multiply(b.tanh(b.divide(x, softcap)), softcap) : x; };
  masked = addMask(scores);
  capped = cap(masked);
  if (!capped)
    return failure();
  Type wide = precision != OnnxType::Undefined ? elementTypeOf(precision, b.context()) : element;
  if (!wide || !isFloatElement(wide))
    return node.fail("attribute 'softmax_precision': expected a float type");
  Value weights = b.convert(buildSoftmax(b, b.convert(capped, wide), 3), element);
  Value result = b.matmul(weights, values);
  if (node.wants(3)) {
    Value shown = outputMode == 0 ? raw : outputMode == 1 ? masked : outputMode == 2 ? capped : weights;
    if (failed(node.output(3, shown)))
      return failure();
  }
  return node.output(0, isFlat ? mergeHeads(b, result) : result);
}

LogicalResult importRotaryEmbedding(Node &node) {
  Builder &b = node.b;
  bool interleaved = node.integer("interleaved", 0) != 0;
  int64_t heads = node.integer("num_heads", 0), rotated = node.integer("rotary_embedding_dim", 0);
  Value x = node.input(0), cosines = node.input(1), sines = node.input(2);
  bool isFlat = b.rank(x) == 3;
  if (isFlat)
    x = splitHeads(node, x, heads, "num_heads");
  if (!x || b.rank(x) != 4)
    return node.failed() ? failure() : node.fail("expected an input of rank 3 or 4");
  Dim size = b.dim(x, 3);
  if (!size.isConstant())
    return node.fail("expected a head size that is an integer");
  int64_t whole = size.getConstant();
  if (rotated == 0)
    rotated = whole;
  if (rotated < 2 || rotated % 2 || rotated > whole)
    return node.fail("attribute 'rotary_embedding_dim': expected an even number up to the head size");
  if (node.has(3)) { // [positions, size / 2] by position_ids [batch, sequence]
    cosines = b.take(cosines, node.input(3), 0);
    sines = b.take(sines, node.input(3), 0);
  }
  // [batch, sequence, size / 2] for every head.
  cosines = b.expandDims(cosines, 1);
  sines = b.expandDims(sines, 1);
  Value turning = b.slice(x, 3, 0, rotated), rest = rotated < whole ? b.slice(x, 3, rotated, whole) : Value();
  if (!turning || !cosines || !sines)
    return failure();
  SmallVector<Dim> dims = b.dims(turning), pairs{dims[0], dims[1], dims[2], b.size(rotated / 2), b.size(2)};
  Value real, imaginary;
  if (interleaved) {
    Value paired = b.reshape(turning, pairs);
    real = b.takeOne(paired, 4, 0);
    imaginary = b.takeOne(paired, 4, 1);
  } else {
    real = b.slice(turning, 3, 0, rotated / 2);
    imaginary = b.slice(turning, 3, rotated / 2, rotated);
  }
  Value newReal = b.subtract(b.multiply(cosines, real), b.multiply(sines, imaginary));
  Value newImaginary = b.add(b.multiply(sines, real), b.multiply(cosines, imaginary));
  Value turned = interleaved
                     ? b.reshape(b.concatenate({b.expandDims(newReal, 4), b.expandDims(newImaginary, 4)}, 4), dims)
                     : b.concatenate({newReal, newImaginary}, 3);
  Value result = rest ? b.concatenate({turned, rest}, 3) : turned;
  return node.output(0, isFlat ? mergeHeads(b, result) : result);
}

} // namespace

void addAttentionHandlers(HandlerTable &table) {
  table.add("Attention", importAttention);
  table.add("RotaryEmbedding", importRotaryEmbedding);
}

} // namespace weft::importer
