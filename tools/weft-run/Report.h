// What weft-run prints.
#pragma once

#include "tools/weft-run/Handles.h"

#include <cstdint>
#include <vector>

namespace weft::run {

// Inputs, outputs, states, symbols, entry points and what the artifact was compiled for.
void printContents(WeftProgram *program);

// One line an output: type, shape, and its first values.
void printOutputs(WeftProgram *program, int32_t entry, WeftRun *run);

// Times of the repetitions, in nanoseconds.
void printTimes(std::vector<int64_t> times);

// Time of each op of the last run, longest first.
void printProfile(WeftProgram *program, int32_t entry, WeftRun *run);

} // namespace weft::run
