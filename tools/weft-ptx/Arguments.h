//===- Arguments.h - A kernel's arguments as weft-ptx takes them ---------------------------------===//
#pragma once

#include "runtime/Data/Array.h"
#include "runtime/Simulator/Launch.h"

#include <string>
#include <vector>

namespace weft::ptx {

/// One --arg: a scalar ("i32:5"), the contents of a file ("in.npy"), or zeroed or fresh memory ("zeros:f32:4x8",
/// "empty:f32:32"); "=out.npy" behind a buffer writes it there afterwards, "=print" prints its first elements.
struct KernelArgument {
  std::string text;
  bool isBuffer = false;
  runtime::ElementType type = runtime::ElementType::Invalid;
  std::vector<uint8_t> scalar;
  runtime::Array array;
  bool initialised = true;
  std::string output; ///< A path, "print" or empty.
  uint64_t address = 0;
};

/// False with the reason in `problem`.
bool parseArgument(const std::string &text, KernelArgument &argument, std::string &problem);

/// Puts buffers in the device's memory and lays out the parameters as the kernel has them.
bool placeArguments(std::vector<KernelArgument> &arguments, const simulator::CompiledKernel &kernel,
                    simulator::AddressSpace &memory, std::vector<uint8_t> &parameters, std::string &problem);

/// Writes or prints what was asked for.
bool finishArguments(std::vector<KernelArgument> &arguments, std::string &problem);

} // namespace weft::ptx
