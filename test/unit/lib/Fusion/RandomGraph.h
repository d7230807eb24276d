//===- RandomGraph.h - Programs made of random ops, for comparing what passes make of them --------------------===//

#ifndef WEFT_TEST_UNIT_LIB_FUSION_RANDOMGRAPH_H
#define WEFT_TEST_UNIT_LIB_FUSION_RANDOMGRAPH_H

#include "dialects/Graph/Graph.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace weft::test {

/// A module whose @main has a few arguments, about `ops` ops of all families with values that others read several
/// times, control flow, and several results. The same seed gives the same module. With `symbolic`, the first dimension
/// of most tensors is the symbol "n" between 1 and 8.
mlir::OwningOpRef<mlir::ModuleOp> makeRandomGraph(mlir::MLIRContext &context, unsigned seed, unsigned ops,
                                                  bool symbolic);

} // namespace weft::test

#endif
