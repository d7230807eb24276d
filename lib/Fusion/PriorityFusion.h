//===- PriorityFusion.h - Which clusters of a block become one kernel --------------------------------------===//

#ifndef WEFT_LIB_FUSION_PRIORITYFUSION_H
#define WEFT_LIB_FUSION_PRIORITYFUSION_H

#include "lib/Fusion/FusionGraph.h"
#include "lib/Fusion/FusionReport.h"

namespace weft::fusion {

/// Fuses producers into all the clusters that read from them, the pair that saves most first, until nothing more saves
/// time. A producer that cannot go into all of them is copied into those where computing it again is cheaper than
/// reading it. The work is about linear in the size of the graph. Decisions are appended to the report.
void fuseProducers(FusionGraph &graph, FusionReport &report);

/// Then merges what is left: a producer that others need with a cluster that reads from it, and clusters that read the
/// same large value, into kernels with several results.
void mergeKernels(FusionGraph &graph, FusionReport &report);

/// Appends to the report why each pair of clusters that still hands a value over did not fuse.
void explainRest(FusionGraph &graph, FusionReport &report);

} // namespace weft::fusion

#endif
