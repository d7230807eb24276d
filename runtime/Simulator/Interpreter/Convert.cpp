//===- Convert.cpp - cvt ---------------------------------------------------------------------------===//
#include "runtime/Simulator/Interpreter/FloatFormats.h"
#include "runtime/Simulator/Interpreter/FormBits.h"

namespace weft::simulator {
namespace WEFT_SIMULATOR_ISA {
namespace {

Rounding roundingFrom(int64_t bits) { return Rounding(bits & RoundMask); }

template <class T> T roundToInteger(T x, Rounding rounding) {
  switch (rounding) {
  case Rounding::Nearest:
    return std::nearbyint(x);
  case Rounding::Zero:
    return std::trunc(x);
  case Rounding::Down:
    return std::floor(x);
  case Rounding::Up:
    return std::ceil(x);
  }
  return x;
}

// Integer to integer. Registers of 8-bit types are 16 bits wide: the value is extended to fill them.
template <class To>
using Held = std::conditional_t<sizeof(To) == 1, std::conditional_t<std::is_signed<To>::value, int16_t, uint16_t>, To>;

template <class To, class From> struct IntegerToInteger {
  static Held<To> apply(Held<From> x) { return Held<To>(To(From(x))); }
};
template <class To, class From> struct IntegerToIntegerSat {
  static Held<To> apply(Held<From> held) {
    From x = From(held);
    if (std::is_signed<From>::value && x < 0) {
      if (!std::is_signed<To>::value)
        return 0;
      return int64_t(x) < int64_t(std::numeric_limits<To>::min()) ? std::numeric_limits<To>::min() : To(x);
    }
    return uint64_t(x) > uint64_t(std::numeric_limits<To>::max()) ? std::numeric_limits<To>::max() : To(x);
  }
};

// Float to integer: out of range clamps. NaN gives 0, but the top bit alone where either side has 64 bits.
template <class To, class F> struct FloatToInteger {
  static To apply(F x, Rounding rounding) {
    if (x != x)
      return sizeof(F) == 8 || sizeof(To) == 8 ? To(uint64_t(1) << (sizeof(To) * 8 - 1)) : To(0);
    F r = roundToInteger(x, rounding);
    if (r < F(std::numeric_limits<To>::min()))
      return std::numeric_limits<To>::min();
    // 2^bits is exact in F though the largest integer may not be.
    F limit = std::ldexp(F(1), int(sizeof(To) * 8) - (std::is_signed<To>::value ? 1 : 0));
    return r >= limit ? std::numeric_limits<To>::max() : To(r);
  }
};
template <class To> struct TruncateFast {
  // In range: what cvttps does; else the clamped value, chosen without a branch so that it vectorizes.
  static To apply(float x) {
    bool low = x <= -2147483648.0f, high = x >= 2147483648.0f, nan = x != x;
    int32_t r = int32_t(low || high || nan ? 0.0f : x);
    r = low ? INT32_MIN : r;
    return high ? INT32_MAX : r;
  }
};

// Sources as a float or double, exactly.
template <class T> struct SourceFloat {
  using Stored = T;
  static T load(T x, bool ftz) { return ftz ? flushed(x) : x; }
  static float flushed(float x) { return flush(x); }
  static double flushed(double x) { return x; }
};
struct SourceHalf {
  using Stored = uint16_t;
  static float load(uint16_t x, bool) { return Half::toFloat(x); }
};
struct SourceBFloat {
  using Stored = uint16_t;
  static float load(uint16_t x, bool) { return BFloat::toFloat(x); }
};

template <class To, class Source> void floatToInteger(Warp &warp, const Instruction &i) {
  auto *a = warp.lanes<const typename Source::Stored>(i.a);
  auto *d = warp.lanes<Held<To>>(i.d);
  bool ftz = i.immediate & FlushDenormals;
  Rounding rounding = roundingFrom(i.immediate);
  forLanes(warp.exec, [&](unsigned lane) {
    auto x = Source::load(a[lane], ftz);
    d[lane] = FloatToInteger<To, decltype(x)>::apply(x, rounding);
  });
}

/// An integer as a double that is exact or rounded to odd.
double integerToOdd(uint64_t magnitude, bool negative) {
  double r;
  if (magnitude >> 53)
    r = double((magnitude >> 11) | ((magnitude & 2047) != 0)) * 2048.0;
  else
    r = double(magnitude);
  return negative ? -r : r;
}

// Destinations, from a double that is exact or rounded to odd.
struct ToHalf {
  using Stored = uint16_t;
  static uint16_t store(double x, int64_t bits) {
    uint16_t r = Half::fromDouble(x, roundingFrom(bits));
    return (bits & FlushDenormals) ? Half::flush(r) : r;
  }
};
struct ToBFloat {
  using Stored = uint16_t;
  static uint16_t store(double x, int64_t bits) { return BFloat::fromDouble(x, roundingFrom(bits)); }
};
struct ToFloat {
  using Stored = float;
  static float store(double x, int64_t bits) {
    if (x != x)
      return bitsOf<float>(canonicalNaN);
    float r = float(roundToFormat(x, 23, -126, 0x1.fffffep127, roundingFrom(bits)));
    return (bits & FlushDenormals) ? flush(r) : r;
  }
};

template <class From> uint64_t magnitudeOf(From x) {
  return std::is_signed<From>::value && x < 0 ? 0 - uint64_t(int64_t(x)) : uint64_t(x);
}

template <class Target, class From> void integerToFloat(Warp &warp, const Instruction &i) {
  auto *a = warp.lanes<const Held<From>>(i.a);
  auto *d = warp.lanes<typename Target::Stored>(i.d);
  forLanes(warp.exec, [&](unsigned lane) {
    From x = From(a[lane]);
    double value = integerToOdd(magnitudeOf(x), std::is_signed<From>::value && x < 0);
    d[lane] = Target::store(i.immediate & Saturate ? saturate(value) : value, i.immediate);
  });
}
template <class From> void integerToDouble(Warp &warp, const Instruction &i) {
  auto *a = warp.lanes<const Held<From>>(i.a);
  auto *d = warp.lanes<double>(i.d);
  HostRounding mode(roundingFrom(i.immediate));
  forLanes(warp.exec, [&](unsigned lane) {
    volatile From x = From(a[lane]);
    volatile double value;
    if (x == 0) {
      value = 0; // the host's way from integers subtracts equal numbers, which is -0 when rounding down
    } else if (sizeof(From) == 8 && !std::is_signed<From>::value) {
      // Halves are exact, so their sum is rounded once.
      volatile double high = double(int64_t(uint64_t(x) >> 32)) * 4294967296.0,
                      low = double(int64_t(uint64_t(x) & 0xffffffff));
      value = high + low;
    } else {
      value = double(int64_t(x));
    }
    d[lane] = i.immediate & Saturate ? saturate(double(value)) : double(value);
  });
}
template <class From> struct IntegerToFloatNearest {
  static float apply(Held<From> x) { return float(From(x)); }
};

// What .satfinite needs: the value of a result, and the largest finite one.
template <class Target> double valueOf(typename Target::Stored x);
template <> double valueOf<ToHalf>(uint16_t x) { return Half::toFloat(x); }
template <> double valueOf<ToBFloat>(uint16_t x) { return BFloat::toFloat(x); }
template <> double valueOf<ToFloat>(float x) { return x; }
template <class Target> typename Target::Stored largest(bool negative);
template <> uint16_t largest<ToHalf>(bool negative) { return negative ? 0xfbff : 0x7bff; }
template <> uint16_t largest<ToBFloat>(bool negative) { return negative ? 0xff7f : 0x7f7f; }
template <> float largest<ToFloat>(bool negative) { return negative ? -0x1.fffffep127f : 0x1.fffffep127f; }

/// Where a float becomes a float: integers in between if asked, then saturation, then the target's rounding.
template <class Target, class Source> void floatToFloat(Warp &warp, const Instruction &i) {
  auto *a = warp.lanes<const typename Source::Stored>(i.a);
  auto *d = warp.lanes<typename Target::Stored>(i.d);
  int64_t bits = i.immediate;
  forLanes(warp.exec, [&](unsigned lane) {
    double x = double(Source::load(a[lane], bits & FlushDenormals));
    if (bits & RoundToInteger)
      x = roundToInteger(x, roundingFrom(bits));
    if (bits & Saturate)
      x = saturate(x);
    if ((bits & Relu) && !(x != x))
      x = x > 0 ? x : 0;
    auto r = Target::store(x, bits);
    if (bits & SatFinite) {
      // Infinity (also one that overflow made) becomes the largest finite number.
      if (std::isinf(valueOf<Target>(r)))
        r = largest<Target>(x < 0);
    }
    d[lane] = r;
  });
}
template <class Source> void floatToDouble(Warp &warp, const Instruction &i) {
  auto *a = warp.lanes<const typename Source::Stored>(i.a);
  double *d = warp.lanes<double>(i.d);
  int64_t bits = i.immediate;
  forLanes(warp.exec, [&](unsigned lane) {
    double x = double(Source::load(a[lane], bits & FlushDenormals));
    if (bits & RoundToInteger)
      x = roundToInteger(x, roundingFrom(bits));
    d[lane] = bits & Saturate ? saturate(x) : x;
  });
}

// The common ones, free of everything but one rounding.
struct FloatFromHalf {
  static float apply(uint16_t x) { return canonical(Half::toFloat(x)); }
};
struct FloatFromBFloat {
  static float apply(uint16_t x) { return canonical(BFloat::toFloat(x)); }
};
struct HalfFromFloat {
  static uint16_t apply(float x) { return Half::fromFloat(x); }
};
struct BFloatFromFloat {
  static uint16_t apply(float x) { return BFloat::fromFloat(x); }
};
struct FloatFromDouble {
  static float apply(double x) { return canonical(float(x)); }
};
struct DoubleFromFloat {
  static double apply(float x) { return double(x); }
};

template <class Target> uint16_t packedHalf(float x, int64_t bits) {
  double value = x;
  if ((bits & Relu) && value == value)
    value = value > 0 ? value : 0;
  uint16_t r = Target::store(value, bits);
  if ((bits & SatFinite) && std::isinf(valueOf<Target>(r)))
    r = largest<Target>(value < 0);
  return r;
}
template <class Target> void packTwo(Warp &warp, const Instruction &i) {
  const float *a = warp.lanes<const float>(i.a), *b = warp.lanes<const float>(i.b);
  uint32_t *d = warp.lanes<uint32_t>(i.d);
  forLanes(warp.exec, [&](unsigned lane) {
    d[lane] = uint32_t(packedHalf<Target>(a[lane], i.immediate)) << 16 | packedHalf<Target>(b[lane], i.immediate);
  });
}

void toTf32(Warp &warp, const Instruction &i) {
  const float *a = warp.lanes<const float>(i.a);
  uint32_t *d = warp.lanes<uint32_t>(i.d);
  int64_t options = i.immediate;
  forLanes(warp.exec, [&](unsigned lane) {
    float x = a[lane];
    uint32_t bits = bitsOf<uint32_t>(x);
    if (x != x) {
      d[lane] = canonicalNaN;
      return;
    }
    if ((options & Relu) && (bits >> 31))
      bits = 0;
    bool infinite = (bits & 0x7fffffff) == 0x7f800000;
    if (!infinite) {
      uint32_t add = options & RoundAway ? 0x1000 : (options & RoundMask) == 1 ? 0 : 0xfff + ((bits >> 13) & 1);
      bits = (bits + add) & 0xffffe000;
      infinite = (bits & 0x7fffffff) == 0x7f800000;
    }
    if (infinite && (options & SatFinite))
      bits = (bits & 0x80000000) | 0x7f7fe000;
    d[lane] = bits;
  });
}

template <bool e4m3> uint8_t toFloat8(float x, int64_t bits) {
  if ((bits & Relu) && x == x)
    x = x > 0 ? x : 0;
  return Float8<e4m3>::fromFloat(x);
}
template <bool e4m3> void float8FromFloat(Warp &warp, const Instruction &i) {
  const float *a = warp.lanes<const float>(i.a), *b = warp.lanes<const float>(i.b);
  uint16_t *d = warp.lanes<uint16_t>(i.d);
  forLanes(warp.exec, [&](unsigned lane) {
    d[lane] = uint16_t(toFloat8<e4m3>(a[lane], i.immediate) << 8 | toFloat8<e4m3>(b[lane], i.immediate));
  });
}
template <bool e4m3> void float8FromHalf(Warp &warp, const Instruction &i) {
  const uint32_t *a = warp.lanes<const uint32_t>(i.a);
  uint16_t *d = warp.lanes<uint16_t>(i.d);
  forLanes(warp.exec, [&](unsigned lane) {
    float low = Half::toFloat(uint16_t(a[lane])), high = Half::toFloat(uint16_t(a[lane] >> 16));
    d[lane] = uint16_t(toFloat8<e4m3>(high, i.immediate) << 8 | toFloat8<e4m3>(low, i.immediate));
  });
}
template <bool e4m3> void halfFromFloat8(Warp &warp, const Instruction &i) {
  const uint16_t *a = warp.lanes<const uint16_t>(i.a);
  uint32_t *d = warp.lanes<uint32_t>(i.d);
  forLanes(warp.exec, [&](unsigned lane) {
    auto one = [&](uint8_t x) {
      return packedHalf<ToHalf>(Float8<e4m3>::toFloat(x), i.immediate & ~int64_t(SatFinite));
    };
    d[lane] = uint32_t(one(uint8_t(a[lane] >> 8))) << 16 | one(uint8_t(a[lane]));
  });
}

template <class To> Handler toInteger(Type from, bool sat) {
  switch (from) {
  case Type::U8:
    return sat ? unary<IntegerToIntegerSat<To, uint8_t>, Held<To>, uint16_t>
               : unary<IntegerToInteger<To, uint8_t>, Held<To>, uint16_t>;
  case Type::S8:
    return sat ? unary<IntegerToIntegerSat<To, int8_t>, Held<To>, int16_t>
               : unary<IntegerToInteger<To, int8_t>, Held<To>, int16_t>;
  case Type::U16:
    return sat ? unary<IntegerToIntegerSat<To, uint16_t>, Held<To>, uint16_t>
               : unary<IntegerToInteger<To, uint16_t>, Held<To>, uint16_t>;
  case Type::S16:
    return sat ? unary<IntegerToIntegerSat<To, int16_t>, Held<To>, int16_t>
               : unary<IntegerToInteger<To, int16_t>, Held<To>, int16_t>;
  case Type::U32:
    return sat ? unary<IntegerToIntegerSat<To, uint32_t>, Held<To>, uint32_t>
               : unary<IntegerToInteger<To, uint32_t>, Held<To>, uint32_t>;
  case Type::S32:
    return sat ? unary<IntegerToIntegerSat<To, int32_t>, Held<To>, int32_t>
               : unary<IntegerToInteger<To, int32_t>, Held<To>, int32_t>;
  case Type::U64:
    return sat ? unary<IntegerToIntegerSat<To, uint64_t>, Held<To>, uint64_t>
               : unary<IntegerToInteger<To, uint64_t>, Held<To>, uint64_t>;
  case Type::S64:
    return sat ? unary<IntegerToIntegerSat<To, int64_t>, Held<To>, int64_t>
               : unary<IntegerToInteger<To, int64_t>, Held<To>, int64_t>;
  case Type::F16:
    return floatToInteger<To, SourceHalf>;
  case Type::BF16:
    return floatToInteger<To, SourceBFloat>;
  case Type::F32:
    return floatToInteger<To, SourceFloat<float>>;
  case Type::F64:
    return floatToInteger<To, SourceFloat<double>>;
  default:
    return nullptr;
  }
}

template <class Target> Handler toFloatTarget(Type from) {
  switch (from) {
  case Type::U8:
    return integerToFloat<Target, uint8_t>;
  case Type::S8:
    return integerToFloat<Target, int8_t>;
  case Type::U16:
    return integerToFloat<Target, uint16_t>;
  case Type::S16:
    return integerToFloat<Target, int16_t>;
  case Type::U32:
    return integerToFloat<Target, uint32_t>;
  case Type::S32:
    return integerToFloat<Target, int32_t>;
  case Type::U64:
    return integerToFloat<Target, uint64_t>;
  case Type::S64:
    return integerToFloat<Target, int64_t>;
  case Type::F16:
    return floatToFloat<Target, SourceHalf>;
  case Type::BF16:
    return floatToFloat<Target, SourceBFloat>;
  case Type::F32:
    return floatToFloat<Target, SourceFloat<float>>;
  case Type::F64:
    return floatToFloat<Target, SourceFloat<double>>;
  default:
    return nullptr;
  }
}

Handler toDouble(Type from) {
  switch (from) {
  case Type::U8:
    return integerToDouble<uint8_t>;
  case Type::S8:
    return integerToDouble<int8_t>;
  case Type::U16:
    return integerToDouble<uint16_t>;
  case Type::S16:
    return integerToDouble<int16_t>;
  case Type::U32:
    return integerToDouble<uint32_t>;
  case Type::S32:
    return integerToDouble<int32_t>;
  case Type::U64:
    return integerToDouble<uint64_t>;
  case Type::S64:
    return integerToDouble<int64_t>;
  case Type::F16:
    return floatToDouble<SourceHalf>;
  case Type::BF16:
    return floatToDouble<SourceBFloat>;
  case Type::F32:
    return floatToDouble<SourceFloat<float>>;
  case Type::F64:
    return floatToDouble<SourceFloat<double>>;
  default:
    return nullptr;
  }
}

/// Fast versions of what kernels are full of; null where the form has more to it.
Handler common(Type to, Type from, int64_t bits) {
  if (to == Type::S32 && from == Type::F32 && bits == (RoundToInteger | 1))
    return unary<TruncateFast<int32_t>, int32_t, float>;
  if (bits != 0)
    return nullptr;
  if (to == Type::F32) {
    switch (from) {
    case Type::F16:
      return unary<FloatFromHalf, float, uint16_t>;
    case Type::BF16:
      return unary<FloatFromBFloat, float, uint16_t>;
    case Type::F64:
      return unary<FloatFromDouble, float, double>;
    case Type::S32:
      return unary<IntegerToFloatNearest<int32_t>, float, int32_t>;
    case Type::U32:
      return unary<IntegerToFloatNearest<uint32_t>, float, uint32_t>;
    case Type::U8:
      return unary<IntegerToFloatNearest<uint8_t>, float, uint16_t>;
    case Type::S8:
      return unary<IntegerToFloatNearest<int8_t>, float, int16_t>;
    case Type::U16:
      return unary<IntegerToFloatNearest<uint16_t>, float, uint16_t>;
    case Type::S16:
      return unary<IntegerToFloatNearest<int16_t>, float, int16_t>;
    default:
      return nullptr;
    }
  }
  if (from == Type::F32) {
    switch (to) {
    case Type::F16:
      return unary<HalfFromFloat, uint16_t, float>;
    case Type::BF16:
      return unary<BFloatFromFloat, uint16_t, float>;
    case Type::F64:
      return unary<DoubleFromFloat, double, float>;
    default:
      return nullptr;
    }
  }
  return nullptr;
}

} // namespace

Handler selectConvert(const Form &form) {
  Type to = form.type(0), from = form.type(1);
  int64_t bits = formBits(form);
  bool sat = form.has("sat");
  if (Handler handler = common(to, from, bits))
    return handler;
  switch (to) {
  case Type::U8:
    return toInteger<uint8_t>(from, sat);
  case Type::S8:
    return toInteger<int8_t>(from, sat);
  case Type::U16:
    return toInteger<uint16_t>(from, sat);
  case Type::S16:
    return toInteger<int16_t>(from, sat);
  case Type::U32:
    return toInteger<uint32_t>(from, sat);
  case Type::S32:
    return toInteger<int32_t>(from, sat);
  case Type::U64:
    return toInteger<uint64_t>(from, sat);
  case Type::S64:
    return toInteger<int64_t>(from, sat);
  case Type::F16:
    return toFloatTarget<ToHalf>(from);
  case Type::BF16:
    return toFloatTarget<ToBFloat>(from);
  case Type::F32:
    return toFloatTarget<ToFloat>(from);
  case Type::F64:
    return toDouble(from);
  case Type::TF32:
    return toTf32;
  case Type::F16x2:
    if (from == Type::F32)
      return packTwo<ToHalf>;
    return from == Type::E4M3x2 ? halfFromFloat8<true> : halfFromFloat8<false>;
  case Type::BF16x2:
    return packTwo<ToBFloat>;
  case Type::E4M3x2:
    return from == Type::F32 ? float8FromFloat<true> : float8FromHalf<true>;
  case Type::E5M2x2:
    return from == Type::F32 ? float8FromFloat<false> : float8FromHalf<false>;
  default:
    return nullptr;
  }
}

} // namespace WEFT_SIMULATOR_ISA
} // namespace weft::simulator
