//===- ControlFlow.cpp - ONNX's If, Loop and Scan ------------------------------------------------===//

#include "lib/Importer/Onnx/GraphImporter.h"
#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Loops.h"
#include "lib/Importer/Onnx/Node.h"
#include "lib/Importer/Onnx/Sequences.h"
#include "lib/Support/Onnx/onnx.pb.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

namespace {

constexpr int64_t kMostUnrolledRows = 4, kMostUnrolledTrips = 16, kMostForcedTrips = 256;

/// Fills a region with one block that takes `types` and yields what `body` gives.
FailureOr<SmallVector<Type>> fillRegion(Builder &b, Region &region, TypeRange types, RegionBody body) {
  OpBuilder::InsertionGuard guard(b.ops);
  Block &block = region.emplaceBlock();
  SmallVector<Value> arguments;
  for (Type type : types)
    arguments.push_back(block.addArgument(type, b.location));
  b.ops.setInsertionPointToStart(&block);
  FailureOr<SmallVector<Value>> results = body(arguments);
  if (failed(results) || llvm::is_contained(*results, Value()))
    return failure();
  SmallVector<Value> flat = flattenSequences(*results);
  if (llvm::any_of(flat, isAbsentOptional)) {
    b.error()
        << "an optional value that is not there cannot leave a branch or loop that is not resolved at compile time";
    return failure();
  }
  YieldOp::create(b.ops, b.location, flat);
  return SmallVector<Type>(ValueRange(*results).getTypes());
}

/// The known elements of what lies in a region must go before its operations do.
void forgetRegion(Builder &b, Region &region) {
  region.walk([&](Operation *op) {
    for (Value result : op->getResults())
      b.facts.elements.forget(result);
    for (Region &inner : op->getRegions())
      for (BlockArgument argument : inner.getArguments())
        b.facts.elements.forget(argument);
  });
  for (BlockArgument argument : region.getArguments())
    b.facts.elements.forget(argument);
}

SmallVector<Value> resultsOf(Operation *op) { return llvm::to_vector_of<Value>(op->getResults()); }

} // namespace

FailureOr<SmallVector<Value>> buildWhile(Builder &b, ArrayRef<Value> initial, RegionBody condition, RegionBody body,
                                         bool *typesDiffer) {
  if (llvm::is_contained(initial, Value()))
    return failure();
  auto conditionRegion = std::make_unique<Region>(), bodyRegion = std::make_unique<Region>();
  // A loop carries tensors: the elements of a sequence each by itself.
  SmallVector<Type> carried(ValueRange(initial).getTypes());
  SmallVector<Value> flat = flattenSequences(initial);
  SmallVector<Type> flatTypes(ValueRange(flat).getTypes());
  if (llvm::any_of(flat, isAbsentOptional)) {
    b.error() << "a loop cannot carry an optional value that is not there";
    return failure();
  }
  auto grouped = [&](RegionBody inner) {
    return [&, inner](ArrayRef<Value> arguments) {
      return inner(regroupSequences(b.ops, b.location, carried, arguments));
    };
  };
  FailureOr<SmallVector<Type>> tested = fillRegion(b, *conditionRegion, flatTypes, grouped(condition));
  FailureOr<SmallVector<Type>> next =
      succeeded(tested) ? fillRegion(b, *bodyRegion, flatTypes, grouped(body)) : FailureOr<SmallVector<Type>>();
  bool same = succeeded(next) && *next == carried;
  if (!same) {
    forgetRegion(b, *conditionRegion);
    forgetRegion(b, *bodyRegion);
    if (succeeded(next) && typesDiffer)
      *typesDiffer = true;
    else if (succeeded(next))
      b.error() << "a value that the loop carries changes its type: from (" << TypeRange(carried) << ") to ("
                << TypeRange(*next) << "); only loops whose values keep their shapes can be compiled";
    return failure();
  }
  OperationState state(b.location, WhileOp::getOperationName());
  state.addOperands(flat);
  state.addTypes(flatTypes);
  state.addRegion(std::move(conditionRegion));
  state.addRegion(std::move(bodyRegion));
  return regroupSequences(b.ops, b.location, carried, resultsOf(b.ops.create(state)));
}

FailureOr<SmallVector<Value>> buildCounted(Builder &b, const Dim &trips, ArrayRef<Value> initial, RegionBody body) {
  if (trips.isConstant() && trips.getConstant() <= kMostUnrolledRows) {
    SmallVector<Value> values(initial);
    for (int64_t i = 0; i < trips.getConstant(); ++i) {
      SmallVector<Value> arguments{b.integerScalar(b.i64(), i)};
      llvm::append_range(arguments, values);
      FailureOr<SmallVector<Value>> next = body(arguments);
      if (failed(next))
        return failure();
      values = *next;
    }
    return values;
  }
  Value limit = b.sizeValue(trips, b.i64());
  if (!limit)
    return failure();
  SmallVector<Value> carried{b.integerScalar(b.i64(), 0)};
  llvm::append_range(carried, initial);
  FailureOr<SmallVector<Value>> results = buildWhile(
      b, carried,
      [&](ArrayRef<Value> arguments) -> FailureOr<SmallVector<Value>> {
        return SmallVector<Value>{b.compare(ComparisonDirection::LT, arguments[0], limit)};
      },
      [&](ArrayRef<Value> arguments) -> FailureOr<SmallVector<Value>> {
        FailureOr<SmallVector<Value>> next = body(arguments);
        if (failed(next))
          return failure();
        next->insert(next->begin(), b.add(arguments[0], b.integerScalar(b.i64(), 1)));
        return next;
      });
  if (succeeded(results))
    results->erase(results->begin());
  return results;
}

Value readRow(Builder &b, Value x, Value index, int64_t dimension) {
  if (!x)
    return {};
  SmallVector<Value> starts(b.rank(x), b.integerScalar(b.i64(), 0));
  starts[dimension] = index;
  SmallVector<Dim> box = b.dims(x);
  box[dimension] = b.size(1);
  return b.dropDims(b.dynamicSlice(x, starts, box), dimension);
}

Value writeRow(Builder &b, Value x, Value row, Value index, int64_t dimension) {
  if (!x)
    return {};
  SmallVector<Value> starts(b.rank(x), b.integerScalar(b.i64(), 0));
  starts[dimension] = index;
  return b.dynamicUpdateSlice(x, b.expandDims(row, dimension), starts);
}

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

namespace {

/// The only element of a truth value that is known at import.
std::optional<bool> knownCondition(Builder &b, Value value) {
  if (!value)
    return std::nullopt;
  if (std::optional<TensorValue> contents = b.contents(value); contents && contents->getElementCount() == 1)
    return contents->getInteger(0) != 0;
  const KnownElements::Elements *elements = b.facts.elements.get(value);
  if (elements && elements->size() == 1 && (*elements)[0].isConstant())
    return (*elements)[0].getConstant() != 0;
  return std::nullopt;
}

/// A condition as a scalar.
Value scalarCondition(Node &node, Value condition) {
  Builder &b = node.b;
  if (!b.isBool(condition) || getElementCount(condition.getType()) != b.size(1)) {
    node.error() << "expected one truth value as the condition, got " << condition.getType();
    return {};
  }
  return b.reshape(condition, {});
}

/// The two sizes that a condition says are equal, where it is such a condition.
std::optional<std::pair<Dim, Dim>> comparedSizes(Builder &b, Value condition) {
  Operation *op = condition.getDefiningOp();
  while (op && isa<ReshapeOp, BroadcastInDimOp>(op))
    op = op->getOperand(0).getDefiningOp();
  auto compare = dyn_cast_or_null<CompareOp>(op);
  if (!compare || compare.getDirection() != ComparisonDirection::EQ)
    return std::nullopt;
  const KnownElements::Elements *left = b.facts.elements.get(compare.getLhs());
  if (!left || left->size() != 1)
    return std::nullopt;
  Dim size = left->front();
  const KnownElements::Elements *right = b.facts.elements.get(compare.getRhs());
  return right && right->size() == 1 ? std::optional(std::pair(size, right->front())) : std::nullopt;
}

LogicalResult setOutputs(Node &node, ArrayRef<Value> values) {
  for (auto [i, value] : llvm::enumerate(values))
    if (failed(node.output(i, value)))
      return failure();
  return success();
}

LogicalResult importIf(Node &node) {
  Builder &b = node.b;
  const onnx::GraphProto *thenGraph = node.graph("then_branch"), *elseGraph = node.graph("else_branch");
  if (!thenGraph || !elseGraph)
    return failure();
  Value condition = scalarCondition(node, node.input(0));
  if (!condition)
    return failure();
  if (std::optional<bool> known = knownCondition(b, condition)) {
    FailureOr<SmallVector<Value>> results =
        node.importer.importSubgraph(*known ? *thenGraph : *elseGraph, node.scope, {});
    return succeeded(results) ? setOutputs(node, *results) : failure();
  }
  auto thenRegion = std::make_unique<Region>(), elseRegion = std::make_unique<Region>();
  auto fill = [&](Region &region, const onnx::GraphProto &graph) {
    b.facts.symbols.enterBranch();
    auto result =
        fillRegion(b, region, {}, [&](ArrayRef<Value>) { return node.importer.importSubgraph(graph, node.scope, {}); });
    b.facts.symbols.leaveBranch();
    return result;
  };
  // The branch that is taken where two sizes are equal may rely on it.
  std::optional<std::pair<Dim, Dim>> compared = comparedSizes(b, condition);
  if (compared)
    b.facts.symbols.enterEqual(compared->first, compared->second);
  FailureOr<SmallVector<Type>> thenTypes = fill(*thenRegion, *thenGraph);
  if (compared)
    b.facts.symbols.leaveEqual();
  FailureOr<SmallVector<Type>> elseTypes =
      succeeded(thenTypes) ? fill(*elseRegion, *elseGraph) : FailureOr<SmallVector<Type>>();
  bool same = succeeded(elseTypes) && *thenTypes == *elseTypes;
  if (!same) {
    forgetRegion(b, *thenRegion);
    forgetRegion(b, *elseRegion);
    // An exporter's way to remove a dimension whose size it does not know: if it is 1, without it, else as it is. One
    // of the two only can be compiled, and it is the one that the author had in mind.
    if (succeeded(elseTypes) && compared &&
        b.facts.symbols.requireEqual(compared->first, compared->second, b.subject)) {
      FailureOr<SmallVector<Value>> results = node.importer.importSubgraph(*thenGraph, node.scope, {});
      return succeeded(results) ? setOutputs(node, *results) : failure();
    }
    if (succeeded(elseTypes))
      node.error() << "the branches give values of different types, (" << TypeRange(*thenTypes) << ") and ("
                   << TypeRange(*elseTypes) << "), and the condition is not known at compile time; a shape given for "
                   << "the inputs may decide it";
    return failure();
  }
  OperationState state(b.location, IfOp::getOperationName());
  state.addOperands(condition);
  state.addTypes(thenRegion->front().getTerminator()->getOperandTypes());
  state.addRegion(std::move(thenRegion));
  state.addRegion(std::move(elseRegion));
  return setOutputs(node, regroupSequences(b.ops, b.location, *thenTypes, resultsOf(b.ops.create(state))));
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

LogicalResult importLoop(Node &node) {
  Builder &b = node.b;
  const onnx::GraphProto *body = node.graph("body");
  if (!body)
    return failure();
  int64_t carriedCount = std::max<int64_t>(0, node.inputCount() - 2);
  int64_t scanCount = static_cast<int64_t>(body->output_size()) - 1 - carriedCount;
  if (scanCount < 0 || body->input_size() != carriedCount + 2)
    return node.fail("expected a body with 2 inputs more than the loop carries values, and at least 1 output more");
  SmallVector<Value> carried(ArrayRef(node.allInputs()).drop_front(std::min<int64_t>(2, node.inputCount())));
  if (llvm::is_contained(carried, Value()))
    return node.fail("a carried value is absent");
  Value condition = node.has(1) ? scalarCondition(node, node.input(1)) : b.constant([&] {
    TensorValue yes(b.i1(), {});
    yes.setInteger(0, 1);
    return yes;
  }());
  if (!condition)
    return failure();
  std::optional<Dim> trips;
  Value limit;
  if (node.has(0)) {
    if (!b.element(node.input(0)).isSignlessInteger(64) || getElementCount(node.input(0).getType()) != b.size(1))
      return node.fail("expected one int64 as the trip count");
    limit = b.reshape(node.input(0), {});
    if (const KnownElements::Elements *known = b.facts.elements.get(limit))
      trips = (*known)[0];
    if (trips && trips->isConstant() && trips->getConstant() < 0)
      trips = b.size(0);
  }
  auto bodyAt = [&](Value index, Value test, ArrayRef<Value> values) {
    SmallVector<Value> arguments{index, test};
    llvm::append_range(arguments, values);
    return node.importer.importSubgraph(*body, node.scope, arguments);
  };
  // Unrolled where the trips are few and known, or where the values change their shapes.
  auto unroll = [&]() -> LogicalResult {
    SmallVector<Value> values(carried);
    SmallVector<SmallVector<Value>> rows(scanCount);
    Value test = condition;
    for (int64_t i = 0; i < trips->getConstant(); ++i) {
      std::optional<bool> goesOn = knownCondition(b, test);
      if (!goesOn)
        return node.fail("whether the loop goes on depends on data, and the values that it carries change their "
                         "shapes or are collected; such a loop cannot be compiled");
      if (!*goesOn)
        break;
      FailureOr<SmallVector<Value>> next = bodyAt(b.integerScalar(b.i64(), i), test, values);
      if (failed(next))
        return failure();
      test = (*next)[0];
      values.assign(next->begin() + 1, next->begin() + 1 + carriedCount);
      for (int64_t scan = 0; scan < scanCount; ++scan)
        rows[scan].push_back(b.expandDims((*next)[1 + carriedCount + scan], 0));
    }
    FailureOr<SmallVector<Value>> probe = SmallVector<Value>();
    if (scanCount > 0 && rows[0].empty()) {
      // It never runs: the collected values' shapes are those that it would give.
      probe = bodyAt(b.integerScalar(b.i64(), 0), condition, carried);
      if (failed(probe))
        return failure();
    }
    for (auto [scan, row] : llvm::enumerate(rows)) {
      if (!row.empty()) {
        values.push_back(b.concatenate(row, 0));
        continue;
      }
      Value like = (*probe)[1 + carriedCount + scan];
      SmallVector<Dim> dims = b.dims(like);
      dims.insert(dims.begin(), b.size(0));
      values.push_back(b.splat(b.element(like), 0, dims));
    }
    return setOutputs(node, values);
  };
  std::optional<bool> starts = knownCondition(b, condition);
  bool tripsKnown = trips && trips->isConstant();
  if (starts == false || (tripsKnown && trips->getConstant() == 0)) {
    if (scanCount == 0)
      return setOutputs(node, carried);
    trips = b.size(0);
    return unroll();
  }
  // Collected values need as many rows as there are trips: the condition has to stay true.
  bool collects = scanCount > 0;
  if (collects && (!trips || starts != true)) {
    int64_t unknown = trips ? 1 : 0;
    std::string what = unknown == 0 ? "the trip count" : "the condition";
    if (node.has(unknown))
      node.error()
          << "input '" << node.inputName(unknown) << "' gives " << what << " and must be known at compile time, "
          << "since the loop collects values, so that a result's shape depends on how often it runs; make it a "
          << "constant or an expression of the inputs' sizes";
    else
      node.error() << "the loop collects values and has no trip count, so that a result's shape depends on data; give "
                   << "it a trip count";
    return failure();
  }
  if (tripsKnown && trips->getConstant() <= kMostUnrolledTrips && starts == true) {
    // A condition that the body computes can be followed only where it turns out to be known.
    bool conditionIsPassed = body->output(0).name() == body->input(1).name();
    for (const onnx::NodeProto &inner : body->node())
      conditionIsPassed |=
          inner.output_size() == 1 && inner.output(0) == body->output(0).name() &&
          ((inner.op_type() == "Identity" && inner.input(0) == body->input(1).name()) || inner.op_type() == "Constant");
    for (const onnx::TensorProto &initializer : body->initializer())
      conditionIsPassed |= initializer.name() == body->output(0).name();
    if (conditionIsPassed || collects)
      return unroll();
  }
  SmallVector<Value> initial{b.integerScalar(b.i64(), 0), condition};
  llvm::append_range(initial, carried);
  SmallVector<Value> collected;
  bool typesDiffer = false, conditionStays = true;
  if (collects) {
    // The rows' types are those of the body's results: build it once to see them; what is built is dead.
    FailureOr<SmallVector<Value>> probe = bodyAt(b.integerScalar(b.i64(), 0), condition, carried);
    if (failed(probe))
      return failure();
    for (int64_t scan = 0; scan < scanCount; ++scan) {
      SmallVector<Dim> dims = b.dims((*probe)[1 + carriedCount + scan]);
      dims.insert(dims.begin(), *trips);
      collected.push_back(b.splat(b.element((*probe)[1 + carriedCount + scan]), 0, dims));
    }
    llvm::append_range(initial, collected);
  }
  FailureOr<SmallVector<Value>> results = buildWhile(
      b, initial,
      [&](ArrayRef<Value> arguments) -> FailureOr<SmallVector<Value>> {
        Value inside = limit ? b.compare(ComparisonDirection::LT, arguments[0], limit) : Value();
        return SmallVector<Value>{inside ? b.binary<AndOp>(inside, arguments[1]) : arguments[1]};
      },
      [&](ArrayRef<Value> arguments) -> FailureOr<SmallVector<Value>> {
        FailureOr<SmallVector<Value>> next = bodyAt(arguments[0], arguments[1], arguments.slice(2, carriedCount));
        if (failed(next))
          return failure();
        Value test = scalarCondition(node, (*next)[0]);
        conditionStays = !collects || test == arguments[1] || knownCondition(b, test) == true;
        SmallVector<Value> values{b.add(arguments[0], b.integerScalar(b.i64(), 1)), test};
        for (int64_t i = 0; i < carriedCount; ++i)
          values.push_back((*next)[1 + i]);
        for (int64_t scan = 0; scan < scanCount; ++scan)
          values.push_back(
              writeRow(b, arguments[2 + carriedCount + scan], (*next)[1 + carriedCount + scan], arguments[0], 0));
        return values;
      },
      &typesDiffer);
  if (!conditionStays)
    return node.fail("the loop collects values and its condition depends on data, so that a result's shape does too");
  if (typesDiffer) {
    if (tripsKnown && trips->getConstant() <= kMostForcedTrips)
      return unroll();
    return node.fail("the values that the loop carries change their shapes, and its trip count is not a small number "
                     "known at compile time");
  }
  if (failed(results))
    return failure();
  return setOutputs(node, ArrayRef(*results).drop_front(2));
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

/// What a scan says of its scanned inputs and collected outputs, an entry each.
struct ScanAxes {
  SmallVector<int64_t> inputs, inputsReversed, outputs, outputsReversed;
};

/// Runs the body over the slices of `scanned`. Gives the final states, then the collected values with the slices along
/// dimension 0. Beyond `length` (an i64 scalar, or null) states stay, and zeros are collected.
FailureOr<SmallVector<Value>> scan(Node &node, const onnx::GraphProto &body, ArrayRef<Value> initial,
                                   ArrayRef<Value> scanned, const ScanAxes &axes, Value length) {
  Builder &b = node.b;
  size_t states = initial.size(), collectedCount = axes.outputs.size();
  Dim trips = b.dim(scanned[0], axes.inputs[0]);
  for (auto [x, axis] : llvm::zip(scanned, axes.inputs))
    if (b.dim(x, axis) != trips) {
      node.error() << "the scanned inputs have " << trips << " and " << b.dim(x, axis) << " slices; expected as many";
      return failure();
    }
  auto bodyOn = [&](ArrayRef<Value> current, ArrayRef<Value> rows) -> FailureOr<SmallVector<Value>> {
    SmallVector<Value> arguments(current);
    llvm::append_range(arguments, rows);
    if (llvm::is_contained(arguments, Value()))
      return failure();
    return node.importer.importSubgraph(body, node.scope, arguments);
  };
  auto rowsAt = [&](Value index) {
    SmallVector<Value> rows;
    Value last = b.sizeValue(trips - 1, b.i64());
    for (size_t i = 0; i < scanned.size(); ++i)
      rows.push_back(readRow(b, scanned[i], axes.inputsReversed[i] ? b.subtract(last, index) : index, axes.inputs[i]));
    return rows;
  };
  // The collected values' shapes are seen from the body, built once on zeros for that; it is dead and goes away.
  SmallVector<Value> zeros;
  for (size_t i = 0; i < scanned.size(); ++i) {
    SmallVector<Dim> dims = b.dims(scanned[i]);
    dims.erase(dims.begin() + axes.inputs[i]);
    zeros.push_back(b.splat(b.element(scanned[i]), 0, dims));
  }
  FailureOr<SmallVector<Value>> probe = bodyOn(initial, zeros);
  if (failed(probe))
    return failure();
  SmallVector<Value> carried(initial);
  for (size_t i = 0; i < collectedCount; ++i) {
    SmallVector<Dim> dims = b.dims((*probe)[states + i]);
    dims.insert(dims.begin(), trips);
    carried.push_back(b.splat(b.element((*probe)[states + i]), 0, dims));
  }
  return buildCounted(b, trips, carried, [&](ArrayRef<Value> arguments) -> FailureOr<SmallVector<Value>> {
    Value index = arguments[0];
    ArrayRef<Value> current = arguments.slice(1, states);
    FailureOr<SmallVector<Value>> next = bodyOn(current, rowsAt(index));
    if (failed(next))
      return failure();
    Value runs = length ? b.compare(ComparisonDirection::LT, index, length) : Value();
    Value last = b.sizeValue(trips - 1, b.i64());
    for (size_t i = 0; i < states && runs; ++i)
      (*next)[i] = b.select(runs, (*next)[i], current[i]);
    for (size_t i = 0; i < collectedCount; ++i) {
      Value &row = (*next)[states + i];
      if (runs)
        row = b.select(runs, row, b.scalarLike(row, 0));
      Value place = axes.outputsReversed[i] ? b.subtract(last, index) : index;
      row = writeRow(b, arguments[1 + states + i], row, place, 0);
    }
    return next;
  });
}

/// Since opset 9: axes and directions of any kind, no batch.
LogicalResult importScan(Node &node) {
  Builder &b = node.b;
  const onnx::GraphProto *body = node.graph("body");
  int64_t scanInputs = node.requiredInteger("num_scan_inputs");
  if (!body || node.failed())
    return failure();
  int64_t states = node.inputCount() - scanInputs;
  int64_t scanOutputs = static_cast<int64_t>(body->output_size()) - states;
  if (scanInputs < 1 || states < 0 || scanOutputs < 0 || body->input_size() != static_cast<int>(node.inputCount()))
    return node.fail("attribute 'num_scan_inputs' does not fit the inputs and the body");
  auto list = [&](StringRef name, int64_t count) {
    SmallVector<int64_t> values = node.integerList(name, SmallVector<int64_t>(count, 0));
    if (static_cast<int64_t>(values.size()) != count)
      node.error() << "attribute '" << name << "': expected " << count << " entries, got " << values.size();
    values.resize(count, 0);
    return values;
  };
  ScanAxes axes{list("scan_input_axes", scanInputs), list("scan_input_directions", scanInputs),
                list("scan_output_axes", scanOutputs), list("scan_output_directions", scanOutputs)};
  for (int64_t i = 0; i < node.inputCount(); ++i)
    if (!node.has(i))
      return node.fail(i < states ? "a state is absent" : "a scanned input is absent");
  for (int64_t i = 0; i < scanInputs && !node.failed(); ++i)
    axes.inputs[i] = node.axis(axes.inputs[i], b.rank(node.input(states + i)));
  if (node.failed())
    return failure();
  FailureOr<SmallVector<Value>> results =
      scan(node, *body, node.allInputs().take_front(states), node.allInputs().drop_front(states), axes, Value());
  if (failed(results))
    return failure();
  for (int64_t i = 0; i < scanOutputs; ++i) {
    Value &collected = (*results)[states + i];
    int64_t axis = node.axis(axes.outputs[i], b.rank(collected));
    if (node.failed())
      return failure();
    SmallVector<int64_t> permutation;
    for (int64_t d = 1; d < b.rank(collected); ++d)
      permutation.push_back(d);
    permutation.insert(permutation.begin() + axis, 0);
    collected = b.transpose(collected, permutation);
  }
  return setOutputs(node, *results);
}

/// Opset 8: every state, scanned input and output has the batch as dimension 0, and slices along dimension 1; the first
/// input may give each sample a length.
LogicalResult importBatchedScan(Node &node) {
  Builder &b = node.b;
  const onnx::GraphProto *body = node.graph("body");
  int64_t scanInputs = node.requiredInteger("num_scan_inputs");
  if (!body || node.failed())
    return failure();
  int64_t states = node.inputCount() - 1 - scanInputs;
  int64_t scanOutputs = static_cast<int64_t>(body->output_size()) - states;
  if (scanInputs < 1 || states < 0 || scanOutputs < 0 || body->input_size() != static_cast<int>(node.inputCount()) - 1)
    return node.fail("attribute 'num_scan_inputs' does not fit the inputs and the body");
  ScanAxes axes;
  axes.inputs.assign(scanInputs, 0);
  axes.inputsReversed = node.integerList("directions", SmallVector<int64_t>(scanInputs, 0));
  axes.outputs.assign(scanOutputs, 0);
  axes.outputsReversed.assign(scanOutputs, 0);
  if (static_cast<int64_t>(axes.inputsReversed.size()) != scanInputs)
    return node.fail("attribute 'directions': expected an entry a scanned input");
  bool isReversed = llvm::any_of(axes.inputsReversed, [](int64_t direction) { return direction != 0; });
  if (node.has(0) && isReversed)
    return node.fail("a scan from the end of sequences of different lengths is not supported; convert the model to "
                     "opset 9 or up");
  Value lengths = node.has(0) ? b.convert(node.input(0), b.i64()) : Value();
  ArrayRef<Value> inputs = node.allInputs().drop_front();
  for (auto [i, x] : llvm::enumerate(inputs))
    if (!x || b.rank(x) < (static_cast<int64_t>(i) < states ? 1 : 2) || b.dim(x, 0) != b.dim(inputs[0], 0))
      return node.fail("expected states [batch, ...] and scanned inputs [batch, slices, ...]");
  Dim batch = b.dim(inputs[0], 0);
  auto sampleAt = [&](Value sample) -> FailureOr<SmallVector<Value>> {
    SmallVector<Value> rows;
    for (Value x : inputs)
      rows.push_back(readRow(b, x, sample, 0));
    if (llvm::is_contained(rows, Value()))
      return failure();
    Value length = lengths ? readRow(b, lengths, sample, 0) : Value();
    return scan(node, *body, ArrayRef(rows).take_front(states), ArrayRef(rows).drop_front(states), axes, length);
  };
  if (batch == b.size(0))
    return node.fail("a scan over no samples gives values of a shape that nothing tells");
  // Built once to see the results' shapes; dead, and goes away.
  FailureOr<SmallVector<Value>> probe = sampleAt(b.integerScalar(b.i64(), 0));
  if (failed(probe))
    return failure();
  SmallVector<Value> initial;
  for (Value result : *probe) {
    SmallVector<Dim> dims = b.dims(result);
    dims.insert(dims.begin(), batch);
    initial.push_back(b.splat(b.element(result), 0, dims));
  }
  FailureOr<SmallVector<Value>> results =
      buildCounted(b, batch, initial, [&](ArrayRef<Value> arguments) -> FailureOr<SmallVector<Value>> {
        FailureOr<SmallVector<Value>> next = sampleAt(arguments[0]);
        if (failed(next))
          return failure();
        for (auto [i, row] : llvm::enumerate(*next))
          row = writeRow(b, arguments[1 + i], row, arguments[0], 0);
        return next;
      });
  return succeeded(results) ? setOutputs(node, *results) : failure();
}

} // namespace

void addControlFlowHandlers(HandlerTable &table) {
  table.add("If", importIf);
  table.add("Loop", importLoop);
  table.add("Scan", 8, importBatchedScan);
  table.add("Scan", 9, importScan);
}

} // namespace weft::importer
