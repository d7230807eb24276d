//===- Launch.cpp - Running a kernel over a grid -------------------------------------------------===//
#include "runtime/Simulator/Launch.h"
#include "runtime/Simulator/Execute.h"
#include "runtime/Simulator/Races.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <thread>

namespace weft::simulator {

DeviceLimits deviceLimits(unsigned architecture) {
  DeviceLimits limits;
  limits.threadsPerMultiprocessor = 2048;
  switch (architecture) {
  case 80:
    limits.sharedPerBlockOptIn = 163 * 1024;
    limits.sharedPerMultiprocessor = 164 * 1024;
    limits.multiprocessors = 108;
    break;
  case 86:
  case 89:
    limits.sharedPerBlockOptIn = 99 * 1024;
    limits.sharedPerMultiprocessor = 100 * 1024;
    limits.multiprocessors = 84;
    limits.threadsPerMultiprocessor = 1536;
    limits.blocksPerMultiprocessor = architecture == 86 ? 16 : 24;
    break;
  default: // sm_90, sm_100
    limits.sharedPerBlockOptIn = 227 * 1024;
    limits.sharedPerMultiprocessor = 228 * 1024;
    limits.multiprocessors = 132;
    break;
  }
  return limits;
}

std::string checkConfiguration(const CompiledKernel &kernel, const LaunchConfiguration &c, uint32_t sharedLimit) {
  auto text = [](const Coordinates &v) { return v.format(); };
  if (!c.grid.x || !c.grid.y || !c.grid.z || !c.block.x || !c.block.y || !c.block.z)
    return "grid " + text(c.grid) + " and block " + text(c.block) + " must have no extent of 0";
  if (c.grid.x > 0x7fffffff || c.grid.y > 65535 || c.grid.z > 65535)
    return "grid " + text(c.grid) + " is larger than (2147483647,65535,65535)";
  uint64_t threads = uint64_t(c.block.x) * c.block.y * c.block.z;
  if (c.block.x > 1024 || c.block.y > 1024 || c.block.z > 64 || threads > 1024)
    return "block " + text(c.block) + " is larger than (1024,1024,64) or than 1024 threads";
  const LaunchBounds &b = kernel.bounds;
  if (b.requiredThreads[0] &&
      (c.block.x != b.requiredThreads[0] || c.block.y != b.requiredThreads[1] || c.block.z != b.requiredThreads[2]))
    return "kernel '" + kernel.name + "' must be launched with .reqntid " +
           Coordinates{b.requiredThreads[0], b.requiredThreads[1], b.requiredThreads[2]}.format() + ", got block " +
           text(c.block);
  if (b.maxThreads[0] && threads > uint64_t(b.maxThreads[0]) * b.maxThreads[1] * b.maxThreads[2])
    return "kernel '" + kernel.name + "' allows at most " +
           std::to_string(uint64_t(b.maxThreads[0]) * b.maxThreads[1] * b.maxThreads[2]) +
           " threads a block (.maxntid), got " + std::to_string(threads);
  if (uint64_t(kernel.sharedDeclared) + c.dynamicShared > sharedLimit)
    return "kernel '" + kernel.name + "' needs " + std::to_string(kernel.sharedDeclared) +
           " bytes of shared memory and " + std::to_string(c.dynamicShared) + " dynamic ones; at most " +
           std::to_string(sharedLimit) + " are allowed";
  return "";
}

namespace {

/// Instructions of a block before another unfinished one gets a turn: blocks may wait for each other.
constexpr uint64_t blockTurn = uint64_t(1) << 20;
/// Unfinished blocks that one thread of the host keeps.
constexpr size_t mostResident = 2048;

/// Above those that a driver gives its operations.
std::atomic<uint64_t> launchSerials{uint64_t(1) << 48};

class Grid {
public:
  Grid(LaunchState &state, uint64_t blocks) : state(state), blocks(blocks) {
    // Under a seed blocks are visited in the order a*i + b mod n, with a prime to n.
    if (state.seed && blocks > 1) {
      step = (state.seed * 0x9e3779b97f4a7c15u >> 20) % blocks | 1;
      while (std::gcd(step, blocks) != 1)
        step += 2;
      offset = state.seed % blocks;
    }
  }

  void work(LaunchCounters &counters) {
    std::vector<std::unique_ptr<Block>> idle, unfinished;
    std::unordered_map<Block *, std::unique_ptr<RaceDetector>> races;
    size_t turn = 0;
    bool more = true;
    try {
      while (!stop.load(std::memory_order_relaxed)) {
        std::unique_ptr<Block> block;
        // Blocks of a cooperative launch wait for all others, so all of them are resident.
        if (more && (state.gridWorkspace || unfinished.size() < mostResident)) {
          uint64_t index = next.fetch_add(1, std::memory_order_relaxed);
          if (index < blocks) {
            if (idle.empty()) {
              block = std::make_unique<Block>();
            } else {
              block = std::move(idle.back());
              idle.pop_back();
            }
            startBlock(*block, state, (__uint128_t(index) * step + offset) % blocks);
            if (state.checkRaces) {
              races[block.get()] = std::make_unique<RaceDetector>(*block, clocks);
              block->races = races[block.get()].get();
            }
          } else {
            more = false;
          }
        }
        if (!block) {
          if (unfinished.empty()) {
            if (!more)
              break;
            continue;
          }
          turn %= unfinished.size();
          block = std::move(unfinished[turn]);
          unfinished[turn] = std::move(unfinished.back());
          unfinished.pop_back();
          ++turn;
        }
        if (runBlock(*block, blockTurn)) {
          counters.add(block->counters);
          block->counters = LaunchCounters();
          block->races = nullptr;
          idle.push_back(std::move(block));
        } else {
          unfinished.push_back(std::move(block));
        }
      }
    } catch (const LaunchAborted &aborted) {
      stop = true;
      failed = true;
      state.faults->add(aborted.fault);
    } catch (const std::bad_alloc &) {
      stop = true;
      failed = true;
      Fault fault;
      fault.kind = FaultKind::StepLimit;
      fault.fatal = true;
      fault.kernel = state.kernel->name;
      fault.message = "the host has no memory left for the state of the kernel";
      state.faults->add(fault);
    }
  }

  bool hasFailed() const { return failed; }

private:
  LaunchState &state;
  uint64_t blocks, step = 1, offset = 0;
  std::atomic<uint64_t> next{0};
  std::atomic<bool> stop{false}, failed{false};
  GridClocks clocks;
};

} // namespace

LaunchResult launch(const CompiledKernel &kernel, AddressSpace &memory, int device, uint64_t peers,
                    const LaunchConfiguration &configuration, const LaunchOptions &options, FaultLog &faults) {
  LaunchState state;
  state.kernel = &kernel;
  state.memory = &memory;
  state.device = device;
  state.peers = peers;
  state.grid = configuration.grid;
  state.blockSize = configuration.block;
  state.threads = configuration.block.x * configuration.block.y * configuration.block.z;
  state.dynamicShared = configuration.dynamicShared;
  state.parameters = configuration.parameters;
  state.parameters.resize(std::max<size_t>(kernel.parameterBytes, state.parameters.size()));
  state.faults = &faults;
  state.checkUninitialised = options.checkUninitialised;
  state.checkRaces = options.checkRaces;
  state.countMemory = options.countMemory;
  state.stepLimit = options.stepLimit;
  state.seed = options.seed;
  state.launchSerial = options.serial ? options.serial : ++launchSerials;
  state.order = options.order;
  std::FILE *file = options.output.empty() ? stdout : std::fopen(options.output.c_str(), "ab");
  state.printContext = file ? file : stdout;
  state.print = [](void *context, const char *text, size_t size) {
    std::fwrite(text, 1, size, static_cast<std::FILE *>(context));
  };

  Allocation *workspace = nullptr;
  if (configuration.cooperative) {
    constexpr uint64_t bytes = 256;
    workspace = memory.allocate(device, bytes, AllocationKind::Device, "workspace of a cooperative launch");
    if (workspace) {
      std::memset(reinterpret_cast<void *>(workspace->base), 0, bytes);
      memory.markInitialised(*workspace, workspace->base, bytes);
      state.gridWorkspace = workspace->base;
    }
  }
  uint64_t blocks = uint64_t(configuration.grid.x) * configuration.grid.y * configuration.grid.z;
  Grid grid(state, blocks);
  unsigned workers = options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  if (options.checkRaces)
    workers = 1;
  workers = unsigned(std::min<uint64_t>(workers, blocks));
  // Threads cost more than small grids gain.
  if (!options.threads && blocks * state.threads < 4096)
    workers = 1;
  std::vector<LaunchCounters> counters(workers);
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < workers; ++i)
    threads.emplace_back([&, i] { grid.work(counters[i]); });
  grid.work(counters[0]);
  for (std::thread &thread : threads)
    thread.join();
  std::fflush(static_cast<std::FILE *>(state.printContext));
  if (file && file != stdout)
    std::fclose(file);
  if (workspace)
    memory.free(*workspace, "the end of the launch");
  LaunchResult result;
  result.completed = !grid.hasFailed();
  for (const LaunchCounters &part : counters)
    result.counters.add(part);
  return result;
}

} // namespace weft::simulator
