//===- RowForm.cpp - Regions that reduce rows and use the results along them -------------------------===//

#include "lib/Codegen/RowForm.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen {

namespace {

SmallVector<Dim> withoutOnes(ArrayRef<Dim> dims) {
  SmallVector<Dim> result;
  for (const Dim &dim : dims)
    if (!dim.isConstant() || dim.getConstant() != 1)
      result.push_back(dim);
  return result;
}

} // namespace

bool RowForm::isRow(Type type) const { return withoutOnes(getDims(type)) == withoutOnes(rowDims()); }
bool RowForm::isFull(Type type) const { return withoutOnes(getDims(type)) == withoutOnes(dims); }

SmallVector<SmallVector<ReduceOp>> RowForm::passes() const {
  SmallVector<SmallVector<ReduceOp>> passes;
  llvm::DenseMap<Operation *, size_t> passOf;
  for (ReduceOp reduce : reductions) {
    size_t pass = 0;
    for (Value value : collectRowPass({reduce.getOperand()}))
      if (auto earlier = value.getDefiningOp<ReduceOp>())
        pass = std::max(pass, passOf.lookup(earlier) + 1);
    passOf[reduce] = pass;
    if (passes.size() <= pass)
      passes.resize(pass + 1);
    passes[pass].push_back(reduce);
  }
  return passes;
}

SmallVector<Value> RowForm::indicesOf(Type type, ArrayRef<Value> full, Value zero) const {
  SmallVector<Value> kept, indices;
  for (auto [dim, value] : llvm::zip(dims, full))
    if (!dim.isConstant() || dim.getConstant() != 1)
      kept.push_back(value);
  size_t next = 0;
  for (const Dim &dim : getDims(type))
    indices.push_back(dim.isConstant() && dim.getConstant() == 1 ? zero : kept[next++]);
  return indices;
}

std::optional<RowForm> findRowForm(Block &body, ValueRange results) {
  RowForm form;
  for (ReduceOp reduce : body.getOps<ReduceOp>()) {
    SmallVector<Dim> dims = getDims(reduce.getOperand().getType());
    ArrayRef<int64_t> reduced = reduce.getDimensions();
    size_t rowRank = dims.size() - reduced.size();
    // Sorted and distinct, so the first says whether they are the last dimensions.
    if (reduced.empty() || reduced[0] != static_cast<int64_t>(rowRank))
      return std::nullopt;
    if (form.reductions.empty()) {
      form.dims = dims;
      form.rowRank = rowRank;
    } else if (form.dims != dims || form.rowRank != rowRank) {
      return std::nullopt;
    }
    form.reductions.push_back(reduce);
  }
  if (form.reductions.empty())
    return std::nullopt;
  for (Value result : results)
    if (!form.isFull(result.getType()) && !form.isRow(result.getType()))
      return std::nullopt;
  return form;
}

llvm::SetVector<Value> collectRowPass(ArrayRef<Value> roots) {
  llvm::SetVector<Value> values;
  SmallVector<Value> work(roots);
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!values.insert(value) || !op || isa<ReduceOp>(op))
      continue;
    llvm::append_range(work, op->getOperands());
  }
  return values;
}

} // namespace weft::codegen
