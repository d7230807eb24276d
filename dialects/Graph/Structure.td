//===- Structure.td - Ops that group others: composites, fusions, library calls ------*- tablegen -*-===//

include "dialects/Graph/GraphBase.td"

def Graph_DimOp : Op<Graph_Dialect, "dim", []> {
  let summary = "Declares a symbolic dimension and its bounds";
  let description = [{
    Stands in the module, before the functions that use the name.

    ```mlir
    weft.dim "batch" in [1, 1024]
    ```

    Rules: dim_c1: 0 <= min <= max. dim_c2: a name is declared once.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$min, I64Attr:$max);
  let assemblyFormat = "$name `in` ` ` `[` $min `,` $max `]` attr-dict";
  let hasVerifier = 1;
}

def Graph_RequireOp : Op<Graph_Dialect, "require", []> {
  let summary = "Two sizes are equal: a condition on the symbols, checked when the program is run";
  let description = [{
    Stands in the module. The symbols are those of the inputs' shapes, so that the check comes before anything is computed. The text says
    in the error what needs it.

    ```mlir
    weft.require <[(h + 15) floordiv 16, (h + 31) floordiv 32 * 2]> "node 'add'"
    ```

    Rules: require_c1: two sizes.
  }];
  let arguments = (ins Graph_EncodingAttr:$sizes, StrAttr:$reason);
  let assemblyFormat = "$sizes $reason attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::weft::graph::Dim getLeft();
    ::weft::graph::Dim getRight();
  }];
}

def Graph_BindDimOp : Graph_Op<"bind_dim", [Graph_Role, Graph_CostInterface]> {
  let summary = "Gives a symbolic dimension its value when run";
  let description = [{
    For sizes that depend on data: `count` becomes the value of the symbol from here on. Every op that has the symbol in a type stands
    after this one, in its block or in a region below it. A count outside the symbol's bounds is an error when run.

    ```mlir
    weft.dim "found" in [0, 100]
    ...
    weft.bind_dim "found" = %count : tensor<i64>
    %first = weft.dynamic_slice %all at (%zero) : (tensor<100xf32>, tensor<i64>) -> tensor<?xf32, #weft.encoding<[found]>>
    ```

    Rules: bind_dim_c1: count is a scalar of 32 or 64 bits. bind_dim_c2: the symbol is declared. bind_dim_c3: no function argument has the symbol
    in its type.
  }];
  let arguments = (ins StrAttr:$symbol, Graph_IntegerTensor:$count);
  let assemblyFormat = "$symbol `=` $count attr-dict `:` type($count)";
  let hasVerifier = 1;
}

class Graph_RegionOp<string mnemonic, list<Trait> traits = []> : Graph_Op<mnemonic, !listconcat(traits, [
    Pure, IsolatedFromAbove, SingleBlock, Graph_Role, Graph_Cost])> {
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
}

def Graph_CompositeOp : Graph_RegionOp<"composite"> {
  let summary = "A named group of ops whose name later stages may use";
  let description = [{
    The region is the meaning; the name and attributes (softmax, layer_norm, batch_norm_inference, gelu, ...) say what it is for those that
    know. Nothing depends on the name.

    Rules: region_c1: the region's arguments have the operands' types. region_c2: it yields the result types.
  }];
  let arguments = (ins StrAttr:$name, Variadic<Graph_Tensor>:$inputs, DictionaryAttr:$config);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let assemblyFormat = "$name $config `(` $inputs `)` attr-dict `:` functional-type($inputs, $results) $body";
}

def Graph_FusionOp : Graph_RegionOp<"fusion"> {
  let summary = "Ops that become one kernel";
  let description = [{
    Isolated from above, no collective inside. `kind` is the kind of kernel.

    Rules: region_c1, region_c2.
  }];
  let arguments = (ins Graph_FusionKindAttr:$kind, Variadic<Graph_Tensor>:$inputs);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let assemblyFormat = "`` $kind `(` $inputs `)` attr-dict `:` functional-type($inputs, $results) $body";
}

def Graph_LibraryCallOp : Graph_RegionOp<"library_call"> {
  let summary = "A matrix multiplication or convolution with its epilogue, for a library";
  let description = [{
    The region holds one `dot_general` or `convolution` (the hero) and the elementwise ops of the epilogue. A library that can do all of
    it is called; the alternative, always emitted, is a kernel of our own made from the region.

    Rules: region_c1, region_c2. library_call_c1: callee is `matmul` or `convolution`, and the region holds exactly one op of that kind.
  }];
  let arguments = (ins StrAttr:$callee, Variadic<Graph_Tensor>:$inputs);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let assemblyFormat = "$callee `(` $inputs `)` attr-dict `:` functional-type($inputs, $results) $body";
}
