// oneDNN's contractions against a naive reference in double precision.
#include "test/unit/runtime/TestPrograms.h"

#include "runtime/Library/FewRows.h"
#include "runtime/Library/OneDnn/EpilogueTail.h"
#include "runtime/Library/OneDnn/OneDnn.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

using namespace weft::runtime;
using namespace weft::runtime::test;

namespace {

bool oneDnnIsMissing() {
  auto version = oneDnnVersion();
  if (!version.ok())
    std::printf("NOT CHECKED, oneDNN is not here: %s\n", version.status().message().c_str());
  return !version.ok();
}
#define NEEDS_ONEDNN()                                                                                                 \
  if (oneDnnIsMissing())                                                                                               \
  GTEST_SKIP() << "oneDNN is not installed"

struct Operand {
  std::vector<int64_t> dims;
  std::unique_ptr<AlignedBytes> bytes;
  size_t count = 0;

  Operand() = default;
  explicit Operand(std::vector<int64_t> shape) : dims(std::move(shape)) {
    count = 1;
    for (int64_t dim : dims)
      count *= static_cast<size_t>(dim);
    bytes = std::make_unique<AlignedBytes>(std::vector<uint8_t>(count * sizeof(float) + 1));
  }
  static Operand random(std::vector<int64_t> shape, std::mt19937 &generator) {
    Operand operand(std::move(shape));
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (size_t i = 0; i < operand.count; ++i)
      operand[i] = uniform(generator);
    return operand;
  }
  float *data() { return reinterpret_cast<float *>(bytes->data()); }
  float &operator[](size_t index) { return data()[index]; }
  TensorReference reference() { return {ElementType::F32, dims.data(), dims.size(), data()}; }
};

// NaN where either is one, unlike the standard library's.
double minimumOf(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b); }
double maximumOf(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }

double applyStep(const PostOp &step, double x, double before, double operand) {
  switch (step.kind) {
  case PostOpKind::Bias:
  case PostOpKind::Add:
    return x + operand;
  case PostOpKind::Sum:
    return x + static_cast<double>(step.alpha) * before;
  case PostOpKind::Subtract:
    return x - operand;
  case PostOpKind::Multiply:
    return x * operand;
  case PostOpKind::Divide:
    return x / operand;
  case PostOpKind::Minimum:
    return minimumOf(x, operand);
  case PostOpKind::Maximum:
    return maximumOf(x, operand);
  case PostOpKind::Relu:
    return x > 0 ? x : step.alpha == 0 && !std::isnan(x) ? 0 : static_cast<double>(step.alpha) * x;
  case PostOpKind::GeluErf:
    return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  case PostOpKind::GeluTanh:
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  case PostOpKind::Tanh:
    return std::tanh(x);
  case PostOpKind::Logistic:
    return 1 / (1 + std::exp(-x));
  case PostOpKind::Swish:
    return x / (1 + std::exp(-static_cast<double>(step.alpha) * x));
  case PostOpKind::Elu:
    return x > 0 ? x : static_cast<double>(step.alpha) * std::expm1(x);
  case PostOpKind::Clip:
    return minimumOf(maximumOf(x, static_cast<double>(step.alpha)), static_cast<double>(step.beta));
  case PostOpKind::Linear:
    return static_cast<double>(step.alpha) * x + static_cast<double>(step.beta);
  case PostOpKind::Abs:
    return std::fabs(x);
  case PostOpKind::Sqrt:
    return std::sqrt(x);
  case PostOpKind::Square:
    return x * x;
  case PostOpKind::Exp:
    return std::exp(x);
  case PostOpKind::HardSwish:
    return x * minimumOf(maximumOf(x / 6 + 0.5, 0.0), 1.0);
  }
  return NAN;
}

bool needsOperand(PostOpKind kind) {
  return kind == PostOpKind::Bias || (kind >= PostOpKind::Add && kind <= PostOpKind::Maximum);
}

// A call with its operands: what it computes in double, and what oneDNN computes.
struct Problem {
  LibraryCall call;
  LibrarySizes sizes;
  Operand left, right, output;
  std::vector<Operand> stepOperands; // one a post-op
  int64_t columns = 1;
  // The contraction alone, at a flat output index.
  std::function<double(size_t)> contraction;

  void addStep(PostOpKind kind, std::mt19937 &generator, PostOpBroadcast broadcast = PostOpBroadcast::Full,
               float alpha = 0, float beta = 0) {
    call.epilogue.push_back({kind, broadcast, 0, alpha, beta});
    std::vector<int64_t> dims = output.dims;
    if (kind == PostOpKind::Bias || broadcast == PostOpBroadcast::Column)
      dims = {columns};
    else if (broadcast == PostOpBroadcast::Scalar)
      dims = {};
    stepOperands.push_back(needsOperand(kind) ? Operand::random(dims, generator) : Operand());
    if (kind == PostOpKind::Divide)
      for (size_t i = 0; i < stepOperands.back().count; ++i)
        stepOperands.back()[i] += stepOperands.back()[i] < 0 ? -1.0f : 1.0f;
  }

  std::vector<double> expected() {
    std::vector<double> result(output.count);
    for (size_t i = 0; i < output.count; ++i) {
      double value = contraction(i);
      for (size_t step = 0; step < call.epilogue.size(); ++step) {
        const PostOp &op = call.epilogue[step];
        double operand = 0;
        if (needsOperand(op.kind)) {
          bool column = op.kind == PostOpKind::Bias || op.broadcast == PostOpBroadcast::Column;
          size_t index = column ? i % static_cast<size_t>(columns) : op.broadcast == PostOpBroadcast::Scalar ? 0 : i;
          operand = static_cast<double>(stepOperands[step][index]);
        }
        value = applyStep(op, value, static_cast<double>(output[i]), operand);
      }
      result[i] = value;
    }
    return result;
  }

  // "" when the plan was made and executed; the values are in `output`.
  std::string run(int32_t threads, bool packed, std::string *implementation = nullptr) {
    auto pool = ThreadPool::create(threads);
    EXPECT_TRUE(pool.ok());
    auto operation = makeOneDnnOperation(call, packed ? right.data() : nullptr, defaultAllocator());
    if (!operation.ok())
      return operation.status().message();
    std::vector<TensorReference> operands = {left.reference(), right.reference(), output.reference()};
    for (size_t step = 0; step < stepOperands.size(); ++step)
      operands.push_back(needsOperand(call.epilogue[step].kind) ? stepOperands[step].reference() : TensorReference());
    auto plan = (*operation)->plan(sizes, operands.data());
    if (!plan.ok())
      return plan.status().message();
    if (implementation)
      *implementation = (*plan)->implementation();
    auto workspace = (*plan)->makeWorkspace((*pool)->size());
    if (!workspace.ok())
      return workspace.status().message();
    std::atomic<bool> cancelled{false};
    return (*plan)->execute(**pool, **workspace, operands.data(), cancelled).message();
  }

  // Runs with 1, 2, ... threads: close to the reference, and the same bits each time. Returns false when oneDNN
  // declines.
  bool check(const std::string &what, bool packed, double tolerance, int32_t mostThreads = 4) {
    std::vector<double> reference = expected();
    std::vector<float> before(output.data(), output.data() + output.count), first;
    std::string implementation;
    double scale = 1e-30;
    for (double value : reference)
      if (std::isfinite(value))
        scale = std::max(scale, std::fabs(value));
    for (int32_t threads = 1; threads <= mostThreads; ++threads) {
      std::copy(before.begin(), before.end(), output.data());
      std::string error = run(threads, packed, &implementation);
      if (!error.empty()) {
        // Declining is allowed, failing is not.
        EXPECT_TRUE(error.find("reference implementation") != std::string::npos ||
                    error.find("lose NaNs") != std::string::npos ||
                    error.find("no implementation") != std::string::npos ||
                    error.find("left to our kernel") != std::string::npos)
            << what << ": " << error;
        return false;
      }
      double worst = 0;
      for (size_t i = 0; i < output.count; ++i) {
        auto value = static_cast<double>(output[i]);
        if (std::isfinite(reference[i]))
          worst = std::isnan(value) ? INFINITY : std::max(worst, std::fabs(value - reference[i]));
        else if (std::isnan(reference[i]) ? !std::isnan(value) : value != reference[i])
          worst = INFINITY;
      }
      EXPECT_LE(worst, tolerance * scale) << what << " by " << implementation << " with " << threads << " threads";
      std::vector<float> values(output.data(), output.data() + output.count);
      if (first.empty())
        first = values;
      EXPECT_EQ(std::memcmp(first.data(), values.data(), values.size() * sizeof(float)), 0)
          << what << ": other bits with " << threads << " threads";
    }
    std::copy(before.begin(), before.end(), output.data());
    return true;
  }
};

struct MatmulShape {
  int64_t batch, m, n, k;
  bool transposeLeft = false, transposeRight = false, rightHasBatch = false;
};

Problem matmul(const MatmulShape &shape, std::mt19937 &generator) {
  Problem problem;
  Matmul operation;
  operation.transposeLeft = shape.transposeLeft;
  operation.transposeRight = shape.transposeRight;
  operation.rightHasBatch = shape.rightHasBatch;
  problem.call.operation = operation;
  problem.sizes = {shape.batch, shape.m, shape.n, shape.k};
  problem.left = Operand::random({shape.batch, shape.m, shape.k}, generator);
  problem.right = Operand::random({shape.rightHasBatch ? shape.batch : 1, shape.k, shape.n}, generator);
  problem.output = Operand::random({shape.batch, shape.m, shape.n}, generator);
  problem.columns = shape.n;
  float *left = problem.left.data(), *right = problem.right.data();
  problem.contraction = [shape, left, right](size_t flat) {
    auto index = static_cast<int64_t>(flat);
    int64_t column = index % shape.n, row = index / shape.n % shape.m, batch = index / shape.n / shape.m;
    double sum = 0;
    for (int64_t k = 0; k < shape.k; ++k) {
      int64_t a = batch * shape.m * shape.k + (shape.transposeLeft ? k * shape.m + row : row * shape.k + k);
      int64_t b = (shape.rightHasBatch ? batch * shape.k * shape.n : 0) +
                  (shape.transposeRight ? column * shape.k + k : k * shape.n + column);
      sum += static_cast<double>(left[a]) * static_cast<double>(right[b]);
    }
    return sum;
  };
  return problem;
}

TEST(OneDnnMatmul, ManyShapes) {
  NEEDS_ONEDNN();
  std::mt19937 generator(1);
  std::vector<MatmulShape> shapes = {{1, 1, 1, 1},     {1, 1, 1000, 64},  {1, 3, 5, 7},      {1, 64, 64, 64},
                                     {1, 200, 96, 33}, {1, 513, 257, 40}, {1, 1, 4096, 300}, {1, 17, 700, 129},
                                     {3, 20, 30, 10},  {2, 150, 70, 60},  {1, 1000, 16, 8},  {1, 40, 1, 512},
                                     {1, 2, 1027, 83}, {1, 4, 300, 301},  {1, 1, 9, 8192},   {5, 4, 61, 47},
                                     {4, 1, 129, 64},  {1, 3, 64, 1029},  {1, 300, 400, 700}};
  int done = 0, total = 0;
  for (MatmulShape shape : shapes)
    for (int flags = 0; flags < 8; ++flags) {
      shape.transposeLeft = flags & 1;
      shape.transposeRight = flags & 2;
      shape.rightHasBatch = flags & 4;
      for (bool packed : {false, true}) {
        Problem problem = matmul(shape, generator);
        std::string what = "matmul " + std::to_string(shape.batch) + "x" + std::to_string(shape.m) + "x" +
                           std::to_string(shape.n) + "x" + std::to_string(shape.k) + " flags " + std::to_string(flags) +
                           (packed ? " packed" : "");
        ++total;
        done += problem.check(what, packed, 1e-5);
      }
    }
  std::printf("oneDNN took %d of %d matmuls\n", done, total);
  EXPECT_GT(done, total * 3 / 4);
}

// Each step of an epilogue alone, in matmul and in convolution.
struct StepCase {
  PostOpKind kind;
  PostOpBroadcast broadcast = PostOpBroadcast::Full;
  float alpha = 0, beta = 0;
};

std::vector<StepCase> allSteps() {
  std::vector<StepCase> steps = {{PostOpKind::Bias},
                                 {PostOpKind::Sum, PostOpBroadcast::Full, 1},
                                 {PostOpKind::Sum, PostOpBroadcast::Full, 0.5f},
                                 {PostOpKind::Relu},
                                 {PostOpKind::Relu, PostOpBroadcast::Full, 0.1f},
                                 {PostOpKind::GeluErf},
                                 {PostOpKind::GeluTanh},
                                 {PostOpKind::Tanh},
                                 {PostOpKind::Logistic},
                                 {PostOpKind::Swish, PostOpBroadcast::Full, 1},
                                 {PostOpKind::Swish, PostOpBroadcast::Full, 1.702f},
                                 {PostOpKind::Elu, PostOpBroadcast::Full, 0.7f},
                                 {PostOpKind::Clip, PostOpBroadcast::Full, -0.25f, 0.5f},
                                 {PostOpKind::Linear, PostOpBroadcast::Full, 2.5f, -1},
                                 {PostOpKind::Abs},
                                 {PostOpKind::Square},
                                 {PostOpKind::Exp},
                                 {PostOpKind::HardSwish}};
  for (PostOpKind kind : {PostOpKind::Add, PostOpKind::Subtract, PostOpKind::Multiply, PostOpKind::Divide,
                          PostOpKind::Minimum, PostOpKind::Maximum})
    for (PostOpBroadcast broadcast : {PostOpBroadcast::Full, PostOpBroadcast::Column, PostOpBroadcast::Scalar})
      steps.push_back({kind, broadcast});
  return steps;
}

template <typename MakeProblem> void checkSteps(MakeProblem makeProblem, std::mt19937 &generator, bool packed = true) {
  int done = 0, total = 0;
  for (const StepCase &step : allSteps()) {
    Problem problem = makeProblem();
    problem.addStep(step.kind, generator, step.broadcast, step.alpha, step.beta);
    std::string what =
        "step " + std::to_string(static_cast<int>(step.kind)) + "/" + std::to_string(static_cast<int>(step.broadcast));
    bool taken = problem.check(what, packed, 2e-5, /*mostThreads=*/2);
    if (!taken)
      std::printf("declined: %s\n", what.c_str());
    done += taken;
    ++total;
  }
  // Several at once, in an order that matters.
  for (int round = 0; round < 3; ++round) {
    Problem problem = makeProblem();
    problem.addStep(PostOpKind::Bias, generator);
    if (round == 1)
      problem.addStep(PostOpKind::Sum, generator, PostOpBroadcast::Full, 1);
    if (round == 2)
      problem.addStep(PostOpKind::Multiply, generator, PostOpBroadcast::Column);
    problem.addStep(PostOpKind::Relu, generator);
    if (round == 2)
      problem.addStep(PostOpKind::Add, generator, PostOpBroadcast::Full);
    bool taken = problem.check("chain " + std::to_string(round), packed, 2e-5, /*mostThreads=*/2);
    EXPECT_TRUE(taken || !packed) << round;
  }
  std::printf("oneDNN took %d of %d epilogues\n", done, total);
  if (packed)
    EXPECT_GT(done, total / 2);
}

// Values that are no numbers go through every step, and through every two: what comes first must not change what the
// second computes.
template <typename MakeProblem> void checkSpecialValues(MakeProblem makeProblem, std::mt19937 &generator) {
  int done = 0, total = 0;
  std::vector<StepCase> steps = allSteps();
  steps.push_back({PostOpKind::Linear, PostOpBroadcast::Full, 0.5f, 0});
  steps.push_back({PostOpKind::Linear, PostOpBroadcast::Full, 1, 0.75f});
  steps.push_back({PostOpKind::Clip, PostOpBroadcast::Full, -1, 0.125f});
  steps.push_back({PostOpKind::Relu, PostOpBroadcast::Full, 0.25f});
  for (size_t first = 0; first < steps.size(); ++first)
    for (size_t second = 0; second <= steps.size(); ++second) {
      Problem problem = makeProblem();
      for (size_t i = 0; i < problem.left.count; i += 37)
        problem.left[i] = std::array<float, 4>{NAN, INFINITY, -INFINITY, 1e30f}[i / 37 % 4];
      std::string what = "steps";
      for (size_t index : {first, second}) {
        // A bias comes first, if at all.
        if (index == steps.size() || (index == second && steps[index].kind == PostOpKind::Bias))
          continue;
        problem.addStep(steps[index].kind, generator, steps[index].broadcast, steps[index].alpha, steps[index].beta);
        what += " " + std::to_string(static_cast<int>(steps[index].kind)) + "/" +
                std::to_string(static_cast<int>(steps[index].broadcast));
      }
      // Past 1e30 the functions' own limits in single precision would be compared.
      std::vector<double> values = problem.expected();
      if (std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v) && std::fabs(v) > 3e38; }))
        continue;
      done += problem.check(what, true, 2e-5, /*mostThreads=*/1);
      ++total;
    }
  std::printf("oneDNN took %d of %d epilogues of one or two steps\n", done, total);
  EXPECT_GT(done, total / 4);
}

// Up to four rows are a product of our own, whatever the order of the right operand; it lacks the library's functions.
TEST(OneDnnMatmul, FewRowsAreOurOwn) {
  NEEDS_ONEDNN();
  std::mt19937 generator(11);
  for (int64_t rows = 1; rows <= 5; ++rows)
    for (bool transposeRight : {false, true})
      for (bool isFunction : {false, true}) {
        Problem problem = matmul({1, rows, 96, 80, false, transposeRight}, generator);
        problem.addStep(PostOpKind::Bias, generator);
        problem.addStep(isFunction ? PostOpKind::Tanh : PostOpKind::Relu, generator);
        std::string implementation;
        EXPECT_EQ(problem.run(2, true, &implementation), "");
        EXPECT_EQ(implementation == "few rows",
                  rows <= 4 && !isFunction && canMultiplyFewRows(1, {nullptr, 80, 1}, {nullptr, 96, 1}))
            << rows << " rows: " << implementation;
      }
}

// maximum and minimum count +0 as larger than -0; clipping is a minimum of a maximum.
TEST(EpilogueTail, ClippingKeepsTheSignOfZeros) {
  auto clipped = [](float value, float low, float high) {
    onednn::KernelForm form;
    form.rows = 1;
    form.columns = form.rowStride = 1;
    TensorReference operands[4];
    operands[2].data = &value;
    onednn::applyTail({{PostOpKind::Clip, PostOpBroadcast::Full, 0, low, high}}, 0, form, {}, operands);
    return value;
  };
  auto expectSame = [](float value, float expected) {
    EXPECT_EQ(std::memcmp(&value, &expected, sizeof(value)), 0) << value << ", expected " << expected;
  };
  expectSame(clipped(-0.0f, 0.0f, 6.0f), 0.0f);
  expectSame(clipped(-0.0f, -0.0f, 6.0f), -0.0f);
  expectSame(clipped(0.0f, -0.0f, 6.0f), 0.0f);
  expectSame(clipped(0.0f, -6.0f, -0.0f), -0.0f);
  expectSame(clipped(-0.0f, -6.0f, 0.0f), -0.0f);
  expectSame(clipped(0.0f, -6.0f, 0.0f), 0.0f);
  expectSame(clipped(7.0f, 0.0f, 6.0f), 6.0f);
  expectSame(clipped(-7.0f, 0.0f, 6.0f), 0.0f);
  expectSame(clipped(6.0f, 0.0f, 6.0f), 6.0f);
  EXPECT_TRUE(std::isnan(clipped(NAN, 0.0f, 6.0f)));
}

TEST(OneDnnMatmul, Epilogues) {
  NEEDS_ONEDNN();
  std::mt19937 generator(2);
  for (bool packed : {true, false})
    for (const MatmulShape &shape : {MatmulShape{1, 130, 72, 40}, MatmulShape{1, 2, 1500, 40},
                                     MatmulShape{1, 1, 37, 19}, MatmulShape{2, 33, 17, 21, true, true, true}})
      checkSteps([&] { return matmul(shape, generator); }, generator, packed);
}

TEST(OneDnnMatmul, SpecialValuesInEpilogues) {
  NEEDS_ONEDNN();
  std::mt19937 generator(7);
  for (const MatmulShape &shape : {MatmulShape{1, 19, 33, 8}, MatmulShape{2, 5, 17, 21, false, true, true},
                                   MatmulShape{1, 2, 33, 8}, MatmulShape{2, 1, 17, 21, false, true, true}})
    checkSpecialValues([&] { return matmul(shape, generator); }, generator);
}

struct ConvolutionShape {
  int64_t images;
  std::vector<int64_t> input;
  int64_t inputChannels, outputChannels;
  std::vector<int64_t> kernel, strides, dilations, low, high;
  int64_t groups = 1;
  ConvolutionWeightsLayout layout = ConvolutionWeightsLayout::SpatialIO;
};

Problem convolution(const ConvolutionShape &shape, std::mt19937 &generator) {
  Problem problem;
  Convolution operation;
  operation.strides = shape.strides;
  operation.dilations = shape.dilations;
  operation.paddingLow = shape.low;
  operation.paddingHigh = shape.high;
  operation.groups = shape.groups;
  operation.weightsLayout = shape.layout;
  problem.call.operation = operation;
  size_t spatial = shape.input.size();
  std::vector<int64_t> inputDims = {shape.images}, outputDims = {shape.images}, weightDims, outputSpatial;
  inputDims.insert(inputDims.end(), shape.input.begin(), shape.input.end());
  inputDims.push_back(shape.inputChannels);
  for (size_t axis = 0; axis < spatial; ++axis) {
    int64_t reach = (shape.kernel[axis] - 1) * shape.dilations[axis] + 1;
    outputSpatial.push_back((shape.input[axis] + shape.low[axis] + shape.high[axis] - reach) / shape.strides[axis] + 1);
  }
  outputDims.insert(outputDims.end(), outputSpatial.begin(), outputSpatial.end());
  outputDims.push_back(shape.outputChannels);
  int64_t groupInputs = shape.inputChannels / shape.groups;
  switch (shape.layout) {
  case ConvolutionWeightsLayout::SpatialIO:
    weightDims = shape.kernel;
    weightDims.insert(weightDims.end(), {groupInputs, shape.outputChannels});
    break;
  case ConvolutionWeightsLayout::OISpatial:
    weightDims = {shape.outputChannels, groupInputs};
    weightDims.insert(weightDims.end(), shape.kernel.begin(), shape.kernel.end());
    break;
  case ConvolutionWeightsLayout::OSpatialI:
    weightDims = {shape.outputChannels};
    weightDims.insert(weightDims.end(), shape.kernel.begin(), shape.kernel.end());
    weightDims.push_back(groupInputs);
    break;
  }
  problem.left = Operand::random(inputDims, generator);
  problem.right = Operand::random(weightDims, generator);
  problem.output = Operand::random(outputDims, generator);
  problem.columns = shape.outputChannels;
  float *input = problem.left.data(), *weights = problem.right.data();
  problem.contraction = [=](size_t flat) {
    auto rest = static_cast<int64_t>(flat);
    int64_t channel = rest % shape.outputChannels;
    rest /= shape.outputChannels;
    std::vector<int64_t> position(spatial);
    for (size_t axis = spatial; axis-- > 0;) {
      position[axis] = rest % outputSpatial[axis];
      rest /= outputSpatial[axis];
    }
    int64_t image = rest, group = channel / (shape.outputChannels / shape.groups);
    int64_t taps = std::accumulate(shape.kernel.begin(), shape.kernel.end(), int64_t(1), std::multiplies<int64_t>());
    double sum = 0;
    for (int64_t tap = 0; tap < taps; ++tap) {
      int64_t left = tap, pixel = 0;
      bool inside = true;
      std::vector<int64_t> offset(spatial);
      for (size_t axis = spatial; axis-- > 0;) {
        offset[axis] = left % shape.kernel[axis];
        left /= shape.kernel[axis];
      }
      for (size_t axis = 0; axis < spatial; ++axis) {
        int64_t at = position[axis] * shape.strides[axis] + offset[axis] * shape.dilations[axis] - shape.low[axis];
        inside &= at >= 0 && at < shape.input[axis];
        pixel = pixel * shape.input[axis] + at;
      }
      if (!inside)
        continue;
      int64_t area = std::accumulate(shape.input.begin(), shape.input.end(), int64_t(1), std::multiplies<int64_t>());
      for (int64_t c = 0; c < groupInputs; ++c) {
        int64_t from = (image * area + pixel) * shape.inputChannels + group * groupInputs + c;
        int64_t weight = 0;
        switch (shape.layout) {
        case ConvolutionWeightsLayout::SpatialIO:
          weight = (tap * groupInputs + c) * shape.outputChannels + channel;
          break;
        case ConvolutionWeightsLayout::OISpatial:
          weight = (channel * groupInputs + c) * taps + tap;
          break;
        case ConvolutionWeightsLayout::OSpatialI:
          weight = (channel * taps + tap) * groupInputs + c;
          break;
        }
        sum += static_cast<double>(input[from]) * static_cast<double>(weights[weight]);
      }
    }
    return sum;
  };
  return problem;
}

std::string describe(const ConvolutionShape &shape) {
  auto list = [](const std::vector<int64_t> &values) {
    std::string text = "[";
    for (int64_t value : values)
      text += std::to_string(value) + " ";
    return text + "]";
  };
  return "convolution n" + std::to_string(shape.images) + " in" + list(shape.input) + " c" +
         std::to_string(shape.inputChannels) + "->" + std::to_string(shape.outputChannels) + " k" + list(shape.kernel) +
         " s" + list(shape.strides) + " d" + list(shape.dilations) + " p" + list(shape.low) + list(shape.high) + " g" +
         std::to_string(shape.groups) + " layout " + std::to_string(static_cast<int>(shape.layout));
}

TEST(OneDnnConvolution, ChosenShapes) {
  NEEDS_ONEDNN();
  std::mt19937 generator(3);
  std::vector<ConvolutionShape> shapes = {
      // 3x3 same, tall enough for many row tiles
      {1, {56, 56}, 16, 32, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      // ResNet's first layer
      {2, {64, 60}, 3, 24, {7, 7}, {2, 2}, {1, 1}, {3, 3}, {3, 3}},
      // one element in one direction
      {2, {70, 1}, 24, 40, {5, 1}, {2, 1}, {1, 1}, {2, 0}, {1, 0}},
      {1, {1, 130}, 24, 40, {1, 3}, {1, 1}, {1, 2}, {0, 1}, {0, 1}},
      {1, {1, 1, 33}, 8, 16, {1, 1, 3}, {1, 1, 1}, {1, 1, 1}, {0, 0, 1}, {0, 0, 1}},
      {3, {1, 1}, 24, 40, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
      {1, {9, 1}, 8, 16, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      // 1x1, with and without stride
      {3, {14, 14}, 64, 48, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
      {1, {28, 28}, 64, 48, {1, 1}, {2, 2}, {1, 1}, {0, 0}, {0, 0}},
      // asymmetric padding, rows left over by the stride
      {1, {33, 31}, 8, 16, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {1, 1}},
      {1, {34, 31}, 8, 16, {3, 2}, {3, 2}, {1, 1}, {1, 0}, {0, 1}},
      // dilated
      {1, {40, 40}, 16, 16, {3, 3}, {1, 1}, {2, 3}, {2, 3}, {2, 3}},
      // grouped, depthwise
      {1, {32, 32}, 32, 64, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 4},
      {2, {30, 30}, 32, 32, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, 32},
      {1, {30, 30}, 8, 16, {5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}, 8},
      // one spatial dimension, three of them
      {2, {300}, 20, 24, {5}, {1}, {1}, {2}, {2}},
      {1, {9, 10, 11}, 4, 8, {3, 3, 3}, {1, 2, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
      // many small images
      {9, {7, 7}, 32, 40, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      // the kernel covers the image
      {2, {6, 6}, 8, 10, {6, 6}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
      // odd channel counts
      {1, {40, 17}, 5, 7, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {1, {20, 20}, 1, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
  };
  int done = 0, total = 0;
  for (ConvolutionShape shape : shapes)
    for (ConvolutionWeightsLayout layout : {ConvolutionWeightsLayout::SpatialIO, ConvolutionWeightsLayout::OISpatial,
                                            ConvolutionWeightsLayout::OSpatialI}) {
      shape.layout = layout;
      Problem problem = convolution(shape, generator);
      bool taken = problem.check(describe(shape), true, 1e-5);
      if (!taken)
        std::printf("declined: %s\n", describe(shape).c_str());
      done += taken;
      ++total;
    }
  std::printf("oneDNN took %d of %d convolutions\n", done, total);
  EXPECT_GT(done, total * 3 / 4);
}

TEST(OneDnnConvolution, RandomShapes) {
  NEEDS_ONEDNN();
  std::mt19937 generator(4);
  auto pick = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(generator() % static_cast<uint32_t>(high - low + 1));
  };
  int done = 0, total = 0;
  for (int round = 0; round < 150; ++round) {
    ConvolutionShape shape;
    size_t spatial = static_cast<size_t>(pick(1, 2));
    shape.images = pick(1, 3);
    shape.groups = pick(0, 3) == 0 ? pick(2, 4) : 1;
    shape.inputChannels = shape.groups * pick(1, 12);
    shape.outputChannels = shape.groups * pick(1, 20);
    shape.layout = static_cast<ConvolutionWeightsLayout>(pick(0, 2));
    bool possible = true;
    for (size_t axis = 0; axis < spatial; ++axis) {
      shape.input.push_back(pick(1, axis == 0 ? 90 : 20));
      shape.kernel.push_back(pick(1, 5));
      shape.strides.push_back(pick(1, 3));
      shape.dilations.push_back(pick(1, 3));
      shape.low.push_back(pick(0, 3));
      shape.high.push_back(pick(0, 3));
      possible &= shape.input[axis] + shape.low[axis] + shape.high[axis] >=
                  (shape.kernel[axis] - 1) * shape.dilations[axis] + 1;
    }
    if (!possible)
      continue;
    Problem problem = convolution(shape, generator);
    if (round % 3 == 0) {
      problem.addStep(PostOpKind::Bias, generator);
      problem.addStep(PostOpKind::Relu, generator);
    } else if (round % 3 == 1) {
      problem.addStep(PostOpKind::Add, generator, PostOpBroadcast::Full);
    }
    done += problem.check(describe(shape) + " epilogue " + std::to_string(round % 3), round % 5 != 0, 1e-5);
    ++total;
  }
  std::printf("oneDNN took %d of %d random convolutions\n", done, total);
  EXPECT_GT(done, total / 2);
}

TEST(OneDnnConvolution, Epilogues) {
  NEEDS_ONEDNN();
  std::mt19937 generator(5);
  // Shapes that oneDNN implements in different ways: each has its own code for epilogues.
  const std::vector<ConvolutionShape> shapes = {
      {2, {20, 14}, 16, 24, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {2, {20, 14}, 16, 24, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
      {1, {52}, 7, 17, {2}, {3}, {3}, {3}, {1}},
      {1, {20, 14}, 7, 17, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {1, {20, 14}, 7, 17, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
      {1, {20, 14}, 24, 24, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 24},
      {1, {20, 14}, 7, 7, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 7},
      {1, {20, 14}, 32, 16, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 2},
      {1, {20, 14}, 6, 10, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 2},
      {1, {40, 30}, 3, 24, {7, 7}, {2, 2}, {1, 1}, {3, 3}, {3, 3}},
      {1, {9, 10, 11}, 4, 9, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
      {1, {9, 14, 12}, 3, 16, {3, 3, 3}, {1, 2, 1}, {2, 1, 1}, {1, 0, 1}, {0, 1, 2}},
  };
  for (const ConvolutionShape &shape : shapes) {
    std::printf("%s\n", describe(shape).c_str());
    checkSteps([&] { return convolution(shape, generator); }, generator);
    checkSteps([&] { return convolution(shape, generator); }, generator, /*packed=*/false);
  }
}

TEST(OneDnnConvolution, SpecialValuesInEpilogues) {
  NEEDS_ONEDNN();
  std::mt19937 generator(9);
  const std::vector<ConvolutionShape> shapes = {
      {1, {9, 7}, 16, 24, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {2, {5, 4}, 7, 17, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
      {1, {9, 7}, 24, 24, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 24},
  };
  for (const ConvolutionShape &shape : shapes)
    checkSpecialValues([&] { return convolution(shape, generator); }, generator);
}

TEST(OneDnn, OperandsThatDoNotFitAreDeclined) {
  NEEDS_ONEDNN();
  std::mt19937 generator(6);
  Problem problem = matmul({1, 8, 8, 8}, generator);
  problem.sizes.k = 9;
  EXPECT_NE(problem.run(1, false).find("do not fit"), std::string::npos);
  problem = convolution({1, {10, 10}, 4, 4, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, generator);
  problem.output.dims[1] = 11;
  EXPECT_NE(problem.run(1, false).find("do not fit"), std::string::npos);
  problem = matmul({1, 8, 8, 8}, generator);
  problem.addStep(PostOpKind::Bias, generator);
  problem.stepOperands[0].dims = {7};
  EXPECT_NE(problem.run(1, false).find("another size"), std::string::npos);
}

// A program whose contraction runs on oneDNN and on its alternative kernel, for several batches of one artifact.
Program matmulProgram(int64_t n, int64_t k) {
  Program program = emptyProgram(1, 200);
  program.weights = {{"w", ElementType::F32, {k, n}, 0, 0, {0, 0}}};
  Entry entry;
  entry.inputs = {{"x", ElementType::F32, {symbolN(), k}}, {"sizes", ElementType::I64, {3}}};
  entry.outputs = {{"y", ElementType::F32, {symbolN(), n}}};
  Variant variant;
  variant.buffers = {inputBuffer(0, ElementType::F32, {symbolN(), k}), weightBuffer(0, ElementType::F32, {k, n}),
                     inputBuffer(1, ElementType::I64, {3}), outputBuffer(0, ElementType::F32, {symbolN(), n})};
  LibraryCall call;
  call.operation = Matmul{1, symbolN(), n, k, false, false, false};
  call.left = 0;
  call.right = 1;
  call.output = 3;
  call.alternative = std::get<Launch>(launchOp("test_matmul", {0, 1, 2}, {3}, symbolN()).body);
  variant.blocks = {Block{{Op{"dense", {"MatMul_0"}, call}}}};
  entry.variants.push_back(std::move(variant));
  program.entries.push_back(std::move(entry));
  return program;
}

TEST(OneDnn, ProgramsRunOnTheLibraryAndOnTheAlternative) {
  constexpr int64_t kColumns = 48, kInner = 96;
  std::mt19937 generator(8);
  Operand weights = Operand::random({kInner, kColumns}, generator);
  Program program = matmulProgram(kColumns, kInner);
  std::vector<WeightBytes> bytes = {{weights.data(), weights.count * sizeof(float)}};
  std::vector<std::string> lines;
  WeftLogFunction log = [](void *user, WeftLogLevel, const char *message) {
    static_cast<std::vector<std::string> *>(user)->push_back(message);
  };
  Loaded library = load(program, bytes, 3, true, log, &lines);
  Loaded alternative = load(program, bytes, 3, false);
  WeftOpInfo op;
  ASSERT_EQ(take(weft_program_op(alternative.program.get(), 0, 0, 0, &op)), "");
  EXPECT_STREQ(op.implementation, "test_matmul");
  EXPECT_STREQ(op.reason, "libraries are switched off");
  ASSERT_EQ(take(weft_program_op(library.program.get(), 0, 0, 0, &op)), "");
  ASSERT_EQ(lines.size(), 1u);
  if (oneDnnVersion().ok()) {
    // Planned at the smallest size, a single row.
    bool isOurs = canMultiplyFewRows(1, {nullptr, kInner, 1}, {nullptr, kColumns, 1});
    std::string expected = isOurs ? "few rows" : "onednn ";
    EXPECT_EQ(std::string(op.implementation).find(expected), 0u) << op.implementation;
    EXPECT_STREQ(op.reason, "");
    EXPECT_NE(lines[0].find("runs on " + expected), std::string::npos) << lines[0];
  } else {
    EXPECT_STREQ(op.implementation, "test_matmul");
    EXPECT_STRNE(op.reason, "");
  }
  Tensor<int64_t> sizes(WEFT_ELEMENT_I64, {3}, {0, kColumns, kInner});
  RunHandle first = makeRun(library), second = makeRun(alternative);
  ASSERT_EQ(setInput(first, "sizes", sizes), "");
  ASSERT_EQ(setInput(second, "sizes", sizes), "");
  for (int64_t rows : {1, 7, 64, 200, 7}) {
    Operand values = Operand::random({rows, kInner}, generator);
    FloatTensor x = floats({rows, kInner}, std::vector<float>(values.data(), values.data() + values.count));
    ASSERT_EQ(setInput(first, "x", x), "");
    ASSERT_EQ(setInput(second, "x", x), "");
    ASSERT_EQ(take(weft_run_execute(first.get())), "");
    ASSERT_EQ(take(weft_run_execute(second.get())), "");
    std::vector<float> a = outputValues<float>(first, "y"), b = outputValues<float>(second, "y");
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_NEAR(a[i], b[i], 2e-4f);
  }
}

} // namespace
