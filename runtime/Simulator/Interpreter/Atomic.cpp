//===- Atomic.cpp - atom, red and cp.async -------------------------------------------------------------===//
#include "runtime/Simulator/Interpreter/Access.h"
#include "runtime/Simulator/Interpreter/FloatFormats.h"

namespace weft::simulator {
namespace WEFT_SIMULATOR_ISA {
namespace {

struct Add {
  template <class T> static T apply(T old, T b, T) { return T(old + b); }
};
struct Min {
  template <class T> static T apply(T old, T b, T) { return b < old ? b : old; }
};
struct Max {
  template <class T> static T apply(T old, T b, T) { return b > old ? b : old; }
};
struct And {
  template <class T> static T apply(T old, T b, T) { return old & b; }
};
struct Or {
  template <class T> static T apply(T old, T b, T) { return old | b; }
};
struct Xor {
  template <class T> static T apply(T old, T b, T) { return old ^ b; }
};
struct Exchange {
  template <class T> static T apply(T, T b, T) { return b; }
};
struct CompareSwap {
  template <class T> static T apply(T old, T compare, T value) { return old == compare ? value : old; }
};
struct Increment {
  template <class T> static T apply(T old, T b, T) { return old >= b ? 0 : old + 1; }
};
struct Decrement {
  template <class T> static T apply(T old, T b, T) { return old == 0 || old > b ? b : old - 1; }
};
/// Float sums on the bits, as memory holds them.
struct AddFloat {
  static uint32_t apply(uint32_t old, uint32_t b, uint32_t) {
    return bitsOf<uint32_t>(canonical(bitsOf<float>(old) + bitsOf<float>(b)));
  }
  static uint64_t apply(uint64_t old, uint64_t b, uint64_t) {
    return bitsOf<uint64_t>(bitsOf<double>(old) + bitsOf<double>(b));
  }
};
template <class F> struct AddSmall {
  static uint16_t apply(uint16_t old, uint16_t b, uint16_t) {
    return F::fromDouble(addToOdd(double(F::toFloat(old)), double(F::toFloat(b))), Rounding::Nearest);
  }
  static uint32_t apply(uint32_t old, uint32_t b, uint32_t) {
    return uint32_t(apply(uint16_t(old), uint16_t(b), uint16_t(0))) |
           uint32_t(apply(uint16_t(old >> 16), uint16_t(b >> 16), uint16_t(0))) << 16;
  }
};

/// Lanes take turns in their own order; other blocks run on other threads of the host, hence the loop.
template <class Op, class T> void atomic(Warp &warp, const Instruction &i) {
  alignas(64) uint64_t addresses[warpSize];
  laneAddresses(warp, i, addresses);
  ++warp.counters->atomics;
  bool acquire = true, release = true;
  orderedAccess(warp, i, addresses, warp.exec, acquire, release);
  using Bits = std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
  auto move = [&](uint32_t mask, const uint64_t *at, Placement place) {
    const T *b = warp.lanes<const T>(i.b);
    const T *c = i.c != Instruction::none ? warp.lanes<const T>(i.c) : b;
    T *d = warp.lanes<T>(i.d);
    forLanes(mask, [&](unsigned lane) {
      Bits *target = reinterpret_cast<Bits *>(place.delta + at[lane] + lane * place.stride);
      Bits old = __atomic_load_n(target, __ATOMIC_SEQ_CST);
      for (;;) {
        T value = Op::apply(bitsOf<T>(old), b[lane], c[lane]);
        Bits wanted = bitsOf<Bits>(value);
        if (__atomic_compare_exchange_n(target, &old, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
          break;
      }
      if (i.flags & HasE)
        d[lane] = bitsOf<T>(old);
    });
  };
  // Read and written: both checks apply.
  alignas(64) uint64_t again[warpSize];
  std::memcpy(again, addresses, sizeof again);
  accessMemory(warp, i, i.space, again, warp.exec, sizeof(T), false, [](uint32_t, const uint64_t *, Placement) {});
  accessMemory(warp, i, i.space, addresses, warp.exec, sizeof(T), true, move);
}

template <class Op> Handler integerAtomic(Type type) {
  switch (type) {
  case Type::U32:
  case Type::B32:
    return atomic<Op, uint32_t>;
  case Type::S32:
    return atomic<Op, int32_t>;
  case Type::U64:
  case Type::B64:
    return atomic<Op, uint64_t>;
  case Type::S64:
    return atomic<Op, int64_t>;
  default:
    return nullptr;
  }
}

void asyncCopy(Warp &warp, const Instruction &i) {
  alignas(64) uint64_t to[warpSize], from[warpSize];
  laneAddresses(warp, i, to);
  const uint64_t *base = warp.lanes<const uint64_t>(i.b);
  for (unsigned lane = 0; lane < warpSize; ++lane)
    from[lane] = base[lane] + uint64_t(int64_t(int32_t(i.target)));
  unsigned bytes = i.bytes;
  // A size operand smaller than the copy leaves the rest zero; 0 reads nothing.
  uint32_t sizes[warpSize];
  uint32_t reading = 0;
  forLanes(warp.exec, [&](unsigned lane) {
    sizes[lane] = i.flags & HasE ? warp.lanes<const uint32_t>(i.c)[lane] : bytes;
    if (sizes[lane] > bytes)
      abortLaunch(warp, i, FaultKind::InvalidInstruction, lane,
                  "cp.async is to read " + std::to_string(sizes[lane]) + " bytes for a copy of " +
                      std::to_string(bytes));
    if (sizes[lane])
      reading |= 1u << lane;
  });
  uint8_t data[warpSize][16] = {};
  Instruction reads = i;
  reads.space = Space::Global;
  bool partial = false;
  forLanes(reading, [&](unsigned lane) { partial |= sizes[lane] != bytes; });
  auto take = [&](uint32_t mask, const uint64_t *at, Placement) {
    forLanes(mask,
             [&](unsigned lane) { std::memcpy(data[lane], reinterpret_cast<const void *>(at[lane]), sizes[lane]); });
  };
  if (!partial) {
    accessMemory(warp, reads, Space::Global, from, reading, bytes, false, take);
  } else {
    forLanes(reading, [&](unsigned lane) {
      uint64_t bytewise[warpSize];
      for (unsigned byte = 0; byte < sizes[lane]; ++byte) {
        bytewise[lane] = from[lane] + byte;
        accessMemory(warp, reads, Space::Global, bytewise, 1u << lane, 1, false,
                     [](uint32_t, const uint64_t *, Placement) {});
      }
      std::memcpy(data[lane], reinterpret_cast<const void *>(from[lane]), sizes[lane]);
    });
  }
  Instruction writes = i;
  writes.space = Space::Shared;
  writes.flags |= Asynchronous;
  accessMemory(warp, writes, Space::Shared, to, warp.exec, bytes, true,
               [&](uint32_t mask, const uint64_t *at, Placement place) {
                 forLanes(mask, [&](unsigned lane) {
                   std::memcpy(reinterpret_cast<void *>(place.delta + at[lane]), data[lane], bytes);
                   std::memset(warp.block->sharedState.data() + at[lane], SharedPending, bytes);
                   warp.copies.push_back({uint32_t(at[lane]), bytes, lane, UINT32_MAX, i.line});
                 });
               });
}

void commitGroup(Warp &warp, const Instruction &) {
  for (PendingCopy &copy : warp.copies)
    if (copy.group == UINT32_MAX && ((warp.exec >> copy.lane) & 1))
      copy.group = warp.commits[copy.lane];
  forLanes(warp.exec, [&](unsigned lane) { ++warp.commits[lane]; });
}

/// Makes copies visible that `done` says are; the write counts as made now, for the race check.
template <class Done> void complete(Warp &warp, const Instruction &i, Done done) {
  size_t kept = 0;
  for (PendingCopy &copy : warp.copies) {
    if (!((warp.exec >> copy.lane) & 1) || !done(copy)) {
      warp.copies[kept++] = copy;
      continue;
    }
    std::memset(warp.block->sharedState.data() + copy.offset, SharedInitialised, copy.bytes);
    if (warp.block->races) {
      uint64_t addresses[warpSize];
      addresses[copy.lane] = copy.offset;
      Instruction write = i;
      write.line = copy.line;
      warp.block->races->access(warp, write, true, addresses, 1u << copy.lane, copy.bytes, true, false);
    }
  }
  warp.copies.resize(kept);
}
void waitGroup(Warp &warp, const Instruction &i) {
  uint64_t pending = uint64_t(i.immediate);
  complete(warp, i, [&](const PendingCopy &copy) {
    return copy.group != UINT32_MAX && uint64_t(copy.group) + pending < warp.commits[copy.lane];
  });
}
void waitAll(Warp &warp, const Instruction &i) {
  complete(warp, i, [](const PendingCopy &) { return true; });
}

} // namespace

Handler selectAtomic(const Form &form) {
  Type type = form.type();
  if (form.has("exch"))
    return integerAtomic<Exchange>(type);
  if (form.has("cas"))
    return type == Type::B16 ? atomic<CompareSwap, uint16_t> : integerAtomic<CompareSwap>(type);
  if (form.has("inc"))
    return atomic<Increment, uint32_t>;
  if (form.has("dec"))
    return atomic<Decrement, uint32_t>;
  if (form.has("min"))
    return integerAtomic<Min>(type);
  if (form.has("max"))
    return integerAtomic<Max>(type);
  if (form.has("and"))
    return integerAtomic<And>(type);
  if (form.has("or"))
    return integerAtomic<Or>(type);
  if (form.has("xor"))
    return integerAtomic<Xor>(type);
  switch (type) {
  case Type::F32:
    return atomic<AddFloat, uint32_t>;
  case Type::F64:
    return atomic<AddFloat, uint64_t>;
  case Type::F16:
    return atomic<AddSmall<Half>, uint16_t>;
  case Type::F16x2:
    return atomic<AddSmall<Half>, uint32_t>;
  case Type::BF16:
    return atomic<AddSmall<BFloat>, uint16_t>;
  case Type::BF16x2:
    return atomic<AddSmall<BFloat>, uint32_t>;
  case Type::S32:
    return atomic<Add, uint32_t>;
  case Type::S64:
    return atomic<Add, uint64_t>;
  default:
    return integerAtomic<Add>(type);
  }
}

Handler selectAsyncCopy(const Form &form) {
  if (form.has("commit_group"))
    return commitGroup;
  if (form.has("wait_group"))
    return waitGroup;
  return form.has("wait_all") ? waitAll : asyncCopy;
}

} // namespace WEFT_SIMULATOR_ISA
} // namespace weft::simulator
