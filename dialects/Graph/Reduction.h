//===- Reduction.h - Ops that combine many elements into one ---------------------------------------------===//

#ifndef WEFT_DIALECTS_GRAPH_REDUCTION_H
#define WEFT_DIALECTS_GRAPH_REDUCTION_H

#include "dialects/Graph/GraphInterfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "dialects/Graph/Reduction.h.inc"

#endif
