// The command line of weft-run.
#pragma once

#include "runtime/Device/Cuda/SimulatedGpus.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft::run {

struct Arguments {
  std::string artifact;
  std::string entry;                                       // empty: "main", or the only one
  std::vector<std::pair<std::string, std::string>> inputs; // name, file
  std::string inputsFile;
  std::vector<std::pair<std::string, std::string>> outputs; // name, file
  std::string outputsFile;
  std::vector<std::pair<std::string, int64_t>> shape; // symbol, value
  bool randomInputs = false;
  uint64_t seed = 0;
  std::string device = "cpu";
  runtime::cuda::SimulatedGpuOptions simulated{0}; // no simulated GPUs
  int32_t threads = 0;
  int64_t repeat = 1;
  bool profile = false;
  bool check = false;
  bool checkNans = false;
  bool list = false;
  bool noLibraries = false;
  bool verbose = false;
};

// False when the program is to end with `exitCode`: after --help or --version, or with a message about a mistake.
bool parseArguments(int argc, char **argv, Arguments &arguments, int &exitCode);

} // namespace weft::run
