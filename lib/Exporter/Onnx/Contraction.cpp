//===- Contraction.cpp - Reductions, windows, products and convolutions as ONNX nodes ------------===//

#include "dialects/Graph/Contraction.h"
#include "dialects/Graph/Reduction.h"
#include "lib/Exporter/Onnx/GraphBuilder.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::exporter {

namespace {

/// Windows of more positions would make unreadably many nodes.
constexpr int64_t kMostWindowPositions = 1024;

LogicalResult reduce(GraphBuilder &b, ReduceOp op) {
  Name x = b.nameOf(op.getOperand());
  Type element = elementType(op.getOperand());
  bool isLogical = op.getKind() == ReductionKind::all || op.getKind() == ReductionKind::any;
  StringRef name = op.getKind() == ReductionKind::sum                                         ? "ReduceSum"
                   : op.getKind() == ReductionKind::product                                   ? "ReduceProd"
                   : op.getKind() == ReductionKind::max || op.getKind() == ReductionKind::any ? "ReduceMax"
                                                                                              : "ReduceMin";
  if (isLogical) // ONNX reduces no truth values in this opset.
    x = b.cast(x, IntegerType::get(op.getContext(), 32));
  Attributes attributes = Attributes().set("keepdims", int64_t(0)).set("noop_with_empty_axes", int64_t(1));
  Name result = b.node(name, {x, b.integers(op.getDimensions())}, attributes);
  b.bind(op.getResult(), isLogical ? b.cast(result, element) : result);
  return success();
}

LogicalResult argReduce(GraphBuilder &b, ArgReduceOp op) {
  Attributes attributes = Attributes()
                              .set("axis", static_cast<int64_t>(op.getDimension()))
                              .set("keepdims", int64_t(0))
                              .set("select_last_index", int64_t(op.getSelectLastIndex()));
  Name index = b.node(op.getKind() == ReductionKind::max ? "ArgMax" : "ArgMin", b.nameOf(op.getOperand()), attributes);
  b.bind(op.getResult(), b.cast(index, op.getIndexType()));
  return success();
}

/// The element that a kind leaves alone.
Name identity(GraphBuilder &b, ReductionKind kind, Type element) {
  bool isFloat = isFloatElement(element);
  TensorValue value(element, {});
  unsigned width = element.getIntOrFloatBitWidth();
  switch (kind) {
  case ReductionKind::sum:
  case ReductionKind::any:
    break;
  case ReductionKind::product:
  case ReductionKind::all:
    isFloat ? value.setFloat(0, 1) : value.setInteger(0, 1);
    break;
  case ReductionKind::max:
    if (isFloat)
      value.setFloat(0, -std::numeric_limits<double>::infinity());
    else if (!isUnsignedElement(element))
      value.setInteger(0, std::numeric_limits<int64_t>::min() >> (64 - width));
    break;
  case ReductionKind::min:
    if (isFloat)
      value.setFloat(0, std::numeric_limits<double>::infinity());
    else
      value.setInteger(0, isUnsignedElement(element) ? -1 : std::numeric_limits<int64_t>::max() >> (64 - width));
    break;
  }
  return b.constant(value);
}

StringRef combiner(ReductionKind kind) {
  switch (kind) {
  case ReductionKind::sum:
    return "Add";
  case ReductionKind::product:
    return "Mul";
  case ReductionKind::max:
    return "Max";
  case ReductionKind::min:
    return "Min";
  case ReductionKind::all:
    return "And";
  case ReductionKind::any:
    return "Or";
  }
  return "Add";
}

/// A strided slice a position of the window, combined in order: one form for every kind, rank and dilation.
LogicalResult reduceWindow(GraphBuilder &b, ReduceWindowOp op) {
  Type element = elementType(op.getOperand());
  SmallVector<Dim> dims = getDims(op.getOperand().getType());
  SmallVector<int64_t> interior;
  int64_t positions = 1;
  for (int64_t dilation : op.getBaseDilations())
    interior.push_back(dilation - 1);
  for (int64_t size : op.getWindowDimensions())
    if ((positions *= size) > kMostWindowPositions)
      return cannotExport(op, "a window of more than 1024 elements");
  Name x = padded(b, b.nameOf(op.getOperand()), dims, identity(b, op.getKind(), element), op.getPaddingLow(),
                  op.getPaddingHigh(), interior);
  Name result;
  SmallVector<Dim> steps = getDims(op.getType());
  for (int64_t position = 0; position < positions; ++position) {
    SmallVector<int64_t> axes, starts;
    SmallVector<Name> ends;
    int64_t rest = position;
    for (size_t i = dims.size(); i-- > 0;) {
      int64_t start = rest % op.getWindowDimensions()[i] * op.getWindowDilations()[i];
      rest /= op.getWindowDimensions()[i];
      axes.push_back(i);
      starts.push_back(start);
      // The last element that any window has at this position, and one.
      Dim end = (steps[i] - 1) * op.getWindowStrides()[i] + start + 1;
      ends.push_back(b.node("Reshape", {b.size(end), b.integers(1)}));
    }
    SmallVector<int64_t> strides;
    for (int64_t axis : axes)
      strides.push_back(op.getWindowStrides()[axis]);
    Name end = b.node("Concat", ends, Attributes().set("axis", int64_t(0)));
    Name part = dims.empty() ? x : b.node("Slice", {x, b.integers(starts), end, b.integers(axes), b.integers(strides)});
    result = result.empty() ? part : b.node(combiner(op.getKind()), {result, part});
  }
  b.bind(op.getResult(), result);
  return success();
}

LogicalResult cumulative(GraphBuilder &b, CumulativeOp op) {
  if (op.getKind() != ReductionKind::sum)
    return cannotExport(op, "ONNX has running sums only");
  Attributes attributes =
      Attributes().set("exclusive", int64_t(op.getExclusive())).set("reverse", int64_t(op.getReverse()));
  b.bind(op.getResult(), b.node("CumSum", {b.nameOf(op.getOperand()), b.integer(op.getDimension())}, attributes));
  return success();
}

LogicalResult dotGeneral(GraphBuilder &b, DotGeneralOp op) {
  RankedTensorType lhs = tensorType(op.getLhs()), rhs = tensorType(op.getRhs());
  if (lhs.getRank() + rhs.getRank() > 26)
    return cannotExport(op, "a product of more than 26 dimensions");
  // A letter a dimension; partners share theirs.
  std::string left(lhs.getRank(), '?'), right(rhs.getRank(), '?'), result;
  char next = 'a';
  for (auto [l, r] : llvm::zip(op.getLhsBatchingDimensions(), op.getRhsBatchingDimensions())) {
    left[l] = right[r] = next;
    result += next++;
  }
  for (auto [l, r] : llvm::zip(op.getLhsContractingDimensions(), op.getRhsContractingDimensions()))
    left[l] = right[r] = next++;
  for (std::string *side : {&left, &right})
    for (char &letter : *side)
      if (letter == '?') {
        letter = next;
        result += next++;
      }
  Name x = b.nameOf(op.getLhs()), y = b.nameOf(op.getRhs());
  Type element = elementType(op.getResult());
  if (lhs.getElementType() != element) {
    x = b.cast(x, element);
    y = b.cast(y, element);
  }
  std::string equation = left + "," + right + "->" + result;
  b.bind(op.getResult(), b.node("Einsum", {x, y}, Attributes().set("equation", StringRef(equation))));
  return success();
}

LogicalResult convolution(GraphBuilder &b, ConvolutionOp op) {
  ConvolutionDimensionsAttr numbers = op.getDimensionNumbers();
  SmallVector<int64_t> input{numbers.getInputBatchDimension(), numbers.getInputFeatureDimension()},
      kernel{numbers.getKernelOutputFeatureDimension(), numbers.getKernelInputFeatureDimension()},
      output(tensorType(op.getResult()).getRank());
  llvm::append_range(input, numbers.getInputSpatialDimensions());
  llvm::append_range(kernel, numbers.getKernelSpatialDimensions());
  // Where each dimension of the result stands in [batch, features, spatial...].
  output[numbers.getOutputBatchDimension()] = 0;
  output[numbers.getOutputFeatureDimension()] = 1;
  for (auto [i, dimension] : llvm::enumerate(numbers.getOutputSpatialDimensions()))
    output[dimension] = i + 2;
  Type element = elementType(op.getResult());
  Name x = b.transpose(b.nameOf(op.getLhs()), input), weights = b.transpose(b.nameOf(op.getRhs()), kernel);
  if (elementType(op.getLhs()) != element) {
    x = b.cast(x, element);
    weights = b.cast(weights, element);
  }
  SmallVector<Dim> dims;
  for (int64_t dimension : input)
    dims.push_back(getDim(op.getLhs().getType(), dimension));
  SmallVector<int64_t> low{0, 0}, high{0, 0}, interior{0, 0};
  llvm::append_range(low, op.getPaddingLow());
  llvm::append_range(high, op.getPaddingHigh());
  for (int64_t dilation : op.getLhsDilation())
    interior.push_back(dilation - 1);
  x = padded(b, x, dims, b.scalar(element, 0), low, high, interior);
  SmallVector<int64_t> shape;
  for (int64_t dimension : numbers.getKernelSpatialDimensions())
    shape.push_back(tensorType(op.getRhs()).getDimSize(dimension));
  Attributes attributes = Attributes()
                              .set("kernel_shape", shape)
                              .set("strides", op.getWindowStrides())
                              .set("dilations", op.getRhsDilation())
                              .set("group", static_cast<int64_t>(op.getFeatureGroupCount()));
  if (shape.empty()) // ONNX convolves over at least one dimension.
    return cannotExport(op, "a convolution without spatial dimensions");
  b.bind(op.getResult(), b.transpose(b.node("Conv", {x, weights}, attributes), output));
  return success();
}

} // namespace

std::optional<LogicalResult> exportContraction(GraphBuilder &b, Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<LogicalResult>>(op)
      .Case<ReduceOp>([&](ReduceOp reduction) { return reduce(b, reduction); })
      .Case<ArgReduceOp>([&](ArgReduceOp reduction) { return argReduce(b, reduction); })
      .Case<ReduceWindowOp>([&](ReduceWindowOp reduction) { return reduceWindow(b, reduction); })
      .Case<CumulativeOp>([&](CumulativeOp running) { return cumulative(b, running); })
      .Case<DotGeneralOp>([&](DotGeneralOp dot) { return dotGeneral(b, dot); })
      .Case<ConvolutionOp>([&](ConvolutionOp conv) { return convolution(b, conv); })
      .Default([](auto) { return std::nullopt; });
}

} // namespace weft::exporter
