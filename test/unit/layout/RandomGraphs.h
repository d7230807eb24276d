//===- RandomGraphs.h - Random graphs with the shapes that the rewrites look for --------------------------===//

#ifndef WEFT_TEST_UNIT_LAYOUT_RANDOMGRAPHS_H
#define WEFT_TEST_UNIT_LAYOUT_RANDOMGRAPHS_H

#include "test/unit/layout/GraphUnderTest.h"

namespace weft::test {

/// A closed @main of elementwise, movement and reduction ops on small tensors of several element types, rich in
/// constants that are identities, dimensions of size 1, and ops that undo each other.
void buildRandomAlgebra(GraphUnderTest &graph, int operations);

/// A closed @main of a convolutional network, channels first, with a symbolic batch: convolutions (grouped, depthwise,
/// strided, dilated), batch normalizations, activations, pooling, residual sums, concatenations, gates a channel, and a
/// classifier.
void buildRandomNetwork(GraphUnderTest &graph, int layers, int spatialDimensions);

/// A closed @main of transformer blocks with symbolic batch and length.
void buildRandomAttention(GraphUnderTest &graph, int blocks);

} // namespace weft::test

#endif
