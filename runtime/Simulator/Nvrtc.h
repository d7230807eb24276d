//===- Nvrtc.h - CUDA C++ to PTX by the toolkit's NVRTC, where it is ---------------------------===//
#pragma once

#include <string>
#include <vector>

namespace weft::simulator {

/// Whether NVRTC could be loaded: by name, from CUDA_HOME, or from the toolkit's usual place.
bool hasNvrtc();
/// The folder of the toolkit's headers, empty where it was not found.
std::string cudaIncludeFolder();

/// Compiles for compute_<architecture>. False with the compiler's messages, or that there is no NVRTC, in `log`.
bool compileCuda(const std::string &source, const std::string &name, unsigned architecture,
                 const std::vector<std::string> &options, std::string &ptx, std::string &log);

} // namespace weft::simulator
