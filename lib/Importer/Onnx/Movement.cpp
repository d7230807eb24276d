//===- Movement.cpp - ONNX operators that take tensors apart and put them together ---------------===//

#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Node.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

LogicalResult importConcat(Node &node) {
  Builder &b = node.b;
  SmallVector<Value> values(node.allInputs());
  int64_t axis = node.opset() < 4 ? node.integer("axis", 1) : node.requiredInteger("axis");
  axis = node.axis(axis, b.rank(values[0]));
  if (node.failed())
    return failure();
  // Outside the axis all have the sizes of the first, or those that are integers.
  SmallVector<Dim> common = b.dims(values[0]);
  for (Value value : values)
    for (auto [d, size] : llvm::enumerate(b.dims(value)))
      if (d < common.size() && size.isConstant())
        common[d] = size;
  for (auto [i, value] : llvm::enumerate(values)) {
    Value fitting;
    if (b.rank(value) == static_cast<int64_t>(common.size())) {
      SmallVector<Dim> wanted = common;
      if (!wanted.empty())
        wanted[axis] = b.dim(value, axis);
      fitting = b.assumeShape(value, wanted);
    }
    if (fitting) {
      values[i] = fitting;
    } else {
      node.error() << "input '" << node.inputName(i) << "' of type " << value.getType() << " does not fit '"
                   << node.inputName(0) << "' of type " << values[0].getType() << " outside axis " << axis;
      return failure();
    }
  }
  return node.output(0, b.concatenate(values, axis));
}

LogicalResult importSplit(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  int64_t axis = node.axis(node.integer("axis", 0), b.rank(x)), parts = node.outputCount();
  if (node.failed())
    return failure();
  Dim total = b.dim(x, axis);
  SmallVector<Dim> lengths;
  if (node.opset() < 13) {
    lengths = b.sizes(node.integerList("split"));
    if (node.opset() == 1 && node.has(1) && lengths.empty())
      if (std::optional<SmallVector<Dim>> given = node.sizes(1, "the lengths of the parts"))
        lengths = *given;
  } else if (node.has(1)) {
    std::optional<SmallVector<Dim>> given = node.sizes(1, "the lengths of the parts");
    if (!given)
      return failure();
    lengths = *given;
  }
  if (node.hasAttribute("num_outputs") && node.integer("num_outputs", 0) != parts)
    return node.fail("attribute 'num_outputs': expected the number of outputs, " + std::to_string(parts));
  if (lengths.empty()) {
    // Equal parts; where they cannot be, the last is shorter.
    Dim length = total.ceilDiv(parts);
    if (total.isConstant()) {
      for (int64_t i = 0, rest = total.getConstant(); i < parts; ++i, rest -= length.getConstant())
        lengths.push_back(b.size(std::clamp<int64_t>(rest, 0, length.getConstant())));
    } else {
      std::optional<Dim> exact = total.divideExactly(b.size(parts));
      if (!exact) {
        node.error() << "axis " << axis << " of size " << total << " may not divide into " << parts
                     << " equal parts; give the inputs a shape";
        return failure();
      }
      lengths.assign(parts, *exact);
    }
  }
  Dim sum = b.size(0);
  for (const Dim &length : lengths)
    sum = sum + length;
  if (static_cast<int64_t>(lengths.size()) != parts || sum != total) {
    node.error() << "the " << lengths.size() << " lengths add up to " << sum << "; expected " << parts
                 << " that add up to " << total;
    return failure();
  }
  Dim start = b.size(0);
  for (auto [i, length] : llvm::enumerate(lengths)) {
    if (node.wants(i) && failed(node.output(i, b.slice(x, axis, start, start + length, 1))))
      return failure();
    start = start + length;
  }
  return success();
}

/// A position in a dimension as Slice means it: from the end where negative, clamped to [low, high]. Nothing, with an
/// error, where that depends on the values of the symbols.
std::optional<Dim> slicePosition(Node &node, const Dim &given, const Dim &size, const Dim &low, const Dim &high) {
  Builder &b = node.b;
  Symbols &symbols = b.facts.symbols;
  Dim position = given;
  if (given.isConstant() ? given.getConstant() < 0 : symbols.boundsOf(given).max < 0) {
    // The most negative positions mean "before the start" and would overflow.
    if (given.isConstant() && given.getConstant() < -(int64_t(1) << 48))
      return low;
    position = size + given;
  } else if (given.isConstant() && given.getConstant() > (int64_t(1) << 48)) {
    return high;
  } else if (!given.isConstant() && symbols.boundsOf(given).min < 0) {
    node.error() << "the position " << given << " may be negative or not; give its symbols other bounds";
    return std::nullopt;
  }
  if (symbols.isAtLeast(low - position, 0))
    return low;
  if (symbols.isAtLeast(position - high, 0))
    return high;
  // Inside for the values of interest: those where it is not are left out of the bounds if these are defaults.
  if (symbols.requireAtLeast(position - low, 0) && symbols.requireAtLeast(high - position, 0))
    return position;
  node.error() << "the position " << position << " lies inside a dimension of size " << size
               << " for some values of the symbols and outside for others; give bounds for which it is one of them";
  return std::nullopt;
}

/// Elements start, start + step, ... before end along a dimension, where start and end (i64 scalars) are known when
/// run.
Value sliceWhenRun(Node &node, Value x, int64_t axis, Value start, Value end, int64_t step) {
  Builder &b = node.b;
  Value zero = b.integerScalar(b.i64(), 0), one = b.integerScalar(b.i64(), 1),
        size = b.sizeValue(b.dim(x, axis), b.i64());
  // Positions from the front, clamped to the places that there are (or the one before the first).
  Value low = step > 0 ? zero : b.integerScalar(b.i64(), -1), high = step > 0 ? size : b.subtract(size, one);
  auto clamped = [&](Value position) {
    Value wrapped = b.select(b.compare(ComparisonDirection::LT, position, zero), b.add(position, size), position);
    return b.minimum(b.maximum(wrapped, low), high);
  };
  start = clamped(start);
  end = clamped(end);
  Value distance = step > 0 ? b.subtract(end, start) : b.subtract(start, end);
  int64_t magnitude = std::abs(step);
  Value rounded = b.add(b.maximum(distance, zero), b.integerScalar(b.i64(), magnitude - 1));
  Value count = b.divide(rounded, b.integerScalar(b.i64(), magnitude));
  int64_t most = b.facts.symbols.boundsOf(b.dim(x, axis)).max;
  std::optional<Dim> length = b.runtimeSize(count, node.sizeName(0, axis), {0, most / magnitude + 1});
  if (!length)
    return {};
  Value places = b.add(b.multiply(b.iota(b.i64(), *length, 0), b.integerScalar(b.i64(), step)), start);
  return b.take(x, places, axis);
}

/// Slice with positions that depend on data.
LogicalResult importDataSlice(Node &node, SmallVector<int64_t> axes, SmallVector<int64_t> steps) {
  Builder &b = node.b;
  Value x = node.input(0), starts = node.input(1), ends = node.input(2);
  int64_t count = static_cast<int64_t>(axes.size());
  if (b.dims(starts) != SmallVector<Dim>{b.size(count)} || b.dims(ends) != b.dims(starts) ||
      static_cast<int64_t>(steps.size()) != count)
    return node.fail("expected as many ends, axes and steps as starts");
  for (int64_t i = 0; i < count && x; ++i) {
    if (steps[i] == 0)
      return node.fail("expected steps that are not 0");
    int64_t step = std::clamp<int64_t>(steps[i], -(int64_t(1) << 40), int64_t(1) << 40);
    auto position = [&](Value positions) { return b.convert(b.takeOne(positions, 0, i), b.i64()); };
    x = sliceWhenRun(node, x, axes[i], position(starts), position(ends), step);
  }
  return node.output(0, x);
}

LogicalResult importSlice(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  SmallVector<Dim> starts, ends;
  SmallVector<int64_t> axes, steps;
  int64_t rank = b.rank(x);
  bool hasAxes, isKnown = true;
  if (node.opset() < 10) {
    starts = b.sizes(node.integerList("starts"));
    ends = b.sizes(node.integerList("ends"));
    hasAxes = node.hasAttribute("axes");
    axes = node.integerList("axes");
  } else {
    if (!node.has(1) || !node.has(2))
      return node.fail("expected inputs 'starts' and 'ends'");
    std::optional<SmallVector<Dim>> first = node.sizesIfKnown(1), last = node.sizesIfKnown(2);
    isKnown = first && last;
    if (isKnown) {
      starts = *first;
      ends = *last;
    } else {
      Dim count = getElementCount(node.input(1).getType());
      if (!isa<IntegerType>(b.element(node.input(1))) || !isa<IntegerType>(b.element(node.input(2))) ||
          !count.isConstant() || count.getConstant() > rank)
        return node.fail("expected integer starts and ends, at most one of each a dimension");
      starts.assign(count.getConstant(), b.size(0));
      ends = starts;
    }
    hasAxes = node.has(3);
    if (hasAxes) {
      std::optional<SmallVector<int64_t>> given = node.integers(3, "the axes");
      if (!given)
        return failure();
      axes = *given;
    }
    if (node.has(4)) {
      std::optional<SmallVector<int64_t>> given = node.integers(4, "the steps");
      if (!given)
        return failure();
      steps = *given;
    }
  }
  if (!hasAxes)
    for (size_t i = 0; i < starts.size(); ++i)
      axes.push_back(i);
  if (steps.empty())
    steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    return node.fail("expected as many ends, axes and steps as starts");
  axes = node.axes(axes, rank);
  if (node.failed())
    return failure();
  if (!isKnown)
    return importDataSlice(node, axes, steps);
  for (size_t i = 0; i < starts.size() && x; ++i) {
    Dim size = b.dim(x, axes[i]), zero = b.size(0);
    int64_t step = steps[i];
    if (step == 0)
      return node.fail("expected steps that are not 0");
    // Steps beyond any size take one element.
    step = std::clamp<int64_t>(step, -(int64_t(1) << 48), int64_t(1) << 48);
    if (step > 0) {
      std::optional<Dim> start = slicePosition(node, starts[i], size, zero, size),
                         end = slicePosition(node, ends[i], size, zero, size);
      if (!start || !end)
        return failure();
      if (b.facts.symbols.isAtLeast(*start - *end, 0))
        end = start; // Empty.
      x = b.slice(x, axes[i], *start, *end, step);
      continue;
    }
    // Backwards from start down to, without, end: forwards over the reversed dimension. A start before the first
    // element is the first element, unlike in numpy.
    Dim first = size.isConstant() && size.getConstant() == 0 ? b.size(-1) : zero;
    std::optional<Dim> start = slicePosition(node, starts[i], size, first, size - 1),
                       end = slicePosition(node, ends[i], size, b.size(-1), size - 1);
    if (!start || !end)
      return failure();
    if (b.facts.symbols.isAtLeast(*end - *start, 0))
      end = start;
    Value reversed = b.reverse(x, axes[i]);
    x = b.slice(reversed, axes[i], size - 1 - *start, size - 1 - *end, -step);
  }
  return node.output(0, x);
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

/// `count` elements that a reflection, an edge or a wrap puts before (`atEnd`: after) dimension `axis`.
Value borrowed(Builder &b, Value x, int64_t axis, int64_t count, bool atEnd, StringRef mode) {
  Dim size = b.dim(x, axis);
  if (mode == "edge") {
    Value edge = atEnd ? b.slice(x, axis, -1, std::nullopt) : b.slice(x, axis, 0, 1);
    SmallVector<Dim> dims = b.dims(edge);
    if (!edge)
      return {};
    dims[axis] = b.size(count);
    return b.broadcast(edge, dims);
  }
  if (mode == "wrap")
    return atEnd ? b.slice(x, axis, 0, count) : b.slice(x, axis, size - count, size, 1);
  Value part = atEnd ? b.slice(x, axis, size - 1 - count, size - 1, 1) : b.slice(x, axis, 1, 1 + count);
  return b.reverse(part, axis);
}

LogicalResult importPad(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  int64_t rank = b.rank(x);
  SmallVector<int64_t> pads;
  Value fill;
  std::string mode = node.string("mode", "constant");
  SmallVector<int64_t> axes;
  for (int64_t i = 0; i < rank; ++i)
    axes.push_back(i);
  if (node.opset() < 11) {
    pads = node.integerList(node.opset() < 2 ? "paddings" : "pads");
    fill = b.scalarLike(x, node.real("value", 0));
  } else {
    std::optional<SmallVector<int64_t>> given = node.integers(1, "the pads");
    if (!given)
      return failure();
    pads = *given;
    fill = node.has(2) ? b.reshape(node.input(2), {}) : b.scalarLike(x, 0);
    if (node.has(3)) {
      std::optional<SmallVector<int64_t>> chosen = node.integers(3, "the axes");
      if (!chosen)
        return failure();
      axes = node.axes(*chosen, rank);
    }
  }
  if (node.failed() || !fill)
    return failure();
  if (pads.size() != 2 * axes.size())
    return node.fail("expected " + std::to_string(2 * axes.size()) + " pads, got " + std::to_string(pads.size()));
  constexpr int64_t kLargest = int64_t(1) << 40;
  for (int64_t pad : pads)
    if (pad < -kLargest || pad > kLargest)
      return node.fail("a pad of " + std::to_string(pad) + " is too large");
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    low[axes[i]] = pads[i];
    high[axes[i]] = pads[i + axes.size()];
  }
  if (mode == "constant") {
    for (int64_t i = 0; i < rank; ++i)
      if (!b.facts.symbols.requireAtLeast(b.dim(x, i) + low[i] + high[i], 0)) {
        node.error() << "dimension " << i << " of size " << b.dim(x, i) << " would have a negative size";
        return failure();
      }
    return node.output(0, b.pad(x, fill, low, high));
  }
  if (mode != "reflect" && mode != "edge" && mode != "wrap")
    return node.fail("attribute 'mode': expected constant, reflect, edge or wrap, got '" + mode + "'");
  for (int64_t axis = 0; axis < rank && x; ++axis) {
    // Negative pads remove first.
    if (low[axis] < 0 || high[axis] < 0)
      x = b.slice(x, axis, b.size(std::max<int64_t>(0, -low[axis])), b.dim(x, axis) - std::max<int64_t>(0, -high[axis]),
                  1);
    int64_t before = std::max<int64_t>(0, low[axis]), after = std::max<int64_t>(0, high[axis]);
    if (!x || (before == 0 && after == 0))
      continue;
    Dim size = b.dim(x, axis);
    if (size == b.size(0))
      return node.fail("an empty dimension cannot be padded from itself");
    // As much as one pass can borrow; a static size that is smaller takes several.
    int64_t most = mode == "edge" ? kLargest : mode == "reflect" ? -1 : 0;
    if (mode != "edge")
      most = size.isConstant() ? size.getConstant() + most : kLargest;
    if (most == 0) { // Reflecting one element.
      mode = "edge";
      most = kLargest;
    }
    if (std::max(before, after) > most * 64)
      return node.fail("pads of more than 64 times the size of a dimension are not supported in mode " + mode);
    Value original = x;
    if (std::max(before, after) <= most) {
      SmallVector<Value> parts;
      if (before)
        parts.push_back(borrowed(b, original, axis, before, false, mode));
      parts.push_back(original);
      if (after)
        parts.push_back(borrowed(b, original, axis, after, true, mode));
      x = b.concatenate(parts, axis);
      continue;
    }
    // Indices of a dimension repeated without end: 0 1 2 1 0 1 2 ... or 0 1 2 0 1 2 ...
    int64_t period = mode == "reflect" ? 2 * (size.getConstant() - 1) : size.getConstant();
    SmallVector<int64_t> indices;
    for (int64_t i = -before; i < size.getConstant() + after; ++i) {
      int64_t place = ((i % period) + period) % period;
      indices.push_back(place < size.getConstant() ? place : period - place);
    }
    x = b.take(x, b.integers(indices), axis);
  }
  return node.output(0, x);
}

//===----------------------------------------------------------------------===//
// Blocks, triangles, sequences
//===----------------------------------------------------------------------===//

LogicalResult importDepthToSpace(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  int64_t block = node.requiredInteger("blocksize");
  std::string mode = node.string("mode", "DCR");
  if (!node.expectRank(0, 4) || node.failed())
    return failure();
  if (block < 1 || block > (1 << 20) || (mode != "DCR" && mode != "CRD"))
    return node.fail("expected a blocksize of at least 1, and mode DCR or CRD");
  std::optional<Dim> depth = b.dim(x, 1).divideExactly(b.size(block * block));
  if (!depth) {
    node.error() << "attribute 'blocksize': the square of " << block << " does not divide the " << b.dim(x, 1)
                 << " channels";
    return failure();
  }
  Dim batch = b.dim(x, 0), height = b.dim(x, 2), width = b.dim(x, 3), size = b.size(block);
  Value split = mode == "DCR" ? b.reshape(x, {batch, size, size, *depth, height, width})
                              : b.reshape(x, {batch, *depth, size, size, height, width});
  SmallVector<int64_t> order =
      mode == "DCR" ? SmallVector<int64_t>{0, 3, 4, 1, 5, 2} : SmallVector<int64_t>{0, 1, 4, 2, 5, 3};
  return node.output(0, b.reshape(b.transpose(split, order), {batch, *depth, height * block, width * block}));
}

LogicalResult importSpaceToDepth(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  int64_t block = node.requiredInteger("blocksize");
  if (!node.expectRank(0, 4) || node.failed())
    return failure();
  if (block < 1 || block > (1 << 20))
    return node.fail("expected a blocksize of at least 1");
  std::optional<Dim> height = b.dim(x, 2).divideExactly(b.size(block)),
                     width = b.dim(x, 3).divideExactly(b.size(block));
  if (!height || !width)
    return node.fail("attribute 'blocksize': " + std::to_string(block) + " does not divide height and width");
  Dim batch = b.dim(x, 0), channels = b.dim(x, 1), size = b.size(block);
  Value split = b.reshape(x, {batch, channels, *height, size, *width, size});
  return node.output(
      0, b.reshape(b.transpose(split, {0, 3, 5, 1, 2, 4}), {batch, channels * (block * block), *height, *width}));
}

LogicalResult importCenterCropPad(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  int64_t rank = b.rank(x);
  SmallVector<int64_t> axes;
  for (int64_t i = 0; i < rank; ++i)
    axes.push_back(i);
  axes = node.axes(node.integerList("axes", axes), rank);
  std::optional<SmallVector<Dim>> shape = node.sizes(1, "the shape");
  if (!shape || node.failed())
    return failure();
  if (shape->size() != axes.size())
    return node.fail("expected one size an axis, got " + std::to_string(shape->size()) + " for " +
                     std::to_string(axes.size()) + " axes");
  for (auto [axis, wanted] : llvm::zip(axes, *shape)) {
    Dim size = b.dim(x, axis), missing = wanted - size;
    if (!b.facts.symbols.requireAtLeast(wanted, 0)) {
      node.error() << "expected sizes that are not negative, got " << wanted;
      return failure();
    }
    if (b.facts.symbols.isAtLeast(missing * -1, 0)) {
      // An odd element more is cut off at the end.
      Dim begin = (missing * -1).floorDiv(2);
      x = b.slice(x, axis, begin, begin + wanted, 1);
    } else if (missing.isConstant()) {
      SmallVector<int64_t> low(rank, 0), high(rank, 0);
      low[axis] = missing.getConstant() / 2;
      high[axis] = missing.getConstant() - low[axis];
      x = b.pad(x, b.scalarLike(x, 0), low, high);
    } else {
      node.error() << "axis " << axis << " of size " << size << " is to have size " << wanted
                   << ", which is more or less depending on the symbols; give the inputs a shape";
      return failure();
    }
    if (!x)
      return failure();
  }
  return node.output(0, x);
}

LogicalResult importTrilu(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  bool upper = node.integer("upper", 1) != 0;
  if (!node.expectRankAtLeast(0, 2))
    return failure();
  int64_t rank = b.rank(x);
  SmallVector<Dim> matrix{b.dim(x, rank - 2), b.dim(x, rank - 1)};
  Value diagonal = node.has(1) ? b.convert(b.reshape(node.input(1), {}), b.i64()) : b.integerScalar(b.i64(), 0);
  Value offset = b.subtract(b.iota(b.i64(), matrix, 1), b.iota(b.i64(), matrix, 0));
  Value keeps = b.compare(upper ? ComparisonDirection::GE : ComparisonDirection::LE, offset, diagonal);
  return node.output(0, b.select(keeps, x, b.scalarLike(x, 0)));
}

LogicalResult importReverseSequence(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  if (!node.expectRankAtLeast(0, 2) || !node.expectRank(1, 1))
    return failure();
  int64_t batchAxis = node.axis(node.integer("batch_axis", 1), b.rank(x)),
          timeAxis = node.axis(node.integer("time_axis", 0), b.rank(x));
  if (node.failed())
    return failure();
  if (batchAxis == timeAxis)
    return node.fail("expected batch_axis and time_axis to differ");
  // Element t of a sequence of length n comes from n - 1 - t where t < n.
  SmallVector<Dim> dims = b.dims(x);
  Value time = b.iota(b.i64(), dims, timeAxis);
  Value length = b.broadcastInDim(b.convert(node.input(1), b.i64()), dims, batchAxis);
  Value source = b.select(b.compare(ComparisonDirection::LT, time, length),
                          b.subtract(b.subtract(length, time), b.integerScalar(b.i64(), 1)), time);
  return node.output(0, b.takeElements(x, source, timeAxis));
}

} // namespace

void addMovementHandlers(HandlerTable &table) {
  table.add("Concat", importConcat);
  table.add("Split", importSplit);
  table.add("Slice", importSlice);
  table.add("Pad", importPad);
  table.add("DepthToSpace", importDepthToSpace);
  table.add("SpaceToDepth", importSpaceToDepth);
  table.add("CenterCropPad", importCenterCropPad);
  table.add("Trilu", importTrilu);
  table.add("ReverseSequence", importReverseSequence);
}

} // namespace weft::importer
