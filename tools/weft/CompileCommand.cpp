//===- CompileCommand.cpp - weft compile -------------------------------------------------------------------------===//

#include "tools/weft/Commands.h"
#include "tools/weft/Diagnostics.h"
#include "tools/weft/ModelInput.h"
#include "tools/weft/Reproducer.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

namespace weft::tool {

namespace {

/// Text to a file, or to standard output where there is no name. Nothing is left behind on a failure.
int writeText(StringRef path, llvm::function_ref<void(llvm::raw_ostream &)> print) {
  std::error_code error;
  llvm::ToolOutputFile file(path.empty() ? "-" : path, error, llvm::sys::fs::OF_Text);
  if (error)
    return fail("cannot write " + path + ": " + error.message());
  print(file.os());
  file.os().flush();
  if (file.os().has_error()) {
    std::error_code written = file.os().error();
    file.os().clear_error();
    return fail("cannot write " + path + ": " + written.message());
  }
  file.keep();
  return 0;
}

int compileModel(const CompileCommand &command) {
  MLIRContext context;
  DiagnosticPrinter printer(context);
  loadCompilerDialects(context);
  FailureOr<CompileOptions> options = compileOptionsOf(command.model);
  if (failed(options))
    return 1;
  Model model = readModel(command.model, context);
  if (!model.module)
    return 1;
  options->stopAfter = *stageFromName(command.emit);
  FailureOr<CompiledModel> compiled = compile(*model.module, std::move(model.weights), *options);
  if (failed(compiled))
    return 1;
  if (command.model.timePasses)
    printTimes(*compiled);
  if (options->stopAfter == Stage::Llvm)
    return writeText(command.output, [&](llvm::raw_ostream &os) { os << compiled->llvmText; });
  if (options->stopAfter != Stage::Artifact)
    return writeText(command.output, [&](llvm::raw_ostream &os) { model.module->print(os); });

  llvm::SmallString<128> output(command.output);
  if (output.empty()) {
    output = llvm::sys::path::filename(command.model.model);
    llvm::sys::path::replace_extension(output, "weft");
  }
  runtime::Status status =
      runtime::writeArtifact(output.str().str(), compiled->emitted.program, compiled->emitted.weights);
  return status.ok() ? 0 : fail(status.message());
}

} // namespace

int runCompile(const CompileCommand &command) {
  Reproducer reproducer(command.model);
  return reproducer.finish(compileModel(command));
}

} // namespace weft::tool
