//===- ModelInput.cpp - Reads a model file for the commands ----------------------------------------------------===//

#include "tools/weft/ModelInput.h"
#include "lib/Importer/Onnx/OnnxImporter.h"
#include "mlir/Parser/Parser.h"
#include "tools/weft/Diagnostics.h"
#include "tools/weft/Tensors.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace weft::tool {

Model readModel(const ModelOptions &options, MLIRContext &context) {
  Model model;
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
  for (const std::string &item : options.fixed) {
    FailureOr<NamedTensor> fixed = parseFixedInput(item, &context);
    if (failed(fixed))
      return model;
    importOptions.inputValues.emplace_back(fixed->name, fixed->value);
  }
  for (const std::string &state : options.states) {
    auto [input, output] = StringRef(state).split('=');
    if (input.empty() || output.empty()) {
      fail("--state " + state + ": expected INPUT=OUTPUT");
      return model;
    }
    importOptions.states.emplace_back(input, output);
  }
  for (const std::string &library : options.operators)
    if (llvm::Error error = loadOperators(library, importOptions.operators)) {
      fail("--operators " + llvm::toString(std::move(error)));
      return model;
    }
  model.module = importOnnx(options.model, context, model.weights, importOptions);
  return model;
}

FailureOr<CompileOptions> compileOptionsOf(const ModelOptions &options, const DeviceRun *device) {
  CompileOptions result;
  std::string target = !options.target.empty() ? options.target : device ? device->target : "cpu";
  llvm::Expected<std::vector<CompileTarget>> targets = parseTargets(target);
  if (!targets) {
    fail("--target=" + target + ": " + llvm::toString(targets.takeError()));
    return failure();
  }
  result.targets = std::move(*targets);
  result.cpu = options.cpu;
  result.numerics = options.numerics;
  result.fuses = !options.noFusion;
  result.modelName = llvm::sys::path::filename(options.model).str();
  result.dumpDirectory = options.dumpDirectory;
  for (const std::string &text : options.variants) {
    llvm::Expected<ShapeVariant> variant = parseShapeVariant(text);
    if (!variant)
      return fail("--variant " + text + ": " + llvm::toString(variant.takeError())), failure();
    result.shapeVariants.push_back(std::move(*variant));
  }
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

} // namespace weft::tool
