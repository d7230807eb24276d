// The loops of the steps that oneDNN does not compute as they are meant.
#include "runtime/Library/OneDnn/EpilogueTail.h"

#include <cmath>
#include <cstring>

namespace weft::runtime::onednn {
namespace {

// What oneDNN was seen to compute right for NaNs and infinities too, with every instruction set.
bool keepsNaN(const PostOp &step) {
  switch (step.kind) {
  case PostOpKind::Bias:
  case PostOpKind::Sum:
  case PostOpKind::Add:
  case PostOpKind::Subtract:
  case PostOpKind::Multiply:
  case PostOpKind::Divide:
  case PostOpKind::Tanh:
  case PostOpKind::Logistic:
  case PostOpKind::Linear:
  case PostOpKind::Abs:
  case PostOpKind::Sqrt:
  case PostOpKind::Square:
    return true;
  default:
    return false;
  }
}

bool isTailStep(PostOpKind kind) {
  switch (kind) {
  case PostOpKind::Bias:
  case PostOpKind::Add:
  case PostOpKind::Subtract:
  case PostOpKind::Multiply:
  case PostOpKind::Divide:
  case PostOpKind::Minimum:
  case PostOpKind::Maximum:
  case PostOpKind::Relu:
  case PostOpKind::Clip:
  case PostOpKind::Linear:
  case PostOpKind::Abs:
  case PostOpKind::Square:
    return true;
  default:
    return false;
  }
}

float withBitsOf(float a, float b, bool both) {
  uint32_t left, right;
  std::memcpy(&left, &a, sizeof(left));
  std::memcpy(&right, &b, sizeof(right));
  left = both ? left & right : left | right;
  std::memcpy(&a, &left, sizeof(left));
  return a;
}

// NaN if either is one, and +0 is larger than -0: equal numbers differ in a zero's sign at most.
float maximumOf(float a, float b) { return a > b ? a : a == b ? withBitsOf(a, b, true) : a != a ? a : b; }
float minimumOf(float a, float b) { return a < b ? a : a == b ? withBitsOf(a, b, false) : a != a ? a : b; }

// Whether clipping is two comparisons: a zero that is a limit has the sign that a zero at the limit gets.
bool clipsBySelection(float low, float high) {
  return (low != 0 || !std::signbit(low)) && (high != 0 || std::signbit(high));
}

// The loops below are compiled for wider vectors as well; the loader takes what the processor has.
#if defined(__x86_64__)
#define WEFT_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define WEFT_CLONES
#endif
#define WEFT_INLINE __attribute__((always_inline)) inline

template <typename Function> WEFT_INLINE void mapRow(float *row, int64_t count, Function function) {
  for (int64_t i = 0; i < count; ++i)
    row[i] = function(row[i]);
}

template <typename Function>
WEFT_INLINE void zipRow(float *row, int64_t count, const float *operand, bool one, Function function) {
  if (one) {
    float value = *operand;
    mapRow(row, count, [=](float x) { return function(x, value); });
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    row[i] = function(row[i], operand[i]);
}

WEFT_CLONES void applyStep(const PostOp &step, float *row, int64_t count, const float *operand) {
  const float alpha = step.alpha, beta = step.beta;
  bool one = step.kind != PostOpKind::Bias && step.broadcast == PostOpBroadcast::Scalar;
  switch (step.kind) {
  case PostOpKind::Relu:
    if (alpha == 0)
      return mapRow(row, count, [](float x) { return x <= 0 ? 0.0f : x; });
    return mapRow(row, count, [=](float x) { return x > 0 ? x : alpha * x; });
  case PostOpKind::Clip:
    if (clipsBySelection(alpha, beta))
      return mapRow(row, count, [=](float x) { return x <= alpha ? alpha : x >= beta ? beta : x; });
    return mapRow(row, count, [=](float x) { return minimumOf(maximumOf(x, alpha), beta); });
  case PostOpKind::Linear:
    if (beta == 0 && alpha != 1)
      return mapRow(row, count, [=](float x) { return x * alpha; });
    return mapRow(row, count, [=](float x) { return x * alpha + beta; });
  case PostOpKind::Abs:
    return mapRow(row, count, [](float x) { return std::fabs(x); });
  case PostOpKind::Square:
    return mapRow(row, count, [](float x) { return x * x; });
  case PostOpKind::Bias:
  case PostOpKind::Add:
    return zipRow(row, count, operand, one, [](float x, float y) { return x + y; });
  case PostOpKind::Subtract:
    return zipRow(row, count, operand, one, [](float x, float y) { return x - y; });
  case PostOpKind::Multiply:
    return zipRow(row, count, operand, one, [](float x, float y) { return x * y; });
  case PostOpKind::Divide:
    return zipRow(row, count, operand, one, [](float x, float y) { return x / y; });
  case PostOpKind::Minimum:
    return zipRow(row, count, operand, one, minimumOf);
  default:
    return zipRow(row, count, operand, one, maximumOf);
  }
}

} // namespace

size_t tailBegin(const std::vector<PostOp> &epilogue) {
  for (size_t index = 0; index < epilogue.size(); ++index) {
    const PostOp &step = epilogue[index];
    if (!keepsNaN(step))
      return index;
    for (size_t earlier = 0; step.kind == PostOpKind::Linear && earlier < index; ++earlier)
      if (epilogue[earlier].kind == step.kind &&
          (epilogue[earlier].alpha != step.alpha || epilogue[earlier].beta != step.beta))
        return index;
  }
  return epilogue.size();
}

bool canApplyTail(const std::vector<PostOp> &epilogue, size_t begin) {
  for (size_t index = begin; index < epilogue.size(); ++index)
    if (!isTailStep(epilogue[index].kind))
      return false;
  return true;
}

void applyTail(const std::vector<PostOp> &epilogue, size_t begin, const KernelForm &form, const Tile &tile,
               const TensorReference *operands) {
  bool hasColumns = false;
  for (size_t index = begin; index < epilogue.size(); ++index)
    hasColumns |= epilogue[index].kind == PostOpKind::Bias ||
                  (hasOperand(epilogue[index].kind) && epilogue[index].broadcast == PostOpBroadcast::Column);
  // Rows that follow each other without a gap are one, unless an operand begins anew with each.
  int64_t rows = form.rows, columns = form.columns;
  if (!hasColumns && form.rowStride == columns) {
    columns *= rows;
    rows = 1;
  }
  // All steps on a piece of a row before the next piece: it stays in the first cache.
  constexpr int64_t kPiece = 2048;
  float *output = static_cast<float *>(operands[2].data) + tile.output;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; column += kPiece) {
      int64_t offset = row * form.rowStride + column;
      for (size_t index = begin; index < epilogue.size(); ++index) {
        const PostOp &step = epilogue[index];
        const float *operand = static_cast<const float *>(operands[3 + index].data);
        if (step.kind == PostOpKind::Bias || step.broadcast == PostOpBroadcast::Column)
          operand += hasOperand(step.kind) ? tile.column + column : 0;
        else if (step.broadcast == PostOpBroadcast::Full)
          operand += hasOperand(step.kind) ? tile.output + offset : 0;
        applyStep(step, output + offset, std::min(kPiece, columns - column), operand);
      }
    }
}

} // namespace weft::runtime::onednn
