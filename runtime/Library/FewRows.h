// A matrix product of few rows: a stream of the right operand, which libraries tuned for blocks read at half the speed.
#pragma once

#include <cstdint>

namespace weft::runtime {

// The most rows that `multiplyFewRows` is the faster way for.
constexpr int64_t kFewRows = 4;

// Where an operand lies: element (i, j) at data[i * rowStride + j * columnStride].
struct FewRowsOperand {
  const float *data;
  int64_t rowStride;
  int64_t columnStride;
};

// Whether this processor has the instructions, and the strides are ones it reads well: of the right operand one is 1;
// where that is the rows', the left operand's columns follow one another.
bool canMultiplyFewRows(int64_t rows, const FewRowsOperand &left, const FewRowsOperand &right);

// output[row * outputStride + column] = sum over k of left(row, k) * right(k, column), for the given columns of the
// right operand. The order of a sum depends on `depth` and the strides alone.
void multiplyFewRows(int64_t rows, int64_t columns, int64_t depth, const FewRowsOperand &left,
                     const FewRowsOperand &right, float *output, int64_t outputStride);

} // namespace weft::runtime
