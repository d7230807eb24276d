//===- SerialOps.cpp - sort, top_k, cumulative and scatter: what kernels of all targets share ---------===//

#include "lib/Codegen/SerialOps.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen {

bool isLineOp(Operation *op) { return isa<SortOp, TopKOp, CumulativeOp>(op); }
bool isSerialOp(Operation *op) { return isLineOp(op) || isa<ScatterOp>(op); }

int64_t lineDimension(Operation *op) {
  if (auto sort = dyn_cast<SortOp>(op))
    return sort.getDimension();
  if (auto topK = dyn_cast<TopKOp>(op))
    return topK.getDimension();
  return cast<CumulativeOp>(op).getDimension();
}

Value emitComesBefore(ScalarBuilder scalars, Type type, Value a, Value b, bool descending) {
  if (descending)
    std::swap(a, b);
  Value less = scalars.compare(ComparisonDirection::LT, type, a, b);
  if (!isFloatElement(type))
    return less;
  OpBuilder &builder = scalars.builder;
  Value ordered = arith::CmpFOp::create(builder, scalars.location, arith::CmpFPredicate::ORD, a, a);
  Value isNan = arith::CmpFOp::create(builder, scalars.location, arith::CmpFPredicate::UNO, b, b);
  return arith::OrIOp::create(builder, scalars.location, less,
                              arith::AndIOp::create(builder, scalars.location, ordered, isNan));
}

Type sortKeyType(Type elementType) {
  Type wide = accumulationType(elementType);
  if (storageBits(wide) >= 8)
    return wide;
  return IntegerType::get(elementType.getContext(), 8,
                          isUnsignedElement(elementType) ? IntegerType::Unsigned : IntegerType::Signless);
}

ScatterTarget emitScatterTarget(RegionEmitter &region, ScatterOp op, ArrayRef<Value> update) {
  ScalarBuilder scalars = region.scalars();
  OpBuilder &builder = region.builder;
  Location location = region.location;
  SmallVector<Dim> dims = getDims(op.getOperand().getType());
  int64_t rank = dims.size(), indexRank = tensorType(op.getScatterIndices()).getRank();
  int64_t vectorDimension = op.getIndexVectorDim();
  Type indexType = elementType(op.getScatterIndices()), i64 = builder.getI64Type();
  SmallVector<Value> window, windowSizes, position(indexRank);
  int64_t nextBatch = 0;
  for (auto [i, value] : llvm::enumerate(update)) {
    if (llvm::is_contained(op.getUpdateWindowDims(), static_cast<int64_t>(i))) {
      window.push_back(value);
      windowSizes.push_back(region.size(getDim(op.getUpdates().getType(), i)));
      continue;
    }
    if (nextBatch == vectorDimension)
      ++nextBatch;
    position[nextBatch++] = value;
  }
  ScatterTarget target;
  SmallVector<Value> extents(rank);
  target.place.resize(rank);
  Value zero = scalars.index(0);
  size_t nextWindow = 0;
  for (int64_t i = 0; i < rank; ++i) {
    const auto *batching = llvm::find(op.getOperandBatchingDims(), i);
    extents[i] = scalars.index(1);
    target.place[i] = zero;
    if (batching != op.getOperandBatchingDims().end()) {
      target.place[i] = position[op.getScatterIndicesBatchingDims()[batching - op.getOperandBatchingDims().begin()]];
    } else if (!llvm::is_contained(op.getInsertedWindowDims(), i)) {
      target.place[i] = window[nextWindow];
      extents[i] = windowSizes[nextWindow++];
    }
  }
  for (auto [component, dimension] : llvm::enumerate(op.getScatterDimsToOperandDims())) {
    if (vectorDimension < indexRank)
      position[vectorDimension] = scalars.index(component);
    Value wide = scalars.convert(region.get(op.getScatterIndices(), position), indexType, i64);
    Value start = arith::IndexCastOp::create(builder, location, builder.getIndexType(), wide);
    // As an unsigned number a negative start is past every size. The whole window counts, not this element alone.
    Value room = scalars.subIndex(region.size(dims[dimension]), extents[dimension]);
    Value fits = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ule, start, room);
    target.inside = scalars.both(target.inside, fits);
    Value hasRoom = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sge, room, zero);
    target.inside = scalars.both(target.inside, hasRoom);
    target.place[dimension] = scalars.addIndex(start, target.place[dimension]);
  }
  return target;
}

Value emitScatterCombine(ScalarBuilder scalars, ScatterOp op, Value old, Value update) {
  static constexpr ReductionKind kKinds[] = {ReductionKind::sum, ReductionKind::sum, ReductionKind::product,
                                             ReductionKind::max, ReductionKind::min};
  return scalars.combine(kKinds[static_cast<unsigned>(op.getKind())], elementType(op.getOperand()), old, update);
}

} // namespace weft::codegen
