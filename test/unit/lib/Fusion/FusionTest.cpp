//===- FusionTest.cpp - Fused programs compute what they did, decisions are told, the work stays small -----------===//

#include "lib/Fusion/KernelAnalysis.h"
#include "lib/Fusion/Passes.h"
#include "lib/Interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "test/unit/lib/Fusion/RandomGraph.h"
#include "gtest/gtest.h"
#include <chrono>
#include <random>

using namespace mlir;
using namespace weft;
using graph::TensorValue;

namespace {

class Fusion : public testing::Test {
protected:
  Fusion() { context.loadDialect<graph::GraphDialect, func::FuncDialect>(); }

  OwningOpRef<ModuleOp> parse(const std::string &text) {
    return parseSourceString<ModuleOp>(text, ParserConfig(&context));
  }
  LogicalResult fuse(ModuleOp module, StringRef device = "cpu", fusion::FusionReport *report = nullptr) {
    PassManager passes(&context);
    fusion::buildFusionPipeline(passes, device, report);
    return passes.run(module);
  }
  std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream(text) << module;
    return text;
  }

  MLIRContext context;
};

/// Values for the arguments of @main; the symbol "n" is `size`.
SmallVector<TensorValue> makeArguments(ModuleOp module, unsigned seed, int64_t size) {
  std::mt19937 random(seed);
  SmallVector<TensorValue> arguments;
  for (Type type : module.lookupSymbol<func::FuncOp>("main").getArgumentTypes()) {
    SmallVector<int64_t> shape;
    for (const graph::Dim &dim : graph::getDims(type))
      shape.push_back(*dim.evaluate([&](StringRef) { return std::optional<int64_t>(size); }));
    TensorValue value(cast<RankedTensorType>(type).getElementType(), shape);
    for (int64_t i = 0; i < value.getElementCount(); ++i)
      value.setFloat(i, (static_cast<double>(random() % 4001) - 2000) / 500);
    arguments.push_back(value);
  }
  return arguments;
}

/// Whether the bytes of two lists of tensors are the same.
void expectSameBits(ArrayRef<TensorValue> before, ArrayRef<TensorValue> after) {
  ASSERT_EQ(before.size(), after.size());
  for (auto [a, b] : llvm::zip(before, after)) {
    ASSERT_EQ(a.getShape(), b.getShape());
    EXPECT_EQ(std::memcmp(a.getData(), b.getData(), a.getByteSize()), 0);
  }
}

TEST_F(Fusion, RandomGraphsComputeTheSameBits) {
  const char *devices[] = {"cpu", "h100", "a100"};
  unsigned fusedOps = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    bool symbolic = seed % 3 == 0;
    OwningOpRef<ModuleOp> module = test::makeRandomGraph(context, seed, 8 + seed % 50, symbolic);
    ASSERT_TRUE(succeeded(verify(*module)));
    OwningOpRef<ModuleOp> fused = cast<ModuleOp>((*module)->clone());
    fusion::FusionReport report;
    ASSERT_TRUE(succeeded(fuse(*fused, devices[seed % 3], &report))) << print(*module);
    EXPECT_LE(report.kernelsAfter, report.kernelsBefore);
    EXPECT_LE(report.secondsAfter, report.secondsBefore * 1.0001);
    fusedOps += report.kernelsBefore - report.kernelsAfter;
    WeightStore weights;
    for (int64_t size : {5, 1}) {
      if (size == 1 && !symbolic)
        continue;
      SmallVector<TensorValue> arguments = makeArguments(*module, seed, size);
      auto expected = Interpreter(*module, weights).run("main", arguments);
      auto actual = Interpreter(*fused, weights).run("main", arguments);
      ASSERT_TRUE(succeeded(expected));
      ASSERT_TRUE(succeeded(actual)) << print(*fused);
      expectSameBits(*expected, *actual);
      if (HasFailure())
        FAIL() << print(*module) << print(*fused);
    }
  }
  // The comparison says something only if much was fused.
  EXPECT_GT(fusedOps, 2000u);
}

/// Each pass twice on equal modules gives equal text.
TEST_F(Fusion, TheSameProgramGivesTheSameKernels) {
  for (unsigned seed = 1000; seed < 1020; ++seed) {
    OwningOpRef<ModuleOp> first = test::makeRandomGraph(context, seed, 60, true);
    OwningOpRef<ModuleOp> second = test::makeRandomGraph(context, seed, 60, true);
    ASSERT_TRUE(succeeded(fuse(*first)) && succeeded(fuse(*second)));
    EXPECT_EQ(print(*first), print(*second));
  }
}

TEST_F(Fusion, ReportTellsOfEachPair) {
  OwningOpRef<ModuleOp> module = parse(R"(
    func.func @main(%x: tensor<512x512xf32>) -> (tensor<512x512xf32>) {
      %a = weft.negate %x : tensor<512x512xf32> loc("first")
      %b = weft.exponential %a : tensor<512x512xf32> loc("second")
      %c = weft.sort %b dim = 1 descending = false : (tensor<512x512xf32>) -> tensor<512x512xf32> loc("third")
      return %c : tensor<512x512xf32>
    })");
  fusion::FusionReport report;
  ASSERT_TRUE(succeeded(fuse(*module, "h100", &report)));
  EXPECT_EQ(report.device, "h100");
  EXPECT_EQ(report.kernelsBefore, 3);
  EXPECT_EQ(report.kernelsAfter, 2);
  EXPECT_EQ(report.bytesBefore, 3 * 2 * 512 * 512 * 4);
  EXPECT_EQ(report.bytesAfter, 2 * 2 * 512 * 512 * 4);
  EXPECT_LT(report.secondsAfter, report.secondsBefore);
  ASSERT_EQ(report.decisions.size(), 2u);
  EXPECT_EQ(report.decisions[0].outcome, fusion::FusionDecision::Outcome::Fused);
  EXPECT_EQ(report.decisions[0].producer, "negate \"first\"");
  EXPECT_EQ(report.decisions[0].consumer, "exponential \"second\"");
  EXPECT_LT(report.decisions[0].secondsTogether, report.decisions[0].secondsApart);
  EXPECT_EQ(report.decisions[1].outcome, fusion::FusionDecision::Outcome::NotLegal);
  EXPECT_EQ(report.decisions[1].reason, "this op has a kernel to itself");
  std::string text;
  llvm::raw_string_ostream os(text);
  fusion::print(report, os);
  EXPECT_NE(text.find("not legal: exponential \"second\" and 1 more and sort \"third\", because this op"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("kernels: 3 -> 2"), std::string::npos) << text;
  llvm::json::Value json = fusion::toJson(report);
  const llvm::json::Object *kernels = json.getAsObject()->getObject("kernels");
  ASSERT_NE(kernels, nullptr);
  EXPECT_EQ(kernels->getInteger("after"), 2);
  EXPECT_EQ(json.getAsObject()->getArray("decisions")->size(), 2u);
}

TEST_F(Fusion, UnknownDeviceIsAnError) {
  OwningOpRef<ModuleOp> module =
      parse("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }");
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  EXPECT_TRUE(failed(fuse(*module, "z80")));
  EXPECT_NE(message.find("no device is named \"z80\"; expected one of cpu, host, a100"), std::string::npos) << message;
}

/// Seconds to fuse the program, on the processor.
double fuseSeconds(Fusion &, LogicalResult result, std::clock_t begin) {
  EXPECT_TRUE(succeeded(result));
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// One op after another; many that read the same value; and a value that many chains read and hand on.
std::string makeLargeProgram(StringRef shape, unsigned ops) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto line = [&](unsigned result, StringRef op, unsigned operand) {
    os << "  %v" << result << " = weft." << op << " %v" << operand << " : tensor<1024xf32>\n";
  };
  os << "func.func @main(%v0: tensor<1024xf32>) -> tensor<1024xf32> {\n";
  unsigned last = 0;
  if (shape == "chain") {
    for (; last < ops; ++last)
      line(last + 1, last % 2 ? "abs" : "negate", last);
  } else {
    // A producer with `ops` users, or with 64 each.
    unsigned group = shape == "star" ? ops : 64, hub = 0;
    while (last < ops) {
      unsigned sum = 0;
      line(++last, "exponential", hub);
      hub = last;
      for (unsigned i = 0; i < group && last < ops; ++i) {
        line(++last, "negate", hub);
        unsigned branch = last;
        if (sum) {
          os << "  %v" << ++last << " = weft.add %v" << sum << ", %v" << branch << " : tensor<1024xf32>\n";
          branch = last;
        }
        sum = branch;
      }
      hub = last;
    }
  }
  os << "  return %v" << last << " : tensor<1024xf32>\n}\n";
  return text;
}

/// The time for 20,000 ops, and that it does not grow faster than the ops.
TEST_F(Fusion, WorkIsAboutLinear) {
  for (const char *shape : {"chain", "star", "stars"}) {
    SCOPED_TRACE(shape);
    double seconds[2];
    for (int i = 0; i < 2; ++i) {
      OwningOpRef<ModuleOp> module = parse(makeLargeProgram(shape, i ? 20000 : 5000));
      ASSERT_TRUE(module);
      std::clock_t begin = std::clock();
      seconds[i] = fuseSeconds(*this, fuse(*module), begin);
    }
    EXPECT_LT(seconds[1], 10);
    EXPECT_LT(seconds[1], 12 * seconds[0] + 0.2);
  }
}

} // namespace
