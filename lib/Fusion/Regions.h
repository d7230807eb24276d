//===- Regions.h - Building the region of a fusion or library call from ops of a block ---------------===//

#ifndef WEFT_LIB_FUSION_REGIONS_H
#define WEFT_LIB_FUSION_REGIONS_H

#include "dialects/Graph/Graph.h"
#include "mlir/IR/IRMapping.h"

namespace weft::fusion {

/// Whether the op's value is made from nothing, and made again wherever it is used instead of being stored: a constant,
/// an iota, and what repeats or reshapes a constant of one element.
bool isRematerialized(mlir::Operation *op);

/// Whether the op is rematerialized and repeats one element.
bool isRepeatedElement(mlir::Operation *op);

/// Fills the empty region with copies of `members`, which stand in program order, and a yield of `outputs`. What they
/// use from outside becomes an argument, in the order of first use after those that `operands` holds already, and is
/// appended to it; an op for which `copies` is true is copied instead.
void buildRegion(mlir::Region &region, llvm::ArrayRef<mlir::Operation *> members, llvm::ArrayRef<mlir::Value> outputs,
                 llvm::SmallVectorImpl<mlir::Value> &operands, llvm::function_ref<bool(mlir::Operation *)> copies);

/// The locations of all members, of which there is at least one, in one; without what is unknown.
mlir::Location fuseLocations(llvm::ArrayRef<mlir::Operation *> members);

/// Calls `visit` on each block whose ops the stage groups: the bodies of all functions but @prepare, and the regions of
/// control flow in them, inner blocks first.
void forEachFusibleBlock(mlir::Operation *module, llvm::function_ref<void(mlir::Block &)> visit);

/// Erases the ops of the block whose values nobody needs.
void eraseDeadOps(mlir::Block &block);

} // namespace weft::fusion

#endif
