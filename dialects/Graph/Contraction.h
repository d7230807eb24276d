//===- Contraction.h - Sums of products ---------------------------------------------===//

#ifndef WEFT_DIALECTS_GRAPH_CONTRACTION_H
#define WEFT_DIALECTS_GRAPH_CONTRACTION_H

#include "dialects/Graph/GraphInterfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "dialects/Graph/Contraction.h.inc"

#endif
