//===- Elementwise.cpp - Ops that compute each element from the elements at its index ---------------===//

#include "dialects/Graph/Elementwise.h"
#include "dialects/Graph/NarrowFloat.h"
#include "mlir/IR/Matchers.h"

/// One type where all are the same, else all of them: `: t` or `: (t, t) -> t`.
static mlir::ParseResult parseSameTypeList(mlir::OpAsmParser &parser, llvm::ArrayRef<mlir::Type *> types) {
  mlir::Type type;
  llvm::SMLoc location = parser.getCurrentLocation();
  if (parser.parseType(type))
    return mlir::failure();
  auto function = mlir::dyn_cast<mlir::FunctionType>(type);
  if (!function) {
    for (mlir::Type *slot : types)
      *slot = type;
    return mlir::success();
  }
  if (function.getNumInputs() != types.size() - 1 || function.getNumResults() != 1)
    return parser.emitError(location, "expected ") << types.size() - 1 << " operand types and one result type";
  for (auto [slot, input] : llvm::zip(types.drop_back(), function.getInputs()))
    *slot = input;
  *types.back() = function.getResult(0);
  return mlir::success();
}

static void printSameTypeList(mlir::OpAsmPrinter &printer, mlir::TypeRange types) {
  if (llvm::all_equal(types)) {
    printer << types.front();
    return;
  }
  printer << "(" << types.drop_back() << ") -> " << types.back();
}

static mlir::ParseResult parseSameTypes(mlir::OpAsmParser &parser, mlir::Type &a, mlir::Type &b) {
  return parseSameTypeList(parser, {&a, &b});
}
static mlir::ParseResult parseSameTypes(mlir::OpAsmParser &parser, mlir::Type &a, mlir::Type &b, mlir::Type &c) {
  return parseSameTypeList(parser, {&a, &b, &c});
}
static mlir::ParseResult parseSameTypes(mlir::OpAsmParser &parser, mlir::Type &a, mlir::Type &b, mlir::Type &c,
                                        mlir::Type &d) {
  return parseSameTypeList(parser, {&a, &b, &c, &d});
}
template <typename... Types>
static void printSameTypes(mlir::OpAsmPrinter &printer, mlir::Operation *, Types... types) {
  mlir::Type all[] = {types...};
  printSameTypeList(printer, all);
}

#define GET_OP_CLASSES
#include "dialects/Graph/Elementwise.cpp.inc"

using namespace mlir;

namespace weft::graph {

void GraphDialect::registerElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Graph/Elementwise.cpp.inc"
      >();
}

LogicalResult inferElementwiseType(StringRef opName, std::optional<Location> location, ValueRange operands,
                                   SmallVectorImpl<Type> &types) {
  if (operands.empty())
    return emitOptionalError(location, "'", opName, "' op expected operands");
  for (Value operand : operands)
    if (!isa<RankedTensorType>(operand.getType()))
      return emitOptionalError(location, "'", opName, "' op expected ranked tensors, got ", operand.getType());
  bool isSelect = opName == SelectOp::getOperationName();
  Type element = elementType(operands[isSelect && operands.size() > 1 ? 1 : 0]);
  SmallVector<Dim> dims = getDims(operands[0].getType());
  for (auto [index, operand] : llvm::enumerate(operands)) {
    if (getDims(operand.getType()) != dims)
      return emitOptionalError(location, "'", opName, "' op elementwise_c1: expected operands of one shape, got ",
                               operands[0].getType(), " and ", operand.getType());
    if (elementType(operand) != element && !(isSelect && index == 0))
      return emitOptionalError(location, "'", opName, "' op elementwise_c2: expected element type ", element, ", got ",
                               elementType(operand));
  }
  if (opName == CompareOp::getOperationName() || opName == IsFiniteOp::getOperationName())
    element = IntegerType::get(element.getContext(), 1);
  types.push_back(withElementType(operands[0].getType(), element));
  return success();
}

OpFoldResult foldIdentityElement(Operation *op, Attribute rhs) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(rhs);
  if (!elements || !elements.isSplat())
    return {};
  Type type = elements.getElementType();
  auto isValue = [&](double value, bool negativeZero = false) {
    // The bits are compared: they tell -0.0 from 0.0.
    if (isFloatElement(type))
      return llvm::bit_cast<uint64_t>(toDouble(elements.getSplatValue<APFloat>())) ==
             llvm::bit_cast<uint64_t>(negativeZero ? -0.0 : value);
    return !isBoolElement(type) && elements.getSplatValue<APInt>() == APInt(type.getIntOrFloatBitWidth(), value);
  };
  bool identity = false;
  if (isa<AddOp>(op)) // x + 0.0 is not x where x is -0.0
    identity = isFloatElement(type) ? isValue(0, /*negativeZero=*/true) : isValue(0);
  else if (isa<SubtractOp, ShiftLeftOp, ShiftRightArithmeticOp, ShiftRightLogicalOp>(op))
    identity = isValue(0);
  else if (isa<OrOp, XorOp>(op))
    identity = isValue(0);
  else if (isa<MultiplyOp, DivideOp>(op))
    identity = isValue(1);
  else if (isa<PowerOp>(op))
    identity = isValue(1);
  return identity ? OpFoldResult(op->getOperand(0)) : OpFoldResult();
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getOnTrue() == getOnFalse())
    return getOnTrue();
  auto pred = dyn_cast_or_null<DenseElementsAttr>(adaptor.getPred());
  if (pred && pred.isSplat())
    return pred.getSplatValue<bool>() ? getOnTrue() : getOnFalse();
  return {};
}

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? OpFoldResult(getOperand()) : OpFoldResult();
}

LogicalResult ConvertOp::verify() {
  if (getDims(getOperand().getType()) != getDims(getType()))
    return emitOpError("convert_c1: expected a result of the operand's shape, got ")
           << getOperand().getType() << " and " << getType();
  return success();
}

LogicalResult BitcastConvertOp::verify() {
  if (getDims(getOperand().getType()) != getDims(getType()))
    return emitOpError("bitcast_convert_c1: expected a result of the operand's shape, got ")
           << getOperand().getType() << " and " << getType();
  if (elementType(getOperand()).getIntOrFloatBitWidth() != elementType(getResult()).getIntOrFloatBitWidth())
    return emitOpError("bitcast_convert_c2: expected elements of the same width, got ")
           << elementType(getOperand()) << " and " << elementType(getResult());
  return success();
}

} // namespace weft::graph
