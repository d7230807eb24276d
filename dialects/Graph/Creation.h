//===- Creation.h - Ops that make a tensor from nothing ---------------------------------------------===//

#ifndef WEFT_DIALECTS_GRAPH_CREATION_H
#define WEFT_DIALECTS_GRAPH_CREATION_H

#include "dialects/Graph/GraphInterfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "dialects/Graph/Creation.h.inc"

#endif
