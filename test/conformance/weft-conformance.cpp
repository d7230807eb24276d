//===- weft-conformance.cpp - Runs the ONNX backend suites through importer and interpreter --------===//
//
// A suite is a folder of tests; a test is a folder with model.onnx and test_data_set_N/{input,output}_M.pb. Each test
// runs in a process of its own, so that a crash or a hang counts as one failure. The list of expected failures gives a
// reason each; a listed test that passes fails the run, as does one that is listed and not there.

#include "lib/Importer/Onnx/ModelFile.h"
#include "lib/Importer/Onnx/OnnxImporter.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Support/Onnx/onnx.pb.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <map>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using weft::graph::TensorValue;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace {

constexpr unsigned kSecondsPerTest = 60;
/// The suites' own tolerances.
constexpr double kRelative = 1e-3, kAbsolute = 1e-7;

struct Test {
  std::string suite, folder;
  std::string name() const { return suite + "/" + path::filename(folder).str(); }
};

struct Result {
  enum Kind { Passed, Fixed, Failed } kind = Failed; // Fixed: passed with some inputs fixed at import
  std::string message;
};

/// The subfolders and files of a folder, sorted.
std::vector<std::string> entries(llvm::StringRef folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; it != end && !error; it.increment(error))
    found.push_back(it->path());
  std::sort(found.begin(), found.end());
  return found;
}

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

std::string shapeText(llvm::ArrayRef<int64_t> shape) {
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
  bool isFloat = weft::graph::isFloatElement(got.getElementType());
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

/// The inputs of a graph that are not initializers, and its outputs, by name.
struct Signature {
  std::vector<std::string> inputs, outputs;
};

std::optional<Signature> signatureOf(llvm::StringRef model) {
  auto buffer = llvm::MemoryBuffer::getFile(model);
  onnx::ModelProto proto;
  if (!buffer || !proto.ParseFromArray((*buffer)->getBufferStart(), static_cast<int>((*buffer)->getBufferSize())))
    return std::nullopt;
  std::set<std::string> initializers;
  for (const onnx::TensorProto &tensor : proto.graph().initializer())
    initializers.insert(tensor.name());
  Signature signature;
  for (const onnx::ValueInfoProto &input : proto.graph().input())
    if (!initializers.count(input.name()))
      signature.inputs.push_back(input.name());
  for (const onnx::ValueInfoProto &output : proto.graph().output())
    signature.outputs.push_back(output.name());
  return signature;
}

/// Imports and runs one data set; the inputs in `fixedInputs` are given to the importer instead.
std::string runOnce(const Test &test, const std::string &dataSet, const Signature &signature,
                    const std::set<std::string> &fixedInputs) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  Collector diagnostics(context);
  std::string model = test.folder + "/model.onnx";
  Location location = FileLineColLoc::get(&context, model, 0, 0);
  weft::OnnxImportOptions options;
  llvm::StringMap<TensorValue> arguments;
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    std::string file = dataSet + "/input_" + std::to_string(i) + ".pb";
    if (!fs::exists(file))
      continue; // An optional input that the test leaves out.
    FailureOr<TensorValue> value = weft::importer::readTensorFile(file, location);
    if (failed(value))
      return "input " + std::to_string(i) + ": " + diagnostics.text;
    if (fixedInputs.count(signature.inputs[i]))
      options.inputValues.push_back({signature.inputs[i], *value});
    else
      arguments[signature.inputs[i]] = *value;
  }
  weft::WeightStore weights;
  OwningOpRef<ModuleOp> module = weft::importOnnx(model, context, weights, options);
  if (!module)
    return "import: " + diagnostics.text;
  weft::Interpreter interpreter(*module, weights);
  auto results = interpreter.run("main", arguments);
  if (failed(results))
    return "run: " + diagnostics.text;
  for (size_t i = 0; i < signature.outputs.size(); ++i) {
    std::string file = dataSet + "/output_" + std::to_string(i) + ".pb";
    FailureOr<TensorValue> expected = weft::importer::readTensorFile(file, location);
    if (failed(expected))
      return "output " + std::to_string(i) + ": " + diagnostics.text;
    auto *found = llvm::find_if(*results, [&](const auto &result) { return result.name == signature.outputs[i]; });
    if (found == results->end())
      return "output '" + signature.outputs[i] + "' is not a result";
    std::string wrong = difference(found->value, *expected);
    if (!wrong.empty())
      return "output '" + signature.outputs[i] + "': " + wrong;
  }
  return "";
}

Result runTest(const Test &test) {
  std::optional<Signature> signature = signatureOf(test.folder + "/model.onnx");
  if (!signature)
    return {Result::Failed, "model.onnx does not parse"};
  bool fixed = false;
  unsigned sets = 0;
  for (const std::string &dataSet : entries(test.folder)) {
    if (!path::filename(dataSet).starts_with("test_data_set_"))
      continue;
    ++sets;
    // An input that decides a shape, as the importer's error says by its name, becomes a constant.
    std::set<std::string> fixedInputs;
    std::string wrong = runOnce(test, dataSet, *signature, fixedInputs);
    while (llvm::StringRef(wrong).contains("must be")) {
      size_t before = fixedInputs.size();
      for (const std::string &name : signature->inputs)
        if (llvm::StringRef(wrong).contains("input '" + name + "' gives"))
          fixedInputs.insert(name);
      if (fixedInputs.size() == before)
        break;
      wrong = runOnce(test, dataSet, *signature, fixedInputs);
      fixed = true;
    }
    if (!wrong.empty())
      return {Result::Failed, wrong};
  }
  if (sets == 0)
    return {Result::Failed, "there is no test_data_set_0"};
  return {fixed ? Result::Fixed : Result::Passed, ""};
}

/// Runs a test in a child process.
Result runApart(const Test &test) {
  int channel[2];
  if (pipe(channel) != 0)
    return {Result::Failed, "no pipe"};
  pid_t child = fork();
  if (child == 0) {
    close(channel[0]);
    alarm(kSecondsPerTest);
    Result result = runTest(test);
    std::string line = std::string(1, static_cast<char>('0' + result.kind)) + result.message;
    for (size_t written = 0; written < line.size();) {
      ssize_t count = write(channel[1], line.data() + written, line.size() - written);
      if (count <= 0)
        break;
      written += count;
    }
    _exit(0);
  }
  close(channel[1]);
  std::string text;
  char chunk[4096];
  for (ssize_t count; (count = read(channel[0], chunk, sizeof chunk)) > 0;)
    text.append(chunk, count);
  close(channel[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    return {Result::Failed, WTERMSIG(status) == SIGALRM
                                ? "still running after " + std::to_string(kSecondsPerTest) + " s"
                                : std::string("CRASHED: ") + strsignal(WTERMSIG(status))};
  if (text.empty())
    return {Result::Failed, "CRASHED: the test's process ended without a result"};
  return {static_cast<Result::Kind>(text[0] - '0'), text.substr(1)};
}

/// Lines "suite/name: reason"; # starts a comment.
std::map<std::string, std::string> readExpected(llvm::StringRef file) {
  std::map<std::string, std::string> expected;
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer) {
    llvm::errs() << "weft-conformance: cannot read '" << file << "': " << buffer.getError().message() << "\n";
    exit(2);
  }
  llvm::SmallVector<llvm::StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n');
  for (llvm::StringRef line : lines) {
    line = line.trim();
    if (line.empty() || line.starts_with("#"))
      continue;
    auto [name, reason] = line.split(": ");
    if (reason.empty()) {
      llvm::errs() << "weft-conformance: " << file << ": expected 'suite/test: reason', got '" << line << "'\n";
      exit(2);
    }
    expected[name.str()] = reason.str();
  }
  return expected;
}

/// Unpacks an archive into a new folder below `where`.
std::string unpack(llvm::StringRef archive) {
  llvm::SmallString<128> folder;
  auto tar = llvm::sys::findProgramByName("tar");
  if (!tar || fs::createUniqueDirectory("weft-conformance", folder)) {
    llvm::errs() << "weft-conformance: cannot unpack '" << archive << "': tar and a temporary folder are needed\n";
    exit(2);
  }
  if (llvm::sys::ExecuteAndWait(*tar, {*tar, "-xzf", archive, "-C", folder}) != 0) {
    llvm::errs() << "weft-conformance: tar cannot unpack '" << archive << "'\n";
    exit(2);
  }
  return folder.str().str();
}

void printHelp() {
  llvm::outs()
      << "weft-conformance [OPTIONS]: the ONNX backend tests through importer and interpreter\n\n"
         "  --suite NAME=FOLDER   a folder of tests (more than once; default: those of Debian's libonnx-testdata)\n"
         "  --archive FILE        a .tar.gz whose folders are more suites, called new-FOLDER\n"
         "  --filter TEXT         only tests whose name holds TEXT\n"
         "  --expected FILE       the list of expected failures\n"
         "  --verbose             print each failure, expected or not\n"
         "  --table               print passes and failures by the operator in a test's name\n";
}

} // namespace

int main(int argc, char **argv) {
  std::vector<std::pair<std::string, std::string>> suites;
  std::string filter, expectedFile, temporary;
  bool verbose = false, table = false, usesDebian = true;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    auto value = [&]() -> std::string {
      if (i + 1 < argc)
        return argv[++i];
      llvm::errs() << "weft-conformance: " << argument << " needs a value\n";
      exit(2);
    };
    if (argument == "--suite") {
      auto [name, folder] = llvm::StringRef(value()).split('=');
      suites.push_back({name.str(), folder.str()});
      usesDebian = false;
    } else if (argument == "--archive") {
      temporary = unpack(value());
      for (const std::string &folder : entries(temporary))
        suites.push_back({"new-" + path::filename(folder).str(), folder});
    } else if (argument == "--filter") {
      filter = value();
    } else if (argument == "--expected") {
      expectedFile = value();
    } else if (argument == "--verbose") {
      verbose = true;
    } else if (argument == "--table") {
      table = true;
    } else {
      printHelp();
      return argument == "--help" ? 0 : 2;
    }
  }
  if (usesDebian)
    for (const char *name : {"node", "simple", "pytorch-operator", "pytorch-converted"})
      suites.push_back({name, std::string("/usr/share/libonnx-testdata/data/") + name});
  std::map<std::string, std::string> expected;
  if (!expectedFile.empty())
    expected = readExpected(expectedFile);

  std::vector<Test> tests;
  for (const auto &[name, folder] : suites) {
    size_t before = tests.size();
    for (const std::string &entry : entries(folder))
      if (fs::exists(entry + "/model.onnx"))
        tests.push_back({name, entry});
    if (tests.size() == before) {
      llvm::errs() << "weft-conformance: no tests in '" << folder << "'; install libonnx-testdata\n";
      return 2;
    }
  }

  unsigned passed = 0, fixed = 0, expectedFailures = 0, unexpected = 0, total = 0;
  std::map<std::string, std::pair<unsigned, unsigned>> byOperator;
  std::set<std::string> seen;
  for (const Test &test : tests) {
    if (!filter.empty() && test.name().find(filter) == std::string::npos)
      continue;
    ++total;
    seen.insert(test.name());
    Result result = runApart(test);
    llvm::StringRef op = path::filename(test.folder);
    op.consume_front("test_");
    auto &counts = byOperator[op.split('_').first.str()];
    auto reason = expected.find(test.name());
    bool isExpected = reason != expected.end();
    if (result.kind != Result::Failed) {
      ++counts.first;
      result.kind == Result::Passed ? ++passed : ++fixed;
      if (isExpected) {
        ++unexpected;
        llvm::outs() << "PASSES, THOUGH LISTED: " << test.name() << " (" << reason->second << ")\n";
      }
      continue;
    }
    ++counts.second;
    isExpected ? ++expectedFailures : ++unexpected;
    if (!isExpected || verbose)
      llvm::outs() << (isExpected ? "expected: " : "FAILED: ") << test.name() << ": " << result.message << "\n";
  }
  if (filter.empty())
    for (const auto &entry : expected) {
      bool isOurs = llvm::any_of(
          suites, [&](const auto &suite) { return llvm::StringRef(entry.first).starts_with(suite.first + "/"); });
      if (isOurs && !seen.count(entry.first)) {
        ++unexpected;
        llvm::outs() << "LISTED, BUT NOT THERE: " << entry.first << "\n";
      }
    }
  if (table)
    for (const auto &[op, counts] : byOperator)
      llvm::outs() << op << ": " << counts.first << " passed, " << counts.second << " failed\n";
  if (!temporary.empty())
    fs::remove_directories(temporary);
  llvm::outs() << "onnx-node: interpreter " << passed + fixed << "/" << total << " (" << fixed
               << " of them with inputs that decide shapes fixed at import), " << expectedFailures
               << " expected failures, " << unexpected << " unexpected\n";
  if (total == 0) {
    llvm::errs() << "weft-conformance: nothing was run\n";
    return 2;
  }
  return unexpected == 0 ? 0 : 1;
}
