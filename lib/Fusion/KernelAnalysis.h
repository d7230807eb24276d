//===- KernelAnalysis.h - Whether a set of ops can be one kernel, of which kind, and at what cost ---------===//

#ifndef WEFT_LIB_FUSION_KERNELANALYSIS_H
#define WEFT_LIB_FUSION_KERNELANALYSIS_H

#include "dialects/Graph/Graph.h"
#include "lib/DeviceModel/DeviceModel.h"

namespace weft::fusion {

/// Limits of one kernel. They bound the time to generate it, the registers and the arguments.
struct KernelLimits {
  static constexpr size_t kBuffers = 64;    // operands and results
  static constexpr size_t kOps = 192;       // ops in the region
  static constexpr size_t kEmissions = 384; // ops emitted, one that is needed at several indices counting as often
};

/// What does not depend on the fusion that an op stands in, looked up once an op.
struct OpFacts {
  graph::FusionRole role = graph::FusionRole::Opaque;
  bool rematerialized = false;    // see `isRematerialized`
  bool movesInnermost = false;    // a transpose that changes which dimension runs fastest
  bool trailingReduction = false; // a reduction over the last dimensions
  bool alone = false;             // shares its kernel with nothing
  double elements = 0;            // of the first result, at the upper bounds of the symbols
  double operations = 0;          // arithmetic of one execution
};

/// A set of ops as a kernel.
struct KernelAnalysis {
  /// Empty where the set can be a kernel, else why not: a sentence's end, "... because <reason>".
  llvm::StringRef reason;
  graph::FusionKind kind = graph::FusionKind::loop;
  llvm::SmallVector<mlir::Value, 4> operands; // from outside
  KernelWork work;
  double bytes = 0;   // read for the first time, and written
  double seconds = 0; // on the device

  bool isKernel() const { return reason.empty(); }
};

/// Analyzes sets of ops of one module. Remembers what it has looked up of types and ops; an op that is erased is to be
/// forgotten by dropping the analyzer.
class KernelAnalyzer {
public:
  /// `scope` is an op in the module that declares the symbols.
  KernelAnalyzer(const DeviceDescription &device, mlir::Operation *scope) : device(device), scope(scope) {}

  /// The kernel that computes `outputs` by `ops`, which stand in the order of their dependence, with each op's operands
  /// from `ops` or outside. Rematerialized ops cost nothing, whether they stand in `ops` or outside.
  KernelAnalysis analyze(llvm::ArrayRef<mlir::Operation *> ops, llvm::ArrayRef<mlir::Value> outputs);

  const OpFacts &getFacts(mlir::Operation *op);
  double getElements(mlir::Type type);
  double getBytes(mlir::Type type);
  const DeviceDescription &getDevice() const { return device; }

private:
  const DeviceDescription &device;
  mlir::Operation *scope;
  llvm::DenseMap<mlir::Operation *, OpFacts> facts;
  llvm::DenseMap<mlir::Type, double> elements;
};

/// The kernels that the ops under `root` outside @prepare make, and the bytes they move: fusions, library calls, and
/// each op outside of these. A reshape makes none, a rematerialized op one where something that is no kernel needs it
/// stored.
struct KernelSummary {
  int64_t kernels = 0;
  double bytes = 0;
  double seconds = 0;
};
KernelSummary summarizeKernels(mlir::Operation *root, const DeviceDescription &device);

} // namespace weft::fusion

#endif
