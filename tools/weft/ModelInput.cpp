//===- ModelInput.cpp - Reads a model file for the commands ----------------------------------------------------===//

#include "tools/weft/ModelInput.h"
#include "lib/Importer/Onnx/OnnxImporter.h"
#include "mlir/Parser/Parser.h"
#include "runtime/Artifact/CpuFeatures.h"
#include "tools/weft/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

namespace weft::tool {

Model readModel(const ModelOptions &options, MLIRContext &context) {
  Model model;
  if (options.target != "cpu") {
    fail("--target=" + options.target + ": this build compiles for cpu only");
    return model;
  }
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(options.model, status)) {
    fail(options.model + ": " + error.message());
    return model;
  }
  if (llvm::sys::fs::is_directory(status)) {
    fail(options.model + ": is a folder; expected a model file (.onnx or .mlir)");
    return model;
  }
  StringRef extension = llvm::sys::path::extension(options.model);
  if (extension == ".weft") {
    fail(options.model +
         ": is a compiled artifact; expected a model (.onnx or .mlir). `weft run` and `weft-run` run artifacts");
    return model;
  }
  if (extension == ".mlir") {
    model.module = parseSourceFile<ModuleOp>(options.model, &context);
    return model;
  }
  OnnxImportOptions importOptions;
  importOptions.shapes = options.shapes;
  model.module = importOnnx(options.model, context, model.weights, importOptions);
  return model;
}

CompileOptions compileOptionsOf(const ModelOptions &options) {
  CompileOptions result;
  result.cpu = options.cpu;
  result.numerics = options.numerics;
  result.modelName = llvm::sys::path::filename(options.model).str();
  result.dumpDirectory = options.dumpDirectory;
  return result;
}

void printTimes(const CompiledModel &compiled) {
  double total = 0;
  for (const StageTime &time : compiled.times)
    total += time.seconds;
  llvm::errs() << "  seconds  share  stage\n";
  for (const StageTime &time : compiled.times)
    llvm::errs() << llvm::format("%9.3f %5.1f%%  %s\n", time.seconds, total > 0 ? 100 * time.seconds / total : 0,
                                 time.name.c_str());
  llvm::errs() << llvm::format("%9.3f 100.0%%  total\n", total);
}

void writeReproducer(const ModelOptions &options, StringRef command) {
  if (options.reproducer.empty())
    return;
  llvm::SmallString<128> folder(options.reproducer), model(folder), script(folder);
  llvm::sys::path::append(model, llvm::sys::path::filename(options.model));
  llvm::sys::path::append(script, "reproduce.sh");
  std::error_code error = llvm::sys::fs::create_directories(folder);
  if (!error)
    error = llvm::sys::fs::copy_file(options.model, model);
  if (!error) {
    llvm::ToolOutputFile file(script, error, llvm::sys::fs::OF_Text);
    if (!error) {
      file.os() << "#!/bin/sh\n# weft 0.1.0 on " << runtime::hostCpuName()
                << "\ncd \"$(dirname \"$0\")\" || exit 1\nweft " << command << " '"
                << llvm::sys::path::filename(options.model) << "' --cpu='" << options.cpu
                << "' --numerics=" << options.numerics;
      for (const std::string &shape : options.shapes)
        file.os() << " --shape '" << shape << "'";
      file.os() << "\n";
      file.keep();
    }
  }
  if (error)
    fail("cannot write the reproducer to " + folder + ": " + error.message());
  else
    llvm::errs() << "weft: note: the model and the command are in " << folder << "\n";
}

} // namespace weft::tool
