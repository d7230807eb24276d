//===- Activation.cpp - ONNX's activation functions and the softmax family -----------------------===//

#include "lib/Importer/Onnx/Activations.h"
#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Node.h"
#include <cmath>

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

//===----------------------------------------------------------------------===//
// What recurrent networks use too
//===----------------------------------------------------------------------===//

Value buildRelu(Builder &b, Value x) { return b.maximum(x, 0.0); }

Value buildLeakyRelu(Builder &b, Value x, double alpha) {
  return b.select(b.compare(ComparisonDirection::LT, x, 0.0), b.multiply(x, alpha), x);
}

Value buildThresholdedRelu(Builder &b, Value x, double alpha) {
  return b.select(b.compare(ComparisonDirection::GT, x, alpha), x, b.scalarLike(x, 0));
}

Value buildHardSigmoid(Builder &b, Value x, double alpha, double beta) {
  return b.maximum(b.minimum(b.add(b.multiply(x, alpha), beta), 1.0), 0.0);
}

Value buildElu(Builder &b, Value x, double alpha) {
  return b.select(b.compare(ComparisonDirection::LT, x, 0.0), b.multiply(b.unary<ExponentialMinusOneOp>(x), alpha), x);
}

Value buildSoftplus(Builder &b, Value x) {
  // log(1 + e^x) without overflow: max(x, 0) + log1p(e^-|x|).
  Value tail = b.unary<LogPlusOneOp>(b.exponential(b.negate(b.abs(x))));
  return b.add(b.maximum(x, 0.0), tail);
}

Value buildSoftsign(Builder &b, Value x) { return b.divide(x, b.add(b.abs(x), 1.0)); }

Value buildSwish(Builder &b, Value x, double alpha) {
  return b.multiply(x, b.unary<LogisticOp>(alpha == 1 ? x : b.multiply(x, alpha)));
}

Value buildSoftmax(Builder &b, Value x, int64_t axis) {
  if (!x)
    return {};
  SmallVector<Value> results =
      b.composite("softmax", b.ops.getNamedAttr("axis", b.ops.getI64IntegerAttr(axis)), {x},
                  [axis](Builder &b, ArrayRef<Value> arguments) -> SmallVector<Value> {
                    Value x = arguments[0];
                    Value shifted = b.subtract(x, b.reduce(ReductionKind::max, x, axis, /*keepDims=*/true));
                    Value powers = b.exponential(shifted);
                    return {b.divide(powers, b.sum(powers, axis, /*keepDims=*/true))};
                  });
  return results.empty() ? Value() : results[0];
}

Value buildLogSoftmax(Builder &b, Value x, int64_t axis) {
  if (!x)
    return {};
  SmallVector<Value> results =
      b.composite("log_softmax", b.ops.getNamedAttr("axis", b.ops.getI64IntegerAttr(axis)), {x},
                  [axis](Builder &b, ArrayRef<Value> arguments) -> SmallVector<Value> {
                    Value x = arguments[0];
                    Value shifted = b.subtract(x, b.reduce(ReductionKind::max, x, axis, /*keepDims=*/true));
                    return {b.subtract(shifted, b.log(b.sum(b.exponential(shifted), axis, /*keepDims=*/true)))};
                  });
  return results.empty() ? Value() : results[0];
}

Value buildGelu(Builder &b, Value x, bool useTanh) {
  if (!x)
    return {};
  SmallVector<Value> results =
      b.composite("gelu", b.ops.getNamedAttr("approximate", b.ops.getStringAttr(useTanh ? "tanh" : "none")), {x},
                  [useTanh](Builder &b, ArrayRef<Value> arguments) -> SmallVector<Value> {
                    Value x = arguments[0];
                    Value inner =
                        useTanh ? b.tanh(b.multiply(b.add(x, b.multiply(b.multiply(b.multiply(x, x), x), 0.044715)),
                                                    std::sqrt(2 / M_PI)))
                                : b.unary<ErfOp>(b.multiply(x, M_SQRT1_2));
                    return {b.multiply(b.multiply(x, 0.5), b.add(inner, 1.0))};
                  });
  return results.empty() ? Value() : results[0];
}

namespace {

LogicalResult importRelu(Node &node) {
  node.ignore("consumed_inputs");
  return node.output(0, buildRelu(node.b, node.input(0)));
}

LogicalResult importLeakyRelu(Node &node) {
  node.ignore("consumed_inputs");
  return node.output(0, buildLeakyRelu(node.b, node.input(0), node.real("alpha", 0.01f)));
}

LogicalResult importPRelu(Node &node) {
  Builder &b = node.b;
  node.ignore("consumed_inputs");
  Value x = node.input(0), slope = node.input(1);
  // Before opset 7 a slope of one dimension belongs to the channels.
  if (node.opset() < 7 && b.rank(slope) == 1 && b.rank(x) > 2) {
    SmallVector<Dim> dims(b.rank(x) - 1, b.size(1));
    dims[0] = b.dim(slope, 0);
    slope = b.reshape(slope, dims);
  }
  slope = b.broadcast(slope, b.dims(x));
  return node.output(0, b.select(b.compare(ComparisonDirection::LT, x, 0.0), b.multiply(x, slope), x));
}

LogicalResult importThresholdedRelu(Node &node) {
  return node.output(0, buildThresholdedRelu(node.b, node.input(0), node.real("alpha", 1)));
}

LogicalResult importHardSigmoid(Node &node) {
  node.ignore("consumed_inputs");
  return node.output(0, buildHardSigmoid(node.b, node.input(0), node.real("alpha", 0.2f), node.real("beta", 0.5)));
}

LogicalResult importHardSwish(Node &node) {
  Value x = node.input(0);
  return node.output(0, node.b.multiply(x, buildHardSigmoid(node.b, x, 1.0f / 6, 0.5)));
}

LogicalResult importElu(Node &node) {
  node.ignore("consumed_inputs");
  return node.output(0, buildElu(node.b, node.input(0), node.real("alpha", 1)));
}

LogicalResult importSelu(Node &node) {
  Builder &b = node.b;
  node.ignore("consumed_inputs");
  double alpha = node.real("alpha", 1.67326319217681884765625), gamma = node.real("gamma", 1.05070102214813232421875);
  return node.output(0, b.multiply(buildElu(b, node.input(0), alpha), gamma));
}

LogicalResult importCelu(Node &node) {
  Builder &b = node.b;
  double alpha = node.real("alpha", 1);
  Value x = node.input(0);
  Value negative = b.multiply(b.unary<ExponentialMinusOneOp>(b.divide(x, alpha)), alpha);
  return node.output(0, b.add(b.maximum(x, 0.0), b.minimum(negative, 0.0)));
}

LogicalResult importSoftplus(Node &node) { return node.output(0, buildSoftplus(node.b, node.input(0))); }
LogicalResult importSoftsign(Node &node) { return node.output(0, buildSoftsign(node.b, node.input(0))); }

LogicalResult importMish(Node &node) {
  Value x = node.input(0);
  return node.output(0, node.b.multiply(x, node.b.tanh(buildSoftplus(node.b, x))));
}

LogicalResult importSwish(Node &node) {
  return node.output(0, buildSwish(node.b, node.input(0), node.real("alpha", 1)));
}

LogicalResult importSwiGLU(Node &node) {
  Builder &b = node.b;
  if (b.dims(node.input(0)) != b.dims(node.input(1)))
    return node.fail("expected a gate and a value of one shape");
  return node.output(0, b.multiply(buildSwish(b, node.input(0), node.real("alpha", 1)), node.input(1)));
}

LogicalResult importShrink(Node &node) {
  Builder &b = node.b;
  double bias = node.real("bias", 0), lambda = node.real("lambd", 0.5);
  Value x = node.input(0), zero = b.scalarLike(x, 0);
  // The limits are floats also where the elements are integers.
  Value compared = b.isFloat(x) ? x : b.convert(x, b.f32());
  Value shiftedUp = b.isFloat(x) ? b.add(x, bias) : b.convert(b.add(compared, bias), b.element(x));
  Value shiftedDown = b.isFloat(x) ? b.subtract(x, bias) : b.convert(b.subtract(compared, bias), b.element(x));
  Value above = b.select(b.compare(ComparisonDirection::GT, compared, lambda), shiftedDown, zero);
  return node.output(0, b.select(b.compare(ComparisonDirection::LT, compared, -lambda), shiftedUp, above));
}

LogicalResult importGelu(Node &node) {
  std::string approximate = node.string("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return node.fail("attribute 'approximate': expected none or tanh, got '" + approximate + "'");
  return node.output(0, buildGelu(node.b, node.input(0), approximate == "tanh"));
}

using AxisBuilder = Value (*)(Builder &, Value, int64_t);

Value buildHardmax(Builder &b, Value x, int64_t axis) {
  if (!x)
    return {};
  if (b.dim(x, axis) == b.size(0))
    return x;
  Value index = b.inferred<ArgReduceOp>(x.getType(), ReductionKind::max, x, axis, false, b.i64());
  if (!index)
    return {};
  Value positions = b.iota(b.i64(), b.dims(x), axis);
  Value isLargest = b.compare(ComparisonDirection::EQ, positions, b.expandDims(index, axis));
  return b.convert(isLargest, b.element(x));
}

/// Before opset 13 the input is seen as a matrix of the dimensions before `axis` and those from it on.
template <AxisBuilder build> LogicalResult importFlattened(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  int64_t rank = b.rank(x), given = node.integer("axis", 1);
  if (rank == 0)
    return node.output(0, b.reshape(build(b, b.reshape(x, b.size(1)), 0), {}));
  int64_t axis = given == rank ? rank : node.axis(given, rank);
  if (node.failed())
    return failure();
  SmallVector<Dim> dims = b.dims(x);
  // One dimension that is not 1 needs no flattening.
  bool single =
      axis < rank && llvm::all_of(ArrayRef(dims).drop_front(axis + 1), [&](Dim dim) { return dim == b.size(1); });
  if (single)
    return node.output(0, build(b, x, axis));
  Dim rows = product(ArrayRef(dims).take_front(axis), b.context()),
      columns = product(ArrayRef(dims).drop_front(axis), b.context());
  Value matrix = build(b, b.reshape(x, {rows, columns}), 1);
  return node.output(0, b.reshape(matrix, dims));
}

template <AxisBuilder build> LogicalResult importAlongAxis(Node &node) {
  Value x = node.input(0);
  if (node.b.rank(x) == 0) {
    node.ignore("axis");
    Value vector = build(node.b, node.b.reshape(x, node.b.size(1)), 0);
    return node.output(0, node.b.reshape(vector, {}));
  }
  int64_t axis = node.axis(node.integer("axis", -1), node.b.rank(x));
  if (node.failed())
    return failure();
  return node.output(0, build(node.b, x, axis));
}

} // namespace

void addActivationHandlers(HandlerTable &table) {
  table.add("Relu", importRelu);
  table.add("LeakyRelu", importLeakyRelu);
  table.add("PRelu", importPRelu);
  table.add("ThresholdedRelu", importThresholdedRelu);
  table.add("HardSigmoid", importHardSigmoid);
  table.add("HardSwish", importHardSwish);
  table.add("Elu", importElu);
  table.add("Selu", importSelu);
  table.add("Celu", importCelu);
  table.add("Softplus", importSoftplus);
  table.add("Softsign", importSoftsign);
  table.add("Mish", importMish);
  table.add("Swish", importSwish);
  table.add("SwiGLU", importSwiGLU);
  table.add("Shrink", importShrink);
  table.add("Gelu", importGelu);
  table.add("Softmax", 1, importFlattened<buildSoftmax>);
  table.add("Softmax", 13, importAlongAxis<buildSoftmax>);
  table.add("LogSoftmax", 1, importFlattened<buildLogSoftmax>);
  table.add("LogSoftmax", 13, importAlongAxis<buildLogSoftmax>);
  table.add("Hardmax", 1, importFlattened<buildHardmax>);
  table.add("Hardmax", 13, importAlongAxis<buildHardmax>);
}

} // namespace weft::importer
