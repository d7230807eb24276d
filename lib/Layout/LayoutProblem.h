//===- LayoutProblem.h - The choice between two layouts for the ops around transposes of one permutation ----===//

#ifndef WEFT_LIB_LAYOUT_LAYOUTPROBLEM_H
#define WEFT_LIB_LAYOUT_LAYOUTPROBLEM_H

#include "dialects/Graph/DataMovement.h"
#include "lib/Layout/Frozen.h"
#include "lib/Layout/Permutation.h"
#include "mlir/IR/Block.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <vector>

namespace weft::layout {

/// The ops of one block that transposes by a permutation (or its inverse) connect. Each value has a label: in label 1
/// it is the value of label 0 permuted. A value, its transposes and the transposes of these back are one tensor in two
/// layouts. Ops that are `Whole` for the permutation may change their label; all others want their operands in the
/// label that they have.
class LayoutProblem {
public:
  LayoutProblem(mlir::Block &block, llvm::ArrayRef<int64_t> permutation, FrozenValues &frozen);

  /// Rewrites each connected part for which fewer transposed bytes suffice. Returns whether it changed anything.
  bool improve();

private:
  /// One tensor in its one or two layouts.
  struct Tensor {
    mlir::Value root; // the one that is not made by a transpose of this problem
    bool rootLabel = false;
    llvm::SmallVector<mlir::Value, 2> members;
    llvm::SmallVector<graph::TransposeOp, 2> transposes;
    int64_t bytes = 0; // what a transpose of it costs
  };
  struct Member {
    unsigned tensor;
    bool label;
  };
  struct FlexibleOp {
    bool label;         // in which it is now
    bool rigid = false; // its operands disagree on the label: it stays as it is
    bool chosen = false;
  };
  /// What one transpose leads to.
  struct Part {
    llvm::SmallVector<unsigned> tensors;
    llvm::SetVector<mlir::Operation *> ops; // flexible ones
    bool hasConvolution = false;            // label 1 is its layout
  };

  llvm::ArrayRef<int64_t> from(bool label) const { return label ? inverse : permutation; }
  bool isFree(mlir::Value value) const;
  bool isInBlock(mlir::Operation *op) const { return op && op->getBlock() == &block; }
  /// Whether the transpose turns a value of `label` into the same tensor in the other label.
  bool links(graph::TransposeOp op, bool label) const;
  bool isWhole(mlir::Operation *op, bool label) const;
  bool isLink(mlir::Operation *op) const;

  void explore(graph::TransposeOp seed, bool operandLabel, Part &part);
  void addValue(mlir::Value value, bool label, Part &part);
  void addOp(mlir::Operation *op, bool label, Part &part);

  bool improvePart(Part &part);
  void rewrite(Part &part);
  void rewriteOp(mlir::Operation *op);
  /// Whether the op gets the other label.
  bool isMoved(mlir::Operation *op);
  mlir::Value getInLabel(unsigned tensor, bool label);
  mlir::Value getFreePermuted(mlir::Value value, bool fromLabel, mlir::Operation *user);

  mlir::Block &block;
  Permutation permutation, inverse;
  FrozenValues &frozen;
  std::vector<Tensor> tensors;
  llvm::DenseMap<mlir::Value, Member> members;
  llvm::MapVector<mlir::Operation *, FlexibleOp> ops;
  llvm::SmallVector<std::pair<mlir::Value, bool>> valueWork;
  // While rewriting: the tensors in each label, and ops that have a successor.
  llvm::DenseMap<std::pair<unsigned, unsigned>, mlir::Value> inLabel;
  llvm::DenseSet<unsigned> active;
  Part *current = nullptr;
  llvm::SmallVector<mlir::Operation *> replaced;
};

} // namespace weft::layout

#endif
