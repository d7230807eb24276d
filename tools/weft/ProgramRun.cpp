//===- ProgramRun.cpp - A compiled program in this process, through the C API
//----------------------------------------===//

#include "tools/weft/ProgramRun.h"
#include "tools/weft/Diagnostics.h"

namespace weft::tool {

ProgramRun::~ProgramRun() {
  weft_run_free(run);
  weft_state_free(state);
  weft_program_free(loaded);
  weft_thread_pool_free(pool);
}

static bool makeOptions(const RunOptions &options, WeftThreadPool *&pool, WeftLoadOptions &load) {
  weft_load_options_init(&load);
  load.device = options.device.c_str();
  if (!options.driver.empty())
    load.cuda_driver = options.driver.c_str();
  load.use_libraries = options.useLibraries;
  load.check_weights = options.checkWeights;
  if (options.threads > 0) {
    if (failed(weft_thread_pool_create(options.threads, &pool)))
      return false;
    load.thread_pool = pool;
  }
  return true;
}

bool ProgramRun::loadFile(const std::string &path, const RunOptions &options) {
  WeftLoadOptions load;
  return makeOptions(options, pool, load) && !failed(weft_program_load_file(path.c_str(), &load, &loaded)) &&
         start(options);
}

bool ProgramRun::load(const void *data, size_t size, const RunOptions &options) {
  WeftLoadOptions load;
  return makeOptions(options, pool, load) && !failed(weft_program_load_memory(data, size, &load, &loaded)) &&
         start(options);
}

bool ProgramRun::start(const RunOptions &options) {
  const char *entry = options.entry.empty() ? nullptr : options.entry.c_str();
  if (failed(weft_run_create(loaded, entry, &run)) || failed(weft_run_set_seed(run, options.seed)))
    return false;
  if (weft_program_state_count(loaded) == 0)
    return true;
  return !failed(weft_state_create(loaded, &state)) && !failed(weft_run_set_state(run, state));
}

bool ProgramRun::bind(const std::vector<NamedTensor> &inputs) {
  for (const NamedTensor &input : inputs) {
    WeftTensorView view = viewOf(input.value);
    if (failed(weft_run_set_input(run, input.name.c_str(), &view)))
      return false;
  }
  return true;
}

} // namespace weft::tool
