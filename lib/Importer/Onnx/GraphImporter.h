//===- GraphImporter.h - Walks the nodes of an ONNX graph and its subgraphs ----------------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_GRAPHIMPORTER_H
#define WEFT_LIB_IMPORTER_ONNX_GRAPHIMPORTER_H

#include "lib/Importer/Onnx/Builder.h"
#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/ModelFile.h"
#include "lib/Importer/Onnx/Node.h"
#include "lib/Importer/Onnx/OnnxImporter.h"
#include "lib/Support/WeightStore.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include <google/protobuf/repeated_field.h>
#include <map>

namespace onnx {
class FunctionProto;
class OperatorSetIdProto;
class TypeProto;
class TypeProto_Tensor;
class ValueInfoProto;
} // namespace onnx

namespace weft::importer {

/// The values that nodes of one graph can name. A subgraph sees those of the graph around it, a function's body does
/// not.
class Scope {
public:
  explicit Scope(Scope *parent) : parent(parent) {
    if (parent) {
      opsets = parent->opsets;
      attributes = parent->attributes;
      prefix = parent->prefix;
    }
  }

  Scope *parent;
  /// A null value stands for an initializer that no node has used yet.
  llvm::StringMap<mlir::Value> values;
  llvm::StringMap<graph::TensorValue> initializers;
  /// In a function's body: inputs that the call leaves out.
  llvm::StringSet<> absent;
  /// The opset of each domain.
  std::map<std::string, int64_t> opsets;
  /// In a function's body: the attributes of the call.
  llvm::StringMap<const onnx::AttributeProto *> attributes;
  /// Put before the names of nodes: the calls around a function's body.
  std::string prefix;
};

class GraphImporter {
public:
  GraphImporter(ModelFile &file, mlir::MLIRContext *context, WeightStore &weights, const OnnxImportOptions &options,
                const HandlerTable &handlers, mlir::Location root);

  /// The whole model; null after an error.
  mlir::OwningOpRef<mlir::ModuleOp> importModel();

  /// The nodes of a subgraph at the builder's position, with its inputs bound; gives its outputs.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> importSubgraph(const onnx::GraphProto &graph, Scope &around,
                                                                 llvm::ArrayRef<mlir::Value> inputs);
  /// What one operator makes of values, without a node of the model.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> importOperator(const onnx::NodeProto &proto,
                                                                 llvm::ArrayRef<mlir::Value> inputs, Scope &scope);
  const onnx::ModelProto &model() const { return file.model(); }
  mlir::FailureOr<graph::TensorValue> tensorOf(const onnx::TensorProto &tensor, const std::string &subject,
                                               mlir::Location location) {
    return file.valueOf(tensor, subject, location);
  }
  mlir::FailureOr<graph::TensorValue> tensorOf(const onnx::SparseTensorProto &tensor, const std::string &subject,
                                               mlir::Location location) {
    return file.valueOf(tensor, subject, location);
  }
  /// A known tensor as a value: a constant where it is small, else a parameter called `name`.
  mlir::Value materialize(llvm::StringRef name, const graph::TensorValue &value);
  mlir::OpBuilder &opBuilder() { return builder; }
  ValueFacts &valueFacts() { return facts; }

private:
  using NodeList = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
  using OpsetList = google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>;

  struct Unsupported;
  /// Finds every operator that has no importer before anything is built, and reports all of them in one error.
  mlir::LogicalResult checkSupport(const Scope &scope);
  mlir::LogicalResult checkOpsets(const OpsetList &imports, Scope &scope);
  void collectUnsupported(const NodeList &nodes, const std::map<std::string, int64_t> &opsets, Unsupported &found);
  mlir::LogicalResult importInputs(const onnx::GraphProto &graph, Scope &scope);
  mlir::LogicalResult fixInputs(const onnx::GraphProto &graph, Scope &scope);
  mlir::LogicalResult addInitializers(const onnx::GraphProto &graph, Scope &scope);
  mlir::LogicalResult importNodes(const NodeList &nodes, Scope &scope);
  mlir::LogicalResult importNode(const onnx::NodeProto &proto, Scope &scope);
  /// By the handler of the node's operator, whose inputs are set.
  mlir::LogicalResult importByHandler(Node &node, llvm::StringRef domain);
  mlir::LogicalResult importCall(const onnx::FunctionProto &function, Node &node);
  /// The value of a name; null where no graph around has it.
  mlir::Value lookUp(llvm::StringRef name, Scope &scope);
  bool isDefined(llvm::StringRef name, const Scope &scope) const;
  /// The function of the model that a node calls, or null.
  const onnx::FunctionProto *findFunction(const onnx::NodeProto &node) const;
  /// Turns the inputs and outputs that `states` names into states.
  mlir::LogicalResult makeStates(llvm::ArrayRef<std::pair<std::string, mlir::Value>> results);
  mlir::FailureOr<mlir::RankedTensorType> inputType(const std::string &name, const onnx::TypeProto_Tensor &type);
  mlir::FailureOr<mlir::Value> importInput(const std::string &name, const onnx::TypeProto &type);
  mlir::FailureOr<mlir::Value> importTensorInput(const std::string &name, const onnx::TypeProto_Tensor &type);
  mlir::LogicalResult finish(const onnx::GraphProto &graph, Scope &scope);
  mlir::LogicalResult readOptions();
  mlir::InFlightDiagnostic error() { return mlir::emitError(root); }

  ModelFile &file;
  mlir::MLIRContext *context;
  WeightStore &weights;
  const OnnxImportOptions &options;
  const HandlerTable &handlers;
  mlir::Location root;
  mlir::OpBuilder builder;
  ValueFacts facts;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp main;
  llvm::SmallVector<std::pair<std::string, mlir::Value>> inputs;     // model inputs in order
  llvm::SmallVector<std::pair<std::string, mlir::Value>> parameters; // in order of first use
  llvm::StringMap<llvm::SmallVector<std::string>> givenShapes;       // by input
  llvm::StringMap<int64_t> givenLengths;                             // of sequences, by input
  llvm::StringSet<> absentInputs;                                    // optional ones
  llvm::StringMap<std::string> renamed;                              // symbols that the user gave another name
  llvm::StringMap<int64_t> fixedSizes;                               // symbols that the user gave a size
  /// Values of the model's own graph, in order, for `keepAllValues`.
  llvm::SmallVector<std::pair<std::string, mlir::Value>> topLevelValues;
  llvm::StringMap<unsigned> nodeCounts; // by op type, to name nodes that have none
  unsigned depth = 0;
};

} // namespace weft::importer

#endif
