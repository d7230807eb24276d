//===- ControlFlow.td - Branches and loops, and how their regions end ----------------*- tablegen -*-===//

include "dialects/Graph/GraphBase.td"

def Graph_YieldOp : Op<Graph_Dialect, "yield", [Pure, Terminator, ReturnLike]> {
  let summary = "Ends a region and gives its values";
  let description = [{The values are the results of the op that holds the region, or what its rules say.}];
  let arguments = (ins Variadic<Graph_Tensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def Graph_IfOp : Graph_Op<"if", [RecursiveMemoryEffects, Graph_Role, Graph_CostInterface,
    SingleBlock, NoRegionArguments]> {
  let summary = "Runs one of two regions";
  let description = [{
    The regions may use values from outside.

    Rules: if_c1: pred is a scalar truth value. if_c2: both regions yield the result types.
  }];
  let arguments = (ins Graph_BoolTensor:$pred);
  let regions = (region SizedRegion<1>:$true_branch, SizedRegion<1>:$false_branch);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let assemblyFormat = "$pred attr-dict `:` functional-type(operands, results) $true_branch `else` $false_branch";
  let hasVerifier = 1;
}

def Graph_WhileOp : Graph_Op<"while", [RecursiveMemoryEffects, Graph_Role, Graph_CostInterface, SingleBlock]> {
  let summary = "Repeats a region while a condition holds";
  let description = [{
    Both regions take the carried values; they may use values from outside too.

    Rules: while_c1: operands, results and region arguments have the same types. while_c2: the condition yields one scalar truth value, the body
    the carried types.
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$operands);
  let regions = (region SizedRegion<1>:$condition, SizedRegion<1>:$body);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let assemblyFormat = "`(` $operands `)` attr-dict `:` functional-type(operands, results) $condition `do` $body";
  let hasVerifier = 1;
}
