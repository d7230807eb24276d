//===- Activations.h - Activation functions that several operators use ---------------------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_ACTIVATIONS_H
#define WEFT_LIB_IMPORTER_ONNX_ACTIVATIONS_H

#include "lib/Importer/Onnx/Builder.h"

namespace weft::importer {

mlir::Value buildRelu(Builder &b, mlir::Value x);
mlir::Value buildLeakyRelu(Builder &b, mlir::Value x, double alpha);
mlir::Value buildThresholdedRelu(Builder &b, mlir::Value x, double alpha);
mlir::Value buildHardSigmoid(Builder &b, mlir::Value x, double alpha, double beta);
mlir::Value buildElu(Builder &b, mlir::Value x, double alpha);
mlir::Value buildSoftplus(Builder &b, mlir::Value x);
mlir::Value buildSoftsign(Builder &b, mlir::Value x);
/// x * sigmoid(alpha * x).
mlir::Value buildSwish(Builder &b, mlir::Value x, double alpha);
/// Composites "softmax", "log_softmax" {axis} and "gelu" {approximate}.
mlir::Value buildSoftmax(Builder &b, mlir::Value x, int64_t axis);
mlir::Value buildLogSoftmax(Builder &b, mlir::Value x, int64_t axis);
mlir::Value buildGelu(Builder &b, mlir::Value x, bool useTanh);

} // namespace weft::importer

#endif
