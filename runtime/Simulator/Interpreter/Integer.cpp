//===- Integer.cpp - Integer arithmetic ---------------------------------------===//
#include "runtime/Simulator/Interpreter/IntegerTypes.h"

namespace weft::simulator {
namespace WEFT_SIMULATOR_ISA {
namespace {

template <class T> struct Add {
  static T apply(T a, T b) { return T(Work<T>(a) + Work<T>(b)); }
};
template <class T> struct Sub {
  static T apply(T a, T b) { return T(Work<T>(a) - Work<T>(b)); }
};
template <class T> struct MulLo {
  static T apply(T a, T b) { return T(Work<T>(a) * Work<T>(b)); }
};
template <class T> struct MulHi {
  static T apply(T a, T b) { return T((Wide<T>(a) * Wide<T>(b)) >> (sizeof(T) * 8)); }
};
template <class T> struct MulWide {
  static Wide<T> apply(T a, T b) { return Wide<T>(a) * Wide<T>(b); }
};
template <class T> struct MadLo {
  static T apply(T a, T b, T c) { return T(Work<T>(a) * Work<T>(b) + Work<T>(c)); }
};
template <class T> struct MadHi {
  static T apply(T a, T b, T c) { return T(Work<T>(MulHi<T>::apply(a, b)) + Work<T>(c)); }
};
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
template <class T> struct Mul24Lo {
  static T apply(T a, T b) { return T(product24(a, b)); }
};
template <class T> struct Mul24Hi {
  static T apply(T a, T b) { return T(product24(a, b) >> 16); }
};
template <class T> struct Mad24Lo {
  static T apply(T a, T b, T c) { return T(uint32_t(product24(a, b)) + uint32_t(c)); }
};
template <class T> struct Mad24Hi {
  static T apply(T a, T b, T c) { return T(uint32_t(product24(a, b) >> 16) + uint32_t(c)); }
};

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
template <class T> struct Min {
  static T apply(T a, T b) { return a < b ? a : b; }
};
template <class T> struct Max {
  static T apply(T a, T b) { return a > b ? a : b; }
};
template <class T, template <class> class Op> struct Relu {
  static T apply(T a, T b) {
    T result = Op<T>::apply(a, b);
    return result < 0 ? T(0) : result;
  }
};
template <class T> struct Abs {
  static T apply(T a) { return a < 0 ? T(Work<T>(0) - Work<T>(a)) : a; }
};
template <class T> struct Neg {
  static T apply(T a) { return T(Work<T>(0) - Work<T>(a)); }
};
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

template <template <class> class Op> Handler binaryByType(Type type) {
  switch (type) {
  case Type::U16:
    return binary<Op<uint16_t>, uint16_t, uint16_t, uint16_t>;
  case Type::S16:
    return binary<Op<int16_t>, int16_t, int16_t, int16_t>;
  case Type::U32:
    return binary<Op<uint32_t>, uint32_t, uint32_t, uint32_t>;
  case Type::S32:
    return binary<Op<int32_t>, int32_t, int32_t, int32_t>;
  case Type::U64:
    return binary<Op<uint64_t>, uint64_t, uint64_t, uint64_t>;
  case Type::S64:
    return binary<Op<int64_t>, int64_t, int64_t, int64_t>;
  case Type::U16x2:
    return binary<Packed<uint16_t, Op<uint16_t>>, uint32_t, uint32_t, uint32_t>;
  case Type::S16x2:
    return binary<Packed<int16_t, Op<int16_t>>, uint32_t, uint32_t, uint32_t>;
  default:
    return nullptr;
  }
}
template <template <class> class Op> Handler ternaryByType(Type type) {
  switch (type) {
  case Type::U16:
    return ternary<Op<uint16_t>, uint16_t, uint16_t, uint16_t, uint16_t>;
  case Type::S16:
    return ternary<Op<int16_t>, int16_t, int16_t, int16_t, int16_t>;
  case Type::U32:
    return ternary<Op<uint32_t>, uint32_t, uint32_t, uint32_t, uint32_t>;
  case Type::S32:
    return ternary<Op<int32_t>, int32_t, int32_t, int32_t, int32_t>;
  case Type::U64:
    return ternary<Op<uint64_t>, uint64_t, uint64_t, uint64_t, uint64_t>;
  case Type::S64:
    return ternary<Op<int64_t>, int64_t, int64_t, int64_t, int64_t>;
  default:
    return nullptr;
  }
}
template <template <class> class Op> Handler unarySigned(Type type) {
  switch (type) {
  case Type::S16:
    return unary<Op<int16_t>, int16_t, int16_t>;
  case Type::S32:
    return unary<Op<int32_t>, int32_t, int32_t>;
  case Type::S64:
    return unary<Op<int64_t>, int64_t, int64_t>;
  default:
    return nullptr;
  }
}
template <bool subtract> Handler carryHandler(const Form &form) {
  bool in = form.opcode() == "addc" || form.opcode() == "subc", out = form.has("cc");
  if (typeSize(form.type()) == 4)
    return in ? (out ? carryArithmetic<uint32_t, subtract, true, true>
                     : carryArithmetic<uint32_t, subtract, true, false>)
              : carryArithmetic<uint32_t, subtract, false, true>;
  return in ? (out ? carryArithmetic<uint64_t, subtract, true, true> : carryArithmetic<uint64_t, subtract, true, false>)
            : carryArithmetic<uint64_t, subtract, false, true>;
}
template <class T> Handler carryMadHandler(const Form &form) {
  bool in = form.opcode() == "madc", out = form.has("cc");
  if (form.has("hi"))
    return in ? (out ? carryMad<T, true, true, true> : carryMad<T, true, true, false>) : carryMad<T, true, false, true>;
  return in ? (out ? carryMad<T, false, true, true> : carryMad<T, false, true, false>)
            : carryMad<T, false, false, true>;
}

Handler multiply(const Form &form) {
  Type type = form.type();
  if (form.has("wide")) {
    switch (type) {
    case Type::U16:
      return binary<MulWide<uint16_t>, uint32_t, uint16_t, uint16_t>;
    case Type::S16:
      return binary<MulWide<int16_t>, int32_t, int16_t, int16_t>;
    case Type::U32:
      return binary<MulWide<uint32_t>, uint64_t, uint32_t, uint32_t>;
    case Type::S32:
      return binary<MulWide<int32_t>, int64_t, int32_t, int32_t>;
    default:
      return nullptr;
    }
  }
  return form.has("hi") ? binaryByType<MulHi>(type) : binaryByType<MulLo>(type);
}

Handler multiplyAdd(const Form &form) {
  Type type = form.type();
  if (form.has("cc") || form.opcode() == "madc") {
    switch (type) {
    case Type::U32:
      return carryMadHandler<uint32_t>(form);
    case Type::S32:
      return carryMadHandler<int32_t>(form);
    case Type::U64:
      return carryMadHandler<uint64_t>(form);
    case Type::S64:
      return carryMadHandler<int64_t>(form);
    default:
      return nullptr;
    }
  }
  if (form.has("sat"))
    return ternary<MadHiSat, int32_t, int32_t, int32_t, int32_t>;
  if (form.has("wide")) {
    switch (type) {
    case Type::U16:
      return ternary<MadWide<uint16_t>, uint32_t, uint16_t, uint16_t, uint32_t>;
    case Type::S16:
      return ternary<MadWide<int16_t>, int32_t, int16_t, int16_t, int32_t>;
    case Type::U32:
      return ternary<MadWide<uint32_t>, uint64_t, uint32_t, uint32_t, uint64_t>;
    case Type::S32:
      return ternary<MadWide<int32_t>, int64_t, int32_t, int32_t, int64_t>;
    default:
      return nullptr;
    }
  }
  return form.has("hi") ? ternaryByType<MadHi>(type) : ternaryByType<MadLo>(type);
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
  if (op == "addc")
    return carryHandler<false>(form);
  if (op == "subc")
    return carryHandler<true>(form);
  if (op == "mul")
    return multiply(form);
  if (op == "mad" || op == "madc")
    return multiplyAdd(form);
  if (op == "mul24")
    return type == Type::S32 ? (form.has("hi") ? binary<Mul24Hi<int32_t>, int32_t, int32_t, int32_t>
                                               : binary<Mul24Lo<int32_t>, int32_t, int32_t, int32_t>)
                             : (form.has("hi") ? binary<Mul24Hi<U>, U, U, U> : binary<Mul24Lo<U>, U, U, U>);
  if (op == "mad24")
    return type == Type::S32 ? (form.has("hi") ? ternary<Mad24Hi<int32_t>, int32_t, int32_t, int32_t, int32_t>
                                               : ternary<Mad24Lo<int32_t>, int32_t, int32_t, int32_t, int32_t>)
                             : (form.has("hi") ? ternary<Mad24Hi<U>, U, U, U, U> : ternary<Mad24Lo<U>, U, U, U, U>);
  if (op == "div")
    return binaryByType<Div>(type);
  if (op == "rem")
    return binaryByType<Rem>(type);
  if (op == "min" || op == "max") {
    bool least = op == "min";
    if (form.has("relu")) {
      if (type == Type::S32)
        return least ? binary<Relu<int32_t, Min>, int32_t, int32_t, int32_t>
                     : binary<Relu<int32_t, Max>, int32_t, int32_t, int32_t>;
      return least ? binary<Packed<int16_t, Relu<int16_t, Min>>, U, U, U>
                   : binary<Packed<int16_t, Relu<int16_t, Max>>, U, U, U>;
    }
    return least ? binaryByType<Min>(type) : binaryByType<Max>(type);
  }
  if (op == "abs")
    return unarySigned<Abs>(type);
  if (op == "neg")
    return unarySigned<Neg>(type);
  if (op == "sad")
    return ternaryByType<Sad>(type);
  if (op == "dp4a" || op == "dp2a")
    return dotProduct(form);
  return selectBits(form);
}

} // namespace WEFT_SIMULATOR_ISA
} // namespace weft::simulator
