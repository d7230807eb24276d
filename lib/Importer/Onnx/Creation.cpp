//===- Creation.cpp - ONNX operators that make tensors from nothing ------------------------------===//

#include "lib/Importer/Onnx/GraphImporter.h"
#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Node.h"
#include "lib/Support/Onnx/ElementTypes.h"
#include "lib/Support/Onnx/onnx.pb.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

LogicalResult importConstant(Node &node) {
  Builder &b = node.b;
  std::optional<TensorValue> value;
  if (node.hasAttribute("value")) {
    value = node.tensor("value");
  } else if (node.hasAttribute("value_float")) {
    return node.output(0, b.scalar(b.f32(), node.real("value_float", 0)));
  } else if (node.hasAttribute("value_int")) {
    return node.output(0, b.integerScalar(b.i64(), node.integer("value_int", 0)));
  } else if (node.hasAttribute("value_floats")) {
    SmallVector<double> elements = node.realList("value_floats");
    TensorValue floats(b.f32(), {static_cast<int64_t>(elements.size())});
    for (auto [i, element] : llvm::enumerate(elements))
      floats.setFloat(i, element);
    value = floats;
  } else if (node.hasAttribute("value_ints")) {
    SmallVector<int64_t> elements = node.integerList("value_ints");
    TensorValue integers(b.i64(), {static_cast<int64_t>(elements.size())});
    for (auto [i, element] : llvm::enumerate(elements))
      integers.setInteger(i, element);
    value = integers;
  } else if (const onnx::AttributeProto *sparse = node.attribute("sparse_value")) {
    FailureOr<TensorValue> dense =
        node.importer.tensorOf(sparse->sparse_tensor(), b.subject + ": attribute 'sparse_value'", b.location);
    if (failed(dense))
      return failure();
    value = *dense;
  } else {
    return node.fail("expected one of the attributes value, value_float, value_floats, value_int, value_ints or "
                     "sparse_value; strings are not supported");
  }
  if (!value)
    return failure();
  return node.output(0, node.importer.materialize(node.name(), *value));
}

LogicalResult importConstantOfShape(Node &node) {
  Builder &b = node.b;
  std::optional<SmallVector<Dim>> dims = node.sizesOrBound(0, "the shape", 0);
  if (!dims)
    return failure();
  Value scalar = b.scalar(b.f32(), 0);
  if (node.hasAttribute("value")) {
    std::optional<TensorValue> value = node.tensor("value");
    if (!value)
      return failure();
    if (value->getElementCount() != 1)
      return node.fail("attribute 'value': expected one element, got " + std::to_string(value->getElementCount()));
    scalar = b.constant(value->reshaped({}));
  }
  return node.output(0, b.broadcast(scalar, *dims));
}

/// The number of elements of a range, its result's shape.
std::optional<Dim> rangeLength(Node &node, Value start, Value limit, Value delta) {
  Builder &b = node.b;
  {
    // Sizes that were converted to floats count as exactly as integers do.
    const KnownElements::Elements *from = b.facts.elements.get(start), *to = b.facts.elements.get(limit),
                                  *by = b.facts.elements.get(delta);
    if (from && to && by && (*by)[0].isConstant()) {
      int64_t step = (*by)[0].getConstant();
      if (step == 0) {
        node.error() << "expected a delta that is not 0";
        return std::nullopt;
      }
      Dim distance = step > 0 ? (*to)[0] - (*from)[0] : (*from)[0] - (*to)[0];
      Dim count = distance.ceilDiv(step == std::numeric_limits<int64_t>::min() ? std::numeric_limits<int64_t>::max()
                                                                               : std::abs(step));
      if (b.facts.symbols.boundsOf(count).max < 0)
        return b.size(0);
      if (b.facts.symbols.requireAtLeast(count, 0))
        return count;
      node.error() << "the range may have a negative number of elements, " << count;
      return std::nullopt;
    }
  }
  std::optional<TensorValue> from = b.contents(start), to = b.contents(limit), by = b.contents(delta);
  if (from && to && by && b.isFloat(start)) {
    double number = std::ceil((to->getFloat(0) - from->getFloat(0)) / by->getFloat(0));
    if (number < 1e15)
      return b.size(static_cast<int64_t>(std::max(number, 0.0)));
    node.error() << "the range has no end: start, limit and delta do not fit";
    return std::nullopt;
  }
  // Known when run only, within bounds.
  Value number;
  if (b.isFloat(start)) {
    auto wide = [&](Value value) { return b.convert(value, b.f64()); };
    number = b.unary<CeilOp>(b.divide(b.subtract(wide(limit), wide(start)), wide(delta)));
    number = b.convert(number, b.i64());
  } else {
    // Rounded up: one less than the distance, rounded towards zero, and one more.
    auto wide = [&](Value value) { return b.convert(value, b.i64()); };
    Value distance = b.subtract(wide(limit), wide(start)), step = wide(delta), one = b.integerScalar(b.i64(), 1);
    Value isEmpty = b.binary<OrOp>(
        b.compare(ComparisonDirection::EQ, distance, b.integerScalar(b.i64(), 0)),
        b.compare(ComparisonDirection::LT, b.binary<XorOp>(distance, step), b.integerScalar(b.i64(), 0)));
    Value inside = b.subtract(distance, b.unary<SignOp>(distance));
    number = b.select(isEmpty, b.integerScalar(b.i64(), 0), b.add(b.divide(inside, step), one));
  }
  return b.runtimeSize(b.maximum(number, b.integerScalar(b.i64(), 0)), node.sizeName(0, 0), {0, 4096});
}

LogicalResult importRange(Node &node) {
  Builder &b = node.b;
  for (int64_t i = 0; i < 3; ++i)
    if (getElementCount(node.input(i).getType()) != b.size(1))
      return node.fail("expected scalars as start, limit and delta");
  Value start = b.reshape(node.input(0), {}), limit = b.reshape(node.input(1), {}),
        delta = b.reshape(node.input(2), {});
  if (!b.sameElements({start, limit, delta}))
    return failure();
  std::optional<Dim> count = rangeLength(node, start, limit, delta);
  if (!count)
    return failure();
  Value steps = b.multiply(b.iota(b.element(start), *count, 0), delta);
  return node.output(0, b.add(steps, start));
}

LogicalResult importEyeLike(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  int64_t k = node.integer("k", 0);
  Type element = b.element(x);
  if (node.hasAttribute("dtype"))
    element = elementTypeOf(static_cast<OnnxType>(node.integer("dtype", 1)), b.context());
  if (!element)
    return node.fail("attribute 'dtype': Weft has no tensors of that type");
  if (!node.expectRank(0, 2))
    return failure();
  Value offset = b.subtract(b.iota(b.i64(), b.dims(x), 1), b.iota(b.i64(), b.dims(x), 0));
  return node.output(0, b.convert(b.compare(ComparisonDirection::EQ, offset, b.integerScalar(b.i64(), k)), element));
}

} // namespace

void addCreationHandlers(HandlerTable &table) {
  table.add("Constant", importConstant);
  table.add("ConstantOfShape", importConstantOfShape);
  table.add("Range", importRange);
  table.add("EyeLike", importEyeLike);
}

} // namespace weft::importer
