//===- RunTest.cpp - One ONNX backend test on one device, in this process --------------------------===//

#include "test/conformance/RunTest.h"
#include "include/weft/runtime.h"
#include "lib/Importer/Onnx/OnnxImporter.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Pipeline/Pipeline.h"
#include "lib/Pipeline/Targets.h"
#include "mlir/IR/MLIRContext.h"
#include "runtime/Device/Cuda/SimulatedGpus.h"
#include "test/conformance/TestData.h"
#include "tools/weft/Tensors.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <dlfcn.h>

using namespace mlir;
using weft::graph::TensorValue;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace weft::conformance {

llvm::StringRef nameOf(Device device) {
  constexpr llvm::StringLiteral names[] = {"interpreter", "cpu", "cuda"};
  return names[static_cast<int>(device)];
}

std::optional<std::set<Device>> parseDevices(llvm::StringRef names) {
  std::set<Device> devices;
  SmallVector<StringRef> parts;
  names.split(parts, ',');
  for (StringRef part : parts) {
    const Device *device = llvm::find_if(kDevices, [&](Device each) { return nameOf(each) == part; });
    if (device == std::end(kDevices))
      return std::nullopt;
    devices.insert(*device);
  }
  return devices;
}

namespace {

/// The suites' own tolerances.
constexpr double kRelative = 1e-3, kAbsolute = 1e-7;

/// Collects diagnostics, so that a failure can say what was wrong.
class Collector : public ScopedDiagnosticHandler {
public:
  explicit Collector(MLIRContext &context) : ScopedDiagnosticHandler(&context) {
    setHandler([this](Diagnostic &diagnostic) {
      llvm::raw_string_ostream(text) << (text.empty() ? "" : "; ") << diagnostic;
      return success();
    });
  }
  std::string text;
};

std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return "[" + text + "]";
}

/// What differs between a result and what is expected; empty where nothing does.
std::string difference(const TensorValue &got, const TensorValue &expected) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (got.getElementType() != expected.getElementType()) {
    os << "element type " << got.getElementType() << ", expected " << expected.getElementType();
    return text;
  }
  if (got.getShape() != expected.getShape()) {
    os << "shape " << shapeText(got.getShape()) << ", expected " << shapeText(expected.getShape());
    return text;
  }
  bool isFloat = graph::isFloatElement(got.getElementType());
  for (int64_t i = 0; i < got.getElementCount(); ++i) {
    if (!isFloat) {
      if (got.getInteger(i) == expected.getInteger(i))
        continue;
      os << "element " << i << " is " << got.getInteger(i) << ", expected " << expected.getInteger(i);
      return text;
    }
    double a = got.getFloat(i), b = expected.getFloat(i);
    bool same = a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= kAbsolute + kRelative * std::abs(b);
    if (same)
      continue;
    os << "element " << i << " is " << a << ", expected " << b;
    return text;
  }
  return text;
}

/// One data set, on its way through importer and device.
class DataSetRun {
public:
  DataSetRun(const Test &test, StringRef dataSet, const Signature &signature)
      : test(test), dataSet(dataSet.str()), signature(signature), diagnostics(context) {
    weft::loadCompilerDialects(context);
  }

  /// What is wrong, or nothing. The inputs in `fixedInputs` are given to the importer instead.
  std::string run(Device device, const std::set<std::string> &fixedInputs) {
    std::string model = test.folder + "/model.onnx";
    OnnxImportOptions options;
    for (auto [i, port] : llvm::enumerate(signature.inputs)) {
      std::string file = dataSet + "/input_" + std::to_string(i) + ".pb";
      if (!fs::exists(file))
        continue; // An optional input that the test leaves out.
      FailureOr<PortValue> value = readPort(file, port, location());
      if (failed(value))
        return "input " + std::to_string(i) + ": " + diagnostics.text;
      llvm::append_range(options.shapes, value->shapeOptions(port.name));
      for (const auto &[name, tensor] : value->tensors) {
        if (fixedInputs.count(name))
          options.inputValues.push_back({name, tensor});
        else
          arguments[name] = tensor;
      }
    }
    if (arguments.empty() && !fixedInputs.empty())
      return "every input decides a shape, so that nothing is left to run";
    module = importOnnx(model, context, weights, options);
    if (!module)
      return "import: " + diagnostics.text;
    std::string wrong = device == Device::Interpreter ? interpret() : compileAndRun(device);
    return wrong.empty() ? compareOutputs() : wrong;
  }

private:
  Location location() { return FileLineColLoc::get(&context, test.folder + "/model.onnx", 0, 0); }

  std::string interpret() {
    Interpreter interpreter(*module, weights);
    auto values = interpreter.run(graph::GraphDialect::kMainName, arguments);
    if (failed(values))
      return "run: " + diagnostics.text;
    for (const Interpreter::NamedValue &value : *values)
      results[value.name] = value.value;
    return "";
  }

  std::string compileAndRun(Device device) {
    CompileOptions options;
    options.modelName = test.name;
    std::string driver;
    if (device == Device::Cuda) {
      runtime::cuda::SimulatedGpuOptions simulated;
      simulated.checks = "races,uninitialised";
      runtime::StatusOr<std::string> library = runtime::cuda::useSimulatedGpus(simulated);
      if (!library.ok())
        return library.status().message();
      driver = *library;
      options.targets.front().device = "cuda";
      options.targets.front().chip = chipForArchitecture(simulated.architecture);
    }
    // The outputs are those of the imported model: a sequence has one for each element.
    auto main = module->lookupSymbol<func::FuncOp>(graph::GraphDialect::kMainName);
    for (unsigned i = 0; i < main.getNumResults(); ++i)
      if (auto name = main.getResultAttrOfType<StringAttr>(i, graph::GraphDialect::kOutputName))
        outputNames.push_back(name.str());
    FailureOr<CompiledModel> compiled = compile(*module, std::move(weights), options);
    if (failed(compiled))
      return "compile: " + diagnostics.text;
    runtime::StatusOr<std::vector<uint8_t>> artifact =
        runtime::serializeArtifact(compiled->emitted.program, compiled->emitted.weights);
    if (!artifact.ok())
      return "artifact: " + artifact.status().message();
    std::string wrong = runArtifact(*artifact, driver);
    if (std::string findings = driver.empty() ? "" : findingsOf(driver); !findings.empty())
      return "simulated GPU: " + findings;
    return wrong;
  }

  /// What the checks of the simulated GPUs found, leaks included.
  static std::string findingsOf(const std::string &driver) {
    void *library = dlopen(driver.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (!library)
      return ""; // Nothing was launched.
    std::string text;
    for (const char *name : {"weftSimulatorReport", "weftSimulatorLeaks"}) {
      auto report = reinterpret_cast<size_t (*)(char *, size_t)>(dlsym(library, name));
      if (!report)
        return std::string("its library has no ") + name;
      std::vector<char> buffer(1 << 16);
      text.append(buffer.data(), std::min(buffer.size() - 1, report(buffer.data(), buffer.size())));
    }
    return text;
  }

  /// The artifact's bytes through the C API, on the CPU or on the GPUs of a driver's library.
  std::string runArtifact(ArrayRef<uint8_t> artifact, const std::string &driver) {
    WeftThreadPool *pool = nullptr;
    WeftProgram *program = nullptr;
    WeftRun *run = nullptr;
    WeftLoadOptions load;
    weft_load_options_init(&load);
    std::string wrong = text(weft_thread_pool_create(1, &pool));
    load.thread_pool = pool;
    if (!driver.empty()) {
      load.device = "cuda";
      load.cuda_driver = driver.c_str();
    }
    if (wrong.empty())
      wrong = text(weft_program_load_memory(artifact.data(), artifact.size(), &load, &program));
    if (wrong.empty())
      wrong = text(weft_run_create(program, nullptr, &run));
    for (const auto &argument : arguments) {
      WeftTensorView view = tool::viewOf(argument.second);
      if (wrong.empty())
        wrong = text(weft_run_set_input(run, argument.first().str().c_str(), &view));
    }
    if (wrong.empty())
      wrong = text(weft_run_execute(run));
    for (const std::string &name : outputNames) {
      WeftTensorView view;
      if (wrong.empty())
        wrong = text(weft_run_output(run, name.c_str(), &view));
      if (wrong.empty())
        results[name] = tool::copyOf(view, &context);
    }
    weft_run_free(run);
    weft_program_free(program);
    weft_thread_pool_free(pool);
    return wrong.empty() ? "" : "run: " + wrong;
  }

  /// The message of a status, which is freed; empty for success.
  static std::string text(WeftStatus *status) {
    if (!status)
      return "";
    std::string message = weft_status_message(status);
    weft_status_free(status);
    return message.empty() ? "unknown error" : message;
  }

  std::string compareOutputs() {
    size_t count = 0;
    for (auto [i, port] : llvm::enumerate(signature.outputs)) {
      std::string file = dataSet + "/output_" + std::to_string(i) + ".pb";
      FailureOr<PortValue> expected = readPort(file, port, location());
      if (failed(expected))
        return "output " + std::to_string(i) + ": " + diagnostics.text;
      count += expected->tensors.size();
      for (const auto &[name, tensor] : expected->tensors) {
        auto found = results.find(name);
        if (found == results.end())
          return "output '" + name + "' is not a result";
        if (std::string wrong = difference(found->second, tensor); !wrong.empty())
          return "output '" + name + "': " + wrong;
      }
    }
    return results.size() == count
               ? ""
               : "the model has " + std::to_string(results.size()) + " outputs, expected " + std::to_string(count);
  }

  const Test &test;
  std::string dataSet;
  const Signature &signature;
  MLIRContext context{MLIRContext::Threading::DISABLED};
  Collector diagnostics;
  weft::WeightStore weights;
  llvm::StringMap<TensorValue> arguments, results;
  std::vector<std::string> outputNames;
  OwningOpRef<ModuleOp> module;
};

} // namespace

Outcome runTest(const Test &test, Device device) {
  Outcome outcome;
  std::optional<Signature> signature = signatureOf(test.folder + "/model.onnx");
  if (!signature) {
    outcome.message = "model.onnx does not parse";
    return outcome;
  }
  unsigned sets = 0;
  for (const std::string &dataSet : entries(test.folder)) {
    if (!path::filename(dataSet).starts_with("test_data_set_"))
      continue;
    ++sets;
    // An input that decides a shape, as the importer's error says by its name, becomes a constant.
    std::set<std::string> fixedInputs;
    std::string wrong;
    while (true) {
      wrong = DataSetRun(test, dataSet, *signature).run(device, fixedInputs);
      size_t before = fixedInputs.size();
      auto fix = [&](StringRef text, StringRef suffix) {
        for (const ModelPort &port : signature->inputs)
          if (text.contains("'" + port.name + "'" + suffix.str()))
            fixedInputs.insert(port.name);
      };
      auto [problem, sources] = StringRef(wrong).split(" from the data of input");
      if (problem.contains("must be")) {
        fix(problem, " gives");
        if (fixedInputs.size() == before) // It is one that others give.
          fix(sources.split(';').first, "");
      }
      if (fixedInputs.size() == before)
        break;
    }
    outcome.fixedInputs.assign(fixedInputs.begin(), fixedInputs.end());
    if (!wrong.empty()) {
      outcome.message = wrong;
      return outcome;
    }
  }
  if (sets == 0) {
    outcome.message = "there is no test_data_set_0";
    return outcome;
  }
  outcome.passed = true;
  return outcome;
}

} // namespace weft::conformance
