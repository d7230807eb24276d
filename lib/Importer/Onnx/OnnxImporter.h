//===- OnnxImporter.h - From an ONNX model to the Graph dialect ----------------------------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_ONNXIMPORTER_H
#define WEFT_LIB_IMPORTER_ONNX_ONNXIMPORTER_H

#include "lib/Importer/Onnx/CustomOperators.h"
#include "lib/Support/WeightStore.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <vector>

namespace weft {

struct OnnxImportOptions {
  /// What is known of symbolic sizes, an entry one of
  ///   "x=1x3x224x224"    the shape of input x; "?" leaves a size as it is
  ///   "x=batch,3,h,w"    the same with symbols; equal names are equal sizes
  ///   "batch=8"          the size that a model calls batch
  ///   "batch=1..64"      its bounds, both included
  /// Without bounds a symbol lies in [1, 1024] where it is an input's first dimension, in [1, 4096] elsewhere, and what
  /// the model needs (a window of 16 elements needs 16) narrows that.
  std::vector<std::string> shapes;
  /// Values that inputs are fixed to, by name: the input is then no argument. For inputs that decide a shape (the new
  /// shape of a Reshape, the axes of a reduction), which must be known when a model is compiled.
  std::vector<std::pair<std::string, graph::TensorValue>> inputValues;
  /// Inputs that a run updates in place, by name, each with the output that is its next value: the two become one
  /// state, which the caller holds between runs and which has the input's name. Both must have the same static type.
  std::vector<std::pair<std::string, std::string>> states;
  /// Operators that others have registered; they go before the importer's own.
  std::vector<CustomOperator> operators;
  /// Makes every value of the model's own graph that is a tensor an output, to be compared with another
  /// implementation; its outputs come first.
  bool keepAllValues = false;
  /// Initializers of at most so many elements become constants in the IR, larger ones parameters in the weight store.
  int64_t maxConstantIntegers = 1024;
  int64_t maxConstantFloats = 16;
};

/// Imports a model from a file. The module holds `weft.dim` declarations and `@main`; the arguments are the model's
/// inputs, in order, then the parameters that it uses, whose values are added to `weights`. Weights are not copied:
/// they are views of the parsed model or of mapped external data. An initializer that is also listed as an input is a
/// parameter. Every error is emitted as a diagnostic that names the model's node, and then nothing is returned.
///
/// `context` must have the Graph and func dialects loaded (or is given them).
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(llvm::StringRef path, mlir::MLIRContext &context, WeightStore &weights,
                                             const OnnxImportOptions &options = {});
/// The same for a model in memory, which may not refer to external data. `name` stands for it in diagnostics.
mlir::OwningOpRef<mlir::ModuleOp> importOnnxBuffer(llvm::ArrayRef<char> bytes, llvm::StringRef name,
                                                   mlir::MLIRContext &context, WeightStore &weights,
                                                   const OnnxImportOptions &options = {});

} // namespace weft

#endif
