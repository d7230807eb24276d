//===- Indexing.cpp - ONNX operators that read or write at positions given by tensors ------------===//

#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Node.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

LogicalResult importGather(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0), indices = node.input(1);
  int64_t axis = node.axis(node.integer("axis", 0), b.rank(x));
  if (node.failed())
    return failure();
  if (!isa<IntegerType>(b.element(indices)) || b.isBool(indices))
    return node.fail("expected integer indices");
  // One index known now: a slice, which fuses and keeps symbolic sizes.
  std::optional<TensorValue> known = b.contents(indices);
  if (known && known->getElementCount() == 1) {
    int64_t index = known->getInteger(0);
    Dim size = b.dim(x, axis);
    if (size.isConstant() && (index < -size.getConstant() || index >= size.getConstant())) {
      node.error() << "index " << index << " does not lie in axis " << axis << " of size " << size;
      return failure();
    }
    Value taken = b.takeOne(x, axis, index);
    SmallVector<Dim> dims = b.dims(x);
    dims.erase(dims.begin() + axis);
    dims.insert(dims.begin() + axis, b.rank(indices), b.size(1));
    return node.output(0, b.reshape(taken, dims));
  }
  return node.output(0, b.take(x, b.wrapIndices(indices, b.dim(x, axis)), axis));
}

LogicalResult importGatherElements(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0), indices = node.input(1);
  int64_t axis = node.axis(node.integer("axis", 0), b.rank(x));
  if (node.failed())
    return failure();
  if (b.rank(indices) != b.rank(x))
    return node.fail("expected indices of the data's rank");
  return node.output(0, b.takeElements(x, b.wrapIndices(indices, b.dim(x, axis)), axis));
}

/// Index vectors along the last dimension, each component wrapped by the size of its dimension of `x`.
Value wrapVectors(Builder &b, Value indices, Value x, int64_t components, int64_t firstDimension) {
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < components; ++i)
    sizes.push_back(b.reshape(b.sizeValue(b.dim(x, firstDimension + i), b.element(indices)), b.size(1)));
  if (components == 0)
    return indices;
  Value size = b.concatenate(sizes, 0);
  return b.select(b.compare(ComparisonDirection::LT, indices, 0.0), b.add(indices, size), indices);
}

LogicalResult importGatherND(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0), indices = node.input(1);
  int64_t batch = node.integer("batch_dims", 0), indicesRank = b.rank(indices), rank = b.rank(x);
  if (!node.expectRankAtLeast(0, 1) || !node.expectRankAtLeast(1, 1))
    return failure();
  Dim last = b.dim(indices, indicesRank - 1);
  if (!last.isConstant())
    return node.fail("expected the indices' last dimension to be an integer");
  int64_t components = last.getConstant();
  if (batch < 0 || batch >= std::min(rank, indicesRank) || components < 1 || components > rank - batch)
    return node.fail("expected 0 <= batch_dims < ranks, and 1 to rank - batch_dims index components");
  for (int64_t i = 0; i < batch; ++i)
    if (b.dim(x, i) != b.dim(indices, i)) {
      node.error() << "batch dimension " << i << " has sizes " << b.dim(x, i) << " and " << b.dim(indices, i);
      return failure();
    }
  indices = wrapVectors(b, indices, x, components, batch);
  SmallVector<int64_t> batching, collapsed, startMap, offsets, sliceSizes(rank, 1);
  SmallVector<Dim> result;
  for (int64_t i = 0; i < batch; ++i)
    batching.push_back(i);
  for (int64_t i = 0; i < components; ++i) {
    collapsed.push_back(batch + i);
    startMap.push_back(batch + i);
  }
  for (int64_t i = 0; i + 1 < indicesRank; ++i)
    result.push_back(b.dim(indices, i));
  for (int64_t i = batch + components; i < rank; ++i) {
    Dim size = b.dim(x, i);
    if (!size.isConstant()) {
      node.error() << "dimension " << i << " of size " << size
                   << " is taken whole and must have a size that is an integer; give the inputs a shape";
      return failure();
    }
    sliceSizes[i] = size.getConstant();
    offsets.push_back(result.size());
    result.push_back(size);
  }
  for (int64_t i = 0; i < batch + components; ++i)
    if (b.dim(x, i) == b.size(0))
      sliceSizes[i] = 0;
  if (!indices || !b.isSane(result))
    return failure();
  return node.output(
      0, b.fold(GatherOp::create(b.ops, b.location, makeTensorType(result, b.element(x)), x, indices, offsets,
                                 collapsed, batching, batching, startMap, indicesRank - 1, sliceSizes)));
}

std::optional<ScatterKind> readReduction(Node &node) {
  std::string name = node.string("reduction", "none");
  if (name == "none")
    return ScatterKind::set;
  if (name == "add")
    return ScatterKind::sum;
  if (name == "mul")
    return ScatterKind::product;
  if (name == "max")
    return ScatterKind::max;
  if (name == "min")
    return ScatterKind::min;
  node.error() << "attribute 'reduction': expected none, add, mul, max or min, got '" << name << "'";
  return std::nullopt;
}

LogicalResult importScatterElements(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0), indices = node.input(1), updates = node.input(2);
  int64_t rank = b.rank(x), axis = node.axis(node.integer("axis", 0), rank);
  std::optional<ScatterKind> kind = readReduction(node);
  if (!kind || node.failed())
    return failure();
  if (b.rank(indices) != rank || b.dims(updates) != b.dims(indices))
    return node.fail("expected indices and updates of one shape and of the data's rank");
  indices = b.wrapIndices(indices, b.dim(x, axis));
  if (!indices)
    return failure();
  // Whole positions: the index along `axis`, each element's own place elsewhere.
  SmallVector<Value> components;
  SmallVector<Dim> componentDims = b.dims(indices);
  componentDims.push_back(b.size(1));
  SmallVector<int64_t> all;
  for (int64_t i = 0; i < rank; ++i) {
    all.push_back(i);
    Value component = i == axis ? indices : b.iota(b.element(indices), b.dims(indices), i);
    components.push_back(b.reshape(component, componentDims));
  }
  Value positions = b.concatenate(components, rank);
  if (!positions)
    return failure();
  return node.output(0, b.inferred<ScatterOp>(x.getType(), x, positions, updates, *kind, ArrayRef<int64_t>(), all,
                                              ArrayRef<int64_t>(), ArrayRef<int64_t>(), all, rank));
}

LogicalResult importScatterND(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0), indices = node.input(1), updates = node.input(2);
  int64_t rank = b.rank(x), indicesRank = b.rank(indices);
  std::optional<ScatterKind> kind = readReduction(node);
  if (!kind || !node.expectRankAtLeast(0, 1) || !node.expectRankAtLeast(1, 1))
    return failure();
  Dim last = b.dim(indices, indicesRank - 1);
  if (!last.isConstant() || last.getConstant() > rank)
    return node.fail("expected index vectors of at most as many components as the data has dimensions");
  int64_t components = last.getConstant();
  SmallVector<Dim> expected = b.dims(indices);
  expected.pop_back();
  llvm::append_range(expected, ArrayRef(b.dims(x)).drop_front(components));
  if (b.dims(updates) != expected) {
    node.error() << "expected updates of type " << makeTensorType(expected, b.element(x)) << ", got "
                 << updates.getType();
    return failure();
  }
  indices = wrapVectors(b, indices, x, components, 0);
  SmallVector<int64_t> inserted, windows;
  for (int64_t i = 0; i < components; ++i)
    inserted.push_back(i);
  for (int64_t i = indicesRank - 1; i < b.rank(updates); ++i)
    windows.push_back(i);
  if (!indices)
    return failure();
  return node.output(0, b.inferred<ScatterOp>(x.getType(), x, indices, updates, *kind, windows, inserted,
                                              ArrayRef<int64_t>(), ArrayRef<int64_t>(), inserted, indicesRank - 1));
}

/// TopK with a k that is known when run: the first elements of the sorted dimension.
LogicalResult importDataTopK(Node &node, int64_t axis, bool largest) {
  Builder &b = node.b;
  Value x = node.input(0);
  if (node.failed() || !isa<IntegerType>(b.element(node.input(1))))
    return node.failed() ? failure() : node.fail("expected an integer as k");
  Value places = b.iota(b.i64(), b.dims(x), axis), count = b.convert(b.reshape(node.input(1), {}), b.i64());
  if (!places)
    return failure();
  auto sort = SortOp::create(b.ops, b.location, TypeRange{x.getType(), places.getType()}, ValueRange{x, places}, axis,
                             /*descending=*/largest);
  // More than there are is an error, as what lies outside the bounds is.
  count = b.select(b.compare(ComparisonDirection::LE, count, b.sizeValue(b.dim(x, axis), b.i64())), count,
                   b.integerScalar(b.i64(), -1));
  int64_t most = b.facts.symbols.boundsOf(b.dim(x, axis)).max;
  std::optional<Dim> size = b.runtimeSize(count, node.sizeName(0, axis), {0, most});
  if (!size)
    return failure();
  SmallVector<Dim> dims = b.dims(x);
  dims[axis] = *size;
  SmallVector<Value> starts(b.rank(x), b.integerScalar(b.i64(), 0));
  return success(succeeded(node.output(0, b.dynamicSlice(sort.getResult(0), starts, dims))) &&
                 succeeded(node.output(1, b.dynamicSlice(sort.getResult(1), starts, dims))));
}

LogicalResult importTopK(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  int64_t axis = node.axis(node.integer("axis", -1), b.rank(x));
  bool largest = node.integer("largest", 1) != 0;
  node.ignore("sorted"); // Sorted is one of the orders that an unsorted result may have.
  int64_t k;
  if (node.opset() < 10) {
    k = node.requiredInteger("k");
  } else {
    if (!node.has(1))
      return node.fail("expected input 'K'");
    if (getElementCount(node.input(1).getType()) != b.size(1))
      return node.fail("expected one element as k");
    std::optional<SmallVector<Dim>> given = node.sizesIfKnown(1);
    if (!given || !(*given)[0].isConstant())
      return importDataTopK(node, axis, largest);
    k = (*given)[0].getConstant();
  }
  if (node.failed())
    return failure();
  if (k < 0 || !b.facts.symbols.requireAtLeast(b.dim(x, axis), k)) {
    node.error() << "k = " << k << " is not in [0, " << b.dim(x, axis) << "]";
    return failure();
  }
  SmallVector<Dim> dims = b.dims(x);
  dims[axis] = b.size(k);
  auto top = TopKOp::create(b.ops, b.location, makeTensorType(dims, b.element(x)), makeTensorType(dims, b.i64()), x, k,
                            axis, largest, b.i64());
  return success(succeeded(node.output(0, top.getValues())) && succeeded(node.output(1, top.getIndices())));
}

/// The cache with the update written at each batch entry's index along an axis; around the end in mode circular.
LogicalResult importTensorScatter(Node &node) {
  Builder &b = node.b;
  Value cache = node.input(0), update = node.input(1);
  std::string mode = node.string("mode", "linear");
  int64_t rank = b.rank(cache), axis = node.axis(node.integer("axis", -2), rank);
  if (node.failed() || !node.expectRankAtLeast(0, 2) || !node.expectRank(1, rank))
    return failure();
  if (mode != "linear" && mode != "circular")
    return node.fail("attribute 'mode': expected linear or circular, got '" + mode + "'");
  if (axis == 0)
    return node.fail("attribute 'axis': expected another dimension than that of the batch");
  Dim length = b.dim(cache, axis), count = b.dim(update, axis);
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis && b.dim(update, i) != b.dim(cache, i)) {
      node.error() << "dimension " << i << " of cache and update has sizes " << b.dim(cache, i) << " and "
                   << b.dim(update, i);
      return failure();
    }
  if (!b.facts.symbols.requireAtLeast(length - count, 0)) {
    node.error() << "expected an update of at most " << length << " elements along axis " << axis << ", got " << count;
    return failure();
  }
  if (count == b.size(0) || length == b.size(0))
    return node.output(0, cache);
  SmallVector<Dim> dims = b.dims(cache);
  Value place = b.iota(b.i64(), dims, axis);
  if (node.has(2)) {
    if (!node.expectRank(2, 1) || b.dim(node.input(2), 0) != dims[0])
      return node.failed() ? failure() : node.fail("expected one write index a batch entry");
    place = b.subtract(place, b.broadcastInDim(b.convert(node.input(2), b.i64()), dims, {0}));
  }
  Value zero = b.integerScalar(b.i64(), 0);
  if (mode == "circular") {
    // The remainder has the sign of the dividend.
    Value size = b.sizeValue(length, b.i64());
    place = b.binary<RemainderOp>(place, size);
    place = b.select(b.compare(ComparisonDirection::LT, place, zero), b.add(place, size), place);
  }
  Value last = b.sizeValue(count - 1, b.i64());
  Value inside =
      b.binary<AndOp>(b.compare(ComparisonDirection::GE, place, zero), b.compare(ComparisonDirection::LE, place, last));
  Value source = b.takeElements(update, b.minimum(b.maximum(place, zero), last), axis);
  return node.output(0, b.select(inside, source, cache));
}

LogicalResult importOneHot(Node &node) {
  Builder &b = node.b;
  Value indices = node.input(0), values = node.input(2);
  if (getElementCount(node.input(1).getType()) != b.size(1))
    return node.fail("expected one element as depth");
  std::optional<TensorValue> depthValue = b.contents(node.input(1));
  std::optional<Dim> depth;
  if (const KnownElements::Elements *known = b.facts.elements.get(node.input(1))) {
    depth = (*known)[0];
  } else if (depthValue) {
    bool isFloatDepth = isFloatElement(depthValue->getElementType());
    depth = b.size(isFloatDepth ? static_cast<int64_t>(std::clamp(depthValue->getFloat(0), -1.0, 1e15))
                                : depthValue->getInteger(0));
  }
  int64_t axis = node.axis(node.integer("axis", -1), b.rank(indices) + 1);
  if (node.failed() || !node.expectRank(2, 1))
    return failure();
  if (b.dim(values, 0) != b.size(2))
    return node.fail("expected two values (off, on)");
  if (!depth)
    depth = b.runtimeSize(b.convert(b.reshape(node.input(1), {}), b.i64()), node.sizeName(0, axis), {1, 4096});
  if (!depth || !b.facts.symbols.requireAtLeast(*depth, 1)) {
    if (depth)
      node.error() << "expected a depth of at least 1, got " << *depth;
    return failure();
  }
  // Indices may be floats; those in [-depth, 0) count from the end, others outside give no one.
  Value whole = b.convert(indices, b.i64());
  whole = b.select(b.compare(ComparisonDirection::LT, whole, 0.0), b.add(whole, b.sizeValue(*depth, b.i64())), whole);
  SmallVector<Dim> dims = b.dims(indices);
  dims.insert(dims.begin() + axis, *depth);
  Value hot = b.compare(ComparisonDirection::EQ, b.iota(b.i64(), dims, axis), b.expandDims(whole, axis));
  return node.output(0, b.select(hot, b.takeOne(values, 0, 1), b.takeOne(values, 0, 0)));
}

} // namespace

void addIndexingHandlers(HandlerTable &table) {
  table.add("Gather", importGather);
  table.add("GatherElements", importGatherElements);
  table.add("GatherND", importGatherND);
  table.add("Scatter", importScatterElements);
  table.add("ScatterElements", importScatterElements);
  table.add("ScatterND", importScatterND);
  table.add("TopK", importTopK);
  table.add("OneHot", importOneHot);
  table.add("TensorScatter", importTensorScatter);
}

} // namespace weft::importer
