// Running a variant on a GPU.
#pragma once

#include "runtime/Device/Cuda/Device.h"
#include "runtime/Executor/CudaProgram.h"
#include "runtime/Executor/ExecutionContext.h"

namespace weft::runtime {

// Everything goes through one stream. The host waits for it where it needs a value (a condition, a size that depends on
// data) and at the end. Straight segments of a block, between two such places, are captured as a graph when they come a
// second time with the same sizes, and submitted as one from then on.
class CudaExecution : public ExecutionContext {
public:
  static StatusOr<std::unique_ptr<ExecutionContext>> create(const LoadedProgram &program, LoadedVariant &variant);
  ~CudaExecution() override;
  Status execute(const ExecutionRequest &request) override;

private:
  // A launch as it is given to the driver: every parameter is 8 bytes.
  struct Launching {
    uint64_t epoch = 0;      // of the sizes
    uint64_t generation = 0; // of the addresses
    std::vector<uint64_t> values;
    std::vector<void *> pointers;
    unsigned blocks = 0; // 0: nothing to do
  };
  // A segment as it was captured.
  struct Captured {
    std::vector<int64_t> symbols;
    uint64_t seed = 0;
    uint64_t generation = 0;
    cuda::Graph graph; // none: it was submitted op by op, and would be captured next
    uint64_t lastUse = 0;
  };
  // Consecutive ops of a block: either one at which the host decides something, or a segment without any.
  struct Piece {
    size_t first = 0, last = 0; // ops, the last excluded
    bool straight = false;
    size_t submissions = 0; // launches, copies and fills in it
    std::vector<Captured> captured;
  };
  // An op and the first of the two events around it.
  struct Timed {
    size_t op, event;
  };
  // A part of an output on its way to the host.
  struct Landing {
    void *to;
    size_t offset, bytes; // in staging_
  };

  CudaExecution(const LoadedProgram &program, LoadedVariant &variant);
  Status initialize();
  void planPieces();

  Status allocate() override;
  Status allocateMemory(bool &moved);
  Status sizeMore(size_t index) override;
  // An out-of-memory error with what the run needs, and when it needs most.
  Status outOfMemory(const Status &status) const;

  Status executeInContext();
  Status bindStates();
  Status copyInputs();
  Status copyOutputs();
  Status upload(cuda::DevicePointer to, const void *from, size_t bytes);
  Status download(void *to, cuda::DevicePointer from, size_t bytes);
  Status land();

  Status runBlock(uint32_t block);
  Status runPiece(Piece &piece);
  Status runStraight(Piece &piece);
  Status runDecision(size_t index);
  Status submitOps(const Piece &piece);
  Status submitTimed(size_t index);
  Status submit(size_t index);
  Status submitLaunch(size_t index, const Launch &launch);
  Status submitCopy(size_t index, const Copy &copy);
  Status submitFill(size_t index, const Fill &fill);
  Status capture(const Piece &piece, cuda::Graph &graph);
  void prepareLaunch(size_t index, const Launch &launch);
  Status afterOp(size_t index);

  // Waits for the stream, and reports what kernels found. `what` is said where the wait itself fails.
  Status synchronize(const std::string &what);
  Status requestErrors();
  Status firstError() const;
  // Waits for the value of a buffer, of at most 8 bytes.
  Status readScalar(uint32_t buffer, const void *&data);
  Status startTimer(size_t index);
  Status stopTimer();
  Status collectTimes();
  bool watched() const { return request_->checkNans || request_->observer; }
  const cuda::Driver &driver() const { return device_.driver(); }
  cuda::DevicePointer addressOf(uint32_t buffer) const {
    return reinterpret_cast<cuda::DevicePointer>(buffers_[buffer].data);
  }

  const CudaProgram &cuda_;
  const cuda::Device &device_;
  cuda::Stream stream_;
  std::vector<cuda::DeviceMemory> inputs_, outputs_;
  cuda::DeviceMemory arena_, scratch_;
  cuda::DeviceMemory errors_;  // an int32 an op
  cuda::PinnedMemory words_;   // a scalar, then the errors as they were last copied
  cuda::PinnedMemory staging_; // of inputs, then of outputs
  size_t stagingUsed_ = 0;
  std::vector<Landing> landings_;
  std::vector<std::vector<Piece>> pieces_; // of each block
  std::vector<Launching> launches_;        // one an op
  std::vector<uint64_t> submitted_;        // when each op was first submitted in this run; 0: not yet
  uint64_t submissions_ = 0;
  uint64_t generation_ = 1; // grows whenever an address changed
  uint64_t uses_ = 0;       // of graphs
  std::vector<cuda::Event> events_;
  std::vector<size_t> freeEvents_; // the first of two
  std::vector<Timed> timed_;
  std::vector<Timed> timing_; // ops that have begun
  std::vector<Memory> hostCopies_;
};

} // namespace weft::runtime
