//===- ChannelShuffle.h - Shuffles of channel groups, done where the channels are last ---------------------===//

#ifndef WEFT_LIB_LAYOUT_CHANNELSHUFFLE_H
#define WEFT_LIB_LAYOUT_CHANNELSHUFFLE_H

#include "mlir/IR/Block.h"

namespace weft::layout {

/// A channel shuffle (split the channels in groups, swap groups and members, merge) of an image that comes from a
/// convolution works on the channels-last image, between two transposes, which may then cancel with those around the
/// convolutions.
void moveChannelShuffles(mlir::Block &block);

} // namespace weft::layout

#endif
