//===- Recurrent.cpp - ONNX's RNN, GRU and LSTM --------------------------------------------------===//

#include "lib/Importer/Onnx/Activations.h"
#include "lib/Importer/Onnx/Contrib.h"
#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Loops.h"
#include "lib/Importer/Onnx/Node.h"
#include "lib/Importer/Onnx/Quantization.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

using Activation = std::function<Value(Builder &, Value)>;

/// The activation called `name` (in any case). Those with parameters take the next of the lists, or their defaults.
std::optional<Activation> activation(Node &node, StringRef name, ArrayRef<double> &alphas, ArrayRef<double> &betas) {
  auto next = [](ArrayRef<double> &list, double fallback) {
    if (list.empty())
      return fallback;
    double value = list.front();
    list = list.drop_front();
    return value;
  };
  std::string key = name.lower();
  if (key == "sigmoid")
    return [](Builder &b, Value x) { return b.unary<LogisticOp>(x); };
  if (key == "tanh")
    return [](Builder &b, Value x) { return b.tanh(x); };
  if (key == "relu")
    return buildRelu;
  if (key == "softsign")
    return buildSoftsign;
  if (key == "softplus")
    return buildSoftplus;
  if (key == "affine") {
    double alpha = next(alphas, 1), beta = next(betas, 0);
    return [=](Builder &b, Value x) { return b.add(b.multiply(x, alpha), beta); };
  }
  if (key == "leakyrelu") {
    double alpha = next(alphas, 0.01f);
    return [=](Builder &b, Value x) { return buildLeakyRelu(b, x, alpha); };
  }
  if (key == "thresholdedrelu") {
    double alpha = next(alphas, 1);
    return [=](Builder &b, Value x) { return buildThresholdedRelu(b, x, alpha); };
  }
  if (key == "scaledtanh") {
    double alpha = next(alphas, 1), beta = next(betas, 1);
    return [=](Builder &b, Value x) { return b.multiply(b.tanh(b.multiply(x, beta)), alpha); };
  }
  if (key == "hardsigmoid") {
    double alpha = next(alphas, 0.2f), beta = next(betas, 0.5);
    return [=](Builder &b, Value x) { return buildHardSigmoid(b, x, alpha, beta); };
  }
  if (key == "elu") {
    double alpha = next(alphas, 1);
    return [=](Builder &b, Value x) { return buildElu(b, x, alpha); };
  }
  node.error() << "attribute 'activations': Weft knows no activation '" << name << "'";
  return std::nullopt;
}

/// What the three operators have in common. Sequences are [time, batch, features] in here, states [batch, hidden].
struct Recurrence {
  int64_t gates, hidden, directions;
  bool reverseOnly, batchFirst;
  double clip; // 0: none
  Dim time, batch;
  Value x, lengths;                                 // lengths: [batch] i64, or null
  SmallVector<SmallVector<Activation>> activations; // by direction
};

std::optional<Recurrence> readRecurrence(Node &node, int64_t gates, ArrayRef<std::string> defaults) {
  Builder &b = node.b;
  if (!node.expectRank(0, 3) || !node.expectRank(1, 3) || !node.expectRank(2, 3))
    return std::nullopt;
  Recurrence r{gates,     0,  1,  false, node.integer("layout", 0) != 0, node.real("clip", 0), b.size(1),
               b.size(1), {}, {}, {}};
  std::string direction = node.string("direction", "forward");
  node.ignore("output_sequence"); // Opset 1: outputs that are wanted are named.
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    node.error() << "attribute 'direction': expected forward, reverse or bidirectional, got '" << direction << "'";
    return std::nullopt;
  }
  r.reverseOnly = direction == "reverse";
  r.directions = direction == "bidirectional" ? 2 : 1;
  r.x = r.batchFirst ? b.transpose(node.input(0), {1, 0, 2}) : node.input(0);
  if (!r.x)
    return std::nullopt;
  r.time = b.dim(r.x, 0);
  r.batch = b.dim(r.x, 1);
  Dim hidden = b.dim(node.input(2), 2);
  if (!hidden.isConstant() ||
      node.integer("hidden_size", hidden.isConstant() ? hidden.getConstant() : 0) != hidden.getConstant()) {
    node.error() << "attribute 'hidden_size': expected the last dimension of the recurrence weights, " << hidden;
    return std::nullopt;
  }
  r.hidden = hidden.getConstant();
  auto expect = [&](int64_t index, ArrayRef<Dim> dims) {
    if (!node.has(index))
      return;
    if (b.rank(node.input(index)) == static_cast<int64_t>(dims.size()))
      if (Value same = b.assumeShape(node.input(index), dims)) {
        node.setInput(index, same);
        return;
      }
    node.error() << "input '" << node.inputName(index) << "': expected type "
                 << makeTensorType(dims, b.element(node.input(index))) << ", got " << node.input(index).getType();
  };
  // The weights know the number of features where a symbol stands for it.
  if (Dim features = b.dim(node.input(1), 2); b.rank(r.x) == 3 && features.isConstant())
    if (Value same = b.assumeShape(r.x, {r.time, r.batch, features}))
      r.x = same;
  Dim d = b.size(r.directions), gateRows = b.size(gates * r.hidden), h = b.size(r.hidden);
  expect(1, {d, gateRows, b.dim(r.x, 2)});
  expect(2, {d, gateRows, h});
  expect(3, {d, gateRows * 2});
  expect(4, {r.batch});
  if (r.batchFirst)
    expect(5, {r.batch, d, h});
  else
    expect(5, {d, r.batch, h});
  if (node.has(4))
    r.lengths = b.convert(node.input(4), b.i64());
  SmallVector<std::string> names = node.stringList("activations");
  if (names.empty())
    for (int64_t i = 0; i < r.directions; ++i)
      names.append(defaults.begin(), defaults.end());
  SmallVector<double> alphaList = node.realList("activation_alpha"), betaList = node.realList("activation_beta");
  ArrayRef<double> alphas = alphaList, betas = betaList;
  if (names.size() != defaults.size() * r.directions) {
    node.error() << "attribute 'activations': expected " << defaults.size() * r.directions << ", got " << names.size();
    return std::nullopt;
  }
  for (int64_t i = 0; i < r.directions; ++i) {
    r.activations.emplace_back();
    for (size_t j = 0; j < defaults.size(); ++j) {
      std::optional<Activation> function = activation(node, names[i * defaults.size() + j], alphas, betas);
      if (!function)
        return std::nullopt;
      r.activations.back().push_back(*function);
    }
  }
  return node.failed() ? std::nullopt : std::optional(r);
}

/// The initial state of a direction from an input, or zeros.
Value initialState(Node &node, const Recurrence &r, int64_t index, int64_t direction) {
  Builder &b = node.b;
  if (!node.has(index))
    return b.splat(b.element(r.x), 0, {r.batch, b.size(r.hidden)});
  return b.takeOne(node.input(index), r.batchFirst ? 1 : 0, direction);
}

/// [batch, gates * hidden] cut into its gates.
SmallVector<Value> splitGates(Builder &b, Value x, int64_t gates, int64_t hidden) {
  SmallVector<Value> parts;
  for (int64_t i = 0; i < gates; ++i)
    parts.push_back(b.slice(x, b.rank(x) - 1, i * hidden, (i + 1) * hidden));
  return parts;
}

Value clipped(Builder &b, Value x, double limit) { return limit > 0 ? b.minimum(b.maximum(x, -limit), limit) : x; }

/// One step: from the projected input [batch, gates * hidden] and the states to the new states, of which the first is
/// the step's output.
using Step = llvm::function_ref<SmallVector<Value>(int64_t direction, Value projected, ArrayRef<Value> states)>;

/// Runs the steps over time for every direction and sets the outputs: all of them, and the last of each state.
/// `initial` has the states of each direction, `projected` its inputs [time, batch, gates * hidden].
LogicalResult run(Node &node, const Recurrence &r, ArrayRef<SmallVector<Value>> initial, ArrayRef<Value> projected,
                  Step step) {
  Builder &b = node.b;
  SmallVector<Value> sequences;
  SmallVector<SmallVector<Value>> finals(initial[0].size());
  for (int64_t direction = 0; direction < r.directions; ++direction) {
    bool backwards = r.reverseOnly || direction == 1;
    SmallVector<Value> carried = initial[direction];
    carried.push_back(b.splat(b.element(r.x), 0, {r.time, r.batch, b.size(r.hidden)}));
    FailureOr<SmallVector<Value>> results =
        buildCounted(b, r.time, carried, [&](ArrayRef<Value> arguments) -> FailureOr<SmallVector<Value>> {
          Value time = arguments[0];
          ArrayRef<Value> states = arguments.drop_front().drop_back();
          if (backwards)
            time = b.subtract(b.sizeValue(r.time - 1, b.i64()), time);
          SmallVector<Value> next = step(direction, readRow(b, projected[direction], time, 0), states);
          if (llvm::is_contained(next, Value()))
            return failure();
          Value output = next[0];
          if (r.lengths) {
            // Beyond its length a sequence keeps its state and gives zeros; backwards this waits for its last element.
            Value runs = b.compare(ComparisonDirection::LT, time, r.lengths);
            Value mask = runs ? b.broadcastInDim(runs, b.dims(output), 0) : Value();
            for (auto [state, old] : llvm::zip(next, states))
              state = b.select(mask, state, old);
            output = b.select(mask, output, b.scalarLike(output, 0));
          }
          next.push_back(writeRow(b, arguments.back(), output, time, 0));
          return next;
        });
    if (failed(results))
      return failure();
    sequences.push_back(b.expandDims(results->back(), 1)); // [time, 1, batch, hidden]
    for (size_t i = 0; i + 1 < results->size(); ++i)
      finals[i].push_back(b.expandDims((*results)[i], 0)); // [1, batch, hidden]
  }
  Value all = b.concatenate(sequences, 1);
  if (r.batchFirst)
    all = b.transpose(all, {2, 0, 1, 3});
  if (node.wants(0) && failed(node.output(0, all)))
    return failure();
  for (size_t i = 0; i < finals.size(); ++i) {
    Value last = b.concatenate(finals[i], 0);
    if (r.batchFirst)
      last = b.transpose(last, {1, 0, 2});
    if (node.wants(i + 1) && failed(node.output(i + 1, last)))
      return failure();
  }
  return success();
}

/// x * W^T for all times at once, [time, batch, gates * hidden].
Value project(Builder &b, const Recurrence &r, Value weights, int64_t direction) {
  return b.dotGeneral(r.x, b.takeOne(weights, 0, direction), 2, 1);
}

Value recur(Builder &b, Value state, Value weights) { return b.dotGeneral(state, weights, 1, 1); }

/// The two halves of the bias of a direction (input's, recurrence's); null where there is none.
std::pair<Value, Value> biases(Node &node, const Recurrence &r, int64_t direction) {
  if (!node.has(3))
    return {};
  Builder &b = node.b;
  Value row = b.takeOne(node.input(3), 0, direction);
  int64_t half = r.gates * r.hidden;
  return {b.slice(row, 0, 0, half), b.slice(row, 0, half, 2 * half)};
}

LogicalResult importRNN(Node &node) {
  Builder &b = node.b;
  std::optional<Recurrence> r = readRecurrence(node, 1, {"Tanh"});
  if (!r)
    return failure();
  SmallVector<SmallVector<Value>> initial;
  SmallVector<Value> projected, weights;
  for (int64_t d = 0; d < r->directions; ++d) {
    initial.push_back({initialState(node, *r, 5, d)});
    Value x = project(b, *r, node.input(1), d);
    auto [inputBias, stateBias] = biases(node, *r, d);
    projected.push_back(inputBias ? b.add(x, b.add(inputBias, stateBias)) : x);
    weights.push_back(b.takeOne(node.input(2), 0, d));
  }
  return run(node, *r, initial, projected, [&](int64_t d, Value x, ArrayRef<Value> states) -> SmallVector<Value> {
    return {r->activations[d][0](b, clipped(b, b.add(x, recur(b, states[0], weights[d])), r->clip))};
  });
}

LogicalResult importGRU(Node &node) {
  Builder &b = node.b;
  std::optional<Recurrence> r = readRecurrence(node, 3, {"Sigmoid", "Tanh"});
  bool linearBeforeReset = node.integer("linear_before_reset", 0) != 0;
  if (!r || node.failed())
    return failure();
  int64_t h = r->hidden;
  SmallVector<SmallVector<Value>> initial;
  SmallVector<Value> projected, gateWeights, hiddenWeights, hiddenBias;
  for (int64_t d = 0; d < r->directions; ++d) {
    initial.push_back({initialState(node, *r, 5, d)});
    Value x = project(b, *r, node.input(1), d), weights = b.takeOne(node.input(2), 0, d);
    auto [inputBias, stateBias] = biases(node, *r, d);
    hiddenBias.push_back(stateBias ? b.slice(stateBias, 0, 2 * h, 3 * h) : Value());
    if (inputBias) {
      x = b.add(x, inputBias);
      // The state's bias of the gates always adds up with the input's, that of the hidden part stays inside the reset
      // if that comes after.
      Value gates = b.slice(stateBias, 0, 0, 2 * h);
      Value rest = linearBeforeReset ? b.splat(b.element(x), 0, b.size(h)) : hiddenBias.back();
      x = b.add(x, b.concatenate({gates, rest}, 0));
    }
    projected.push_back(x);
    gateWeights.push_back(b.slice(weights, 0, 0, 2 * h));
    hiddenWeights.push_back(b.slice(weights, 0, 2 * h, 3 * h));
  }
  return run(node, *r, initial, projected, [&](int64_t d, Value x, ArrayRef<Value> states) -> SmallVector<Value> {
    const Activation &f = r->activations[d][0], &g = r->activations[d][1];
    SmallVector<Value> in = splitGates(b, x, 3, h);
    SmallVector<Value> gates = splitGates(b, recur(b, states[0], gateWeights[d]), 2, h);
    Value update = f(b, clipped(b, b.add(in[0], gates[0]), r->clip));
    Value reset = f(b, clipped(b, b.add(in[1], gates[1]), r->clip));
    Value inner;
    if (linearBeforeReset) {
      Value linear = recur(b, states[0], hiddenWeights[d]);
      inner = b.multiply(reset, hiddenBias[d] ? b.add(linear, hiddenBias[d]) : linear);
    } else {
      inner = recur(b, b.multiply(reset, states[0]), hiddenWeights[d]);
    }
    Value candidate = g(b, clipped(b, b.add(in[2], inner), r->clip));
    // (1 - z) * candidate + z * state
    Value kept = b.multiply(update, states[0]);
    return {b.add(b.multiply(b.subtract(b.scalarLike(update, 1), update), candidate), kept)};
  });
}

/// The products of an LSTM with its weights, by direction: of all inputs at once, [time, batch, 4 * hidden], and of one
/// hidden state, [batch, 4 * hidden].
struct Products {
  std::function<Value(const Recurrence &r, int64_t direction)> ofInputs;
  std::function<Value(Value hidden, int64_t direction)> ofState;
};

LogicalResult buildLSTM(Node &node, const Products &products) {
  Builder &b = node.b;
  std::optional<Recurrence> r = readRecurrence(node, 4, {"Sigmoid", "Tanh", "Tanh"});
  bool inputForget = node.integer("input_forget", 0) != 0;
  if (!r || node.failed())
    return failure();
  int64_t h = r->hidden;
  Dim directions = b.size(r->directions);
  if (node.has(6)) {
    SmallVector<Dim> shape{directions, r->batch, b.size(h)};
    if (r->batchFirst)
      std::swap(shape[0], shape[1]);
    Value same = b.rank(node.input(6)) == 3 ? b.assumeShape(node.input(6), shape) : Value();
    if (!same)
      return node.fail("the initial cell state does not have the shape of the initial hidden state");
    node.setInput(6, same);
  }
  if (node.has(7) && b.dims(node.input(7)) != SmallVector<Dim>{directions, b.size(3 * h)})
    return node.fail("expected peephole weights [directions, 3 * hidden_size]");
  SmallVector<SmallVector<Value>> initial;
  SmallVector<Value> projected;
  SmallVector<SmallVector<Value>> peepholes;
  for (int64_t d = 0; d < r->directions; ++d) {
    initial.push_back({initialState(node, *r, 5, d), initialState(node, *r, 6, d)});
    Value x = products.ofInputs(*r, d);
    auto [inputBias, stateBias] = biases(node, *r, d);
    projected.push_back(inputBias ? b.add(x, b.add(inputBias, stateBias)) : x);
    peepholes.push_back(node.has(7) ? splitGates(b, b.takeOne(node.input(7), 0, d), 3, h)
                                    : SmallVector<Value>(3, Value()));
  }
  return run(node, *r, initial, projected, [&](int64_t d, Value x, ArrayRef<Value> states) -> SmallVector<Value> {
    const Activation &f = r->activations[d][0], &g = r->activations[d][1], &out = r->activations[d][2];
    Value hidden = states[0], cell = states[1];
    // The gates are in the order input, output, forget, cell.
    SmallVector<Value> gates = splitGates(b, b.add(x, products.ofState(hidden, d)), 4, h);
    auto peep = [&](Value gate, unsigned which, Value c) {
      return peepholes[d][which] ? b.add(gate, b.multiply(peepholes[d][which], c)) : gate;
    };
    Value in = f(b, clipped(b, peep(gates[0], 0, cell), r->clip));
    Value forget =
        inputForget ? b.subtract(b.scalarLike(in, 1), in) : f(b, clipped(b, peep(gates[2], 2, cell), r->clip));
    Value candidate = g(b, clipped(b, gates[3], r->clip));
    Value next = b.add(b.multiply(forget, cell), b.multiply(in, candidate));
    Value output = f(b, clipped(b, peep(gates[1], 1, next), r->clip));
    return {b.multiply(output, out(b, next)), next};
  });
}

LogicalResult importLSTM(Node &node) {
  Builder &b = node.b;
  return buildLSTM(
      node,
      {[&](const Recurrence &r, int64_t direction) { return project(b, r, node.input(1), direction); },
       [&](Value hidden, int64_t direction) { return recur(b, hidden, b.takeOne(node.input(2), 0, direction)); }});
}

/// ONNX Runtime's LSTM with 8-bit weights, [directions, features, 4 * hidden]: what they meet is quantized by its own
/// range, the inputs over all times and the hidden state in each step.
LogicalResult importDynamicQuantizeLSTM(Node &node) {
  Builder &b = node.b;
  if (!node.expectRank(1, 3) || !node.expectRank(2, 3))
    return failure();
  for (int64_t i = 1; i <= 2; ++i)
    node.setInput(i, b.transpose(node.input(i), {0, 2, 1}));
  auto product = [&](Value x, int64_t weights, int64_t scale, int64_t direction) -> Value {
    auto ofDirection = [&](int64_t index) { return b.takeOne(node.input(index), 0, direction); };
    DynamicallyQuantized quantized = buildDynamicallyQuantized(b, x);
    if (!quantized.values)
      return {};
    Value sums = buildIntegerMatmul(node, quantized.values, quantized.zeroPoint,
                                    b.transpose(ofDirection(weights), {1, 0}), ofDirection(scale + 1));
    if (!sums)
      return {};
    Value factor =
        b.multiply(buildColumnFactor(node, quantized.scale, sums), buildColumnFactor(node, ofDirection(scale), sums));
    return b.multiply(b.convert(sums, b.f32()), factor);
  };
  for (int64_t i = 8; i <= 11; ++i)
    if (!node.has(i))
      return node.fail("expected scales and zero points of both weights");
  return buildLSTM(node, {[&](const Recurrence &r, int64_t direction) { return product(r.x, 1, 8, direction); },
                          [&](Value hidden, int64_t direction) { return product(hidden, 2, 10, direction); }});
}

} // namespace

void addRecurrentHandlers(HandlerTable &table) {
  table.add("RNN", importRNN);
  table.add("GRU", importGRU);
  table.add("LSTM", importLSTM);
  table.addIn(kContribDomain, "DynamicQuantizeLSTM", 1, importDynamicQuantizeLSTM);
}

} // namespace weft::importer
