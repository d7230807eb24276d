//===- Barriers.cpp - Block-wide barriers and the turns of a block's warps --------------===//
#include "runtime/Simulator/Execute.h"
#include "runtime/Simulator/Races.h"

#include <algorithm>
#include <cstring>

namespace weft::simulator {

namespace {
const Instruction &barrierOf(const Warp &warp, const LaneGroup &group) { return warp.frame().function->code[group.pc]; }

/// All lanes of the mask must name the same number.
uint32_t uniform(Warp &warp, const Instruction &instruction, uint32_t slot, uint32_t mask, const char *what) {
  const uint32_t *values = warp.lanes<const uint32_t>(slot);
  unsigned first = unsigned(__builtin_ctz(mask));
  for (unsigned lane = first; lane < warpSize; ++lane)
    if (((mask >> lane) & 1) && values[lane] != values[first])
      abortLaunch(warp, instruction, FaultKind::InvalidInstruction, lane,
                  std::string("lanes of one warp name different ") + what + " in one barrier instruction");
  return values[first];
}
} // namespace

void arriveAtBarrier(Warp &warp) {
  Block &block = *warp.block;
  uint32_t number = 0, mask = 0;
  bool arriveOnly = false;
  for (const LaneGroup &group : warp.groups) {
    const Instruction &instruction = barrierOf(warp, group);
    uint32_t id = uniform(warp, instruction, instruction.a, group.mask, "barriers");
    if (id > 15)
      abortLaunch(warp, instruction, FaultKind::InvalidInstruction, unsigned(__builtin_ctz(group.mask)),
                  "barrier " + std::to_string(id) + " does not exist; a block has 16, numbered from 0");
    if (mask && id != number)
      abortLaunch(warp, instruction, FaultKind::BarrierDivergence, unsigned(__builtin_ctz(group.mask)),
                  "lanes of one warp wait at barriers " + std::to_string(number) + " and " + std::to_string(id));
    number = id;
    mask |= group.mask;
    arriveOnly = instruction.immediate == 1;
    BarrierState &state = block.barriers[id];
    uint32_t wanted = 0;
    if (instruction.b != Instruction::none) {
      wanted = uniform(warp, instruction, instruction.b, group.mask, "thread counts");
      if (wanted == 0 || wanted % warpSize || wanted > 1024)
        abortLaunch(warp, instruction, FaultKind::InvalidInstruction, unsigned(__builtin_ctz(group.mask)),
                    "a barrier for " + std::to_string(wanted) + " threads; expected a multiple of 32 up to 1024");
    }
    if (state.first && (state.waiting | state.arrivedOnly) && state.expected != wanted)
      report(warp, instruction, FaultKind::BarrierDivergence, unsigned(__builtin_ctz(group.mask)),
             "barrier " + std::to_string(id) + " is waited for with " + std::to_string(wanted) +
                 " threads here and with " + std::to_string(state.expected) + " at line " +
                 std::to_string(state.first->line) + " (0 stands for all)");
    if (!state.first)
      state.first = &instruction;
    else if (state.first != &instruction && wanted == 0 && !arriveOnly)
      report(warp, instruction, FaultKind::BarrierDivergence, unsigned(__builtin_ctz(group.mask)),
             "warps of one block meet at barriers of different places; the other one is at line " +
                 std::to_string(state.first->line));
    state.expected = wanted;
    if (instruction.immediate >= 2) {
      uint32_t predicate = warp.predicate(instruction.c);
      if (instruction.flags & NegateC)
        predicate = ~predicate;
      predicate &= group.mask;
      state.popcount += uint32_t(__builtin_popcount(predicate));
      state.all &= predicate == group.mask;
      state.any |= predicate != 0;
    }
  }
  BarrierState &state = block.barriers[number];
  ++block.counters.barriers;
  // The hardware counts warps: lanes that have left count as arrived.
  state.arrived += warpSize;
  if (state.expected && state.arrived > state.expected)
    abortLaunch(warp, barrierOf(warp, warp.groups.front()), FaultKind::BarrierDivergence, unsigned(__builtin_ctz(mask)),
                "more than the " + std::to_string(state.expected) + " threads that barrier " + std::to_string(number) +
                    " is for have arrived at it");
  if (arriveOnly) {
    state.arrivedOnly |= uint64_t(1) << warp.index;
    if (block.races)
      block.races->arrive(warp, number);
    for (LaneGroup &group : warp.groups) {
      group.state = LaneGroup::State::Ready;
      ++group.pc;
    }
    warp.pc = warp.groups.back().pc;
    warp.active = warp.groups.back().mask;
    warp.groups.pop_back();
  } else {
    state.waiting |= uint64_t(1) << warp.index;
    warp.state = Warp::State::AtBarrier;
    warp.barrier = number;
    warp.barrierInstruction = &barrierOf(warp, warp.groups.front());
  }
}

namespace {

void release(Block &block, uint32_t number) {
  BarrierState &state = block.barriers[number];
  if (block.races)
    block.races->syncWarps(state.waiting, state.arrivedOnly);
  for (uint32_t index = 0; index < block.warpCount; ++index) {
    if (!((state.waiting >> index) & 1))
      continue;
    Warp &warp = block.warps[index];
    for (LaneGroup &group : warp.groups) {
      const Instruction &instruction = barrierOf(warp, group);
      if (instruction.immediate == 2) {
        uint32_t *d = warp.lanes<uint32_t>(instruction.d);
        for (unsigned lane = 0; lane < warpSize; ++lane)
          if ((group.mask >> lane) & 1)
            d[lane] = state.popcount;
      } else if (instruction.immediate > 2) {
        bool value = instruction.immediate == 3 ? state.all : state.any;
        uint32_t &target = warp.predicate(instruction.d);
        target = (target & ~group.mask) | (value ? group.mask : 0);
      }
      group.state = LaneGroup::State::Ready;
      ++group.pc;
    }
    warp.state = Warp::State::Ready;
    warp.pc = warp.groups.back().pc;
    warp.active = warp.groups.back().mask;
    warp.groups.pop_back();
  }
  state = BarrierState();
}

} // namespace

void openBarriers(Block &block) {
  for (uint32_t number = 0; number < 16; ++number) {
    BarrierState &state = block.barriers[number];
    if (!state.waiting)
      continue;
    if (state.expected) {
      if (state.arrived == state.expected)
        release(block, number);
      continue;
    }
    bool complete = true;
    for (uint32_t index = 0; index < block.warpCount && complete; ++index)
      complete = block.warps[index].state == Warp::State::Done || ((state.waiting >> index) & 1) ||
                 ((state.arrivedOnly >> index) & 1);
    if (complete)
      release(block, number);
  }
}

void startWarp(Warp &warp, Block &block, uint32_t index) {
  const LaunchState &launch = *block.launch;
  const CompiledFunction &function = launch.kernel->functions[0];
  warp.block = &block;
  warp.launch = &launch;
  warp.counters = &block.counters;
  warp.index = index;
  warp.frames.clear();
  warp.groups.clear();
  warp.copies.clear();
  std::fill(std::begin(warp.commits), std::end(warp.commits), 0);
  warp.steps = 0;
  warp.spin = 0;
  warp.carry = 0;
  warp.pc = 0;
  uint32_t lanes = std::min(warpSize, launch.threads - index * warpSize);
  warp.live = lanes == warpSize ? ~0u : (1u << lanes) - 1;
  warp.active = warp.live;
  warp.state = Warp::State::Ready;
  warp.frames.emplace_back();
  warp.frames.back().function = &function;
  warp.frames.back().lanes = warp.live;
  bool same = warp.prepared == launch.kernel && warp.preparedLaunch == launch.launchSerial;
  if (!same) {
    warp.registerFile.grow(function.frameBytes);
    std::memset(warp.registerFile.data(), 0, function.frameBytes);
    warp.lastAllocation = nullptr;
    warp.lastBase = 1;
    warp.lastEnd = 0;
    warp.prepared = launch.kernel;
    warp.preparedLaunch = launch.launchSerial;
  }
  warp.registers = warp.registerFile.data();
  warp.registersUsed = function.frameBytes;
  fillFrame(warp, function, warp.registers, 0, same);
  warp.localUsed = function.localBytes;
  if (warp.localStride < warp.localUsed) {
    warp.localStride = warp.localUsed;
    warp.local.assign(size_t(warp.localStride) * warpSize, 0);
    warp.localState.resize(size_t(warp.localStride) * warpSize);
  }
  if (warp.localUsed)
    std::fill(warp.localState.begin(), warp.localState.end(), 0);
}

void startBlock(Block &block, const LaunchState &launch, uint64_t linear) {
  const CompiledKernel &kernel = *launch.kernel;
  bool same = block.started && block.launchSerial == launch.launchSerial;
  block.launchSerial = launch.launchSerial;
  block.launch = &launch;
  block.linear = linear;
  block.index = {uint32_t(linear % launch.grid.x), uint32_t(linear / launch.grid.x % launch.grid.y),
                 uint32_t(linear / (uint64_t(launch.grid.x) * launch.grid.y))};
  block.warpCount = (launch.threads + warpSize - 1) / warpSize;
  if (!same) {
    uint32_t bytes = kernel.usesDynamicShared ? kernel.dynamicSharedOffset + launch.dynamicShared : kernel.sharedBytes;
    block.sharedTemplate.assign(bytes + 64, SharedRedZone);
    for (const SharedVariable &variable : kernel.shared)
      std::fill_n(block.sharedTemplate.begin() + variable.offset, variable.size ? variable.size : launch.dynamicShared,
                  SharedUninitialised);
    block.shared.assign(block.sharedTemplate.size(), 0);
    block.warps.resize(std::max<size_t>(block.warps.size(), block.warpCount));
    block.started = true;
  }
  block.sharedState = block.sharedTemplate;
  for (BarrierState &state : block.barriers)
    state = BarrierState();
  if (launch.seed)
    block.random.seed(launch.seed * 0x9e3779b97f4a7c15u + linear);
  for (uint32_t i = 0; i < block.warpCount; ++i)
    startWarp(block.warps[i], block, i);
}

bool runBlock(Block &block, uint64_t budget) {
  const LaunchState &launch = *block.launch;
  uint64_t spent = 0;
  uint32_t order[64];
  for (uint32_t i = 0; i < block.warpCount; ++i)
    order[i] = i;
  for (;;) {
    if (launch.seed)
      std::shuffle(order, order + block.warpCount, block.random);
    bool anyReady = false, anyLive = false;
    for (uint32_t n = 0; n < block.warpCount; ++n) {
      Warp &warp = block.warps[order[n]];
      anyLive |= warp.state != Warp::State::Done;
      if (warp.state != Warp::State::Ready)
        continue;
      anyReady = true;
      uint64_t before = warp.steps;
      // Under a seed warps also change places between barriers.
      runWarp(warp, launch.seed ? 1 + block.random() % 256 : 1u << 16);
      spent += warp.steps - before;
      if (warp.state != Warp::State::Ready)
        openBarriers(block);
    }
    if (!anyLive)
      return true;
    if (!anyReady) {
      openBarriers(block);
      bool moved = false;
      const Warp *stuck = nullptr;
      std::string where;
      for (uint32_t i = 0; i < block.warpCount; ++i) {
        const Warp &warp = block.warps[i];
        moved |= warp.state == Warp::State::Ready;
        if (warp.state == Warp::State::AtBarrier) {
          if (!stuck)
            stuck = &warp;
          if (where.size() < 400)
            where += (where.empty() ? "warp " : ", warp ") + std::to_string(i) + " at barrier " +
                     std::to_string(warp.barrier) + " (line " + std::to_string(warp.barrierInstruction->line) + ")";
        }
      }
      if (!moved && stuck)
        abortLaunch(*const_cast<Warp *>(stuck), *stuck->barrierInstruction, FaultKind::BarrierDivergence,
                    unsigned(__builtin_ctz(stuck->live)),
                    "the block waits for ever: " + where + "; the warps not named have ended");
    }
    if (spent > budget)
      return false;
  }
}

} // namespace weft::simulator
