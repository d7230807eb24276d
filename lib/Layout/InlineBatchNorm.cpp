//===- InlineBatchNorm.cpp - Normalizations of images become plain ops, a scale and a shift at the end -----===//

#include "dialects/Graph/Structure.h"
#include "lib/Layout/Passes.h"
#include "mlir/IR/IRMapping.h"

namespace weft {

#define GEN_PASS_DEF_INLINEBATCHNORM
#include "lib/Layout/Passes.h.inc"

using namespace mlir;
using namespace weft::graph;

namespace {

struct InlineBatchNormPass : impl::InlineBatchNormBase<InlineBatchNormPass> {
  void runOnOperation() override {
    SmallVector<CompositeOp> composites;
    getOperation().walk([&](CompositeOp op) {
      if (op.getName() == "batch_norm_inference" || op.getName() == "instance_norm")
        composites.push_back(op);
    });
    for (CompositeOp composite : composites) {
      OpBuilder builder(composite);
      IRMapping mapping;
      Block &body = composite.getBody().front();
      mapping.map(body.getArguments(), composite.getInputs());
      for (Operation &op : body.without_terminator()) {
        Operation *clone = builder.clone(op, mapping);
        if (isa<UnknownLoc>(clone->getLoc()))
          clone->setLoc(composite.getLoc());
      }
      for (auto [result, yielded] : llvm::zip(composite.getResults(), body.getTerminator()->getOperands()))
        result.replaceAllUsesWith(mapping.lookup(yielded));
      composite.erase();
    }
  }
};

} // namespace

} // namespace weft
