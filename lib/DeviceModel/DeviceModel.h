//===- DeviceModel.h - What a device can do, and what a kernel costs on it -------------------------===//

#ifndef WEFT_LIB_DEVICEMODEL_DEVICEMODEL_H
#define WEFT_LIB_DEVICEMODEL_DEVICEMODEL_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// One level of cache, as seen by all units of the device together.
struct CacheLevel {
  double bytes = 0;     // what all units together can hold: a private cache counts once a unit
  double bandwidth = 0; // bytes a second, all units together
};

/// A device as the cost model sees it. Bandwidths are bytes a second, rates operations a second, times seconds.
struct DeviceDescription {
  std::string name;            // the name that `findDevice` takes
  std::string description;     // for people
  int64_t units = 1;           // cores of a CPU, streaming multiprocessors of a GPU
  int64_t elementsPerUnit = 1; // elements that one unit needs to be busy: a tile of a CPU loop, the threads of a block
  double memoryBandwidth = 0;  // of the main memory, all units together
  double unitMemoryBandwidth = 0; // of the main memory, what one unit alone can draw
  double vectorRate = 0;          // f32 operations outside contractions, all units together
  double contractionRate = 0;     // operations of f32 contractions, a multiplication and an addition being two
  double launchSeconds = 0;       // what starting one kernel costs beyond its work
  int64_t memoryBytes = 0;        // of the main memory; 0 where it is not known
  std::vector<CacheLevel> caches; // the smallest first
};

/// Bytes that a kernel reads again, coming back to each place after it has passed over `footprint` others.
struct Reread {
  double bytes = 0;
  double footprint = 0; // bytes, of all units together
};

/// What one launch of a kernel does.
struct KernelWork {
  double operations = 0;            // arithmetic; what is computed several times counts as often
  double contractionOperations = 0; // of the contraction in the kernel
  double firstTouchBytes = 0;       // read for the first time, and written
  std::vector<Reread> rereads;
  double parallelUnits = 0; // units that the kernel can keep busy; 0 means all
};

/// The time of one launch: launch + C + M - 0.95 min(C, M), with C the time to compute and M the time to move the
/// bytes: first touches at the bandwidth of the memory, re-reads at that of the smallest cache that holds them.
double kernelSeconds(const DeviceDescription &device, const KernelWork &work);

/// The description of that name (case does not matter): "cpu", "a100", "h100", "h200", "b200", or "host" for the
/// machine that this runs on. Nothing where there is none.
std::optional<DeviceDescription> findDevice(std::string_view name);

/// The names that `findDevice` takes.
std::vector<std::string> deviceNames();

/// The processor of this machine: cores and caches as the operating system tells them, the rest in proportion to the
/// description "cpu". What cannot be read keeps that description's value. `root` replaces /sys, for tests.
DeviceDescription hostCpu(const std::string &root = "/sys");

} // namespace weft

#endif
