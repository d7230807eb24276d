//===- ProgramRun.h - A compiled program in this process, through the C API
//------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_PROGRAMRUN_H
#define WEFT_TOOLS_WEFT_PROGRAMRUN_H

#include "tools/weft/Tensors.h"

namespace weft::tool {

struct RunOptions {
  int threads = 0;
  bool useLibraries = true, checkWeights = false;
  uint64_t seed = 0;
  std::string device = "cpu", entry;
  std::string driver; // of a GPU; empty: the machine's
};

/// A program and one run of it. Every function prints what is wrong and returns false then.
class ProgramRun {
public:
  ~ProgramRun();
  bool loadFile(const std::string &path, const RunOptions &options);
  /// The bytes must outlive this.
  bool load(const void *data, size_t size, const RunOptions &options);
  bool bind(const std::vector<NamedTensor> &inputs);
  WeftRun *get() const { return run; }
  WeftProgram *program() const { return loaded; }

private:
  bool start(const RunOptions &options);
  WeftThreadPool *pool = nullptr;
  WeftProgram *loaded = nullptr;
  WeftState *state = nullptr;
  WeftRun *run = nullptr;
};

} // namespace weft::tool

#endif
