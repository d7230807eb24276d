//===- WarpWide.cpp - Shuffles, votes, matches and reductions of a warp -------------------------------===//
//
// The member mask was checked before: all its live lanes are here.
//===--------------------------------------------------------------------------------------------------===//
#include "runtime/Simulator/Interpreter/Lanes.h"

namespace weft::simulator {
namespace WEFT_SIMULATOR_ISA {
namespace {

enum class Direction { Up, Down, Butterfly, Index };

template <Direction direction> void shuffle(Warp &warp, const Instruction &i) {
  const uint32_t *a = warp.lanes<const uint32_t>(i.a), *b = warp.lanes<const uint32_t>(i.b),
                 *c = warp.lanes<const uint32_t>(i.c);
  const uint32_t *members = warp.lanes<const uint32_t>(i.f);
  alignas(64) uint32_t result[warpSize] = {};
  uint32_t inRange = 0;
  bool told = false;
  forLanes(warp.exec, [&](unsigned lane) {
    uint32_t distance = b[lane] & 31, clamp = c[lane] & 31, segment = (c[lane] >> 8) & 31;
    uint32_t highest = (lane & segment) | (clamp & ~segment), lowest = lane & segment;
    int from;
    bool valid;
    switch (direction) {
    case Direction::Up:
      from = int(lane) - int(distance);
      valid = from >= int(highest);
      break;
    case Direction::Down:
      from = int(lane + distance);
      valid = from <= int(highest);
      break;
    case Direction::Butterfly:
      from = int(lane ^ distance);
      valid = from <= int(highest);
      break;
    default:
      from = int(lowest | (distance & ~segment));
      valid = from <= int(highest);
      break;
    }
    if (!valid)
      from = int(lane);
    bool present = (warp.exec >> from) & 1 && (members[lane] >> from) & 1;
    if (!present && !told) {
      told = true;
      report(warp, i, FaultKind::WarpSyncDivergence, lane,
             "the shuffle takes a value from lane " + std::to_string(from) +
                 ", which does not take part in it; the value is undefined");
    }
    result[lane] = a[from];
    inRange |= uint32_t(valid) << lane;
  });
  blend(warp.lanes<uint32_t>(i.d), result, warp.exec);
  if (i.flags & HasE)
    writePredicate(warp, i.e, inRange);
}

enum class VoteKind { All, Any, Uniform, Ballot };
template <VoteKind kind> void vote(Warp &warp, const Instruction &i) {
  uint32_t votes = readPredicate(warp, i.a, i.flags & NegateA) & warp.exec;
  const uint32_t *masks = warp.lanes<const uint32_t>(i.b);
  uint32_t out = 0;
  uint32_t exec = warp.exec;
  forLanes(exec, [&](unsigned lane) {
    uint32_t members = masks[lane] & exec, yes = votes & members;
    switch (kind) {
    case VoteKind::All:
      out |= uint32_t(yes == members) << lane;
      break;
    case VoteKind::Any:
      out |= uint32_t(yes != 0) << lane;
      break;
    case VoteKind::Uniform:
      out |= uint32_t(yes == members || yes == 0) << lane;
      break;
    case VoteKind::Ballot:
      warp.lanes<uint32_t>(i.d)[lane] = yes;
      break;
    }
  });
  if (kind != VoteKind::Ballot)
    writePredicate(warp, i.d, out);
}

template <class T, bool all> void match(Warp &warp, const Instruction &i) {
  const T *a = warp.lanes<const T>(i.a);
  const uint32_t *masks = warp.lanes<const uint32_t>(i.b);
  uint32_t exec = warp.exec, agreed = 0;
  alignas(64) uint32_t result[warpSize] = {};
  forLanes(exec, [&](unsigned lane) {
    uint32_t members = masks[lane] & exec, same = 0;
    forLanes(members, [&](unsigned other) { same |= uint32_t(a[other] == a[lane]) << other; });
    bool everyone = same == members;
    result[lane] = all ? (everyone ? members : 0) : same;
    agreed |= uint32_t(everyone) << lane;
  });
  blend(warp.lanes<uint32_t>(i.d), result, exec);
  if (all && i.flags & HasE)
    writePredicate(warp, i.e, agreed);
}

struct Add {
  template <class T> static T apply(T a, T b) { return T(uint32_t(a) + uint32_t(b)); }
};
struct Min {
  template <class T> static T apply(T a, T b) { return a < b ? a : b; }
};
struct Max {
  template <class T> static T apply(T a, T b) { return a > b ? a : b; }
};
struct And {
  template <class T> static T apply(T a, T b) { return a & b; }
};
struct Or {
  template <class T> static T apply(T a, T b) { return a | b; }
};
struct Xor {
  template <class T> static T apply(T a, T b) { return a ^ b; }
};

template <class Op, class T> void reduce(Warp &warp, const Instruction &i) {
  const T *a = warp.lanes<const T>(i.a);
  const uint32_t *masks = warp.lanes<const uint32_t>(i.b);
  uint32_t exec = warp.exec;
  alignas(64) T result[warpSize] = {};
  forLanes(exec, [&](unsigned lane) {
    uint32_t members = masks[lane] & exec;
    unsigned first = unsigned(__builtin_ctz(members));
    if (first != lane && masks[first] == masks[lane]) {
      result[lane] = result[first];
      return;
    }
    T value = a[first];
    forLanes(members & (members - 1), [&](unsigned other) { value = Op::apply(value, a[other]); });
    result[lane] = value;
  });
  blend(warp.lanes<T>(i.d), result, exec);
}

void elect(Warp &warp, const Instruction &i) {
  const uint32_t *masks = warp.lanes<const uint32_t>(i.a);
  uint32_t exec = warp.exec, leaders = 0;
  forLanes(exec, [&](unsigned lane) {
    unsigned leader = unsigned(__builtin_ctz(masks[lane] & exec));
    warp.lanes<uint32_t>(i.d)[lane] = leader;
    leaders |= uint32_t(leader == lane) << lane;
  });
  if (i.flags & HasE)
    writePredicate(warp, i.e, leaders);
}

} // namespace

Handler selectWarpWide(const Form &form) {
  std::string_view op = form.opcode();
  if (op == "shfl") {
    if (form.has("up"))
      return shuffle<Direction::Up>;
    if (form.has("down"))
      return shuffle<Direction::Down>;
    return form.has("bfly") ? shuffle<Direction::Butterfly> : shuffle<Direction::Index>;
  }
  if (op == "vote") {
    if (form.has("ballot"))
      return vote<VoteKind::Ballot>;
    if (form.has("all"))
      return vote<VoteKind::All>;
    return form.has("any") ? vote<VoteKind::Any> : vote<VoteKind::Uniform>;
  }
  bool wide = form.type() == Type::B64;
  if (op == "match")
    return form.has("all") ? (wide ? match<uint64_t, true> : match<uint32_t, true>)
                           : (wide ? match<uint64_t, false> : match<uint32_t, false>);
  if (op == "elect")
    return elect;
  bool isSigned = form.type() == Type::S32;
  if (form.has("add"))
    return reduce<Add, uint32_t>;
  if (form.has("min"))
    return isSigned ? reduce<Min, int32_t> : reduce<Min, uint32_t>;
  if (form.has("max"))
    return isSigned ? reduce<Max, int32_t> : reduce<Max, uint32_t>;
  if (form.has("and"))
    return reduce<And, uint32_t>;
  return form.has("or") ? reduce<Or, uint32_t> : reduce<Xor, uint32_t>;
}

} // namespace WEFT_SIMULATOR_ISA
} // namespace weft::simulator
