//===- weft-onnx.cpp - Imports and exports ONNX models: the tool of the tests of both --------------===//
//
// weft-onnx MODEL.onnx [--shape=OPTION]... [--keep-all-values] [--quiet]     prints the module
//
// Everything else a user needs is in `weft`; this links the importer and the exporter alone.

#include "dialects/Graph/GraphDialect.h"
#include "lib/Importer/Onnx/OnnxImporter.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  weft::OnnxImportOptions options;
  std::string path;
  bool quiet = false;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument.consume_front("--shape=")) {
      options.shapes.push_back(argument.str());
    } else if (argument == "--keep-all-values") {
      options.keepAllValues = true;
    } else if (argument == "--quiet") {
      quiet = true;
    } else if (!argument.starts_with("--") && path.empty()) {
      path = argument.str();
    } else {
      llvm::errs() << "weft-onnx: unexpected argument '" << argv[i] << "'\n";
      return 2;
    }
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context, llvm::errs());
  weft::WeightStore weights;
  mlir::OwningOpRef<mlir::ModuleOp> module = weft::importOnnx(path, context, weights, options);
  if (!module)
    return 1;
  if (!quiet)
    module->print(llvm::outs(), mlir::OpPrintingFlags().enableDebugInfo(false));
  llvm::outs() << "// " << weights.size() << " parameters\n";
  return 0;
}
