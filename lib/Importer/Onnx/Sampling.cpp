//===- Sampling.cpp - ONNX operators that read images at positions between their elements --------===//

#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Loops.h"
#include "lib/Importer/Onnx/Node.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

enum class Padding { Zeros, Border, Reflection };
enum class Interpolation { Nearest, Linear, Cubic };

bool haveSpace(Node &node, Value x) {
  for (int64_t i = 2; i < node.b.rank(x); ++i)
    if (!node.b.facts.symbols.requireAtLeast(node.b.dim(x, i), 1)) {
      node.error() << "expected an image that is not empty";
      return false;
    }
  return true;
}

/// The type that positions and weights are computed in.
Type realType(Builder &b, ArrayRef<Value> values) {
  for (Value value : values)
    if (b.element(value).isF64())
      return b.f64();
  return b.f32();
}

/// Reads images [N, C, spatial...] at points. A point is one position a spatial dimension, in elements; positions have
/// the shape [N, points].
class Sampler {
public:
  Sampler(Builder &b, Value x, Type real, Padding padding, bool alignCorners)
      : b(b), real(real), padding(padding), alignCorners(alignCorners) {
    Dim elements = b.size(1);
    for (int64_t i = 2; i < b.rank(x); ++i) {
      sizes.push_back(b.sizeValue(b.dim(x, i), real));
      extents.push_back(b.dim(x, i));
      elements = elements * b.dim(x, i);
    }
    image = b.reshape(x, {b.dim(x, 0), b.dim(x, 1), elements});
  }

  /// [N, C, points].
  Value sample(SmallVector<Value> positions, Interpolation interpolation) {
    for (auto [d, position] : llvm::enumerate(positions)) {
      if (interpolation == Interpolation::Nearest)
        position = b.unary<RoundNearestEvenOp>(position);
      // A cubic reads on both sides of a point beyond the border: there only what it reads is held to the image.
      if (interpolation != Interpolation::Cubic || padding == Padding::Reflection)
        position = fold(position, d);
    }
    if (interpolation == Interpolation::Nearest)
      return pixel(positions);
    image = b.convert(image, real);
    // Along each dimension the neighbours' places and weights.
    SmallVector<SmallVector<std::pair<Value, Value>>> taps;
    for (Value position : positions) {
      Value floor = b.unary<FloorOp>(position), rest = b.subtract(position, floor);
      SmallVector<std::pair<Value, Value>> &list = taps.emplace_back();
      if (interpolation == Interpolation::Linear) {
        list.push_back({floor, b.subtract(b.scalar(real, 1), rest)});
        list.push_back({b.add(floor, 1.0), rest});
      } else {
        for (int offset = -1; offset <= 2; ++offset)
          list.push_back({b.add(floor, double(offset)), cubicWeight(rest, offset)});
      }
    }
    size_t width = taps[0].size(), count = 1;
    for (size_t i = 0; i < taps.size(); ++i)
      count *= width;
    // Few neighbours are terms of one expression; many are a dimension that is summed.
    constexpr size_t kMostTerms = 8;
    if (count > kMostTerms)
      return sumOverTaps(taps);
    Value sum;
    for (size_t combination = 0; combination < count; ++combination) {
      SmallVector<Value> places;
      Value weight;
      size_t rest = combination;
      for (const auto &list : taps) {
        const auto &[place, factor] = list[rest % width];
        rest /= width;
        places.push_back(place);
        weight = weight ? b.multiply(weight, factor) : factor;
      }
      Value term = b.multiply(pixel(places), b.expandDims(weight, 1));
      sum = sum ? b.add(sum, term) : term;
    }
    return sum;
  }

private:
  /// Every combination of one tap a spatial dimension, as [N, C, points, combinations], summed.
  Value sumOverTaps(ArrayRef<SmallVector<std::pair<Value, Value>>> taps) {
    int64_t rank = static_cast<int64_t>(taps.size());
    Dim batch = b.dim(taps[0][0].first, 0), points = b.dim(taps[0][0].first, 1), combinations = b.size(1);
    SmallVector<Dim> all{batch, points};
    for (const auto &list : taps) {
      all.push_back(b.size(static_cast<int64_t>(list.size())));
      combinations = combinations * static_cast<int64_t>(list.size());
    }
    SmallVector<Value> places;
    Value weight;
    for (int64_t d = 0; d < rank; ++d) {
      SmallVector<Value> place, factor;
      for (const auto &[at, share] : taps[d]) {
        place.push_back(b.expandDims(at, 2));
        factor.push_back(b.expandDims(share, 2));
      }
      places.push_back(
          b.reshape(b.broadcastInDim(b.concatenate(place, 2), all, {0, 1, 2 + d}), {batch, points * combinations}));
      Value along = b.broadcastInDim(b.concatenate(factor, 2), all, {0, 1, 2 + d});
      weight = weight ? b.multiply(weight, along) : along;
    }
    if (llvm::is_contained(places, Value()))
      return {};
    Value elements = b.reshape(pixel(places), {b.dim(image, 0), b.dim(image, 1), points, combinations});
    return b.sum(b.multiply(elements, b.expandDims(b.reshape(weight, {batch, points, combinations}), 1)), 3, false);
  }

  /// Keys' kernel with a = -0.75.
  Value cubicWeight(Value rest, int offset) {
    constexpr double a = -0.75;
    auto polynomial = [&](Value x, ArrayRef<double> coefficients) {
      Value result = b.scalar(real, coefficients[0]);
      for (double coefficient : coefficients.drop_front())
        result = b.add(b.multiply(result, x), coefficient);
      return result;
    };
    Value distance = offset <= 0 ? b.subtract(rest, double(offset)) : b.subtract(b.scalar(real, offset), rest);
    if (offset == -1 || offset == 2)
      return polynomial(distance, {a, -5 * a, 8 * a, -4 * a});
    return polynomial(distance, {a + 2, -(a + 3), 0, 1});
  }

  Value lowEnd() { return b.scalar(real, alignCorners ? 0 : -0.5); }
  Value highEnd(size_t d) { return b.subtract(sizes[d], alignCorners ? 1.0 : 0.5); }

  /// Mirrors a position at the ends until it is between them.
  Value reflect(Value x, size_t d) {
    Value low = lowEnd(), high = highEnd(d);
    Value range = b.subtract(high, low);
    Value below = b.compare(ComparisonDirection::LT, x, low), above = b.compare(ComparisonDirection::GT, x, high);
    Value distance = b.select(below, b.subtract(low, x), b.subtract(x, high));
    Value turns = b.unary<FloorOp>(b.divide(distance, range));
    Value rest = b.subtract(distance, b.multiply(turns, range));
    Value half = b.multiply(turns, 0.5);
    Value isOdd = b.compare(ComparisonDirection::NE, half, b.unary<FloorOp>(half));
    Value mirrored = b.select(b.binary<XorOp>(below, isOdd), b.add(low, rest), b.subtract(high, rest));
    // Between equal ends there is one place.
    mirrored = b.select(b.compare(ComparisonDirection::GT, range, 0.0), mirrored, low);
    return b.select(b.binary<OrOp>(below, above), mirrored, x);
  }

  Value clampToImage(Value x, size_t d) {
    return b.minimum(b.maximum(x, b.scalar(real, 0)), b.subtract(sizes[d], 1.0));
  }

  /// A position outside the image brought back by the padding.
  Value fold(Value x, size_t d) {
    if (padding == Padding::Reflection)
      return reflect(x, d);
    if (padding == Padding::Zeros)
      return x;
    Value outside = b.binary<OrOp>(b.compare(ComparisonDirection::LT, x, lowEnd()),
                                   b.compare(ComparisonDirection::GT, x, highEnd(d)));
    return b.select(outside, clampToImage(x, d), x);
  }

  /// The elements at whole places.
  Value pixel(ArrayRef<Value> places) {
    Value inside, index;
    for (auto [d, place] : llvm::enumerate(places)) {
      Value at = place;
      if (padding == Padding::Reflection)
        at = b.unary<FloorOp>(reflect(at, d));
      Value held = clampToImage(at, d);
      if (padding == Padding::Zeros) {
        Value here = b.compare(ComparisonDirection::EQ, held, at);
        inside = inside ? b.binary<AndOp>(inside, here) : here;
      }
      Value whole = b.convert(held, b.i64());
      index = index ? b.add(b.multiply(index, b.sizeValue(extents[d], b.i64())), whole) : whole;
    }
    if (!image || !index)
      return {};
    SmallVector<Dim> dims{b.dim(image, 0), b.dim(image, 1), b.dim(index, 1)};
    Value elements = b.takeElements(image, b.broadcastInDim(index, dims, {0, 2}), 2);
    return inside ? b.select(b.expandDims(inside, 1), elements, b.scalarLike(elements, 0)) : elements;
  }

  Builder &b;
  Type real;
  Padding padding;
  bool alignCorners;
  Value image;
  SmallVector<Value> sizes;
  SmallVector<Dim> extents;
};

LogicalResult importGridSample(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0), grid = node.input(1);
  std::string mode = node.string("mode", node.opset() < 20 ? "bilinear" : "linear"),
              paddingMode = node.string("padding_mode", "zeros");
  bool alignCorners = node.integer("align_corners", 0) != 0;
  if (!node.expectRankAtLeast(0, 3) || !node.expectRank(1, b.rank(x)) || !haveSpace(node, x))
    return failure();
  int64_t spatial = b.rank(x) - 2;
  if (b.dim(grid, spatial + 1) != b.size(spatial) || b.dim(grid, 0) != b.dim(x, 0)) {
    node.error() << "expected a grid of " << b.dim(x, 0) << " entries with " << spatial
                 << " coordinates a point, got the type " << grid.getType();
    return failure();
  }
  std::optional<Interpolation> interpolation;
  if (mode == "nearest")
    interpolation = Interpolation::Nearest;
  else if (mode == "bilinear" || mode == "linear")
    interpolation = Interpolation::Linear;
  else if (mode == "bicubic" || mode == "cubic")
    interpolation = Interpolation::Cubic;
  if (!interpolation)
    return node.fail("attribute 'mode': expected linear, nearest or cubic, got '" + mode + "'");
  if (paddingMode != "zeros" && paddingMode != "border" && paddingMode != "reflection")
    return node.fail("attribute 'padding_mode': expected zeros, border or reflection, got '" + paddingMode + "'");
  Padding padding = paddingMode == "zeros"    ? Padding::Zeros
                    : paddingMode == "border" ? Padding::Border
                                              : Padding::Reflection;
  Type real = realType(b, {x, grid});
  SmallVector<Dim> result{b.dim(x, 0), b.dim(x, 1)};
  Dim points = b.size(1);
  for (int64_t i = 1; i <= spatial; ++i) {
    result.push_back(b.dim(grid, i));
    points = points * b.dim(grid, i);
  }
  Value coordinates = b.convert(b.reshape(grid, {b.dim(x, 0), points, b.size(spatial)}), real);
  SmallVector<Value> positions;
  for (int64_t d = 0; d < spatial; ++d) {
    // The last dimension's coordinate comes first.
    Value n = b.takeOne(coordinates, 2, spatial - 1 - d), size = b.sizeValue(b.dim(x, 2 + d), real);
    positions.push_back(alignCorners ? b.multiply(b.divide(b.add(n, 1.0), 2.0), b.subtract(size, 1.0))
                                     : b.divide(b.subtract(b.multiply(b.add(n, 1.0), size), 1.0), 2.0));
  }
  Sampler sampler(b, x, real, padding, alignCorners);
  return node.output(0, b.convert(b.reshape(sampler.sample(positions, *interpolation), result), b.element(x)));
}

LogicalResult importAffineGrid(Node &node) {
  Builder &b = node.b;
  Value theta = node.input(0);
  bool alignCorners = node.integer("align_corners", 0) != 0;
  std::optional<SmallVector<Dim>> size = node.sizes(1, "the size of the grid");
  if (!size || !node.expectRank(0, 3))
    return failure();
  int64_t spatial = static_cast<int64_t>(size->size()) - 2;
  if (spatial < 2 || spatial > 3 || b.dim(theta, 0) != (*size)[0] || b.dim(theta, 1) != b.size(spatial) ||
      b.dim(theta, 2) != b.size(spatial + 1)) {
    node.error()
        << "expected a size of 4 or 5 elements, and theta of shape [N, 2, 3] or [N, 3, 4] with the same N, got "
        << theta.getType();
    return failure();
  }
  Type real = realType(b, {theta});
  SmallVector<Dim> space(ArrayRef(*size).drop_front(2)), homogeneous = space;
  homogeneous.push_back(b.size(1));
  // Points (x, y, z, 1), x along the last dimension.
  SmallVector<Value> coordinates;
  for (int64_t d = spatial - 1; d >= 0; --d) {
    Value place = b.iota(real, space, d), count = b.sizeValue(space[d], real);
    Value coordinate = alignCorners ? b.subtract(b.divide(b.multiply(place, 2.0), b.subtract(count, 1.0)), 1.0)
                                    : b.subtract(b.divide(b.add(b.multiply(place, 2.0), 1.0), count), 1.0);
    if (alignCorners && space[d] == b.size(1))
      coordinate = b.splat(real, -1, space);
    coordinates.push_back(b.reshape(coordinate, homogeneous));
  }
  coordinates.push_back(b.splat(real, 1, homogeneous));
  Value points = b.concatenate(coordinates, spatial);
  if (!points)
    return failure();
  // [N, 2, 3] x [H, W, 3] -> [N, 2, H, W] -> [N, H, W, 2].
  Value grid = b.dotGeneral(b.convert(theta, real), points, 2, spatial);
  SmallVector<int64_t> permutation{0};
  for (int64_t i = 0; i < spatial; ++i)
    permutation.push_back(2 + i);
  permutation.push_back(1);
  return node.output(0, b.convert(b.transpose(grid, permutation), b.element(theta)));
}

//===----------------------------------------------------------------------===//
// Regions of interest
//===----------------------------------------------------------------------===//

/// Sample positions along one dimension of the image: two neighbours and the weight of the second.
struct Neighbours {
  Value low, high, weight, inside;
};

/// Positions [R, bins] that lie in [-1, size]; the others are outside.
Neighbours neighboursOf(Builder &b, Value position, Value size, Type real) {
  Neighbours result;
  result.inside = b.binary<AndOp>(b.compare(ComparisonDirection::GE, position, -1.0),
                                  b.compare(ComparisonDirection::LE, position, size));
  Value last = b.subtract(size, 1.0);
  Value held = b.minimum(b.maximum(position, b.scalar(real, 0)), last);
  Value low = b.unary<FloorOp>(held);
  result.weight = b.subtract(held, low);
  result.low = b.convert(low, b.i64());
  result.high = b.convert(b.minimum(b.add(low, 1.0), last), b.i64());
  return result;
}

LogicalResult importRoiAlign(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0), rois = node.input(1), batch = node.input(2);
  std::string mode = node.string("mode", "avg"),
              transform =
                  node.opset() < 16 ? "output_half_pixel" : node.string("coordinate_transformation_mode", "half_pixel");
  int64_t height = node.integer("output_height", 1), width = node.integer("output_width", 1),
          ratio = node.integer("sampling_ratio", 0);
  double scale = node.real("spatial_scale", 1);
  if (node.failed() || !node.expectRank(0, 4) || !node.expectRank(1, 2) || !node.expectRank(2, 1) ||
      !haveSpace(node, x))
    return failure();
  if (mode != "avg" && mode != "max")
    return node.fail("attribute 'mode': expected avg or max, got '" + mode + "'");
  if (transform != "half_pixel" && transform != "output_half_pixel")
    return node.fail("attribute 'coordinate_transformation_mode': expected half_pixel or output_half_pixel, got '" +
                     transform + "'");
  constexpr int64_t kMost = 1 << 20;
  if (height < 1 || width < 1 || height > kMost || width > kMost || ratio < 0 || ratio > 1024)
    return node.fail("expected an output height and width of at least 1, and a sampling_ratio in [0, 1024]");
  if (b.dim(rois, 1) != b.size(4) || b.dim(rois, 0) != b.dim(batch, 0))
    return node.fail("expected regions of shape [regions, 4] and one batch index a region");
  bool isMax = mode == "max", isHalfPixel = transform == "half_pixel";
  Type real = realType(b, {x, rois});
  Dim regions = b.dim(rois, 0), channels = b.dim(x, 1);
  Value corners = b.subtract(b.multiply(b.convert(rois, real), scale), isHalfPixel ? 0.5 : 0.0);
  // Per dimension: where the region begins, the size of a bin, and the samples in it.
  struct Along {
    Value start, bin, samples, extent;
    int64_t bins;
  } along[2];
  for (int d = 0; d < 2; ++d) { // height, then width
    Along &one = along[d];
    one.bins = d == 0 ? height : width;
    one.extent = b.sizeValue(b.dim(x, 2 + d), real);
    one.start = b.takeOne(corners, 1, 1 - d);
    Value length = b.subtract(b.takeOne(corners, 1, 3 - d), one.start);
    if (!isHalfPixel)
      length = b.maximum(length, 1.0);
    one.bin = b.divide(length, double(one.bins));
    one.samples = ratio > 0 ? b.splat(real, double(ratio), regions) : b.maximum(b.unary<CeilOp>(one.bin), 0.0);
  }
  // Elements by [C, N * H * W].
  SmallVector<Dim> plane{b.dim(x, 0), b.dim(x, 2), b.dim(x, 3)};
  Value image = b.convert(b.reshape(b.transpose(x, {1, 0, 2, 3}), {channels, product(plane, b.context())}), real);
  SmallVector<Dim> bins{regions, b.size(height), b.size(width)};
  SmallVector<Dim> result{channels, regions, b.size(height), b.size(width)};
  Value first = b.broadcastInDim(b.convert(batch, b.i64()), bins, {0});
  Value rowSize = b.sizeValue(b.dim(x, 3), b.i64()), columnSize = b.sizeValue(b.dim(x, 2), b.i64());
  // Sample (sy, sx) of every bin, [C, R, height, width], and whether the region has such a sample, [R].
  auto sampleAt = [&](Value sy, Value sx) -> std::pair<Value, Value> {
    Neighbours side[2];
    Value exists, inside;
    for (int d = 0; d < 2; ++d) {
      Along &one = along[d];
      Value step = b.convert(d == 0 ? sy : sx, real);
      Value fits = b.compare(ComparisonDirection::LT, step, one.samples);
      exists = exists ? b.binary<AndOp>(exists, fits) : fits;
      Value within = b.divide(b.multiply(b.add(step, 0.5), one.bin), one.samples); // [R]
      Value bin = b.multiply(b.iota(real, {regions, b.size(one.bins)}, 1), b.expandDims(one.bin, 1));
      Value position = b.add(b.add(b.expandDims(one.start, 1), bin), b.expandDims(within, 1)); // [R, bins]
      side[d] = neighboursOf(b, position, one.extent, real);
      for (Value *value : {&side[d].low, &side[d].high, &side[d].weight, &side[d].inside})
        *value = b.broadcastInDim(*value, bins, {0, d == 0 ? 1 : 2});
      inside = inside ? b.binary<AndOp>(inside, side[d].inside) : side[d].inside;
    }
    Value total;
    for (int corner = 0; corner < 4; ++corner) {
      bool isLow = corner < 2, isLeft = corner % 2 == 0;
      Value y = isLow ? side[0].low : side[0].high, column = isLeft ? side[1].low : side[1].high;
      Value one = b.scalar(real, 1);
      Value weight = b.multiply(isLow ? b.subtract(one, side[0].weight) : side[0].weight,
                                isLeft ? b.subtract(one, side[1].weight) : side[1].weight);
      weight = b.select(inside, weight, b.scalar(real, 0));
      Value index = b.add(b.multiply(b.add(b.multiply(first, columnSize), y), rowSize), column);
      index = b.select(inside, index, b.integerScalar(b.i64(), 0));
      Value term = b.multiply(b.take(image, index, 1), b.expandDims(weight, 0));
      // The maximum is over the weighted elements.
      total = !total ? term : isMax ? b.maximum(total, term) : b.add(total, term);
    }
    return {total, exists};
  };
  Value seen = b.splat(b.i1(), 0, regions);
  auto step = [&](Value index, Value perRow, ArrayRef<Value> state) -> FailureOr<SmallVector<Value>> {
    auto [value, exists] = sampleAt(b.divide(index, perRow), b.binary<RemainderOp>(index, perRow));
    if (!value || !exists)
      return failure();
    auto spread = [&](Value flags) { return b.broadcastInDim(flags, result, {1}); };
    Value combined = isMax ? b.select(spread(state[1]), b.maximum(state[0], value), value) : b.add(state[0], value);
    return SmallVector<Value>{b.select(spread(exists), combined, state[0]), b.binary<OrOp>(state[1], exists)};
  };
  FailureOr<SmallVector<Value>> results = failure();
  Value zero = b.splat(real, 0, result);
  if (ratio > 0) {
    Value perRow = b.integerScalar(b.i64(), ratio);
    results = buildCounted(b, b.size(ratio * ratio), {zero, seen}, [&](ArrayRef<Value> arguments) {
      return step(arguments[0], perRow, arguments.drop_front());
    });
  } else {
    // As many samples as the largest region needs; the others leave out what they do not have.
    auto most = [&](const Along &one) {
      Value largest = b.reduce(ReductionKind::max, one.samples, {0}, false);
      return b.convert(b.minimum(b.maximum(largest, b.scalar(real, 0)), b.scalar(real, 1 << 20)), b.i64());
    };
    Value rows = most(along[0]), perRow = b.maximum(most(along[1]), b.integerScalar(b.i64(), 1));
    Value limit = b.multiply(rows, perRow);
    results = buildWhile(
        b, {b.integerScalar(b.i64(), 0), zero, seen},
        [&](ArrayRef<Value> state) -> FailureOr<SmallVector<Value>> {
          return SmallVector<Value>{b.compare(ComparisonDirection::LT, state[0], limit)};
        },
        [&](ArrayRef<Value> state) -> FailureOr<SmallVector<Value>> {
          FailureOr<SmallVector<Value>> next = step(state[0], perRow, state.drop_front());
          if (succeeded(next))
            next->insert(next->begin(), b.add(state[0], b.integerScalar(b.i64(), 1)));
          return next;
        });
    if (succeeded(results))
      results->erase(results->begin());
  }
  if (failed(results))
    return failure();
  Value pooled = (*results)[0];
  if (!isMax) {
    Value count = b.maximum(b.multiply(along[0].samples, along[1].samples), 1.0);
    pooled = b.divide(pooled, b.broadcastInDim(count, result, {1}));
  }
  return node.output(0, b.convert(b.transpose(pooled, {1, 0, 2, 3}), b.element(x)));
}

LogicalResult importMaxRoiPool(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0), rois = node.input(1);
  SmallVector<int64_t> shape = node.integerList("pooled_shape");
  double scale = node.real("spatial_scale", 1);
  if (node.failed() || !node.expectRank(0, 4) || !node.expectRank(1, 2) || !haveSpace(node, x))
    return failure();
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1 || b.dim(rois, 1) != b.size(5))
    return node.fail("expected a pooled_shape of two sizes and regions of shape [regions, 5]");
  Type real = realType(b, {x, rois});
  Dim regions = b.dim(rois, 0), channels = b.dim(x, 1);
  Value table = b.convert(rois, real);
  Value batch = b.convert(b.takeOne(table, 1, 0), b.i64());
  Value whole = b.unary<RoundNearestAfzOp>(b.multiply(table, scale));
  // Which elements belong to a bin, [R, bins, size].
  auto bins = [&](int d) {
    Value start = b.takeOne(whole, 1, 2 - d), end = b.takeOne(whole, 1, 4 - d);
    Value length = b.maximum(b.add(b.subtract(end, start), 1.0), 1.0);
    Dim size = b.dim(x, 2 + d), count = b.size(shape[d]);
    Value bin = b.expandDims(b.divide(length, double(shape[d])), 1), place = b.iota(real, {regions, count}, 1);
    Value low = b.add(b.unary<FloorOp>(b.multiply(place, bin)), b.expandDims(start, 1));
    Value high = b.add(b.unary<CeilOp>(b.multiply(b.add(place, 1.0), bin)), b.expandDims(start, 1));
    Value element = b.iota(real, {regions, count, size}, 2);
    return b.binary<AndOp>(b.compare(ComparisonDirection::GE, element, b.expandDims(low, 2)),
                           b.compare(ComparisonDirection::LT, element, b.expandDims(high, 2)));
  };
  Value rows = bins(0), columns = bins(1);
  if (!rows || !columns)
    return failure();
  SmallVector<Dim> result{regions, channels, b.size(shape[0]), b.size(shape[1])};
  Value lowest = b.scalar(b.element(x), -std::numeric_limits<double>::infinity());
  FailureOr<SmallVector<Value>> results = buildCounted(
      b, regions, {b.splat(b.element(x), 0, result)}, [&](ArrayRef<Value> arguments) -> FailureOr<SmallVector<Value>> {
        Value index = arguments[0];
        Value image = readRow(b, x, b.reshape(readRow(b, batch, index, 0), {}), 0); // [C, H, W]
        Value row = readRow(b, rows, index, 0), column = readRow(b, columns, index, 0);
        if (!image || !row || !column)
          return failure();
        SmallVector<Dim> wide{channels, b.dim(x, 2), b.size(shape[1]), b.dim(x, 3)};
        Value part = b.select(b.broadcastInDim(column, wide, {2, 3}), b.broadcastInDim(image, wide, {0, 1, 3}), lowest);
        part = b.reduce(ReductionKind::max, part, {3}, false); // [C, H, bins]
        SmallVector<Dim> high{channels, b.size(shape[0]), b.size(shape[1]), b.dim(x, 2)};
        part = b.select(b.broadcastInDim(row, high, {1, 3}),
                        b.broadcastInDim(b.transpose(part, {0, 2, 1}), high, {0, 2, 3}), lowest);
        part = b.reduce(ReductionKind::max, part, {3}, false); // [C, bins, bins]
        // A bin without elements is zero.
        Value any = b.binary<AndOp>(b.expandDims(b.reduce(ReductionKind::any, row, {1}, false), 1),
                                    b.expandDims(b.reduce(ReductionKind::any, column, {1}, false), 0));
        part = b.select(any, part, b.scalarLike(part, 0));
        return SmallVector<Value>{writeRow(b, arguments[1], part, index, 0)};
      });
  return succeeded(results) ? node.output(0, (*results)[0]) : failure();
}

//===----------------------------------------------------------------------===//
// DeformConv
//===----------------------------------------------------------------------===//

LogicalResult importDeformConv(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0), weights = node.input(1), offset = node.input(2), bias = node.input(3), mask = node.input(4);
  int64_t group = node.integer("group", 1), offsetGroup = node.integer("offset_group", 1);
  SmallVector<int64_t> kernel = node.integerList("kernel_shape"), dilations = node.integerList("dilations", {1, 1}),
                       strides = node.integerList("strides", {1, 1}), pads = node.integerList("pads", {0, 0, 0, 0});
  if (node.failed() || !node.expectRank(0, 4) || !node.expectRank(1, 4) || !node.expectRank(2, 4) ||
      !haveSpace(node, x))
    return failure();
  for (int64_t i = 0; i < 4; ++i)
    if (!b.dim(weights, i).isConstant())
      return node.fail("expected weights of a shape that is known at compile time");
  if (kernel.empty())
    kernel = {b.dim(weights, 2).getConstant(), b.dim(weights, 3).getConstant()};
  auto positive = [](ArrayRef<int64_t> values) { return llvm::all_of(values, [](int64_t n) { return n >= 1; }); };
  if (kernel.size() != 2 || dilations.size() != 2 || strides.size() != 2 || pads.size() != 4 || !positive(dilations) ||
      !positive(strides) || !positive({group, offsetGroup}) || b.dim(weights, 2) != b.size(kernel[0]) ||
      b.dim(weights, 3) != b.size(kernel[1]))
    return node.fail(
        "expected two sizes as kernel_shape (those of the weights), dilations and strides, all at least 1, "
        "and four pads");
  int64_t taps = kernel[0] * kernel[1], outputs = b.dim(weights, 0).getConstant();
  std::optional<Dim> perGroup = b.dim(x, 1).divideExactly(b.size(group)),
                     perOffset = b.dim(x, 1).divideExactly(b.size(offsetGroup));
  if (!perGroup || !perOffset || *perGroup != b.dim(weights, 1) || outputs % group != 0)
    return node.fail("expected channels that group and offset_group divide, and weights for one group's");
  Dim batch = b.dim(x, 0), height = b.dim(offset, 2), width = b.dim(offset, 3), channels = b.dim(x, 1);
  for (int d = 0; d < 2; ++d) {
    Dim reach = b.dim(x, 2 + d) + (pads[d] + pads[2 + d] - (kernel[d] - 1) * dilations[d] - 1);
    if (reach.floorDiv(strides[d]) + 1 != b.dim(offset, 2 + d)) {
      node.error() << "expected offsets for " << reach.floorDiv(strides[d]) + 1 << " places in dimension " << d
                   << " of the result, got " << b.dim(offset, 2 + d);
      return failure();
    }
  }
  if (b.dim(offset, 1) != b.size(offsetGroup * taps * 2) || b.dim(offset, 0) != batch ||
      (mask && (b.rank(mask) != 4 || b.dim(mask, 1) != b.size(offsetGroup * taps))))
    return node.fail("expected two offsets, and one element of the mask, a tap and offset group");
  Type real = realType(b, {x});
  // Positions [N, G, taps, 2, OH, OW]: where the kernel lies, plus the offset.
  SmallVector<Dim> all{batch, b.size(offsetGroup), b.size(kernel[0]), b.size(kernel[1]), height, width};
  Value given = b.convert(
      b.reshape(offset, {batch, b.size(offsetGroup), b.size(kernel[0]), b.size(kernel[1]), b.size(2), height, width}),
      real);
  Dim points = b.size(taps) * height * width;
  SmallVector<Value> positions;
  // Offset groups are entries of the sampler's batch.
  Dim entries = batch * offsetGroup;
  for (int d = 0; d < 2; ++d) {
    Value place = b.add(b.multiply(b.iota(real, all, 4 + d), double(strides[d])),
                        b.multiply(b.iota(real, all, 2 + d), double(dilations[d])));
    Value position = b.add(b.subtract(place, double(pads[d])), b.takeOne(given, 4, d));
    positions.push_back(b.reshape(position, {entries, points}));
  }
  Value image = b.reshape(x, {entries, *perOffset, b.dim(x, 2), b.dim(x, 3)});
  if (!image)
    return failure();
  Sampler sampler(b, image, real, Padding::Zeros, /*alignCorners=*/true);
  Value columns = sampler.sample(positions, Interpolation::Linear); // [N * G, C / G, points]
  if (mask)
    columns = b.multiply(columns, b.expandDims(b.convert(b.reshape(mask, {entries, points}), real), 1));
  // [N, groups, C / group, taps, OH * OW] against [groups, M / group, C / group, taps].
  columns = b.reshape(columns, {batch, b.size(group), *perGroup, b.size(taps), height, width});
  Value kernels =
      b.reshape(b.convert(weights, real), {b.size(group), b.size(outputs / group), *perGroup, b.size(taps)});
  Value result = b.dotGeneral(kernels, columns, {2, 3}, {2, 3}, 0, 1); // [groups, M / group, N, OH, OW]
  result = b.reshape(b.transpose(result, {2, 0, 1, 3, 4}), {batch, b.size(outputs), height, width});
  if (bias)
    result = b.add(result, b.expandDims(b.convert(bias, real), {1, 2}));
  return node.output(0, b.convert(result, b.element(x)));
}

} // namespace

void addSamplingHandlers(HandlerTable &table) {
  table.add("GridSample", importGridSample);
  table.add("AffineGrid", importAffineGrid);
  table.add("RoiAlign", importRoiAlign);
  table.add("MaxRoiPool", importMaxRoiPool);
  table.add("DeformConv", importDeformConv);
}

} // namespace weft::importer
