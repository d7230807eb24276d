//===- OnnxImporter.cpp - From an ONNX model to the Graph dialect --------------------------------===//

#include "lib/Importer/Onnx/OnnxImporter.h"
#include "dialects/Graph/GraphDialect.h"
#include "lib/Importer/Onnx/GraphImporter.h"
#include "lib/Importer/Onnx/Handlers.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace weft {

namespace {

OwningOpRef<ModuleOp> importFile(std::unique_ptr<importer::ModelFile> file, Location location, WeightStore &weights,
                                 const OnnxImportOptions &options) {
  if (!file)
    return {};
  MLIRContext &context = *location.getContext();
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  importer::HandlerTable handlers = importer::makeHandlerTable();
  importer::addCustomHandlers(handlers, options.operators);
  importer::GraphImporter importer(*file, &context, weights, options, handlers, location);
  return importer.importModel();
}

} // namespace

OwningOpRef<ModuleOp> importOnnx(llvm::StringRef path, MLIRContext &context, WeightStore &weights,
                                 const OnnxImportOptions &options) {
  Location location = FileLineColLoc::get(&context, path, 0, 0);
  return importFile(importer::ModelFile::read(path, location), location, weights, options);
}

OwningOpRef<ModuleOp> importOnnxBuffer(llvm::ArrayRef<char> bytes, llvm::StringRef name, MLIRContext &context,
                                       WeightStore &weights, const OnnxImportOptions &options) {
  Location location = FileLineColLoc::get(&context, name, 0, 0);
  return importFile(importer::ModelFile::parse(bytes, location), location, weights, options);
}

} // namespace weft
