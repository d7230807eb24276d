//===- Vectorization.cpp - The common kernels come out as vector code --------------------------------------===//

#include "test/unit/codegen/KernelTest.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace weft;
using namespace weft::test;

namespace {

/// The optimized LLVM IR of a fusion of one f32 tensor, for x86-64-v3: vectors of eight floats.
std::string compileToLlvm(const std::string &kind, const std::string &type, const std::string &body,
                          const std::string &resultType) {
  std::unique_ptr<MLIRContext> context = makeContext();
  std::string text = "func.func @main(%x: " + type + ") -> " + resultType + " {\n  %r = weft.fusion " + kind +
                     " (%x) : (" + type + ") -> " + resultType + " {\n  ^bb0(%a: " + type + "):\n" + body +
                     "\n    weft.yield %y : " + resultType + "\n  }\n  return %r : " + resultType + "\n}";
  auto kernel = compileKernel(*context, text, "x86-64-v3");
  return kernel ? kernel->llvmText : std::string();
}

bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

TEST(Vectorization, Elementwise) {
  std::string t = "tensor<64x1000xf32>";
  std::string text = compileToLlvm("loop", t, "    %y = weft.multiply %a, %a : " + t, t);
  EXPECT_TRUE(contains(text, "fmul <8 x float>")) << text;
}

TEST(Vectorization, Functions) {
  std::string t = "tensor<64x1000xf32>";
  for (const char *op : {"exponential", "log", "tanh", "erf", "logistic", "exponential_minus_one"}) {
    std::string text = compileToLlvm("loop", t, std::string("    %y = weft.") + op + " %a : " + t, t);
    EXPECT_TRUE(contains(text, "x float> @llvm.fma.v8f32")) << op << "\n" << text;
    EXPECT_FALSE(contains(text, "call float @")) << op << "\n" << text;
  }
  // Sine and cosine reduce their argument in f64.
  for (const char *op : {"sine", "cosine"}) {
    std::string text = compileToLlvm("loop", t, std::string("    %y = weft.") + op + " %a : " + t, t);
    EXPECT_TRUE(contains(text, "x double> @llvm.fma.v")) << op << "\n" << text;
  }
}

TEST(Vectorization, LargeResultsAreWrittenPastTheCaches) {
  auto square = [](const std::string &kind, const std::string &t, const std::string &body) {
    return compileToLlvm(kind, t, body, t);
  };
  auto loop = [&](const std::string &t) { return square("loop", t, "    %y = weft.multiply %a, %a : " + t); };
  // 16 MiB and a vector less.
  std::string large = loop("tensor<4096x1024xf32>");
  EXPECT_TRUE(contains(large, "!nontemporal")) << large;
  EXPECT_TRUE(contains(large, "llvm.x86.sse.sfence")) << large;
  std::string small = loop("tensor<4194296xf32>");
  EXPECT_FALSE(contains(small, "nontemporal") || contains(small, "sfence")) << small;
  // A row of whole vectors stays aligned, others do not.
  auto rows = [&](const std::string &extent) {
    std::string t = "tensor<4096x" + extent + "xf32>", row = "tensor<4096xf32>";
    return square("row_multipass", t,
                  "    %s = weft.reduce sum, %a dims = [1] : (" + t + ") -> " + row +
                      "\n    %b = weft.broadcast_in_dim %s dims = [0] : (" + row + ") -> " + t +
                      "\n    %y = weft.divide %a, %b : " + t);
  };
  EXPECT_TRUE(contains(rows("2048"), "nontemporal"));
  EXPECT_FALSE(contains(rows("2047"), "nontemporal"));
}

TEST(Vectorization, RowSum) {
  std::string text = compileToLlvm("row_reduction", "tensor<64x1000xf32>",
                                   "    %y = weft.reduce sum, %a dims = [1] : (tensor<64x1000xf32>) -> tensor<64xf32>",
                                   "tensor<64xf32>");
  EXPECT_TRUE(contains(text, "fadd <8 x float>")) << text;
}

TEST(Vectorization, ColumnSum) {
  std::string text = compileToLlvm("generic", "tensor<49x640xf32>",
                                   "    %y = weft.reduce sum, %a dims = [0] : (tensor<49x640xf32>) -> tensor<640xf32>",
                                   "tensor<640xf32>");
  EXPECT_TRUE(contains(text, "fadd <8 x float>")) << text;
}

TEST(Vectorization, NoContractionInStrictMode) {
  std::string t = "tensor<64x1000xf32>";
  std::string text =
      compileToLlvm("loop", t, "    %m = weft.multiply %a, %a : " + t + "\n    %y = weft.add %m, %a : " + t, t);
  EXPECT_TRUE(contains(text, "fmul <8 x float>") && contains(text, "fadd <8 x float>")) << text;
  EXPECT_FALSE(contains(text, "llvm.fma") || contains(text, "contract")) << text;
}

TEST(Vectorization, RefusesWhatIsNoCpu) {
  std::unique_ptr<MLIRContext> context = makeContext();
  for (const char *name : {"pentium-mmmx", "x86-64", ""}) {
    codegen::CpuOptions options;
    options.cpu = name;
    codegen::CpuCodegen codegen(*context, options);
    std::string message;
    ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    EXPECT_TRUE(failed(codegen.checkTarget(UnknownLoc::get(context.get())))) << name;
    EXPECT_TRUE(contains(message, name)) << message;
    EXPECT_TRUE(contains(message, "x86-64-v3")) << message;
  }
}

} // namespace
