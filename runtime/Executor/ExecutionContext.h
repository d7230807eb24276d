// What one execution of a variant needs for itself: symbol values, sizes, memory. What is done with them depends on the
// device: HostExecution, CudaExecution.
#pragma once

#include "runtime/Executor/LoadedProgram.h"

#include <atomic>
#include <functional>

namespace weft::runtime {

class StateTensors;

// A library call's operands at given symbol values.
struct LibraryArguments {
  LibrarySizes sizes;
  std::vector<TensorReference> operands;
  std::vector<std::vector<int64_t>> dims; // what operands point to
};
Status evaluateLibraryArguments(const Variant &variant, const LibraryCall &call, const int64_t *symbols,
                                LibraryArguments &arguments);

Status impossibleSize(const std::string &what);

struct OpProfile {
  int64_t nanoseconds = 0;
  int64_t count = 0;
};

// An aligned place for so many bytes of the output of this index.
using OutputMemory = std::function<Status(size_t output, int64_t bytes, void *&data)>;

// What an execution is given; everything stays valid while it runs.
struct ExecutionRequest {
  void *const *inputs = nullptr;  // one an input; aligned where the host runs
  void *const *outputs = nullptr; // one an output, aligned, large enough for the planned size; null: to be asked for
  // Gives the memory of an output whose size depends on data, once that is known.
  const OutputMemory *outputMemory = nullptr;
  StateTensors *states = nullptr; // null where the program has none
  // Of a program on a GPU: which inputs are addresses of that GPU, and which outputs are to be.
  const std::vector<bool> *inputsOnDevice = nullptr;
  const std::vector<bool> *outputsOnDevice = nullptr;
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
  // One for the program's device.
  static StatusOr<std::unique_ptr<ExecutionContext>> create(const LoadedProgram &program, LoadedVariant &variant);
  virtual ~ExecutionContext() = default;

  // Sets the symbols the inputs bind (one value a symbol of the program; those from data are ignored) and sizes
  // everything.
  Status prepare(const std::vector<int64_t> &symbols);
  virtual Status execute(const ExecutionRequest &request) = 0;
  // After execute: symbols from data have their values.
  const std::vector<int64_t> &symbols() const { return symbols_; }

protected:
  struct BufferState {
    void *data = nullptr; // an address of the device
    int64_t offset = 0;   // arena
    int64_t capacity = 0; // bytes at the planned size
    int64_t bytes = 0;    // bytes at the current size
    uint64_t epoch = 0;   // of bytes and dims
    size_t firstDim = 0;  // in dims_
  };
  struct OpState {
    uint64_t epoch = 0;
    int64_t tiles = 0;
    int64_t scratchBytes = 0; // a multiple of WEFT_BUFFER_ALIGNMENT
    size_t firstArgument = 0; // in argumentPointers_
    size_t arguments = 0;
  };

  ExecutionContext(const LoadedProgram &program, LoadedVariant &variant);

  // Takes memory for what the planned symbols need: arenaBytes_, inputs, outputs.
  virtual Status allocate() = 0;
  // What else an op needs at the symbols' values: a launch's scratch, a library's plan.
  virtual Status sizeMore(size_t index) = 0;

  Status sizeBuffer(uint32_t index);
  Status sizeOp(size_t index);
  // Bytes of an input or output at these symbols.
  Status portBytes(const Port &port, const std::vector<int64_t> &symbols, int64_t &bytes) const;
  // The memory of an output at the symbols' values, where the request left it open.
  Status askForOutput(size_t output, void *&data) const;
  // The arguments' addresses, from those of the buffers.
  void fillArguments(size_t index, const Launch &launch);

  // What both devices do alike.
  Status checkEqual(size_t index, const CheckEqual &check) const;
  // Gives a symbol the value that an op left at `data`, on the host.
  Status bindSymbol(const BindSymbol &bind, const void *data);
  Status kernelError(int32_t code) const;
  Status notANumber(size_t index, int64_t position, int64_t count) const;
  std::string describeOp(size_t index) const;
  void setView(uint32_t buffer, const void *data, WeftTensorView &view);
  // Calls the observer; views_ are set.
  void observe(size_t index);
  bool cancelled() const { return request_->cancelled->load(std::memory_order_relaxed); }
  static Status cancelledStatus() { return Status(StatusCode::Cancelled, "the run was cancelled"); }

  const LoadedProgram &program_;
  LoadedVariant &variant_;
  const Variant &model_;
  std::vector<int64_t> symbols_;
  std::vector<int64_t> plannedSymbols_; // those from data at their maxima
  uint64_t epoch_ = 0;                  // grows whenever a symbol changes
  int64_t arenaBytes_ = 0;
  std::vector<BufferState> buffers_;
  std::vector<int64_t> dims_;
  std::vector<OpState> ops_;
  std::vector<void *> argumentPointers_;
  std::vector<WeftTensorView> views_;
  const ExecutionRequest *request_ = nullptr;

private:
  Status planBuffers();
  bool planned_ = false;
};

} // namespace weft::runtime
