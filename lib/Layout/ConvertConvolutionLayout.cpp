//===- ConvertConvolutionLayout.cpp - Convolutions become channels-last --------------------------------------===//

#include "dialects/Graph/Contraction.h"
#include "dialects/Graph/DataMovement.h"
#include "lib/Layout/Passes.h"
#include "lib/Layout/Permutation.h"

namespace weft {

#define GEN_PASS_DEF_CONVERTCONVOLUTIONLAYOUT
#include "lib/Layout/Passes.h.inc"

using namespace mlir;
using namespace weft::graph;
using namespace weft::layout;

namespace {

void convert(ConvolutionOp op) {
  ConvolutionDimensionsAttr numbers = op.getDimensionNumbers();
  ConvolutionDimensionsAttr canonical =
      getChannelsLastNumbers(op.getContext(), numbers.getInputSpatialDimensions().size());
  if (numbers == canonical)
    return;
  OpBuilder builder(op);
  SmallVector<int64_t> input = {numbers.getInputBatchDimension()}, kernel(numbers.getKernelSpatialDimensions()),
                       output = {numbers.getOutputBatchDimension()};
  llvm::append_range(input, numbers.getInputSpatialDimensions());
  input.push_back(numbers.getInputFeatureDimension());
  kernel.push_back(numbers.getKernelInputFeatureDimension());
  kernel.push_back(numbers.getKernelOutputFeatureDimension());
  llvm::append_range(output, numbers.getOutputSpatialDimensions());
  output.push_back(numbers.getOutputFeatureDimension());

  Value lhs = createTranspose(builder, op.getLoc(), op.getLhs(), input);
  Value rhs = createTranspose(builder, op.getLoc(), op.getRhs(), kernel);
  auto convolution = ConvolutionOp::create(builder, op.getLoc(), permuteType(op.getType(), output), lhs, rhs, canonical,
                                           op.getWindowStrides(), op.getPaddingLow(), op.getPaddingHigh(),
                                           op.getLhsDilation(), op.getRhsDilation(), op.getFeatureGroupCount());
  convolution->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
  op.replaceAllUsesWith(createTranspose(builder, op.getLoc(), convolution.getResult(), invert(output)));
  op.erase();
}

struct ConvertConvolutionLayoutPass : impl::ConvertConvolutionLayoutBase<ConvertConvolutionLayoutPass> {
  void runOnOperation() override {
    SmallVector<ConvolutionOp> convolutions;
    getOperation().walk([&](ConvolutionOp op) { convolutions.push_back(op); });
    llvm::for_each(convolutions, convert);
  }
};

} // namespace

} // namespace weft
