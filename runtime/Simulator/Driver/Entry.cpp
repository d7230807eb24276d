//===- Entry.cpp - cuGetProcAddress and the simulator's own functions ---------------------------------------===//
#include "runtime/Simulator/Driver/Control.h"
#include "runtime/Simulator/Driver/State.h"

#include <cstring>

using namespace weft::simulator;

WEFT_DRIVER_API cuGetProcAddress_v2(const char *name, void **function, int version, cuuint64_t,
                                    CUdriverProcAddressQueryResult *status) {
  static const struct {
    const char *exported, *asked;
    void *address;
  } rows[] = {
#define DRIVER_FUNCTION(function, name) {#function, name, reinterpret_cast<void *>(&function)},
#include "runtime/Simulator/Driver/DriverApi.def"
  };
  if (!name || !function)
    return CUDA_ERROR_INVALID_VALUE;
  *function = nullptr;
  for (const auto &row : rows) {
    if (std::strcmp(name, row.asked) && std::strcmp(name, row.exported))
      continue;
    *function = row.address;
    if (status)
      *status = CU_GET_PROC_ADDRESS_SUCCESS;
    return CUDA_SUCCESS;
  }
  (void)version; // one version of each function is here: that of CUDA 13
  if (status)
    *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return CUDA_ERROR_NOT_FOUND;
}

namespace {
size_t give(const std::string &text, char *buffer, size_t bytes) {
  if (buffer && bytes) {
    size_t count = std::min(bytes - 1, text.size());
    std::memcpy(buffer, text.data(), count);
    buffer[count] = 0;
  }
  return text.size();
}
} // namespace

WEFT_SIMULATOR_API size_t weftSimulatorFaultCount(void) { return Driver::get().faults.size(); }

WEFT_SIMULATOR_API size_t weftSimulatorFaults(char *buffer, size_t bytes) {
  std::string text = "[";
  for (const Fault &fault : Driver::get().faults.faults())
    text += (text.size() > 1 ? ",\n " : "") + fault.json();
  return give(text + "]", buffer, bytes);
}

WEFT_SIMULATOR_API size_t weftSimulatorReport(char *buffer, size_t bytes) {
  std::string text;
  for (const Fault &fault : Driver::get().faults.faults())
    text += fault.format() + "\n";
  return give(text, buffer, bytes);
}

WEFT_SIMULATOR_API void weftSimulatorClearFaults(void) { Driver::get().faults.clear(); }

WEFT_SIMULATOR_API size_t weftSimulatorLastReason(char *buffer, size_t bytes) {
  Driver &driver = Driver::get();
  std::lock_guard<std::recursive_mutex> lock(driver.mutex);
  return give(driver.lastReason, buffer, bytes);
}

WEFT_SIMULATOR_API size_t weftSimulatorLeaks(char *buffer, size_t bytes) {
  Driver &driver = Driver::get();
  std::lock_guard<std::recursive_mutex> lock(driver.mutex);
  return give(driver.leakReport(), buffer, bytes);
}

WEFT_SIMULATOR_API size_t weftSimulatorCounters(char *buffer, size_t bytes) {
  Driver &driver = Driver::get();
  std::lock_guard<std::recursive_mutex> lock(driver.mutex);
  std::string text = "[";
  for (const LaunchRecord &launch : driver.launches)
    text += std::string(text.size() > 1 ? ",\n " : "") + "{\"kernel\": " + jsonString(launch.kernel) +
            ", \"counters\": " + launch.counters.json() + "}";
  return give(text + "]", buffer, bytes);
}

WEFT_SIMULATOR_API void weftSimulatorReset(void) { Driver::get().reset(); }
