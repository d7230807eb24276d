//===- HostCpu.cpp - The processor of this machine as the operating system describes it -------------===//

#include "lib/DeviceModel/DeviceModel.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <thread>

namespace weft {

namespace {

/// The first word of a file, empty where it cannot be read.
std::string readWord(const std::string &path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

/// "48K", "2M" or "65536" in bytes; 0 where it is none of these.
double parseBytes(const std::string &text) {
  double value = 0;
  size_t i = 0;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
    value = value * 10 + (text[i] - '0');
  if (i == 0 || i + 1 < text.size())
    return 0;
  if (i == text.size())
    return value;
  switch (text[i]) {
  case 'K':
    return value * 1024;
  case 'M':
    return value * 1024 * 1024;
  case 'G':
    return value * 1024 * 1024 * 1024;
  default:
    return 0;
  }
}

/// How many numbers a list like "0-3,8,10-11" names; 0 where it is malformed.
int64_t countList(const std::string &text) {
  int64_t count = 0;
  size_t i = 0;
  auto number = [&](int64_t &value) {
    size_t start = i;
    value = 0;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9' && i - start < 9; ++i)
      value = value * 10 + (text[i] - '0');
    return i > start;
  };
  while (i < text.size()) {
    int64_t first = 0, last = 0;
    if (!number(first))
      return 0;
    last = first;
    if (i < text.size() && text[i] == '-') {
      ++i;
      if (!number(last) || last < first)
        return 0;
    }
    count += last - first + 1;
    if (i < text.size() && text[i++] != ',')
      return 0;
  }
  return count;
}

} // namespace

DeviceDescription hostCpu(const std::string &root) {
  DeviceDescription reference = *findDevice("cpu"), device = reference;
  device.name = "host";
  device.description = "the processor of this machine";
  int64_t cores = countList(readWord(root + "/devices/system/cpu/online"));
  if (cores == 0)
    cores = std::thread::hardware_concurrency();
  if (cores > 0) {
    double scale = static_cast<double>(cores) / static_cast<double>(reference.units);
    device.units = cores;
    device.vectorRate = reference.vectorRate * scale;
    device.contractionRate = reference.contractionRate * scale;
    // A machine with fewer cores seldom has less memory bandwidth than these can draw, one with more has more channels.
    device.memoryBandwidth =
        std::max(reference.unitMemoryBandwidth, std::min(reference.memoryBandwidth * std::max(scale, 1.0),
                                                         reference.unitMemoryBandwidth * static_cast<double>(cores)));
    for (CacheLevel &cache : device.caches)
      cache.bandwidth *= scale;
  }
  // Levels 1, 2 and 3 stand in this order in the description.
  for (int index = 0; index < 8; ++index) {
    std::string cache = root + "/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::string level = readWord(cache + "level"), type = readWord(cache + "type");
    double bytes = parseBytes(readWord(cache + "size"));
    if (level.size() != 1 || level[0] < '1' || level[0] > '3' || type == "Instruction" || bytes <= 0)
      continue;
    int64_t sharers = std::max<int64_t>(1, countList(readWord(cache + "shared_cpu_list")));
    size_t number = static_cast<size_t>(level[0] - '1');
    if (number < device.caches.size())
      device.caches[number].bytes =
          bytes * std::max<double>(1, static_cast<double>(device.units) / static_cast<double>(sharers));
  }
  return device;
}

} // namespace weft
