// Writes the fuzzers' corpus into a folder: small artifacts that use every kind of op, and array files.
#include "runtime/Artifact/ArtifactWriter.h"
#include "runtime/Data/Npy.h"
#include "runtime/Data/Npz.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

using namespace weft::runtime;

namespace {

Program everyOp() {
  Program program;
  program.producer = "corpus";
  program.metadata = {{"key", "value"}};
  program.symbols = {{"N", 1, 9, SymbolSource::InputDimension}, {"K", 0, 5, SymbolSource::Data}};
  program.kernelMessages = {"message"};
  Target target;
  target.name = "any";
  target.features = {"sse2"};
  target.kernels = {1, 2, 3};
  Target gpu;
  gpu.device = "cuda";
  gpu.architecture = "sm_90a";
  gpu.kernels = {'.', 'v', 0};
  gpu.cubin.resize(64);
  std::copy_n("\x7f"
              "ELF\2\1",
              6, gpu.cubin.begin());
  program.targets = {target, gpu};
  program.weights = {{"w", ElementType::F32, {1, 1, 2, 2}, 0, 0, {0, 0}}, {"s", ElementType::I64, {}, 0, 0, {0, 0}}};
  program.states = {{"state", ElementType::I64, {}, 1}};
  Expression n = Expression::symbol(0);
  Buffer x, y, w, flag, state, scratch;
  x.kind = BufferKind::Input;
  x.type = y.type = w.type = scratch.type = ElementType::F32;
  x.dims = y.dims = {n, 2, 2, 2};
  y.kind = BufferKind::Output;
  w.kind = BufferKind::Weight;
  w.dims = {1, 1, 2, 2};
  flag.type = ElementType::I1;
  state.kind = BufferKind::State;
  state.type = ElementType::I64;
  scratch.offset = 64;
  scratch.dims = {Expression::binary(ExpressionOpcode::Multiply, n, 2)};
  Launch launch;
  launch.kernel = "kernel";
  launch.inputs = {0, 2};
  launch.outputs = {1};
  launch.tiles = Expression::binary(ExpressionOpcode::CeilDivide, n, 4);
  LibraryCall convolution;
  convolution.operation = Convolution{{1, 1}, {0, 0}, {0, 0}, {1, 1}, 1, ConvolutionWeightsLayout::SpatialIO};
  convolution.left = 0;
  convolution.right = 2;
  convolution.output = 1;
  convolution.epilogue = {{PostOpKind::Bias, PostOpBroadcast::Column, 5, 0, 0}};
  convolution.alternative = launch;
  LibraryCall matmul = convolution;
  matmul.operation = Matmul{1, n, 2, 2, false, false, false};
  Variant variant;
  variant.ranges = {{0, 1, 4}};
  variant.arenaBytes = 256;
  variant.buffers = {x, y, w, flag, state, scratch};
  variant.blocks.resize(5);
  variant.blocks[0].ops = {{"launch", {"a", "b"}, launch}, {"convolution", {}, convolution},    {"matmul", {}, matmul},
                           {"copy", {}, Copy{0, 1}},       {"fill", {}, Fill{1, {0, 0, 0, 0}}}, {"if", {}, If{3, 1, 2}},
                           {"while", {}, While{3, 3, 4}}};
  variant.blocks[1].ops = {{"check", {}, CheckEqual{n, 2, "message"}}};
  variant.blocks[2].ops = {{"bind", {}, BindSymbol{1, 4, "message"}}};
  Entry entry;
  entry.inputs = {{"x", ElementType::F32, {n, 2, 2, 2}}};
  entry.outputs = {{"y", ElementType::F32, {n, 2, 2, 2}}};
  entry.variants = {variant, variant};
  entry.variants[1].target = 1;
  auto onGpu = [](Launch &launch) {
    launch.threads = 128;
    launch.sharedBytes = 64;
    launch.maxBlocks = 3;
  };
  for (Op &op : entry.variants[1].blocks[0].ops) {
    if (auto *launch = std::get_if<Launch>(&op.body))
      onGpu(*launch);
    else if (auto *call = std::get_if<LibraryCall>(&op.body))
      onGpu(call->alternative);
  }
  program.entries = {entry};
  return program;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder / "artifact");
  std::filesystem::create_directories(folder / "npy");
  const float weight[4] = {1, 2, 3, 4};
  const int64_t start = 5;
  auto array = makeArray(ElementType::F32, {2, 3});
  if (!array.ok())
    return 1;
  Status status = writeArtifact(folder / "artifact/every_op.weft", everyOp(), {{weight, 16}, {&start, 8}});
  if (status.ok())
    status = writeNpy(folder / "npy/array.npy", *array);
  NamedArrays arrays;
  arrays.emplace_back("x", std::move(*array));
  if (status.ok())
    status = writeNpz(folder / "npy/arrays.npz", arrays);
  if (!status.ok())
    std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
