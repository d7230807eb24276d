//===- Graph.h - The Graph dialect, whole ----------------------------------------------------------===//
//
// A file that needs one op family only is quicker to compile with that family's header.

#ifndef WEFT_DIALECTS_GRAPH_GRAPH_H
#define WEFT_DIALECTS_GRAPH_GRAPH_H

#include "dialects/Graph/Contraction.h"
#include "dialects/Graph/ControlFlow.h"
#include "dialects/Graph/Creation.h"
#include "dialects/Graph/DataMovement.h"
#include "dialects/Graph/Elementwise.h"
#include "dialects/Graph/Ordering.h"
#include "dialects/Graph/Reduction.h"
#include "dialects/Graph/Structure.h"

#endif
