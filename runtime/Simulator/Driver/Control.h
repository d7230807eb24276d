//===- Control.h - What a test can ask of the simulated driver beyond CUDA's own functions ---------------------===//
//
// Exported by libweft_simcuda.so next to the cu* functions. The texts are written to `buffer` with a terminating zero,
// cut to `bytes`; the result is the full length without it.
//===------------------------------------------------------------------------------------------------------------===//
#pragma once

#include <cstddef>

#define WEFT_SIMULATOR_API extern "C" __attribute__((visibility("default")))

/// Findings of all checks so far.
WEFT_SIMULATOR_API size_t weftSimulatorFaultCount(void);
/// As a JSON array.
WEFT_SIMULATOR_API size_t weftSimulatorFaults(char *buffer, size_t bytes);
/// As text for people.
WEFT_SIMULATOR_API size_t weftSimulatorReport(char *buffer, size_t bytes);
WEFT_SIMULATOR_API void weftSimulatorClearFaults(void);
/// Why the last call that failed did.
WEFT_SIMULATOR_API size_t weftSimulatorLastReason(char *buffer, size_t bytes);
/// Buffers that were never freed, one a line.
WEFT_SIMULATOR_API size_t weftSimulatorLeaks(char *buffer, size_t bytes);
/// Counters of each launch as a JSON array, where WEFT_SIMULATOR_CHECKS has "counters".
WEFT_SIMULATOR_API size_t weftSimulatorCounters(char *buffer, size_t bytes);
/// Back to before cuInit; environment variables are read again. No call may be in progress.
WEFT_SIMULATOR_API void weftSimulatorReset(void);
