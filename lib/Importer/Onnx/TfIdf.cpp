//===- TfIdf.cpp - ONNX's counting of n-grams ----------------------------------------------------===//

#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Node.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

/// The n-grams of the pool that have one length, and the columns of the result that count them.
struct Grams {
  int64_t length = 0;
  SmallVector<int64_t> elements, columns;
  SmallVector<double> weights;
  int64_t count() const { return columns.size(); }
};

/// How often each of the n-grams occurs in the rows of [B, C] data, its elements `skip` apart: [B, grams].
Value countGrams(Builder &b, Value rows, const Grams &grams, int64_t skip) {
  int64_t length = grams.length, span = (length - 1) * skip;
  Dim starts = b.dim(rows, 1) - span;
  SmallVector<Dim> all{b.dim(rows, 0), b.size(grams.count()), starts};
  Value matches;
  for (int64_t i = 0; i < length; ++i) {
    SmallVector<int64_t> column;
    for (int64_t gram = 0; gram < grams.count(); ++gram)
      column.push_back(grams.elements[gram * length + i]);
    Value part = b.slice(rows, 1, b.size(i * skip), starts + i * skip, 1);
    Value same = b.compare(ComparisonDirection::EQ, b.broadcastInDim(part, all, {0, 2}),
                           b.broadcastInDim(b.integers(column), all, 1));
    matches = matches ? b.binary<AndOp>(matches, same) : same;
  }
  return b.sum(b.convert(matches, b.f32()), {2}, false);
}

LogicalResult importTfIdfVectorizer(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  int64_t longest = node.requiredInteger("max_gram_length"), shortest = node.requiredInteger("min_gram_length"),
          skips = node.requiredInteger("max_skip_count");
  std::string mode = node.string("mode", "");
  SmallVector<int64_t> starts = node.integerList("ngram_counts"), columns = node.integerList("ngram_indexes"),
                       pool = node.integerList("pool_int64s");
  SmallVector<double> weights = node.realList("weights");
  if (node.failed())
    return failure();
  if (node.hasAttribute("pool_strings"))
    return node.fail("attribute 'pool_strings': Weft has no strings; expected n-grams of integers");
  if (!isa<IntegerType>(b.element(x)) || b.isBool(x) || b.rank(x) > 2)
    return node.fail("expected a vector or a matrix of integers");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return node.fail("attribute 'mode': expected TF, IDF or TFIDF, got '" + mode + "'");
  constexpr int64_t kLongest = 64, kMostSkips = 4096;
  if (shortest < 1 || longest < shortest || longest > kLongest || skips < 0 || skips > kMostSkips)
    return node.fail("expected 1 <= min_gram_length <= max_gram_length <= 64, and a max_skip_count in [0, 4096]");
  // The pool holds the n-grams of length 1, then those of length 2, and so on; `ngram_counts` says where each begins.
  const bool isWeighted = mode != "TF" && !weights.empty();
  if (!weights.empty() && weights.size() != columns.size())
    return node.fail("attribute 'weights': expected one an n-gram, " + std::to_string(columns.size()) + ", got " +
                     std::to_string(weights.size()));
  SmallVector<Grams> all;
  int64_t number = 0, outputs = 0, elements = pool.size();
  for (size_t i = 0; i < starts.size(); ++i) {
    int64_t length = static_cast<int64_t>(i) + 1, begin = starts[i],
            end = i + 1 < starts.size() ? starts[i + 1] : elements;
    if (begin < 0 || begin > end || end > elements || (end - begin) % length != 0)
      return node.fail("attribute 'ngram_counts': expected ascending places in the pool of n-grams, with whole n-grams "
                       "between them");
    Grams &grams = all.emplace_back();
    grams.length = length;
    grams.elements.assign(pool.begin() + begin, pool.begin() + end);
    for (int64_t gram = 0; gram < (end - begin) / length; ++gram, ++number) {
      if (number >= static_cast<int64_t>(columns.size()) || columns[number] < 0)
        return node.fail("attribute 'ngram_indexes': expected one column of the result, not negative, an n-gram");
      grams.columns.push_back(columns[number]);
      grams.weights.push_back(isWeighted ? weights[number] : 1);
    }
  }
  for (int64_t column : columns)
    outputs = std::max(outputs, column + 1);
  constexpr int64_t kMostCells = 1 << 24;
  if (outputs == 0 || outputs > kMostCells / std::max<int64_t>(number, 1))
    return node.fail("expected n-grams, and not more than 2^24 pairs of an n-gram and a column");
  Dim length = b.rank(x) == 0 ? b.size(1) : b.dim(x, b.rank(x) - 1), batch = b.rank(x) == 2 ? b.dim(x, 0) : b.size(1);
  Value rows = b.convert(b.reshape(x, {batch, length}), b.i64());
  Value total = b.splat(b.f32(), 0, {batch, b.size(outputs)});
  for (const Grams &grams : all) {
    if (grams.count() == 0 || grams.length < shortest || grams.length > longest)
      continue;
    Value counts;
    // Single elements have nothing between them to skip.
    for (int64_t skip = 1; skip <= (grams.length == 1 ? 1 : skips + 1); ++skip) {
      Dim room = length - (grams.length - 1) * skip;
      if (room.isConstant() && room.getConstant() < 1)
        break;
      if (!b.facts.symbols.requireAtLeast(room, 0)) {
        node.error() << "rows of " << length << " elements may be shorter than an n-gram with what it skips; give the "
                     << "inputs a shape";
        return failure();
      }
      Value found = countGrams(b, rows, grams, skip);
      counts = counts ? b.add(counts, found) : found;
    }
    if (!counts)
      continue;
    if (mode == "IDF")
      counts = b.minimum(counts, 1.0);
    // To their columns.
    TensorValue target(b.f32(), {grams.count(), outputs});
    for (int64_t gram = 0; gram < grams.count(); ++gram)
      target.setFloat(gram * outputs + grams.columns[gram], grams.weights[gram]);
    total = b.add(total, b.matmul(counts, b.constant(target)));
  }
  return node.output(0, b.rank(x) == 2 ? total : b.reshape(total, b.size(outputs)));
}

} // namespace

void addTfIdfHandlers(HandlerTable &table) { table.add("TfIdfVectorizer", importTfIdfVectorizer); }

} // namespace weft::importer
