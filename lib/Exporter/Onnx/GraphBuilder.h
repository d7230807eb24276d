//===- GraphBuilder.h - Builds the nodes of an ONNX graph ----------------------------------------===//

#ifndef WEFT_LIB_EXPORTER_ONNX_GRAPHBUILDER_H
#define WEFT_LIB_EXPORTER_ONNX_GRAPHBUILDER_H

#include "dialects/Graph/Types.h"
#include "lib/Support/WeightStore.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"
#include <map>
#include <string>

namespace onnx {
class AttributeProto;
class GraphProto;
class NodeProto;
class TensorProto;
class ValueInfoProto;
} // namespace onnx

namespace weft::exporter {

/// The name of a value in an ONNX graph.
using Name = std::string;

/// Attributes of a node.
class Attributes {
public:
  Attributes &set(const std::string &name, int64_t value);
  Attributes &set(const std::string &name, llvm::ArrayRef<int64_t> values);
  Attributes &set(const std::string &name, llvm::StringRef value);
  Attributes &set(const std::string &name, const onnx::GraphProto &graph);
  void addTo(onnx::NodeProto &node) const;

private:
  std::vector<std::shared_ptr<onnx::AttributeProto>> attributes;
};

/// Adds nodes to the graph that is being built; `Scope` switches to a subgraph and back. Names of values are unique
/// over all graphs.
class GraphBuilder {
public:
  GraphBuilder(mlir::MLIRContext *context, onnx::GraphProto &graph, const WeightStore &weights)
      : context(context), graph(&graph), weights(weights) {}

  /// Adds nodes to `inner` as long as it lives.
  class Scope {
  public:
    Scope(GraphBuilder &builder, onnx::GraphProto &inner) : builder(builder), outer(builder.graph) {
      builder.graph = &inner;
    }
    ~Scope() { builder.graph = outer; }

  private:
    GraphBuilder &builder;
    onnx::GraphProto *outer;
  };

  onnx::GraphProto &current() { return *graph; }
  /// The operation that nodes are made for: they are named after it.
  void setOperation(mlir::Operation *op);

  //===--- Nodes ---===//
  Name node(llvm::StringRef opType, llvm::ArrayRef<Name> inputs, const Attributes &attributes = {});
  llvm::SmallVector<Name> nodes(llvm::StringRef opType, llvm::ArrayRef<Name> inputs, unsigned outputs,
                                const Attributes &attributes = {});
  /// The same with outputs that have names already (of an Identity before a graph's output).
  void namedNode(llvm::StringRef opType, llvm::ArrayRef<Name> inputs, llvm::ArrayRef<Name> outputs,
                 const Attributes &attributes = {});
  Name cast(const Name &x, mlir::Type elementType);

  //===--- Constants ---===//
  Name constant(const graph::TensorValue &value);
  Name integers(llvm::ArrayRef<int64_t> values);
  Name integer(int64_t value); // a scalar
  Name scalar(mlir::Type elementType, double value);
  /// An initializer with the bytes of a tensor.
  void initializer(const Name &name, const graph::TensorValue &value);

  //===--- Shapes ---===//
  /// The symbol's value is `size`, an int64 scalar.
  void defineSymbol(llvm::StringRef symbol, const Name &size) { symbols[symbol.str()] = size; }
  bool knowsSymbol(llvm::StringRef symbol) const { return symbols.count(symbol.str()) != 0; }
  /// A size as an int64 scalar.
  Name size(const graph::Dim &dim);
  /// Sizes as an int64 vector.
  Name shape(llvm::ArrayRef<graph::Dim> dims);
  Name reshape(const Name &x, llvm::ArrayRef<graph::Dim> dims);
  Name expand(const Name &x, llvm::ArrayRef<graph::Dim> dims);
  Name transpose(const Name &x, llvm::ArrayRef<int64_t> permutation);
  /// 0, 1, ... along `dimension` of a shape, as int64; the other dimensions are of size 1.
  Name ramp(llvm::ArrayRef<graph::Dim> dims, unsigned dimension);
  Name slice(const Name &x, llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> ends, llvm::ArrayRef<int64_t> axes,
             llvm::ArrayRef<int64_t> steps);

  //===--- Values ---===//
  void bind(mlir::Value value, const Name &name) { names[value] = name; }
  Name nameOf(mlir::Value value) const { return names.lookup(value); }
  Name uniqueName(llvm::StringRef wanted) { return unique(wanted, taken); }
  const WeightStore &weightStore() const { return weights; }
  /// Fills in name, element type and shape of a graph's input or output.
  static void describe(onnx::ValueInfoProto &info, llvm::StringRef name, mlir::Type tensorType);

private:
  Name unique(llvm::StringRef wanted, llvm::StringSet<> &taken);

  mlir::MLIRContext *context;
  onnx::GraphProto *graph;
  const WeightStore &weights;
  llvm::DenseMap<mlir::Value, Name> names;
  std::map<std::string, Name> symbols;
  llvm::StringSet<> taken, takenNodes;
  llvm::StringMap<unsigned> counters;
  std::string nodeName = "weft";
};

/// Whether ONNX can say the operation, and the nodes for it; results are bound. A failure has been reported.
mlir::LogicalResult exportOperation(GraphBuilder &b, mlir::Operation *op);

/// One function a group of families: nothing where the operation is none of them.
std::optional<mlir::LogicalResult> exportElementwise(GraphBuilder &b, mlir::Operation *op);
std::optional<mlir::LogicalResult> exportMovement(GraphBuilder &b, mlir::Operation *op);
std::optional<mlir::LogicalResult> exportIndexing(GraphBuilder &b, mlir::Operation *op);
std::optional<mlir::LogicalResult> exportContraction(GraphBuilder &b, mlir::Operation *op);
std::optional<mlir::LogicalResult> exportRegions(GraphBuilder &b, mlir::Operation *op);

/// All operations of a block but its terminator.
mlir::LogicalResult exportBlock(GraphBuilder &b, mlir::Block &block);

/// Padding with a value, negative pads removing; `dims` are the sizes of `x`.
Name padded(GraphBuilder &b, Name x, llvm::SmallVector<graph::Dim> dims, const Name &value, llvm::ArrayRef<int64_t> low,
            llvm::ArrayRef<int64_t> high, llvm::ArrayRef<int64_t> interior);

/// ONNX has no way to say this.
mlir::LogicalResult cannotExport(mlir::Operation *op, const llvm::Twine &why);

} // namespace weft::exporter

#endif
