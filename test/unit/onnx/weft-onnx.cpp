//===- weft-onnx.cpp - Imports and exports ONNX models: the tool of the tests of both --------------===//
//
// weft-onnx MODEL [--shape=OPTION]... [--keep-all-values] [--export=FILE]
//
// Reads MODEL (.onnx, or .mlir without parameters) and prints the module, or writes it as ONNX. Everything else a user
// needs is in `weft`; this links the importer and the exporter alone.

#include "dialects/Graph/GraphDialect.h"
#include "lib/Exporter/Onnx/OnnxExporter.h"
#include "lib/Importer/Onnx/OnnxImporter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  weft::OnnxImportOptions options;
  std::string path, exported;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument.consume_front("--shape=")) {
      options.shapes.push_back(argument.str());
    } else if (argument == "--keep-all-values") {
      options.keepAllValues = true;
    } else if (argument.consume_front("--export=")) {
      exported = argument.str();
    } else if (!argument.starts_with("--") && path.empty()) {
      path = argument.str();
    } else {
      llvm::errs() << "weft-onnx: unexpected argument '" << argv[i] << "'\n";
      return 2;
    }
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<weft::graph::GraphDialect, mlir::func::FuncDialect>();
  mlir::ScopedDiagnosticHandler diagnostics(&context, [](mlir::Diagnostic &diagnostic) {
    llvm::errs() << "error: " << diagnostic << "\n";
    return mlir::success();
  });
  weft::WeightStore weights;
  mlir::OwningOpRef<mlir::ModuleOp> module = llvm::StringRef(path).ends_with(".mlir")
                                                 ? mlir::parseSourceFile<mlir::ModuleOp>(path, &context)
                                                 : weft::importOnnx(path, context, weights, options);
  if (!module)
    return 1;
  if (!exported.empty())
    return mlir::failed(weft::exportOnnxFile(*module, weights, exported)) ? 1 : 0;
  module->print(llvm::outs());
  return 0;
}
