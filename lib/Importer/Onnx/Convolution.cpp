//===- Convolution.cpp - ONNX's convolutions -----------------------------------------------------===//

#include "lib/Importer/Onnx/Convolution.h"
#include "lib/Importer/Onnx/Handlers.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

/// [b, f, 0, 1, ...] x [o, i, 0, 1, ...] -> [b, f, 0, 1, ...].
static ConvolutionDimensionsAttr channelsFirst(MLIRContext *context, int64_t spatialCount) {
  SmallVector<int64_t> spatial;
  for (int64_t i = 0; i < spatialCount; ++i)
    spatial.push_back(i + 2);
  return ConvolutionDimensionsAttr::get(context, 0, 1, spatial, 1, 0, spatial, 0, 1, spatial);
}

Value buildConvolution(Builder &b, Value x, Value kernel, const ConvolutionParameters &parameters, Type resultElement) {
  if (!b.sameElements({x, kernel}))
    return {};
  int64_t spatial = b.rank(x) - 2;
  Dim features = b.dim(x, 1), kernelFeatures = b.dim(kernel, 1), outputs = b.dim(kernel, 0);
  if (features != kernelFeatures * parameters.groups && kernelFeatures.isConstant()) {
    SmallVector<Dim> assumed = b.dims(x);
    assumed[1] = kernelFeatures * parameters.groups;
    if (Value same = b.assumeShape(x, assumed)) {
      x = same;
      features = assumed[1];
    }
  }
  if (features != kernelFeatures * parameters.groups || !outputs.isConstant() ||
      outputs.getConstant() % parameters.groups != 0) {
    b.error() << "the input has " << features << " channels and the weights have shape [" << outputs << ", "
              << kernelFeatures << ", ...], which does not fit group = " << parameters.groups << ": expected "
              << kernelFeatures * parameters.groups << " channels, and a first dimension divisible by the groups";
    return {};
  }
  SmallVector<Dim> result{b.dim(x, 0), outputs};
  for (int64_t i = 0; i < spatial; ++i) {
    Dim size = b.dim(x, i + 2), window = (b.dim(kernel, i + 2) - 1) * parameters.rhsDilation[i] + 1;
    bool empty = size == b.size(0);
    Dim padded = (empty ? size : (size - 1) * parameters.lhsDilation[i] + 1) + parameters.low[i] + parameters.high[i];
    Dim steps = (padded - window).floorDiv(parameters.strides[i]) + 1;
    if (steps.isConstant() && steps.getConstant() < 0)
      steps = b.size(0);
    if (!b.facts.symbols.requireAtLeast(steps, 0)) {
      b.error() << "spatial dimension " << i << " of size " << size << " may be smaller than the window of " << window
                << "; give its symbol a larger lower bound";
      return {};
    }
    result.push_back(steps);
  }
  if (!b.isSane(result))
    return {};
  Type type = makeTensorType(result, resultElement ? resultElement : b.element(x));
  return b.fold(ConvolutionOp::create(b.ops, b.location, type, x, kernel, channelsFirst(b.context(), spatial),
                                      parameters.strides, parameters.low, parameters.high, parameters.lhsDilation,
                                      parameters.rhsDilation, parameters.groups));
}

Value addChannelBias(Builder &b, Value x, Value bias) {
  if (!bias || !x)
    return x;
  if (b.rank(bias) != 1 || (b.dim(bias, 0) != b.dim(x, 1) && b.dim(bias, 0) != b.size(1))) {
    b.error() << "expected a bias of " << b.dim(x, 1) << " elements, got type " << bias.getType();
    return {};
  }
  return b.add(x, b.broadcastInDim(bias, b.dims(x), 1));
}

std::optional<ConvolutionParameters> readConvolution(Node &node, Value x, Value kernel) {
  Builder &b = node.b;
  int64_t rank = b.rank(x);
  if (rank < 3 || b.rank(kernel) != rank) {
    node.error() << "expected an input [batch, channels, spatial...] and weights of the same rank, got ranks " << rank
                 << " and " << b.rank(kernel);
    return std::nullopt;
  }
  SmallVector<int64_t> shape;
  for (int64_t i = 2; i < rank; ++i) {
    if (!b.dim(kernel, i).isConstant()) {
      node.error() << "expected weights whose spatial sizes are integers, got " << b.dim(kernel, i);
      return std::nullopt;
    }
    shape.push_back(b.dim(kernel, i).getConstant());
  }
  std::optional<SmallVector<int64_t>> kernelShape = readKernelShape(node, shape, rank - 2);
  std::optional<WindowAttributes> window = kernelShape ? readWindow(node, x, *kernelShape) : std::nullopt;
  int64_t groups = node.integer("group", 1);
  if (!window)
    return std::nullopt;
  if (groups < 1 || groups > (int64_t(1) << 40)) {
    node.error() << "attribute 'group': expected at least 1, got " << groups;
    return std::nullopt;
  }
  ConvolutionParameters parameters;
  parameters.strides = window->strides;
  parameters.rhsDilation = window->dilations;
  parameters.lhsDilation.assign(rank - 2, 1);
  parameters.low = window->low;
  parameters.high = window->high;
  parameters.groups = groups;
  return parameters;
}

namespace {

LogicalResult importConv(Node &node) {
  Builder &b = node.b;
  std::optional<ConvolutionParameters> parameters = readConvolution(node, node.input(0), node.input(1));
  if (!parameters)
    return failure();
  Value result = buildConvolution(b, node.input(0), node.input(1), *parameters);
  return node.output(0, addChannelBias(b, result, node.input(2)));
}

/// The weights [in, out / group, k...] of a transposed convolution as those [out, in / group, k...] of a convolution:
/// the kernel is turned round, and inputs and outputs change places within each group.
Value transposedKernel(Builder &b, Value weights, int64_t groups) {
  int64_t spatial = b.rank(weights) - 2;
  Dim inputs = b.dim(weights, 0), outputsOfGroup = b.dim(weights, 1);
  std::optional<Dim> inputsOfGroup = inputs.divideExactly(b.size(groups));
  if (!inputsOfGroup) {
    b.error() << "the weights have " << inputs << " input channels, which group = " << groups << " does not divide";
    return {};
  }
  SmallVector<int64_t> flipped, swap{0, 2, 1};
  SmallVector<Dim> grouped{b.size(groups), *inputsOfGroup, outputsOfGroup},
      merged{outputsOfGroup * groups, *inputsOfGroup};
  for (int64_t i = 0; i < spatial; ++i) {
    flipped.push_back(i + 2);
    swap.push_back(i + 3);
    grouped.push_back(b.dim(weights, i + 2));
    merged.push_back(b.dim(weights, i + 2));
  }
  Value turned = b.reverse(weights, flipped);
  return b.reshape(b.transpose(b.reshape(turned, grouped), swap), merged);
}

LogicalResult importConvTranspose(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0), weights = node.input(1);
  int64_t rank = b.rank(x), spatial = rank - 2;
  if (spatial < 1 || b.rank(weights) != rank)
    return node.fail("expected an input [batch, channels, spatial...] and weights of the same rank");
  SmallVector<int64_t> shape;
  for (int64_t i = 2; i < rank; ++i) {
    if (!b.dim(weights, i).isConstant())
      return node.fail("expected weights whose spatial sizes are integers");
    shape.push_back(b.dim(weights, i).getConstant());
  }
  std::string automatic = node.string("auto_pad", "NOTSET");
  std::optional<SmallVector<int64_t>> kernel = readKernelShape(node, shape, spatial);
  SmallVector<int64_t> ones(spatial, 1), zeros(2 * spatial, 0);
  SmallVector<int64_t> strides = node.integerList("strides", ones), dilations = node.integerList("dilations", ones),
                       pads = node.integerList("pads", zeros),
                       extra = node.integerList("output_padding", ArrayRef(zeros).take_front(spatial)),
                       wanted = node.integerList("output_shape");
  int64_t groups = node.integer("group", 1);
  if (!kernel || node.failed())
    return failure();
  // A list of output sizes may hold those of batch and channels too.
  if (static_cast<int64_t>(wanted.size()) == rank)
    wanted.erase(wanted.begin(), wanted.begin() + 2);
  size_t count = spatial;
  if (strides.size() != count || dilations.size() != count || pads.size() != 2 * count || extra.size() != count ||
      (!wanted.empty() && wanted.size() != count))
    return node.fail("expected strides, dilations, pads, output_padding and output_shape for " +
                     std::to_string(spatial) + " spatial dimensions");
  constexpr int64_t kLargest = int64_t(1) << 24;
  for (ArrayRef<int64_t> list : {ArrayRef<int64_t>(strides), ArrayRef<int64_t>(dilations)})
    for (int64_t value : list)
      if (value < 1 || value > kLargest)
        return node.fail("expected strides and dilations of at least 1, got " + std::to_string(value));
  for (ArrayRef<int64_t> list : {ArrayRef<int64_t>(pads), ArrayRef<int64_t>(extra)})
    for (int64_t value : list)
      if (value < 0 || value > kLargest)
        return node.fail("expected pads and output_padding that are not negative, got " + std::to_string(value));
  if (groups < 1 || groups > kLargest)
    return node.fail("attribute 'group': expected at least 1, got " + std::to_string(groups));

  ConvolutionParameters parameters;
  parameters.groups = groups;
  parameters.strides = ones;
  parameters.lhsDilation = strides;
  parameters.rhsDilation = dilations;
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t extent = dilations[i] * ((*kernel)[i] - 1) + 1;
    int64_t low = pads[i], high = pads[spatial + i], added = extra[i];
    bool isSame = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
    if (automatic == "VALID")
      low = high = 0;
    if (!wanted.empty() || isSame) {
      // total = stride * (size - 1) + output_padding + extent - wanted; without output_shape, wanted is size * stride.
      int64_t total;
      if (wanted.empty()) {
        total = added + extent - strides[i];
      } else {
        Dim size = b.dim(x, i + 2);
        if (!size.isConstant())
          return node.fail("attribute 'output_shape' needs spatial sizes of the input that are integers; give the "
                           "inputs a shape");
        total = strides[i] * (size.getConstant() - 1) + added + extent - wanted[i];
      }
      if (total < 0) {
        // More is wanted than the kernel reaches: zeros (and the bias) at the end.
        added -= total;
        total = 0;
      }
      low = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
      high = total - low;
    }
    parameters.low.push_back(extent - 1 - low);
    parameters.high.push_back(extent - 1 - high + added);
  }
  Value result = buildConvolution(b, x, transposedKernel(b, weights, groups), parameters);
  return node.output(0, addChannelBias(b, result, node.input(2)));
}

} // namespace

void addConvolutionHandlers(HandlerTable &table) {
  table.add("Conv", importConv);
  table.add("ConvTranspose", importConvTranspose);
}

} // namespace weft::importer
