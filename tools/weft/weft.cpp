//===- weft.cpp - The command line: compiles, runs, explains and checks models -----------------------------------===//

#include "tools/weft/Commands.h"
#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>

using namespace weft::tool;

namespace {

void addModelOptions(CLI::App &command, ModelOptions &options, const char *what) {
  command.add_option("model", options.model, what)->required();
  command
      .add_option("--shape", options.shapes,
                  "A size that the model leaves open: x=1x3x224x224, batch=8, or bounds batch=1..64; may be repeated")
      ->type_size(1)
      ->allow_extra_args(false);
  command
      .add_option("--variant", options.variants,
                  "SYMBOL=SIZE[,SYMBOL=SIZE]: beside the program for all sizes, one made for these; may be repeated")
      ->type_size(1)
      ->allow_extra_args(false);
  command
      .add_option("--fix", options.fixed,
                  "INPUT=VALUE: the input always has this value and is no input any more; integers with commas, or a "
                  ".npy or .pb file. For inputs that decide a shape or a branch; may be repeated")
      ->type_size(1)
      ->allow_extra_args(false);
  command
      .add_option("--state", options.states,
                  "INPUT=OUTPUT: the output is the input's next value; the two become a state that runs update; may be "
                  "repeated")
      ->type_size(1)
      ->allow_extra_args(false);
  command
      .add_option("--operators", options.operators,
                  "A shared library that registers operators of its own (weft/operators.h); may be repeated")
      ->type_size(1)
      ->allow_extra_args(false);
  command.add_option("--target", options.target,
                     "What to compile for: cpu, cuda:sm_90, or a list of which one artifact serves all: "
                     "cpu,cuda:sm_80,cuda:sm_90+cubin; default: cpu, or the device to run on");
  command.add_option("--cpu", options.cpu, "native, x86-64-v3 or x86-64-v4")->capture_default_str();
  command
      .add_option("--numerics", options.numerics,
                  "strict: results do not depend on fusion or threads; fast: multiply-add may be contracted")
      ->check(CLI::IsMember({"strict", "fast"}))
      ->capture_default_str();
  command.add_flag("--no-fusion", options.noFusion,
                   "Every operator is a kernel of its own: to find out whether a difference comes from fusion");
  command.add_option("--dump-dir", options.dumpDirectory, "Write the program after each stage to numbered files there");
  command.add_option(
      "--reproducer", options.reproducer,
      "Collect the model, its inputs and the command in this folder; it stays if the command fails or crashes");
  command.add_flag("--time-passes", options.timePasses, "Print how long each stage took");
}

void addDataOptions(CLI::App &command, DataOptions &options) {
  command
      .add_option("--input", options.inputs,
                  "NAME=FILE: an input from a .npy file or an ONNX .pb tensor; may be repeated")
      ->type_size(1)
      ->allow_extra_args(false);
  command.add_option("--inputs", options.inputsArchive, "All inputs from an .npz file");
  command.add_flag("--random-inputs", options.randomInputs, "Random values for the inputs that are not given");
  command.add_option("--seed", options.seed, "Seed of the random inputs and of random operators")
      ->capture_default_str();
}

void addDeviceOptions(CLI::App &command, DeviceOptions &options) {
  command.add_option("--device", options.device, "cpu, cuda, cuda:1, ...; nothing falls back to another device")
      ->capture_default_str();
  command
      .add_flag("--gpu-sim{1}", options.simulated.count,
                "So many simulated GPUs instead of the machine's (--gpu-sim is one); what they find ends in status 86")
      ->check(CLI::Range(1, 64));
  command.add_option("--sim-architecture", options.simulated.architecture, "Of the simulated GPUs: 80, 90, 100, ...")
      ->check(CLI::Range(50, 130))
      ->capture_default_str();
  command
      .add_option("--sim-check", options.simulated.checks,
                  "What the simulated GPUs look for beside bounds: races, uninitialised, counters, or none")
      ->capture_default_str();
  command.add_option("--sim-seed", options.simulated.seed, "Order of streams, blocks and warps on the simulated GPUs")
      ->capture_default_str();
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app{"weft: compiles models to one artifact, and runs, explains and checks them"};
  app.set_version_flag("--version", "weft 0.1.0");
  app.failure_message([](const CLI::App *, const CLI::Error &error) {
    return std::string("weft: error: ") + error.what() + "\nTry: weft --help, or weft COMMAND --help\n";
  });
  std::function<int()> run;
  const std::vector<std::string> words(argv + (argc > 0), argv + argc);

  CompileCommand compile;
  CLI::App *compileApp = app.add_subcommand("compile", "Compile a model to an artifact");
  addModelOptions(*compileApp, compile.model, "An .onnx model, or .mlir of the Graph dialect");
  compileApp->add_option("-o,--output", compile.output,
                         "Where to write; default: the model's name with .weft, or standard output for text");
  compileApp->add_option("--emit", compile.emit, "What to write: the program after a stage, or the artifact")
      ->check(CLI::IsMember({"import", "simplified", "layout", "fused", "exec", "llvm", "artifact"}))
      ->capture_default_str();
  compileApp->footer(
      "Examples:\n  weft compile model.onnx -o model.weft\n"
      "  weft compile model.onnx --shape batch=1..64 --cpu=x86-64-v3 -o model.weft\n"
      "  weft compile model.onnx --target=cpu,cuda:sm_80,cuda:sm_90 -o model.weft\n"
      "  weft compile model.onnx --emit=fused\n  weft compile model.onnx --dump-dir stages -o model.weft");
  compileApp->callback([&] {
    compile.model.commandLine = words;
    run = [&] { return runCompile(compile); };
  });

  RunCommand runOptions;
  CLI::App *runApp = app.add_subcommand("run", "Run a model or an artifact");
  addModelOptions(*runApp, runOptions.model, "An .onnx model, .mlir, or a compiled .weft artifact");
  addDataOptions(*runApp, runOptions.data);
  runApp->add_option("--output", runOptions.data.outputs, "NAME=FILE.npy: where an output goes; may be repeated")
      ->type_size(1)
      ->allow_extra_args(false);
  runApp->add_option("--outputs", runOptions.data.outputsArchive, "All outputs to an .npz file");
  addDeviceOptions(*runApp, runOptions.device);
  runApp->add_option("--entry", runOptions.entry, "The entry point; default: main");
  runApp->add_option("--threads", runOptions.threads, "Threads; 0: one a core")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  runApp->add_option("--repeat", runOptions.repeat, "Run so often and print the times")->check(CLI::PositiveNumber);
  runApp->add_flag("--profile", runOptions.profile, "Print the time of each kernel, with the model's nodes");
  runApp->add_flag("--check-nans", runOptions.checkNans, "Stop at the first NaN and name the node that made it");
  runApp->add_flag("--check", runOptions.check, "Verify the hash of every weight first");
  runApp->add_flag("--no-libraries", runOptions.noLibraries, "Use our own kernels only, not oneDNN");
  runApp->footer("Examples:\n  weft run model.onnx --input x=cat.npy --output y=scores.npy\n"
                 "  weft run model.weft --random-inputs --seed 1 --profile\n"
                 "  weft run model.onnx --random-inputs --device=cuda --gpu-sim --sim-check=races,uninitialised\n"
                 "  weft run model.onnx --shape batch=7 --random-inputs --outputs out.npz");
  runApp->callback([&] {
    runOptions.model.commandLine = words;
    run = [&] { return runRun(runOptions); };
  });

  ExplainCommand explain;
  CLI::App *explainApp =
      app.add_subcommand("explain", "Say why each pair of operators was fused or not, and what it costs");
  addModelOptions(*explainApp, explain.model, "An .onnx model, or .mlir of the Graph dialect");
  explainApp->add_flag("--json", explain.json, "As JSON");
  explainApp->footer("Examples:\n  weft explain model.onnx\n  weft explain model.onnx --json > report.json");
  explainApp->callback([&] {
    explain.model.commandLine = words;
    run = [&] { return runExplain(explain); };
  });

  VerifyCommand verify;
  CLI::App *verifyApp =
      app.add_subcommand("verify", "Compare every operator's value, compiled, with the interpreter's");
  addModelOptions(*verifyApp, verify.model, "An .onnx model, or .mlir of the Graph dialect");
  addDataOptions(*verifyApp, verify.data);
  addDeviceOptions(*verifyApp, verify.device);
  verifyApp->add_option("--threads", verify.threads, "Threads; 0: one a core")->check(CLI::NonNegativeNumber);
  verifyApp
      ->add_option("--tolerance", verify.tolerance, "Largest difference, relative to the largest value of the tensor")
      ->capture_default_str();
  verifyApp->add_flag("--no-libraries", verify.noLibraries, "Use our own kernels only, not oneDNN");
  verifyApp->footer("Examples:\n  weft verify model.onnx\n  weft verify model.onnx --shape batch=3 --seed 7");
  verifyApp->callback([&] {
    verify.model.commandLine = words;
    run = [&] { return runVerify(verify); };
  });

  CLI::App *doctorApp =
      app.add_subcommand("doctor", "Say what is installed, what each missing piece costs, and how to get it");
  doctorApp->callback([&] { run = [] { return runDoctor(); }; });

  app.footer("Examples:\n  weft compile model.onnx -o model.weft\n  weft run model.weft --random-inputs\n  weft verify "
             "model.onnx\n\n"
             "weft COMMAND --help describes a command.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    int status = app.exit(error);
    return status == 0 ? 0 : 1;
  }
  if (!run) {
    std::fprintf(stderr, "%s", app.help().c_str());
    return 1;
  }
  return run();
}
