//===- Lanes.h - One operation over the 32 lanes of a warp ---------------------------===//
//
// Everything here is compiled once for each instruction set of the host, in the namespace WEFT_SIMULATOR_ISA.
// An operation is a struct with a static apply() on scalars; the loops below are what the host's compiler vectorizes.
// Lanes outside the mask are computed too and dropped, so apply() must accept any bits.
//===---------------------------------------------------------------------------------===//
#pragma once

#include "runtime/Simulator/Interpreter/Handlers.h"

#include <cstring>
#include <type_traits>

#ifndef WEFT_SIMULATOR_ISA
#define WEFT_SIMULATOR_ISA baseline
#endif

#if defined(__clang__)
#define WEFT_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define WEFT_LANES _Pragma("GCC ivdep")
#endif

namespace weft::simulator {
namespace WEFT_SIMULATOR_ISA {

template <class T> inline void blend(T *target, const T *value, uint32_t mask) {
  WEFT_LANES
  for (unsigned lane = 0; lane < warpSize; ++lane)
    target[lane] = (mask >> lane) & 1 ? value[lane] : target[lane];
}

template <class Op, class D, class A> void unary(Warp &warp, const Instruction &i) {
  const A *a = warp.lanes<const A>(i.a);
  D *d = warp.lanes<D>(i.d);
  if (warp.exec == ~0u) {
    WEFT_LANES
    for (unsigned lane = 0; lane < warpSize; ++lane)
      d[lane] = Op::apply(a[lane]);
    return;
  }
  alignas(64) D result[warpSize];
  WEFT_LANES
  for (unsigned lane = 0; lane < warpSize; ++lane)
    result[lane] = Op::apply(a[lane]);
  blend(d, result, warp.exec);
}

template <class Op, class D, class A, class B> void binary(Warp &warp, const Instruction &i) {
  const A *a = warp.lanes<const A>(i.a);
  const B *b = warp.lanes<const B>(i.b);
  D *d = warp.lanes<D>(i.d);
  if (warp.exec == ~0u) {
    WEFT_LANES
    for (unsigned lane = 0; lane < warpSize; ++lane)
      d[lane] = Op::apply(a[lane], b[lane]);
    return;
  }
  alignas(64) D result[warpSize];
  WEFT_LANES
  for (unsigned lane = 0; lane < warpSize; ++lane)
    result[lane] = Op::apply(a[lane], b[lane]);
  blend(d, result, warp.exec);
}

template <class Op, class D, class A, class B, class C> void ternary(Warp &warp, const Instruction &i) {
  const A *a = warp.lanes<const A>(i.a);
  const B *b = warp.lanes<const B>(i.b);
  const C *c = warp.lanes<const C>(i.c);
  D *d = warp.lanes<D>(i.d);
  if (warp.exec == ~0u) {
    WEFT_LANES
    for (unsigned lane = 0; lane < warpSize; ++lane)
      d[lane] = Op::apply(a[lane], b[lane], c[lane]);
    return;
  }
  alignas(64) D result[warpSize];
  WEFT_LANES
  for (unsigned lane = 0; lane < warpSize; ++lane)
    result[lane] = Op::apply(a[lane], b[lane], c[lane]);
  blend(d, result, warp.exec);
}

template <class Op, class D, class A, class B, class C, class F> void quaternary(Warp &warp, const Instruction &i) {
  const A *a = warp.lanes<const A>(i.a);
  const B *b = warp.lanes<const B>(i.b);
  const C *c = warp.lanes<const C>(i.c);
  const F *f = warp.lanes<const F>(i.f);
  D *d = warp.lanes<D>(i.d);
  alignas(64) D result[warpSize];
  WEFT_LANES
  for (unsigned lane = 0; lane < warpSize; ++lane)
    result[lane] = Op::apply(a[lane], b[lane], c[lane], f[lane]);
  blend(d, result, warp.exec);
}

/// Comparison of two lanes to a mask of all 32.
template <class Op, class T> inline uint32_t compareLanes(const T *a, const T *b) {
  alignas(64) uint32_t bits[warpSize];
  WEFT_LANES
  for (unsigned lane = 0; lane < warpSize; ++lane)
    bits[lane] = uint32_t(Op::apply(a[lane], b[lane])) << lane;
  uint32_t mask = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane)
    mask |= bits[lane];
  return mask;
}

inline void writePredicate(Warp &warp, uint32_t slot, uint32_t value) {
  uint32_t &target = warp.predicate(slot);
  target = (target & ~warp.exec) | (value & warp.exec);
}

inline uint32_t readPredicate(Warp &warp, uint32_t slot, bool negated) {
  uint32_t value = warp.predicate(slot);
  return negated ? ~value : value;
}

template <class To, class From> inline To bitsOf(From from) {
  static_assert(sizeof(To) == sizeof(From), "same width");
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

/// Calls `f(lane)` for each lane of the mask.
template <class F> inline void forLanes(uint32_t mask, F f) {
  while (mask) {
    f(unsigned(__builtin_ctz(mask)));
    mask &= mask - 1;
  }
}

} // namespace WEFT_SIMULATOR_ISA
} // namespace weft::simulator
