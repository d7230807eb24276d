//===- Ordering.h - Ops that put elements in order ---------------------------------------------===//

#ifndef WEFT_DIALECTS_GRAPH_ORDERING_H
#define WEFT_DIALECTS_GRAPH_ORDERING_H

#include "dialects/Graph/GraphInterfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "dialects/Graph/Ordering.h.inc"

#endif
