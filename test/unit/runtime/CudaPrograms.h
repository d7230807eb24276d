// Programs for a GPU whose kernels are written by hand, and the simulated driver they run on.
#pragma once

#include "test/unit/runtime/TestPrograms.h"

#include <utility>

namespace weft::runtime::test {

// The kernels below as one PTX module. Each takes rows of 4 floats, a tile a row, unless it says otherwise:
//   add_bias(x, bias, y)      y = x + bias
//   double(x, y)              y = 2 x
//   increment(x, y)           y = x + 1, by blocks of 64 threads that pass the row through dynamic shared memory
//   through_scratch(x, y)     y = x + 1, by way of the launch's scratch
//   refuse_negative(x, y)     y = x, and the error "index out of range" where an element is below 0
//   refuse_all(x, y)          y = x, and the error "value not allowed"
//   crash(x, y)               reads an address that is not there
//   root(x, y)                y = sqrt(x): a NaN below 0
//   count_down(n, n', again)  one i64: n' = n - 1; again (i1) = n > 1
//   is_positive(n, again)     again (i1) = n > 0
//   copy_long(n, n')          one i64
//   seed(y)                   one i64: the run's seed
//   head(x, n, y)             y = the first K floats of x; the second symbol of the program is K; a tile a float
std::string cudaKernels(const std::string &architecture = "sm_80");

// A program with symbols N (rows, in [minimum, maximum]) and K (from data, in [0, 16]), and one target for that GPU.
Program cudaProgram(const std::string &architecture = "sm_80", int64_t minimum = 1, int64_t maximum = 64);
Op cudaLaunchOp(std::string kernel, std::vector<uint32_t> inputs, std::vector<uint32_t> outputs, Expression tiles = 1);
Launch &launchIn(Op &op);

// y = 2 * (x + bias): x f32[N,4], bias a weight {1, 2, 3, 4}.
struct CudaBiasProgram {
  explicit CudaBiasProgram(const std::string &architecture = "sm_80", int64_t maximum = 64);
  Program program;
  std::vector<float> bias = {1, 2, 3, 4};
  std::vector<WeightBytes> weights() const { return {{bias.data(), bias.size() * sizeof(float)}}; }
};
// y = x + launches: a chain of launches of increment.
Program cudaChain(int launches);

// The simulated driver as the runtime opens it, from its start, with these of its environment variables set and the
// others not; the checks are races and uninitialised reads unless the variables say otherwise.
class SimulatedGpus {
public:
  explicit SimulatedGpus(std::vector<std::pair<std::string, std::string>> variables = {});
  ~SimulatedGpus();
  static const char *library();
  std::string faults() const;
  std::string leaks() const;
  std::string counters() const;

private:
  void *handle_;
};

struct CudaLoadOptions {
  const char *device = "cuda";
  const char *driver = nullptr; // the simulator's
  WeftLogFunction log = nullptr;
  void *logUser = nullptr;
};
Loaded loadCuda(const Program &program, const std::vector<WeightBytes> &weights = {}, CudaLoadOptions options = {});

} // namespace weft::runtime::test
