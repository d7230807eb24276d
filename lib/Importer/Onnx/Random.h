//===- Random.h - Building random numbers that are the same in every run --------------------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_RANDOM_H
#define WEFT_LIB_IMPORTER_ONNX_RANDOM_H

#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Node.h"

namespace weft::importer {

/// What makes a node's numbers its own: its attribute `seed`, else its name.
uint64_t randomKey(Node &node);
/// Uniform numbers of [0, 1), of `type` or, where that is narrower, of f32.
mlir::Value uniformNumbers(Builder &b, uint64_t key, llvm::ArrayRef<graph::Dim> dims, mlir::Type type);

void addRandomHandlers(HandlerTable &table);

} // namespace weft::importer

#endif
