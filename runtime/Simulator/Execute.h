//===- Execute.h - Running warps and blocks -------------------------------------------===//
#pragma once

#include "runtime/Simulator/Warp.h"

namespace weft::simulator {

/// Runs the warp until it waits at a barrier, ends, or has executed `budget` instructions.
void runWarp(Warp &warp, uint64_t budget);

/// The warp, converged or not, came to block-wide barriers with all its lanes: does the arrival.
void arriveAtBarrier(Warp &warp);

/// Opens every barrier that has what it waits for. False where nothing could move: then all live warps wait for ever.
void openBarriers(Block &block);

/// Puts a warp at the start of the launch's kernel.
void startWarp(Warp &warp, Block &block, uint32_t index);

/// Puts `block` at the start, as block `linear` of the grid.
void startBlock(Block &block, const LaunchState &launch, uint64_t linear);

/// Runs the block's warps; true when all have ended, false when `budget` instructions are spent.
bool runBlock(Block &block, uint64_t budget);

/// A call of vprintf or __assertfail.
void callBuiltin(Warp &warp, const Instruction &instruction, const CallSite &site);

/// Constants, special registers and cleared registers of a frame.
/// `localOffset` is where the frame's .local variables start.
void fillFrame(Warp &warp, const CompiledFunction &function, uint8_t *registers, uint32_t localOffset,
               bool onlyBlockIndex);

} // namespace weft::simulator
