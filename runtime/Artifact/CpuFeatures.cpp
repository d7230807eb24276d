// Feature detection by cpuid; a feature counts only if the operating system saves the registers it needs.
#include "runtime/Artifact/CpuFeatures.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace weft::runtime {
namespace {

struct FeatureRow {
  const char *name;
  uint32_t leaf, subleaf, registerIndex, bit, state;
};

constexpr FeatureRow kFeatures[] = {
#define FEATURE(name, leaf, subleaf, registerIndex, bit, state) {name, leaf, subleaf, registerIndex, bit, state},
#include "runtime/Artifact/CpuFeatures.def"
#undef FEATURE
};

#if defined(__x86_64__)

std::array<uint32_t, 4> cpuid(uint32_t leaf, uint32_t subleaf) {
  std::array<uint32_t, 4> r = {0, 0, 0, 0};
  if (leaf <= __get_cpuid_max(leaf & 0x80000000u, nullptr))
    __cpuid_count(leaf, subleaf, r[0], r[1], r[2], r[3]);
  return r;
}

// Which register sets the operating system saves.
uint64_t enabledState() {
  constexpr uint32_t kOsxsave = 1u << 27;
  if (!(cpuid(1, 0)[2] & kOsxsave))
    return 0x2; // the 64-bit ABI itself needs the SSE registers
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t(high) << 32) | low;
}

bool hostHas(const FeatureRow &row, uint64_t state) {
  if ((state & row.state) != row.state)
    return false;
  // A subleaf beyond the leaf's highest returns unrelated data.
  if (row.leaf == 7 && row.subleaf > cpuid(7, 0)[0])
    return false;
  return (cpuid(row.leaf, row.subleaf)[row.registerIndex] >> row.bit) & 1;
}

#endif

} // namespace

const std::vector<std::string> &knownCpuFeatures() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const FeatureRow &row : kFeatures)
      result.push_back(row.name);
    return result;
  }();
  return names;
}

const std::vector<std::string> &hostCpuFeatures() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
#if defined(__x86_64__)
    uint64_t state = enabledState();
    for (const FeatureRow &row : kFeatures)
      if (hostHas(row, state))
        result.push_back(row.name);
#endif
    return result;
  }();
  return names;
}

bool hostHasCpuFeature(std::string_view name) {
  const std::vector<std::string> &names = hostCpuFeatures();
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string hostCpuName() {
#if defined(__x86_64__)
  char brand[49] = {};
  for (uint32_t leaf = 0; leaf < 3; ++leaf) {
    std::array<uint32_t, 4> r = cpuid(0x80000002u + leaf, 0);
    std::memcpy(brand + 16 * leaf, r.data(), 16);
  }
  std::string name = brand;
  name.erase(0, name.find_first_not_of(' '));
  name.erase(name.find_last_not_of(' ') + 1);
  if (!name.empty())
    return name;
#endif
  return "unknown CPU";
}

std::string_view hostArchitecture() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "unknown";
#endif
}

} // namespace weft::runtime
