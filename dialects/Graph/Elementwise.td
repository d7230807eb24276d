//===- Elementwise.td - Ops that compute each element from the elements at its index ---*- tablegen -*-===//

include "dialects/Graph/GraphBase.td"

/// Rules that all of these share:
///   elementwise_c1: all operands have the same shape. elementwise_c2: and the same element type.
class Graph_ElementwiseOp<string mnemonic, list<Trait> traits = []> :
    Graph_InferredOp<mnemonic, !listconcat(traits, [Graph_FusibilityInterface, Graph_CostInterface])> {
  code inferTypes = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *, ::std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr, ::mlir::OpaqueProperties, ::mlir::RegionRange,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::weft::graph::inferElementwiseType($cppClass::getOperationName(), location, operands, types);
    }
  }];
  let extraClassDefinition = inferTypes;
}

class Graph_UnaryOp<string mnemonic, Type type, string text> : Graph_ElementwiseOp<mnemonic> {
  let summary = text;
  let description = text # ". Rules: elementwise_c1.";
  let arguments = (ins type:$operand);
  let results = (outs type:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameTypes>(type($operand), type($result))";
}

class Graph_BinaryOp<string mnemonic, Type type, string text, list<Trait> traits = []> :
    Graph_ElementwiseOp<mnemonic, traits> {
  let summary = text;
  let description = text # ". Rules: elementwise_c1, elementwise_c2.";
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` custom<SameTypes>(type($lhs), type($rhs), type($result))";
  let hasFolder = 1;
  let extraClassDefinition = inferTypes # [{
    ::mlir::OpFoldResult $cppClass::fold(FoldAdaptor adaptor) {
      return ::weft::graph::foldIdentityElement(getOperation(), adaptor.getRhs());
    }
  }];
}

def Graph_ExponentialOp : Graph_UnaryOp<"exponential", Graph_FloatTensor, "e to the power of x">;
def Graph_ExponentialMinusOneOp : Graph_UnaryOp<"exponential_minus_one", Graph_FloatTensor, "e to the power of x, less one, exact near zero">;
def Graph_LogOp : Graph_UnaryOp<"log", Graph_FloatTensor, "Natural logarithm">;
def Graph_LogPlusOneOp : Graph_UnaryOp<"log_plus_one", Graph_FloatTensor, "Natural logarithm of 1 + x, exact near zero">;
def Graph_SqrtOp : Graph_UnaryOp<"sqrt", Graph_FloatTensor, "Square root">;
def Graph_RsqrtOp : Graph_UnaryOp<"rsqrt", Graph_FloatTensor, "Reciprocal of the square root">;
def Graph_CbrtOp : Graph_UnaryOp<"cbrt", Graph_FloatTensor, "Cube root, with the sign of x">;
def Graph_SineOp : Graph_UnaryOp<"sine", Graph_FloatTensor, "Sine of x radians">;
def Graph_CosineOp : Graph_UnaryOp<"cosine", Graph_FloatTensor, "Cosine of x radians">;
def Graph_TanOp : Graph_UnaryOp<"tan", Graph_FloatTensor, "Tangent of x radians">;
def Graph_AsinOp : Graph_UnaryOp<"asin", Graph_FloatTensor, "Arc sine">;
def Graph_AcosOp : Graph_UnaryOp<"acos", Graph_FloatTensor, "Arc cosine">;
def Graph_AtanOp : Graph_UnaryOp<"atan", Graph_FloatTensor, "Arc tangent">;
def Graph_SinhOp : Graph_UnaryOp<"sinh", Graph_FloatTensor, "Hyperbolic sine">;
def Graph_CoshOp : Graph_UnaryOp<"cosh", Graph_FloatTensor, "Hyperbolic cosine">;
def Graph_TanhOp : Graph_UnaryOp<"tanh", Graph_FloatTensor, "Hyperbolic tangent">;
def Graph_AsinhOp : Graph_UnaryOp<"asinh", Graph_FloatTensor, "Inverse hyperbolic sine">;
def Graph_AcoshOp : Graph_UnaryOp<"acosh", Graph_FloatTensor, "Inverse hyperbolic cosine">;
def Graph_AtanhOp : Graph_UnaryOp<"atanh", Graph_FloatTensor, "Inverse hyperbolic tangent">;
def Graph_LogisticOp : Graph_UnaryOp<"logistic", Graph_FloatTensor, "1 / (1 + exp(-x))">;
def Graph_ErfOp : Graph_UnaryOp<"erf", Graph_FloatTensor, "The error function">;
def Graph_FloorOp : Graph_UnaryOp<"floor", Graph_FloatTensor, "Largest integer not above x">;
def Graph_CeilOp : Graph_UnaryOp<"ceil", Graph_FloatTensor, "Smallest integer not below x">;
def Graph_RoundNearestEvenOp : Graph_UnaryOp<"round_nearest_even", Graph_FloatTensor, "Nearest integer, ties to the even one">;
def Graph_RoundNearestAfzOp : Graph_UnaryOp<"round_nearest_afz", Graph_FloatTensor, "Nearest integer, ties away from zero">;

def Graph_AbsOp : Graph_UnaryOp<"abs", Graph_NumberTensor, "Absolute value; of the most negative integer, itself">;
def Graph_NegateOp : Graph_UnaryOp<"negate", Graph_NumberTensor, "-x; integers wrap around">;
def Graph_SignOp : Graph_UnaryOp<"sign", Graph_NumberTensor, "-1, 0 or 1; keeps a zero's sign and a NaN">;

def Graph_PopcntOp : Graph_UnaryOp<"popcnt", Graph_IntegerTensor, "Number of bits that are one">;
def Graph_CountLeadingZerosOp : Graph_UnaryOp<"count_leading_zeros", Graph_IntegerTensor, "Number of zero bits above the highest one bit">;

def Graph_NotOp : Graph_UnaryOp<"not", Graph_IntegerOrBoolTensor, "Bitwise or logical complement">;

def Graph_AddOp : Graph_BinaryOp<"add", Graph_Tensor, "Sum; integers wrap around; of truth values, `or`", [Commutative]>;
def Graph_SubtractOp : Graph_BinaryOp<"subtract", Graph_NumberTensor, "Difference; integers wrap around">;
def Graph_MultiplyOp : Graph_BinaryOp<"multiply", Graph_Tensor, "Product; integers wrap around; of truth values, `and`", [Commutative]>;
def Graph_DivideOp : Graph_BinaryOp<"divide", Graph_NumberTensor, "Quotient; integers round towards zero, x / 0 is -1 (all bits one), the most negative integer / -1 is itself">;
def Graph_RemainderOp : Graph_BinaryOp<"remainder", Graph_NumberTensor, "Remainder with the dividend's sign; integer x % 0 is x, x % -1 is 0">;
def Graph_PowerOp : Graph_BinaryOp<"power", Graph_NumberTensor, "x to the power of y; integers by repeated multiplication, a negative exponent gives 0 unless |x| is 1">;
def Graph_MaximumOp : Graph_BinaryOp<"maximum", Graph_Tensor, "The larger; NaN if either is NaN; +0 is larger than -0", [Commutative]>;
def Graph_MinimumOp : Graph_BinaryOp<"minimum", Graph_Tensor, "The smaller; NaN if either is NaN; -0 is smaller than +0", [Commutative]>;

def Graph_Atan2Op : Graph_BinaryOp<"atan2", Graph_FloatTensor, "Angle of the point (y, x) = (lhs, rhs) in radians, as C's atan2">;

def Graph_AndOp : Graph_BinaryOp<"and", Graph_IntegerOrBoolTensor, "Bitwise or logical and", [Commutative]>;
def Graph_OrOp : Graph_BinaryOp<"or", Graph_IntegerOrBoolTensor, "Bitwise or logical or", [Commutative]>;
def Graph_XorOp : Graph_BinaryOp<"xor", Graph_IntegerOrBoolTensor, "Bitwise or logical exclusive or", [Commutative]>;

def Graph_ShiftLeftOp : Graph_BinaryOp<"shift_left", Graph_IntegerTensor, "x * 2^y; 0 if y is not in [0, width)">;
def Graph_ShiftRightArithmeticOp : Graph_BinaryOp<"shift_right_arithmetic", Graph_IntegerTensor, "Shift that fills with the sign; all sign bits if y is not in [0, width)">;
def Graph_ShiftRightLogicalOp : Graph_BinaryOp<"shift_right_logical", Graph_IntegerTensor, "Shift that fills with zeros; 0 if y is not in [0, width)">;

def Graph_IsFiniteOp : Graph_ElementwiseOp<"is_finite"> {
  let summary = "Whether x is neither infinite nor NaN";
  let description = summary # ".";
  let arguments = (ins Graph_FloatTensor:$operand);
  let results = (outs Graph_BoolTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
}

def Graph_CompareOp : Graph_ElementwiseOp<"compare"> {
  let summary = "Compares two tensors element by element";
  let description = [{
    IEEE comparison for floats: with a NaN every direction but `NE` is false. Integers compare by their signedness,
    `false` is less than `true`.

    Rules: elementwise_c1, elementwise_c2.
  }];
  let arguments = (ins Graph_ComparisonDirectionAttr:$direction, Graph_Tensor:$lhs, Graph_Tensor:$rhs);
  let results = (outs Graph_BoolTensor:$result);
  let assemblyFormat = "`` $direction `,` $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Graph_SelectOp : Graph_ElementwiseOp<"select"> {
  let summary = "Takes each element from one of two tensors";
  let description = [{
    `result[i] = pred[i] ? on_true[i] : on_false[i]`.

    Rules: elementwise_c1 (the predicate too), elementwise_c2 (on_true and on_false).
  }];
  let arguments = (ins Graph_BoolTensor:$pred, Graph_Tensor:$on_true, Graph_Tensor:$on_false);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Graph_ClampOp : Graph_ElementwiseOp<"clamp"> {
  let summary = "Limits each element to an interval";
  let description = [{
    `result = minimum(maximum(operand, min), max)`, so that `max` wins where the interval is empty.

    Rules: elementwise_c1, elementwise_c2.
  }];
  let arguments = (ins Graph_NumberTensor:$min, Graph_NumberTensor:$operand, Graph_NumberTensor:$max);
  let results = (outs Graph_NumberTensor:$result);
  let assemblyFormat = "$min `,` $operand `,` $max attr-dict `:` custom<SameTypes>(type($min), type($operand), type($max), type($result))";
}

def Graph_ConvertOp : Graph_Op<"convert", [Pure, Graph_FusibilityInterface, Graph_CostInterface]> {
  let summary = "Changes the element type, keeping the value as nearly as the new type can";
  let description = [{
    To a float: rounds to nearest, ties to even. From a float to an integer: truncates; NaN gives 0 and values outside
    the range the nearest limit. Between integers: wraps around. To `i1`: whether the value is not zero. From `i1`:
    0 or 1.

    Rules: convert_c1: operand and result have the same shape.
  }];
  let arguments = (ins Graph_Tensor:$operand);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_BitcastConvertOp : Graph_Op<"bitcast_convert", [Pure, Graph_FusibilityInterface, Graph_CostInterface]> {
  let summary = "Reads the bits of each element as another type of the same width";
  let description = [{
    Rules: bitcast_convert_c1: operand and result have the same shape. bitcast_convert_c2: and elements of the same
    width.
  }];
  let arguments = (ins Graph_Tensor:$operand);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
