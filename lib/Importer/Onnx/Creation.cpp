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
  std::optional<SmallVector<Dim>> dims = node.sizes(0, "the shape");
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

LogicalResult importRange(Node &node) {
  Builder &b = node.b;
  for (int64_t i = 0; i < 3; ++i)
    if (getElementCount(node.input(i).getType()) != b.size(1))
      return node.fail("expected scalars as start, limit and delta");
  Type element = b.element(node.input(0));
  // The number of elements is the result's shape.
  Dim count = b.size(0);
  // Sizes that were converted to floats count as exactly as integers do.
  SmallVector<Dim, 3> known;
  for (int64_t i = 0; i < 3; ++i)
    if (const KnownElements::Elements *elements = b.facts.elements.get(node.input(i));
        elements && elements->size() == 1)
      known.push_back(elements->front());
  bool areSizes = known.size() == 3 && known[2].isConstant();
  if (b.isFloat(node.input(0)) && !areSizes) {
    std::optional<TensorValue> start = node.constant(0, "the start"), limit = node.constant(1, "the limit"),
                               delta = node.constant(2, "the delta");
    if (!start || !limit || !delta)
      return failure();
    double number = std::ceil((limit->getFloat(0) - start->getFloat(0)) / delta->getFloat(0));
    if (!(number < 1e15))
      return node.fail("the range has no end: start, limit and delta do not fit");
    count = b.size(static_cast<int64_t>(std::max(number, 0.0)));
  } else {
    std::optional<SmallVector<Dim>> start, limit;
    std::optional<SmallVector<int64_t>> delta;
    if (areSizes) {
      start = SmallVector<Dim>{known[0]};
      limit = SmallVector<Dim>{known[1]};
      delta = SmallVector<int64_t>{known[2].getConstant()};
    } else {
      start = node.sizes(0, "the start");
      limit = node.sizes(1, "the limit");
      delta = node.integers(2, "the delta");
    }
    if (!start || !limit || !delta)
      return failure();
    int64_t step = (*delta)[0];
    if (step == 0)
      return node.fail("expected a delta that is not 0");
    Dim distance = step > 0 ? (*limit)[0] - (*start)[0] : (*start)[0] - (*limit)[0];
    count = distance.ceilDiv(step == std::numeric_limits<int64_t>::min() ? std::numeric_limits<int64_t>::max()
                                                                         : std::abs(step));
    if (b.facts.symbols.boundsOf(count).max < 0)
      count = b.size(0);
    if (!b.facts.symbols.requireAtLeast(count, 0)) {
      node.error() << "the range may have a negative number of elements, " << count;
      return failure();
    }
  }
  Value steps = b.multiply(b.iota(element, count, 0), b.reshape(node.input(2), {}));
  return node.output(0, b.add(steps, b.reshape(node.input(0), {})));
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
