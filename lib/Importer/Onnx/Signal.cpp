//===- Signal.cpp - ONNX's windows and Fourier transforms ----------------------------------------===//

#include "lib/Importer/Onnx/GraphImporter.h"
#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Node.h"
#include "lib/Support/Onnx/ElementTypes.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

constexpr double kPi = 3.14159265358979323846;

/// The element type that an attribute names; null, with an error, where Weft has none.
Type outputType(Node &node) {
  auto wanted = static_cast<OnnxType>(node.integer("output_datatype", static_cast<int64_t>(OnnxType::Float)));
  Type type = elementTypeOf(wanted, node.b.context());
  if (!type || isBoolElement(type)) {
    node.error() << "attribute 'output_datatype': expected a type of numbers, got " << nameOf(wanted);
    return {};
  }
  return type;
}

/// A window as a sum of cosines: `coefficients[k] * cos(2 pi k n / N)`, the second with a minus sign.
LogicalResult importWindow(Node &node, ArrayRef<double> coefficients) {
  Builder &b = node.b;
  bool isPeriodic = node.integer("periodic", 1) != 0;
  Type type = outputType(node);
  if (!type || getElementCount(node.input(0).getType()) != b.size(1))
    return type ? node.fail("expected one element as the size") : failure();
  std::optional<SmallVector<Dim>> size = node.sizesOrBound(0, "the size", 0);
  if (!size)
    return failure();
  Dim length = (*size)[0];
  if (!b.facts.symbols.requireAtLeast(length, 0)) {
    node.error() << "expected a size that is not negative, got " << length;
    return failure();
  }
  Value place = b.iota(b.f64(), length, 0), period = b.sizeValue(length, b.f64());
  if (!isPeriodic)
    period = b.subtract(period, 1.0);
  Value angle = b.divide(b.multiply(place, 2 * kPi), period);
  Value window = b.splat(b.f64(), coefficients[0], length);
  for (size_t k = 1; k < coefficients.size(); ++k)
    window = b.add(window, b.multiply(b.unary<CosineOp>(b.multiply(angle, double(k))), coefficients[k]));
  return node.output(0, b.convert(window, type));
}

LogicalResult importHannWindow(Node &node) { return importWindow(node, {0.5, -0.5}); }
LogicalResult importHammingWindow(Node &node) { return importWindow(node, {25.0 / 46, -21.0 / 46}); }
LogicalResult importBlackmanWindow(Node &node) { return importWindow(node, {0.42, -0.5, 0.08}); }

/// The weights of a spectrogram's bins in each band of the mel scale: triangles between neighbouring edges.
LogicalResult importMelWeightMatrix(Node &node) {
  Type type = outputType(node);
  constexpr llvm::StringLiteral kNames[] = {"the number of bands", "the length of the transform", "the sample rate",
                                            "the lower edge", "the upper edge"};
  double values[5];
  for (int64_t i = 0; i < 5; ++i) {
    std::optional<TensorValue> value = node.constant(i, kNames[i]);
    if (!value)
      return failure();
    if (value->getElementCount() != 1)
      return node.fail("expected one element as " + kNames[i]);
    values[i] = isFloatElement(value->getElementType()) ? value->getFloat(0) : double(value->getInteger(0));
  }
  if (!type)
    return failure();
  constexpr double kMost = 1 << 24;
  if (!(values[0] >= 0 && values[0] <= kMost) || !(values[1] >= 0 && values[1] <= kMost) || !(values[2] > 0) ||
      !(values[3] >= 0) || !(values[4] >= values[3]) || values[0] * values[1] > kMost * 16)
    return node.fail("expected a number of bands and a length that are not negative, a positive sample rate, and edges "
                     "of which the second is not the lower one");
  int64_t bands = static_cast<int64_t>(values[0]), length = static_cast<int64_t>(values[1]);
  int64_t bins = length / 2 + 1;
  auto toMel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double low = toMel(values[3]), step = (toMel(values[4]) - low) / static_cast<double>(bands + 2);
  SmallVector<int64_t> edges;
  for (int64_t i = 0; i < bands + 2; ++i) {
    double hertz = 700 * (std::pow(10.0, (static_cast<double>(i) * step + low) / 2595) - 1);
    edges.push_back(static_cast<int64_t>(std::floor(static_cast<double>(length + 1) * hertz / values[2])));
  }
  TensorValue weights(type, {bins, bands});
  auto set = [&](int64_t bin, int64_t band, double weight) {
    if (bin < 0 || bin >= bins)
      return;
    if (isFloatElement(type))
      weights.setFloat(bin * bands + band, weight);
    else
      weights.setInteger(bin * bands + band, static_cast<int64_t>(weight));
  };
  for (int64_t band = 0; band < bands; ++band) {
    int64_t begin = edges[band], center = edges[band + 1], end = edges[band + 2];
    if (center == begin)
      set(center, band, 1);
    else
      for (int64_t bin = begin; bin <= std::min(center, bins); ++bin)
        set(bin, band, static_cast<double>(bin - begin) / static_cast<double>(center - begin));
    for (int64_t bin = center; bin < std::min(end, bins); ++bin)
      set(bin, band, static_cast<double>(end - bin) / static_cast<double>(end - center));
  }
  return node.output(0, node.importer.materialize(node.name(), weights));
}

//===----------------------------------------------------------------------===//
// Fourier transforms
//===----------------------------------------------------------------------===//

/// A transform of this length is one matrix product; longer ones are split where they have factors.
constexpr int64_t kDirectLength = 64;
constexpr int64_t kLongestPrime = 1 << 13;

struct Complex {
  Value real, imaginary; // no imaginary part where it is zero
};

class Fourier {
public:
  Fourier(Node &node, Type real) : node(node), b(node.b), real(real) {}

  /// sum over n of x[n] exp(sign * 2 pi i k n / N) along the last dimension.
  Complex transform(Complex x, const Dim &length, int sign) {
    if (!x.real)
      return {};
    if (!length.isConstant())
      return multiply(x, symbolicMatrix(length, sign));
    int64_t count = length.getConstant(), factor = largestFactor(count);
    if (count <= kDirectLength || factor == 1) {
      if (count > kLongestPrime) {
        node.error() << "a transform of the length " << count
                     << ", which has no small factors, is not supported; pad it to a power of two";
        return {};
      }
      return multiply(x, matrix(count, count, count, sign));
    }
    // n = rest * a + c, k = b + factor * d: transforms over a, a factor for each (c, b), transforms over c.
    int64_t rest = count / factor;
    SmallVector<Dim> batch(b.dims(x.real));
    batch.pop_back();
    Complex inner = transform(swapLast(split(x, batch, factor, rest)), b.size(factor), sign); // [..., c, b]
    Complex twiddled = twiddle(inner, matrix(rest, factor, count, sign));
    Complex outer = transform(swapLast(twiddled), b.size(rest), sign); // [..., b, d]
    Complex ordered = swapLast(outer);
    batch.push_back(length);
    return {b.reshape(ordered.real, batch), b.reshape(ordered.imaginary, batch)};
  }

private:
  /// A factor of at most `kDirectLength` that leaves as little as possible; 1 where there is none.
  static int64_t largestFactor(int64_t count) {
    for (int64_t factor = kDirectLength; factor > 1; --factor)
      if (count % factor == 0)
        return factor;
    return 1;
  }

  /// exp(sign * 2 pi i r c / N) for rows r and columns c.
  Complex matrix(int64_t rows, int64_t columns, int64_t length, int sign) {
    TensorValue cosines(real, {rows, columns}), sines(real, {rows, columns});
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) {
        // Of the angle only the part below a whole turn counts; taken exactly, it stays accurate.
        double angle = 2 * kPi * static_cast<double>(r * c % length) / static_cast<double>(length);
        cosines.setFloat(r * columns + c, std::cos(angle));
        sines.setFloat(r * columns + c, sign * std::sin(angle));
      }
    return {node.importer.materialize((node.name() + ".cosines").str(), cosines),
            node.importer.materialize((node.name() + ".sines").str(), sines)};
  }

  Complex symbolicMatrix(const Dim &length, int sign) {
    SmallVector<Dim> dims{length, length};
    Value turns = b.binary<RemainderOp>(b.multiply(b.iota(b.i64(), dims, 0), b.iota(b.i64(), dims, 1)),
                                        b.sizeValue(length, b.i64()));
    Value angle = b.multiply(b.divide(b.convert(turns, b.f64()), b.sizeValue(length, b.f64())), 2 * kPi);
    return {b.convert(b.unary<CosineOp>(angle), real),
            b.convert(b.multiply(b.unary<SineOp>(angle), double(sign)), real)};
  }

  Complex multiply(Complex x, Complex matrix) {
    Value re = b.matmul(x.real, matrix.real), im = b.matmul(x.real, matrix.imaginary);
    if (x.imaginary) {
      re = b.subtract(re, b.matmul(x.imaginary, matrix.imaginary));
      im = b.add(im, b.matmul(x.imaginary, matrix.real));
    }
    return {re, im};
  }

  Complex twiddle(Complex x, Complex factors) {
    return {b.subtract(b.multiply(x.real, factors.real), b.multiply(x.imaginary, factors.imaginary)),
            b.add(b.multiply(x.real, factors.imaginary), b.multiply(x.imaginary, factors.real))};
  }

  Complex split(Complex x, ArrayRef<Dim> batch, int64_t outer, int64_t inner) {
    SmallVector<Dim> dims(batch);
    dims.push_back(b.size(outer));
    dims.push_back(b.size(inner));
    return {b.reshape(x.real, dims), x.imaginary ? b.reshape(x.imaginary, dims) : Value()};
  }

  Complex swapLast(Complex x) {
    SmallVector<int64_t> permutation(b.rank(x.real));
    std::iota(permutation.begin(), permutation.end(), 0);
    if (permutation.size() >= 2)
      std::swap(permutation[permutation.size() - 1], permutation[permutation.size() - 2]);
    return {b.transpose(x.real, permutation), x.imaginary ? b.transpose(x.imaginary, permutation) : Value()};
  }

  Node &node;
  Builder &b;
  Type real;
};

/// Real and imaginary part of a tensor whose last dimension holds one or two components.
std::optional<Complex> partsOf(Node &node, Value x, Type real) {
  Builder &b = node.b;
  int64_t last = b.rank(x) - 1;
  Dim components = b.dim(x, last);
  if (components != b.size(1) && components != b.size(2)) {
    node.error() << "expected 1 (real) or 2 (complex) components in the last dimension, got " << components;
    return std::nullopt;
  }
  x = b.convert(x, real);
  return Complex{b.takeOne(x, last, 0), components == b.size(2) ? b.takeOne(x, last, 1) : Value()};
}

/// The last dimension cut, or filled with zeros, to a length.
Value fitLength(Node &node, Value x, const Dim &length) {
  Builder &b = node.b;
  if (!x)
    return {};
  int64_t last = b.rank(x) - 1;
  Dim given = b.dim(x, last), missing = length - given;
  if (given == length)
    return x;
  if (b.facts.symbols.isAtLeast(missing * -1, 0))
    return b.slice(x, last, b.size(0), length, 1);
  if (!missing.isConstant()) {
    node.error() << "the length " << length << " of the transform and the size " << given
                 << " of the signal do not differ by an integer; give the inputs a shape";
    return {};
  }
  SmallVector<int64_t> low(b.rank(x), 0), high(b.rank(x), 0);
  high[last] = missing.getConstant();
  return b.pad(x, b.scalarLike(x, 0), low, high);
}

/// Components beside each other in a new last dimension.
Value joinParts(Builder &b, Value real, Value imaginary) {
  if (!real || !imaginary)
    return {};
  int64_t last = b.rank(real);
  return b.concatenate({b.expandDims(real, last), b.expandDims(imaginary, last)}, last);
}

Value firstHalf(Builder &b, Value x, const Dim &length) {
  return x ? b.slice(x, b.rank(x) - 1, b.size(0), length.floorDiv(2) + 1, 1) : Value();
}

LogicalResult importDFT(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  bool isInverse = node.integer("inverse", 0) != 0, isOneSided = node.integer("onesided", 0) != 0;
  if (!node.expectRankAtLeast(0, 2))
    return failure();
  int64_t rank = b.rank(x), axis = node.opset() < 20 ? node.integer("axis", 1) : -2;
  if (node.opset() >= 20 && node.has(2)) {
    std::optional<SmallVector<int64_t>> given = node.integers(2, "the axis");
    if (!given || given->size() != 1)
      return given ? node.fail("expected one element as the axis") : failure();
    axis = (*given)[0];
  }
  axis = node.axis(axis, rank);
  if (node.failed())
    return failure();
  if (axis == rank - 1)
    return node.fail("the last dimension holds the components and cannot be the axis");
  bool halves = isInverse && isOneSided;
  Dim length = halves ? (b.dim(x, axis) - 1) * 2 : b.dim(x, axis);
  if (node.has(1)) {
    std::optional<SmallVector<Dim>> given = node.sizes(1, "the length of the transform");
    if (!given || given->size() != 1)
      return given ? node.fail("expected one element as the length") : failure();
    length = (*given)[0];
  }
  if (!b.facts.symbols.requireAtLeast(length, 1)) {
    node.error() << "expected a length of at least 1, got " << length;
    return failure();
  }
  Type real = b.element(x).isF64() ? b.f64() : b.f32();
  std::optional<Complex> parts = partsOf(node, x, real);
  if (!parts)
    return failure();
  // The axis last.
  SmallVector<int64_t> permutation, inverse(rank - 1);
  for (int64_t i = 0; i + 1 < rank; ++i)
    if (i != axis)
      permutation.push_back(i);
  permutation.push_back(axis);
  for (auto [i, from] : llvm::enumerate(permutation))
    inverse[from] = i;
  auto prepare = [&](Value part, const Dim &size) {
    return part ? fitLength(node, b.transpose(part, permutation), size) : Value();
  };
  Dim given = halves ? length.floorDiv(2) + 1 : length;
  Complex signal{prepare(parts->real, given), prepare(parts->imaginary, given)};
  if (!signal.real)
    return failure();
  if (halves) {
    // The other half holds the conjugates, backwards.
    Dim mirrored = (length - 1).floorDiv(2);
    int64_t last = rank - 2;
    auto mirror = [&](Value part, bool negates) -> Value {
      if (!part)
        return {};
      Value tail = b.reverse(b.slice(part, last, b.size(1), mirrored + 1, 1), last);
      return b.concatenate({part, negates ? b.negate(tail) : tail}, last);
    };
    signal = {mirror(signal.real, false), mirror(signal.imaginary, true)};
  }
  Complex result = Fourier(node, real).transform(signal, length, isInverse ? 1 : -1);
  if (!result.real)
    return failure();
  auto finish = [&](Value part) {
    if (isInverse)
      part = b.divide(part, b.sizeValue(length, real));
    if (isOneSided && !isInverse)
      part = firstHalf(b, part, length);
    return part ? b.transpose(part, inverse) : Value();
  };
  Value joined = halves ? b.expandDims(finish(result.real), rank - 1)
                        : joinParts(b, finish(result.real), finish(result.imaginary));
  return node.output(0, b.convert(joined, b.element(x)));
}

LogicalResult importSTFT(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0), window = node.input(2);
  bool isOneSided = node.integer("onesided", 1) != 0;
  if (b.rank(x) == 2) // Real, without the dimension of the components.
    x = b.expandDims(x, 2);
  if (!x || b.rank(x) != 3)
    return node.fail("expected a signal of shape [batch, length, components]");
  std::optional<SmallVector<int64_t>> step = node.integers(1, "the step between frames");
  if (!step || step->size() != 1 || (*step)[0] < 1)
    return step ? node.fail("expected one step of at least 1") : failure();
  Dim length = b.dim(x, 1);
  if (node.has(3)) {
    std::optional<SmallVector<Dim>> given = node.sizes(3, "the length of a frame");
    if (!given || given->size() != 1)
      return given ? node.fail("expected one element as the length of a frame") : failure();
    length = (*given)[0];
  } else if (window) {
    length = b.dim(window, 0);
  }
  if (window && (!node.expectRank(2, 1) || b.dim(window, 0) != length))
    return node.failed() ? failure() : node.fail("expected a window as long as a frame");
  Symbols &symbols = b.facts.symbols;
  if (!symbols.requireAtLeast(length, 1) || !symbols.requireAtLeast(b.dim(x, 1) - length, 0)) {
    node.error() << "expected frames of 1 to " << b.dim(x, 1) << " elements, got " << length;
    return failure();
  }
  Type real = b.element(x).isF64() ? b.f64() : b.f32();
  std::optional<Complex> parts = partsOf(node, x, real);
  if (!parts)
    return failure();
  Dim frames = (b.dim(x, 1) - length).floorDiv((*step)[0]) + 1;
  SmallVector<Dim> places{frames, length};
  Value place =
      b.add(b.multiply(b.iota(b.i64(), places, 0), b.integerScalar(b.i64(), (*step)[0])), b.iota(b.i64(), places, 1));
  auto cut = [&](Value part) -> Value {
    Value framed = part ? b.take(part, place, 1) : Value();
    return framed && window ? b.multiply(framed, b.convert(window, real)) : framed;
  };
  Complex result = Fourier(node, real).transform({cut(parts->real), cut(parts->imaginary)}, length, -1);
  if (!result.real)
    return failure();
  if (isOneSided)
    result = {firstHalf(b, result.real, length), firstHalf(b, result.imaginary, length)};
  return node.output(0, b.convert(joinParts(b, result.real, result.imaginary), b.element(x)));
}

} // namespace

void addSignalHandlers(HandlerTable &table) {
  table.add("HannWindow", importHannWindow);
  table.add("HammingWindow", importHammingWindow);
  table.add("BlackmanWindow", importBlackmanWindow);
  table.add("MelWeightMatrix", importMelWeightMatrix);
  table.add("DFT", importDFT);
  table.add("STFT", importSTFT);
}

} // namespace weft::importer
