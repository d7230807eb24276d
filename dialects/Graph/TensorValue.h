//===- TensorValue.h - A tensor in host memory, for folding and the interpreter -------------------===//

#ifndef WEFT_DIALECTS_GRAPH_TENSORVALUE_H
#define WEFT_DIALECTS_GRAPH_TENSORVALUE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>

namespace weft::graph {

/// A dense row-major tensor with concrete sizes. Copies share the data; a value is not changed once it has been handed
/// on. Elements are stored as in a kernel's buffers: i1 a byte each (0 or 1), elements of 2 and 4 bits packed with the
/// low bits first.
class TensorValue {
public:
  TensorValue() = default;
  /// A new tensor of zeros.
  TensorValue(mlir::Type elementType, llvm::ArrayRef<int64_t> shape);
  /// A view of memory that `owner` keeps alive (mmapped weights).
  TensorValue(mlir::Type elementType, llvm::ArrayRef<int64_t> shape, const void *data,
              std::shared_ptr<const void> owner);
  static TensorValue fromAttribute(mlir::ElementsAttr attribute);
  mlir::DenseElementsAttr toAttribute(mlir::RankedTensorType type) const;

  explicit operator bool() const { return elementType != nullptr; }
  mlir::Type getElementType() const { return elementType; }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return shape.size(); }
  int64_t getElementCount() const { return elementCount; }
  /// Bytes of the data, packed.
  size_t getByteSize() const;
  const void *getData() const { return bytes; }
  /// Only for the maker of a new tensor, before it is handed on.
  void *getMutableData() { return const_cast<void *>(bytes); }
  template <typename T> const T *dataAs() const { return static_cast<const T *>(bytes); }
  template <typename T> T *mutableDataAs() { return static_cast<T *>(getMutableData()); }

  /// Element `index` in row-major order. Floats as double (exact for every float type here), integers sign- or
  /// zero-extended, i1 as 0 or 1.
  double getFloat(int64_t index) const;
  int64_t getInteger(int64_t index) const;
  /// Rounds to the element type (nearest, ties to even), wraps integers; of an i1, whether the value is not zero.
  void setFloat(int64_t index, double value);
  void setInteger(int64_t index, int64_t value);

  /// The same for elements `begin`, `begin + 1`, ... in one go. Two threads may write to one tensor where their ranges
  /// do not share a byte.
  void read(int64_t begin, llvm::MutableArrayRef<double> values) const;
  void read(int64_t begin, llvm::MutableArrayRef<int64_t> values) const;
  void write(int64_t begin, llvm::ArrayRef<double> values);
  void write(int64_t begin, llvm::ArrayRef<int64_t> values);

  /// The same data under another shape of as many elements.
  TensorValue reshaped(llvm::ArrayRef<int64_t> shape) const;
  /// The same bits as elements of another type of the same width.
  TensorValue bitcast(mlir::Type elementType) const;

private:
  mlir::Type elementType;
  llvm::SmallVector<int64_t> shape;
  int64_t elementCount = 0;
  const void *bytes = nullptr;
  std::shared_ptr<const void> owner;
};

/// Row-major strides, in elements.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

} // namespace weft::graph

#endif
