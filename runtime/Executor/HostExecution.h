// Running a variant on the CPU.
#pragma once

#include "runtime/Executor/ExecutionContext.h"

namespace weft::runtime {

class HostExecution : public ExecutionContext {
public:
  HostExecution(const LoadedProgram &program, LoadedVariant &variant);
  Status execute(const ExecutionRequest &request) override;

private:
  struct LibraryState {
    const LibraryPlan *plan = nullptr;
    std::unique_ptr<LibraryWorkspace> workspace;
    const LibraryPlan *workspacePlan = nullptr;
    LibraryArguments arguments;
  };

  Status allocate() override;
  Status sizeMore(size_t index) override;
  Status sizeLibraryCall(size_t index, const LibraryCall &call);
  Status runBlock(uint32_t block);
  Status runOp(size_t index);
  Status runBody(size_t index);
  Status runLaunch(size_t index, const Launch &launch);
  Status runLibraryCall(size_t index, const LibraryCall &call);
  Status runFill(const Fill &fill);
  Status runCopy(const Copy &copy);
  Status runWhile(const While &loop);
  Status afterOp(size_t index);
  Status placeOutputs(size_t index);
  bool conditionIsTrue(uint32_t buffer) const { return *static_cast<const uint8_t *>(buffers_[buffer].data) != 0; }

  std::vector<LibraryState> libraries_; // one an op
  bool hasOpenOutputs_ = false;         // some output has no memory yet
  Memory arena_;
  Memory scratch_;
};

} // namespace weft::runtime
