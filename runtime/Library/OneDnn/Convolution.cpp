// Convolution as tiles of output rows (the first spatial dimension), or of several images when they are small.
#include "runtime/Library/OneDnn/Tiled.h"

#include <algorithm>
#include <array>

namespace weft::runtime::onednn {
namespace {

Status unsuitable(const std::string &reason) { return Status(StatusCode::UnsupportedDevice, reason); }

int64_t ceilDivide(int64_t value, int64_t divisor) { return (value + divisor - 1) / divisor; }

// The dims of a convolution, spatial ones outermost first. Those in which a single element meets a single weight are
// left out but for one: oneDNN's inner loop runs along the last, which had better be a long one.
struct Extents {
  int64_t images, inputChannels, outputChannels, groupInputs, groupOutputs;
  std::vector<int64_t> input, kernel, output;
  std::vector<int64_t> strides, dilations, paddingLow, paddingHigh;
};

// What a tile of output rows reads: input rows [begin, end) and padding beyond the image at either side.
struct RowWindow {
  int64_t begin, end, paddingLow, paddingHigh;
};

class ConvolutionOperation : public TiledOperation {
public:
  using TiledOperation::TiledOperation;

protected:
  bool canPack(const LibrarySizes &) const override { return true; }
  Status cut(const LibrarySizes &sizes, const TensorReference *operands, Cut &result) const override;
  dnnl_status_t describe(const KernelForm &form, const Kernel &kernel, const dnnl_memory_desc_t &weights, bool hasBias,
                         const Attributes &attributes, PrimitiveDescription &result) const override;

private:
  const Convolution &convolution() const { return std::get<Convolution>(call_.operation); }
  Status measure(const TensorReference *operands, Extents &extents) const;
  Status checkEpilogue(const TensorReference *operands, const Extents &extents) const;
  View weightsView(const Extents &extents) const;
  RowWindow window(const Extents &extents, int64_t firstRow, int64_t rows) const;
  KernelForm makeForm(const Extents &extents, int64_t images, int64_t rows, const RowWindow &rowWindow) const;
};

// (N, spatial..., C) in memory, in oneDNN's order N, C, spatial...
View channelsLast(int64_t images, const std::vector<int64_t> &spatial, int64_t channels) {
  View view;
  view.dims = {images, channels};
  view.dims.insert(view.dims.end(), spatial.begin(), spatial.end());
  view.strides.assign(view.dims.size(), 1);
  int64_t stride = channels;
  for (size_t axis = view.dims.size(); axis-- > 2;) {
    view.strides[axis] = stride;
    stride *= view.dims[axis];
  }
  view.strides[0] = stride;
  return view;
}

int64_t product(const std::vector<int64_t> &values) {
  int64_t result = 1;
  for (int64_t value : values)
    result *= value;
  return result;
}

Status ConvolutionOperation::measure(const TensorReference *operands, Extents &extents) const {
  const TensorReference &input = operands[0], &weights = operands[1], &output = operands[2];
  size_t spatial = input.rank - 2;
  extents.images = input.dims[0];
  extents.inputChannels = input.dims[input.rank - 1];
  extents.outputChannels = output.dims[output.rank - 1];
  extents.input.assign(input.dims + 1, input.dims + 1 + spatial);
  extents.output.assign(output.dims + 1, output.dims + 1 + spatial);
  int64_t weightOutputs, weightInputs;
  const int64_t *kernelDims;
  switch (convolution().weightsLayout) {
  case ConvolutionWeightsLayout::SpatialIO:
    kernelDims = weights.dims;
    weightInputs = weights.dims[spatial];
    weightOutputs = weights.dims[spatial + 1];
    break;
  case ConvolutionWeightsLayout::OISpatial:
    weightOutputs = weights.dims[0];
    weightInputs = weights.dims[1];
    kernelDims = weights.dims + 2;
    break;
  default:
    weightOutputs = weights.dims[0];
    kernelDims = weights.dims + 1;
    weightInputs = weights.dims[spatial + 1];
    break;
  }
  extents.kernel.assign(kernelDims, kernelDims + spatial);
  extents.strides = convolution().strides;
  extents.dilations = convolution().dilations;
  extents.paddingLow = convolution().paddingLow;
  extents.paddingHigh = convolution().paddingHigh;
  for (size_t axis = spatial; axis-- > 0 && extents.kernel.size() > 1;)
    if (extents.input[axis] == 1 && extents.kernel[axis] == 1 && extents.output[axis] == 1 &&
        extents.paddingLow[axis] == 0 && extents.paddingHigh[axis] == 0)
      for (std::vector<int64_t> *values : {&extents.input, &extents.kernel, &extents.output, &extents.strides,
                                           &extents.dilations, &extents.paddingLow, &extents.paddingHigh})
        values->erase(values->begin() + static_cast<std::ptrdiff_t>(axis));
  spatial = extents.kernel.size();
  int64_t groups = convolution().groups;
  extents.groupInputs = weightInputs;
  extents.groupOutputs = weightOutputs / groups;
  if (elementCount(input) == 0 || elementCount(weights) == 0 || elementCount(output) == 0)
    return unsuitable("an operand is empty");
  if (output.dims[0] != extents.images || weightOutputs != extents.outputChannels || weightOutputs % groups != 0 ||
      weightInputs * groups != extents.inputChannels)
    return unsuitable("the operands' channels or images do not fit each other");
  for (size_t axis = 0; axis < spatial; ++axis) {
    int64_t reach = (extents.kernel[axis] - 1) * extents.dilations[axis] + 1;
    int64_t padded = extents.input[axis] + extents.paddingLow[axis] + extents.paddingHigh[axis];
    if (extents.paddingLow[axis] < 0 || extents.paddingHigh[axis] < 0)
      return unsuitable("negative padding is left to our kernel");
    if (padded < reach || (padded - reach) / extents.strides[axis] + 1 != extents.output[axis])
      return unsuitable("the output's spatial dims do not fit the convolution");
    if (extents.paddingLow[axis] >= reach || extents.paddingHigh[axis] >= reach)
      return unsuitable("padding as wide as the kernel is left to our kernel");
  }
  return Status();
}

Status ConvolutionOperation::checkEpilogue(const TensorReference *operands, const Extents &extents) const {
  for (size_t index = 0; index < 3 + call_.epilogue.size(); ++index)
    if ((index < 3 || hasOperand(call_.epilogue[index - 3].kind)) &&
        dataType(operands[index].type) == dnnl_data_type_undef)
      return unsuitable("element type " + std::string(elementTypeName(operands[index].type)) +
                        " is left to our kernel");
  for (size_t index = 0; index < call_.epilogue.size(); ++index) {
    const PostOp &step = call_.epilogue[index];
    if (!hasOperand(step.kind))
      continue;
    bool column = step.kind == PostOpKind::Bias || step.broadcast == PostOpBroadcast::Column;
    int64_t expected = column                                      ? extents.outputChannels
                       : step.broadcast == PostOpBroadcast::Scalar ? 1
                                                                   : elementCount(operands[2]);
    if (elementCount(operands[3 + index]) != expected)
      return unsuitable("an epilogue operand has another size than the output");
  }
  return Status();
}

// In oneDNN's order ([groups,] O, I, spatial...), strides by the stored layout.
View ConvolutionOperation::weightsView(const Extents &extents) const {
  int64_t outputs = extents.outputChannels, inputs = extents.groupInputs;
  int64_t positions = product(extents.kernel);
  int64_t outputStride, inputStride, positionStride;
  switch (convolution().weightsLayout) {
  case ConvolutionWeightsLayout::SpatialIO:
    outputStride = 1;
    inputStride = outputs;
    positionStride = inputs * outputs;
    break;
  case ConvolutionWeightsLayout::OISpatial:
    outputStride = inputs * positions;
    inputStride = positions;
    positionStride = 1;
    break;
  default:
    outputStride = inputs * positions;
    inputStride = 1;
    positionStride = inputs;
    break;
  }
  View view;
  if (convolution().groups > 1) {
    view.dims = {convolution().groups};
    view.strides = {extents.groupOutputs * outputStride};
  }
  view.dims.insert(view.dims.end(), {extents.groupOutputs, inputs});
  view.strides.insert(view.strides.end(), {outputStride, inputStride});
  std::vector<int64_t> strides(extents.kernel.size());
  for (size_t axis = extents.kernel.size(); axis-- > 0;) {
    strides[axis] = positionStride;
    positionStride *= extents.kernel[axis];
  }
  view.dims.insert(view.dims.end(), extents.kernel.begin(), extents.kernel.end());
  view.strides.insert(view.strides.end(), strides.begin(), strides.end());
  return view;
}

RowWindow ConvolutionOperation::window(const Extents &extents, int64_t firstRow, int64_t rows) const {
  int64_t reach = (extents.kernel[0] - 1) * extents.dilations[0] + 1;
  int64_t begin = firstRow * extents.strides[0] - extents.paddingLow[0];
  int64_t end = (firstRow + rows - 1) * extents.strides[0] - extents.paddingLow[0] + reach;
  RowWindow result;
  // A whole image keeps its rows that no step reaches, so that images stay evenly spaced in memory.
  if (rows == extents.output[0])
    return {0, extents.input[0], extents.paddingLow[0], extents.paddingHigh[0]};
  result.paddingLow = std::max<int64_t>(0, -begin);
  result.paddingHigh = std::max<int64_t>(0, end - extents.input[0]);
  result.begin = std::max<int64_t>(0, begin);
  result.end = std::min(extents.input[0], end);
  return result;
}

KernelForm ConvolutionOperation::makeForm(const Extents &extents, int64_t images, int64_t rows,
                                          const RowWindow &rowWindow) const {
  KernelForm form;
  std::vector<int64_t> input = extents.input, output = extents.output;
  input[0] = rowWindow.end - rowWindow.begin;
  output[0] = rows;
  form.source = channelsLast(images, input, extents.inputChannels);
  form.output = channelsLast(images, output, extents.outputChannels);
  form.weights = weightsView(extents);
  form.biasDims = {extents.outputChannels};
  form.columnDims.assign(input.size() + 2, 1);
  form.scalarDims = form.columnDims;
  form.columnDims[1] = extents.outputChannels;
  form.rows = images * product(output);
  form.columns = form.rowStride = extents.outputChannels;
  form.strides = extents.strides;
  for (int64_t dilation : extents.dilations)
    form.dilations.push_back(dilation - 1);
  form.paddingLow = extents.paddingLow;
  form.paddingHigh = extents.paddingHigh;
  form.paddingLow[0] = rowWindow.paddingLow;
  form.paddingHigh[0] = rowWindow.paddingHigh;
  return form;
}

Status ConvolutionOperation::cut(const LibrarySizes &, const TensorReference *operands, Cut &result) const {
  Extents extents;
  WEFT_RETURN_IF_ERROR(measure(operands, extents));
  WEFT_RETURN_IF_ERROR(checkEpilogue(operands, extents));
  // About a tenth of a millisecond on one core; fewer than two rows would read the weights too often.
  constexpr double kTileOperations = 8e6;
  double perRow = 2.0 * static_cast<double>(product(extents.output) / extents.output[0]) *
                  static_cast<double>(extents.outputChannels) * static_cast<double>(extents.groupInputs) *
                  static_cast<double>(product(extents.kernel));
  int64_t totalRows = extents.output[0];
  double wanted = kTileOperations / perRow;
  int64_t rows = totalRows, images = 1;
  if (wanted < static_cast<double>(totalRows)) {
    int64_t tiles = ceilDivide(totalRows, std::max<int64_t>(2, static_cast<int64_t>(wanted)));
    rows = ceilDivide(totalRows, tiles);
  } else {
    images = static_cast<int64_t>(
        std::max(1.0, std::min(wanted / static_cast<double>(totalRows), static_cast<double>(extents.images))));
  }
  int64_t inputRow = product(extents.input) / extents.input[0] * extents.inputChannels;
  int64_t outputRow = product(extents.output) / extents.output[0] * extents.outputChannels;
  std::map<std::array<int64_t, 5>, size_t> formIndex;
  for (int64_t image = 0; image < extents.images; image += images)
    for (int64_t row = 0; row < totalRows; row += rows) {
      int64_t tileImages = std::min(images, extents.images - image);
      int64_t tileRows = std::min(rows, totalRows - row);
      RowWindow rowWindow = window(extents, row, tileRows);
      if (rowWindow.begin >= rowWindow.end)
        return unsuitable("rows that lie in the padding alone are left to our kernel");
      std::array<int64_t, 5> key = {tileImages, tileRows, rowWindow.end - rowWindow.begin, rowWindow.paddingLow,
                                    rowWindow.paddingHigh};
      auto found = formIndex.find(key);
      if (found == formIndex.end()) {
        found = formIndex.emplace(key, result.forms.size()).first;
        result.forms.push_back(makeForm(extents, tileImages, tileRows, rowWindow));
      }
      Tile tile;
      tile.kernel = found->second;
      tile.source = (image * extents.input[0] + rowWindow.begin) * inputRow;
      tile.output = (image * totalRows + row) * outputRow;
      result.tiles.push_back(tile);
    }
  return Status();
}

dnnl_status_t ConvolutionOperation::describe(const KernelForm &form, const Kernel &kernel,
                                             const dnnl_memory_desc_t &weights, bool hasBias,
                                             const Attributes &attributes, PrimitiveDescription &result) const {
  dnnl_dims_t strides = {}, dilations = {}, low = {}, high = {};
  std::copy(form.strides.begin(), form.strides.end(), strides);
  std::copy(form.dilations.begin(), form.dilations.end(), dilations);
  std::copy(form.paddingLow.begin(), form.paddingLow.end(), low);
  std::copy(form.paddingHigh.begin(), form.paddingHigh.end(), high);
  dnnl_convolution_desc_t description;
  dnnl_status_t status = api_.dnnl_dilated_convolution_forward_desc_init(
      &description, dnnl_forward_inference, dnnl_convolution_direct, &kernel.source, &weights,
      hasBias ? &kernel.bias : nullptr, &kernel.output, strides, dilations, low, high);
  return status == dnnl_success
             ? api_.dnnl_primitive_desc_create(result.out(), &description, attributes.get(), api_.engine, nullptr)
             : status;
}

} // namespace

std::unique_ptr<TiledOperation> makeConvolution(const Api &api, const LibraryCall &call, const void *rightValue,
                                                const WeftAllocator &allocator) {
  return std::make_unique<ConvolutionOperation>(api, call, rightValue, allocator);
}

} // namespace weft::runtime::onednn
