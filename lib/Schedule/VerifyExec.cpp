//===- VerifyExec.cpp - Checks that the module is a scheduled program ---------------------------------------===//

#include "lib/Schedule/Passes.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace weft::schedule {

#define GEN_PASS_DEF_VERIFYEXEC
#include "lib/Schedule/Passes.h.inc"

namespace {

struct VerifyExec : impl::VerifyExecBase<VerifyExec> {
  void runOnOperation() override {
    for (Operation &op : getOperation().getOps()) {
      if (auto entry = dyn_cast<exec::EntryOp>(op))
        verifyDialect(entry.getBody(), "exec");
      else if (auto kernel = dyn_cast<exec::KernelOp>(op))
        verifyDialect(kernel.getBody(), "weft");
      else
        fail(&op, "after Schedule a module holds exec.entry and exec.kernel only");
    }
  }

  void verifyDialect(Region &region, StringRef dialect) {
    region.walk([&](Operation *op) {
      if (op->getName().getDialectNamespace() != dialect)
        fail(op, "is not legal here after Schedule");
    });
  }

  void fail(Operation *op, StringRef message) {
    op->emitOpError(message);
    signalPassFailure();
  }
};

} // namespace

} // namespace weft::schedule
