//===- KernelForms.cpp - Which regions have the form of a column or a transpose kernel ---------------===//

#include "lib/Codegen/KernelForms.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::codegen {

namespace {

bool reducesSame(ReduceOp a, ReduceOp b) {
  return a.getDimensions() == b.getDimensions() &&
         getDims(a.getOperand().getType()) == getDims(b.getOperand().getType());
}

/// Whether an op is computed from another of the list.
bool dependOnEachOther(ArrayRef<Operation *> ops) {
  for (Operation *op : ops) {
    SmallVector<Value> work(op->getOperands());
    llvm::SmallPtrSet<Operation *, 16> seen;
    while (!work.empty()) {
      Operation *from = work.pop_back_val().getDefiningOp();
      if (!from || !seen.insert(from).second)
        continue;
      if (llvm::is_contained(ops, from))
        return true;
      llvm::append_range(work, from->getOperands());
    }
  }
  return false;
}

bool isOne(const Dim &dim) { return dim.isConstant() && dim.getConstant() == 1; }

/// The dimension that runs fastest, without those of size 1; -1 where there is none.
int64_t innermost(ArrayRef<Dim> dims) {
  for (int64_t i = static_cast<int64_t>(dims.size()) - 1; i >= 0; --i)
    if (!isOne(dims[i]))
      return i;
  return -1;
}

} // namespace

std::optional<ColumnForm> findColumnForm(Block &body, ValueRange results) {
  ColumnForm form;
  for (Operation &op : body) {
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      int64_t rank = tensorType(reduce.getOperand()).getRank();
      if (llvm::is_contained(reduce.getDimensions(), rank - 1))
        return std::nullopt;
      if (!form.ops.empty() && (!isa<ReduceOp>(form.ops[0]) || !reducesSame(cast<ReduceOp>(form.ops[0]), reduce)))
        return std::nullopt;
      form.ops.push_back(&op);
    } else if (auto window = dyn_cast<ReduceWindowOp>(op)) {
      int64_t last = tensorType(window.getOperand()).getRank() - 1;
      if (!form.ops.empty() || last < 0 || window.getWindowDimensions()[last] != 1 ||
          window.getPaddingLow()[last] != 0 || window.getPaddingHigh()[last] != 0 ||
          window.getBaseDilations()[last] != 1)
        return std::nullopt;
      form.ops.push_back(&op);
    }
  }
  if (form.ops.empty() || dependOnEachOther(form.ops))
    return std::nullopt;
  form.dims = getDims(form.ops[0]->getResult(0).getType());
  if (form.dims.empty() || (form.dims.back().isConstant() && form.dims.back().getConstant() == 1))
    return std::nullopt;
  for (Value result : results)
    if (getDims(result.getType()) != form.dims)
      return std::nullopt;
  return form;
}

std::optional<TransposeForm> findTransposeForm(Block &body, ValueRange results) {
  std::optional<TransposeForm> form;
  for (TransposeOp transpose : body.getOps<TransposeOp>()) {
    TransposeForm found;
    found.op = transpose;
    found.dims = getDims(transpose.getType());
    int64_t last = innermost(getDims(transpose.getOperand().getType()));
    found.toInner = innermost(found.dims);
    if (last < 0)
      continue;
    found.fromInner = llvm::find(transpose.getPermutation(), last) - transpose.getPermutation().begin();
    if (found.fromInner == found.toInner)
      continue;
    if (form)
      return std::nullopt;
    form = found;
  }
  if (!form)
    return std::nullopt;
  for (Value result : results)
    if (getDims(result.getType()) != form->dims)
      return std::nullopt;
  return form;
}

} // namespace weft::codegen
