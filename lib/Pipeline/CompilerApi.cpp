//===- CompilerApi.cpp - The C API of the compiler -----------------------------------------------------------===//

#include "include/weft/compiler.h"
#include "lib/Importer/Onnx/OnnxImporter.h"
#include "lib/Pipeline/Pipeline.h"
#include "lib/Support/DiagnosticText.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <cstring>

using namespace mlir;

namespace {

char *copyText(const std::string &text) {
  char *copy = static_cast<char *>(std::malloc(text.size() + 1));
  if (copy)
    std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

/// Fields that the caller's, perhaps older, structure has.
WeftCompileOptions completed(const WeftCompileOptions *given) {
  WeftCompileOptions options;
  weft_compile_options_init(&options);
  if (given) {
    std::memcpy(&options, given, std::min(given->struct_size, sizeof(options)));
    options.struct_size = sizeof(options);
  }
  return options;
}

/// One compilation with its diagnostics as text.
class Session {
public:
  explicit Session(const WeftCompileOptions *given)
      : options(completed(given)), handler(&context, [this](Diagnostic &d) {
          note(d, d.getSeverity() == DiagnosticSeverity::Error ? "error: " : "note: ");
          for (Diagnostic &inner : d.getNotes())
            note(inner, "  note: ");
          return success();
        }) {
    weft::loadCompilerDialects(context);
  }

  /// The message of a failure.
  char *failure(const std::string &fallback) { return copyText(text.empty() ? fallback : text); }

  FailureOr<weft::OnnxImportOptions> importOptions() {
    weft::OnnxImportOptions result;
    result.shapes.assign(options.shapes, options.shapes + options.shape_count);
    auto fail = [&](llvm::Error error) -> FailureOr<weft::OnnxImportOptions> {
      return emitError(UnknownLoc::get(&context)) << llvm::toString(std::move(error)), mlir::failure();
    };
    for (size_t i = 0; i < options.operator_count; ++i)
      if (llvm::Error error = weft::collectOperators(options.operators[i], result.operators))
        return fail(std::move(error));
    for (size_t i = 0; i < options.operator_library_count; ++i)
      if (llvm::Error error = weft::loadOperators(options.operator_libraries[i], result.operators))
        return fail(std::move(error));
    return result;
  }

  FailureOr<weft::CompiledModel> compile(ModuleOp module, StringRef name) {
    weft::CompileOptions result;
    result.cpu = options.cpu ? options.cpu : "native";
    result.numerics = options.numerics ? options.numerics : "strict";
    result.modelName = name.str();
    result.dumpDirectory = options.dump_directory ? options.dump_directory : "";
    if (result.numerics != "strict" && result.numerics != "fast")
      return emitError(module.getLoc()) << "numerics: expected \"strict\" or \"fast\", got \"" << result.numerics
                                        << "\"",
             mlir::failure();
    llvm::Expected<std::vector<weft::CompileTarget>> targets =
        weft::parseTargets(options.target ? options.target : "cpu");
    if (!targets)
      return emitError(module.getLoc()) << llvm::toString(targets.takeError()), mlir::failure();
    result.targets = std::move(*targets);
    return weft::compile(module, std::move(weights), result);
  }

  WeftCompileOptions options;
  MLIRContext context;
  weft::WeightStore weights;

private:
  void note(Diagnostic &diagnostic, const char *kind) {
    llvm::raw_string_ostream os(text);
    os << (text.empty() ? "" : "\n");
    weft::printDiagnostic(kind, diagnostic, os);
  }

  std::string text;
  ScopedDiagnosticHandler handler;
};

} // namespace

extern "C" {

void weft_compile_options_init(WeftCompileOptions *options) {
  *options = {sizeof(WeftCompileOptions), "native", "strict", nullptr, 0, nullptr, "cpu", nullptr, 0, nullptr, 0};
}

const char *weft_compiler_version(void) { return "0.1.0"; }

char *weft_compile_file(const char *model_path, const char *artifact_path, const WeftCompileOptions *options) {
  if (!model_path || !artifact_path)
    return copyText("expected the paths of a model and of an artifact, got NULL");
  Session session(options);
  FailureOr<weft::OnnxImportOptions> importOptions = session.importOptions();
  if (failed(importOptions))
    return session.failure("the operators cannot be registered");
  OwningOpRef<ModuleOp> module = llvm::sys::path::extension(model_path) == ".mlir"
                                     ? parseSourceFile<ModuleOp>(model_path, &session.context)
                                     : weft::importOnnx(model_path, session.context, session.weights, *importOptions);
  if (!module)
    return session.failure(std::string(model_path) + " cannot be read");
  FailureOr<weft::CompiledModel> compiled = session.compile(*module, llvm::sys::path::filename(model_path));
  if (failed(compiled))
    return session.failure(std::string(model_path) + " cannot be compiled");
  weft::runtime::Status status =
      weft::runtime::writeArtifact(artifact_path, compiled->emitted.program, compiled->emitted.weights);
  return status.ok() ? nullptr : copyText(status.message());
}

char *weft_compile_memory(const void *model, size_t model_size, const WeftCompileOptions *options, void **artifact,
                          size_t *size) {
  if (!model || !artifact || !size)
    return copyText("expected a model and places for the artifact and its size, got NULL");
  Session session(options);
  FailureOr<weft::OnnxImportOptions> importOptions = session.importOptions();
  if (failed(importOptions))
    return session.failure("the operators cannot be registered");
  OwningOpRef<ModuleOp> module = weft::importOnnxBuffer(ArrayRef<char>(static_cast<const char *>(model), model_size),
                                                        "model", session.context, session.weights, *importOptions);
  if (!module)
    return session.failure("the model cannot be read");
  FailureOr<weft::CompiledModel> compiled = session.compile(*module, "model");
  if (failed(compiled))
    return session.failure("the model cannot be compiled");
  weft::runtime::StatusOr<std::vector<uint8_t>> bytes =
      weft::runtime::serializeArtifact(compiled->emitted.program, compiled->emitted.weights);
  if (!bytes.ok())
    return copyText(bytes.status().message());
  void *copy = std::aligned_alloc(64, llvm::alignTo(bytes->size(), 64));
  if (!copy)
    return copyText("out of memory for an artifact of " + std::to_string(bytes->size()) + " bytes");
  std::memcpy(copy, bytes->data(), bytes->size());
  *artifact = copy;
  *size = bytes->size();
  return nullptr;
}

void weft_compiler_free(void *pointer) { std::free(pointer); }
}
