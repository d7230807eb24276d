//===- KernelForms.h - Which regions have the form of a column or a transpose kernel -----------------===//

#ifndef WEFT_LIB_CODEGEN_KERNELFORMS_H
#define WEFT_LIB_CODEGEN_KERNELFORMS_H

#include "dialects/Graph/Graph.h"

namespace weft::codegen {

/// The reductions or the window of a region, all over the same dimensions, the innermost not among them.
struct ColumnForm {
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallVector<graph::Dim> dims; // of each op's result, and of the region's results
};
std::optional<ColumnForm> findColumnForm(mlir::Block &body, mlir::ValueRange results);

/// One transpose that moves the innermost dimension.
struct TransposeForm {
  graph::TransposeOp op;
  llvm::SmallVector<graph::Dim> dims; // of the result, and of the region's results
  int64_t fromInner = 0;              // where the operand is contiguous
  int64_t toInner = 0;                // where the result is
};
std::optional<TransposeForm> findTransposeForm(mlir::Block &body, mlir::ValueRange results);

} // namespace weft::codegen

#endif
