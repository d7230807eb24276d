//===- main.cpp - weft-ptx: runs or checks a kernel on the simulated GPU ---------------------------===//
#include "runtime/Simulator/Diagnostic.h"
#include "runtime/Simulator/Nvrtc.h"
#include "tools/weft-ptx/Arguments.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <fstream>
#include <iostream>
#include <sstream>

using namespace weft;
using namespace weft::simulator;

namespace {

struct Options {
  std::string file, kernel, grid = "1", block = "32";
  std::vector<std::string> arguments, compilerOptions;
  unsigned architecture = 90, threads = 0;
  uint32_t shared = 0;
  uint64_t seed = 0, stepLimit = uint64_t(1) << 30;
  bool check = false, races = false, counters = false, json = false, noUninitialised = false, printPtx = false;
};

int fail(const std::string &message) {
  std::fprintf(stderr, "weft-ptx: error: %s\n", message.c_str());
  return 2;
}

/// "4", "4,2" or "4,2,1".
bool parseExtent(const std::string &text, Coordinates &out) {
  uint32_t values[3] = {1, 1, 1};
  size_t index = 0;
  std::stringstream stream(text);
  std::string part;
  while (std::getline(stream, part, ',')) {
    char *stop = nullptr;
    unsigned long long value = std::strtoull(part.c_str(), &stop, 10);
    if (index == 3 || part.empty() || *stop || part[0] == '-' || value > UINT32_MAX)
      return false;
    values[index++] = uint32_t(value);
  }
  out = {values[0], values[1], values[2]};
  return index > 0;
}

bool readText(const Options &options, std::string &text, std::string &problem) {
  std::ifstream file(options.file, std::ios::binary);
  std::stringstream content;
  if (!file || !(content << file.rdbuf())) {
    problem = "cannot read '" + options.file + "'";
    return false;
  }
  text = content.str();
  size_t dot = options.file.rfind('.');
  if (dot == std::string::npos || options.file.substr(dot) != ".cu")
    return true;
  std::string ptx, log;
  bool good = compileCuda(text, options.file, options.architecture, options.compilerOptions, ptx, log);
  if (!good) {
    problem = "'" + options.file + "' does not compile:\n" + log;
    return false;
  }
  text = ptx;
  return true;
}

int run(const Options &options) {
  std::string text, problem;
  if (!readText(options, text, problem))
    return fail(problem);
  if (options.printPtx)
    std::fputs(text.c_str(), stdout);
  AddressSpace memory(1, uint64_t(8) << 30);
  std::unique_ptr<LoadedModule> module;
  try {
    module = loadModule(text, memory, 0, options.file);
  } catch (const PtxError &error) {
    std::fprintf(stderr, "%s\n", error.format(options.file).c_str());
    return 1;
  }
  if (options.check) {
    for (const auto &entry : module->kernels) {
      std::printf("kernel %s: %zu parameters in %u bytes, %u bytes of shared memory%s\n", entry.first.c_str(),
                  entry.second->parameterLayout.size(), entry.second->parameterBytes, entry.second->sharedDeclared,
                  entry.second->usesDynamicShared ? " and dynamic ones" : "");
    }
    return 0;
  }
  std::string name = options.kernel;
  if (name.empty() && module->kernels.size() == 1)
    name = module->kernels.begin()->first;
  auto found = module->kernels.find(name);
  if (found == module->kernels.end()) {
    std::string list;
    for (const auto &entry : module->kernels)
      list += "\n  " + entry.first;
    return fail((name.empty() ? "the module has several kernels; choose one with --kernel:"
                              : "the module has no kernel '" + name + "'; it has:") +
                list);
  }
  const CompiledKernel &kernel = *found->second;
  LaunchConfiguration configuration;
  if (!parseExtent(options.grid, configuration.grid) || !parseExtent(options.block, configuration.block))
    return fail("--grid and --block are one to three numbers such as 64 or 16,16");
  configuration.dynamicShared = options.shared;
  std::vector<ptx::KernelArgument> arguments(options.arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!ptx::parseArgument(options.arguments[i], arguments[i], problem))
      return fail(problem);
  if (!ptx::placeArguments(arguments, kernel, memory, configuration.parameters, problem))
    return fail(problem);
  problem = checkConfiguration(kernel, configuration, deviceLimits(options.architecture).sharedPerBlockOptIn);
  if (!problem.empty())
    return fail(problem);
  LaunchOptions launchOptions;
  launchOptions.checkRaces = options.races;
  launchOptions.checkUninitialised = !options.noUninitialised;
  launchOptions.countMemory = options.counters;
  launchOptions.seed = options.seed;
  launchOptions.stepLimit = options.stepLimit;
  launchOptions.threads = options.threads;
  FaultLog faults;
  auto start = std::chrono::steady_clock::now();
  LaunchResult result = launch(kernel, memory, 0, 0, configuration, launchOptions, faults);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (const Fault &fault : faults.faults())
    std::fprintf(stderr, "%s\n", options.json ? fault.json().c_str() : fault.format().c_str());
  if (!ptx::finishArguments(arguments, problem))
    return fail(problem);
  if (options.counters) {
    std::fputs((options.json ? result.counters.json() + "\n" : result.counters.table()).c_str(), stdout);
    if (!options.json)
      std::printf("simulated in %.3f ms, %.2f billion thread instructions a second\n", seconds * 1e3,
                  double(result.counters.threadInstructions) / seconds * 1e-9);
  }
  return faults.size() ? 1 : 0;
}

} // namespace

int main(int count, char **values) {
  Options options;
  CLI::App app{"Runs a kernel from PTX or CUDA C++ on a simulated GPU, with every access checked.\n"
               "Exit status: 0 without findings, 1 with findings or a module that is refused, 2 for wrong use.",
               "weft-ptx"};
  app.add_option("file", options.file, "FILE.ptx, or FILE.cu (needs NVRTC of a CUDA toolkit)")->required();
  app.add_flag("--check", options.check, "Only parse and verify; list the kernels");
  app.add_option("--kernel", options.kernel, "The kernel's name; may be left out where there is one");
  app.add_option("--grid", options.grid, "Blocks: X[,Y[,Z]]")->delimiter('\0');
  app.add_option("--block", options.block, "Threads of a block: X[,Y[,Z]]")->delimiter('\0');
  app.add_option("--shared", options.shared, "Bytes of dynamic shared memory");
  app.add_option("--arg", options.arguments,
                 "An argument, in order: i32:5, f32:1.5, FILE.npy, zeros:f32:4x8, empty:f32:4x8; =OUT.npy or =print "
                 "behind a buffer");
  app.add_flag("--races", options.races, "Report unordered accesses to the same bytes");
  app.add_flag("--no-uninitialised", options.noUninitialised, "Do not report reads of memory that was never written");
  app.add_flag("--counters", options.counters,
               "Print instructions, memory traffic, coalescing, bank conflicts, divergence");
  app.add_flag("--json", options.json, "Findings and counters as JSON");
  app.add_option("--seed", options.seed, "Order of blocks and warps; 0 is the natural one");
  app.add_option("--step-limit", options.stepLimit, "Instructions a warp may execute");
  app.add_option("--threads", options.threads, "Threads of the host; 0 for all cores");
  app.add_option("--architecture", options.architecture, "For .cu files: 80, 90 or 100");
  app.add_option("--compiler-option", options.compilerOptions, "For .cu files: passed to NVRTC");
  app.add_flag("--print-ptx", options.printPtx, "Print the PTX");
  CLI11_PARSE(app, count, values);
  try {
    return run(options);
  } catch (const std::exception &error) {
    return fail(error.what());
  }
}
