//===- VerifySimplified.cpp - What later stages may rely on after Simplify
//----------------------------------------------===//

#include "dialects/Graph/Structure.h"
#include "lib/Simplify/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

namespace weft {

#define GEN_PASS_DEF_VERIFYSIMPLIFIED
#include "lib/Simplify/Passes.h.inc"

using namespace mlir;
using namespace weft::graph;

namespace {

constexpr llvm::StringLiteral kRoles[] = {GraphDialect::kInputName, GraphDialect::kParamName, GraphDialect::kStateName,
                                          GraphDialect::kPreparedIndex};

struct VerifySimplifiedPass : impl::VerifySimplifiedBase<VerifySimplifiedPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>(GraphDialect::kMainName);
    if (!main) {
      module.emitError("simplified_c2: expected a function @main");
      return signalPassFailure();
    }
    bool valid = true;
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      valid &= succeeded(verifyArguments(function));
    for (DimOp dim : module.getOps<DimOp>())
      declared.insert(dim.getName());
    // One error an op is enough; all ops are looked at.
    module.walk([&](Operation *op) {
      if (op != module && failed(verifyOp(op)))
        valid = false;
    });
    declared.clear();
    if (!valid)
      signalPassFailure();
  }

  LogicalResult verifyOp(Operation *op) {
    bool isStructure = isa<func::FuncOp, func::ReturnOp>(op);
    bool isGraph =
        op->getName().getDialectNamespace() == GraphDialect::getDialectNamespace() && !isa<FusionOp, LibraryCallOp>(op);
    if (!isStructure && !isGraph)
      return op->emitOpError("simplified_c1: expected an op of the Graph dialect that is legal before fusion, in a "
                             "function that ends with 'func.return'");
    auto verifyTypes = [&](TypeRange types) -> LogicalResult {
      for (Type type : types)
        if (auto tensor = dyn_cast<RankedTensorType>(type))
          for (const Dim &dim : getDims(tensor))
            for (StringAttr symbol : dim.getSymbols())
              if (!declared.contains(symbol.getValue()))
                return op->emitOpError("simplified_c4: the size '")
                       << symbol.getValue() << "' in " << type << " is not declared; expected a 'weft.dim \""
                       << symbol.getValue() << "\"' in the module";
      return success();
    };
    if (failed(verifyTypes(op->getResultTypes())))
      return failure();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(verifyTypes(block.getArgumentTypes())))
          return failure();
    return success();
  }

  LogicalResult verifyArguments(func::FuncOp function) {
    if (function.isExternal())
      return function.emitOpError("simplified_c2: expected a function with a body");
    bool isPrepare = function.getName() == GraphDialect::kPrepareName;
    for (BlockArgument argument : function.getArguments()) {
      unsigned number = argument.getArgNumber();
      auto roles = llvm::count_if(kRoles, [&](StringRef role) { return function.getArgAttr(number, role) != nullptr; });
      bool isParameter = function.getArgAttr(number, GraphDialect::kParamName) != nullptr;
      if (isPrepare && !isParameter)
        return function.emitOpError("simplified_c3: expected argument ") << number << " to be a 'weft.param'";
      if (roles != 1)
        return function.emitOpError("simplified_c3: expected argument ")
               << number << " to have one of 'weft.input', 'weft.param', 'weft.state' and 'weft.prepared', got "
               << roles;
      if (isParameter && argument.use_empty())
        return function.emitOpError("simplified_c5: parameter ")
               << function.getArgAttr(number, GraphDialect::kParamName) << " has no use; expected it to be removed";
    }
    return success();
  }

  llvm::StringSet<> declared;
};

} // namespace

} // namespace weft
