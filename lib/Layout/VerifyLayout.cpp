//===- VerifyLayout.cpp - What later stages may rely on after Layout
//---------------------------------------------------===//

#include "dialects/Graph/Graph.h"
#include "lib/Layout/Frozen.h"
#include "lib/Layout/Passes.h"
#include "lib/Layout/Permutation.h"
#include "llvm/ADT/BitVector.h"

namespace weft {

#define GEN_PASS_DEF_VERIFYLAYOUT
#include "lib/Layout/Passes.h.inc"

using namespace mlir;
using namespace weft::graph;
using namespace weft::layout;

namespace {

LogicalResult verifyOp(Operation *op) {
  bool isStructure = isa<func::FuncOp, func::ReturnOp>(op);
  bool isGraph =
      op->getName().getDialectNamespace() == GraphDialect::getDialectNamespace() && !isa<FusionOp, LibraryCallOp>(op);
  if (!isStructure && !isGraph)
    return op->emitOpError("layout_c1: expected an op of the Graph dialect that is legal before fusion, in a function "
                           "that ends with 'func.return'");
  if (auto composite = dyn_cast<CompositeOp>(op); composite && composite.getName() == "batch_norm_inference")
    return op->emitOpError("layout_c1: expected composite \"batch_norm_inference\" to be inlined");
  if (auto convolution = dyn_cast<ConvolutionOp>(op)) {
    ConvolutionDimensionsAttr numbers = convolution.getDimensionNumbers();
    ConvolutionDimensionsAttr expected =
        getChannelsLastNumbers(op->getContext(), numbers.getInputSpatialDimensions().size());
    if (numbers != expected)
      return op->emitOpError("layout_c2: expected the dimension numbers ") << expected << ", got " << numbers;
  }
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    auto argument = dyn_cast<BlockArgument>(transpose.getOperand());
    auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
    if (function && function.getName() == GraphDialect::kMainName &&
        isFrozenArgument(function, argument.getArgNumber()))
      return op->emitOpError("layout_c5: expected the transpose of frozen argument ")
             << argument.getArgNumber() << " of @main in @prepare";
  }
  return success();
}

LogicalResult verifyPrepared(func::FuncOp main, func::FuncOp prepare) {
  unsigned results = prepare ? prepare.getNumResults() : 0;
  llvm::BitVector taken(results);
  for (BlockArgument argument : main.getArguments()) {
    Attribute attribute = main.getArgAttr(argument.getArgNumber(), GraphDialect::kPreparedIndex);
    if (!attribute)
      continue;
    auto index = dyn_cast<IntegerAttr>(attribute);
    int64_t number = index ? index.getValue().getLimitedValue() : results;
    if (!index || index.getValue().isNegative() || number >= results)
      return main.emitOpError("layout_c3: argument ") << argument.getArgNumber() << " takes result " << attribute
                                                      << " of @prepare, which has " << results << " results";
    if (prepare.getResultTypes()[number] != argument.getType()) {
      InFlightDiagnostic diagnostic = main.emitOpError("layout_c3: argument ")
                                      << argument.getArgNumber() << " has type " << argument.getType()
                                      << ", but result " << number << " of @prepare has type "
                                      << prepare.getResultTypes()[number];
      diagnostic.attachNote(prepare.getLoc()) << "@prepare is here";
      return diagnostic;
    }
    if (taken.test(number))
      return main.emitOpError("layout_c3: result ") << number << " of @prepare is taken by two arguments";
    taken.set(number);
  }
  if (prepare && !taken.all())
    return prepare.emitOpError("layout_c3: result ") << taken.find_first_unset() << " is taken by no argument of @main";
  return success();
}

LogicalResult verifyPrepareArguments(func::FuncOp prepare) {
  for (unsigned number = 0; number < prepare.getNumArguments(); ++number) {
    if (!prepare.getArgAttr(number, GraphDialect::kParamName))
      return prepare.emitOpError("layout_c4: expected argument ") << number << " of @prepare to be a 'weft.param'";
    if (prepare.getArgAttr(number, kTrainable))
      return prepare.emitOpError("layout_c4: argument ")
             << number << " of @prepare is '" << kTrainable << "'; expected it to be used in @main only";
  }
  return success();
}

struct VerifyLayoutPass : impl::VerifyLayoutBase<VerifyLayoutPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>(GraphDialect::kMainName);
    auto prepare = module.lookupSymbol<func::FuncOp>(GraphDialect::kPrepareName);
    if (!main || main.isExternal()) {
      module.emitError("layout_c1: expected a function @main with a body");
      return signalPassFailure();
    }
    bool valid = succeeded(verifyPrepared(main, prepare));
    if (prepare)
      valid &= succeeded(verifyPrepareArguments(prepare));
    module.walk([&](Operation *op) {
      if (op != module)
        valid &= succeeded(verifyOp(op));
    });
    if (!valid)
      signalPassFailure();
  }
};

} // namespace

} // namespace weft
