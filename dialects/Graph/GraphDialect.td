//===- GraphDialect.td - The Graph dialect, its attributes and op base classes ------*- tablegen -*-===//

#ifndef WEFT_DIALECTS_GRAPH_GRAPHDIALECT_TD
#define WEFT_DIALECTS_GRAPH_GRAPHDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Graph_Dialect : Dialect {
  let name = "weft";
  let cppNamespace = "::weft::graph";
  let summary = "A model as a graph of operations on ranked tensors, with value semantics.";
  let description = [{
    Every model that Weft reads becomes this dialect, and every stage until Schedule works on it. Where the
    StableHLO specification has an operation, its name and meaning are taken over. An operation carries what all
    stages need to know of it as interfaces: result types, cost, fusibility, reference evaluation and scalar
    emission, so that no stage keeps a table of operations.

    Integers carry their signedness in the type: `i8` is signed, `ui8` unsigned; `i1` is a truth value.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerCreationOps();
    void registerElementwiseOps();
    void registerDataMovementOps();
    void registerReductionOps();
    void registerContractionOps();
    void registerOrderingOps();
    void registerControlFlowOps();
    void registerStructureOps();

    /// Attributes of function arguments and results.
    static constexpr llvm::StringLiteral kInputName = "weft.input";   // name of a model input, a StringAttr
    static constexpr llvm::StringLiteral kParamName = "weft.param";   // name in the weight store, a StringAttr
    static constexpr llvm::StringLiteral kStateName = "weft.state";   // name of a state tensor, a StringAttr
    static constexpr llvm::StringLiteral kOutputName = "weft.output"; // name of a model output (on results)
    /// On an argument of @main: an IntegerAttr, the result number of @prepare that this argument takes.
    static constexpr llvm::StringLiteral kPreparedIndex = "weft.prepared";
    static constexpr llvm::StringLiteral kMainName = "main";
    static constexpr llvm::StringLiteral kPrepareName = "prepare";
  }];
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Graph_Attr<string name, string mnemonicText, list<Trait> traits = []> : AttrDef<Graph_Dialect, name, traits> {
  let mnemonic = mnemonicText;
}

def Graph_EncodingAttr : Graph_Attr<"Encoding", "encoding", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "The sizes of a tensor's dimensions as expressions of named symbols.";
  let description = [{
    The encoding of a tensor type with at least one dimension that is not an integer. One expression a dimension:
    an integer, a named symbol, or sums, products, `floordiv`, `ceildiv` and `mod` of these. The symbols' bounds
    are declared in the module by `weft.dim`.

    ```mlir
    tensor<?x64xf32, #weft.encoding<[batch, 64]>>
    tensor<?x?xf32, #weft.encoding<[batch * 2, time floordiv 4 + 1]>>
    ```

    Rules: encoding_c1: one expression a dimension of the type. encoding_c2: an expression is an integer exactly
    where the type's dimension is static, and equal to it.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$symbols, "::mlir::AffineMap":$map);
  let hasCustomAssemblyFormat = 1;
}

class Graph_I32Enum<string name, string summary, list<I32EnumCase> cases> : I32Enum<name, summary, cases> {
  let cppNamespace = "::weft::graph";
}
class Graph_EnumAttr<EnumInfo info, string mnemonic> : EnumAttr<Graph_Dialect, info, mnemonic> {
  let assemblyFormat = "$value";
}

def Graph_ComparisonDirection : Graph_I32Enum<"ComparisonDirection", "What compare tests", [
  I32EnumCase<"EQ", 0>, I32EnumCase<"NE", 1>, I32EnumCase<"LT", 2>, I32EnumCase<"LE", 3>, I32EnumCase<"GT", 4>,
  I32EnumCase<"GE", 5>]>;
def Graph_ComparisonDirectionAttr : Graph_EnumAttr<Graph_ComparisonDirection, "comparison">;

def Graph_ReductionKind : Graph_I32Enum<"ReductionKind", "The monoid of a reduction", [
  I32EnumCase<"sum", 0>, I32EnumCase<"product", 1>, I32EnumCase<"max", 2>, I32EnumCase<"min", 3>,
  I32EnumCase<"all", 4>, I32EnumCase<"any", 5>]>;
def Graph_ReductionKindAttr : Graph_EnumAttr<Graph_ReductionKind, "reduction">;

def Graph_ScatterKind : Graph_I32Enum<"ScatterKind", "How scatter combines an update with what is there", [
  I32EnumCase<"set", 0>, I32EnumCase<"sum", 1>, I32EnumCase<"product", 2>, I32EnumCase<"max", 3>,
  I32EnumCase<"min", 4>]>;
def Graph_ScatterKindAttr : Graph_EnumAttr<Graph_ScatterKind, "scatter_kind">;

def Graph_FusionKind : Graph_I32Enum<"FusionKind", "The kind of kernel that a fusion becomes", [
  I32EnumCase<"loop", 0>, I32EnumCase<"row_reduction", 1>, I32EnumCase<"row_multipass", 2>,
  I32EnumCase<"transpose", 3>, I32EnumCase<"generic", 4>]>;
def Graph_FusionKindAttr : Graph_EnumAttr<Graph_FusionKind, "fusion_kind">;

def Graph_ConvolutionDimensionsAttr : Graph_Attr<"ConvolutionDimensions", "convolution_dimensions"> {
  let summary = "Which dimension of the input, the kernel and the output of a convolution means what.";
  let description = [{
    `b` is the batch, `f` the feature dimension, `i` and `o` the kernel's input and output features, `0`, `1`, ...
    the spatial dimensions: `[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]`.
  }];
  let parameters = (ins
    "int64_t":$inputBatchDimension, "int64_t":$inputFeatureDimension,
    ArrayRefParameter<"int64_t">:$inputSpatialDimensions,
    "int64_t":$kernelInputFeatureDimension, "int64_t":$kernelOutputFeatureDimension,
    ArrayRefParameter<"int64_t">:$kernelSpatialDimensions,
    "int64_t":$outputBatchDimension, "int64_t":$outputFeatureDimension,
    ArrayRefParameter<"int64_t">:$outputSpatialDimensions);
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Graph_FloatElement : Type<CPred<"::weft::graph::isFloatElement($_self)">, "floating-point element type">;
def Graph_IntegerElement : Type<CPred<"::weft::graph::isIntegerElement($_self)">, "integer element type">;
def Graph_BoolElement : Type<CPred<"::weft::graph::isBoolElement($_self)">, "truth value element type">;
def Graph_Element : AnyTypeOf<[Graph_FloatElement, Graph_IntegerElement, Graph_BoolElement]>;
def Graph_NumberElement : AnyTypeOf<[Graph_FloatElement, Graph_IntegerElement]>;
def Graph_IntegerOrBoolElement : AnyTypeOf<[Graph_IntegerElement, Graph_BoolElement]>;

/// A symbolic size without a name would be equal to every other one.
class Graph_TensorOf<Type element> : ConfinedType<RankedTensorOf<[element]>, [CPred<"::weft::graph::hasNamedSizes($_self)">],
    "ranked tensor of " # element.summary # ", its symbolic sizes named by an encoding">;
def Graph_Tensor : Graph_TensorOf<Graph_Element>;
def Graph_FloatTensor : Graph_TensorOf<Graph_FloatElement>;
def Graph_IntegerTensor : Graph_TensorOf<Graph_IntegerElement>;
def Graph_BoolTensor : Graph_TensorOf<Graph_BoolElement>;
def Graph_NumberTensor : Graph_TensorOf<Graph_NumberElement>;
def Graph_IntegerOrBoolTensor : Graph_TensorOf<Graph_IntegerOrBoolElement>;

#endif
