//===- ContractionEvaluate.cpp - Values of the contractions, from their definitions ----------------===//
//
// Both ops are one matrix multiplication a batch or group: a tile of each operand is gathered from wherever the op's
// definition says its elements are, widened, and multiplied. Floats accumulate in double, in which products of f32 and
// narrower are exact, and round once; integers wrap around.

#include "dialects/Graph/Contraction.h"
#include "dialects/Graph/Evaluation.h"
#include "llvm/ADT/STLExtras.h"
#include <memory>

#if defined(__x86_64__) && defined(__ELF__)
// Without contraction to FMA (off for all of our code) every clone computes the same bits.
#define WEFT_VECTOR_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define WEFT_VECTOR_CLONES
#endif

using namespace mlir;

namespace weft::graph {

namespace {

constexpr int64_t kTileRows = 128, kTileColumns = 128, kTileDepth = 256;
constexpr int64_t kMicroRows = 4, kMicroColumns = 16;

/// sums[kMicroRows][kTileColumns at columns] += left[depth][kMicroRows] * right[depth][kMicroColumns].
template <typename T>
inline __attribute__((always_inline)) void multiplyMicro(const T *left, const T *right, int64_t depth, T *sums) {
  T accumulator[kMicroRows][kMicroColumns] = {};
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t i = 0; i < kMicroRows; ++i)
      for (int64_t j = 0; j < kMicroColumns; ++j)
        accumulator[i][j] += left[k * kMicroRows + i] * right[k * kMicroColumns + j];
  for (int64_t i = 0; i < kMicroRows; ++i)
    for (int64_t j = 0; j < kMicroColumns; ++j)
      sums[i * kTileColumns + j] += accumulator[i][j];
}

WEFT_VECTOR_CLONES void multiplyMicroTile(const double *left, const double *right, int64_t depth, double *sums) {
  multiplyMicro(left, right, depth, sums);
}
void multiplyMicroTile(const uint64_t *left, const uint64_t *right, int64_t depth, uint64_t *sums) {
  multiplyMicro(left, right, depth, sums);
}

struct ProblemSize {
  int64_t batches, rows, columns, depth;
};

/// One tile of an operand: rows or columns [begin, begin + count) of a batch over depths [depthBegin, + depth).
struct TileRange {
  int64_t batch, begin, count, depthBegin, depth;
};

/// For every batch, result[row][column] = sum over k of left[row][k] * right[k][column].
///   load(side, range, out, width)   out[(i / width) * depth * width + k * width + i % width] = element i, k of `range`
///   store(batch, row, column, sums) takes `sums.size()` results from `column` on
template <typename T, typename LoadLeft, typename LoadRight, typename Store>
void multiply(const ProblemSize &size, LoadLeft loadLeft, LoadRight loadRight, Store store) {
  auto tiles = [](int64_t extent, int64_t tile) { return (extent + tile - 1) / tile; };
  int64_t rowTiles = tiles(size.rows, kTileRows), columnTiles = tiles(size.columns, kTileColumns);
  double work = static_cast<double>(std::min(size.rows, kTileRows)) *
                static_cast<double>(std::min(size.columns, kTileColumns)) * static_cast<double>(size.depth + 1);
  int64_t minimum = std::max<int64_t>(static_cast<int64_t>(1e6 / (work + 1)), 1);
  parallelFor(size.batches * rowTiles * columnTiles, minimum, [&](int64_t begin, int64_t end) {
    auto left = std::make_unique<T[]>(kTileRows * kTileDepth);
    auto right = std::make_unique<T[]>(kTileColumns * kTileDepth);
    auto sums = std::make_unique<T[]>(kTileRows * kTileColumns);
    for (int64_t tile = begin; tile < end; ++tile) {
      int64_t batch = tile / (rowTiles * columnTiles);
      int64_t row = tile / columnTiles % rowTiles * kTileRows, column = tile % columnTiles * kTileColumns;
      int64_t rows = std::min(kTileRows, size.rows - row), columns = std::min(kTileColumns, size.columns - column);
      std::fill_n(sums.get(), kTileRows * kTileColumns, T(0));
      for (int64_t k = 0; k < size.depth; k += kTileDepth) {
        int64_t depth = std::min(kTileDepth, size.depth - k);
        loadLeft({batch, row, rows, k, depth}, left.get());
        loadRight({batch, column, columns, k, depth}, right.get());
        for (int64_t i = 0; i < rows; i += kMicroRows)
          for (int64_t j = 0; j < columns; j += kMicroColumns)
            multiplyMicroTile(left.get() + i * depth, right.get() + j * depth, depth,
                              sums.get() + i * kTileColumns + j);
      }
      for (int64_t i = 0; i < rows; ++i)
        store(batch, row + i, column, ArrayRef<T>(sums.get() + i * kTileColumns, columns));
    }
  });
}

/// Where element `i` of a tile of `width`-wide panels of `depth` begins; its depths are `width` apart.
int64_t panelOffset(int64_t i, int64_t width, int64_t depth) { return i / width * depth * width + i % width; }

/// Zeros in the unused places of the last panel of a tile.
template <typename T> void clearRest(T *out, int64_t count, int64_t width, int64_t depth) {
  for (int64_t i = count; i % width != 0; ++i)
    for (int64_t k = 0; k < depth; ++k)
      out[panelOffset(i, width, depth) + k * width] = 0;
}

/// Offsets of all elements of a box with these sizes and strides, in row-major order.
SmallVector<int64_t> offsetsOf(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  SmallVector<int64_t> offsets;
  forEachIndex(sizes, [&](ArrayRef<int64_t> index) {
    int64_t offset = 0;
    for (auto [position, stride] : llvm::zip_equal(index, strides))
      offset += position * stride;
    offsets.push_back(offset);
  });
  return offsets;
}

/// An operand whose elements are at sums of an offset by batch, one by row (or column) and one by depth.
struct SeparableOperand {
  const void *data = nullptr;
  SmallVector<int64_t> batchOffsets, rowOffsets, depthOffsets;

  template <typename Stored, typename T> void load(const TileRange &range, T *out, int64_t width) const {
    const Stored *base = static_cast<const Stored *>(data) + batchOffsets[range.batch];
    for (int64_t i = 0; i < range.count; ++i) {
      const Stored *row = base + rowOffsets[range.begin + i];
      T *target = out + panelOffset(i, width, range.depth);
      for (int64_t k = 0; k < range.depth; ++k)
        target[k * width] = static_cast<T>(row[depthOffsets[range.depthBegin + k]]);
    }
    clearRest(out, range.count, width, range.depth);
  }
};

/// Narrow floats as f32 and packed integers as bytes, so that few storage types are left.
TensorValue widen(const TensorValue &value) {
  Type type = value.getElementType();
  if (!isFloatElement(type) || storageBits(type) >= 32)
    return unpack(value);
  TensorValue wide(Float32Type::get(type.getContext()), value.getShape());
  int64_t count = value.getElementCount();
  parallelFor((count + kBlock - 1) / kBlock, kParallelElements / kBlock, [&](int64_t begin, int64_t end) {
    double buffer[kBlock];
    for (int64_t at = begin * kBlock, last = std::min(end * kBlock, count); at < last; at += kBlock) {
      MutableArrayRef<double> elements(buffer, std::min(kBlock, last - at));
      value.read(at, elements);
      wide.write(at, elements);
    }
  });
  return wide;
}

/// Calls `body(stored, accumulated)` with a value of the storage type and one of the accumulation type.
template <typename Body> void withStorage(Type type, Body body) {
  if (type.isF32())
    return body(float(), double());
  if (type.isF64())
    return body(double(), double());
  bool isUnsigned = isUnsignedElement(type) || isBoolElement(type);
  switch (storageBits(type)) {
  case 64:
    return body(uint64_t(), uint64_t());
  case 32:
    return isUnsigned ? body(uint32_t(), uint64_t()) : body(int32_t(), uint64_t());
  case 16:
    return isUnsigned ? body(uint16_t(), uint64_t()) : body(int16_t(), uint64_t());
  default:
    return isUnsigned ? body(uint8_t(), uint64_t()) : body(int8_t(), uint64_t());
  }
}

/// Writes sums of either accumulation type.
void writeSums(TensorValue &result, int64_t at, ArrayRef<double> sums) { result.write(at, sums); }
void writeSums(TensorValue &result, int64_t at, ArrayRef<uint64_t> sums) {
  result.write(at, ArrayRef<int64_t>(reinterpret_cast<const int64_t *>(sums.data()), sums.size()));
}

/// A result in which threads may write neighbours, to be packed when it is done.
TensorValue makeResult(Type type, ArrayRef<int64_t> shape) { return unpack(TensorValue(type, shape)); }

} // namespace

LogicalResult DotGeneralOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                     EvaluationContext &context) {
  TensorValue lhs = widen(operands[0]), rhs = widen(operands[1]);
  TensorValue result = makeResult(elementType(getResult()), context.getShape(getType()));
  auto separate = [](const TensorValue &value, ArrayRef<int64_t> batching, ArrayRef<int64_t> contracting) {
    SmallVector<int64_t> strides = rowMajorStrides(value.getShape());
    auto offsetsAlong = [&](ArrayRef<int64_t> dimensions) {
      SmallVector<int64_t> sizes, steps;
      for (int64_t dimension : dimensions) {
        sizes.push_back(value.getShape()[dimension]);
        steps.push_back(strides[dimension]);
      }
      return offsetsOf(sizes, steps);
    };
    SmallVector<int64_t> free;
    for (int64_t i = 0; i < value.getRank(); ++i)
      if (!llvm::is_contained(batching, i) && !llvm::is_contained(contracting, i))
        free.push_back(i);
    return SeparableOperand{value.getData(), offsetsAlong(batching), offsetsAlong(free), offsetsAlong(contracting)};
  };
  SeparableOperand left = separate(lhs, getLhsBatchingDimensions(), getLhsContractingDimensions());
  SeparableOperand right = separate(rhs, getRhsBatchingDimensions(), getRhsContractingDimensions());
  ProblemSize size{static_cast<int64_t>(left.batchOffsets.size()), static_cast<int64_t>(left.rowOffsets.size()),
                   static_cast<int64_t>(right.rowOffsets.size()), static_cast<int64_t>(left.depthOffsets.size())};
  withStorage(lhs.getElementType(), [&](auto stored, auto accumulated) {
    using Stored = decltype(stored);
    using T = decltype(accumulated);
    multiply<T>(
        size, [&](const TileRange &range, T *out) { left.load<Stored>(range, out, kMicroRows); },
        [&](const TileRange &range, T *out) { right.load<Stored>(range, out, kMicroColumns); },
        [&](int64_t batch, int64_t row, int64_t column, ArrayRef<T> sums) {
          writeSums(result, (batch * size.rows + row) * size.columns + column, sums);
        });
  });
  results.push_back(pack(result, elementType(getResult())));
  return success();
}

namespace {

/// The input of a convolution as a matrix: a column is a position of the output in one image, a depth one tap of the
/// kernel in one input feature.
struct WindowOperand {
  const void *data = nullptr;
  int64_t spatialRank = 0;
  int64_t groupStride = 0;                           // from the features of one group to those of the next
  SmallVector<int64_t> sizes, strides, dilation;     // of the input's spatial dimensions
  SmallVector<int64_t> columnOffsets, columnCorners; // by column: of its image; its window's corner, spatialRank each
  SmallVector<int64_t> depthOffsets, depthTaps;      // by depth: of its feature; its place in the window

  template <typename Stored, typename T> void load(const TileRange &range, T *out, int64_t width) const {
    const Stored *base = static_cast<const Stored *>(data) + range.batch * groupStride;
    for (int64_t i = 0; i < range.count; ++i) {
      const int64_t *corner = &columnCorners[(range.begin + i) * spatialRank];
      T *target = out + panelOffset(i, width, range.depth);
      for (int64_t k = 0; k < range.depth; ++k) {
        const int64_t *tap = &depthTaps[(range.depthBegin + k) * spatialRank];
        int64_t offset = columnOffsets[range.begin + i] + depthOffsets[range.depthBegin + k];
        bool inside = true;
        for (int64_t s = 0; s < spatialRank && inside; ++s) {
          int64_t at = corner[s] + tap[s];
          if (dilation[s] != 1) {
            inside = at >= 0 && at % dilation[s] == 0;
            at /= dilation[s];
          }
          inside &= static_cast<uint64_t>(at) < static_cast<uint64_t>(sizes[s]);
          offset += at * strides[s];
        }
        target[k * width] = inside ? static_cast<T>(base[offset]) : T(0);
      }
    }
    clearRest(out, range.count, width, range.depth);
  }
};

template <typename T> SmallVector<T> pick(ArrayRef<T> from, ArrayRef<int64_t> positions) {
  SmallVector<T> picked;
  for (int64_t position : positions)
    picked.push_back(from[position]);
  return picked;
}

} // namespace

LogicalResult ConvolutionOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                                      EvaluationContext &context) {
  TensorValue input = widen(operands[0]), kernel = widen(operands[1]);
  ConvolutionDimensionsAttr numbers = getDimensionNumbers();
  SmallVector<int64_t> shape = context.getShape(getType());
  SmallVector<int64_t> inputStrides = rowMajorStrides(input.getShape()),
                       kernelStrides = rowMajorStrides(kernel.getShape());
  ArrayRef<int64_t> inputSpatial = numbers.getInputSpatialDimensions(),
                    kernelSpatial = numbers.getKernelSpatialDimensions(),
                    outputSpatial = numbers.getOutputSpatialDimensions();
  size_t spatialRank = inputSpatial.size();
  int64_t groups = static_cast<int64_t>(getFeatureGroupCount());
  int64_t images = input.getShape()[numbers.getInputBatchDimension()];
  int64_t inputFeatures = kernel.getShape()[numbers.getKernelInputFeatureDimension()];
  int64_t outputFeatures = kernel.getShape()[numbers.getKernelOutputFeatureDimension()];
  SmallVector<int64_t> outputSizes = pick<int64_t>(shape, outputSpatial);

  // Rows are output features, depths (tap, input feature), columns (image, output position).
  SmallVector<int64_t> depthSizes = pick<int64_t>(kernel.getShape(), kernelSpatial),
                       kernelDepthStrides = pick<int64_t>(kernelStrides, kernelSpatial);
  depthSizes.push_back(inputFeatures);
  kernelDepthStrides.push_back(kernelStrides[numbers.getKernelInputFeatureDimension()]);
  int64_t kernelFeatureStride = kernelStrides[numbers.getKernelOutputFeatureDimension()];
  SeparableOperand left;
  left.data = kernel.getData();
  left.batchOffsets = offsetsOf(groups, outputFeatures / groups * kernelFeatureStride);
  left.rowOffsets = offsetsOf(outputFeatures / groups, kernelFeatureStride);
  left.depthOffsets = offsetsOf(depthSizes, kernelDepthStrides);

  WindowOperand right;
  right.data = input.getData();
  right.spatialRank = static_cast<int64_t>(spatialRank);
  right.groupStride = inputFeatures * inputStrides[numbers.getInputFeatureDimension()];
  right.sizes = pick<int64_t>(input.getShape(), inputSpatial);
  right.strides = pick<int64_t>(inputStrides, inputSpatial);
  right.dilation.assign(getLhsDilation().begin(), getLhsDilation().end());
  forEachIndex(depthSizes, [&](ArrayRef<int64_t> index) {
    right.depthOffsets.push_back(index.back() * inputStrides[numbers.getInputFeatureDimension()]);
    for (size_t s = 0; s < spatialRank; ++s)
      right.depthTaps.push_back(index[s] * getRhsDilation()[s]);
  });
  SmallVector<int64_t> columnSizes(1, images);
  llvm::append_range(columnSizes, outputSizes);
  forEachIndex(columnSizes, [&](ArrayRef<int64_t> index) {
    right.columnOffsets.push_back(index[0] * inputStrides[numbers.getInputBatchDimension()]);
    for (size_t s = 0; s < spatialRank; ++s)
      right.columnCorners.push_back(index[s + 1] * getWindowStrides()[s] - getPaddingLow()[s]);
  });

  // Computed with features first, then moved to where the output has them.
  SmallVector<int64_t> computedShape(1, outputFeatures);
  llvm::append_range(computedShape, columnSizes);
  TensorValue computed = makeResult(elementType(getResult()), computedShape);
  ProblemSize size{groups, outputFeatures / groups, static_cast<int64_t>(right.columnOffsets.size()),
                   static_cast<int64_t>(right.depthOffsets.size())};
  withStorage(input.getElementType(), [&](auto stored, auto accumulated) {
    using Stored = decltype(stored);
    using T = decltype(accumulated);
    multiply<T>(
        size, [&](const TileRange &range, T *out) { left.load<Stored>(range, out, kMicroRows); },
        [&](const TileRange &range, T *out) { right.load<Stored>(range, out, kMicroColumns); },
        [&](int64_t group, int64_t row, int64_t column, ArrayRef<T> sums) {
          writeSums(computed, (group * size.rows + row) * size.columns + column, sums);
        });
  });
  TensorValue result(computed.getElementType(), shape);
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  Strided to;
  to.strides = {strides[numbers.getOutputFeatureDimension()], strides[numbers.getOutputBatchDimension()]};
  llvm::append_range(to.strides, pick<int64_t>(strides, outputSpatial));
  copyStrided(result, to, computed, {0, rowMajorStrides(computedShape)}, computedShape);
  results.push_back(pack(result, elementType(getResult())));
  return success();
}

} // namespace weft::graph
