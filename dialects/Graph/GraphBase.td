//===- GraphBase.td - The base class of the ops --------------------------------------*- tablegen -*-===//

#ifndef WEFT_DIALECTS_GRAPH_GRAPHBASE_TD
#define WEFT_DIALECTS_GRAPH_GRAPHBASE_TD

include "dialects/Graph/GraphDialect.td"
include "dialects/Graph/GraphInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

/// An op with every interface. `fusion` and `cost` list what the op itself declares of these two.
class Graph_Op<string mnemonic, list<Trait> traits = []> :
    Op<Graph_Dialect, mnemonic, !listconcat(traits, [
      DeclareOpInterfaceMethods<Graph_EvaluationInterface>, DeclareOpInterfaceMethods<Graph_EmissionInterface>,
      Graph_ShardingInterface, Graph_DerivativeInterface])>;

/// A pure op whose result types follow from its operands and attributes.
class Graph_InferredOp<string mnemonic, list<Trait> traits = []> :
    Graph_Op<mnemonic, !listconcat(traits, [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>])>;

/// For ops that do not play the default part (`Elementwise`, one operation an element).
def Graph_Role : DeclareOpInterfaceMethods<Graph_FusibilityInterface, ["getFusionRole"]>;
def Graph_RoleAndReads : DeclareOpInterfaceMethods<Graph_FusibilityInterface, ["getFusionRole", "readsEachElementOnce"]>;
def Graph_Cost : DeclareOpInterfaceMethods<Graph_CostInterface, ["getCost"]>;

#endif
