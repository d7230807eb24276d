//===- Shape.cpp - ONNX operators about shapes: what they are, and giving another ----------------===//

#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Node.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

LogicalResult importShape(Node &node) {
  Builder &b = node.b;
  SmallVector<Dim> dims = b.dims(node.input(0));
  int64_t rank = dims.size();
  auto clamped = [&](int64_t position) {
    return std::clamp<int64_t>(position < 0 ? position + rank : position, 0, rank);
  };
  int64_t start = clamped(node.integer("start", 0)), end = clamped(node.integer("end", rank));
  return node.output(0, b.sizeVector(ArrayRef(dims).slice(start, std::max<int64_t>(end - start, 0))));
}

LogicalResult importSize(Node &node) {
  Builder &b = node.b;
  return node.output(0, b.sizeValue(product(b.dims(node.input(0)), b.context()), b.i64()));
}

LogicalResult importReshape(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  node.ignore("consumed_inputs");
  bool allowZero = node.integer("allowzero", 0) != 0;
  SmallVector<Dim> wanted;
  if (node.opset() < 5) {
    wanted = b.sizes(node.integerList("shape"));
  } else {
    std::optional<SmallVector<Dim>> sizes = node.sizes(1, "the new shape");
    if (!sizes)
      return failure();
    wanted = *sizes;
  }
  std::optional<size_t> open;
  Dim known = b.size(1);
  for (auto [i, size] : llvm::enumerate(wanted)) {
    if (size == b.size(-1)) {
      if (open)
        return node.fail("the new shape has more than one -1");
      open = i;
      continue;
    }
    if (size == b.size(0) && !allowZero) {
      if (static_cast<int64_t>(i) >= b.rank(x))
        return node.fail("the new shape has a 0 (keep the size) at dimension " + std::to_string(i) +
                         ", which the input does not have");
      size = b.dim(x, i);
    }
    known = known * size;
  }
  if (open) {
    Dim total = getElementCount(x.getType());
    std::optional<Dim> rest = known == b.size(0) ? std::nullopt : total.divideExactly(known);
    if (!rest && total == b.size(0))
      rest = b.size(0);
    // That the division has no remainder is a condition of the reshape.
    if (!rest && !total.isConstant() && known.isConstant() && known.getConstant() > 0)
      rest = total.floorDiv(known.getConstant());
    if (!rest) {
      node.error() << "the -1 in the new shape cannot be found: " << total << " elements do not divide by " << known;
      return failure();
    }
    wanted[*open] = *rest;
  }
  return node.output(0, b.reshape(x, wanted));
}

LogicalResult importFlatten(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  int64_t rank = b.rank(x), axis = node.integer("axis", 1);
  if (axis < -rank || axis > rank)
    return node.fail("attribute 'axis': expected a value in [" + std::to_string(-rank) + ", " + std::to_string(rank) +
                     "], got " + std::to_string(axis));
  axis += axis < 0 ? rank : 0;
  SmallVector<Dim> dims = b.dims(x);
  return node.output(0, b.reshape(x, {product(ArrayRef(dims).take_front(axis), b.context()),
                                      product(ArrayRef(dims).drop_front(axis), b.context())}));
}

/// Axes from the attribute before opset 13, from input 1 since; nothing where they are left out or wrong.
std::optional<SmallVector<int64_t>> readAxes(Node &node) {
  if (node.opset() < 13)
    return node.hasAttribute("axes") ? std::optional(node.integerList("axes")) : std::nullopt;
  return node.has(1) ? node.integers(1, "the axes") : std::nullopt;
}

LogicalResult importSqueeze(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  std::optional<SmallVector<int64_t>> given = readAxes(node);
  if (node.failed())
    return failure();
  SmallVector<int64_t> axes;
  if (given) {
    axes = node.axes(*given, b.rank(x));
    if (node.failed())
      return failure();
    SmallVector<Dim> assumed = b.dims(x);
    for (int64_t axis : axes) {
      if (!b.facts.symbols.requireEqual(assumed[axis], b.size(1), b.subject)) {
        node.error() << "axis " << axis << " has size " << assumed[axis] << ", expected 1";
        return failure();
      }
      assumed[axis] = b.size(1);
    }
    x = b.assumeShape(x, assumed);
  } else {
    for (int64_t i = 0; i < b.rank(x); ++i)
      if (b.dim(x, i) == b.size(1))
        axes.push_back(i);
  }
  return node.output(0, b.dropDims(x, axes));
}

LogicalResult importUnsqueeze(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  std::optional<SmallVector<int64_t>> given = readAxes(node);
  if (node.failed())
    return failure();
  if (!given)
    return node.fail("the axes are missing");
  SmallVector<int64_t> axes = node.axes(*given, b.rank(x) + static_cast<int64_t>(given->size()));
  if (node.failed())
    return failure();
  return node.output(0, b.expandDims(x, axes));
}

LogicalResult importExpand(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  std::optional<SmallVector<Dim>> wanted = node.sizes(1, "the shape to expand to");
  if (!wanted)
    return failure();
  // Either side may have more dimensions, or a 1 where the other has a size.
  int64_t rank = std::max<int64_t>(b.rank(x), wanted->size());
  SmallVector<Dim> dims(rank, b.size(1));
  for (int64_t i = 0; i < rank; ++i) {
    int64_t mine = i - (rank - b.rank(x)), theirs = i - (rank - static_cast<int64_t>(wanted->size()));
    Dim have = mine >= 0 ? b.dim(x, mine) : b.size(1), want = theirs >= 0 ? (*wanted)[theirs] : b.size(1);
    if (have != want && have != b.size(1) && want != b.size(1)) {
      node.error() << "dimension " << i << " of size " << have << " cannot be expanded to " << want;
      return failure();
    }
    dims[i] = have == b.size(1) ? want : have;
  }
  return node.output(0, b.broadcast(x, dims));
}

LogicalResult importTile(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  if (node.opset() < 6)
    return node.fail("Tile of opset 1 is not supported; convert the model to opset 6 or up");
  std::optional<SmallVector<Dim>> repeats = node.sizes(1, "the repeats");
  if (!repeats)
    return failure();
  if (static_cast<int64_t>(repeats->size()) != b.rank(x))
    return node.fail("expected one repeat a dimension, got " + std::to_string(repeats->size()));
  // [d0, d1] becomes [1, d0, 1, d1], [r0, d0, r1, d1], [r0 * d0, r1 * d1].
  SmallVector<Dim> repeated, merged;
  SmallVector<int64_t> places;
  for (auto [i, repeat] : llvm::enumerate(*repeats)) {
    repeated.push_back(repeat);
    places.push_back(repeated.size());
    repeated.push_back(b.dim(x, i));
    merged.push_back(repeat * b.dim(x, i));
  }
  return node.output(0, b.reshape(b.broadcastInDim(x, repeated, places), merged));
}

LogicalResult importTranspose(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  SmallVector<int64_t> reversed;
  for (int64_t i = b.rank(x); i-- > 0;)
    reversed.push_back(i);
  SmallVector<int64_t> permutation = node.integerList("perm", reversed);
  SmallVector<int64_t> sorted = permutation;
  llvm::sort(sorted);
  for (int64_t i = 0; i < std::max<int64_t>(b.rank(x), sorted.size()); ++i)
    if (static_cast<int64_t>(sorted.size()) != b.rank(x) || sorted[i] != i)
      return node.fail("attribute 'perm': expected a permutation of the input's " + std::to_string(b.rank(x)) +
                       " dimensions");
  return node.output(0, b.transpose(x, permutation));
}

} // namespace

void addShapeHandlers(HandlerTable &table) {
  table.add("Shape", importShape);
  table.add("Size", importSize);
  table.add("Reshape", importReshape);
  table.add("Flatten", importFlatten);
  table.add("Squeeze", importSqueeze);
  table.add("Unsqueeze", importUnsqueeze);
  table.add("Expand", importExpand);
  table.add("Tile", importTile);
  table.add("Transpose", importTranspose);
}

} // namespace weft::importer
