//===- Reproducer.cpp - What is needed to see a failure again --------------------------------------------------===//

#include "tools/weft/Reproducer.h"
#include "lib/Importer/Onnx/ModelFile.h"
#include "runtime/Artifact/CpuFeatures.h"
#include "runtime/Data/Npz.h"
#include "tools/weft/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

namespace weft::tool {

static constexpr llvm::StringLiteral kInputs = "inputs.npz";

/// Options with a value that say where inputs come from and where results go: not part of a reproduction.
static bool isDataOption(StringRef name) {
  return llvm::is_contained({"--input", "--inputs", "--output", "--outputs", "-o", "--dump-dir", "--reproducer"}, name);
}

/// As one word of a POSIX shell.
static std::string quoted(StringRef word) {
  std::string result = "'";
  for (char c : word)
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

Reproducer::Reproducer(const ModelOptions &options) : options(options), folder(options.reproducer) {
  if (!folder.empty())
    begin();
}

void Reproducer::begin() {
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(options.model, status) && !llvm::sys::fs::is_regular_file(status))
    return give("the model is not a file");
  std::error_code error = llvm::sys::fs::create_directories(folder);
  if (error)
    return give(error.message());
  if (llvm::sys::fs::directory_iterator(folder, error) != llvm::sys::fs::directory_iterator())
    return give("the folder is not empty");
  auto copy = [&](StringRef from, StringRef name) {
    llvm::SmallString<256> to(folder);
    llvm::sys::path::append(to, name);
    error = llvm::sys::fs::create_directories(llvm::sys::path::parent_path(to));
    if (!error)
      error = llvm::sys::fs::copy_file(from, to);
    if (error)
      give(from + ": " + error.message());
    return !error;
  };
  if (!copy(options.model, llvm::sys::path::filename(options.model)))
    return;
  if (llvm::sys::path::extension(options.model) == ".onnx")
    for (const std::string &name : importer::externalDataFiles(options.model)) {
      llvm::SmallString<256> from = llvm::sys::path::parent_path(options.model);
      llvm::sys::path::append(from, name);
      // What is missing or no file is part of the failure.
      if (llvm::sys::fs::is_regular_file(from) && !copy(from, name))
        return;
    }
  writeScript(/*haveInputs=*/false);
}

Reproducer::~Reproducer() {
  if (!folder.empty() && !keep)
    llvm::sys::fs::remove_directories(folder);
}

void Reproducer::give(const llvm::Twine &problem) {
  fail("cannot write the reproducer to " + folder + ": " + problem);
  folder.clear();
  broken = true;
}

void Reproducer::addInputs(ArrayRef<NamedTensor> inputs) {
  if (folder.empty())
    return;
  runtime::NamedArrays arrays;
  for (const NamedTensor &input : inputs) {
    runtime::StatusOr<runtime::Array> array = arrayOf(input.value);
    if (array.ok())
      array = runtime::unpacked(std::move(*array));
    if (!array.ok())
      return give(array.status().message());
    arrays.emplace_back(input.name, std::move(*array));
  }
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, kInputs);
  if (runtime::Status status = runtime::writeNpz(path.str().str(), arrays); !status.ok())
    return give(status.message());
  writeScript(/*haveInputs=*/true);
}

void Reproducer::writeScript(bool haveInputs) {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, "reproduce.sh");
  std::error_code error;
  llvm::ToolOutputFile file(path, error, llvm::sys::fs::OF_Text);
  if (error)
    return give(path + ": " + error.message());
  file.os() << "#!/bin/sh\n# weft 0.1.0 on " << runtime::hostCpuName() << "\ncd \"$(dirname \"$0\")\" || exit 1\nweft";
  bool hadInputs = false;
  for (size_t i = 0; i < options.commandLine.size(); ++i) {
    StringRef word = options.commandLine[i];
    auto [name, value] = word.split('=');
    if (isDataOption(name)) {
      hadInputs |= name.starts_with("--input");
      i += !word.contains('='); // the value is the next word
      continue;
    }
    if (haveInputs && word == "--random-inputs")
      continue;
    file.os() << " " << quoted(word == options.model ? llvm::sys::path::filename(word) : word);
  }
  if (haveInputs)
    file.os() << " --inputs " << kInputs;
  else if (hadInputs)
    file.os() << " --random-inputs";
  file.os() << "\n";
  file.keep();
  llvm::sys::fs::setPermissions(path, llvm::sys::fs::all_read | llvm::sys::fs::owner_write | llvm::sys::fs::all_exe);
}

int Reproducer::finish(int status) {
  keep = status != 0;
  if (broken)
    return 1;
  if (keep && !folder.empty())
    llvm::errs() << "weft: note: the model, its inputs and the command are in " << folder << "\n";
  return status;
}

} // namespace weft::tool
