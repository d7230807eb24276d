//===- LibraryCalls.cpp - What of a library_call's region a library can do ---------------------------------===//

#include "lib/Schedule/LibraryCalls.h"
#include "dialects/Graph/Graph.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace weft::graph;

namespace weft::schedule {

namespace {

//===----------------------------------------------------------------------===//
// The contraction
//===----------------------------------------------------------------------===//

bool isRange(ArrayRef<int64_t> list, int64_t begin) {
  for (auto [offset, value] : llvm::enumerate(list))
    if (value != begin + static_cast<int64_t>(offset))
      return false;
  return true;
}

Dim sizeOf(Type type, ArrayRef<int64_t> dimensions) {
  Dim size = Dim::constant(type.getContext(), 1);
  for (int64_t dimension : dimensions)
    size = size * getDim(type, dimension);
  return size;
}

SmallVector<int64_t> otherDimensions(int64_t rank, ArrayRef<int64_t> batching, ArrayRef<int64_t> contracting) {
  SmallVector<int64_t> rest;
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(batching, i) && !llvm::is_contained(contracting, i))
      rest.push_back(i);
  return rest;
}

/// Whether one side is stored as [batch, free, contracting] (`transposed` false) or [batch, contracting, free] (true).
bool matchSide(int64_t rank, ArrayRef<int64_t> batching, ArrayRef<int64_t> contracting, ArrayRef<int64_t> rest,
               bool contractingLast, bool &transposed) {
  int64_t begin = batching.size();
  if (!isRange(batching, 0))
    return false;
  bool freeFirst = isRange(rest, begin) && isRange(contracting, begin + rest.size());
  bool contractingFirst = isRange(contracting, begin) && isRange(rest, begin + contracting.size());
  if (!freeFirst && !contractingFirst)
    return false;
  transposed = contractingLast ? !freeFirst : !contractingFirst;
  return true;
}

bool matchMatmul(DotGeneralOp dot, LibraryPlan &plan) {
  RankedTensorType lhs = tensorType(dot.getLhs()), rhs = tensorType(dot.getRhs());
  ArrayRef<int64_t> leftBatch = dot.getLhsBatchingDimensions(), rightBatch = dot.getRhsBatchingDimensions(),
                    leftSum = dot.getLhsContractingDimensions(), rightSum = dot.getRhsContractingDimensions();
  SmallVector<int64_t> leftFree = otherDimensions(lhs.getRank(), leftBatch, leftSum),
                       rightFree = otherDimensions(rhs.getRank(), rightBatch, rightSum);
  if (!matchSide(lhs.getRank(), leftBatch, leftSum, leftFree, /*contractingLast=*/true, plan.transposeLeft) ||
      !matchSide(rhs.getRank(), rightBatch, rightSum, rightFree, /*contractingLast=*/false, plan.transposeRight))
    return false;
  plan.batch = sizeOf(lhs, leftBatch);
  plan.rightHasBatch = !leftBatch.empty();
  plan.m = sizeOf(lhs, leftFree);
  plan.n = sizeOf(rhs, rightFree);
  plan.k = sizeOf(lhs, leftSum);
  return true;
}

bool matchConvolution(ConvolutionOp convolution, LibraryPlan &plan) {
  ConvolutionDimensionsAttr numbers = convolution.getDimensionNumbers();
  int64_t spatial = numbers.getInputSpatialDimensions().size();
  if (spatial < 1 || spatial > 3)
    return false;
  bool channelsLast = numbers.getInputBatchDimension() == 0 && numbers.getInputFeatureDimension() == spatial + 1 &&
                      isRange(numbers.getInputSpatialDimensions(), 1) && numbers.getOutputBatchDimension() == 0 &&
                      numbers.getOutputFeatureDimension() == spatial + 1 &&
                      isRange(numbers.getOutputSpatialDimensions(), 1);
  if (!channelsLast)
    return false;
  int64_t in = numbers.getKernelInputFeatureDimension(), out = numbers.getKernelOutputFeatureDimension();
  ArrayRef<int64_t> kernelSpatial = numbers.getKernelSpatialDimensions();
  if (isRange(kernelSpatial, 0) && in == spatial && out == spatial + 1)
    plan.weightsLayout = "spatial_io";
  else if (isRange(kernelSpatial, 2) && out == 0 && in == 1)
    plan.weightsLayout = "oi_spatial";
  else if (isRange(kernelSpatial, 1) && out == 0 && in == spatial + 1)
    plan.weightsLayout = "o_spatial_i";
  else
    return false;
  auto isOne = [](int64_t value) { return value == 1; };
  auto isNotNegative = [](int64_t value) { return value >= 0; };
  return llvm::all_of(convolution.getLhsDilation(), isOne) &&
         llvm::all_of(convolution.getPaddingLow(), isNotNegative) &&
         llvm::all_of(convolution.getPaddingHigh(), isNotNegative);
}

//===----------------------------------------------------------------------===//
// The epilogue
//===----------------------------------------------------------------------===//

std::optional<double> splatOf(Value value) {
  // Broadcasts of a constant count too.
  while (auto broadcast = value.getDefiningOp<BroadcastInDimOp>())
    value = broadcast.getOperand();
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat() ||
      !isa<Float32Type>(elements.getElementType()))
    return std::nullopt;
  return elements.getSplatValue<float>();
}

/// How an operand beside the accumulated value spreads over it.
bool matchOperand(Value operand, Type resultType, PostOp &post) {
  if (isa<BlockArgument>(operand)) {
    post.operand = operand;
    post.broadcast = "full";
    return operand.getType() == resultType;
  }
  auto broadcast = operand.getDefiningOp<BroadcastInDimOp>();
  if (!broadcast || !isa<BlockArgument>(broadcast.getOperand()))
    return false;
  RankedTensorType source = tensorType(broadcast.getOperand());
  int64_t rank = cast<RankedTensorType>(resultType).getRank();
  post.operand = broadcast.getOperand();
  if (source.hasStaticShape() && source.getNumElements() == 1) {
    post.broadcast = "scalar";
    return true;
  }
  // A vector over the last dimension; its other dimensions are of size 1.
  post.broadcast = "column";
  if (rank == 0 || source.getRank() == 0)
    return false;
  for (auto [dimension, target] : llvm::enumerate(broadcast.getBroadcastDimensions())) {
    bool last = target == rank - 1;
    if (last ? getDim(source, dimension) != getDim(resultType, target) : source.getDimSize(dimension) != 1)
      return false;
  }
  return llvm::is_contained(broadcast.getBroadcastDimensions(), rank - 1);
}

/// The post-op that `op` is, applied to `value`.
std::optional<PostOp> matchPostOp(Operation *op, Value value) {
  PostOp post;
  if (op->getNumResults() != 1 || op->getResult(0).getType() != value.getType())
    return std::nullopt;
  if (auto clamp = dyn_cast<ClampOp>(op)) {
    std::optional<double> low = splatOf(clamp.getMin()), high = splatOf(clamp.getMax());
    if (clamp.getOperand() != value || !low || !high || !(*low <= *high))
      return std::nullopt;
    post.kind = "clip";
    post.alpha = *low;
    post.beta = *high;
    return post;
  }
  if (op->getNumOperands() == 1) {
    post.kind = llvm::StringSwitch<StringRef>(op->getName().getStringRef())
                    .Case("weft.tanh", "tanh")
                    .Case("weft.logistic", "logistic")
                    .Case("weft.abs", "abs")
                    .Case("weft.sqrt", "sqrt")
                    .Default("");
    return post.kind.empty() ? std::nullopt : std::optional(post);
  }
  if (op->getNumOperands() != 2)
    return std::nullopt;
  bool valueIsLeft = op->getOperand(0) == value;
  Value other = op->getOperand(valueIsLeft ? 1 : 0);
  if (other == value)
    return std::nullopt;
  std::optional<double> splat = splatOf(other);
  if (isa<MaximumOp>(op) && splat && *splat == 0 && !std::signbit(*splat)) {
    post.kind = "relu";
    return post;
  }
  bool commutes = isa<AddOp, MultiplyOp>(op);
  if (!commutes && !(valueIsLeft && isa<SubtractOp, DivideOp>(op)))
    return std::nullopt;
  if (splat && !isa<DivideOp>(op)) {
    post.kind = "linear";
    post.alpha = isa<MultiplyOp>(op) ? *splat : 1;
    post.beta = isa<AddOp>(op) ? *splat : isa<SubtractOp>(op) ? -*splat : 0;
    return post;
  }
  post.kind = isa<AddOp>(op) ? "add" : isa<MultiplyOp>(op) ? "multiply" : isa<SubtractOp>(op) ? "subtract" : "divide";
  if (!matchOperand(other, value.getType(), post))
    return std::nullopt;
  return post;
}

/// Whether the runtime applies `post` itself, in a pass of its own over the library's result: the library would turn a
/// NaN into a number, or take the parameters of an earlier step for it. All that follows is then in that pass too
/// (runtime/Library/OneDnn/EpilogueTail.h).
bool beginsTail(const PostOp &post, ArrayRef<PostOp> before) {
  if (post.kind == "relu" || post.kind == "clip")
    return true;
  return post.kind == "linear" && llvm::any_of(before, [&](const PostOp &earlier) {
           return earlier.kind == "linear" && (earlier.alpha != post.alpha || earlier.beta != post.beta);
         });
}

/// The steps that the runtime's own pass lacks.
bool needsLibrary(const PostOp &post) { return post.kind == "tanh" || post.kind == "logistic" || post.kind == "sqrt"; }

} // namespace

std::optional<LibraryPlan> planLibraryCall(LibraryCallOp call) {
  LibraryPlan plan;
  Block &body = call.getBody().front();
  for (Operation &op : body)
    if (isa<DotGeneralOp, ConvolutionOp>(op))
      plan.hero = &op;
  plan.left = plan.hero->getOperand(0);
  plan.right = plan.hero->getOperand(1);
  Value value = plan.hero->getResult(0);
  if (!isa<BlockArgument>(plan.left) || !isa<BlockArgument>(plan.right) || !elementType(plan.left).isF32() ||
      !elementType(value).isF32())
    return std::nullopt;
  bool matched = isa<DotGeneralOp>(plan.hero) ? matchMatmul(cast<DotGeneralOp>(plan.hero), plan)
                                              : matchConvolution(cast<ConvolutionOp>(plan.hero), plan);
  if (!matched)
    return std::nullopt;
  bool inTail = false;
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    std::optional<PostOp> post = matchPostOp(user, value);
    if (!post)
      break;
    inTail = inTail || beginsTail(*post, plan.epilogue);
    if (inTail && needsLibrary(*post))
      break;
    // A per-column addition right after the contraction is what a library calls the bias.
    if (post->kind == "add" && post->broadcast == "column" && plan.epilogue.empty())
      post->kind = "bias";
    plan.epilogue.push_back(*post);
    value = user->getResult(0);
  }
  plan.last = value;
  return plan;
}

} // namespace weft::schedule
