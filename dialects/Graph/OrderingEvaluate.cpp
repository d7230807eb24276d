//===- OrderingEvaluate.cpp - Values of the ordering ops, from their definitions --------------------===//

#include "dialects/Graph/Evaluation.h"
#include "dialects/Graph/Ordering.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <cstring>
#include <numeric>

using namespace mlir;

namespace weft::graph {

namespace {

/// Lines of a tensor along a dimension, and the order of the elements of each: NaNs after every other value, equal to
/// each other; -0 equal to +0.
class LineOrder {
public:
  LineOrder(const TensorValue &keys, int64_t dimension)
      : keys(keys), length(keys.getShape()[dimension]), stride(rowMajorStrides(keys.getShape())[dimension]) {}

  int64_t getLineCount() const { return length ? keys.getElementCount() / length : 0; }
  int64_t getLength() const { return length; }
  /// Where element `index` of a line is.
  int64_t at(int64_t line, int64_t index) const {
    return line / stride * stride * length + line % stride + index * stride;
  }

  /// Indices along the line, sorted stably.
  SmallVector<int64_t> sort(int64_t line, bool descending) const {
    SmallVector<int64_t> order(length);
    std::iota(order.begin(), order.end(), 0);
    auto sortBy = [&](const auto &values) {
      llvm::sort(order, [&](int64_t a, int64_t b) {
        bool isBefore = isLess(values[a], values[b]), isAfter = isLess(values[b], values[a]);
        return isBefore == isAfter ? a < b : isBefore != descending;
      });
    };
    Type type = keys.getElementType();
    if (isFloatElement(type)) {
      SmallVector<double> values(length);
      for (int64_t i = 0; i < length; ++i)
        values[i] = keys.getFloat(at(line, i));
      sortBy(values);
    } else if (isUnsignedElement(type) || isBoolElement(type)) {
      SmallVector<uint64_t> values(length);
      for (int64_t i = 0; i < length; ++i)
        values[i] = static_cast<uint64_t>(keys.getInteger(at(line, i)));
      sortBy(values);
    } else {
      SmallVector<int64_t> values(length);
      for (int64_t i = 0; i < length; ++i)
        values[i] = keys.getInteger(at(line, i));
      sortBy(values);
    }
    return order;
  }

private:
  static bool isLess(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }
  static bool isLess(int64_t a, int64_t b) { return a < b; }
  static bool isLess(uint64_t a, uint64_t b) { return a < b; }

  const TensorValue &keys;
  int64_t length, stride;
};

void copyElement(TensorValue &to, int64_t toIndex, const TensorValue &from, int64_t fromIndex) {
  size_t bytes = storageBits(to.getElementType()) / 8;
  std::memcpy(to.mutableDataAs<char>() + static_cast<size_t>(toIndex) * bytes,
              from.dataAs<char>() + static_cast<size_t>(fromIndex) * bytes, bytes);
}

int64_t linesAThread(int64_t length) { return kParallelElements / 16 / std::max<int64_t>(length, 1) + 1; }

} // namespace

LogicalResult SortOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &) {
  SmallVector<TensorValue> from, to;
  for (const TensorValue &operand : operands) {
    from.push_back(unpack(operand));
    to.emplace_back(from.back().getElementType(), operand.getShape());
  }
  LineOrder lines(operands[0], getDimension());
  parallelFor(lines.getLineCount(), linesAThread(lines.getLength()), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line)
      for (auto [place, index] : llvm::enumerate(lines.sort(line, getDescending())))
        for (auto [target, source] : llvm::zip_equal(to, from))
          copyElement(target, lines.at(line, static_cast<int64_t>(place)), source, lines.at(line, index));
  });
  for (auto [target, operand] : llvm::zip_equal(to, operands))
    results.push_back(pack(target, operand.getElementType()));
  return success();
}

LogicalResult TopKOp::evaluate(ArrayRef<TensorValue> operands, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &) {
  TensorValue operand = unpack(operands[0]);
  int64_t dimension = getDimension(), k = getK();
  SmallVector<int64_t> shape(operand.getShape());
  if (k > shape[dimension])
    return emitOpError("k = ") << k << " is larger than the size " << shape[dimension] << " of dimension " << dimension;
  LineOrder lines(operands[0], dimension);
  shape[dimension] = k;
  TensorValue values(operand.getElementType(), shape), indices(IntegerType::get(getContext(), 64), shape);
  int64_t stride = rowMajorStrides(shape)[dimension];
  parallelFor(lines.getLineCount(), linesAThread(lines.getLength()), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      SmallVector<int64_t> order = lines.sort(line, getLargest());
      for (int64_t place = 0; place < k; ++place) {
        int64_t target = line / stride * stride * k + line % stride + place * stride;
        copyElement(values, target, operand, lines.at(line, order[place]));
        indices.setInteger(target, order[place]);
      }
    }
  });
  results.push_back(pack(values, operands[0].getElementType()));
  results.push_back(pack(indices, getIndexType()));
  return success();
}

} // namespace weft::graph
