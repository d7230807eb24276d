// What one execution of a variant needs for itself: symbol values, sizes, arena, scratch.
#pragma once

#include "runtime/Executor/LoadedProgram.h"

#include <atomic>

namespace weft::runtime {

// A library call's operands at given symbol values.
struct LibraryArguments {
  LibrarySizes sizes;
  std::vector<TensorReference> operands;
  std::vector<std::vector<int64_t>> dims; // what operands point to
};
Status evaluateLibraryArguments(const Variant &variant, const LibraryCall &call, const int64_t *symbols,
                                LibraryArguments &arguments);

struct OpProfile {
  int64_t nanoseconds = 0;
  int64_t count = 0;
};

// What an execution is given; everything stays valid while it runs.
struct ExecutionRequest {
  void *const *inputs = nullptr;  // one an input, aligned
  void *const *outputs = nullptr; // one an output, aligned, large enough for the planned size
  void *const *states = nullptr;  // one a state of the program
  uint64_t seed = 0;
  bool checkNans = false;
  OpProfile *profile = nullptr; // one an op, or null
  WeftObserver observer = nullptr;
  void *observerUser = nullptr;
  const std::atomic<bool> *cancelled = nullptr;
};

// Used by one execution at a time; kept for the next. With unchanged symbol values the next one allocates nothing.
class ExecutionContext {
public:
  ExecutionContext(const LoadedProgram &program, LoadedVariant &variant);

  // Sets the symbols the inputs bind (one value a symbol of the program; those from data are ignored) and sizes
  // everything.
  Status prepare(const std::vector<int64_t> &symbols);
  Status execute(const ExecutionRequest &request);
  // After execute: symbols from data have their values.
  const std::vector<int64_t> &symbols() const { return symbols_; }

private:
  struct BufferState {
    void *data = nullptr;
    int64_t offset = 0;   // arena
    int64_t capacity = 0; // bytes at the planned size
    int64_t bytes = 0;    // bytes at the current size
    uint64_t epoch = 0;   // of bytes and dims
    size_t firstDim = 0;  // in dims_
  };
  struct OpState {
    uint64_t epoch = 0;
    int64_t tiles = 0;
    int64_t scratchBytes = 0;
    size_t firstArgument = 0; // in argumentPointers_
    const LibraryPlan *plan = nullptr;
    std::unique_ptr<LibraryWorkspace> workspace;
    const LibraryPlan *workspacePlan = nullptr;
    LibraryArguments libraryArguments;
  };

  Status planBuffers();
  Status sizeBuffer(uint32_t index);
  Status sizeOp(size_t index);
  Status runBlock(uint32_t block);
  Status runOp(size_t index);
  Status runBody(size_t index);
  Status runLaunch(size_t index, const Launch &launch);
  Status runLibraryCall(size_t index, const LibraryCall &call);
  Status runFill(const Fill &fill);
  Status runCopy(const Copy &copy);
  Status runWhile(const While &loop);
  Status bindSymbol(const BindSymbol &bind);
  Status afterOp(size_t index);
  Status kernelError(int32_t code) const;
  std::string describeOp(size_t index) const;
  void setView(uint32_t buffer, WeftTensorView &view);
  bool conditionIsTrue(uint32_t buffer) const { return *static_cast<const uint8_t *>(buffers_[buffer].data) != 0; }

  const LoadedProgram &program_;
  LoadedVariant &variant_;
  const Variant &model_;
  std::vector<int64_t> symbols_;
  std::vector<int64_t> plannedSymbols_; // those from data at their maxima
  uint64_t epoch_ = 0;                  // grows whenever a symbol changes
  bool planned_ = false;
  int64_t arenaBytes_ = 0;
  std::vector<BufferState> buffers_;
  std::vector<int64_t> dims_;
  std::vector<OpState> ops_;
  std::vector<void *> argumentPointers_;
  std::vector<WeftTensorView> views_;
  Memory arena_;
  Memory scratch_;
  const ExecutionRequest *request_ = nullptr;
};

} // namespace weft::runtime
