//===- Builder.cpp - What the importers of nodes build Graph operations with ---------------------===//

#include "lib/Importer/Onnx/Builder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

/// Results of at most so many elements are folded.
constexpr int64_t kMostFoldedElements = 1024;

bool isSmall(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() <= kMostFoldedElements;
}

/// -x where `x - size` is a negative integer: the position counts from the end.
std::optional<int64_t> distanceFromEnd(const Dim &position, const Dim &size) {
  Dim distance = position - size;
  return distance.isConstant() ? std::optional(distance.getConstant()) : std::nullopt;
}

} // namespace

//===----------------------------------------------------------------------===//
// Types, sizes, contents
//===----------------------------------------------------------------------===//

SmallVector<Dim> Builder::sizes(ArrayRef<int64_t> values) {
  return llvm::map_to_vector(values, [&](int64_t value) { return size(value); });
}
SmallVector<Dim> Builder::dims(Value value) { return value ? getDims(value.getType()) : SmallVector<Dim>(); }
Dim Builder::dim(Value value, int64_t dimension) {
  return value && dimension >= 0 && dimension < rank(value) ? getDim(value.getType(), dimension) : size(1);
}
int64_t Builder::rank(Value value) { return value ? tensorType(value).getRank() : 0; }
Type Builder::element(Value value) { return value ? elementType(value) : Type(); }
bool Builder::isFloat(Value value) { return value && isFloatElement(element(value)); }
bool Builder::isBool(Value value) { return value && isBoolElement(element(value)); }
bool Builder::isUnsigned(Value value) { return value && isUnsignedElement(element(value)); }

std::optional<TensorValue> Builder::contents(Value value) {
  if (!value)
    return std::nullopt;
  auto leaf = [&](Value candidate) -> std::optional<TensorValue> {
    if (auto constant = candidate.getDefiningOp<ConstantOp>()) {
      TensorValue contents = TensorValue::fromAttribute(cast<ElementsAttr>(constant.getValue()));
      return contents ? std::optional(contents) : std::nullopt;
    }
    auto parameter = facts.parameters.find(candidate);
    return parameter != facts.parameters.end() ? std::optional(parameter->second) : std::nullopt;
  };
  if (std::optional<TensorValue> known = leaf(value))
    return known;
  return facts.elements.compute(value, leaf);
}

std::optional<Dim> Builder::runtimeSize(Value count, StringRef name, Interval bounds) {
  if (!count)
    return std::nullopt;
  if (std::optional<TensorValue> known = contents(count))
    return size(std::clamp(known->getInteger(0), bounds.min, bounds.max));
  if (bounds.min == bounds.max)
    return size(bounds.min);
  Dim symbol = facts.symbols.create(name, bounds);
  BindDimOp::create(ops, location, symbol.getSymbols()[0], convert(reshape(count, {}), i64()));
  return symbol;
}

std::optional<double> Builder::scalarContents(Value value) {
  if (!value || !tensorType(value).hasStaticShape() || tensorType(value).getNumElements() != 1)
    return std::nullopt;
  std::optional<TensorValue> tensor = contents(value);
  if (!tensor)
    return std::nullopt;
  return isFloatElement(tensor->getElementType()) ? tensor->getFloat(0) : static_cast<double>(tensor->getInteger(0));
}

bool Builder::sameElements(ArrayRef<Value> values) {
  for (Value value : values) {
    if (!value)
      return false;
    if (element(value) != element(values[0])) {
      error() << "expected inputs of one element type, got " << element(values[0]) << " and " << element(value);
      return false;
    }
  }
  return true;
}

bool Builder::isSane(ArrayRef<Dim> dims) {
  int64_t count = 1;
  for (const Dim &dim : dims) {
    Interval bounds = facts.symbols.boundsOf(dim);
    bool negative = dim.getSymbols().empty() ? bounds.min < 0 : bounds.max < 0;
    if (negative) {
      error() << "the result would have a dimension of size " << dim;
      return false;
    }
    // Of symbolic sizes the least value: their upper bounds are defaults, which need not be reached together.
    if (llvm::MulOverflow(count, std::max<int64_t>(bounds.min, 1), count) || count > (int64_t(1) << 56)) {
      error() << "the result would have more than 2^56 elements";
      return false;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

Value Builder::fold(Operation *op) {
  if (op->getNumResults() != 1)
    return op->getNumResults() ? op->getResult(0) : Value();
  Value result = op->getResult(0);
  SmallVector<Attribute> constants;
  for (Value operand : op->getOperands()) {
    auto constant = operand.getDefiningOp<ConstantOp>();
    constants.push_back(constant ? Attribute(constant.getValue()) : Attribute());
  }
  // The op's own rules (x * 1, a reshape to the same shape), and its value where all operands are constant.
  SmallVector<OpFoldResult> folded;
  if (!isa<ConstantOp>(op) && succeeded(op->fold(constants, folded)) && !folded.empty()) {
    Value replacement = dyn_cast<Value>(folded[0]);
    auto value = dyn_cast_if_present<ElementsAttr>(dyn_cast<Attribute>(folded[0]));
    if (value && value.getShapedType() == result.getType())
      replacement = ConstantOp::create(ops, location, result.getType(), value);
    if (replacement && replacement != result && replacement.getType() == result.getType()) {
      op->erase();
      return replacement;
    }
  }
  if (!isSmall(result.getType()) || op->getNumRegions() != 0 || isa<ConstantOp>(op))
    return result;
  if (isFloatElement(element(result)))
    return result;
  // Integers that follow from sizes which happen to be constant.
  const KnownElements::Elements *elements = facts.elements.get(result);
  if (!elements || !llvm::all_of(*elements, [](const Dim &dim) { return dim.isConstant(); }))
    return result;
  TensorValue value(element(result), tensorType(result).getShape());
  for (auto [i, dim] : llvm::enumerate(*elements))
    value.setInteger(i, dim.getConstant());
  facts.elements.forget(result);
  op->erase();
  return constant(value);
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

Value Builder::constant(const TensorValue &value) {
  auto type = RankedTensorType::get(value.getShape(), value.getElementType());
  return ConstantOp::create(ops, location, type, value.toAttribute(type));
}

Value Builder::scalar(Type elementType, double value) {
  if (!elementType)
    return {};
  TensorValue tensor(elementType, {});
  if (isFloatElement(elementType))
    tensor.setFloat(0, value);
  else
    tensor.setInteger(0, static_cast<int64_t>(value));
  return constant(tensor);
}

Value Builder::integerScalar(Type elementType, int64_t value) {
  TensorValue tensor(elementType, {});
  tensor.setInteger(0, value);
  return constant(tensor);
}

Value Builder::integers(ArrayRef<int64_t> values, Type elementType) {
  TensorValue tensor(elementType ? elementType : i64(), {static_cast<int64_t>(values.size())});
  for (auto [i, value] : llvm::enumerate(values))
    tensor.setInteger(i, value);
  return constant(tensor);
}

Value Builder::floats(ArrayRef<double> values, Type elementType) {
  TensorValue tensor(elementType, {static_cast<int64_t>(values.size())});
  for (auto [i, value] : llvm::enumerate(values))
    tensor.setFloat(i, value);
  return constant(tensor);
}

Value Builder::splat(Type elementType, double value, ArrayRef<Dim> dims) {
  return broadcast(scalar(elementType, value), dims);
}

Value Builder::iota(Type elementType, ArrayRef<Dim> dims, int64_t dimension) {
  if (!isSane(dims))
    return {};
  return fold(IotaOp::create(ops, location, makeTensorType(dims, elementType), dimension));
}

Value Builder::sizeValue(const Dim &dim, Type elementType) {
  if (dim.isConstant())
    return isFloatElement(elementType) ? scalar(elementType, static_cast<double>(dim.getConstant()))
                                       : integerScalar(elementType, dim.getConstant());
  // No operation gives a size: counting ones along the dimension does. A size that may be negative is shifted.
  Interval bounds = facts.symbols.boundsOf(dim);
  int64_t shift = bounds.min < 0 ? -bounds.min : 0;
  Dim counted = dim + shift;
  Value value;
  if (bounds.min == std::numeric_limits<int64_t>::min() || !isSane(counted)) {
    error() << "cannot compute the size " << dim << " when run";
    return {};
  }
  value = sum(splat(i64(), 1, counted), {0}, /*keepDims=*/false);
  value = subtract(value, static_cast<double>(shift));
  facts.elements.set(value, {dim});
  return convert(value, elementType);
}

Value Builder::sizeVector(ArrayRef<Dim> dims) {
  if (dims.empty())
    return integers({});
  SmallVector<Value> parts;
  bool allConstant = llvm::all_of(dims, [](const Dim &dim) { return dim.isConstant(); });
  if (allConstant)
    return integers(llvm::map_to_vector(dims, [](const Dim &dim) { return dim.getConstant(); }));
  for (const Dim &dim : dims)
    parts.push_back(reshape(sizeValue(dim, i64()), size(1)));
  Value vector = concatenate(parts, 0);
  if (vector)
    facts.elements.set(vector, KnownElements::Elements(dims));
  return vector;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

Value Builder::compare(ComparisonDirection direction, Value x, Value y) {
  if (!broadcastTogether({&x, &y}) || !sameElements({x, y}))
    return {};
  return inferred<CompareOp>(x.getType(), direction, x, y);
}

Value Builder::select(Value predicate, Value onTrue, Value onFalse) {
  if (!broadcastTogether({&predicate, &onTrue, &onFalse}) || !sameElements({onTrue, onFalse}))
    return {};
  if (!isBool(predicate)) {
    error() << "expected a condition of type bool, got " << element(predicate);
    return {};
  }
  return inferred<SelectOp>(onTrue.getType(), predicate, onTrue, onFalse);
}

Value Builder::convert(Value x, Type elementType) {
  if (!x || !elementType)
    return {};
  if (element(x) == elementType)
    return x;
  return fold(ConvertOp::create(ops, location, withElementType(x.getType(), elementType), x));
}

Value Builder::wrapIndices(Value indices, const Dim &size) {
  if (!indices || isUnsigned(indices))
    return indices;
  if (std::optional<TensorValue> known = contents(indices)) {
    bool anyNegative = false;
    for (int64_t i = 0; i < known->getElementCount(); ++i)
      anyNegative |= known->getInteger(i) < 0;
    if (!anyNegative)
      return indices;
  }
  Value wrapped = add(indices, sizeValue(size, element(indices)));
  return select(compare(ComparisonDirection::LT, indices, 0.0), wrapped, indices);
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

Value Builder::broadcast(Value x, ArrayRef<Dim> dims) {
  if (!x)
    return {};
  int64_t offset = static_cast<int64_t>(dims.size()) - rank(x);
  SmallVector<int64_t> map;
  for (int64_t i = 0; i < rank(x); ++i)
    map.push_back(i + offset);
  if (offset < 0) {
    error() << "a tensor of rank " << rank(x) << " cannot become one of rank " << dims.size();
    return {};
  }
  return broadcastInDim(x, dims, map);
}

Value Builder::broadcastInDim(Value x, ArrayRef<Dim> dims, ArrayRef<int64_t> map) {
  if (!x || !isSane(dims))
    return {};
  SmallVector<Dim> assumed;
  for (auto [i, target] : llvm::enumerate(map)) {
    assumed.push_back(dim(x, i));
    if (assumed.back() == dims[target] || assumed.back() == size(1))
      continue;
    if (!facts.symbols.requireEqual(assumed.back(), dims[target], subject)) {
      error() << "dimension " << i << " of size " << assumed.back() << " cannot become size " << dims[target];
      return {};
    }
    assumed.back() = dims[target];
  }
  x = assumeShape(x, assumed);
  Type type = makeTensorType(dims, element(x));
  if (type == x.getType() && llvm::is_sorted(map))
    return x;
  return fold(BroadcastInDimOp::create(ops, location, type, x, map));
}

std::optional<SmallVector<Dim>> Builder::commonShape(ArrayRef<Value> values) {
  int64_t common = 0;
  for (Value value : values) {
    if (!value)
      return std::nullopt;
    common = std::max(common, rank(value));
  }
  SmallVector<Dim> dims(common, size(1));
  for (Value value : values)
    for (int64_t i = 0; i < rank(value); ++i) {
      int64_t target = common - rank(value) + i;
      Dim mine = dim(value, i), &theirs = dims[target];
      if (theirs == size(1))
        theirs = mine;
      else if (mine != theirs && mine != size(1)) {
        // Sizes that are written differently are taken to be equal; the program checks it.
        if (!facts.symbols.requireEqual(theirs, mine, subject)) {
          error() << "shapes do not broadcast: dimension " << target << " has sizes " << theirs << " and " << mine;
          return std::nullopt;
        }
        if (mine.isConstant())
          theirs = mine;
      }
    }
  return dims;
}

bool Builder::broadcastTogether(ArrayRef<Value *> values) {
  SmallVector<Value> all = llvm::map_to_vector(values, [](Value *value) { return *value; });
  std::optional<SmallVector<Dim>> dims = commonShape(all);
  if (!dims)
    return false;
  for (Value *value : values) {
    *value = broadcast(*value, *dims);
    if (!*value)
      return false;
  }
  return true;
}

Value Builder::reshape(Value x, ArrayRef<Dim> dims) {
  if (!x || !isSane(dims))
    return {};
  Dim from = getElementCount(x.getType()), to = product(dims, context());
  if (from != to) {
    if (!facts.symbols.requireEqual(from, to, subject)) {
      error() << "a tensor of " << from << " elements cannot take a shape of " << to;
      return {};
    }
    x = assumeShape(reshape(x, from), to);
  }
  Type type = makeTensorType(dims, element(x));
  return type == x.getType() ? x : fold(ReshapeOp::create(ops, location, type, x));
}

Value Builder::assumeShape(Value x, ArrayRef<Dim> dims) {
  if (!x)
    return {};
  for (auto [mine, wanted] : llvm::zip(this->dims(x), dims))
    if (!facts.symbols.requireEqual(mine, wanted, subject))
      return {};
  Type type = makeTensorType(dims, element(x));
  return type == x.getType() ? x : fold(AssumeShapeOp::create(ops, location, type, x));
}

Value Builder::expandDims(Value x, ArrayRef<int64_t> newDimensions) {
  if (!x)
    return {};
  SmallVector<Dim> result;
  int64_t next = 0, total = rank(x) + newDimensions.size();
  for (int64_t i = 0; i < total; ++i)
    result.push_back(llvm::is_contained(newDimensions, i) || next >= rank(x) ? size(1) : dim(x, next++));
  return reshape(x, result);
}

Value Builder::dropDims(Value x, ArrayRef<int64_t> dimensions) {
  SmallVector<Dim> result;
  for (int64_t i = 0; i < rank(x); ++i)
    if (!llvm::is_contained(dimensions, i))
      result.push_back(dim(x, i));
  return reshape(x, result);
}

Value Builder::transpose(Value x, ArrayRef<int64_t> permutation) {
  if (!x)
    return {};
  return inferred<TransposeOp>(x.getType(), x, permutation);
}

Value Builder::reverse(Value x, ArrayRef<int64_t> dimensions) {
  if (!x)
    return {};
  return inferred<ReverseOp>(x.getType(), x, dimensions);
}

Value Builder::concatenate(ArrayRef<Value> values, int64_t dimension) {
  if (!sameElements(values) || values.empty())
    return {};
  if (values.size() == 1)
    return values[0];
  return inferred<ConcatenateOp>(values[0].getType(), ValueRange(values), dimension);
}

Value Builder::slice(Value x, int64_t dimension, int64_t start, std::optional<int64_t> limit, int64_t stride) {
  if (!x)
    return {};
  Dim total = dim(x, dimension);
  return slice(x, dimension, start < 0 ? total + start : size(start),
               !limit       ? total
               : *limit < 0 ? total + *limit
                            : size(*limit),
               stride);
}

Value Builder::slice(Value x, int64_t dimension, const Dim &start, const Dim &limit, int64_t stride) {
  if (!x)
    return {};
  Dim total = dim(x, dimension);
  Symbols &symbols = facts.symbols;
  if (!symbols.requireAtLeast(start, 0) || !symbols.requireAtLeast(limit - start, 0) ||
      !symbols.requireAtLeast(total - limit, 0)) {
    error() << "elements " << start << " to " << limit << " do not lie in dimension " << dimension << " of size "
            << total << " for all values of the symbols; give bounds for which they do";
    return {};
  }
  // Positions as the operation writes them on a symbolic dimension: from the front, or from the end.
  auto position = [&](const Dim &place) -> std::optional<int64_t> {
    if (place.isConstant())
      return place.getConstant();
    std::optional<int64_t> distance = distanceFromEnd(place, total);
    if (!distance || *distance > 0)
      return std::nullopt;
    return *distance == 0 ? SliceOp::kEnd : *distance;
  };
  std::optional<int64_t> first = position(start), last = position(limit);
  int64_t count = rank(x);
  if (first && last && *first != SliceOp::kEnd) {
    SmallVector<int64_t> starts(count, 0), limits, strides(count, 1);
    for (int64_t i = 0; i < count; ++i)
      limits.push_back(dim(x, i).isConstant() ? dim(x, i).getConstant() : SliceOp::kEnd);
    starts[dimension] = *first;
    limits[dimension] = *last;
    strides[dimension] = stride;
    return inferred<SliceOp>(x.getType(), x, starts, limits, strides);
  }
  SmallVector<Value> starts;
  for (int64_t i = 0; i < count; ++i)
    starts.push_back(i == dimension ? sizeValue(start, i64()) : scalar(i64(), 0));
  SmallVector<Dim> box = dims(x);
  box[dimension] = limit - start;
  Value taken = dynamicSlice(x, starts, box);
  return stride == 1 ? taken : slice(taken, dimension, 0, std::nullopt, stride);
}

Value Builder::takeOne(Value x, int64_t dimension, int64_t index) {
  Value taken = slice(x, dimension, index, index == -1 ? std::nullopt : std::optional<int64_t>(index + 1));
  return taken ? dropDims(taken, dimension) : Value();
}

Value Builder::pad(Value x, Value paddingValue, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                   ArrayRef<int64_t> interior) {
  if (!x || !paddingValue)
    return {};
  SmallVector<int64_t> between(interior);
  between.resize(rank(x), 0);
  return inferred<PadOp>(x.getType(), x, paddingValue, low, high, between);
}

Value Builder::dynamicSlice(Value x, ArrayRef<Value> starts, ArrayRef<Dim> dims) {
  if (!x || llvm::is_contained(starts, Value()) || !isSane(dims))
    return {};
  return fold(DynamicSliceOp::create(ops, location, makeTensorType(dims, element(x)), x, ValueRange(starts)));
}

Value Builder::dynamicUpdateSlice(Value x, Value update, ArrayRef<Value> starts) {
  if (!x || !update || llvm::is_contained(starts, Value()))
    return {};
  return inferred<DynamicUpdateSliceOp>(x.getType(), x, update, ValueRange(starts));
}

Value Builder::take(Value x, Value indices, int64_t dimension) {
  if (!x || !indices)
    return {};
  // A gather's slices have sizes that are integers: symbolic dimensions of `x` become batching dimensions instead,
  // which the indices then need too. They come first in the result's batch, so put them in order afterwards.
  SmallVector<int64_t> symbolic, sliceSizes, collapsed{dimension}, indicesBatching;
  for (int64_t i = 0; i < rank(x); ++i) {
    bool isSymbolic = i != dimension && !dim(x, i).isConstant();
    if (isSymbolic)
      symbolic.push_back(i);
    sliceSizes.push_back(isSymbolic || i == dimension ? 1 : dim(x, i).getConstant());
  }
  if (dim(x, dimension) == size(0))
    sliceSizes[dimension] = 0;
  SmallVector<Dim> batch;
  for (int64_t i : symbolic)
    batch.push_back(dim(x, i));
  llvm::append_range(batch, dims(indices));
  int64_t indicesRank = rank(indices);
  indices = broadcast(indices, batch);
  for (size_t i = 0; i < symbolic.size(); ++i)
    indicesBatching.push_back(i);
  // Where each dimension of the wanted result, in order, stands in the batch or among the offsets.
  SmallVector<int64_t> kept;
  for (int64_t i = 0; i < rank(x); ++i)
    if (i != dimension && !llvm::is_contained(symbolic, i))
      kept.push_back(i);
  int64_t resultRank = rank(x) - 1 + indicesRank;
  SmallVector<int64_t> offsets, permutation(resultRank);
  SmallVector<Dim> result(resultRank, size(1));
  // The gather's own result: batch dimensions, then the kept ones.
  for (size_t i = 0; i < batch.size(); ++i)
    result[i] = batch[i];
  for (size_t i = 0; i < kept.size(); ++i) {
    offsets.push_back(batch.size() + i);
    result[batch.size() + i] = dim(x, kept[i]);
  }
  int64_t position = 0;
  for (int64_t i = 0; i < rank(x); ++i) {
    if (i == dimension) {
      for (int64_t j = 0; j < indicesRank; ++j)
        permutation[position++] = symbolic.size() + j;
      continue;
    }
    auto *inSymbolic = llvm::find(symbolic, i);
    permutation[position++] = inSymbolic != symbolic.end() ? inSymbolic - symbolic.begin()
                                                           : batch.size() + (llvm::find(kept, i) - kept.begin());
  }
  if (!indices || !isSane(result))
    return {};
  // Without symbolic dimensions a gather puts the offsets where they belong itself.
  if (symbolic.empty()) {
    SmallVector<Dim> ordered;
    SmallVector<int64_t> inPlace;
    for (auto [i, source] : llvm::enumerate(permutation)) {
      ordered.push_back(result[source]);
      if (source >= static_cast<int64_t>(batch.size()))
        inPlace.push_back(i);
    }
    return fold(GatherOp::create(ops, location, makeTensorType(ordered, element(x)), x, indices, inPlace, collapsed,
                                 ArrayRef<int64_t>(), ArrayRef<int64_t>(), ArrayRef<int64_t>(dimension), indicesRank,
                                 sliceSizes));
  }
  Value gathered = fold(GatherOp::create(ops, location, makeTensorType(result, element(x)), x, indices, offsets,
                                         collapsed, symbolic, indicesBatching, ArrayRef<int64_t>(dimension),
                                         static_cast<int64_t>(batch.size()), sliceSizes));
  return transpose(gathered, permutation);
}

Value Builder::takeElements(Value x, Value indices, int64_t dimension) {
  if (!x || !indices)
    return {};
  // Dimensions that the indices cover in part only.
  for (int64_t i = 0; i < rank(x); ++i)
    if (i != dimension && dim(x, i) != dim(indices, i))
      x = slice(x, i, size(0), dim(indices, i), 1);
  if (!x)
    return {};
  SmallVector<int64_t> batching, sliceSizes(rank(x), 1);
  for (int64_t i = 0; i < rank(x); ++i)
    if (i != dimension)
      batching.push_back(i);
  for (int64_t i = 0; i < rank(x); ++i)
    if (dim(x, i) == size(0))
      sliceSizes[i] = 0;
  return fold(GatherOp::create(ops, location, makeTensorType(dims(indices), element(x)), x, indices,
                               ArrayRef<int64_t>(), ArrayRef<int64_t>(dimension), batching, batching,
                               ArrayRef<int64_t>(dimension), rank(x), sliceSizes));
}

//===----------------------------------------------------------------------===//
// Reduction and contraction
//===----------------------------------------------------------------------===//

Value Builder::reduce(ReductionKind kind, Value x, ArrayRef<int64_t> dimensions, bool keepDims) {
  if (!x)
    return {};
  SmallVector<int64_t> sorted(dimensions);
  llvm::sort(sorted);
  sorted.erase(llvm::unique(sorted), sorted.end());
  if (sorted.empty())
    return x;
  Value reduced = inferred<ReduceOp>(x.getType(), kind, x, sorted);
  return keepDims && reduced ? expandDims(reduced, sorted) : reduced;
}

Value Builder::mean(Value x, ArrayRef<int64_t> dimensions, bool keepDims) {
  if (!x)
    return {};
  // A sum of narrow floats can overflow where the mean does not.
  if (isFloat(x) && element(x).getIntOrFloatBitWidth() < 32)
    return convert(mean(convert(x, f32()), dimensions, keepDims), element(x));
  Dim count = size(1);
  for (int64_t dimension : dimensions)
    count = count * dim(x, dimension);
  return divide(sum(x, dimensions, keepDims), sizeValue(count, element(x)));
}

Value Builder::reduceWindow(ReductionKind kind, Value x, const Window &window) {
  if (!x)
    return {};
  SmallVector<int64_t> ones(rank(x), 1);
  return inferred<ReduceWindowOp>(x.getType(), kind, x, window.size, window.stride, ones, window.dilation, window.low,
                                  window.high);
}

Value Builder::dotGeneral(Value lhs, Value rhs, ArrayRef<int64_t> lhsContracting, ArrayRef<int64_t> rhsContracting,
                          ArrayRef<int64_t> lhsBatching, ArrayRef<int64_t> rhsBatching, Type resultElement) {
  if (!sameElements({lhs, rhs}))
    return {};
  auto agree = [&](ArrayRef<int64_t> left, ArrayRef<int64_t> right) {
    for (auto [l, r] : llvm::zip(left, right)) {
      Dim mine = dim(lhs, l), theirs = dim(rhs, r);
      if (mine == theirs)
        continue;
      // The one that is an integer is the better name for both.
      Value &changed = theirs.isConstant() ? lhs : rhs;
      SmallVector<Dim> assumed = dims(changed);
      assumed[theirs.isConstant() ? l : r] = theirs.isConstant() ? theirs : mine;
      if (Value same = assumeShape(changed, assumed)) {
        changed = same;
      } else {
        error() << "dimension " << l << " of the left operand has size " << dim(lhs, l) << ", its partner, dimension "
                << r << " of the right one, " << dim(rhs, r);
        return false;
      }
    }
    return true;
  };
  if (!agree(lhsContracting, rhsContracting) || !agree(lhsBatching, rhsBatching))
    return {};
  SmallVector<Dim> result;
  for (int64_t i : lhsBatching)
    result.push_back(dim(lhs, i));
  for (int64_t i = 0; i < rank(lhs); ++i)
    if (!llvm::is_contained(lhsBatching, i) && !llvm::is_contained(lhsContracting, i))
      result.push_back(dim(lhs, i));
  for (int64_t i = 0; i < rank(rhs); ++i)
    if (!llvm::is_contained(rhsBatching, i) && !llvm::is_contained(rhsContracting, i))
      result.push_back(dim(rhs, i));
  if (!isSane(result))
    return {};
  Type type = makeTensorType(result, resultElement ? resultElement : element(lhs));
  return fold(
      DotGeneralOp::create(ops, location, type, lhs, rhs, lhsContracting, rhsContracting, lhsBatching, rhsBatching));
}

Value Builder::matmul(Value lhs, Value rhs, Type resultElement) {
  if (!lhs || !rhs)
    return {};
  if (rank(lhs) == 0 || rank(rhs) == 0) {
    error() << "expected matrices or vectors, got a scalar";
    return {};
  }
  int64_t left = rank(lhs), right = rank(rhs);
  if (right <= 2)
    return dotGeneral(lhs, rhs, left - 1, right == 1 ? 0 : right - 2, {}, {}, resultElement);
  if (left == 1)
    // [K] x [batch..., K, N]: the batch stays in front.
    return dotGeneral(rhs, lhs, right - 2, 0, {}, {}, resultElement);
  // Batches of matrices.
  SmallVector<Dim> batch;
  int64_t batchRank = std::max(left, right) - 2;
  for (int64_t i = 0; i < batchRank; ++i) {
    int64_t l = i - (batchRank - (left - 2)), r = i - (batchRank - (right - 2));
    Dim mine = l >= 0 ? dim(lhs, l) : size(1), theirs = r >= 0 ? dim(rhs, r) : size(1);
    if (mine != size(1) && theirs != size(1) && !facts.symbols.requireEqual(mine, theirs, subject)) {
      error() << "batch dimension " << i << " has sizes " << mine << " and " << theirs;
      return {};
    }
    batch.push_back(mine == size(1) || theirs.isConstant() ? (theirs == size(1) ? mine : theirs) : mine);
  }
  auto extended = [&](Value matrix) {
    SmallVector<Dim> shape = batch;
    shape.push_back(dim(matrix, rank(matrix) - 2));
    shape.push_back(dim(matrix, rank(matrix) - 1));
    return broadcast(matrix, shape);
  };
  lhs = extended(lhs);
  rhs = extended(rhs);
  SmallVector<int64_t> batching;
  for (int64_t i = 0; i < batchRank; ++i)
    batching.push_back(i);
  return lhs && rhs ? dotGeneral(lhs, rhs, batchRank + 1, batchRank, batching, batching, resultElement) : Value();
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

SmallVector<Value> Builder::composite(StringRef name, ArrayRef<NamedAttribute> config, ArrayRef<Value> operands,
                                      llvm::function_ref<SmallVector<Value>(Builder &, ArrayRef<Value>)> body) {
  if (llvm::is_contained(operands, Value()))
    return {};
  OpBuilder::InsertPoint outside = ops.saveInsertionPoint();
  auto region = std::make_unique<Region>();
  Block &block = region->emplaceBlock();
  SmallVector<Value> arguments;
  for (Value operand : operands)
    arguments.push_back(block.addArgument(operand.getType(), location));
  Builder inner(ops, location, facts, subject);
  ops.setInsertionPointToStart(&block);
  SmallVector<Value> results = body(inner, arguments);
  bool complete = !results.empty() && !llvm::is_contained(results, Value());
  if (complete)
    YieldOp::create(ops, location, results);
  ops.restoreInsertionPoint(outside);
  if (!complete)
    return {};
  OperationState state(location, CompositeOp::getOperationName());
  state.addOperands(operands);
  for (Value result : results)
    state.addTypes(result.getType());
  auto &properties = state.getOrAddProperties<CompositeOp::Properties>();
  properties.name = ops.getStringAttr(name);
  properties.config = ops.getDictionaryAttr(config);
  state.addRegion(std::move(region));
  return llvm::to_vector(llvm::map_range(ops.create(state)->getResults(), [](Value value) { return value; }));
}

} // namespace weft::importer
