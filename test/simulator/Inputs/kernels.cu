// Kernels for the simulator's tests: compiled when the tests run, right against C++ references.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#define KERNEL extern "C" __global__ void
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL vector_add(const float *a, const float *b, float *c, int n) {
  int i = INDEX;
  if (i < n)
    c[i] = a[i] + b[i];
}

KERNEL saxpy_grid_stride(float alpha, const float *__restrict__ x, float *y, int n) {
  for (int i = INDEX; i < n; i += gridDim.x * blockDim.x)
    y[i] = alpha * x[i] + y[i];
}

KERNEL vectorized_copy(const float4 *from, float4 *to, int n) {
  int i = INDEX;
  if (i < n)
    to[i] = from[i];
}

KERNEL gelu(const float *x, float *y, int n) {
  int i = INDEX;
  if (i < n) {
    float v = x[i];
    y[i] = 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
  }
}

KERNEL sigmoid_log(const float *x, float *y, int n) {
  int i = INDEX;
  if (i < n)
    y[i] = logf(1.0f + expf(-x[i])) + sinf(x[i]) * cosf(x[i]);
}

KERNEL reduce_shared(const float *x, float *out, int n) {
  __shared__ float tile[256];
  float sum = 0;
  for (int i = INDEX; i < n; i += gridDim.x * blockDim.x)
    sum += x[i];
  tile[threadIdx.x] = sum;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step)
      tile[threadIdx.x] += tile[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = tile[0];
}

KERNEL reduce_shuffle(const int *x, int *out, int n) {
  int i = INDEX, value = i < n ? x[i] : 0;
  for (int step = 16; step > 0; step /= 2)
    value += __shfl_xor_sync(0xffffffff, value, step);
  if (threadIdx.x % 32 == 0)
    atomicAdd(out, value);
}

KERNEL reduce_last_block(const float *x, float *parts, unsigned *count, float *out, int n) {
  __shared__ float tile[128];
  __shared__ bool last;
  tile[threadIdx.x] = INDEX < n ? x[INDEX] : 0.0f;
  __syncthreads();
  for (int step = 64; step > 0; step /= 2) {
    if (threadIdx.x < step)
      tile[threadIdx.x] += tile[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = tile[0];
    __threadfence();
    last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float sum = 0;
    for (int b = 0; b < gridDim.x; ++b)
      sum += parts[b];
    *out = sum;
  }
}

KERNEL dot_double(const double *a, const double *b, double *out, int n) {
  __shared__ double tile[128];
  double sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sum = fma(a[i], b[i], sum);
  tile[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    double total = 0;
    for (int i = 0; i < blockDim.x; ++i)
      total += tile[i];
    *out = total;
  }
}

KERNEL scan_inclusive(const int *x, int *y) {
  __shared__ int buffer[2][256];
  int in = 0;
  buffer[0][threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int step = 1; step < blockDim.x; step *= 2) {
    buffer[1 - in][threadIdx.x] = buffer[in][threadIdx.x] + (threadIdx.x >= step ? buffer[in][threadIdx.x - step] : 0);
    in = 1 - in;
    __syncthreads();
  }
  y[threadIdx.x] = buffer[in][threadIdx.x];
}

KERNEL scan_exclusive_work_efficient(const int *x, int *y) {
  extern __shared__ int data[];
  int t = threadIdx.x, n = blockDim.x * 2, offset = 1;
  data[2 * t] = x[2 * t];
  data[2 * t + 1] = x[2 * t + 1];
  for (int d = n / 2; d > 0; d /= 2) {
    __syncthreads();
    if (t < d)
      data[offset * (2 * t + 2) - 1] += data[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0)
    data[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < d) {
      int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, old = data[a];
      data[a] = data[b];
      data[b] += old;
    }
  }
  __syncthreads();
  y[2 * t] = data[2 * t];
  y[2 * t + 1] = data[2 * t + 1];
}

KERNEL scan_warps(const int *x, int *y, int n) {
  __shared__ int sums[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, value = threadIdx.x < n ? x[threadIdx.x] : 0;
  for (int step = 1; step < 32; step *= 2) {
    int other = __shfl_up_sync(0xffffffff, value, step);
    if (lane >= step)
      value += other;
  }
  if (lane == 31)
    sums[warp] = value;
  __syncthreads();
  if (warp == 0) {
    int sum = lane < blockDim.x / 32 ? sums[lane] : 0;
    for (int step = 1; step < 32; step *= 2) {
      int other = __shfl_up_sync(0xffffffff, sum, step);
      if (lane >= step)
        sum += other;
    }
    sums[lane] = sum;
  }
  __syncthreads();
  if (threadIdx.x < n)
    y[threadIdx.x] = value + (warp ? sums[warp - 1] : 0);
}

KERNEL histogram(const unsigned char *x, unsigned *bins, int n) {
  __shared__ unsigned local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = INDEX; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[x[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

KERNEL transpose(const float *x, float *y, int rows, int columns) {
  __shared__ float tile[16][17];
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row < rows && column < columns)
    tile[threadIdx.y][threadIdx.x] = x[row * columns + column];
  __syncthreads();
  column = blockIdx.y * 16 + threadIdx.x;
  row = blockIdx.x * 16 + threadIdx.y;
  if (row < columns && column < rows)
    y[row * rows + column] = tile[threadIdx.x][threadIdx.y];
}

KERNEL transpose_bytes(const unsigned char *x, unsigned char *y, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < n && column < n)
    y[column * n + row] = x[row * n + column];
}

KERNEL matmul_naive(const float *a, const float *b, float *c, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k)
    sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

KERNEL matmul_tiled(const float *a, const float *b, float *c, int n) {
  __shared__ float at[16][16], bt[16][16];
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int tile = 0; tile < n; tile += 16) {
    at[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
    bt[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      sum += at[threadIdx.y][k] * bt[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__device__ void mma_f16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// C[16][8] = A[16][k] * B[8][k] transposed, one warp.
KERNEL matmul_mma_f16(const __half *a, const __half *b, float *c, int k) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  float d[4] = {0, 0, 0, 0};
  for (int at = 0; at < k; at += 16) {
    unsigned ar[4], br[2];
    for (int r = 0; r < 4; ++r)
      ar[r] = *(const unsigned *)&a[(g + (r % 2) * 8) * k + at + t * 2 + (r / 2) * 8];
    for (int r = 0; r < 2; ++r)
      br[r] = *(const unsigned *)&b[g * k + at + t * 2 + r * 8];
    mma_f16(d, ar, br);
  }
  for (int r = 0; r < 4; ++r)
    c[(g + (r / 2) * 8) * 8 + t * 2 + r % 2] = d[r];
}

KERNEL matmul_mma_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int k) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  float d[4] = {0, 0, 0, 0};
  for (int at = 0; at < k; at += 16) {
    unsigned ar[4], br[2];
    for (int r = 0; r < 4; ++r)
      ar[r] = *(const unsigned *)&a[(g + (r % 2) * 8) * k + at + t * 2 + (r / 2) * 8];
    for (int r = 0; r < 2; ++r)
      br[r] = *(const unsigned *)&b[g * k + at + t * 2 + r * 8];
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(ar[0]), "r"(ar[1]), "r"(ar[2]), "r"(ar[3]), "r"(br[0]), "r"(br[1]));
  }
  for (int r = 0; r < 4; ++r)
    c[(g + (r / 2) * 8) * 8 + t * 2 + r % 2] = d[r];
}

KERNEL matmul_mma_tf32(const float *a, const float *b, float *c, int k) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  float d[4] = {0, 0, 0, 0};
  for (int at = 0; at < k; at += 8) {
    unsigned ar[4], br[2];
    for (int r = 0; r < 4; ++r)
      asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(ar[r]) : "f"(a[(g + (r % 2) * 8) * k + at + t + (r / 2) * 4]));
    for (int r = 0; r < 2; ++r)
      asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(br[r]) : "f"(b[g * k + at + t + r * 4]));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(ar[0]), "r"(ar[1]), "r"(ar[2]), "r"(ar[3]), "r"(br[0]), "r"(br[1]));
  }
  for (int r = 0; r < 4; ++r)
    c[(g + (r / 2) * 8) * 8 + t * 2 + r % 2] = d[r];
}

KERNEL matmul_mma_s8(const signed char *a, const signed char *b, int *c, int k) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  int d[4] = {0, 0, 0, 0};
  for (int at = 0; at < k; at += 32) {
    unsigned ar[4], br[2];
    for (int r = 0; r < 4; ++r)
      ar[r] = *(const unsigned *)&a[(g + (r % 2) * 8) * k + at + t * 4 + (r / 2) * 16];
    for (int r = 0; r < 2; ++r)
      br[r] = *(const unsigned *)&b[g * k + at + t * 4 + r * 16];
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(ar[0]), "r"(ar[1]), "r"(ar[2]), "r"(ar[3]), "r"(br[0]), "r"(br[1]));
  }
  for (int r = 0; r < 4; ++r)
    c[(g + (r / 2) * 8) * 8 + t * 2 + r % 2] = d[r];
}

KERNEL matmul_mma_f64(const double *a, const double *b, double *c, int k) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  double d[2] = {0, 0};
  for (int at = 0; at < k; at += 4)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(d[0]), "+d"(d[1]) : "d"(a[g * k + at + t]), "d"(b[g * k + at + t]));
  c[g * 8 + t * 2] = d[0];
  c[g * 8 + t * 2 + 1] = d[1];
}

// Two stages of cp.async, ldmatrix (B transposed on the way), mma. A[16][k] row major, B[k][8] row major.
KERNEL matmul_pipeline(const __half *a, const __half *b, float *c, int k) {
  __shared__ __align__(16) __half at[2][16][16];
  __shared__ __align__(16) __half bt[2][16][8];
  int lane = threadIdx.x;
  auto load = [&](int stage, int from) {
    unsigned to = (unsigned)__cvta_generic_to_shared(&at[stage][lane / 2][lane % 2 * 8]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(&a[lane / 2 * k + from + lane % 2 * 8]) : "memory");
    if (lane < 16) {
      to = (unsigned)__cvta_generic_to_shared(&bt[stage][lane][0]);
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(&b[(from + lane) * 8]) : "memory");
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  float d[4] = {0, 0, 0, 0};
  load(0, 0);
  for (int i = 0; i < k / 16; ++i) {
    if ((i + 1) * 16 < k)
      load((i + 1) % 2, (i + 1) * 16);
    if ((i + 1) * 16 < k)
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    else
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncwarp();
    unsigned ar[4], br[2];
    unsigned from = (unsigned)__cvta_generic_to_shared(&at[i % 2][lane % 16][lane / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(ar[0]), "=r"(ar[1]), "=r"(ar[2]), "=r"(ar[3]) : "r"(from) : "memory");
    from = (unsigned)__cvta_generic_to_shared(&bt[i % 2][lane % 16][0]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(br[0]), "=r"(br[1]) : "r"(from) : "memory");
    mma_f16(d, ar, br);
    __syncwarp();
  }
  int g = lane / 4, t = lane % 4;
  for (int r = 0; r < 4; ++r)
    c[(g + (r / 2) * 8) * 8 + t * 2 + r % 2] = d[r];
}

KERNEL softmax_rows(const float *x, float *y, int n) {
  __shared__ float parts[32];
  const float *row = x + blockIdx.x * n;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  float most = -3.402823466e38f;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    most = fmaxf(most, row[i]);
  for (int step = 16; step > 0; step /= 2)
    most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
  if (lane == 0)
    parts[warp] = most;
  __syncthreads();
  most = parts[0];
  for (int w = 1; w < warps; ++w)
    most = fmaxf(most, parts[w]);
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sum += __expf(row[i] - most);
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (lane == 0)
    parts[warp] = sum;
  __syncthreads();
  sum = 0;
  for (int w = 0; w < warps; ++w)
    sum += parts[w];
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[blockIdx.x * n + i] = __expf(row[i] - most) / sum;
}

KERNEL layer_norm(const float *x, const float *scale, const float *shift, float *y, int n) {
  __shared__ float mean, inverse;
  const float *row = x + blockIdx.x * n;
  if (threadIdx.x < 32) {
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
      sum += row[i];
      squares += row[i] * row[i];
    }
    for (int step = 16; step > 0; step /= 2) {
      sum += __shfl_down_sync(0xffffffff, sum, step);
      squares += __shfl_down_sync(0xffffffff, squares, step);
    }
    if (threadIdx.x == 0) {
      mean = sum / n;
      inverse = rsqrtf(squares / n - mean * mean + 1e-5f);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[blockIdx.x * n + i] = (row[i] - mean) * inverse * scale[i] + shift[i];
}

KERNEL half2_axpy(const __half2 *x, __half2 *y, int n) {
  int i = INDEX;
  if (i < n)
    y[i] = __hfma2(x[i], __floats2half2_rn(2.0f, -1.5f), y[i]);
}

KERNEL bfloat16_add(const __nv_bfloat16 *x, const __nv_bfloat16 *y, __nv_bfloat16 *z, int n) {
  int i = INDEX;
  if (i < n)
    z[i] = __float2bfloat16(__bfloat162float(x[i]) + __bfloat162float(y[i]));
}

KERNEL float8_round_trip(const float *x, float *y, int n) {
  int i = INDEX;
  if (i < n)
    y[i] = float(__nv_fp8_e4m3(x[i]));
}

KERNEL nbody(const float4 *p, float4 *a, int n) {
  __shared__ float4 tile[64];
  int i = INDEX;
  float4 me = p[i];
  float ax = 0, ay = 0, az = 0;
  for (int start = 0; start < n; start += 64) {
    tile[threadIdx.x] = p[start + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 64; ++j) {
      float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
      float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      float s = tile[j].w * inverse * inverse * inverse;
      ax += dx * s;
      ay += dy * s;
      az += dz * s;
    }
    __syncthreads();
  }
  a[i] = make_float4(ax, ay, az, 0);
}

KERNEL stencil_2d(const float *x, float *y, int n) {
  __shared__ float tile[18][18];
  int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  auto at = [&](int r, int c) { return r < 0 || c < 0 || r >= n || c >= n ? 0.0f : x[r * n + c]; };
  for (int i = threadIdx.y * 16 + threadIdx.x; i < 18 * 18; i += 256)
    tile[i / 18][i % 18] = at(blockIdx.y * 16 + i / 18 - 1, blockIdx.x * 16 + i % 18 - 1);
  __syncthreads();
  int r = threadIdx.y + 1, c = threadIdx.x + 1;
  if (row < n && column < n)
    y[row * n + column] = 0.5f * tile[r][c] + 0.125f * (tile[r - 1][c] + tile[r + 1][c] + tile[r][c - 1] + tile[r][c + 1]);
}

KERNEL convolution_1d(const float *x, const float *w, float *y, int n, int taps) {
  int i = INDEX;
  if (i >= n)
    return;
  float sum = 0;
  for (int t = 0; t < taps; ++t) {
    int at = i + t - taps / 2;
    if (at >= 0 && at < n)
      sum += x[at] * w[t];
  }
  y[i] = sum;
}

KERNEL hash_insert(const unsigned *keys, unsigned *table, int n, int slots) {
  int i = INDEX;
  if (i >= n)
    return;
  unsigned key = keys[i], slot = key * 2654435761u % slots;
  while (true) {
    unsigned old = atomicCAS(&table[slot], 0u, key);
    if (old == 0 || old == key)
      break;
    slot = (slot + 1) % slots;
  }
}

KERNEL spin_lock(int *lock, int *value, int n) {
  if (INDEX >= n)
    return;
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *(volatile int *)value = *(volatile int *)value + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

KERNEL radix_sort_block(unsigned *x) {
  __shared__ unsigned data[256], scan[256];
  data[threadIdx.x] = x[threadIdx.x];
  for (int bit = 0; bit < 32; ++bit) {
    __syncthreads();
    unsigned value = data[threadIdx.x], zero = !(value >> bit & 1);
    scan[threadIdx.x] = zero;
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
      unsigned add = threadIdx.x >= step ? scan[threadIdx.x - step] : 0;
      __syncthreads();
      scan[threadIdx.x] += add;
      __syncthreads();
    }
    unsigned zeros = scan[255], before = scan[threadIdx.x] - zero;
    __syncthreads();
    data[zero ? before : zeros + threadIdx.x - before] = value;
  }
  __syncthreads();
  x[threadIdx.x] = data[threadIdx.x];
}

KERNEL bitonic_sort(float *x) {
  __shared__ float data[512];
  int t = threadIdx.x;
  data[t] = x[t];
  for (int size = 2; size <= 512; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      int other = t ^ step;
      if (other > t && (data[t] > data[other]) == ((t & size) == 0)) {
        float old = data[t];
        data[t] = data[other];
        data[other] = old;
      }
    }
  __syncthreads();
  x[t] = data[t];
}

KERNEL compact_ballot(const int *x, int *y, int *count, int n) {
  int i = INDEX, lane = threadIdx.x % 32;
  bool keep = i < n && x[i] % 3 == 0;
  unsigned votes = __ballot_sync(0xffffffff, keep);
  int base = 0;
  if (lane == 0)
    base = atomicAdd(count, __popc(votes));
  base = __shfl_sync(0xffffffff, base, 0);
  if (keep)
    y[base + __popc(votes & ((1u << lane) - 1))] = x[i];
}

KERNEL mandelbrot(int *out, int width, int height, int limit) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height)
    return;
  float cx = -2.0f + 3.0f * column / width, cy = -1.0f + 2.0f * row / height, x = 0, y = 0;
  int n = 0;
  while (n < limit && x * x + y * y < 4.0f) {
    float next = __fadd_rn(__fmul_rn(x, x) - __fmul_rn(y, y), cx);
    y = __fadd_rn(__fmul_rn(__fmul_rn(2.0f, x), y), cy);
    x = next;
    ++n;
  }
  out[row * width + column] = n;
}

KERNEL collatz(const unsigned long long *x, int *steps, int n) {
  int i = INDEX;
  if (i >= n)
    return;
  unsigned long long v = x[i];
  int count = 0;
  while (v != 1) {
    v = v % 2 ? 3 * v + 1 : v / 2;
    ++count;
  }
  steps[i] = count;
}

__device__ __noinline__ unsigned gcd(unsigned a, unsigned b) { return b == 0 ? a : gcd(b, a % b); }
KERNEL gcd_recursive(const unsigned *a, const unsigned *b, unsigned *c, int n) {
  int i = INDEX;
  if (i < n)
    c[i] = gcd(a[i], b[i]);
}

struct Polynomial {
  double c[5];
  int degree;
};
KERNEL polynomial_by_value(Polynomial p, const double *x, double *y, int n) {
  int i = INDEX;
  if (i >= n)
    return;
  double sum = 0;
  for (int d = p.degree; d >= 0; --d)
    sum = sum * x[i] + p.c[d];
  y[i] = sum;
}

KERNEL switch_table(const int *op, const int *a, const int *b, int *c, int n) {
  int i = INDEX;
  if (i >= n)
    return;
  int x = a[i], y = b[i], r;
  switch (op[i]) {
  case 0: r = x + y; break;
  case 1: r = x - y; break;
  case 2: r = x * y; break;
  case 3: r = y ? x / y : 0; break;
  case 4: r = x & y; break;
  case 5: r = x | y; break;
  case 6: r = x ^ y; break;
  case 7: r = __popc(x) + __clz(y); break;
  case 8: r = __brev(x) ^ __byte_perm(x, y, 0x5410); break;
  default: r = min(x, y); break;
  }
  c[i] = r;
}

KERNEL local_array(const int *x, int *y, int n) {
  int i = INDEX, stack[16];
  if (i >= n)
    return;
  for (int k = 0; k < 16; ++k)
    stack[k] = x[i] * (k + 1);
  int at = x[i] & 15, sum = 0;
  for (int k = 0; k < 16; ++k) {
    sum += stack[at] * (k & 3);
    at = (at * 5 + 3) & 15;
  }
  y[i] = sum;
}

__constant__ float weights[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
KERNEL blur_constant(const float *x, float *y, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < 1 || column < 1 || row >= n - 1 || column >= n - 1)
    return;
  float sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      sum += weights[(dy + 1) * 3 + dx + 1] * x[(row + dy) * n + column + dx];
  y[row * n + column] = sum / 16;
}

KERNEL sparse_matrix_vector(const int *starts, const int *columns, const float *values, const float *x, float *y, int rows) {
  int row = INDEX / 32, lane = threadIdx.x % 32;
  if (row >= rows)
    return;
  float sum = 0;
  for (int i = starts[row] + lane; i < starts[row + 1]; i += 32)
    sum += values[i] * x[columns[i]];
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, step);
  if (lane == 0)
    y[row] = sum;
}

KERNEL embedding_gather(const long long *ids, const float *table, float *out, int width) {
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    out[blockIdx.x * width + i] = table[ids[blockIdx.x] * width + i];
}

KERNEL scatter_add(const int *where, const float *x, float *y, int n) {
  int i = INDEX;
  if (i < n)
    atomicAdd(&y[where[i]], x[i]);
}

KERNEL max_pool(const float *x, float *y, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < n / 2 && column < n / 2)
    y[row * (n / 2) + column] = fmaxf(fmaxf(x[2 * row * n + 2 * column], x[2 * row * n + 2 * column + 1]),
                                      fmaxf(x[(2 * row + 1) * n + 2 * column], x[(2 * row + 1) * n + 2 * column + 1]));
}

KERNEL warp_groups(const int *x, int *leaders, int *sums, int n) {
  int i = INDEX;
  unsigned same = __match_any_sync(0xffffffff, x[i]);
  leaders[i] = __ffs(same) - 1;
  sums[i] = __reduce_add_sync(0xffffffff, x[i]) + __reduce_max_sync(0xffffffff, x[i]);
}

KERNEL count_even(const int *x, int *out) {
  int even = __syncthreads_count(x[threadIdx.x] % 2 == 0);
  int all = __syncthreads_and(x[threadIdx.x] >= 0), any = __syncthreads_or(x[threadIdx.x] > 90);
  if (threadIdx.x == 0) {
    out[0] = even;
    out[1] = all != 0;
    out[2] = any != 0;
  }
}

KERNEL random_philox(unsigned *out, unsigned seed, int n) {
  int i = INDEX;
  if (i >= n)
    return;
  unsigned c0 = i, c1 = 0, c2 = 0, c3 = 0, k0 = seed, k1 = 0x1234;
  for (int round = 0; round < 10; ++round) {
    unsigned h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0, h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  out[i] = c0 ^ c1 ^ c2 ^ c3;
}

KERNEL double_math(const double *x, double *y, int n) {
  int i = INDEX;
  if (i < n)
    y[i] = exp(x[i] * 0.1) / sqrt(x[i] * x[i] + 1.0) + log(fabs(x[i]) + 1.0);
}

KERNEL big_multiply(const unsigned long long *a, const unsigned long long *b, unsigned long long *low, unsigned long long *high, int n) {
  int i = INDEX;
  if (i < n) {
    low[i] = a[i] * b[i];
    high[i] = __umul64hi(a[i], b[i]);
  }
}
