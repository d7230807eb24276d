//===- KnownElements.h - Integer tensors whose elements are known as sizes -----------------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_KNOWNELEMENTS_H
#define WEFT_LIB_IMPORTER_ONNX_KNOWNELEMENTS_H

#include "dialects/Graph/Dim.h"
#include "dialects/Graph/TensorValue.h"
#include "lib/Importer/Onnx/Symbols.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace weft::importer {

/// Models compute shapes: Shape, Gather, Concat, Mul, ... end in Reshape's second input. This evaluates the Graph
/// operations that those nodes became on elements that are expressions of the symbols, so that no importer of a node
/// has to. Values that it does not follow (more than 4,096 elements, a shape that depends on data) are unknown.
class KnownElements {
public:
  using Elements = llvm::SmallVector<graph::Dim>;

  explicit KnownElements(const Symbols &symbols) : symbols(symbols) {}

  /// The elements in row-major order, truth values as 0 and 1; null where they are not all known.
  const Elements *get(mlir::Value value);
  /// States the elements of a value whose defining operations do not show them.
  void set(mlir::Value value, Elements elements) { known[value] = std::move(elements); }
  /// To be called before an operation goes away: another value may come to lie at its address.
  void forget(mlir::Value value) {
    known.erase(value);
    computed.erase(value);
  }
  /// The value of an operation whose operands are all constant or, by `leaf`, known from elsewhere; floats too. Nothing
  /// for more than 2^16 elements.
  std::optional<graph::TensorValue> compute(mlir::Value value,
                                            llvm::function_ref<std::optional<graph::TensorValue>(mlir::Value)> leaf);

private:
  std::optional<Elements> evaluate(mlir::Operation *op);

  const Symbols &symbols;
  llvm::DenseMap<mlir::Value, std::optional<Elements>> known;
  llvm::DenseMap<mlir::Value, graph::TensorValue> computed; // empty where a value is not constant
};

} // namespace weft::importer

#endif
