//===- ExpectedFailures.cpp - The list of tests that fail, each with its reason ---------------------===//

#include "test/conformance/ExpectedFailures.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

namespace weft::conformance {

static constexpr llvm::StringLiteral kAll = "all";

static std::string namesOf(const std::set<Device> &devices) {
  if (devices.size() == std::size(kDevices))
    return kAll.str();
  std::string names;
  for (Device device : devices)
    names += (names.empty() ? "" : ",") + nameOf(device).str();
  return names;
}

/// A line's worth of a failure's message. The importer's list of operators becomes their names.
static std::string reasonOf(llvm::StringRef message) {
  std::string operators;
  llvm::SmallVector<llvm::StringRef> lines;
  message.split(lines, '\n');
  for (llvm::StringRef line : lines)
    if (auto [name, rest] = line.split(", opset "); line.starts_with("  ") && rest.contains(" node"))
      operators += (operators.empty() ? "" : ", ") + name.trim().str();
  if (!operators.empty())
    return "not imported: " + operators;
  llvm::StringRef reason = lines.front().trim();
  reason.consume_front("import: ");
  // A whole clause of a long one.
  if (reason.size() > 160)
    reason = reason.substr(0, 160).rsplit(' ').first.rtrim(",;:");
  return reason.empty() ? "fails without a message" : reason.str();
}

std::string ExpectedFailures::read(llvm::StringRef file) {
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return "cannot read '" + file.str() + "': " + buffer.getError().message();
  size_t number = 0;
  for (llvm::StringRef rest = (*buffer)->getBuffer(); !rest.empty();) {
    auto [line, after] = rest.split('\n');
    rest = after;
    ++number;
    line = line.trim();
    if (line.starts_with("#") && lines.empty())
      header += line.str() + "\n";
    if (line.empty() || line.starts_with("#"))
      continue;
    auto wrong = [&](const std::string &what) { return file.str() + ":" + std::to_string(number) + ": " + what; };
    auto [suite, behindSuite] = line.split(' ');
    auto [test, behindTest] = behindSuite.ltrim().split(' ');
    auto [device, reason] = behindTest.ltrim().split(' ');
    reason = reason.trim();
    if (reason.empty())
      return wrong("expected 'SUITE TEST DEVICES REASON', got '" + line.str() + "'");
    ExpectedFailure failure;
    failure.reason = reason.str();
    std::optional<std::set<Device>> devices =
        device == kAll ? std::set<Device>(std::begin(kDevices), std::end(kDevices)) : parseDevices(device);
    if (!devices)
      return wrong("expected the devices interpreter, cpu, cuda with commas between, or all, got '" + device.str() +
                   "'");
    failure.devices = *devices;
    if (!lines.insert({{suite.str(), test.str()}, failure}).second)
      return wrong("'" + suite.str() + " " + test.str() + "' is listed twice; one line a test");
  }
  return "";
}

std::string ExpectedFailures::write(llvm::StringRef file) const {
  std::error_code error;
  llvm::ToolOutputFile output(file, error, llvm::sys::fs::OF_Text);
  if (error)
    return "cannot write '" + file.str() + "': " + error.message();
  output.os() << header;
  for (const auto &[test, failure] : lines)
    output.os() << test.first << " " << test.second << " " << namesOf(failure.devices) << " " << failure.reason << "\n";
  output.keep();
  return "";
}

const ExpectedFailure *ExpectedFailures::find(llvm::StringRef suite, llvm::StringRef test) const {
  auto found = lines.find({suite.str(), test.str()});
  return found == lines.end() ? nullptr : &found->second;
}

bool ExpectedFailures::holds(llvm::StringRef suite, llvm::StringRef test, Device device) const {
  const ExpectedFailure *failure = find(suite, test);
  return failure && failure->devices.count(device);
}

void ExpectedFailures::update(llvm::StringRef suite, llvm::StringRef test, Device device,
                              std::optional<std::string> failure) {
  std::pair<std::string, std::string> key(suite.str(), test.str());
  if (failure) {
    ExpectedFailure &line = lines[key];
    line.devices.insert(device);
    if (line.reason.empty())
      line.reason = reasonOf(*failure);
    return;
  }
  auto found = lines.find(key);
  if (found == lines.end())
    return;
  found->second.devices.erase(device);
  if (found->second.devices.empty())
    lines.erase(found);
}

} // namespace weft::conformance
