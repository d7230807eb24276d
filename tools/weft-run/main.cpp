// weft-run: loads an artifact, runs it and writes its outputs, with the small runtime alone.
#include "runtime/Data/Npy.h"
#include "runtime/Data/Npz.h"
#include "runtime/Device/Cuda/SimulatedGpus.h"
#include "tools/weft-run/Inputs.h"
#include "tools/weft-run/Report.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <new>

namespace weft::run {
namespace {

using runtime::Array;
using runtime::NamedArrays;

// The simulated driver's library; empty: the machine's driver, where a GPU is asked for.
std::string driverOf(const Arguments &arguments) {
  if (arguments.simulated.count == 0)
    return "";
  if (arguments.device == "cpu")
    throw Failure("--gpu-sim simulates GPUs; give --device=cuda with it");
  auto library = runtime::cuda::useSimulatedGpus(arguments.simulated);
  check(library.status());
  return *library;
}

Program loadProgram(const Arguments &arguments, const ThreadPool &pool, const std::string &driver) {
  WeftLoadOptions options;
  weft_load_options_init(&options);
  options.thread_pool = pool.get();
  options.use_libraries = !arguments.noLibraries;
  options.check_weights = arguments.check;
  options.device = arguments.device.c_str();
  if (!driver.empty())
    options.cuda_driver = driver.c_str();
  if (arguments.verbose)
    options.log = [](void *, WeftLogLevel, const char *message) { std::fprintf(stderr, "weft-run: %s\n", message); };
  WeftProgram *program = nullptr;
  check(weft_program_load_file(arguments.artifact.c_str(), &options, &program));
  return Program(program);
}

int32_t findEntry(const Arguments &arguments, WeftProgram *program) {
  std::string wanted = arguments.entry.empty() ? "main" : arguments.entry, names;
  int32_t count = weft_program_entry_count(program);
  for (int32_t entry = 0; entry < count; ++entry) {
    if (wanted == weft_program_entry_name(program, entry))
      return entry;
    names += (entry ? ", \"" : "\"") + std::string(weft_program_entry_name(program, entry)) + "\"";
  }
  if (arguments.entry.empty() && count == 1)
    return 0;
  throw Failure("the model has no entry point \"" + wanted + "\"; it has " + names);
}

// Mistakes in the names of outputs should show before a long run.
void checkOutputNames(const Arguments &arguments, WeftProgram *program, int32_t entry) {
  for (const auto &[name, file] : arguments.outputs) {
    std::string names;
    bool found = false;
    for (int32_t index = 0; index < weft_program_output_count(program, entry); ++index) {
      WeftTensorInfo info;
      check(weft_program_output(program, entry, index, &info));
      found |= name == info.name;
      names += (index ? ", \"" : "\"") + std::string(info.name) + "\"";
    }
    if (!found)
      throw Failure("--output: the model has no output \"" + name + "\"; its outputs are " + names);
  }
}

Array outputArray(WeftRun *run, const std::string &name) {
  WeftTensorView view;
  check(weft_run_output(run, name.c_str(), &view));
  auto array = runtime::makeArray(static_cast<runtime::ElementType>(view.type),
                                  std::vector<int64_t>(view.dims, view.dims + view.rank));
  check(array.status());
  std::memcpy(array->data.data(), view.data, static_cast<size_t>(array->byteCount()));
  auto unpacked = runtime::unpacked(std::move(*array));
  check(unpacked.status());
  return std::move(*unpacked);
}

// All files are written before the first appears, so that a full disk leaves neither some of them nor a loss of older
// ones.
void writeOutputs(const Arguments &arguments, WeftProgram *program, int32_t entry, WeftRun *run) {
  std::deque<runtime::AtomicFile> files;
  for (const auto &[name, file] : arguments.outputs)
    check(runtime::stageNpy(files.emplace_back(), file, outputArray(run, name)));
  if (!arguments.outputsFile.empty()) {
    NamedArrays arrays;
    for (int32_t index = 0; index < weft_program_output_count(program, entry); ++index) {
      WeftTensorInfo info;
      check(weft_program_output(program, entry, index, &info));
      arrays.emplace_back(info.name, outputArray(run, info.name));
    }
    check(runtime::stageNpz(files.emplace_back(), arguments.outputsFile, arrays));
  }
  for (runtime::AtomicFile &file : files)
    check(file.commit());
}

void execute(const Arguments &arguments) {
  WeftThreadPool *poolHandle = nullptr;
  if (arguments.threads > 0)
    check(weft_thread_pool_create(arguments.threads, &poolHandle));
  ThreadPool pool(poolHandle);
  Program program = loadProgram(arguments, pool, driverOf(arguments));
  if (arguments.list) {
    printContents(program.get());
    return;
  }
  int32_t entry = findEntry(arguments, program.get());
  checkOutputNames(arguments, program.get(), entry);
  NamedArrays inputs; // outlive the run that reads them
  State state;
  if (weft_program_state_count(program.get()) > 0) {
    WeftState *handle = nullptr;
    check(weft_state_create(program.get(), &handle));
    state.reset(handle);
  }
  WeftRun *runHandle = nullptr;
  check(weft_run_create(program.get(), weft_program_entry_name(program.get(), entry), &runHandle));
  Run run(runHandle);
  check(weft_run_set_state(run.get(), state.get()));
  check(weft_run_set_seed(run.get(), arguments.seed));
  check(weft_run_set_check_nans(run.get(), arguments.checkNans));
  check(weft_run_set_profile(run.get(), arguments.profile));
  bindInputs(arguments, program.get(), entry, run.get(), inputs);

  std::vector<int64_t> times;
  for (int64_t round = 0; round < arguments.repeat; ++round) {
    auto start = std::chrono::steady_clock::now();
    check(weft_run_execute(run.get()));
    times.push_back(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count());
  }
  if (arguments.repeat > 1)
    printTimes(times);
  if (arguments.profile)
    printProfile(program.get(), entry, run.get());
  if (arguments.outputs.empty() && arguments.outputsFile.empty() && arguments.repeat == 1 && !arguments.profile)
    printOutputs(program.get(), entry, run.get());
  // Before the files, so that a full disk behind the terminal's redirection leaves none of them.
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    throw Failure("cannot write to the standard output");
  writeOutputs(arguments, program.get(), entry, run.get());
}

} // namespace
} // namespace weft::run

int main(int argc, char **argv) {
  try {
    weft::run::Arguments arguments;
    int exitCode = 0;
    if (!weft::run::parseArguments(argc, argv, arguments, exitCode))
      return exitCode;
    weft::run::execute(arguments);
    return 0;
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "weft-run: error: out of memory\n");
  } catch (const std::exception &error) {
    std::fprintf(stderr, "weft-run: error: %s\n", error.what());
  }
  return 1;
}
