//===- RunCommand.cpp - weft run
//------------------------------------------------------------------------------------===//

#include "dialects/Graph/Types.h"
#include "runtime/Artifact/ArtifactReader.h"
#include "runtime/Core/MappedFile.h"
#include "runtime/Data/Npy.h"
#include "runtime/Data/Npz.h"
#include "tools/weft/Commands.h"
#include "tools/weft/Diagnostics.h"
#include "tools/weft/ModelInput.h"
#include "tools/weft/ProgramRun.h"
#include "tools/weft/Reproducer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include <chrono>

using namespace mlir;

namespace weft::tool {

namespace {

/// Where the program comes from: a file, or memory after a compilation.
struct Source {
  runtime::Program program;
  std::vector<uint8_t> bytes; // empty: the file
};

bool readArtifactFile(const std::string &path, Source &source) {
  runtime::StatusOr<std::unique_ptr<runtime::MappedFile>> file = runtime::MappedFile::open(path);
  runtime::Artifact artifact;
  runtime::Status status =
      file.ok() ? runtime::readArtifact((*file)->data(), (*file)->size(), artifact).withContext(path) : file.status();
  source.program = std::move(artifact.program);
  return status.ok() || (fail(status.message()), false);
}

bool compileModel(const RunCommand &command, const DeviceRun &device, MLIRContext &context, Source &source) {
  FailureOr<CompileOptions> options = compileOptionsOf(command.model, &device);
  if (mlir::failed(options))
    return false;
  Model model = readModel(command.model, context);
  if (!model.module)
    return false;
  FailureOr<CompiledModel> compiled = compile(*model.module, std::move(model.weights), *options);
  if (mlir::failed(compiled))
    return false;
  if (command.model.timePasses)
    printTimes(*compiled);
  runtime::StatusOr<std::vector<uint8_t>> bytes =
      runtime::serializeArtifact(compiled->emitted.program, compiled->emitted.weights);
  if (!bytes.ok())
    return fail(bytes.status().message()), false;
  source.bytes = std::move(*bytes);
  source.program = std::move(compiled->emitted.program);
  return true;
}

/// One line an op that took time, the slowest first.
void printProfile(const ProgramRun &run, int32_t entry) {
  int32_t variant = weft_run_variant(run.get());
  struct Row {
    WeftOpInfo info;
    WeftOpProfile profile;
  };
  std::vector<Row> rows;
  int64_t total = 0;
  for (int32_t op = 0, count = weft_program_op_count(run.program(), entry, variant); op < count; ++op) {
    Row row;
    if (failed(weft_program_op(run.program(), entry, variant, op, &row.info)) ||
        failed(weft_run_profile(run.get(), op, &row.profile)))
      return;
    // Control flow holds the time of the ops inside it.
    if (row.profile.count && StringRef(row.info.kind) != "if" && StringRef(row.info.kind) != "while") {
      total += row.profile.nanoseconds;
      rows.push_back(row);
    }
  }
  llvm::sort(rows, [](const Row &a, const Row &b) { return a.profile.nanoseconds > b.profile.nanoseconds; });
  llvm::outs() << "       us  share   runs  implementation, nodes\n";
  for (const Row &row : rows)
    llvm::outs() << llvm::format("%9.1f %5.1f%% %6lld  ", row.profile.nanoseconds / 1e3,
                                 total ? 100.0 * row.profile.nanoseconds / total : 0.0,
                                 static_cast<long long>(row.profile.count))
                 << row.info.implementation << "  "
                 << llvm::join(ArrayRef<const char *>(row.info.source_nodes, row.info.source_node_count), ", ") << "\n";
  llvm::outs() << llvm::format("%9.1f 100.0%%         total\n", total / 1e3);
}

bool writeOutputs(const RunCommand &command, const runtime::Entry &entry, const ProgramRun &run, MLIRContext *context) {
  runtime::NamedArrays all;
  auto arrayFor = [&](const std::string &name, runtime::Array &array) {
    WeftTensorView view;
    if (failed(weft_run_output(run.get(), name.c_str(), &view)))
      return false;
    runtime::StatusOr<runtime::Array> made = arrayOf(copyOf(view, context));
    if (made.ok())
      made = runtime::unpacked(std::move(*made));
    if (!made.ok())
      return fail(made.status().message()), false;
    array = std::move(*made);
    return true;
  };
  for (const std::string &item : command.data.outputs) {
    auto [name, path] = StringRef(item).split('=');
    if (name.empty() || path.empty())
      return fail("--output " + item + ": expected NAME=FILE.npy"), false;
    runtime::Array array;
    if (!arrayFor(name.str(), array))
      return false;
    if (runtime::Status status = runtime::writeNpy(path.str(), array); !status.ok())
      return fail(status.message()), false;
  }
  if (command.data.outputsArchive.empty())
    return true;
  for (const runtime::Port &port : entry.outputs) {
    all.emplace_back(port.name, runtime::Array());
    if (!arrayFor(port.name, all.back().second))
      return false;
  }
  runtime::Status status = runtime::writeNpz(command.data.outputsArchive, all);
  return status.ok() || (fail(status.message()), false);
}

/// A line an output: type, shape and its first values.
void printOutputs(const runtime::Entry &entry, const ProgramRun &run, MLIRContext *context) {
  for (const runtime::Port &port : entry.outputs) {
    WeftTensorView view;
    if (failed(weft_run_output(run.get(), port.name.c_str(), &view)))
      return;
    graph::TensorValue value = copyOf(view, context);
    llvm::outs() << port.name << ": " << weft_element_type_name(view.type) << "["
                 << llvm::join(llvm::map_range(value.getShape(), [](int64_t d) { return std::to_string(d); }), ", ")
                 << "]";
    int64_t shown = std::min<int64_t>(value.getElementCount(), 8);
    for (int64_t i = 0; i < shown; ++i) {
      if (graph::isFloatElement(value.getElementType()))
        llvm::outs() << llvm::format(" %.6g", value.getFloat(i));
      else
        llvm::outs() << " " << value.getInteger(i);
    }
    llvm::outs() << (shown < value.getElementCount() ? " ...\n" : "\n");
  }
}

int runModel(const RunCommand &command, Reproducer &reproducer) {
  FailureOr<DeviceRun> device = openDevice(command.device);
  if (mlir::failed(device))
    return 1;
  MLIRContext context;
  DiagnosticPrinter printer(context);
  loadCompilerDialects(context);
  Source source;
  bool isArtifact = llvm::sys::path::extension(command.model.model) == ".weft";
  if (isArtifact ? !readArtifactFile(command.model.model, source) : !compileModel(command, *device, context, source))
    return 1;
  int32_t entryIndex = -1;
  for (auto [index, entry] : llvm::enumerate(source.program.entries))
    if (entry.name == (command.entry.empty() ? "main" : command.entry) ||
        (command.entry.empty() && source.program.entries.size() == 1))
      entryIndex = static_cast<int32_t>(index);
  if (entryIndex < 0)
    return fail(
        "there is no entry point \"" + command.entry + "\"; the program has: " +
        llvm::join(llvm::map_range(source.program.entries, [](const runtime::Entry &e) { return e.name; }), ", "));
  const runtime::Entry &entry = source.program.entries[entryIndex];
  FailureOr<std::vector<NamedTensor>> inputs =
      gatherInputs(command.data, command.model.shapes, source.program, entry, &context);
  if (mlir::failed(inputs))
    return 1;
  reproducer.addInputs(*inputs);

  RunOptions options;
  options.threads = command.threads;
  options.useLibraries = !command.noLibraries;
  options.checkWeights = command.check;
  options.seed = command.data.seed;
  options.device = device->device;
  options.driver = device->driver;
  options.entry = command.entry;
  ProgramRun run;
  bool loaded = isArtifact ? run.loadFile(command.model.model, options)
                           : run.load(source.bytes.data(), source.bytes.size(), options);
  if (!loaded || !run.bind(*inputs) || failed(weft_run_set_check_nans(run.get(), command.checkNans)))
    return 1;
  std::vector<double> seconds;
  for (int i = 0; i < command.repeat; ++i) {
    // Only the last of several runs is profiled, when caches are warm.
    if (failed(weft_run_set_profile(run.get(), command.profile && i + 1 == command.repeat)))
      return 1;
    auto start = std::chrono::steady_clock::now();
    if (failed(weft_run_execute(run.get())))
      return 1;
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  if (!writeOutputs(command, entry, run, &context))
    return 1;
  if (command.data.outputs.empty() && command.data.outputsArchive.empty())
    printOutputs(entry, run, &context);
  if (command.repeat > 1) {
    llvm::sort(seconds);
    llvm::outs() << llvm::format("%d runs: median %.3f ms, fastest %.3f ms\n", command.repeat,
                                 seconds[seconds.size() / 2] * 1e3, seconds.front() * 1e3);
  }
  if (command.profile)
    printProfile(run, entryIndex);
  return 0;
}

} // namespace

int runRun(const RunCommand &command) {
  Reproducer reproducer(command.model);
  return reproducer.finish(runModel(command, reproducer));
}

} // namespace weft::tool
