//===- KnownElements.cpp - Integer tensors whose elements are known as sizes ---------------------===//

#include "lib/Importer/Onnx/KnownElements.h"
#include "dialects/Graph/Graph.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

using Elements = KnownElements::Elements;
constexpr int64_t kMostElements = 4096;

/// The multi-index of a row-major position.
SmallVector<int64_t> unflatten(int64_t position, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    index[i] = position % shape[i];
    position /= shape[i];
  }
  return index;
}

int64_t flatten(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t position = 0;
  for (auto [i, size] : llvm::zip(index, shape))
    position = position * size + i;
  return position;
}

/// Whether values of the type can be followed: static, small, and each element an integer.
bool isFollowed(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return false;
  int64_t count = 1;
  for (int64_t size : tensor.getShape())
    if (llvm::MulOverflow(count, size, count) || count > kMostElements)
      return false;
  return true;
}

/// Result element i is operand element `source(i)`.
Elements permuted(const Elements &operand, RankedTensorType from, RankedTensorType to,
                  llvm::function_ref<SmallVector<int64_t>(ArrayRef<int64_t>)> source) {
  Elements result;
  for (int64_t i = 0, count = to.getNumElements(); i < count; ++i)
    result.push_back(operand[flatten(source(unflatten(i, to.getShape())), from.getShape())]);
  return result;
}

std::optional<Elements> elementsOfConstant(ConstantOp op) {
  auto attribute = dyn_cast<ElementsAttr>(op.getValue());
  TensorValue value = attribute ? TensorValue::fromAttribute(attribute) : TensorValue();
  if (!value)
    return std::nullopt;
  Elements elements;
  for (int64_t i = 0; i < value.getElementCount(); ++i) {
    int64_t element;
    if (isFloatElement(value.getElementType())) {
      double real = value.getFloat(i);
      // Beyond 2^24 not every integer is a float of any type.
      if (!(std::abs(real) <= 16777216.0) || real != std::floor(real) || (real == 0 && std::signbit(real)))
        return std::nullopt;
      element = static_cast<int64_t>(real);
    } else {
      element = value.getInteger(i);
    }
    elements.push_back(Dim::constant(op.getContext(), element));
  }
  return elements;
}

std::optional<bool> compare(ComparisonDirection direction, const Dim &lhs, const Dim &rhs, const Symbols &symbols) {
  Interval difference = symbols.boundsOf(lhs - rhs);
  bool below = difference.max < 0, above = difference.min > 0, same = lhs == rhs;
  switch (direction) {
  case ComparisonDirection::EQ:
    return same ? std::optional(true) : below || above ? std::optional(false) : std::nullopt;
  case ComparisonDirection::NE:
    return same ? std::optional(false) : below || above ? std::optional(true) : std::nullopt;
  case ComparisonDirection::LT:
    return below ? std::optional(true) : difference.min >= 0 ? std::optional(false) : std::nullopt;
  case ComparisonDirection::LE:
    return difference.max <= 0 ? std::optional(true) : above ? std::optional(false) : std::nullopt;
  case ComparisonDirection::GT:
    return above ? std::optional(true) : difference.max <= 0 ? std::optional(false) : std::nullopt;
  case ComparisonDirection::GE:
    return difference.min >= 0 ? std::optional(true) : below ? std::optional(false) : std::nullopt;
  }
  return std::nullopt;
}

/// A result that the element type can hold without wrapping around, for every value of the symbols.
bool fits(const Dim &dim, Type type, const Symbols &symbols) {
  Interval bounds = symbols.boundsOf(dim);
  if (isFloatElement(type))
    return bounds.min >= -16777216 && bounds.max <= 16777216;
  unsigned width = type.getIntOrFloatBitWidth();
  if (isBoolElement(type))
    return bounds.min >= 0 && bounds.max <= 1;
  if (isUnsignedElement(type))
    return bounds.min >= 0 && (width >= 63 || bounds.max < (int64_t(1) << width));
  if (width == 64)
    return bounds.min != std::numeric_limits<int64_t>::min() && bounds.max != std::numeric_limits<int64_t>::max();
  return bounds.min >= -(int64_t(1) << (width - 1)) && bounds.max < (int64_t(1) << (width - 1));
}

std::optional<Dim> binary(Operation *op, const Dim &a, const Dim &b, const Symbols &symbols) {
  Type type = elementType(op->getResult(0));
  if (isBoolElement(type)) {
    if (!a.isConstant() || !b.isConstant())
      return std::nullopt;
    bool x = a.getConstant(), y = b.getConstant();
    if (isa<AndOp, MultiplyOp, MinimumOp>(op))
      return Dim::constant(a.getContext(), x && y);
    if (isa<OrOp, AddOp, MaximumOp>(op))
      return Dim::constant(a.getContext(), x || y);
    if (isa<XorOp>(op))
      return Dim::constant(a.getContext(), x != y);
    return std::nullopt;
  }
  std::optional<Dim> result;
  if (isa<AddOp>(op))
    result = a + b;
  else if (isa<SubtractOp>(op))
    result = a - b;
  else if (isa<MultiplyOp>(op))
    result = a * b;
  else if (isa<DivideOp>(op)) {
    if (symbols.isAtLeast(b, 1))
      result = a.divideExactly(b);
    if (!result && !isFloatElement(type) && b.isConstant() && b.getConstant() > 0 && symbols.isAtLeast(a, 0))
      result = a.floorDiv(b.getConstant());
    else if (!result && !isFloatElement(type) && a.isConstant() && b.isConstant() && b.getConstant() != 0 &&
             b.getConstant() != -1)
      result = Dim::constant(a.getContext(), a.getConstant() / b.getConstant());
  } else if (isa<RemainderOp>(op)) {
    if (b.isConstant() && b.getConstant() > 0 && symbols.isAtLeast(a, 0))
      result = a - a.floorDiv(b.getConstant()) * b.getConstant();
    else if (a.isConstant() && b.isConstant() && b.getConstant() != 0)
      result = Dim::constant(a.getContext(), b.getConstant() == -1 ? 0 : a.getConstant() % b.getConstant());
  } else if (isa<MaximumOp, MinimumOp>(op)) {
    bool wantsLarger = isa<MaximumOp>(op);
    if (std::optional<bool> larger = compare(ComparisonDirection::GE, a, b, symbols))
      result = *larger == wantsLarger ? a : b;
  }
  if (result && !fits(*result, type, symbols))
    return std::nullopt;
  return result;
}

} // namespace

const Elements *KnownElements::get(Value value) {
  auto found = known.find(value);
  if (found == known.end()) {
    Operation *op = value.getDefiningOp();
    std::optional<Elements> elements;
    if (op && op->getNumResults() == 1 && isFollowed(value.getType()))
      elements = evaluate(op);
    found = known.insert({value, std::move(elements)}).first;
  }
  return found->second ? &*found->second : nullptr;
}

namespace {

constexpr int64_t kMostComputedElements = 1 << 16;

/// For operations without symbols and regions.
class ConstantContext : public EvaluationContext {
public:
  SmallVector<int64_t> getShape(Type type) override {
    return SmallVector<int64_t>(cast<RankedTensorType>(type).getShape());
  }
  LogicalResult evaluateRegion(Region &, ArrayRef<TensorValue>, SmallVectorImpl<TensorValue> &) override {
    return failure();
  }
  LogicalResult bindSymbol(Operation *, StringRef, int64_t) override { return failure(); }
};

bool isComputed(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return false;
  int64_t count = 1;
  for (int64_t size : tensor.getShape())
    if (llvm::MulOverflow(count, size, count) || count > kMostComputedElements)
      return false;
  return true;
}

} // namespace

std::optional<TensorValue> KnownElements::compute(Value value,
                                                  llvm::function_ref<std::optional<TensorValue>(Value)> leaf) {
  // Operands first, on a stack of our own: chains can be long.
  SmallVector<Value> pending{value};
  while (!pending.empty()) {
    Value next = pending.back();
    if (computed.count(next)) {
      pending.pop_back();
      continue;
    }
    if (std::optional<TensorValue> known = leaf(next)) {
      computed[next] = *known;
      continue;
    }
    Operation *op = next.getDefiningOp();
    auto evaluated = dyn_cast_or_null<EvaluationInterface>(op);
    bool isPossible = evaluated && op->getNumRegions() == 0 && llvm::all_of(op->getResultTypes(), isComputed) &&
                      llvm::all_of(op->getOperandTypes(), isComputed);
    bool isReady = true;
    for (Value operand : isPossible ? op->getOperands() : ValueRange()) {
      auto found = computed.find(operand);
      if (found == computed.end()) {
        pending.push_back(operand);
        isReady = false;
        break;
      }
      if (!found->second) {
        isPossible = false;
        break;
      }
    }
    if (!isReady)
      continue;
    SmallVector<TensorValue> operands, results;
    for (Value operand : isPossible ? op->getOperands() : ValueRange())
      operands.push_back(computed.lookup(operand));
    ConstantContext context;
    isPossible = isPossible && succeeded(evaluated.evaluate(operands, results, context));
    if (!isPossible)
      computed[next] = TensorValue();
    else
      for (auto [result, contents] : llvm::zip_equal(op->getResults(), results))
        computed[result] = contents;
  }
  TensorValue result = computed.lookup(value);
  return result ? std::optional(result) : std::nullopt;
}

std::optional<Elements> KnownElements::evaluate(Operation *op) {
  if (auto constant = dyn_cast<ConstantOp>(op))
    return elementsOfConstant(constant);
  RankedTensorType to = tensorType(op->getResult(0));
  MLIRContext *context = op->getContext();
  if (auto iota = dyn_cast<IotaOp>(op)) {
    Elements result;
    for (int64_t i = 0, count = to.getNumElements(); i < count; ++i)
      result.push_back(Dim::constant(context, unflatten(i, to.getShape())[iota.getIotaDimension()]));
    return result;
  }
  if (op->getNumOperands() == 0 || op->getNumRegions() != 0)
    return std::nullopt;
  // Copies: the table grows, and its entries move, while operands are looked up.
  SmallVector<Elements> operands;
  for (Value operand : op->getOperands()) {
    const Elements *elements = isFollowed(operand.getType()) ? get(operand) : nullptr;
    if (!elements)
      return std::nullopt;
    operands.push_back(*elements);
  }
  RankedTensorType from = tensorType(op->getOperand(0));

  if (isa<ReshapeOp, AssumeShapeOp>(op))
    return operands[0];
  if (auto broadcast = dyn_cast<BroadcastInDimOp>(op))
    return permuted(operands[0], from, to, [&](ArrayRef<int64_t> index) {
      SmallVector<int64_t> source;
      for (auto [i, dimension] : llvm::enumerate(broadcast.getBroadcastDimensions()))
        source.push_back(from.getDimSize(i) == 1 ? 0 : index[dimension]);
      return source;
    });
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return permuted(operands[0], from, to, [&](ArrayRef<int64_t> index) {
      SmallVector<int64_t> source(index.size());
      for (auto [i, dimension] : llvm::enumerate(transpose.getPermutation()))
        source[dimension] = index[i];
      return source;
    });
  if (auto slice = dyn_cast<SliceOp>(op))
    return permuted(operands[0], from, to, [&](ArrayRef<int64_t> index) {
      SmallVector<int64_t> source;
      for (auto [i, start, stride] : llvm::zip(index, slice.getStartIndices(), slice.getStrides()))
        source.push_back(start + i * stride);
      return source;
    });
  if (auto reverse = dyn_cast<ReverseOp>(op))
    return permuted(operands[0], from, to, [&](ArrayRef<int64_t> index) {
      SmallVector<int64_t> source(index);
      for (int64_t dimension : reverse.getDimensions())
        source[dimension] = from.getDimSize(dimension) - 1 - source[dimension];
      return source;
    });
  if (auto concatenate = dyn_cast<ConcatenateOp>(op)) {
    Elements result;
    for (int64_t i = 0, count = to.getNumElements(); i < count; ++i) {
      SmallVector<int64_t> index = unflatten(i, to.getShape());
      int64_t &along = index[concatenate.getDimension()];
      unsigned operand = 0;
      for (; along >= tensorType(op->getOperand(operand)).getDimSize(concatenate.getDimension()); ++operand)
        along -= tensorType(op->getOperand(operand)).getDimSize(concatenate.getDimension());
      result.push_back(operands[operand][flatten(index, tensorType(op->getOperand(operand)).getShape())]);
    }
    return result;
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    if (to.getNumElements() == 0)
      return Elements();
    SmallVector<std::optional<Dim>> result(to.getNumElements());
    for (int64_t i = 0, count = from.getNumElements(); i < count; ++i) {
      SmallVector<int64_t> index = unflatten(i, from.getShape()), kept;
      for (auto [dimension, position] : llvm::enumerate(index))
        if (!llvm::is_contained(reduce.getDimensions(), static_cast<int64_t>(dimension)))
          kept.push_back(position);
      std::optional<Dim> &slot = result[flatten(kept, to.getShape())];
      const Dim &element = operands[0][i];
      if (!slot)
        slot = element;
      else if (reduce.getKind() == ReductionKind::sum)
        slot = *slot + element;
      else if (reduce.getKind() == ReductionKind::product)
        slot = *slot * element;
      else if (reduce.getKind() == ReductionKind::max || reduce.getKind() == ReductionKind::min) {
        std::optional<bool> larger = compare(ComparisonDirection::GE, *slot, element, symbols);
        if (!larger)
          return std::nullopt;
        slot = *larger == (reduce.getKind() == ReductionKind::max) ? *slot : element;
      } else {
        return std::nullopt;
      }
      if (!fits(*slot, to.getElementType(), symbols))
        return std::nullopt;
    }
    Elements elements;
    for (const std::optional<Dim> &slot : result) {
      if (!slot)
        return std::nullopt;
      elements.push_back(*slot);
    }
    return elements;
  }

  // Element by element.
  if (operands.size() > 3 || !llvm::all_of(operands, [&](const Elements &e) { return e.size() == operands[0].size(); }))
    return std::nullopt;
  Elements result;
  for (size_t i = 0; i < operands[0].size(); ++i) {
    std::optional<Dim> element;
    const Dim &x = operands[0][i];
    if (isa<ConvertOp>(op)) {
      if (isBoolElement(to.getElementType())) {
        if (std::optional<bool> differs = compare(ComparisonDirection::NE, x, Dim::constant(context, 0), symbols))
          element = Dim::constant(context, *differs);
      } else if (fits(x, to.getElementType(), symbols)) {
        element = x;
      }
    } else if (isa<NegateOp>(op) && !isFloatElement(to.getElementType())) {
      element = fits(x * -1, to.getElementType(), symbols) ? std::optional(x * -1) : std::nullopt;
    } else if (isa<FloorOp, CeilOp, RoundNearestEvenOp, RoundNearestAfzOp>(op)) {
      element = x;
    } else if (isa<AbsOp>(op) && symbols.isAtLeast(x, 0)) {
      element = x;
    } else if (isa<NotOp>(op) && isBoolElement(to.getElementType()) && x.isConstant()) {
      element = Dim::constant(context, !x.getConstant());
    } else if (auto comparison = dyn_cast<CompareOp>(op)) {
      if (std::optional<bool> holds = compare(comparison.getDirection(), x, operands[1][i], symbols))
        element = Dim::constant(context, *holds);
    } else if (isa<SelectOp>(op)) {
      if (x.isConstant())
        element = x.getConstant() ? operands[1][i] : operands[2][i];
    } else if (operands.size() == 2) {
      element = binary(op, x, operands[1][i], symbols);
    }
    if (!element)
      return std::nullopt;
    result.push_back(*element);
  }
  return result;
}

} // namespace weft::importer
