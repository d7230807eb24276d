//===- ReductionEmit.cpp - Scalar emission of the reductions, with their own loops --------------------===//

#include "dialects/Graph/Emission.h"
#include "dialects/Graph/Reduction.h"

using namespace mlir;

namespace weft::graph {

Value narrowReduction(ScalarBuilder scalars, ReductionKind kind, Value value, Type elementType) {
  Type wide = accumulationType(elementType);
  bool isExtreme = kind == ReductionKind::max || kind == ReductionKind::min;
  if (auto type = dyn_cast<FloatType>(elementType);
      type && isExtreme && wide != elementType && !llvm::APFloat::semanticsHasInf(type.getFloatSemantics())) {
    llvm::APFloat limit = llvm::APFloat::getLargest(type.getFloatSemantics(), /*Negative=*/kind == ReductionKind::max);
    bool lost;
    limit.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
    value = scalars.combine(kind, wide, value, scalars.floatConstant(wide, limit.convertToDouble()));
  }
  return scalars.narrow(value, elementType);
}

FailureOr<Value> ReduceOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  Type type = elementType(getOperand());
  int64_t rank = tensorType(getOperand()).getRank();
  SmallVector<Value> source(rank), extents;
  for (int64_t i = 0, next = 0; i < rank; ++i) {
    if (llvm::is_contained(getDimensions(), i))
      extents.push_back(elements.size(getOperand(), i));
    else
      source[i] = indices[next++];
  }
  Value result = elements.reduce(getKind(), accumulationType(type), extents, [&](ValueRange reduced) {
    for (auto [dimension, value] : llvm::zip(getDimensions(), reduced))
      source[dimension] = value;
    return scalars.widen(elements.get(0, source), type);
  });
  return narrowReduction(scalars, getKind(), result, type);
}

FailureOr<Value> ArgReduceOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  OpBuilder &builder = elements.builder;
  Location location = elements.location;
  Type type = elementType(getOperand()), wide = accumulationType(type);
  int64_t dimension = getDimension();
  SmallVector<Value> source(indices);
  source.insert(source.begin() + dimension, scalars.index(0));
  auto element = [&](Value position) {
    source[dimension] = position;
    return scalars.widen(elements.get(0, source), type);
  };
  ComparisonDirection better = getKind() == ReductionKind::max
                                   ? (getSelectLastIndex() ? ComparisonDirection::GE : ComparisonDirection::GT)
                                   : (getSelectLastIndex() ? ComparisonDirection::LE : ComparisonDirection::LT);
  Value zero = scalars.index(0);
  // The first turn of the loop compares element 0 with itself, which changes nothing.
  Value first = element(zero);
  SmallVector<Value> best = emitLoops(
      builder, location, elements.size(getOperand(), dimension), {first, zero},
      [&](ValueRange loop, ValueRange carried) -> SmallVector<Value> {
        Value value = element(loop[0]);
        Value take = scalars.compare(better, wide, value, carried[0]);
        if (isFloatElement(type)) {
          // A NaN beats every number; among NaNs the order of positions decides.
          Value isNan = arith::CmpFOp::create(builder, location, arith::CmpFPredicate::UNO, value, value);
          Value wasNan = arith::CmpFOp::create(builder, location, arith::CmpFPredicate::UNO, carried[0], carried[0]);
          Value onNan = getSelectLastIndex()
                            ? isNan
                            : arith::AndIOp::create(
                                  builder, location, isNan,
                                  arith::XOrIOp::create(builder, location, wasNan, scalars.one(builder.getI1Type())))
                                  .getResult();
          take = arith::OrIOp::create(builder, location, take, onNan);
        }
        return {scalars.select(take, value, carried[0]), scalars.select(take, loop[0], carried[1])};
      });
  Type i64 = builder.getI64Type();
  Value position = arith::IndexCastOp::create(builder, location, i64, best[1]);
  return scalars.convert(position, i64, getIndexType());
}

FailureOr<Value> ReduceWindowOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  OpBuilder &builder = elements.builder;
  Location location = elements.location;
  Type type = elementType(getOperand()), wide = accumulationType(type);
  SmallVector<Value> extents;
  SmallVector<int64_t> windowed;
  for (auto [dimension, size] : llvm::enumerate(getWindowDimensions()))
    if (size != 1) {
      windowed.push_back(dimension);
      extents.push_back(scalars.index(size));
    }
  SmallVector<Value> result = emitLoops(
      builder, location, extents, scalars.identity(getKind(), wide),
      [&](ValueRange offsets, ValueRange carried) -> SmallVector<Value> {
        SmallVector<Value> source;
        Value inside;
        for (size_t i = 0; i < indices.size(); ++i) {
          const int64_t *found = llvm::find(windowed, static_cast<int64_t>(i));
          Value offset = found == windowed.end() ? scalars.index(0) : Value(offsets[found - windowed.begin()]);
          WindowPosition position = emitWindowPosition(scalars, indices[i], getWindowStrides()[i], offset,
                                                       getWindowDilations()[i], getPaddingLow()[i], getPaddingHigh()[i],
                                                       getBaseDilations()[i], elements.size(getOperand(), i));
          source.push_back(position.element);
          if (position.inside)
            inside = scalars.both(inside, position.inside);
        }
        auto combined = [&] {
          return scalars.combine(getKind(), wide, carried[0], scalars.widen(elements.get(0, source), type));
        };
        if (!inside)
          return {combined()};
        return {emitIf(builder, location, scalarType(wide), inside, combined, [&] { return carried[0]; })};
      });
  return narrowReduction(scalars, getKind(), result[0], type);
}

FailureOr<Value> CumulativeOp::emitElement(ElementSource &elements, unsigned, ValueRange indices) {
  ScalarBuilder scalars = elements.scalars();
  OpBuilder &builder = elements.builder;
  Location location = elements.location;
  Type type = elementType(getOperand()), wide = accumulationType(type);
  int64_t dimension = getDimension();
  Value position = indices[dimension];
  Value last = scalars.subIndex(elements.size(getOperand(), dimension), scalars.index(1));
  Value count = getReverse() ? scalars.subIndex(last, position) : position;
  if (!getExclusive())
    count = scalars.addIndex(count, scalars.index(1));
  SmallVector<Value> source(indices);
  SmallVector<Value> result =
      emitLoops(builder, location, count, scalars.identity(getKind(), wide),
                [&](ValueRange loop, ValueRange carried) -> SmallVector<Value> {
                  source[dimension] = getReverse() ? scalars.subIndex(last, loop[0]) : Value(loop[0]);
                  return {scalars.combine(getKind(), wide, carried[0], scalars.widen(elements.get(0, source), type))};
                });
  return narrowReduction(scalars, getKind(), result[0], type);
}

} // namespace weft::graph
