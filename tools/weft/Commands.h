//===- Commands.h - The commands of the weft tool -------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_COMMANDS_H
#define WEFT_TOOLS_WEFT_COMMANDS_H

#include "runtime/Device/Cuda/SimulatedGpus.h"
#include <cstdint>
#include <string>
#include <vector>

namespace weft::tool {

/// How a model is read and compiled: shared by all commands that take one.
struct ModelOptions {
  std::string model;                  // .onnx, .mlir (Graph dialect) or, for run, .weft
  std::vector<std::string> operators; // shared libraries that register some
  std::vector<std::string> shapes;    // "x=1x3x224x224", "batch=8", "batch=1..64"
  std::vector<std::string> states;    // "past=present"
  std::vector<std::string> fixed;     // "sr=16000", "mask=FILE.npy"
  std::vector<std::string> variants;  // "batch=1,time=128"
  std::string target; // a list for lib/Pipeline/Targets.h; empty: the CPU, or for run and verify the device
  std::string cpu = "native";
  std::string numerics = "strict";
  bool noFusion = false;
  std::string dumpDirectory;
  std::string reproducer;               // a folder for what is needed to see a failure again
  std::vector<std::string> commandLine; // the words after the program's name
  bool timePasses = false;
};

/// Where the values of inputs come from and those of outputs go.
struct DataOptions {
  std::vector<std::string> inputs;  // "name=file.npy" or "name=file.pb"
  std::string inputsArchive;        // .npz
  std::vector<std::string> outputs; // "name=file.npy"
  std::string outputsArchive;       // .npz
  bool randomInputs = false;
  uint64_t seed = 0;
};

/// Where a program runs.
struct DeviceOptions {
  std::string device = "cpu"; // "cuda", "cuda:1"
  /// Above 0 of them: the simulated driver in place of the machine's.
  runtime::cuda::SimulatedGpuOptions simulated{0};
};

struct CompileCommand {
  ModelOptions model;
  std::string output;
  std::string emit = "artifact";
};

struct RunCommand {
  ModelOptions model;
  DataOptions data;
  DeviceOptions device;
  std::string entry;
  int threads = 0;
  int repeat = 1;
  bool profile = false, checkNans = false, check = false, noLibraries = false;
};

struct ExplainCommand {
  ModelOptions model;
  bool json = false;
};

struct VerifyCommand {
  ModelOptions model;
  DataOptions data;
  DeviceOptions device;
  int threads = 0;
  double tolerance = 1e-4;
  bool noLibraries = false;
};

/// Each returns the exit status: 0, or 1 after an error that has been printed.
int runCompile(const CompileCommand &command);
int runRun(const RunCommand &command);
int runExplain(const ExplainCommand &command);
int runVerify(const VerifyCommand &command);
int runDoctor();

} // namespace weft::tool

#endif
