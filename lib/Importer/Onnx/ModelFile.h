//===- ModelFile.h - An ONNX file in memory, and the values of its tensors -----------------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_MODELFILE_H
#define WEFT_LIB_IMPORTER_ONNX_MODELFILE_H

#include "dialects/Graph/TensorValue.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>
#include <vector>

namespace onnx {
class ModelProto;
class SparseTensorProto;
class TensorProto;
} // namespace onnx

namespace weft::importer {

/// A parsed model. Values of tensors are views of the parsed message or of mapped external files and keep them alive.
class ModelFile {
public:
  /// Reads and parses a file; an error at `location` and null where that fails.
  static std::unique_ptr<ModelFile> read(llvm::StringRef path, mlir::Location location);
  /// Parses bytes. External data are then an error, since there is no folder to look in.
  static std::unique_ptr<ModelFile> parse(llvm::ArrayRef<char> bytes, mlir::Location location);

  const onnx::ModelProto &model() const { return *proto; }

  /// The value of a tensor of the model; `subject` says in errors what it belongs to.
  mlir::FailureOr<graph::TensorValue> valueOf(const onnx::TensorProto &tensor, const std::string &subject,
                                              mlir::Location location);
  mlir::FailureOr<graph::TensorValue> valueOf(const onnx::SparseTensorProto &tensor, const std::string &subject,
                                              mlir::Location location);

private:
  ModelFile();
  mlir::FailureOr<llvm::ArrayRef<char>> externalData(const onnx::TensorProto &tensor, const std::string &subject,
                                                     mlir::Location location,
                                                     std::shared_ptr<const llvm::MemoryBuffer> &owner);

  std::shared_ptr<onnx::ModelProto> proto;
  std::string folder; // empty where the model came as bytes
  llvm::StringMap<std::shared_ptr<const llvm::MemoryBuffer>> files;
};

/// The names, relative to the model's folder, of the files that a model's tensors lie in, each once. Empty where the
/// model cannot be read.
std::vector<std::string> externalDataFiles(llvm::StringRef path);

/// The value of a serialized tensor; `where` is how errors call it.
mlir::FailureOr<graph::TensorValue> readTensor(llvm::StringRef serialized, const std::string &where,
                                               mlir::Location location);
/// The value of a tensor that is a file of its own. For `.pb` files of test data.
mlir::FailureOr<graph::TensorValue> readTensorFile(llvm::StringRef path, mlir::Location location);

} // namespace weft::importer

#endif
