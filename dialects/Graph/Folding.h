//===- Folding.h - Constant folding of every op by its reference evaluation ------------------------===//

#ifndef WEFT_DIALECTS_GRAPH_FOLDING_H
#define WEFT_DIALECTS_GRAPH_FOLDING_H

#include "mlir/Interfaces/FoldInterfaces.h"

namespace weft::graph {

/// Folds an op whose operands are all constants, and whose results have integer sizes and at most kMaximumElements, to
/// what its evaluation gives. A result with more elements than the operands together (a broadcast, an iota) is only
/// folded where it has few, or is one value repeated, so that the IR does not grow. Ops with regions keep their meaning
/// as a group and are not folded.
class ConstantFolding : public mlir::DialectFoldInterface {
public:
  using DialectFoldInterface::DialectFoldInterface;
  static constexpr int64_t kMaximumElements = 4096;
  static constexpr int64_t kFewElements = 64;

  llvm::LogicalResult fold(mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> operands,
                           llvm::SmallVectorImpl<mlir::OpFoldResult> &results) const override;
};

} // namespace weft::graph

#endif
