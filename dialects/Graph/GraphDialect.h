//===- GraphDialect.h - The Graph dialect and its attributes --------------------------------------===//

#ifndef WEFT_DIALECTS_GRAPH_GRAPHDIALECT_H
#define WEFT_DIALECTS_GRAPH_GRAPHDIALECT_H

#include "dialects/Graph/Dim.h"
#include "dialects/Graph/Types.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/TensorEncoding.h"

#include "dialects/Graph/GraphDialect.h.inc"
#include "dialects/Graph/GraphEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Graph/GraphAttrs.h.inc"

#endif
