//===- Pooling.h - Building poolings, for those operators that are one ------------------------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_POOLING_H
#define WEFT_LIB_IMPORTER_ONNX_POOLING_H

#include "lib/Importer/Onnx/Node.h"

namespace weft::importer {

/// The average pooling that the node's attributes say, of `x` [batch, channels, spatial...]; null after an error.
mlir::Value buildAveragePool(Node &node, mlir::Value x);

} // namespace weft::importer

#endif
