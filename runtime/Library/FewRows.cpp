// Both orders of the right operand, in vectors of eight.
#include "runtime/Library/FewRows.h"

#include <algorithm>
#include <cstring>

namespace weft::runtime {

#if defined(__x86_64__)

namespace {

#define WEFT_AVX2 __attribute__((target("avx2,fma")))

using Vector = float __attribute__((vector_size(32)));
constexpr int64_t kLanes = 8;
// Rows of the right operand that are read side by side.
constexpr int64_t kDepth = 8;

WEFT_AVX2 inline Vector load(const float *data) {
  Vector value;
  std::memcpy(&value, data, sizeof(value));
  return value;
}

WEFT_AVX2 inline void store(float *data, Vector value) { std::memcpy(data, &value, sizeof(value)); }

// output += sum of `count` products; `factors` holds left(row, k) for the rows of the right operand from `right` on.
template <int64_t Count>
WEFT_AVX2 inline void addRows(const float *factors, const float *right, int64_t stride, int64_t columns, bool isFirst,
                              float *output) {
  Vector spread[Count];
  for (int64_t k = 0; k < Count; ++k)
    spread[k] = Vector{} + factors[k];
  int64_t column = 0;
  for (; column + kLanes <= columns; column += kLanes) {
    Vector sum = isFirst ? Vector{} : load(output + column);
    for (int64_t k = 0; k < Count; ++k)
      sum = __builtin_elementwise_fma(spread[k], load(right + k * stride + column), sum);
    store(output + column, sum);
  }
  for (; column < columns; ++column) {
    float sum = isFirst ? 0.0f : output[column];
    for (int64_t k = 0; k < Count; ++k)
      sum = __builtin_fmaf(factors[k], right[k * stride + column], sum);
    output[column] = sum;
  }
}

WEFT_AVX2 void multiplyRowMajor(int64_t rows, int64_t columns, int64_t depth, const FewRowsOperand &left,
                                const FewRowsOperand &right, float *output, int64_t outputStride) {
  int64_t k = 0;
  for (; k + kDepth <= depth; k += kDepth) {
    const float *block = right.data + k * right.rowStride;
    // The next rows are far apart: the processor does not see them coming.
    if (k + 2 * kDepth <= depth)
      for (int64_t next = kDepth; next < 2 * kDepth; ++next)
        for (int64_t column = 0; column < columns; column += 16)
          __builtin_prefetch(block + next * right.rowStride + column);
    for (int64_t row = 0; row < rows; ++row) {
      float factors[kDepth];
      for (int64_t j = 0; j < kDepth; ++j)
        factors[j] = left.data[row * left.rowStride + (k + j) * left.columnStride];
      addRows<kDepth>(factors, block, right.rowStride, columns, k == 0, output + row * outputStride);
    }
  }
  for (; k < depth; ++k)
    for (int64_t row = 0; row < rows; ++row)
      addRows<1>(left.data + row * left.rowStride + k * left.columnStride, right.data + k * right.rowStride,
                 right.rowStride, columns, k == 0, output + row * outputStride);
}

// Each column of the right operand lies in one piece: dot products.
WEFT_AVX2 void multiplyColumnMajor(int64_t rows, int64_t columns, int64_t depth, const FewRowsOperand &left,
                                   const FewRowsOperand &right, float *output, int64_t outputStride) {
  for (int64_t column = 0; column < columns; ++column)
    for (int64_t row = 0; row < rows; ++row) {
      const float *a = left.data + row * left.rowStride, *b = right.data + column * right.columnStride;
      Vector sums[4] = {};
      int64_t k = 0;
      for (; k + 4 * kLanes <= depth; k += 4 * kLanes)
        for (int64_t j = 0; j < 4; ++j)
          sums[j] = __builtin_elementwise_fma(load(a + k + j * kLanes), load(b + k + j * kLanes), sums[j]);
      for (; k + kLanes <= depth; k += kLanes)
        sums[0] = __builtin_elementwise_fma(load(a + k), load(b + k), sums[0]);
      Vector sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
      float total = ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
      for (; k < depth; ++k)
        total = __builtin_fmaf(a[k], b[k], total);
      output[row * outputStride + column] = total;
    }
}

bool hasInstructions() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
}

} // namespace

bool canMultiplyFewRows(int64_t rows, const FewRowsOperand &left, const FewRowsOperand &right) {
  if (rows > kFewRows || !hasInstructions())
    return false;
  return right.columnStride == 1 || (right.rowStride == 1 && left.columnStride == 1);
}

void multiplyFewRows(int64_t rows, int64_t columns, int64_t depth, const FewRowsOperand &left,
                     const FewRowsOperand &right, float *output, int64_t outputStride) {
  if (right.columnStride == 1)
    multiplyRowMajor(rows, columns, depth, left, right, output, outputStride);
  else
    multiplyColumnMajor(rows, columns, depth, left, right, output, outputStride);
}

#else

bool canMultiplyFewRows(int64_t, const FewRowsOperand &, const FewRowsOperand &) { return false; }
void multiplyFewRows(int64_t, int64_t, int64_t, const FewRowsOperand &, const FewRowsOperand &, float *, int64_t) {}

#endif

} // namespace weft::runtime
