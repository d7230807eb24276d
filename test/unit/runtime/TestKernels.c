/* Kernels of the runtime's tests, written as code generation would emit them: a shared object that needs no library. */
#include "include/weft/kernel_abi.h"

#define EXPORT __attribute__((visibility("default")))

/* x f32[N,4] + bias f32[4] -> y f32[N,4]; a tile is a row. */
EXPORT int32_t test_add_bias(const WeftArgs *args, int64_t begin, int64_t end) {
  const float *x = args->buffers[0], *bias = args->buffers[1];
  float *y = args->buffers[2];
  for (int64_t row = begin; row < end; ++row)
    for (int column = 0; column < 4; ++column)
      y[row * 4 + column] = x[row * 4 + column] + bias[column];
  return WEFT_KERNEL_OK;
}

#ifndef TEST_FACTOR
#define TEST_FACTOR 2.0f
#endif

/* y = 2 * x over f32[N,4] (3 * x in the other library); also in place. */
EXPORT int32_t test_double(const WeftArgs *args, int64_t begin, int64_t end) {
  const float *x = args->buffers[0];
  float *y = args->buffers[1];
  for (int64_t i = begin * 4; i < end * 4; ++i)
    y[i] = TEST_FACTOR * x[i];
  return WEFT_KERNEL_OK;
}

/* Sums the four columns of a row by way of scratch; a tile is a row. y f32[N]. */
EXPORT int32_t test_row_sum(const WeftArgs *args, int64_t begin, int64_t end) {
  const float *x = args->buffers[0];
  float *y = args->buffers[1];
  float *scratch = args->scratch;
  for (int64_t row = begin; row < end; ++row) {
    for (int i = 0; i < 1024; ++i)
      scratch[i] = x[row * 4 + (i & 3)];
    float sum = 0;
    for (int i = 0; i < 1024; ++i)
      sum += scratch[i];
    y[row] = sum;
  }
  return WEFT_KERNEL_OK;
}

/* y[i] = x[index[i]], index i32[N], x f32[N,4] seen flat, y f32[N]; reports indices out of range and goes on. */
EXPORT int32_t test_gather(const WeftArgs *args, int64_t begin, int64_t end) {
  const float *x = args->buffers[0];
  const int32_t *index = args->buffers[1];
  float *y = args->buffers[2];
  int64_t count = args->symbols[0] * 4;
  for (int64_t i = begin; i < end; ++i) {
    if (index[i] < 0 || index[i] >= count) {
      *args->error = WEFT_KERNEL_INDEX_OUT_OF_RANGE;
      continue;
    }
    y[i] = x[index[i]];
  }
  return WEFT_KERNEL_OK;
}

EXPORT int32_t test_fail(const WeftArgs *args, int64_t begin, int64_t end) {
  (void)args, (void)begin, (void)end;
  return WEFT_KERNEL_MESSAGE_BASE + 1;
}

/* Fails in tile t with message t when x[t] is not zero: which failure is reported must not depend on threads. */
EXPORT int32_t test_fail_where(const WeftArgs *args, int64_t begin, int64_t end) {
  const int32_t *x = args->buffers[0];
  for (int64_t i = begin; i < end; ++i)
    if (x[i])
      return WEFT_KERNEL_MESSAGE_BASE + x[i];
  return WEFT_KERNEL_OK;
}

/* About a tenth of a second of work. */
EXPORT int32_t test_slow(const WeftArgs *args, int64_t begin, int64_t end) {
  volatile float *y = args->buffers[args->symbols ? 0 : 0];
  for (int64_t i = begin; i < end; ++i)
    for (int64_t step = 0; step < 20000000; ++step)
      y[0] = (float)step;
  return WEFT_KERNEL_OK;
}

/* counter i32 += 1, in place. */
EXPORT int32_t test_increment(const WeftArgs *args, int64_t begin, int64_t end) {
  (void)begin, (void)end;
  int32_t *counter = args->buffers[1];
  *counter += 1;
  return WEFT_KERNEL_OK;
}

/* condition i1 = counter i32 < limit i32. */
EXPORT int32_t test_less(const WeftArgs *args, int64_t begin, int64_t end) {
  (void)begin, (void)end;
  *(uint8_t *)args->buffers[2] = *(const int32_t *)args->buffers[0] < *(const int32_t *)args->buffers[1];
  return WEFT_KERNEL_OK;
}

/* y f32[N,4] = x, but NaN where x is above 100. */
EXPORT int32_t test_make_nan(const WeftArgs *args, int64_t begin, int64_t end) {
  const float *x = args->buffers[0];
  float *y = args->buffers[1];
  for (int64_t i = begin * 4; i < end * 4; ++i)
    y[i] = x[i] > 100.0f ? __builtin_nanf("") : x[i];
  return WEFT_KERNEL_OK;
}

/* Positions of the non-zero elements of x i32[N] -> positions i32[N], count i64. */
EXPORT int32_t test_nonzero(const WeftArgs *args, int64_t begin, int64_t end) {
  (void)begin, (void)end;
  const int32_t *x = args->buffers[0];
  int32_t *positions = args->buffers[1];
  int64_t count = 0;
  for (int64_t i = 0; i < args->symbols[0]; ++i)
    if (x[i])
      positions[count++] = (int32_t)i;
  *(int64_t *)args->buffers[2] = count;
  return WEFT_KERNEL_OK;
}

/* What the arguments say: {size, version, seed, device_index} as u64[4]. */
EXPORT int32_t test_arguments(const WeftArgs *args, int64_t begin, int64_t end) {
  (void)begin, (void)end;
  uint64_t *y = args->buffers[0];
  y[0] = args->size;
  y[1] = args->version;
  y[2] = args->seed;
  y[3] = (uint64_t)args->device_index;
  return WEFT_KERNEL_OK;
}

/* left f32[M,K] x right f32[K,N] -> f32[M,N] with i64[3] {M,N,K} as the last input; a tile is a row. */
EXPORT int32_t test_matmul(const WeftArgs *args, int64_t begin, int64_t end) {
  const float *left = args->buffers[0], *right = args->buffers[1];
  const int64_t *sizes = args->buffers[2];
  float *y = args->buffers[3];
  for (int64_t row = begin; row < end; ++row)
    for (int64_t column = 0; column < sizes[1]; ++column) {
      float sum = 0;
      for (int64_t k = 0; k < sizes[2]; ++k)
        sum += left[row * sizes[2] + k] * right[k * sizes[1] + column];
      y[row * sizes[1] + column] = sum;
    }
  return WEFT_KERNEL_OK;
}
