//===- Simplify.cpp - The pass that runs all pattern families and the dialect's folds to a fixed point ----===//

#include "lib/Simplify/Passes.h"
#include "lib/Simplify/Patterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace weft {

#define GEN_PASS_DEF_SIMPLIFYGRAPH
#include "lib/Simplify/Passes.h.inc"

using namespace mlir;

namespace {

struct SimplifyGraphPass : impl::SimplifyGraphBase<SimplifyGraphPass> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    if (auto *dialect = context->getLoadedDialect<graph::GraphDialect>())
      dialect->getCanonicalizationPatterns(set);
    for (RegisteredOperationName name : context->getRegisteredOperations())
      if (name.getDialectNamespace() == graph::GraphDialect::getDialectNamespace())
        name.getCanonicalizationPatterns(set, context);
    simplify::populateElementwisePatterns(set);
    simplify::populateConversionPatterns(set);
    simplify::populateReshapeTransposePatterns(set);
    simplify::populateBroadcastPatterns(set);
    simplify::populateSliceConcatenatePatterns(set);
    simplify::populatePadPatterns(set);
    simplify::populateReductionPatterns(set);
    simplify::populateControlFlowPatterns(set);
    patterns = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  void runOnOperation() override {
    int64_t ops = 0;
    getOperation()->walk([&](Operation *) { ++ops; });
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    config.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    // No rewrite grows the graph for long: more rewrites than this mean that two patterns undo each other.
    config.setMaxNumRewrites(64 * ops + 4096);
    if (failed(applyPatternsGreedily(getOperation(), patterns, config)))
      getOperation()->emitWarning("simplify-graph stopped before nothing applied any more: two patterns undo each "
                                  "other; the module is correct, and this is a fault of Weft to be reported");
  }

  FrozenRewritePatternSet patterns;
};

} // namespace

} // namespace weft
