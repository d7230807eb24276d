//===- Node.h - One node of an ONNX graph, as its importer sees it -------------------------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_NODE_H
#define WEFT_LIB_IMPORTER_ONNX_NODE_H

#include "lib/Importer/Onnx/Builder.h"
#include "llvm/ADT/StringSet.h"

namespace onnx {
class AttributeProto;
class GraphProto;
class NodeProto;
} // namespace onnx

namespace weft::importer {

class GraphImporter;
class Scope;

/// What a node gives its importer: inputs, attributes, outputs, and a builder.
///
/// Getters never fail on the spot: a wrong attribute or input emits an error that names it, the getter returns the
/// fallback, and the node counts as failed. Its importer may stop early with `if (node.failed())`, and need not: the
/// import ends after it in any case. An attribute that no getter asked for is an error too, since it may change the
/// meaning.
class Node {
public:
  Node(GraphImporter &importer, Scope &scope, const onnx::NodeProto &proto, std::string name, int64_t opset,
       Builder &builder);

  Builder &b;
  GraphImporter &importer;
  Scope &scope;

  llvm::StringRef opType() const { return type; }
  llvm::StringRef name() const { return nodeName; }
  /// The opset in force for the node's domain.
  int64_t opset() const { return opsetVersion; }

  bool failed() const { return hasFailed; }
  /// After an error that was reported about something else.
  void markFailed() { hasFailed = true; }
  /// An error about this node.
  mlir::InFlightDiagnostic error();
  /// The same, as the result of an importer.
  mlir::LogicalResult fail(const llvm::Twine &message);

  //===--- Inputs ---===//
  int64_t inputCount() const { return static_cast<int64_t>(inputs.size()); }
  bool has(int64_t index) const { return index < inputCount() && inputs[index]; }
  /// The value; null where the optional input is absent.
  mlir::Value input(int64_t index) const { return index < inputCount() ? inputs[index] : mlir::Value(); }
  llvm::ArrayRef<mlir::Value> allInputs() const { return inputs; }
  /// Puts another form of an input in its place.
  void setInput(int64_t index, mlir::Value value) { inputs[index] = value; }
  llvm::StringRef inputName(int64_t index) const;
  /// What a size that data decide is called: dimension `dimension` of output `index`.
  std::string sizeName(int64_t index, int64_t dimension) const;
  /// The elements of an integer input as sizes; they must be known at import. `what` says what they are ("the axes").
  std::optional<llvm::SmallVector<graph::Dim>> sizes(int64_t index, llvm::StringRef what);
  /// The same, or sizes that are bound when run where they are not known: dimensions `firstDimension`, ... of output 0,
  /// at most 4,096 unless the user says otherwise.
  std::optional<llvm::SmallVector<graph::Dim>> sizesOrBound(int64_t index, llvm::StringRef what,
                                                            int64_t firstDimension);
  /// Nothing, without an error, where they are not known.
  std::optional<llvm::SmallVector<graph::Dim>> sizesIfKnown(int64_t index) {
    return has(index) ? knownSizes(input(index)) : std::nullopt;
  }
  /// The elements of an integer input, which must be constants.
  std::optional<llvm::SmallVector<int64_t>> integers(int64_t index, llvm::StringRef what);
  /// The value of an input that must be constant.
  std::optional<graph::TensorValue> constant(int64_t index, llvm::StringRef what);
  /// Whether an input has this rank; an error otherwise.
  bool expectRank(int64_t index, int64_t rank);
  bool expectRankAtLeast(int64_t index, int64_t rank);

  //===--- Attributes ---===//
  bool hasAttribute(llvm::StringRef name) const { return find(name) != nullptr; }
  int64_t integer(llvm::StringRef name, int64_t fallback);
  int64_t requiredInteger(llvm::StringRef name);
  double real(llvm::StringRef name, double fallback);
  std::string string(llvm::StringRef name, llvm::StringRef fallback);
  llvm::SmallVector<int64_t> integerList(llvm::StringRef name, llvm::ArrayRef<int64_t> fallback = {});
  llvm::SmallVector<double> realList(llvm::StringRef name, llvm::ArrayRef<double> fallback = {});
  llvm::SmallVector<std::string> stringList(llvm::StringRef name, llvm::ArrayRef<std::string> fallback = {});
  std::optional<graph::TensorValue> tensor(llvm::StringRef name);
  const onnx::GraphProto *graph(llvm::StringRef name);
  /// The attribute as it stands, or null.
  const onnx::AttributeProto *attribute(llvm::StringRef name);
  /// The attribute has no bearing on the result.
  void ignore(llvm::StringRef name) { used.insert(name); }
  /// `axis` made non-negative; an error where it is not a dimension of a tensor of this rank.
  int64_t axis(int64_t axis, int64_t rank);
  llvm::SmallVector<int64_t> axes(llvm::ArrayRef<int64_t> axes, int64_t rank);

  //===--- Outputs ---===//
  int64_t outputCount() const { return static_cast<int64_t>(outputs.size()); }
  bool wants(int64_t index) const;
  /// Sets output `index`; fails on a null value.
  mlir::LogicalResult output(int64_t index, mlir::Value value);
  llvm::ArrayRef<mlir::Value> allOutputs() const { return outputs; }

  /// The names of the attributes that no getter asked for.
  llvm::SmallVector<std::string> unusedAttributes() const;
  const onnx::NodeProto &getProto() const { return proto; }

private:
  /// The model's inputs on which a value depends, for errors.
  std::string sourcesOf(mlir::Value value) const;
  bool expectIntegers(int64_t index, llvm::StringRef what);
  /// The elements of an integer value where they are known.
  std::optional<llvm::SmallVector<graph::Dim>> knownSizes(mlir::Value value);
  const onnx::AttributeProto *find(llvm::StringRef name) const;
  /// The attribute if it has this type; marks it as used.
  const onnx::AttributeProto *typed(llvm::StringRef name, int type, llvm::StringRef typeName);

  const onnx::NodeProto &proto;
  std::string type, nodeName;
  int64_t opsetVersion;
  llvm::SmallVector<mlir::Value> inputs, outputs;
  llvm::SmallVector<std::pair<llvm::StringRef, const onnx::AttributeProto *>> attributes;
  llvm::StringSet<> used;
  bool hasFailed = false;

  friend class GraphImporter;
};

} // namespace weft::importer

#endif
