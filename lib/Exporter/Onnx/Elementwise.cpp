//===- Elementwise.cpp - Elementwise operations as ONNX nodes ------------------------------------===//

#include "dialects/Graph/Elementwise.h"
#include "dialects/Graph/Creation.h"
#include "lib/Exporter/Onnx/GraphBuilder.h"
#include "lib/Support/Onnx/ElementTypes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::exporter {

namespace {

/// Operations that are one operator with the same operands.
StringRef sameOperator(Operation *op) {
  static const llvm::StringMap<StringRef> operators = {
      {"exponential", "Exp"}, {"log", "Log"},     {"sqrt", "Sqrt"},   {"sine", "Sin"},
      {"cosine", "Cos"},      {"tan", "Tan"},     {"asin", "Asin"},   {"acos", "Acos"},
      {"atan", "Atan"},       {"sinh", "Sinh"},   {"cosh", "Cosh"},   {"tanh", "Tanh"},
      {"asinh", "Asinh"},     {"acosh", "Acosh"}, {"atanh", "Atanh"}, {"logistic", "Sigmoid"},
      {"erf", "Erf"},         {"floor", "Floor"}, {"ceil", "Ceil"},   {"round_nearest_even", "Round"},
      {"abs", "Abs"},         {"negate", "Neg"},  {"sign", "Sign"},   {"divide", "Div"},
      {"subtract", "Sub"},    {"power", "Pow"},   {"select", "Where"}};
  return operators.lookup(op->getName().stripDialect());
}

/// Operations that have one operator for truth values and another for numbers.
std::optional<std::pair<StringRef, StringRef>> boolAndNumber(Operation *op) {
  using Pair = std::pair<StringRef, StringRef>;
  return llvm::TypeSwitch<Operation *, std::optional<Pair>>(op)
      .Case<AddOp>([](auto) { return Pair("Or", "Add"); })
      .Case<MultiplyOp>([](auto) { return Pair("And", "Mul"); })
      .Case<MaximumOp>([](auto) { return Pair("Or", "Max"); })
      .Case<MinimumOp>([](auto) { return Pair("And", "Min"); })
      .Case<AndOp>([](auto) { return Pair("And", "BitwiseAnd"); })
      .Case<OrOp>([](auto) { return Pair("Or", "BitwiseOr"); })
      .Case<XorOp>([](auto) { return Pair("Xor", "BitwiseXor"); })
      .Case<NotOp>([](auto) { return Pair("Not", "BitwiseNot"); })
      .Default([](auto) { return std::nullopt; });
}

Name compare(GraphBuilder &b, CompareOp op, Name x, Name y) {
  Type element = elementType(op.getLhs());
  ComparisonDirection direction = op.getDirection();
  if (direction == ComparisonDirection::EQ || direction == ComparisonDirection::NE) {
    Name equal = b.node("Equal", {x, y});
    return direction == ComparisonDirection::EQ ? equal : b.node("Not", equal);
  }
  if (isBoolElement(element)) { // ONNX does not order truth values.
    Type integer = IntegerType::get(op.getContext(), 32);
    x = b.cast(x, integer);
    y = b.cast(y, integer);
  }
  switch (direction) {
  case ComparisonDirection::LT:
    return b.node("Less", {x, y});
  case ComparisonDirection::LE:
    return b.node("LessOrEqual", {x, y});
  case ComparisonDirection::GT:
    return b.node("Greater", {x, y});
  default:
    return b.node("GreaterOrEqual", {x, y});
  }
}

/// Shifts by at least the width give 0 here, anything in ONNX.
LogicalResult shift(GraphBuilder &b, Operation *op, const Name &x, const Name &y, bool left) {
  Type element = elementType(op->getResult(0));
  if (!isUnsignedElement(element))
    return cannotExport(op, "ONNX shifts unsigned integers only");
  Name shifted = b.node("BitShift", {x, y}, Attributes().set("direction", StringRef(left ? "LEFT" : "RIGHT")));
  Name inside = b.node("Less", {y, b.scalar(element, element.getIntOrFloatBitWidth())});
  b.bind(op->getResult(0), b.node("Where", {inside, shifted, b.scalar(element, 0)}));
  return success();
}

/// The angle of (y, x) from Atan(y / x) and the quadrant.
Name atan2(GraphBuilder &b, Type element, const Name &y, const Name &x) {
  Name zero = b.scalar(element, 0), pi = b.scalar(element, M_PI), half = b.scalar(element, M_PI_2);
  Name angle = b.node("Atan", b.node("Div", {y, x}));
  // 1 / y tells -0 from +0 where y is zero.
  Name negativeY = b.node("Less", {b.node("Where", {b.node("Equal", {y, zero}), b.node("Reciprocal", y), y}), zero});
  Name negativeX = b.node("Less", {x, zero});
  Name turned = b.node("Add", {angle, b.node("Where", {negativeY, b.node("Neg", pi), pi})});
  Name result = b.node("Where", {negativeX, turned, angle});
  Name vertical = b.node("And", {b.node("Equal", {x, zero}), b.node("Not", b.node("Equal", {y, zero}))});
  return b.node("Where", {vertical, b.node("Where", {negativeY, b.node("Neg", half), half}), result});
}

} // namespace

std::optional<LogicalResult> exportElementwise(GraphBuilder &b, Operation *op) {
  SmallVector<Name> in;
  for (Value operand : op->getOperands())
    in.push_back(b.nameOf(operand));
  auto done = [&](const Name &name) -> LogicalResult {
    b.bind(op->getResult(0), name);
    return success();
  };
  if (StringRef same = sameOperator(op); !same.empty())
    return done(b.node(same, in));
  if (auto pair = boolAndNumber(op))
    return done(b.node(isBoolElement(elementType(op->getResult(0))) ? pair->first : pair->second, in));
  return llvm::TypeSwitch<Operation *, std::optional<LogicalResult>>(op)
      .Case<ConstantOp>([&](ConstantOp constant) -> LogicalResult {
        TensorValue value = TensorValue::fromAttribute(constant.getValue());
        return value ? done(b.constant(value)) : cannotExport(op, "the constant has no dense value");
      })
      .Case<IotaOp>([&](IotaOp iota) {
        SmallVector<Dim> dims = getDims(iota.getType());
        Name ramp = b.cast(b.ramp(dims, iota.getIotaDimension()), elementType(iota.getOutput()));
        return done(b.expand(ramp, dims));
      })
      .Case<ConvertOp>([&](ConvertOp convert) { return done(b.cast(in[0], elementType(convert.getResult()))); })
      .Case<CompareOp>([&](CompareOp comparison) { return done(compare(b, comparison, in[0], in[1])); })
      .Case<ClampOp>([&](auto) { return done(b.node("Min", {b.node("Max", {in[1], in[0]}), in[2]})); })
      .Case<RsqrtOp>([&](auto) { return done(b.node("Reciprocal", b.node("Sqrt", in[0]))); })
      .Case<ExponentialMinusOneOp>([&](auto) {
        // tanh(x / 2) * (e^x + 1) keeps what e^x - 1 loses near zero; far out it is e^x - 1 itself.
        Type element = elementType(op->getResult(0));
        Name one = b.scalar(element, 1), power = b.node("Exp", in[0]);
        Name near = b.node(
            "Mul", {b.node("Tanh", b.node("Mul", {in[0], b.scalar(element, 0.5)})), b.node("Add", {power, one})});
        Name isNear = b.node("Less", {b.node("Abs", in[0]), one});
        return done(b.node("Where", {isNear, near, b.node("Sub", {power, one})}));
      })
      .Case<LogPlusOneOp>([&](auto) {
        // log(u) * x / (u - 1) with u = 1 + x corrects the rounding of u.
        Type element = elementType(op->getResult(0));
        Name one = b.scalar(element, 1), sum = b.node("Add", {in[0], one});
        Name logarithm = b.node("Log", sum);
        Name corrected = b.node("Mul", {logarithm, b.node("Div", {in[0], b.node("Sub", {sum, one})})});
        Name far = b.node("Greater", {b.node("Abs", in[0]), one});
        Name result = b.node("Where", {far, logarithm, corrected});
        return done(b.node("Where", {b.node("Equal", {sum, one}), in[0], result}));
      })
      .Case<CbrtOp>([&](auto) {
        Name root = b.node("Pow", {b.node("Abs", in[0]), b.scalar(elementType(op->getResult(0)), 1.0 / 3)});
        return done(b.node("Mul", {b.node("Sign", in[0]), root}));
      })
      .Case<RoundNearestAfzOp>([&](auto) {
        // |x| + 0.5 rounds up just below one half: compare the fraction instead.
        Type element = elementType(op->getResult(0));
        Name magnitude = b.node("Abs", in[0]), whole = b.node("Floor", magnitude);
        Name up = b.node("GreaterOrEqual", {b.node("Sub", {magnitude, whole}), b.scalar(element, 0.5)});
        Name rounded = b.node("Where", {up, b.node("Add", {whole, b.scalar(element, 1)}), whole});
        return done(b.node("Mul", {b.node("Sign", in[0]), rounded}));
      })
      .Case<RemainderOp>([&](auto) { return done(b.node("Mod", in, Attributes().set("fmod", int64_t(1)))); })
      .Case<IsFiniteOp>(
          [&](auto) { return done(b.node("Not", b.node("Or", {b.node("IsInf", in[0]), b.node("IsNaN", in[0])}))); })
      .Case<Atan2Op>([&](auto) { return done(atan2(b, elementType(op->getResult(0)), in[0], in[1])); })
      .Case<ShiftLeftOp>([&](auto) { return shift(b, op, in[0], in[1], true); })
      .Case<ShiftRightLogicalOp>([&](auto) { return shift(b, op, in[0], in[1], false); })
      .Case<ShiftRightArithmeticOp, PopcntOp, CountLeadingZerosOp, BitcastConvertOp>(
          [&](auto) { return cannotExport(op, "ONNX (opset 18) has no such operator"); })
      .Default([](auto) { return std::nullopt; });
}

} // namespace weft::exporter
