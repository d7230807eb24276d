//===- RandomAlgebra.cpp - Random graphs of elementwise, movement and reduction ops --------------------------===//

#include "test/unit/layout/RandomGraphs.h"
#include <limits>
#include <numeric>

using namespace mlir;
using namespace weft::graph;

namespace weft::test {

namespace {

class AlgebraBuilder {
public:
  explicit AlgebraBuilder(GraphUnderTest &graph) : graph(graph), builder(graph.builder), location(graph.location) {}

  void run(int operations) {
    Type f32 = builder.getF32Type();
    add(graph.addInput(RankedTensorType::get({2, 3, 1}, f32)));
    add(graph.addInput(RankedTensorType::get({1, 4, 3}, f32)));
    add(graph.addInput(RankedTensorType::get({2, 3}, builder.getF16Type())));
    add(graph.addInput(RankedTensorType::get({4, 3}, builder.getI32Type())));
    add(graph.addInput(RankedTensorType::get({6}, builder.getIntegerType(8, /*isSigned=*/false))));
    for (int i = 0; i < operations; ++i)
      step();
    SmallVector<Value> outputs;
    for (Value value : values)
      if (value.use_empty())
        outputs.push_back(value);
    graph.finish(outputs);
  }

private:
  void add(Value value) { values.push_back(value); }
  int64_t random(int64_t low, int64_t high) { return graph.random(low, high); }
  /// Often the newest value, so that chains form.
  Value pick() { return random(0, 1) ? values.back() : values[random(0, values.size() - 1)]; }
  int64_t size(Value value, int64_t dimension) { return tensorType(value).getDimSize(dimension); }

  void step() {
    Value x = pick();
    if (tensorType(x).getNumElements() > 400)
      return x.use_empty() ? add(reduce(x)) : void();
    using Maker = Value (AlgebraBuilder::*)(Value);
    static constexpr Maker kMakers[] = {
        &AlgebraBuilder::unary,        &AlgebraBuilder::withConstant, &AlgebraBuilder::withConstant,
        &AlgebraBuilder::binary,       &AlgebraBuilder::binary,       &AlgebraBuilder::convert,
        &AlgebraBuilder::transpose,    &AlgebraBuilder::transpose,    &AlgebraBuilder::reshape,
        &AlgebraBuilder::reshape,      &AlgebraBuilder::broadcast,    &AlgebraBuilder::slice,
        &AlgebraBuilder::slice,        &AlgebraBuilder::pad,          &AlgebraBuilder::pad,
        &AlgebraBuilder::concatenate,  &AlgebraBuilder::reduce,       &AlgebraBuilder::reverse,
        &AlgebraBuilder::window,       &AlgebraBuilder::select,       &AlgebraBuilder::cumulative,
        &AlgebraBuilder::dynamicSlice, &AlgebraBuilder::branch};
    if (Value made = (this->*kMakers[random(0, std::size(kMakers) - 1)])(x))
      add(made);
  }

  Value unary(Value x) {
    Type type = elementType(x);
    if (isBoolElement(type))
      return NotOp::create(builder, location, x);
    switch (random(0, isFloatElement(type) ? 4 : 1)) {
    case 0:
      return NegateOp::create(builder, location, x);
    case 1:
      return AbsOp::create(builder, location, x);
    case 2:
      return FloorOp::create(builder, location, x);
    case 3:
      return TanhOp::create(builder, location, x);
    default:
      return SignOp::create(builder, location, x);
    }
  }

  Value arithmetic(Value x, Value y) {
    bool logical = isBoolElement(elementType(x));
    switch (random(0, logical ? 2 : 6)) {
    case 0:
      return AddOp::create(builder, location, x, y);
    case 1:
      return MultiplyOp::create(builder, location, x, y);
    case 2:
      if (logical)
        return AndOp::create(builder, location, x, y);
      return SubtractOp::create(builder, location, x, y);
    case 3:
      return DivideOp::create(builder, location, x, y);
    case 4:
      return MaximumOp::create(builder, location, x, y);
    case 5:
      return MinimumOp::create(builder, location, x, y);
    default:
      return isFloatElement(elementType(x)) ? Value(SubtractOp::create(builder, location, y, x))
                                            : Value(XorOp::create(builder, location, x, y));
    }
  }

  Value withConstant(Value x) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Type type = elementType(x);
    double value = isBoolElement(type) ? random(0, 1)
                   : isFloatElement(type)
                       ? graph.pick({1.0, -1.0, 0.0, -0.0, 2.0, 4.0, 3.0, 0.125, kInfinity, -kInfinity})
                       : graph.pick({0.0, 1.0, 2.0, 3.0, -1.0});
    Value splat = graph.splat(value, tensorType(x));
    if (isFloatElement(type) && random(0, 7) == 0)
      return PowerOp::create(builder, location, x, graph.splat(2, tensorType(x)));
    return random(0, 1) ? arithmetic(x, splat) : arithmetic(splat, x);
  }

  Value sameTypeAs(Value x) {
    SmallVector<Value> fitting;
    for (Value value : values)
      if (value.getType() == x.getType())
        fitting.push_back(value);
    return fitting[random(0, fitting.size() - 1)];
  }

  Value binary(Value x) {
    Value y = sameTypeAs(x);
    if (!isBoolElement(elementType(x)) && random(0, 2) == 0)
      y = NegateOp::create(builder, location, y);
    if (!isBoolElement(elementType(x)) && random(0, 3) == 0)
      x = NegateOp::create(builder, location, x);
    return arithmetic(x, y);
  }

  Value convert(Value x) {
    Type to = graph.pick<Type>({builder.getF32Type(), builder.getF32Type(), builder.getF16Type(), builder.getBF16Type(),
                                builder.getF64Type(), builder.getI32Type(), builder.getI64Type(),
                                builder.getIntegerType(16), builder.getIntegerType(8, false), builder.getI1Type()});
    Value once = ConvertOp::create(builder, location, withElementType(x.getType(), to), x);
    if (random(0, 1))
      return once;
    return ConvertOp::create(builder, location, withElementType(x.getType(), builder.getF32Type()), once);
  }

  Value transpose(Value x) {
    SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, tensorType(x).getRank()));
    for (size_t i = permutation.size(); i > 1; --i)
      std::swap(permutation[i - 1], permutation[random(0, i - 1)]);
    return TransposeOp::create(builder, location, x, permutation);
  }

  Value reshape(Value x) {
    // Splits and merges at random, and puts in dimensions of size 1.
    SmallVector<int64_t> shape;
    int64_t open = 1;
    for (int64_t extent : tensorType(x).getShape()) {
      open *= extent;
      if (random(0, 2) == 0)
        continue;
      for (int64_t factor : {2, 3})
        if (open > factor && open % factor == 0 && random(0, 1)) {
          shape.push_back(factor);
          open /= factor;
        }
      shape.push_back(open);
      open = 1;
      if (random(0, 3) == 0)
        shape.push_back(1);
    }
    if (open != 1 || shape.empty())
      shape.push_back(open);
    if (shape.size() > 5)
      return {};
    return ReshapeOp::create(builder, location, RankedTensorType::get(shape, elementType(x)), x);
  }

  Value broadcast(Value x) {
    SmallVector<int64_t> shape, map;
    for (int64_t extent : tensorType(x).getShape()) {
      if (random(0, 3) == 0 && shape.size() < 4)
        shape.push_back(random(1, 3));
      map.push_back(shape.size());
      shape.push_back(extent == 1 && random(0, 1) ? 2 : extent);
    }
    if (shape.size() > 5)
      return {};
    return BroadcastInDimOp::create(builder, location, RankedTensorType::get(shape, elementType(x)), x, map);
  }

  Value slice(Value x) {
    SmallVector<int64_t> starts, limits, strides;
    for (int64_t extent : tensorType(x).getShape()) {
      bool whole = extent == 0 || random(0, 1);
      int64_t start = whole ? 0 : random(0, extent - 1), limit = whole ? extent : random(start + 1, extent);
      starts.push_back(start);
      limits.push_back(limit);
      strides.push_back(whole ? 1 : random(1, 2));
    }
    return SliceOp::create(builder, location, x, starts, limits, strides);
  }

  Value pad(Value x) {
    Type type = elementType(x);
    SmallVector<int64_t> low, high, interior;
    for (int64_t extent : tensorType(x).getShape()) {
      bool removes = extent > 2 && random(0, 2) == 0;
      low.push_back(removes ? -1 : random(0, 1));
      high.push_back(extent > 3 && random(0, 2) == 0 ? -1 : random(0, 1));
      interior.push_back(random(0, 4) == 0);
    }
    double value = isFloatElement(type) ? graph.pick({0.0, 1.0, -std::numeric_limits<double>::infinity()}) : 0.0;
    return PadOp::create(builder, location, x, graph.constant(value, type), low, high, interior);
  }

  Value concatenate(Value x) {
    int64_t rank = tensorType(x).getRank();
    if (rank == 0)
      return {};
    int64_t dimension = random(0, rank - 1), extent = size(x, dimension);
    if (extent >= 2 && random(0, 1)) {
      // Cut in two and put together again.
      SmallVector<int64_t> zeros(rank, 0), ones(rank, 1), limits(tensorType(x).getShape());
      SmallVector<int64_t> middle(limits), starts(zeros);
      middle[dimension] = starts[dimension] = random(1, extent - 1);
      Value first = SliceOp::create(builder, location, x, zeros, middle, ones);
      Value second = SliceOp::create(builder, location, x, starts, limits, ones);
      return ConcatenateOp::create(builder, location, ValueRange{first, second}, dimension);
    }
    return ConcatenateOp::create(builder, location, ValueRange{x, sameTypeAs(x)}, dimension);
  }

  Value reduce(Value x) {
    SmallVector<int64_t> dimensions;
    for (int64_t i = 0; i < tensorType(x).getRank(); ++i)
      if (random(0, 1))
        dimensions.push_back(i);
    ReductionKind kind = isBoolElement(elementType(x))
                             ? graph.pick({ReductionKind::all, ReductionKind::any})
                             : graph.pick({ReductionKind::sum, ReductionKind::max, ReductionKind::min});
    Value once = ReduceOp::create(builder, location, kind, x, dimensions);
    if (tensorType(once).getRank() == 0 || random(0, 1))
      return once;
    return ReduceOp::create(builder, location, kind, once, ArrayRef<int64_t>{0});
  }

  Value reverse(Value x) {
    SmallVector<int64_t> dimensions;
    for (int64_t i = 0; i < tensorType(x).getRank(); ++i)
      if (random(0, 1))
        dimensions.push_back(i);
    return ReverseOp::create(builder, location, x, dimensions);
  }

  Value window(Value x) {
    if (isBoolElement(elementType(x)))
      return {};
    SmallVector<int64_t> windows, strides, ones, low, high;
    bool single = random(0, 2) == 0;
    for (int64_t extent : tensorType(x).getShape()) {
      windows.push_back(single || extent < 2 ? 1 : random(1, 2));
      strides.push_back(random(1, 2));
      ones.push_back(1);
      low.push_back(single ? 0 : random(0, 1));
      high.push_back(single ? 0 : random(0, 1));
    }
    return ReduceWindowOp::create(builder, location,
                                  graph.pick({ReductionKind::sum, ReductionKind::max, ReductionKind::min}), x, windows,
                                  strides, ones, ones, low, high);
  }

  Value select(Value x) {
    Value y = sameTypeAs(x);
    Value pred = random(0, 2) == 0 ? graph.splat(random(0, 1), withElementType(x.getType(), builder.getI1Type()))
                                   : Value(CompareOp::create(builder, location, ComparisonDirection::LT, x, y));
    if (random(0, 1))
      pred = NotOp::create(builder, location, pred);
    return SelectOp::create(builder, location, pred, x, y);
  }

  Value cumulative(Value x) {
    if (isBoolElement(elementType(x)) || tensorType(x).getRank() == 0)
      return {};
    int64_t dimension = random(0, tensorType(x).getRank() - 1);
    if (size(x, dimension) > 0 && random(0, 1))
      return ArgReduceOp::create(builder, location, ReductionKind::max, x, dimension, random(0, 1) == 1,
                                 builder.getI64Type());
    return CumulativeOp::create(builder, location, ReductionKind::sum, x, dimension, random(0, 1) == 1,
                                random(0, 1) == 1);
  }

  Value dynamicSlice(Value x) {
    SmallVector<Value> starts;
    SmallVector<int64_t> shape;
    for (int64_t extent : tensorType(x).getShape()) {
      shape.push_back(extent == 0 ? 0 : random(1, extent));
      starts.push_back(graph.constant(random(-2, extent + 1), builder.getI64Type()));
    }
    return DynamicSliceOp::create(builder, location, RankedTensorType::get(shape, elementType(x)), x, starts);
  }

  Value branch(Value x) {
    Value pred = graph.constant(random(0, 1), builder.getI1Type());
    auto op = IfOp::create(builder, location, x.getType(), pred);
    for (Region *region : {&op.getTrueBranch(), &op.getFalseBranch()}) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&region->emplaceBlock());
      Value value = region == &op.getTrueBranch() ? unary(x) : x;
      YieldOp::create(builder, location, value);
    }
    return op.getResult(0);
  }

  GraphUnderTest &graph;
  OpBuilder &builder;
  Location location;
  std::vector<Value> values;
};

} // namespace

void buildRandomAlgebra(GraphUnderTest &graph, int operations) { AlgebraBuilder(graph).run(operations); }

} // namespace weft::test
