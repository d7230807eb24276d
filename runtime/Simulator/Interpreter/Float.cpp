//===- Float.cpp - f32, f32x2 and f64 arithmetic ------------------------------------------===//
#include "runtime/Simulator/Interpreter/FloatFormats.h"

namespace weft::simulator {
namespace WEFT_SIMULATOR_ISA {
namespace {

struct AddOp {
  template <class T> static T apply(T a, T b) { return a + b; }
};
struct SubOp {
  template <class T> static T apply(T a, T b) { return a - b; }
};
struct MulOp {
  template <class T> static T apply(T a, T b) { return a * b; }
};
struct DivOp {
  template <class T> static T apply(T a, T b) { return a / b; }
};
struct FmaOp {
  template <class T> static T apply(T a, T b, T c) { return std::fma(a, b, c); }
};
struct RcpOp {
  template <class T> static T apply(T a) { return T(1) / a; }
};
struct SqrtOp {
  template <class T> static T apply(T a) { return std::sqrt(a); }
};
struct RsqrtOp {
  template <class T> static T apply(T a) { return T(1) / std::sqrt(a); }
};

template <class Op, bool ftz, bool sat> struct F1 {
  template <class T> static T apply(T a) {
    T r = flushIf<ftz>(canonical(Op::apply(flushIf<ftz>(a))));
    return sat ? saturate(r) : r;
  }
};
template <class Op, bool ftz, bool sat> struct F2 {
  template <class T> static T apply(T a, T b) {
    T r = flushIf<ftz>(canonical(Op::apply(flushIf<ftz>(a), flushIf<ftz>(b))));
    return sat ? saturate(r) : r;
  }
};
template <class Op, bool ftz, bool sat> struct F3 {
  template <class T> static T apply(T a, T b, T c) {
    T r = flushIf<ftz>(canonical(Op::apply(flushIf<ftz>(a), flushIf<ftz>(b), flushIf<ftz>(c))));
    return sat ? saturate(r) : r;
  }
};

/// Rounding other than to nearest: rare, so lane by lane under the host's rounding mode. The operands are volatile
/// lest the compiler moves the arithmetic out from under it.
template <class Op, class T, Rounding rounding, bool ftz, bool sat, unsigned arity>
void rounded(Warp &warp, const Instruction &i) {
  const T *a = warp.lanes<const T>(i.a);
  const T *b = arity > 1 ? warp.lanes<const T>(i.b) : a;
  const T *c = arity > 2 ? warp.lanes<const T>(i.c) : a;
  T *d = warp.lanes<T>(i.d);
  HostRounding mode(rounding);
  forLanes(warp.exec, [&](unsigned lane) {
    volatile T x = flushIf<ftz>(a[lane]), y = flushIf<ftz>(b[lane]), z = flushIf<ftz>(c[lane]);
    volatile T result;
    if constexpr (arity == 1)
      result = Op::template apply<T>(x);
    else if constexpr (arity == 2)
      result = Op::template apply<T>(x, y);
    else
      result = Op::template apply<T>(x, y, z);
    T r = flushIf<ftz>(canonical(T(result)));
    d[lane] = sat ? saturate(r) : r;
  });
}

template <class Op, class T, bool ftz, bool sat, unsigned arity> Handler nearest() {
  if constexpr (arity == 1)
    return unary<F1<Op, ftz, sat>, T, T>;
  else if constexpr (arity == 2)
    return binary<F2<Op, ftz, sat>, T, T, T>;
  else
    return ternary<F3<Op, ftz, sat>, T, T, T, T>;
}

template <class Op, class T, unsigned arity, bool ftz, bool sat> Handler byRounding(const Form &form) {
  switch (roundingOf(form)) {
  case Rounding::Nearest:
    return nearest<Op, T, ftz, sat, arity>();
  case Rounding::Zero:
    return rounded<Op, T, Rounding::Zero, ftz, sat, arity>;
  case Rounding::Down:
    return rounded<Op, T, Rounding::Down, ftz, sat, arity>;
  case Rounding::Up:
    return rounded<Op, T, Rounding::Up, ftz, sat, arity>;
  }
  return nullptr;
}

template <class Op, unsigned arity> Handler arithmetic(const Form &form) {
  if (form.type() == Type::F64)
    return byRounding<Op, double, arity, false, false>(form);
  bool ftz = form.has("ftz"), sat = form.has("sat");
  if (ftz)
    return sat ? byRounding<Op, float, arity, true, true>(form) : byRounding<Op, float, arity, true, false>(form);
  return sat ? byRounding<Op, float, arity, false, true>(form) : byRounding<Op, float, arity, false, false>(form);
}

/// Operands of f16 or bf16 beside a float accumulator: they are exact in f32.
template <class F, class Op, bool sat, unsigned arity> struct Mixed {
  static float apply(uint16_t a, float c) { return F2<Op, false, sat>::apply(F::toFloat(a), c); }
  static float apply(uint16_t a, uint16_t b, float c) {
    return F3<Op, false, sat>::apply(F::toFloat(a), F::toFloat(b), c);
  }
};
template <class F, class Op, Rounding rounding, bool sat, unsigned arity>
void mixedRounded(Warp &warp, const Instruction &i) {
  const uint16_t *a = warp.lanes<const uint16_t>(i.a);
  const uint16_t *b = arity > 2 ? warp.lanes<const uint16_t>(i.b) : a;
  const float *c = warp.lanes<const float>(arity > 2 ? i.c : i.b);
  float *d = warp.lanes<float>(i.d);
  HostRounding mode(rounding);
  forLanes(warp.exec, [&](unsigned lane) {
    volatile float x = F::toFloat(a[lane]), y = F::toFloat(b[lane]), z = c[lane];
    volatile float result;
    if constexpr (arity > 2)
      result = Op::template apply<float>(x, y, z);
    else
      result = Op::template apply<float>(x, z);
    float r = canonical(float(result));
    d[lane] = sat ? saturate(r) : r;
  });
}
template <class F, class Op, bool sat, unsigned arity> Handler mixedByRounding(const Form &form) {
  switch (roundingOf(form)) {
  case Rounding::Nearest:
    if constexpr (arity > 2)
      return ternary<Mixed<F, Op, sat, arity>, float, uint16_t, uint16_t, float>;
    else
      return binary<Mixed<F, Op, sat, arity>, float, uint16_t, float>;
  case Rounding::Zero:
    return mixedRounded<F, Op, Rounding::Zero, sat, arity>;
  case Rounding::Down:
    return mixedRounded<F, Op, Rounding::Down, sat, arity>;
  case Rounding::Up:
    return mixedRounded<F, Op, Rounding::Up, sat, arity>;
  }
  return nullptr;
}
template <class Op, unsigned arity> Handler mixed(const Form &form) {
  bool sat = form.has("sat");
  if (form.type(1) == Type::F16)
    return sat ? mixedByRounding<Half, Op, true, arity>(form) : mixedByRounding<Half, Op, false, arity>(form);
  return sat ? mixedByRounding<BFloat, Op, true, arity>(form) : mixedByRounding<BFloat, Op, false, arity>(form);
}

/// Two floats in a 64-bit register.
template <class Op, bool ftz, unsigned arity> struct F32x2 {
  static uint64_t half(uint32_t a, uint32_t b, uint32_t c) {
    if constexpr (arity == 2)
      return bitsOf<uint32_t>(F2<Op, ftz, false>::apply(bitsOf<float>(a), bitsOf<float>(b)));
    else
      return bitsOf<uint32_t>(F3<Op, ftz, false>::apply(bitsOf<float>(a), bitsOf<float>(b), bitsOf<float>(c)));
  }
  static uint64_t apply(uint64_t a, uint64_t b, uint64_t c = 0) {
    return half(uint32_t(a), uint32_t(b), uint32_t(c)) | half(uint32_t(a >> 32), uint32_t(b >> 32), uint32_t(c >> 32))
                                                             << 32;
  }
};
template <class Op> Handler pairs2(bool ftz) {
  return ftz ? binary<F32x2<Op, true, 2>, uint64_t, uint64_t, uint64_t>
             : binary<F32x2<Op, false, 2>, uint64_t, uint64_t, uint64_t>;
}

// Approximate functions: the value to within a rounding or two of the true one; hardware is allowed 1 to 2 ulp more.

/// 2^x. The reduction to [-0.5, 0.5] is exact; the polynomial's relative error is below 2^-26.
inline float exp2Fast(float x) {
  float clamped = x > 130.0f ? 130.0f : (x < -160.0f ? -160.0f : x);
  clamped = x != x ? 0.0f : clamped;
  float whole = (clamped + 12582912.0f) - 12582912.0f;
  float f = clamped - whole;
  float p = 1.5403530e-4f;
  p = p * f + 1.3333558e-3f;
  p = p * f + 9.6181291e-3f;
  p = p * f + 5.5504109e-2f;
  p = p * f + 2.4022651e-1f;
  p = p * f + 6.9314718e-1f;
  p = p * f + 1.0f;
  // In two factors, so that denormal results and 2^128 come out right.
  int32_t n = int32_t(whole);
  int32_t first = n >> 1, second = n - first;
  float low = bitsOf<float>(uint32_t(first + 127) << 23), high = bitsOf<float>(uint32_t(second + 127) << 23);
  float r = p * low * high;
  return x != x ? x : r;
}

/// log2(x) for finite positive x after scaling denormals; relative error below 2^-22 away from 1, absolute near it.
inline float log2Fast(float x) {
  bool tiny = x < 1.17549435e-38f;
  float scaled = tiny ? x * 8388608.0f : x;
  uint32_t bits = bitsOf<uint32_t>(scaled);
  int32_t exponent = int32_t(bits >> 23) - 127;
  float m = bitsOf<float>((bits & 0x007fffff) | 0x3f800000);
  bool upper = m > 1.41421356f;
  m = upper ? m * 0.5f : m;
  exponent = upper ? exponent + 1 : exponent;
  exponent = tiny ? exponent - 23 : exponent;
  double t = (double(m) - 1) / (double(m) + 1), t2 = t * t;
  double series = 2.8853900817779268 * t *
                  (1 + t2 * (1.0 / 3 + t2 * (1.0 / 5 + t2 * (1.0 / 7 + t2 * (1.0 / 9 + t2 * (1.0 / 11))))));
  float r = float(double(exponent) + series);
  r = x == std::numeric_limits<float>::infinity() ? x : r;
  r = x == 0 ? -std::numeric_limits<float>::infinity() : r;
  return x >= 0 ? r : std::numeric_limits<float>::quiet_NaN();
}

// ex2, lg2 and the reciprocals of .ftz forms flush both sides; sin and cos too.
struct Ex2Op {
  static float apply(float x) { return exp2Fast(x); }
};
struct Lg2Op {
  static float apply(float x) { return log2Fast(x); }
};
struct SinOp {
  static float apply(float x) { return float(std::sin(double(x))); }
};
struct CosOp {
  static float apply(float x) { return float(std::cos(double(x))); }
};
struct TanhOp {
  static float apply(float x) { return float(std::tanh(double(x))); }
};

/// The coarse double reciprocals work on the upper 32 bits only; the low ones of the result are zero.
template <class Op, bool ftz> struct CoarseDouble {
  static double apply(double x) {
    bool denormal = std::fabs(x) < std::numeric_limits<double>::min();
    double r = Op::apply(ftz && denormal ? std::copysign(0.0, x) : x);
    if (ftz && std::fabs(r) < std::numeric_limits<double>::min())
      r = std::copysign(0.0, r);
    return bitsOf<double>(r != r ? 0x7fffffff00000000 : bitsOf<uint64_t>(r) & 0xffffffff00000000);
  }
};

template <class Op> Handler approximate(const Form &form) {
  return form.has("ftz") ? unary<F1<Op, true, false>, float, float> : unary<F1<Op, false, false>, float, float>;
}

template <bool isMin, bool ftz, bool nan, bool xorsign> struct MinMax {
  template <class T> static T apply(T a, T b) {
    a = flushIf<ftz>(a);
    b = flushIf<ftz>(b);
    bool negative = false;
    if (xorsign) {
      negative = std::signbit(a) != std::signbit(b);
      a = std::fabs(a);
      b = std::fabs(b);
    }
    bool aNaN = a != a, bNaN = b != b;
    // -0 is less than +0.
    bool less = a < b || (a == b && std::signbit(a) && !std::signbit(b));
    T r = (isMin ? less : !less) ? a : b;
    r = aNaN ? b : bNaN ? a : r;
    bool isNaN = nan ? aNaN || bNaN : aNaN && bNaN;
    if (sizeof(T) == 4)
      r = isNaN ? T(bitsOf<float>(canonicalNaN)) : r;
    else
      r = isNaN ? (aNaN ? a : b) : r;
    if (xorsign && r == r)
      r = negative ? -r : r;
    return r;
  }
  template <class T> static T apply(T a, T b, T c) { return apply(apply(a, b), c); }
};

template <bool isMin> Handler minMax(const Form &form) {
  if (form.type() == Type::F64)
    return binary<MinMax<isMin, false, false, false>, double, double, double>;
  bool ftz = form.has("ftz"), nan = form.has("NaN"), xorsign = form.has("xorsign");
  if (ftz && nan)
    return xorsign ? binary<MinMax<isMin, true, true, true>, float, float, float>
                   : binary<MinMax<isMin, true, true, false>, float, float, float>;
  if (ftz)
    return xorsign ? binary<MinMax<isMin, true, false, true>, float, float, float>
                   : binary<MinMax<isMin, true, false, false>, float, float, float>;
  if (nan)
    return xorsign ? binary<MinMax<isMin, false, true, true>, float, float, float>
                   : binary<MinMax<isMin, false, true, false>, float, float, float>;
  return xorsign ? binary<MinMax<isMin, false, false, true>, float, float, float>
                 : binary<MinMax<isMin, false, false, false>, float, float, float>;
}

/// min and max with three sources: two operands would read a slot that is not there, so the choice is made when run.
template <bool isMin, bool ftz, bool nan> void minMax3(Warp &warp, const Instruction &i) {
  if (i.c == Instruction::none)
    binary<MinMax<isMin, ftz, nan, false>, float, float, float>(warp, i);
  else
    ternary<MinMax<isMin, ftz, nan, false>, float, float, float, float>(warp, i);
}
template <bool isMin> Handler minMaxHandler(const Form &form) {
  if (form.type() == Type::F64 || form.has("xorsign"))
    return minMax<isMin>(form);
  bool ftz = form.has("ftz"), nan = form.has("NaN");
  return ftz ? (nan ? minMax3<isMin, true, true> : minMax3<isMin, true, false>)
             : (nan ? minMax3<isMin, false, true> : minMax3<isMin, false, false>);
}

// abs and neg change the sign bit; NaN results of .f32 are canonical in PTX only for .ftz-free arithmetic, so the
// payload stays.
template <bool ftz> struct AbsOp {
  static float apply(float a) { return bitsOf<float>(bitsOf<uint32_t>(flushIf<ftz>(a)) & 0x7fffffff); }
  static double apply(double a) { return std::fabs(a); }
};
template <bool ftz> struct NegOp {
  static float apply(float a) { return bitsOf<float>(bitsOf<uint32_t>(flushIf<ftz>(a)) ^ 0x80000000); }
  static double apply(double a) { return bitsOf<double>(bitsOf<uint64_t>(a) ^ 0x8000000000000000); }
};
/// copysign d, a, b: the sign of a, the magnitude of b.
struct CopysignOp {
  template <class T> static T apply(T a, T b) { return std::copysign(b, a); }
};

} // namespace

Handler selectFloat(const Form &form) {
  std::string_view op = form.opcode();
  bool isDouble = form.type() == Type::F64, ftz = form.has("ftz");
  if (form.type() == Type::F32x2) {
    if (op == "add")
      return pairs2<AddOp>(ftz);
    if (op == "sub")
      return pairs2<SubOp>(ftz);
    if (op == "mul")
      return pairs2<MulOp>(ftz);
    return ftz ? ternary<F32x2<FmaOp, true, 3>, uint64_t, uint64_t, uint64_t, uint64_t>
               : ternary<F32x2<FmaOp, false, 3>, uint64_t, uint64_t, uint64_t, uint64_t>;
  }
  if (form.types.size() == 2)
    return op == "add" ? mixed<AddOp, 2>(form) : op == "sub" ? mixed<SubOp, 2>(form) : mixed<FmaOp, 3>(form);
  if (op == "add")
    return arithmetic<AddOp, 2>(form);
  if (op == "sub")
    return arithmetic<SubOp, 2>(form);
  if (op == "mul")
    return arithmetic<MulOp, 2>(form);
  if (op == "fma" || op == "mad")
    return arithmetic<FmaOp, 3>(form);
  if (op == "div")
    return arithmetic<DivOp, 2>(form);
  if (op == "rcp")
    return isDouble && ftz ? unary<CoarseDouble<RcpOp, true>, double, double> : arithmetic<RcpOp, 1>(form);
  if (op == "sqrt")
    return arithmetic<SqrtOp, 1>(form);
  if (op == "rsqrt") {
    if (isDouble)
      return ftz ? unary<CoarseDouble<RsqrtOp, true>, double, double>
                 : unary<CoarseDouble<RsqrtOp, false>, double, double>;
    return approximate<RsqrtOp>(form);
  }
  if (op == "ex2")
    return approximate<Ex2Op>(form);
  if (op == "lg2")
    return approximate<Lg2Op>(form);
  if (op == "sin")
    return approximate<SinOp>(form);
  if (op == "cos")
    return approximate<CosOp>(form);
  if (op == "tanh")
    return approximate<TanhOp>(form);
  if (op == "abs")
    return isDouble ? unary<AbsOp<false>, double, double>
           : ftz    ? unary<AbsOp<true>, float, float>
                    : unary<AbsOp<false>, float, float>;
  if (op == "neg")
    return isDouble ? unary<NegOp<false>, double, double>
           : ftz    ? unary<NegOp<true>, float, float>
                    : unary<NegOp<false>, float, float>;
  if (op == "min")
    return minMaxHandler<true>(form);
  if (op == "max")
    return minMaxHandler<false>(form);
  if (op == "copysign")
    return isDouble ? binary<CopysignOp, double, double, double> : binary<CopysignOp, float, float, float>;
  return nullptr;
}

} // namespace WEFT_SIMULATOR_ISA
} // namespace weft::simulator
