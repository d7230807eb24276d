//===- GpuKernels.cpp - What GPU kernels look like and what they move -----------------------------------===//

#include "mlir/IR/Diagnostics.h"
#include "test/unit/codegen/GpuKernelTest.h"
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace mlir;
using namespace weft;
using namespace weft::graph;
using namespace weft::test;

namespace {

bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

std::string softmax(const std::string &shape, const std::string &type) {
  std::string t = "tensor<" + shape + "x" + type + ">",
              r = "tensor<" + shape.substr(0, shape.find('x')) + "x" + type + ">";
  std::string body = "    %m = weft.reduce max, %a dims = [1] : (" + t + ") -> " + r +
                     "\n    %mb = weft.broadcast_in_dim %m dims = [0] : (" + r + ") -> " + t +
                     "\n    %d = weft.subtract %a, %mb : " + t + "\n    %e = weft.exponential %d : " + t +
                     "\n    %s = weft.reduce sum, %e dims = [1] : (" + t + ") -> " + r +
                     "\n    %sb = weft.broadcast_in_dim %s dims = [0] : (" + r + ") -> " + t +
                     "\n    %r0 = weft.divide %e, %sb : " + t;
  return makeModule("row_multipass", {t}, body, {t});
}

std::string multiplyAdd(const std::string &t) {
  return makeModule("loop", {t, t}, "    %m = weft.multiply %a, %b : " + t + "\n    %r0 = weft.add %m, %a : " + t, {t});
}

std::string rowSum(const std::string &t, const std::string &r) {
  return makeModule("row_reduction", {t}, "    %r0 = weft.reduce sum, %a dims = [1] : (" + t + ") -> " + r, {r});
}

std::string columnSum(const std::string &t, const std::string &r) {
  return makeModule("generic", {t}, "    %r0 = weft.reduce sum, %a dims = [0] : (" + t + ") -> " + r, {r});
}

std::string transpose(const std::string &t, const std::string &r) {
  return makeModule("transpose", {t}, "    %r0 = weft.transpose %a perm = [1, 0] : (" + t + ") -> " + r, {r});
}

std::string product(const std::string &l, const std::string &r, const std::string &y) {
  return makeModule("generic", {l, r},
                    "    %d = weft.dot_general %a, %b contract = [1] x [0] : (" + l + ", " + r + ") -> " + y +
                        "\n    %z = weft.constant dense<0.0> : " + y + "\n    %r0 = weft.maximum %d, %z : " + y,
                    {y});
}

class GpuKernels : public testing::Test {
protected:
  std::unique_ptr<MLIRContext> context = makeContext();
  Type f32 = Float32Type::get(context.get());

  std::unique_ptr<GpuKernel> compile(StringRef text, StringRef chip = "sm_80",
                                     codegen::Numerics numerics = codegen::Numerics::strict) {
    return compileGpuKernel(*context, text, chip, numerics);
  }
};

TEST_F(GpuKernels, WideAccesses) {
  for (const char *type : {"f32", "f16", "bf16", "i32", "i8"}) {
    auto kernel = compile(multiplyAdd("tensor<1024x1024x" + std::string(type) + ">"));
    ASSERT_TRUE(kernel);
    EXPECT_TRUE(contains(kernel->ptx, "ld.global.nc.v4.")) << kernel->ptx;
    EXPECT_TRUE(contains(kernel->ptx, "st.global.v4.")) << kernel->ptx;
  }
  auto wide = compile(multiplyAdd("tensor<1024x1024xf64>"));
  ASSERT_TRUE(wide);
  EXPECT_TRUE(contains(wide->ptx, "ld.global.nc.v2.") && contains(wide->ptx, "st.global.v2.")) << wide->ptx;
}

TEST_F(GpuKernels, NoAccessWiderThanItsData) {
  // Three elements of a dot product are neighbours; a load of four reads past the end.
  for (const char *type : {"f32", "f16", "i32", "i8"}) {
    std::string t = "tensor<3x" + std::string(type) + ">", r = "tensor<" + std::string(type) + ">";
    auto kernel = compile(makeModule(
        "generic", {t, t}, "    %r0 = weft.dot_general %a, %b contract = [0] x [0] : (" + t + ", " + t + ") -> " + r,
        {r}));
    ASSERT_TRUE(kernel);
    EXPECT_FALSE(contains(kernel->ptx, "ld.global.nc.v4.")) << kernel->ptx;
    // Of three bytes no word of four can be read, nor two halves of three.
    if (StringRef(type) == "i8")
      EXPECT_FALSE(contains(kernel->ptx, "ld.global.nc.b32")) << kernel->ptx;
    if (StringRef(type) == "f16")
      EXPECT_FALSE(contains(kernel->ptx, "ld.global.nc.v2.b32")) << kernel->ptx;
  }
}

TEST_F(GpuKernels, NothingIsLeftOutside) {
  std::string t = "tensor<64x96xf32>", body;
  std::vector<std::string> results;
  for (const char *op : {"exponential", "exponential_minus_one",
                         "log",         "log_plus_one",
                         "cbrt",        "sine",
                         "cosine",      "tan",
                         "asin",        "acos",
                         "atan",        "sinh",
                         "cosh",        "tanh",
                         "asinh",       "acosh",
                         "atanh",       "logistic",
                         "erf",         "sqrt",
                         "rsqrt"}) {
    body += "    %r" + std::to_string(results.size()) + " = weft." + op + " %a : " + t + "\n";
    results.push_back(t);
  }
  auto kernel = compile(makeModule("loop", {t}, body, results));
  ASSERT_TRUE(kernel);
  for (const char *word : {".extern", ".approx", "call", "__nv", ".local"})
    EXPECT_FALSE(contains(kernel->ptx, word)) << word;
  EXPECT_TRUE(contains(kernel->ptx, "sqrt.rn.f32"));
  EXPECT_TRUE(contains(kernel->ptx, ".maxntid 256")) << kernel->ptx.substr(0, 3000);
}

TEST_F(GpuKernels, ContractionOnlyWhereAllowed) {
  std::string text = multiplyAdd("tensor<1024xf32>");
  auto strict = compile(text), fast = compile(text, "sm_80", codegen::Numerics::fast);
  ASSERT_TRUE(strict && fast);
  EXPECT_FALSE(contains(strict->ptx, "fma")) << strict->ptx;
  // Without a rounding of its own the assembler would contract as well.
  EXPECT_TRUE(contains(strict->ptx, "mul.rn.f32") && contains(strict->ptx, "add.rn.f32")) << strict->ptx;
  EXPECT_TRUE(contains(fast->ptx, "fma.rn.f32")) << fast->ptx;
}

TEST_F(GpuKernels, EveryChip) {
  std::string text = softmax("64x256", "f32");
  for (const std::string &chip : codegen::gpuChips()) {
    auto kernel = compile(text, chip);
    ASSERT_TRUE(kernel) << chip;
    EXPECT_TRUE(contains(kernel->ptx, ".target " + chip + "\n")) << chip;
  }
}

TEST_F(GpuKernels, RefusesWhatIsNoGpu) {
  for (const char *name : {"sm_50", "sm_99", "x86-64-v3", "native", ""}) {
    codegen::GpuOptions options;
    options.chip = name;
    codegen::GpuCodegen codegen(*context, options);
    std::string message;
    ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    EXPECT_TRUE(failed(codegen.checkTarget(UnknownLoc::get(context.get())))) << name;
    EXPECT_TRUE(contains(message, "'" + std::string(name) + "'") && contains(message, "sm_80")) << message;
  }
}

TEST_F(GpuKernels, SoftmaxMovesItsInputAndOutput) {
  if (!hasSimulator())
    GTEST_SKIP() << "no simulated GPU in this build: traffic not measured";
  auto kernel = compile(softmax("1024x1024", "f32"));
  ASSERT_TRUE(kernel);
  TensorValue x = makeRandom(f32, {1024, 1024}, 1);
  GpuRun how;
  how.checkRaces = false;
  std::vector<TensorValue> result = kernel->run({x}, {}, how);
  ASSERT_EQ(result.size(), 1u);
  EXPECT_EQ(kernel->globalLoads.bytes + kernel->globalStores.bytes, 8388608u);
  EXPECT_EQ(kernel->globalLoads.sectors * 32 + kernel->globalStores.sectors * 32, 8388608u);
  EXPECT_EQ(kernel->globalLoads.requestsOf16, kernel->globalLoads.requests);
  EXPECT_EQ(kernel->globalStores.requestsOf16, kernel->globalStores.requests);
  EXPECT_EQ(kernel->localLoads.requests + kernel->localStores.requests, 0u);
  for (int64_t row = 0; row < 1024; row += 100) {
    const float *in = x.dataAs<float>() + row * 1024, *out = result[0].dataAs<float>() + row * 1024;
    double total = 0, largest = *std::max_element(in, in + 1024);
    for (int64_t i = 0; i < 1024; ++i)
      total += std::exp(in[i] - largest);
    for (int64_t i = 0; i < 1024; ++i)
      ASSERT_NEAR(out[i], std::exp(in[i] - largest) / total, 1e-6);
  }
}

TEST_F(GpuKernels, SectorsARequestAreTheLeast) {
  if (!hasSimulator())
    GTEST_SKIP() << "no simulated GPU in this build: traffic not measured";
  struct Case {
    std::string name, text;
    std::vector<std::vector<int64_t>> shapes;
    uint64_t loadedBytes, storedBytes;
  };
  std::string t = "tensor<512x256xf32>", u = "tensor<256x512xf32>";
  const std::vector<Case> cases = {
      {"loop", multiplyAdd(t), {{512, 256}, {512, 256}}, 2 * 512 * 256 * 4, 512 * 256 * 4},
      {"row sum", rowSum(t, "tensor<512xf32>"), {{512, 256}}, 512 * 256 * 4, 512 * 4},
      {"row sum of odd length", rowSum("tensor<512x96xf32>", "tensor<512xf32>"), {{512, 96}}, 512 * 96 * 4, 512 * 4},
      {"column sum", columnSum(t, "tensor<256xf32>"), {{512, 256}}, 512 * 256 * 4, 256 * 4},
      {"transpose", transpose(t, u), {{512, 256}}, 512 * 256 * 4, 512 * 256 * 4}};
  for (const Case &each : cases) {
    SCOPED_TRACE(each.name);
    auto kernel = compile(each.text);
    ASSERT_TRUE(kernel);
    std::vector<TensorValue> operands;
    for (const std::vector<int64_t> &shape : each.shapes)
      operands.push_back(makeRandom(f32, shape, 1));
    GpuRun how;
    how.checkRaces = false;
    kernel->run(operands, {}, how);
    // Each byte is asked for once, and each sector that is touched is used whole.
    if (each.shapes[0][1] % 128 == 0) // else threads without an element of their own repeat one
      EXPECT_EQ(kernel->globalLoads.bytes, each.loadedBytes);
    EXPECT_EQ(kernel->globalStores.bytes, each.storedBytes);
    EXPECT_EQ(kernel->globalLoads.sectors * 32, each.loadedBytes);
    if (each.name[0] != 'r') // several rows of one sector are written by different warps
      EXPECT_EQ(kernel->globalStores.sectors * 32, each.storedBytes);
    EXPECT_EQ(kernel->sharedLoads.wavefronts, kernel->sharedLoads.requests);
    EXPECT_EQ(kernel->sharedStores.wavefronts, kernel->sharedStores.requests);
    EXPECT_EQ(kernel->localLoads.requests + kernel->localStores.requests, 0u);
  }
}

/// The real assembler: its log of a module, or nothing where it is not installed. A refusal fails the test.
std::optional<std::string> assemble(const std::string &ptx, const std::string &chip) {
  static void *library = [] {
    for (const char *name : {"libnvJitLink.so.13", "libnvJitLink.so.12", "/usr/local/cuda/lib64/libnvJitLink.so"})
      if (void *found = dlopen(name, RTLD_NOW | RTLD_LOCAL))
        return found;
    return static_cast<void *>(nullptr);
  }();
  if (!library)
    return std::nullopt;
  auto function = [&](const char *name, auto type) { return reinterpret_cast<decltype(type)>(dlsym(library, name)); };
  auto create = function("nvJitLinkCreate", static_cast<int (*)(void **, uint32_t, const char **)>(nullptr));
  auto add =
      function("nvJitLinkAddData", static_cast<int (*)(void *, int, const void *, size_t, const char *)>(nullptr));
  auto complete = function("nvJitLinkComplete", static_cast<int (*)(void *)>(nullptr));
  auto size = function("nvJitLinkGetInfoLogSize", static_cast<int (*)(void *, size_t *)>(nullptr));
  auto info = function("nvJitLinkGetInfoLog", static_cast<int (*)(void *, char *)>(nullptr));
  auto destroy = function("nvJitLinkDestroy", static_cast<int (*)(void **)>(nullptr));
  if (!create || !add || !complete || !size || !info || !destroy)
    return std::nullopt;
  std::string architecture = "-arch=" + chip;
  const char *options[] = {architecture.c_str(), "-verbose"};
  void *handle = nullptr;
  if (create(&handle, 2, options) != 0)
    return std::nullopt;
  constexpr int kPtx = 2;
  EXPECT_EQ(add(handle, kPtx, ptx.c_str(), ptx.size() + 1, "kernels.ptx"), 0) << ptx;
  EXPECT_EQ(complete(handle), 0);
  size_t bytes = 0;
  std::string log;
  if (size(handle, &bytes) == 0 && bytes > 1) {
    log.resize(bytes);
    info(handle, log.data());
    log.resize(std::strlen(log.c_str()));
  }
  destroy(&handle);
  return log;
}

int64_t numberBefore(const std::string &log, const std::string &words) {
  size_t at = log.find(words);
  if (at == std::string::npos)
    return -1;
  size_t start = at;
  while (start > 0 && (std::isdigit(static_cast<unsigned char>(log[start - 1])) || log[start - 1] == ' '))
    --start;
  return std::strtoll(log.c_str() + start, nullptr, 10);
}

TEST_F(GpuKernels, NoSpillsInTheSuite) {
  struct Case {
    std::string text;
    int64_t registers; // at most
  };
  std::string t = "tensor<1024x1024xf32>";
  const std::vector<Case> cases = {
      {multiplyAdd(t), 40},
      {softmax("1024x1024", "f32"), 96},
      {softmax("512x4096", "f16"), 128},
      {softmax("64x50257", "f32"), 168},
      {rowSum(t, "tensor<1024xf32>"), 64},
      {columnSum(t, "tensor<1024xf32>"), 88},
      {transpose(t, t), 40},
      {product(t, t, t), 128},
      {product("tensor<1024x1024xf16>", "tensor<1024x1024xf16>", "tensor<1024x1024xf16>"), 128}};
  for (const char *chip : {"sm_80", "sm_90", "sm_100"})
    for (const Case &each : cases) {
      auto kernel = compile(each.text, chip);
      ASSERT_TRUE(kernel);
      std::optional<std::string> log = assemble(kernel->ptx, chip);
      if (!log)
        GTEST_SKIP() << "no nvJitLink: registers and spills not checked";
      SCOPED_TRACE(*log);
      EXPECT_EQ(numberBefore(*log, "bytes spill stores"), 0) << each.text;
      EXPECT_EQ(numberBefore(*log, "bytes spill loads"), 0) << each.text;
      int64_t registers = numberBefore(*log, "registers");
      EXPECT_GT(registers, 0);
      EXPECT_LE(registers, each.registers) << chip << "\n" << each.text;
    }
}

} // namespace
