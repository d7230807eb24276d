//===- Permutation.cpp - Permutations of dimensions, and ops rewritten to work on permuted operands ----------===//

#include "lib/Layout/Permutation.h"
#include "dialects/Graph/Graph.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::layout {

//===----------------------------------------------------------------------===//
// Permutations
//===----------------------------------------------------------------------===//

Permutation invert(ArrayRef<int64_t> permutation) {
  Permutation inverse(permutation.size());
  for (auto [position, dimension] : llvm::enumerate(permutation))
    inverse[dimension] = position;
  return inverse;
}

bool isIdentity(ArrayRef<int64_t> permutation) { return llvm::is_sorted(permutation); }

template <typename T> static SmallVector<T> permute(ArrayRef<T> values, ArrayRef<int64_t> permutation) {
  SmallVector<T> permuted;
  for (int64_t dimension : permutation)
    permuted.push_back(values[dimension]);
  return permuted;
}

RankedTensorType permuteType(Type type, ArrayRef<int64_t> permutation) {
  return makeTensorType(permute<Dim>(getDims(type), permutation), cast<RankedTensorType>(type).getElementType());
}

bool movesOnlyUnitDimensions(Type type, ArrayRef<int64_t> permutation) {
  int64_t last = -1;
  for (int64_t dimension : permutation) {
    if (cast<RankedTensorType>(type).getDimSize(dimension) == 1)
      continue;
    if (dimension < last)
      return false;
    last = dimension;
  }
  return true;
}

/// The constant behind a value of which all elements are equal.
static DenseElementsAttr matchSplat(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<BroadcastInDimOp, ReshapeOp, TransposeOp>(op))
      break;
    value = op->getOperand(0);
  }
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat() && elements.getNumElements() > 0)
    return elements;
  return {};
}

bool isMadeInAnyLayout(Value value) {
  Operation *op = value.getDefiningOp();
  return op && (isa<BroadcastInDimOp, IotaOp>(op) || matchSplat(value));
}

Value createTranspose(OpBuilder &builder, Location location, Value value, ArrayRef<int64_t> permutation) {
  if (isIdentity(permutation))
    return value;
  RankedTensorType type = permuteType(value.getType(), permutation);
  if (DenseElementsAttr splat = matchSplat(value)) {
    if (type.hasStaticShape() && isa_and_nonnull<ConstantOp>(value.getDefiningOp()))
      return ConstantOp::create(builder, location, splat.resizeSplat(type));
    DenseElementsAttr scalar = splat.resizeSplat(RankedTensorType::get({}, type.getElementType()));
    return BroadcastInDimOp::create(builder, location, type, ConstantOp::create(builder, location, scalar),
                                    ArrayRef<int64_t>());
  }
  if (auto broadcast = value.getDefiningOp<BroadcastInDimOp>()) {
    Permutation position = invert(permutation);
    return BroadcastInDimOp::create(builder, broadcast.getLoc(), type, broadcast.getOperand(),
                                    permute<int64_t>(position, broadcast.getBroadcastDimensions()));
  }
  if (auto iota = value.getDefiningOp<IotaOp>())
    return IotaOp::create(builder, iota.getLoc(), type, invert(permutation)[iota.getIotaDimension()]);
  if (movesOnlyUnitDimensions(value.getType(), permutation))
    return ReshapeOp::create(builder, location, type, value);
  return TransposeOp::create(builder, location, value, permutation);
}

ConvolutionDimensionsAttr getChannelsLastNumbers(MLIRContext *context, size_t spatialDimensions) {
  int64_t count = spatialDimensions;
  SmallVector<int64_t> fromZero, fromOne;
  for (int64_t i = 0; i < count; ++i) {
    fromZero.push_back(i);
    fromOne.push_back(i + 1);
  }
  return ConvolutionDimensionsAttr::get(context, 0, count + 1, fromOne, count, count + 1, fromZero, 0, count + 1,
                                        fromOne);
}

bool isMatmulOperand(int64_t rank, ArrayRef<int64_t> batching, ArrayRef<int64_t> contracting) {
  auto isRun = [](ArrayRef<int64_t> dimensions, int64_t first) {
    return llvm::equal(dimensions, llvm::seq<int64_t>(first, first + dimensions.size()));
  };
  int64_t batch = batching.size(), contracted = contracting.size();
  return isRun(batching, 0) && (isRun(contracting, batch) || isRun(contracting, rank - contracted));
}

//===----------------------------------------------------------------------===//
// What an op can do with a permuted operand
//===----------------------------------------------------------------------===//

namespace {

bool dependsOnOrder(ReductionKind kind, Type elementType) {
  return (kind == ReductionKind::sum || kind == ReductionKind::product) && isFloatElement(elementType);
}

/// Whether the dimensions for which `matters` keep their order.
bool keepsOrder(ArrayRef<int64_t> permutation, llvm::function_ref<bool(int64_t)> matters) {
  int64_t last = -1;
  for (int64_t dimension : permutation) {
    if (!matters(dimension))
      continue;
    if (dimension < last)
      return false;
    last = dimension;
  }
  return true;
}

bool isElementwise(Operation *op) {
  auto fusible = dyn_cast<FusibilityInterface>(op);
  return fusible && fusible.getFusionRole() == FusionRole::Elementwise && op->getNumRegions() == 0 &&
         op->getNumOperands() > 0;
}

/// A composite that computes each element from the elements at its index: all of one shape, elementwise ops, splats.
bool isElementwiseComposite(CompositeOp op) {
  if (op.getInputs().empty() || op.getResults().empty())
    return false;
  SmallVector<Dim> shape = getDims(op.getInputs()[0].getType());
  auto hasShape = [&](Type type) { return getDims(type) == shape; };
  if (!llvm::all_of(op->getOperandTypes(), hasShape) || !llvm::all_of(op->getResultTypes(), hasShape))
    return false;
  for (Operation &inner : op.getBody().front().without_terminator()) {
    bool scalarConstant = isa<ConstantOp>(inner) && tensorType(inner.getResult(0)).getRank() == 0;
    bool splat = isa<ConstantOp>(inner) && matchSplat(inner.getResult(0)) && hasShape(inner.getResult(0).getType());
    bool broadcast = isa<BroadcastInDimOp>(inner) && tensorType(inner.getOperand(0)).getRank() == 0 &&
                     hasShape(inner.getResult(0).getType());
    bool elementwise = isElementwise(&inner) && hasShape(inner.getResult(0).getType());
    if (!scalarConstant && !splat && !broadcast && !elementwise)
      return false;
  }
  return true;
}

} // namespace

SmallVector<unsigned> getLayoutOperands(Operation *op) {
  if (isa<PadOp, DynamicSliceOp>(op))
    return {0};
  if (isa<DynamicUpdateSliceOp>(op))
    return {0, 1};
  return llvm::to_vector(llvm::seq<unsigned>(0, op->getNumOperands()));
}

Flexibility getFlexibility(Operation *op, unsigned operand, ArrayRef<int64_t> permutation) {
  if (!llvm::is_contained(getLayoutOperands(op), operand))
    return Flexibility::None;
  if (isElementwise(op))
    return Flexibility::Whole;
  if (auto composite = dyn_cast<CompositeOp>(op))
    return isElementwiseComposite(composite) ? Flexibility::Whole : Flexibility::None;
  if (isa<AssumeShapeOp, PadOp, SliceOp, ConcatenateOp, ReverseOp, DynamicSliceOp, DynamicUpdateSliceOp, CumulativeOp,
          SortOp, TopKOp>(op))
    return Flexibility::Whole;
  if (auto window = dyn_cast<ReduceWindowOp>(op)) {
    bool ordered = dependsOnOrder(window.getKind(), elementType(window.getOperand()));
    bool kept = keepsOrder(permutation, [&](int64_t d) { return window.getWindowDimensions()[d] > 1; });
    return !ordered || kept ? Flexibility::Whole : Flexibility::None;
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    auto isReduced = [&](int64_t d) { return llvm::is_contained(reduce.getDimensions(), d); };
    bool ordered = dependsOnOrder(reduce.getKind(), elementType(reduce.getOperand()));
    bool fits = (!ordered || keepsOrder(permutation, isReduced)) &&
                keepsOrder(permutation, [&](int64_t d) { return !isReduced(d); });
    return fits ? Flexibility::Absorbs : Flexibility::None;
  }
  if (auto reduce = dyn_cast<ArgReduceOp>(op)) {
    int64_t dimension = reduce.getDimension();
    bool fits = keepsOrder(permutation, [&](int64_t d) { return d != dimension; });
    return fits ? Flexibility::Absorbs : Flexibility::None;
  }
  if (isa<BroadcastInDimOp, TransposeOp>(op))
    return Flexibility::Absorbs;
  if (auto dot = dyn_cast<DotGeneralOp>(op)) {
    ArrayRef<int64_t> batching = operand == 0 ? dot.getLhsBatchingDimensions() : dot.getRhsBatchingDimensions();
    ArrayRef<int64_t> contracting =
        operand == 0 ? dot.getLhsContractingDimensions() : dot.getRhsContractingDimensions();
    // The result's dimensions must stay in order, and a library must still be able to read the operand.
    bool kept = keepsOrder(permutation, [&](int64_t d) {
      return !llvm::is_contained(batching, d) && !llvm::is_contained(contracting, d);
    });
    Permutation position = invert(permutation);
    bool readable = isMatmulOperand(permutation.size(), permute<int64_t>(position, batching),
                                    permute<int64_t>(position, contracting));
    return kept && readable ? Flexibility::Absorbs : Flexibility::None;
  }
  return Flexibility::None;
}

//===----------------------------------------------------------------------===//
// Rewritten ops
//===----------------------------------------------------------------------===//

namespace {

/// Attributes of the op by name, to be changed one by one.
class AttributeEditor {
public:
  explicit AttributeEditor(Operation *op) : attributes(op->getAttrs()), builder(op->getContext()) {}

  AttributeEditor &permuteLists(ArrayRef<StringRef> names, ArrayRef<int64_t> permutation) {
    for (StringRef name : names) {
      auto list = cast<DenseI64ArrayAttr>(attributes.get(name));
      attributes.set(name, builder.getDenseI64ArrayAttr(permute<int64_t>(list.asArrayRef(), permutation)));
    }
    return *this;
  }
  /// Dimension numbers become their new positions.
  AttributeEditor &moveDimensions(ArrayRef<StringRef> names, ArrayRef<int64_t> position, bool sorted = false) {
    for (StringRef name : names) {
      if (auto list = dyn_cast_or_null<DenseI64ArrayAttr>(attributes.get(name))) {
        SmallVector<int64_t> moved = permute<int64_t>(position, list.asArrayRef());
        if (sorted)
          llvm::sort(moved);
        attributes.set(name, builder.getDenseI64ArrayAttr(moved));
      } else if (auto single = dyn_cast_or_null<IntegerAttr>(attributes.get(name))) {
        attributes.set(name, builder.getI64IntegerAttr(position[single.getInt()]));
      }
    }
    return *this;
  }
  ArrayRef<NamedAttribute> get() { return attributes.getAttrs(); }

private:
  NamedAttrList attributes;
  Builder builder;
};

/// Copies an elementwise composite's region with all full shapes permuted.
void cloneRegionPermuted(CompositeOp from, CompositeOp to, ArrayRef<int64_t> permutation) {
  Block &body = from.getBody().front();
  Block *block = new Block();
  to.getBody().push_back(block);
  IRMapping mapping;
  for (BlockArgument argument : body.getArguments())
    mapping.map(argument, block->addArgument(permuteType(argument.getType(), permutation), argument.getLoc()));
  OpBuilder builder = OpBuilder::atBlockEnd(block);
  for (Operation &op : body) {
    DenseElementsAttr splat = isa<ConstantOp>(op) ? matchSplat(op.getResult(0)) : DenseElementsAttr();
    if (splat && tensorType(op.getResult(0)).getRank() > 0) {
      RankedTensorType type = permuteType(op.getResult(0).getType(), permutation);
      mapping.map(op.getResult(0), ConstantOp::create(builder, op.getLoc(), splat.resizeSplat(type)).getOutput());
      continue;
    }
    Operation *clone = builder.clone(op, mapping);
    for (Value result : clone->getResults())
      if (tensorType(result).getRank() > 0)
        result.setType(permuteType(result.getType(), permutation));
  }
}

} // namespace

Operation *createPermuted(OpBuilder &builder, Operation *op, ArrayRef<Value> operands, ArrayRef<int64_t> permutation) {
  Permutation position = invert(permutation);
  AttributeEditor attributes(op);
  SmallVector<Value> all(operands);
  if (isa<PadOp>(op))
    attributes.permuteLists({"edge_padding_low", "edge_padding_high", "interior_padding"}, permutation);
  else if (isa<SliceOp>(op))
    attributes.permuteLists({"start_indices", "limit_indices", "strides"}, permutation);
  else if (isa<ReduceWindowOp>(op))
    attributes.permuteLists(
        {"window_dimensions", "window_strides", "base_dilations", "window_dilations", "padding_low", "padding_high"},
        permutation);
  else if (isa<ReverseOp>(op))
    attributes.moveDimensions({"dimensions"}, position);
  else if (isa<ConcatenateOp, CumulativeOp, SortOp, TopKOp>(op))
    attributes.moveDimensions({"dimension"}, position);
  else if (isa<DynamicSliceOp, DynamicUpdateSliceOp>(op)) {
    size_t first = isa<DynamicSliceOp>(op) ? 1 : 2;
    for (auto [i, dimension] : llvm::enumerate(permutation))
      all[first + i] = operands[first + dimension];
  }
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    types.push_back(permuteType(type, permutation));
  OperationState state(op->getLoc(), op->getName(), all, types, attributes.get());
  for (size_t i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *permuted = builder.create(state);
  if (auto composite = dyn_cast<CompositeOp>(op))
    cloneRegionPermuted(composite, cast<CompositeOp>(permuted), permutation);
  return permuted;
}

void absorb(Operation *op, unsigned operand, Value permuted, ArrayRef<int64_t> permutation) {
  Permutation position = invert(permutation);
  AttributeEditor attributes(op);
  if (isa<ReduceOp>(op))
    attributes.moveDimensions({"dimensions"}, position, /*sorted=*/true);
  else if (isa<ArgReduceOp>(op))
    attributes.moveDimensions({"dimension"}, position);
  else if (isa<TransposeOp>(op))
    attributes.moveDimensions({"permutation"}, position);
  else if (isa<BroadcastInDimOp>(op))
    attributes.permuteLists({"broadcast_dimensions"}, permutation);
  else if (operand == 0)
    attributes.moveDimensions({"lhs_contracting_dimensions", "lhs_batching_dimensions"}, position);
  else
    attributes.moveDimensions({"rhs_contracting_dimensions", "rhs_batching_dimensions"}, position);
  op->setAttrs(attributes.get());
  op->setOperand(operand, permuted);
}

} // namespace weft::layout
