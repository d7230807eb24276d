//===- Types.h - Element types and tensor types of the Graph dialect -----------------------------===//

#ifndef WEFT_DIALECTS_GRAPH_TYPES_H
#define WEFT_DIALECTS_GRAPH_TYPES_H

#include "dialects/Graph/Dim.h"
#include "mlir/IR/BuiltinTypes.h"

namespace weft::graph {

/// f16, bf16, f32, f64, the 8-bit floats and f4E2M1FN.
bool isFloatElement(mlir::Type type);
/// i2 to i64 and ui2 to ui64 (2, 4, 8, 16, 32 and 64 bits); signless means signed.
bool isIntegerElement(mlir::Type type);
/// i1.
bool isBoolElement(mlir::Type type);
bool isUnsignedElement(mlir::Type type);
/// Bits of one element in a tensor in memory: i1 takes a byte, what has 2 or 4 bits is packed.
unsigned storageBits(mlir::Type elementType);
/// The type of one element in emitted code: ui8 is i8, everything else itself.
mlir::Type scalarType(mlir::Type elementType);
/// The type that sums of this element type are accumulated in: f32 for narrower floats, else itself.
mlir::Type accumulationType(mlir::Type elementType);

/// Whether every size of a ranked tensor type is an integer or named by an encoding.
bool hasNamedSizes(mlir::Type tensorType);
/// The sizes of all dimensions. A dynamic dimension of a type without encoding has no name and is a verifier error;
/// here it gets the name "?".
llvm::SmallVector<Dim> getDims(mlir::Type tensorType);
Dim getDim(mlir::Type tensorType, unsigned dimension);
/// Whether a size of the tensor type depends on the symbol.
bool hasSymbol(mlir::Type tensorType, mlir::StringAttr symbol);
/// The number of elements as an expression.
Dim getElementCount(mlir::Type tensorType);

/// The tensor type with these sizes: an encoding is attached where a size is not an integer.
mlir::RankedTensorType makeTensorType(llvm::ArrayRef<Dim> dims, mlir::Type elementType);
/// The same sizes with another element type.
mlir::RankedTensorType withElementType(mlir::Type tensorType, mlir::Type elementType);

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}
inline mlir::Type elementType(mlir::Value value) { return tensorType(value).getElementType(); }

} // namespace weft::graph

#endif
