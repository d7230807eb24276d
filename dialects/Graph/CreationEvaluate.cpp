//===- CreationEvaluate.cpp - Values of the creation ops, from their definitions ------------------===//

#include "dialects/Graph/Creation.h"
#include "dialects/Graph/Evaluation.h"

using namespace mlir;

namespace weft::graph {

LogicalResult ConstantOp::evaluate(ArrayRef<TensorValue>, SmallVectorImpl<TensorValue> &results, EvaluationContext &) {
  results.push_back(TensorValue::fromAttribute(getValue()));
  return success();
}

LogicalResult IotaOp::evaluate(ArrayRef<TensorValue>, SmallVectorImpl<TensorValue> &results,
                               EvaluationContext &context) {
  SmallVector<int64_t> shape = context.getShape(getType());
  TensorValue result(elementType(getOutput()), shape);
  int64_t size = shape[getIotaDimension()], stride = rowMajorStrides(shape)[getIotaDimension()];
  int64_t count = result.getElementCount();
  parallelFor((count + kBlock - 1) / kBlock, kParallelElements / kBlock, [&](int64_t begin, int64_t end) {
    int64_t values[kBlock];
    for (int64_t at = begin * kBlock, last = std::min(end * kBlock, count); at < last; at += kBlock) {
      int64_t length = std::min(kBlock, last - at);
      for (int64_t i = 0; i < length; ++i)
        values[i] = (at + i) / stride % size;
      result.write(at, ArrayRef<int64_t>(values, length));
    }
  });
  results.push_back(result);
  return success();
}

} // namespace weft::graph
