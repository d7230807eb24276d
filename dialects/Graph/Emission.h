//===- Emission.h - What the scalar emission of the ops is written with ----------------------------===//

#ifndef WEFT_DIALECTS_GRAPH_EMISSION_H
#define WEFT_DIALECTS_GRAPH_EMISSION_H

#include "dialects/Graph/GraphInterfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace weft::graph {

/// Builds the arithmetic of single elements. Element types keep their signedness (`ui8`); the values have the type
/// `scalarType` of it. Floats narrower than f32 are computed in f32 and rounded after every operation, as the numerics
/// contract asks.
class ScalarBuilder {
public:
  ScalarBuilder(mlir::OpBuilder &builder, mlir::Location location) : builder(builder), location(location) {}

  mlir::OpBuilder &builder;
  mlir::Location location;

  //===------------------------------------------------------------------===//
  // Indices: `index` values, folded where an operand is known
  //===------------------------------------------------------------------===//

  mlir::Value index(int64_t value);
  mlir::Value addIndex(mlir::Value lhs, mlir::Value rhs);
  mlir::Value subIndex(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mulIndex(mlir::Value lhs, mlir::Value rhs);
  /// Quotient and remainder of values that are not negative.
  mlir::Value divIndex(mlir::Value lhs, mlir::Value rhs);
  mlir::Value remIndex(mlir::Value lhs, mlir::Value rhs);
  mlir::Value minIndex(mlir::Value lhs, mlir::Value rhs);
  mlir::Value maxIndex(mlir::Value lhs, mlir::Value rhs);
  mlir::Value lessThan(mlir::Value lhs, mlir::Value rhs);
  mlir::Value both(mlir::Value lhs, mlir::Value rhs);
  /// Position in row-major order.
  mlir::Value linearize(mlir::ValueRange indices, mlir::ValueRange sizes);
  /// The inverse for 0 <= position < the product of the sizes.
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value position, mlir::ValueRange sizes);

  //===------------------------------------------------------------------===//
  // Constants
  //===------------------------------------------------------------------===//

  /// A scalar of `scalarType(elementType)`; the value is rounded to the type.
  mlir::Value floatConstant(mlir::Type elementType, double value);
  mlir::Value integerConstant(mlir::Type elementType, int64_t value);
  /// 0 or 1 of any element type.
  mlir::Value zero(mlir::Type elementType);
  mlir::Value one(mlir::Type elementType);
  /// The limits: -infinity and infinity of a float.
  mlir::Value lowest(mlir::Type elementType);
  mlir::Value highest(mlir::Type elementType);

  //===------------------------------------------------------------------===//
  // Elements
  //===------------------------------------------------------------------===//

  /// The value in the type it is computed in (`accumulationType`), and back, rounded.
  mlir::Value widen(mlir::Value value, mlir::Type elementType);
  mlir::Value narrow(mlir::Value value, mlir::Type elementType);

  mlir::Value add(mlir::Type elementType, mlir::Value lhs, mlir::Value rhs);
  mlir::Value subtract(mlir::Type elementType, mlir::Value lhs, mlir::Value rhs);
  mlir::Value multiply(mlir::Type elementType, mlir::Value lhs, mlir::Value rhs);
  mlir::Value maximum(mlir::Type elementType, mlir::Value lhs, mlir::Value rhs);
  mlir::Value minimum(mlir::Type elementType, mlir::Value lhs, mlir::Value rhs);
  mlir::Value compare(ComparisonDirection direction, mlir::Type elementType, mlir::Value lhs, mlir::Value rhs);
  mlir::Value convert(mlir::Value value, mlir::Type from, mlir::Type to);
  mlir::Value select(mlir::Value condition, mlir::Value onTrue, mlir::Value onFalse);

  /// The result of a reduction over no elements; with `exact`, the value that changes no bit of what it is combined
  /// with (-0 for a sum of floats).
  mlir::Value identity(ReductionKind kind, mlir::Type elementType, bool exact = false);
  mlir::Value combine(ReductionKind kind, mlir::Type elementType, mlir::Value lhs, mlir::Value rhs);
};

/// Supplies operand elements and sizes to the scalar emission of an op.
class ElementSource {
public:
  ElementSource(mlir::OpBuilder &builder, mlir::Location location) : builder(builder), location(location) {}
  virtual ~ElementSource() = default;

  /// The element of operand `operand` at `indices` (one `index` a dimension), as a scalar of `scalarType`. Where it
  /// cannot be emitted the source remembers the error and gives some value of that type.
  virtual mlir::Value get(unsigned operand, mlir::ValueRange indices) = 0;
  /// The size of a dimension, as an `index`.
  virtual mlir::Value size(const Dim &dim) = 0;
  /// The element of a constant.
  virtual mlir::Value constant(mlir::ElementsAttr value, mlir::ValueRange indices) = 0;
  /// Combines the elements over the index space of `extents` in the order of the numerics contract. `element` gives
  /// them as values of `elementType`, which is an accumulation type.
  virtual mlir::Value reduce(ReductionKind kind, mlir::Type elementType, mlir::ValueRange extents,
                             llvm::function_ref<mlir::Value(mlir::ValueRange)> element) = 0;

  mlir::Value size(mlir::Value tensor, unsigned dimension) { return size(getDim(tensor.getType(), dimension)); }
  llvm::SmallVector<mlir::Value> sizes(mlir::Value tensor);
  ScalarBuilder scalars() { return ScalarBuilder(builder, location); }

  mlir::OpBuilder &builder;
  mlir::Location location;
};

/// Nested counting loops over `extents`, innermost last, that carry `initial`; `body` gets the indices and the carried
/// values and returns the next ones.
llvm::SmallVector<mlir::Value>
emitLoops(mlir::OpBuilder &builder, mlir::Location location, mlir::ValueRange extents, mlir::ValueRange initial,
          llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange, mlir::ValueRange)> body);

/// A value of `type` computed in one of two branches.
mlir::Value emitIf(mlir::OpBuilder &builder, mlir::Location location, mlir::Type type, mlir::Value condition,
                   llvm::function_ref<mlir::Value()> onTrue, llvm::function_ref<mlir::Value()> onFalse);

/// How the dimensions of a reshape's operand and result correspond: runs of dimensions with the same number of
/// elements, in order. A dimension of size 1 that belongs to no run has index 0.
struct ReshapeGroup {
  llvm::SmallVector<int64_t> operandDimensions, resultDimensions;
  /// One dimension on each side, of the same size.
  bool isIdentity() const { return operandDimensions.size() == 1 && resultDimensions.size() == 1; }
};
llvm::SmallVector<ReshapeGroup> matchReshape(llvm::ArrayRef<Dim> operand, llvm::ArrayRef<Dim> result);

/// The element under one place of a sliding window, along one dimension: element (index * stride + offset *
/// windowDilation
/// - paddingLow) of the dilated base, or padding where `inside` is false. `inside` is null where no test is needed.
struct WindowPosition {
  mlir::Value element, inside;
};
WindowPosition emitWindowPosition(ScalarBuilder &scalars, mlir::Value index, int64_t stride, mlir::Value offset,
                                  int64_t windowDilation, int64_t paddingLow, int64_t paddingHigh, int64_t baseDilation,
                                  mlir::Value size);

} // namespace weft::graph

#endif
