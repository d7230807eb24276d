//===- KernelsTest.cpp - CUDA C++ kernels, compiled when the test runs, against C++ references ---===//
//
// Inputs/kernels.cu is compiled by NVRTC for sm_80, sm_90 and sm_100. Every kernel runs with all checks, races among
// them, in several orders of blocks and warps; nothing may be reported and the results must be right.
//===----------------------------------------------------------------------------------------------===//
#include "runtime/Simulator/Nvrtc.h"
#include "test/unit/simulator/Simulation.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <sstream>

namespace weft::simulator {
namespace {

std::string readFile(const char *path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// One compilation an architecture for the whole process.
const std::string &kernelsFor(unsigned architecture) {
  static std::map<unsigned, std::string> texts;
  auto found = texts.find(architecture);
  if (found != texts.end())
    return found->second;
  std::string ptx, log;
  if (!compileCuda(readFile(WEFT_SIMULATOR_KERNELS), "kernels.cu", architecture, {}, ptx, log))
    ADD_FAILURE() << log;
  return texts[architecture] = ptx;
}

std::mt19937 generator(7);
std::vector<float> floats(size_t count, float low = -2, float high = 2) {
  std::uniform_real_distribution<float> uniform(low, high);
  std::vector<float> out(count);
  for (float &x : out)
    x = uniform(generator);
  return out;
}
std::vector<int> integers(size_t count, int low, int high) {
  std::uniform_int_distribution<int> uniform(low, high);
  std::vector<int> out(count);
  for (int &x : out)
    x = uniform(generator);
  return out;
}
/// Small numbers that f16 and bf16 hold exactly.
uint16_t halfBits(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  if (x == 0)
    return 0;
  return uint16_t((bits >> 16 & 0x8000) | ((((bits >> 23) & 255) - 112) << 10) | ((bits >> 13) & 1023));
}
float halfValue(uint16_t h) {
  if (!(h & 0x7fff))
    return 0;
  uint32_t bits = uint32_t(h & 0x8000) << 16 | ((uint32_t(h >> 10 & 31) + 112) << 23) | uint32_t(h & 1023) << 13;
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}
uint16_t bfloatBits(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return uint16_t(bits >> 16);
}

class Kernels : public testing::TestWithParam<unsigned> {
protected:
  void SetUp() override {
    if (!hasNvrtc()) {
      std::printf("not checked: NVRTC absent\n");
      GTEST_SKIP() << "not checked: NVRTC absent";
    }
    simulation.options.checkRaces = true;
    ASSERT_TRUE(simulation.load(kernelsFor(GetParam())));
  }
  /// Runs in three orders; `prepare` sets buffers back before each.
  template <class... Parameters>
  void run(const char *kernel, Coordinates grid, Coordinates block, Parameters... parameters) {
    names.insert(kernel);
    bool completed = simulation.run(kernel, grid, block, parameters...).completed;
    EXPECT_TRUE(completed) << simulation.reports();
    EXPECT_EQ(simulation.reports(), "") << kernel;
  }
  template <class T> uint64_t up(const std::vector<T> &values) { return simulation.upload(values); }
  template <class T> uint64_t zeros(size_t count) { return simulation.upload(std::vector<T>(count, T())); }
  template <class T> uint64_t fresh(size_t count) { return simulation.allocate(count * sizeof(T)); }
  template <class T> std::vector<T> down(uint64_t address, size_t count) {
    return simulation.download<T>(address, count);
  }
  template <class T> void near(const std::vector<T> &got, const std::vector<double> &want, double tolerance) {
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(double(got[i]), want[i], tolerance * std::max(1.0, std::fabs(want[i]))) << "element " << i;
  }
  /// The body under several seeds.
  template <class Body> void seeds(Body body) {
    for (uint64_t seed : {0, 1, 2}) {
      simulation.options.seed = seed;
      generator.seed(unsigned(seed) + 11);
      body();
    }
  }
  template <class F> std::vector<double> map(const std::vector<float> &x, F f) {
    std::vector<double> out;
    for (float v : x)
      out.push_back(f(double(v)));
    return out;
  }

  Simulation simulation;
  static std::set<std::string> names;
};
std::set<std::string> Kernels::names;

TEST_P(Kernels, Elementwise) {
  seeds([&] {
    int n = 1000;
    std::vector<float> a = floats(1000), b = floats(1000);
    std::vector<double> sum, axpy;
    for (size_t i = 0; i < 1000; ++i) {
      sum.push_back(double(a[i]) + b[i]);
      axpy.push_back(1.5 * a[i] + b[i]);
    }
    uint64_t pa = up(a), pb = up(b), out = fresh<float>(1000);
    run("vector_add", {8, 1, 1}, {128, 1, 1}, pa, pb, out, n);
    near(down<float>(out, 1000), sum, 1e-6);
    run("vectorized_copy", {2, 1, 1}, {128, 1, 1}, pa, out, 250);
    EXPECT_EQ(down<float>(out, 1000), a);
    run("gelu", {8, 1, 1}, {128, 1, 1}, pa, out, n);
    near(down<float>(out, 1000),
         map(a, [](double v) { return 0.5 * v * (1 + std::tanh(0.7978845608 * (v + 0.044715 * v * v * v))); }), 1e-5);
    run("sigmoid_log", {8, 1, 1}, {128, 1, 1}, pa, out, n);
    near(down<float>(out, 1000),
         map(a, [](double v) { return std::log(1 + std::exp(-v)) + std::sin(v) * std::cos(v); }), 1e-5);
    run("saxpy_grid_stride", {3, 1, 1}, {64, 1, 1}, 1.5f, pa, pb, n);
    near(down<float>(pb, 1000), axpy, 1e-6);
    std::vector<double> x, y;
    for (float v : a) {
      x.push_back(v * 10);
      y.push_back(std::exp(x.back() * 0.1) / std::sqrt(x.back() * x.back() + 1) + std::log(std::fabs(x.back()) + 1));
    }
    uint64_t dout = fresh<double>(1000);
    run("double_math", {8, 1, 1}, {128, 1, 1}, up(x), dout, n);
    near(down<double>(dout, 1000), y, 1e-13);
  });
}

TEST_P(Kernels, Reductions) {
  seeds([&] {
    int n = 3000;
    std::vector<float> x = floats(3000);
    double total = std::accumulate(x.begin(), x.end(), 0.0);
    uint64_t px = up(x), parts = fresh<float>(24);
    run("reduce_shared", {5, 1, 1}, {256, 1, 1}, px, parts, n);
    std::vector<float> got = down<float>(parts, 5);
    EXPECT_NEAR(std::accumulate(got.begin(), got.end(), 0.0), total, 1e-3);
    std::vector<int> v = integers(1000, -100, 100);
    uint64_t out = zeros<int>(1);
    run("reduce_shuffle", {4, 1, 1}, {256, 1, 1}, up(v), out, 1000);
    EXPECT_EQ(down<int>(out, 1)[0], std::accumulate(v.begin(), v.end(), 0));
    uint64_t count = zeros<unsigned>(1), sum = fresh<float>(1);
    run("reduce_last_block", {24, 1, 1}, {128, 1, 1}, px, parts, count, sum, n);
    EXPECT_NEAR(down<float>(sum, 1)[0], total, 1e-3);
    std::vector<double> a(500), b(500);
    for (size_t i = 0; i < 500; ++i) {
      a[i] = x[i];
      b[i] = x[i + 500];
    }
    uint64_t dot = fresh<double>(1);
    run("dot_double", {1, 1, 1}, {128, 1, 1}, up(a), up(b), dot, 500);
    EXPECT_NEAR(down<double>(dot, 1)[0], std::inner_product(a.begin(), a.end(), b.begin(), 0.0), 1e-10);
    std::vector<int> small = integers(96, 0, 99);
    uint64_t counts = fresh<int>(3);
    run("count_even", {1, 1, 1}, {96, 1, 1}, up(small), counts);
    int even = int(std::count_if(small.begin(), small.end(), [](int s) { return s % 2 == 0; }));
    EXPECT_EQ(down<int>(counts, 3), (std::vector<int>{even, 1, *std::max_element(small.begin(), small.end()) > 90}));
  });
}

TEST_P(Kernels, Scans) {
  seeds([&] {
    std::vector<int> x = integers(512, -50, 50), inclusive(512), exclusive(512);
    std::partial_sum(x.begin(), x.end(), inclusive.begin());
    for (size_t i = 1; i < 512; ++i)
      exclusive[i] = inclusive[i - 1];
    uint64_t px = up(x), out = fresh<int>(512);
    run("scan_inclusive", {1, 1, 1}, {256, 1, 1}, px, out);
    EXPECT_EQ(down<int>(out, 256), std::vector<int>(inclusive.begin(), inclusive.begin() + 256));
    simulation.dynamicShared = 512 * 4;
    run("scan_exclusive_work_efficient", {1, 1, 1}, {256, 1, 1}, px, out);
    simulation.dynamicShared = 0;
    EXPECT_EQ(down<int>(out, 512), exclusive);
    run("scan_warps", {1, 1, 1}, {512, 1, 1}, px, out, 500);
    EXPECT_EQ(down<int>(out, 500), std::vector<int>(inclusive.begin(), inclusive.begin() + 500));
  });
}

TEST_P(Kernels, SortsAndCounts) {
  seeds([&] {
    std::vector<int> bytes = integers(5000, 0, 255);
    std::vector<unsigned char> x(bytes.begin(), bytes.end());
    std::vector<unsigned> bins(256);
    for (unsigned char b : x)
      ++bins[b];
    uint64_t out = zeros<unsigned>(256);
    run("histogram", {4, 1, 1}, {256, 1, 1}, up(x), out, 5000);
    EXPECT_EQ(down<unsigned>(out, 256), bins);
    std::vector<unsigned> keys(256);
    for (unsigned &k : keys)
      k = generator();
    uint64_t pk = up(keys);
    run("radix_sort_block", {1, 1, 1}, {256, 1, 1}, pk);
    std::sort(keys.begin(), keys.end());
    EXPECT_EQ(down<unsigned>(pk, 256), keys);
    std::vector<float> values = floats(512);
    uint64_t pv = up(values);
    run("bitonic_sort", {1, 1, 1}, {512, 1, 1}, pv);
    std::sort(values.begin(), values.end());
    EXPECT_EQ(down<float>(pv, 512), values);
    std::vector<int> v = integers(1000, 0, 1000), kept;
    std::copy_if(v.begin(), v.end(), std::back_inserter(kept), [](int i) { return i % 3 == 0; });
    uint64_t compact = fresh<int>(1000), count = zeros<int>(1);
    run("compact_ballot", {4, 1, 1}, {256, 1, 1}, up(v), compact, count, 1000);
    ASSERT_EQ(down<int>(count, 1)[0], int(kept.size()));
    std::vector<int> got = down<int>(compact, kept.size());
    std::sort(got.begin(), got.end());
    std::sort(kept.begin(), kept.end());
    EXPECT_EQ(got, kept);
    std::set<unsigned> unique;
    while (unique.size() < 300)
      unique.insert(generator() | 1);
    std::vector<unsigned> inserted(unique.begin(), unique.end());
    uint64_t table = zeros<unsigned>(512);
    run("hash_insert", {3, 1, 1}, {128, 1, 1}, up(inserted), table, 300, 512);
    std::vector<unsigned> found = down<unsigned>(table, 512);
    std::set<unsigned> present(found.begin(), found.end());
    present.erase(0);
    EXPECT_EQ(present, unique);
    uint64_t lock = zeros<int>(1), value = zeros<int>(1);
    run("spin_lock", {2, 1, 1}, {40, 1, 1}, lock, value, 70);
    EXPECT_EQ(down<int>(value, 1)[0], 70);
  });
}

TEST_P(Kernels, Matrices) {
  seeds([&] {
    size_t n = 48;
    std::vector<float> a = floats(n * n), b = floats(n * n);
    std::vector<double> want(n * n), transposed(n * n);
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j) {
        for (size_t k = 0; k < n; ++k)
          want[i * n + j] += double(a[i * n + k]) * b[k * n + j];
        transposed[j * n + i] = a[i * n + j];
      }
    uint64_t pa = up(a), pb = up(b), out = fresh<float>(n * n);
    run("matmul_naive", {3, 3, 1}, {16, 16, 1}, pa, pb, out, int(n));
    near(down<float>(out, n * n), want, 1e-5);
    run("matmul_tiled", {3, 3, 1}, {16, 16, 1}, pa, pb, out, int(n));
    near(down<float>(out, n * n), want, 1e-5);
    run("transpose", {3, 3, 1}, {16, 16, 1}, pa, out, int(n), int(n));
    near(down<float>(out, n * n), transposed, 0);
    std::vector<int> raw = integers(33 * 33, 0, 255);
    std::vector<unsigned char> bytes(raw.begin(), raw.end()), turned(33 * 33);
    for (size_t i = 0; i < 33; ++i)
      for (size_t j = 0; j < 33; ++j)
        turned[j * 33 + i] = bytes[i * 33 + j];
    uint64_t pt = fresh<unsigned char>(33 * 33);
    run("transpose_bytes", {5, 5, 1}, {8, 8, 1}, up(bytes), pt, 33);
    EXPECT_EQ(down<unsigned char>(pt, 33 * 33), turned);
  });
}

TEST_P(Kernels, TensorCores) {
  seeds([&] {
    size_t k = 64;
    std::vector<int> ai = integers(16 * k, -8, 8), bi = integers(8 * k, -8, 8);
    std::vector<double> want(16 * 8), square(8 * 8);
    for (size_t i = 0; i < 16; ++i)
      for (size_t j = 0; j < 8; ++j)
        for (size_t n = 0; n < k; ++n) {
          want[i * 8 + j] += ai[i * k + n] * 0.25 * bi[j * k + n];
          if (i < 8)
            square[i * 8 + j] += double(ai[i * k + n]) * bi[j * k + n];
        }
    std::vector<uint16_t> ah, bh, ab, bb, bRows(k * 8);
    std::vector<float> af, bf;
    std::vector<signed char> as(ai.begin(), ai.end()), bs(bi.begin(), bi.end());
    std::vector<double> ad(ai.begin(), ai.end()), bd(bi.begin(), bi.end());
    for (int v : ai) {
      ah.push_back(halfBits(float(v) * 0.25f));
      ab.push_back(bfloatBits(float(v) * 0.25f));
      af.push_back(float(v) * 0.25f);
    }
    for (int v : bi) {
      bh.push_back(halfBits(float(v)));
      bb.push_back(bfloatBits(float(v)));
      bf.push_back(float(v));
    }
    for (size_t j = 0; j < 8; ++j)
      for (size_t n = 0; n < k; ++n)
        bRows[n * 8 + j] = bh[j * k + n];
    // The products and sums are exact in f32, so the comparison is too.
    uint64_t out = fresh<float>(128);
    run("matmul_mma_f16", {1, 1, 1}, {32, 1, 1}, up(ah), up(bh), out, int(k));
    near(down<float>(out, 128), want, 0);
    run("matmul_mma_bf16", {1, 1, 1}, {32, 1, 1}, up(ab), up(bb), out, int(k));
    near(down<float>(out, 128), want, 0);
    run("matmul_mma_tf32", {1, 1, 1}, {32, 1, 1}, up(af), up(bf), out, int(k));
    near(down<float>(out, 128), want, 0);
    uint64_t piped = fresh<float>(128);
    run("matmul_pipeline", {1, 1, 1}, {32, 1, 1}, up(ah), up(bRows), piped, int(k));
    near(down<float>(piped, 128), want, 0);
    run("matmul_mma_s8", {1, 1, 1}, {32, 1, 1}, up(as), up(bs), out, int(k));
    std::vector<int> got = down<int>(out, 128);
    for (size_t i = 0; i < 128; ++i)
      EXPECT_EQ(got[i], int(want[i] * 4));
    uint64_t dout = fresh<double>(64);
    run("matmul_mma_f64", {1, 1, 1}, {32, 1, 1}, up(ad), up(bd), dout, int(k));
    near(down<double>(dout, 64), square, 0);
  });
}

TEST_P(Kernels, Normalisations) {
  seeds([&] {
    size_t rows = 5, n = 200;
    std::vector<float> x = floats(rows * n), scale = floats(n), shift = floats(n);
    std::vector<double> soft(rows * n), norm(rows * n);
    for (size_t r = 0; r < rows; ++r) {
      double most = *std::max_element(x.begin() + long(r * n), x.begin() + long(r * n + n)), sum = 0, mean = 0,
             variance = 0;
      for (size_t i = 0; i < n; ++i) {
        sum += std::exp(x[r * n + i] - most);
        mean += x[r * n + i] / double(n);
      }
      for (size_t i = 0; i < n; ++i)
        variance += (x[r * n + i] - mean) * (x[r * n + i] - mean) / double(n);
      for (size_t i = 0; i < n; ++i) {
        soft[r * n + i] = std::exp(x[r * n + i] - most) / sum;
        norm[r * n + i] = (x[r * n + i] - mean) / std::sqrt(variance + 1e-5) * scale[i] + shift[i];
      }
    }
    uint64_t px = up(x), out = fresh<float>(rows * n);
    run("softmax_rows", {5, 1, 1}, {128, 1, 1}, px, out, int(n));
    near(down<float>(out, rows * n), soft, 1e-5);
    run("layer_norm", {5, 1, 1}, {128, 1, 1}, px, up(scale), up(shift), out, int(n));
    near(down<float>(out, rows * n), norm, 1e-4);
  });
}

TEST_P(Kernels, SmallFloats) {
  seeds([&] {
    std::vector<int> xi = integers(512, -64, 64), yi = integers(512, -64, 64);
    std::vector<uint16_t> x, y, bx, by;
    std::vector<float> f8 = floats(300, -500, 500);
    for (size_t i = 0; i < 512; ++i) {
      x.push_back(halfBits(float(xi[i]) / 8));
      y.push_back(halfBits(float(yi[i]) / 8));
      bx.push_back(bfloatBits(float(xi[i])));
      by.push_back(bfloatBits(float(yi[i])));
    }
    uint64_t py = up(y);
    run("half2_axpy", {2, 1, 1}, {128, 1, 1}, up(x), py, 256);
    std::vector<uint16_t> got = down<uint16_t>(py, 512);
    for (size_t i = 0; i < 512; ++i)
      EXPECT_EQ(halfValue(got[i]), float(xi[i]) / 8 * (i % 2 ? -1.5f : 2.0f) + float(yi[i]) / 8);
    uint64_t out = fresh<uint16_t>(512);
    run("bfloat16_add", {4, 1, 1}, {128, 1, 1}, up(bx), up(by), out, 512);
    got = down<uint16_t>(out, 512);
    for (size_t i = 0; i < 512; ++i)
      EXPECT_EQ(got[i], bfloatBits(float(xi[i] + yi[i])));
    uint64_t p8 = fresh<float>(300);
    run("float8_round_trip", {3, 1, 1}, {128, 1, 1}, up(f8), p8, 300);
    std::vector<float> back = down<float>(p8, 300);
    for (size_t i = 0; i < 300; ++i) {
      // e4m3: four significant bits, steps of 2^-9 below 2^-6, 448 at most.
      double v = f8[i], step = std::ldexp(1.0, std::max(-6, std::ilogb(v)) - 3), want = std::nearbyint(v / step) * step;
      EXPECT_EQ(double(back[i]), std::max(-448.0, std::min(448.0, want)));
    }
  });
}

TEST_P(Kernels, GridsAndParticles) {
  seeds([&] {
    size_t n = 40;
    std::vector<float> x = floats(n * n), w = floats(7);
    auto at = [&](long r, long c) {
      return r < 0 || c < 0 || r >= long(n) || c >= long(n) ? 0.0 : double(x[size_t(r) * n + size_t(c)]);
    };
    std::vector<double> stencil(n * n), blur(n * n), pooled(n * n / 4), line(n * n);
    const double weights[] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
    for (long r = 0; r < long(n); ++r)
      for (long c = 0; c < long(n); ++c) {
        size_t i = size_t(r) * n + size_t(c);
        stencil[i] = 0.5 * at(r, c) + 0.125 * (at(r - 1, c) + at(r + 1, c) + at(r, c - 1) + at(r, c + 1));
        if (r && c && r < long(n) - 1 && c < long(n) - 1)
          for (int k = 0; k < 9; ++k)
            blur[i] += weights[k] * at(r + k / 3 - 1, c + k % 3 - 1) / 16;
        if (r < long(n) / 2 && c < long(n) / 2)
          pooled[size_t(r) * n / 2 + size_t(c)] = std::max(std::max(at(2 * r, 2 * c), at(2 * r, 2 * c + 1)),
                                                           std::max(at(2 * r + 1, 2 * c), at(2 * r + 1, 2 * c + 1)));
      }
    for (long i = 0; i < long(n * n); ++i)
      for (long t = 0; t < 7; ++t)
        if (i + t - 3 >= 0 && i + t - 3 < long(n * n))
          line[size_t(i)] += double(x[size_t(i + t - 3)]) * w[size_t(t)];
    uint64_t px = up(x), out = zeros<float>(n * n);
    run("stencil_2d", {3, 3, 1}, {16, 16, 1}, px, out, int(n));
    near(down<float>(out, n * n), stencil, 1e-6);
    out = zeros<float>(n * n);
    run("blur_constant", {5, 5, 1}, {8, 8, 1}, px, out, int(n));
    near(down<float>(out, n * n), blur, 1e-5);
    run("max_pool", {3, 3, 1}, {8, 8, 1}, px, out, int(n));
    near(down<float>(out, n * n / 4), pooled, 0);
    run("convolution_1d", {13, 1, 1}, {128, 1, 1}, px, up(w), out, int(n * n), 7);
    near(down<float>(out, n * n), line, 1e-5);
    std::vector<float> bodies = floats(128 * 4);
    std::vector<double> forces(128 * 4);
    for (size_t i = 0; i < 128; ++i)
      for (size_t j = 0; j < 128; ++j) {
        double d[3], r2 = 0.01;
        for (size_t k = 0; k < 3; ++k) {
          d[k] = double(bodies[j * 4 + k]) - bodies[i * 4 + k];
          r2 += d[k] * d[k];
        }
        for (size_t k = 0; k < 3; ++k)
          forces[i * 4 + k] += d[k] * bodies[j * 4 + 3] / (r2 * std::sqrt(r2));
      }
    uint64_t pf = fresh<float>(512);
    run("nbody", {2, 1, 1}, {64, 1, 1}, up(bodies), pf, 128);
    near(down<float>(pf, 512), forces, 2e-4);
    uint64_t pm = fresh<int>(60 * 40);
    run("mandelbrot", {8, 5, 1}, {8, 8, 1}, pm, 60, 40, 200);
    std::vector<int> picture = down<int>(pm, 60 * 40);
    EXPECT_EQ(picture[20 * 60 + 30], 200); // inside the set
    EXPECT_LT(picture[0], 3);              // far outside
    EXPECT_GT(std::set<int>(picture.begin(), picture.end()).size(), 10u);
  });
}

TEST_P(Kernels, IntegersAndControl) {
  seeds([&] {
    size_t n = 300;
    std::vector<int> a = integers(n, -1000, 1000), b = integers(n, -1000, 1000), op = integers(n, 0, 11);
    uint64_t out = fresh<int>(n);
    run("switch_table", {3, 1, 1}, {128, 1, 1}, up(op), up(a), up(b), out, int(n));
    std::vector<int> got = down<int>(out, n);
    for (size_t i = 0; i < n; ++i) {
      unsigned x = unsigned(a[i]), y = unsigned(b[i]), reversed = 0;
      for (unsigned k = 0; k < 32; ++k)
        reversed |= (x >> k & 1) << (31 - k);
      int want[] = {a[i] + b[i],
                    a[i] - b[i],
                    a[i] * b[i],
                    b[i] ? a[i] / b[i] : 0,
                    a[i] & b[i],
                    a[i] | b[i],
                    a[i] ^ b[i],
                    __builtin_popcount(x) + (y ? __builtin_clz(y) : 32),
                    int(reversed ^ ((x & 0xffff) | y << 16)),
                    std::min(a[i], b[i])};
      EXPECT_EQ(got[i], want[std::min(op[i], 9)]) << "operation " << op[i] << " of " << a[i] << ", " << b[i];
    }
    std::vector<unsigned> ua(n), ub(n), gcd(n);
    std::vector<unsigned long long> start(n), la(n), lb(n);
    for (size_t i = 0; i < n; ++i) {
      ua[i] = generator() % 100000;
      ub[i] = generator() % 100000;
      gcd[i] = std::gcd(ua[i], ub[i]);
      start[i] = generator() % 1000 + 1;
      la[i] = uint64_t(generator()) << 32 | generator();
      lb[i] = uint64_t(generator()) << 32 | generator();
    }
    run("gcd_recursive", {3, 1, 1}, {128, 1, 1}, up(ua), up(ub), out, int(n));
    EXPECT_EQ(down<unsigned>(out, n), gcd);
    run("collatz", {3, 1, 1}, {128, 1, 1}, up(start), out, int(n));
    got = down<int>(out, n);
    for (size_t i = 0; i < n; ++i) {
      int steps = 0;
      for (unsigned long long v = start[i]; v != 1; ++steps)
        v = v % 2 ? 3 * v + 1 : v / 2;
      EXPECT_EQ(got[i], steps);
    }
    uint64_t low = fresh<uint64_t>(n), high = fresh<uint64_t>(n);
    run("big_multiply", {3, 1, 1}, {128, 1, 1}, up(la), up(lb), low, high, int(n));
    std::vector<uint64_t> gotLow = down<uint64_t>(low, n), gotHigh = down<uint64_t>(high, n);
    for (size_t i = 0; i < n; ++i) {
      unsigned __int128 product = (unsigned __int128)(la[i]) * lb[i];
      EXPECT_EQ(gotLow[i], uint64_t(product));
      EXPECT_EQ(gotHigh[i], uint64_t(product >> 64));
    }
    run("local_array", {3, 1, 1}, {128, 1, 1}, up(a), out, int(n));
    got = down<int>(out, n);
    for (size_t i = 0; i < n; ++i) {
      int at = a[i] & 15, sum = 0;
      for (int k = 0; k < 16; ++k) {
        sum += a[i] * (at + 1) * (k & 3);
        at = (at * 5 + 3) & 15;
      }
      EXPECT_EQ(got[i], sum);
    }
    run("random_philox", {3, 1, 1}, {128, 1, 1}, out, 99u, int(n));
    std::vector<unsigned> random = down<unsigned>(out, n);
    for (unsigned i = 0; i < n; ++i) {
      uint32_t c[4] = {i, 0, 0, 0}, k[2] = {99, 0x1234};
      for (int round = 0; round < 10; ++round) {
        uint64_t p0 = uint64_t(0xD2511F53) * c[0], p1 = uint64_t(0xCD9E8D57) * c[2];
        uint32_t next[4] = {uint32_t(p1 >> 32) ^ c[1] ^ k[0], uint32_t(p1), uint32_t(p0 >> 32) ^ c[3] ^ k[1],
                            uint32_t(p0)};
        std::copy(next, next + 4, c);
        k[0] += 0x9E3779B9;
        k[1] += 0xBB67AE85;
      }
      EXPECT_EQ(random[i], c[0] ^ c[1] ^ c[2] ^ c[3]);
    }
    struct {
      double c[5];
      int degree, padding;
    } polynomial = {{1, -2, 0.5, 3, 0.25}, 4, 0};
    std::vector<double> x(n), y(n);
    for (size_t i = 0; i < n; ++i) {
      x[i] = a[i] * 0.001;
      for (int d = 4; d >= 0; --d)
        y[i] = y[i] * x[i] + polynomial.c[d];
    }
    uint64_t dout = fresh<double>(n);
    run("polynomial_by_value", {3, 1, 1}, {128, 1, 1}, polynomial, up(x), dout, int(n));
    near(down<double>(dout, n), y, 1e-14);
    std::vector<int> groups = integers(64, 0, 5);
    uint64_t leaders = fresh<int>(64), sums = fresh<int>(64);
    run("warp_groups", {1, 1, 1}, {64, 1, 1}, up(groups), leaders, sums, 64);
    std::vector<int> gotLeaders = down<int>(leaders, 64), gotSums = down<int>(sums, 64);
    for (size_t i = 0; i < 64; ++i) {
      auto warp = groups.begin() + long(i / 32 * 32);
      EXPECT_EQ(gotLeaders[i], int(std::find(warp, warp + 32, groups[i]) - warp));
      EXPECT_EQ(gotSums[i], std::accumulate(warp, warp + 32, 0) + *std::max_element(warp, warp + 32));
    }
  });
}

TEST_P(Kernels, SparseAccesses) {
  seeds([&] {
    size_t rows = 20, columns = 100, width = 70;
    std::vector<int> starts{0}, column;
    std::vector<float> values, x = floats(columns), table = floats(50 * width);
    std::vector<double> want(rows), sums(30);
    for (size_t r = 0; r < rows; ++r) {
      for (size_t c = 0; c < columns; ++c)
        if (generator() % 3 == 0) {
          column.push_back(int(c));
          values.push_back(floats(1)[0]);
          want[r] += double(values.back()) * x[c];
        }
      starts.push_back(int(column.size()));
    }
    uint64_t y = fresh<float>(rows);
    run("sparse_matrix_vector", {5, 1, 1}, {128, 1, 1}, up(starts), up(column), up(values), up(x), y, int(rows));
    near(down<float>(y, rows), want, 1e-5);
    std::vector<long long> ids(10);
    for (long long &id : ids)
      id = generator() % 50;
    uint64_t out = fresh<float>(10 * width);
    run("embedding_gather", {10, 1, 1}, {64, 1, 1}, up(ids), up(table), out, int(width));
    std::vector<float> got = down<float>(out, 10 * width);
    for (size_t i = 0; i < 10 * width; ++i)
      EXPECT_EQ(got[i], table[size_t(ids[i / width]) * width + i % width]);
    std::vector<int> where = integers(400, 0, 29);
    std::vector<float> parts = floats(400);
    for (size_t i = 0; i < 400; ++i)
      sums[size_t(where[i])] += parts[i];
    uint64_t target = zeros<float>(30);
    run("scatter_add", {4, 1, 1}, {128, 1, 1}, up(where), up(parts), target, 400);
    near(down<float>(target, 30), sums, 1e-5);
  });
}

TEST_P(Kernels, ZEveryKernelOfTheFileRan) {
  size_t entries = simulation.loaded->kernels.size();
  EXPECT_GE(entries, 40u);
  for (const auto &entry : simulation.loaded->kernels)
    EXPECT_TRUE(names.count(entry.first)) << entry.first << " has no test";
}

/// Approximate functions and flushed denormals: their forms are known too.
TEST_P(Kernels, FastMathIsUnderstood) {
  std::string ptx, log;
  ASSERT_TRUE(compileCuda(readFile(WEFT_SIMULATOR_KERNELS), "kernels.cu", GetParam(), {"--use_fast_math"}, ptx, log))
      << log;
  Simulation fast;
  EXPECT_TRUE(fast.load(ptx));
}

INSTANTIATE_TEST_SUITE_P(Simulator, Kernels, testing::Values(80u, 90u, 100u),
                         [](const auto &info) { return "sm_" + std::to_string(info.param); });

} // namespace
} // namespace weft::simulator
