//===- DataMovement.td - Ops that move elements without computing on them -----------*- tablegen -*-===//

include "dialects/Graph/GraphBase.td"

class Graph_MovementOp<string mnemonic, list<Trait> traits = []> :
    Graph_Op<mnemonic, !listconcat(traits, [Pure, Graph_Role, Graph_Cost])>;
class Graph_InferredMovementOp<string mnemonic, list<Trait> traits = []> :
    Graph_InferredOp<mnemonic, !listconcat(traits, [Graph_Role, Graph_Cost])>;

def Graph_BroadcastInDimOp : Graph_MovementOp<"broadcast_in_dim"> {
  let summary = "Repeats a tensor along new dimensions and dimensions of size 1";
  let description = [{
    Dimension `d` of the operand becomes dimension `broadcast_dimensions[d]` of the result; an operand dimension of
    size 1 is repeated.

    Rules: broadcast_in_dim_c1: same element type. broadcast_in_dim_c2: one entry an operand dimension.
    broadcast_in_dim_c3: entries are distinct result dimensions. broadcast_in_dim_c4: an operand dimension is 1 or as large
    as its result dimension.
  }];
  let arguments = (ins Graph_Tensor:$operand, DenseI64ArrayAttr:$broadcast_dimensions);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$operand `dims` `=` $broadcast_dimensions attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Graph_ReshapeOp : Graph_MovementOp<"reshape"> {
  let summary = "The same elements in row-major order under another shape";
  let description = [{
    Rules: reshape_c1: same element type. reshape_c2: same number of elements, for every value of the symbols.
  }];
  let arguments = (ins Graph_Tensor:$operand);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_AssumeShapeOp : Graph_MovementOp<"assume_shape"> {
  let summary = "The same tensor, whose sizes are written in another way";
  let description = [{
    Each dimension of the result is as large as the operand's, though that follows only for some values of the symbols: a `weft.require` of the
    module says so, and is checked before anything is run.

    ```mlir
    weft.require <[(h + 15) floordiv 16, (h + 31) floordiv 32 * 2]> "node 'add'"
    ...
    %r = weft.assume_shape %x : (tensor<?xf32, #weft.encoding<[(h + 15) floordiv 16]>>)
        -> tensor<?xf32, #weft.encoding<[(h + 31) floordiv 32 * 2]>>
    ```

    Rules: assume_shape_c1: same element type. assume_shape_c2: same rank. assume_shape_c3: no two sizes are different integers.
  }];
  let arguments = (ins Graph_Tensor:$operand);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_TransposeOp : Graph_InferredMovementOp<"transpose"> {
  let summary = "Permutes the dimensions";
  let description = [{
    Dimension `d` of the result is dimension `permutation[d]` of the operand.

    Rules: transpose_c1: permutation is a permutation of the operand's dimensions.
  }];
  let arguments = (ins Graph_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$operand `perm` `=` $permutation attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Graph_SliceOp : Graph_InferredMovementOp<"slice"> {
  let summary = "A strided box of a tensor, at fixed positions";
  let description = [{
    `result[i] = operand[start_indices + i * strides]` for indices below `limit_indices`. On a dimension with a symbolic
    size, a start or limit below zero counts from the end, and the limit `end` (the most negative integer) is the end.

    Rules: slice_c1: one start, limit and stride a dimension. slice_c2: 0 <= start <= limit <= size on a static
    dimension. slice_c3: stride >= 1.
  }];
  let arguments = (ins Graph_Tensor:$operand, DenseI64ArrayAttr:$start_indices, DenseI64ArrayAttr:$limit_indices,
                       DenseI64ArrayAttr:$strides);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$operand custom<SliceRanges>($start_indices, $limit_indices, $strides) attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// The limit that means the end of a dimension with a symbolic size.
    static constexpr int64_t kEnd = std::numeric_limits<int64_t>::min();
  }];
}

def Graph_PadOp : Graph_InferredMovementOp<"pad"> {
  let summary = "Adds elements around and between those of a tensor";
  let description = [{
    `edge_padding_low` and `edge_padding_high` elements before and after each dimension (negative ones remove), `interior_padding`
    between neighbours, all equal to the scalar `padding_value`.

    Rules: pad_c1: the padding value is a scalar of the operand's element type. pad_c2: one low, high and interior padding
    a dimension. pad_c3: interior >= 0. pad_c4: no size below zero.
  }];
  let arguments = (ins Graph_Tensor:$operand, Graph_Tensor:$padding_value, DenseI64ArrayAttr:$edge_padding_low,
                       DenseI64ArrayAttr:$edge_padding_high, DenseI64ArrayAttr:$interior_padding);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$operand `,` $padding_value `low` `=` $edge_padding_low `high` `=` $edge_padding_high `interior` `=` $interior_padding attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Graph_ConcatenateOp : Graph_InferredMovementOp<"concatenate"> {
  let summary = "Puts tensors one after another along a dimension";
  let description = [{
    Rules: concatenate_c1: at least one operand. concatenate_c2: 0 <= dimension < rank. concatenate_c3: the operands have
    one element type and rank, and the same size in every other dimension.
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, I64Attr:$dimension);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$inputs `dim` `=` $dimension attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Graph_ReverseOp : Graph_InferredMovementOp<"reverse"> {
  let summary = "Reverses the order of the elements along dimensions";
  let description = [{
    Rules: reverse_c1: dimensions are distinct dimensions of the operand.
  }];
  let arguments = (ins Graph_Tensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$operand `dims` `=` $dimensions attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Graph_DynamicSliceOp : Graph_MovementOp<"dynamic_slice"> {
  let summary = "A box of a tensor at a position computed when run";
  let description = [{
    The box has the result's shape; each start index is clamped so that the box lies inside the operand.

    Rules: dynamic_slice_c1: one scalar integer start index a dimension, all of one type. dynamic_slice_c2: same rank and
    element type. dynamic_slice_c3: a static result dimension is at most its operand dimension.
  }];
  let arguments = (ins Graph_Tensor:$operand, Variadic<Graph_IntegerTensor>:$start_indices);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$operand `at` `(` $start_indices `)` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Graph_DynamicUpdateSliceOp : Graph_InferredMovementOp<"dynamic_update_slice"> {
  let summary = "Replaces a box of a tensor at a position computed when run";
  let description = [{
    The start indices are clamped so that the update lies inside the operand.

    Rules: dynamic_update_slice_c1: one scalar integer start index a dimension, all of one type. dynamic_update_slice_c2: operand
    and update have one rank and element type. dynamic_update_slice_c3: a static update dimension is at most its operand dimension.
  }];
  let arguments = (ins Graph_Tensor:$operand, Graph_Tensor:$update, Variadic<Graph_IntegerTensor>:$start_indices);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$operand `,` $update `at` `(` $start_indices `)` attr-dict `:` functional-type(operands, results)";
}

def Graph_GatherOp : Graph_MovementOp<"gather"> {
  let summary = "Takes slices of a tensor at positions given by a tensor of indices";
  let description = [{
    As in StableHLO. `start_indices` holds along `index_vector_dim` one start position for the dimensions in
    `start_index_map`; its other dimensions are the batch dimensions of the result, which stand where `offset_dims` does not.
    Slices have `slice_sizes`, without the dimensions in `collapsed_slice_dims` and `operand_batching_dims`. Start
    positions are clamped so that every slice lies inside the operand.

    Rules: gather_c1: slice_sizes has one entry an operand dimension, 0 <= entry <= size. gather_c2: collapsed and batching
    dimensions have slice size at most 1, are sorted, distinct and disjoint. gather_c3: start_index_map has one distinct operand dimension an index
    component. gather_c4: offset_dims are sorted, distinct result dimensions, one for each kept slice dimension.
    gather_c5: 0 <= index_vector_dim <= rank(start_indices). gather_c6: paired batching dimensions have one size, and none is
    index_vector_dim. gather_c7: the result's shape follows.
  }];
  let arguments = (ins Graph_Tensor:$operand, Graph_IntegerTensor:$start_indices, DenseI64ArrayAttr:$offset_dims,
                       DenseI64ArrayAttr:$collapsed_slice_dims, DenseI64ArrayAttr:$operand_batching_dims,
                       DenseI64ArrayAttr:$start_indices_batching_dims, DenseI64ArrayAttr:$start_index_map,
                       I64Attr:$index_vector_dim, DenseI64ArrayAttr:$slice_sizes);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$operand `,` $start_indices attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Graph_ScatterOp : Graph_InferredMovementOp<"scatter"> {
  let summary = "Combines updates into a tensor at positions given by a tensor of indices";
  let description = [{
    As in StableHLO, for one tensor, the combination being `kind`. Updates whose window does not lie wholly inside the operand
    are dropped. Updates of one place are applied in row-major order of the update indices.

    Rules: scatter_c1: operand and updates have one element type. scatter_c2: update_window_dims are sorted, distinct update
    dimensions. scatter_c3: inserted and batching dimensions are sorted, distinct and disjoint operand dimensions. scatter_c4:
    scatter_dims_to_operand_dims has one distinct operand dimension an index component. scatter_c5: 0 <= index_vector_dim <=
    rank(scatter_indices). scatter_c6: rank(operand) = window + inserted + batching dimensions, rank(updates) = window dimensions + those of
    the indices without index_vector_dim. scatter_c7: those have the sizes of the indices. scatter_c8: paired batching dimensions have one
    size, and none is index_vector_dim.
  }];
  let arguments = (ins Graph_Tensor:$operand, Graph_IntegerTensor:$scatter_indices, Graph_Tensor:$updates,
                       Graph_ScatterKindAttr:$kind, DenseI64ArrayAttr:$update_window_dims,
                       DenseI64ArrayAttr:$inserted_window_dims, DenseI64ArrayAttr:$operand_batching_dims,
                       DenseI64ArrayAttr:$scatter_indices_batching_dims,
                       DenseI64ArrayAttr:$scatter_dims_to_operand_dims, I64Attr:$index_vector_dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "`` $kind `,` $operand `,` $scatter_indices `,` $updates attr-dict `:` functional-type(operands, results)";
}
