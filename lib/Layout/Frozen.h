//===- Frozen.h - Which values depend on nothing but frozen parameters and constants -------------------===//

#ifndef WEFT_LIB_LAYOUT_FROZEN_H
#define WEFT_LIB_LAYOUT_FROZEN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace weft::layout {

/// On a parameter that training changes: it is not frozen. A UnitAttr.
constexpr llvm::StringLiteral kTrainable = "weft.trainable";

/// The values of a function, those in nested regions included, that are known once the parameters are: frozen
/// parameters, results of @prepare, constants, and pure ops of these. All have static shapes.
class FrozenValues {
public:
  explicit FrozenValues(mlir::func::FuncOp function);
  bool contains(mlir::Value value) const { return values.contains(value); }
  /// Whether `op` computes frozen values from frozen values.
  static bool isMovable(mlir::Operation *op);

  /// Looks at an op made since; its operands must have been looked at.
  void update(mlir::Operation *op);

private:
  llvm::DenseSet<mlir::Value> values;
};

/// Whether the argument is a parameter that training does not change, or a result of @prepare.
bool isFrozenArgument(mlir::func::FuncOp function, unsigned argument);

} // namespace weft::layout

#endif
