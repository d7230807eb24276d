//===- Execute.cpp - Control flow of a warp: branches, calls, reconvergence ------------===//
#include "runtime/Simulator/Execute.h"
#include "runtime/Simulator/Races.h"

#include <algorithm>
#include <cstring>

namespace weft::simulator {

void AlignedBuffer::grow(size_t wanted) {
  if (wanted <= bytes)
    return;
  wanted = (std::max(wanted, bytes * 2) + 63) / 64 * 64;
  auto *made = static_cast<uint8_t *>(std::aligned_alloc(64, wanted));
  if (!made)
    throw std::bad_alloc();
  if (bytes)
    std::memcpy(made, memory, bytes);
  std::memset(made + bytes, 0, wanted - bytes);
  std::free(memory);
  memory = made;
  bytes = wanted;
}

namespace {

/// Straight pieces that one group of lanes may run while another is ready, before the other gets a turn. Lanes that
/// wait in a loop for lanes further on would else wait for ever.
constexpr uint32_t fairTurn = 2048;
constexpr size_t deepestCall = 512;

std::string laneList(uint32_t mask) {
  std::string out;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if (!((mask >> lane) & 1))
      continue;
    unsigned last = lane;
    while (last + 1 < warpSize && (mask >> (last + 1)) & 1)
      ++last;
    out +=
        (out.empty() ? "" : ", ") + std::to_string(lane) + (last > lane ? "-" + std::to_string(last) : std::string());
    lane = last;
  }
  return out;
}

/// Lanes that already wait at the current place join the current group; true if there were any.
bool absorb(Warp &warp) {
  bool any = false;
  for (size_t i = 0; i < warp.groups.size();) {
    if (warp.groups[i].pc == warp.pc) {
      warp.active |= warp.groups[i].mask;
      warp.groups.erase(warp.groups.begin() + long(i));
      any = true;
    } else {
      ++i;
    }
  }
  return any;
}

/// Makes the group that should run next the current one: the lowest place, or now and then the highest. Lanes at the
/// same place become one group again.
void regroup(Warp &warp) {
  if (warp.active)
    absorb(warp);
  size_t best = warp.groups.size();
  bool high = warp.spin > fairTurn;
  for (size_t i = 0; i < warp.groups.size(); ++i) {
    const LaneGroup &group = warp.groups[i];
    if (group.state != LaneGroup::State::Ready)
      continue;
    if (best == warp.groups.size() || (high ? group.pc > warp.groups[best].pc : group.pc < warp.groups[best].pc))
      best = i;
  }
  if (best == warp.groups.size()) {
    warp.spin = 0;
    return;
  }
  LaneGroup &candidate = warp.groups[best];
  if (warp.active == 0) {
    warp.pc = candidate.pc;
    warp.active = candidate.mask;
    warp.groups.erase(warp.groups.begin() + long(best));
    regroup(warp);
    return;
  }
  ++warp.spin;
  if (high || candidate.pc < warp.pc) {
    std::swap(warp.pc, candidate.pc);
    std::swap(warp.active, candidate.mask);
    if (warp.spin > fairTurn + fairTurn / 8)
      warp.spin = 0;
    absorb(warp);
  }
}

void pushFrame(Warp &warp, const Instruction &instruction, uint32_t lanes) {
  const CallSite &site = warp.frame().function->calls[instruction.target];
  const CompiledFunction &callee = warp.launch->kernel->functions[site.callee];
  if (warp.frames.size() >= deepestCall)
    abortLaunch(warp, instruction, FaultKind::StepLimit, unsigned(__builtin_ctz(lanes)),
                "calls are nested more than " + std::to_string(deepestCall) + " deep; endless recursion?");
  uint32_t callerOffset = warp.frame().registerOffset;
  Frame made;
  made.function = &callee;
  made.registerOffset = warp.registersUsed;
  made.localOffset = warp.localUsed;
  made.lanes = lanes;
  made.returnPc = warp.pc + 1;
  made.site = &site;
  made.waiting = std::move(warp.groups);
  uint32_t others = warp.active & ~lanes;
  if (others)
    made.waiting.push_back({warp.pc + 1, others, LaneGroup::State::Ready});
  warp.groups.clear();
  warp.registersUsed += callee.frameBytes;
  warp.registerFile.grow(warp.registersUsed);
  warp.registers = warp.registerFile.data() + made.registerOffset;
  uint8_t *caller = warp.registerFile.data() + callerOffset;
  // Local memory of the callee lies behind the caller's, in every lane.
  if (callee.localBytes) {
    uint32_t wanted = warp.localUsed + callee.localBytes;
    if (wanted > warp.localStride) {
      uint32_t stride = std::max(wanted, warp.localStride * 2);
      std::vector<uint8_t> local(size_t(stride) * warpSize), state(size_t(stride) * warpSize);
      for (unsigned lane = 0; lane < warpSize && warp.localUsed; ++lane) {
        std::memcpy(local.data() + size_t(lane) * stride, warp.local.data() + size_t(lane) * warp.localStride,
                    warp.localUsed);
        std::memcpy(state.data() + size_t(lane) * stride, warp.localState.data() + size_t(lane) * warp.localStride,
                    warp.localUsed);
      }
      warp.local.swap(local);
      warp.localState.swap(state);
      warp.localStride = stride;
    }
    for (unsigned lane = 0; lane < warpSize; ++lane)
      std::memset(warp.localState.data() + size_t(lane) * warp.localStride + warp.localUsed, 0, callee.localBytes);
    warp.localUsed = wanted;
  }
  fillFrame(warp, callee, warp.registers, made.localOffset, false);
  std::memset(warp.registers + callee.zeroFrom, 0, callee.zeroTo - callee.zeroFrom);
  for (size_t i = 0; i < site.arguments.size(); ++i)
    std::memcpy(warp.registers + callee.parameters[i].offset, caller + site.arguments[i].offset,
                site.arguments[i].isRegister ? site.arguments[i].size : site.arguments[i].size * 32);
  warp.frames.push_back(std::move(made));
  warp.pc = 0;
  warp.active = lanes;
}

void popFrame(Warp &warp) {
  Frame done = std::move(warp.frames.back());
  warp.frames.pop_back();
  const uint8_t *callee = warp.registerFile.data() + done.registerOffset;
  warp.registers = warp.registerFile.data() + warp.frame().registerOffset;
  warp.registersUsed = done.registerOffset;
  warp.localUsed = done.localOffset;
  uint32_t back = done.lanes & warp.live;
  for (size_t i = 0; i < done.site->results.size(); ++i) {
    const CallSite::Block &to = done.site->results[i], &from = done.function->results[i];
    uint32_t lane = to.isRegister ? to.size / 32 : to.size;
    for (unsigned n = 0; n < warpSize; ++n)
      if ((back >> n) & 1)
        std::memcpy(warp.registers + to.offset + n * lane, callee + from.offset + n * lane, lane);
  }
  warp.groups = std::move(done.waiting);
  warp.pc = done.returnPc;
  warp.active = back;
}

/// No group is ready: they all wait, at barriers or for lanes of a member mask.
void allParked(Warp &warp) {
  const Instruction *code = warp.frame().function->code.data();
  for (const LaneGroup &group : warp.groups) {
    if (group.state == LaneGroup::State::AtWarpSync) {
      uint32_t others = warp.live & ~group.mask;
      abortLaunch(warp, code[group.pc], FaultKind::WarpSyncDivergence, unsigned(__builtin_ctz(group.mask)),
                  "lanes " + laneList(group.mask) + " wait for lanes of their member mask that never come; lanes " +
                      laneList(others) + " are elsewhere");
    }
  }
  uint32_t here = 0;
  for (const LaneGroup &group : warp.groups)
    here |= group.mask;
  const LaneGroup &first = warp.groups.front();
  for (const LaneGroup &group : warp.groups) {
    bool aligned = (code[group.pc].flags | code[first.pc].flags) & AlignedBarrier;
    if (group.pc != first.pc && aligned)
      abortLaunch(warp, code[first.pc], FaultKind::BarrierDivergence, unsigned(__builtin_ctz(first.mask)),
                  "lanes of one warp wait at different barriers: lanes " + laneList(first.mask) + " at line " +
                      std::to_string(code[first.pc].line) + ", lanes " + laneList(group.mask) + " at line " +
                      std::to_string(code[group.pc].line));
  }
  if (here != warp.live && (code[first.pc].flags & AlignedBarrier))
    abortLaunch(warp, code[first.pc], FaultKind::BarrierDivergence, unsigned(__builtin_ctz(here)),
                "only lanes " + laneList(here) + " of the warp come to the barrier; lanes " +
                    laneList(warp.live & ~here) + " are elsewhere");
  arriveAtBarrier(warp);
}

/// After the current group is gone: the next one, the caller, or the end.
void nextGroup(Warp &warp) {
  while (warp.active == 0) {
    regroup(warp);
    if (warp.active)
      return;
    if (!warp.groups.empty()) {
      allParked(warp);
      return;
    }
    if (warp.frames.size() == 1) {
      warp.state = Warp::State::Done;
      return;
    }
    popFrame(warp);
  }
}

/// True when the instruction was executed and the group goes on; false when it waits.
bool warpSync(Warp &warp, const Instruction &instruction) {
  uint32_t exec = warp.exec;
  const uint32_t *masks = warp.lanes<const uint32_t>(instruction.target);
  uint32_t needed = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if (!((exec >> lane) & 1))
      continue;
    needed |= masks[lane];
    if (!((masks[lane] >> lane) & 1))
      abortLaunch(warp, instruction, FaultKind::WarpSyncDivergence, lane,
                  "the lane is not in the member mask " + laneList(masks[lane]) + " that it names");
  }
  uint32_t missing = needed & warp.live & ~exec;
  if (!missing) {
    instruction.execute(warp, instruction);
    if (warp.block->races && instruction.flags & Release)
      warp.block->races->syncLanes(warp, exec);
    return true;
  }
  if (missing & warp.active)
    abortLaunch(warp, instruction, FaultKind::WarpSyncDivergence, unsigned(__builtin_ctz(missing)),
                "lanes " + laneList(missing & warp.active) +
                    " are in the member mask, but a predicate keeps them from the instruction");
  return false;
}

} // namespace

void fillFrame(Warp &warp, const CompiledFunction &function, uint8_t *registers, uint32_t localOffset,
               bool onlyBlockIndex) {
  const LaunchState &launch = *warp.launch;
  const Block &block = *warp.block;
  if (!onlyBlockIndex) {
    for (const auto &constant : function.constants) {
      uint8_t *at = registers + constant.offset;
      uint64_t bits = constant.bits + (constant.isLocal ? localOffset : 0);
      switch (constant.width) {
      case 0:
        *reinterpret_cast<uint32_t *>(at) = uint32_t(bits);
        break;
      case 2:
        std::fill_n(reinterpret_cast<uint16_t *>(at), warpSize, uint16_t(bits));
        break;
      case 4:
        std::fill_n(reinterpret_cast<uint32_t *>(at), warpSize, uint32_t(bits));
        break;
      default:
        std::fill_n(reinterpret_cast<uint64_t *>(at), warpSize, bits);
        break;
      }
    }
  }
  for (const auto &slot : function.specials) {
    bool blockIndex = slot.special >= Special::CtaidX && slot.special <= Special::CtaidZ;
    if (onlyBlockIndex && !blockIndex)
      continue;
    uint64_t values[warpSize];
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      uint32_t thread = warp.index * warpSize + lane;
      uint64_t value = 0;
      switch (slot.special) {
      case Special::TidX:
        value = thread % launch.blockSize.x;
        break;
      case Special::TidY:
        value = thread / launch.blockSize.x % launch.blockSize.y;
        break;
      case Special::TidZ:
        value = thread / (launch.blockSize.x * launch.blockSize.y);
        break;
      case Special::NtidX:
        value = launch.blockSize.x;
        break;
      case Special::NtidY:
        value = launch.blockSize.y;
        break;
      case Special::NtidZ:
        value = launch.blockSize.z;
        break;
      case Special::CtaidX:
        value = block.index.x;
        break;
      case Special::CtaidY:
        value = block.index.y;
        break;
      case Special::CtaidZ:
        value = block.index.z;
        break;
      case Special::NctaidX:
        value = launch.grid.x;
        break;
      case Special::NctaidY:
        value = launch.grid.y;
        break;
      case Special::NctaidZ:
        value = launch.grid.z;
        break;
      case Special::LaneId:
        value = lane;
        break;
      case Special::WarpId:
        value = warp.index;
        break;
      case Special::NwarpId:
        value = 64;
        break;
      case Special::SmId:
        value = 0;
        break;
      case Special::NsmId:
        value = 1;
        break;
      case Special::GridId:
        value = launch.launchSerial;
        break;
      case Special::LanemaskEq:
        value = 1u << lane;
        break;
      case Special::LanemaskLe:
        value = (2ull << lane) - 1;
        break;
      case Special::LanemaskLt:
        value = (1ull << lane) - 1;
        break;
      case Special::LanemaskGe:
        value = uint32_t(~((1ull << lane) - 1));
        break;
      case Special::LanemaskGt:
        value = uint32_t(~((2ull << lane) - 1));
        break;
      case Special::DynamicSharedSize:
        value = launch.dynamicShared;
        break;
      case Special::TotalSharedSize:
        value = launch.kernel->sharedDeclared + launch.dynamicShared;
        break;
      case Special::GridWorkspaceHigh:
        value = launch.gridWorkspace >> 32;
        break;
      case Special::GridWorkspaceLow:
        value = uint32_t(launch.gridWorkspace);
        break;
      case Special::One:
        value = 1;
        break;
      default:
        break;
      }
      values[lane] = value;
    }
    if (slot.wide)
      std::memcpy(registers + slot.offset, values, sizeof values);
    else
      for (unsigned lane = 0; lane < warpSize; ++lane)
        reinterpret_cast<uint32_t *>(registers + slot.offset)[lane] = uint32_t(values[lane]);
  }
}

void runWarp(Warp &warp, uint64_t budget) {
  uint64_t end = warp.steps + budget;
  LaunchCounters &counters = *warp.counters;
  const uint64_t limit = warp.launch->stepLimit ? warp.launch->stepLimit : UINT64_MAX;
  while (warp.steps < end) {
    const Instruction *code = warp.frame().function->code.data();
    const Instruction *i = code + warp.pc, *start = i;
    const uint32_t active = warp.active;
    uint32_t exec;
    for (;;) {
      exec = active;
      if (i->guard != Instruction::none) {
        uint32_t predicate = warp.predicate(i->guard);
        exec &= i->flags & GuardNegated ? ~predicate : predicate;
      }
      if (i->ending > Ending::FallThrough)
        break;
      warp.exec = exec;
      if (exec)
        i->execute(warp, *i);
      if (i->ending != Ending::None)
        break;
      ++i;
    }
    uint64_t count = uint64_t(i - start) + 1;
    counters.warpInstructions += count;
    counters.threadInstructions += count * uint64_t(__builtin_popcount(active));
    warp.steps += count;
    warp.exec = exec;
    warp.pc = uint32_t(i - code);
    if (warp.steps > limit)
      abortLaunch(warp, *i, FaultKind::StepLimit, unsigned(__builtin_ctz(active)),
                  "the warp has executed more than " + std::to_string(limit) +
                      " instructions; an endless loop, or raise the step limit");
    switch (i->ending) {
    case Ending::None:
    case Ending::FallThrough:
      ++warp.pc;
      break;
    case Ending::Branch:
      ++counters.branches;
      if (exec == active) {
        warp.pc = i->target;
      } else if (exec == 0) {
        ++warp.pc;
      } else {
        ++counters.divergentBranches;
        uint32_t next = warp.pc + 1;
        warp.active = exec;
        warp.pc = i->target;
        warp.groups.push_back({next, active & ~exec, LaneGroup::State::Ready});
      }
      break;
    case Ending::BranchIndexed: {
      ++counters.branches;
      const uint32_t *table = warp.frame().function->pool.data() + i->target;
      const uint32_t *index = warp.lanes<const uint32_t>(i->a);
      uint32_t rest = exec;
      if (active & ~exec)
        warp.groups.push_back({warp.pc + 1, active & ~exec, LaneGroup::State::Ready});
      bool first = true;
      warp.active = 0;
      while (rest) {
        unsigned lane = unsigned(__builtin_ctz(rest));
        if (index[lane] >= table[0])
          abortLaunch(warp, *i, FaultKind::InvalidInstruction, lane,
                      "branch index " + std::to_string(index[lane]) + " is past the " + std::to_string(table[0]) +
                          " targets");
        uint32_t same = 0;
        for (unsigned other = 0; other < warpSize; ++other)
          same |= uint32_t(((rest >> other) & 1) && index[other] == index[lane]) << other;
        uint32_t target = table[1 + index[lane]];
        if (first) {
          warp.pc = target;
          warp.active = same;
        } else {
          if (target == warp.pc)
            warp.active |= same;
          else
            warp.groups.push_back({target, same, LaneGroup::State::Ready});
        }
        if (first && same != rest)
          ++counters.divergentBranches;
        first = false;
        rest &= ~same;
      }
      if (!warp.active)
        nextGroup(warp);
      break;
    }
    case Ending::Call:
      if (!exec) {
        ++warp.pc;
      } else if (const CallSite &site = warp.frame().function->calls[i->target];
                 site.builtin != CallSite::Builtin::None) {
        callBuiltin(warp, *i, site);
        ++warp.pc;
      } else {
        pushFrame(warp, *i, exec);
      }
      break;
    case Ending::Return:
    case Ending::Exit:
      if (i->ending == Ending::Exit)
        warp.live &= ~exec;
      warp.active &= ~exec;
      ++warp.pc;
      if (!warp.active)
        nextGroup(warp);
      break;
    case Ending::Trap:
      if (exec)
        abortLaunch(warp, *i, FaultKind::Trap, unsigned(__builtin_ctz(exec)), "the kernel executed a trap");
      ++warp.pc;
      break;
    case Ending::WarpSync:
      if (absorb(warp))
        break;
      if (!exec || warpSync(warp, *i)) {
        ++warp.pc;
      } else {
        warp.groups.push_back({warp.pc, warp.active, LaneGroup::State::AtWarpSync});
        warp.active = 0;
        nextGroup(warp);
      }
      break;
    case Ending::Barrier: {
      if (absorb(warp))
        break;
      if (!exec) {
        ++warp.pc;
        break;
      }
      if (exec != active && (i->flags & AlignedBarrier))
        abortLaunch(warp, *i, FaultKind::BarrierDivergence, unsigned(__builtin_ctz(exec)),
                    "only lanes " + laneList(exec) + " of the warp come to the barrier; a predicate keeps lanes " +
                        laneList(active & ~exec) + " from it");
      if (active & ~exec)
        warp.groups.push_back({warp.pc + 1, active & ~exec, LaneGroup::State::Ready});
      warp.groups.push_back({warp.pc, exec, LaneGroup::State::AtBarrier});
      warp.active = 0;
      nextGroup(warp);
      break;
    }
    }
    if (warp.state != Warp::State::Ready)
      return;
    if (!warp.groups.empty())
      regroup(warp);
  }
}

} // namespace weft::simulator
