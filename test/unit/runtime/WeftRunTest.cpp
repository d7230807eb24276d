// weft-run as a user meets it: files in, files out, and errors.
#include "test/unit/runtime/TestPrograms.h"

#include "runtime/Data/Npy.h"
#include "runtime/Data/Npz.h"

#include <chrono>
#include <cstdio>
#include <sys/wait.h>

using namespace weft::runtime;
using namespace weft::runtime::test;

namespace {

struct Result {
  int status = -1;
  std::string output; // both streams
};

Result weftRun(const std::string &arguments) {
  Result result;
  FILE *pipe = ::popen((std::string(WEFT_RUN) + " 2>&1 " + arguments).c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  char buffer[4096];
  size_t size;
  while ((size = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0)
    result.output.append(buffer, size);
  int status = ::pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return result;
}

class WeftRun : public ::testing::Test {
protected:
  void SetUp() override {
    BiasProgram bias;
    model = folder.file("model.weft");
    ASSERT_TRUE(writeArtifact(model, bias.program, bias.weights()).ok());
    auto x = makeArray(ElementType::F32, {2, 4});
    ASSERT_TRUE(x.ok());
    for (int i = 0; i < 8; ++i)
      static_cast<float *>(x->data.data())[i] = static_cast<float>(i);
    ASSERT_TRUE(writeNpy(folder.file("x.npy"), *x).ok());
    NamedArrays arrays;
    arrays.emplace_back("x", std::move(*x));
    ASSERT_TRUE(writeNpz(folder.file("x.npz"), arrays).ok());
  }
  void expectError(const std::string &arguments, const std::string &message) {
    std::vector<std::string> before = folder.list();
    Result result = weftRun(arguments);
    EXPECT_EQ(result.status, 1) << arguments << "\n" << result.output;
    EXPECT_EQ(result.output.find("weft-run: error: "), 0u) << result.output;
    EXPECT_NE(result.output.find(message), std::string::npos) << "expected: " << message << "\ngot: " << result.output;
    std::vector<std::string> after = folder.list();
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    EXPECT_EQ(before, after) << arguments;
  }
  static std::vector<float> values(const Array &array) {
    const auto *data = static_cast<const float *>(array.data.data());
    return std::vector<float>(data, data + array.elementCount());
  }

  TemporaryFolder folder;
  std::string model;
  const std::vector<float> expected = {2, 6, 10, 14, 10, 14, 18, 22};
};

TEST_F(WeftRun, NpyInAndOut) {
  Result result = weftRun("--input x=" + folder.file("x.npy") + " " + model + " --output y=" + folder.file("y.npy"));
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(result.output, "");
  auto y = readNpy(folder.file("y.npy"));
  ASSERT_TRUE(y.ok());
  EXPECT_EQ(y->dims, (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(values(*y), expected);
}

TEST_F(WeftRun, NpzInAndOut) {
  Result result = weftRun(model + " --inputs " + folder.file("x.npz") + " --outputs " + folder.file("y.npz"));
  ASSERT_EQ(result.status, 0) << result.output;
  auto y = readNpz(folder.file("y.npz"));
  ASSERT_TRUE(y.ok());
  ASSERT_EQ(y->size(), 1u);
  EXPECT_EQ((*y)[0].first, "y");
  EXPECT_EQ(values((*y)[0].second), expected);
}

TEST_F(WeftRun, PrintsASummaryWithoutFiles) {
  Result result = weftRun(model + " --input x=" + folder.file("x.npy"));
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.output, "y: f32[2,4] 2 6 10 14 10 14 ...\n");
}

TEST_F(WeftRun, RandomInputsAreReproducible) {
  std::string first, other;
  for (const char *seed : {"7", "7", "8"}) {
    Result result = weftRun(model + " --random-inputs --shape N=3 --threads 2 --seed " + seed +
                            " --output y=" + folder.file("y.npy"));
    ASSERT_EQ(result.status, 0) << result.output;
    auto y = readNpy(folder.file("y.npy"));
    ASSERT_TRUE(y.ok());
    EXPECT_EQ(y->dims, (std::vector<int64_t>{3, 4}));
    std::vector<uint8_t> bytes = readFile(folder.file("y.npy"));
    std::string text(bytes.begin(), bytes.end());
    if (first.empty())
      first = text;
    else
      EXPECT_EQ(text == first, std::string(seed) == "7");
  }
}

TEST_F(WeftRun, ListProfileRepeatCheckAndHelp) {
  Result list = weftRun(model + " --list");
  EXPECT_EQ(list.status, 0);
  EXPECT_NE(list.output.find("input   x                        f32[N,4]"), std::string::npos) << list.output;
  EXPECT_NE(list.output.find("symbol N from 1 to 64"), std::string::npos) << list.output;
  Result profile = weftRun(model + " --random-inputs --repeat 3 --profile --check --check-nans");
  EXPECT_EQ(profile.status, 0) << profile.output;
  EXPECT_NE(profile.output.find("3 runs: median"), std::string::npos) << profile.output;
  EXPECT_NE(profile.output.find("node_of_test_double"), std::string::npos) << profile.output;
  Result help = weftRun("--help");
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.output.find("Examples:"), std::string::npos);
  EXPECT_EQ(weftRun("--version").status, 0);
}

TEST_F(WeftRun, Errors) {
  std::string x = folder.file("x.npy"), in = " --input x=" + x;
  expectError("", "artifact is required");
  expectError(model + " --frobnicate", "--frobnicate");
  expectError(folder.file("none.weft"), "No such file");
  expectError(x, "not a Weft artifact");
  writeFile(folder.file("empty.weft"), {});
  expectError(folder.file("empty.weft"), "the file is empty");
  expectError(model, "no value for input \"x\"");
  expectError(model + " --input z=" + x, "which the model does not have; its inputs are \"x\"");
  expectError(model + " --input x", "'x' is not of the form NAME=FILE");
  expectError(model + " --input x=" + folder.file("none.npy"), "No such file");
  expectError(model + " --input x=" + model, "it is not a .npy file");
  expectError(model + in + " --entry train", "no entry point \"train\"; it has \"main\"");
  expectError(model + in + " --output z=" + folder.file("z.npy"), "no output \"z\"; its outputs are \"y\"");
  expectError(model + in + " --output y=" + folder.file("no/y.npy"), "No such file or directory");
  expectError(model + in + " --output y=" + folder.path(), "it is a folder");
  expectError(model + in + " --output y=/dev/full", "No space left on device");
  expectError(model + in + " --outputs /dev/full", "No space left on device");
  // The first file is taken back when the second cannot be written.
  expectError(model + in + " --output y=" + folder.file("y.npy") + " --outputs /dev/full", "No space left on device");
  expectError(model + in + " >/dev/full", "standard output");
  expectError(model + " --random-inputs --shape M=3", "no symbolic dimension 'M'; it has N (1 to 64)");
  expectError(model + " --random-inputs --shape N=65", "expected N between 1 and 64");
  expectError(model + " --random-inputs --shape N=x", "'x' is not a size");
  expectError(model + in + " --threads -1", "--threads");
  auto integers = makeArray(ElementType::I32, {2, 4});
  ASSERT_TRUE(integers.ok() && writeNpy(folder.file("i.npy"), *integers).ok());
  expectError(model + " --input x=" + folder.file("i.npy"), "element type is i32, expected f32");
  auto wide = makeArray(ElementType::F32, {2, 5});
  ASSERT_TRUE(wide.ok() && writeNpy(folder.file("w.npy"), *wide).ok());
  expectError(model + " --input x=" + folder.file("w.npy"), "input \"x\": dimension 1 is 5, expected 4");
  std::vector<uint8_t> bytes = readFile(model);
  bytes.back() ^= 1;
  writeFile(folder.file("damaged.weft"), bytes);
  EXPECT_EQ(weftRun(folder.file("damaged.weft") + in).status, 0);
  expectError(folder.file("damaged.weft") + in + " --check", "weight \"bias\" does not match its hash");
  bytes.resize(5000);
  writeFile(folder.file("damaged.weft"), bytes);
  expectError(folder.file("damaged.weft") + in, "damaged");
}

// From start to result; generous against a busy machine, the fastest of several counts.
TEST_F(WeftRun, SmallModelTakesUnderTwentyMilliseconds) {
  double fastest = 1e9;
  for (int round = 0; round < 10; ++round) {
    auto start = std::chrono::steady_clock::now();
    ASSERT_EQ(weftRun(model + " --input x=" + folder.file("x.npy")).status, 0);
    fastest =
        std::min(fastest, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::printf("start to result, with the shell: %.1f ms\n", fastest);
#if !defined(__SANITIZE_ADDRESS__) && !(defined(__has_feature) && __has_feature(address_sanitizer))
  EXPECT_LT(fastest, 20.0);
#endif
}

} // namespace
