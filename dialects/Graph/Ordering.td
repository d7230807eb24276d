//===- Ordering.td - Ops that put elements in order ----------------------------------*- tablegen -*-===//

include "dialects/Graph/GraphBase.td"

def Graph_SortOp : Graph_InferredOp<"sort", [Graph_Role, Graph_Cost]> {
  let summary = "Sorts tensors together along a dimension by the first of them";
  let description = [{
    Stable. The order is total: -NaN and NaN sort as the largest values, -0 and +0 are equal. `descending` reverses the order of unequal keys only.

    Rules: sort_c1: at least one operand, all of one shape. sort_c2: 0 <= dimension < rank.
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, I64Attr:$dimension, BoolAttr:$descending);
  let results = (outs Variadic<Graph_Tensor>:$outputs);
  let assemblyFormat = "$inputs `dim` `=` $dimension `descending` `=` $descending attr-dict `:` functional-type(operands, results)";
}

def Graph_TopKOp : Graph_InferredOp<"top_k", [Graph_Role, Graph_Cost]> {
  let summary = "The k largest or smallest elements along a dimension, in order, and their indices";
  let description = [{
    Of equal elements the one with the lower index comes first; a NaN counts as the largest value.

    Rules: top_k_c1: 0 <= dimension < rank. top_k_c2: 0 <= k <= size of a static dimension. top_k_c3: index_type is an integer type.
  }];
  let arguments = (ins Graph_NumberTensor:$operand, I64Attr:$k, I64Attr:$dimension, BoolAttr:$largest, TypeAttr:$index_type);
  let results = (outs Graph_NumberTensor:$values, Graph_IntegerTensor:$indices);
  let assemblyFormat = "$operand `k` `=` $k `dim` `=` $dimension `largest` `=` $largest `index` `=` $index_type attr-dict `:` functional-type(operands, results)";
}
