// Where weft-run's inputs come from.
#pragma once

#include "runtime/Data/Array.h"
#include "tools/weft-run/Arguments.h"
#include "tools/weft-run/Handles.h"

namespace weft::run {

// Reads the files, makes random values for the rest (if asked), and binds everything. The arrays must outlive the run.
void bindInputs(const Arguments &arguments, WeftProgram *program, int32_t entry, WeftRun *run,
                runtime::NamedArrays &arrays);

} // namespace weft::run
