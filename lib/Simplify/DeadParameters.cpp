//===- DeadParameters.cpp - Parameters and symbols that nothing uses are removed
//-------------------------------------===//

#include "dialects/Graph/Structure.h"
#include "lib/Simplify/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringSet.h"

namespace weft {

#define GEN_PASS_DEF_REMOVEDEADPARAMETERS
#include "lib/Simplify/Passes.h.inc"

using namespace mlir;
using namespace weft::graph;

namespace {

struct RemoveDeadParametersPass : impl::RemoveDeadParametersBase<RemoveDeadParametersPass> {
  void runOnOperation() override {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        removeParameters(function);
    removeSymbols();
  }

  void removeParameters(func::FuncOp function) {
    llvm::BitVector dead(function.getNumArguments());
    for (BlockArgument argument : function.getArguments())
      if (argument.use_empty() && function.getArgAttr(argument.getArgNumber(), GraphDialect::kParamName))
        dead.set(argument.getArgNumber());
    if (dead.any())
      (void)function.eraseArguments(dead);
  }

  void removeSymbols() {
    llvm::StringSet<> used;
    auto addTypes = [&](TypeRange types) {
      for (Type type : types)
        if (auto tensor = dyn_cast<RankedTensorType>(type))
          if (auto encoding = dyn_cast_or_null<EncodingAttr>(tensor.getEncoding()))
            for (StringAttr symbol : encoding.getSymbols())
              used.insert(symbol.getValue());
    };
    getOperation().walk([&](Operation *op) {
      addTypes(op->getOperandTypes());
      addTypes(op->getResultTypes());
      for (Region &region : op->getRegions())
        for (Block &block : region)
          addTypes(block.getArgumentTypes());
    });
    for (RequireOp require : getOperation().getOps<RequireOp>())
      for (StringAttr symbol : require.getSizes().getSymbols())
        used.insert(symbol.getValue());
    for (DimOp dim : llvm::make_early_inc_range(getOperation().getOps<DimOp>()))
      // A symbol of one value belongs to a shape variant, whose list of symbols is that of the whole program.
      if (!used.contains(dim.getName()) && dim.getMin() != dim.getMax())
        dim.erase();
  }
};

} // namespace

} // namespace weft
