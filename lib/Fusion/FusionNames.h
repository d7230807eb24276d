//===- FusionNames.h - How reports name ops and kernels ---------------------------------------------------===//

#ifndef WEFT_LIB_FUSION_FUSIONNAMES_H
#define WEFT_LIB_FUSION_FUSIONNAMES_H

#include "lib/Fusion/FusionGraph.h"

namespace weft::fusion {

/// The op's name, and the model's node in quotes where the location has one: `add "encoder/add"`.
std::string nameOp(mlir::Operation *op);

/// The name of the cluster's root; with " and N more" where it has other ops.
std::string nameCluster(FusionGraph &graph, unsigned cluster);

} // namespace weft::fusion

#endif
