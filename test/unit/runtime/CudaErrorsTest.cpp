// What goes wrong on a GPU: each failure says what, gives everything back, and leaves the runtime usable.
#include "test/unit/runtime/CudaPrograms.h"

#include <cstdlib>
#include <functional>

using namespace weft::runtime;
using namespace weft::runtime::test;

namespace {

bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

std::string runRows(const RunHandle &run, const std::vector<float> &x) {
  FloatTensor input = floats({static_cast<int64_t>(x.size() / 4), 4}, x);
  std::string error = setInput(run, "x", input);
  return error.empty() ? take(weft_run_execute(run.get())) : error;
}

// A chain of which one op is another kernel.
Program chainWith(const std::string &kernel, size_t at = 1) {
  Program program = cudaChain(4);
  Op &op = program.entries[0].variants[0].blocks[0].ops[at];
  op = cudaLaunchOp(kernel, launchIn(op).inputs, launchIn(op).outputs, symbolN());
  return program;
}

TEST(CudaErrors, NoDriverNoGpuNoSuchGpu) {
  CudaBiasProgram bias;
  CudaLoadOptions options;
  options.driver = "/nowhere/libcuda.so.1";
  std::string error = loadCuda(bias.program, bias.weights(), options).error;
  EXPECT_TRUE(contains(error, "device \"cuda\": no CUDA driver: looked for /nowhere/libcuda.so.1 (")) << error;
  EXPECT_TRUE(contains(error, "Install NVIDIA's driver")) << error;
  // A library that is no driver.
  options.driver = "libz.so.1";
  error = loadCuda(bias.program, bias.weights(), options).error;
  EXPECT_TRUE(contains(error, "is too old: it is for CUDA 0.0 and lacks cuInit")) << error;
  options = {};
  {
    SimulatedGpus gpus({{"DEVICES", "0"}});
    error = loadCuda(bias.program, bias.weights()).error;
    EXPECT_TRUE(contains(error, "finds no GPU")) << error;
  }
  SimulatedGpus gpus({{"DEVICES", "2"}});
  options.device = "cuda:2";
  error = loadCuda(bias.program, bias.weights(), options).error;
  EXPECT_TRUE(contains(error, "there is no GPU cuda:2; the CUDA driver")) << error;
  EXPECT_TRUE(contains(error, "lists cuda:0 (") && contains(error, "cuda:1 (")) << error;
  for (const char *name : {"cuda:", "cuda:x", "cuda:-1", "cuda:1 ", "CUDA", "gpu", "cuda:99999"}) {
    options.device = name;
    EXPECT_TRUE(contains(loadCuda(bias.program, bias.weights(), options).error, "there is no device")) << name;
  }
}

TEST(CudaErrors, TheEnvironmentNamesTheDriver) {
  SimulatedGpus gpus;
  CudaBiasProgram bias;
  auto bytes = serializeArtifact(bias.program, bias.weights());
  ASSERT_TRUE(bytes.ok());
  AlignedBytes aligned(*bytes);
  WeftLoadOptions options;
  weft_load_options_init(&options);
  options.device = "cuda:0";
  WeftProgram *program = nullptr;
  ::setenv("WEFT_CUDA_DRIVER", SimulatedGpus::library(), 1);
  EXPECT_EQ(take(weft_program_load_memory(aligned.data(), aligned.size(), &options, &program)), "");
  ::unsetenv("WEFT_CUDA_DRIVER");
  weft_program_free(program);
}

TEST(CudaErrors, AnArtifactWithoutThisGpusTarget) {
  SimulatedGpus gpus({{"ARCHITECTURE", "80"}});
  CudaBiasProgram newer("sm_90");
  std::string error = loadCuda(newer.program, newer.weights()).error;
  EXPECT_TRUE(contains(error, "the artifact was compiled for \"cuda:sm_90\" (cuda, sm_90); this GPU is cuda:0 ("))
      << error;
  EXPECT_TRUE(contains(error, "weft compile --target=cuda:sm_80")) << error;
  BiasProgram onCpu;
  error = loadCuda(onCpu.program, onCpu.weights()).error;
  EXPECT_TRUE(contains(error, "compiled for \"test target\" (cpu")) << error;
  // And the other way round.
  CudaLoadOptions options;
  options.device = "cpu";
  error = loadCuda(newer.program, newer.weights(), options).error;
  EXPECT_TRUE(contains(error, "compiled for \"cuda:sm_90\" (cuda, sm_90); this machine is")) << error;
}

TEST(CudaErrors, TheNewestTargetThatFitsIsTaken) {
  for (auto [gpu, expected] : {std::pair("80", "cuda:sm_80"), {"90", "cuda:sm_90"}, {"100", "cuda:sm_90"}}) {
    SimulatedGpus gpus({{"ARCHITECTURE", gpu}});
    CudaBiasProgram bias("sm_80");
    for (const char *architecture : {"sm_90", "sm_103"}) {
      Target target = CudaBiasProgram(architecture).program.targets[0];
      Variant variant = bias.program.entries[0].variants[0];
      variant.target = static_cast<uint32_t>(bias.program.targets.size());
      bias.program.targets.push_back(target);
      bias.program.entries[0].variants.push_back(variant);
    }
    // A cubin that the simulated GPU does not take: the PTX beside it is assembled.
    bias.program.targets[1].cubin = std::vector<uint8_t>(64, 0);
    std::memcpy(bias.program.targets[1].cubin.data(),
                "\x7f"
                "ELF\2\1",
                6);
    Loaded loaded = loadCuda(bias.program, bias.weights());
    ASSERT_EQ(loaded.error, "");
    EXPECT_STREQ(weft_program_metadata(loaded.program.get(), "target"), expected);
    RunHandle run = makeRun(loaded);
    EXPECT_EQ(runRows(run, {1, 2, 3, 4}), "");
    EXPECT_EQ(outputValues<float>(run, "y"), (std::vector<float>{4, 8, 12, 16}));
  }
}

TEST(CudaErrors, KernelsThatDoNotFitTheirLaunch) {
  SimulatedGpus gpus;
  auto refusal = [](const std::function<void(Program &, Launch &)> &change) {
    CudaBiasProgram bias;
    change(bias.program, launchIn(bias.program.entries[0].variants[0].blocks[0].ops[1]));
    return loadCuda(bias.program, bias.weights()).error;
  };
  std::string error = refusal([](Program &, Launch &launch) { launch.kernel = "missing"; });
  EXPECT_TRUE(contains(error, "entry \"main\", op \"double_op\": the artifact has no kernel \"missing\"")) << error;
  error = refusal([](Program &, Launch &launch) { launch.inputs.push_back(1); });
  EXPECT_TRUE(contains(error, "kernel \"double\" does not take the 10 arguments of 8 bytes")) << error;
  error = refusal([](Program &, Launch &launch) { launch.outputs = {}; });
  EXPECT_TRUE(contains(error, "does not take the 8 arguments")) << error;
  error = refusal([](Program &, Launch &launch) { launch.sharedBytes = 227 * 1024; });
  EXPECT_EQ(error, "");
  error = refusal([](Program &program, Launch &) {
    std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry add_bias() { nonsense; }\n";
    program.targets[0].kernels.assign(text.c_str(), text.c_str() + text.size() + 1);
  });
  EXPECT_TRUE(contains(error, "the kernels cannot be loaded on cuda:0 (") && contains(error, "nonsense")) << error;
  EXPECT_EQ(gpus.leaks(), "");
}

TEST(CudaErrors, FaultsOfKernelsNameTheOp) {
  SimulatedGpus gpus;
  {
    Loaded loaded = loadCuda(chainWith("refuse_negative"));
    ASSERT_EQ(loaded.error, "");
    RunHandle run = makeRun(loaded);
    for (int round = 0; round < 4; ++round) { // op by op, captured, and as a graph
      EXPECT_EQ(runRows(run, {0, 0, 0, 0}), "");
      EXPECT_EQ(runRows(run, {0, -5, 0, 0}),
                "op \"refuse_negative_op\" (nodes \"node_of_refuse_negative\"): an index is out of range");
    }
    // Where several find one, the first that ran is named.
    Program both = chainWith("refuse_negative", 2);
    Op &op = both.entries[0].variants[0].blocks[0].ops[0];
    op = cudaLaunchOp("refuse_all", launchIn(op).inputs, launchIn(op).outputs, symbolN());
    Loaded second = loadCuda(both);
    ASSERT_EQ(second.error, "");
    RunHandle other = makeRun(second);
    for (int round = 0; round < 3; ++round)
      EXPECT_TRUE(contains(runRows(other, {-9, -9, -9, -9}), "op \"refuse_all_op\"")) << round;
  }
  EXPECT_EQ(gpus.faults(), "");
  EXPECT_EQ(gpus.leaks(), "");
}

// A kernel that reads where nothing is ends the context for all; a program that is loaded anew works.
TEST(CudaErrors, StickyErrorsEndWithTheirPrograms) {
  SimulatedGpus gpus;
  CudaBiasProgram bias;
  for (int round = 0; round < 3; ++round) {
    {
      Loaded crashing = loadCuda(chainWith("crash")), bystander = loadCuda(bias.program, bias.weights());
      ASSERT_EQ(crashing.error, "");
      ASSERT_EQ(bystander.error, "");
      RunHandle run = makeRun(crashing), other = makeRun(bystander), before = makeRun(bystander);
      EXPECT_EQ(runRows(before, {1, 1, 1, 1}), "");
      std::string error = runRows(run, {1, 1, 1, 1});
      EXPECT_TRUE(contains(error, "one of the kernels failed; to see which, run with the check for NaNs")) << error;
      EXPECT_TRUE(contains(error, "CUDA_ERROR_ILLEGAL_ADDRESS")) << error;
      error = runRows(other, {1, 1, 1, 1});
      EXPECT_TRUE(contains(error, "cuda:0 (") && contains(error, "failed earlier")) << error;
      EXPECT_TRUE(contains(error, "free them and load them again")) << error;
      EXPECT_TRUE(contains(loadCuda(bias.program, bias.weights()).error, "failed earlier"));
    }
    EXPECT_EQ(gpus.leaks(), "");
    Loaded again = loadCuda(bias.program, bias.weights());
    ASSERT_EQ(again.error, "");
    RunHandle run = makeRun(again);
    EXPECT_EQ(runRows(run, {1, 2, 3, 4}), "");
    EXPECT_EQ(outputValues<float>(run, "y"), (std::vector<float>{4, 8, 12, 16}));
  }
  EXPECT_EQ(gpus.leaks(), "");
}

TEST(CudaErrors, AWatchedRunNamesTheKernelThatCrashed) {
  SimulatedGpus gpus;
  {
    Loaded loaded = loadCuda(chainWith("crash"));
    ASSERT_EQ(loaded.error, "");
    RunHandle run = makeRun(loaded);
    ASSERT_EQ(take(weft_run_set_check_nans(run.get(), 1)), "");
    std::string error = runRows(run, {1, 1, 1, 1});
    EXPECT_TRUE(contains(error, "op \"crash_op\" (nodes \"node_of_crash\"): CUDA_ERROR_ILLEGAL_ADDRESS")) << error;
  }
  EXPECT_EQ(gpus.leaks(), "");
}

// The n-th launch fails, wherever it is: alone, in a graph, in a loop.
TEST(CudaErrors, FailingLaunchesAnywhere) {
  for (int launch = 1; launch <= 9; ++launch) {
    SimulatedGpus gpus({{"INJECT", "launch-failure:" + std::to_string(launch)}});
    {
      Loaded loaded = loadCuda(cudaChain(4));
      ASSERT_EQ(loaded.error, "");
      RunHandle run = makeRun(loaded);
      std::string error;
      for (int step = 0; step < 3 && error.empty(); ++step)
        error = runRows(run, {1, 1, 1, 1});
      EXPECT_TRUE(contains(error, "CUDA_ERROR_LAUNCH_FAILED")) << launch << ": " << error;
    }
    EXPECT_EQ(gpus.leaks(), "") << launch;
    Loaded again = loadCuda(cudaChain(4));
    ASSERT_EQ(again.error, "");
    RunHandle run = makeRun(again);
    EXPECT_EQ(runRows(run, {1, 1, 1, 1}), "");
    EXPECT_EQ(outputValues<float>(run, "y"), std::vector<float>(4, 5.0f));
  }
}

TEST(CudaErrors, ADeviceThatNeverAnswers) {
  SimulatedGpus gpus({{"DEVICES", "2"}, {"INJECT", "dead-device:1"}});
  CudaBiasProgram bias;
  CudaLoadOptions dead;
  dead.device = "cuda:1";
  for (int round = 0; round < 2; ++round)
    EXPECT_TRUE(contains(loadCuda(bias.program, bias.weights(), dead).error, "CUDA_ERROR_LAUNCH_TIMEOUT"));
  Loaded loaded = loadCuda(bias.program, bias.weights());
  ASSERT_EQ(loaded.error, "");
  EXPECT_EQ(runRows(makeRun(loaded), {1, 2, 3, 4}), "");
  loaded.program.reset();
  EXPECT_EQ(gpus.leaks(), "");
}

// Each allocation of loading and running once finds no memory.
TEST(CudaErrors, OutOfMemoryAtEveryAllocation) {
  CudaBiasProgram bias;
  int failures = 0;
  for (int allocation = 1; allocation <= 40; ++allocation) {
    SimulatedGpus gpus({{"INJECT", "out-of-memory:" + std::to_string(allocation)}});
    bool failed = false;
    {
      Loaded loaded = loadCuda(bias.program, bias.weights());
      if (!loaded.error.empty()) {
        failed = true;
        EXPECT_TRUE(contains(loaded.error, "has no memory for weight \"bias\" of 16 bytes")) << loaded.error;
      } else {
        RunHandle run = makeRun(loaded);
        std::string error = runRows(run, {1, 2, 3, 4});
        failed = !error.empty();
        if (failed) {
          EXPECT_TRUE(contains(error, "no memory") && contains(error, "bytes")) << error;
          EXPECT_EQ(runRows(run, {1, 2, 3, 4}), "") << allocation;
        }
        EXPECT_EQ(outputValues<float>(run, "y"), (std::vector<float>{4, 8, 12, 16}));
      }
    }
    EXPECT_EQ(gpus.leaks(), "") << allocation;
    failures += failed;
    if (!failed)
      break;
  }
  EXPECT_GE(failures, 6);
  EXPECT_LT(failures, 40);
}

TEST(CudaErrors, OutOfMemorySaysWhatNeedsIt) {
  SimulatedGpus gpus({{"MEMORY_MB", "64"}});
  {
    CudaBiasProgram bias("sm_80", int64_t(1) << 24);
    Loaded loaded = loadCuda(bias.program, bias.weights());
    ASSERT_EQ(loaded.error, "");
    RunHandle run = makeRun(loaded);
    constexpr int64_t kRows = int64_t(3) << 19; // 24 MiB each of input, arena and output
    std::string error = runRows(run, std::vector<float>(static_cast<size_t>(kRows) * 4));
    EXPECT_TRUE(contains(error, "has no memory for the run's arena of 25165824 bytes: ")) << error;
    EXPECT_TRUE(contains(error, "of its 67108864 bytes are free. This run needs 16 bytes of weights, 25165824 of "
                                "inputs, 25165824 of outputs, 25165824 of arena; the arena is fullest at op "
                                "\"add_bias_op\", where 25165824 bytes are in use: 25165824 of \"add_bias_op\""))
        << error;
    // Smaller ones still run.
    EXPECT_EQ(runRows(run, {1, 2, 3, 4}), "");
    EXPECT_EQ(outputValues<float>(run, "y"), (std::vector<float>{4, 8, 12, 16}));
  }
  EXPECT_EQ(gpus.leaks(), "");
}

TEST(CudaErrors, OptionsOfOlderPrograms) {
  SimulatedGpus gpus;
  BiasProgram onCpu;
  auto bytes = serializeArtifact(onCpu.program, onCpu.weights());
  ASSERT_TRUE(bytes.ok());
  AlignedBytes aligned(*bytes);
  WeftLoadOptions options;
  weft_load_options_init(&options);
  options.struct_size = offsetof(WeftLoadOptions, cuda_driver);
  options.cuda_driver = reinterpret_cast<const char *>(1); // not theirs to read
  WeftProgram *program = nullptr;
  EXPECT_EQ(take(weft_program_load_memory(aligned.data(), aligned.size(), &options, &program)), "");
  weft_program_free(program);
  options.struct_size -= 8;
  EXPECT_TRUE(
      contains(take(weft_program_load_memory(aligned.data(), aligned.size(), &options, &program)), "have size"));
}

} // namespace
