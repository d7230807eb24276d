//===- FoldChannelArithmetic.cpp - Frozen factors go into frozen weights, frozen addends into one bias -------===//

#include "dialects/Graph/Graph.h"
#include "lib/Layout/Frozen.h"
#include "lib/Layout/Passes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

namespace weft {

#define GEN_PASS_DEF_FOLDCHANNELARITHMETIC
#include "lib/Layout/Passes.h.inc"

using namespace mlir;
using namespace weft::graph;
using namespace weft::layout;

namespace {

/// A frozen value that varies along some dimensions of a result only.
struct ChannelValue {
  Value vector;                    // of any shape; without its dimensions of size 1 it has one for each of `dimensions`
  SmallVector<int64_t> dimensions; // ascending
  SmallVector<Dim> sizes;
};

/// A contraction with one use and one frozen operand.
struct FrozenContraction {
  Operation *op = nullptr;
  unsigned operand = 0;
  /// For each dimension of the result that is also one of the frozen operand, that one.
  llvm::SmallMapVector<int64_t, int64_t, 4> operandDimension;
};

class Folder {
public:
  explicit Folder(func::FuncOp function) : frozen(function), builder(function.getContext()) {}

  void run(Operation *op) {
    builder.setInsertionPoint(op);
    if (isa<MultiplyOp, DivideOp>(op))
      foldFactor(op);
    else if (isa<AddOp, SubtractOp>(op))
      foldAddend(op);
  }

private:
  //===--- What matches ---------------------------------------------------===//

  std::optional<FrozenContraction> matchContraction(Value value) {
    FrozenContraction match;
    match.op = value.getDefiningOp();
    if (!match.op || !isa<ConvolutionOp, DotGeneralOp>(match.op) || !value.hasOneUse())
      return std::nullopt;
    // Nothing moves into a branch or a loop.
    if (match.op->getBlock() != builder.getInsertionBlock())
      return std::nullopt;
    Type type = elementType(value);
    if ((!type.isF32() && !type.isF64()) || elementType(match.op->getOperand(0)) != type)
      return std::nullopt;
    bool left = frozen.contains(match.op->getOperand(0)), right = frozen.contains(match.op->getOperand(1));
    if (left == right)
      return std::nullopt;
    match.operand = right ? 1 : 0;
    if (auto convolution = dyn_cast<ConvolutionOp>(match.op)) {
      if (left)
        return std::nullopt;
      ConvolutionDimensionsAttr numbers = convolution.getDimensionNumbers();
      match.operandDimension[numbers.getOutputFeatureDimension()] = numbers.getKernelOutputFeatureDimension();
      return match;
    }
    auto dot = cast<DotGeneralOp>(match.op);
    ArrayRef<int64_t> batching = left ? dot.getLhsBatchingDimensions() : dot.getRhsBatchingDimensions();
    ArrayRef<int64_t> contracting = left ? dot.getLhsContractingDimensions() : dot.getRhsContractingDimensions();
    for (auto [position, dimension] : llvm::enumerate(batching))
      match.operandDimension[position] = dimension;
    SmallVector<int64_t> free;
    for (int64_t i = 0, rank = tensorType(dot->getOperand(match.operand)).getRank(); i < rank; ++i)
      if (!llvm::is_contained(batching, i) && !llvm::is_contained(contracting, i))
        free.push_back(i);
    int64_t first = left ? batching.size() : tensorType(dot.getResult()).getRank() - free.size();
    for (auto [position, dimension] : llvm::enumerate(free))
      match.operandDimension[first + position] = dimension;
    return match;
  }

  /// The value, where it is frozen, possibly behind a broadcast.
  std::optional<ChannelValue> matchChannelValue(Value value) {
    ChannelValue match;
    SmallVector<int64_t> map;
    if (auto broadcast = value.getDefiningOp<BroadcastInDimOp>()) {
      match.vector = broadcast.getOperand();
      map.assign(broadcast.getBroadcastDimensions().begin(), broadcast.getBroadcastDimensions().end());
    } else {
      match.vector = value;
      map = llvm::to_vector(llvm::seq<int64_t>(0, tensorType(value).getRank()));
    }
    if (!frozen.contains(match.vector))
      return std::nullopt;
    DenseElementsAttr splat;
    if (matchPattern(match.vector, m_Constant(&splat)) && splat.isSplat() && splat.getNumElements() > 0) {
      auto scalar = RankedTensorType::get({}, splat.getElementType());
      match.vector = create<ConstantOp>(value.getLoc(), splat.resizeSplat(scalar));
      return match;
    }
    for (auto [dimension, size] : llvm::enumerate(getDims(match.vector.getType()))) {
      if (size.isConstant() && size.getConstant() == 1)
        continue;
      if (!match.dimensions.empty() && map[dimension] < match.dimensions.back())
        return std::nullopt;
      match.dimensions.push_back(map[dimension]);
      match.sizes.push_back(size);
    }
    return match;
  }

  static bool fits(const ChannelValue &value, const FrozenContraction &contraction) {
    return llvm::all_of(value.dimensions,
                        [&](int64_t dimension) { return contraction.operandDimension.contains(dimension); });
  }

  //===--- What is made ---------------------------------------------------===//

  template <typename Op, typename... Args> Value create(Location location, Args &&...args) {
    auto op = Op::create(builder, location, std::forward<Args>(args)...);
    frozen.update(op);
    return op->getResult(0);
  }

  /// The same kind of op (multiply, divide, ...) on other operands.
  Value createLike(Operation *op, Value lhs, Value rhs) {
    OperationState state(op->getLoc(), op->getName(), {lhs, rhs}, lhs.getType(), op->getAttrs());
    Operation *created = builder.create(state);
    frozen.update(created);
    return created->getResult(0);
  }

  /// The channel value without dimensions of size 1.
  Value squeeze(const ChannelValue &value, Location location) {
    RankedTensorType type = makeTensorType(value.sizes, elementType(value.vector));
    return type == value.vector.getType() ? value.vector : create<ReshapeOp>(location, type, value.vector);
  }

  Value broadcast(Location location, Value vector, RankedTensorType type, ArrayRef<int64_t> dimensions) {
    if (type == vector.getType() && llvm::is_sorted(dimensions))
      return vector;
    return create<BroadcastInDimOp>(location, type, vector, dimensions);
  }

  /// `op` of two channel values, along the dimensions of both.
  ChannelValue combine(Operation *op, const ChannelValue &lhs, const ChannelValue &rhs) {
    ChannelValue result;
    std::map<int64_t, Dim> sizes;
    for (const ChannelValue *value : {&lhs, &rhs})
      for (auto [dimension, size] : llvm::zip(value->dimensions, value->sizes))
        sizes.try_emplace(dimension, size);
    for (auto &[dimension, size] : sizes) {
      result.dimensions.push_back(dimension);
      result.sizes.push_back(size);
    }
    auto expand = [&](const ChannelValue &value) {
      SmallVector<int64_t> positions;
      for (int64_t dimension : value.dimensions)
        positions.push_back(llvm::find(result.dimensions, dimension) - result.dimensions.begin());
      return broadcast(op->getLoc(), squeeze(value, op->getLoc()),
                       makeTensorType(result.sizes, elementType(value.vector)), positions);
    };
    Value left = expand(lhs), right = expand(rhs);
    result.vector = createLike(op, left, right);
    return result;
  }

  Value broadcastTo(const ChannelValue &value, RankedTensorType type, Location location) {
    return broadcast(location, squeeze(value, location), type, value.dimensions);
  }

  /// The contraction with the factor multiplied (or divided) into its frozen operand.
  Value scale(const FrozenContraction &contraction, const ChannelValue &factor, Operation *op) {
    Value weights = contraction.op->getOperand(contraction.operand);
    SmallVector<int64_t> dimensions;
    for (int64_t dimension : factor.dimensions)
      dimensions.push_back(contraction.operandDimension.lookup(dimension));
    Value expanded = broadcast(op->getLoc(), squeeze(factor, op->getLoc()), tensorType(weights), dimensions);
    Value scaled = createLike(op, weights, expanded);
    Operation *clone = builder.clone(*contraction.op);
    clone->setOperand(contraction.operand, scaled);
    clone->setLoc(builder.getFusedLoc({contraction.op->getLoc(), op->getLoc()}));
    return clone->getResult(0);
  }

  void replace(Operation *op, Value value, ArrayRef<Operation *> alsoUnused) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    for (Operation *unused : alsoUnused)
      if (unused->use_empty())
        unused->erase();
  }

  //===--- The folds ------------------------------------------------------===//

  /// For a commutative op both ways round, else only with the constant right.
  static SmallVector<std::pair<Value, Value>, 2> orders(Operation *op) {
    SmallVector<std::pair<Value, Value>, 2> result = {{op->getOperand(0), op->getOperand(1)}};
    if (op->hasTrait<OpTrait::IsCommutative>())
      result.push_back({op->getOperand(1), op->getOperand(0)});
    return result;
  }

  /// contraction(x, w) * s is contraction(x, w * s); (contraction(x, w) + b) * s is contraction(x, w * s) + b * s.
  void foldFactor(Operation *op) {
    for (auto [value, other] : orders(op)) {
      std::optional<ChannelValue> factor;
      if (std::optional<FrozenContraction> contraction = matchContraction(value)) {
        if (!(factor = matchChannelValue(other)) || !fits(*factor, *contraction))
          continue;
        return replace(op, scale(*contraction, *factor, op), {contraction->op});
      }
      auto add = value.getDefiningOp<AddOp>();
      if (!add || !add->hasOneUse())
        continue;
      for (auto [inner, addend] : orders(add)) {
        std::optional<FrozenContraction> contraction = matchContraction(inner);
        if (!contraction || !(factor = matchChannelValue(other)) || !fits(*factor, *contraction))
          continue;
        std::optional<ChannelValue> bias = matchChannelValue(addend);
        if (!bias)
          continue;
        Value scaled = scale(*contraction, *factor, op);
        ChannelValue scaledBias = combine(op, *bias, *factor);
        Value sum = create<AddOp>(builder.getFusedLoc({add.getLoc(), op->getLoc()}), scaled,
                                  broadcastTo(scaledBias, tensorType(add.getResult()), add.getLoc()));
        return replace(op, sum, {add, contraction->op});
      }
    }
  }

  /// contraction - b is contraction + -b; (contraction + a) + b is contraction + (a + b).
  void foldAddend(Operation *op) {
    for (auto [value, other] : orders(op)) {
      auto add = value.getDefiningOp<AddOp>();
      bool direct = matchContraction(value).has_value();
      if (!direct && !(add && add->hasOneUse()))
        continue;
      if (direct) {
        std::optional<ChannelValue> addend;
        if (!isa<SubtractOp>(op) || !(addend = matchChannelValue(other)))
          continue;
        addend->vector = create<NegateOp>(op->getLoc(), addend->vector);
        Value sum =
            create<AddOp>(op->getLoc(), value, broadcastTo(*addend, tensorType(op->getResult(0)), op->getLoc()));
        return replace(op, sum, {});
      }
      for (auto [inner, first] : orders(add)) {
        if (!matchContraction(inner))
          continue;
        std::optional<ChannelValue> bias = matchChannelValue(first), addend = matchChannelValue(other);
        if (!bias || !addend)
          continue;
        ChannelValue total = combine(op, *bias, *addend);
        Value sum = create<AddOp>(builder.getFusedLoc({add.getLoc(), op->getLoc()}), inner,
                                  broadcastTo(total, tensorType(add.getResult()), add.getLoc()));
        return replace(op, sum, {add});
      }
    }
  }

  FrozenValues frozen;
  OpBuilder builder;
};

struct FoldChannelArithmeticPass : impl::FoldChannelArithmeticBase<FoldChannelArithmeticPass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>(GraphDialect::kMainName);
    if (!main || main.isExternal())
      return;
    // In program order, so that a fold sees what the folds before it made of its operands. What a composite holds
    // cannot see what is frozen outside.
    SmallVector<Operation *> ops;
    main.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<MultiplyOp, DivideOp, AddOp, SubtractOp>(op))
        ops.push_back(op);
      return op != main && op->hasTrait<OpTrait::IsIsolatedFromAbove>() ? WalkResult::skip() : WalkResult::advance();
    });
    Folder folder(main);
    for (Operation *op : ops)
      folder.run(op);
  }
};

} // namespace

} // namespace weft
