//===- Sequences.cpp - ONNX operators on sequences and optional values ---------------------------===//

#include "lib/Importer/Onnx/Sequences.h"
#include "lib/Importer/Onnx/GraphImporter.h"
#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Loops.h"
#include "lib/Importer/Onnx/Node.h"
#include "lib/Support/Onnx/ElementTypes.h"
#include "lib/Support/Onnx/onnx.pb.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

bool isSequence(Value value) { return value && isa<TupleType>(value.getType()); }
bool isAbsentOptional(Value value) { return value && isa<NoneType>(value.getType()); }

Value makeSequence(OpBuilder &builder, Location location, ArrayRef<Value> elements) {
  auto type = TupleType::get(builder.getContext(), ValueRange(elements).getTypes());
  return UnrealizedConversionCastOp::create(builder, location, TypeRange{type}, ValueRange(elements)).getResult(0);
}

Value makeAbsentOptional(OpBuilder &builder, Location location) {
  return UnrealizedConversionCastOp::create(builder, location, TypeRange{builder.getNoneType()}, ValueRange())
      .getResult(0);
}

SmallVector<Value> elementsOf(Value sequence) {
  auto cast = sequence.getDefiningOp<UnrealizedConversionCastOp>();
  return cast ? llvm::to_vector(cast.getInputs()) : SmallVector<Value>();
}

SmallVector<Value> flattenSequences(ArrayRef<Value> values) {
  SmallVector<Value> flat;
  for (Value value : values) {
    if (isSequence(value))
      llvm::append_range(flat, elementsOf(value));
    else
      flat.push_back(value);
  }
  return flat;
}

SmallVector<Value> regroupSequences(OpBuilder &builder, Location location, ArrayRef<Type> types, ArrayRef<Value> flat) {
  SmallVector<Value> values;
  for (Type type : types) {
    if (auto tuple = dyn_cast<TupleType>(type)) {
      values.push_back(makeSequence(builder, location, flat.take_front(tuple.size())));
      flat = flat.drop_front(tuple.size());
    } else {
      values.push_back(flat.front());
      flat = flat.drop_front();
    }
  }
  return values;
}

bool takesSequences(StringRef opType) {
  return llvm::StringSwitch<bool>(opType)
      .Cases({"SequenceAt", "SequenceInsert", "SequenceErase", "SequenceLength", "SequenceMap"}, true)
      .Cases({"ConcatFromSequence", "Optional", "OptionalHasElement", "OptionalGetElement", "Identity", "Loop"}, true)
      .Default(false);
}

namespace {

/// The elements of an input that has to be a sequence.
std::optional<SmallVector<Value>> sequenceInput(Node &node, int64_t index) {
  if (isSequence(node.input(index)))
    return elementsOf(node.input(index));
  node.error() << "expected a sequence as input " << index;
  return std::nullopt;
}

LogicalResult outputSequence(Node &node, int64_t index, ArrayRef<Value> elements) {
  if (llvm::is_contained(elements, Value()))
    return failure();
  return node.output(index, makeSequence(node.b.ops, node.b.location, elements));
}

/// A position in a sequence of `count` elements, or with `atEnd` right after the last; `fallback` where it is left out.
std::optional<int64_t> positionInput(Node &node, int64_t index, int64_t count, bool atEnd, int64_t fallback) {
  if (!node.has(index))
    return fallback;
  std::optional<SmallVector<int64_t>> given = node.integers(index, "the position in the sequence");
  if (!given)
    return std::nullopt;
  int64_t last = atEnd ? count : count - 1;
  if (given->size() != 1 || (*given)[0] < -count || (*given)[0] > last) {
    node.error() << "expected one position in [" << -count << ", " << last << "] of a sequence of " << count
                 << " elements" << (given->size() == 1 ? ", got " + std::to_string((*given)[0]) : "");
    return std::nullopt;
  }
  return (*given)[0] < 0 ? (*given)[0] + count : (*given)[0];
}

LogicalResult importSequenceEmpty(Node &node) {
  auto type = static_cast<OnnxType>(node.integer("dtype", static_cast<int64_t>(OnnxType::Float)));
  if (!elementTypeOf(type, node.b.context()))
    return node.fail("attribute 'dtype': Weft has no tensors of type " + nameOf(type));
  return outputSequence(node, 0, {});
}

LogicalResult importSequenceConstruct(Node &node) { return outputSequence(node, 0, node.allInputs()); }

LogicalResult importSequenceAt(Node &node) {
  Builder &b = node.b;
  std::optional<SmallVector<Value>> elements = sequenceInput(node, 0);
  if (!elements)
    return failure();
  if (elements->empty())
    return node.fail("the sequence has no elements");
  if (b.contents(node.input(1)) || b.facts.elements.get(node.input(1))) {
    std::optional<int64_t> position = positionInput(node, 1, elements->size(), false, 0);
    return position ? node.output(0, (*elements)[*position]) : failure();
  }
  // A position that is known when run only: elements of one type, side by side.
  SmallVector<Value> rows;
  for (Value element : *elements) {
    if (element.getType() != (*elements)[0].getType())
      return node.fail(
          "the position depends on data, and the elements of the sequence differ in type or shape; expected "
          "a position that is known at compile time");
    rows.push_back(b.expandDims(element, 0));
  }
  if (getElementCount(node.input(1).getType()) != b.size(1))
    return node.fail("expected one position");
  Value position = b.convert(b.reshape(node.input(1), {}), b.i64());
  Value index = b.wrapIndices(position, b.size(static_cast<int64_t>(rows.size())));
  return node.output(0, readRow(b, b.concatenate(rows, 0), index, 0));
}

LogicalResult importSequenceInsert(Node &node) {
  std::optional<SmallVector<Value>> elements = sequenceInput(node, 0);
  if (!elements)
    return failure();
  int64_t count = elements->size();
  std::optional<int64_t> position = positionInput(node, 2, count, true, count);
  if (!position)
    return failure();
  elements->insert(elements->begin() + *position, node.input(1));
  return outputSequence(node, 0, *elements);
}

LogicalResult importSequenceErase(Node &node) {
  std::optional<SmallVector<Value>> elements = sequenceInput(node, 0);
  if (!elements)
    return failure();
  int64_t count = elements->size();
  if (count == 0)
    return node.fail("the sequence has no elements");
  std::optional<int64_t> position = positionInput(node, 1, count, false, count - 1);
  if (!position)
    return failure();
  elements->erase(elements->begin() + *position);
  return outputSequence(node, 0, *elements);
}

LogicalResult importSequenceLength(Node &node) {
  std::optional<SmallVector<Value>> elements = sequenceInput(node, 0);
  return elements ? node.output(0, node.b.integerScalar(node.b.i64(), elements->size())) : failure();
}

LogicalResult importSplitToSequence(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  int64_t axis = node.axis(node.integer("axis", 0), b.rank(x));
  bool keepDims = node.integer("keepdims", 1) != 0;
  if (node.failed())
    return failure();
  Dim total = b.dim(x, axis);
  if (!total.isConstant()) {
    node.error() << "axis " << axis << " of size " << total
                 << " is split, so that the sequence's length depends on it; give the inputs a shape";
    return failure();
  }
  SmallVector<int64_t> lengths;
  if (!node.has(1)) {
    lengths.assign(total.getConstant(), 1);
  } else {
    std::optional<SmallVector<int64_t>> given = node.integers(1, "the lengths of the parts");
    if (!given)
      return failure();
    if (b.rank(node.input(1)) == 0) {
      // Parts of one length, the last as long as what is left.
      int64_t length = (*given)[0];
      if (length < 1)
        return node.fail("expected parts of at least 1 element, got " + std::to_string(length));
      for (int64_t begin = 0; begin < total.getConstant(); begin += length)
        lengths.push_back(std::min(length, total.getConstant() - begin));
    } else {
      lengths = *given;
    }
  }
  constexpr size_t kMost = 1 << 16;
  int64_t begin = 0;
  SmallVector<Value> parts;
  if (lengths.size() > kMost)
    return node.fail("a sequence of " + std::to_string(lengths.size()) + " elements is too long");
  for (int64_t length : lengths) {
    if (length < 0 || length > total.getConstant() - begin)
      return node.fail("expected lengths that are not negative and add up to " + std::to_string(total.getConstant()));
    Value part = b.slice(x, axis, b.size(begin), b.size(begin + length), 1);
    parts.push_back(keepDims || node.has(1) ? part : b.dropDims(part, axis));
    begin += length;
  }
  if (begin != total.getConstant())
    return node.fail("the lengths add up to " + std::to_string(begin) + "; expected " +
                     std::to_string(total.getConstant()));
  return outputSequence(node, 0, parts);
}

LogicalResult importConcatFromSequence(Node &node) {
  Builder &b = node.b;
  std::optional<SmallVector<Value>> elements = sequenceInput(node, 0);
  int64_t axis = node.requiredInteger("axis");
  bool isNew = node.integer("new_axis", 0) != 0;
  if (!elements || node.failed())
    return failure();
  if (elements->empty())
    return node.fail("the sequence has no elements, so that nothing tells the result's shape");
  axis = node.axis(axis, b.rank((*elements)[0]) + (isNew ? 1 : 0));
  if (node.failed())
    return failure();
  SmallVector<Value> parts;
  for (Value element : *elements) {
    if (b.rank(element) != b.rank((*elements)[0]))
      return node.fail("expected elements of one rank");
    parts.push_back(isNew ? b.expandDims(element, axis) : element);
  }
  return node.output(0, b.concatenate(parts, axis));
}

LogicalResult importSequenceMap(Node &node) {
  const onnx::GraphProto *body = node.graph("body");
  std::optional<SmallVector<Value>> first = sequenceInput(node, 0);
  if (!body || !first)
    return failure();
  if (body->output_size() != node.outputCount())
    return node.fail("expected a body with as many outputs as the node, " + std::to_string(node.outputCount()) +
                     ", got " + std::to_string(body->output_size()));
  SmallVector<SmallVector<Value>> results(body->output_size());
  for (size_t i = 0; i < first->size(); ++i) {
    SmallVector<Value> arguments;
    for (Value input : node.allInputs()) {
      if (!isSequence(input)) {
        arguments.push_back(input);
        continue;
      }
      SmallVector<Value> elements = elementsOf(input);
      if (elements.size() != first->size())
        return node.fail("expected sequences of one length, got " + std::to_string(first->size()) + " and " +
                         std::to_string(elements.size()) + " elements");
      arguments.push_back(elements[i]);
    }
    FailureOr<SmallVector<Value>> mapped = node.importer.importSubgraph(*body, node.scope, arguments);
    if (failed(mapped))
      return failure();
    for (auto [list, value] : llvm::zip_equal(results, *mapped))
      list.push_back(value);
  }
  for (auto [i, list] : llvm::enumerate(results))
    if (failed(outputSequence(node, i, list)))
      return failure();
  return success();
}

LogicalResult importOptional(Node &node) {
  node.ignore("type"); // That of the value, or of one which is not there.
  return node.output(0, node.has(0) ? node.input(0) : makeAbsentOptional(node.b.ops, node.b.location));
}

LogicalResult importOptionalHasElement(Node &node) {
  TensorValue has(node.b.i1(), {});
  has.setInteger(0, node.has(0) && !isAbsentOptional(node.input(0)));
  return node.output(0, node.b.constant(has));
}

LogicalResult importOptionalGetElement(Node &node) {
  if (isAbsentOptional(node.input(0)))
    return node.fail("the optional value is not there");
  return node.output(0, node.input(0));
}

} // namespace

void addSequenceHandlers(HandlerTable &table) {
  table.add("SequenceEmpty", importSequenceEmpty);
  table.add("SequenceConstruct", importSequenceConstruct);
  table.add("SequenceAt", importSequenceAt);
  table.add("SequenceInsert", importSequenceInsert);
  table.add("SequenceErase", importSequenceErase);
  table.add("SequenceLength", importSequenceLength);
  table.add("SplitToSequence", importSplitToSequence);
  table.add("ConcatFromSequence", importConcatFromSequence);
  table.add("SequenceMap", importSequenceMap);
  table.add("Optional", importOptional);
  table.add("OptionalHasElement", importOptionalHasElement);
  table.add("OptionalGetElement", importOptionalGetElement);
}

} // namespace weft::importer
