//===- Integer.cpp - Integer and bit instructions ---------------------------------------===//
#include "runtime/Simulator/Interpreter/Lanes.h"

#include <limits>

namespace weft::simulator {
namespace WEFT_SIMULATOR_ISA {
namespace {

template <class T> using Unsigned = std::make_unsigned_t<T>;
template <class T> struct WideOf;
template <> struct WideOf<uint16_t> { using type = uint32_t; };
template <> struct WideOf<int16_t> { using type = int32_t; };
template <> struct WideOf<uint32_t> { using type = uint64_t; };
template <> struct WideOf<int32_t> { using type = int64_t; };
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Unsigned128;
template <> struct WideOf<uint64_t> { using type = Unsigned128; };
template <> struct WideOf<int64_t> { using type = Int128; };
template <class T> using Wide = typename WideOf<T>::type;

// Arithmetic wraps, so it is done on unsigned values (of at least 32 bits, where promotion cannot make them signed).
template <class T> using Work = std::conditional_t<(sizeof(T) < 4), uint32_t, Unsigned<T>>;

template <class T> struct Add { static T apply(T a, T b) { return T(Work<T>(a) + Work<T>(b)); } };
template <class T> struct Sub { static T apply(T a, T b) { return T(Work<T>(a) - Work<T>(b)); } };
template <class T> struct MulLo { static T apply(T a, T b) { return T(Work<T>(a) * Work<T>(b)); } };
template <class T> struct MulHi { static T apply(T a, T b) { return T((Wide<T>(a) * Wide<T>(b)) >> (sizeof(T) * 8)); } };
template <class T> struct MulWide { static Wide<T> apply(T a, T b) { return Wide<T>(a) * Wide<T>(b); } };
template <class T> struct MadLo { static T apply(T a, T b, T c) { return T(Work<T>(a) * Work<T>(b) + Work<T>(c)); } };
template <class T> struct MadHi { static T apply(T a, T b, T c) { return T(Work<T>(MulHi<T>::apply(a, b)) + Work<T>(c)); } };
template <class T> struct MadWide {
  static Wide<T> apply(T a, T b, Wide<T> c) {
    using U = std::make_unsigned_t<Wide<T>>;
    return Wide<T>(U(Wide<T>(a) * Wide<T>(b)) + U(c));
  }
};
struct AddSat {
  static int32_t apply(int32_t a, int32_t b) {
    int64_t sum = int64_t(a) + b;
    return int32_t(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
  }
};
struct SubSat {
  static int32_t apply(int32_t a, int32_t b) {
    int64_t sum = int64_t(a) - b;
    return int32_t(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
  }
};
struct MadHiSat {
  static int32_t apply(int32_t a, int32_t b, int32_t c) { return AddSat::apply(MulHi<int32_t>::apply(a, b), c); }
};

// The 24-bit products take the low 24 bits of their operands, sign-extended for .s32; .hi is bits 16 to 47.
template <class T> int64_t product24(T a, T b) {
  if (std::is_signed<T>::value)
    return int64_t(int32_t(uint32_t(a) << 8) >> 8) * (int32_t(uint32_t(b) << 8) >> 8);
  return int64_t(uint64_t(uint32_t(a) & 0xffffff) * (uint32_t(b) & 0xffffff));
}
template <class T> struct Mul24Lo { static T apply(T a, T b) { return T(product24(a, b)); } };
template <class T> struct Mul24Hi { static T apply(T a, T b) { return T(product24(a, b) >> 16); } };
template <class T> struct Mad24Lo { static T apply(T a, T b, T c) { return T(uint32_t(product24(a, b)) + uint32_t(c)); } };
template <class T> struct Mad24Hi { static T apply(T a, T b, T c) { return T(uint32_t(product24(a, b) >> 16) + uint32_t(c)); } };

// Division by zero has an unspecified value in PTX; all ones (and the dividend as remainder) is what GPUs give.
template <class T> struct Div {
  static T apply(T a, T b) {
    if (b == 0)
      return T(~T(0));
    if (std::is_signed<T>::value && b == T(-1))
      return T(Work<T>(0) - Work<T>(a));
    return T(a / b);
  }
};
template <class T> struct Rem {
  static T apply(T a, T b) {
    if (b == 0)
      return a;
    if (std::is_signed<T>::value && b == T(-1))
      return 0;
    return T(a % b);
  }
};
template <class T> struct Min { static T apply(T a, T b) { return a < b ? a : b; } };
template <class T> struct Max { static T apply(T a, T b) { return a > b ? a : b; } };
template <class T, template <class> class Op> struct Relu {
  static T apply(T a, T b) {
    T result = Op<T>::apply(a, b);
    return result < 0 ? T(0) : result;
  }
};
template <class T> struct Abs { static T apply(T a) { return a < 0 ? T(Work<T>(0) - Work<T>(a)) : a; } };
template <class T> struct Neg { static T apply(T a) { return T(Work<T>(0) - Work<T>(a)); } };
template <class T> struct Sad {
  static T apply(T a, T b, T c) {
    Work<T> difference = a < b ? Work<T>(b) - Work<T>(a) : Work<T>(a) - Work<T>(b);
    return T(Work<T>(c) + difference);
  }
};
template <class Half, class Op> struct Packed {
  static uint32_t apply(uint32_t a, uint32_t b) {
    uint32_t low = uint16_t(Op::apply(Half(a), Half(b))), high = uint16_t(Op::apply(Half(a >> 16), Half(b >> 16)));
    return low | high << 16;
  }
};

template <class T> struct And { static T apply(T a, T b) { return a & b; } };
template <class T> struct Or { static T apply(T a, T b) { return a | b; } };
template <class T> struct Xor { static T apply(T a, T b) { return a ^ b; } };
template <class T> struct Not { static T apply(T a) { return T(~a); } };
template <class T> struct Cnot { static T apply(T a) { return a == 0 ? T(1) : T(0); } };
template <class T> struct Shl {
  static T apply(T a, uint32_t count) { return count >= sizeof(T) * 8 ? T(0) : T(Work<T>(a) << (count & (sizeof(T) * 8 - 1))); }
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
  static uint32_t apply(T a) { return uint32_t(sizeof(T) == 8 ? __builtin_popcountll(a) : __builtin_popcount(uint32_t(a))); }
};
template <class T> struct Clz {
  static uint32_t apply(T a) {
    if (a == 0)
      return sizeof(T) * 8;
    return uint32_t(sizeof(T) == 8 ? __builtin_clzll(a) : __builtin_clz(uint32_t(a)));
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
      case PrmtMode::F4e: index = s + i; break;
      case PrmtMode::B4e: index = (s - i) & 7; break;
      case PrmtMode::Rc8: index = s; break;
      case PrmtMode::Ecl: index = i > s ? i : s; break;
      case PrmtMode::Ecr: index = i < s ? i : s; break;
      case PrmtMode::Rc16: index = (s & 1) * 2 + (i & 1); break;
      }
      uint32_t byte = uint32_t(bytes >> (8 * index)) & 255;
      if (replicate)
        byte = byte & 128 ? 255 : 0;
      out |= byte << (8 * i);
    }
    return out;
  }
};

template <bool signedA, bool signedB> struct Dp4a {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    for (unsigned i = 0; i < 4; ++i) {
      int32_t x = signedA ? int32_t(int8_t(a >> (8 * i))) : int32_t(uint8_t(a >> (8 * i)));
      int32_t y = signedB ? int32_t(int8_t(b >> (8 * i))) : int32_t(uint8_t(b >> (8 * i)));
      c += uint32_t(x * y);
    }
    return c;
  }
};
template <bool signedA, bool signedB, bool high> struct Dp2a {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    for (unsigned i = 0; i < 2; ++i) {
      unsigned byte = i + (high ? 2 : 0);
      int32_t x = signedA ? int32_t(int16_t(a >> (16 * i))) : int32_t(uint16_t(a >> (16 * i)));
      int32_t y = signedB ? int32_t(int8_t(b >> (8 * byte))) : int32_t(uint8_t(b >> (8 * byte)));
      c += uint32_t(x) * uint32_t(y);
    }
    return c;
  }
};

/// add, sub and mad with CC: bit `lane` of Warp::carry is a lane's CC.CF.
template <class T, bool subtract, bool carryIn, bool carryOut> void carryArithmetic(Warp &warp, const Instruction &i) {
  const T *a = warp.lanes<const T>(i.a), *b = warp.lanes<const T>(i.b);
  T *d = warp.lanes<T>(i.d);
  forLanes(warp.exec, [&](unsigned lane) {
    Unsigned128 in = carryIn ? (warp.carry >> lane) & 1 : 0;
    Unsigned128 sum;
    bool carry;
    if (subtract) {
      sum = Unsigned128(a[lane]) - b[lane] - in; // CC.CF is the borrow
      carry = Unsigned128(a[lane]) < Unsigned128(b[lane]) + in;
    } else {
      sum = Unsigned128(a[lane]) + b[lane] + in;
      carry = (sum >> (sizeof(T) * 8)) != 0;
    }
    d[lane] = T(sum);
    if (carryOut)
      warp.carry = (warp.carry & ~(1u << lane)) | uint32_t(carry) << lane;
  });
}
template <class T, bool high, bool carryIn, bool carryOut> void carryMad(Warp &warp, const Instruction &i) {
  const T *a = warp.lanes<const T>(i.a), *b = warp.lanes<const T>(i.b), *c = warp.lanes<const T>(i.c);
  T *d = warp.lanes<T>(i.d);
  using U = Unsigned<T>;
  forLanes(warp.exec, [&](unsigned lane) {
    U product = high ? U(MulHi<T>::apply(a[lane], b[lane])) : U(MulLo<T>::apply(a[lane], b[lane]));
    Unsigned128 sum = Unsigned128(product) + U(c[lane]) + (carryIn ? (warp.carry >> lane) & 1 : 0);
    d[lane] = T(U(sum));
    if (carryOut)
      warp.carry = (warp.carry & ~(1u << lane)) | uint32_t((sum >> (sizeof(T) * 8)) != 0) << lane;
  });
}

/// The truth table is uniform, so the eight terms are chosen once an instruction.
void lop3(Warp &warp, const Instruction &i) {
  const uint32_t *a = warp.lanes<const uint32_t>(i.a), *b = warp.lanes<const uint32_t>(i.b), *c = warp.lanes<const uint32_t>(i.c);
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

template <template <class> class Op> Handler binaryByType(Type type) {
  switch (type) {
  case Type::U16: return binary<Op<uint16_t>, uint16_t, uint16_t, uint16_t>;
  case Type::S16: return binary<Op<int16_t>, int16_t, int16_t, int16_t>;
  case Type::U32: return binary<Op<uint32_t>, uint32_t, uint32_t, uint32_t>;
  case Type::S32: return binary<Op<int32_t>, int32_t, int32_t, int32_t>;
  case Type::U64: return binary<Op<uint64_t>, uint64_t, uint64_t, uint64_t>;
  case Type::S64: return binary<Op<int64_t>, int64_t, int64_t, int64_t>;
  case Type::U16x2: return binary<Packed<uint16_t, Op<uint16_t>>, uint32_t, uint32_t, uint32_t>;
  case Type::S16x2: return binary<Packed<int16_t, Op<int16_t>>, uint32_t, uint32_t, uint32_t>;
  default: return nullptr;
  }
}
template <template <class> class Op> Handler ternaryByType(Type type) {
  switch (type) {
  case Type::U16: return ternary<Op<uint16_t>, uint16_t, uint16_t, uint16_t, uint16_t>;
  case Type::S16: return ternary<Op<int16_t>, int16_t, int16_t, int16_t, int16_t>;
  case Type::U32: return ternary<Op<uint32_t>, uint32_t, uint32_t, uint32_t, uint32_t>;
  case Type::S32: return ternary<Op<int32_t>, int32_t, int32_t, int32_t, int32_t>;
  case Type::U64: return ternary<Op<uint64_t>, uint64_t, uint64_t, uint64_t, uint64_t>;
  case Type::S64: return ternary<Op<int64_t>, int64_t, int64_t, int64_t, int64_t>;
  default: return nullptr;
  }
}
template <template <class> class Op> Handler logicByType(Type type) {
  switch (typeSize(type)) {
  case 2: return binary<Op<uint16_t>, uint16_t, uint16_t, uint16_t>;
  case 4: return binary<Op<uint32_t>, uint32_t, uint32_t, uint32_t>;
  case 8: return binary<Op<uint64_t>, uint64_t, uint64_t, uint64_t>;
  default: return nullptr;
  }
}
template <template <class> class Op> Handler unaryBits(Type type) {
  switch (typeSize(type)) {
  case 2: return unary<Op<uint16_t>, uint16_t, uint16_t>;
  case 4: return unary<Op<uint32_t>, uint32_t, uint32_t>;
  case 8: return unary<Op<uint64_t>, uint64_t, uint64_t>;
  default: return nullptr;
  }
}
template <template <class> class Op> Handler unarySigned(Type type) {
  switch (type) {
  case Type::S16: return unary<Op<int16_t>, int16_t, int16_t>;
  case Type::S32: return unary<Op<int32_t>, int32_t, int32_t>;
  case Type::S64: return unary<Op<int64_t>, int64_t, int64_t>;
  default: return nullptr;
  }
}
template <template <class> class Op> Handler shiftByType(Type type) {
  switch (type) {
  case Type::B16: case Type::U16: return binary<Op<uint16_t>, uint16_t, uint16_t, uint32_t>;
  case Type::S16: return binary<Op<int16_t>, int16_t, int16_t, uint32_t>;
  case Type::B32: case Type::U32: return binary<Op<uint32_t>, uint32_t, uint32_t, uint32_t>;
  case Type::S32: return binary<Op<int32_t>, int32_t, int32_t, uint32_t>;
  case Type::B64: case Type::U64: return binary<Op<uint64_t>, uint64_t, uint64_t, uint32_t>;
  case Type::S64: return binary<Op<int64_t>, int64_t, int64_t, uint32_t>;
  default: return nullptr;
  }
}
template <bool subtract> Handler carryHandler(const Form &form) {
  bool in = form.opcode() == "addc" || form.opcode() == "subc", out = form.has("cc");
  if (typeSize(form.type()) == 4)
    return in ? (out ? carryArithmetic<uint32_t, subtract, true, true> : carryArithmetic<uint32_t, subtract, true, false>)
              : carryArithmetic<uint32_t, subtract, false, true>;
  return in ? (out ? carryArithmetic<uint64_t, subtract, true, true> : carryArithmetic<uint64_t, subtract, true, false>)
            : carryArithmetic<uint64_t, subtract, false, true>;
}
template <class T> Handler carryMadHandler(const Form &form) {
  bool in = form.opcode() == "madc", out = form.has("cc");
  if (form.has("hi"))
    return in ? (out ? carryMad<T, true, true, true> : carryMad<T, true, true, false>) : carryMad<T, true, false, true>;
  return in ? (out ? carryMad<T, false, true, true> : carryMad<T, false, true, false>) : carryMad<T, false, false, true>;
}

Handler multiply(const Form &form) {
  Type type = form.type();
  if (form.has("wide")) {
    switch (type) {
    case Type::U16: return binary<MulWide<uint16_t>, uint32_t, uint16_t, uint16_t>;
    case Type::S16: return binary<MulWide<int16_t>, int32_t, int16_t, int16_t>;
    case Type::U32: return binary<MulWide<uint32_t>, uint64_t, uint32_t, uint32_t>;
    case Type::S32: return binary<MulWide<int32_t>, int64_t, int32_t, int32_t>;
    default: return nullptr;
    }
  }
  return form.has("hi") ? binaryByType<MulHi>(type) : binaryByType<MulLo>(type);
}

Handler multiplyAdd(const Form &form) {
  Type type = form.type();
  if (form.has("cc") || form.opcode() == "madc") {
    switch (type) {
    case Type::U32: return carryMadHandler<uint32_t>(form);
    case Type::S32: return carryMadHandler<int32_t>(form);
    case Type::U64: return carryMadHandler<uint64_t>(form);
    case Type::S64: return carryMadHandler<int64_t>(form);
    default: return nullptr;
    }
  }
  if (form.has("sat"))
    return ternary<MadHiSat, int32_t, int32_t, int32_t, int32_t>;
  if (form.has("wide")) {
    switch (type) {
    case Type::U16: return ternary<MadWide<uint16_t>, uint32_t, uint16_t, uint16_t, uint32_t>;
    case Type::S16: return ternary<MadWide<int16_t>, int32_t, int16_t, int16_t, int32_t>;
    case Type::U32: return ternary<MadWide<uint32_t>, uint64_t, uint32_t, uint32_t, uint64_t>;
    case Type::S32: return ternary<MadWide<int32_t>, int64_t, int32_t, int32_t, int64_t>;
    default: return nullptr;
    }
  }
  return form.has("hi") ? ternaryByType<MadHi>(type) : ternaryByType<MadLo>(type);
}

Handler bitField(const Form &form) {
  Type type = form.type();
  std::string_view op = form.opcode();
  if (op == "bfe") {
    switch (type) {
    case Type::U32: return ternary<Bfe<uint32_t>, uint32_t, uint32_t, uint32_t, uint32_t>;
    case Type::S32: return ternary<Bfe<int32_t>, int32_t, int32_t, uint32_t, uint32_t>;
    case Type::U64: return ternary<Bfe<uint64_t>, uint64_t, uint64_t, uint32_t, uint32_t>;
    case Type::S64: return ternary<Bfe<int64_t>, int64_t, int64_t, uint32_t, uint32_t>;
    default: return nullptr;
    }
  }
  if (op == "bfi")
    return type == Type::B32 ? quaternary<Bfi<uint32_t>, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>
                             : quaternary<Bfi<uint64_t>, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t>;
  bool amount = form.has("shiftamt"); // bfind
  switch (type) {
  case Type::U32: return amount ? unary<Bfind<uint32_t, true>, uint32_t, uint32_t> : unary<Bfind<uint32_t, false>, uint32_t, uint32_t>;
  case Type::S32: return amount ? unary<Bfind<int32_t, true>, uint32_t, int32_t> : unary<Bfind<int32_t, false>, uint32_t, int32_t>;
  case Type::U64: return amount ? unary<Bfind<uint64_t, true>, uint32_t, uint64_t> : unary<Bfind<uint64_t, false>, uint32_t, uint64_t>;
  case Type::S64: return amount ? unary<Bfind<int64_t, true>, uint32_t, int64_t> : unary<Bfind<int64_t, false>, uint32_t, int64_t>;
  default: return nullptr;
  }
}

Handler dotProduct(const Form &form) {
  bool a = form.type(0) == Type::S32, b = form.type(1) == Type::S32;
  using U = uint32_t;
  if (form.opcode() == "dp4a")
    return a ? (b ? ternary<Dp4a<true, true>, U, U, U, U> : ternary<Dp4a<true, false>, U, U, U, U>)
             : (b ? ternary<Dp4a<false, true>, U, U, U, U> : ternary<Dp4a<false, false>, U, U, U, U>);
  if (form.has("hi"))
    return a ? (b ? ternary<Dp2a<true, true, true>, U, U, U, U> : ternary<Dp2a<true, false, true>, U, U, U, U>)
             : (b ? ternary<Dp2a<false, true, true>, U, U, U, U> : ternary<Dp2a<false, false, true>, U, U, U, U>);
  return a ? (b ? ternary<Dp2a<true, true, false>, U, U, U, U> : ternary<Dp2a<true, false, false>, U, U, U, U>)
           : (b ? ternary<Dp2a<false, true, false>, U, U, U, U> : ternary<Dp2a<false, false, false>, U, U, U, U>);
}

Handler permute(const Form &form) {
  using U = uint32_t;
  if (form.has("f4e")) return ternary<Prmt<PrmtMode::F4e>, U, U, U, U>;
  if (form.has("b4e")) return ternary<Prmt<PrmtMode::B4e>, U, U, U, U>;
  if (form.has("rc8")) return ternary<Prmt<PrmtMode::Rc8>, U, U, U, U>;
  if (form.has("ecl")) return ternary<Prmt<PrmtMode::Ecl>, U, U, U, U>;
  if (form.has("ecr")) return ternary<Prmt<PrmtMode::Ecr>, U, U, U, U>;
  if (form.has("rc16")) return ternary<Prmt<PrmtMode::Rc16>, U, U, U, U>;
  return ternary<Prmt<PrmtMode::Index>, U, U, U, U>;
}

} // namespace

Handler selectInteger(const Form &form) {
  std::string_view op = form.opcode();
  Type type = form.type();
  using U = uint32_t;
  if (op == "add" || op == "sub") {
    bool subtract = op == "sub";
    if (form.has("sat"))
      return subtract ? binary<SubSat, int32_t, int32_t, int32_t> : binary<AddSat, int32_t, int32_t, int32_t>;
    if (form.has("cc"))
      return subtract ? carryHandler<true>(form) : carryHandler<false>(form);
    return subtract ? binaryByType<Sub>(type) : binaryByType<Add>(type);
  }
  if (op == "addc") return carryHandler<false>(form);
  if (op == "subc") return carryHandler<true>(form);
  if (op == "mul") return multiply(form);
  if (op == "mad" || op == "madc") return multiplyAdd(form);
  if (op == "mul24")
    return type == Type::S32 ? (form.has("hi") ? binary<Mul24Hi<int32_t>, int32_t, int32_t, int32_t> : binary<Mul24Lo<int32_t>, int32_t, int32_t, int32_t>)
                             : (form.has("hi") ? binary<Mul24Hi<U>, U, U, U> : binary<Mul24Lo<U>, U, U, U>);
  if (op == "mad24")
    return type == Type::S32
               ? (form.has("hi") ? ternary<Mad24Hi<int32_t>, int32_t, int32_t, int32_t, int32_t> : ternary<Mad24Lo<int32_t>, int32_t, int32_t, int32_t, int32_t>)
               : (form.has("hi") ? ternary<Mad24Hi<U>, U, U, U, U> : ternary<Mad24Lo<U>, U, U, U, U>);
  if (op == "div") return binaryByType<Div>(type);
  if (op == "rem") return binaryByType<Rem>(type);
  if (op == "min" || op == "max") {
    bool least = op == "min";
    if (form.has("relu")) {
      if (type == Type::S32)
        return least ? binary<Relu<int32_t, Min>, int32_t, int32_t, int32_t> : binary<Relu<int32_t, Max>, int32_t, int32_t, int32_t>;
      return least ? binary<Packed<int16_t, Relu<int16_t, Min>>, U, U, U> : binary<Packed<int16_t, Relu<int16_t, Max>>, U, U, U>;
    }
    return least ? binaryByType<Min>(type) : binaryByType<Max>(type);
  }
  if (op == "abs") return unarySigned<Abs>(type);
  if (op == "neg") return unarySigned<Neg>(type);
  if (op == "sad") return ternaryByType<Sad>(type);
  if (op == "dp4a" || op == "dp2a") return dotProduct(form);
  if (op == "and") return logicByType<And>(type);
  if (op == "or") return logicByType<Or>(type);
  if (op == "xor") return logicByType<Xor>(type);
  if (op == "not") return unaryBits<Not>(type);
  if (op == "cnot") return unaryBits<Cnot>(type);
  if (op == "lop3") return lop3;
  if (op == "shl") return shiftByType<Shl>(type);
  if (op == "shr") return shiftByType<Shr>(type);
  if (op == "shf")
    return form.has("l") ? (form.has("clamp") ? ternary<Shf<true, true>, U, U, U, U> : ternary<Shf<true, false>, U, U, U, U>)
                         : (form.has("clamp") ? ternary<Shf<false, true>, U, U, U, U> : ternary<Shf<false, false>, U, U, U, U>);
  if (op == "prmt") return permute(form);
  if (op == "popc") return type == Type::B32 ? unary<Popc<uint32_t>, U, uint32_t> : unary<Popc<uint64_t>, U, uint64_t>;
  if (op == "clz") return type == Type::B32 ? unary<Clz<uint32_t>, U, uint32_t> : unary<Clz<uint64_t>, U, uint64_t>;
  if (op == "brev") return unaryBits<Brev>(type);
  if (op == "bfind" || op == "bfe" || op == "bfi") return bitField(form);
  if (op == "bmsk") return form.has("clamp") ? binary<Bmsk<true>, U, U, U> : binary<Bmsk<false>, U, U, U>;
  if (op == "szext") {
    if (type == Type::S32)
      return form.has("clamp") ? binary<Szext<int32_t, true>, int32_t, int32_t, U> : binary<Szext<int32_t, false>, int32_t, int32_t, U>;
    return form.has("clamp") ? binary<Szext<U, true>, U, U, U> : binary<Szext<U, false>, U, U, U>;
  }
  return nullptr;
}

namespace {
template <class Op> void predicateBinary(Warp &warp, const Instruction &i) {
  writePredicate(warp, i.d, Op::apply(readPredicate(warp, i.a, i.flags & NegateA), readPredicate(warp, i.b, i.flags & NegateB)));
}
void predicateNot(Warp &warp, const Instruction &i) { writePredicate(warp, i.d, ~readPredicate(warp, i.a, i.flags & NegateA)); }
void predicateMove(Warp &warp, const Instruction &i) { writePredicate(warp, i.d, readPredicate(warp, i.a, i.flags & NegateA)); }
} // namespace

Handler selectPredicate(const Form &form) {
  std::string_view op = form.opcode();
  if (op == "and") return predicateBinary<And<uint32_t>>;
  if (op == "or") return predicateBinary<Or<uint32_t>>;
  if (op == "xor") return predicateBinary<Xor<uint32_t>>;
  if (op == "not") return predicateNot;
  return op == "mov" ? predicateMove : nullptr;
}

} // namespace WEFT_SIMULATOR_ISA
} // namespace weft::simulator
