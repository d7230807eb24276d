//===- Suites.h - Where the tests are: folders and archives of ONNX backend tests ------------------===//

#ifndef WEFT_TEST_CONFORMANCE_SUITES_H
#define WEFT_TEST_CONFORMANCE_SUITES_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace weft::conformance {

/// A folder with model.onnx and test_data_set_N/{input,output}_M.pb.
struct Test {
  std::string suite, name, folder;
  /// The ONNX operator that the test is of, as far as its model or its name tells.
  std::string op;
};

struct Suite {
  std::string name, folder;
};

/// The suites of Debian's libonnx-testdata.
std::vector<Suite> debianSuites();

/// The tests of a suite, sorted by name; none where there is no such folder.
std::vector<Test> testsOf(const Suite &suite);

/// The subfolders and files of a folder, sorted.
std::vector<std::string> entries(llvm::StringRef folder);

/// Unpacks an archive of one suite, unless `folder` already holds what it held when last looked at; says what is wrong,
/// or nothing.
std::string unpack(llvm::StringRef archive, llvm::StringRef folder);

} // namespace weft::conformance

#endif
