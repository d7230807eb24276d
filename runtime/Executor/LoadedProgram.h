// An artifact made ready to run on this machine.
#pragma once

#include "include/weft/runtime.h"
#include "runtime/Artifact/ArtifactReader.h"
#include "runtime/Core/MappedFile.h"
#include "runtime/Core/Memory.h"
#include "runtime/Device/Cuda/DriverTypes.h"
#include "runtime/Device/Host/KernelLibrary.h"
#include "runtime/Device/Host/ThreadPool.h"
#include "runtime/Library/LibraryOperation.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace weft::runtime {

class Driver;
class ExecutionContext;
struct CudaProgram;
namespace cuda {
class Device;
class Module;
} // namespace cuda

struct LoadOptions {
  std::string device = "cpu";             // "cuda:1"; "cuda" is "cuda:0"
  std::string cudaDriver;                 // path or name of the driver library; empty: cuda::Driver::open decides
  std::shared_ptr<ThreadPool> threadPool; // null: the process's
  bool useLibraries = true;
  bool checkWeights = false;
  WeftAllocator allocator = defaultAllocator();
  WeftLogFunction log = nullptr;
  void *logUser = nullptr;
};

// One op with what it needs to run.
struct LoadedOp {
  const Op *op = nullptr;
  WeftKernel kernel = nullptr;               // a launch, or the alternative of a library call
  cuda::FunctionHandle function = nullptr;   // the same on a GPU
  std::unique_ptr<LibraryOperation> library; // null: the alternative
  std::string implementation;                // for people
  std::string reason;                        // why a library call runs its alternative; else empty
  std::vector<uint32_t> outputs;             // buffers it writes
  std::vector<const char *> sourceNodes;
};

// A variant that this machine can run. Ops are numbered block after block.
struct LoadedVariant {
  const Entry *entry = nullptr;
  const Variant *variant = nullptr;
  std::vector<LoadedOp> ops;
  std::vector<size_t> blockStart;

  std::mutex mutex;
  std::vector<std::unique_ptr<ExecutionContext>> idleContexts; // under mutex
};

struct LoadedEntry {
  const Entry *entry = nullptr;
  std::vector<std::unique_ptr<LoadedVariant>> variants;
};

// Immutable once loaded, except for caches that lock.
class LoadedProgram : public std::enable_shared_from_this<LoadedProgram> {
public:
  static StatusOr<std::shared_ptr<LoadedProgram>> loadFile(const std::string &path, LoadOptions options);
  static StatusOr<std::shared_ptr<LoadedProgram>> loadMemory(const void *data, size_t size, LoadOptions options);
  ~LoadedProgram();

  const Program &program() const { return artifact_.program; }
  const std::vector<ByteSpan> &weights() const { return artifact_.weights; }
  const std::vector<LoadedEntry> &entries() const { return entries_; }
  const LoadOptions &options() const { return options_; }
  ThreadPool &pool() const { return *options_.threadPool; } // on the CPU
  const CudaProgram *cuda() const { return cuda_.get(); }   // on a GPU, else null
  const std::string &targetName() const { return targetName_; }
  void log(WeftLogLevel level, const std::string &message) const;

  // The thread that runs what is started asynchronously; made at first use.
  StatusOr<Driver *> driver();

private:
  LoadedProgram() = default;
  Status load(const uint8_t *data, size_t size);
  Status openDevice();
  // How well each target fits the device; 0: not at all. Among equals the first is taken, the compiler having put the
  // best first.
  Status rateTargets(std::vector<int> &fits) const;
  Status loadKernels(size_t target);
  Status loadVariant(const Entry &entry, const Variant &variant, LoadedVariant &loaded);
  Status loadOp(const Variant &variant, const Op &op, LoadedOp &loaded);
  Status findKernel(const Variant &variant, const Launch &launch, LoadedOp &loaded) const;
  // LoadCuda.cpp
  Status findCudaKernel(const Variant &variant, const Launch &launch, LoadedOp &loaded) const;
  Status uploadWeights();
  void chooseLibrary(const Variant &variant, const LibraryCall &call, LoadedOp &loaded);

  LoadOptions options_;
  std::unique_ptr<MappedFile> file_;
  Memory copy_; // of an artifact in memory that was not aligned
  Artifact artifact_;
  std::vector<std::unique_ptr<KernelLibrary>> kernels_; // one a target, null where it does not fit
  std::unique_ptr<CudaProgram> cuda_;                   // outlives the entries, whose contexts use its device
  std::vector<LoadedEntry> entries_;
  std::string targetName_;
  std::mutex driverMutex_;
  std::unique_ptr<Driver> driver_;
};

// "\"a\", \"b\" and 3 more", for messages.
std::string quotedList(const std::vector<std::string> &names);
std::string quoted(const std::string &name);

} // namespace weft::runtime
