//===- Half.cpp - f16 and bf16 arithmetic, one or two a register ------------------------------===//
#include "runtime/Simulator/Interpreter/FloatFormats.h"

namespace weft::simulator {
namespace WEFT_SIMULATOR_ISA {
namespace {

// f32 has more than twice f16's bits plus two, so for add, sub and mul rounding twice is rounding once. bf16 has f32's
// exponents, where denormal products do not fit; its arithmetic goes through double.
template <class F> uint16_t roundSum(double exactOrOdd) { return F::fromDouble(exactOrOdd, Rounding::Nearest); }

struct AddOp {
  static double apply(double a, double b) { return addToOdd(a, b); }
  static float fast(float a, float b) { return a + b; }
};
struct SubOp {
  static double apply(double a, double b) { return addToOdd(a, -b); }
  static float fast(float a, float b) { return a - b; }
};
struct MulOp {
  static double apply(double a, double b) { return a * b; }
  static float fast(float a, float b) { return a * b; }
};

template <class F> uint16_t finish(uint16_t x, bool ftz, bool sat, bool relu) {
  if (ftz)
    x = F::flush(x);
  if (sat) {
    float value = F::toFloat(x);
    return F::fromFloat(saturate(value));
  }
  if (relu) {
    if (F::isNaN(x))
      return F::nan;
    return x & 0x8000 ? 0 : x;
  }
  return x;
}

template <class F, class Op, bool ftz, bool sat> struct H2 {
  static uint16_t apply(uint16_t a, uint16_t b) {
    if (ftz) {
      a = F::flush(a);
      b = F::flush(b);
    }
    uint16_t r;
    if (std::is_same<F, Half>::value)
      r = F::fromFloat(Op::fast(F::toFloat(a), F::toFloat(b)));
    else
      r = roundSum<F>(Op::apply(F::toFloat(a), F::toFloat(b)));
    return finish<F>(r, ftz, sat, false);
  }
};
template <class F, bool ftz, bool sat, bool relu> struct HFma {
  static uint16_t apply(uint16_t a, uint16_t b, uint16_t c) {
    if (ftz) {
      a = F::flush(a);
      b = F::flush(b);
      c = F::flush(c);
    }
    double product = double(F::toFloat(a)) * double(F::toFloat(b)); // exact
    return finish<F>(roundSum<F>(addToOdd(product, F::toFloat(c))), ftz, sat, relu);
  }
};
template <class F, bool ftz> struct HAbs {
  static uint16_t apply(uint16_t a) { return uint16_t((ftz ? F::flush(a) : a) & 0x7fff); }
};
template <class F, bool ftz> struct HNeg {
  static uint16_t apply(uint16_t a) { return uint16_t((ftz ? F::flush(a) : a) ^ 0x8000); }
};
template <class F, bool isMin, bool ftz, bool nan, bool xorsign> struct HMinMax {
  static uint16_t apply(uint16_t a, uint16_t b) {
    if (ftz) {
      a = F::flush(a);
      b = F::flush(b);
    }
    uint16_t sign = 0;
    if (xorsign) {
      sign = (a ^ b) & 0x8000;
      a &= 0x7fff;
      b &= 0x7fff;
    }
    bool aNaN = F::isNaN(a), bNaN = F::isNaN(b);
    if (nan ? aNaN || bNaN : aNaN && bNaN)
      return F::nan;
    if (aNaN)
      return uint16_t(b ^ sign);
    if (bNaN)
      return uint16_t(a ^ sign);
    // Sign and magnitude to an order that has -0 below +0.
    auto key = [](uint16_t x) { return x & 0x8000 ? -int(x & 0x7fff) - 1 : int(x); };
    bool less = key(a) < key(b);
    return uint16_t(((isMin ? less : !less) ? a : b) ^ sign);
  }
};
template <class F> struct HTanh {
  static uint16_t apply(uint16_t a) { return F::fromFloat(float(std::tanh(double(F::toFloat(a))))); }
};
template <class F, bool ftz> struct HEx2 {
  static uint16_t apply(uint16_t a) {
    uint16_t r = F::fromFloat(float(std::exp2(double(F::toFloat(ftz ? F::flush(a) : a)))));
    return ftz ? F::flush(r) : r;
  }
};

template <class Op> struct Both {
  static uint32_t apply(uint32_t a) {
    return uint32_t(Op::apply(uint16_t(a))) | uint32_t(Op::apply(uint16_t(a >> 16))) << 16;
  }
  static uint32_t apply(uint32_t a, uint32_t b) {
    return uint32_t(Op::apply(uint16_t(a), uint16_t(b))) | uint32_t(Op::apply(uint16_t(a >> 16), uint16_t(b >> 16)))
                                                               << 16;
  }
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    return uint32_t(Op::apply(uint16_t(a), uint16_t(b), uint16_t(c))) |
           uint32_t(Op::apply(uint16_t(a >> 16), uint16_t(b >> 16), uint16_t(c >> 16))) << 16;
  }
};

template <class Op> Handler one(bool packed) {
  return packed ? unary<Both<Op>, uint32_t, uint32_t> : unary<Op, uint16_t, uint16_t>;
}
template <class Op> Handler two(bool packed) {
  return packed ? binary<Both<Op>, uint32_t, uint32_t, uint32_t> : binary<Op, uint16_t, uint16_t, uint16_t>;
}
template <class Op> Handler three(bool packed) {
  return packed ? ternary<Both<Op>, uint32_t, uint32_t, uint32_t, uint32_t>
                : ternary<Op, uint16_t, uint16_t, uint16_t, uint16_t>;
}

template <class F, class Op> Handler arithmetic(const Form &form, bool packed) {
  bool ftz = form.has("ftz"), sat = form.has("sat");
  if (ftz)
    return sat ? two<H2<F, Op, true, true>>(packed) : two<H2<F, Op, true, false>>(packed);
  return sat ? two<H2<F, Op, false, true>>(packed) : two<H2<F, Op, false, false>>(packed);
}
template <class F> Handler fusedMultiplyAdd(const Form &form, bool packed) {
  bool ftz = form.has("ftz");
  if (form.has("sat"))
    return ftz ? three<HFma<F, true, true, false>>(packed) : three<HFma<F, false, true, false>>(packed);
  if (form.has("relu"))
    return ftz ? three<HFma<F, true, false, true>>(packed) : three<HFma<F, false, false, true>>(packed);
  return ftz ? three<HFma<F, true, false, false>>(packed) : three<HFma<F, false, false, false>>(packed);
}
template <class F, bool isMin> Handler minMax(const Form &form, bool packed) {
  bool ftz = form.has("ftz"), nan = form.has("NaN"), xorsign = form.has("xorsign");
  if (ftz && nan)
    return xorsign ? two<HMinMax<F, isMin, true, true, true>>(packed)
                   : two<HMinMax<F, isMin, true, true, false>>(packed);
  if (ftz)
    return xorsign ? two<HMinMax<F, isMin, true, false, true>>(packed)
                   : two<HMinMax<F, isMin, true, false, false>>(packed);
  if (nan)
    return xorsign ? two<HMinMax<F, isMin, false, true, true>>(packed)
                   : two<HMinMax<F, isMin, false, true, false>>(packed);
  return xorsign ? two<HMinMax<F, isMin, false, false, true>>(packed)
                 : two<HMinMax<F, isMin, false, false, false>>(packed);
}

template <class F> Handler select(const Form &form, bool packed) {
  std::string_view op = form.opcode();
  bool ftz = form.has("ftz");
  if (op == "add")
    return arithmetic<F, AddOp>(form, packed);
  if (op == "sub")
    return arithmetic<F, SubOp>(form, packed);
  if (op == "mul")
    return arithmetic<F, MulOp>(form, packed);
  if (op == "fma")
    return fusedMultiplyAdd<F>(form, packed);
  if (op == "abs")
    return ftz ? one<HAbs<F, true>>(packed) : one<HAbs<F, false>>(packed);
  if (op == "neg")
    return ftz ? one<HNeg<F, true>>(packed) : one<HNeg<F, false>>(packed);
  if (op == "min")
    return minMax<F, true>(form, packed);
  if (op == "max")
    return minMax<F, false>(form, packed);
  if (op == "tanh")
    return one<HTanh<F>>(packed);
  if (op == "ex2")
    return ftz ? one<HEx2<F, true>>(packed) : one<HEx2<F, false>>(packed);
  return nullptr;
}

} // namespace

Handler selectHalf(const Form &form) {
  bool packed = form.type() == Type::F16x2 || form.type() == Type::BF16x2;
  return form.type() == Type::F16 || form.type() == Type::F16x2 ? select<Half>(form, packed)
                                                                : select<BFloat>(form, packed);
}

} // namespace WEFT_SIMULATOR_ISA
} // namespace weft::simulator
