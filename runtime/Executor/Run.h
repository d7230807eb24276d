// A call of an entry point: what is bound, and what came out.
#pragma once

#include "runtime/Device/Cuda/Device.h"
#include "runtime/Executor/ExecutionContext.h"
#include "runtime/Executor/Fence.h"
#include "runtime/Executor/State.h"

#include <atomic>

namespace weft::runtime {

class Run {
public:
  static StatusOr<std::unique_ptr<Run>> create(std::shared_ptr<LoadedProgram> program, const char *entry);
  // Cancels and waits for an execution in flight.
  ~Run();
  Run(const Run &) = delete;
  Run &operator=(const Run &) = delete;

  Status setInput(const std::string &name, const WeftTensorView &tensor, bool onDevice = false);
  // Takes the tensor on success.
  Status setInput(const std::string &name, WeftDLManagedTensor *tensor);
  Status setOutput(const std::string &name, const WeftTensorView *tensor);
  Status setOutputOnDevice(const std::string &name, bool enable);
  Status setState(StateTensors *state);
  Status setSeed(uint64_t seed);
  Status setCheckNans(bool enable);
  Status setProfile(bool enable);
  Status setObserver(WeftObserver observer, void *user);

  Status execute();
  Status start(std::vector<std::shared_ptr<Fence>> wait, std::shared_ptr<Fence> signal);
  Status wait(int64_t nanoseconds);
  void cancel() { cancelled_.store(true); }

  Status output(const std::string &name, WeftTensorView &view);
  Status takeOutput(const std::string &name, WeftDLManagedTensor *&tensor);
  int32_t variant() const { return lastVariant_; }
  Status profile(int32_t op, OpProfile &result) const;

private:
  struct Input {
    bool bound = false;
    void *data = nullptr;
    std::vector<int64_t> dims;
    std::vector<int64_t> strides;
    int64_t bytes = 0;
    bool copied = false; // not contiguous or not aligned: staged
    bool onDevice = false;
    Memory staging;
    WeftDLManagedTensor *owner = nullptr;
  };
  struct Output {
    bool bound = false; // to memory of the caller
    void *data = nullptr;
    std::vector<int64_t> boundDims;
    int64_t boundBytes = 0;
    Memory own;
    bool onDevice = false;
    cuda::DeviceMemory device;
    bool taken = false;
    std::vector<int64_t> dims; // after execution
  };

  explicit Run(std::shared_ptr<LoadedProgram> program, const LoadedEntry &entry);
  Status requireIdle() const;
  Status findInput(const std::string &name, size_t &index) const;
  Status findOutput(const std::string &name, size_t &index) const;
  void releaseOwner(Input &input);
  Status bindSymbols();
  Status selectVariant();
  Status checkOverlap() const;
  Status prepare();
  Status prepareOutputs();
  Status takeOutputMemory(size_t index, int64_t bytes, void *&data);
  Status executePrepared();
  Status stageInputs();
  Status finish(const ExecutionContext &context);
  std::string acceptedShapes() const;

  std::shared_ptr<LoadedProgram> program_;
  const LoadedEntry &entry_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  StateTensors *state_ = nullptr;
  uint64_t seed_ = 0;
  bool checkNans_ = false;
  bool profiling_ = false;
  WeftObserver observer_ = nullptr;
  void *observerUser_ = nullptr;

  std::vector<int64_t> symbols_;
  std::vector<int64_t> symbolInput_; // which input bound it, -1: none
  std::vector<int64_t> plannedSymbols_;
  std::vector<void *> inputPointers_, outputPointers_;
  std::vector<bool> inputsOnDevice_, outputsOnDevice_; // on a GPU
  OutputMemory outputMemory_;
  std::vector<OpProfile> profile_;
  LoadedVariant *selected_ = nullptr;
  int32_t selectedIndex_ = -1;
  int32_t lastVariant_ = -1;
  bool hasResults_ = false;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> inFlight_{false};
  std::shared_ptr<Fence> finished_; // of the last start
};

// "f32[N,3,224]", for messages.
std::string describeShape(const Port &port, const std::vector<Symbol> &symbols);

} // namespace weft::runtime
