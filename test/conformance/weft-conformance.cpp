//===- weft-conformance.cpp - Runs the ONNX backend suites ------------------------------------------===//
//
// Every test runs through the interpreter and, compiled, on the CPU; on a simulated GPU where asked for. The list of
// expected failures gives a reason for each: a listed test that passes fails the run, as does one that fails and is not
// listed.

#include "test/conformance/ExpectedFailures.h"
#include "test/conformance/RunTest.h"
#include "test/conformance/Suites.h"
#include "test/conformance/Workers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <map>
#include <random>
#include <thread>

using namespace weft::conformance;

namespace {

constexpr llvm::StringLiteral kMainSuite = "onnx-node";

struct Options {
  std::vector<Suite> suites;
  std::string archive, workFolder, filter, expectedFile, json;
  std::vector<Device> devices = {Device::Interpreter, Device::Cpu};
  bool listFailures = false, byOperator = false, update = false, noArchive = false;
  size_t sample = 0;
  uint64_t seed = 0;
  WorkerOptions workers;
};

/// A test on a device, and how it ended.
struct Step {
  const Test *test;
  Device device;
  Outcome outcome;
  double seconds = 0;
};

[[noreturn]] void stop(const std::string &message) {
  llvm::errs() << "weft-conformance: error: " << message << "\n";
  exit(2);
}

void printHelp() {
  llvm::outs()
      << "weft-conformance [OPTIONS]: the ONNX backend tests, interpreted and compiled\n\n"
         "  --device=LIST         interpreter, cpu, cuda (a simulated GPU under all checks), with commas between\n"
         "                        (default: interpreter,cpu)\n"
         "  --suite=NAME=FOLDER   a folder of tests; may be repeated (default: those of Debian's\n"
         "                        libonnx-testdata, and --archive)\n"
         "  --archive=FILE        a .tar.gz of the suite onnx-node (default: looked for beside the tree)\n"
         "  --no-archive          without the suite onnx-node\n"
         "  --work=FOLDER         where the archive is unpacked\n"
         "  --filter=TEXT         only tests whose SUITE/NAME holds TEXT\n"
         "  --sample=N            N tests of each suite, drawn by --seed\n"
         "  --seed=N              default: another one each time; it is printed\n"
         "  --expected=FILE       the list of expected failures (default: that of the source tree)\n"
         "  --update-expected     make the list say what was seen; reasons already written stay\n"
         "  --list-failures       print every failure, expected or not\n"
         "  --by-operator         print a table of the operators\n"
         "  --json=FILE           write every result\n"
         "  --jobs=N              tests at a time (default: one a core)\n"
         "  --timeout=SECONDS     a test that takes longer fails (default: 60)\n";
}

uint64_t numberOf(llvm::StringRef name, llvm::StringRef text) {
  uint64_t number;
  if (text.getAsInteger(10, number))
    stop(name.str() + ": expected a number, got '" + text.str() + "'");
  return number;
}

Options parse(int argc, char **argv) {
  Options options;
  options.workFolder = WEFT_CONFORMANCE_FOLDER;
  options.expectedFile = WEFT_SOURCE_FOLDER "/test/conformance/expected_failures.txt";
  options.workers.processes = std::max(1u, std::thread::hardware_concurrency());
  options.seed = std::random_device()();
  for (int i = 1; i < argc; ++i) {
    auto [name, value] = llvm::StringRef(argv[i]).split('=');
    bool hasValue = llvm::StringRef(argv[i]).contains('=');
    auto needed = [&, name = name, value = value]() -> llvm::StringRef {
      if (hasValue)
        return value;
      if (i + 1 >= argc)
        stop(name.str() + " needs a value");
      return argv[++i];
    };
    if (name == "--suite") {
      auto [suite, folder] = needed().split('=');
      if (suite.empty() || folder.empty())
        stop("--suite: expected NAME=FOLDER");
      options.suites.push_back({suite.str(), folder.str()});
    } else if (name == "--archive") {
      options.archive = needed().str();
    } else if (name == "--work") {
      options.workFolder = needed().str();
    } else if (name == "--filter") {
      options.filter = needed().str();
    } else if (name == "--expected") {
      options.expectedFile = needed().str();
    } else if (name == "--json") {
      options.json = needed().str();
    } else if (name == "--sample") {
      options.sample = numberOf(name, needed());
    } else if (name == "--seed") {
      options.seed = numberOf(name, needed());
    } else if (name == "--jobs") {
      options.workers.processes = std::max<unsigned>(1, static_cast<unsigned>(numberOf(name, needed())));
    } else if (name == "--timeout") {
      options.workers.secondsPerStep = std::max<unsigned>(1, static_cast<unsigned>(numberOf(name, needed())));
    } else if (name == "--device") {
      llvm::StringRef names = needed();
      std::optional<std::set<Device>> devices = parseDevices(names);
      if (!devices)
        stop("--device: expected interpreter, cpu, cuda or several with commas between, got '" + names.str() + "'");
      options.devices.assign(devices->begin(), devices->end());
    } else if (name == "--no-archive" && !hasValue) {
      options.noArchive = true;
    } else if (name == "--list-failures" && !hasValue) {
      options.listFailures = true;
    } else if (name == "--by-operator" && !hasValue) {
      options.byOperator = true;
    } else if (name == "--update-expected" && !hasValue) {
      options.update = true;
    } else if (name == "--help") {
      printHelp();
      exit(0);
    } else {
      stop("unknown option '" + llvm::StringRef(argv[i]).str() + "'; see --help");
    }
  }
  return options;
}

/// Where the archive of onnx-node is: as given, or beside the source tree or a folder above it.
std::string findArchive(const Options &options) {
  if (!options.archive.empty())
    return options.archive;
  std::string file = WEFT_SOURCE_FOLDER "/../shared/conformance/onnx-node.tar.gz";
  return llvm::sys::fs::exists(file) ? file : "";
}

/// The folder that holds the tests: that of the archive, or the only one in it.
std::string folderOfTests(const std::string &unpacked) {
  std::vector<std::string> inside = entries(unpacked);
  llvm::erase_if(inside, [](const std::string &entry) { return !llvm::sys::fs::is_directory(entry); });
  return inside.size() == 1 ? inside.front() : unpacked;
}

/// Draws `count` of the tests.
void drawSample(std::vector<Test> &tests, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  // Written out, so that a seed means the same with every standard library.
  for (size_t i = tests.size(); i > 1; --i)
    std::swap(tests[i - 1], tests[random() % i]);
  tests.resize(std::min(count, tests.size()));
  llvm::sort(tests, [](const Test &a, const Test &b) { return a.name < b.name; });
}

/// An outcome as the text that a child process returns, and back.
std::string encode(const Outcome &outcome) {
  llvm::json::Object object{{"passed", outcome.passed},
                            {"fixed", llvm::json::Array(outcome.fixedInputs)},
                            {"message", llvm::json::fixUTF8(outcome.message)}};
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(object));
  return text;
}

Outcome decode(llvm::StringRef text) {
  Outcome outcome;
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value) {
    llvm::consumeError(value.takeError());
    outcome.message = "the test's process returned '" + text.str() + "'";
    return outcome;
  }
  const llvm::json::Object &object = *value->getAsObject();
  outcome.passed = *object.getBoolean("passed");
  for (const llvm::json::Value &name : *object.getArray("fixed"))
    outcome.fixedInputs.push_back(name.getAsString()->str());
  outcome.message = object.getString("message")->str();
  return outcome;
}

void writeJson(const Options &options, llvm::ArrayRef<Step> steps, const ExpectedFailures &expected) {
  std::error_code error;
  llvm::ToolOutputFile file(options.json, error, llvm::sys::fs::OF_Text);
  if (error)
    stop("cannot write '" + options.json + "': " + error.message());
  llvm::json::OStream json(file.os(), 1);
  json.array([&] {
    for (const Step &step : steps)
      json.object([&] {
        json.attribute("suite", step.test->suite);
        json.attribute("test", step.test->name);
        json.attribute("operator", step.test->op);
        json.attribute("device", nameOf(step.device));
        json.attribute("passed", step.outcome.passed);
        json.attribute("expected_to_fail", expected.holds(step.test->suite, step.test->name, step.device));
        json.attribute("fixed_inputs", llvm::json::Array(step.outcome.fixedInputs));
        json.attribute("message", llvm::json::fixUTF8(step.outcome.message));
        json.attribute("seconds", step.seconds);
      });
  });
  file.os() << "\n";
  file.keep();
}

void printByOperator(const Options &options, llvm::ArrayRef<Step> steps) {
  std::map<std::string, std::map<Device, std::pair<unsigned, unsigned>>> counts;
  for (const Step &step : steps) {
    auto &count = counts[step.test->op][step.device];
    count.first += step.outcome.passed;
    ++count.second;
  }
  for (const auto &[op, devices] : counts) {
    llvm::outs() << llvm::format("%-32s", op.c_str());
    for (Device device : options.devices) {
      auto [passed, total] = devices.at(device);
      llvm::outs() << llvm::format("  %s %u/%u%s", nameOf(device).str().c_str(), passed, total,
                                   passed == total ? "" : " *");
    }
    llvm::outs() << "\n";
  }
}

/// "NAME: interpreter P/T, cpu P/T".
void printTotals(const Options &options, llvm::StringRef suite, llvm::ArrayRef<Step> steps) {
  if (llvm::none_of(steps, [&](const Step &step) { return step.test->suite == suite; }))
    return; // The filter leaves nothing of it.
  llvm::outs() << suite << ":";
  for (auto [index, device] : llvm::enumerate(options.devices)) {
    unsigned passed = 0, total = 0;
    for (const Step &step : steps)
      if (step.test->suite == suite && step.device == device) {
        ++total;
        passed += step.outcome.passed;
      }
    llvm::outs() << (index ? ", " : " ") << nameOf(device) << " " << passed << "/" << total;
  }
  llvm::outs() << "\n";
}

} // namespace

int main(int argc, char **argv) {
  Options options = parse(argc, argv);
  ExpectedFailures expected;
  if (llvm::sys::fs::exists(options.expectedFile) || !options.update)
    if (std::string wrong = expected.read(options.expectedFile); !wrong.empty())
      stop(wrong);

  std::string notChecked;
  if (options.suites.empty()) {
    options.suites = debianSuites();
    std::string archive = findArchive(options);
    if (!options.noArchive && !archive.empty()) {
      if (std::string wrong = unpack(archive, options.workFolder); !wrong.empty())
        stop(wrong);
      options.suites.push_back({kMainSuite.str(), folderOfTests(options.workFolder)});
    } else if (!options.noArchive) {
      notChecked = "NOT CHECKED: there is no ../shared/conformance/onnx-node.tar.gz beside the tree; give --archive";
    }
  }
  std::vector<Test> tests;
  for (const Suite &suite : options.suites) {
    std::vector<Test> all = testsOf(suite);
    if (all.empty())
      stop("no tests in '" + suite.folder + "'; install libonnx-testdata");
    llvm::erase_if(all, [&](const Test &test) {
      return (test.suite + "/" + test.name).find(options.filter) == std::string::npos;
    });
    if (options.sample)
      drawSample(all, options.sample, options.seed);
    tests.insert(tests.end(), all.begin(), all.end());
  }
  if (tests.empty())
    stop("no test is called '" + options.filter + "'");
  if (options.sample)
    llvm::outs() << "a sample of " << tests.size() << " tests, --seed=" << options.seed << "\n";

  std::vector<Step> steps;
  for (const Test &test : tests)
    for (Device device : options.devices)
      steps.push_back({&test, device, {}, 0});
  runSteps(
      steps.size(), options.workers,
      [&](size_t index) { return encode(runTest(*steps[index].test, steps[index].device)); },
      [&](size_t index, const StepEnd &end) {
        steps[index].seconds = end.seconds;
        if (end.returned)
          steps[index].outcome = decode(end.text);
        else
          steps[index].outcome.message = end.text;
      });

  unsigned unexpected = 0, fixed = 0;
  for (const Step &step : steps) {
    const Test &test = *step.test;
    fixed += step.outcome.passed && !step.outcome.fixedInputs.empty();
    if (options.update) {
      expected.update(test.suite, test.name, step.device,
                      step.outcome.passed ? std::nullopt : std::optional<std::string>(step.outcome.message));
      continue;
    }
    bool isExpected = expected.holds(test.suite, test.name, step.device);
    std::string subject = test.suite + "/" + test.name + " (" + nameOf(step.device).str() + ")";
    if (step.outcome.passed && isExpected) {
      ++unexpected;
      llvm::outs() << "PASSES, THOUGH LISTED: " << subject << ": " << expected.find(test.suite, test.name)->reason
                   << "\n";
    } else if (!step.outcome.passed && (!isExpected || options.listFailures)) {
      unexpected += !isExpected;
      llvm::outs() << (isExpected ? "expected: " : "FAILED: ") << subject << ": " << step.outcome.message << "\n";
    }
  }
  // A line of the list whose test is gone would stay for ever.
  if (options.filter.empty() && !options.sample) {
    std::vector<std::pair<std::string, std::string>> gone;
    for (const auto &[key, failure] : expected)
      if (llvm::any_of(options.suites, [&, &key = key](const Suite &suite) { return suite.name == key.first; }) &&
          llvm::none_of(tests, [&, &key = key](const Test &t) { return t.suite == key.first && t.name == key.second; }))
        gone.push_back(key);
    for (const auto &[suite, test] : gone) {
      if (options.update) {
        expected.erase(suite, test);
        continue;
      }
      ++unexpected;
      llvm::outs() << "LISTED, BUT NOT THERE: " << suite << "/" << test << "\n";
    }
  }
  if (options.byOperator)
    printByOperator(options, steps);
  if (!options.json.empty())
    writeJson(options, steps, expected);
  if (options.update)
    if (std::string wrong = expected.write(options.expectedFile); !wrong.empty())
      stop(wrong);

  llvm::outs() << unexpected << " results are not as listed; " << fixed
               << " passed with inputs that decide a shape known at import\n";
  for (const Suite &suite : options.suites)
    if (suite.name != kMainSuite)
      printTotals(options, suite.name, steps);
  if (!notChecked.empty())
    llvm::outs() << kMainSuite << ": " << notChecked << "\n";
  for (const Suite &suite : options.suites)
    if (suite.name == kMainSuite)
      printTotals(options, suite.name, steps);
  return unexpected == 0 ? 0 : 1;
}
