//===- RotaryEmbedding.cpp - ONNX's rotary position embedding -------------------------------------===//

#include "lib/Importer/Onnx/Attention.h"
#include "lib/Importer/Onnx/Handlers.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

Value buildRotaryEmbedding(Builder &b, Value x, Value cosines, Value sines, bool interleaved) {
  if (!x || !cosines || !sines)
    return {};
  SmallVector<Value> results = b.composite(
      "rotary_embedding", b.ops.getNamedAttr("interleaved", b.ops.getBoolAttr(interleaved)), {x, cosines, sines},
      [interleaved](Builder &b, ArrayRef<Value> arguments) -> SmallVector<Value> {
        Value x = arguments[0];
        Dim pairs = b.dim(arguments[1], b.rank(arguments[1]) - 1), size = b.dim(x, 3);
        Value turned = b.slice(x, 3, b.size(0), pairs * 2, 1);
        if (!turned)
          return {};
        Value first, second;
        if (interleaved) {
          Value split = b.reshape(turned, {b.dim(x, 0), b.dim(x, 1), b.dim(x, 2), pairs, b.size(2)});
          first = b.takeOne(split, 4, 0);
          second = b.takeOne(split, 4, 1);
        } else {
          first = b.slice(turned, 3, b.size(0), pairs, 1);
          second = b.slice(turned, 3, pairs, pairs * 2, 1);
        }
        // The angles are the same for all heads.
        auto ofHeads = [&](Value angles) { return b.expandDims(angles, b.rank(angles) - 1); };
        Value cosine = ofHeads(arguments[1]), sine = ofHeads(arguments[2]);
        Value real = b.subtract(b.multiply(cosine, first), b.multiply(sine, second));
        Value imaginary = b.add(b.multiply(sine, first), b.multiply(cosine, second));
        Value rotated;
        if (interleaved)
          rotated = b.reshape(b.concatenate({b.expandDims(real, 4), b.expandDims(imaginary, 4)}, 4), b.dims(turned));
        else
          rotated = b.concatenate({real, imaginary}, 3);
        if (pairs * 2 != size)
          rotated = b.concatenate({rotated, b.slice(x, 3, pairs * 2, size, 1)}, 3);
        return {rotated};
      });
  return results.empty() ? Value() : results[0];
}

namespace {

LogicalResult importRotaryEmbedding(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0), cosines = node.input(1), sines = node.input(2);
  int64_t rank = b.rank(x), heads = node.integer("num_heads", 0), rotated = node.integer("rotary_embedding_dim", 0);
  bool interleaved = node.integer("interleaved", 0) != 0;
  if (rank != 3 && rank != 4)
    return node.fail("expected an input of rank 3 or 4, got rank " + std::to_string(rank));
  if (rank == 4) {
    x = b.transpose(x, {0, 2, 1, 3});
  } else {
    if (heads < 1)
      return node.fail("an input of rank 3 needs attribute 'num_heads' of at least 1");
    x = separateHeads(b, x, heads);
  }
  if (!x)
    return failure();
  Dim pairs = b.dim(cosines, b.rank(cosines) - 1), size = rotated > 0 ? b.size(rotated) : b.dim(x, 3);
  if (pairs * 2 != size || b.dims(cosines) != b.dims(sines)) {
    node.error() << "expected cosines and sines of one shape whose last dimension is half of the " << size
                 << " rotated elements, got " << cosines.getType() << " and " << sines.getType();
    return failure();
  }
  if (node.has(3)) {
    if (!node.expectRank(1, 2) || !node.expectRank(3, 2))
      return failure();
    Value positions = b.wrapIndices(node.input(3), b.dim(cosines, 0));
    cosines = b.take(cosines, positions, 0);
    sines = b.take(sines, positions, 0);
  } else if (!node.expectRank(1, 3)) {
    return failure();
  }
  Value result = buildRotaryEmbedding(b, x, cosines, sines, interleaved);
  return node.output(0, rank == 4 ? b.transpose(result, {0, 2, 1, 3}) : b.reshape(result, b.dims(node.input(0))));
}

} // namespace

void addRotaryEmbeddingHandlers(HandlerTable &table) { table.add("RotaryEmbedding", importRotaryEmbedding); }

} // namespace weft::importer
