//===- Tensors.h - Values of inputs and outputs: files, random numbers, the runtime's views
//-------------------------===//

#ifndef WEFT_TOOLS_WEFT_TENSORS_H
#define WEFT_TOOLS_WEFT_TENSORS_H

#include "dialects/Graph/TensorValue.h"
#include "include/weft/runtime.h"
#include "mlir/IR/MLIRContext.h"
#include "runtime/Artifact/Program.h"
#include "runtime/Data/Array.h"
#include "tools/weft/Commands.h"

namespace weft::tool {

struct NamedTensor {
  std::string name;
  graph::TensorValue value;
};

mlir::Type elementTypeOf(runtime::ElementType type, mlir::MLIRContext *context);
runtime::ElementType elementTypeOf(mlir::Type type);

/// A view of a value for the C API; `value` must outlive it.
WeftTensorView viewOf(const graph::TensorValue &value);
/// A copy of what a view shows.
graph::TensorValue copyOf(const WeftTensorView &view, mlir::MLIRContext *context);
/// A value in an array of the runtime's data library; fails where memory is short.
runtime::StatusOr<runtime::Array> arrayOf(const graph::TensorValue &value);

/// "sr=16000", "axes=0,2" (i64, a scalar or a vector) or "mask=FILE.npy": an input and the value it is fixed to. Prints
/// an error and fails where it is another text or the file cannot be read.
llvm::FailureOr<NamedTensor> parseFixedInput(llvm::StringRef text, mlir::MLIRContext *context);

/// The values of an entry's inputs, in order, from what the command names: files first, random values for the rest
/// where that is asked for. Sizes that are open in random inputs come from `shapes` ("batch=8"), else the smallest that
/// is legal and at least 1, which `defaultSize` may raise. Prints an error and fails where an input is missing, named
/// wrongly, or of another type or shape than the entry takes.
llvm::FailureOr<std::vector<NamedTensor>> gatherInputs(const DataOptions &options, llvm::ArrayRef<std::string> shapes,
                                                       const runtime::Program &program, const runtime::Entry &entry,
                                                       mlir::MLIRContext *context, int64_t defaultSize = 1);

} // namespace weft::tool

#endif
