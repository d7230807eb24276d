//===- Training.cpp - ONNX's steps of optimizers --------------------------------------------------===//

#include "lib/Importer/Onnx/Training.h"
#include "lib/Importer/Onnx/Node.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

/// From the k tensors that belong to one variable (its value, its gradient, its states) to their new values, without
/// the gradient.
using Update = llvm::function_ref<SmallVector<Value>(ArrayRef<Value>)>;

/// Inputs are the rate, the count of steps, then all values, all gradients, all first states, ...; outputs the same
/// without gradients.
LogicalResult updateAll(Node &node, int64_t kinds, Update update) {
  int64_t given = node.inputCount() - 2, variables = given / kinds;
  if (given < kinds || given % kinds != 0)
    return node.fail("expected a rate, a count and " + std::to_string(kinds) + " inputs a variable, got " +
                     std::to_string(node.inputCount()) + " inputs");
  for (int64_t i = 0; i < node.inputCount(); ++i)
    if (!node.has(i))
      return node.fail("input " + std::to_string(i) + " is required, but it is absent");
  for (int64_t variable = 0; variable < variables; ++variable) {
    SmallVector<Value> tensors;
    for (int64_t kind = 0; kind < kinds; ++kind)
      tensors.push_back(node.input(2 + kind * variables + variable));
    SmallVector<Value> next = update(tensors);
    for (auto [kind, value] : llvm::enumerate(next))
      if (failed(node.output(static_cast<int64_t>(kind) * variables + variable, value)))
        return failure();
  }
  return success();
}

/// The rate as a scalar of the element type of `x`.
Value rateLike(Node &node, Value x) { return node.b.convert(node.b.reshape(node.input(0), {}), node.b.element(x)); }

/// Whether the count of steps is above 0.
Value isLater(Node &node) { return node.b.compare(ComparisonDirection::GT, node.b.reshape(node.input(1), {}), 0.0); }

Value countLike(Node &node, Value x) { return node.b.convert(node.b.reshape(node.input(1), {}), node.b.element(x)); }

/// The gradient of the loss and of norm / 2 * ||x||^2.
Value regularized(Builder &b, Value x, Value gradient, double norm) {
  return norm == 0 ? gradient : b.add(b.multiply(x, norm), gradient);
}

LogicalResult importAdam(Node &node) {
  Builder &b = node.b;
  double alpha = node.real("alpha", 0.9f), beta = node.real("beta", 0.999f), epsilon = node.real("epsilon", 1e-6f);
  double norm = node.real("norm_coefficient", 0), normAfter = node.real("norm_coefficient_post", 0);
  return updateAll(node, 4, [&](ArrayRef<Value> tensors) -> SmallVector<Value> {
    Value x = tensors[0], gradient = regularized(b, x, tensors[1], norm);
    Value mean = b.add(b.multiply(tensors[2], alpha), b.multiply(gradient, 1 - alpha));
    Value square = b.add(b.multiply(tensors[3], beta), b.multiply(b.multiply(gradient, gradient), 1 - beta));
    // Both averages start at 0: the rate makes up for that.
    Value rate = rateLike(node, x), count = countLike(node, x);
    auto complement = [&](double base) {
      return b.subtract(b.scalarLike(x, 1), b.binary<PowerOp>(b.scalarLike(x, base), count));
    };
    Value corrected = b.divide(b.multiply(rate, b.sqrt(complement(beta))), complement(alpha));
    Value step = b.multiply(b.select(isLater(node), corrected, rate), b.divide(mean, b.add(b.sqrt(square), epsilon)));
    Value next = b.subtract(x, step);
    return {normAfter == 0 ? next : b.multiply(next, 1 - normAfter), mean, square};
  });
}

LogicalResult importAdagrad(Node &node) {
  Builder &b = node.b;
  double decay = node.real("decay_factor", 0), epsilon = node.real("epsilon", 1e-6f),
         norm = node.real("norm_coefficient", 0);
  return updateAll(node, 3, [&](ArrayRef<Value> tensors) -> SmallVector<Value> {
    Value x = tensors[0], gradient = regularized(b, x, tensors[1], norm);
    Value rate = b.divide(rateLike(node, x), b.add(b.multiply(countLike(node, x), decay), 1.0));
    Value square = b.add(tensors[2], b.multiply(gradient, gradient));
    Value step = b.divide(b.multiply(gradient, rate), b.add(b.sqrt(square), epsilon));
    return {b.subtract(x, step), square};
  });
}

LogicalResult importMomentum(Node &node) {
  Builder &b = node.b;
  std::string mode = node.string("mode", "standard");
  for (StringRef name : {"alpha", "beta", "norm_coefficient"})
    if (!node.hasAttribute(name))
      return node.fail("attribute '" + name + "' is missing; expected a float");
  double alpha = node.real("alpha", 0), beta = node.real("beta", 0), norm = node.real("norm_coefficient", 0);
  if (mode != "standard" && mode != "nesterov")
    return node.fail("attribute 'mode': expected standard or nesterov, got '" + mode + "'");
  return updateAll(node, 3, [&](ArrayRef<Value> tensors) -> SmallVector<Value> {
    Value x = tensors[0], gradient = regularized(b, x, tensors[1], norm);
    // The first step takes the gradient whole.
    Value share = b.select(isLater(node), b.scalarLike(x, beta), b.scalarLike(x, 1));
    Value momentum = b.add(b.multiply(tensors[2], alpha), b.multiply(gradient, share));
    Value direction = mode == "nesterov" ? b.add(gradient, b.multiply(momentum, alpha)) : momentum;
    return {b.subtract(x, b.multiply(direction, rateLike(node, x))), momentum};
  });
}

} // namespace

void addTrainingHandlers(HandlerTable &table) {
  constexpr StringLiteral kDomain = "ai.onnx.preview.training";
  table.addIn(kDomain, "Adam", 1, importAdam);
  table.addIn(kDomain, "Adagrad", 1, importAdagrad);
  table.addIn(kDomain, "Momentum", 1, importMomentum);
}

} // namespace weft::importer
