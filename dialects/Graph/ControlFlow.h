//===- ControlFlow.h - Branches and loops ---------------------------------------------===//

#ifndef WEFT_DIALECTS_GRAPH_CONTROLFLOW_H
#define WEFT_DIALECTS_GRAPH_CONTROLFLOW_H

#include "dialects/Graph/GraphInterfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "dialects/Graph/ControlFlow.h.inc"

#endif
