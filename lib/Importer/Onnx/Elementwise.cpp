//===- Elementwise.cpp - ONNX operators that compute each element on its own ---------------------===//

#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Node.h"
#include "lib/Support/Onnx/ElementTypes.h"
#include <cmath>

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

template <typename OpTy> LogicalResult importUnary(Node &node) {
  node.ignore("consumed_inputs");
  return node.output(0, node.b.unary<OpTy>(node.input(0)));
}

/// The right operand of opsets before 7, whose dimensions correspond to those of the left one from `axis` on.
Value alignLegacy(Node &node, Value left, Value right) {
  node.ignore("consumed_inputs");
  bool broadcast = node.integer("broadcast", 0) != 0;
  int64_t leftRank = node.b.rank(left), rightRank = node.b.rank(right);
  bool hasAxis = node.hasAttribute("axis");
  int64_t axis = node.integer("axis", leftRank - rightRank);
  if (!broadcast || !hasAxis || rightRank == 0)
    return right;
  if (axis < 0)
    axis += leftRank;
  if (axis < 0 || axis + rightRank > leftRank) {
    node.error() << "attribute 'axis': the right operand of rank " << rightRank << " does not fit at " << axis
                 << " in rank " << leftRank;
    return {};
  }
  SmallVector<Dim> dims = node.b.dims(right);
  dims.resize(leftRank - axis, node.b.size(1));
  return node.b.reshape(right, dims);
}

template <typename OpTy> LogicalResult importBinary(Node &node) {
  Value right = node.opset() < 7 ? alignLegacy(node, node.input(0), node.input(1)) : node.input(1);
  return node.output(0, node.b.binary<OpTy>(node.input(0), right));
}

Handler comparison(ComparisonDirection direction) {
  return [direction](Node &node) {
    Value right = node.opset() < 7 ? alignLegacy(node, node.input(0), node.input(1)) : node.input(1);
    return node.output(0, node.b.compare(direction, node.input(0), right));
  };
}

/// Sum, Max, Min: any number of inputs, one after the other.
template <typename OpTy> LogicalResult importVariadic(Node &node) {
  node.ignore("consumed_inputs");
  Value result = node.input(0);
  for (Value next : node.allInputs().drop_front())
    result = node.b.binary<OpTy>(result, next);
  return node.output(0, result);
}

LogicalResult importMean(Node &node) {
  node.ignore("consumed_inputs");
  Value sum = node.input(0);
  for (Value next : node.allInputs().drop_front())
    sum = node.b.add(sum, next);
  return node.output(0, node.b.divide(sum, static_cast<double>(node.inputCount())));
}

LogicalResult importReciprocal(Node &node) {
  node.ignore("consumed_inputs");
  return node.output(0, node.b.divide(node.b.scalarLike(node.input(0), 1), node.input(0)));
}

/// The base's type is the result's; the exponent may have another.
LogicalResult importPow(Node &node) {
  Builder &b = node.b;
  Value base = node.input(0), exponent = node.input(1);
  if (node.opset() < 7)
    exponent = alignLegacy(node, base, exponent);
  if (!exponent)
    return failure();
  if (b.isFloat(base)) {
    // The square is exact either way, and a product costs a tenth.
    if (b.scalarContents(exponent) == 2.0 && b.rank(exponent) <= b.rank(base))
      return node.output(0, b.multiply(base, base));
    return node.output(0, b.binary<PowerOp>(base, b.convert(exponent, b.element(base))));
  }
  if (!b.isFloat(exponent))
    return node.output(0, b.binary<PowerOp>(base, b.convert(exponent, b.element(base))));
  Value power = b.binary<PowerOp>(b.convert(base, b.f64()), b.convert(exponent, b.f64()));
  return node.output(0, b.convert(power, b.element(base)));
}

/// fmod = 1 is C's fmod, with the dividend's sign; else the result has the divisor's sign, as in Python.
LogicalResult importMod(Node &node) {
  Builder &b = node.b;
  bool fmod = node.integer("fmod", 0) != 0;
  Value remainder = b.binary<RemainderOp>(node.input(0), node.input(1));
  if (fmod || b.isUnsigned(remainder) || !remainder)
    return node.output(0, remainder);
  Value divisor = node.input(1);
  Value signsDiffer = b.binary<XorOp>(b.compare(ComparisonDirection::LT, remainder, 0.0),
                                      b.compare(ComparisonDirection::LT, divisor, 0.0));
  Value isNotZero = b.compare(ComparisonDirection::NE, remainder, 0.0);
  Value adjusted = b.add(remainder, divisor);
  return node.output(0, b.select(b.binary<AndOp>(signsDiffer, isNotZero), adjusted, remainder));
}

LogicalResult importBitShift(Node &node) {
  std::string direction = node.string("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return node.fail("attribute 'direction': expected LEFT or RIGHT, got '" + direction + "'");
  Builder &b = node.b;
  Value x = node.input(0), y = node.input(1);
  if (direction == "LEFT")
    return node.output(0, b.binary<ShiftLeftOp>(x, y));
  return node.output(0, b.isUnsigned(x) ? b.binary<ShiftRightLogicalOp>(x, y) : b.binary<ShiftRightArithmeticOp>(x, y));
}

LogicalResult importWhere(Node &node) {
  return node.output(0, node.b.select(node.input(0), node.input(1), node.input(2)));
}

LogicalResult importIsNaN(Node &node) {
  return node.output(0, node.b.compare(ComparisonDirection::NE, node.input(0), node.input(0)));
}

LogicalResult importIsInf(Node &node) {
  Builder &b = node.b;
  bool positive = node.integer("detect_positive", 1) != 0, negative = node.integer("detect_negative", 1) != 0;
  Value x = node.input(0);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // These types have no infinity, so that the constant would be a NaN or the largest number.
  Type element = b.element(x);
  bool hasInfinity = !isa<Float8E4M3FNType, Float8E4M3FNUZType, Float8E5M2FNUZType>(element);
  auto is = [&](double value) { return b.compare(ComparisonDirection::EQ, x, value); };
  if (!hasInfinity || (!positive && !negative))
    return node.output(0, b.splat(b.i1(), 0, b.dims(x)));
  if (positive && negative)
    return node.output(0, b.binary<OrOp>(is(kInfinity), is(-kInfinity)));
  return node.output(0, is(positive ? kInfinity : -kInfinity));
}

/// The largest finite value of a type of 8 bits.
double largestFinite(Type type) {
  if (isa<Float8E5M2Type, Float8E5M2FNUZType>(type))
    return 57344;
  return isa<Float8E4M3FNUZType>(type) ? 240 : 448;
}

/// float8e8m0 holds powers of two alone. `mode` says to which of the two next to it a magnitude is rounded; zero and
/// what is less than the smallest become that, and what is larger than the largest becomes NaN, or the largest with
/// `saturate`. The sign is lost.
Value castToExponent(Node &node, Value x, StringRef mode, bool saturate) {
  Builder &b = node.b;
  Type bits = IntegerType::get(b.context(), 8, IntegerType::Unsigned), i32 = b.ops.getI32Type();
  if (mode != "up" && mode != "down" && mode != "nearest") {
    node.error() << "attribute 'round_mode': expected up, down or nearest, got '" << mode << "'";
    return {};
  }
  x = b.convert(x, b.f32());
  if (!x)
    return {};
  auto bitcast = [&](Value value, Type type) {
    return value ? b.fold(BitcastConvertOp::create(b.ops, b.location, withElementType(value.getType(), type), value))
                 : Value();
  };
  auto constant = [&](int64_t value) { return b.integerScalar(i32, value); };
  Value word = b.binary<AndOp>(bitcast(x, i32), constant(0x7fffffff));
  // Subnormal numbers have no exponent of their own: those from 2^-127 on have the code 0, less is nearer to it than to
  // anything else.
  Value exponent = b.binary<ShiftRightLogicalOp>(word, constant(23));
  Value fraction = b.binary<AndOp>(word, constant(0x7fffff));
  Value isSubnormal = b.compare(ComparisonDirection::EQ, exponent, constant(0));
  // Above 2^-127 a subnormal number's next power of two is 2^-126; at a normal one's exponent any fraction counts.
  Value excess = b.select(isSubnormal, b.subtract(fraction, constant(0x400000)), fraction);
  Value raises;
  if (mode == "up") {
    raises = b.compare(ComparisonDirection::GT, excess, constant(0));
  } else if (mode == "nearest") {
    Value half = b.select(isSubnormal, constant(0x200000), constant(0x400000));
    raises = b.compare(ComparisonDirection::GE, excess, half);
  }
  Value code = raises ? b.add(exponent, b.convert(raises, i32)) : exponent;
  Value isNan = b.compare(ComparisonDirection::GT, word, constant(0x7f800000));
  Value isInfinite = b.compare(ComparisonDirection::EQ, word, constant(0x7f800000));
  code = b.minimum(code, constant(saturate ? 254 : 255));
  code = b.select(isInfinite, constant(saturate ? 254 : 255), code);
  code = b.select(isNan, constant(255), code);
  return bitcast(b.convert(code, bits), Float8E8M0FNUType::get(b.context()));
}

/// Cast saturates towards the types of 8 bits unless told otherwise.
Value castTo(Node &node, Value x, Type type) {
  Builder &b = node.b;
  bool saturate = node.integer("saturate", 1) != 0;
  std::string mode = node.string("round_mode", "up");
  if (!x || !type || b.element(x) == type)
    return x;
  if (isa<Float8E8M0FNUType>(type))
    return castToExponent(node, x, mode, saturate);
  // Integers of 2 and 4 bits keep the low bits, as integers do.
  if (isIntegerElement(type) && storageBits(type) < 8 && b.isFloat(x))
    return b.convert(b.convert(x, b.ops.getI32Type()), type);
  bool isNarrow = isFloatElement(type) && type.getIntOrFloatBitWidth() == 8;
  if (!isNarrow || !saturate || !b.isFloat(x))
    return b.convert(x, type);
  double limit = largestFinite(type);
  if (b.element(x).getIntOrFloatBitWidth() <= 8)
    x = b.convert(x, b.f32());
  return b.convert(b.minimum(b.maximum(x, -limit), limit), type);
}

LogicalResult importCast(Node &node) {
  auto to = static_cast<OnnxType>(node.requiredInteger("to"));
  Type type = elementTypeOf(to, node.b.context());
  if (!type)
    return node.fail("attribute 'to': Weft has no tensors of type " + nameOf(to));
  return node.output(0, castTo(node, node.input(0), type));
}

LogicalResult importCastLike(Node &node) {
  return node.output(0, castTo(node, node.input(0), node.b.element(node.input(1))));
}

LogicalResult importBitCast(Node &node) {
  Builder &b = node.b;
  auto to = static_cast<OnnxType>(node.requiredInteger("to"));
  Type type = elementTypeOf(to, b.context());
  Value x = node.input(0);
  if (!type || storageBits(type) != storageBits(b.element(x)))
    return node.fail("attribute 'to': expected a type of as many bits as the input's, got " + nameOf(to));
  if (type == b.element(x))
    return node.output(0, x);
  // A truth value is a byte, 0 or 1.
  Type byte = IntegerType::get(b.context(), 8, IntegerType::Unsigned);
  if (b.isBool(x))
    x = b.convert(x, byte);
  Type target = isBoolElement(type) ? byte : type;
  if (b.element(x) != target)
    x = b.fold(BitcastConvertOp::create(b.ops, b.location, withElementType(x.getType(), target), x));
  return node.output(0, b.convert(x, type));
}

/// Clip: min(max(x, low), high), so that the upper limit wins and a NaN stays.
LogicalResult importClip(Node &node) {
  Builder &b = node.b;
  node.ignore("consumed_inputs");
  Value x = node.input(0);
  if (node.opset() < 11) {
    if (node.hasAttribute("min"))
      x = b.maximum(x, node.real("min", 0));
    if (node.hasAttribute("max"))
      x = b.minimum(x, node.real("max", 0));
    return node.output(0, x);
  }
  for (int64_t limit : {1, 2})
    if (node.has(limit) && !node.expectRank(limit, 0))
      return failure();
  if (node.has(1))
    x = b.maximum(x, node.input(1));
  if (node.has(2))
    x = b.minimum(x, node.input(2));
  return node.output(0, x);
}

LogicalResult importIdentity(Node &node) {
  node.ignore("consumed_inputs");
  return node.output(0, node.input(0));
}

} // namespace

void addElementwiseHandlers(HandlerTable &table) {
  table.add("Abs", importUnary<AbsOp>);
  table.add("Neg", importUnary<NegateOp>);
  table.add("Sign", importUnary<SignOp>);
  table.add("Exp", importUnary<ExponentialOp>);
  table.add("Log", importUnary<LogOp>);
  table.add("Sqrt", importUnary<SqrtOp>);
  table.add("Sin", importUnary<SineOp>);
  table.add("Cos", importUnary<CosineOp>);
  table.add("Tan", importUnary<TanOp>);
  table.add("Asin", importUnary<AsinOp>);
  table.add("Acos", importUnary<AcosOp>);
  table.add("Atan", importUnary<AtanOp>);
  table.add("Sinh", importUnary<SinhOp>);
  table.add("Cosh", importUnary<CoshOp>);
  table.add("Tanh", importUnary<TanhOp>);
  table.add("Asinh", importUnary<AsinhOp>);
  table.add("Acosh", importUnary<AcoshOp>);
  table.add("Atanh", importUnary<AtanhOp>);
  table.add("Sigmoid", importUnary<LogisticOp>);
  table.add("Erf", importUnary<ErfOp>);
  table.add("Floor", importUnary<FloorOp>);
  table.add("Ceil", importUnary<CeilOp>);
  table.add("Round", importUnary<RoundNearestEvenOp>);
  table.add("Not", importUnary<NotOp>);
  table.add("BitwiseNot", importUnary<NotOp>);
  table.add("Reciprocal", importReciprocal);

  table.add("Add", importBinary<AddOp>);
  table.add("Sub", importBinary<SubtractOp>);
  table.add("Mul", importBinary<MultiplyOp>);
  table.add("Div", importBinary<DivideOp>);
  table.add("And", importBinary<AndOp>);
  table.add("Or", importBinary<OrOp>);
  table.add("Xor", importBinary<XorOp>);
  table.add("BitwiseAnd", importBinary<AndOp>);
  table.add("BitwiseOr", importBinary<OrOp>);
  table.add("BitwiseXor", importBinary<XorOp>);
  table.add("Pow", importPow);
  table.add("Mod", importMod);
  table.add("BitShift", importBitShift);
  table.add("Sum", importVariadic<AddOp>);
  table.add("Max", importVariadic<MaximumOp>);
  table.add("Min", importVariadic<MinimumOp>);
  table.add("Mean", importMean);

  table.add("Equal", comparison(ComparisonDirection::EQ));
  table.add("Less", comparison(ComparisonDirection::LT));
  table.add("LessOrEqual", comparison(ComparisonDirection::LE));
  table.add("Greater", comparison(ComparisonDirection::GT));
  table.add("GreaterOrEqual", comparison(ComparisonDirection::GE));

  table.add("Where", importWhere);
  table.add("IsNaN", importIsNaN);
  table.add("IsInf", importIsInf);
  table.add("Cast", 6, importCast);
  table.add("CastLike", importCastLike);
  table.add("BitCast", importBitCast);
  table.add("Clip", importClip);
  table.add("Identity", importIdentity);
}

} // namespace weft::importer
