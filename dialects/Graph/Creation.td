//===- Creation.td - Ops that make a tensor from nothing ----------------------------*- tablegen -*-===//

include "dialects/Graph/GraphBase.td"

def Graph_ConstantOp : Graph_InferredOp<"constant", [ConstantLike, Graph_FusibilityInterface, Graph_CostInterface]> {
  let summary = "A tensor known at compile time";
  let description = [{
    Holds a small value in the IR; larger ones are parameters in the weight store.

    Rules: constant_c1: the result's type is the value's. constant_c2: the value is a dense one (`dense<...>`).
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Graph_Tensor:$output);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Graph_IotaOp : Graph_Op<"iota", [Pure, Graph_FusibilityInterface, Graph_CostInterface]> {
  let summary = "Each element is its own index along one dimension";
  let description = [{
    `output[i] = i[iota_dimension]`, converted to the element type.

    Rules: iota_c1: 0 <= iota_dimension < rank(output).
  }];
  let arguments = (ins I64Attr:$iota_dimension);
  let results = (outs Graph_NumberTensor:$output);
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($output)";
  let hasVerifier = 1;
}
