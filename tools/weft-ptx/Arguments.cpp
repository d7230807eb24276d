//===- Arguments.cpp - A kernel's arguments as weft-ptx takes them --------------------------------===//
#include "tools/weft-ptx/Arguments.h"
#include "runtime/Data/Npy.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace weft::ptx {

using runtime::ElementType;

namespace {

bool parseDims(const std::string &text, std::vector<int64_t> &dims) {
  size_t at = 0;
  while (at <= text.size()) {
    size_t end = std::min(text.find('x', at), text.size());
    char *stop = nullptr;
    std::string part = text.substr(at, end - at);
    long long value = std::strtoll(part.c_str(), &stop, 10);
    if (part.empty() || *stop || value < 0)
      return false;
    dims.push_back(value);
    at = end + 1;
  }
  return true;
}

bool parseScalar(ElementType type, const std::string &text, std::vector<uint8_t> &out) {
  char *stop = nullptr;
  auto put = [&](auto value) {
    out.resize(sizeof value);
    std::memcpy(out.data(), &value, sizeof value);
    return !text.empty() && *stop == 0;
  };
  errno = 0;
  auto integer = [&](auto narrow) {
    using T = decltype(narrow);
    bool isSigned = T(-1) < T(0);
    long long value = std::strtoll(text.c_str(), &stop, 0);
    if (!isSigned && sizeof(T) == 8)
      return put(T(std::strtoull(text.c_str(), &stop, 0))) && !errno;
    return put(T(value)) && !errno && (long long)(T(value)) == value;
  };
  switch (type) {
  case ElementType::I8:
    return integer(int8_t());
  case ElementType::U8:
    return integer(uint8_t());
  case ElementType::I16:
    return integer(int16_t());
  case ElementType::U16:
    return integer(uint16_t());
  case ElementType::I32:
    return integer(int32_t());
  case ElementType::U32:
    return integer(uint32_t());
  case ElementType::I64:
    return integer(int64_t());
  case ElementType::U64:
    return integer(uint64_t());
  case ElementType::F32: {
    float value = std::strtof(text.c_str(), &stop);
    return put(value);
  }
  case ElementType::F64: {
    double value = std::strtod(text.c_str(), &stop);
    return put(value);
  }
  default:
    return false;
  }
}

std::string shown(const KernelArgument &argument, int64_t index) {
  const auto *bytes = static_cast<const uint8_t *>(argument.array.data.data());
  char text[64];
  auto read = [&](auto value) {
    std::memcpy(&value, bytes + index * int64_t(sizeof value), sizeof value);
    return value;
  };
  switch (argument.array.type) {
  case ElementType::F32:
    std::snprintf(text, sizeof text, "%.9g", double(read(float())));
    break;
  case ElementType::F64:
    std::snprintf(text, sizeof text, "%.17g", read(double()));
    break;
  case ElementType::I8:
  case ElementType::I1:
    std::snprintf(text, sizeof text, "%d", int(read(int8_t())));
    break;
  case ElementType::U8:
    std::snprintf(text, sizeof text, "%d", int(read(uint8_t())));
    break;
  case ElementType::I16:
    std::snprintf(text, sizeof text, "%d", int(read(int16_t())));
    break;
  case ElementType::U16:
    std::snprintf(text, sizeof text, "%d", int(read(uint16_t())));
    break;
  case ElementType::I32:
    std::snprintf(text, sizeof text, "%d", read(int32_t()));
    break;
  case ElementType::U32:
    std::snprintf(text, sizeof text, "%u", read(uint32_t()));
    break;
  case ElementType::I64:
    std::snprintf(text, sizeof text, "%lld", static_cast<long long>(read(int64_t())));
    break;
  case ElementType::U64:
    std::snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(read(uint64_t())));
    break;
  default:
    std::snprintf(text, sizeof text, "0x%04x", unsigned(read(uint16_t())));
    break;
  }
  return text;
}

} // namespace

bool parseArgument(const std::string &text, KernelArgument &argument, std::string &problem) {
  argument.text = text;
  std::string source = text;
  size_t equals = text.find('=');
  if (equals != std::string::npos) {
    argument.output = text.substr(equals + 1);
    source = text.substr(0, equals);
  }
  size_t colon = source.find(':');
  std::string head = source.substr(0, colon);
  if (head == "zeros" || head == "empty") {
    size_t second = source.find(':', colon + 1);
    std::vector<int64_t> dims;
    argument.type = second == std::string::npos
                        ? ElementType::Invalid
                        : runtime::elementTypeFromName(source.substr(colon + 1, second - colon - 1));
    if (argument.type == ElementType::Invalid || !parseDims(source.substr(second + 1), dims)) {
      problem = "--arg " + text + ": expected " + head + ":TYPE:DIMS such as " + head + ":f32:4x8";
      return false;
    }
    auto made = runtime::makeArray(argument.type, dims);
    if (!made.ok()) {
      problem = "--arg " + text + ": " + made.status().message();
      return false;
    }
    argument.array = std::move(*made);
    argument.isBuffer = true;
    argument.initialised = head == "zeros";
    std::memset(argument.array.data.data(), 0, size_t(argument.array.byteCount()));
    return true;
  }
  if (source.size() > 4 && source.compare(source.size() - 4, 4, ".npy") == 0) {
    auto read = runtime::readNpy(source);
    if (!read.ok()) {
      problem = "--arg " + text + ": " + read.status().message();
      return false;
    }
    argument.array = std::move(*read);
    argument.type = argument.array.type;
    argument.isBuffer = true;
    return true;
  }
  argument.type = colon == std::string::npos ? ElementType::Invalid : runtime::elementTypeFromName(head);
  if (!argument.output.empty() || argument.type == ElementType::Invalid ||
      !parseScalar(argument.type, source.substr(colon + 1), argument.scalar)) {
    problem = "--arg " + text +
              ": expected TYPE:NUMBER such as i32:5 or f32:1.5, FILE.npy, zeros:TYPE:DIMS or empty:TYPE:DIMS";
    return false;
  }
  return true;
}

bool placeArguments(std::vector<KernelArgument> &arguments, const simulator::CompiledKernel &kernel,
                    simulator::AddressSpace &memory, std::vector<uint8_t> &parameters, std::string &problem) {
  if (arguments.size() != kernel.parameterLayout.size()) {
    problem = "kernel '" + kernel.name + "' has " + std::to_string(kernel.parameterLayout.size()) +
              " parameters, got " + std::to_string(arguments.size()) + " --arg";
    return false;
  }
  parameters.assign(kernel.parameterBytes, 0);
  for (size_t i = 0; i < arguments.size(); ++i) {
    KernelArgument &argument = arguments[i];
    auto [offset, size] = kernel.parameterLayout[i];
    std::vector<uint8_t> bytes = argument.scalar;
    if (argument.isBuffer) {
      simulator::Allocation *made =
          memory.allocate(0, uint64_t(argument.array.byteCount()), simulator::AllocationKind::Device,
                          "argument " + std::to_string(i) + " (" + argument.text + ")");
      if (!made) {
        problem = "--arg " + argument.text + ": the device has no memory left";
        return false;
      }
      std::memcpy(reinterpret_cast<void *>(made->base), argument.array.data.data(), size_t(argument.array.byteCount()));
      if (argument.initialised)
        memory.markInitialised(*made, made->base, made->size);
      argument.address = made->base;
      bytes.resize(8);
      std::memcpy(bytes.data(), &made->base, 8);
    }
    if (bytes.size() != size) {
      problem = "--arg " + argument.text + ": parameter " + std::to_string(i) + " of kernel '" + kernel.name +
                "' has " + std::to_string(size) + " bytes, the argument " + std::to_string(bytes.size());
      return false;
    }
    std::memcpy(parameters.data() + offset, bytes.data(), size);
  }
  return true;
}

bool finishArguments(std::vector<KernelArgument> &arguments, std::string &problem) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    KernelArgument &argument = arguments[i];
    if (!argument.isBuffer || argument.output.empty())
      continue;
    std::memcpy(argument.array.data.data(), reinterpret_cast<const void *>(argument.address),
                size_t(argument.array.byteCount()));
    if (argument.output == "print") {
      int64_t count = argument.array.elementCount(), most = std::min<int64_t>(count, 32);
      std::printf("argument %zu:", i);
      for (int64_t n = 0; n < most; ++n)
        std::printf(" %s", shown(argument, n).c_str());
      std::printf(count > most ? " ... (%lld elements)\n" : "\n", static_cast<long long>(count));
      continue;
    }
    auto status = runtime::writeNpy(argument.output, argument.array);
    if (!status.ok()) {
      problem = argument.output + ": " + status.message();
      return false;
    }
  }
  return true;
}

} // namespace weft::ptx
