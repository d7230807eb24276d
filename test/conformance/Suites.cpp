//===- Suites.cpp - Where the tests are: folders and archives of ONNX backend tests ----------------===//

#include "test/conformance/Suites.h"
#include "lib/Support/Onnx/onnx.pb.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/ToolOutputFile.h"
#include <algorithm>

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace weft::conformance {

std::vector<std::string> entries(llvm::StringRef folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; it != end && !error; it.increment(error))
    found.push_back(it->path());
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<Suite> debianSuites() {
  const std::string root = "/usr/share/libonnx-testdata/data/";
  return {{"debian-node", root + "node"},
          {"simple", root + "simple"},
          {"pytorch-operator", root + "pytorch-operator"},
          {"pytorch-converted", root + "pytorch-converted"}};
}

/// The operator of a model with one node; empty for others.
static std::string onlyOperator(llvm::StringRef model) {
  auto buffer = llvm::MemoryBuffer::getFile(model, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  onnx::ModelProto proto;
  if (!buffer || !proto.ParseFromArray((*buffer)->getBufferStart(), static_cast<int>((*buffer)->getBufferSize())))
    return "";
  return proto.graph().node_size() == 1 ? proto.graph().node(0).op_type() : "";
}

std::vector<Test> testsOf(const Suite &suite) {
  std::vector<Test> tests;
  llvm::StringMap<std::string> operators;
  for (const std::string &folder : entries(suite.folder)) {
    std::string model = folder + "/model.onnx";
    if (!fs::exists(model))
      continue;
    std::string name = path::filename(folder).str();
    std::string op = onlyOperator(model);
    if (!op.empty())
      operators[name] = op;
    tests.push_back({suite.name, name, folder, op});
  }
  // The body of a function operator is a model of several nodes; it counts for the operator.
  for (Test &test : tests) {
    if (!test.op.empty())
      continue;
    llvm::StringRef base = llvm::StringRef(test.name).split("_expanded").first;
    test.op = operators.lookup(base);
    if (test.op.empty()) {
      base.consume_front("test_");
      test.op = base.split('_').first.str();
    }
  }
  return tests;
}

std::string unpack(llvm::StringRef archive, llvm::StringRef folder) {
  fs::file_status status;
  if (std::error_code error = fs::status(archive, status))
    return "cannot read '" + archive.str() + "': " + error.message();
  std::string stamp = std::to_string(status.getSize()) + " " +
                      std::to_string(status.getLastModificationTime().time_since_epoch().count());
  std::string stampFile = folder.str() + "/unpacked";
  if (auto known = llvm::MemoryBuffer::getFile(stampFile); known && (*known)->getBuffer() == stamp)
    return "";
  fs::remove_directories(folder);
  if (std::error_code error = fs::create_directories(folder))
    return "cannot make '" + folder.str() + "': " + error.message();
  auto tar = llvm::sys::findProgramByName("tar");
  if (!tar)
    return "tar is needed to unpack '" + archive.str() + "', and is not installed";
  if (llvm::sys::ExecuteAndWait(*tar, {*tar, "-xzf", archive, "-C", folder}) != 0)
    return "tar cannot unpack '" + archive.str() + "' into '" + folder.str() + "'";
  std::error_code error;
  llvm::ToolOutputFile file(stampFile, error, fs::OF_Text);
  if (error)
    return "cannot write '" + stampFile + "': " + error.message();
  file.os() << stamp;
  file.keep();
  return "";
}

} // namespace weft::conformance
