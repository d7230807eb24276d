//===- ReshapeTranspose.cpp - Chains of reshapes and transposes become at most one transpose ------------------===//

#include "dialects/Graph/DataMovement.h"
#include "lib/Simplify/Patterns.h"

using namespace mlir;
using namespace weft::graph;

namespace weft::simplify {

namespace {

/// The dimensions of a value as products of factors of the source's dimensions. A reshape regroups (and splits)
/// factors, a transpose permutes the groups. Factors of size 1 are left out.
class FactoredShape {
public:
  explicit FactoredShape(ArrayRef<Dim> source) {
    for (const Dim &size : source) {
      dims.emplace_back();
      if (isOne(size))
        continue;
      sourceOrder.push_back(sizes.size());
      dims.back().push_back(sizes.size());
      sizes.push_back(size);
    }
  }

  void transpose(ArrayRef<int64_t> permutation) {
    SmallVector<SmallVector<unsigned>> permuted;
    for (int64_t dimension : permutation)
      permuted.push_back(dims[dimension]);
    dims = std::move(permuted);
  }

  /// False where the new shape cuts across factors.
  bool reshape(ArrayRef<Dim> shape) {
    SmallVector<unsigned> flat = flatten();
    SmallVector<SmallVector<unsigned>> regrouped;
    size_t next = 0;
    for (const Dim &size : shape) {
      regrouped.emplace_back();
      Dim open = size;
      while (!isOne(open)) {
        if (next == flat.size())
          return false;
        unsigned factor = flat[next];
        if (std::optional<Dim> rest = open.divideExactly(sizes[factor])) {
          open = *rest;
          ++next;
        } else if (std::optional<Dim> inner = sizes[factor].divideExactly(open)) {
          flat[next] = split(factor, open, *inner);
          open = Dim::constant(open.getContext(), 1);
        } else {
          return false;
        }
        regrouped.back().push_back(factor);
      }
    }
    dims = std::move(regrouped);
    return next == flat.size();
  }

  bool isSourceOrder() const { return flatten() == sourceOrder; }

  /// Runs of factors that stay neighbours, as sizes in source order and the order they have here.
  void getPermutation(SmallVectorImpl<Dim> &groups, SmallVectorImpl<int64_t> &permutation) const {
    SmallVector<unsigned> flat = flatten();
    SmallVector<size_t> position(sizes.size());
    for (auto [index, factor] : llvm::enumerate(flat))
      position[factor] = index;
    SmallVector<size_t> firstPosition;
    for (auto [index, factor] : llvm::enumerate(sourceOrder)) {
      if (index > 0 && position[factor] == position[sourceOrder[index - 1]] + 1) {
        groups.back() = groups.back() * sizes[factor];
        continue;
      }
      groups.push_back(sizes[factor]);
      firstPosition.push_back(position[factor]);
    }
    permutation.resize(groups.size());
    for (size_t i = 0; i < groups.size(); ++i)
      permutation[i] = i;
    llvm::sort(permutation, [&](int64_t a, int64_t b) { return firstPosition[a] < firstPosition[b]; });
  }

private:
  SmallVector<unsigned> flatten() const {
    SmallVector<unsigned> flat;
    for (const auto &factors : dims)
      llvm::append_range(flat, factors);
    return flat;
  }

  /// Makes `factor` its outer part; returns the new inner part.
  unsigned split(unsigned factor, const Dim &outer, const Dim &inner) {
    unsigned added = sizes.size();
    sizes[factor] = outer;
    sizes.push_back(inner);
    sourceOrder.insert(llvm::find(sourceOrder, factor) + 1, added);
    return added;
  }

  SmallVector<Dim> sizes;
  SmallVector<unsigned> sourceOrder;
  SmallVector<SmallVector<unsigned>> dims;
};

bool isChainOp(Operation *op) { return op && isa<ReshapeOp, TransposeOp>(op); }

Value reshapeTo(PatternRewriter &rewriter, Location location, Value value, ArrayRef<Dim> dims) {
  RankedTensorType type = makeTensorType(dims, elementType(value));
  return type == value.getType() ? value : ReshapeOp::create(rewriter, location, type, value);
}

/// A transpose that moves only dimensions of size 1 is a reshape, and so is any chain that ends in the source's order;
/// a chain with several transposes has at most one.
struct MergeChain : RewritePattern {
  MergeChain(StringRef name, MLIRContext *context) : RewritePattern(name, 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    // From the op up to the source. Long chains are merged piecewise.
    SmallVector<Operation *> chain;
    for (Operation *next = op; isChainOp(next) && chain.size() < 8; next = next->getOperand(0).getDefiningOp())
      chain.push_back(next);
    for (; !chain.empty(); chain.pop_back())
      if (succeeded(mergeWhole(chain, rewriter)))
        return success();
    return failure();
  }

  static LogicalResult mergeWhole(ArrayRef<Operation *> chain, PatternRewriter &rewriter) {
    auto transposes = llvm::count_if(chain, [](Operation *op) { return isa<TransposeOp>(op); });
    if (transposes == 0)
      return failure();
    Operation *last = chain.front();
    Value source = chain.back()->getOperand(0);
    FactoredShape shape(getDims(source.getType()));
    for (Operation *op : llvm::reverse(chain)) {
      // Sizes of 0 have no factors.
      if (llvm::is_contained(tensorType(op->getResult(0)).getShape(), 0))
        return failure();
      if (auto transpose = dyn_cast<TransposeOp>(op))
        shape.transpose(transpose.getPermutation());
      else if (!shape.reshape(getDims(op->getResult(0).getType())))
        return failure();
    }
    SmallVector<Location> locations;
    for (Operation *op : chain)
      locations.push_back(op->getLoc());
    Location location = rewriter.getFusedLoc(locations);
    SmallVector<Dim> resultDims = getDims(last->getResult(0).getType());
    if (shape.isSourceOrder()) {
      rewriter.replaceOp(last, reshapeTo(rewriter, location, source, resultDims));
      return success();
    }
    if (transposes < 2)
      return failure();
    SmallVector<Dim> groups;
    SmallVector<int64_t> permutation;
    shape.getPermutation(groups, permutation);
    Value grouped = reshapeTo(rewriter, location, source, groups);
    Value transposed = TransposeOp::create(rewriter, location, grouped, permutation);
    rewriter.replaceOp(last, reshapeTo(rewriter, location, transposed, resultDims));
    return success();
  }
};

/// reverse(reverse(x)) reverses the dimensions that only one of them does; a dimension of size 1 has no order.
struct MergeReverses : OpRewritePattern<ReverseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReverseOp op, PatternRewriter &rewriter) const override {
    SmallVector<int64_t> dimensions;
    for (int64_t dimension : op.getDimensions())
      if (!isOne(getDim(op.getType(), dimension)))
        dimensions.push_back(dimension);
    auto inner = op.getOperand().getDefiningOp<ReverseOp>();
    if (!inner && dimensions.size() == op.getDimensions().size())
      return failure();
    Value source = op.getOperand();
    if (inner) {
      source = inner.getOperand();
      for (int64_t dimension : inner.getDimensions()) {
        auto *found = llvm::find(dimensions, dimension);
        if (found != dimensions.end())
          dimensions.erase(found);
        else
          dimensions.push_back(dimension);
      }
    }
    if (dimensions.empty()) {
      rewriter.replaceOp(op, source);
      return success();
    }
    llvm::sort(dimensions);
    rewriter.replaceOpWithNewOp<ReverseOp>(op, source, dimensions);
    return success();
  }
};

} // namespace

void populateReshapeTransposePatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<MergeChain>(TransposeOp::getOperationName(), context);
  patterns.add<MergeChain>(ReshapeOp::getOperationName(), context);
  patterns.add<MergeReverses>(context);
}

} // namespace weft::simplify
