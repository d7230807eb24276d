// Options and their help.
#include "tools/weft-run/Arguments.h"

#include "include/weft/runtime.h"

#include <CLI/CLI.hpp>
#include <iostream>

namespace weft::run {
namespace {

constexpr const char *kExamples = R"(
Examples:
  weft-run model.weft --list                              what the artifact takes and gives
  weft-run model.weft --input x=cat.npy --output y=out.npy
  weft-run model.weft --inputs batch.npz --outputs results.npz
  weft-run model.weft --random-inputs --seed 7 --shape N=8 --outputs results.npz
  weft-run model.weft --random-inputs --repeat 20 --profile
  weft-run model.weft --random-inputs --device=cuda
  weft-run model.weft --random-inputs --check --check-nans

Without --output and --outputs a summary of each output is printed. Errors end with status 1 and leave no file behind.
)";

// NAME=VALUE; the name may not contain '=', the value may.
std::pair<std::string, std::string> split(const std::string &text, const char *option, const char *form) {
  size_t position = text.find('=');
  if (position == std::string::npos || position == 0 || position + 1 == text.size())
    throw CLI::ValidationError(option, "'" + text + "' is not of the form " + form);
  return {text.substr(0, position), text.substr(position + 1)};
}

} // namespace

bool parseArguments(int argc, char **argv, Arguments &arguments, int &exitCode) {
  CLI::App app("Runs a model that `weft compile` compiled, on the CPU or a GPU.", "weft-run");
  app.footer(kExamples);
  app.set_version_flag("--version", std::string("weft-run ") + weft_runtime_version());
  std::vector<std::string> inputs, outputs, shape;
  app.add_option("artifact", arguments.artifact, "The compiled model, a .weft file")->required();
  app.add_option("--input", inputs, "An input from a .npy file; may be given several times")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  app.add_option("--inputs", arguments.inputsFile, "Inputs from a .npz file, by name")->type_name("FILE");
  app.add_flag("--random-inputs", arguments.randomInputs, "Random values for the inputs not given");
  app.add_option("--seed", arguments.seed, "For random inputs and the model's random operations (default 0)");
  app.add_option("--shape", shape, "The size of a symbolic dimension of random inputs; default: the smallest above 0")
      ->type_name("SYMBOL=N")
      ->allow_extra_args(false);
  app.add_option("--output", outputs, "Write an output to a .npy file; may be given several times")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  app.add_option("--outputs", arguments.outputsFile, "Write all outputs to a .npz file")->type_name("FILE");
  app.add_option("--entry", arguments.entry, "The entry point to run (default: main)")->type_name("NAME");
  app.add_option("--device", arguments.device,
                 "cpu (default), cuda, cuda:1, ...; nothing falls back to another device");
  app.add_flag("--gpu-sim{1}", arguments.simulated.count,
               "So many simulated GPUs instead of the machine's (--gpu-sim is one); what they find ends in status 86")
      ->check(CLI::Range(1, 64));
  app.add_option("--sim-architecture", arguments.simulated.architecture, "Of the simulated GPUs (default 90)")
      ->check(CLI::Range(50, 130));
  app.add_option("--sim-check", arguments.simulated.checks,
                 "What they look for beside bounds: races, uninitialised (default), counters, or none");
  app.add_option("--sim-seed", arguments.simulated.seed, "Order of streams, blocks and warps there (default 0)");
  app.add_option("--threads", arguments.threads, "Threads, 0: one a core (default); results do not depend on it")
      ->check(CLI::Range(0, 4096));
  app.add_option("--repeat", arguments.repeat, "Run so many times, and print the times")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 40));
  app.add_flag("--profile", arguments.profile, "Print the time of each op, with the model's node names");
  app.add_flag("--check", arguments.check, "Verify the hash of every weight before running");
  app.add_flag("--check-nans", arguments.checkNans, "Stop at the first op that makes a NaN, and name it");
  app.add_flag("--list", arguments.list, "Print inputs, outputs and requirements instead of running");
  app.add_flag("--no-libraries", arguments.noLibraries, "Use our own kernels only, never oneDNN");
  app.add_flag("--verbose", arguments.verbose, "Print what the runtime decides (copies, libraries)");
  try {
    app.parse(argc, argv);
    for (const std::string &text : inputs)
      arguments.inputs.push_back(split(text, "--input", "NAME=FILE"));
    for (const std::string &text : outputs)
      arguments.outputs.push_back(split(text, "--output", "NAME=FILE"));
    for (const std::string &text : shape) {
      auto [name, value] = split(text, "--shape", "SYMBOL=N");
      int64_t number;
      if (!CLI::detail::lexical_cast(value, number) || number < 0)
        throw CLI::ValidationError("--shape", "'" + value + "' is not a size");
      arguments.shape.emplace_back(name, number);
    }
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) {
      exitCode = app.exit(error);
      return false;
    }
    std::cerr << "weft-run: error: " << error.what() << "\nRun weft-run --help for the options and examples.\n";
    exitCode = 1;
    return false;
  }
  return true;
}

} // namespace weft::run
