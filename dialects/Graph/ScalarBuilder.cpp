//===- ScalarBuilder.cpp - The arithmetic of single elements -----------------------------------------===//

#include "dialects/Graph/Emission.h"
#include "dialects/Graph/NarrowFloat.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;

namespace weft::graph {

namespace {

std::optional<int64_t> knownInteger(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

} // namespace

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value ScalarBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(builder, location, value); }

Value ScalarBuilder::addIndex(Value lhs, Value rhs) {
  std::optional<int64_t> left = knownInteger(lhs), right = knownInteger(rhs);
  if (left && right)
    return index(*left + *right);
  if (left == 0)
    return rhs;
  if (right == 0)
    return lhs;
  return arith::AddIOp::create(builder, location, lhs, rhs, arith::IntegerOverflowFlags::nsw);
}

Value ScalarBuilder::subIndex(Value lhs, Value rhs) {
  std::optional<int64_t> left = knownInteger(lhs), right = knownInteger(rhs);
  if (left && right)
    return index(*left - *right);
  if (right == 0)
    return lhs;
  return arith::SubIOp::create(builder, location, lhs, rhs, arith::IntegerOverflowFlags::nsw);
}

Value ScalarBuilder::mulIndex(Value lhs, Value rhs) {
  std::optional<int64_t> left = knownInteger(lhs), right = knownInteger(rhs);
  if (left && right)
    return index(*left * *right);
  if (left == 0 || right == 1)
    return lhs;
  if (right == 0 || left == 1)
    return rhs;
  return arith::MulIOp::create(builder, location, lhs, rhs, arith::IntegerOverflowFlags::nsw);
}

Value ScalarBuilder::divIndex(Value lhs, Value rhs) {
  std::optional<int64_t> left = knownInteger(lhs), right = knownInteger(rhs);
  if (left && right && *right > 0)
    return index(*left / *right);
  if (right == 1 || left == 0)
    return lhs;
  return arith::DivUIOp::create(builder, location, lhs, rhs);
}

Value ScalarBuilder::remIndex(Value lhs, Value rhs) {
  std::optional<int64_t> left = knownInteger(lhs), right = knownInteger(rhs);
  if (left && right && *right > 0)
    return index(*left % *right);
  if (right == 1)
    return index(0);
  if (left == 0)
    return lhs;
  return arith::RemUIOp::create(builder, location, lhs, rhs);
}

Value ScalarBuilder::minIndex(Value lhs, Value rhs) {
  std::optional<int64_t> left = knownInteger(lhs), right = knownInteger(rhs);
  if (left && right)
    return index(std::min(*left, *right));
  return arith::MinSIOp::create(builder, location, lhs, rhs);
}

Value ScalarBuilder::maxIndex(Value lhs, Value rhs) {
  std::optional<int64_t> left = knownInteger(lhs), right = knownInteger(rhs);
  if (left && right)
    return index(std::max(*left, *right));
  return arith::MaxSIOp::create(builder, location, lhs, rhs);
}

Value ScalarBuilder::lessThan(Value lhs, Value rhs) {
  std::optional<int64_t> left = knownInteger(lhs), right = knownInteger(rhs);
  if (left && right)
    return integerConstant(builder.getI1Type(), *left < *right);
  return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, lhs, rhs);
}

Value ScalarBuilder::both(Value lhs, Value rhs) {
  if (!lhs || knownInteger(lhs).value_or(0) != 0)
    return rhs;
  if (!rhs || knownInteger(rhs).value_or(0) != 0)
    return lhs;
  return arith::AndIOp::create(builder, location, lhs, rhs);
}

Value ScalarBuilder::linearize(ValueRange indices, ValueRange sizes) {
  Value position = index(0);
  for (auto [value, size] : llvm::zip(indices, sizes))
    position = addIndex(mulIndex(position, size), value);
  return position;
}

SmallVector<Value> ScalarBuilder::delinearize(Value position, ValueRange sizes) {
  SmallVector<Value> indices(sizes.size());
  int64_t first = 0;
  while (first + 1 < static_cast<int64_t>(sizes.size()) && knownInteger(sizes[first]) == 1)
    indices[first++] = index(0);
  for (int64_t i = static_cast<int64_t>(sizes.size()) - 1; i >= first; --i) {
    // The outermost index needs no remainder.
    indices[i] = i == first ? position : remIndex(position, sizes[i]);
    if (i != first)
      position = divIndex(position, sizes[i]);
  }
  return indices;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value ScalarBuilder::floatConstant(Type elementType, double value) {
  auto type = cast<FloatType>(elementType);
  return arith::ConstantOp::create(builder, location, FloatAttr::get(type, roundTo(value, type.getFloatSemantics())));
}

Value ScalarBuilder::integerConstant(Type elementType, int64_t value) {
  Type type = scalarType(elementType);
  APInt bits(64, static_cast<uint64_t>(value), /*isSigned=*/true);
  return arith::ConstantOp::create(builder, location, IntegerAttr::get(type, bits.trunc(type.getIntOrFloatBitWidth())));
}

Value ScalarBuilder::zero(Type elementType) {
  return isFloatElement(elementType) ? floatConstant(elementType, 0) : integerConstant(elementType, 0);
}

Value ScalarBuilder::one(Type elementType) {
  return isFloatElement(elementType) ? floatConstant(elementType, 1) : integerConstant(elementType, 1);
}

Value ScalarBuilder::lowest(Type elementType) {
  if (auto type = dyn_cast<FloatType>(elementType)) {
    APFloat value = extremeOf(type.getFloatSemantics(), /*negative=*/true);
    return arith::ConstantOp::create(builder, location, FloatAttr::get(type, value));
  }
  unsigned width = elementType.getIntOrFloatBitWidth();
  if (isBoolElement(elementType) || isUnsignedElement(elementType))
    return integerConstant(elementType, 0);
  return integerConstant(elementType, APInt::getSignedMinValue(width).getSExtValue());
}

Value ScalarBuilder::highest(Type elementType) {
  if (auto type = dyn_cast<FloatType>(elementType)) {
    APFloat value = extremeOf(type.getFloatSemantics(), /*negative=*/false);
    return arith::ConstantOp::create(builder, location, FloatAttr::get(type, value));
  }
  unsigned width = elementType.getIntOrFloatBitWidth();
  if (isBoolElement(elementType) || isUnsignedElement(elementType))
    return integerConstant(elementType, -1);
  return integerConstant(elementType, APInt::getSignedMaxValue(width).getSExtValue());
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value ScalarBuilder::widen(Value value, Type elementType) {
  Type wide = accumulationType(elementType);
  return wide == elementType ? value : arith::ExtFOp::create(builder, location, wide, value).getResult();
}

Value ScalarBuilder::narrow(Value value, Type elementType) {
  return accumulationType(elementType) == elementType
             ? value
             : arith::TruncFOp::create(builder, location, elementType, value).getResult();
}

Value ScalarBuilder::add(Type type, Value lhs, Value rhs) {
  if (isFloatElement(type))
    return narrow(arith::AddFOp::create(builder, location, widen(lhs, type), widen(rhs, type)), type);
  if (isBoolElement(type))
    return arith::OrIOp::create(builder, location, lhs, rhs);
  return arith::AddIOp::create(builder, location, lhs, rhs);
}

Value ScalarBuilder::subtract(Type type, Value lhs, Value rhs) {
  if (isFloatElement(type))
    return narrow(arith::SubFOp::create(builder, location, widen(lhs, type), widen(rhs, type)), type);
  return arith::SubIOp::create(builder, location, lhs, rhs);
}

Value ScalarBuilder::multiply(Type type, Value lhs, Value rhs) {
  if (isFloatElement(type))
    return narrow(arith::MulFOp::create(builder, location, widen(lhs, type), widen(rhs, type)), type);
  if (isBoolElement(type))
    return arith::AndIOp::create(builder, location, lhs, rhs);
  return arith::MulIOp::create(builder, location, lhs, rhs);
}

Value ScalarBuilder::maximum(Type type, Value lhs, Value rhs) {
  if (isFloatElement(type))
    return narrow(arith::MaximumFOp::create(builder, location, widen(lhs, type), widen(rhs, type)), type);
  if (isBoolElement(type) || isUnsignedElement(type))
    return arith::MaxUIOp::create(builder, location, lhs, rhs);
  return arith::MaxSIOp::create(builder, location, lhs, rhs);
}

Value ScalarBuilder::minimum(Type type, Value lhs, Value rhs) {
  if (isFloatElement(type))
    return narrow(arith::MinimumFOp::create(builder, location, widen(lhs, type), widen(rhs, type)), type);
  if (isBoolElement(type) || isUnsignedElement(type))
    return arith::MinUIOp::create(builder, location, lhs, rhs);
  return arith::MinSIOp::create(builder, location, lhs, rhs);
}

Value ScalarBuilder::compare(ComparisonDirection direction, Type type, Value lhs, Value rhs) {
  if (isFloatElement(type)) {
    static constexpr arith::CmpFPredicate kFloat[] = {arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE,
                                                      arith::CmpFPredicate::OLT, arith::CmpFPredicate::OLE,
                                                      arith::CmpFPredicate::OGT, arith::CmpFPredicate::OGE};
    return arith::CmpFOp::create(builder, location, kFloat[static_cast<unsigned>(direction)], widen(lhs, type),
                                 widen(rhs, type));
  }
  static constexpr arith::CmpIPredicate kSigned[] = {arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,
                                                     arith::CmpIPredicate::slt, arith::CmpIPredicate::sle,
                                                     arith::CmpIPredicate::sgt, arith::CmpIPredicate::sge};
  static constexpr arith::CmpIPredicate kUnsigned[] = {arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,
                                                       arith::CmpIPredicate::ult, arith::CmpIPredicate::ule,
                                                       arith::CmpIPredicate::ugt, arith::CmpIPredicate::uge};
  bool isUnsigned = isBoolElement(type) || isUnsignedElement(type);
  return arith::CmpIOp::create(builder, location, (isUnsigned ? kUnsigned : kSigned)[static_cast<unsigned>(direction)],
                               lhs, rhs);
}

Value ScalarBuilder::select(Value condition, Value onTrue, Value onFalse) {
  return arith::SelectOp::create(builder, location, condition, onTrue, onFalse);
}

namespace {

/// Truncates towards zero; NaN gives 0, a value outside the range the nearest limit.
Value floatToInteger(ScalarBuilder &scalars, Value value, Type from, Type to) {
  OpBuilder &builder = scalars.builder;
  Location location = scalars.location;
  Type type = accumulationType(from);
  value = scalars.widen(value, from);
  unsigned width = to.getIntOrFloatBitWidth();
  bool isUnsigned = isUnsignedElement(to);
  // In range: low < x < high, both exact in f32.
  double low = isUnsigned ? -1.0 : -std::ldexp(1.0, width - 1);
  double high = std::ldexp(1.0, isUnsigned ? width : width - 1);
  bool lowInside = !isUnsigned; // -2^(n-1) itself fits
  Value isLow = scalars.compare(lowInside ? ComparisonDirection::LT : ComparisonDirection::LE, type, value,
                                scalars.floatConstant(type, low));
  Value isHigh = scalars.compare(ComparisonDirection::GE, type, value, scalars.floatConstant(type, high));
  Value isNan = arith::CmpFOp::create(builder, location, arith::CmpFPredicate::UNO, value, value);
  Value outside =
      arith::OrIOp::create(builder, location, arith::OrIOp::create(builder, location, isLow, isHigh), isNan);
  Value safe = scalars.select(outside, scalars.floatConstant(type, 0), value);
  // Narrow integers go through i32, for which vector instructions exist.
  Type wide = width < 32 ? builder.getI32Type() : scalarType(to);
  Value integer;
  if (isUnsigned && width >= 32)
    integer = arith::FPToUIOp::create(builder, location, wide, safe);
  else
    integer = arith::FPToSIOp::create(builder, location, wide, safe);
  if (width < 32)
    integer = arith::TruncIOp::create(builder, location, scalarType(to), integer);
  integer = scalars.select(isLow, scalars.lowest(to), integer);
  return scalars.select(isHigh, scalars.highest(to), integer);
}

Value integerToFloat(ScalarBuilder &scalars, Value value, Type from, Type to) {
  OpBuilder &builder = scalars.builder;
  Location location = scalars.location;
  bool isUnsigned = isUnsignedElement(from) || isBoolElement(from);
  unsigned width = from.getIntOrFloatBitWidth();
  // A narrower float is rounded once, from a type that holds the integer exactly.
  Type wide = to;
  if (accumulationType(to) != to)
    wide = width > 16 ? Type(builder.getF64Type()) : Type(builder.getF32Type());
  if (width == 64 && wide != to) {
    // f64 does not hold every 64-bit integer: past 2^52 the lowest bits decide only whether a tie is one, so they are
    // gathered into one bit that f64 still holds.
    Type type = builder.getI64Type();
    Value lowBits = scalars.integerConstant(type, 0xFFF);
    Value rest = arith::AndIOp::create(builder, location, value, lowBits);
    Value sticky = scalars.select(
        arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, rest, scalars.integerConstant(type, 0)),
        scalars.integerConstant(type, 0x800), scalars.integerConstant(type, 0));
    Value gathered =
        arith::OrIOp::create(builder, location, arith::SubIOp::create(builder, location, value, rest), sticky);
    Value top = isUnsigned
                    ? arith::ShRUIOp::create(builder, location, value, scalars.integerConstant(type, 52)).getResult()
                    : arith::ShRSIOp::create(builder, location, value, scalars.integerConstant(type, 52)).getResult();
    Value isSmall =
        arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ult,
                              arith::AddIOp::create(builder, location, top, scalars.integerConstant(type, 1)),
                              scalars.integerConstant(type, 2));
    value = scalars.select(isSmall, value, gathered);
  }
  if (width < 32)
    value = isUnsigned ? arith::ExtUIOp::create(builder, location, builder.getI32Type(), value).getResult()
                       : arith::ExtSIOp::create(builder, location, builder.getI32Type(), value).getResult();
  Value result = isUnsigned && width >= 32 ? arith::UIToFPOp::create(builder, location, wide, value).getResult()
                                           : arith::SIToFPOp::create(builder, location, wide, value).getResult();
  return wide == to ? result : arith::TruncFOp::create(builder, location, to, result).getResult();
}

} // namespace

Value ScalarBuilder::convert(Value value, Type from, Type to) {
  if (from == to)
    return value;
  if (isBoolElement(to)) {
    if (isFloatElement(from))
      return arith::CmpFOp::create(builder, location, arith::CmpFPredicate::UNE, widen(value, from),
                                   floatConstant(accumulationType(from), 0));
    return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, value, zero(from));
  }
  if (isFloatElement(from) && isFloatElement(to)) {
    unsigned fromWidth = from.getIntOrFloatBitWidth(), toWidth = to.getIntOrFloatBitWidth();
    if (fromWidth >= 32 && toWidth >= 32)
      return fromWidth < toWidth ? arith::ExtFOp::create(builder, location, to, value).getResult()
                                 : arith::TruncFOp::create(builder, location, to, value).getResult();
    // f32 holds every value of the narrower types; between two of them it is the way.
    if (fromWidth < 32)
      value = widen(value, from);
    if (toWidth == 64)
      return arith::ExtFOp::create(builder, location, to, value);
    return toWidth == 32 ? value : arith::TruncFOp::create(builder, location, to, value).getResult();
  }
  if (isFloatElement(from))
    return floatToInteger(*this, value, from, to);
  if (isFloatElement(to))
    return integerToFloat(*this, value, from, to);
  unsigned fromWidth = from.getIntOrFloatBitWidth(), toWidth = to.getIntOrFloatBitWidth();
  if (fromWidth == toWidth)
    return value;
  if (fromWidth > toWidth)
    return arith::TruncIOp::create(builder, location, scalarType(to), value);
  if (isBoolElement(from) || isUnsignedElement(from))
    return arith::ExtUIOp::create(builder, location, scalarType(to), value);
  return arith::ExtSIOp::create(builder, location, scalarType(to), value);
}

Value ScalarBuilder::identity(ReductionKind kind, Type elementType, bool exact) {
  switch (kind) {
  case ReductionKind::sum:
    return exact && isFloatElement(elementType) ? floatConstant(elementType, -0.0) : zero(elementType);
  case ReductionKind::product:
    return one(elementType);
  case ReductionKind::max:
    return lowest(elementType);
  case ReductionKind::min:
    return highest(elementType);
  case ReductionKind::all:
    return integerConstant(elementType, 1);
  case ReductionKind::any:
    return integerConstant(elementType, 0);
  }
  llvm_unreachable("every reduction kind is handled");
}

Value ScalarBuilder::combine(ReductionKind kind, Type elementType, Value lhs, Value rhs) {
  switch (kind) {
  case ReductionKind::sum:
    return add(elementType, lhs, rhs);
  case ReductionKind::product:
    return multiply(elementType, lhs, rhs);
  case ReductionKind::max:
    return maximum(elementType, lhs, rhs);
  case ReductionKind::min:
    return minimum(elementType, lhs, rhs);
  case ReductionKind::all:
    return arith::AndIOp::create(builder, location, lhs, rhs);
  case ReductionKind::any:
    return arith::OrIOp::create(builder, location, lhs, rhs);
  }
  llvm_unreachable("every reduction kind is handled");
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

SmallVector<Value> ElementSource::sizes(Value tensor) {
  SmallVector<Value> result;
  for (const Dim &dim : getDims(tensor.getType()))
    result.push_back(size(dim));
  return result;
}

SmallVector<Value> emitLoops(OpBuilder &builder, Location location, ValueRange extents, ValueRange initial,
                             function_ref<SmallVector<Value>(ValueRange, ValueRange)> body) {
  SmallVector<Value> indices;
  std::function<SmallVector<Value>(size_t, ValueRange)> nest = [&](size_t depth,
                                                                   ValueRange carried) -> SmallVector<Value> {
    if (depth == extents.size())
      return body(indices, carried);
    Value zero = arith::ConstantIndexOp::create(builder, location, 0);
    Value one = arith::ConstantIndexOp::create(builder, location, 1);
    auto loop = scf::ForOp::create(builder, location, zero, extents[depth], one, carried);
    OpBuilder::InsertionGuard guard(builder);
    // Without carried values the loop comes with its terminator.
    if (carried.empty())
      builder.setInsertionPoint(loop.getBody()->getTerminator());
    else
      builder.setInsertionPointToStart(loop.getBody());
    indices.push_back(loop.getInductionVar());
    SmallVector<Value> next = nest(depth + 1, loop.getRegionIterArgs());
    indices.pop_back();
    if (!carried.empty())
      scf::YieldOp::create(builder, location, next);
    return SmallVector<Value>(loop.getResults());
  };
  return nest(0, initial);
}

Value emitIf(OpBuilder &builder, Location location, Type type, Value condition, function_ref<Value()> onTrue,
             function_ref<Value()> onFalse) {
  if (std::optional<int64_t> known = knownInteger(condition))
    return *known ? onTrue() : onFalse();
  auto branch = scf::IfOp::create(builder, location, type, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, location, onTrue());
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, location, onFalse());
  return branch.getResult(0);
}

WindowPosition emitWindowPosition(ScalarBuilder &scalars, Value index, int64_t stride, Value offset,
                                  int64_t windowDilation, int64_t paddingLow, int64_t paddingHigh, int64_t baseDilation,
                                  Value size) {
  OpBuilder &builder = scalars.builder;
  Location location = scalars.location;
  WindowPosition result;
  Value position = scalars.addIndex(scalars.mulIndex(index, scalars.index(stride)),
                                    scalars.mulIndex(offset, scalars.index(windowDilation)));
  position = scalars.subIndex(position, scalars.index(paddingLow));
  if (paddingLow > 0)
    result.inside = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sge, position, scalars.index(0));
  if (baseDilation > 1) {
    Value step = scalars.index(baseDilation);
    Value rest = scalars.remIndex(position, step);
    result.inside = scalars.both(
        result.inside, arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, rest, scalars.index(0)));
    position = scalars.divIndex(position, step);
  }
  if (paddingHigh > 0 || baseDilation > 1)
    result.inside = scalars.both(result.inside, scalars.lessThan(position, size));
  result.element = position;
  return result;
}

SmallVector<ReshapeGroup> matchReshape(ArrayRef<Dim> operand, ArrayRef<Dim> result) {
  SmallVector<int64_t> from, to;
  auto isOne = [](const Dim &dim) { return dim.isConstant() && dim.getConstant() == 1; };
  for (auto [i, dim] : llvm::enumerate(operand))
    if (!isOne(dim))
      from.push_back(i);
  for (auto [i, dim] : llvm::enumerate(result))
    if (!isOne(dim))
      to.push_back(i);
  SmallVector<ReshapeGroup> groups;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    ReshapeGroup group;
    Dim left = operand[from[i]], right = result[to[j]];
    group.operandDimensions.push_back(from[i++]);
    group.resultDimensions.push_back(to[j++]);
    while (left != right) {
      // Extend the side that is known to be smaller; if neither is, the rest is one group.
      bool extendLeft, known = true;
      if (left.isConstant() && right.isConstant())
        extendLeft = left.getConstant() < right.getConstant();
      else if (right.divideExactly(left))
        extendLeft = true;
      else if (left.divideExactly(right))
        extendLeft = false;
      else
        known = extendLeft = false;
      if (!known || (extendLeft ? i == from.size() : j == to.size())) {
        while (i < from.size())
          group.operandDimensions.push_back(from[i++]);
        while (j < to.size())
          group.resultDimensions.push_back(to[j++]);
        break;
      }
      if (extendLeft) {
        left = left * operand[from[i]];
        group.operandDimensions.push_back(from[i++]);
      } else {
        right = right * result[to[j]];
        group.resultDimensions.push_back(to[j++]);
      }
    }
    groups.push_back(std::move(group));
  }
  // Dimensions left over have one element together, or the tensor none at all.
  return groups;
}

} // namespace weft::graph
