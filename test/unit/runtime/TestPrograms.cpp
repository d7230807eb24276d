// Builders of small programs, and handles that free themselves.
#include "test/unit/runtime/TestPrograms.h"

#include "runtime/Artifact/CpuFeatures.h"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace weft::runtime::test {

std::vector<uint8_t> readFile(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.good()) << path;
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
}

void writeFile(const std::string &path, const std::vector<uint8_t> &bytes) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  EXPECT_TRUE(stream.good()) << path;
}

const std::vector<uint8_t> &kernelImage() {
  static const std::vector<uint8_t> image = readFile(WEFT_TEST_KERNELS);
  return image;
}

const std::vector<uint8_t> &otherKernelImage() {
  static const std::vector<uint8_t> image = readFile(WEFT_TEST_OTHER_KERNELS);
  return image;
}

Program emptyProgram(int64_t minimum, int64_t maximum) {
  Program program;
  program.producer = "runtime test";
  program.modelName = "test";
  program.symbols.push_back({"N", minimum, maximum, SymbolSource::InputDimension});
  Target target;
  target.architecture = std::string(hostArchitecture());
  target.name = "test target";
  target.kernels = kernelImage();
  program.targets.push_back(std::move(target));
  return program;
}

Expression symbolN() { return Expression::symbol(0); }
Expression constant(int64_t value) { return Expression(value); }
Expression times(Expression left, const Expression &right) {
  return Expression::binary(ExpressionOpcode::Multiply, std::move(left), right);
}

namespace {

Buffer makeBuffer(BufferKind kind, uint32_t index, ElementType type, std::vector<Expression> dims) {
  Buffer buffer;
  buffer.kind = kind;
  buffer.index = index;
  buffer.type = type;
  buffer.dims = std::move(dims);
  return buffer;
}

} // namespace

Buffer inputBuffer(uint32_t index, ElementType type, std::vector<Expression> dims) {
  return makeBuffer(BufferKind::Input, index, type, std::move(dims));
}
Buffer outputBuffer(uint32_t index, ElementType type, std::vector<Expression> dims) {
  return makeBuffer(BufferKind::Output, index, type, std::move(dims));
}
Buffer weightBuffer(uint32_t index, ElementType type, std::vector<Expression> dims) {
  return makeBuffer(BufferKind::Weight, index, type, std::move(dims));
}
Buffer stateBuffer(uint32_t index, ElementType type, std::vector<Expression> dims) {
  return makeBuffer(BufferKind::State, index, type, std::move(dims));
}
Buffer arenaBuffer(Expression offset, ElementType type, std::vector<Expression> dims) {
  Buffer buffer = makeBuffer(BufferKind::Arena, 0, type, std::move(dims));
  buffer.offset = std::move(offset);
  return buffer;
}

Op launchOp(std::string kernel, std::vector<uint32_t> inputs, std::vector<uint32_t> outputs, Expression tiles,
            Expression scratch) {
  Launch launch;
  launch.kernel = kernel;
  launch.inputs = std::move(inputs);
  launch.outputs = std::move(outputs);
  launch.tiles = std::move(tiles);
  launch.scratchBytes = std::move(scratch);
  Op op;
  op.name = kernel + "_op";
  op.sourceNodes = {"node_of_" + kernel};
  op.body = std::move(launch);
  return op;
}

BiasProgram::BiasProgram(int64_t minimum, int64_t maximum) : program(emptyProgram(minimum, maximum)) {
  std::vector<Expression> dims = {symbolN(), 4};
  program.weights.push_back({"bias", ElementType::F32, {4}, 0, 0, {0, 0}});
  Entry entry;
  entry.inputs = {{"x", ElementType::F32, dims}};
  entry.outputs = {{"y", ElementType::F32, dims}};
  Variant variant;
  variant.buffers = {inputBuffer(0, ElementType::F32, dims), weightBuffer(0, ElementType::F32, {4}),
                     arenaBuffer(0, ElementType::F32, dims), outputBuffer(0, ElementType::F32, dims)};
  variant.arenaBytes = times(symbolN(), 16);
  variant.blocks.emplace_back();
  variant.blocks[0].ops = {launchOp("test_add_bias", {0, 1}, {2}, symbolN()),
                           launchOp("test_double", {2}, {3}, symbolN())};
  entry.variants.push_back(std::move(variant));
  program.entries.push_back(std::move(entry));
}

AlignedBytes::AlignedBytes(const std::vector<uint8_t> &bytes) : storage_(bytes.size() + 64), size_(bytes.size()) {
  auto address = reinterpret_cast<uintptr_t>(storage_.data());
  data_ = storage_.data() + (64 - address % 64) % 64;
  if (!bytes.empty())
    std::memcpy(data_, bytes.data(), bytes.size());
}

std::string take(WeftStatus *status) {
  std::string message = status ? weft_status_message(status) : "";
  if (status && message.empty())
    message = "an error without a message";
  weft_status_free(status);
  return message;
}

WeftStatusCode takeCode(WeftStatus *status) {
  WeftStatusCode code = weft_status_code(status);
  weft_status_free(status);
  return code;
}

Loaded load(const Program &program, const std::vector<WeightBytes> &weights, int32_t threads, bool useLibraries,
            WeftLogFunction log, void *logUser) {
  Loaded loaded;
  auto bytes = serializeArtifact(program, weights);
  if (!bytes.ok()) {
    loaded.error = bytes.status().message();
    return loaded;
  }
  loaded.bytes = std::make_unique<AlignedBytes>(*bytes);
  WeftLoadOptions options;
  weft_load_options_init(&options);
  options.use_libraries = useLibraries;
  options.log = log;
  options.log_user = logUser;
  WeftThreadPool *pool = nullptr;
  if (threads > 0)
    EXPECT_EQ(take(weft_thread_pool_create(threads, &pool)), "");
  options.thread_pool = pool;
  WeftProgram *handle = nullptr;
  loaded.error = take(weft_program_load_memory(loaded.bytes->data(), loaded.bytes->size(), &options, &handle));
  loaded.program.reset(handle);
  weft_thread_pool_free(pool);
  return loaded;
}

RunHandle makeRun(const Loaded &loaded, const char *entry) {
  EXPECT_EQ(loaded.error, "");
  WeftRun *run = nullptr;
  EXPECT_EQ(take(weft_run_create(loaded.program.get(), entry, &run)), "");
  return RunHandle(run);
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "weft-test-XXXXXX").string();
  path_ = ::mkdtemp(pattern.data());
}

TemporaryFolder::~TemporaryFolder() { std::filesystem::remove_all(path_); }

std::vector<std::string> TemporaryFolder::list() const {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(path_))
    names.push_back(entry.path().filename().string());
  return names;
}

} // namespace weft::runtime::test
