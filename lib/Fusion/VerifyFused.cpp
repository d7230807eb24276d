//===- VerifyFused.cpp - Checks that a module is what the Fusion stage promises --------------------------------===//

#include "lib/Fusion/KernelAnalysis.h"
#include "lib/Fusion/LibraryCallForm.h"
#include "lib/Fusion/Passes.h"
#include "lib/Fusion/Regions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace weft::fusion {

#define GEN_PASS_DEF_VERIFYFUSED
#include "lib/Fusion/Passes.h.inc"

using namespace weft::graph;

namespace {

/// fused_c2 and fused_c3: the region is one kernel, and of the kind that the fusion says.
LogicalResult verifyFusion(FusionOp fusion, KernelAnalyzer &analyzer) {
  Block &body = fusion.getBody().front();
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    ops.push_back(&op);
  if (fusion->getNumResults() == 0)
    return fusion.emitOpError("fused_c2: expected at least one result");
  KernelAnalysis analysis = analyzer.analyze(ops, SmallVector<Value>(body.getTerminator()->getOperands()));
  if (!analysis.isKernel())
    return fusion.emitOpError("fused_c2: the region is not one kernel, because ") << analysis.reason;
  if (analysis.kind != fusion.getKind())
    return fusion.emitOpError("fused_c3: expected kind ")
           << stringifyFusionKind(analysis.kind) << ", got " << stringifyFusionKind(fusion.getKind());
  return success();
}

struct VerifyFusedPass : impl::VerifyFusedBase<VerifyFusedPass> {
  void runOnOperation() override {
    DeviceDescription device = *findDevice("cpu");
    KernelAnalyzer analyzer(device, getOperation());
    bool failed = false;
    forEachFusibleBlock(getOperation(), [&](Block &block) {
      for (Operation &op : block) {
        LogicalResult result = success();
        if (auto fusion = dyn_cast<FusionOp>(op))
          result = verifyFusion(fusion, analyzer);
        else if (auto call = dyn_cast<LibraryCallOp>(op))
          result = verifyLibraryCall(call);
        else if (!isa<ReshapeOp, IfOp, WhileOp, BindDimOp, YieldOp, func::ReturnOp>(op))
          result = op.emitOpError("fused_c1: expected only fusion, library_call, reshape, if, while, bind_dim, yield "
                                  "and return after the Fusion stage");
        failed |= result.failed();
      }
    });
    if (failed)
      signalPassFailure();
  }
};

} // namespace

} // namespace weft::fusion
