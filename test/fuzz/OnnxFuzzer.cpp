//===- OnnxFuzzer.cpp - libFuzzer target of the ONNX importer --------------------------------------===//

#include "lib/Importer/Onnx/OnnxImporter.h"
#include "mlir/IR/MLIRContext.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler silence(&context, [](mlir::Diagnostic &) { return mlir::success(); });
  weft::WeightStore weights;
  weft::importOnnxBuffer({reinterpret_cast<const char *>(data), size}, "fuzzed.onnx", context, weights);
  return 0;
}
