//===- Resize.cpp - ONNX's Resize and Upsample ---------------------------------------------------===//
//
// Every axis is resized on its own: an output element is a weighted sum of a few input elements ("taps") whose
// positions and weights depend on its place along that axis only and are known at import.

#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Node.h"
#include <cmath>

using namespace mlir;
using namespace weft::graph;

namespace weft::importer {

namespace {

struct ResizeOptions {
  std::string mode, coordinates, nearest;
  double cubicA = -0.75, extrapolation = 0;
  bool excludeOutside = false, antialias = false;
};

/// One axis: `scale` is what the formulas use, `output` the number of elements.
struct Axis {
  int64_t input, output;
  double scale, roiStart, roiEnd;
};

/// The position in the input that an output element lies at.
double originalPosition(const ResizeOptions &options, const Axis &axis, int64_t x) {
  double input = static_cast<double>(axis.input), output = axis.scale * input;
  const std::string &mode = options.coordinates;
  if (mode == "asymmetric")
    return x / axis.scale;
  if (mode == "tf_half_pixel_for_nn")
    return (x + 0.5) / axis.scale;
  if (mode == "align_corners")
    return output == 1 ? 0 : x * (input - 1) / (output - 1);
  if (mode == "tf_crop_and_resize") {
    double length = (axis.roiEnd - axis.roiStart) * (input - 1);
    double inside = axis.output == 1 ? length / 2 : x * length / (static_cast<double>(axis.output) - 1);
    return inside + axis.roiStart * (input - 1);
  }
  if (mode == "pytorch_half_pixel" && axis.output == 1)
    return 0;
  double position = (x + 0.5) / axis.scale - 0.5;
  if (mode == "half_pixel_symmetric")
    position += input / 2 * (1 - static_cast<double>(axis.output) / output);
  return position;
}

double cubicWeight(double distance, double a) {
  double x = std::abs(distance);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

int64_t nearestPosition(const std::string &mode, double position) {
  double below = std::floor(position), fraction = position - below;
  if (mode == "floor")
    return static_cast<int64_t>(below);
  if (mode == "ceil")
    return static_cast<int64_t>(std::ceil(position));
  if (mode == "round_prefer_ceil")
    return static_cast<int64_t>(fraction < 0.5 ? below : std::ceil(position));
  return static_cast<int64_t>(fraction <= 0.5 ? below : std::ceil(position)); // round_prefer_floor
}

/// Positions and weights of the taps of one output element; positions may lie outside the input.
void findTaps(const ResizeOptions &options, const Axis &axis, double position, SmallVectorImpl<int64_t> &positions,
              SmallVectorImpl<double> &weights) {
  if (options.mode == "nearest") {
    positions.push_back(nearestPosition(options.nearest, position));
    weights.push_back(1);
    return;
  }
  double below = std::floor(position), fraction = position - below;
  double shrink = options.antialias ? std::min(axis.scale, 1.0) : 1;
  double reach = options.mode == "cubic" ? 2 : 1;
  auto first = static_cast<int64_t>(std::floor(-reach / shrink) + 1);
  int64_t last = 1 - first;
  double total = 0;
  for (int64_t i = first; i <= last; ++i) {
    double distance = shrink * (static_cast<double>(i) - fraction);
    double weight =
        options.mode == "cubic" ? cubicWeight(distance, options.cubicA) : std::clamp(1 - std::abs(distance), 0.0, 1.0);
    int64_t place = static_cast<int64_t>(below) + i;
    if (options.excludeOutside && (place < 0 || place >= axis.input))
      weight = 0;
    positions.push_back(place);
    weights.push_back(weight);
    total += weight;
  }
  if ((options.excludeOutside || options.antialias) && total != 0)
    for (double &weight : weights)
      weight /= total;
}

/// `x` with one axis resized.
Value resizeAxis(Builder &b, Value x, int64_t dimension, const ResizeOptions &options, const Axis &axis) {
  SmallVector<SmallVector<int64_t>> positions(axis.output);
  SmallVector<SmallVector<double>> weights(axis.output);
  TensorValue inside(b.i1(), {axis.output});
  bool allInside = true;
  size_t taps = 0;
  for (int64_t i = 0; i < axis.output; ++i) {
    double position = originalPosition(options, axis, i);
    bool isInside = options.coordinates != "tf_crop_and_resize" ||
                    (position >= 0 && position <= static_cast<double>(axis.input - 1));
    inside.setInteger(i, isInside);
    allInside &= isInside;
    findTaps(options, axis, position, positions[i], weights[i]);
    taps = std::max(taps, positions[i].size());
  }
  Type element = b.element(x);
  Value result;
  for (size_t tap = 0; tap < taps; ++tap) {
    SmallVector<int64_t> indices;
    SmallVector<double> factors;
    bool isUseful = false;
    for (int64_t i = 0; i < axis.output; ++i) {
      indices.push_back(std::clamp<int64_t>(positions[i][tap], 0, axis.input - 1));
      factors.push_back(weights[i][tap]);
      isUseful |= weights[i][tap] != 0;
    }
    if (!isUseful)
      continue;
    Value part = b.take(x, b.integers(indices), dimension);
    if (!part)
      return {};
    if (options.mode != "nearest")
      part = b.multiply(part, b.broadcastInDim(b.floats(factors, element), b.dims(part), dimension));
    result = result ? b.add(result, part) : part;
  }
  if (!result)
    result = b.take(b.multiply(x, 0.0), b.integers(SmallVector<int64_t>(axis.output, 0)), dimension);
  if (allInside || !result)
    return result;
  Value mask = b.broadcastInDim(b.constant(inside), b.dims(result), dimension);
  return b.select(mask, result, b.scalar(element, options.extrapolation));
}

/// Each element of a dimension `times` times: nearest with a whole scale, whatever the size.
Value repeatElements(Builder &b, Value x, int64_t dimension, int64_t times) {
  SmallVector<Dim> repeated = b.dims(x), merged = repeated;
  SmallVector<int64_t> places;
  for (int64_t i = 0; i < b.rank(x); ++i)
    places.push_back(i <= dimension ? i : i + 1);
  repeated.insert(repeated.begin() + dimension + 1, b.size(times));
  merged[dimension] = merged[dimension] * times;
  return b.reshape(b.broadcastInDim(x, repeated, places), merged);
}

/// What decides the new sizes: one entry a resized axis, one of scale and size each.
struct Request {
  SmallVector<int64_t> axes;
  SmallVector<double> scales, roi;
  SmallVector<Dim> sizes;
  /// The scale of every axis where sizes were rounded to keep the aspect ratio.
  std::optional<double> commonScale;
};

LogicalResult resize(Node &node, Value x, const ResizeOptions &options, const Request &request) {
  Builder &b = node.b;
  Type element = b.element(x);
  bool computes = options.mode != "nearest";
  // Weighted sums of integers and narrow floats are computed in f32 and rounded once.
  bool widens = computes && (!b.isFloat(x) || element.getIntOrFloatBitWidth() < 32);
  if (widens)
    x = b.convert(x, b.f32());
  for (auto [i, dimension] : llvm::enumerate(request.axes)) {
    Dim size = b.dim(x, dimension);
    double scale = request.scales.empty() ? 0 : request.scales[i];
    if (request.scales.empty() && request.sizes[i] == size && options.coordinates != "tf_crop_and_resize" &&
        request.commonScale.value_or(1) == 1)
      continue;
    if (!request.scales.empty() && scale == 1 && options.coordinates != "tf_crop_and_resize")
      continue;
    if (!size.isConstant() || (request.scales.empty() && !request.sizes[i].isConstant())) {
      // A whole multiple: by scale, or because the wanted size is one of the size.
      std::optional<Dim> times = request.scales.empty() ? request.sizes[i].divideExactly(size)
                                 : (scale == std::floor(scale) && scale >= 1 && scale < 1e6)
                                     ? std::optional(b.size(static_cast<int64_t>(scale)))
                                     : std::nullopt;
      bool repeats = options.mode == "nearest" && times && times->isConstant() &&
                     ((options.coordinates == "asymmetric" && options.nearest == "floor") ||
                      options.coordinates == "half_pixel" || options.coordinates == "pytorch_half_pixel");
      if (!repeats)
        return node.fail(
            "axis " + std::to_string(dimension) +
            " has a symbolic size; only nearest resizing by a whole factor works on one. Give the inputs a "
            "shape");
      x = repeatElements(b, x, dimension, times->getConstant());
      continue;
    }
    Axis axis{size.getConstant(), 0, scale, 0, 1};
    if (request.scales.empty()) {
      axis.output = request.sizes[i].getConstant();
      axis.scale = request.commonScale ? *request.commonScale
                   : axis.input        ? static_cast<double>(axis.output) / static_cast<double>(axis.input)
                                       : 1;
    } else {
      double wanted = std::floor(static_cast<double>(axis.input) * scale);
      if (!(wanted >= 0 && wanted <= (1 << 24)))
        return node.fail("axis " + std::to_string(dimension) + " would have a size beyond 2^24");
      axis.output = static_cast<int64_t>(wanted);
    }
    if (axis.output < 0 || axis.output > (1 << 24) || (axis.input == 0 && axis.output != 0))
      return node.fail("axis " + std::to_string(dimension) + " of size " + std::to_string(axis.input) +
                       " cannot become " + std::to_string(axis.output));
    if (!request.roi.empty()) {
      axis.roiStart = request.roi[i];
      axis.roiEnd = request.roi[i + request.axes.size()];
    }
    x = resizeAxis(b, x, dimension, options, axis);
  }
  if (widens && isa<IntegerType>(element))
    x = b.unary<RoundNearestEvenOp>(x);
  return node.output(0, b.convert(x, element));
}

std::optional<SmallVector<double>> floatInput(Node &node, int64_t index, StringRef what) {
  std::optional<TensorValue> value = node.constant(index, what);
  if (!value)
    return std::nullopt;
  SmallVector<double> elements;
  for (int64_t i = 0; i < value->getElementCount(); ++i)
    elements.push_back(isFloatElement(value->getElementType()) ? value->getFloat(i)
                                                               : static_cast<double>(value->getInteger(i)));
  return elements;
}

bool isEmptyInput(Node &node, int64_t index) {
  return !node.has(index) || getElementCount(node.input(index).getType()) == node.b.size(0);
}

LogicalResult importResize(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  ResizeOptions options;
  Request request;
  options.mode = node.string("mode", "nearest");
  bool old = node.opset() < 11;
  options.coordinates = old ? "asymmetric" : node.string("coordinate_transformation_mode", "half_pixel");
  options.nearest = old ? "floor" : node.string("nearest_mode", "round_prefer_floor");
  options.cubicA = node.real("cubic_coeff_a", -0.75);
  options.extrapolation = node.real("extrapolation_value", 0);
  options.excludeOutside = node.integer("exclude_outside", 0) != 0;
  options.antialias = node.integer("antialias", 0) != 0;
  std::string policy = node.string("keep_aspect_ratio_policy", "stretch");
  static constexpr StringRef kCoordinates[] = {"half_pixel",        "half_pixel_symmetric", "pytorch_half_pixel",
                                               "align_corners",     "asymmetric",           "tf_half_pixel_for_nn",
                                               "tf_crop_and_resize"};
  static constexpr StringRef kNearest[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  if (!llvm::is_contained(kCoordinates, options.coordinates))
    return node.fail("attribute 'coordinate_transformation_mode': Weft knows no mode '" + options.coordinates + "'");
  if (!llvm::is_contained(kNearest, options.nearest))
    return node.fail("attribute 'nearest_mode': Weft knows no mode '" + options.nearest + "'");
  if (options.mode != "nearest" && options.mode != "linear" && options.mode != "cubic")
    return node.fail("attribute 'mode': expected nearest, linear or cubic, got '" + options.mode + "'");
  for (int64_t i = 0; i < b.rank(x); ++i)
    request.axes.push_back(i);
  if (node.hasAttribute("axes"))
    request.axes = node.axes(node.integerList("axes"), b.rank(x));
  if (node.failed())
    return failure();
  size_t count = request.axes.size();
  int64_t scalesInput = old ? 1 : 2;
  if (!isEmptyInput(node, scalesInput)) {
    std::optional<SmallVector<double>> scales = floatInput(node, scalesInput, "the scales");
    if (!scales)
      return failure();
    if (scales->size() != count ||
        !llvm::all_of(*scales, [](double scale) { return scale > 0 && std::isfinite(scale); }))
      return node.fail("expected " + std::to_string(count) + " positive scales");
    request.scales = *scales;
  } else if (!old && !isEmptyInput(node, 3)) {
    std::optional<SmallVector<Dim>> sizes = node.sizes(3, "the sizes");
    if (!sizes)
      return failure();
    if (sizes->size() != count)
      return node.fail("expected " + std::to_string(count) + " sizes");
    request.sizes = *sizes;
  } else {
    return node.fail("expected scales or sizes");
  }
  if (options.coordinates == "tf_crop_and_resize") {
    std::optional<SmallVector<double>> roi = floatInput(node, 1, "the region of interest");
    if (!roi)
      return failure();
    if (roi->size() != 2 * count)
      return node.fail("expected a region of interest of " + std::to_string(2 * count) + " numbers");
    request.roi = *roi;
  }
  if (policy != "stretch" && !request.sizes.empty()) {
    if (policy != "not_larger" && policy != "not_smaller")
      return node.fail("attribute 'keep_aspect_ratio_policy': expected stretch, not_larger or not_smaller");
    std::optional<double> common;
    for (auto [axis, size] : llvm::zip(request.axes, request.sizes)) {
      if (!size.isConstant() || !b.dim(x, axis).isConstant() || b.dim(x, axis).getConstant() == 0)
        return node.fail("keep_aspect_ratio_policy needs sizes that are integers; give the inputs a shape");
      double scale = static_cast<double>(size.getConstant()) / static_cast<double>(b.dim(x, axis).getConstant());
      common = !common ? scale : policy == "not_larger" ? std::min(*common, scale) : std::max(*common, scale);
    }
    for (auto [axis, size] : llvm::zip(request.axes, request.sizes))
      size =
          b.size(static_cast<int64_t>(std::floor(*common * static_cast<double>(b.dim(x, axis).getConstant()) + 0.5)));
    request.commonScale = common;
  }
  return resize(node, x, options, request);
}

LogicalResult importUpsample(Node &node) {
  Builder &b = node.b;
  Value x = node.input(0);
  ResizeOptions options;
  Request request;
  options.mode = node.string("mode", "nearest");
  options.coordinates = "asymmetric";
  options.nearest = "floor";
  if (options.mode == "bilinear")
    options.mode = "linear";
  if (options.mode != "nearest" && options.mode != "linear")
    return node.fail("attribute 'mode': expected nearest or linear, got '" + options.mode + "'");
  for (int64_t i = 0; i < b.rank(x); ++i)
    request.axes.push_back(i);
  if (node.opset() < 7) {
    request.scales = {1, 1, node.real("height_scale", 1), node.real("width_scale", 1)};
  } else if (node.opset() < 9) {
    request.scales = node.realList("scales");
  } else {
    std::optional<SmallVector<double>> scales = floatInput(node, 1, "the scales");
    if (!scales)
      return failure();
    request.scales = *scales;
  }
  if (request.scales.size() != request.axes.size() ||
      !llvm::all_of(request.scales, [](double scale) { return scale >= 1 && std::isfinite(scale); }))
    return node.fail("expected one scale of at least 1 a dimension");
  return resize(node, x, options, request);
}

} // namespace

void addResizeHandlers(HandlerTable &table) {
  table.add("Resize", importResize);
  table.add("Upsample", importUpsample);
}

} // namespace weft::importer
