//===- weft-opt.cpp - Runs passes over Weft's IR: the tool of the lit tests ---------------------------===//

#include "dialects/Exec/Exec.h"
#include "dialects/Graph/GraphDialect.h"
#include "lib/Fusion/Passes.h"
#include "lib/Layout/Passes.h"
#include "lib/Schedule/Passes.h"
#include "lib/Simplify/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<weft::graph::GraphDialect, weft::exec::ExecDialect, mlir::func::FuncDialect>();
  mlir::registerTransformsPasses();
  weft::schedule::registerSchedulePasses();
  weft::registerSimplifyPasses();
  weft::registerLayoutPasses();
  weft::fusion::registerFusionPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "weft-opt: runs passes over Weft's IR\n", registry));
}
