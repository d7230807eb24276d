//===- Attention.h - Building scaled dot-product attention, for those operators that are one -----===//

#ifndef WEFT_LIB_IMPORTER_ONNX_ATTENTION_H
#define WEFT_LIB_IMPORTER_ONNX_ATTENTION_H

#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Node.h"

namespace weft::importer {

struct AttentionParameters {
  /// The factor of the products of queries and keys.
  double scale = 1;
  /// c of `c * tanh(score / c)`; 0: none.
  double softcap = 0;
  /// A query attends no key behind its own position.
  bool isCausal = false;
  /// How far from its own position a query attends keys; -1: without a limit.
  int64_t leftWindow = -1, rightWindow = -1;
  /// The type that the softmax is computed in; null: that of the scores.
  mlir::Type softmaxType;

  // Optional values. Those with the scores' dimensions are broadcast to [batch, heads, queries, keys].
  mlir::Value attends; // truth values: which keys take part
  mlir::Value bias;    // is added to the scores
  mlir::Value lengths; // [batch]: how many keys of a sample are valid
  mlir::Value offset;  // a scalar or [batch], i64: the position of the first query among the keys; null: 0
  mlir::Value sinks;   // [heads]: a score that takes part in the softmax and has no value
};

/// What an attention gives besides its output.
enum class AttentionScores { None = -1, Products = 0, Capped = 1, Biased = 2, Probabilities = 3 };

struct AttentionResult {
  mlir::Value output; // [batch, heads, queries, value size]
  mlir::Value scores; // [batch, heads, queries, keys], or null
};

/// Composite "attention" of queries [batch, heads, queries, size], keys [batch, key heads, keys, size] and values
/// [batch, key heads, keys, value size]; the heads are a multiple of the key heads, neighbours share one. A query that
/// attends no key gives zeros. Null after an error.
AttentionResult buildAttention(Builder &b, mlir::Value queries, mlir::Value keys, mlir::Value values,
                               const AttentionParameters &parameters, AttentionScores wanted = AttentionScores::None);

/// scale * queries * keys^T, [batch, heads, queries, keys].
mlir::Value buildAttentionProducts(Builder &b, mlir::Value queries, mlir::Value keys, double scale);
/// probabilities * values, [batch, heads, queries, value size].
mlir::Value buildAttentionOutput(Builder &b, mlir::Value probabilities, mlir::Value values);

/// [batch, sequence, heads * size] as [batch, sequence, heads, size]; null, with an error, where `heads` does not
/// divide.
mlir::Value separateHeads(Builder &b, mlir::Value x, int64_t heads);
/// The same as [batch, heads, sequence, size].
mlir::Value splitHeads(Builder &b, mlir::Value x, int64_t heads);
/// The inverse.
mlir::Value mergeHeads(Builder &b, mlir::Value x);

/// Rotates pairs of the first elements of the last dimension: [batch, sequence, heads, size] by cosines and sines
/// [batch, sequence, pairs] (or [sequence, pairs]). A pair is (i, i + pairs), or neighbours if `interleaved`; what lies
/// behind the pairs stays. Composite "rotary_embedding".
mlir::Value buildRotaryEmbedding(Builder &b, mlir::Value x, mlir::Value cosines, mlir::Value sines, bool interleaved);

void addAttentionHandlers(HandlerTable &table);
void addRotaryEmbeddingHandlers(HandlerTable &table);
void addLinearAttentionHandlers(HandlerTable &table);

} // namespace weft::importer

#endif
