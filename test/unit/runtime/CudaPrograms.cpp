// Hand-written PTX by the kernel ABI, and programs of it.
#include "test/unit/runtime/CudaPrograms.h"

#include <cstdlib>
#include <dlfcn.h>

namespace weft::runtime::test {
namespace {

// An entry that runs `body` for each of its tiles. In the body %t is the tile, %lane the thread, %b0, %b1, ... the
// buffers, %n and %k the symbols, and a jump to NEXT ends the tile.
std::string kernel(const std::string &name, int buffers, const std::string &body) {
  std::string text = ".visible .entry " + name + "(";
  for (int buffer = 0; buffer < buffers; ++buffer)
    text += ".param .u64 " + name + "_b" + std::to_string(buffer) + ", ";
  static const char *const kRest[] = {"n", "k", "tiles", "scratch", "seed", "device", "error"};
  for (const char *rest : kRest)
    text += std::string(rest == kRest[0] ? "" : ", ") + ".param .u64 " + name + "_" + rest;
  text += ")\n{\n  .reg .pred %p<8>; .reg .b16 %h<4>; .reg .b32 %r<16>, %lane; .reg .f32 %f<8>;\n"
          "  .reg .b64 %x<24>, %t, %b<4>, %n, %k, %tiles, %scratch, %seed, %error, %step;\n";
  for (int buffer = 0; buffer < buffers; ++buffer)
    text += "  ld.param.u64 %b" + std::to_string(buffer) + ", [" + name + "_b" + std::to_string(buffer) + "];\n";
  for (const char *rest : {"n", "k", "tiles", "scratch", "seed", "error"})
    text += std::string("  ld.param.u64 %") + rest + ", [" + name + "_" + rest + "];\n";
  text += "  mov.u32 %lane, %tid.x;\n  mov.u32 %r0, %ctaid.x;\n  cvt.u64.u32 %t, %r0;\n"
          "  mov.u32 %r0, %nctaid.x;\n  cvt.u64.u32 %step, %r0;\n"
          "AGAIN:\n  setp.ge.s64 %p0, %t, %tiles;\n  @%p0 bra DONE;\n";
  text += body;
  text += "NEXT:\n  add.u64 %t, %t, %step;\n  bra AGAIN;\nDONE:\n  ret;\n}\n";
  return text;
}

// %x1 becomes the byte offset of the thread's element of the row; the threads beyond the row go to NEXT.
const char *const kElement = "  setp.ge.u32 %p1, %lane, 4;\n  @%p1 bra NEXT;\n  shl.b64 %x0, %t, 4;\n"
                             "  mul.wide.u32 %x1, %lane, 4;\n  add.u64 %x1, %x1, %x0;\n";

// y = what `operation` makes of %f0 in %f0.
std::string elementwise(const std::string &name, const std::string &operation) {
  return kernel(name, 2,
                kElement + std::string("  add.u64 %x2, %b0, %x1;\n  ld.global.f32 %f0, [%x2];\n") + operation +
                    "  add.u64 %x3, %b1, %x1;\n  st.global.f32 [%x3], %f0;\n");
}

} // namespace

std::string cudaKernels(const std::string &architecture) {
  std::string text =
      ".version 8.0\n.target " + architecture + "\n.address_size 64\n.extern .shared .align 16 .b8 row[];\n";
  text += kernel("add_bias", 3,
                 kElement + std::string("  add.u64 %x2, %b0, %x1;\n  ld.global.f32 %f0, [%x2];\n"
                                        "  mul.wide.u32 %x3, %lane, 4;\n  add.u64 %x3, %x3, %b1;\n"
                                        "  ld.global.f32 %f1, [%x3];\n  add.f32 %f0, %f0, %f1;\n"
                                        "  add.u64 %x4, %b2, %x1;\n  st.global.f32 [%x4], %f0;\n"));
  text += elementwise("double", "  add.f32 %f0, %f0, %f0;\n");
  text += elementwise("refuse_negative", "  setp.ge.f32 %p2, %f0, 0f00000000;\n  @%p2 bra FINE;\n  mov.u32 %r1, 1;\n"
                                         "  st.global.u32 [%error], %r1;\nFINE:\n");
  text += elementwise("refuse_all", "  mov.u32 %r1, 5;\n  st.global.u32 [%error], %r1;\n");
  text += elementwise("crash", "  mov.u64 %x4, 64;\n  ld.global.f32 %f0, [%x4];\n");
  text += elementwise("root", "  sqrt.rn.f32 %f0, %f0;\n");
  text += kernel("increment", 2,
                 std::string("  mov.u32 %r1, row;\n  shl.b32 %r2, %lane, 2;\n  add.u32 %r1, %r1, %r2;\n"
                             "  setp.ge.u32 %p1, %lane, 4;\n  @%p1 bra STORED;\n  shl.b64 %x0, %t, 4;\n"
                             "  mul.wide.u32 %x1, %lane, 4;\n  add.u64 %x1, %x1, %x0;\n  add.u64 %x2, %b0, %x1;\n"
                             "  ld.global.f32 %f0, [%x2];\n  st.shared.f32 [%r1], %f0;\nSTORED:\n  bar.sync 0;\n"
                             "  setp.lt.u32 %p2, %lane, 32;\n  @%p2 bra TAKEN;\n  setp.ge.u32 %p2, %lane, 36;\n"
                             "  @%p2 bra TAKEN;\n  sub.u32 %r3, %lane, 32;\n  shl.b32 %r4, %r3, 2;\n"
                             "  mov.u32 %r5, row;\n  add.u32 %r5, %r5, %r4;\n  ld.shared.f32 %f1, [%r5];\n"
                             "  add.f32 %f1, %f1, 0f3F800000;\n  shl.b64 %x0, %t, 4;\n  mul.wide.u32 %x3, %r3, 4;\n"
                             "  add.u64 %x3, %x3, %x0;\n  add.u64 %x3, %x3, %b1;\n  st.global.f32 [%x3], %f1;\n"
                             "TAKEN:\n  bar.sync 0;\n"));
  text += elementwise("through_scratch", "  add.u64 %x4, %scratch, %x1;\n  st.global.f32 [%x4], %f0;\n"
                                         "  ld.global.f32 %f1, [%x4];\n  add.f32 %f0, %f1, 0f3F800000;\n");
  const std::string first = "  setp.ne.u32 %p1, %lane, 0;\n  @%p1 bra NEXT;\n  ld.global.u64 %x0, [%b0];\n";
  text += kernel("count_down", 3,
                 first + "  setp.gt.s64 %p2, %x0, 1;\n  sub.s64 %x0, %x0, 1;\n  st.global.u64 [%b1], %x0;\n"
                         "  selp.b32 %r1, 1, 0, %p2;\n  cvt.u16.u32 %h0, %r1;\n  st.global.u8 [%b2], %h0;\n");
  text += kernel("is_positive", 2,
                 first + "  setp.gt.s64 %p2, %x0, 0;\n  selp.b32 %r1, 1, 0, %p2;\n  cvt.u16.u32 %h0, %r1;\n"
                         "  st.global.u8 [%b1], %h0;\n");
  text += kernel("copy_long", 2, first + "  st.global.u64 [%b1], %x0;\n");
  text += kernel("seed", 1, "  setp.ne.u32 %p1, %lane, 0;\n  @%p1 bra NEXT;\n  st.global.u64 [%b0], %seed;\n");
  text += kernel("head", 3,
                 "  setp.ne.u32 %p1, %lane, 0;\n  @%p1 bra NEXT;\n  setp.ge.s64 %p2, %t, %k;\n  @%p2 bra NEXT;\n"
                 "  shl.b64 %x0, %t, 2;\n  add.u64 %x1, %b0, %x0;\n  ld.global.f32 %f0, [%x1];\n"
                 "  add.u64 %x2, %b2, %x0;\n  st.global.f32 [%x2], %f0;\n");
  return text;
}

Program cudaProgram(const std::string &architecture, int64_t minimum, int64_t maximum) {
  Program program;
  program.producer = "runtime test";
  program.modelName = "test";
  program.symbols.push_back({"N", minimum, maximum, SymbolSource::InputDimension});
  program.symbols.push_back({"K", 0, 16, SymbolSource::Data});
  Target target;
  target.device = "cuda";
  target.architecture = architecture;
  target.name = "cuda:" + architecture;
  std::string text = cudaKernels(architecture);
  target.kernels.assign(text.c_str(), text.c_str() + text.size() + 1);
  program.targets.push_back(std::move(target));
  return program;
}

Launch &launchIn(Op &op) { return std::get<Launch>(op.body); }

Op cudaLaunchOp(std::string kernel, std::vector<uint32_t> inputs, std::vector<uint32_t> outputs, Expression tiles) {
  bool isIncrement = kernel == "increment", isScratch = kernel == "through_scratch";
  Op op = launchOp(std::move(kernel), std::move(inputs), std::move(outputs), std::move(tiles));
  Launch &launch = launchIn(op);
  launch.threads = isIncrement ? 64 : 32;
  launch.sharedBytes = isIncrement ? 256 : 0;
  if (isScratch)
    launch.scratchBytes = times(launch.tiles, 16);
  return op;
}

CudaBiasProgram::CudaBiasProgram(const std::string &architecture, int64_t maximum)
    : program(cudaProgram(architecture, 0, maximum)) {
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
  variant.blocks[0].ops = {cudaLaunchOp("add_bias", {0, 1}, {2}, symbolN()),
                           cudaLaunchOp("double", {2}, {3}, symbolN())};
  entry.variants.push_back(std::move(variant));
  program.entries.push_back(std::move(entry));
}

Program cudaChain(int launches) {
  Program program = cudaProgram("sm_80", 1, 64);
  std::vector<Expression> dims = {symbolN(), 4};
  Entry entry;
  entry.inputs = {{"x", ElementType::F32, dims}};
  entry.outputs = {{"y", ElementType::F32, dims}};
  Variant variant;
  variant.buffers = {inputBuffer(0, ElementType::F32, dims), outputBuffer(0, ElementType::F32, dims),
                     arenaBuffer(0, ElementType::F32, dims), arenaBuffer(1024, ElementType::F32, dims)};
  variant.arenaBytes = 2048;
  variant.blocks.emplace_back();
  uint32_t from = 0;
  for (int launch = 0; launch < launches; ++launch) {
    uint32_t to = launch + 1 == launches ? 1 : 2 + static_cast<uint32_t>(launch % 2);
    variant.blocks[0].ops.push_back(cudaLaunchOp("increment", {from}, {to}, symbolN()));
    from = to;
  }
  entry.variants.push_back(std::move(variant));
  program.entries.push_back(std::move(entry));
  return program;
}

namespace {

std::string textOf(void *handle, const char *function) {
  auto *get = reinterpret_cast<size_t (*)(char *, size_t)>(::dlsym(handle, function));
  EXPECT_NE(get, nullptr) << function;
  std::string text(get(nullptr, 0) + 1, 0);
  get(text.data(), text.size());
  text.pop_back();
  return text;
}

void reset(void *handle) {
  auto *function = reinterpret_cast<void (*)()>(::dlsym(handle, "weftSimulatorReset"));
  ASSERT_NE(function, nullptr);
  function();
}

} // namespace

SimulatedGpus::SimulatedGpus(std::vector<std::pair<std::string, std::string>> variables) {
  for (const char *name : {"DEVICES", "ARCHITECTURE", "CHECKS", "SEED", "INJECT", "MEMORY_MB", "THREADS"})
    ::unsetenv((std::string("WEFT_SIMULATOR_") + name).c_str());
  ::setenv("WEFT_SIMULATOR_ASSEMBLER", "0", 1);
  ::setenv("WEFT_SIMULATOR_CHECKS", "races,uninitialised", 1);
  for (const auto &variable : variables)
    ::setenv(("WEFT_SIMULATOR_" + variable.first).c_str(), variable.second.c_str(), 1);
  handle_ = ::dlopen(library(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(handle_, nullptr) << ::dlerror();
  reset(handle_);
}

SimulatedGpus::~SimulatedGpus() { reset(handle_); }

const char *SimulatedGpus::library() { return WEFT_SIMCUDA; }
std::string SimulatedGpus::faults() const { return textOf(handle_, "weftSimulatorReport"); }
std::string SimulatedGpus::leaks() const { return textOf(handle_, "weftSimulatorLeaks"); }
std::string SimulatedGpus::counters() const { return textOf(handle_, "weftSimulatorCounters"); }

Loaded loadCuda(const Program &program, const std::vector<WeightBytes> &weights, CudaLoadOptions options) {
  Loaded loaded;
  auto bytes = serializeArtifact(program, weights);
  if (!bytes.ok()) {
    loaded.error = bytes.status().message();
    return loaded;
  }
  loaded.bytes = std::make_unique<AlignedBytes>(*bytes);
  WeftLoadOptions given;
  weft_load_options_init(&given);
  given.device = options.device;
  given.cuda_driver = options.driver ? options.driver : SimulatedGpus::library();
  given.log = options.log;
  given.log_user = options.logUser;
  WeftProgram *handle = nullptr;
  loaded.error = take(weft_program_load_memory(loaded.bytes->data(), loaded.bytes->size(), &given, &handle));
  loaded.program.reset(handle);
  return loaded;
}

} // namespace weft::runtime::test
