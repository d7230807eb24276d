//===- LibraryCalls.h - What of a library_call's region a library can do -----------------------------------===//

#ifndef WEFT_LIB_SCHEDULE_LIBRARYCALLS_H
#define WEFT_LIB_SCHEDULE_LIBRARYCALLS_H

#include "dialects/Graph/Structure.h"

namespace weft::schedule {

/// One step of a library's epilogue. Kinds and meaning are those of the artifact (runtime/Artifact/Program.h,
/// PostOpKind).
struct PostOp {
  llvm::StringRef kind; // "add", "relu", "tanh", ...
  double alpha = 0, beta = 0;
  llvm::StringRef broadcast; // "full", "column" or "scalar", for the kinds with an operand
  mlir::Value operand;       // an argument of the region, or null
};

/// A contraction and the prefix of its epilogue in a form that a library takes.
struct LibraryPlan {
  mlir::Operation *hero = nullptr;
  mlir::Value left, right; // arguments of the region

  // matmul
  graph::Dim batch, m, n, k;
  bool transposeLeft = false, transposeRight = false, rightHasBatch = false;
  // convolution: the hero's own attributes, and the layout of its kernel
  llvm::StringRef weightsLayout; // "spatial_io", "oi_spatial" or "o_spatial_i"

  llvm::SmallVector<PostOp> epilogue;
  mlir::Value last; // the value after the last post-op
};

/// The plan for a region; nothing where no library takes the contraction (another element type, dimension numbers that
/// are not those of a matrix product or of a channels-last convolution).
std::optional<LibraryPlan> planLibraryCall(graph::LibraryCallOp call);

} // namespace weft::schedule

#endif
