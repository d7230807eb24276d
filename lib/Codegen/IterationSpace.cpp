//===- IterationSpace.cpp - Which dimensions of a kernel's iteration space are one loop --------------===//

#include "lib/Codegen/IterationSpace.h"
#include "dialects/Graph/Emission.h"
#include "dialects/Graph/Graph.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <set>

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen {

namespace {

bool isOne(const Dim &dim) { return dim.isConstant() && dim.getConstant() == 1; }

/// What a dimension of a value is indexed with: a dimension of the space, or one of these.
constexpr int64_t kZero = -1;  // index 0 always
constexpr int64_t kOther = -2; // something computed

using Map = SmallVector<int64_t, 4>;

/// Finds the pairs of neighbouring dimensions that must stay apart.
class SplitAnalysis {
public:
  /// `dims` are the sizes other than 1. `reduced` gives the dimension of the space that each reduced dimension of a
  /// reduction runs over, if it is one.
  SplitAnalysis(ArrayRef<Dim> dims, std::optional<Map> reduced)
      : dims(dims), reducedDimensions(std::move(reduced)), apart(dims.size() + 1, false) {}

  void visit(Value value, const Map &map) {
    SmallVector<std::pair<Value, Map>> work = {{value, map}};
    while (!work.empty()) {
      auto [next, nextMap] = work.pop_back_val();
      if (!seen.insert({next.getAsOpaquePointer(), nextMap}).second)
        continue;
      checkLayout(next, nextMap);
      if (Operation *op = next.getDefiningOp())
        visitOperands(op, nextMap, work);
    }
  }

  /// Whether dimensions `k` and `k + 1` must stay apart.
  bool isApart(size_t k) const { return apart.test(k); }

private:
  void split(int64_t dimension) {
    if (dimension < 0)
      return;
    apart.set(dimension);
    if (dimension > 0)
      apart.set(dimension - 1);
  }
  void splitAll(const Map &map) {
    for (int64_t dimension : map)
      split(dimension);
  }

  /// Dimensions of the space may be one loop only if the value has both side by side, at full size, or neither.
  void checkLayout(Value value, const Map &map) {
    for (size_t k = 0; k + 1 < dims.size(); ++k) {
      const int64_t *first = llvm::find(map, static_cast<int64_t>(k)),
                    *second = llvm::find(map, static_cast<int64_t>(k + 1));
      if (first == map.end() && second == map.end())
        continue;
      bool together = first != map.end() && second != map.end() && first < second &&
                      std::all_of(
                          first + 1, second, [](int64_t between) { return between == kZero; }) &&
                      getDim(value.getType(), second - map.begin()) == dims[k + 1];
      if (!together)
        apart.set(k);
    }
  }

  void visitOperands(Operation *op, const Map &map, SmallVectorImpl<std::pair<Value, Map>> &work) {
    auto visitScalars = [&](OperandRange operands) {
      for (Value operand : operands)
        work.push_back({operand, Map()});
    };
    /// The op passes on the dimensions that `isPlain` accepts and looks at the others.
    auto throughWhere = [&](Value operand, llvm::function_ref<bool(size_t)> isPlain) {
      Map source = map;
      for (size_t i = 0; i < source.size(); ++i)
        if (!isPlain(i)) {
          split(source[i]);
          source[i] = kOther;
        }
      work.push_back({operand, source});
    };
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](ConstantOp) {})
        .Case([&](IotaOp iota) { split(map[iota.getIotaDimension()]); })
        .Case([&](BroadcastInDimOp broadcast) {
          Map source;
          for (auto [dimension, target] : llvm::enumerate(broadcast.getBroadcastDimensions()))
            source.push_back(isOne(getDim(broadcast.getOperand().getType(), dimension)) ? kZero : map[target]);
          work.push_back({broadcast.getOperand(), source});
        })
        .Case([&](ReshapeOp reshape) {
          SmallVector<Dim> from = getDims(reshape.getOperand().getType()), to = getDims(reshape.getType());
          Map source(from.size(), kZero);
          for (const ReshapeGroup &group : matchReshape(from, to)) {
            if (group.isIdentity()) {
              source[group.operandDimensions[0]] = map[group.resultDimensions[0]];
              continue;
            }
            for (int64_t dimension : group.resultDimensions)
              split(map[dimension]);
            for (int64_t dimension : group.operandDimensions)
              source[dimension] = kOther;
          }
          work.push_back({reshape.getOperand(), source});
        })
        .Case([&](AssumeShapeOp assume) { work.push_back({assume.getOperand(), map}); })
        .Case([&](TransposeOp transpose) {
          Map source(map.size());
          for (auto [dimension, from] : llvm::enumerate(transpose.getPermutation()))
            source[from] = map[dimension];
          work.push_back({transpose.getOperand(), source});
        })
        .Case([&](SliceOp slice) {
          throughWhere(slice.getOperand(), [&](size_t i) {
            return getDim(slice.getType(), i) == getDim(slice.getOperand().getType(), i) &&
                   slice.getStartIndices()[i] == 0 && slice.getStrides()[i] == 1;
          });
        })
        .Case([&](PadOp pad) {
          throughWhere(pad.getOperand(), [&](size_t i) {
            return pad.getEdgePaddingLow()[i] == 0 && pad.getEdgePaddingHigh()[i] == 0 &&
                   pad.getInteriorPadding()[i] == 0;
          });
          work.push_back({pad.getPaddingValue(), Map()});
        })
        .Case([&](ConcatenateOp concatenate) {
          for (Value input : concatenate.getInputs())
            throughWhere(input, [&](size_t i) { return i != concatenate.getDimension(); });
        })
        .Case([&](ReverseOp reverse) {
          throughWhere(reverse.getOperand(),
                       [&](size_t i) { return !llvm::is_contained(reverse.getDimensions(), static_cast<int64_t>(i)); });
        })
        .Case([&](DynamicSliceOp slice) {
          throughWhere(slice.getOperand(),
                       [&](size_t i) { return getDim(slice.getType(), i) == getDim(slice.getOperand().getType(), i); });
          visitScalars(slice.getStartIndices());
        })
        .Case([&](DynamicUpdateSliceOp update) {
          throughWhere(update.getUpdate(), [&](size_t i) {
            return getDim(update.getType(), i) == getDim(update.getUpdate().getType(), i);
          });
          work.push_back({update.getOperand(), map});
          visitScalars(update.getStartIndices());
        })
        .Case([&](GatherOp gather) { visitGather(gather, map, work); })
        .Case([&](ReduceOp reduce) {
          Map source(tensorType(reduce.getOperand()).getRank(), kOther);
          for (size_t i = 0, next = 0, reduced = 0; i < source.size(); ++i) {
            if (!llvm::is_contained(reduce.getDimensions(), static_cast<int64_t>(i)))
              source[i] = map[next++];
            else if (reducedDimensions && reduced < reducedDimensions->size())
              source[i] = (*reducedDimensions)[reduced++];
          }
          work.push_back({reduce.getOperand(), source});
        })
        .Default([&](Operation *other) {
          auto role = dyn_cast<FusibilityInterface>(other);
          if (role && role.getFusionRole() == FusionRole::Elementwise) {
            for (Value operand : other->getOperands())
              work.push_back({operand, map});
            return;
          }
          // Loops of its own: what it does with its indices is not looked into.
          splitAll(map);
          for (size_t k = 0; k < dims.size(); ++k)
            apart.set(k);
        });
  }

  void visitGather(GatherOp gather, const Map &map, SmallVectorImpl<std::pair<Value, Map>> &work) {
    Map batch, offsets;
    for (auto [dimension, target] : llvm::enumerate(map)) {
      bool isOffset = llvm::is_contained(gather.getOffsetDims(), static_cast<int64_t>(dimension));
      (isOffset ? offsets : batch).push_back(target);
    }
    Map indices(tensorType(gather.getStartIndices()).getRank(), kOther);
    int64_t vectorDimension = gather.getIndexVectorDim();
    for (int64_t i = 0, next = 0; i < static_cast<int64_t>(indices.size()); ++i)
      if (i != vectorDimension)
        indices[i] = batch[next++];
    Map source(tensorType(gather.getOperand()).getRank(), kOther);
    for (size_t i = 0, next = 0; i < source.size(); ++i) {
      int64_t dimension = i;
      const auto *batching = llvm::find(gather.getOperandBatchingDims(), dimension);
      if (batching != gather.getOperandBatchingDims().end()) {
        source[i] = indices[gather.getStartIndicesBatchingDims()[batching - gather.getOperandBatchingDims().begin()]];
        continue;
      }
      if (llvm::is_contained(gather.getCollapsedSliceDims(), dimension))
        continue;
      int64_t offset = offsets[next++];
      Dim size = getDim(gather.getOperand().getType(), i);
      if (size.isConstant() && size.getConstant() == gather.getSliceSizes()[i])
        source[i] = offset;
      else
        split(offset);
    }
    work.push_back({gather.getStartIndices(), indices});
    work.push_back({gather.getOperand(), source});
  }

  ArrayRef<Dim> dims;
  std::optional<Map> reducedDimensions;
  llvm::SmallBitVector apart;
  std::set<std::pair<const void *, Map>> seen;
};

} // namespace

IterationSpace::IterationSpace(ArrayRef<Dim> spaceDims, ValueRange roots, std::optional<unsigned> rowRank)
    : dims(spaceDims) {
  // Dimensions of size 1 have index 0 and play no part.
  SmallVector<Dim> sizes;
  SmallVector<int64_t> original;
  Map compact;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    compact.push_back(isOne(dim) ? kZero : static_cast<int64_t>(sizes.size()));
    if (isOne(dim))
      continue;
    sizes.push_back(dim);
    original.push_back(i);
  }
  std::optional<Map> reduced;
  if (rowRank)
    reduced = Map(compact.begin() + *rowRank, compact.end());
  SplitAnalysis analysis(sizes, reduced);
  for (Value root : roots) {
    Map map;
    int64_t next = 0;
    for (const Dim &dim : graph::getDims(root.getType()))
      map.push_back(isOne(dim) ? kZero : next++);
    analysis.visit(root, map);
  }
  for (size_t k = 0; k < sizes.size(); ++k) {
    bool isRow = !rowRank || original[k] < static_cast<int64_t>(*rowRank);
    bool startsReduced = !isRow && k > 0 && original[k - 1] < static_cast<int64_t>(*rowRank);
    if (k == 0 || startsReduced || analysis.isApart(k - 1)) {
      groups.push_back({});
      groupSizes.push_back(Dim::constant(sizes[k].getContext(), 1));
      rowGroups += isRow;
    }
    groups.back().push_back(original[k]);
    groupSizes.back() = groupSizes.back() * sizes[k];
  }
}

SmallVector<Value> IterationSpace::getIndices(ValueRange positions, Value zero) const {
  SmallVector<Value> indices(dims.size(), zero);
  for (auto [group, position] : llvm::zip(groups, positions))
    indices[group.back()] = position;
  return indices;
}

bool isLinear(ValueRange roots) {
  if (roots.empty())
    return false;
  Dim count = getElementCount(roots[0].getType());
  SmallVector<Value> work(roots);
  llvm::DenseSet<Value> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    if (tensorType(value).getRank() == 0 && (!op || isa<ConstantOp>(op)))
      continue;
    if (getElementCount(value.getType()) != count)
      return false;
    if (!op || isa<ConstantOp>(op))
      continue;
    if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
      if (tensorType(broadcast.getOperand()).getRank() != 0)
        return false;
      work.push_back(broadcast.getOperand());
      continue;
    }
    auto role = dyn_cast<FusibilityInterface>(op);
    bool elementwise = role && role.getFusionRole() == FusionRole::Elementwise && !isa<IotaOp>(op);
    if (!elementwise && !isa<ReshapeOp>(op))
      return false;
    llvm::append_range(work, op->getOperands());
  }
  return true;
}

} // namespace weft::codegen
