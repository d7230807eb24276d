// The CPU features an artifact may require, by LLVM's names, and those of the machine we run on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::runtime {

// Every feature name a Target may list ("avx2", "fma", "avx512f", ...). The compiler drops others that LLVM reports,
// which are of no use to code generation.
const std::vector<std::string> &knownCpuFeatures();

// Those of knownCpuFeatures() that this CPU and its operating system support.
const std::vector<std::string> &hostCpuFeatures();

bool hostHasCpuFeature(std::string_view name);

// "AMD EPYC 7763 64-Core Processor", as the CPU names itself; for messages.
std::string hostCpuName();

// The name of this machine's instruction set as in Target::architecture: "x86_64", "aarch64".
std::string_view hostArchitecture();

} // namespace weft::runtime
