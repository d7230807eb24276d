//===- GraphInterfaces.h - What every stage may ask of an op --------------------------------------===//

#ifndef WEFT_DIALECTS_GRAPH_GRAPHINTERFACES_H
#define WEFT_DIALECTS_GRAPH_GRAPHINTERFACES_H

#include "dialects/Graph/GraphDialect.h"
#include "dialects/Graph/TensorValue.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include <optional>

namespace weft::graph {

/// What one execution of an op costs, at the upper bounds of its symbolic dimensions.
struct Cost {
  double operations = 0;   // arithmetic operations; a transcendental function counts as twenty
  double bytesRead = 0;    // of the operands
  double bytesWritten = 0; // of the results
};

/// The part that an op plays in a fusion.
enum class FusionRole {
  Elementwise, // an element of the result comes from the elements at the same index
  IndexMap,    // an element of the result is one element of an operand, or a constant
  Reduction,   // an element of the result combines many elements of the operand
  Contraction, // dot_general and convolution: heroes of a library call
  Generic,     // a kernel of its own, by the plain loops of its emission
  Group,       // holds other ops: composite, fusion, library_call
  Opaque,      // never part of a kernel: control flow
};

/// How an op may be split over devices: for each operand and result the factors of each dimension. Filled in by the
/// sharding stage's rules.
struct ShardingRule {
  llvm::SmallVector<llvm::SmallVector<llvm::SmallVector<unsigned>>> operandFactors, resultFactors;
  llvm::SmallVector<Dim> factorSizes;
};

/// What an op needs from its surroundings to be evaluated.
class EvaluationContext {
public:
  virtual ~EvaluationContext() = default;
  /// The concrete shape of a value's type for the current values of the symbols. Every symbol has a value.
  virtual llvm::SmallVector<int64_t> getShape(mlir::Type tensorType) = 0;
  /// Runs a region on these arguments and gives what it yields.
  virtual llvm::LogicalResult evaluateRegion(mlir::Region &region, llvm::ArrayRef<TensorValue> arguments,
                                             llvm::SmallVectorImpl<TensorValue> &results) = 0;
  /// Gives a symbol its value for the ops that follow; an error of `op` where that lies outside the symbol's bounds.
  virtual llvm::LogicalResult bindSymbol(mlir::Operation *op, llvm::StringRef symbol, int64_t value) = 0;
};

/// Supplies operand elements and sizes to the scalar emission of an op: Emission.h.
class ElementSource;

/// One operation an element of the first result, and the bytes of all operands and results.
Cost defaultCost(mlir::Operation *op);
/// Bytes of a tensor at the upper bounds of its symbols, which the module around `scope` declares.
double upperBoundBytes(mlir::Type tensorType, mlir::Operation *scope);
double upperBoundElements(mlir::Type tensorType, mlir::Operation *scope);

/// The declared bounds of a symbol, looked up in the module around `scope`.
struct SymbolBounds {
  int64_t min = 0, max = 0;
};
std::optional<SymbolBounds> getSymbolBounds(llvm::StringRef name, mlir::Operation *scope);

} // namespace weft::graph

#include "dialects/Graph/GraphInterfaces.h.inc"

#endif
