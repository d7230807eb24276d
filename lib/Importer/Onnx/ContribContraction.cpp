//===- ContribContraction.cpp - ONNX Runtime's products and convolutions with what follows them ----===//

#include "lib/Importer/Onnx/Activations.h"
#include "lib/Importer/Onnx/Contrib.h"
#include "lib/Importer/Onnx/Convolution.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

/// The activation called `name`, with its parameters in ONNX's order; null, with an error, for an unknown one.
Value activated(Node &node, Value x, StringRef name, ArrayRef<double> parameters) {
  Builder &b = node.b;
  auto parameter = [&](size_t index, double fallback) {
    return index < parameters.size() ? parameters[index] : fallback;
  };
  if (name.empty())
    return x;
  if (name == "Relu")
    return buildRelu(b, x);
  if (name == "Sigmoid")
    return b.unary<LogisticOp>(x);
  if (name == "Tanh")
    return b.tanh(x);
  if (name == "LeakyRelu")
    return buildLeakyRelu(b, x, parameter(0, 0.01f));
  if (name == "HardSigmoid")
    return buildHardSigmoid(b, x, parameter(0, 0.2f), parameter(1, 0.5));
  if (name == "Clip")
    return b.minimum(b.maximum(x, parameter(0, std::numeric_limits<float>::lowest())),
                     parameter(1, std::numeric_limits<float>::max()));
  node.error() << "attribute 'activation': expected Relu, Sigmoid, Tanh, LeakyRelu, HardSigmoid or Clip, got '" << name
               << "'";
  return {};
}

/// The operand as numpy.matmul takes it. `movesBatch` puts the first dimension before the last one.
Value arranged(Builder &b, Value x, bool movesBatch, bool swapsLast) {
  int64_t rank = b.rank(x);
  if (rank < 2)
    return x;
  SmallVector<int64_t> permutation;
  for (int64_t i = 0; i < rank; ++i)
    permutation.push_back(i);
  if (movesBatch)
    std::rotate(permutation.begin(), permutation.begin() + 1, permutation.end() - 1);
  if (swapsLast)
    std::swap(permutation[rank - 2], permutation[rank - 1]);
  return b.transpose(x, permutation);
}

LogicalResult importFusedMatMul(Node &node) {
  Builder &b = node.b;
  double alpha = node.real("alpha", 1);
  bool left = node.integer("transA", 0) != 0, right = node.integer("transB", 0) != 0;
  bool leftBatch = node.integer("transBatchA", 0) != 0, rightBatch = node.integer("transBatchB", 0) != 0;
  Value product = b.matmul(arranged(b, node.input(0), leftBatch, left), arranged(b, node.input(1), rightBatch, right));
  return node.output(0, alpha == 1 ? product : b.multiply(product, alpha));
}

/// What `plain` gives, with the activation that the node's attributes say.
LogicalResult importActivated(Node &node, const Handler &plain, ArrayRef<StringRef> parameterNames) {
  std::string name = node.string("activation", "");
  SmallVector<double> parameters = node.realList("activation_params");
  for (StringRef parameter : parameterNames)
    if (node.hasAttribute(parameter))
      parameters.push_back(node.real(parameter, 0));
  if (failed(plain(node)))
    return failure();
  Value result = node.allOutputs()[0];
  return node.output(0, activated(node, result, name, parameters));
}

/// Convolution, then + z, then the activation.
LogicalResult importFusedConv(Node &node) {
  Builder &b = node.b;
  std::optional<ConvolutionParameters> parameters = readConvolution(node, node.input(0), node.input(1));
  std::string name = node.string("activation", "");
  SmallVector<double> activationParameters = node.realList("activation_params");
  if (!parameters)
    return failure();
  Value result = addChannelBias(b, buildConvolution(b, node.input(0), node.input(1), *parameters), node.input(2));
  if (node.has(3))
    result = b.add(result, node.input(3));
  return node.output(0, activated(node, result, name, activationParameters));
}

} // namespace

void addContribContractionHandlers(HandlerTable &table) {
  table.addIn(kContribDomain, "FusedMatMul", 1, importFusedMatMul);
  table.addIn(kContribDomain, "TransposeMatMul", 1, importFusedMatMul);
  table.addIn(kContribDomain, "FusedConv", 1, importFusedConv);
  const Handler gemm = *table.find("", "Gemm", 13);
  table.addIn(kContribDomain, "FusedGemm", 1, [gemm](Node &node) {
    return importActivated(node, gemm, {"activation_alpha", "activation_beta", "activation_gamma"});
  });
  // What has become an operator of ONNX.
  for (StringRef name : {"Trilu", "GatherND"})
    if (const Handler *handler = table.find("", name, 18))
      table.addIn(kContribDomain, name, 1, Handler(*handler));
}

} // namespace weft::importer
