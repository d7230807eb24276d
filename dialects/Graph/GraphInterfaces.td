//===- GraphInterfaces.td - What every stage may ask of an op -----------------------*- tablegen -*-===//

#ifndef WEFT_DIALECTS_GRAPH_GRAPHINTERFACES_TD
#define WEFT_DIALECTS_GRAPH_GRAPHINTERFACES_TD

include "mlir/IR/OpBase.td"

def Graph_CostInterface : OpInterface<"CostInterface"> {
  let cppNamespace = "::weft::graph";
  let description = [{What one execution of the op costs, at the upper bounds of its symbolic dimensions.}];
  let methods = [
    InterfaceMethod<[{
      Floating-point (or integer) operations and the bytes of operands and results. The default counts one
      operation an element of the first result.
    }], "::weft::graph::Cost", "getCost", (ins), "", [{ return ::weft::graph::defaultCost($_op); }]>
  ];
}

def Graph_FusibilityInterface : OpInterface<"FusibilityInterface"> {
  let cppNamespace = "::weft::graph";
  let description = [{How the op may take part in a fusion.}];
  let methods = [
    InterfaceMethod<[{The part that the op plays in a fusion.}],
      "::weft::graph::FusionRole", "getFusionRole", (ins), "", [{ return ::weft::graph::FusionRole::Elementwise; }]>,
    InterfaceMethod<[{
      Whether each element of the operand is read for one element of the result only, so that computing it there instead of
      storing it repeats no work. (A broadcast reads an element for many results.)
    }], "bool", "readsEachElementOnce", (ins "unsigned":$operand), "", [{ return true; }]>
  ];
}

def Graph_EvaluationInterface : OpInterface<"EvaluationInterface"> {
  let cppNamespace = "::weft::graph";
  let description = [{
    The op's value from its definition, one host tensor an operand: constant folding and the interpreter share it.
  }];
  let methods = [
    InterfaceMethod<[{
      Computes the results. The context gives the concrete shape of each result and evaluates regions. Emits an
      error and fails only where the op has no value (an index out of range where the definition forbids it).
    }], "::llvm::LogicalResult", "evaluate",
      (ins "::llvm::ArrayRef<::weft::graph::TensorValue>":$operands,
           "::llvm::SmallVectorImpl<::weft::graph::TensorValue> &":$results,
           "::weft::graph::EvaluationContext &":$context)>
  ];
}

def Graph_EmissionInterface : OpInterface<"EmissionInterface"> {
  let cppNamespace = "::weft::graph";
  let description = [{
    Scalar emission: how one element of a result is computed from elements of the operands, as arith, math and scf
    operations on scalars. Both code generators build every kernel from this.
  }];
  let methods = [
    InterfaceMethod<[{
      Emits element `indices` (one `index` a dimension) of result `result`. Elements of operands come from
      `elements.get(operand number, indices)`, sizes from `elements.size(value, dimension)`. The returned scalar has
      the storage type of the result's element type (`scalarType`): ui8 is i8, everything else itself.
    }], "::llvm::FailureOr<::mlir::Value>", "emitElement",
      (ins "::weft::graph::ElementSource &":$elements, "unsigned":$result, "::mlir::ValueRange":$indices)>
  ];
}

def Graph_ShardingInterface : OpInterface<"ShardingInterface"> {
  let cppNamespace = "::weft::graph";
  let description = [{
    The door for the sharding stage: how the op may be split over devices. An op without a rule is computed whole on
    every device.
  }];
  let methods = [
    InterfaceMethod<[{The factor rule of the op, or nothing where it cannot be split.}],
      "::std::optional<::weft::graph::ShardingRule>", "getShardingRule", (ins), "", [{ return ::std::nullopt; }]>
  ];
}

def Graph_DerivativeInterface : OpInterface<"DerivativeInterface"> {
  let cppNamespace = "::weft::graph";
  let description = [{
    The door for the differentiation stage: the op's vector-Jacobian product. An op that does not give one is an error
    that names it when a gradient has to pass through it.
  }];
  let methods = [
    InterfaceMethod<[{
      Emits the gradient with respect to each operand (null where there is none) from the gradients of the results.
      Fails where the op has no derivative.
    }], "::llvm::LogicalResult", "emitDerivative",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$resultGradients,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$operandGradients), "", [{ return ::mlir::failure(); }]>
  ];
}

#endif
