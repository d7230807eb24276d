//===- OnnxExporter.h - From the Graph dialect to an ONNX model ----------------------------------===//

#ifndef WEFT_LIB_EXPORTER_ONNX_ONNXEXPORTER_H
#define WEFT_LIB_EXPORTER_ONNX_ONNXEXPORTER_H

#include "lib/Support/WeightStore.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace weft {

/// Writes @main of a module (with what @prepare computes, before it) as an ONNX model of opset 18: inputs, state and
/// outputs keep their names, parameters become initializers with the values of `weights`, symbolic sizes stay symbolic.
/// Composites, fusions and library calls are written as what their regions hold.
///
/// Every stage's module can be exported, so that another implementation can check it. Fails with diagnostics, all of
/// them, for operations that ONNX has no way to say; `bytes` is then left alone.
mlir::LogicalResult exportOnnx(mlir::ModuleOp module, const WeightStore &weights, std::string &bytes);
/// The same into a file, which is written whole or not at all.
mlir::LogicalResult exportOnnxFile(mlir::ModuleOp module, const WeightStore &weights, llvm::StringRef path);

} // namespace weft

#endif
