//===- DeviceModelTest.cpp - Descriptions by name, the host from files of the system, the cost function --------===//

#include "lib/DeviceModel/DeviceModel.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace weft;

namespace {

TEST(DeviceModel, EveryNameHasACompleteDescription) {
  for (const std::string &name : deviceNames()) {
    std::optional<DeviceDescription> device = findDevice(name);
    ASSERT_TRUE(device) << name;
    EXPECT_EQ(device->name, name);
    EXPECT_FALSE(device->description.empty());
    EXPECT_GT(device->units, 0) << name;
    EXPECT_GT(device->elementsPerUnit, 0) << name;
    EXPECT_GT(device->memoryBandwidth, 1e9) << name;
    EXPECT_GT(device->unitMemoryBandwidth, 1e9) << name;
    EXPECT_LE(device->unitMemoryBandwidth, device->memoryBandwidth) << name;
    EXPECT_GT(device->vectorRate, 1e9) << name;
    EXPECT_GE(device->contractionRate, device->vectorRate) << name;
    EXPECT_GT(device->launchSeconds, 0) << name;
    for (size_t i = 1; i < device->caches.size(); ++i)
      EXPECT_GT(device->caches[i - 1].bandwidth, device->caches[i].bandwidth) << name;
  }
  EXPECT_TRUE(findDevice("H100"));
  EXPECT_FALSE(findDevice("h1000"));
  EXPECT_FALSE(findDevice(""));
}

TEST(DeviceModel, NewerGpusMoveMoreBytes) {
  EXPECT_LT(findDevice("a100")->memoryBandwidth, findDevice("h100")->memoryBandwidth);
  EXPECT_LT(findDevice("h100")->memoryBandwidth, findDevice("h200")->memoryBandwidth);
  EXPECT_LT(findDevice("h200")->memoryBandwidth, findDevice("b200")->memoryBandwidth);
}

/// One unit at 100 operations and 10 bytes a second, a launch of 1 second, one cache of 8 bytes with 40 bytes a second.
DeviceDescription small() {
  DeviceDescription device;
  device.units = 4;
  device.memoryBandwidth = 10;
  device.unitMemoryBandwidth = 5;
  device.vectorRate = 100;
  device.contractionRate = 1000;
  device.launchSeconds = 1;
  device.caches = {{8, 40}};
  return device;
}

TEST(DeviceModel, TheShorterOfComputingAndMovingHidesBehindTheLonger) {
  KernelWork work;
  EXPECT_DOUBLE_EQ(kernelSeconds(small(), work), 1);
  work.operations = 200;
  EXPECT_DOUBLE_EQ(kernelSeconds(small(), work), 1 + 2);
  work.firstTouchBytes = 50;
  EXPECT_DOUBLE_EQ(kernelSeconds(small(), work), 1 + 2 + 5 - 0.95 * 2);
  work.contractionOperations = 5000;
  EXPECT_DOUBLE_EQ(kernelSeconds(small(), work), 1 + 7 + 5 - 0.95 * 5);
}

TEST(DeviceModel, RereadsComeFromTheSmallestCacheThatHoldsThem) {
  KernelWork work;
  work.rereads = {{80, 8}};
  EXPECT_DOUBLE_EQ(kernelSeconds(small(), work), 1 + 2);
  work.rereads = {{80, 9}};
  EXPECT_DOUBLE_EQ(kernelSeconds(small(), work), 1 + 8);
}

TEST(DeviceModel, FewUnitsComputeAndDrawLess) {
  KernelWork work;
  work.operations = 200;
  work.parallelUnits = 1;
  EXPECT_DOUBLE_EQ(kernelSeconds(small(), work), 1 + 8);
  work.operations = 0;
  work.firstTouchBytes = 50;
  EXPECT_DOUBLE_EQ(kernelSeconds(small(), work), 1 + 10);
  work.parallelUnits = 2;
  EXPECT_DOUBLE_EQ(kernelSeconds(small(), work), 1 + 5);
  work.parallelUnits = 400;
  EXPECT_DOUBLE_EQ(kernelSeconds(small(), work), 1 + 5);
}

/// A folder that looks like /sys.
class HostCpu : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "weft-host-cpu-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(root); }
  void write(const std::string &path, const std::string &text) {
    std::filesystem::path file = std::filesystem::path(root) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  void writeCache(int index, const char *level, const char *type, const char *size, const char *sharers) {
    std::string folder = "devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    write(folder + "level", level);
    write(folder + "type", type);
    write(folder + "size", size);
    write(folder + "shared_cpu_list", sharers);
  }
  std::string root;
};

TEST_F(HostCpu, CoresAndCachesAreRead) {
  write("devices/system/cpu/online", "0-11,16-19");
  writeCache(0, "1", "Data", "48K", "0-1");
  writeCache(1, "1", "Instruction", "32K", "0-1");
  writeCache(2, "2", "Unified", "2048K", "0-1");
  writeCache(3, "3", "Unified", "30M", "0-15");
  DeviceDescription device = hostCpu(root), reference = *findDevice("cpu");
  EXPECT_EQ(device.name, "host");
  EXPECT_EQ(device.units, 16);
  ASSERT_EQ(device.caches.size(), 3u);
  EXPECT_DOUBLE_EQ(device.caches[0].bytes, 8 * 48 * 1024.0);
  EXPECT_DOUBLE_EQ(device.caches[1].bytes, 8 * 2048 * 1024.0);
  EXPECT_DOUBLE_EQ(device.caches[2].bytes, 30 * 1024 * 1024.0);
  EXPECT_DOUBLE_EQ(device.vectorRate, 2 * reference.vectorRate);
  EXPECT_GE(device.memoryBandwidth, reference.memoryBandwidth);
}

TEST_F(HostCpu, WhatCannotBeReadKeepsTheDefault) {
  DeviceDescription reference = *findDevice("cpu");
  DeviceDescription device = hostCpu(root);
  EXPECT_GT(device.units, 0);
  for (size_t i = 0; i < device.caches.size(); ++i)
    EXPECT_DOUBLE_EQ(device.caches[i].bytes, reference.caches[i].bytes);
  for (const char *nonsense : {"", "x", "3-1", "0-", "-4", "0,,1", "99999999999999999999"}) {
    write("devices/system/cpu/online", nonsense);
    writeCache(0, "1", "Data", nonsense, nonsense);
    writeCache(2, "9", "Unified", "1M", "0");
    device = hostCpu(root);
    EXPECT_GT(device.units, 0) << nonsense;
    EXPECT_GT(device.caches[0].bytes, 0) << nonsense;
    EXPECT_GT(device.memoryBandwidth, 0) << nonsense;
  }
}

TEST_F(HostCpu, OneCoreDrawsItsOwnBandwidth) {
  write("devices/system/cpu/online", "0");
  DeviceDescription device = hostCpu(root);
  EXPECT_EQ(device.units, 1);
  EXPECT_DOUBLE_EQ(device.memoryBandwidth, device.unitMemoryBandwidth);
}

} // namespace
