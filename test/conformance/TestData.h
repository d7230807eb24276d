//===- TestData.h - The values of a test's inputs and outputs --------------------------------------===//

#ifndef WEFT_TEST_CONFORMANCE_TESTDATA_H
#define WEFT_TEST_CONFORMANCE_TESTDATA_H

#include "dialects/Graph/TensorValue.h"
#include "lib/Support/Onnx/onnx.pb.h"
#include "mlir/IR/Location.h"
#include <optional>
#include <string>
#include <vector>

namespace weft::conformance {

/// An input or output of a model.
struct ModelPort {
  std::string name;
  onnx::TypeProto type;
};

/// The inputs of a graph that are not initializers, and its outputs.
struct Signature {
  std::vector<ModelPort> inputs, outputs;
};

std::optional<Signature> signatureOf(llvm::StringRef model);

/// The value of a port as tensors, under the names that the importer gives them: that of the port, or of a sequence's
/// elements `name[0]`, `name[1]`, ... An optional value that is not there has none.
struct PortValue {
  bool isSequence = false, isAbsent = false;
  std::vector<std::pair<std::string, graph::TensorValue>> tensors;

  /// What the importer has to know of an input: the length of a sequence, the shapes of its elements, what is absent.
  std::vector<std::string> shapeOptions(const std::string &name) const;
};

/// Reads a test's .pb file; fails after an error at `location`.
llvm::FailureOr<PortValue> readPort(llvm::StringRef file, const ModelPort &port, mlir::Location location);

} // namespace weft::conformance

#endif
