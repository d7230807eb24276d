// Artifacts: what is written is read back, and nothing damaged is accepted.
#include "test/unit/runtime/TestPrograms.h"

#include "runtime/Artifact/ArtifactFormat.h"
#include "runtime/Artifact/ArtifactReader.h"
#include "runtime/Artifact/CudaArchitecture.h"
#include "runtime/Artifact/Expressions.h"
#include "runtime/Artifact/Hash.h"

#include <functional>
#include <random>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace weft::runtime;
using namespace weft::runtime::test;

namespace {

std::vector<uint8_t> biasArtifact() {
  BiasProgram bias;
  auto bytes = serializeArtifact(bias.program, bias.weights());
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return *bytes;
}

Status readBytes(const std::vector<uint8_t> &bytes) {
  AlignedBytes aligned(bytes);
  Artifact artifact;
  return readArtifact(aligned.data(), aligned.size(), artifact);
}

// Every kind of op and field, with values that differ from their defaults.
Program fullProgram() {
  Program program = emptyProgram(2, 9);
  program.symbols.push_back({"K", 0, 5, SymbolSource::Data});
  program.metadata = {{"key", "value"}, {"empty", ""}};
  program.numerics = "fast";
  program.kernelMessages = {"first", "second"};
  program.targets[0].features = {};
  program.weights = {{"w", ElementType::F32, {3, 3, 2, 4}, 0, 0, {0, 0}},
                     {"start", ElementType::I64, {}, 0, 0, {0, 0}}};
  program.states = {{"position", ElementType::I64, {}, 1}, {"cache", ElementType::F16, {2, 3}, -1}};
  Entry entry;
  entry.name = "predict";
  Expression n = symbolN();
  entry.inputs = {{"x", ElementType::F32, {n, 6, 6, 2}}, {"flag", ElementType::I1, {}}};
  entry.outputs = {{"y", ElementType::F32, {n, 6, 6, 4}}};
  Variant variant;
  variant.ranges = {{0, 3, 8}};
  variant.arenaBytes = times(n, 64);
  variant.buffers = {inputBuffer(0, ElementType::F32, {n, 6, 6, 2}),
                     inputBuffer(1, ElementType::I1, {}),
                     outputBuffer(0, ElementType::F32, {n, 6, 6, 4}),
                     weightBuffer(0, ElementType::F32, {3, 3, 2, 4}),
                     stateBuffer(0, ElementType::I64, {}),
                     arenaBuffer(64, ElementType::F32, {4}),
                     arenaBuffer(0, ElementType::I1, {})};
  Convolution convolution;
  convolution.strides = {1, 1};
  convolution.paddingLow = {1, 0};
  convolution.paddingHigh = {1, 2};
  convolution.dilations = {1, 1};
  LibraryCall call;
  call.operation = convolution;
  call.left = 0;
  call.right = 3;
  call.output = 2;
  call.epilogue = {{PostOpKind::Bias, PostOpBroadcast::Column, 5, 0, 0},
                   {PostOpKind::Clip, PostOpBroadcast::Full, 0, -1.5f, 6.0f}};
  call.alternative = std::get<Launch>(launchOp("test_double", {0, 3}, {2}, n, 128).body);
  call.alternative.grain = 7;
  LibraryCall matmul = call;
  matmul.operation = Matmul{n, 2, 3, times(n, 4), true, true, true};
  matmul.epilogue.clear();
  Op callOp{"conv", {"Conv_0", "Clip_1"}, call}, matmulOp{"matmul", {}, matmul};
  Op branch{"branch", {"If_0"}, If{1, 1, 2}}, loop{"loop", {}, While{3, 6, 4}};
  variant.blocks.resize(5);
  variant.blocks[0].ops = {callOp, matmulOp, branch, loop};
  variant.blocks[1].ops = {Op{"copy", {}, Copy{0, 0}}};
  variant.blocks[1].ops = {Op{"fill", {}, Fill{5, {1, 2, 3, 4}}}};
  variant.blocks[2].ops = {Op{"check", {}, CheckEqual{n, 4, "N must be 4"}}};
  variant.blocks[3].ops = {Op{"bind", {}, BindSymbol{1, 4, "too many"}}};
  variant.blocks[4].ops = {Op{"copy", {}, Copy{5, 5}}};
  entry.variants.push_back(variant);
  program.entries.push_back(entry);
  return program;
}

std::vector<uint8_t> fullArtifact() {
  static const std::vector<float> weight(72, 0.5f);
  static const int64_t start = 3;
  auto bytes = serializeArtifact(fullProgram(), {{weight.data(), 288}, {&start, 8}});
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return *bytes;
}

void expectSame(const Expression &a, const Expression &b) {
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (size_t i = 0; i < a.steps.size(); ++i) {
    EXPECT_EQ(a.steps[i].opcode, b.steps[i].opcode);
    EXPECT_EQ(a.steps[i].value, b.steps[i].value);
  }
}

// PTX as a target holds it: with the NUL.
std::vector<uint8_t> ptxImage(const std::string &text) {
  return std::vector<uint8_t>(text.c_str(), text.c_str() + text.size() + 1);
}

std::vector<uint8_t> cubinImage() {
  std::vector<uint8_t> image(100, 7);
  const unsigned char start[] = {0x7f, 'E', 'L', 'F', 2, 1};
  std::copy(start, start + sizeof(start), image.begin());
  return image;
}

// A CPU's variant, then two for GPUs, one of them with a cubin.
Program threeTargetProgram() {
  BiasProgram bias;
  Program program = bias.program;
  program.targets.push_back({"cuda", "sm_80", "cuda:sm_80", {}, ptxImage(".version 7.0"), {}});
  program.targets.push_back({"cuda", "sm_90a", "cuda:sm_90a", {}, ptxImage(".version 8.0"), cubinImage()});
  for (uint32_t target : {1u, 2u}) {
    Variant variant = program.entries[0].variants[0];
    variant.target = target;
    for (Op &op : variant.blocks[0].ops)
      if (auto *launch = std::get_if<Launch>(&op.body)) {
        launch->threads = 256;
        launch->sharedBytes = 1024 * target;
        launch->maxBlocks = 132 * (target - 1);
      }
    program.entries[0].variants.push_back(variant);
  }
  return program;
}

TEST(Artifact, SeveralTargetsKeepTheirImagesAndLaunches) {
  Program program = threeTargetProgram();
  BiasProgram bias;
  auto written = serializeArtifact(program, bias.weights());
  ASSERT_TRUE(written.ok()) << written.status().message();
  AlignedBytes bytes(*written);
  Artifact artifact;
  Status status = readArtifact(bytes.data(), bytes.size(), artifact);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(artifact.kernels.size(), 3u);
  ASSERT_EQ(artifact.cubins.size(), 3u);
  for (size_t target = 0; target < 3; ++target) {
    const Target &expected = program.targets[target];
    EXPECT_EQ(std::vector<uint8_t>(artifact.kernels[target].data,
                                   artifact.kernels[target].data + artifact.kernels[target].size),
              expected.kernels);
    EXPECT_EQ(
        std::vector<uint8_t>(artifact.cubins[target].data, artifact.cubins[target].data + artifact.cubins[target].size),
        expected.cubin);
    EXPECT_EQ(artifact.program.targets[target].architecture, expected.architecture);
  }
  const auto &launch = std::get<Launch>(artifact.program.entries[0].variants[2].blocks[0].ops[0].body);
  EXPECT_EQ(launch.threads, 256);
  EXPECT_EQ(launch.sharedBytes, 2048);
  EXPECT_EQ(launch.maxBlocks, 132);
}

TEST(Artifact, RefusesImpossibleTargetsOfGpus) {
  BiasProgram bias;
  auto refusal = [&](const std::function<void(Program &)> &change) {
    Program program = threeTargetProgram();
    change(program);
    auto written = serializeArtifact(program, bias.weights());
    return written.ok() ? std::string("accepted") : written.status().message();
  };
  auto launchOf = [](Program &program, size_t variant) -> Launch & {
    return std::get<Launch>(program.entries[0].variants[variant].blocks[0].ops[0].body);
  };
  EXPECT_NE(refusal([](Program &p) { p.targets[1].architecture = "gfx90a"; }).find("expected one like"),
            std::string::npos);
  for (const char *name : {"sm_", "sm_8", "sm_080", "sm_90b", "sm_90aa", "sm_1000", "SM_90", "sm_90 "})
    EXPECT_NE(refusal([&](Program &p) { p.targets[1].architecture = name; }).find("expected one like"),
              std::string::npos)
        << name;
  EXPECT_NE(refusal([](Program &p) { p.targets[1].kernels.pop_back(); }).find("its only NUL"), std::string::npos);
  EXPECT_NE(refusal([](Program &p) { p.targets[1].kernels[3] = 0; }).find("its only NUL"), std::string::npos);
  EXPECT_NE(refusal([](Program &p) { p.targets[2].cubin[1] = 'X'; }).find("no 64-bit ELF file"), std::string::npos);
  EXPECT_NE(refusal([](Program &p) { p.targets[2].cubin.resize(63); }).find("no 64-bit ELF file"), std::string::npos);
  EXPECT_NE(refusal([](Program &p) { p.targets[2].kernels.clear(); }).find("without the PTX"), std::string::npos);
  EXPECT_NE(refusal([](Program &p) { p.targets[0].cubin = cubinImage(); }).find("is for device \"cpu\""),
            std::string::npos);
  EXPECT_NE(refusal([&](Program &p) { launchOf(p, 1).threads = 0; }).find("0 threads of a block"), std::string::npos);
  EXPECT_NE(refusal([&](Program &p) { launchOf(p, 1).threads = 1025; }).find("1025 threads of a block"),
            std::string::npos);
  EXPECT_NE(refusal([&](Program &p) { launchOf(p, 0).threads = 32; }).find("expected 0 to 0"), std::string::npos);
  EXPECT_NE(refusal([&](Program &p) { launchOf(p, 1).sharedBytes = 1 << 20; }).find("bytes of shared memory"),
            std::string::npos);
  EXPECT_NE(refusal([&](Program &p) { launchOf(p, 1).sharedBytes = -1; }).find("bytes of shared memory"),
            std::string::npos);
  EXPECT_NE(refusal([&](Program &p) { launchOf(p, 1).maxBlocks = int64_t(1) << 31; }).find("blocks at most"),
            std::string::npos);
}

TEST(Artifact, KnowsWhichGpuRunsWhat) {
  auto architecture = [](const char *name) {
    CudaArchitecture result;
    EXPECT_TRUE(parseCudaArchitecture(name, result)) << name;
    return result;
  };
  EXPECT_TRUE(runsPtx(90, architecture("sm_80")));
  EXPECT_FALSE(runsPtx(80, architecture("sm_90")));
  EXPECT_TRUE(runsPtx(90, architecture("sm_90a")));
  EXPECT_FALSE(runsPtx(100, architecture("sm_90a")));
  EXPECT_TRUE(runsPtx(103, architecture("sm_100f")));
  EXPECT_FALSE(runsPtx(120, architecture("sm_100f")));
  EXPECT_TRUE(runsCubin(89, architecture("sm_80")));
  EXPECT_FALSE(runsCubin(90, architecture("sm_80")));
  EXPECT_FALSE(runsCubin(80, architecture("sm_86")));
}

TEST(Artifact, RoundTripKeepsEveryField) {
  Program written = fullProgram();
  AlignedBytes bytes(fullArtifact());
  Artifact artifact;
  Status status = readArtifact(bytes.data(), bytes.size(), artifact);
  ASSERT_TRUE(status.ok()) << status.message();
  // Writing what was read must give the same bytes: then no field was lost or changed on the way.
  Program again = artifact.program;
  again.targets[0].kernels.assign(artifact.kernels[0].data, artifact.kernels[0].data + artifact.kernels[0].size);
  std::vector<WeightBytes> weights;
  for (const ByteSpan &span : artifact.weights)
    weights.push_back({span.data, span.size});
  auto second = serializeArtifact(again, weights);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(*second, fullArtifact());
  // And some fields by hand, against what was put in.
  EXPECT_EQ(again.numerics, "fast");
  EXPECT_EQ(again.metadata, written.metadata);
  EXPECT_EQ(again.kernelMessages, written.kernelMessages);
  EXPECT_EQ(again.symbols[1].source, SymbolSource::Data);
  EXPECT_EQ(again.states[0].initialWeight, 1);
  EXPECT_EQ(again.states[1].type, ElementType::F16);
  const Variant &variant = again.entries[0].variants[0];
  EXPECT_EQ(variant.ranges[0].minimum, 3);
  const auto &call = std::get<LibraryCall>(variant.blocks[0].ops[0].body);
  EXPECT_EQ(std::get<Convolution>(call.operation).paddingHigh, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(call.epilogue[1].alpha, -1.5f);
  EXPECT_EQ(call.epilogue[1].beta, 6.0f);
  EXPECT_EQ(call.alternative.grain, 7);
  const auto &matmul = std::get<Matmul>(std::get<LibraryCall>(variant.blocks[0].ops[1].body).operation);
  EXPECT_TRUE(matmul.transposeLeft && matmul.transposeRight && matmul.rightHasBatch);
  expectSame(matmul.k, times(symbolN(), 4));
  EXPECT_EQ(std::get<Fill>(variant.blocks[1].ops[0].body).pattern, (std::vector<uint8_t>{1, 2, 3, 4}));
  EXPECT_EQ(variant.blocks[0].ops[0].sourceNodes, (std::vector<std::string>{"Conv_0", "Clip_1"}));
}

TEST(Artifact, WritesTheSameBytesEachTime) { EXPECT_EQ(biasArtifact(), biasArtifact()); }

TEST(Artifact, EveryBitFlipOutsideWeightsIsFound) {
  std::vector<uint8_t> bytes = fullArtifact();
  ArtifactHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  AlignedBytes aligned(bytes);
  // Every bit of the header; of the rest every byte with a changing bit, kernels sampled.
  size_t tried = 0;
  auto flip = [&](size_t byte, int bit) {
    aligned.data()[byte] = static_cast<uint8_t>(bytes[byte] ^ (1 << bit));
    Artifact artifact;
    EXPECT_FALSE(readArtifact(aligned.data(), aligned.size(), artifact).ok()) << "byte " << byte << " bit " << bit;
    aligned.data()[byte] = bytes[byte];
    ++tried;
  };
  for (size_t byte = 0; byte < sizeof(ArtifactHeader); ++byte)
    for (int bit = 0; bit < 8; ++bit)
      flip(byte, bit);
  for (size_t byte = sizeof(ArtifactHeader); byte < header.kernelsOffset; ++byte)
    flip(byte, static_cast<int>(byte % 8));
  for (size_t byte = header.kernelsOffset; byte < header.weightsOffset; byte += 13)
    flip(byte, static_cast<int>(byte % 8));
  // Padding just before the weights, and between them (each starts at a multiple of 64).
  for (size_t byte = header.weightsOffset - 64; byte < header.weightsOffset; ++byte)
    flip(byte, 3);
  for (size_t byte = header.weightsOffset + 288; byte < header.weightsOffset + 320; ++byte)
    flip(byte, 0);
  EXPECT_GT(tried, 3000u);
  Artifact artifact;
  EXPECT_TRUE(readArtifact(aligned.data(), aligned.size(), artifact).ok());
}

TEST(Artifact, BitFlipInsideWeightsIsFoundByCheck) {
  std::vector<uint8_t> bytes = fullArtifact();
  ArtifactHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  bytes[header.weightsOffset + 100] ^= 4;
  AlignedBytes aligned(bytes);
  Artifact artifact;
  ASSERT_TRUE(readArtifact(aligned.data(), aligned.size(), artifact).ok());
  Status status = checkWeights(artifact);
  EXPECT_EQ(status.code(), StatusCode::DataLoss);
  EXPECT_NE(status.message().find("weight \"w\""), std::string::npos) << status.message();
}

TEST(Artifact, EveryTruncationIsFound) {
  std::vector<uint8_t> bytes = biasArtifact();
  AlignedBytes aligned(bytes);
  for (size_t size = 0; size < bytes.size(); size += size < 4096 ? 1 : 61) {
    Artifact artifact;
    EXPECT_FALSE(readArtifact(aligned.data(), size, artifact).ok()) << size;
  }
  std::vector<uint8_t> longer = bytes;
  longer.push_back(0);
  EXPECT_FALSE(readBytes(longer).ok());
}

TEST(Artifact, OtherFilesAndVersionsAreNamed) {
  EXPECT_NE(readBytes({}).message().find("empty"), std::string::npos);
  EXPECT_NE(readBytes({'P', 'K', 3, 4, 0, 0, 0, 0, 0, 0}).message().find("not a Weft artifact"), std::string::npos);
  std::vector<uint8_t> bytes = biasArtifact();
  bytes[8] = 99;
  Status version = readBytes(bytes);
  EXPECT_EQ(version.code(), StatusCode::VersionMismatch);
  EXPECT_NE(version.message().find("version 99"), std::string::npos) << version.message();
  bytes = biasArtifact();
  bytes[12] = 7;
  Status abi = readBytes(bytes);
  EXPECT_EQ(abi.code(), StatusCode::VersionMismatch);
  EXPECT_NE(abi.message().find("ABI version 7"), std::string::npos) << abi.message();
}

// A structure section that was tampered with and hashed again: everything must still be checked. Random damage that
// keeps the hash out of the way must neither crash, hang nor ask for much memory; sanitizer builds see the rest.
TEST(Artifact, RandomDamageBehindTheHashIsHarmless) {
  std::vector<uint8_t> bytes = fullArtifact();
  ArtifactHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  std::mt19937_64 random(20240131);
  size_t accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    AlignedBytes aligned(bytes);
    int changes = 1 + static_cast<int>(random() % 4);
    for (int change = 0; change < changes; ++change) {
      size_t byte = header.structureOffset + random() % header.structureSize;
      static constexpr uint8_t kInteresting[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
      aligned.data()[byte] = random() % 2 ? kInteresting[random() % 5] : static_cast<uint8_t>(random());
    }
    Artifact artifact;
    if (readArtifactWithoutHash(aligned.data(), aligned.size(), artifact).ok())
      ++accepted;
  }
  // Names, say, may change without harm.
  EXPECT_LT(accepted, 20000u);
}

// One fault a line, each put into a good program: the writer refuses it, naming it.
TEST(Artifact, ValidationNamesTheFault) {
  struct Case {
    const char *expected;
    void (*damage)(Program &);
  };
  static const Case kCases[] = {
      {"symbol", [](Program &p) { p.symbols[0].maximum = -1; }},
      {"two of symbol", [](Program &p) { p.symbols.push_back(p.symbols[0]); }},
      {"element type", [](Program &p) { p.entries[0].inputs[0].type = static_cast<ElementType>(77); }},
      {"no input has symbol", [](Program &p) { p.entries[0].inputs[0].dims[0] = times(symbolN(), 2); }},
      {"target 3", [](Program &p) { p.entries[0].variants[0].target = 3; }},
      {"no blocks", [](Program &p) { p.entries[0].variants[0].blocks.clear(); }},
      {"no variants", [](Program &p) { p.entries[0].variants.clear(); }},
      {"inside the arena", [](Program &p) { p.entries[0].variants[0].arenaBytes = 64; }},
      {"inside the arena", [](Program &p) { p.entries[0].variants[0].buffers[2].offset = int64_t(1) << 40; }},
      {"multiple of 64",
       [](Program &p) {
         p.entries[0].variants[0].arenaBytes = 1 << 20;
         p.entries[0].variants[0].buffers[2].offset = 8;
       }},
      {"weight 5", [](Program &p) { p.entries[0].variants[0].buffers[1].index = 5; }},
      {"size differs", [](Program &p) { p.entries[0].variants[0].buffers[1].dims = {5}; }},
      {"size differs", [](Program &p) { p.entries[0].variants[0].buffers[0].dims = {symbolN(), 5}; }},
      {"type differs", [](Program &p) { p.entries[0].variants[0].buffers[1].type = ElementType::I32; }},
      {"unknown kind", [](Program &p) { p.entries[0].variants[0].buffers[1].kind = static_cast<BufferKind>(9); }},
      {"buffer 40",
       [](Program &p) { std::get<Launch>(p.entries[0].variants[0].blocks[0].ops[0].body).inputs[1] = 40; }},
      {"read-only",
       [](Program &p) { std::get<Launch>(p.entries[0].variants[0].blocks[0].ops[0].body).outputs[0] = 1; }},
      {"grain", [](Program &p) { std::get<Launch>(p.entries[0].variants[0].blocks[0].ops[0].body).grain = 0; }},
      {"overflow",
       [](Program &p) {
         std::get<Launch>(p.entries[0].variants[0].blocks[0].ops[0].body).tiles = times(symbolN(), INT64_MAX / 2);
       }},
      {"lacks operands",
       [](Program &p) {
         std::get<Launch>(p.entries[0].variants[0].blocks[0].ops[0].body).tiles.steps = {{ExpressionOpcode::Add, 0}};
       }},
      {"symbol 4 of 1",
       [](Program &p) {
         std::get<Launch>(p.entries[0].variants[0].blocks[0].ops[0].body).tiles = Expression::symbol(4);
       }},
      {"empty expression",
       [](Program &p) { std::get<Launch>(p.entries[0].variants[0].blocks[0].ops[0].body).tiles.steps.clear(); }},
      {"unknown opcode",
       [](Program &p) {
         std::get<Launch>(p.entries[0].variants[0].blocks[0].ops[0].body).tiles.steps = {
             {static_cast<ExpressionOpcode>(50), 0}};
       }},
      {"is not used", [](Program &p) { p.entries[0].variants[0].blocks.emplace_back(); }},
      {"i1 scalar",
       [](Program &p) {
         p.entries[0].variants[0].blocks.resize(3);
         p.entries[0].variants[0].blocks[0].ops.push_back(Op{"if", {}, If{0, 1, 2}});
       }},
      {"used twice",
       [](Program &p) {
         p.entries[0].variants[0].buffers.push_back(arenaBuffer(0, ElementType::I1, {}));
         p.entries[0].variants[0].blocks.resize(2);
         p.entries[0].variants[0].blocks[0].ops.push_back(Op{"if", {}, If{4, 1, 1}});
       }},
      {"without a proper name", [](Program &p) { p.entries[0].inputs[0].name = ""; }},
      {"no entry points", [](Program &p) { p.entries.clear(); }},
      {"range for symbol", [](Program &p) { p.entries[0].variants[0].ranges = {{0, 1, 65}}; }},
      {"bytes came for",
       [](Program &p) {
         p.weights.clear(), p.entries[0].variants[0].buffers[1] = p.entries[0].variants[0].buffers[2];
       }},
      {"its type and dims ask for",
       [](Program &p) {
         p.weights[0].dims = {5};
         p.entries[0].variants[0].buffers[1].dims = {5};
       }},
  };
  for (const Case &one : kCases) {
    BiasProgram bias;
    one.damage(bias.program);
    auto bytes = serializeArtifact(bias.program, bias.weights());
    ASSERT_FALSE(bytes.ok()) << one.expected;
    EXPECT_EQ(bytes.status().code(), StatusCode::InvalidArgument);
    EXPECT_NE(bytes.status().message().find(one.expected), std::string::npos)
        << "expected: " << one.expected << "\ngot: " << bytes.status().message();
  }
}

TEST(Artifact, WritingIsAllOrNothing) {
  BiasProgram bias;
  TemporaryFolder folder;
  std::string path = folder.file("model.weft");
  ASSERT_TRUE(writeArtifact(path, bias.program, bias.weights()).ok());
  EXPECT_EQ(readFile(path), biasArtifact());
  EXPECT_EQ(folder.list(), std::vector<std::string>{"model.weft"});
  // An invalid program leaves the old file alone and nothing beside it.
  Program broken = bias.program;
  broken.entries.clear();
  EXPECT_FALSE(writeArtifact(path, broken, bias.weights()).ok());
  EXPECT_EQ(readFile(path), biasArtifact());
  EXPECT_EQ(folder.list(), std::vector<std::string>{"model.weft"});
  Status missing = writeArtifact(folder.file("none/model.weft"), bias.program, bias.weights());
  EXPECT_EQ(missing.code(), StatusCode::Io);
  Status isFolder = writeArtifact(folder.path(), bias.program, bias.weights());
  EXPECT_NE(isFolder.message().find("folder"), std::string::npos) << isFolder.message();
}

TEST(Artifact, FullDiskIsReportedAndLeavesNothing) {
  BiasProgram bias;
  TemporaryFolder folder;
  // A file size limit stands in for a full disk: write() fails the same way, with EFBIG.
  struct rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto ignored = ::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 1000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  Status status = writeArtifact(folder.file("model.weft"), bias.program, bias.weights());
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, ignored);
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted) << status.message();
  EXPECT_TRUE(folder.list().empty());
  // A device that is really full.
  Status full = writeArtifact("/dev/full", bias.program, bias.weights());
  EXPECT_EQ(full.code(), StatusCode::ResourceExhausted) << full.message();
}

TEST(Expressions, Arithmetic) {
  auto value = [](ExpressionOpcode opcode, int64_t a, int64_t b, bool &ok) {
    int64_t result = 0;
    ok = evaluate(Expression::binary(opcode, a, b), nullptr, result);
    return result;
  };
  bool ok;
  EXPECT_EQ(value(ExpressionOpcode::FloorDivide, -7, 2, ok), -4);
  EXPECT_EQ(value(ExpressionOpcode::FloorDivide, 7, 2, ok), 3);
  EXPECT_EQ(value(ExpressionOpcode::FloorDivide, INT64_MIN, 1, ok), INT64_MIN);
  EXPECT_EQ(value(ExpressionOpcode::CeilDivide, -7, 2, ok), -3);
  EXPECT_EQ(value(ExpressionOpcode::CeilDivide, 7, 2, ok), 4);
  EXPECT_EQ(value(ExpressionOpcode::CeilDivide, INT64_MIN, 3, ok), INT64_MIN / 3);
  EXPECT_EQ(value(ExpressionOpcode::Modulo, -7, 3, ok), 2);
  EXPECT_EQ(value(ExpressionOpcode::Minimum, -7, 3, ok), -7);
  value(ExpressionOpcode::Modulo, 1, 0, ok);
  EXPECT_FALSE(ok);
  value(ExpressionOpcode::Add, INT64_MAX, 1, ok);
  EXPECT_FALSE(ok);
  value(ExpressionOpcode::Multiply, INT64_MIN, -1, ok);
  EXPECT_FALSE(ok);
}

// Bounds must contain the value at every point, and be reached where each symbol occurs once.
TEST(Expressions, BoundsContainAllValues) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 3000; ++round) {
    Expression expression = Expression::symbol(0);
    for (int step = 0; step < 4; ++step) {
      auto opcode = static_cast<ExpressionOpcode>(2 + random() % 8);
      Expression right = random() % 3 == 0 ? Expression::symbol(1) : Expression(static_cast<int64_t>(random() % 9) - 2);
      expression = Expression::binary(opcode, expression, right);
    }
    Bounds symbols[2] = {{static_cast<int64_t>(random() % 4), 0}, {static_cast<int64_t>(1 + random() % 3), 0}};
    for (Bounds &bounds : symbols)
      bounds.maximum = bounds.minimum + static_cast<int64_t>(random() % 6);
    Bounds result;
    if (!evaluateBounds(expression, symbols, result))
      continue;
    for (int64_t a = symbols[0].minimum; a <= symbols[0].maximum; ++a)
      for (int64_t b = symbols[1].minimum; b <= symbols[1].maximum; ++b) {
        int64_t point[2] = {a, b}, value;
        ASSERT_TRUE(evaluate(expression, point, value));
        ASSERT_GE(value, result.minimum);
        ASSERT_LE(value, result.maximum);
      }
  }
}

TEST(Expressions, Text) {
  std::vector<Symbol> symbols = {{"N", 1, 9, SymbolSource::InputDimension}};
  EXPECT_EQ(toString(times(2, symbolN()), symbols), "2*N");
  EXPECT_EQ(toString(times(Expression::binary(ExpressionOpcode::Add, symbolN(), 1), 3), symbols), "(N + 1)*3");
  EXPECT_EQ(toString(Expression::binary(ExpressionOpcode::FloorDivide, symbolN(), 2), symbols), "floor(N / 2)");
}

// The hash in artifacts is XXH3-128 with seed 0; the values are xxhsum -H2's of the same bytes.
TEST(Hash, PiecesHashLikeTheWhole) {
  std::vector<uint8_t> bytes(10000);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(i * 31);
  Hasher hasher;
  hasher.update(bytes.data(), 1);
  hasher.update(bytes.data() + 1, 4999);
  hasher.update(bytes.data() + 5000, 5000);
  EXPECT_EQ(hasher.digest(), hashBytes(bytes.data(), bytes.size()));
  EXPECT_EQ(hashBytes(nullptr, 0), (Hash128{0x6001c324468d497full, 0x99aa06d3014798d8ull}));
}

} // namespace
