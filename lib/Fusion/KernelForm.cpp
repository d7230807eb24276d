//===- KernelForm.cpp - The kinds of kernel and what their regions may hold ------------------------------===//

#include "lib/Fusion/KernelForm.h"
#include "lib/Fusion/LibraryCallForm.h"

using namespace mlir;

namespace weft::fusion {

using namespace weft::graph;

namespace {

constexpr llvm::StringLiteral kOneHero = "a kernel has one hero";
constexpr llvm::StringLiteral kOneLayout =
    "a kernel has one layout, and a transpose of the innermost dimension changes it";
constexpr llvm::StringLiteral kAlone = "this op has a kernel to itself";
constexpr llvm::StringLiteral kNotKernel = "control flow, library calls and groups are not part of a kernel";
constexpr llvm::StringLiteral kOneRowShape = "the reductions of a kernel reduce the same dimensions of the same shape";
constexpr llvm::StringLiteral kOwnRow = "a reduction's result is read along its own row only";
constexpr llvm::StringLiteral kOneShape = "the results of a kernel have one shape";
constexpr llvm::StringLiteral kHeroShape = "the results of a kernel have the shape of its hero's result";

KernelForm illegal(StringRef reason) {
  KernelForm form;
  form.reason = reason;
  return form;
}

bool isOne(const Dim &dim) { return dim.isConstant() && dim.getConstant() == 1; }

/// The dims that are not 1.
SmallVector<Dim> withoutOnes(ArrayRef<Dim> dims) {
  SmallVector<Dim> result;
  llvm::copy_if(dims, std::back_inserter(result), [](const Dim &dim) { return !isOne(dim); });
  return result;
}

/// The shapes that the values of a row kernel have.
struct RowShapes {
  RankedTensorType full;
  int64_t rows; // leading dimensions
  SmallVector<Dim> fullDims, rowDims;

  RowShapes(RankedTensorType full, int64_t rows) : full(full), rows(rows), fullDims(getDims(full)) {
    rowDims = withoutOnes(ArrayRef<Dim>(fullDims).take_front(rows));
  }

  bool isFull(Type type) const { return haveSameDims(type, full); }
  /// The leading dimensions, with dimensions of size 1 anywhere between.
  bool isRow(Type type) const { return withoutOnes(getDims(type)) == rowDims; }

  /// Whether the broadcast gives each element of the full shape its own row's element.
  bool repeatsAlongRows(BroadcastInDimOp op) const {
    SmallVector<int64_t> targets, expected;
    for (auto [dimension, target] : llvm::enumerate(op.getBroadcastDimensions()))
      if (!isOne(getDim(op.getOperand().getType(), dimension)))
        targets.push_back(target);
    for (int64_t i = 0; i < rows; ++i)
      if (!isOne(fullDims[i]))
        expected.push_back(i);
    return targets == expected;
  }
};

bool isSorted(ArrayRef<int64_t> dims) { return llvm::is_sorted(dims); }

/// Fills in the state and level of every op of a row kernel; gives the reason where one does not fit.
StringRef placeRows(ArrayRef<Operation *> ops, ArrayRef<Value> outputs, const RowShapes &shapes,
                    KernelAnalyzer &analyzer, KernelForm &form) {
  llvm::SmallDenseMap<Operation *, unsigned, 16> index;
  form.states.assign(ops.size(), RowState::Independent);
  form.levels.assign(ops.size(), 0);
  for (auto [i, op] : llvm::enumerate(ops)) {
    index[op] = i;
    const OpFacts &facts = analyzer.getFacts(op);
    RowState state = RowState::Independent;
    unsigned level = 0;
    for (Value operand : op->getOperands()) {
      auto definition = index.find(operand.getDefiningOp());
      if (!operand.getDefiningOp() || definition == index.end())
        continue;
      level = std::max(level, form.levels[definition->second]);
      // Operands of an elementwise op have one shape, so that Row and Full meet only where the two are the same shape.
      if (form.states[definition->second] != RowState::Independent)
        state = form.states[definition->second];
    }
    form.levels[i] = level;
    if (facts.role == FusionRole::Reduction) {
      auto reduce = cast<ReduceOp>(op);
      if (!shapes.isFull(reduce.getOperand().getType()) ||
          static_cast<int64_t>(reduce.getDimensions().size()) != shapes.full.getRank() - shapes.rows)
        return kOneRowShape;
      if (state == RowState::Row)
        return kOwnRow;
      form.states[i] = RowState::Row;
      form.levels[i] = level + 1;
      continue;
    }
    if (facts.movesInnermost)
      return kOneLayout;
    form.states[i] = state;
    if (state == RowState::Independent || facts.role == FusionRole::Elementwise)
      continue;
    if (state == RowState::Full)
      return kOwnRow;
    Type result = op->getResult(0).getType();
    if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
      if (shapes.isRow(result) && isSorted(broadcast.getBroadcastDimensions()))
        continue;
      if (!shapes.isFull(result) || !shapes.repeatsAlongRows(broadcast))
        return kOwnRow;
      form.states[i] = RowState::Full;
      continue;
    }
    if (!isa<ReshapeOp>(op) || !shapes.isRow(result))
      return kOwnRow;
  }
  for (Value output : outputs)
    if (!shapes.isFull(output.getType()) && !shapes.isRow(output.getType()))
      return kOneShape;
  return {};
}

KernelForm rowForm(ArrayRef<Operation *> ops, ArrayRef<Value> outputs, Operation *firstReduction, unsigned reductions,
                   KernelAnalyzer &analyzer) {
  auto reduce = cast<ReduceOp>(firstReduction);
  KernelForm form;
  form.hero = firstReduction;
  form.fullType = tensorType(reduce.getOperand());
  form.rowDimensions = form.fullType.getRank() - static_cast<int64_t>(reduce.getDimensions().size());
  RowShapes shapes(form.fullType, form.rowDimensions);
  form.reason = placeRows(ops, outputs, shapes, analyzer, form);
  bool rowsOnly = llvm::all_of(outputs, [&](Value output) { return shapes.isRow(output.getType()); });
  form.kind = reductions == 1 && rowsOnly ? FusionKind::row_reduction : FusionKind::row_multipass;
  return form;
}

} // namespace

KernelForm findKernelForm(ArrayRef<Operation *> ops, ArrayRef<Value> outputs, KernelAnalyzer &analyzer) {
  Operation *trailing = nullptr, *generic = nullptr, *transpose = nullptr;
  unsigned reductions = 0, generics = 0, transposes = 0, others = 0;
  bool alone = false;
  for (Operation *op : ops) {
    const OpFacts &facts = analyzer.getFacts(op);
    switch (facts.role) {
    case FusionRole::Contraction:
    case FusionRole::Group:
    case FusionRole::Opaque:
      return illegal(kNotKernel);
    case FusionRole::Reduction:
      if (facts.trailingReduction) {
        ++reductions;
        trailing = trailing ? trailing : op;
        break;
      }
      [[fallthrough]];
    case FusionRole::Generic:
      ++generics;
      generic = op;
      alone |= facts.alone;
      break;
    case FusionRole::Elementwise:
    case FusionRole::IndexMap:
      if (facts.movesInnermost) {
        ++transposes;
        transpose = op;
      } else if (!facts.rematerialized) {
        ++others;
      }
    }
  }
  if (alone && others + reductions + transposes + generics > 1)
    return illegal(kAlone);
  if (generics > 1 || (generics && reductions))
    return illegal(kOneHero);
  if (generics && transposes)
    return illegal(kOneLayout);
  if (reductions)
    return rowForm(ops, outputs, trailing, reductions, analyzer);
  if (transposes > 1)
    return illegal(kOneLayout);
  KernelForm form;
  form.hero = generic ? generic : transpose;
  form.kind = generic ? FusionKind::generic : transpose ? FusionKind::transpose : FusionKind::loop;
  for (Value output : outputs)
    if (!haveSameDims(output.getType(), form.hero ? form.hero->getResult(0).getType() : outputs.front().getType()))
      return illegal(form.hero ? kHeroShape : kOneShape);
  return form;
}

} // namespace weft::fusion
