// weft-run on simulated GPUs, as a user meets it.
#include "test/unit/runtime/CudaPrograms.h"

#include "runtime/Data/Npy.h"

#include <cstdio>
#include <sys/wait.h>

using namespace weft::runtime;
using namespace weft::runtime::test;

namespace {

// The exit status; `output` has both streams.
int weftRun(const std::string &arguments, std::string &output, const std::string &environment = "") {
  FILE *pipe = ::popen(("WEFT_SIMULATOR_LIBRARY=" + std::string(SimulatedGpus::library()) + " " + environment + " " +
                        WEFT_RUN + " 2>&1 " + arguments)
                           .c_str(),
                       "r");
  EXPECT_NE(pipe, nullptr);
  output.clear();
  char buffer[4096];
  for (size_t size; (size = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    output.append(buffer, size);
  int status = ::pclose(pipe);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

class CudaTool : public testing::Test {
protected:
  void SetUp() override {
    CudaBiasProgram bias;
    model = folder.file("model.weft");
    ASSERT_TRUE(writeArtifact(model, bias.program, bias.weights()).ok());
    auto x = makeArray(ElementType::F32, {2, 4});
    ASSERT_TRUE(x.ok());
    for (int i = 0; i < 8; ++i)
      static_cast<float *>(x->data.data())[i] = static_cast<float>(i);
    ASSERT_TRUE(writeNpy(folder.file("x.npy"), *x).ok());
    files = " --input x=" + folder.file("x.npy") + " --output y=" + folder.file("y.npy") + " ";
  }
  TemporaryFolder folder;
  std::string model, files, output;
};

TEST_F(CudaTool, RunsOnSimulatedGpus) {
  for (const char *device : {"--device=cuda --gpu-sim", "--device=cuda:1 --gpu-sim=2 --sim-seed=3 --repeat 4",
                             "--device=cuda:0 --gpu-sim --sim-architecture=80 --profile --check-nans"}) {
    EXPECT_EQ(weftRun(model + files + device + " --sim-check=races,uninitialised,bounds", output), 0) << output;
    auto y = readNpy(folder.file("y.npy"));
    ASSERT_TRUE(y.ok());
    const auto *data = reinterpret_cast<const float *>(y->data.data());
    EXPECT_EQ(std::vector<float>(data, data + 8), (std::vector<float>{2, 6, 10, 14, 10, 14, 18, 22}));
    ::remove(folder.file("y.npy").c_str());
  }
}

TEST_F(CudaTool, FindingsOfTheSimulatorAreItsExitStatus) {
  CudaBiasProgram crashing;
  Op &op = crashing.program.entries[0].variants[0].blocks[0].ops[1];
  op = cudaLaunchOp("crash", launchIn(op).inputs, launchIn(op).outputs, symbolN());
  ASSERT_TRUE(writeArtifact(model, crashing.program, crashing.weights()).ok());
  EXPECT_EQ(weftRun(model + files + "--device=cuda --gpu-sim", output), 86) << output;
  EXPECT_NE(output.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << output;
  EXPECT_NE(output.find("kernel crash"), std::string::npos) << output;
  EXPECT_EQ(output.find("leak:"), std::string::npos) << output;
}

TEST_F(CudaTool, MistakesAreNamed) {
  const std::pair<const char *, const char *> cases[] = {
      {"--gpu-sim", "give --device=cuda with it"},
      {"--device=cuda --gpu-sim=0", "not in range 1 to 64"},
      {"--device=cuda --gpu-sim --sim-check=luck", "'luck' is none of races, uninitialised, bounds, counters, none"},
      {"--device=cuda:1 --gpu-sim", "there is no GPU cuda:1"},
      {"--device=cuda --gpu-sim --sim-architecture=75", "the artifact was compiled for \"cuda:sm_80\""},
      {"--device=abacus", "there is no device \"abacus\""},
      {"", "compiled for \"cuda:sm_80\" (cuda, sm_80); this machine is"}};
  for (auto [arguments, message] : cases) {
    EXPECT_EQ(weftRun(model + files + arguments, output), 1) << arguments << "\n" << output;
    EXPECT_NE(output.find(message), std::string::npos) << arguments << "\n" << output;
  }
  EXPECT_EQ(weftRun(model + files + "--device=cuda", output, "WEFT_CUDA_DRIVER=/nowhere/libcuda.so.1"), 1) << output;
  EXPECT_NE(output.find("no CUDA driver: looked for /nowhere/libcuda.so.1"), std::string::npos) << output;
  EXPECT_EQ(folder.list().size(), 2u);
}

} // namespace
