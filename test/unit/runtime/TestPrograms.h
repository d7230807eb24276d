// Programs that the runtime's tests write, load and run.
#pragma once

#include "include/weft/runtime.h"
#include "runtime/Artifact/ArtifactWriter.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace weft::runtime::test {

// The shared object made of TestKernels.c.
const std::vector<uint8_t> &kernelImage();
// The same names, but test_double triples.
const std::vector<uint8_t> &otherKernelImage();

// A program with one target for this machine, and symbol N in [minimum, maximum].
Program emptyProgram(int64_t minimum = 1, int64_t maximum = 64);
Expression symbolN();
Expression constant(int64_t value);
// left * right
Expression times(Expression left, const Expression &right);

Buffer inputBuffer(uint32_t index, ElementType type, std::vector<Expression> dims);
Buffer outputBuffer(uint32_t index, ElementType type, std::vector<Expression> dims);
Buffer weightBuffer(uint32_t index, ElementType type, std::vector<Expression> dims);
Buffer stateBuffer(uint32_t index, ElementType type, std::vector<Expression> dims);
Buffer arenaBuffer(Expression offset, ElementType type, std::vector<Expression> dims);
Op launchOp(std::string kernel, std::vector<uint32_t> inputs, std::vector<uint32_t> outputs, Expression tiles = 1,
            Expression scratch = 0);

// y = 2 * (x + bias): x f32[N,4], bias a weight {1, 2, 3, 4}; two launches through the arena.
struct BiasProgram {
  BiasProgram(int64_t minimum = 1, int64_t maximum = 64);
  Program program;
  std::vector<float> bias = {1, 2, 3, 4};
  std::vector<WeightBytes> weights() const { return {{bias.data(), bias.size() * sizeof(float)}}; }
};

// Bytes at an address aligned to 64.
class AlignedBytes {
public:
  explicit AlignedBytes(const std::vector<uint8_t> &bytes);
  const uint8_t *data() const { return data_; }
  uint8_t *data() { return data_; }
  size_t size() const { return size_; }

private:
  std::vector<uint8_t> storage_;
  uint8_t *data_;
  size_t size_;
};

// A status as a string, "" for success; frees it.
std::string take(WeftStatus *status);
WeftStatusCode takeCode(WeftStatus *status);

struct ProgramDeleter {
  void operator()(WeftProgram *program) const { weft_program_free(program); }
};
struct RunDeleter {
  void operator()(WeftRun *run) const { weft_run_free(run); }
};
using ProgramHandle = std::unique_ptr<WeftProgram, ProgramDeleter>;
using RunHandle = std::unique_ptr<WeftRun, RunDeleter>;

// A program loaded from memory that it keeps.
struct Loaded {
  std::unique_ptr<AlignedBytes> bytes;
  ProgramHandle program;
  std::string error;
};
// threads 0: the process's pool.
Loaded load(const Program &program, const std::vector<WeightBytes> &weights, int32_t threads = 0,
            bool useLibraries = true, WeftLogFunction log = nullptr, void *logUser = nullptr);
RunHandle makeRun(const Loaded &loaded, const char *entry = nullptr);

// A tensor with its memory.
template <typename T> struct Tensor {
  Tensor(WeftElementType type, std::vector<int64_t> shape, const std::vector<T> &values = {})
      : dims(std::move(shape)), elementType(type) {
    size_t count = 1;
    for (int64_t dim : dims)
      count *= static_cast<size_t>(dim);
    storage = std::make_unique<AlignedBytes>(std::vector<uint8_t>(count * sizeof(T) + 1));
    if (!values.empty())
      std::memcpy(storage->data(), values.data(), values.size() * sizeof(T));
    this->count = count;
  }
  T *data() { return reinterpret_cast<T *>(storage->data()); }
  T &operator[](size_t index) { return data()[index]; }
  WeftTensorView view() {
    return {storage->data(), elementType, static_cast<int32_t>(dims.size()), dims.data(), nullptr};
  }
  std::vector<int64_t> dims;
  WeftElementType elementType;
  size_t count = 0;
  std::unique_ptr<AlignedBytes> storage;
};
using FloatTensor = Tensor<float>;

inline FloatTensor floats(std::vector<int64_t> dims, const std::vector<float> &values = {}) {
  return FloatTensor(WEFT_ELEMENT_F32, std::move(dims), values);
}

template <typename T> std::string setInput(const RunHandle &run, const char *name, Tensor<T> &tensor) {
  WeftTensorView view = tensor.view();
  return take(weft_run_set_input(run.get(), name, &view));
}

// The values of an output; fails the test when there are none.
template <typename T> std::vector<T> outputValues(const RunHandle &run, const char *name) {
  WeftTensorView view = {};
  EXPECT_EQ(take(weft_run_output(run.get(), name, &view)), "");
  size_t count = view.data ? 1 : 0;
  for (int32_t axis = 0; axis < view.rank; ++axis)
    count *= static_cast<size_t>(view.dims[axis]);
  const T *data = static_cast<const T *>(view.data);
  return std::vector<T>(data, data + count);
}

// An empty folder that is removed again.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::string file(const std::string &name) const { return path_ + "/" + name; }
  const std::string &path() const { return path_; }
  std::vector<std::string> list() const;

private:
  std::string path_;
};

std::vector<uint8_t> readFile(const std::string &path);
void writeFile(const std::string &path, const std::vector<uint8_t> &bytes);

} // namespace weft::runtime::test
