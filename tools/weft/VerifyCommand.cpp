//===- VerifyCommand.cpp - weft verify
//------------------------------------------------------------------------------===//

#include "dialects/Graph/Structure.h"
#include "lib/Interpreter/Float64.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Support/NodeNames.h"
#include "tools/weft/Commands.h"
#include "tools/weft/Diagnostics.h"
#include "tools/weft/ModelInput.h"
#include "tools/weft/ProgramRun.h"
#include "tools/weft/Reproducer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir;
using weft::graph::TensorValue;

namespace weft::tool {

namespace {

/// How far two values are apart: the largest difference relative to the largest magnitude of the expected one. Infinite
/// where type or shape differ, or where one has a NaN or infinity and the other has not.
double distance(const TensorValue &value, const TensorValue &expected) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (value.getElementType() != expected.getElementType() || value.getShape() != expected.getShape())
    return kInfinite;
  if (!graph::isFloatElement(expected.getElementType())) {
    for (int64_t i = 0; i < expected.getElementCount(); ++i)
      if (value.getInteger(i) != expected.getInteger(i))
        return kInfinite;
    return 0;
  }
  double difference = 0, magnitude = 0;
  for (int64_t i = 0; i < expected.getElementCount(); ++i) {
    double a = value.getFloat(i), b = expected.getFloat(i);
    if (std::isfinite(a) && std::isfinite(b)) {
      difference = std::max(difference, std::abs(a - b));
      magnitude = std::max(magnitude, std::abs(b));
    } else if (!(a == b || (std::isnan(a) && std::isnan(b)))) {
      return kInfinite;
    }
  }
  return difference == 0 ? 0 : difference / std::max(magnitude, 1e-30);
}

/// The model's nodes that an op comes from: the first few and the last, of a kernel of many.
std::string nodesOf(Location location) {
  constexpr size_t kMost = 4;
  llvm::SmallVector<llvm::StringRef> names = nodeNames(location);
  if (names.size() <= kMost)
    return names.empty() ? "?" : llvm::join(names, ", ");
  return llvm::join(llvm::ArrayRef(names).take_front(kMost - 1), ", ") + ", ... (" +
         std::to_string(names.size() - kMost) + " more), " + names.back().str();
}

/// The program after one stage.
struct Snapshot {
  Stage stage;
  OwningOpRef<ModuleOp> module;
};

/// What a kernel gave by the interpreter, in the order of execution.
struct KernelValue {
  std::string nodes;
  SmallVector<TensorValue, 2> results;
};

/// Runs @main of a module by the interpreter: its outputs in order, then the new values of its states.
FailureOr<SmallVector<TensorValue>> interpret(ModuleOp module, const WeightStore &weights, ArrayRef<NamedTensor> inputs,
                                              Interpreter::Observer observer = nullptr) {
  auto main = module.lookupSymbol<func::FuncOp>(graph::GraphDialect::kMainName);
  SmallVector<TensorValue> arguments;
  const NamedTensor *next = inputs.begin();
  for (BlockArgument argument : main.getArguments()) {
    // A state begins with zeros.
    auto type = cast<RankedTensorType>(argument.getType());
    if (main.getArgAttr(argument.getArgNumber(), graph::GraphDialect::kStateName))
      arguments.emplace_back(type.getElementType(), type.getShape());
    else if (main.getArgAttr(argument.getArgNumber(), graph::GraphDialect::kInputName) && next != inputs.end())
      arguments.push_back((next++)->value);
  }
  FailureOr<SmallVector<TensorValue>> results =
      Interpreter(module, weights).run(graph::GraphDialect::kMainName, arguments, observer);
  if (mlir::failed(results))
    return failure();
  SmallVector<TensorValue> ordered;
  for (bool states : {false, true})
    for (auto [index, value] : llvm::enumerate(*results))
      if (states == (main.getResultAttr(index, graph::GraphDialect::kStateName) != nullptr))
        ordered.push_back(value);
  return ordered;
}

/// Runs @main and keeps what each kernel gives.
FailureOr<SmallVector<TensorValue>> interpretKernels(ModuleOp module, const WeightStore &weights,
                                                     ArrayRef<NamedTensor> inputs, std::vector<KernelValue> &kernels) {
  return interpret(module, weights, inputs, [&](Operation *op, ArrayRef<TensorValue> results) {
    if (isa<graph::FusionOp, graph::LibraryCallOp>(op))
      kernels.push_back({nodesOf(op->getLoc()), SmallVector<TensorValue, 2>(results)});
  });
}

/// The judge of values that differ by more than the tolerance. Some networks amplify rounding (a variance as
/// E[x^2] - E[x]^2 of nearly constant values), and two right programs are far apart then: a value passes if it is about
/// as near to the one computed in float64 as the interpreter's is. The program is evaluated in float64 when first
/// asked.
class Float64Judge {
public:
  Float64Judge(ModuleOp module, const WeightStore &weights, ArrayRef<NamedTensor> inputs, double tolerance)
      : module(module), weights(weights), inputs(inputs), tolerance(tolerance) {}

  bool acceptsKernel(size_t kernel, size_t result, const TensorValue &value, const TensorValue &expected) {
    return evaluate() && kernel < kernels.size() && result < kernels[kernel].results.size() &&
           accepts(value, expected, kernels[kernel].results[result]);
  }
  bool acceptsOutput(size_t index, const TensorValue &value, const TensorValue &expected) {
    return evaluate() && index < outputs.size() && accepts(value, expected, outputs[index]);
  }
  int64_t getAccepted() const { return accepted; }

private:
  bool accepts(const TensorValue &value, const TensorValue &expected, const TensorValue &truth) {
    double ours = distance(widenToFloat64(value), truth), theirs = distance(widenToFloat64(expected), truth);
    bool good = std::isfinite(theirs) && ours <= std::max(tolerance, 2 * theirs);
    accepted += good;
    return good;
  }

  bool evaluate() {
    if (evaluated)
      return !outputs.empty();
    evaluated = true;
    OwningOpRef<ModuleOp> wide = widenToFloat64(module);
    if (!wide)
      return false;
    ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
    WeightStore wideWeights = widenToFloat64(weights);
    std::vector<NamedTensor> wideInputs(inputs);
    for (NamedTensor &input : wideInputs)
      input.value = widenToFloat64(input.value);
    FailureOr<SmallVector<TensorValue>> results = interpretKernels(*wide, wideWeights, wideInputs, kernels);
    if (mlir::failed(results))
      return false;
    outputs = std::move(*results);
    return !outputs.empty();
  }

  ModuleOp module;
  const WeightStore &weights;
  ArrayRef<NamedTensor> inputs;
  double tolerance;
  bool evaluated = false;
  int64_t accepted = 0;
  std::vector<KernelValue> kernels;
  SmallVector<TensorValue> outputs;
};

struct Comparison {
  Comparison(ArrayRef<KernelValue> expected, MLIRContext *context, double tolerance, Float64Judge &judge)
      : expected(expected), context(context), tolerance(tolerance), judge(judge) {}

  ArrayRef<KernelValue> expected;
  MLIRContext *context;
  double tolerance;
  Float64Judge &judge;
  size_t next = 0;
  int64_t compared = 0;
  double worst = 0;
  std::string worstNodes;
  std::string firstDifference; // the op and how far it is off
};

void compareOp(void *user, const WeftObservation *observation) {
  auto &comparison = *static_cast<Comparison *>(user);
  // Copies and control flow of the runtime are no kernels.
  if (llvm::is_contained({"copy", "if", "while", "check_equal", "bind"}, StringRef(observation->name)))
    return;
  if (comparison.next >= comparison.expected.size()) {
    if (comparison.firstDifference.empty())
      comparison.firstDifference = "the compiled program runs more kernels than the interpreter";
    return;
  }
  size_t kernel = comparison.next++;
  const KernelValue &expected = comparison.expected[kernel];
  for (int32_t i = 0; i < observation->output_count; ++i) {
    bool known = static_cast<size_t>(i) < expected.results.size();
    TensorValue value = copyOf(observation->outputs[i], comparison.context);
    double off = known ? distance(value, expected.results[i]) : std::numeric_limits<double>::infinity();
    ++comparison.compared;
    if (known && !(off <= comparison.tolerance) &&
        comparison.judge.acceptsKernel(kernel, i, value, expected.results[i]))
      continue;
    if (off > comparison.worst) {
      comparison.worst = off;
      comparison.worstNodes = expected.nodes;
    }
    if (!(off <= comparison.tolerance) && comparison.firstDifference.empty())
      comparison.firstDifference =
          llvm::formatv("kernel {0}, result {1}, of {2}: off by {3:e2}", observation->name, i, expected.nodes, off);
  }
}

/// The first result that differs, or -1.
int64_t firstDifference(ArrayRef<TensorValue> values, ArrayRef<TensorValue> expected, double tolerance,
                        Float64Judge &judge, double &off) {
  for (size_t i = 0; i < expected.size(); ++i) {
    off = distance(values[i], expected[i]);
    if (!(off <= tolerance) && !judge.acceptsOutput(i, values[i], expected[i]))
      return static_cast<int64_t>(i);
  }
  return -1;
}

int verifyModel(const VerifyCommand &command, Reproducer &reproducer) {
  MLIRContext context;
  DiagnosticPrinter printer(context);
  loadCompilerDialects(context);
  FailureOr<DeviceRun> device = openDevice(command.device);
  if (mlir::failed(device))
    return 1;
  FailureOr<CompileOptions> compileOptions = compileOptionsOf(command.model, &*device);
  if (mlir::failed(compileOptions))
    return 1;
  CompileOptions &options = *compileOptions;
  if (options.targets.size() != 1 || options.targets.front().isGpu() != (device->device != "cpu"))
    return fail("verify: --target=" + command.model.target + " is not the one target of --device=" + device->device);
  Model model = readModel(command.model, context);
  if (!model.module)
    return 1;

  // Compile, keeping the program after each stage.
  std::vector<Snapshot> snapshots;
  OwningOpRef<ModuleOp> kernels;
  WeightStore kernelWeights, modelWeights = model.weights;
  options.observer = [&](Stage stage, ModuleOp module) {
    if (stage != Stage::Exec)
      snapshots.push_back({stage, module.clone()});
  };
  options.kernelObserver = [&](ModuleOp module, const WeightStore &weights) {
    kernels = module.clone();
    kernelWeights = weights;
  };
  FailureOr<CompiledModel> compiled = compile(*model.module, std::move(model.weights), options);
  if (mlir::failed(compiled))
    return 1;
  const runtime::Program &program = compiled->emitted.program;
  DataOptions data = command.data;
  data.randomInputs = true;
  FailureOr<std::vector<NamedTensor>> inputs =
      gatherInputs(data, command.model.shapes, program, program.entries.front(), &context, /*defaultSize=*/2);
  if (mlir::failed(inputs))
    return 1;
  reproducer.addInputs(*inputs);

  // The stages against the imported program, by the interpreter.
  FailureOr<SmallVector<TensorValue>> reference = interpret(*snapshots.front().module, modelWeights, *inputs);
  if (mlir::failed(reference))
    return 1;
  auto report = [&](const llvm::Twine &text) { return fail("verify: " + text); };
  Float64Judge importJudge(*snapshots.front().module, modelWeights, *inputs, command.tolerance);
  for (const Snapshot &snapshot : ArrayRef<Snapshot>(snapshots).drop_front()) {
    FailureOr<SmallVector<TensorValue>> values = interpret(*snapshot.module, modelWeights, *inputs);
    if (mlir::failed(values))
      return report("stage " + stageName(snapshot.stage) + " made a program that the interpreter cannot run");
    double off = 0;
    if (int64_t index = firstDifference(*values, *reference, command.tolerance, importJudge, off); index >= 0)
      return report("stage " + stageName(snapshot.stage) + " changed output " +
                    program.entries.front().outputs[index].name + llvm::formatv(": off by {0:e2}", off).str());
  }

  // Every kernel against the interpreter.
  std::vector<KernelValue> expected;
  FailureOr<SmallVector<TensorValue>> last = interpretKernels(*kernels, kernelWeights, *inputs, expected);
  if (mlir::failed(last))
    return report("the scheduled program cannot be run by the interpreter");
  runtime::StatusOr<std::vector<uint8_t>> artifact = runtime::serializeArtifact(program, compiled->emitted.weights);
  if (!artifact.ok())
    return fail(artifact.status().message());
  ProgramRun run;
  RunOptions runOptions;
  runOptions.threads = command.threads;
  runOptions.useLibraries = !command.noLibraries;
  runOptions.seed = command.data.seed;
  runOptions.device = device->device;
  runOptions.driver = device->driver;
  if (!run.load(artifact->data(), artifact->size(), runOptions) || !run.bind(*inputs))
    return 1;
  Float64Judge kernelJudge(*kernels, kernelWeights, *inputs, command.tolerance);
  Comparison comparison(expected, &context, command.tolerance, kernelJudge);
  if (failed(weft_run_set_observer(run.get(), compareOp, &comparison)) || failed(weft_run_execute(run.get())))
    return 1;
  if (!comparison.firstDifference.empty())
    return report("code generation: " + comparison.firstDifference);
  if (comparison.next != expected.size())
    return report("the compiled program runs " + std::to_string(comparison.next) + " kernels, the interpreter " +
                  std::to_string(expected.size()));
  for (auto [index, port] : llvm::enumerate(program.entries.front().outputs)) {
    WeftTensorView view;
    if (failed(weft_run_output(run.get(), port.name.c_str(), &view)))
      return 1;
    TensorValue value = copyOf(view, &context);
    double off = distance(value, (*reference)[index]);
    if (!(off <= command.tolerance) && !importJudge.acceptsOutput(index, value, (*reference)[index]))
      return report("output " + port.name + llvm::formatv(": off by {0:e2}", off).str());
  }
  llvm::outs() << "verified: " << snapshots.size() - 1 << " stages, " << expected.size() << " kernels, "
               << comparison.compared << " values, " << program.entries.front().outputs.size()
               << " outputs; largest difference " << llvm::format("%.2e", comparison.worst)
               << (comparison.worstNodes.empty() ? "" : " at " + comparison.worstNodes);
  if (int64_t accepted = importJudge.getAccepted() + kernelJudge.getAccepted())
    llvm::outs() << "; " << accepted << " values amplify rounding and are as near to float64 as the interpreter's";
  llvm::outs() << "\n";
  return 0;
}

} // namespace

int runVerify(const VerifyCommand &command) {
  Reproducer reproducer(command.model);
  return reproducer.finish(verifyModel(command, reproducer));
}

} // namespace weft::tool
