// Two operators that Weft does not know, as a shared library: weft compile model.onnx --operators=./my_operators.so -o
// model.weft
#include <weft/operators.hpp>

// y = gate(x) * x with gate = sigmoid(slope * x), and slope an attribute.
static void lowerGated(weft::Lowering &node) {
  WeftValue x = node.input(0);
  WeftValue slope = node.scalar(node.real("slope", 1));
  node.output(0, node.build("Mul", {x, node.build("Sigmoid", {node.build("Mul", {x, slope})})}));
}

// The smallest and the largest element along an axis.
static void lowerRange(weft::Lowering &node) {
  WeftValue x = node.input(0), axes = node.integers(std::vector<int64_t>{node.integer("axis", -1)});
  if (node.outputCount() != 2)
    return node.error("expected two outputs");
  node.output(0, node.build("ReduceMin", {x, axes}, {{"keepdims", 0}}));
  node.output(1, node.build("ReduceMax", {x, axes}, {{"keepdims", 0}}));
}

extern "C" WEFT_OPERATORS_EXPORT int weft_register_operators(const WeftOperatorRegistry *registry) {
  weft::addOperator(*registry, "com.example", "Gated", 1, lowerGated);
  weft::addOperator(*registry, "com.example", "Extent", 1, lowerRange);
  return 0;
}
