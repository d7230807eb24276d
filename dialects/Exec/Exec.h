//===- Exec.h - The Exec dialect: a straight program over buffers ---------------------------------------===//

#ifndef WEFT_DIALECTS_EXEC_EXEC_H
#define WEFT_DIALECTS_EXEC_EXEC_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Exec/ExecDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Exec/ExecTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/Exec/ExecOps.h.inc"

#endif
