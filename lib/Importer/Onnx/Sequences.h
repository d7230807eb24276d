//===- Sequences.h - ONNX's sequences and optional values while a model is imported --------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_SEQUENCES_H
#define WEFT_LIB_IMPORTER_ONNX_SEQUENCES_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringRef.h"

namespace weft::importer {

/// The Graph dialect has tensors only. A sequence's length and an optional's presence have to be known at import; until
/// nothing uses it any more, a sequence is one value of a tuple type that a cast makes of its elements. An optional
/// value that is there is the value itself; one that is not is a value of type `none`.
bool isSequence(mlir::Value value);
bool isAbsentOptional(mlir::Value value);

mlir::Value makeSequence(mlir::OpBuilder &builder, mlir::Location location, llvm::ArrayRef<mlir::Value> elements);
mlir::Value makeAbsentOptional(mlir::OpBuilder &builder, mlir::Location location);
llvm::SmallVector<mlir::Value> elementsOf(mlir::Value sequence);

/// Sequences replaced by their elements, and the inverse: sequences made of the elements where `types` has a tuple.
llvm::SmallVector<mlir::Value> flattenSequences(llvm::ArrayRef<mlir::Value> values);
llvm::SmallVector<mlir::Value> regroupSequences(mlir::OpBuilder &builder, mlir::Location location,
                                                llvm::ArrayRef<mlir::Type> types, llvm::ArrayRef<mlir::Value> flat);

/// Whether an operator may take sequences and optional values.
bool takesSequences(llvm::StringRef opType);

} // namespace weft::importer

#endif
