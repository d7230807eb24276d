//===- Bits.cpp - Logic, shifts, bit fields and predicates -------------------------------===//
#include "runtime/Simulator/Interpreter/IntegerTypes.h"

namespace weft::simulator {
namespace WEFT_SIMULATOR_ISA {
namespace {

template <class T> struct And {
  static T apply(T a, T b) { return a & b; }
};
template <class T> struct Or {
  static T apply(T a, T b) { return a | b; }
};
template <class T> struct Xor {
  static T apply(T a, T b) { return a ^ b; }
};
template <class T> struct Not {
  static T apply(T a) { return T(~a); }
};
template <class T> struct Cnot {
  static T apply(T a) { return a == 0 ? T(1) : T(0); }
};
template <class T> struct Shl {
  static T apply(T a, uint32_t count) {
    return count >= sizeof(T) * 8 ? T(0) : T(Work<T>(a) << (count & (sizeof(T) * 8 - 1)));
  }
};
template <class T> struct Shr {
  static T apply(T a, uint32_t count) {
    uint32_t most = sizeof(T) * 8 - 1;
    if (std::is_signed<T>::value)
      return T(a >> (count > most ? most : count));
    return count > most ? T(0) : T(a >> (count & most));
  }
};
template <bool left, bool clamp> struct Shf {
  static uint32_t apply(uint32_t low, uint32_t high, uint32_t count) {
    uint32_t n = clamp ? (count > 32 ? 32 : count) : (count & 31);
    uint64_t both = uint64_t(high) << 32 | low;
    return left ? uint32_t((n ? both << n : both) >> 32) : uint32_t(n == 64 ? 0 : both >> n);
  }
};
template <class T> struct Popc {
  static uint32_t apply(T a) {
    return uint32_t(sizeof(T) == 8 ? __builtin_popcountll(a) : __builtin_popcount(uint32_t(a)));
  }
};
template <class T> struct Clz {
  static uint32_t apply(T a) {
    if (a == 0)
      return sizeof(T) * 8;
    return uint32_t(sizeof(T) == 8 ? __builtin_clzll(a) : __builtin_clz(uint32_t(a)));
  }
};
/// The n-th set bit from a place on, upwards or downwards.
struct Fns {
  static uint32_t apply(uint32_t mask, uint32_t base, int32_t n) {
    if (n == 0)
      return base < 32 && (mask >> base) & 1 ? base : 0xffffffff;
    for (uint32_t at = base, left = n > 0 ? uint32_t(n) : 0u - uint32_t(n); at < 32; at += n > 0 ? 1u : ~0u)
      if ((mask >> at) & 1 && --left == 0)
        return at;
    return 0xffffffff;
  }
};
/// Absolute differences of bytes or halves, each in its place or all added to the third operand.
template <class T, bool sum> struct PackedDifference {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    constexpr unsigned width = sizeof(T) * 8;
    uint32_t out = sum ? c : 0;
    for (unsigned at = 0; at < 32; at += width) {
      int32_t x = T(a >> at), y = T(b >> at);
      uint32_t difference = uint32_t(x < y ? y - x : x - y);
      out += sum ? difference : difference << at;
    }
    return out;
  }
};
template <class T, bool shiftAmount> struct Bfind {
  static uint32_t apply(T value) {
    Unsigned<T> bits = std::is_signed<T>::value && value < 0 ? Unsigned<T>(~Unsigned<T>(value)) : Unsigned<T>(value);
    if (bits == 0)
      return 0xffffffff;
    uint32_t position = uint32_t(sizeof(T) * 8 - 1) - Clz<Unsigned<T>>::apply(bits);
    return shiftAmount ? uint32_t(sizeof(T) * 8 - 1) - position : position;
  }
};
template <class T> struct Brev {
  static T apply(T a) {
    T out = 0;
    for (unsigned bit = 0; bit < sizeof(T) * 8; ++bit)
      out = T(out << 1) | ((a >> bit) & 1);
    return out;
  }
};
template <class T> struct Bfe {
  static T apply(T a, uint32_t position, uint32_t length) {
    constexpr uint32_t bits = sizeof(T) * 8;
    uint32_t pos = position & 255, len = length & 255;
    Unsigned<T> value = Unsigned<T>(a), out = 0;
    bool sign = false;
    if (std::is_signed<T>::value && len) {
      uint32_t at = pos + len - 1;
      sign = (value >> (at > bits - 1 ? bits - 1 : at)) & 1;
    }
    uint32_t available = pos >= bits ? 0 : bits - pos;
    uint32_t take = len < available ? len : available;
    if (take)
      out = Unsigned<T>(value >> pos) & Unsigned<T>(take >= bits ? ~Unsigned<T>(0) : (Unsigned<T>(1) << take) - 1);
    if (sign && take < bits)
      out |= Unsigned<T>(~Unsigned<T>(0) << take);
    return T(out);
  }
};
template <class T> struct Bfi {
  static T apply(T a, T b, uint32_t position, uint32_t length) {
    constexpr uint32_t bits = sizeof(T) * 8;
    uint32_t pos = position & 255, len = length & 255;
    if (pos >= bits || len == 0)
      return b;
    T field = len >= bits - pos ? T(~T(0)) : T((T(1) << len) - 1);
    T mask = T(field << pos);
    return T((b & ~mask) | (T(a << pos) & mask));
  }
};
template <bool clamp> struct Bmsk {
  static uint32_t apply(uint32_t a, uint32_t b) {
    if (!clamp) {
      a &= 31;
      b &= 31;
    }
    if (a >= 32 || b == 0)
      return 0;
    uint32_t mask = b >= 32 ? ~0u : (1u << b) - 1;
    return mask << a;
  }
};
template <class T, bool clamp> struct Szext {
  static T apply(T a, uint32_t count) {
    uint32_t n = clamp ? count : count & 31;
    if (n >= 32)
      return a;
    if (n == 0)
      return 0;
    uint32_t shifted = uint32_t(a) << (32 - n);
    return std::is_signed<T>::value ? T(int32_t(shifted) >> (32 - n)) : T(shifted >> (32 - n));
  }
};

enum class PrmtMode { Index, F4e, B4e, Rc8, Ecl, Ecr, Rc16 };
template <PrmtMode mode> struct Prmt {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t selector) {
    uint64_t bytes = uint64_t(b) << 32 | a;
    uint32_t out = 0;
    for (unsigned i = 0; i < 4; ++i) {
      uint32_t s = selector & 3, index = 0;
      bool replicate = false;
      switch (mode) {
      case PrmtMode::Index:
        index = (selector >> (4 * i)) & 7;
        replicate = (selector >> (4 * i)) & 8;
        break;
      case PrmtMode::F4e:
        index = s + i;
        break;
      case PrmtMode::B4e:
        index = (s - i) & 7;
        break;
      case PrmtMode::Rc8:
        index = s;
        break;
      case PrmtMode::Ecl:
        index = i > s ? i : s;
        break;
      case PrmtMode::Ecr:
        index = i < s ? i : s;
        break;
      case PrmtMode::Rc16:
        index = (s & 1) * 2 + (i & 1);
        break;
      }
      uint32_t byte = uint32_t(bytes >> (8 * index)) & 255;
      if (replicate)
        byte = byte & 128 ? 255 : 0;
      out |= byte << (8 * i);
    }
    return out;
  }
};

/// The truth table is uniform, so the eight terms are chosen once an instruction.
void lop3(Warp &warp, const Instruction &i) {
  const uint32_t *a = warp.lanes<const uint32_t>(i.a), *b = warp.lanes<const uint32_t>(i.b),
                 *c = warp.lanes<const uint32_t>(i.c);
  uint32_t term[8];
  for (unsigned bit = 0; bit < 8; ++bit)
    term[bit] = (i.immediate >> bit) & 1 ? ~0u : 0;
  alignas(64) uint32_t result[warpSize];
  WEFT_LANES
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    uint32_t x = a[lane], y = b[lane], z = c[lane];
    uint32_t low = (~y & ((~z & term[0]) | (z & term[1]))) | (y & ((~z & term[2]) | (z & term[3])));
    uint32_t high = (~y & ((~z & term[4]) | (z & term[5]))) | (y & ((~z & term[6]) | (z & term[7])));
    result[lane] = (~x & low) | (x & high);
  }
  blend(warp.lanes<uint32_t>(i.d), result, warp.exec);
}

template <template <class> class Op> Handler logicByType(Type type) {
  switch (typeSize(type)) {
  case 2:
    return binary<Op<uint16_t>, uint16_t, uint16_t, uint16_t>;
  case 4:
    return binary<Op<uint32_t>, uint32_t, uint32_t, uint32_t>;
  case 8:
    return binary<Op<uint64_t>, uint64_t, uint64_t, uint64_t>;
  default:
    return nullptr;
  }
}
template <template <class> class Op> Handler unaryBits(Type type) {
  switch (typeSize(type)) {
  case 2:
    return unary<Op<uint16_t>, uint16_t, uint16_t>;
  case 4:
    return unary<Op<uint32_t>, uint32_t, uint32_t>;
  case 8:
    return unary<Op<uint64_t>, uint64_t, uint64_t>;
  default:
    return nullptr;
  }
}
template <template <class> class Op> Handler shiftByType(Type type) {
  switch (type) {
  case Type::B16:
  case Type::U16:
    return binary<Op<uint16_t>, uint16_t, uint16_t, uint32_t>;
  case Type::S16:
    return binary<Op<int16_t>, int16_t, int16_t, uint32_t>;
  case Type::B32:
  case Type::U32:
    return binary<Op<uint32_t>, uint32_t, uint32_t, uint32_t>;
  case Type::S32:
    return binary<Op<int32_t>, int32_t, int32_t, uint32_t>;
  case Type::B64:
  case Type::U64:
    return binary<Op<uint64_t>, uint64_t, uint64_t, uint32_t>;
  case Type::S64:
    return binary<Op<int64_t>, int64_t, int64_t, uint32_t>;
  default:
    return nullptr;
  }
}
Handler bitField(const Form &form) {
  Type type = form.type();
  std::string_view op = form.opcode();
  if (op == "bfe") {
    switch (type) {
    case Type::U32:
      return ternary<Bfe<uint32_t>, uint32_t, uint32_t, uint32_t, uint32_t>;
    case Type::S32:
      return ternary<Bfe<int32_t>, int32_t, int32_t, uint32_t, uint32_t>;
    case Type::U64:
      return ternary<Bfe<uint64_t>, uint64_t, uint64_t, uint32_t, uint32_t>;
    case Type::S64:
      return ternary<Bfe<int64_t>, int64_t, int64_t, uint32_t, uint32_t>;
    default:
      return nullptr;
    }
  }
  if (op == "bfi")
    return type == Type::B32 ? quaternary<Bfi<uint32_t>, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>
                             : quaternary<Bfi<uint64_t>, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t>;
  bool amount = form.has("shiftamt"); // bfind
  switch (type) {
  case Type::U32:
    return amount ? unary<Bfind<uint32_t, true>, uint32_t, uint32_t>
                  : unary<Bfind<uint32_t, false>, uint32_t, uint32_t>;
  case Type::S32:
    return amount ? unary<Bfind<int32_t, true>, uint32_t, int32_t> : unary<Bfind<int32_t, false>, uint32_t, int32_t>;
  case Type::U64:
    return amount ? unary<Bfind<uint64_t, true>, uint32_t, uint64_t>
                  : unary<Bfind<uint64_t, false>, uint32_t, uint64_t>;
  case Type::S64:
    return amount ? unary<Bfind<int64_t, true>, uint32_t, int64_t> : unary<Bfind<int64_t, false>, uint32_t, int64_t>;
  default:
    return nullptr;
  }
}

Handler permute(const Form &form) {
  using U = uint32_t;
  if (form.has("f4e"))
    return ternary<Prmt<PrmtMode::F4e>, U, U, U, U>;
  if (form.has("b4e"))
    return ternary<Prmt<PrmtMode::B4e>, U, U, U, U>;
  if (form.has("rc8"))
    return ternary<Prmt<PrmtMode::Rc8>, U, U, U, U>;
  if (form.has("ecl"))
    return ternary<Prmt<PrmtMode::Ecl>, U, U, U, U>;
  if (form.has("ecr"))
    return ternary<Prmt<PrmtMode::Ecr>, U, U, U, U>;
  if (form.has("rc16"))
    return ternary<Prmt<PrmtMode::Rc16>, U, U, U, U>;
  return ternary<Prmt<PrmtMode::Index>, U, U, U, U>;
}

} // namespace

Handler selectBits(const Form &form) {
  std::string_view op = form.opcode();
  Type type = form.type();
  using U = uint32_t;
  if (op == "and")
    return logicByType<And>(type);
  if (op == "or")
    return logicByType<Or>(type);
  if (op == "xor")
    return logicByType<Xor>(type);
  if (op == "not")
    return unaryBits<Not>(type);
  if (op == "cnot")
    return unaryBits<Cnot>(type);
  if (op == "lop3")
    return lop3;
  if (op == "shl")
    return shiftByType<Shl>(type);
  if (op == "shr")
    return shiftByType<Shr>(type);
  if (op == "shf")
    return form.has("l")
               ? (form.has("clamp") ? ternary<Shf<true, true>, U, U, U, U> : ternary<Shf<true, false>, U, U, U, U>)
               : (form.has("clamp") ? ternary<Shf<false, true>, U, U, U, U> : ternary<Shf<false, false>, U, U, U, U>);
  if (op == "prmt")
    return permute(form);
  if (op == "popc")
    return type == Type::B32 ? unary<Popc<uint32_t>, U, uint32_t> : unary<Popc<uint64_t>, U, uint64_t>;
  if (op == "clz")
    return type == Type::B32 ? unary<Clz<uint32_t>, U, uint32_t> : unary<Clz<uint64_t>, U, uint64_t>;
  if (op == "brev")
    return unaryBits<Brev>(type);
  if (op == "bfind" || op == "bfe" || op == "bfi")
    return bitField(form);
  if (op == "fns")
    return ternary<Fns, U, U, U, int32_t>;
  if (op == "vabsdiff4" || op == "vabsdiff2") {
    bool bytes = op == "vabsdiff4", sum = form.has("add");
    if (form.type(1) == Type::S32)
      return bytes ? (sum ? ternary<PackedDifference<int8_t, true>, U, U, U, U>
                          : ternary<PackedDifference<int8_t, false>, U, U, U, U>)
                   : (sum ? ternary<PackedDifference<int16_t, true>, U, U, U, U>
                          : ternary<PackedDifference<int16_t, false>, U, U, U, U>);
    return bytes ? (sum ? ternary<PackedDifference<uint8_t, true>, U, U, U, U>
                        : ternary<PackedDifference<uint8_t, false>, U, U, U, U>)
                 : (sum ? ternary<PackedDifference<uint16_t, true>, U, U, U, U>
                        : ternary<PackedDifference<uint16_t, false>, U, U, U, U>);
  }
  if (op == "bmsk")
    return form.has("clamp") ? binary<Bmsk<true>, U, U, U> : binary<Bmsk<false>, U, U, U>;
  if (op == "szext") {
    if (type == Type::S32)
      return form.has("clamp") ? binary<Szext<int32_t, true>, int32_t, int32_t, U>
                               : binary<Szext<int32_t, false>, int32_t, int32_t, U>;
    return form.has("clamp") ? binary<Szext<U, true>, U, U, U> : binary<Szext<U, false>, U, U, U>;
  }
  return nullptr;
}

namespace {
template <class Op> void predicateBinary(Warp &warp, const Instruction &i) {
  writePredicate(warp, i.d,
                 Op::apply(readPredicate(warp, i.a, i.flags & NegateA), readPredicate(warp, i.b, i.flags & NegateB)));
}
void predicateNot(Warp &warp, const Instruction &i) {
  writePredicate(warp, i.d, ~readPredicate(warp, i.a, i.flags & NegateA));
}
void predicateMove(Warp &warp, const Instruction &i) {
  writePredicate(warp, i.d, readPredicate(warp, i.a, i.flags & NegateA));
}
} // namespace

Handler selectPredicate(const Form &form) {
  std::string_view op = form.opcode();
  if (op == "and")
    return predicateBinary<And<uint32_t>>;
  if (op == "or")
    return predicateBinary<Or<uint32_t>>;
  if (op == "xor")
    return predicateBinary<Xor<uint32_t>>;
  if (op == "not")
    return predicateNot;
  return op == "mov" ? predicateMove : nullptr;
}

} // namespace WEFT_SIMULATOR_ISA
} // namespace weft::simulator
