//===- Linker.cpp - Links objects to a shared object with lld, in process ------------------------------===//

#include "lib/Codegen/Cpu/Lowering.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>

LLD_HAS_DRIVER(elf)

namespace weft::codegen::cpu {

namespace {

/// A folder that is gone, with all in it, at the end of the scope.
class TemporaryFolder {
public:
  llvm::Error create() {
    if (std::error_code error = llvm::sys::fs::createUniqueDirectory("weft-link", path))
      return llvm::createStringError(error, "cannot make a folder for temporary files: " + error.message());
    return llvm::Error::success();
  }
  ~TemporaryFolder() {
    if (!path.empty())
      llvm::sys::fs::remove_directories(path);
  }
  std::string file(llvm::StringRef name) const {
    llvm::SmallString<128> full(path);
    llvm::sys::path::append(full, name);
    return std::string(full);
  }

private:
  llvm::SmallString<128> path;
};

llvm::Error writeFile(llvm::StringRef path, llvm::StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    stream << bytes;
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (error)
    return llvm::createStringError(error, "cannot write " + path + ": " + error.message());
  return llvm::Error::success();
}

} // namespace

llvm::Expected<std::vector<uint8_t>> linkObjects(llvm::ArrayRef<llvm::SmallVector<char, 0>> objects,
                                                 llvm::ArrayRef<std::string> exported) {
  TemporaryFolder folder;
  if (llvm::Error error = folder.create())
    return error;
  std::string versions = "{ global:\n";
  for (const std::string &name : exported)
    versions += "  \"" + name + "\";\n";
  versions += "local: *; };\n";
  std::string versionFile = folder.file("exports"), output = folder.file("kernels.so");
  if (llvm::Error error = writeFile(versionFile, versions))
    return error;
  std::vector<std::string> arguments = {"ld.lld",
                                        "-shared",
                                        "-z",
                                        "defs",
                                        "--gc-sections",
                                        "--hash-style=gnu",
                                        "--no-undefined",
                                        "--build-id=none",
                                        "-z",
                                        "noexecstack",
                                        "--threads=1",
                                        "-soname=weft-kernels",
                                        "--version-script=" + versionFile,
                                        "-o",
                                        output};
  for (auto [i, object] : llvm::enumerate(objects)) {
    arguments.push_back(folder.file(std::to_string(i) + ".o"));
    if (llvm::Error error = writeFile(arguments.back(), llvm::StringRef(object.data(), object.size())))
      return error;
  }
  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  std::string messages;
  {
    // lld keeps its state in globals.
    static std::mutex mutex;
    std::lock_guard<std::mutex> lock(mutex);
    llvm::raw_string_ostream stream(messages);
    lld::Result result = lld::lldMain(pointers, stream, stream, {{lld::Gnu, &lld::elf::link}});
    if (result.retCode != 0)
      return llvm::createStringError("linking the kernels failed: " + messages);
  }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> linked = llvm::MemoryBuffer::getFile(output);
  if (!linked)
    return llvm::createStringError(linked.getError(), "cannot read what was linked: " + linked.getError().message());
  llvm::StringRef bytes = (*linked)->getBuffer();
  return std::vector<uint8_t>(bytes.bytes_begin(), bytes.bytes_end());
}

} // namespace weft::codegen::cpu
