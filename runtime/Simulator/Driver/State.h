//===- State.h - What the simulated driver keeps: devices, contexts, streams, operations ---------===//
#pragma once

#include "runtime/Simulator/Driver/DriverTypes.h"
#include "runtime/Simulator/Launch.h"
#include "runtime/Simulator/Memory.h"
#include "runtime/Simulator/Races.h"

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <unordered_set>

namespace weft::simulator {
/// Up to which operation of each timeline everything is over. A timeline is a stream, or a chain of graph nodes.
using Clock = std::map<uint32_t, uint64_t>;
struct Operation;
} // namespace weft::simulator

// The handles of the driver interface are pointers to these.

struct CUmod_st {
  CUcontext context = nullptr;
  std::unique_ptr<weft::simulator::LoadedModule> loaded;
  std::map<std::string, std::unique_ptr<CUfunc_st>> functions;
  std::map<std::string, unsigned> registers; ///< By kernel, where the real assembler told.
  std::string label;
};

struct CUfunc_st {
  CUmodule module = nullptr;
  const weft::simulator::CompiledKernel *kernel = nullptr;
  int maxDynamicShared = 0;
  int carveout = -1;
  bool sharedOptIn = false;
};

struct CUkern_st {
  CUlibrary library = nullptr;
  std::string name;
};

struct CUlib_st {
  std::string image;
  std::map<CUcontext, CUmodule> modules;
  std::map<std::string, std::unique_ptr<CUkern_st>> kernels;
};

struct CUlinkState_st {
  std::string text;
  std::vector<std::string> parts;
};

struct CUstream_st {
  CUcontext context = nullptr;
  unsigned flags = 0;
  int priority = 0;
  uint32_t number = 0;
  uint32_t timeline = 0;
  uint64_t lastOperation = 0; ///< 0: none yet.
  uint64_t operations = 0;
  // Capture.
  CUgraph capture = nullptr; ///< Not null while capturing.
  bool captureOrigin = false;
  bool captureBroken = false;
  CUstreamCaptureMode captureMode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  uint64_t captureId = 0;
  std::vector<CUgraphNode> captureTail;
};

struct CUevent_st {
  CUcontext context = nullptr;
  unsigned flags = 0;
  uint64_t operation = 0; ///< Of the last record; 0 where never recorded.
  double milliseconds = 0;
  CUgraph capture = nullptr;
  std::vector<CUgraphNode> captureTail;
};

struct CUmemPoolHandle_st {
  int device = 0;
  uint64_t threshold = 0, used = 0, highest = 0;
  int reuse[3] = {1, 1, 1};
  bool isDefault = false;
};

struct CUctx_st {
  int device = 0;
  unsigned flags = 0;
  bool primary = false, destroyed = false;
  std::unique_ptr<CUstream_st> legacy;
  std::map<std::thread::id, std::unique_ptr<CUstream_st>> perThread;
  std::set<CUstream> streams;
  std::set<CUevent> events;
  std::set<CUmodule> modules;
  std::map<int, size_t> limits;
};

namespace weft::simulator {

/// A copy of rows; a plain copy has one.
struct CopyRequest {
  uint64_t to = 0, from = 0;
  size_t width = 0, height = 1, toPitch = 0, fromPitch = 0;
};
struct SetRequest {
  uint64_t to = 0;
  size_t width = 0, height = 1, pitch = 0; ///< Width in elements.
  unsigned value = 0, elementBytes = 1;
};
struct KernelRequest {
  CUfunction function = nullptr;
  LaunchConfiguration configuration;
  bool cooperative = false;
};

/// What an operation or a graph node does.
struct Work {
  enum class Kind { Empty, Kernel, Copy, Set, Host, Record, Allocate, Free } kind = Kind::Empty;
  KernelRequest kernel;
  CopyRequest copy;
  SetRequest set;
  CUhostFn host = nullptr;
  std::function<void()> callback; ///< cuStreamAddCallback
  void *userData = nullptr;
  CUevent event = nullptr;
  uint64_t address = 0;
  CUmemoryPool pool = nullptr;
  std::string label;
};

struct Operation : OperationOrder {
  uint64_t id = 0;
  CUcontext context = nullptr;
  std::vector<uint64_t> waits; ///< Operations that must be over first.
  Work work;
  uint32_t timeline = 0;
  uint64_t index = 0;
  Clock clock;
  bool happensBefore(uint64_t earlier) const override;
  std::string describe(uint64_t operation) const override;
};

/// What is remembered of an operation that is over.
struct OperationRecord {
  uint32_t timeline = 0;
  uint64_t index = 0;
  Clock clock;
  std::string label;
};

struct DeviceState {
  CUcontext primary = nullptr;
  unsigned primaryRetained = 0, primaryFlags = 0;
  uint64_t peers = 0;
  CUresult sticky = CUDA_SUCCESS;
  std::unique_ptr<CUmemPoolHandle_st> defaultPool;
  CUmemoryPool currentPool = nullptr;
};

/// Faults that a test asks for. Counts are from 1; 0 is never.
struct Injection {
  uint64_t failAllocation = 0; ///< The n-th allocation finds no memory.
  uint64_t failLaunch = 0;     ///< The n-th launch leaves a sticky error.
  int deadDevice = -1;         ///< Its operations never end; a wait for them gives an error.
  int slowDevice = -1;
  unsigned slowMilliseconds = 0;
};

struct DriverOptions {
  int devices = 1;
  unsigned architecture = 90;
  uint64_t bytesPerDevice = uint64_t(16) << 30;
  LaunchOptions launch;
  bool useAssembler = true; ///< nvJitLink at each module load, where it is found.
  bool printReports = true; ///< To standard error when the process ends.
  bool countLaunches = false;
  bool failAtExit = false;
  Injection injection;
  std::string problem; ///< Why an environment variable could not be read.
};

/// Reads the WEFT_SIMULATOR_* environment variables.
DriverOptions optionsFromEnvironment();

struct LaunchRecord {
  std::string kernel;
  LaunchCounters counters;
};

template <class T> struct HandleType {
  static const char tag; ///< Its address stands for the type.
};
template <class T> const char HandleType<T>::tag = 0;

class Driver {
public:
  static Driver &get();

  std::recursive_mutex mutex;
  bool initialised = false;
  DriverOptions options;
  std::unique_ptr<AddressSpace> memory;
  std::vector<DeviceState> devices;
  FaultLog faults;
  std::vector<LaunchRecord> launches;
  /// All live handles with their type: one that is not in here is an error, not a crash.
  std::unordered_map<const void *, const char *> handles;
  uint64_t allocationCount = 0, launchCount = 0, moduleCount = 0, poolAllocations = 0;
  std::vector<std::unique_ptr<CUctx_st>> contexts;

  CUresult initialise();
  /// Back to before cuInit; the tests of the driver start from here.
  void reset();

  template <class T> bool valid(const T *handle) const {
    auto found = handles.find(handle);
    return found != handles.end() && found->second == &HandleType<T>::tag;
  }
  template <class T> T *keep(T *handle) {
    handles[handle] = &HandleType<T>::tag;
    return handle;
  }

  CUcontext makeContext(int device, unsigned flags, bool primary);
  void destroyContext(CUcontext context);
  CUstream makeStream(CUcontext context, unsigned flags, int priority);
  /// Null where the handle is none of this context.
  CUstream resolve(CUstream stream, CUcontext context);

  // Operations (Schedule.cpp).
  /// Adds work to a stream, or to the graph that the stream records. `waits` are further operations to wait for.
  CUresult enqueue(CUstream stream, Work work, std::vector<uint64_t> waits = {});
  std::shared_ptr<Operation> makeOperation(CUcontext context, Work work, std::vector<uint64_t> waits, uint32_t timeline,
                                           uint64_t index, Clock clock);
  bool isDone(uint64_t operation) const { return pendingIds.count(operation) == 0; }
  /// Runs one operation that may run; false where there is none.
  bool step();
  CUresult waitFor(uint64_t operation);
  CUresult waitForContext(CUcontext context);
  CUresult waitForStream(CUstream stream);
  void learnHost(uint64_t operation); ///< The host has waited for it.
  void mergeClock(Clock &into, uint64_t operation) const;
  uint32_t newTimeline() { return ++timelines; }
  Clock hostClock;
  std::unordered_map<uint64_t, OperationRecord> records; ///< Kept only where order is checked.
  bool anyCapture = false;
  uint64_t captureIds = 0;
  /// Adds a node to the graph that `stream` records.
  CUresult captureWork(CUstream stream, Work work);

  // Work (Work.cpp).
  void execute(Operation &operation);
  /// Checks that an operation's access to bytes is ordered after earlier ones, and remembers it.
  void touch(Operation &operation, uint64_t address, uint64_t bytes, bool isWrite);

  /// Memory that a driver call names: null, with the reason, where it is not there, freed or too small.
  Allocation *findMemory(uint64_t address, uint64_t bytes, std::string &reason) const;
  /// The last reason a call failed, for the simulator's own interface and the log.
  CUresult fail(CUresult code, const std::string &reason);
  std::string lastReason;
  CUresult checkKernel(CUfunction function, const LaunchConfiguration &configuration, bool cooperative);
  int occupancy(CUfunction function, int blockSize, size_t dynamicShared) const;
  double now() const;

  std::string leakReport();
  void printReports();

private:
  Driver() = default;
  std::list<std::shared_ptr<Operation>> pending;
  std::unordered_set<uint64_t> pendingIds;
  uint64_t operationIds = 0;
  uint32_t timelines = 0;
  uint32_t streamNumbers = 0;
  std::mt19937_64 random;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

/// The calling thread's context stack.
std::vector<CUcontext> &contextStack();

/// Runs the body of a driver function: under the lock, with no exception past it.
template <class Body> CUresult enter(Body body) {
  Driver &driver = Driver::get();
  std::lock_guard<std::recursive_mutex> lock(driver.mutex);
  try {
    if (!driver.initialised)
      return CUDA_ERROR_NOT_INITIALIZED;
    return body(driver);
  } catch (const std::bad_alloc &) {
    return driver.fail(CUDA_ERROR_OUT_OF_MEMORY, "the host has no memory left");
  } catch (const std::exception &error) {
    return driver.fail(CUDA_ERROR_UNKNOWN, error.what());
  }
}

/// The same for functions that need a current context; its sticky error ends them all.
template <class Body> CUresult enterContext(Body body) {
  return enter([&](Driver &driver) -> CUresult {
    std::vector<CUcontext> &stack = contextStack();
    if (stack.empty() || !stack.back())
      return driver.fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current in this thread");
    CUcontext context = stack.back();
    if (!driver.valid(context))
      return driver.fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the current context was destroyed");
    CUresult sticky = driver.devices[size_t(context->device)].sticky;
    if (sticky != CUDA_SUCCESS)
      return sticky;
    return body(driver, context);
  });
}

/// nvJitLink, where it is: the assembler's verdict on PTX. False with the log where it refuses; true with an empty
/// `log` where it is not there. `registers` by kernel.
bool assemblePtx(const std::string &text, unsigned architecture, std::string &log,
                 std::map<std::string, unsigned> &registers);

} // namespace weft::simulator

struct CUgraphNode_st {
  CUgraph graph = nullptr;
  weft::simulator::Work work;
  std::vector<CUgraphNode> dependencies;
  size_t index = 0; ///< In the graph: what a graph's instance knows it by.
};

struct CUgraph_st {
  CUcontext context = nullptr;
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  size_t made = 0;
};

struct CUgraphExec_st {
  struct Node {
    weft::simulator::Work work;
    std::vector<size_t> dependencies; ///< Positions in `nodes`, which is in an order that respects them.
    size_t source = 0;                ///< CUgraphNode_st::index
  };
  CUcontext context = nullptr;
  CUgraph graph = nullptr;
  std::vector<Node> nodes;
};
