//===- Compare.cpp - setp, set, selp, slct and testp --------------------------------------------===//
#include "runtime/Simulator/Interpreter/FloatFormats.h"
#include "runtime/Simulator/Interpreter/FormBits.h"

namespace weft::simulator {
namespace WEFT_SIMULATOR_ISA {
namespace {

// Ordered comparisons are false on NaN, as C++'s are, except ne; the u forms are true on NaN.
struct Eq {
  template <class T> static bool apply(T a, T b) { return a == b; }
};
struct Ne {
  template <class T> static bool apply(T a, T b) { return a < b || a > b; }
};
struct Lt {
  template <class T> static bool apply(T a, T b) { return a < b; }
};
struct Le {
  template <class T> static bool apply(T a, T b) { return a <= b; }
};
struct Gt {
  template <class T> static bool apply(T a, T b) { return a > b; }
};
struct Ge {
  template <class T> static bool apply(T a, T b) { return a >= b; }
};
struct Equ {
  template <class T> static bool apply(T a, T b) { return !(a < b || a > b); }
};
struct Neu {
  template <class T> static bool apply(T a, T b) { return !(a == b); }
};
struct Ltu {
  template <class T> static bool apply(T a, T b) { return !(a >= b); }
};
struct Leu {
  template <class T> static bool apply(T a, T b) { return !(a > b); }
};
struct Gtu {
  template <class T> static bool apply(T a, T b) { return !(a <= b); }
};
struct Geu {
  template <class T> static bool apply(T a, T b) { return !(a < b); }
};
struct Num {
  template <class T> static bool apply(T a, T b) { return a == a && b == b; }
};
struct Nan {
  template <class T> static bool apply(T a, T b) { return a != a || b != b; }
};

// How a register's lanes become what is compared.
template <class T> struct Plain {
  using Stored = T;
  using Compared = T;
  static T load(T x) { return x; }
  static T flushed(T x) { return x; }
};
struct Single {
  using Stored = float;
  using Compared = float;
  static float load(float x) { return x; }
  static float flushed(float x) { return flush(x); }
};
template <class F, unsigned shift, class StoredType> struct Small {
  using Stored = StoredType;
  using Compared = float;
  static float load(Stored x) { return F::toFloat(uint16_t(x >> shift)); }
  static float flushed(Stored x) { return F::toFloat(F::flush(uint16_t(x >> shift))); }
};

template <class Op, class Source> uint32_t compare(Warp &warp, const Instruction &i) {
  using Stored = typename Source::Stored;
  using Compared = typename Source::Compared;
  const Stored *a = warp.lanes<const Stored>(i.a), *b = warp.lanes<const Stored>(i.b);
  alignas(64) uint32_t bits[warpSize];
  if (i.immediate & FlushDenormals) {
    for (unsigned lane = 0; lane < warpSize; ++lane)
      bits[lane] = uint32_t(Op::template apply<Compared>(Source::flushed(a[lane]), Source::flushed(b[lane]))) << lane;
  } else {
    WEFT_LANES
    for (unsigned lane = 0; lane < warpSize; ++lane)
      bits[lane] = uint32_t(Op::template apply<Compared>(Source::load(a[lane]), Source::load(b[lane]))) << lane;
  }
  uint32_t mask = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane)
    mask |= bits[lane];
  return mask;
}

uint32_t combine(Warp &warp, const Instruction &i, uint32_t mask) {
  if (!(i.immediate & (CombineAnd | CombineOr | CombineXor)))
    return mask;
  uint32_t c = readPredicate(warp, i.c, i.flags & NegateC);
  return i.immediate & CombineAnd ? mask & c : i.immediate & CombineOr ? mask | c : mask ^ c;
}

template <class Op, class Source> void setp(Warp &warp, const Instruction &i) {
  uint32_t mask = compare<Op, Source>(warp, i);
  uint32_t first = combine(warp, i, mask), second = i.flags & HasE ? combine(warp, i, ~mask) : 0;
  writePredicate(warp, i.d, first);
  if (i.flags & HasE)
    writePredicate(warp, i.e, second);
}

/// setp on pairs: the first predicate is that of the low halves.
template <class Op, class F> void setpPair(Warp &warp, const Instruction &i) {
  uint32_t low = compare<Op, Small<F, 0, uint32_t>>(warp, i), high = compare<Op, Small<F, 16, uint32_t>>(warp, i);
  writePredicate(warp, i.d, low);
  if (i.flags & HasE)
    writePredicate(warp, i.e, high);
}

template <class Op, class Source, class D> void setTo(Warp &warp, const Instruction &i, D yes) {
  uint32_t mask = compare<Op, Source>(warp, i);
  D *d = warp.lanes<D>(i.d);
  forLanes(warp.exec, [&](unsigned lane) { d[lane] = (mask >> lane) & 1 ? yes : D(0); });
}
template <class Op, class Source> void setOnes(Warp &warp, const Instruction &i) {
  setTo<Op, Source, uint32_t>(warp, i, ~0u);
}
template <class Op, class Source> void setFloat(Warp &warp, const Instruction &i) {
  setTo<Op, Source, uint32_t>(warp, i, 0x3f800000);
}
template <class Op, class F> void setSmall(Warp &warp, const Instruction &i) {
  setTo<Op, Small<F, 0, uint16_t>, uint16_t>(warp, i, F::fromFloat(1));
}
template <class Op, class F, bool ones> void setPair(Warp &warp, const Instruction &i) {
  uint32_t low = compare<Op, Small<F, 0, uint32_t>>(warp, i), high = compare<Op, Small<F, 16, uint32_t>>(warp, i);
  uint32_t yes = ones ? 0xffff : F::fromFloat(1);
  uint32_t *d = warp.lanes<uint32_t>(i.d);
  forLanes(warp.exec,
           [&](unsigned lane) { d[lane] = ((low >> lane) & 1 ? yes : 0) | ((high >> lane) & 1 ? yes : 0) << 16; });
}

enum class Use { Setp, SetOnes, SetFloat };
template <class Op, class Source> Handler use(Use wanted) {
  switch (wanted) {
  case Use::Setp:
    return setp<Op, Source>;
  case Use::SetOnes:
    return setOnes<Op, Source>;
  case Use::SetFloat:
    return setFloat<Op, Source>;
  }
  return nullptr;
}

template <class T> Handler integerComparison(std::string_view op, Use wanted) {
  using S = Plain<T>;
  if (op == "eq")
    return use<Eq, S>(wanted);
  if (op == "ne")
    return use<Ne, S>(wanted);
  if (op == "lt" || op == "lo")
    return use<Lt, S>(wanted);
  if (op == "le" || op == "ls")
    return use<Le, S>(wanted);
  if (op == "gt" || op == "hi")
    return use<Gt, S>(wanted);
  if (op == "ge" || op == "hs")
    return use<Ge, S>(wanted);
  return nullptr;
}

/// Calls `make` with the comparison that `op` names.
template <class Make> Handler floatComparison(std::string_view op, Make make) {
  if (op == "eq")
    return make(Eq());
  if (op == "ne")
    return make(Ne());
  if (op == "lt")
    return make(Lt());
  if (op == "le")
    return make(Le());
  if (op == "gt")
    return make(Gt());
  if (op == "ge")
    return make(Ge());
  if (op == "equ")
    return make(Equ());
  if (op == "neu")
    return make(Neu());
  if (op == "ltu")
    return make(Ltu());
  if (op == "leu")
    return make(Leu());
  if (op == "gtu")
    return make(Gtu());
  if (op == "geu")
    return make(Geu());
  if (op == "num")
    return make(Num());
  if (op == "nan")
    return make(Nan());
  return nullptr;
}

Handler comparison(const Form &form, Type type, Use wanted) {
  std::string_view op = form.modifiers[1];
  switch (type) {
  case Type::B16:
  case Type::U16:
    return integerComparison<uint16_t>(op, wanted);
  case Type::S16:
    return integerComparison<int16_t>(op, wanted);
  case Type::B32:
  case Type::U32:
    return integerComparison<uint32_t>(op, wanted);
  case Type::S32:
    return integerComparison<int32_t>(op, wanted);
  case Type::B64:
  case Type::U64:
    return integerComparison<uint64_t>(op, wanted);
  case Type::S64:
    return integerComparison<int64_t>(op, wanted);
  case Type::F32:
    return floatComparison(op, [&](auto c) { return use<decltype(c), Single>(wanted); });
  case Type::F64:
    return floatComparison(op, [&](auto c) { return use<decltype(c), Plain<double>>(wanted); });
  default:
    break;
  }
  if (wanted == Use::Setp) {
    switch (type) {
    case Type::F16:
      return floatComparison(op, [](auto c) { return Handler(setp<decltype(c), Small<Half, 0, uint16_t>>); });
    case Type::BF16:
      return floatComparison(op, [](auto c) { return Handler(setp<decltype(c), Small<BFloat, 0, uint16_t>>); });
    case Type::F16x2:
      return floatComparison(op, [](auto c) { return Handler(setpPair<decltype(c), Half>); });
    case Type::BF16x2:
      return floatComparison(op, [](auto c) { return Handler(setpPair<decltype(c), BFloat>); });
    default:
      return nullptr;
    }
  }
  bool ones = form.type(0) == Type::U32;
  switch (type) {
  case Type::F16:
    return floatComparison(op, [](auto c) { return Handler(setSmall<decltype(c), Half>); });
  case Type::BF16:
    return floatComparison(op, [](auto c) { return Handler(setSmall<decltype(c), BFloat>); });
  case Type::F16x2:
    return floatComparison(op, [&](auto c) {
      return ones ? Handler(setPair<decltype(c), Half, true>) : Handler(setPair<decltype(c), Half, false>);
    });
  case Type::BF16x2:
    return floatComparison(op, [&](auto c) {
      return ones ? Handler(setPair<decltype(c), BFloat, true>) : Handler(setPair<decltype(c), BFloat, false>);
    });
  default:
    return nullptr;
  }
}

template <class T> void selp(Warp &warp, const Instruction &i) {
  const T *a = warp.lanes<const T>(i.a), *b = warp.lanes<const T>(i.b);
  uint32_t choice = readPredicate(warp, i.c, i.flags & NegateC);
  alignas(64) T result[warpSize];
  WEFT_LANES
  for (unsigned lane = 0; lane < warpSize; ++lane)
    result[lane] = (choice >> lane) & 1 ? a[lane] : b[lane];
  blend(warp.lanes<T>(i.d), result, warp.exec);
}

struct SlctInteger {
  template <class T> static T apply(T a, T b, int32_t c) { return c >= 0 ? a : b; }
};
struct SlctFloat {
  template <class T> static T apply(T a, T b, float c) { return c >= 0 ? a : b; }
};
struct SlctFlushed {
  template <class T> static T apply(T a, T b, float c) { return flush(c) >= 0 ? a : b; }
};
template <class T> Handler slct(const Form &form) {
  if (form.type(1) == Type::S32)
    return ternary<SlctInteger, T, T, T, int32_t>;
  return form.has("ftz") ? ternary<SlctFlushed, T, T, T, float> : ternary<SlctFloat, T, T, T, float>;
}

enum class Test { Finite, Infinite, Number, NotANumber, Normal, Subnormal };
template <Test test, class T> void testp(Warp &warp, const Instruction &i) {
  const T *a = warp.lanes<const T>(i.a);
  uint32_t mask = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    int kind = std::fpclassify(a[lane]);
    bool yes = false;
    switch (test) {
    case Test::Finite:
      yes = kind != FP_NAN && kind != FP_INFINITE;
      break;
    case Test::Infinite:
      yes = kind == FP_INFINITE;
      break;
    case Test::Number:
      yes = kind != FP_NAN;
      break;
    case Test::NotANumber:
      yes = kind == FP_NAN;
      break;
    case Test::Normal:
      yes = kind == FP_NORMAL;
      break;
    case Test::Subnormal:
      yes = kind == FP_SUBNORMAL;
      break;
    }
    mask |= uint32_t(yes) << lane;
  }
  writePredicate(warp, i.d, mask);
}
template <class T> Handler test(const Form &form) {
  if (form.has("finite"))
    return testp<Test::Finite, T>;
  if (form.has("infinite"))
    return testp<Test::Infinite, T>;
  if (form.has("number"))
    return testp<Test::Number, T>;
  if (form.has("notanumber"))
    return testp<Test::NotANumber, T>;
  return form.has("normal") ? testp<Test::Normal, T> : testp<Test::Subnormal, T>;
}

} // namespace

Handler selectCompare(const Form &form) {
  std::string_view op = form.opcode();
  if (op == "setp")
    return comparison(form, form.type(), Use::Setp);
  if (op == "set")
    return comparison(form, form.type(1), form.type(0) == Type::F32 ? Use::SetFloat : Use::SetOnes);
  if (op == "testp")
    return form.type() == Type::F32 ? test<float>(form) : test<double>(form);
  switch (typeSize(form.type())) {
  case 2:
    return op == "selp" ? selp<uint16_t> : slct<uint16_t>(form);
  case 4:
    return op == "selp" ? selp<uint32_t> : slct<uint32_t>(form);
  case 8:
    return op == "selp" ? selp<uint64_t> : slct<uint64_t>(form);
  default:
    return nullptr;
  }
}

} // namespace WEFT_SIMULATOR_ISA
} // namespace weft::simulator
