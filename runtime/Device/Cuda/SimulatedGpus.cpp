// Finding the simulated driver and setting its variables.
#include "runtime/Device/Cuda/SimulatedGpus.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace weft::runtime::cuda {
namespace {

constexpr const char *kLibrary = "libweft_simcuda.so";

Status invalid(const std::string &message) { return Status(StatusCode::InvalidArgument, message); }

} // namespace

StatusOr<std::string> findSimulatedGpus() {
  std::error_code error;
  if (const char *given = std::getenv("WEFT_SIMULATOR_LIBRARY"))
    return std::filesystem::exists(given, error)
               ? StatusOr<std::string>(std::string(given))
               : Status(StatusCode::NotFound,
                        std::string("WEFT_SIMULATOR_LIBRARY names ") + given + ", which is not there");
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  std::string looked;
  for (const char *folder : {"../lib", "../lib64", "../lib/x86_64-linux-gnu", "../lib/aarch64-linux-gnu", "."}) {
    std::filesystem::path candidate = (program / folder / kLibrary).lexically_normal();
    if (std::filesystem::exists(candidate, error))
      return candidate.string();
    looked += (looked.empty() ? "" : ", ") + candidate.parent_path().string();
  }
  return Status(StatusCode::NotFound, std::string("no simulated GPU: looked for ") + kLibrary + " in " + looked +
                                          "; WEFT_SIMULATOR_LIBRARY can name it");
}

StatusOr<std::string> useSimulatedGpus(const SimulatedGpuOptions &options) {
  constexpr int kMostDevices = 64;
  if (options.count < 1 || options.count > kMostDevices)
    return invalid("--gpu-sim=" + std::to_string(options.count) + ": expected 1 to " + std::to_string(kMostDevices));
  std::string checks;
  for (size_t start = 0; start <= options.checks.size();) {
    size_t end = std::min(options.checks.find(',', start), options.checks.size());
    std::string check = options.checks.substr(start, end - start);
    start = end + 1;
    if (check != "races" && check != "uninitialised" && check != "bounds" && check != "counters" && check != "none")
      return invalid("--sim-check: '" + check + "' is none of races, uninitialised, bounds, counters, none");
    if (check != "bounds")
      checks += (checks.empty() ? "" : ",") + check;
  }
  auto library = findSimulatedGpus();
  if (!library.ok())
    return library.status();
  auto set = [](const char *name, const std::string &value) { ::setenv(name, value.c_str(), 1); };
  set("WEFT_SIMULATOR_DEVICES", std::to_string(options.count));
  set("WEFT_SIMULATOR_ARCHITECTURE", std::to_string(options.architecture));
  set("WEFT_SIMULATOR_CHECKS", checks.empty() ? "none" : checks);
  set("WEFT_SIMULATOR_SEED", std::to_string(options.seed));
  set("WEFT_SIMULATOR_FAIL", "1");
  return library;
}

} // namespace weft::runtime::cuda
