//===- Contraction.td - Sums of products: matrix multiplication and convolution ------*- tablegen -*-===//

include "dialects/Graph/GraphBase.td"

class Graph_ContractionOp<string mnemonic, list<Trait> traits = []> :
    Graph_Op<mnemonic, !listconcat(traits, [Pure, Graph_RoleAndReads, Graph_Cost])>;

def Graph_DotGeneralOp : Graph_ContractionOp<"dot_general"> {
  let summary = "Batched contraction of two tensors";
  let description = [{
    The result's dimensions are the batching dimensions, then the other dimensions of lhs, then those of rhs; each element is the sum over
    the contracting dimensions of products. f16 and bf16 accumulate in f32; the result may have a wider element type than the operands, and
    accumulation is then in that type. The order of the sum is not fixed, a tolerance holds.

    Rules: dot_c1: as many batching dimensions on both sides, as many contracting. dot_c2: all of one side distinct and in range. dot_c3:
    paired dimensions have one size. dot_c4: operands have one element type, the result's is of its kind (float,
    integer, truth value) and signedness and at least as wide. dot_c5: the result's shape follows.
  }];
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs, DenseI64ArrayAttr:$lhs_contracting_dimensions, DenseI64ArrayAttr:$rhs_contracting_dimensions,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$lhs_batching_dimensions,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$rhs_batching_dimensions);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs (`batch` `=` $lhs_batching_dimensions^ `x` $rhs_batching_dimensions)? `contract` `=` $lhs_contracting_dimensions `x` $rhs_contracting_dimensions attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Graph_ConvolutionOp : Graph_ContractionOp<"convolution"> {
  let summary = "Convolution with dimension numbers, strides, padding, dilations and groups";
  let description = [{
    As in StableHLO, without batch groups and window reversal: lhs is the input, rhs the kernel, and the kernel is not flipped. f16 and bf16
    accumulate in f32.

    Rules: conv_c1: the dimension numbers are permutations of the dimensions of input, kernel and output, all of one rank. conv_c2: one entry a spatial dimension in
    strides, padding and dilations. conv_c3: strides and dilations >= 1. conv_c4: input features = kernel input features * feature_group_count,
    output features divisible by it. conv_c5: as dot_c4. conv_c6: the result's shape follows.
  }];
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs, Graph_ConvolutionDimensionsAttr:$dimension_numbers,
                       DenseI64ArrayAttr:$window_strides, DenseI64ArrayAttr:$padding_low, DenseI64ArrayAttr:$padding_high,
                       DenseI64ArrayAttr:$lhs_dilation, DenseI64ArrayAttr:$rhs_dilation, I64Attr:$feature_group_count);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs `dims` `=` $dimension_numbers attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
