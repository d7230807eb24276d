//===- Matrix.cpp - mma.sync, ldmatrix, stmatrix and movmatrix -----------------------------------------===//
//
// A register of the A operand holds, over the warp, a tile of 8 rows whose row g lies in lanes 4g to 4g + 3, element
// after element. So the lanes of a register in order are the tile in row order. B's registers hold columns likewise.
//===---------------------------------------------------------------------------------------------------===//
#include "runtime/Simulator/Interpreter/Access.h"
#include "runtime/Simulator/Interpreter/FloatFormats.h"

namespace weft::simulator {
namespace WEFT_SIMULATOR_ISA {
namespace {

// How a 32-bit register becomes elements.
struct F16Input {
  static constexpr unsigned perRegister = 2;
  static void unpack(const uint32_t *lanes, float *out) {
#if defined(__F16C__)
    for (unsigned n = 0; n < 64; n += 8)
      _mm256_storeu_ps(out + n, _mm256_cvtph_ps(_mm_loadu_si128(
                                    reinterpret_cast<const __m128i *>(reinterpret_cast<const uint16_t *>(lanes) + n))));
#else
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      out[2 * lane] = Half::toFloat(uint16_t(lanes[lane]));
      out[2 * lane + 1] = Half::toFloat(uint16_t(lanes[lane] >> 16));
    }
#endif
  }
};
struct BF16Input {
  static constexpr unsigned perRegister = 2;
  static void unpack(const uint32_t *lanes, float *out) {
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      out[2 * lane] = bitsOf<float>(lanes[lane] << 16);
      out[2 * lane + 1] = bitsOf<float>(lanes[lane] & 0xffff0000);
    }
  }
};
struct TF32Input {
  static constexpr unsigned perRegister = 1;
  static void unpack(const uint32_t *lanes, float *out) {
    for (unsigned lane = 0; lane < warpSize; ++lane)
      out[lane] = bitsOf<float>(lanes[lane] & 0xffffe000); // the low 13 bits are not looked at
  }
};
template <bool e4m3> struct F8Input {
  static constexpr unsigned perRegister = 4;
  static void unpack(const uint32_t *lanes, float *out) {
    for (unsigned n = 0; n < 128; ++n)
      out[n] = Float8<e4m3>::toFloat(uint8_t(lanes[n / 4] >> (8 * (n % 4))));
  }
};
template <class T> struct ByteInput {
  static constexpr unsigned perRegister = 4;
  static void unpack(const uint32_t *lanes, int32_t *out) {
    for (unsigned n = 0; n < 128; ++n)
      out[n] = T(lanes[n / 4] >> (8 * (n % 4)));
  }
};

/// D[16][8] = sum over kTiles tiles of A * B + C, with C and D as [row][column].
template <class A, class B, class T, unsigned kTiles>
void product(Warp &warp, const uint32_t *aSlots, const uint32_t *bSlots, T (&sum)[16][8]) {
  constexpr unsigned width = 4 * A::perRegister;
  alignas(64) T a[8 * width], b[8 * width], bByRow[width][8];
  for (unsigned tile = 0; tile < kTiles; ++tile) {
    B::unpack(warp.lanes<const uint32_t>(bSlots[tile]), b);
    for (unsigned k = 0; k < width; ++k)
      for (unsigned n = 0; n < 8; ++n)
        bByRow[k][n] = b[n * width + k];
    for (unsigned half = 0; half < 2; ++half) {
      A::unpack(warp.lanes<const uint32_t>(aSlots[2 * tile + half]), a);
      for (unsigned row = 0; row < 8; ++row) {
        T line[8];
        std::memcpy(line, sum[half * 8 + row], sizeof line);
        for (unsigned k = 0; k < width; ++k) {
          T x = a[row * width + k];
          for (unsigned n = 0; n < 8; ++n) {
            if constexpr (std::is_same<T, float>::value)
              line[n] = std::fma(x, bByRow[k][n], line[n]);
            else
              line[n] = T(uint32_t(line[n]) + uint32_t(x * bByRow[k][n]));
          }
        }
        std::memcpy(sum[half * 8 + row], line, sizeof line);
      }
    }
  }
}

template <class T> void readAccumulator(Warp &warp, const uint32_t *slots, T (&sum)[16][8]) {
  for (unsigned r = 0; r < 4; ++r) {
    const T *c = warp.lanes<const T>(slots[r]);
    for (unsigned lane = 0; lane < warpSize; ++lane)
      sum[lane / 4 + (r / 2) * 8][lane % 4 * 2 + r % 2] = c[lane];
  }
}
template <class T> void writeAccumulator(Warp &warp, const uint32_t *slots, const T (&sum)[16][8]) {
  for (unsigned r = 0; r < 4; ++r) {
    T *d = warp.lanes<T>(slots[r]);
    for (unsigned lane = 0; lane < warpSize; ++lane)
      d[lane] = sum[lane / 4 + (r / 2) * 8][lane % 4 * 2 + r % 2];
  }
}
void readHalfAccumulator(Warp &warp, const uint32_t *slots, float (&sum)[16][8]) {
  for (unsigned r = 0; r < 2; ++r) {
    const uint32_t *c = warp.lanes<const uint32_t>(slots[r]);
    for (unsigned lane = 0; lane < warpSize; ++lane)
      for (unsigned h = 0; h < 2; ++h)
        sum[lane / 4 + r * 8][lane % 4 * 2 + h] = Half::toFloat(uint16_t(c[lane] >> (16 * h)));
  }
}
void writeHalfAccumulator(Warp &warp, const uint32_t *slots, const float (&sum)[16][8]) {
  for (unsigned r = 0; r < 2; ++r) {
    uint32_t *d = warp.lanes<uint32_t>(slots[r]);
    for (unsigned lane = 0; lane < warpSize; ++lane)
      d[lane] = uint32_t(Half::fromFloat(sum[lane / 4 + r * 8][lane % 4 * 2])) |
                uint32_t(Half::fromFloat(sum[lane / 4 + r * 8][lane % 4 * 2 + 1])) << 16;
  }
}

const uint32_t *slotsOf(Warp &warp, const Instruction &i) {
  ++warp.counters->matrixInstructions;
  return warp.frame().function->pool.data() + i.immediate2;
}

/// All 32 lanes must take part; the member mask has been checked, exited lanes have not.
void requireFullWarp(Warp &warp, const Instruction &i) {
  if (warp.exec != ~0u)
    abortLaunch(warp, i, FaultKind::WarpSyncDivergence, unsigned(__builtin_ctz(warp.exec)),
                "a matrix instruction needs all 32 lanes of the warp; some have exited or are masked off");
}

template <class A, class B, unsigned kTiles, bool halfC, bool halfD> void mmaFloat(Warp &warp, const Instruction &i) {
  requireFullWarp(warp, i);
  const uint32_t *slots = slotsOf(warp, i);
  const uint32_t *d = slots, *a = d + (halfD ? 2 : 4), *b = a + 2 * kTiles, *c = b + kTiles;
  alignas(64) float sum[16][8];
  if (halfC)
    readHalfAccumulator(warp, c, sum);
  else
    readAccumulator(warp, c, sum);
  product<A, B, float, kTiles>(warp, a, b, sum);
  if (halfD)
    writeHalfAccumulator(warp, d, sum);
  else
    writeAccumulator(warp, d, sum);
}

template <class A, class B, unsigned kTiles, bool saturating> void mmaInteger(Warp &warp, const Instruction &i) {
  requireFullWarp(warp, i);
  const uint32_t *slots = slotsOf(warp, i);
  const uint32_t *d = slots, *a = d + 4, *b = a + 2 * kTiles, *c = b + kTiles;
  alignas(64) int32_t sum[16][8] = {}, start[16][8];
  readAccumulator(warp, c, start);
  product<ByteInput<A>, ByteInput<B>, int32_t, kTiles>(warp, a, b, sum); // exact: at most 32 * 2^16
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned n = 0; n < 8; ++n) {
      int64_t total = int64_t(sum[row][n]) + start[row][n];
      if (saturating)
        total = total > INT32_MAX ? INT32_MAX : total < INT32_MIN ? INT32_MIN : total;
      sum[row][n] = int32_t(uint32_t(total));
    }
  writeAccumulator(warp, d, sum);
}

void mmaDouble(Warp &warp, const Instruction &i) {
  requireFullWarp(warp, i);
  const uint32_t *slots = slotsOf(warp, i);
  double a[8][4], b[4][8], sum[8][8];
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    a[lane / 4][lane % 4] = warp.lanes<const double>(slots[2])[lane];
    b[lane % 4][lane / 4] = warp.lanes<const double>(slots[3])[lane];
    for (unsigned n = 0; n < 2; ++n)
      sum[lane / 4][lane % 4 * 2 + n] = warp.lanes<const double>(slots[4 + n])[lane];
  }
  for (unsigned row = 0; row < 8; ++row)
    for (unsigned n = 0; n < 8; ++n)
      for (unsigned k = 0; k < 4; ++k)
        sum[row][n] = std::fma(a[row][k], b[k][n], sum[row][n]);
  for (unsigned lane = 0; lane < warpSize; ++lane)
    for (unsigned n = 0; n < 2; ++n)
      warp.lanes<double>(slots[n])[lane] = sum[lane / 4][lane % 4 * 2 + n];
}

/// Row `r` of matrix `m` is 16 bytes at the address in lane 8m + r.
template <unsigned count, bool transposed, bool isStore> void moveMatrices(Warp &warp, const Instruction &i) {
  requireFullWarp(warp, i);
  const uint32_t *slots = slotsOf(warp, i);
  alignas(64) uint64_t addresses[warpSize];
  Instruction access = i;
  access.immediate2 = i.e;
  laneAddresses(warp, access, addresses);
  uint32_t rows = count == 4 ? ~0u : (1u << 8 * count) - 1;
  alignas(16) uint16_t tile[count * 8][8];
  auto element = [](unsigned lane, unsigned h, unsigned &row, unsigned &column) {
    row = transposed ? lane % 4 * 2 + h : lane / 4;
    column = transposed ? lane / 4 : lane % 4 * 2 + h;
  };
  if (isStore) {
    for (unsigned m = 0; m < count; ++m)
      for (unsigned lane = 0; lane < warpSize; ++lane)
        for (unsigned h = 0; h < 2; ++h) {
          unsigned row, column;
          element(lane, h, row, column);
          tile[m * 8 + row][column] = uint16_t(warp.lanes<const uint32_t>(slots[m])[lane] >> (16 * h));
        }
  }
  accessMemory(warp, access, i.space, addresses, rows, 16, isStore,
               [&](uint32_t mask, const uint64_t *at, Placement place) {
                 forLanes(mask, [&](unsigned lane) {
                   void *memory = reinterpret_cast<void *>(place.delta + at[lane] + lane * place.stride);
                   if (isStore)
                     std::memcpy(memory, tile[lane], 16);
                   else
                     std::memcpy(tile[lane], memory, 16);
                 });
               });
  if (!isStore) {
    for (unsigned m = 0; m < count; ++m) {
      uint32_t *d = warp.lanes<uint32_t>(slots[m]);
      if (!transposed) {
        std::memcpy(d, tile[m * 8], 128); // rows in order are the lanes in order
        continue;
      }
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        unsigned row, column;
        element(lane, 0, row, column);
        d[lane] = uint32_t(tile[m * 8 + row][column]) | uint32_t(tile[m * 8 + row + 1][column]) << 16;
      }
    }
  }
}

void transposeMatrix(Warp &warp, const Instruction &i) {
  requireFullWarp(warp, i);
  const uint32_t *slots = slotsOf(warp, i);
  uint16_t tile[8][8];
  std::memcpy(tile, warp.lanes<const uint32_t>(slots[1]), sizeof tile);
  uint32_t *d = warp.lanes<uint32_t>(slots[0]);
  for (unsigned lane = 0; lane < warpSize; ++lane)
    d[lane] = uint32_t(tile[lane % 4 * 2][lane / 4]) | uint32_t(tile[lane % 4 * 2 + 1][lane / 4]) << 16;
}

template <class A, class B, unsigned kTiles> Handler byAccumulator(Type d, Type c) {
  if (d == Type::F16)
    return c == Type::F16 ? mmaFloat<A, B, kTiles, true, true> : mmaFloat<A, B, kTiles, false, true>;
  return c == Type::F16 ? mmaFloat<A, B, kTiles, true, false> : mmaFloat<A, B, kTiles, false, false>;
}
template <class A, class B> Handler integerProduct(bool wide, bool saturating) {
  if (wide)
    return saturating ? mmaInteger<A, B, 2, true> : mmaInteger<A, B, 2, false>;
  return saturating ? mmaInteger<A, B, 1, true> : mmaInteger<A, B, 1, false>;
}

Handler multiply(const Form &form) {
  Type d = form.type(0), a = form.type(1), b = form.type(2), c = form.type(3);
  bool saturating = form.has("satfinite");
  switch (a) {
  case Type::F16:
    return form.has("m16n8k16") ? byAccumulator<F16Input, F16Input, 2>(d, c)
                                : byAccumulator<F16Input, F16Input, 1>(d, c);
  case Type::BF16:
    return form.has("m16n8k16") ? byAccumulator<BF16Input, BF16Input, 2>(d, c)
                                : byAccumulator<BF16Input, BF16Input, 1>(d, c);
  case Type::TF32:
    return form.has("m16n8k8") ? byAccumulator<TF32Input, TF32Input, 2>(d, c)
                               : byAccumulator<TF32Input, TF32Input, 1>(d, c);
  case Type::E4M3:
    return b == Type::E4M3 ? byAccumulator<F8Input<true>, F8Input<true>, 2>(d, c)
                           : byAccumulator<F8Input<true>, F8Input<false>, 2>(d, c);
  case Type::E5M2:
    return b == Type::E4M3 ? byAccumulator<F8Input<false>, F8Input<true>, 2>(d, c)
                           : byAccumulator<F8Input<false>, F8Input<false>, 2>(d, c);
  case Type::S8:
    return b == Type::S8 ? integerProduct<int8_t, int8_t>(form.has("m16n8k32"), saturating)
                         : integerProduct<int8_t, uint8_t>(form.has("m16n8k32"), saturating);
  case Type::U8:
    return b == Type::S8 ? integerProduct<uint8_t, int8_t>(form.has("m16n8k32"), saturating)
                         : integerProduct<uint8_t, uint8_t>(form.has("m16n8k32"), saturating);
  case Type::F64:
    return mmaDouble;
  default:
    return nullptr;
  }
}

template <bool isStore> Handler moveHandler(const Form &form) {
  bool transposed = form.has("trans");
  if (form.has("x4"))
    return transposed ? moveMatrices<4, true, isStore> : moveMatrices<4, false, isStore>;
  if (form.has("x2"))
    return transposed ? moveMatrices<2, true, isStore> : moveMatrices<2, false, isStore>;
  return transposed ? moveMatrices<1, true, isStore> : moveMatrices<1, false, isStore>;
}

} // namespace

Handler selectMatrix(const Form &form) {
  std::string_view op = form.opcode();
  if (op == "mma")
    return multiply(form);
  if (op == "ldmatrix")
    return moveHandler<false>(form);
  return op == "stmatrix" ? moveHandler<true>(form) : transposeMatrix;
}

} // namespace WEFT_SIMULATOR_ISA
} // namespace weft::simulator
