//===- FuseOps.cpp - Groups ops into fusions, one kernel each, by what they cost -----------------------------===//

#include "lib/Fusion/FusionGraph.h"
#include "lib/Fusion/Passes.h"
#include "lib/Fusion/PriorityFusion.h"
#include "lib/Fusion/Regions.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace weft::fusion {

#define GEN_PASS_DEF_FUSEOPS
#define GEN_PASS_DEF_PRINTKERNELS
#include "lib/Fusion/Passes.h.inc"

using namespace weft::graph;

namespace {

struct FuseOpsPass : impl::FuseOpsBase<FuseOpsPass> {
  using FuseOpsBase::FuseOpsBase;
  FuseOpsPass(const FuseOpsOptions &options, FusionReport *destination)
      : FuseOpsBase(options), destination(destination) {}

  void runOnOperation() override {
    std::optional<DeviceDescription> description = findDevice(device);
    if (!description) {
      getOperation().emitError() << "fuse-ops: no device is named \"" << device << "\"; expected one of "
                                 << llvm::join(deviceNames(), ", ");
      return signalPassFailure();
    }
    FusionReport report;
    report.device = device;
    forEachFusibleBlock(getOperation(), eraseDeadOps);
    KernelSummary before = summarizeKernels(getOperation(), *description);
    forEachFusibleBlock(getOperation(), [&](Block &block) {
      KernelAnalyzer analyzer(*description, getOperation());
      FusionGraph graph(block, analyzer);
      if (!alone) {
        fuseProducers(graph, report);
        mergeKernels(graph, report);
        explainRest(graph, report);
      }
      graph.materialize();
    });
    KernelSummary after = summarizeKernels(getOperation(), *description);
    report.kernelsBefore = before.kernels;
    report.kernelsAfter = after.kernels;
    report.bytesBefore = before.bytes;
    report.bytesAfter = after.bytes;
    report.secondsBefore = before.seconds;
    report.secondsAfter = after.seconds;
    if (print)
      fusion::print(report, llvm::errs());
    if (destination)
      *destination = std::move(report);
  }

  FusionReport *destination = nullptr;
};

struct PrintKernelsPass : impl::PrintKernelsBase<PrintKernelsPass> {
  void runOnOperation() override {
    KernelSummary summary = summarizeKernels(getOperation(), *findDevice("cpu"));
    llvm::errs() << "kernels: " << summary.kernels << ", bytes: " << llvm::format("%.0f", summary.bytes) << "\n";
  }
};

} // namespace

std::unique_ptr<Pass> createFuseOps(const FuseOpsOptions &options, FusionReport *report) {
  return std::make_unique<FuseOpsPass>(options, report);
}

} // namespace weft::fusion
