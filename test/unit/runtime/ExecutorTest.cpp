// Loading and running programs through the C API.
#include "test/unit/runtime/TestPrograms.h"

#include "include/weft/kernel_abi.h"
#include "include/weft/runtime.hpp"
#include "runtime/Artifact/CpuFeatures.h"

#include <cmath>

using namespace weft::runtime;
using namespace weft::runtime::test;

namespace {

std::vector<float> ramp(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(i) * 0.25f;
  return values;
}

std::vector<float> biasResult(const std::vector<float> &x) {
  std::vector<float> y(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    y[i] = 2 * (x[i] + static_cast<float>(i % 4 + 1));
  return y;
}

Loaded loadBias(int32_t threads = 0) {
  BiasProgram bias;
  return load(bias.program, bias.weights(), threads);
}

// One entry with one block.
Program singleBlock(std::vector<Port> inputs, std::vector<Port> outputs, std::vector<Buffer> buffers,
                    std::vector<Op> ops, Expression arena = 0) {
  Program program = emptyProgram();
  Entry entry;
  entry.inputs = std::move(inputs);
  entry.outputs = std::move(outputs);
  Variant variant;
  variant.buffers = std::move(buffers);
  variant.arenaBytes = std::move(arena);
  variant.blocks = {Block{std::move(ops)}};
  entry.variants.push_back(std::move(variant));
  program.entries.push_back(std::move(entry));
  return program;
}

const std::vector<Expression> kRows = {Expression::symbol(0), Expression(4)};

TEST(Executor, RunsEveryBatchWithOneProgram) {
  Loaded loaded = loadBias();
  RunHandle run = makeRun(loaded);
  for (int64_t rows : {1, 7, 64, 7, 3}) {
    std::vector<float> values = ramp(static_cast<size_t>(rows) * 4);
    FloatTensor x = floats({rows, 4}, values);
    ASSERT_EQ(setInput(run, "x", x), "");
    ASSERT_EQ(take(weft_run_execute(run.get())), "");
    EXPECT_EQ(outputValues<float>(run, "y"), biasResult(values));
  }
}

TEST(Executor, EmptyBatch) {
  BiasProgram bias(0, 4);
  Loaded loaded = load(bias.program, bias.weights());
  RunHandle run = makeRun(loaded);
  int64_t dims[2] = {0, 4};
  WeftTensorView view = {nullptr, WEFT_ELEMENT_F32, 2, dims, nullptr};
  ASSERT_EQ(take(weft_run_set_input(run.get(), "x", &view)), "");
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  EXPECT_TRUE(outputValues<float>(run, "y").empty());
}

TEST(Executor, InputErrorsSayWhatWasExpected) {
  Loaded loaded = loadBias();
  RunHandle run = makeRun(loaded);
  FloatTensor good = floats({2, 4});
  EXPECT_EQ(setInput(run, "z", good), "no input is named \"z\"; the inputs are \"x\"");
  FloatTensor wide = floats({2, 5});
  EXPECT_EQ(setInput(run, "x", wide), "input \"x\": dimension 1 is 5, expected 4");
  FloatTensor flat = floats({8});
  EXPECT_EQ(setInput(run, "x", flat), "input \"x\": rank is 1, expected f32[N,4]");
  Tensor<int32_t> integers(WEFT_ELEMENT_I32, {2, 4});
  EXPECT_EQ(setInput(run, "x", integers), "input \"x\": element type is i32, expected f32");
  EXPECT_EQ(take(weft_run_execute(run.get())), "input \"x\" is not given; the inputs are \"x\"");
  FloatTensor many = floats({65, 4});
  ASSERT_EQ(setInput(run, "x", many), "");
  EXPECT_EQ(take(weft_run_execute(run.get())), "input \"x\": dimension 0 is 65, expected N between 1 and 64");
  WeftTensorView view = good.view();
  int64_t negative[2] = {-2, 4};
  view.dims = negative;
  EXPECT_NE(take(weft_run_set_input(run.get(), "x", &view)), "");
  view = good.view();
  view.data = nullptr;
  EXPECT_EQ(take(weft_run_set_input(run.get(), "x", &view)), "input \"x\": the view has no data");
  WeftTensorView result;
  EXPECT_NE(take(weft_run_output(run.get(), "y", &result)).find("no results"), std::string::npos);
  EXPECT_EQ(take(weft_run_output(run.get(), "x", &result)), "no output is named \"x\"; the outputs are \"y\"");
  WeftRun *other = nullptr;
  EXPECT_EQ(take(weft_run_create(loaded.program.get(), "train", &other)),
            "no entry point is named \"train\"; there are \"main\"");
  // And after all that it still works.
  ASSERT_EQ(setInput(run, "x", good), "");
  EXPECT_EQ(take(weft_run_execute(run.get())), "");
}

TEST(Executor, InconsistentSymbolsNameBothInputs) {
  Program program = singleBlock({{"a", ElementType::F32, kRows},
                                 {"b", ElementType::F32, kRows},
                                 {"c", ElementType::F32, {times(Expression::symbol(0), 2)}}},
                                {}, {}, {});
  Loaded loaded = load(program, {});
  RunHandle run = makeRun(loaded);
  FloatTensor a = floats({3, 4}), b = floats({2, 4}), b3 = floats({3, 4}), c = floats({5}), c6 = floats({6});
  ASSERT_EQ(setInput(run, "a", a), "");
  ASSERT_EQ(setInput(run, "b", b), "");
  ASSERT_EQ(setInput(run, "c", c), "");
  EXPECT_EQ(take(weft_run_execute(run.get())), "input \"b\": dimension 0 is 2, expected 3 (N, as in input \"a\")");
  ASSERT_EQ(setInput(run, "b", b3), "");
  EXPECT_EQ(take(weft_run_execute(run.get())), "input \"c\": dimension 0 is 5, expected 6 (N*2)");
  ASSERT_EQ(setInput(run, "c", c6), "");
  EXPECT_EQ(take(weft_run_execute(run.get())), "");
}

TEST(Executor, UnalignedAndStridedInputsAreCopiedAndThatIsLogged) {
  std::vector<std::string> lines;
  BiasProgram bias;
  Loaded loaded = load(
      bias.program, bias.weights(), 0, true,
      [](void *user, WeftLogLevel, const char *message) {
        static_cast<std::vector<std::string> *>(user)->push_back(message);
      },
      &lines);
  RunHandle run = makeRun(loaded);
  std::vector<float> values = ramp(8);
  FloatTensor aligned = floats({2, 4}, values);
  ASSERT_EQ(setInput(run, "x", aligned), "");
  EXPECT_TRUE(lines.empty());

  FloatTensor storage = floats({9});
  std::copy(values.begin(), values.end(), storage.data() + 1);
  WeftTensorView view = aligned.view();
  view.data = storage.data() + 1;
  ASSERT_EQ(take(weft_run_set_input(run.get(), "x", &view)), "");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("not aligned"), std::string::npos) << lines[0];
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  EXPECT_EQ(outputValues<float>(run, "y"), biasResult(values));

  // Columns first in memory.
  FloatTensor columns = floats({8});
  for (size_t row = 0; row < 2; ++row)
    for (size_t column = 0; column < 4; ++column)
      columns[column * 2 + row] = values[row * 4 + column];
  int64_t strides[2] = {1, 2};
  view.data = columns.data();
  view.strides = strides;
  ASSERT_EQ(take(weft_run_set_input(run.get(), "x", &view)), "");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[1].find("not contiguous"), std::string::npos) << lines[1];
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  EXPECT_EQ(outputValues<float>(run, "y"), biasResult(values));
}

TEST(Executor, OutputsInMemoryOfTheCaller) {
  Loaded loaded = loadBias();
  RunHandle run = makeRun(loaded);
  std::vector<float> values = ramp(12);
  FloatTensor x = floats({3, 4}, values), y = floats({3, 4}), small = floats({2, 4});
  ASSERT_EQ(setInput(run, "x", x), "");
  WeftTensorView view = y.view();
  ASSERT_EQ(take(weft_run_set_output(run.get(), "y", &view)), "");
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  EXPECT_EQ(std::vector<float>(y.data(), y.data() + 12), biasResult(values));
  WeftTensorView result;
  ASSERT_EQ(take(weft_run_output(run.get(), "y", &result)), "");
  EXPECT_EQ(result.data, y.data());
  view = small.view();
  ASSERT_EQ(take(weft_run_set_output(run.get(), "y", &view)), "");
  EXPECT_EQ(take(weft_run_execute(run.get())), "output \"y\": dimension 0 of the bound memory is 2, expected 3");
  view = x.view();
  ASSERT_EQ(take(weft_run_set_output(run.get(), "y", &view)), "");
  EXPECT_EQ(take(weft_run_execute(run.get())), "output \"y\" is bound to memory that overlaps input \"x\"");
  view = y.view();
  view.data = y.data() + 1;
  EXPECT_NE(take(weft_run_set_output(run.get(), "y", &view)).find("aligned"), std::string::npos);
  ASSERT_EQ(take(weft_run_set_output(run.get(), "y", nullptr)), "");
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  EXPECT_EQ(outputValues<float>(run, "y"), biasResult(values));
}

TEST(Executor, VariantsAreChosenByShape) {
  BiasProgram bias;
  Entry &entry = bias.program.entries[0];
  Variant large = entry.variants[0];
  // The second variant skips the doubling, so that one can tell which ran.
  large.blocks[0].ops = {launchOp("test_add_bias", {0, 1}, {3}, symbolN())};
  entry.variants[0].ranges = {{0, 1, 8}};
  large.ranges = {{0, 16, 64}};
  entry.variants.push_back(large);
  Loaded loaded = load(bias.program, bias.weights());
  RunHandle run = makeRun(loaded);
  EXPECT_EQ(weft_run_variant(run.get()), -1);
  FloatTensor small = floats({8, 4}), big = floats({16, 4}), between = floats({9, 4});
  ASSERT_EQ(setInput(run, "x", small), "");
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  EXPECT_EQ(weft_run_variant(run.get()), 0);
  EXPECT_EQ(outputValues<float>(run, "y")[0], 2.0f);
  ASSERT_EQ(setInput(run, "x", big), "");
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  EXPECT_EQ(weft_run_variant(run.get()), 1);
  EXPECT_EQ(outputValues<float>(run, "y")[0], 1.0f);
  ASSERT_EQ(setInput(run, "x", between), "");
  EXPECT_EQ(take(weft_run_execute(run.get())),
            "the artifact was not compiled for these input shapes (N = 9); it accepts N from 1 to 8; N from 16 to 64");
}

TEST(Executor, OtherCpusAreNamed) {
  BiasProgram bias;
  bias.program.targets[0].name = "x86-64-v9";
  bias.program.targets[0].features = {"sse2", "warp-drive"};
  Loaded loaded = load(bias.program, bias.weights());
  EXPECT_NE(loaded.error.find("\"x86-64-v9\""), std::string::npos) << loaded.error;
  EXPECT_NE(loaded.error.find("lacking here: warp-drive"), std::string::npos) << loaded.error;
  EXPECT_NE(loaded.error.find(hostCpuName()), std::string::npos) << loaded.error;
  // A second target that fits is taken.
  Target fitting = emptyProgram().targets[0];
  fitting.name = "plain";
  bias.program.targets.push_back(fitting);
  Variant second = bias.program.entries[0].variants[0];
  second.target = 1;
  bias.program.entries[0].variants.push_back(second);
  loaded = load(bias.program, bias.weights());
  ASSERT_EQ(loaded.error, "");
  EXPECT_STREQ(weft_program_metadata(loaded.program.get(), "target"), "plain");
  EXPECT_EQ(weft_program_variant_count(loaded.program.get(), 0), 1);
  WeftLoadOptions options;
  weft_load_options_init(&options);
  options.device = "abacus";
  WeftProgram *program = nullptr;
  std::string error = take(weft_program_load_memory(loaded.bytes->data(), loaded.bytes->size(), &options, &program));
  EXPECT_NE(error.find("there is no device \"abacus\""), std::string::npos) << error;
}

TEST(Executor, CpuFeaturesOfThisMachine) {
#if defined(__x86_64__)
  EXPECT_TRUE(hostHasCpuFeature("sse2"));
  __builtin_cpu_init();
  EXPECT_EQ(hostHasCpuFeature("avx2"), __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(hostHasCpuFeature("fma"), __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ(hostHasCpuFeature("bmi2"), __builtin_cpu_supports("bmi2") != 0);
  EXPECT_EQ(hostHasCpuFeature("avx512f"), __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ(hostHasCpuFeature("avx512bf16"), __builtin_cpu_supports("avx512bf16") != 0);
  EXPECT_EQ(hostHasCpuFeature("sse4a"), __builtin_cpu_supports("sse4a") != 0);
#endif
  EXPECT_FALSE(hostHasCpuFeature("warp-drive"));
}

TEST(Executor, MissingKernelIsAnError) {
  BiasProgram bias;
  std::get<Launch>(bias.program.entries[0].variants[0].blocks[0].ops[0].body).kernel = "no_such_kernel";
  Loaded loaded = load(bias.program, bias.weights());
  EXPECT_NE(loaded.error.find("no kernel \"no_such_kernel\""), std::string::npos) << loaded.error;
  // Functions of other libraries are not kernels.
  std::get<Launch>(bias.program.entries[0].variants[0].blocks[0].ops[0].body).kernel = "malloc";
  loaded = load(bias.program, bias.weights());
  EXPECT_NE(loaded.error.find("no kernel \"malloc\""), std::string::npos) << loaded.error;
  bias.program.targets[0].kernels = {1, 2, 3};
  loaded = load(bias.program, bias.weights());
  EXPECT_NE(loaded.error.find("cannot load the artifact's kernels"), std::string::npos) << loaded.error;
}

// Kernels of one name in two programs, loaded at the same time in either order: each runs its own.
TEST(Executor, ProgramsDoNotShareKernels) {
  BiasProgram bias, other;
  other.program.targets[0].kernels = otherKernelImage();
  std::vector<float> values = ramp(4);
  FloatTensor x = floats({1, 4}, values);
  for (bool otherFirst : {false, true}) {
    Loaded first = load((otherFirst ? other : bias).program, bias.weights());
    Loaded second = load((otherFirst ? bias : other).program, bias.weights());
    RunHandle runs[2] = {makeRun(otherFirst ? second : first), makeRun(otherFirst ? first : second)};
    for (int index = 0; index < 2; ++index) {
      ASSERT_EQ(setInput(runs[index], "x", x), "");
      ASSERT_EQ(take(weft_run_execute(runs[index].get())), "");
      std::vector<float> y = outputValues<float>(runs[index], "y");
      for (size_t i = 0; i < 4; ++i)
        EXPECT_EQ(y[i], static_cast<float>(index + 2) * (values[i] + static_cast<float>(i + 1)));
    }
  }
}

Program gatherProgram() {
  std::vector<Expression> n = {symbolN()};
  return singleBlock({{"x", ElementType::F32, kRows}, {"index", ElementType::I32, n}}, {{"y", ElementType::F32, n}},
                     {inputBuffer(0, ElementType::F32, kRows), inputBuffer(1, ElementType::I32, n),
                      outputBuffer(0, ElementType::F32, n)},
                     {launchOp("test_gather", {0, 1}, {2}, symbolN())});
}

TEST(Executor, KernelErrorsNameTheOpAndItsNodes) {
  Loaded loaded = load(gatherProgram(), {});
  RunHandle run = makeRun(loaded);
  FloatTensor x = floats({3, 4}, ramp(12));
  Tensor<int32_t> index(WEFT_ELEMENT_I32, {3}, {11, 0, 12});
  ASSERT_EQ(setInput(run, "x", x), "");
  ASSERT_EQ(setInput(run, "index", index), "");
  WeftStatus *status = weft_run_execute(run.get());
  EXPECT_EQ(weft_status_code(status), WEFT_EXECUTION_FAILED);
  EXPECT_EQ(take(status), "op \"test_gather_op\" (nodes \"node_of_test_gather\"): an index is out of range");
  WeftTensorView view;
  EXPECT_NE(take(weft_run_output(run.get(), "y", &view)), "");
  index[2] = 4;
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  EXPECT_EQ(outputValues<float>(run, "y"), (std::vector<float>{2.75f, 0.0f, 1.0f}));
}

TEST(Executor, FirstFailureIsReportedWhateverTheThreads) {
  std::vector<Expression> n = {symbolN()};
  Program program = singleBlock({{"x", ElementType::I32, n}}, {}, {inputBuffer(0, ElementType::I32, n)},
                                {launchOp("test_fail_where", {0}, {}, symbolN())});
  program.kernelMessages = {"zero", "one", "two", "three"};
  for (int32_t threads = 1; threads <= 4; ++threads) {
    Loaded loaded = load(program, {}, threads);
    RunHandle run = makeRun(loaded);
    Tensor<int32_t> x(WEFT_ELEMENT_I32, {64});
    x[20] = 2, x[21] = 3, x[50] = 1;
    ASSERT_EQ(setInput(run, "x", x), "");
    for (int round = 0; round < 20; ++round)
      EXPECT_NE(take(weft_run_execute(run.get())).find(": two"), std::string::npos);
  }
}

TEST(Executor, ScratchIsPrivateToAWorker) {
  std::vector<Expression> n = {symbolN()};
  Program program = singleBlock({{"x", ElementType::F32, kRows}}, {{"y", ElementType::F32, n}},
                                {inputBuffer(0, ElementType::F32, kRows), outputBuffer(0, ElementType::F32, n)},
                                {launchOp("test_row_sum", {0}, {1}, symbolN(), 4096)});
  std::vector<float> first;
  for (int32_t threads = 1; threads <= 4; ++threads) {
    Loaded loaded = load(program, {}, threads);
    RunHandle run = makeRun(loaded);
    FloatTensor x = floats({64, 4}, ramp(256));
    ASSERT_EQ(setInput(run, "x", x), "");
    for (int round = 0; round < 50; ++round) {
      ASSERT_EQ(take(weft_run_execute(run.get())), "");
      std::vector<float> y = outputValues<float>(run, "y");
      for (size_t row = 0; row < 64; ++row)
        ASSERT_EQ(y[row], 256 * (static_cast<float>(row) * 4 + 1.5f));
    }
  }
}

TEST(Executor, KernelsGetWhatTheAbiPromises) {
  Program program = singleBlock({}, {{"y", ElementType::U64, {4}}}, {outputBuffer(0, ElementType::U64, {4})},
                                {launchOp("test_arguments", {}, {0})});
  Loaded loaded = load(program, {});
  RunHandle run = makeRun(loaded);
  ASSERT_EQ(take(weft_run_set_seed(run.get(), 0x123456789abcdef0u)), "");
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  EXPECT_EQ(outputValues<uint64_t>(run, "y"),
            (std::vector<uint64_t>{sizeof(WeftArgs), WEFT_KERNEL_ABI_VERSION, 0x123456789abcdef0u, 0}));
  EXPECT_EQ(offsetof(WeftArgs, buffers), 8u);
  EXPECT_EQ(offsetof(WeftArgs, symbols), 16u);
  EXPECT_EQ(offsetof(WeftArgs, scratch), 24u);
  EXPECT_EQ(offsetof(WeftArgs, seed), 32u);
  EXPECT_EQ(offsetof(WeftArgs, device_index), 40u);
  EXPECT_EQ(offsetof(WeftArgs, error), 48u);
}

// counter = start; while (counter < limit) counter += 1, over a state that outlives the run.
Program loopProgram() {
  Program program = singleBlock({{"limit", ElementType::I32, {}}}, {{"y", ElementType::I32, {}}},
                                {inputBuffer(0, ElementType::I32, {}), stateBuffer(0, ElementType::I32, {}),
                                 arenaBuffer(0, ElementType::I1, {}), outputBuffer(0, ElementType::I32, {})},
                                {Op{"loop", {"Loop_0"}, While{1, 2, 2}}, Op{"result", {}, Copy{1, 3}}}, 64);
  program.weights = {{"start", ElementType::I32, {}, 0, 0, {0, 0}}};
  program.states = {{"counter", ElementType::I32, {}, 0}};
  program.entries[0].variants[0].blocks.push_back({{launchOp("test_less", {1, 0}, {2})}});
  program.entries[0].variants[0].blocks.push_back({{launchOp("test_increment", {1}, {1})}});
  return program;
}

TEST(Executor, LoopsAndState) {
  int32_t start = 5;
  Loaded loaded = load(loopProgram(), {{&start, 4}});
  RunHandle run = makeRun(loaded);
  Tensor<int32_t> limit(WEFT_ELEMENT_I32, {}, {9});
  ASSERT_EQ(setInput(run, "limit", limit), "");
  EXPECT_NE(take(weft_run_execute(run.get())).find("the program has state"), std::string::npos);
  WeftState *state = nullptr;
  ASSERT_EQ(take(weft_state_create(loaded.program.get(), &state)), "");
  ASSERT_EQ(take(weft_run_set_state(run.get(), state)), "");
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  EXPECT_EQ(outputValues<int32_t>(run, "y")[0], 9);
  limit[0] = 7; // the state stays at 9
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  EXPECT_EQ(outputValues<int32_t>(run, "y")[0], 9);
  WeftTensorView view;
  ASSERT_EQ(take(weft_state_tensor(state, "counter", &view)), "");
  EXPECT_EQ(*static_cast<int32_t *>(view.data), 9);
  EXPECT_NE(take(weft_state_tensor(state, "cache", &view)).find("\"counter\""), std::string::npos);
  ASSERT_EQ(take(weft_state_reset(state)), "");
  EXPECT_EQ(*static_cast<int32_t *>(view.data), 5);
  ASSERT_EQ(take(weft_run_set_profile(run.get(), 1)), "");
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  EXPECT_EQ(outputValues<int32_t>(run, "y")[0], 7);
  WeftOpProfile profile;
  // Ops block after block: loop, result, less, increment.
  ASSERT_EQ(take(weft_run_profile(run.get(), 2, &profile)), "");
  EXPECT_EQ(profile.count, 3);
  ASSERT_EQ(take(weft_run_profile(run.get(), 3, &profile)), "");
  EXPECT_EQ(profile.count, 2);
  EXPECT_NE(take(weft_run_profile(run.get(), 4, &profile)), "");
  run.reset();
  weft_state_free(state);
}

TEST(Executor, BranchesFillsAndChecks) {
  Program program =
      singleBlock({{"flag", ElementType::I1, {}}, {"x", ElementType::F32, kRows}}, {{"y", ElementType::F32, kRows}},
                  {inputBuffer(0, ElementType::I1, {}), inputBuffer(1, ElementType::F32, kRows),
                   outputBuffer(0, ElementType::F32, kRows)},
                  {Op{"branch", {"If_0"}, If{0, 1, 2}}});
  float pattern = 1.5f;
  std::vector<uint8_t> bytes(4);
  std::memcpy(bytes.data(), &pattern, 4);
  program.entries[0].variants[0].blocks.push_back({{Op{"fill", {}, Fill{2, bytes}}}});
  program.entries[0].variants[0].blocks.push_back(
      {{Op{"check", {"Reshape_1"}, CheckEqual{symbolN(), 2, "N must be 2"}}, Op{"copy", {}, Copy{1, 2}}}});
  Loaded loaded = load(program, {});
  RunHandle run = makeRun(loaded);
  Tensor<uint8_t> flag(WEFT_ELEMENT_I1, {}, {1});
  FloatTensor x = floats({3, 4}, ramp(12));
  ASSERT_EQ(setInput(run, "flag", flag), "");
  ASSERT_EQ(setInput(run, "x", x), "");
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  EXPECT_EQ(outputValues<float>(run, "y"), std::vector<float>(12, 1.5f));
  flag[0] = 0;
  EXPECT_EQ(take(weft_run_execute(run.get())), "N must be 2: 3 is not 2, in op \"check\" (nodes \"Reshape_1\")");
  FloatTensor two = floats({2, 4}, ramp(8));
  ASSERT_EQ(setInput(run, "x", two), "");
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  EXPECT_EQ(outputValues<float>(run, "y"), ramp(8));
}

TEST(Executor, PackedFill) {
  Program program = singleBlock({}, {{"y", ElementType::U4, {5}}}, {outputBuffer(0, ElementType::U4, {5})},
                                {Op{"fill", {}, Fill{0, {0x0a}}}});
  Loaded loaded = load(program, {});
  RunHandle run = makeRun(loaded);
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  WeftTensorView view;
  ASSERT_EQ(take(weft_run_output(run.get(), "y", &view)), "");
  const auto *bytes = static_cast<const uint8_t *>(view.data);
  EXPECT_EQ(bytes[0], 0xaa);
  EXPECT_EQ(bytes[2] & 0x0f, 0x0a);
  EXPECT_EQ(weft_tensor_bytes(WEFT_ELEMENT_U4, 1, view.dims), 3);
}

// The number of non-zero elements is the output's size.
TEST(Executor, ShapesThatDependOnData) {
  std::vector<Expression> n = {symbolN()}, k = {Expression::symbol(1)};
  Program program = singleBlock(
      {{"x", ElementType::I32, n}}, {{"positions", ElementType::I32, k}},
      {inputBuffer(0, ElementType::I32, n), arenaBuffer(0, ElementType::I32, n), arenaBuffer(256, ElementType::I64, {}),
       arenaBuffer(0, ElementType::I32, k), outputBuffer(0, ElementType::I32, k)},
      {launchOp("test_nonzero", {0}, {1, 2}), Op{"bind", {"NonZero_0"}, BindSymbol{1, 2, "NonZero finds too many"}},
       Op{"copy", {}, Copy{3, 4}}},
      320);
  program.symbols.push_back({"K", 0, 3, SymbolSource::Data});
  Loaded loaded = load(program, {});
  RunHandle run = makeRun(loaded);
  Tensor<int32_t> x(WEFT_ELEMENT_I32, {6}, {0, 7, 0, 0, -1, 0});
  ASSERT_EQ(setInput(run, "x", x), "");
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  EXPECT_EQ(outputValues<int32_t>(run, "positions"), (std::vector<int32_t>{1, 4}));
  x[0] = 1;
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  EXPECT_EQ(outputValues<int32_t>(run, "positions"), (std::vector<int32_t>{0, 1, 4}));
  x[2] = 1;
  EXPECT_EQ(take(weft_run_execute(run.get())),
            "op \"bind\" (nodes \"NonZero_0\"): NonZero finds too many: \"K\" is 4, planned for 0 to 3");
  std::memset(x.data(), 0, 24);
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  EXPECT_TRUE(outputValues<int32_t>(run, "positions").empty());
}

TEST(Executor, CheckNansNamesTheFirstOp) {
  Program program =
      singleBlock({{"x", ElementType::F32, kRows}}, {{"y", ElementType::F32, kRows}},
                  {inputBuffer(0, ElementType::F32, kRows), arenaBuffer(0, ElementType::F32, kRows),
                   outputBuffer(0, ElementType::F32, kRows)},
                  {launchOp("test_make_nan", {0}, {1}, symbolN()), launchOp("test_double", {1}, {2}, symbolN())}, 1024);
  Loaded loaded = load(program, {});
  RunHandle run = makeRun(loaded);
  FloatTensor x = floats({2, 4}, ramp(8));
  ASSERT_EQ(setInput(run, "x", x), "");
  ASSERT_EQ(take(weft_run_set_check_nans(run.get(), 1)), "");
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  x[6] = 1000;
  WeftStatus *status = weft_run_execute(run.get());
  EXPECT_EQ(weft_status_code(status), WEFT_NOT_A_NUMBER);
  EXPECT_EQ(take(status),
            "op \"test_make_nan_op\" (nodes \"node_of_test_make_nan\") made the first NaN, at element 6 of 8");
  ASSERT_EQ(take(weft_run_set_check_nans(run.get(), 0)), "");
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  EXPECT_TRUE(std::isnan(outputValues<float>(run, "y")[6]));
}

TEST(Executor, ObserverSeesEveryOp) {
  Loaded loaded = loadBias();
  RunHandle run = makeRun(loaded);
  struct Seen {
    std::vector<std::string> names;
    std::vector<std::vector<float>> values;
  } seen;
  ASSERT_EQ(take(weft_run_set_observer(
                run.get(),
                [](void *user, const WeftObservation *observation) {
                  auto *seen = static_cast<Seen *>(user);
                  seen->names.push_back(observation->name);
                  ASSERT_EQ(observation->output_count, 1);
                  const WeftTensorView &view = observation->outputs[0];
                  ASSERT_EQ(view.rank, 2);
                  EXPECT_EQ(view.dims[0], 3);
                  const float *data = static_cast<const float *>(view.data);
                  seen->values.emplace_back(data, data + 12);
                },
                &seen)),
            "");
  std::vector<float> values = ramp(12);
  FloatTensor x = floats({3, 4}, values);
  ASSERT_EQ(setInput(run, "x", x), "");
  ASSERT_EQ(take(weft_run_execute(run.get())), "");
  EXPECT_EQ(seen.names, (std::vector<std::string>{"test_add_bias_op", "test_double_op"}));
  EXPECT_EQ(seen.values[1], biasResult(values));
}

TEST(Executor, InspectionTellsWhatIsInside) {
  Loaded loaded = loadBias();
  WeftProgram *program = loaded.program.get();
  EXPECT_EQ(weft_program_entry_count(program), 1);
  EXPECT_STREQ(weft_program_entry_name(program, 0), "main");
  EXPECT_EQ(weft_program_entry_name(program, 1), nullptr);
  WeftTensorInfo info;
  ASSERT_EQ(take(weft_program_input(program, 0, 0, &info)), "");
  EXPECT_STREQ(info.name, "x");
  ASSERT_EQ(info.rank, 2);
  EXPECT_STREQ(info.dims[0].text, "N");
  EXPECT_EQ(info.dims[0].minimum, 1);
  EXPECT_EQ(info.dims[0].maximum, 64);
  EXPECT_EQ(info.dims[1].maximum, 4);
  EXPECT_NE(take(weft_program_output(program, 0, 1, &info)), "");
  ASSERT_EQ(take(weft_program_weight(program, 0, &info)), "");
  EXPECT_STREQ(info.name, "bias");
  const void *data;
  size_t size;
  ASSERT_EQ(take(weft_program_weight_data(program, 0, &data, &size)), "");
  EXPECT_EQ(size, 16u);
  EXPECT_EQ(static_cast<const float *>(data)[3], 4.0f);
  WeftOpInfo op;
  ASSERT_EQ(take(weft_program_op(program, 0, 0, 1, &op)), "");
  EXPECT_STREQ(op.kind, "launch");
  EXPECT_STREQ(op.implementation, "test_double");
  EXPECT_STREQ(op.source_nodes[0], "node_of_test_double");
  EXPECT_STREQ(weft_program_metadata(program, "producer"), "runtime test");
  EXPECT_EQ(weft_program_metadata(program, "nothing"), nullptr);
  WeftSymbolInfo symbol;
  ASSERT_EQ(take(weft_program_symbol(program, 0, &symbol)), "");
  EXPECT_STREQ(symbol.name, "N");
}

TEST(Executor, NullArgumentsAreErrors) {
  WeftProgram *program = nullptr;
  WeftRun *run = nullptr;
  EXPECT_EQ(takeCode(weft_program_load_file(nullptr, nullptr, &program)), WEFT_INVALID_ARGUMENT);
  EXPECT_EQ(takeCode(weft_run_create(nullptr, nullptr, &run)), WEFT_INVALID_ARGUMENT);
  EXPECT_EQ(takeCode(weft_run_execute(nullptr)), WEFT_INVALID_ARGUMENT);
  EXPECT_EQ(takeCode(weft_fence_wait(nullptr, 0)), WEFT_INVALID_ARGUMENT);
  EXPECT_EQ(takeCode(weft_program_load_file("/nonexistent/model.weft", nullptr, &program)), WEFT_NOT_FOUND);
  WeftLoadOptions options = {};
  EXPECT_EQ(takeCode(weft_program_load_memory("x", 1, &options, &program)), WEFT_INVALID_ARGUMENT);
  weft_program_free(nullptr);
  weft_run_free(nullptr);
  weft_status_free(nullptr);
  EXPECT_EQ(weft_status_code(nullptr), WEFT_OK);
}

TEST(Executor, FilesAndUnalignedMemoryLoadAlike) {
  BiasProgram bias;
  TemporaryFolder folder;
  ASSERT_TRUE(writeArtifact(folder.file("m.weft"), bias.program, bias.weights()).ok());
  WeftProgram *program = nullptr;
  WeftLoadOptions options;
  weft_load_options_init(&options);
  options.check_weights = 1;
  ASSERT_EQ(take(weft_program_load_file(folder.file("m.weft").c_str(), &options, &program)), "");
  weft_program_free(program);
  std::vector<uint8_t> bytes = readFile(folder.file("m.weft"));
  std::vector<uint8_t> shifted(bytes.size() + 65);
  AlignedBytes aligned(shifted);
  std::memcpy(aligned.data() + 1, bytes.data(), bytes.size());
  ASSERT_EQ(take(weft_program_load_memory(aligned.data() + 1, bytes.size(), &options, &program)), "");
  weft_program_free(program);
  bytes.back() ^= 1;
  writeFile(folder.file("m.weft"), bytes);
  std::string error = take(weft_program_load_file(folder.file("m.weft").c_str(), &options, &program));
  EXPECT_NE(error.find("weight \"bias\" does not match its hash"), std::string::npos) << error;
  EXPECT_EQ(error.find(folder.file("m.weft")), 0u) << error;
  error = take(weft_program_load_file(folder.path().c_str(), &options, &program));
  EXPECT_NE(error.find("not a regular file"), std::string::npos) << error;
}

TEST(Executor, CppWrapper) {
  BiasProgram bias;
  TemporaryFolder folder;
  ASSERT_TRUE(writeArtifact(folder.file("m.weft"), bias.program, bias.weights()).ok());
  weft::Program program(folder.file("m.weft"));
  weft::Run run(program);
  std::vector<float> values = ramp(8);
  run.setInput("x", values.data(), WEFT_ELEMENT_F32, {2, 4});
  run.execute();
  weft::TensorView y = run.output("y");
  EXPECT_EQ(y.dims, (std::vector<int64_t>{2, 4}));
  const float *data = static_cast<const float *>(y.data);
  EXPECT_EQ(std::vector<float>(data, data + 8), biasResult(values));
  try {
    run.setInput("x", values.data(), WEFT_ELEMENT_F32, {2, 5});
    FAIL();
  } catch (const weft::Error &error) {
    EXPECT_EQ(error.code(), WEFT_INVALID_ARGUMENT);
    EXPECT_STREQ(error.what(), "input \"x\": dimension 1 is 5, expected 4");
  }
  EXPECT_THROW(weft::Program("/nonexistent.weft"), weft::Error);
}

// Every allocation goes through the hook; failing any of them is an error and leaks nothing.
TEST(Executor, AllocatorHook) {
  struct Heap {
    int64_t live = 0;
    int64_t remaining = INT64_MAX;
    int64_t calls = 0;
  } heap;
  WeftLoadOptions options;
  weft_load_options_init(&options);
  options.allocator = {&heap,
                       [](void *user, size_t bytes, size_t alignment) -> void * {
                         auto *heap = static_cast<Heap *>(user);
                         ++heap->calls;
                         if (heap->remaining-- <= 0)
                           return nullptr;
                         heap->live += static_cast<int64_t>(bytes);
                         return ::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
                       },
                       [](void *user, void *pointer, size_t bytes, size_t) {
                         static_cast<Heap *>(user)->live -= static_cast<int64_t>(bytes);
                         ::free(pointer);
                       }};
  BiasProgram bias;
  auto serialized = serializeArtifact(bias.program, bias.weights());
  ASSERT_TRUE(serialized.ok());
  AlignedBytes bytes(*serialized);
  FloatTensor x = floats({8, 4}, ramp(32));
  bool succeeded = false;
  for (int64_t budget = 0; budget < 10 && !succeeded; ++budget) {
    heap.remaining = budget;
    WeftProgram *program = nullptr;
    ASSERT_EQ(take(weft_program_load_memory(bytes.data(), bytes.size(), &options, &program)), "");
    WeftRun *run = nullptr;
    ASSERT_EQ(take(weft_run_create(program, nullptr, &run)), "");
    WeftTensorView view = x.view();
    ASSERT_EQ(take(weft_run_set_input(run, "x", &view)), "");
    WeftStatus *status = weft_run_execute(run);
    succeeded = status == nullptr;
    if (!succeeded)
      EXPECT_EQ(weft_status_code(status), WEFT_RESOURCE_EXHAUSTED) << weft_status_message(status);
    weft_status_free(status);
    if (succeeded) {
      EXPECT_GE(budget, 2);
      // The same shapes again: nothing new.
      int64_t calls = heap.calls;
      for (int round = 0; round < 5; ++round)
        ASSERT_EQ(take(weft_run_execute(run)), "");
      EXPECT_EQ(heap.calls, calls);
    }
    weft_run_free(run);
    weft_program_free(program);
    EXPECT_EQ(heap.live, 0);
  }
  EXPECT_TRUE(succeeded);
}

} // namespace
