//===- LoadStore.cpp - ld, st, moves and address conversions ----------------------------------------===//
#include "runtime/Simulator/Interpreter/Access.h"

#include <chrono>

namespace weft::simulator {
namespace WEFT_SIMULATOR_ISA {
namespace {

const uint32_t *poolOf(Warp &warp, const Instruction &i) { return warp.frame().function->pool.data() + i.target; }

template <class M, class R, unsigned n> void load(Warp &warp, const Instruction &i) {
  alignas(64) uint64_t addresses[warpSize];
  laneAddresses(warp, i, addresses);
  if (i.flags & Atomic)
    orderedAccess(warp, i, addresses, warp.exec, true, false);
  accessMemory(warp, i, i.space, addresses, warp.exec, sizeof(M) * n, false,
               [&](uint32_t mask, const uint64_t *at, Placement place) {
                 const uint32_t *slots = n > 1 ? poolOf(warp, i) : &i.d;
                 if (place.contiguous) {
                   const M *from = reinterpret_cast<const M *>(place.delta + at[0]);
                   for (unsigned k = 0; k < n; ++k) {
                     R *d = warp.lanes<R>(slots[k]);
                     WEFT_LANES
                     for (unsigned lane = 0; lane < warpSize; ++lane)
                       d[lane] = R(from[lane * n + k]);
                   }
                   return;
                 }
                 if (mask == ~0u) {
                   for (unsigned k = 0; k < n; ++k) {
                     R *d = warp.lanes<R>(slots[k]);
                     for (unsigned lane = 0; lane < warpSize; ++lane)
                       d[lane] = R(reinterpret_cast<const M *>(place.delta + at[lane] + lane * place.stride)[k]);
                   }
                   return;
                 }
                 forLanes(mask, [&](unsigned lane) {
                   const M *from = reinterpret_cast<const M *>(place.delta + at[lane] + lane * place.stride);
                   for (unsigned k = 0; k < n; ++k)
                     warp.lanes<R>(slots[k])[lane] = R(from[k]);
                 });
               });
}

template <class M, class R, unsigned n> void store(Warp &warp, const Instruction &i) {
  alignas(64) uint64_t addresses[warpSize];
  laneAddresses(warp, i, addresses);
  if (i.flags & Atomic)
    orderedAccess(warp, i, addresses, warp.exec, false, true);
  accessMemory(warp, i, i.space, addresses, warp.exec, sizeof(M) * n, true,
               [&](uint32_t mask, const uint64_t *at, Placement place) {
                 const uint32_t *slots = n > 1 ? poolOf(warp, i) : &i.b;
                 if (place.contiguous) {
                   M *to = reinterpret_cast<M *>(place.delta + at[0]);
                   for (unsigned k = 0; k < n; ++k) {
                     const R *b = warp.lanes<const R>(slots[k]);
                     WEFT_LANES
                     for (unsigned lane = 0; lane < warpSize; ++lane)
                       to[lane * n + k] = M(b[lane]);
                   }
                   return;
                 }
                 forLanes(mask, [&](unsigned lane) {
                   M *to = reinterpret_cast<M *>(place.delta + at[lane] + lane * place.stride);
                   for (unsigned k = 0; k < n; ++k)
                     to[k] = M(warp.lanes<const R>(slots[k])[lane]);
                 });
               });
}

/// Kernel parameters are the same for all lanes.
template <class M, class R, unsigned n> void parameterLoad(Warp &warp, const Instruction &i) {
  const uint32_t *slots = n > 1 ? poolOf(warp, i) : &i.d;
  for (unsigned k = 0; k < n; ++k) {
    M value;
    std::memcpy(&value, warp.launch->parameters.data() + i.immediate + k * sizeof(M), sizeof(M));
    R *d = warp.lanes<R>(slots[k]);
    alignas(64) R result[warpSize];
    for (unsigned lane = 0; lane < warpSize; ++lane)
      result[lane] = R(value);
    blend(d, result, warp.exec);
  }
}

/// Parameter blocks of calls: lane after lane, `stride` bytes each, in the frame.
template <class M, class R, unsigned n> void frameLoad(Warp &warp, const Instruction &i) {
  const uint32_t *slots = n > 1 ? poolOf(warp, i) : &i.d;
  forLanes(warp.exec, [&](unsigned lane) {
    for (unsigned k = 0; k < n; ++k) {
      M value;
      std::memcpy(&value, warp.registers + i.a + lane * i.b + i.immediate + k * sizeof(M), sizeof(M));
      warp.lanes<R>(slots[k])[lane] = R(value);
    }
  });
}
template <class M, class R, unsigned n> void frameStore(Warp &warp, const Instruction &i) {
  const uint32_t *slots = n > 1 ? poolOf(warp, i) : &i.b;
  forLanes(warp.exec, [&](unsigned lane) {
    for (unsigned k = 0; k < n; ++k) {
      M value = M(warp.lanes<const R>(slots[k])[lane]);
      std::memcpy(warp.registers + i.a + lane * i.c + i.immediate + k * sizeof(M), &value, sizeof(M));
    }
  });
}

enum class Mover { Load, Store, ParameterLoad, FrameLoad, FrameStore };
template <Mover mover, class M, class R> Handler byVector(unsigned n) {
#define WEFT_BY_VECTOR(function)                                                                                       \
  switch (n) {                                                                                                         \
  case 1:                                                                                                              \
    return function<M, R, 1>;                                                                                          \
  case 2:                                                                                                              \
    return function<M, R, 2>;                                                                                          \
  case 4:                                                                                                              \
    return function<M, R, 4>;                                                                                          \
  case 8:                                                                                                              \
    return sizeof(M) == 4 ? Handler(function<M, R, 8>) : nullptr;                                                      \
  default:                                                                                                             \
    return nullptr;                                                                                                    \
  }
  if constexpr (mover == Mover::Load) {
    WEFT_BY_VECTOR(load)
  }
  if constexpr (mover == Mover::Store) {
    WEFT_BY_VECTOR(store)
  }
  if constexpr (mover == Mover::ParameterLoad) {
    WEFT_BY_VECTOR(parameterLoad)
  }
  if constexpr (mover == Mover::FrameLoad) {
    WEFT_BY_VECTOR(frameLoad)
  }
  if constexpr (mover == Mover::FrameStore) {
    WEFT_BY_VECTOR(frameStore)
  }
#undef WEFT_BY_VECTOR
  return nullptr;
}

template <Mover mover> Handler byShape(const AccessShape &s) {
  unsigned r = s.registerBytes, n = s.vector;
  switch (s.memoryBytes) {
  case 1:
    if (s.isSigned)
      return r == 2   ? byVector<mover, int8_t, int16_t>(n)
             : r == 4 ? byVector<mover, int8_t, int32_t>(n)
                      : byVector<mover, int8_t, int64_t>(n);
    return r == 2   ? byVector<mover, uint8_t, uint16_t>(n)
           : r == 4 ? byVector<mover, uint8_t, uint32_t>(n)
                    : byVector<mover, uint8_t, uint64_t>(n);
  case 2:
    if (s.isSigned && r > 2)
      return r == 4 ? byVector<mover, int16_t, int32_t>(n) : byVector<mover, int16_t, int64_t>(n);
    return r == 2   ? byVector<mover, uint16_t, uint16_t>(n)
           : r == 4 ? byVector<mover, uint16_t, uint32_t>(n)
                    : byVector<mover, uint16_t, uint64_t>(n);
  case 4:
    if (s.isSigned && r > 4)
      return byVector<mover, int32_t, int64_t>(n);
    return r == 4 ? byVector<mover, uint32_t, uint32_t>(n) : byVector<mover, uint32_t, uint64_t>(n);
  case 8:
    return byVector<mover, uint64_t, uint64_t>(n);
  default:
    return nullptr;
  }
}

struct Identity {
  template <class T> static T apply(T x) { return x; }
};
template <class To, class From> struct Resize {
  static To apply(From x) { return To(x); }
};

void copyWide(Warp &warp, const Instruction &i) { // b128: two planes
  unary<Identity, uint64_t, uint64_t>(warp, i);
  Instruction upper = i;
  upper.a += 256;
  upper.d += 256;
  unary<Identity, uint64_t, uint64_t>(warp, upper);
}

/// Element `k` of a packed value sits at bits k * width; b128 keeps its upper half in a second plane.
template <class E, unsigned n> void pack(Warp &warp, const Instruction &i) {
  const uint32_t *slots = poolOf(warp, i);
  constexpr unsigned whole = sizeof(E) * n;
  uint8_t result[warpSize][whole];
  for (unsigned k = 0; k < n; ++k) {
    const E *a = warp.lanes<const E>(slots[k]);
    for (unsigned lane = 0; lane < warpSize; ++lane)
      std::memcpy(result[lane] + k * sizeof(E), &a[lane], sizeof(E));
  }
  forLanes(warp.exec, [&](unsigned lane) {
    if (whole == 16) {
      std::memcpy(warp.registers + i.d + lane * 8, result[lane], 8);
      std::memcpy(warp.registers + i.d + 256 + lane * 8, result[lane] + whole / 2, 8);
    } else {
      std::memcpy(warp.registers + i.d + lane * whole, result[lane], whole);
    }
  });
}
template <class E, unsigned n> void unpack(Warp &warp, const Instruction &i) {
  const uint32_t *slots = poolOf(warp, i);
  constexpr unsigned whole = sizeof(E) * n;
  uint8_t value[warpSize][whole];
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if (whole == 16) {
      std::memcpy(value[lane], warp.registers + i.a + lane * 8, 8);
      std::memcpy(value[lane] + whole / 2, warp.registers + i.a + 256 + lane * 8, 8);
    } else {
      std::memcpy(value[lane], warp.registers + i.a + lane * whole, whole);
    }
  }
  for (unsigned k = 0; k < n; ++k)
    forLanes(warp.exec, [&](unsigned lane) {
      std::memcpy(&warp.lanes<E>(slots[k])[lane], value[lane] + k * sizeof(E), sizeof(E));
    });
}

uint64_t nanoseconds() {
  return uint64_t(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}
/// Clocks: cycles are nanoseconds here, and never stand still.
template <unsigned shift, class D> void readClock(Warp &warp, const Instruction &i) {
  uint64_t now = nanoseconds() >> shift;
  D *d = warp.lanes<D>(i.d);
  forLanes(warp.exec, [&](unsigned lane) { d[lane] = D(now); });
}

template <uint64_t window, bool toGeneric> struct ConvertAddress {
  static uint64_t apply(uint64_t a) { return toGeneric ? a + window : a - window; }
};
template <uint64_t window> void inWindow(Warp &warp, const Instruction &i) {
  const uint64_t *a = warp.lanes<const uint64_t>(i.a);
  uint32_t mask = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane)
    mask |= uint32_t(a[lane] - window < windowBytes) << lane;
  writePredicate(warp, i.d, mask);
}
void inGlobal(Warp &warp, const Instruction &i) {
  const uint64_t *a = warp.lanes<const uint64_t>(i.a);
  uint32_t mask = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane)
    mask |= uint32_t(a[lane] - sharedWindow >= 3 * windowBytes) << lane;
  writePredicate(warp, i.d, mask);
}
void inConstant(Warp &warp, const Instruction &i) {
  const uint64_t *a = warp.lanes<const uint64_t>(i.a);
  uint32_t mask = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    const Allocation *found = a[lane] - sharedWindow >= 3 * windowBytes ? warp.launch->memory->find(a[lane]) : nullptr;
    mask |= uint32_t(found && found->readOnly()) << lane;
  }
  writePredicate(warp, i.d, mask);
}

void activeMask(Warp &warp, const Instruction &i) {
  uint32_t *d = warp.lanes<uint32_t>(i.d);
  uint32_t mask = warp.exec;
  forLanes(mask, [&](unsigned lane) { d[lane] = mask; });
}

void fence(Warp &warp, const Instruction &) {
  if (warp.block->races)
    warp.block->races->fence(warp);
}
void nothing(Warp &, const Instruction &) {}

} // namespace

Handler selectLoad(const Form &, const AccessShape &shape) { return byShape<Mover::Load>(shape); }
Handler selectStore(const Form &, const AccessShape &shape) { return byShape<Mover::Store>(shape); }
Handler selectParameterLoad(const AccessShape &shape) { return byShape<Mover::ParameterLoad>(shape); }
Handler selectFrameLoad(const AccessShape &shape) { return byShape<Mover::FrameLoad>(shape); }
Handler selectFrameStore(const AccessShape &shape) { return byShape<Mover::FrameStore>(shape); }

Handler selectCopy(unsigned from, unsigned to, bool isSigned) {
  if (from == to) {
    switch (from) {
    case 2:
      return unary<Identity, uint16_t, uint16_t>;
    case 4:
      return unary<Identity, uint32_t, uint32_t>;
    case 8:
      return unary<Identity, uint64_t, uint64_t>;
    default:
      return copyWide;
    }
  }
  if (from == 2 && to == 4)
    return isSigned ? unary<Resize<int32_t, int16_t>, int32_t, int16_t>
                    : unary<Resize<uint32_t, uint16_t>, uint32_t, uint16_t>;
  if (from == 2)
    return isSigned ? unary<Resize<int64_t, int16_t>, int64_t, int16_t>
                    : unary<Resize<uint64_t, uint16_t>, uint64_t, uint16_t>;
  if (from == 4 && to == 8)
    return isSigned ? unary<Resize<int64_t, int32_t>, int64_t, int32_t>
                    : unary<Resize<uint64_t, uint32_t>, uint64_t, uint32_t>;
  if (from == 4)
    return unary<Resize<uint16_t, uint32_t>, uint16_t, uint32_t>;
  return to == 4 ? unary<Resize<uint32_t, uint64_t>, uint32_t, uint64_t>
                 : unary<Resize<uint16_t, uint64_t>, uint16_t, uint64_t>;
}

Handler selectPack(unsigned elements, unsigned bytes) {
  if (elements == 2)
    return bytes == 2 ? pack<uint16_t, 2> : bytes == 4 ? pack<uint32_t, 2> : bytes == 8 ? pack<uint64_t, 2> : nullptr;
  if (elements == 4)
    return bytes == 2 ? pack<uint16_t, 4> : bytes == 4 ? pack<uint32_t, 4> : nullptr;
  return nullptr;
}
Handler selectUnpack(unsigned elements, unsigned bytes) {
  if (elements == 2)
    return bytes == 2   ? unpack<uint16_t, 2>
           : bytes == 4 ? unpack<uint32_t, 2>
           : bytes == 8 ? unpack<uint64_t, 2>
                        : nullptr;
  if (elements == 4)
    return bytes == 2 ? unpack<uint16_t, 4> : bytes == 4 ? unpack<uint32_t, 4> : nullptr;
  return nullptr;
}

Handler selectReadSpecial(Special special, unsigned bytes) {
  bool upper = special == Special::ClockHi || special == Special::GlobalTimerHi;
  if (bytes == 8)
    return readClock<0, uint64_t>;
  return upper ? readClock<32, uint32_t> : readClock<0, uint32_t>;
}

Handler selectIsSpace(Space space) {
  switch (space) {
  case Space::Shared:
    return inWindow<sharedWindow>;
  case Space::Local:
    return inWindow<localWindow>;
  case Space::Param:
    return inWindow<parameterWindow>;
  case Space::Const:
    return inConstant;
  default:
    return inGlobal;
  }
}

Handler selectConvertAddress(Space space, bool toSpace) {
  switch (space) {
  case Space::Shared:
    return toSpace ? unary<ConvertAddress<sharedWindow, false>, uint64_t, uint64_t>
                   : unary<ConvertAddress<sharedWindow, true>, uint64_t, uint64_t>;
  case Space::Local:
    return toSpace ? unary<ConvertAddress<localWindow, false>, uint64_t, uint64_t>
                   : unary<ConvertAddress<localWindow, true>, uint64_t, uint64_t>;
  case Space::Param:
    return toSpace ? unary<ConvertAddress<parameterWindow, false>, uint64_t, uint64_t>
                   : unary<ConvertAddress<parameterWindow, true>, uint64_t, uint64_t>;
  default:
    return unary<Identity, uint64_t, uint64_t>;
  }
}

Handler selectActiveMask() { return activeMask; }
Handler selectFence(const Form &) { return fence; }
Handler selectNothing() { return nothing; }

} // namespace WEFT_SIMULATOR_ISA
} // namespace weft::simulator
