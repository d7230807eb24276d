//===- RandomAttention.cpp - Random transformer blocks, with heads split by reshapes and transposes --------------===//

#include "test/unit/layout/RandomGraphs.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::test {

namespace {

class AttentionBuilder {
public:
  explicit AttentionBuilder(GraphUnderTest &graph)
      : graph(graph), builder(graph.builder), location(graph.location), batch(graph.symbol("n", 2)),
        time(graph.symbol("t", 5)) {}

  void run(int blocks) {
    Value x = graph.addInput(type({batch, time, dim(kWidth)}));
    SmallVector<Value> outputs;
    for (int i = 0; i < blocks; ++i) {
      x = AddOp::create(builder, location, x, attention(x));
      x = AddOp::create(builder, location, x, feedForward(x));
      if (graph.random(0, 2) == 0)
        outputs.push_back(TransposeOp::create(builder, location, x, ArrayRef<int64_t>{0, 2, 1}));
    }
    outputs.push_back(x);
    graph.finish(outputs);
  }

private:
  static constexpr int64_t kWidth = 12, kHeads = 3, kHeadWidth = 4;

  Dim dim(int64_t size) { return Dim::constant(&graph.context, size); }
  RankedTensorType type(ArrayRef<Dim> dims) { return makeTensorType(dims, builder.getF32Type()); }
  bool chance() { return graph.random(0, 1); }
  Value reshape(Value x, ArrayRef<Dim> dims) { return ReshapeOp::create(builder, location, type(dims), x); }
  Value transpose(Value x, ArrayRef<int64_t> permutation) {
    return TransposeOp::create(builder, location, x, permutation);
  }

  Value dot(Value lhs, Value rhs, ArrayRef<int64_t> lhsBatch, ArrayRef<int64_t> rhsBatch, ArrayRef<int64_t> lhsContract,
            ArrayRef<int64_t> rhsContract) {
    SmallVector<Dim> dims;
    for (int64_t dimension : lhsBatch)
      dims.push_back(getDim(lhs.getType(), dimension));
    auto addFree = [&](Value side, ArrayRef<int64_t> batching, ArrayRef<int64_t> contracting) {
      for (int64_t i = 0; i < tensorType(side).getRank(); ++i)
        if (!llvm::is_contained(batching, i) && !llvm::is_contained(contracting, i))
          dims.push_back(getDim(side.getType(), i));
    };
    addFree(lhs, lhsBatch, lhsContract);
    addFree(rhs, rhsBatch, rhsContract);
    return DotGeneralOp::create(builder, location, type(dims), lhs, rhs, lhsContract, rhsContract, lhsBatch, rhsBatch);
  }

  /// x times weights, the weights in either order, on either side of the product, or the rows flattened before.
  Value dense(Value x, int64_t outputs) {
    int64_t inputs = tensorType(x).getShape().back();
    bool transposed = chance();
    Value weights = graph.addParameter(
        RankedTensorType::get({transposed ? outputs : inputs, transposed ? inputs : outputs}, builder.getF32Type()),
        1.0 / std::sqrt(double(inputs)));
    int64_t row = transposed ? 1 : 0;
    Value product;
    switch (graph.random(0, 2)) {
    case 0:
      product = dot(x, weights, {}, {}, {2}, {row});
      break;
    case 1:
      product = transpose(dot(weights, x, {}, {}, {row}, {2}), {1, 2, 0});
      break;
    default:
      product = reshape(dot(reshape(x, {batch * time, dim(inputs)}), weights, {}, {}, {1}, {row}),
                        {batch, time, dim(outputs)});
    }
    Value bias = graph.addParameter(RankedTensorType::get({outputs}, builder.getF32Type()), 1);
    return AddOp::create(builder, location, product,
                         BroadcastInDimOp::create(builder, location, tensorType(product), bias, ArrayRef<int64_t>{2}));
  }

  /// [n, t, width] to [n, heads, t, headWidth].
  Value splitHeads(Value x) { return transpose(reshape(x, {batch, time, dim(kHeads), dim(kHeadWidth)}), {0, 2, 1, 3}); }

  Value softmax(Value x) {
    auto op = CompositeOp::create(builder, location, x.getType(), "softmax", x, builder.getDictionaryAttr({}));
    OpBuilder::InsertionGuard guard(builder);
    Block &body = op.getBody().emplaceBlock();
    body.addArgument(x.getType(), location);
    builder.setInsertionPointToStart(&body);
    int64_t last = tensorType(x).getRank() - 1;
    auto expand = [&](Value reduced) {
      return BroadcastInDimOp::create(builder, location, tensorType(x), reduced,
                                      llvm::to_vector(llvm::seq<int64_t>(0, last)));
    };
    Value argument = body.getArgument(0);
    Value largest = ReduceOp::create(builder, location, ReductionKind::max, argument, ArrayRef<int64_t>{last});
    Value shifted = SubtractOp::create(builder, location, argument, expand(largest));
    Value powers = ExponentialOp::create(builder, location, shifted);
    Value sum = ReduceOp::create(builder, location, ReductionKind::sum, powers, ArrayRef<int64_t>{last});
    Value result = DivideOp::create(builder, location, powers, expand(sum));
    YieldOp::create(builder, location, result);
    return op.getResult(0);
  }

  Value attention(Value x) {
    Value query = splitHeads(dense(x, kWidth)), key = splitHeads(dense(x, kWidth)),
          value = splitHeads(dense(x, kWidth));
    Value scores;
    if (chance())
      scores = dot(query, transpose(key, {0, 1, 3, 2}), {0, 1}, {0, 1}, {3}, {2});
    else
      scores = dot(query, key, {0, 1}, {0, 1}, {3}, {3});
    scores = MultiplyOp::create(builder, location, scores, graph.splat(0.5, tensorType(scores)));
    Value mixed = dot(softmax(scores), value, {0, 1}, {0, 1}, {3}, {2});
    return dense(reshape(transpose(mixed, {0, 2, 1, 3}), {batch, time, dim(kWidth)}), kWidth);
  }

  Value feedForward(Value x) {
    Value hidden = TanhOp::create(builder, location, dense(x, 2 * kWidth));
    if (chance()) // mixing over time, channels first for the while
      hidden = transpose(
          CumulativeOp::create(builder, location, ReductionKind::sum, transpose(hidden, {0, 2, 1}), 2, false, false),
          {0, 2, 1});
    Value scale = graph.addParameter(RankedTensorType::get({kWidth}, builder.getF32Type()), 0.5);
    Value result = dense(hidden, kWidth);
    return MultiplyOp::create(
        builder, location, result,
        BroadcastInDimOp::create(builder, location, tensorType(result), scale, ArrayRef<int64_t>{2}));
  }

  GraphUnderTest &graph;
  OpBuilder &builder;
  Location location;
  Dim batch, time;
};

} // namespace

void buildRandomAttention(GraphUnderTest &graph, int blocks) { AttentionBuilder(graph).run(blocks); }

} // namespace weft::test
