//===- Random.cpp - ONNX's operators that draw random numbers ------------------------------------===//
//
// A number is a hash of its position, of the node's seed and of what it is drawn for: a model gives the same numbers in
// every run, on every machine and for every number of threads, and a longer tensor continues a shorter one. A node
// without a seed takes one from its name, so that two nodes do not draw the same numbers.

#include "lib/Importer/Onnx/Random.h"
#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Support/Onnx/ElementTypes.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/xxhash.h"
#include <cmath>

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

/// Scrambles 64 bits so that each input bit changes every output bit half of the time (the finalizer of SplitMix64).
uint64_t scramble(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// 64 random bits for each element.
Value randomBits(Builder &b, uint64_t key, ArrayRef<Dim> dims) {
  Type type = b.ops.getIntegerType(64, /*isSigned=*/false);
  auto number = [&](uint64_t value) { return b.integerScalar(type, static_cast<int64_t>(value)); };
  Value position = b.reshape(b.iota(type, product(dims, b.context()), 0), dims);
  auto shifted = [&](Value z, uint64_t count) {
    return b.binary<XorOp>(z, b.binary<ShiftRightLogicalOp>(z, number(count)));
  };
  Value z = b.multiply(b.binary<XorOp>(position, number(key)), number(0x9E3779B97F4A7C15u));
  z = b.multiply(shifted(z, 30), number(0xBF58476D1CE4E5B9u));
  z = b.multiply(shifted(z, 27), number(0x94D049BB133111EBu));
  return shifted(z, 31);
}

/// The bits of a float type's significand: so many random bits make a number below 1 that does not round to 1.
int64_t significandBits(Type type) { return cast<FloatType>(type).getFPMantissaWidth(); }

/// Uniform numbers of [0, 1), or, `centered`, of (0, 1), computed in `compute` with as many bits as `precision` holds.
Value unitNumbers(Builder &b, uint64_t key, ArrayRef<Dim> dims, Type compute, Type precision, bool centered) {
  int64_t bits = significandBits(precision);
  Type type = b.ops.getIntegerType(64, /*isSigned=*/false);
  Value high = b.binary<ShiftRightLogicalOp>(randomBits(b, key, dims), b.integerScalar(type, 64 - bits));
  Value number = b.convert(bits < 31 ? b.convert(high, b.ops.getI32Type()) : high, compute);
  if (centered)
    number = b.add(number, 0.5);
  return b.multiply(number, std::ldexp(1.0, -static_cast<int>(bits)));
}

/// The type that numbers of a float type are computed in.
Type computeType(Builder &b, Type type) { return type.getIntOrFloatBitWidth() < 32 ? b.f32() : type; }

Value normalNumbers(Builder &b, uint64_t key, ArrayRef<Dim> dims, Type compute) {
  // Box and Muller's: a radius and an angle.
  Value radius = unitNumbers(b, scramble(key + 1), dims, compute, compute, /*centered=*/true);
  Value angle = unitNumbers(b, scramble(key + 2), dims, compute, compute, /*centered=*/false);
  Value length = b.sqrt(b.multiply(b.log(radius), -2.0));
  return b.multiply(length, b.unary<CosineOp>(b.multiply(angle, 2 * M_PI)));
}

/// Attribute `dtype`, or what stands where it is absent; null after an error.
Type resultType(Node &node, Type fallback) {
  if (!node.hasAttribute("dtype"))
    return fallback;
  auto wanted = static_cast<OnnxType>(node.integer("dtype", 1));
  Type type = elementTypeOf(wanted, node.b.context());
  if (!type)
    node.error() << "attribute 'dtype': Weft has no tensors of type " << nameOf(wanted);
  return type;
}

/// A float type of at least 16 bits that `dtype` or the input gives; null after an error.
Type floatType(Node &node, Type fallback) {
  Type type = resultType(node, fallback);
  if (type && (!isFloatElement(type) || type.getIntOrFloatBitWidth() < 16)) {
    node.error() << "attribute 'dtype': expected float, double, float16 or bfloat16";
    return {};
  }
  return type;
}

enum class Distribution { Uniform, Normal };

LogicalResult draw(Node &node, Distribution distribution, Type type, ArrayRef<Dim> dims) {
  Builder &b = node.b;
  uint64_t key = randomKey(node);
  bool isUniform = distribution == Distribution::Uniform;
  double first = isUniform ? node.real("low", 0) : node.real("mean", 0);
  double second = isUniform ? node.real("high", 1) : node.real("scale", 1);
  if (!type || node.failed())
    return failure();
  Type compute = computeType(b, type);
  Value numbers =
      isUniform ? unitNumbers(b, key, dims, compute, type, /*centered=*/false) : normalNumbers(b, key, dims, compute);
  double factor = isUniform ? second - first : second;
  return node.output(0, b.convert(b.add(b.multiply(numbers, factor), first), type));
}

template <Distribution distribution> LogicalResult importDraw(Node &node) {
  SmallVector<int64_t> shape = node.integerList("shape");
  if (!node.hasAttribute("shape"))
    return node.fail("attribute 'shape' is missing; expected a list of integers");
  for (int64_t size : shape)
    if (size < 0)
      return node.fail("attribute 'shape': expected sizes that are not negative, got " + std::to_string(size));
  SmallVector<Dim> dims = node.b.sizes(shape);
  if (!node.b.isSane(dims))
    return failure();
  return draw(node, distribution, floatType(node, node.b.f32()), dims);
}

template <Distribution distribution> LogicalResult importDrawLike(Node &node) {
  Type element = node.b.element(node.input(0));
  Type fallback = isFloatElement(element) ? element : node.b.f32();
  return draw(node, distribution, floatType(node, fallback), node.b.dims(node.input(0)));
}

LogicalResult importBernoulli(Node &node) {
  Builder &b = node.b;
  Value probability = node.input(0);
  Type type = resultType(node, b.element(probability));
  uint64_t key = randomKey(node);
  if (!b.isFloat(probability))
    return node.fail("expected probabilities that are floats");
  if (!type || node.failed())
    return failure();
  Type compute = computeType(b, b.element(probability));
  Value drawn = unitNumbers(b, key, b.dims(probability), compute, compute, /*centered=*/false);
  Value success = b.compare(ComparisonDirection::LT, drawn, b.convert(probability, compute));
  return node.output(0, b.convert(success, type));
}

LogicalResult importMultinomial(Node &node) {
  Builder &b = node.b;
  Value logits = node.input(0);
  int64_t samples = node.integer("sample_size", 1);
  Type type = resultType(node, b.ops.getI32Type());
  uint64_t key = randomKey(node);
  if (!node.expectRank(0, 2))
    return failure();
  if (!type || node.failed())
    return failure();
  if (!isIntegerElement(type))
    return node.fail("attribute 'dtype': expected int32 or int64");
  if (samples < 1)
    return node.fail("attribute 'sample_size': expected at least 1, got " + std::to_string(samples));
  if (b.dim(logits, 1) == b.size(0))
    return node.fail("expected at least one class");
  // The largest of log-probabilities, each with noise of Gumbel's distribution, is a draw by the probabilities.
  Type compute = computeType(b, b.element(logits));
  SmallVector<Dim> dims{b.dim(logits, 0), b.size(samples), b.dim(logits, 1)};
  Value uniform = unitNumbers(b, key, dims, compute, compute, /*centered=*/true);
  Value noise = b.negate(b.log(b.negate(b.log(uniform))));
  Value scores = b.add(noise, b.expandDims(b.convert(logits, compute), 1));
  if (!scores)
    return failure();
  return node.output(0, b.inferred<ArgReduceOp>(scores.getType(), ReductionKind::max, scores, 2, false, type));
}

} // namespace

uint64_t randomKey(Node &node) {
  if (!node.hasAttribute("seed"))
    return scramble(llvm::xxh3_64bits(node.name()));
  const bool isInteger = node.opType() == "Dropout";
  return isInteger ? scramble(static_cast<uint64_t>(node.integer("seed", 0)))
                   : scramble(llvm::bit_cast<uint64_t>(node.real("seed", 0)));
}

Value uniformNumbers(Builder &b, uint64_t key, ArrayRef<Dim> dims, Type type) {
  return unitNumbers(b, key, dims, computeType(b, type), computeType(b, type), /*centered=*/false);
}

void addRandomHandlers(HandlerTable &table) {
  table.add("RandomUniform", importDraw<Distribution::Uniform>);
  table.add("RandomNormal", importDraw<Distribution::Normal>);
  table.add("RandomUniformLike", importDrawLike<Distribution::Uniform>);
  table.add("RandomNormalLike", importDrawLike<Distribution::Normal>);
  table.add("Bernoulli", importBernoulli);
  table.add("Multinomial", importMultinomial);
}

} // namespace weft::importer
