//===- KernelForm.h - The kinds of kernel and what their regions may hold --------------------------------===//

#ifndef WEFT_LIB_FUSION_KERNELFORM_H
#define WEFT_LIB_FUSION_KERNELFORM_H

#include "lib/Fusion/KernelAnalysis.h"

namespace weft::fusion {

/// How an op of a row kernel depends on the kernel's reductions.
enum class RowState : uint8_t {
  Independent, // on none
  Row,         // its value has one element a row
  Full,        // its value has one element an element of the reduced tensor
};

/// A set of ops as a kind of kernel.
struct KernelForm {
  llvm::StringRef reason; // empty where it is one
  graph::FusionKind kind = graph::FusionKind::loop;
  mlir::Operation *hero = nullptr;    // of transpose and generic kernels; the first reduction of a row kernel
  mlir::RankedTensorType fullType;    // of row kernels: the type of the reduced tensor
  int64_t rowDimensions = 0;          // of row kernels: how many leading dimensions of `fullType` number the rows
  llvm::SmallVector<RowState> states; // of row kernels: one an op
  llvm::SmallVector<unsigned> levels; // of row kernels: how many reductions, one after another, each op depends on
};

/// The kind of kernel that these ops can be, by what they are and how they depend on each other. The index maps through
/// which a hero's result is read are checked by `KernelAnalyzer`, which also prices the kernel.
KernelForm findKernelForm(llvm::ArrayRef<mlir::Operation *> ops, llvm::ArrayRef<mlir::Value> outputs,
                          KernelAnalyzer &analyzer);

} // namespace weft::fusion

#endif
