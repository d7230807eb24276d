//===- Builder.h - What the importers of nodes build Graph operations with -----------------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_BUILDER_H
#define WEFT_LIB_IMPORTER_ONNX_BUILDER_H

#include "dialects/Graph/Graph.h"
#include "lib/Importer/Onnx/KnownElements.h"
#include "lib/Importer/Onnx/Symbols.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

namespace weft::importer {

/// What lasts over the import of a model and the builder of every node needs.
struct ValueFacts {
  explicit ValueFacts(mlir::MLIRContext *context) : symbols(context), elements(symbols) {}

  Symbols symbols;
  KnownElements elements;
  /// The contents of arguments that are parameters.
  llvm::DenseMap<mlir::Value, graph::TensorValue> parameters;
};

/// Builds Graph operations for one node. Operands are broadcast as numpy does, so `add(x, scalar)` is enough. Where
/// operands do not fit, an error that names the node is emitted and the result is null; every function takes null
/// operands and returns null then, so that an importer needs to look at its last value only. What constant operands
/// decide is folded at once.
class Builder {
public:
  Builder(mlir::OpBuilder &builder, mlir::Location location, ValueFacts &facts, std::string subject)
      : ops(builder), location(location), facts(facts), subject(std::move(subject)) {}

  mlir::OpBuilder &ops;
  mlir::Location location;
  ValueFacts &facts;
  /// What errors are about: "node 'conv1' (Conv, opset 18)".
  std::string subject;

  mlir::MLIRContext *context() const { return ops.getContext(); }
  mlir::InFlightDiagnostic error() { return mlir::emitError(location) << subject << ": "; }

  //===--- Types and sizes (empty or null for a null value) ---===//
  mlir::Type f32() { return ops.getF32Type(); }
  mlir::Type f64() { return ops.getF64Type(); }
  mlir::Type i1() { return ops.getI1Type(); }
  mlir::Type i64() { return ops.getI64Type(); }
  graph::Dim size(int64_t value) { return graph::Dim::constant(context(), value); }
  llvm::SmallVector<graph::Dim> sizes(llvm::ArrayRef<int64_t> values);
  llvm::SmallVector<graph::Dim> dims(mlir::Value value);
  graph::Dim dim(mlir::Value value, int64_t dimension);
  int64_t rank(mlir::Value value);
  mlir::Type element(mlir::Value value);
  bool isFloat(mlir::Value value);
  bool isBool(mlir::Value value);
  bool isUnsigned(mlir::Value value);

  //===--- Contents known at import ---===//
  /// The value of a constant, of a parameter, or of what follows from these alone.
  std::optional<graph::TensorValue> contents(mlir::Value value);
  /// A size that data decide: `count`, one integer, known now or bound to a new symbol called `name` when run. Bounds
  /// for the name that the user gave take the place of `bounds`.
  std::optional<graph::Dim> runtimeSize(mlir::Value count, llvm::StringRef name, Interval bounds);
  /// The only element of a constant float or integer tensor.
  std::optional<double> scalarContents(mlir::Value value);

  //===--- Creation ---===//
  mlir::Value constant(const graph::TensorValue &value);
  mlir::Value scalar(mlir::Type elementType, double value);
  mlir::Value scalarLike(mlir::Value like, double value) { return scalar(element(like), value); }
  mlir::Value integerScalar(mlir::Type elementType, int64_t value);
  mlir::Value integers(llvm::ArrayRef<int64_t> values, mlir::Type elementType = {});
  mlir::Value floats(llvm::ArrayRef<double> values, mlir::Type elementType);
  /// A scalar broadcast to a shape.
  mlir::Value splat(mlir::Type elementType, double value, llvm::ArrayRef<graph::Dim> dims);
  mlir::Value iota(mlir::Type elementType, llvm::ArrayRef<graph::Dim> dims, int64_t dimension);
  /// A size as a scalar when run.
  mlir::Value sizeValue(const graph::Dim &dim, mlir::Type elementType);
  /// Sizes as a vector of i64, whose elements `facts.elements` knows.
  mlir::Value sizeVector(llvm::ArrayRef<graph::Dim> dims);

  //===--- Elementwise ---===//
  template <typename OpTy> mlir::Value unary(mlir::Value x) {
    if (!x)
      return {};
    return inferred<OpTy>(x.getType(), x);
  }
  template <typename OpTy> mlir::Value binary(mlir::Value x, mlir::Value y) {
    if (!broadcastTogether({&x, &y}) || !sameElements({x, y}))
      return {};
    return inferred<OpTy>(x.getType(), x, y);
  }
  mlir::Value add(mlir::Value x, mlir::Value y) { return binary<graph::AddOp>(x, y); }
  mlir::Value subtract(mlir::Value x, mlir::Value y) { return binary<graph::SubtractOp>(x, y); }
  mlir::Value multiply(mlir::Value x, mlir::Value y) { return binary<graph::MultiplyOp>(x, y); }
  mlir::Value divide(mlir::Value x, mlir::Value y) { return binary<graph::DivideOp>(x, y); }
  mlir::Value maximum(mlir::Value x, mlir::Value y) { return binary<graph::MaximumOp>(x, y); }
  mlir::Value minimum(mlir::Value x, mlir::Value y) { return binary<graph::MinimumOp>(x, y); }
  mlir::Value add(mlir::Value x, double y) { return add(x, scalarLike(x, y)); }
  mlir::Value subtract(mlir::Value x, double y) { return subtract(x, scalarLike(x, y)); }
  mlir::Value multiply(mlir::Value x, double y) { return multiply(x, scalarLike(x, y)); }
  mlir::Value divide(mlir::Value x, double y) { return divide(x, scalarLike(x, y)); }
  mlir::Value maximum(mlir::Value x, double y) { return maximum(x, scalarLike(x, y)); }
  mlir::Value minimum(mlir::Value x, double y) { return minimum(x, scalarLike(x, y)); }
  mlir::Value compare(graph::ComparisonDirection direction, mlir::Value x, mlir::Value y);
  mlir::Value compare(graph::ComparisonDirection direction, mlir::Value x, double y) {
    return compare(direction, x, scalarLike(x, y));
  }
  mlir::Value select(mlir::Value predicate, mlir::Value onTrue, mlir::Value onFalse);
  mlir::Value convert(mlir::Value x, mlir::Type elementType);
  mlir::Value exponential(mlir::Value x) { return unary<graph::ExponentialOp>(x); }
  mlir::Value log(mlir::Value x) { return unary<graph::LogOp>(x); }
  mlir::Value sqrt(mlir::Value x) { return unary<graph::SqrtOp>(x); }
  mlir::Value tanh(mlir::Value x) { return unary<graph::TanhOp>(x); }
  mlir::Value negate(mlir::Value x) { return unary<graph::NegateOp>(x); }
  mlir::Value abs(mlir::Value x) { return unary<graph::AbsOp>(x); }
  /// Indices below zero count from the end of a dimension of this size.
  mlir::Value wrapIndices(mlir::Value indices, const graph::Dim &size);

  //===--- Movement ---===//
  /// Numpy's rule: trailing dimensions correspond, a size of 1 is repeated.
  mlir::Value broadcast(mlir::Value x, llvm::ArrayRef<graph::Dim> dims);
  /// Dimension i of `x` becomes dimension `map[i]`.
  mlir::Value broadcastInDim(mlir::Value x, llvm::ArrayRef<graph::Dim> dims, llvm::ArrayRef<int64_t> map);
  /// The shape that numpy's broadcasting gives; nothing, with an error, where there is none.
  std::optional<llvm::SmallVector<graph::Dim>> commonShape(llvm::ArrayRef<mlir::Value> values);
  bool broadcastTogether(llvm::ArrayRef<mlir::Value *> values);
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<graph::Dim> dims);
  /// `x` with each size written as in `dims`. Where two sizes are not the same expression, that they are equal becomes
  /// a condition of the program (`Symbols::requireEqual`). Null where some cannot be equal, without an error.
  mlir::Value assumeShape(mlir::Value x, llvm::ArrayRef<graph::Dim> dims);
  mlir::Value expandDims(mlir::Value x, llvm::ArrayRef<int64_t> newDimensions);
  mlir::Value dropDims(mlir::Value x, llvm::ArrayRef<int64_t> dimensions);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> permutation);
  mlir::Value reverse(mlir::Value x, llvm::ArrayRef<int64_t> dimensions);
  mlir::Value concatenate(llvm::ArrayRef<mlir::Value> values, int64_t dimension);
  /// Elements [start, limit) along one dimension. Both are positions from the front where they are not negative, else
  /// from the end; no limit is the end. Bounds on symbolic sizes are tightened where needed.
  mlir::Value slice(mlir::Value x, int64_t dimension, int64_t start, std::optional<int64_t> limit, int64_t stride = 1);
  /// The same for positions that are sizes, counted from the front: 0 <= start <= limit <= size must hold.
  mlir::Value slice(mlir::Value x, int64_t dimension, const graph::Dim &start, const graph::Dim &limit, int64_t stride);
  /// Element `index` along a dimension, which goes away.
  mlir::Value takeOne(mlir::Value x, int64_t dimension, int64_t index);
  mlir::Value pad(mlir::Value x, mlir::Value paddingValue, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
                  llvm::ArrayRef<int64_t> interior = {});
  mlir::Value dynamicSlice(mlir::Value x, llvm::ArrayRef<mlir::Value> starts, llvm::ArrayRef<graph::Dim> dims);
  mlir::Value dynamicUpdateSlice(mlir::Value x, mlir::Value update, llvm::ArrayRef<mlir::Value> starts);
  /// numpy.take: the indices' shape stands in the place of `dimension`. Indices lie in [0, size).
  mlir::Value take(mlir::Value x, mlir::Value indices, int64_t dimension);
  /// Indices have the rank of `x`; one element for each. Indices lie in [0, size).
  mlir::Value takeElements(mlir::Value x, mlir::Value indices, int64_t dimension);

  //===--- Reduction and contraction ---===//
  mlir::Value reduce(graph::ReductionKind kind, mlir::Value x, llvm::ArrayRef<int64_t> dimensions, bool keepDims);
  mlir::Value sum(mlir::Value x, llvm::ArrayRef<int64_t> dimensions, bool keepDims) {
    return reduce(graph::ReductionKind::sum, x, dimensions, keepDims);
  }
  mlir::Value mean(mlir::Value x, llvm::ArrayRef<int64_t> dimensions, bool keepDims);
  struct Window {
    llvm::SmallVector<int64_t> size, stride, dilation, low, high;
  };
  mlir::Value reduceWindow(graph::ReductionKind kind, mlir::Value x, const Window &window);
  mlir::Value dotGeneral(mlir::Value lhs, mlir::Value rhs, llvm::ArrayRef<int64_t> lhsContracting,
                         llvm::ArrayRef<int64_t> rhsContracting, llvm::ArrayRef<int64_t> lhsBatching = {},
                         llvm::ArrayRef<int64_t> rhsBatching = {}, mlir::Type resultElement = {});
  /// numpy.matmul.
  mlir::Value matmul(mlir::Value lhs, mlir::Value rhs, mlir::Type resultElement = {});

  //===--- Groups ---===//
  /// A composite whose region `body` builds from the region's arguments with a builder of its own.
  llvm::SmallVector<mlir::Value>
  composite(llvm::StringRef name, llvm::ArrayRef<mlir::NamedAttribute> config, llvm::ArrayRef<mlir::Value> operands,
            llvm::function_ref<llvm::SmallVector<mlir::Value>(Builder &, llvm::ArrayRef<mlir::Value>)> body);

  /// The operation's result after folding, or what it folds to.
  mlir::Value fold(mlir::Operation *op);
  /// An operation whose type is inferred from its operands; null, with an error, where they do not fit. `placeholder`
  /// may be any type.
  template <typename OpTy, typename... Args> mlir::Value inferred(mlir::Type placeholder, Args &&...args) {
    mlir::OperationState state(location, OpTy::getOperationName());
    OpTy::build(ops, state, placeholder, std::forward<Args>(args)...);
    return createInferred<OpTy>(state);
  }
  template <typename OpTy> mlir::Value createInferred(mlir::OperationState &state) {
    llvm::SmallVector<mlir::Type> types;
    if (mlir::failed(OpTy::inferReturnTypes(context(), location, state.operands,
                                            state.attributes.getDictionary(context()), state.getRawProperties(), {},
                                            types)))
      return {};
    state.types.assign(types.begin(), types.end());
    return fold(ops.create(state));
  }

  bool sameElements(llvm::ArrayRef<mlir::Value> values);
  /// Whether the sizes are small enough to be counted; an error otherwise.
  bool isSane(llvm::ArrayRef<graph::Dim> dims);
};

} // namespace weft::importer

#endif
