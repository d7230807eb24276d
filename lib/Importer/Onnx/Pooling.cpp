//===- Pooling.cpp - ONNX's poolings -------------------------------------------------------------===//

#include "lib/Importer/Onnx/Pooling.h"
#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/WindowAttributes.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

/// What a pooling reads of its node. `high` is the padding that the attributes say; `ceilHigh` what ceil_mode adds to
/// it.
struct Pool {
  WindowAttributes window;
  SmallVector<int64_t> ceilHigh;

  /// The window over all dimensions, those of batch and channels included.
  Builder::Window full() const {
    Builder::Window all{{1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
    for (int64_t i = 0; i < window.count(); ++i) {
      all.size.push_back(window.kernel[i]);
      all.stride.push_back(window.strides[i]);
      all.dilation.push_back(window.dilations[i]);
      all.low.push_back(window.low[i]);
      all.high.push_back(window.high[i] + ceilHigh[i]);
    }
    return all;
  }
  bool hasPadding() const {
    for (int64_t i = 0; i < window.count(); ++i)
      if (window.low[i] || window.high[i] || ceilHigh[i])
        return true;
    return false;
  }
};

std::optional<Pool> readPool(Node &node, Value x) {
  Builder &b = node.b;
  if (!node.expectRankAtLeast(0, 3))
    return std::nullopt;
  bool ceilMode = node.integer("ceil_mode", 0) != 0;
  std::optional<SmallVector<int64_t>> kernel = readKernelShape(node, {}, b.rank(x) - 2);
  std::optional<WindowAttributes> window = kernel ? readWindow(node, x, *kernel) : std::nullopt;
  if (!window || node.failed())
    return std::nullopt;
  Pool pool{*window, SmallVector<int64_t>(window->count(), 0)};
  for (int64_t i = 0; i < window->count(); ++i) {
    Dim size = b.dim(x, i + 2);
    if (window->low[i] < 0 || window->high[i] < 0) {
      node.error() << "attribute 'pads': expected pads that are not negative";
      return std::nullopt;
    }
    Dim room = size + window->low[i] + window->high[i] - window->extent(i);
    int64_t stride = window->strides[i];
    if (ceilMode && stride > 1) {
      if (!size.isConstant()) {
        node.error() << "attribute 'ceil_mode' with stride " << stride
                     << " needs a spatial size that is an integer, but it is " << size << "; give the inputs a shape";
        return std::nullopt;
      }
      int64_t space = room.getConstant();
      if (space >= 0) {
        int64_t steps = llvm::divideCeil(space, stride);
        // A window that would start in the padding behind the end is left out.
        if (steps * stride >= size.getConstant() + window->low[i])
          --steps;
        pool.ceilHigh[i] = std::max<int64_t>(0, steps * stride - space);
      }
    }
    if (!b.facts.symbols.requireAtLeast(room, size.isConstant() ? -window->extent(i) : 0)) {
      node.error() << "spatial dimension " << i << " of size " << size << " may be smaller than the window of "
                   << window->extent(i) << "; give its symbol a larger lower bound";
      return std::nullopt;
    }
  }
  return pool;
}

/// Indices of the largest elements, as MaxPool's second output has them: positions in the whole input, row-major
/// (`storage_order` 1: with the spatial dimensions in the opposite order). One step a position in the window; the first
/// of equal elements wins.
Value maxIndices(Node &node, Value x, const Pool &pool, bool columnMajor) {
  Builder &b = node.b;
  const WindowAttributes &window = pool.window;
  int64_t rank = b.rank(x), positions = 1;
  for (const Dim &dim : b.dims(x))
    if (!dim.isConstant()) {
      node.error() << "indices of a pooling need a shape that is integers, but it holds " << dim
                   << "; give the inputs a shape";
      return {};
    }
  for (int64_t size : window.kernel)
    if (llvm::MulOverflow(positions, size, positions) || positions > 4096) {
      node.error() << "indices of a window of more than 4096 elements are not supported";
      return {};
    }
  // The index of every element.
  Value index = b.splat(b.i64(), 0, b.dims(x));
  int64_t step = 1;
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < rank - 2; ++i)
    order.push_back(columnMajor ? i + 2 : rank - 1 - i);
  order.push_back(1);
  order.push_back(0);
  for (int64_t dimension : order) {
    index = b.add(index, b.multiply(b.iota(b.i64(), b.dims(x), dimension), b.integerScalar(b.i64(), step)));
    step *= b.dim(x, dimension).getConstant();
  }
  Builder::Window all = pool.full();
  Type element = b.element(x);
  Value lowest =
      b.isFloat(x)
          ? b.scalar(element, -std::numeric_limits<double>::infinity())
          : b.integerScalar(element, b.isUnsigned(x) ? 0 : -(int64_t(1) << (element.getIntOrFloatBitWidth() - 1)));
  Value padded = b.pad(x, lowest, all.low, all.high);
  Value paddedIndex = b.pad(index, b.integerScalar(b.i64(), -1), all.low, all.high);
  Value best, bestIndex;
  for (int64_t position = 0; position < positions; ++position) {
    Value candidate = padded, candidateIndex = paddedIndex;
    int64_t rest = position;
    for (int64_t i = window.count(); i-- > 0;) {
      int64_t start = rest % window.kernel[i] * window.dilations[i];
      rest /= window.kernel[i];
      if (!candidate)
        return {};
      int64_t size = b.dim(padded, i + 2).getConstant();
      int64_t count = (size - window.extent(i)) / window.strides[i] + 1;
      int64_t limit = start + (count - 1) * window.strides[i] + 1;
      candidate = b.slice(candidate, i + 2, start, limit, window.strides[i]);
      candidateIndex = b.slice(candidateIndex, i + 2, start, limit, window.strides[i]);
    }
    if (!best) {
      best = candidate;
      bestIndex = candidateIndex;
      continue;
    }
    // Also where nothing but padding was seen so far: the lowest number itself must be found.
    Value better = b.compare(ComparisonDirection::GT, candidate, best);
    Value first = b.binary<AndOp>(b.compare(ComparisonDirection::LT, bestIndex, 0.0),
                                  b.compare(ComparisonDirection::GE, candidateIndex, 0.0));
    Value takes = b.binary<OrOp>(better, first);
    best = b.select(takes, candidate, best);
    bestIndex = b.select(takes, candidateIndex, bestIndex);
  }
  return bestIndex;
}

LogicalResult importMaxPool(Node &node) {
  Builder &b = node.b;
  bool columnMajor = node.integer("storage_order", 0) != 0;
  std::optional<Pool> pool = readPool(node, node.input(0));
  if (!pool || failed(node.output(0, b.reduceWindow(ReductionKind::max, node.input(0), pool->full()))))
    return failure();
  if (node.wants(1))
    return node.output(1, maxIndices(node, node.input(0), *pool, columnMajor));
  return success();
}

} // namespace

Value buildAveragePool(Node &node, Value x) {
  Builder &b = node.b;
  bool includePad = node.integer("count_include_pad", 0) != 0;
  std::optional<Pool> pool = readPool(node, x);
  if (!pool)
    return {};
  // A sum of narrow floats can overflow where the mean does not.
  Type element = b.element(x);
  if (element.getIntOrFloatBitWidth() < 32)
    x = b.convert(x, b.f32());
  Value sum = b.reduceWindow(ReductionKind::sum, x, pool->full());
  int64_t size = 1;
  for (int64_t extent : pool->window.kernel)
    size *= extent;
  bool ceilAdds = llvm::any_of(pool->ceilHigh, [](int64_t added) { return added != 0; });
  if (!pool->hasPadding() || (includePad && !ceilAdds))
    return b.convert(b.divide(sum, static_cast<double>(size)), element);
  // How many elements each window covers, which depends on the spatial position only. Padding that the attributes ask
  // for counts if the node says so, what ceil_mode adds never does.
  SmallVector<Dim> ones = b.dims(x);
  ones[0] = ones[1] = b.size(1);
  Builder::Window all = pool->full();
  Value counted = b.splat(b.element(x), 1, ones);
  if (includePad) {
    SmallVector<int64_t> low{0, 0}, high{0, 0};
    low.append(pool->window.low);
    high.append(pool->window.high);
    counted = b.pad(counted, b.scalarLike(x, 1), low, high);
    all.low.assign(all.low.size(), 0);
    all.high.assign({0, 0});
    all.high.append(pool->ceilHigh);
  }
  Value counts = b.reduceWindow(ReductionKind::sum, counted, all);
  return b.convert(b.divide(sum, counts), element);
}

namespace {

LogicalResult importAveragePool(Node &node) { return node.output(0, buildAveragePool(node, node.input(0))); }

/// The p-norm from |x|: `reduce` sums.
Value norm(Builder &b, Value x, double p, llvm::function_ref<Value(Value)> sum) {
  Value magnitude = b.abs(x);
  if (p == 1)
    return sum(magnitude);
  if (p == 2)
    return b.sqrt(sum(b.multiply(magnitude, magnitude)));
  Value total = sum(b.binary<PowerOp>(magnitude, b.scalarLike(x, p)));
  return b.binary<PowerOp>(total, b.scalarLike(x, 1 / p));
}

double readP(Node &node) {
  // A float in opset 1, an integer since.
  double p = node.opset() < 2 ? node.real("p", 2) : static_cast<double>(node.integer("p", 2));
  if (!(p > 0))
    node.error() << "attribute 'p': expected a positive number";
  return p;
}

LogicalResult importLpPool(Node &node) {
  Builder &b = node.b;
  double p = readP(node);
  std::optional<Pool> pool = readPool(node, node.input(0));
  if (!pool || node.failed())
    return failure();
  return node.output(
      0, norm(b, node.input(0), p, [&](Value x) { return b.reduceWindow(ReductionKind::sum, x, pool->full()); }));
}

/// The spatial dimensions of the input; an error where it has none.
std::optional<SmallVector<int64_t>> spatialDimensions(Node &node) {
  if (!node.expectRankAtLeast(0, 3))
    return std::nullopt;
  SmallVector<int64_t> spatial;
  for (int64_t i = 2; i < node.b.rank(node.input(0)); ++i)
    spatial.push_back(i);
  return spatial;
}

LogicalResult importGlobalAveragePool(Node &node) {
  std::optional<SmallVector<int64_t>> spatial = spatialDimensions(node);
  return spatial ? node.output(0, node.b.mean(node.input(0), *spatial, /*keepDims=*/true)) : failure();
}

LogicalResult importGlobalMaxPool(Node &node) {
  std::optional<SmallVector<int64_t>> spatial = spatialDimensions(node);
  return spatial ? node.output(0, node.b.reduce(ReductionKind::max, node.input(0), *spatial, /*keepDims=*/true))
                 : failure();
}

LogicalResult importGlobalLpPool(Node &node) {
  double p = readP(node);
  std::optional<SmallVector<int64_t>> spatial = spatialDimensions(node);
  if (!spatial || node.failed())
    return failure();
  return node.output(
      0, norm(node.b, node.input(0), p, [&](Value x) { return node.b.sum(x, *spatial, /*keepDims=*/true); }));
}

//===----------------------------------------------------------------------===//
// Back from windows to images
//===----------------------------------------------------------------------===//

LogicalResult importMaxUnpool(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0), indices = node.input(1);
  if (!node.expectRankAtLeast(0, 3))
    return failure();
  int64_t rank = b.rank(x), spatial = rank - 2;
  SmallVector<int64_t> kernel = node.integerList("kernel_shape"),
                       strides = node.integerList("strides", SmallVector<int64_t>(spatial, 1)),
                       pads = node.integerList("pads", SmallVector<int64_t>(2 * spatial, 0));
  if (node.failed())
    return failure();
  auto isList = [&](ArrayRef<int64_t> list, int64_t count) { return static_cast<int64_t>(list.size()) == count; };
  if (!isList(kernel, spatial) || !isList(strides, spatial) || !isList(pads, 2 * spatial) ||
      b.dims(indices) != b.dims(x))
    return node.fail("expected " + std::to_string(spatial) +
                     " sizes as kernel_shape and strides, twice as many pads, and "
                     "an index for each element");
  // Indices count in the tensor that was pooled.
  SmallVector<Dim> pooled{b.dim(x, 0), b.dim(x, 1)};
  for (int64_t i = 0; i < spatial; ++i) {
    pooled.push_back((b.dim(x, 2 + i) - 1) * strides[i] + (kernel[i] - pads[i] - pads[spatial + i]));
    if (!b.facts.symbols.requireAtLeast(pooled.back(), 0)) {
      node.error() << "dimension " << 2 + i << " of the result would have size " << pooled.back();
      return failure();
    }
  }
  Dim elements = product(pooled, b.context()), count = getElementCount(x.getType());
  Value places = b.convert(b.reshape(indices, {count, b.size(1)}), b.i64());
  Value zeros = b.splat(b.element(x), 0, elements), updates = b.reshape(x, count);
  if (!places || !zeros || !updates)
    return failure();
  Value flat = b.inferred<ScatterOp>(zeros.getType(), zeros, places, updates, ScatterKind::set, ArrayRef<int64_t>(),
                                     ArrayRef<int64_t>(0), ArrayRef<int64_t>(), ArrayRef<int64_t>(),
                                     ArrayRef<int64_t>(0), int64_t(1));
  Value result = b.reshape(flat, pooled);
  if (node.has(2)) {
    std::optional<SmallVector<Dim>> wanted = node.sizes(2, "the output shape");
    if (!wanted)
      return failure();
    if (static_cast<int64_t>(wanted->size()) != rank)
      return node.fail("expected an output shape of " + std::to_string(rank) + " sizes");
    SmallVector<int64_t> low(rank, 0), high(rank, 0);
    for (int64_t i = 0; i < rank; ++i) {
      Dim missing = (*wanted)[i] - pooled[i];
      if (!missing.isConstant() || missing.getConstant() < 0) {
        node.error() << "expected an output of at least " << pooled[i] << " elements in dimension " << i << ", got "
                     << (*wanted)[i];
        return failure();
      }
      high[i] = missing.getConstant();
    }
    result = b.pad(result, b.scalarLike(x, 0), low, high);
  }
  return node.output(0, result);
}

/// Blocks beside each other in columns, added up where they lie in the image: one padded part a place in the block.
LogicalResult importCol2Im(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  std::optional<SmallVector<int64_t>> image = node.integers(1, "the image's shape"),
                                      block = node.integers(2, "the block's shape");
  if (!image || !block || !node.expectRank(0, 3))
    return failure();
  int64_t spatial = image->size();
  SmallVector<int64_t> ones(spatial, 1), dilations = node.integerList("dilations", ones),
                                         strides = node.integerList("strides", ones),
                                         pads = node.integerList("pads", SmallVector<int64_t>(2 * spatial, 0));
  if (node.failed())
    return failure();
  auto isPositive = [&](ArrayRef<int64_t> list) {
    constexpr int64_t kLargest = int64_t(1) << 31;
    return static_cast<int64_t>(list.size()) == spatial &&
           llvm::all_of(list, [](int64_t n) { return n >= 1 && n <= kLargest; });
  };
  if (spatial < 1 || !isPositive(*image) || !isPositive(*block) || !isPositive(dilations) || !isPositive(strides) ||
      static_cast<int64_t>(pads.size()) != 2 * spatial)
    return node.fail(
        "expected as many block sizes, dilations and strides as the image has dimensions, all at least 1, and "
        "twice as many pads");
  int64_t taps = 1;
  SmallVector<int64_t> counts;
  Dim places = b.size(1);
  for (int64_t i = 0; i < spatial; ++i) {
    constexpr int64_t kMostTaps = 4096;
    if (llvm::MulOverflow(taps, (*block)[i], taps) || taps > kMostTaps)
      return node.fail("a block of more than 4096 elements is not supported");
    int64_t room = (*image)[i] + pads[i] + pads[spatial + i] - ((*block)[i] - 1) * dilations[i] - 1;
    counts.push_back(room < 0 ? 0 : room / strides[i] + 1);
    places = places * counts.back();
  }
  std::optional<Dim> channels = b.dim(x, 1).divideExactly(b.size(taps));
  if (!channels || b.dim(x, 2) != places || places == b.size(0)) {
    node.error() << "expected columns of shape [N, C * " << taps << ", " << places << "], got " << x.getType();
    return failure();
  }
  SmallVector<Dim> dims{b.dim(x, 0), *channels, b.size(taps)};
  llvm::append_range(dims, b.sizes(counts));
  Value columns = b.reshape(x, dims), zero = b.scalarLike(x, 0), sum;
  for (int64_t tap = 0; tap < taps; ++tap) {
    Value part = b.takeOne(columns, 2, tap);
    SmallVector<int64_t> low{0, 0}, high{0, 0}, between{0, 0};
    low.resize(2 + spatial);
    high.resize(2 + spatial);
    for (int64_t i = spatial, rest = tap; i-- > 0; rest /= (*block)[i]) {
      low[2 + i] = rest % (*block)[i] * dilations[i] - pads[i];
      high[2 + i] = (*image)[i] - (low[2 + i] + (counts[i] - 1) * strides[i] + 1);
    }
    for (int64_t stride : strides)
      between.push_back(stride - 1);
    part = b.pad(part, zero, low, high, between);
    sum = sum ? b.add(sum, part) : part;
  }
  return node.output(0, sum);
}

} // namespace

void addPoolingHandlers(HandlerTable &table) {
  table.add("MaxPool", importMaxPool);
  table.add("AveragePool", importAveragePool);
  table.add("LpPool", importLpPool);
  table.add("GlobalAveragePool", importGlobalAveragePool);
  table.add("GlobalMaxPool", importGlobalMaxPool);
  table.add("GlobalLpPool", importGlobalLpPool);
  table.add("MaxUnpool", importMaxUnpool);
  table.add("Col2Im", importCol2Im);
}

} // namespace weft::importer
