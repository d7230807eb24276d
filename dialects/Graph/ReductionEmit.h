//===- ReductionEmit.h - What the kernels of reductions share with their scalar emission -------------===//

#ifndef WEFT_DIALECTS_GRAPH_REDUCTIONEMIT_H
#define WEFT_DIALECTS_GRAPH_REDUCTIONEMIT_H

#include "dialects/Graph/Emission.h"

namespace weft::graph {

/// The result of a reduction that was computed in `accumulationType(elementType)`, rounded to `elementType`. An 8-bit
/// float without infinities gets its lowest or highest number for one, which only a maximum or minimum over no elements
/// gives: every element lies between these.
mlir::Value narrowReduction(ScalarBuilder scalars, ReductionKind kind, mlir::Value value, mlir::Type elementType);

} // namespace weft::graph

#endif
