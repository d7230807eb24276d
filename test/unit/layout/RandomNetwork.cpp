//===- RandomNetwork.cpp - Random convolutional networks, channels first ----------------------------------------===//

#include "test/unit/layout/RandomGraphs.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::test {

namespace {

class NetworkBuilder {
public:
  NetworkBuilder(GraphUnderTest &graph, int spatial)
      : graph(graph), builder(graph.builder), location(graph.location), spatial(spatial), batch(graph.symbol("n", 2)) {}

  void run(int layers) {
    values.push_back(graph.addInput(type(3, spatial == 1 ? 32 : spatial == 2 ? 12 : 6)));
    values.push_back(convolution(values.back(), 8, 3, 1, 1, 1));
    for (int i = 0; i < layers; ++i)
      if (Value made = layer(pick()))
        values.push_back(made);
    SmallVector<Value> outputs = {classifier(values.back())};
    for (Value value : values)
      if (value.use_empty())
        outputs.push_back(value);
    graph.finish(outputs);
  }

private:
  int64_t random(int64_t low, int64_t high) { return graph.random(low, high); }
  Value pick() { return random(0, 2) ? values.back() : values[random(1, values.size() - 1)]; }
  int64_t channels(Value x) { return tensorType(x).getDimSize(1); }
  int64_t extent(Value x) { return tensorType(x).getDimSize(2); }

  RankedTensorType type(int64_t channelCount, int64_t size) {
    SmallVector<Dim> dims = {batch, dim(channelCount)};
    dims.append(spatial, dim(size));
    return makeTensorType(dims, builder.getF32Type());
  }
  Dim dim(int64_t size) { return Dim::constant(&graph.context, size); }
  SmallVector<int64_t> all(int64_t value) { return SmallVector<int64_t>(spatial, value); }
  SmallVector<int64_t> windowed(int64_t value, int64_t others) {
    SmallVector<int64_t> list = {others, others};
    list.append(spatial, value);
    return list;
  }

  Value layer(Value x) {
    switch (random(0, 13)) {
    case 0:
      return convolution(x, 4 * random(1, 3), 3, random(1, 2), 1, 1);
    case 1:
      return activation(normalize(convolution(x, channels(x), 3, 1, 1, channels(x))));
    case 2:
      return normalize(convolution(x, 4 * random(1, 2), 1, 1, 1, channels(x) % 2 == 0 ? 2 : 1));
    case 3:
      return activation(addBias(normalize(addBias(convolution(x, 8, 3, 1, random(1, 2), 1)))));
    case 4:
      return normalize(x);
    case 5:
      return activation(x);
    case 6:
      return pool(x, ReductionKind::max);
    case 7:
      return pool(x, ReductionKind::sum);
    case 8:
    case 9:
      return residual(x);
    case 10:
      return concatenate(x);
    case 11:
      return gate(x);
    case 12:
      return pad(x);
    default:
      return thereAndBack(x);
    }
  }

  Value convolution(Value x, int64_t outputs, int64_t kernel, int64_t stride, int64_t dilation, int64_t groups) {
    int64_t window = (kernel - 1) * dilation + 1, padding = window / 2;
    int64_t size = (extent(x) + 2 * padding - window) / stride + 1;
    if (extent(x) + 2 * padding < window)
      return x;
    SmallVector<int64_t> kernelShape = {outputs, channels(x) / groups};
    kernelShape.append(spatial, kernel);
    Value weights = graph.addParameter(RankedTensorType::get(kernelShape, builder.getF32Type()),
                                       1.0 / std::sqrt(double(channels(x) / groups) * std::pow(kernel, spatial)));
    SmallVector<int64_t> spatialDims = llvm::to_vector(llvm::seq<int64_t>(2, spatial + 2));
    auto numbers =
        ConvolutionDimensionsAttr::get(&graph.context, 0, 1, spatialDims, 1, 0, spatialDims, 0, 1, spatialDims);
    return ConvolutionOp::create(builder, location, type(outputs, size), x, weights, numbers, all(stride), all(padding),
                                 all(padding), all(1), all(dilation), groups);
  }

  Value perChannel(Value vector, Value like) {
    return BroadcastInDimOp::create(builder, location, tensorType(like), vector, ArrayRef<int64_t>{1});
  }

  Value addBias(Value x) {
    Value bias = graph.addParameter(RankedTensorType::get({channels(x)}, builder.getF32Type()), 1);
    if (random(0, 1))
      return SubtractOp::create(builder, location, x, perChannel(bias, x));
    return AddOp::create(builder, location, perChannel(bias, x), x);
  }

  Value normalize(Value x) {
    auto vector = RankedTensorType::get({channels(x)}, builder.getF32Type());
    SmallVector<Value> operands = {x, graph.addParameter(vector, 1), graph.addParameter(vector, 1),
                                   graph.addParameter(vector, 1), graph.addParameter(vector, 1, /*positive=*/true)};
    auto op = CompositeOp::create(builder, location, x.getType(), "batch_norm_inference", operands,
                                  builder.getDictionaryAttr({}));
    OpBuilder::InsertionGuard guard(builder);
    Block &body = op.getBody().emplaceBlock();
    for (Value operand : operands)
      body.addArgument(operand.getType(), location);
    builder.setInsertionPointToStart(&body);
    Value epsilon = graph.splat(1e-5, vector);
    Value deviation = AddOp::create(builder, location, body.getArgument(4), epsilon);
    Value inverse = RsqrtOp::create(builder, location, deviation);
    Value scale = MultiplyOp::create(builder, location, body.getArgument(1), inverse);
    Value mean = MultiplyOp::create(builder, location, body.getArgument(3), scale);
    Value shift = SubtractOp::create(builder, location, body.getArgument(2), mean);
    Value scaled = MultiplyOp::create(builder, location, body.getArgument(0), perChannel(scale, x));
    Value shifted = AddOp::create(builder, location, scaled, perChannel(shift, x));
    YieldOp::create(builder, location, shifted);
    return op.getResult(0);
  }

  Value activation(Value x) {
    if (random(0, 1))
      return MaximumOp::create(builder, location, x, graph.splat(0, tensorType(x)));
    auto op = CompositeOp::create(builder, location, x.getType(), "silu", x, builder.getDictionaryAttr({}));
    OpBuilder::InsertionGuard guard(builder);
    Block &body = op.getBody().emplaceBlock();
    body.addArgument(x.getType(), location);
    builder.setInsertionPointToStart(&body);
    Value shifted = AddOp::create(builder, location, body.getArgument(0), graph.splat(0.25, tensorType(x)));
    Value gate = LogisticOp::create(builder, location, shifted);
    Value product = MultiplyOp::create(builder, location, body.getArgument(0), gate);
    YieldOp::create(builder, location, product);
    return op.getResult(0);
  }

  Value pool(Value x, ReductionKind kind) {
    if (extent(x) < 3)
      return {};
    int64_t stride = random(1, 2), padding = random(0, 1);
    Value pooled = ReduceWindowOp::create(builder, location, kind, x, windowed(3, 1), windowed(stride, 1),
                                          windowed(1, 1), windowed(1, 1), windowed(padding, 0), windowed(padding, 0));
    if (kind == ReductionKind::max)
      return pooled;
    return MultiplyOp::create(builder, location, pooled, graph.splat(1.0 / std::pow(3, spatial), tensorType(pooled)));
  }

  Value residual(Value x) {
    SmallVector<Value> fitting;
    for (Value value : values)
      if (value.getType() == x.getType())
        fitting.push_back(value);
    return AddOp::create(builder, location, x, fitting[random(0, fitting.size() - 1)]);
  }

  Value concatenate(Value x) {
    SmallVector<Value> inputs = {x};
    for (Value value : values)
      if (extent(value) == extent(x) && inputs.size() < 3 && random(0, 1))
        inputs.push_back(value);
    int64_t total = 0;
    for (Value input : inputs)
      total += channels(input);
    if (total % 4 != 0 || total > 24)
      return {};
    return ConcatenateOp::create(builder, location, inputs, 1);
  }

  Value spatialMean(Value x) {
    SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(2, spatial + 2));
    Value sum = ReduceOp::create(builder, location, ReductionKind::sum, x, dims);
    return MultiplyOp::create(builder, location, sum, graph.splat(1.0 / std::pow(extent(x), spatial), tensorType(sum)));
  }

  Value dense(Value x, int64_t outputs) {
    int64_t inputs = tensorType(x).getDimSize(1);
    bool transposed = random(0, 1);
    SmallVector<int64_t> shape = {transposed ? outputs : inputs, transposed ? inputs : outputs};
    Value weights =
        graph.addParameter(RankedTensorType::get(shape, builder.getF32Type()), 1.0 / std::sqrt(double(inputs)));
    RankedTensorType result = makeTensorType({batch, dim(outputs)}, builder.getF32Type());
    Value product =
        DotGeneralOp::create(builder, location, result, x, weights, ArrayRef<int64_t>{1},
                             ArrayRef<int64_t>{transposed ? 1 : 0}, ArrayRef<int64_t>{}, ArrayRef<int64_t>{});
    Value bias = graph.addParameter(RankedTensorType::get({outputs}, builder.getF32Type()), 1);
    return AddOp::create(builder, location, product,
                         BroadcastInDimOp::create(builder, location, result, bias, ArrayRef<int64_t>{1}));
  }

  /// A factor a channel computed from the whole image.
  Value gate(Value x) {
    Value factor = LogisticOp::create(builder, location, dense(spatialMean(x), channels(x)));
    return MultiplyOp::create(
        builder, location, x,
        BroadcastInDimOp::create(builder, location, tensorType(x), factor, ArrayRef<int64_t>{0, 1}));
  }

  Value pad(Value x) {
    if (extent(x) > 14)
      return {};
    SmallVector<int64_t> edge = windowed(1, 0), none = windowed(0, 0);
    return PadOp::create(builder, location, x, graph.constant(graph.pick({0.0, 1.0}), builder.getF32Type()), edge, edge,
                         none);
  }

  /// Channels-last work that the model itself asks for.
  Value thereAndBack(Value x) {
    SmallVector<int64_t> there = {0}, back = {0, spatial + 1};
    for (int64_t i = 0; i < spatial; ++i) {
      there.push_back(i + 2);
      back.push_back(i + 1);
    }
    there.push_back(1);
    Value last = TransposeOp::create(builder, location, x, there);
    return TransposeOp::create(builder, location, activation(last), back);
  }

  Value classifier(Value x) {
    if (random(0, 1))
      return dense(spatialMean(x), 5);
    int64_t pixels = 1;
    for (int i = 0; i < spatial; ++i)
      pixels *= extent(x);
    RankedTensorType flat = makeTensorType({batch, dim(channels(x) * pixels)}, builder.getF32Type());
    return dense(ReshapeOp::create(builder, location, flat, x), 5);
  }

  GraphUnderTest &graph;
  OpBuilder &builder;
  Location location;
  int64_t spatial;
  Dim batch;
  std::vector<Value> values;
};

} // namespace

void buildRandomNetwork(GraphUnderTest &graph, int layers, int spatialDimensions) {
  NetworkBuilder(graph, spatialDimensions).run(layers);
}

} // namespace weft::test
