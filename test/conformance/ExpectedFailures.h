//===- ExpectedFailures.h - The list of tests that fail, each with its reason -----------------------===//

#ifndef WEFT_TEST_CONFORMANCE_EXPECTEDFAILURES_H
#define WEFT_TEST_CONFORMANCE_EXPECTEDFAILURES_H

#include "test/conformance/RunTest.h"
#include <map>
#include <optional>
#include <set>

namespace weft::conformance {

struct ExpectedFailure {
  std::set<Device> devices;
  std::string reason;
};

/// Lines "SUITE TEST DEVICES REASON", where DEVICES is `all` or names with commas between; # starts a comment line.
class ExpectedFailures {
public:
  /// Says what is wrong with the file, or nothing.
  std::string read(llvm::StringRef file);
  std::string write(llvm::StringRef file) const;

  const ExpectedFailure *find(llvm::StringRef suite, llvm::StringRef test) const;
  bool holds(llvm::StringRef suite, llvm::StringRef test, Device device) const;

  /// Makes the list say what was seen: on `device` the test failed with a message, or passed where that is nullopt. A
  /// reason that is written stays.
  void update(llvm::StringRef suite, llvm::StringRef test, Device device, std::optional<std::string> failure);
  void erase(llvm::StringRef suite, llvm::StringRef test) { lines.erase({suite.str(), test.str()}); }

  auto begin() const { return lines.begin(); }
  auto end() const { return lines.end(); }

private:
  std::string header; // the comment lines at the top
  std::map<std::pair<std::string, std::string>, ExpectedFailure> lines;
};

} // namespace weft::conformance

#endif
