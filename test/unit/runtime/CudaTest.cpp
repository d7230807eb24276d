// Programs on GPUs: results, graphs, decisions of the host, states, what stays on the GPU. All of it runs on the
// simulated driver, which checks every access and reports what was not given back.
#include "test/unit/runtime/CudaPrograms.h"

#include "runtime/Device/Cuda/Driver.h"

#include <cmath>
#include <thread>

using namespace weft::runtime;
using namespace weft::runtime::test;

namespace {

std::vector<float> ramp(int64_t rows, float start = 0) {
  std::vector<float> values(static_cast<size_t>(rows) * 4);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = start + static_cast<float>(i);
  return values;
}

// Runs a program with input x and output y of rows of 4; the error, or "".
std::string runRows(const RunHandle &run, const std::vector<float> &x, std::vector<float> &y) {
  FloatTensor input = floats({static_cast<int64_t>(x.size() / 4), 4}, x);
  std::string error = setInput(run, "x", input);
  if (error.empty())
    error = take(weft_run_execute(run.get()));
  if (error.empty())
    y = outputValues<float>(run, "y");
  return error;
}

std::vector<float> expectedBias(const std::vector<float> &x) {
  std::vector<float> y = x;
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = 2 * (x[i] + static_cast<float>(i % 4 + 1));
  return y;
}

class Cuda : public testing::TestWithParam<int> {
protected:
  std::vector<std::pair<std::string, std::string>> seed() const { return {{"SEED", std::to_string(GetParam())}}; }
};
INSTANTIATE_TEST_SUITE_P(Seeds, Cuda, testing::Values(0, 1, 2, 3));

TEST_P(Cuda, RunsAtEverySizeAgainAndAgain) {
  SimulatedGpus gpus(seed());
  {
    CudaBiasProgram bias;
    Loaded loaded = loadCuda(bias.program, bias.weights());
    ASSERT_EQ(loaded.error, "");
    EXPECT_STREQ(weft_program_metadata(loaded.program.get(), "target"), "cuda:sm_80");
    RunHandle run = makeRun(loaded);
    for (int64_t rows : {5, 5, 5, 64, 1, 0, 5, 64, 64, 64, 3})
      for (float start : {0.0f, 100.0f}) {
        std::vector<float> x = ramp(rows, start), y;
        ASSERT_EQ(runRows(run, x, y), "") << rows;
        EXPECT_EQ(y, expectedBias(x)) << rows;
      }
  }
  EXPECT_EQ(gpus.faults(), "");
  EXPECT_EQ(gpus.leaks(), "");
}

TEST_P(Cuda, AnyGridGivesTheSame) {
  SimulatedGpus gpus(seed());
  for (int64_t blocks : {0, 1, 3, 64, 1000}) {
    CudaBiasProgram bias;
    for (Op &op : bias.program.entries[0].variants[0].blocks[0].ops)
      launchIn(op).maxBlocks = blocks;
    Loaded loaded = loadCuda(bias.program, bias.weights());
    ASSERT_EQ(loaded.error, "");
    RunHandle run = makeRun(loaded);
    std::vector<float> x = ramp(64), y;
    ASSERT_EQ(runRows(run, x, y), "");
    EXPECT_EQ(y, expectedBias(x));
  }
  EXPECT_EQ(gpus.faults(), "");
  EXPECT_EQ(gpus.leaks(), "");
}

size_t countOf(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

// Two hundred launches are one submission from the third run on; the simulator counts that they all ran.
TEST(CudaGraph, StraightSegmentsBecomeOneSubmission) {
  SimulatedGpus gpus({{"CHECKS", "races,uninitialised,counters"}});
  {
    constexpr int kLaunches = 200;
    Loaded loaded = loadCuda(cudaChain(kLaunches));
    ASSERT_EQ(loaded.error, "");
    auto driver = cuda::Driver::open(SimulatedGpus::library());
    ASSERT_TRUE(driver.ok());
    RunHandle run = makeRun(loaded);
    std::vector<int64_t> calls;
    for (int step = 0; step < 5; ++step) {
      int64_t before = (*driver)->calls();
      std::vector<float> x = ramp(3, static_cast<float>(step)), y;
      ASSERT_EQ(runRows(run, x, y), "");
      for (size_t i = 0; i < x.size(); ++i)
        EXPECT_EQ(y[i], x[i] + kLaunches);
      calls.push_back((*driver)->calls() - before);
      EXPECT_EQ(countOf(gpus.counters(), "\"increment\""), static_cast<size_t>(kLaunches) * (step + 1));
    }
    // The first submits each launch, the second captures them. Then: the context pushed and popped, the error words
    // cleared, the input copied, the graph, error words and output copied back, one wait.
    EXPECT_GE(calls[0], kLaunches);
    EXPECT_EQ(calls[2], 8);
    EXPECT_EQ(calls[3], 8);
    EXPECT_EQ(calls[4], 8);
    // Other sizes, or another seed, are another graph; the old one is still there.
    std::vector<float> y;
    ASSERT_EQ(runRows(run, ramp(7), y), "");
    EXPECT_EQ(y, ramp(7, kLaunches));
    int64_t before = (*driver)->calls();
    ASSERT_EQ(runRows(run, ramp(3), y), "");
    EXPECT_EQ(y, ramp(3, kLaunches));
    EXPECT_LE((*driver)->calls() - before, 3 * kLaunches);
  }
  EXPECT_EQ(gpus.faults(), "");
  EXPECT_EQ(gpus.leaks(), "");
}

TEST_P(Cuda, ScratchAndSharedMemory) {
  SimulatedGpus gpus(seed());
  {
    Program program = cudaChain(3);
    std::vector<Op> &ops = program.entries[0].variants[0].blocks[0].ops;
    ops[1] = cudaLaunchOp("through_scratch", {2}, {3}, symbolN());
    Loaded loaded = loadCuda(program);
    ASSERT_EQ(loaded.error, "");
    RunHandle run = makeRun(loaded);
    for (int64_t rows : {2, 2, 2, 64, 64, 2}) {
      std::vector<float> y;
      ASSERT_EQ(runRows(run, ramp(rows), y), "");
      EXPECT_EQ(y, ramp(rows, 3));
    }
  }
  EXPECT_EQ(gpus.faults(), "");
  EXPECT_EQ(gpus.leaks(), "");
}

// n counts down in a loop while y doubles; x decides by If whether it starts doubled.
Program loopProgram() {
  Program program = cudaProgram("sm_80", 1, 64);
  std::vector<Expression> dims = {symbolN(), 4};
  Entry entry;
  entry.inputs = {{"x", ElementType::F32, dims}, {"n", ElementType::I64, {}}, {"flag", ElementType::I1, {}}};
  entry.outputs = {{"y", ElementType::F32, dims}};
  Variant variant;
  variant.buffers = {inputBuffer(0, ElementType::F32, dims),  inputBuffer(1, ElementType::I64, {}),
                     inputBuffer(2, ElementType::I1, {}),     outputBuffer(0, ElementType::F32, dims),
                     arenaBuffer(0, ElementType::I64, {}),    arenaBuffer(64, ElementType::I1, {}),
                     arenaBuffer(128, ElementType::F32, dims)};
  variant.arenaBytes = 128 + 1024;
  variant.blocks.resize(5);
  variant.blocks[0].ops = {cudaLaunchOp("copy_long", {1}, {4}), Op{"branch", {}, If{2, 1, 2}},
                           Op{"loop", {}, While{3, 5, 4}}};
  variant.blocks[1].ops = {cudaLaunchOp("double", {0}, {3}, symbolN())};
  variant.blocks[2].ops = {Op{"copy", {}, Copy{0, 3}}};
  variant.blocks[3].ops = {cudaLaunchOp("is_positive", {4}, {5})};
  variant.blocks[4].ops = {cudaLaunchOp("count_down", {4}, {4, 5}), cudaLaunchOp("double", {3}, {6}, symbolN()),
                           Op{"copy_back", {}, Copy{6, 3}}};
  entry.variants.push_back(std::move(variant));
  program.entries.push_back(std::move(entry));
  return program;
}

TEST_P(Cuda, BranchesAndLoops) {
  SimulatedGpus gpus(seed());
  {
    Loaded loaded = loadCuda(loopProgram());
    ASSERT_EQ(loaded.error, "");
    RunHandle run = makeRun(loaded);
    for (int64_t count : {0, 1, 2, 7, 7})
      for (uint8_t flag : {0, 1}) {
        Tensor<int64_t> n(WEFT_ELEMENT_I64, {}, {count});
        Tensor<uint8_t> condition(WEFT_ELEMENT_I1, {}, {flag});
        ASSERT_EQ(setInput(run, "n", n), "");
        ASSERT_EQ(setInput(run, "flag", condition), "");
        std::vector<float> x = ramp(3, 1), y;
        ASSERT_EQ(runRows(run, x, y), "");
        for (size_t i = 0; i < x.size(); ++i)
          EXPECT_EQ(y[i], std::ldexp(x[i], static_cast<int>(count) + flag));
      }
  }
  EXPECT_EQ(gpus.faults(), "");
  EXPECT_EQ(gpus.leaks(), "");
}

// y = the first K floats of x, K from data.
Program headProgram() {
  Program program = cudaProgram("sm_80", 1, 64);
  Expression k = Expression::symbol(1);
  Entry entry;
  entry.inputs = {{"x", ElementType::F32, {symbolN(), 4}}, {"n", ElementType::I64, {}}};
  entry.outputs = {{"y", ElementType::F32, {k}}};
  Variant variant;
  variant.buffers = {inputBuffer(0, ElementType::F32, {symbolN(), 4}), inputBuffer(1, ElementType::I64, {}),
                     outputBuffer(0, ElementType::F32, {k})};
  variant.blocks.emplace_back();
  variant.blocks[0].ops = {Op{"bind", {"Range_0"}, BindSymbol{1, 1, "too many numbers"}},
                           cudaLaunchOp("head", {0, 1}, {2}, k),
                           Op{"check", {"Check_0"}, CheckEqual{symbolN(), 4, "N must be 4"}}};
  entry.variants.push_back(std::move(variant));
  program.entries.push_back(std::move(entry));
  return program;
}

TEST_P(Cuda, SizesFromData) {
  SimulatedGpus gpus(seed());
  {
    Loaded loaded = loadCuda(headProgram());
    ASSERT_EQ(loaded.error, "");
    RunHandle run = makeRun(loaded);
    auto runWith = [&](int64_t rows, int64_t count, std::vector<float> &y) {
      Tensor<int64_t> n(WEFT_ELEMENT_I64, {}, {count});
      EXPECT_EQ(setInput(run, "n", n), "");
      return runRows(run, ramp(rows), y);
    };
    for (int64_t count : {0, 3, 16, 16, 1}) {
      std::vector<float> y, expected = ramp(4);
      expected.resize(static_cast<size_t>(count));
      ASSERT_EQ(runWith(4, count, y), "");
      EXPECT_EQ(y, expected);
    }
    std::vector<float> y;
    EXPECT_NE(runWith(4, 17, y).find("too many numbers: \"K\" is 17, planned for 0 to 16"), std::string::npos);
    EXPECT_NE(runWith(4, -1, y).find("\"K\" is -1"), std::string::npos);
    EXPECT_NE(runWith(3, 2, y).find("N must be 4: 3 is not 4"), std::string::npos);
    EXPECT_EQ(runWith(4, 2, y), "");
    EXPECT_EQ(y, (std::vector<float>{0, 1}));
  }
  EXPECT_EQ(gpus.faults(), "");
  EXPECT_EQ(gpus.leaks(), "");
}

TEST(CudaFill, EveryElementSize) {
  SimulatedGpus gpus;
  struct Case {
    ElementType type;
    std::vector<uint8_t> pattern;
  };
  const Case cases[] = {{ElementType::I8, {7}},
                        {ElementType::U4, {5}},
                        {ElementType::I2, {2}},
                        {ElementType::F16, {1, 2}},
                        {ElementType::F32, {1, 2, 3, 4}},
                        {ElementType::F64, {1, 2, 3, 4, 1, 2, 3, 4}},
                        {ElementType::I64, {1, 2, 3, 4, 5, 6, 7, 8}}};
  for (const Case &one : cases) {
    Program program = cudaProgram("sm_80", 1, 64);
    Entry entry;
    entry.inputs = {{"x", ElementType::F32, {symbolN(), 4}}};
    entry.outputs = {{"y", one.type, {symbolN(), 4}}};
    Variant variant;
    variant.buffers = {outputBuffer(0, one.type, {symbolN(), 4})};
    variant.blocks.emplace_back();
    variant.blocks[0].ops = {Op{"fill", {}, Fill{0, one.pattern}}};
    entry.variants.push_back(std::move(variant));
    program.entries.push_back(std::move(entry));
    Loaded loaded = loadCuda(program);
    ASSERT_EQ(loaded.error, "");
    RunHandle run = makeRun(loaded);
    FloatTensor x = floats({5, 4});
    ASSERT_EQ(setInput(run, "x", x), "");
    ASSERT_EQ(take(weft_run_execute(run.get())), "");
    WeftTensorView view = {};
    ASSERT_EQ(take(weft_run_output(run.get(), "y", &view)), "");
    auto *bytes = static_cast<const uint8_t *>(view.data);
    int64_t bits = storageBits(one.type);
    for (int64_t element = 0; element < 20; ++element) {
      if (bits < 8) {
        int64_t shift = element * bits % 8;
        EXPECT_EQ((bytes[element * bits / 8] >> shift) & ((1 << bits) - 1), one.pattern[0]);
      } else {
        EXPECT_EQ(std::memcmp(bytes + element * bits / 8, one.pattern.data(), one.pattern.size()), 0);
      }
    }
  }
  EXPECT_EQ(gpus.faults(), "");
  EXPECT_EQ(gpus.leaks(), "");
}

TEST(CudaSeed, ReachesKernelsThroughGraphs) {
  SimulatedGpus gpus;
  {
    Program program = cudaProgram();
    Entry entry;
    entry.inputs = {{"x", ElementType::F32, {symbolN(), 4}}};
    entry.outputs = {{"a", ElementType::I64, {}}, {"b", ElementType::I64, {}}};
    Variant variant;
    variant.buffers = {outputBuffer(0, ElementType::I64, {}), outputBuffer(1, ElementType::I64, {})};
    variant.blocks.emplace_back();
    variant.blocks[0].ops = {cudaLaunchOp("seed", {}, {0}), cudaLaunchOp("seed", {}, {1})};
    entry.variants.push_back(std::move(variant));
    program.entries.push_back(std::move(entry));
    Loaded loaded = loadCuda(program);
    ASSERT_EQ(loaded.error, "");
    RunHandle run = makeRun(loaded);
    FloatTensor x = floats({1, 4});
    ASSERT_EQ(setInput(run, "x", x), "");
    for (uint64_t seed : {5, 5, 5, 6, 5, 6, 6, 6}) {
      ASSERT_EQ(take(weft_run_set_seed(run.get(), seed)), "");
      ASSERT_EQ(take(weft_run_execute(run.get())), "");
      EXPECT_EQ(outputValues<int64_t>(run, "a"), std::vector<int64_t>{static_cast<int64_t>(seed)});
      EXPECT_EQ(outputValues<int64_t>(run, "b"), std::vector<int64_t>{static_cast<int64_t>(seed)});
    }
  }
  EXPECT_EQ(gpus.faults(), "");
}

// The state counts runs down.
TEST(CudaState, StaysOnTheGpuBetweenRuns) {
  SimulatedGpus gpus;
  {
    Program program = cudaProgram();
    program.weights.push_back({"start", ElementType::I64, {}, 0, 0, {0, 0}});
    program.states.push_back({"position", ElementType::I64, {}, 0});
    Entry entry;
    entry.inputs = {{"x", ElementType::F32, {symbolN(), 4}}};
    entry.outputs = {{"again", ElementType::I1, {}}};
    Variant variant;
    variant.buffers = {stateBuffer(0, ElementType::I64, {}), outputBuffer(0, ElementType::I1, {})};
    variant.blocks.emplace_back();
    variant.blocks[0].ops = {cudaLaunchOp("count_down", {0}, {0, 1})};
    entry.variants.push_back(std::move(variant));
    program.entries.push_back(std::move(entry));
    const int64_t start = 3;
    Loaded loaded = loadCuda(program, {{&start, sizeof(start)}});
    ASSERT_EQ(loaded.error, "");
    WeftState *state = nullptr, *other = nullptr;
    ASSERT_EQ(take(weft_state_create(loaded.program.get(), &state)), "");
    ASSERT_EQ(take(weft_state_create(loaded.program.get(), &other)), "");
    RunHandle run = makeRun(loaded);
    FloatTensor x = floats({1, 4});
    ASSERT_EQ(setInput(run, "x", x), "");
    auto step = [&](WeftState *with) {
      EXPECT_EQ(take(weft_run_set_state(run.get(), with)), "");
      EXPECT_EQ(take(weft_run_execute(run.get())), "");
      return outputValues<uint8_t>(run, "again")[0];
    };
    auto position = [&](WeftState *of) {
      WeftTensorView view = {};
      EXPECT_EQ(take(weft_state_tensor(of, "position", &view)), "");
      return static_cast<int64_t *>(view.data);
    };
    EXPECT_EQ(step(state), 1);
    EXPECT_EQ(step(state), 1);
    EXPECT_EQ(step(other), 1);
    EXPECT_EQ(step(state), 0);
    EXPECT_EQ(*position(state), 0);
    EXPECT_EQ(*position(other), 2);
    *position(state) = 9;
    EXPECT_EQ(step(state), 1);
    EXPECT_EQ(*position(state), 8);
    EXPECT_EQ(step(state), 1);
    ASSERT_EQ(take(weft_state_reset(state)), "");
    EXPECT_EQ(*position(state), 3);
    EXPECT_EQ(step(state), 1);
    EXPECT_EQ(*position(state), 2);
    weft_state_free(state);
    weft_state_free(other);
  }
  EXPECT_EQ(gpus.faults(), "");
  EXPECT_EQ(gpus.leaks(), "");
}

TEST(CudaDLPack, ResultsStayOnTheGpuAndComeBackAsInputs) {
  SimulatedGpus gpus({{"DEVICES", "2"}});
  {
    CudaBiasProgram bias;
    CudaLoadOptions onSecond;
    onSecond.device = "cuda:1";
    Loaded loaded = loadCuda(bias.program, bias.weights(), onSecond);
    ASSERT_EQ(loaded.error, "");
    RunHandle run = makeRun(loaded);
    ASSERT_EQ(take(weft_run_set_output_on_device(run.get(), "y", 1)), "");
    std::vector<float> x = ramp(5), y;
    FloatTensor input = floats({5, 4}, x);
    ASSERT_EQ(setInput(run, "x", input), "");
    ASSERT_EQ(take(weft_run_execute(run.get())), "");
    WeftDLManagedTensor *tensor = nullptr;
    ASSERT_EQ(take(weft_run_take_output_dlpack(run.get(), "y", &tensor)), "");
    EXPECT_EQ(tensor->dl_tensor.device.device_type, 2);
    EXPECT_EQ(tensor->dl_tensor.device.device_id, 1);
    // Once more through the program, from the GPU's memory to the host's.
    ASSERT_EQ(take(weft_run_set_input_dlpack(run.get(), "x", tensor)), "");
    ASSERT_EQ(take(weft_run_set_output_on_device(run.get(), "y", 0)), "");
    ASSERT_EQ(take(weft_run_execute(run.get())), "");
    EXPECT_EQ(outputValues<float>(run, "y"), expectedBias(expectedBias(x)));
    // A tensor of another GPU, or of a kind that nobody has, is refused.
    WeftDLManagedTensor foreign = {};
    int64_t shape[] = {5, 4};
    foreign.dl_tensor.data = &foreign;
    foreign.dl_tensor.ndim = 2;
    foreign.dl_tensor.shape = shape;
    foreign.dl_tensor.dtype = {2, 32, 1};
    for (std::pair<int32_t, int32_t> where : {std::pair(2, 0), std::pair(10, 1)}) {
      foreign.dl_tensor.device = {where.first, where.second};
      EXPECT_NE(take(weft_run_set_input_dlpack(run.get(), "x", &foreign)).find("expected the CPU (1) or the program's"),
                std::string::npos);
    }
    WeftTensorView view = input.view();
    ASSERT_EQ(take(weft_run_set_output(run.get(), "y", &view)), "");
    EXPECT_NE(take(weft_run_set_output_on_device(run.get(), "y", 1)).find("bound to memory of the host"),
              std::string::npos);
  }
  EXPECT_EQ(gpus.faults(), "");
  EXPECT_EQ(gpus.leaks(), "");
}

TEST(CudaInputs, StridedAndUnalignedMemoryWorks) {
  SimulatedGpus gpus;
  {
    CudaBiasProgram bias;
    Loaded loaded = loadCuda(bias.program, bias.weights());
    ASSERT_EQ(loaded.error, "");
    RunHandle run = makeRun(loaded);
    std::vector<float> storage = ramp(9), x(8);
    int64_t dims[] = {2, 4}, strides[] = {1, 2};
    WeftTensorView view = {storage.data() + 1, WEFT_ELEMENT_F32, 2, dims, strides};
    for (size_t row = 0; row < 2; ++row)
      for (size_t column = 0; column < 4; ++column)
        x[row * 4 + column] = storage[1 + row + 2 * column];
    ASSERT_EQ(take(weft_run_set_input(run.get(), "x", &view)), "");
    ASSERT_EQ(take(weft_run_execute(run.get())), "");
    EXPECT_EQ(outputValues<float>(run, "y"), expectedBias(x));
  }
  EXPECT_EQ(gpus.faults(), "");
}

// More than the pinned memory of a run holds at once goes in pieces.
TEST(CudaInputs, LargeTensorsGoInPieces) {
  SimulatedGpus gpus({{"CHECKS", "none"}});
  {
    Program program = cudaProgram("sm_80", 1, int64_t(1) << 24);
    std::vector<Expression> dims = {symbolN(), 4};
    Entry entry;
    entry.inputs = {{"x", ElementType::F32, dims}};
    entry.outputs = {{"y", ElementType::F32, dims}};
    Variant variant;
    variant.buffers = {inputBuffer(0, ElementType::F32, dims), outputBuffer(0, ElementType::F32, dims)};
    variant.blocks.emplace_back();
    variant.blocks[0].ops = {Op{"copy", {}, Copy{0, 1}}};
    entry.variants.push_back(std::move(variant));
    program.entries.push_back(std::move(entry));
    Loaded loaded = loadCuda(program);
    ASSERT_EQ(loaded.error, "");
    RunHandle run = makeRun(loaded);
    std::vector<float> x = ramp((int64_t(9) << 20) + 3), y; // 144 MiB
    ASSERT_EQ(runRows(run, x, y), "");
    EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(float)), 0);
  }
  EXPECT_EQ(gpus.leaks(), "");
}

TEST(CudaThreads, SeveralRunsAndSeveralGpusAtOnce) {
  SimulatedGpus gpus({{"DEVICES", "2"}, {"SEED", "7"}});
  {
    CudaBiasProgram bias;
    CudaLoadOptions onSecond;
    onSecond.device = "cuda:1";
    Loaded first = loadCuda(bias.program, bias.weights()), second = loadCuda(bias.program, bias.weights(), onSecond);
    ASSERT_EQ(first.error, "");
    ASSERT_EQ(second.error, "");
    std::vector<std::thread> threads;
    std::vector<std::string> errors(6);
    for (size_t thread = 0; thread < errors.size(); ++thread)
      threads.emplace_back([&, thread] {
        RunHandle run = makeRun(thread % 2 ? first : second);
        for (int64_t round = 0; round < 12; ++round) {
          std::vector<float> x = ramp(1 + (round * static_cast<int64_t>(thread + 1)) % 9, static_cast<float>(thread)),
                             y;
          std::string error = runRows(run, x, y);
          if (error.empty() && y != expectedBias(x))
            error = "wrong values";
          if (!error.empty())
            errors[thread] = error;
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    for (const std::string &error : errors)
      EXPECT_EQ(error, "");
  }
  EXPECT_EQ(gpus.faults(), "");
  EXPECT_EQ(gpus.leaks(), "");
}

TEST(CudaAsync, StartAndFences) {
  SimulatedGpus gpus;
  {
    CudaBiasProgram bias;
    Loaded loaded = loadCuda(bias.program, bias.weights());
    ASSERT_EQ(loaded.error, "");
    RunHandle run = makeRun(loaded);
    std::vector<float> x = ramp(6);
    FloatTensor input = floats({6, 4}, x);
    ASSERT_EQ(setInput(run, "x", input), "");
    for (int round = 0; round < 3; ++round) {
      ASSERT_EQ(take(weft_run_start(run.get(), nullptr, 0, nullptr)), "");
      ASSERT_EQ(take(weft_run_wait(run.get(), -1)), "");
      EXPECT_EQ(outputValues<float>(run, "y"), expectedBias(x));
    }
  }
  EXPECT_EQ(gpus.leaks(), "");
}

TEST(CudaWatch, ProfileObserverAndNans) {
  SimulatedGpus gpus;
  {
    Program program = cudaChain(3);
    program.entries[0].variants[0].blocks[0].ops[1] = cudaLaunchOp("root", {2}, {3}, symbolN());
    Loaded loaded = loadCuda(program);
    ASSERT_EQ(loaded.error, "");
    RunHandle run = makeRun(loaded);
    // Profile.
    ASSERT_EQ(take(weft_run_set_profile(run.get(), 1)), "");
    std::vector<float> y;
    ASSERT_EQ(runRows(run, std::vector<float>(8, 8.0f), y), "");
    EXPECT_EQ(y, std::vector<float>(8, 4.0f));
    for (int32_t op = 0; op < 3; ++op) {
      WeftOpProfile profile = {};
      ASSERT_EQ(take(weft_run_profile(run.get(), op, &profile)), "");
      EXPECT_EQ(profile.count, 1);
      EXPECT_GT(profile.nanoseconds, 0);
    }
    ASSERT_EQ(take(weft_run_set_profile(run.get(), 0)), "");
    // Observer: what each op wrote.
    std::vector<std::pair<std::string, float>> seen;
    auto observe = [](void *user, const WeftObservation *observation) {
      ASSERT_EQ(observation->output_count, 1);
      static_cast<std::vector<std::pair<std::string, float>> *>(user)->emplace_back(
          observation->name, static_cast<const float *>(observation->outputs[0].data)[7]);
    };
    ASSERT_EQ(take(weft_run_set_observer(run.get(), observe, &seen)), "");
    ASSERT_EQ(runRows(run, std::vector<float>(8, 8.0f), y), "");
    EXPECT_EQ(seen, (std::vector<std::pair<std::string, float>>{
                        {"increment_op", 9.0f}, {"root_op", 3.0f}, {"increment_op", 4.0f}}));
    ASSERT_EQ(take(weft_run_set_observer(run.get(), nullptr, nullptr)), "");
    // NaNs: without the check they pass, with it the op is named.
    std::vector<float> x(8, 8.0f);
    x[5] = -2;
    ASSERT_EQ(runRows(run, x, y), "");
    EXPECT_TRUE(std::isnan(y[5]));
    ASSERT_EQ(take(weft_run_set_check_nans(run.get(), 1)), "");
    EXPECT_EQ(runRows(run, x, y), "op \"root_op\" (nodes \"node_of_root\") made the first NaN, at element 5 of 8");
  }
  EXPECT_EQ(gpus.faults(), "");
  EXPECT_EQ(gpus.leaks(), "");
}

// The profile of a loop longer than the events that are kept.
TEST(CudaWatch, ProfileOfALongLoop) {
  SimulatedGpus gpus({{"CHECKS", "none"}});
  Loaded loaded = loadCuda(loopProgram());
  ASSERT_EQ(loaded.error, "");
  RunHandle run = makeRun(loaded);
  constexpr int64_t kRounds = 1000;
  Tensor<int64_t> n(WEFT_ELEMENT_I64, {}, {kRounds});
  Tensor<uint8_t> condition(WEFT_ELEMENT_I1, {}, {0});
  ASSERT_EQ(setInput(run, "n", n), "");
  ASSERT_EQ(setInput(run, "flag", condition), "");
  ASSERT_EQ(take(weft_run_set_profile(run.get(), 1)), "");
  std::vector<float> y;
  ASSERT_EQ(runRows(run, std::vector<float>(4, 0.0f), y), "");
  for (auto [op, count] : {std::pair<int32_t, int64_t>(2, 1), {5, kRounds + 1}, {6, kRounds}, {7, kRounds}}) {
    WeftOpProfile profile = {};
    ASSERT_EQ(take(weft_run_profile(run.get(), op, &profile)), "");
    EXPECT_EQ(profile.count, count) << op;
  }
}

} // namespace
