//===- DeviceModel.cpp - The descriptions by name, and the cost function ---------------------------===//

#include "lib/DeviceModel/DeviceModel.h"

#include <algorithm>
#include <cctype>

namespace weft {

namespace {

// Each file under Devices/ is a list of WEFT_FIELD(name of the field, its value).
#define WEFT_FIELD(field, ...) device.field = __VA_ARGS__;

DeviceDescription makeCpu() {
  DeviceDescription device;
#include "lib/DeviceModel/Devices/Cpu.def"
  return device;
}

DeviceDescription makeA100() {
  DeviceDescription device;
#include "lib/DeviceModel/Devices/A100.def"
  return device;
}

DeviceDescription makeH100() {
  DeviceDescription device;
#include "lib/DeviceModel/Devices/H100.def"
  return device;
}

DeviceDescription makeH200() {
  DeviceDescription device;
#include "lib/DeviceModel/Devices/H200.def"
  return device;
}

DeviceDescription makeB200() {
  DeviceDescription device;
#include "lib/DeviceModel/Devices/B200.def"
  return device;
}

#undef WEFT_FIELD

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

/// The share of a rate that `busy` units reach.
double share(const DeviceDescription &device, double busy) {
  double units = static_cast<double>(std::max<int64_t>(device.units, 1));
  return busy <= 0 ? 1 : std::min(1.0, busy / units);
}

} // namespace

double kernelSeconds(const DeviceDescription &device, const KernelWork &work) {
  double busy = share(device, work.parallelUnits);
  double units = static_cast<double>(std::max<int64_t>(device.units, 1)) * busy;
  double compute =
      work.operations / (device.vectorRate * busy) + work.contractionOperations / (device.contractionRate * busy);
  double memoryBandwidth = std::min(device.memoryBandwidth, device.unitMemoryBandwidth * std::max(units, 1.0));
  double memory = work.firstTouchBytes / memoryBandwidth;
  for (const Reread &reread : work.rereads) {
    double bandwidth = memoryBandwidth;
    for (const CacheLevel &cache : device.caches)
      if (reread.footprint <= cache.bytes) {
        bandwidth = std::max(memoryBandwidth, cache.bandwidth * busy);
        break;
      }
    memory += reread.bytes / bandwidth;
  }
  return device.launchSeconds + compute + memory - 0.95 * std::min(compute, memory);
}

std::optional<DeviceDescription> findDevice(std::string_view name) {
  std::string key = lower(name);
  if (key == "host")
    return hostCpu();
  for (DeviceDescription (*make)() : {makeCpu, makeA100, makeH100, makeH200, makeB200}) {
    DeviceDescription device = make();
    if (device.name == key)
      return device;
  }
  return std::nullopt;
}

std::vector<std::string> deviceNames() { return {"cpu", "host", "a100", "h100", "h200", "b200"}; }

} // namespace weft
