//===- Reduction.td - Ops that combine many elements into one ------------------------*- tablegen -*-===//

include "dialects/Graph/GraphBase.td"

class Graph_ReductionOp<string mnemonic, list<Trait> traits = []> :
    Graph_InferredOp<mnemonic, !listconcat(traits, [Graph_RoleAndReads, Graph_Cost])>;

def Graph_ReduceOp : Graph_ReductionOp<"reduce"> {
  let summary = "Combines the elements along dimensions";
  let description = [{
    The result has the operand's other dimensions. Over no elements: sum 0, product 1, max the lowest value (-infinity for floats),
    min the highest, all true, any false. f16 and bf16 (and f8) accumulate in f32; integers wrap around. `max` and `min` give NaN if
    any element is NaN. The order of combination is that of the numerics contract.

    Rules: reduce_c1: dimensions are sorted, distinct dimensions of the operand. reduce_c2: `all` and `any` take truth values,
    the other kinds numbers.
  }];
  let arguments = (ins Graph_ReductionKindAttr:$kind, Graph_Tensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "`` $kind `,` $operand `dims` `=` $dimensions attr-dict `:` functional-type(operands, results)";
}

def Graph_ArgReduceOp : Graph_ReductionOp<"arg_reduce"> {
  let summary = "The index of the largest or smallest element along a dimension";
  let description = [{
    `kind` is `max` or `min`. Of equal elements the first is taken, or the last with `select_last_index`. A NaN counts as the
    extreme value. The result has the operand's other dimensions and the element type `index_type`.

    Rules: arg_reduce_c1: kind is max or min. arg_reduce_c2: 0 <= dimension < rank. arg_reduce_c3: index_type is an integer type.
    arg_reduce_c4: the dimension is not empty.
  }];
  let arguments = (ins Graph_ReductionKindAttr:$kind, Graph_Tensor:$operand, I64Attr:$dimension,
                       BoolAttr:$select_last_index, TypeAttr:$index_type);
  let results = (outs Graph_IntegerTensor:$result);
  let assemblyFormat = "`` $kind `,` $operand `dim` `=` $dimension `last` `=` $select_last_index `index` `=` $index_type attr-dict `:` functional-type(operands, results)";
}

def Graph_ReduceWindowOp : Graph_ReductionOp<"reduce_window"> {
  let summary = "Combines the elements under a sliding window: pooling";
  let description = [{
    As StableHLO's reduce_window with the kind's identity as the initial value; padding holds the identity. Elements combine in row-major
    order of the window.

    Rules: reduce_window_c1: window_dimensions, window_strides, base_dilations, window_dilations, padding_low and padding_high have one
    entry a dimension. reduce_window_c2: sizes, strides and dilations >= 1. reduce_window_c3: as reduce_c2.
    reduce_window_c4: only paddings >= 0 on a symbolic dimension.
  }];
  let arguments = (ins Graph_ReductionKindAttr:$kind, Graph_Tensor:$operand, DenseI64ArrayAttr:$window_dimensions,
                       DenseI64ArrayAttr:$window_strides, DenseI64ArrayAttr:$base_dilations,
                       DenseI64ArrayAttr:$window_dilations, DenseI64ArrayAttr:$padding_low,
                       DenseI64ArrayAttr:$padding_high);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "`` $kind `,` $operand attr-dict `:` functional-type(operands, results)";
}

def Graph_CumulativeOp : Graph_ReductionOp<"cumulative"> {
  let summary = "Running combination along a dimension: cumulative sum, product, maximum";
  let description = [{
    Element i combines the elements up to i in order (from the end with `reverse`), without i itself if `exclusive` (the first is then the
    identity). f16 and bf16 accumulate in f32.

    Rules: cumulative_c1: 0 <= dimension < rank. cumulative_c2: as reduce_c2.
  }];
  let arguments = (ins Graph_ReductionKindAttr:$kind, Graph_Tensor:$operand, I64Attr:$dimension, BoolAttr:$exclusive,
                       BoolAttr:$reverse);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "`` $kind `,` $operand `dim` `=` $dimension `exclusive` `=` $exclusive `reverse` `=` $reverse attr-dict `:` functional-type(operands, results)";
}
